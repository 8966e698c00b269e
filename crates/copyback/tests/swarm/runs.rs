//! Does every run that the configuration allows end well, whatever is combined with what?
//!
//! Small drives, each with one setting of every knob drawn at random, serve random requests with all checks on: version
//! stamps of every unit, legality of every command, all invariants. What a report must add up to is computed here from
//! the requests alone. A run gives the same report twice, with and without checks and records, on an image that was
//! cloned and on one that was made anew.
//!
//! `PROPTEST_CASES` sets how many drives are drawn. A failure prints the configuration and the requests that replay it.

mod support;

use copyback::config::RunConfig;
use copyback::config::host::HostMode;
use copyback::metrics::report::{Cause, Outcome, Report, RequestRecord};
use copyback::nand::geometry::Geometry;
use copyback::run::{Image, Options, Progress, RunError, precondition, simulate};
use copyback::workload::{Op, Request};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use support::{Listed, Setting, configuration, course, fitted};

/// Every knob and its settings, the plainest first: a failure shrinks towards it.
const KNOBS: &[&[Setting]] = &[
    &[
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1",
        "geometry.channels = 1\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2",
        "geometry.channels = 2\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 1",
        "geometry.channels = 1\ngeometry.chips_per_channel = 3\ngeometry.dies_per_chip = 1",
        "geometry.channels = 2\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2",
        "geometry.channels = 2\ngeometry.chips_per_channel = 2\ngeometry.dies_per_chip = 2",
    ],
    &[
        "geometry.planes_per_die = 1",
        "geometry.planes_per_die = 2",
        "geometry.planes_per_die = 3",
        "geometry.planes_per_die = 4",
    ],
    &[
        "geometry.blocks_per_plane = 8",
        "geometry.blocks_per_plane = 9",
        "geometry.blocks_per_plane = 12",
        "geometry.blocks_per_plane = 17",
        "geometry.blocks_per_plane = 24",
    ],
    &[
        "geometry.pages_per_block = 4",
        "geometry.pages_per_block = 1",
        "geometry.pages_per_block = 2",
        "geometry.pages_per_block = 3",
        "geometry.pages_per_block = 8",
        "geometry.pages_per_block = 13",
    ],
    &[
        "geometry.page_size = \"4 KiB\"",
        "geometry.page_size = \"8 KiB\"\ngeometry.mapping_unit = \"4 KiB\"",
        "geometry.page_size = \"1536 B\"\ngeometry.mapping_unit = \"512 B\"",
        "geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"4 KiB\"",
        "geometry.page_size = \"16 KiB\"",
        "geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"1 KiB\"",
    ],
    &[
        "timing.read = \"50 us\"",
        "timing.read = [\"40 us\", \"60 us\", \"90 us\"]",
        "timing.read = \"1 ns\"",
        "timing.read = \"3 ms\"",
    ],
    &[
        "timing.program = \"500 us\"",
        "timing.program = [\"400 us\", \"1500 us\"]",
        "timing.program = \"1 ns\"",
        "timing.program = \"30 us\"",
    ],
    &["timing.erase = \"3 ms\"", "timing.erase = \"1 ns\"", "timing.erase = \"10 us\""],
    &[
        "timing.channel = \"400 MB/s\"",
        "timing.channel = \"40 MB/s\"",
        "timing.channel = \"1 MB/s\"",
        "timing.channel = \"9 GB/s\"",
    ],
    &["", "timing.command = \"200 ns\"", "timing.command = \"70 us\""],
    &["", "timing.cache_busy = \"3 us\""],
    &["", "commands.multi_plane = false"],
    &["", "commands.same_block = true"],
    &["", "commands.plane_pairs = true"],
    &["", "commands.cache_read = false"],
    &["", "commands.cache_program = false"],
    // Without a capacity the drive is as full as it may be.
    &[
        "capacity.over_provisioning = 1.0",
        "",
        "",
        "capacity.over_provisioning = 0.5",
        "capacity.over_provisioning = 0.28",
        "capacity.over_provisioning = 3.0",
        "capacity.reserved = 0.4",
    ],
    &["allocation.policy = \"static\"", "allocation.policy = \"dynamic\"", "allocation.policy = \"dynamic\""],
    &["frontier.policy = \"single\"", "frontier.policy = \"split\""],
    &[
        "buffer.policy = \"none\"",
        "buffer.policy = \"none\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"16 KiB\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"48 KiB\"\nbuffer.latency = \"0 ns\"",
        "buffer.policy = \"lru\"\nbuffer.size = \"1 MiB\"",
    ],
    &[
        "trigger.policy = \"watermark\"",
        "trigger.policy = \"watermark\"\ntrigger.scope = \"die\"",
        "trigger.policy = \"watermark\"\ntrigger.scope = \"device\"",
    ],
    &[
        "trigger.soft = 2",
        "trigger.soft = 0",
        "trigger.soft = 1",
        "trigger.soft = 2\ntrigger.stop = 4",
        "trigger.soft = 0.2",
        "trigger.soft = 0.1\ntrigger.stop = 0.3",
    ],
    &[
        "unit.policy = \"block\"",
        "unit.policy = \"block\"\nunit.destination = \"global\"",
        "unit.policy = \"block\"\nunit.copyback = true",
    ],
    &[
        "victim.policy = \"greedy\"",
        "victim.policy = \"greedy\"\nvictim.tie_blocks = 1",
        "victim.policy = \"cost-benefit\"",
        "victim.policy = \"d-choices\"\nvictim.d = 3",
        "victim.policy = \"windowed-greedy\"\nvictim.window = 0.3",
        "victim.policy = \"random\"",
        "victim.policy = \"fifo\"",
    ],
    &["yield.policy = \"never\"", "yield.policy = \"never\"", "yield.policy = \"ideal\""],
    &[
        "compose.policy = \"list\"\ncompose.builders = []",
        "compose.policy = \"list\"",
        "compose.policy = \"list\"\ncompose.builders = [\"cache\"]",
        "compose.policy = \"list\"\ncompose.builders = [\"cache\", \"multi-plane\"]",
        "compose.policy = \"list\"\ncompose.builders = [\"multi-plane\", \"cache\"]\ncompose.scan_max = 1",
    ],
    &[
        "admit.policy = \"all\"",
        "admit.policy = \"window\"\nadmit.slots = 1",
        "admit.policy = \"window\"\nadmit.slots = 2",
        "admit.policy = \"window\"\nadmit.slots = 4",
    ],
    &[
        "order.policy = \"priority\"",
        "order.policy = \"priority\"\norder.first = \"read-write-gc\"",
        "order.policy = \"fifo\"",
    ],
    &["host.mode = \"open\"", "host.mode = \"closed\""],
    &["host.queue_depth = 1", "host.queue_depth = 4", "host.queue_depth = 64"],
    &["", "host.outstanding_max = 1", "host.outstanding_max = 7"],
    &["host.subpage_writes = \"read-modify-write\"", "host.subpage_writes = \"overwrite\""],
    &[
        "precondition.mode = \"empty\"",
        "precondition.mode = \"sequential\"",
        "precondition.mode = \"sequential\"\nprecondition.fill = 0.7",
        "precondition.mode = \"random\"\nprecondition.overwrites = 1.5",
        "precondition.mode = \"random\"\nprecondition.steady = 0.2",
        "precondition.mode = \"random\"\nprecondition.fill = 0.5\nprecondition.overwrites = 0.3",
        "precondition.mode = \"aged\"",
        "precondition.mode = \"aged\"\nprecondition.used_min = 0.2\nprecondition.used_max = 0.7\nprecondition.valid = 0.5",
    ],
];

/// The order of a static allocation: any of the 24.
fn allocation_order(number: usize) -> String {
    let mut letters = vec!['C', 'W', 'D', 'P'];
    let (first, second, third) = (number / 6 % 4, number / 2 % 3, number % 2);
    [letters.remove(first), letters.remove(second), letters.remove(third), letters[0]].iter().collect()
}

/// A request before the drive is known: operation, place, alignment, length and the time since the one before.
#[derive(Clone, Copy, Debug)]
struct Wish {
    op: Op,
    place: u32,
    hot: bool,
    alignment: u8,
    length: u8,
    gap_ns: u64,
}

fn wish() -> impl Strategy<Value = Wish> {
    let op = prop_oneof![6 => Just(Op::Write), 3 => Just(Op::Read), 1 => Just(Op::Trim)];
    let gap = prop_oneof![3 => Just(0), 2 => 0..2_000u64, 4 => 0..1_000_000u64, 1 => 0..20_000_000u64];
    (op, any::<u32>(), any::<bool>(), 0..4u8, 0..12u8, gap)
        .prop_map(|(op, place, hot, alignment, length, gap_ns)| Wish { op, place, hot, alignment, length, gap_ns })
}

/// A drive, a seed and a workload. Its `Debug` form is what replays a failure.
#[derive(Clone)]
struct Case {
    config: RunConfig,
    text: String,
    seed: u64,
    requests: Vec<Request>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {} and the configuration\n{}and the requests", self.seed, self.text)?;
        self.requests
            .iter()
            .try_for_each(|r| writeln!(f, "{} ns: {:?} {} + {} bytes", r.arrival_ns, r.op, r.offset_bytes, r.len_bytes))
    }
}

fn case() -> impl Strategy<Value = Case> {
    let settings: Vec<_> = KNOBS.iter().map(|settings| 0..settings.len()).collect();
    let spare_units = prop_oneof![2 => Just(0u64), 1 => 0..9u64];
    let workload = prop_oneof![
        1 => prop::collection::vec(wish(), 1..40),
        3 => prop::collection::vec(wish(), 100..500),
    ];
    (settings, 0..24usize, spare_units, 0..4u64, workload).prop_map(|(chosen, order, spare_units, seed, wishes)| {
        let mut lines: Vec<Setting> = chosen.iter().zip(KNOBS).map(|(&at, settings)| settings[at]).collect();
        let order = format!("allocation.order = \"{}\"", allocation_order(order));
        if lines.contains(&"allocation.policy = \"static\"") {
            // A knob's settings are static text; the 24 orders are too many to write down.
            lines.push(Box::leak(order.into_boxed_str()));
        }
        let (config, text) = configuration(&lines, spare_units);
        let geometry = Geometry::new(&config);
        let mut arrival_ns = 0;
        let requests = wishes.iter().map(|w| {
            arrival_ns += w.gap_ns;
            let (unit, page) = (u64::from(geometry.unit_bytes), u64::from(geometry.page_bytes()));
            let lengths = [
                unit,
                page,
                512,
                1,
                unit + 1,
                2 * page,
                page + unit,
                3 * page,
                5 * page,
                9 * page,
                20 * page,
                unit / 2,
            ];
            let place = if w.hot { w.place / 16 } else { w.place };
            let granularity = [unit, page, 512, 1][w.alignment as usize];
            fitted(&geometry, w.op, place, granularity, lengths[w.length as usize], arrival_ns)
        });
        Case { requests: requests.collect(), config, text, seed }
    })
}

/// Events of a run that are too many for these workloads: whoever gets there goes round in circles.
const PROGRESS_CALLS_MAX: u32 = 4;

fn run(case: &Case, image: Image, check: bool, keep: bool) -> Result<Outcome, RunError> {
    let options = Options { seed: case.seed, requests: None, check, keep_gc_events: keep, keep_requests: keep };
    let mut calls = 0;
    let mut progress = |p: Progress| {
        calls += 1;
        assert!(calls < PROGRESS_CALLS_MAX, "the run does not come to an end: {p:?}\n{}", case.text);
    };
    simulate(&case.config, image, Box::new(Listed::new(case.requests.clone())), &options, &mut progress)
}

/// Mapping units that a request touches.
fn units_of(geometry: &Geometry, r: &Request) -> u64 {
    let unit = u64::from(geometry.unit_bytes);
    (r.offset_bytes + r.len_bytes).div_ceil(unit) - r.offset_bytes / unit
}

/// What a report must add up to, whatever the configuration.
fn check_report(case: &Case, report: &Report) -> Result<(), TestCaseError> {
    let geometry = Geometry::new(&case.config);
    let count = |op: Op| case.requests.iter().filter(|r| r.op == op).count() as u64;
    let sum = |op: Op, f: &dyn Fn(&Request) -> u64| case.requests.iter().filter(|r| r.op == op).map(f).sum::<u64>();
    prop_assert_eq!([report.reads, report.writes, report.trims], [Op::Read, Op::Write, Op::Trim].map(count));
    prop_assert_eq!(report.read_bytes, sum(Op::Read, &|r| r.len_bytes));
    prop_assert_eq!(report.written_bytes, sum(Op::Write, &|r| r.len_bytes));
    let response = &report.response;
    prop_assert_eq!((response.read.count, response.write.count), (report.reads, report.writes));
    prop_assert_eq!(response.all.count, report.reads + report.writes);
    let limit = match case.config.host.mode {
        HostMode::Open => case.config.host.outstanding_max,
        HostMode::Closed => case.config.host.queue_depth,
    };
    prop_assert!(report.max_queue_depth <= limit, "{} requests were inside at once", report.max_queue_depth);

    // Every place of a programmed page is somebody's. Without a clock units are appended one by one, so there pages are
    // rounded up for each block, and a page that the past began is left unfinished.
    let flash = &report.flash;
    let units_per_page = u64::from(geometry.units_per_page);
    let places = units_per_page * (flash.host_page_programs + flash.gc_page_programs + flash.other_page_programs);
    let units = flash.host_units + flash.gc_units + flash.other_units + flash.padding_units;
    let begun_max = u64::from(geometry.planes) * 2 * (units_per_page - 1);
    let is_ideal = case.text.contains("yield.policy = \"ideal\"");
    prop_assert!(units <= places + begun_max, "{units} units in {places} places");
    prop_assert!(is_ideal || units >= places, "{units} units in {places} places");
    if !is_ideal && case.text.contains("mode = \"empty\"") {
        prop_assert_eq!(units, places);
    }
    prop_assert_eq!((flash.other_units, flash.other_page_reads, flash.other_page_programs), (0, 0, 0));

    // What the host wrote was programmed, unless a buffer took it.
    let host_written = sum(Op::Write, &|r| units_of(&geometry, r));
    let has_buffer = case.text.contains("\"lru\"");
    if !has_buffer {
        prop_assert_eq!(flash.host_units, host_written);
        prop_assert_eq!(report.buffer_units_left, 0);
    }
    prop_assert!(flash.host_units + report.buffer_units_left <= host_written);
    let wa = &report.write_amplification;
    prop_assert_eq!(wa.total.is_some(), host_written > 0);
    if let Some(total) = wa.total {
        let parts = [wa.host, wa.gc, wa.other, wa.padding].map(Option::unwrap);
        prop_assert!((parts.iter().sum::<f64>() - total).abs() < 1e-9 * total.max(1.0), "{:?}", wa);
        let expected = units as f64 / host_written as f64;
        prop_assert!((total - expected).abs() < 1e-9 * expected.max(1.0), "{total}, not {expected}");
    }

    prop_assert_eq!(report.gc.rounds, flash.block_erases);
    prop_assert!(flash.gc_units <= report.gc.units_moved);
    prop_assert!(flash.dropped_moves <= flash.gc_units);
    prop_assert!(flash.update_page_reads <= flash.host_page_reads);
    for share in [report.utilisation.plane, report.utilisation.die, report.utilisation.channel] {
        prop_assert!((0.0..=1.0).contains(&share), "{:?}", report.utilisation);
    }
    prop_assert!(report.utilisation.plane_during_gc.is_none_or(|share| (0.0..=1.0).contains(&share)));
    Ok(())
}

/// Each request is done once, takes as long as its parts, and no shorter than flash allows.
fn check_records(case: &Case, records: &[RequestRecord]) -> Result<(), TestCaseError> {
    let geometry = Geometry::new(&case.config);
    let timing = &case.config.timing;
    let transfer_ns = |units: u32| timing.channel.transfer_ns(u64::from(units) * u64::from(geometry.unit_bytes));
    let least = |list: Vec<u64>| list.into_iter().min().unwrap();
    let (read_ns, program_ns) = (least(timing.read.list()), least(timing.program.list()));
    let least_read_ns = timing.command.0 + read_ns + transfer_ns(1);
    let least_write_ns = timing.command.0 + program_ns + transfer_ns(geometry.units_per_page);
    let has_buffer = case.text.contains("\"lru\"");
    let has_trims = case.requests.iter().any(|r| r.op == Op::Trim);

    let mut seen = vec![false; case.requests.len()];
    let mut before_ns = 0;
    for record in records {
        let asked = &case.requests[record.index as usize];
        prop_assert!(!std::mem::replace(&mut seen[record.index as usize], true), "{:?} came twice", record);
        prop_assert_eq!(
            (record.op, record.offset_bytes, record.len_bytes),
            (asked.op as u8, asked.offset_bytes, asked.len_bytes)
        );
        if case.config.host.mode == HostMode::Open {
            prop_assert_eq!(record.arrival_ns, asked.arrival_ns);
        }
        prop_assert_eq!(record.blame_ns.iter().sum::<u64>(), record.response_ns);
        let end_ns = record.arrival_ns + record.response_ns;
        prop_assert!(end_ns >= before_ns, "{:?} came after a later one", record);
        before_ns = end_ns;
        let flash_ns = record.blame_ns[Cause::Flash as usize];
        match asked.op {
            Op::Read if flash_ns > 0 => prop_assert!(record.response_ns >= least_read_ns, "{:?}", record),
            Op::Write if !has_buffer => {
                prop_assert!(record.response_ns >= least_write_ns && flash_ns >= program_ns, "{:?}", record);
            }
            Op::Trim => prop_assert!(!record.gc_affected, "{:?}", record),
            Op::Read | Op::Write => {}
        }
        // Where everything holds data and nothing is lost, a read needs flash.
        let is_full = case.text.contains("mode = \"random\"\nprecondition.overwrites = 1.5");
        if is_full && asked.op == Op::Read && !has_buffer && !has_trims {
            prop_assert!(flash_ns > 0, "{:?}", record);
        }
    }
    prop_assert!(seen.iter().all(|&s| s), "a request is missing");
    Ok(())
}

fn json(outcome: &Outcome) -> String {
    serde_json::to_string(&outcome.report).unwrap()
}

/// Whether the configuration could be run.
fn holds(case: &Case) -> Result<bool, TestCaseError> {
    if case.config.check().is_err() {
        return Ok(false);
    }
    let image = match precondition(&case.config, case.seed) {
        Ok(image) => image,
        Err(RunError::Config(_)) => return Ok(false),
        Err(e) => return Err(TestCaseError::fail(format!("the past failed: {e}"))),
    };
    let failed = |e: RunError| TestCaseError::fail(e.to_string());
    let outcome = run(case, image.clone(), true, true).map_err(failed)?;
    check_report(case, &outcome.report)?;
    check_records(case, &outcome.requests)?;
    let again = run(case, image, false, false).map_err(failed)?;
    prop_assert_eq!(json(&again), json(&outcome), "checks and records changed the results");
    let anew = precondition(&case.config, case.seed).map_err(failed)?;
    let anew = run(case, anew, true, true).map_err(failed)?;
    prop_assert_eq!(json(&anew), json(&outcome), "the same run gave two results");
    prop_assert_eq!(anew.requests, outcome.requests);
    prop_assert_eq!(anew.gc_events, outcome.gc_events);
    Ok(true)
}

#[test]
fn every_configuration_that_is_accepted_runs_well() {
    let (drawn, ran) = (Cell::new(0u32), Cell::new(0u32));
    let result = TestRunner::new(course(1000)).run(&case(), |case| {
        drawn.set(drawn.get() + 1);
        ran.set(ran.get() + u32::from(holds(&case)?));
        Ok(())
    });
    if let Err(e) = result {
        panic!("{e}");
    }
    println!("{} of {} configurations ran", ran.get(), drawn.get());
    // Knobs that do not go together are refused, as they should be; what is left must be enough.
    assert!(ran.get() * 5 > drawn.get(), "only {} of {} configurations ran", ran.get(), drawn.get());
}
