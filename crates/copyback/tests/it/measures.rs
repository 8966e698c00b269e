//! What is measured of a run beside its totals: small reads, state over time, a window in fine bins.

use crate::common::{COMMAND_NS, READ_NS, TRANSFER_NS, config, pages, responses, run};
use copyback::host::config::HostConfig;
use copyback::observe::report::{Bin, Outcome, RequestRecord, Sample, SampleWork};
use copyback::run::config::RunConfig;
use copyback::run::preconditioning::preconditioned;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::{Options, Warmup, precondition, simulate};
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

const MS: u64 = 1_000_000;

/// A drive that collects all the time, with a window of 100 ms in bins of 5 ms, 1 s into the run.
const BUSY: &str = r#"
    precondition = { mode = "random", overwrites = 2.0 }
    measure = { small_read_max = "4 KiB", window_start = "1 s", window = "100 ms", bin = "5 ms" }
"#;

/// Writes, reads and trims of one and two pages, one every 700 us: more than two seconds.
fn mix() -> Vec<Request> {
    let request = |i: u64| {
        let op = if i % 8 == 7 { Op::Trim } else { [Op::Write, Op::Read, Op::Read][(i % 3) as usize] };
        pages(op, i * 700_000, i * 7_919 % 150, 1 + i % 2)
    };
    (0..3_000).map(request).collect()
}

fn outcome(config: &RunConfig, script: Vec<Request>, warmup: Option<Warmup>) -> Outcome {
    let options = Options { warmup, keep_requests: true, check: true, ..Options::default() };
    let image = precondition(config, 1).unwrap();
    simulate(config, image, Box::new(script.into_iter()), &options, &mut |_| {}).expect("the run ends well")
}

/// What ends in a bin, counted from the records of all requests.
fn counted(start_ns: u64, end_ns: u64, records: &[RequestRecord]) -> [u64; 5] {
    let ended = || records.iter().filter(|r| (start_ns..end_ns).contains(&(r.arrival_ns + r.response_ns)));
    let reads = || ended().filter(|r| r.op == 0);
    let small = || reads().filter(|r| r.len_bytes <= 4096);
    [
        ended().count() as u64,
        ended().map(|r| r.response_ns).sum(),
        reads().count() as u64,
        small().count() as u64,
        small().map(|r| r.response_ns).sum(),
    ]
}

fn shown(bin: &Bin) -> [u64; 5] {
    [bin.requests_done, bin.response_sum_ns, bin.reads_done, bin.small_reads_done, bin.small_read_response_sum_ns]
}

#[test]
fn a_window_has_what_ended_in_each_of_its_bins() {
    let config = config(BUSY);
    let outcome = outcome(&config, mix(), None);
    let bins = outcome.window.as_ref().expect("there is a window");
    assert_eq!(bins.len(), 20);
    for (bin, start_ns) in bins.iter().zip((1_000 * MS..).step_by(5 * MS as usize)) {
        assert_eq!(bin.start_ns, start_ns);
        assert_eq!(shown(bin), counted(start_ns, start_ns + 5 * MS, &outcome.requests), "from {start_ns} ns");
        assert!(bin.free_blocks_fewest <= bin.free_blocks);
        assert_eq!((bin.gc_share_percent, bin.scrub_share_percent, bin.block_reads_max), (None, None, None));
    }
    assert!(bins.iter().all(|bin| bin.requests_done > 0) && bins.iter().any(|bin| bin.small_reads_done > 0));
    assert!(bins.iter().any(|bin| bin.free_blocks != bins[0].free_blocks), "no block was taken: nothing is tested");
    // Bins follow each other: the state at the start of a bin is the state at the end of the previous one.
    assert!(bins.windows(2).all(|pair| pair[1].free_blocks_fewest <= pair[0].free_blocks));
}

/// Sums over samples are the report's: no work is missing, and none is that of the preconditioning or of a warm-up.
#[test]
fn samples_add_up_to_the_report() {
    let drives = [BUSY, "precondition = { mode = \"sequential\" }\nbuffer = { policy = \"lru\", size = \"64 KiB\" }"];
    for (config, warmup) in
        drives.iter().flat_map(|text| [None, Some(Warmup::Requests(700))].map(|w| (config(text), w)))
    {
        let outcome = outcome(&config, mix(), warmup);
        let sum = |of: fn(&Sample) -> u64| outcome.series.iter().map(of).sum::<u64>();
        let (report, flash) = (&outcome.report, &outcome.report.flash);
        assert_eq!(sum(|s| s.requests_done), report.reads + report.writes + report.trims);
        assert!(report.trims > 0 && sum(|s| s.work.trims_done) == report.trims);
        assert_eq!(sum(|s| s.work.units_written), report.units_written);
        assert_eq!(sum(|s| s.work.host_units), flash.host_units);
        assert_eq!(sum(|s| s.work.gc_units), flash.gc_units);
        assert_eq!(sum(|s| s.work.other_units), flash.other_units);
        assert_eq!(sum(|s| s.work.padding_units), flash.padding_units);
        assert_eq!(sum(|s| s.work.host_page_reads), flash.host_page_reads);
        assert_eq!(sum(|s| s.work.host_page_programs), flash.host_page_programs);
        assert_eq!(sum(|s| s.work.gc_page_reads), flash.gc_page_reads);
        assert_eq!(sum(|s| s.work.gc_page_programs), flash.gc_page_programs);
        assert_eq!(sum(|s| s.work.block_erases), flash.block_erases);
        // The last interval ends with the run, whenever that is.
        let last_end_ns = outcome.requests.iter().map(|r| r.arrival_ns + r.response_ns).max().expect("requests ended");
        assert!(outcome.series.last().expect("a sample").time_ns >= last_end_ns);
        assert!(outcome.series.windows(2).all(|pair| pair[0].time_ns < pair[1].time_ns));
    }
}

#[test]
fn write_amplification_of_an_interval_is_what_was_programmed_over_what_was_written() {
    let work = SampleWork { units_written: 4, host_units: 3, gc_units: 2, other_units: 1, ..SampleWork::default() };
    assert_eq!(work.write_amplification(), Some(1.5));
    assert_eq!(SampleWork { units_written: 0, ..work }.write_amplification(), None);
}

/// A run that ends before its second sample is due (after a millisecond) still has a last sample, with its work.
#[test]
fn a_short_run_has_its_last_interval() {
    let outcome = run(&config(""), vec![pages(Op::Write, 0, 0, 3)]);
    // Units count when they are bound to flash, a request when it has ended: after the sample at the start.
    assert_eq!(outcome.series.iter().map(|s| s.requests_done).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(outcome.series.iter().map(|s| s.work.host_units).sum::<u64>(), 3);
    assert_eq!(outcome.series[1].time_ns, outcome.report.simulated_ns);
}

#[test]
fn a_window_changes_nothing_else() {
    let (with, without) = (config(BUSY), config(BUSY.split("measure").next().expect("a table before it")));
    let small = RunConfig { measure: with.measure.clone(), ..without.clone() };
    assert_eq!(with, small);
    let [with, without] = [with, without].map(|config| outcome(&config, mix(), None));
    assert!(with.series == without.series && with.requests == without.requests);
    assert!(without.window.is_none());
}

/// Requests of a warm-up are in no class and in no sample, but a window has what ended in it.
#[test]
fn a_window_may_lie_in_a_warm_up() {
    let config = config(BUSY);
    let whole = outcome(&config, mix(), None);
    // The window is from 1,000 ms to 1,100 ms. Request 1,500 arrives at 1,050 ms.
    for warmup in [1_500, 2_000] {
        let warm = outcome(&config, mix(), Some(Warmup::Requests(warmup)));
        assert_eq!(warm.window, whole.window, "{warmup}");
        assert!(warm.report.response.small_read.count < whole.report.response.small_read.count);
    }
}

/// 32 blocks; a write at 10 ms opens the first of them, one at 35 ms the first of the other plane. Each ends 541 us
/// later, and nothing happens in between.
#[test]
fn bins_without_events_are_there_and_the_run_ends_the_last_one() {
    let config = config("measure = { window = \"1 s\", bin = \"10 ms\" }");
    let outcome = run(&config, vec![pages(Op::Write, 10 * MS, 0, 1), pages(Op::Write, 35 * MS, 1, 1)]);
    let rows: Vec<_> = outcome.window.as_ref().unwrap().iter().map(|b| (b.requests_done, b.free_blocks)).collect();
    assert_eq!(rows, [(0, 32), (1, 31), (0, 31), (1, 30)]);
    let note = "the run ended at 35.54106 ms, and its window (`measure.window`) has 4 of 100 bins";
    assert_eq!(outcome.notes, [note]);
    let late = crate::common::config("measure = { window_start = \"1 h\", window = \"1 s\" }");
    let outcome = run(&late, vec![pages(Op::Write, 10 * MS, 0, 1)]);
    assert_eq!(outcome.window, Some(Vec::new()));
    let says = "the run ended at 10.54106 ms, before its window (`measure.window_start = \"1 h\"`)";
    assert_eq!(outcome.notes, [says]);
}

/// A drive whose collections are a task with a share, and a window over a part of the run.
fn with_shares(shares: &str) -> RunConfig {
    config(&format!(
        "preemption = {{ policy = \"always\" }}
         trigger = {{ policy = \"watermark\", scope = \"device\", soft = 5 }}
         precondition = {{ mode = \"random\", overwrites = 1.0 }}
         measure = {{ window_start = \"500 ms\", window = \"1 s\", bin = \"5 ms\" }}
         admit = {{ policy = \"debit\", slots = 4, shares = {shares} }}"
    ))
}

/// The distinct shares, in ascending order.
fn seen(shares: impl Iterator<Item = Option<f64>>) -> Vec<Option<f64>> {
    let mut seen: Vec<Option<f64>> = shares.collect();
    seen.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    seen.dedup();
    seen
}

/// A fixed share belongs to its task while the task works, and otherwise to the host.
#[test]
fn shares_are_those_of_tasks_at_work() {
    let outcome = outcome(&with_shares("{ policy = \"fixed\", gc = 30 }"), mix(), None);
    assert_eq!(seen(outcome.series.iter().map(|s| s.gc_share_percent)), [Some(0.0), Some(30.0)]);
    assert_eq!(seen(outcome.series.iter().map(|s| s.scrub_share_percent)), [Some(0.0)]);
    let bins = outcome.window.expect("there is a window");
    assert_eq!(seen(bins.iter().map(|b| b.gc_share_percent)), [Some(0.0), Some(30.0)]);
    assert_eq!(seen(bins.iter().map(|b| b.scrub_share_percent)), [Some(0.0)]);
}

/// If the share is only P · e, it is a multiple of P, because e is a number of blocks.
#[test]
fn shares_that_are_fed_back_are_seen_over_time() {
    let shares = "{ policy = \"feedback\", gc_p = 8.0, gc_i = 0.0, period = \"100 us\" }";
    let outcome = outcome(&with_shares(shares), mix(), None);
    let seen = seen(outcome.series.iter().map(|s| s.gc_share_percent));
    let blocks: Vec<f64> = seen.iter().map(|share| share.expect("a share") / 8.0).collect();
    assert!(blocks.len() > 2 && blocks.iter().all(|blocks| blocks.fract() == 0.0), "{seen:?}");
}

/// Writes of a second with a period of 1 us would cause more than a million updates. Each update leaves half of the
/// difference, so that the share settles about thirty updates after each block that is opened or erased.
#[test]
fn updates_of_shares_that_have_settled_are_left_out() {
    let events = |shares: &str| {
        let config = with_shares(shares);
        let mut source = mix().into_iter();
        let (host, source) = (HostConfig::default(), &mut source);
        let setup = Setup { host, source, requests: None, check: true, keep_gc_events: false, keep_requests: false };
        let mut simulation = Simulation::new(vec![(&config, preconditioned(&config, 1).unwrap())], setup);
        simulation.start().expect("there are requests");
        let mut events = 0;
        while simulation.step().expect("the run ends well") {
            events += 1;
        }
        simulation.check_end();
        events
    };
    let (fixed, fed_back) =
        (events("{ policy = \"fixed\" }"), events("{ policy = \"feedback\", gc_i = 0.5, period = \"1 us\" }"));
    assert!(fixed < 50_000 && fed_back < 10 * fixed, "{fixed} events, and {fed_back} with updates");
}

/// A write of a page is under way when the warm-up ends: 100 ns of cycles and 40,960 ns of data on the channel, then
/// 500,000 ns in the array of one of two planes. The measured part includes only the remaining time of each.
#[test]
fn times_in_use_are_cut_where_the_warm_up_ends() {
    for (at_ns, plane, channel) in [(300_000, 0.5, 0.0), (20_000, 0.5, 21_060.0 / 521_060.0)] {
        let script = vec![pages(Op::Write, 0, 0, 1), pages(Op::Read, at_ns, 9, 1)];
        let used = outcome(&config(""), script, Some(Warmup::Requests(1))).report.utilization;
        assert_eq!((used.plane, used.die, used.channel), (plane, 1.0, channel), "from {at_ns} ns");
    }
}

/// Shares of collections: at any end of the warm-up, no plane of a collecting die is in use for longer than the die
/// collects (`--check` verifies that).
#[test]
fn shares_of_collections_are_cut_where_the_warm_up_ends() {
    let config = config("precondition = { mode = \"random\", overwrites = 2.0 }");
    for requests in 100..140 {
        let used = outcome(&config, mix(), Some(Warmup::Requests(10 * requests))).report.utilization;
        let shares = [used.plane, used.die, used.channel, used.plane_during_gc.expect("it collects")];
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "after {}: {used:?}", 10 * requests);
    }
}

/// Samples of two drives with the same requests.
fn series_of_two(configs: [&RunConfig; 2]) -> Vec<Sample> {
    let drives = configs.map(|config| (config, preconditioned(config, 1).unwrap()));
    let both = |asked: Request| [asked, Request { device: 1, ..asked }];
    let mut source = mix().into_iter().flat_map(both).collect::<Vec<_>>().into_iter();
    let setup = Setup {
        host: HostConfig::default(),
        source: &mut source,
        requests: None,
        check: false,
        keep_gc_events: false,
        keep_requests: false,
    };
    let mut simulation = Simulation::new(drives.into(), setup);
    simulation.run(&mut |_| {}).expect("the run ends well");
    std::mem::take(&mut simulation.collector.series)
}

#[test]
fn shares_of_several_drives_are_means_of_those_that_have_shares() {
    let fixed = |percent: u32| with_shares(&format!("{{ policy = \"fixed\", gc = {percent} }}"));
    let (a, b, none) = (fixed(20), fixed(40), config(BUSY));
    let seen_of = |configs| seen(series_of_two(configs).iter().map(|s| s.gc_share_percent));
    assert_eq!(seen_of([&none, &none]), [None]);
    assert_eq!(seen_of([&none, &a]), [Some(0.0), Some(20.0)]);
    let both = seen_of([&a, &b]);
    assert!(both.contains(&Some(30.0)), "{both:?}");
    assert!(both.iter().all(|share| [0.0, 10.0, 20.0, 30.0].contains(&share.expect("a share"))), "{both:?}");
}
