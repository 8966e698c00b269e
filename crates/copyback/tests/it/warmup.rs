//! A warm-up is left out of the measurement, and of nothing else.

use crate::common::{config, pages};
use copyback::observe::report::{FlashWork, Outcome, RequestRecord};
use copyback::observe::steady::Verdict;
use copyback::run::config::RunConfig;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::warmup::Unfinished;
use copyback::run::{Options, RunError, Warmup, precondition, simulate, warmup_end};
use copyback::workload::{Error, Op, Request, RequestSource};

/// Four dies with a preconditioning, small enough that collections are under way all the time.
fn drive(more: &str) -> RunConfig {
    let geometry = "[geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 32\n";
    config(&format!("precondition = {{ mode = \"random\", overwrites = 2.0 }}\n{more}\n{geometry}"))
}

/// Writes and reads of one and two pages, every eighth a trim, all over a drive of `units` pages.
fn script(count: u64, gap_ns: u64, units: u64) -> Vec<Request> {
    let request = |i: u64| {
        let op = if i % 8 == 7 { Op::Trim } else { [Op::Write, Op::Write, Op::Read][(i % 3) as usize] };
        pages(op, i * gap_ns, i * 7_919 % (units - 2), 1 + i % 2)
    };
    (0..count).map(request).collect()
}

const COUNT: u64 = 6_000;
const WARMUP: u64 = 2_345;

fn run(config: &RunConfig, script: &[Request], warmup: Option<Warmup>, requests: Option<u64>) -> Outcome {
    let image = precondition(config, 1).unwrap();
    let options = Options {
        requests,
        warmup,
        check: true,
        keep_gc_events: true,
        keep_requests: true,
        keep_responses: true,
        ..Options::default()
    };
    let source = Box::new(Vec::from(script).into_iter());
    simulate(config, image, source, &options, &mut |_| {}).expect("the run ends well")
}

fn units(config: &RunConfig) -> u64 {
    copyback::flash::geometry::Geometry::new(&config.device()).logical_units.into()
}

/// Drives under which a warm-up is tried: blocking, preempted, buffered, in a closed loop.
fn drives() -> Vec<(&'static str, RunConfig)> {
    [
        ("baseline", ""),
        ("preempted", "preemption = { policy = \"points\" }"),
        ("ideal", "preemption = { policy = \"ideal\" }"),
        ("buffered", "buffer = { policy = \"lru\", size = \"128 KiB\" }"),
        ("closed loop", "host = { mode = \"closed\", queue_depth = 8 }"),
    ]
    .map(|(name, tables)| (name, drive(tables)))
    .into()
}

#[test]
fn what_comes_after_it_is_what_comes_without_it() {
    for (name, config) in drives() {
        let script = script(COUNT, 700_000, units(&config));
        let (whole, measured) =
            (run(&config, &script, None, None), run(&config, &script, Some(Warmup::Requests(WARMUP)), None));
        let later = |records: &[RequestRecord]| -> Vec<RequestRecord> {
            records.iter().filter(|r| r.index >= WARMUP).copied().collect()
        };
        assert_eq!(measured.requests.len() as u64, COUNT - WARMUP, "{name}");
        assert_eq!(measured.requests, later(&whole.requests), "{name}");
        // Response times are those of the records, by hand.
        let reads = || measured.requests.iter().filter(|r| r.op == 0);
        let sum_ns: u64 = reads().map(|r| r.response_ns).sum();
        let read = &measured.report.response.read;
        assert_eq!(read.count, reads().count() as u64, "{name}");
        assert!((read.mean_ns - sum_ns as f64 / read.count as f64).abs() < 1e-6, "{name}");
        assert_eq!(read.max_ns, reads().map(|r| r.response_ns).max().unwrap(), "{name}");
        for (cause, &(_, mean_ns)) in measured.report.latency_breakdown.read_mean_ns.iter().enumerate() {
            let sum_ns: u64 = reads().map(|r| r.breakdown_ns[cause]).sum();
            assert!((mean_ns - sum_ns as f64 / read.count as f64).abs() < 1e-6, "{name}");
        }
        let affected = measured.requests.iter().filter(|r| r.gc_affected && r.op != 2).count();
        assert_eq!(measured.report.response.gc_affected.count, affected as u64, "{name}");
        // So are the bytes; and samples count the same requests.
        let bytes: u64 = measured.requests.iter().filter(|r| r.op == 1).map(|r| r.len_bytes).sum();
        assert_eq!(measured.report.written_bytes, bytes, "{name}");
        let last_ns = measured.series.last().expect("samples were taken").time_ns;
        let ends = || measured.requests.iter().map(|r| r.arrival_ns + r.response_ns);
        let (before, until) = (ends().filter(|&ns| ns < last_ns).count(), ends().filter(|&ns| ns <= last_ns).count());
        let sampled = measured.series.iter().map(|s| s.requests_done).sum::<u64>() as usize;
        assert!((before..=until).contains(&sampled), "{name}: {sampled} requests, of {before} to {until}");
        let start_ns = measured.report.warmup.expect("there was one").end_ns;
        assert!(measured.series[0].time_ns >= start_ns, "{name}");
        // The match with another run's requests has no request of the warm-up in it.
        let matched = measured.responses.matched(&whole.responses);
        assert_eq!(matched.all.count, affected as u64, "{name}");
    }
}

#[test]
fn totals_are_the_sum_of_both_parts() {
    for (name, config) in drives() {
        let script = script(COUNT, 700_000, units(&config));
        let (whole, measured) =
            (run(&config, &script, None, None), run(&config, &script, Some(Warmup::Requests(WARMUP)), None));
        let before = counters_at(&config, &script, WARMUP);
        let (all, later) = (&whole.report, &measured.report);
        assert!(before.0.block_erases > 100 && later.flash.block_erases > 100, "{name}: nothing is tested");
        let flash = before.0.zip(&later.flash, |a, b| a + b);
        assert_eq!(flash.block_erases, all.flash.block_erases, "{name}");
        assert_eq!(flash.host_page_programs, all.flash.host_page_programs, "{name}");
        assert_eq!(flash.gc_units, all.flash.gc_units, "{name}");
        assert_eq!(flash.host_units, all.flash.host_units, "{name}");
        assert_eq!(flash.preemptions, all.flash.preemptions, "{name}");
        assert_eq!(before.1 + later.gc.collections, all.gc.collections, "{name}");
        assert!(later.gc.collection_max_ns <= all.gc.collection_max_ns, "{name}");
        // The reported collections are those that count: the last collections of the whole run.
        let kept = measured.gc_events.len();
        assert_eq!(measured.gc_events, whole.gc_events[whole.gc_events.len() - kept..], "{name}");
        if name != "ideal" {
            assert_eq!(kept as u64, later.gc.collections, "{name}");
            let units = measured.gc_events.iter().map(|e| u64::from(e.units_valid)).sum::<u64>();
            assert_eq!(units, later.gc.units_moved, "{name}");
            let mean_ns = measured.gc_events.iter().map(|e| e.end_ns - e.start_ns).sum::<u64>() as f64 / kept as f64;
            assert!((later.gc.collection_mean_ns.unwrap() / mean_ns - 1.0).abs() < 1e-12, "{name}");
            let longest_ns = measured.gc_events.iter().map(|e| e.end_ns - e.start_ns).max().unwrap();
            assert!(later.gc.collection_max_ns >= Some(longest_ns), "{name}");
        }
        // Wear counts all erases of a block, also those of the warm-up.
        assert_eq!(all.wear, later.wear, "{name}");
        // The parts of write amplification are of what was written since.
        let wa = &later.write_amplification;
        let parts = [wa.host, wa.gc, wa.other, wa.padding].iter().flatten().sum::<f64>();
        assert!((wa.total.unwrap() - parts).abs() < 1e-12, "{name}");
    }
}

/// Work of the flash, and collections, when a request begins.
fn counters_at(config: &RunConfig, script: &[Request], index: u64) -> (FlashWork, u64) {
    let ftl = copyback::run::preconditioning::preconditioned(config, 1).unwrap();
    let mut source = Vec::from(script).into_iter();
    let setup = Setup {
        host: config.host.clone(),
        source: &mut source,
        requests: None,
        check: true,
        keep_gc_events: false,
        keep_requests: false,
    };
    let mut simulation = Simulation::new(vec![(config, ftl)], setup);
    simulation.warm_up(Warmup::Requests(index));
    assert_eq!(simulation.run_warmup(&mut |_| {}).unwrap(), index);
    let start = &simulation.start_of_measures().drives[0];
    (start.work.clone(), start.gc.collections)
}

#[test]
fn none_at_all_changes_nothing() {
    for (name, config) in drives() {
        let script = script(2_000, 700_000, units(&config));
        let plain = run(&config, &script, None, None);
        for warmup in [Warmup::Requests(0), Warmup::Time(0)] {
            let same = run(&config, &script, Some(warmup), None);
            assert_eq!(same.report, plain.report, "{name}");
            assert_eq!((&same.requests, &same.series), (&plain.requests, &plain.series), "{name}");
        }
    }
}

#[test]
fn requests_are_counted_from_its_end() {
    let config = drive("");
    let script = script(COUNT, 700_000, units(&config));
    let outcome = run(&config, &script, Some(Warmup::Requests(1_000)), Some(500));
    let numbers: Vec<u64> = outcome.requests.iter().map(|r| r.index).collect();
    assert_eq!((numbers.len(), numbers.iter().min(), numbers.iter().max()), (500, Some(&1_000), Some(&1_499)));
    // In an open loop a time is a number of requests: those that arrive before it. Request 2,000 arrives at 1.4 s.
    let timed = run(&config, &script, Some(Warmup::Time(1_400_000_000)), Some(500));
    assert_eq!(timed.report.warmup.unwrap().requests, 2_000);
    assert_eq!(timed.report.reads + timed.report.writes + timed.report.trims, 500);
}

#[test]
fn a_request_that_ends_after_it_and_began_before_is_not_measured() {
    // Four writes of eight pages each arrive at once, and a read a little later: it ends first.
    let config = config("");
    let mut script: Vec<Request> = (0..4).map(|at| pages(Op::Write, 0, at * 8, 8)).collect();
    script.push(pages(Op::Read, 1_000, 0, 1));
    let outcome = run(&config, &script, Some(Warmup::Requests(4)), None);
    assert_eq!(outcome.requests.iter().map(|r| r.index).collect::<Vec<_>>(), [4]);
    assert_eq!((outcome.report.reads, outcome.report.writes), (1, 0));
    let warmup = outcome.report.warmup.unwrap();
    assert_eq!((warmup.requests, warmup.end_ns), (4, 1_000));
    assert_eq!(outcome.report.simulated_ns, outcome.requests[0].response_ns);
    // The die was at work all the time, and no longer than that.
    assert!((outcome.report.utilization.die - 1.0).abs() < 1e-9, "{}", outcome.report.utilization.die);
    // The programs of those writes are work of the time that is measured, and so is what they write.
    assert_eq!(outcome.report.write_amplification.total, Some(1.0));
    assert_eq!(outcome.report.steady.verdict, Verdict::NoErase);
}

#[test]
fn a_workload_that_ends_first_is_refused() {
    let config = drive("");
    let script = script(100, 700_000, units(&config));
    let refused = |warmup, script: &[Request]| {
        let options = Options { warmup: Some(warmup), ..Options::default() };
        let source = Box::new(Vec::from(script).into_iter());
        match simulate(&config, precondition(&config, 1).unwrap(), source, &options, &mut |_| {}) {
            Err(RunError::WarmupUnfinished(why)) => why.to_string(),
            other => panic!("{warmup}: {:?}", other.map(|outcome| outcome.report)),
        }
    };
    for warmup in [100, 101] {
        let says = format!("the workload ended after 100 requests, within the warm-up of {warmup}");
        assert_eq!(refused(Warmup::Requests(warmup), &script), says);
    }
    assert!(refused(Warmup::Time(1_000_000_000), &script).contains("within the warm-up of 1 s"));
    assert!(refused(Warmup::Steady, &script).contains("it takes 5 rounds of half of the drive's capacity"));
    let reads: Vec<Request> = script.iter().map(|r| Request { op: Op::Read, ..*r }).collect();
    assert!(refused(Warmup::Steady, &reads).contains("without a write"));
}

/// The rule requires five rounds of half of the capacity: the warm-up ends soon after a whole number of rounds, at a
/// request that may differ from scheme to scheme.
#[test]
fn it_ends_with_a_round_when_the_rule_holds() {
    for (name, config) in drives() {
        let script = script(60_000, 2_000_000, units(&config));
        let end = |warmup| {
            let options = Options { warmup: Some(warmup), ..Options::default() };
            let source = Box::new(script.clone().into_iter());
            warmup_end(&config, vec![(&config, precondition(&config, 1).unwrap())], source, &options, &mut |_| {})
        };
        let index = end(Warmup::Steady).unwrap();
        let written: u64 =
            script[..index as usize].iter().filter(|r| r.op == Op::Write).map(|r| r.len_bytes / 4096).sum();
        let rounds = written as f64 / (units(&config) / 2) as f64;
        // Requests are of one or two units: an end is up to a unit late.
        assert!(rounds >= 5.0 && rounds.fract() < 0.02 * rounds, "{name}: {rounds}");
        let outcome = run(&config, &script, Some(Warmup::Steady), Some(2_000));
        assert_eq!(outcome.report.warmup.unwrap().requests, index, "{name}");
        assert_eq!(outcome.requests.iter().map(|r| r.index).min(), Some(index), "{name}");
        assert_eq!(end(Warmup::Requests(17)).unwrap(), 17, "{name}");
    }
}

#[test]
fn what_is_unfinished_says_why() {
    let unfinished = Unfinished {
        warmup: Warmup::Steady,
        requests: 7,
        simulated_ns: 0,
        rounds: 9.5,
        steady: Some(copyback::observe::steady::Steady { verdict: Verdict::NoErase, ..Default::default() }),
        has_write: true,
    };
    assert!(unfinished.to_string().ends_with("before the drive was steady: no block was erased"));
}

/// What waits at the boundary is written to flash after it, and counts there: write amplification of a part of an
/// overloaded run is that of the whole, and the host's own part is 1.
#[test]
fn write_amplification_counts_what_waits_on_the_side_where_it_is_written() {
    let config = config("precondition = { mode = \"random\", overwrites = 3.0 }");
    let script: Vec<Request> = (0..6_000).map(|i| pages(Op::Write, i * 20_000, i * 7_919 % 140, 1)).collect();
    let wa = |warmup: u64| {
        let options = Options { warmup: Some(Warmup::Requests(warmup)), check: true, ..Options::default() };
        let image = precondition(&config, 1).unwrap();
        let outcome = simulate(&config, image, Box::new(script.clone().into_iter()), &options, &mut |_| {}).unwrap();
        let wa = outcome.report.write_amplification;
        (wa.total.unwrap(), wa.host.unwrap())
    };
    let (whole, host) = wa(0);
    assert_eq!(host, 1.0);
    for warmup in [1_000, 3_000] {
        let (part, host) = wa(warmup);
        assert!((part / whole - 1.0).abs() < 0.03, "{part} after {warmup}, {whole} in all");
        assert_eq!(host, 1.0, "after {warmup}");
    }
}

/// A source that ends after some requests, with an error or without. It must not be called again.
struct Ending {
    requests: std::vec::IntoIter<Request>,
    fails: bool,
    has_ended: bool,
}

impl RequestSource for Ending {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        assert!(!self.has_ended, "the source was called after its end");
        let next = self.requests.next();
        self.has_ended = next.is_none();
        if self.has_ended && self.fails { Err(Error::new("the end is missing")) } else { Ok(next) }
    }
}

/// Requests are taken from the source ahead of their time. A short warm-up ends while some are waiting, and the limit
/// of requests may be below their number; a source may end anywhere among them.
#[test]
fn short_runs_end_after_their_requests_wherever_the_source_ends() {
    let completed = |of: &Outcome| of.report.reads + of.report.writes + of.report.trims;
    let config = drive("");
    let image = precondition(&config, 1).unwrap();
    let script = script(64, 50_000, units(&config));
    for warmup in [0, 1, 2, 6, 7, 8, 9, 15, 16, 17, 23, 24] {
        for requests in (1..=26).step_by(if warmup % 8 == 0 { 1 } else { 5 }) {
            let options = Options {
                requests: Some(requests),
                warmup: (warmup > 0).then_some(Warmup::Requests(warmup)),
                check: true,
                ..Options::default()
            };
            let source = Ending { requests: script.clone().into_iter(), fails: false, has_ended: false };
            let outcome = simulate(&config, image.clone(), Box::new(source), &options, &mut |_| {});
            let outcome = outcome.unwrap_or_else(|error| panic!("{requests} after {warmup}: {error}"));
            assert_eq!(completed(&outcome), requests, "{requests} after {warmup}");
        }
    }
    for count in [1, 6, 7, 8, 9, 15, 16, 17, 22, 23, 24, 31, 32] {
        for fails in [false, true] {
            let requests = Vec::from(&script[..count]).into_iter();
            let source = Ending { requests, fails, has_ended: false };
            let outcome = simulate(&config, image.clone(), Box::new(source), &Options::default(), &mut |_| {});
            let count_of = outcome.ok().map(|outcome| completed(&outcome));
            assert_eq!(count_of, (!fails).then_some(count as u64), "{count} requests, fails: {fails}");
        }
    }
}

/// The time of a warm-up counts from the first request, and so does the time that the error states.
#[test]
fn a_workload_that_begins_late_is_measured_from_its_first_request() {
    let config = drive("");
    let requests: Vec<_> = (0..5).map(|i| pages(Op::Write, 1_000_000_000 + i * 10_000_000, i, 1)).collect();
    let options = Options { warmup: Some(Warmup::Time(45_000_000)), ..Options::default() };
    let image = precondition(&config, 1).unwrap();
    let ended = simulate(&config, image, Box::new(requests.into_iter()), &options, &mut |_| {});
    let Err(RunError::WarmupUnfinished(unfinished)) = ended else { panic!("{ended:?}") };
    assert_eq!((unfinished.requests, unfinished.simulated_ns), (5, 40_000_000));
}
