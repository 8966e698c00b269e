//! What is measured of a run beside its totals: small reads, state over time, a window in fine bins.

mod common;

use common::{COMMAND_NS, READ_NS, TRANSFER_NS, config, pages, responses, run};
use copyback::workload::{Op, Request};

/// Writes the first pages of the drive at time 0, and reads so many of them 1 s later and every 10 ms after that.
fn reads_of(counts: &[u64]) -> Vec<Request> {
    let write = pages(Op::Write, 0, 0, 20);
    let read = |(at, &count): (u64, &u64)| pages(Op::Read, 1_000_000_000 + at * 10_000_000, 0, count);
    std::iter::once(write).chain((0..).zip(counts).map(read)).collect()
}

#[test]
fn small_reads_are_a_class_of_their_own() {
    // Pages of 4 KiB: 16 of them are just small by default.
    let outcome = run(&config(""), reads_of(&[1, 16, 17, 1, 20]));
    let response = &outcome.report.response;
    let ns = responses(&outcome);
    assert_eq!((ns[1], ns[4]), (COMMAND_NS + READ_NS + TRANSFER_NS, ns[1]));
    let small = &response.small_read;
    assert_eq!((small.count, small.min_ns, small.max_ns), (3, ns[1], ns[2]));
    assert_eq!(small.mean_ns, (2 * ns[1] + ns[2]) as f64 / 3.0);
    // They are reads all the same.
    let read = &response.read;
    assert_eq!((read.count, read.min_ns, read.max_ns), (5, ns[1], ns[5]));
    assert_eq!(read.mean_ns, ns[1..].iter().sum::<u64>() as f64 / 5.0);
    assert_eq!((response.all.count, response.write.count), (6, 1));
    let histogram = |name| &outcome.histograms.iter().find(|(class, _)| *class == name).expect("a class").1;
    assert_eq!((histogram("small_read").len(), histogram("read").len()), (3, 5));
}

#[test]
fn what_is_small_can_be_said() {
    let small = |max: &str| {
        let config = config(&format!("measure = {{ small_read_max = \"{max}\" }}"));
        run(&config, reads_of(&[1, 2, 3])).report.response.small_read.count
    };
    assert_eq!(["4095 B", "4 KiB", "8 KiB", "1 MiB"].map(small), [0, 1, 2, 3]);
}
