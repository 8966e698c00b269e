//! When do units leave the write buffer, and with which others?
//!
//! Two dies of one plane each; four mapping units of 4 KiB make a page. Logical pages 0, 2, 4, … are on one plane, the
//! others on the other plane.

use crate::common::*;
use copyback::flash::geometry::Geometry;
use copyback::observe::report::{Cause, Report};
use copyback::run::config::RunConfig;
use copyback::run::{Options, Warmup, image_key, precondition, simulate};
use copyback::workload::{Op, Request, rng};
use rand::RngExt;

/// A drive whose buffer has room for this many units, with more settings.
fn drive(units: u64, more: &str) -> RunConfig {
    config(&format!(
        "geometry = {{ page_size = \"16 KiB\", mapping_unit = \"4 KiB\", chips_per_channel = 2, planes_per_die = 1 }}
         allocation = {{ policy = \"static\" }}
         buffer = {{ policy = \"lru\", size = \"{} KiB\" {more} }}",
        4 * units
    ))
}

/// A write of one unit to each of these logical pages, a microsecond apart.
fn writes(of: &[u64]) -> Vec<Request> {
    of.iter().enumerate().map(|(at, page)| pages(Op::Write, 1_000 * at as u64, 4 * page, 1)).collect()
}

/// Runs the requests, and then a read long after the last page has left the buffer.
fn run_out(config: &RunConfig, mut requests: Vec<Request>, read_at_ns: u64) -> Report {
    requests.push(pages(Op::Read, read_at_ns, 0, 1));
    run(config, requests).report
}

const LATER_NS: u64 = 50_000_000;

/// Pages programmed, what of them is padding, and units that are left in the buffer.
fn left(report: &Report) -> (u64, u64, u64) {
    (report.flash.host_page_programs, report.flash.padding_units, report.buffer_units_left)
}

/// The ninth unit has no room. The four oldest units of the oldest unit's plane leave and share a program. Units of the
/// other plane stay, though they are older than the last of these four.
#[test]
fn units_of_a_plane_fill_a_page() {
    let oldest_first = [0, 1, 2, 3, 4, 5, 6, 8, 10];
    let report = run_out(&drive(8, ""), writes(&oldest_first), LATER_NS);
    assert_eq!(left(&report), (1, 0, 5));
}

/// Once pages have to leave, they leave until half of the buffer is free: of 16 units and a waiting one, 12 leave, so
/// that 5 stay.
#[test]
fn pages_leave_down_to_the_low_water_mark() {
    let of: Vec<u64> = (0..17).map(|at| 2 * at).collect();
    assert_eq!(left(&run_out(&drive(16, ""), writes(&of), LATER_NS)), (1, 0, 13));
    let low = drive(16, ", low_water = 0.5");
    assert_eq!(left(&run_out(&low, writes(&of), LATER_NS)), (3, 0, 5));
    // While all units have room, none leaves, though they fill more than half of the buffer.
    assert_eq!(left(&run_out(&low, writes(&of[..16]), LATER_NS)), (0, 0, 16));
}

/// A buffer that is unused for a millisecond is emptied, and not a nanosecond earlier: the last write arrives after 4
/// us.
#[test]
fn everything_leaves_in_idle_time() {
    let of = [0, 2, 4, 6, 8];
    let idle = drive(16, ", idle_after = \"1 ms\"");
    assert_eq!(left(&run_out(&drive(16, ""), writes(&of), LATER_NS)), (0, 0, 5));
    assert_eq!(left(&run_out(&idle, writes(&of), LATER_NS)), (2, 3, 0));
    assert_eq!(left(&run_out(&idle, writes(&of), 1_004_000 - 1)), (0, 0, 5));
    assert!(run_out(&idle, writes(&of), 1_004_000 + 1).flash.host_page_programs > 0);
}

/// Flash units programmed for each unit that the host wrote. A tenth of the capacity is written at random, unit by
/// unit, after `before` capacities.
fn amplification(more: &str, before: u64, seed: u64) -> f64 {
    let config = config(&format!(
        "geometry = {{ page_size = \"16 KiB\", mapping_unit = \"4 KiB\", blocks_per_plane = 64, pages_per_block = 64 }}
         capacity = {{ over_provisioning = 0.15 }}
         host = {{ mode = \"closed\", queue_depth = 1 }}
         precondition = {{ mode = \"random\", overwrites = 5.0 }}
         {more}"
    ));
    let image = precondition(&config, 1).expect("the drive is preconditioned");
    let units = Geometry::new(&config.device()).logical_units.into();
    let mut stream = rng::stream(seed, "test.writes");
    let writes: u64 = before * units + units / 10;
    let script: Vec<_> = (0..writes).map(|_| pages(Op::Write, 0, stream.random_range(0..units), 1)).collect();
    let options = Options { warmup: Some(Warmup::Requests(before * units)), ..Options::default() };
    let outcome = simulate(&config, image, Box::new(script.into_iter()), &options, &mut |_| {});
    let flash = outcome.expect("the run ends well").report.flash;
    (flash.host_units + flash.gc_units + flash.padding_units) as f64 / flash.host_units as f64
}

/// Preconditioning leaves the drive in the state after a run: if writes do not wait for each other, the page of each is
/// padded. Without padding, the first tenth of the capacity would cost 15 % fewer programs than later ones.
#[test]
fn preconditioning_pads_writes_as_the_run_does() {
    for more in ["", "buffer = { policy = \"lru\", size = \"256 KiB\" }"] {
        let [first, later] = [0, 4].map(|before| amplification(more, before, 1));
        // The values of three seeds, and of tenths of one run, differ by up to 2 %.
        assert!((first / later - 1.0).abs() < 0.04, "{more}: {first} and {later}");
    }
}

/// Padding before a run is part of the drive: if pages hold several units, runs with and without a buffer share no
/// image.
#[test]
fn drives_that_pad_otherwise_are_not_shared() {
    let key = |unit: &str, more: &str| {
        let geometry = format!("geometry = {{ page_size = \"16 KiB\", mapping_unit = \"{unit}\" }}");
        image_key(&config(&format!("precondition = {{ mode = \"random\" }}\n{geometry}\n{more}")))
    };
    let buffer = "buffer = { policy = \"lru\" }";
    assert_ne!(key("4 KiB", ""), key("4 KiB", buffer));
    assert_eq!(key("16 KiB", ""), key("16 KiB", buffer));
}

/// Buffers that evict pages one by one do not fill flash pages, and neither does preconditioning: with them each small
/// write is padded, before a run and during it.
#[test]
fn buffers_that_do_not_fill_pages_are_padded_before_a_run() {
    for policy in ["die-lists", "plane-lists", "die-writes"] {
        let more = format!("buffer = {{ policy = \"{policy}\", size = \"256 KiB\" }}");
        let [first, later] = [0, 2].map(|before| amplification(&more, before, 1));
        assert!(first > 0.6 * later, "{policy}: {first} at first and {later} later");
    }
}

/// After the host's last request, no page leaves any more for the low-water mark. The last write waits until the first
/// page is in flash. By then a second page is on its way, as each plane allows one, and a third one follows the first.
/// Without the end of the run, five pages would leave: of 32 units and a waiting one, at most 16 stay.
#[test]
fn the_low_water_mark_ends_with_the_last_request() {
    let of: Vec<u64> = (0..33).map(|at| 2 * at).collect();
    let low = drive(32, ", low_water = 0.5");
    assert_eq!(left(&run(&low, writes(&of)).report), (3, 0, 21));
    assert_eq!(left(&run_out(&low, writes(&of), LATER_NS)), (5, 0, 13));
}

/// A low-water mark and idle time have separate effects: a request ends the latter and not the former.
#[test]
fn a_request_ends_idle_time_whatever_the_low_water_mark() {
    let of: Vec<u64> = (0..600).map(|at| 2 * (at % 60)).collect();
    let written = |more: &str| {
        let mut requests = writes(&of[..60]);
        // In the midst of the emptying: 60 units leave with 15 programs of 664 us each, one after the other.
        requests.push(pages(Op::Read, 3_000_000, 4 * 118, 1));
        run(&drive(256, more), requests).report.buffer_units_left
    };
    let with_low = written(", low_water = 0.0, idle_after = \"1 ms\"");
    let without = written(", idle_after = \"1 ms\"");
    assert!(with_low == without && without > 0, "{with_low} and {without} units are left");
}

/// A write of 512 bytes of a unit in flash takes the latency of the buffer and the read of the rest. That is 91,060 ns:
/// 100 ns of command, 50 us in the array, 40,960 ns on the channel. The two overlap: the write ends with the later one.
#[test]
fn the_latency_of_the_buffer_overlaps_the_read_of_the_rest_of_a_unit() {
    let read_ns = COMMAND_NS + READ_NS + TRANSFER_NS;
    assert_eq!(read_ns, 91_060);
    for (latency_ns, expected_ns) in [(0, read_ns), (1_000, read_ns), (read_ns, read_ns), (200_000, 200_000)] {
        let buffer = format!("latency = \"{latency_ns} ns\", idle_after = \"1 ms\"");
        let config = config(&format!("buffer = {{ policy = \"lru\", size = \"64 KiB\", {buffer} }}"));
        // The whole unit leaves the buffer in idle time, long before a part of it is written.
        let part = Request { len_bytes: 512, ..pages(Op::Write, 10_000_000, 0, 1) };
        let outcome = run(&config, vec![pages(Op::Write, 0, 0, 1), part]);
        assert_eq!(responses(&outcome), [latency_ns, expected_ns], "latency {latency_ns} ns");
        assert_eq!(outcome.report.flash.host_page_reads, 1);
    }
}

/// Data that a read finds in flash takes the latency of the buffer's memory after the channel. The buffer does not keep
/// it, and does not count a hit. Without data there is nothing to transfer.
#[test]
fn a_read_of_flash_pays_the_latency_of_the_buffer() {
    let read_ns = COMMAND_NS + READ_NS + TRANSFER_NS;
    for latency_ns in [0, 1_000, 200_000] {
        let buffer = format!("latency = \"{latency_ns} ns\", idle_after = \"1 ms\"");
        let config = config(&format!("buffer = {{ policy = \"lru\", size = \"64 KiB\", {buffer} }}"));
        // The unit leaves the buffer in idle time; then it is read twice, and a unit without data once.
        let read = |at_ns: u64, unit: u64| pages(Op::Read, at_ns, unit, 1);
        let requests = vec![pages(Op::Write, 0, 0, 1), read(10_000_000, 0), read(20_000_000, 0), read(30_000_000, 5)];
        let outcome = run(&config, requests);
        let paid_ns = read_ns + latency_ns;
        assert_eq!(responses(&outcome), [latency_ns, paid_ns, paid_ns, 0], "latency {latency_ns} ns");
        assert_eq!((outcome.report.flash.host_page_reads, outcome.report.buffer_read_hits), (2, 0));
        // Two of three reads paid it.
        let causes = &outcome.report.latency_breakdown.read_mean_ns;
        let (_, mean_ns) = causes[Cause::Buffer as usize];
        assert!((mean_ns - 2.0 / 3.0 * latency_ns as f64).abs() < 1e-6, "{mean_ns} of {latency_ns} ns");
    }
}

/// A read of a unit without data, or a trim, ends as it begins. If it is the last request, the host is done all the
/// same, and nothing leaves the buffer in idle time.
#[test]
fn a_last_request_without_work_ends_the_run() {
    let idle = drive(16, ", idle_after = \"1 ms\"");
    for last in [pages(Op::Read, 500_000, 60, 1), pages(Op::Trim, 500_000, 60, 1)] {
        let mut requests = writes(&[0, 2, 4, 6, 8]);
        requests.push(last);
        let report = run(&idle, requests).report;
        assert_eq!(left(&report), (0, 0, 5), "{last:?}");
    }
}
