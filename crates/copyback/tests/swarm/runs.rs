//! Every run that the configuration allows ends well, with any combination and any disturbance.
//!
//! A small drive with one setting of every knob serves random requests with all checks on: version stamps of every
//! unit, legality of every command, all invariants. Hosts misbehave, and blocks are relocated at random moments, as by
//! a scrubber or a wear leveller. The sums of a report are computed here from the requests alone. If the timing oracle
//! knows the drive, it predicts when each request ends. A run gives the same report twice, with and without checks and
//! records, on a cloned image and on a new one.

use crate::draws::{Choice, Choices, Demands, choice, choice_in_turn};
use crate::knobs::Mark;
use crate::support::fitted;
use crate::tally::Verdict;
use crate::times::check_times;
use copyback::buffer::BufferConfig;
use copyback::dispatch::compose::{ComposeConfig, GcBuilderName};
use copyback::flash::command::Source;
use copyback::flash::geometry::Geometry;
use copyback::ftl::core::Ftl;
use copyback::host::config::HostConfig;
use copyback::host::config::HostMode;
use copyback::observe::report::{Cause, Outcome, Report, RequestRecord};
use copyback::run::config::RunConfig;
use copyback::run::precondition::PreconditionConfig;
use copyback::run::preconditioning;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::{Image, Options, Progress, RunError, Warmup, outcome_of, precondition, simulate};
use copyback::sim::index::{BlockId, LogicalUnit};
use copyback::tasks::gc::granularity::GranularityPolicy;
use copyback::tasks::gc::preemption::PreemptionConfig;
use copyback::workload::{Op, Priority, Request};
use proptest::prelude::*;
use proptest::sample::select;

/// How hosts behave, the mildest first.
pub const HOSTS: &[&str] = &["mixed", "sequential", "burst", "one-place", "trimming", "standstill", "pauses"];
/// What else disturbs a run, for the count.
pub const FAULTS: &[(&str, &[&str])] =
    &[("host", HOSTS), ("relocations", &["none", "few", "many"]), ("requests", &["all", "cut"])];

/// A request before the drive is known: operation, place, alignment, length and the time since the one before.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub op: Op,
    pub place: u32,
    pub hot: bool,
    pub high_priority: bool,
    pub alignment: u8,
    pub length: u8,
    pub gap_ns: u64,
}

pub fn wish() -> impl Strategy<Value = Wish> {
    let op = prop_oneof![6 => Just(Op::Write), 3 => Just(Op::Read), 1 => Just(Op::Trim)];
    let gap = prop_oneof![3 => Just(0), 2 => 0..2_000u64, 4 => 0..1_000_000u64, 1 => 0..20_000_000u64];
    let high_priority = prop::bool::weighted(0.1);
    (op, any::<u32>(), any::<bool>(), high_priority, 0..4u8, 0..12u8, gap).prop_map(
        |(op, place, hot, high_priority, alignment, length, gap_ns)| Wish {
            op,
            place,
            hot,
            high_priority,
            alignment,
            length,
            gap_ns,
        },
    )
}

impl Wish {
    /// The wish as a host of this kind changes it.
    pub fn of_host(mut self, host: &str, number: usize, count: usize) -> Self {
        match host {
            "sequential" => self.place = ((number as u64) << 32).div_euclid(count as u64) as u32,
            "burst" => self.gap_ns = 0,
            // Three places, so that reads, writes and trims of the same units are under way together.
            "one-place" => self.place = self.place % 3 * (u32::MAX / 200),
            "trimming" => {
                self.op = [Op::Trim, Op::Read, Op::Write][self.place as usize % 3];
                self.place %= u32::MAX / 8;
                self.gap_ns /= 16;
            }
            // A millisecond becomes an hour.
            "standstill" => self.gap_ns *= if number % 50 == 49 { 3_600_000 } else { 0 },
            "pauses" => self.gap_ns *= 100,
            _ => {}
        }
        self
    }

    /// The request on a drive of this shape.
    fn on(&self, geometry: &Geometry, arrival_ns: u64) -> Request {
        let (unit, page) = (u64::from(geometry.unit_bytes), u64::from(geometry.page_bytes()));
        let lengths =
            [unit, page, 512, 1, unit + 1, 2 * page, page + unit, 3 * page, 5 * page, 9 * page, 20 * page, unit / 2];
        let place = if self.hot { self.place / 16 } else { self.place };
        let granularity = [unit, page, 512, 1][self.alignment as usize];
        let mut request = fitted(geometry, self.op, place, granularity, lengths[self.length as usize], arrival_ns);
        request.priority = if self.high_priority { Priority::High } else { Priority::Normal };
        request
    }
}

/// A relocation after a number of events: of the first full block, from `block` on, that can be relocated.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    pub after_events: u64,
    pub block: u32,
    pub source: u8,
}

fn relocations() -> impl Strategy<Value = Vec<Relocation>> {
    let one = (0..4_000u64, any::<u32>(), 0..4u8).prop_map(|(after_events, block, source)| Relocation {
        after_events,
        block,
        source,
    });
    prop_oneof![
        6 => Just(Vec::new()),
        1 => prop::collection::vec(one.clone(), 1..4),
        1 => prop::collection::vec(one, 4..60),
    ]
    .prop_map(|mut all| {
        all.sort_by_key(|r| r.after_events);
        all
    })
}

/// A drive, a seed, a workload, and what disturbs it. Its `Debug` form is what a failure shows.
#[derive(Clone)]
pub struct Case {
    pub config: RunConfig,
    pub text: String,
    pub marks: Vec<Mark>,
    pub seed: u64,
    pub requests: Vec<Request>,
    /// Stop after so many requests.
    pub cut: Option<u64>,
    pub relocations: Vec<Relocation>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 60;
        writeln!(f, "seed {} and the configuration\n{}", self.seed, self.text)?;
        for r in &self.relocations {
            writeln!(f, "after {} events block {} is relocated", r.after_events, r.block)?;
        }
        let requests = self.asked();
        for r in requests.iter().take(SHOWN) {
            writeln!(f, "{} ns: {:?} {} + {} bytes", r.arrival_ns, r.op, r.offset_bytes, r.len_bytes)?;
        }
        if requests.len() > SHOWN { writeln!(f, "... {} requests in all", requests.len()) } else { Ok(()) }
    }
}

impl Case {
    /// The requests that the run takes.
    pub fn asked(&self) -> &[Request] {
        let count = self.cut.map_or(self.requests.len(), |cut| cut as usize);
        &self.requests[..count.min(self.requests.len())]
    }

    /// Whether the program, which relocates no blocks by request, can run the same.
    pub fn is_plain(&self) -> bool {
        self.relocations.is_empty()
    }
}

/// Runs that are disturbed, on drives that have each setting in its turn.
pub fn disturbed_case(turn: u64) -> impl Strategy<Value = Case> {
    case(choice_in_turn(Demands::NONE, turn), relocations().boxed())
}

/// Runs that nothing disturbs.
pub fn plain_case(demands: Demands) -> impl Strategy<Value = Case> {
    case(choice(demands), Just(Vec::new()).boxed())
}

fn case(choices: Choices, relocations: BoxedStrategy<Vec<Relocation>>) -> impl Strategy<Value = Case> {
    let workload = prop::collection::vec(wish(), 1..500);
    let cut = prop_oneof![4 => Just(None), 1 => (1..400u64).prop_map(Some)];
    let host = prop_oneof![1 => Just(HOSTS[0]), 2 => select(HOSTS)];
    let parts = (choices, 0..4u64, workload, host, cut, relocations);
    parts.prop_map(|(choice, seed, wishes, host, cut, relocations)| {
        assembled(&choice, seed, &wishes, host, cut, relocations)
    })
}

fn assembled(
    choice: &Choice,
    seed: u64,
    wishes: &[Wish],
    host: &'static str,
    cut: Option<u64>,
    relocations: Vec<Relocation>,
) -> Case {
    let (config, text, mut marks) = choice.configuration();
    let geometry = Geometry::new(&config.device());
    let mut arrival_ns = 0;
    let requests = wishes.iter().enumerate().map(|(number, wish)| {
        let wish = wish.of_host(host, number, wishes.len());
        arrival_ns += wish.gap_ns;
        wish.on(&geometry, arrival_ns)
    });
    let requests: Vec<Request> = requests.collect();
    let how_many = ["none", "few", "many"][usize::from(!relocations.is_empty()) + usize::from(relocations.len() > 3)];
    let is_split = cut.is_some_and(|cut| cut < requests.len() as u64);
    marks.extend([("host", host), ("relocations", how_many), ("requests", if is_split { "cut" } else { "all" })]);
    Case { config, text, marks, seed, requests, cut, relocations }
}

// ---- running --------------------------------------------------------------------------------------------------------

/// More events than these workloads need: a run that reaches this number loops. Full drives whose trigger requests all
/// of their spare blocks need the most.
const EVENTS_MAX: u64 = 1 << 23;
/// The progress function is called every 2^16 events.
const PROGRESS_CALLS_MAX: u64 = EVENTS_MAX >> 16;

/// Runs work of the library; a broken invariant is a text like any other error.
pub fn caught<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, TestCaseError> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
    });
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(e)) => Err(TestCaseError::fail(e.to_string())),
        Err(panic) => Err(TestCaseError::fail(format!("invariant broken: {panic}"))),
    }
}

/// Runs preconditioned drives under one host, with all checks; returns the records and each drive's own work.
pub fn run_together(
    drives: Vec<(&RunConfig, Ftl)>,
    host: &HostConfig,
    requests: &[Request],
) -> Result<(Vec<RequestRecord>, Vec<copyback::observe::report::FlashWork>), TestCaseError> {
    caught(|| {
        let mut source = Vec::from(requests).into_iter();
        let (host, source) = (host.clone(), &mut source);
        let setup = Setup { host, source, requests: None, check: true, keep_gc_events: false, keep_requests: true };
        let mut simulation = Simulation::new(drives, setup);
        simulation.run(&mut comes_to_an_end())?;
        let work = simulation.back_ends().map(|d| d.counters().work().clone()).collect();
        Ok((simulation.collector.take_records(), work))
    })
}

/// Stops a run that loops.
pub fn comes_to_an_end() -> impl FnMut(Progress) {
    let mut calls = 0;
    move |p| {
        calls += 1;
        assert!(calls < PROGRESS_CALLS_MAX, "the run does not come to an end: {p:?}");
    }
}

/// Runs a case step by step, with its relocations; returns the outcome and the number of relocations.
fn run_disturbed(case: &Case, ftl: Ftl, check: bool, keep: bool) -> Result<(Outcome, u64), TestCaseError> {
    caught(|| {
        let preconditioning = ftl.counts();
        let held_before = held(&ftl);
        let mut source = case.requests.clone().into_iter();
        let setup = Setup {
            host: case.config.host.clone(),
            source: &mut source,
            requests: case.cut,
            check,
            keep_gc_events: keep,
            keep_requests: keep,
        };
        let mut simulation = Simulation::new(vec![(&case.config, ftl)], setup);
        if let Some(array) = case.config.array_or_alone() {
            simulation.form_array(&array, &case.config.coordination);
        }
        simulation.start()?;
        let (mut events, mut relocated) = (0, 0);
        let mut due = case.relocations.iter().peekable();
        loop {
            while let Some(relocation) = due.next_if(|r| r.after_events <= events) {
                relocated += u64::from(relocate(&mut simulation, relocation)?);
            }
            if !(simulation.step()? || simulation.end_tasks()?) {
                break;
            }
            events += 1;
            assert!(events < EVENTS_MAX, "the run does not come to an end");
        }
        simulation.check_end();
        check_contents(case, &held_before, simulation.back_ends().next().expect("there is a drive").ftl());
        Ok((outcome_of(simulation, preconditioning), relocated))
    })
}

/// Which units hold data.
pub fn held(ftl: &Ftl) -> Vec<bool> {
    (0..ftl.geometry.logical_units).map(|unit| ftl.lookup(LogicalUnit(unit)).is_some()).collect()
}

/// Which units hold data in the end follows from the requests in the order of their arrival: the last write or trim of
/// a unit decides. With a buffer nothing is checked: data may be in it.
///
/// # Panics
/// With a unit that is lost, or that should not be there.
fn check_contents(case: &Case, held_before: &[bool], ftl: &Ftl) {
    if !matches!(case.config.buffer, BufferConfig::None(_)) {
        return;
    }
    let unit_bytes = u64::from(ftl.geometry.unit_bytes);
    let mut expected = held_before.to_vec();
    for r in case.asked() {
        let (start, end) = (r.offset_bytes, r.offset_bytes + r.len_bytes);
        match r.op {
            Op::Read => {}
            Op::Write => {
                (start / unit_bytes..end.div_ceil(unit_bytes)).for_each(|u| expected[u as usize] = true);
            }
            Op::Trim => {
                (start.div_ceil(unit_bytes)..end / unit_bytes).for_each(|u| expected[u as usize] = false);
            }
        }
    }
    for ((unit, expected), held) in expected.into_iter().enumerate().zip(held(ftl)) {
        assert!(expected == held, "unit {unit} holds data: {held}, by the requests {expected}");
    }
}

fn relocate(simulation: &mut Simulation<'_>, wanted: &Relocation) -> Result<bool, RunError> {
    let blocks = simulation.back_ends().next().expect("there is a drive").geometry().blocks;
    let source = [Source::SCRUB, Source::WEAR, Source::MAP, Source::PARITY][usize::from(wanted.source)];
    for block in (0..blocks).map(|b| BlockId((wanted.block % blocks + b) % blocks)) {
        if simulation.relocate(0, block, source)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Mapping units that a request touches.
fn units_of(geometry: &Geometry, r: &Request) -> u64 {
    let unit = u64::from(geometry.unit_bytes);
    (r.offset_bytes + r.len_bytes).div_ceil(unit) - r.offset_bytes / unit
}

/// What a report must add up to, whatever the configuration.
fn check_report(case: &Case, report: &Report, relocated: u64) -> Result<(), TestCaseError> {
    let geometry = Geometry::new(&case.config.device());
    let count = |op: Op| case.asked().iter().filter(|r| r.op == op).count() as u64;
    let sum = |op: Op, f: &dyn Fn(&Request) -> u64| case.asked().iter().filter(|r| r.op == op).map(f).sum::<u64>();
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
    prop_assert!(report.peak_outstanding <= limit, "{} requests were inside at once", report.peak_outstanding);

    // Every place of a programmed page belongs to a count. In zero time (preconditioning, `ideal`), units are appended
    // one by one: pages are rounded up for each block, and a page that the preconditioning began stays incomplete.
    let flash = &report.flash;
    let units_per_page = u64::from(geometry.units_per_page);
    let places = units_per_page * (flash.host_page_programs + flash.gc_page_programs + flash.other_page_programs);
    let units = flash.host_units + flash.gc_units + flash.other_units + flash.padding_units;
    let row_planes = if case.config.frontier.is_in_rows() { geometry.planes_per_die } else { 1 };
    let begun_max = u64::from(geometry.planes / row_planes) * 2 * (units_per_page * u64::from(row_planes) - 1);
    let is_ideal = matches!(case.config.preemption, PreemptionConfig::Ideal(_));
    prop_assert!(units <= places + begun_max, "{units} units in {places} places");
    prop_assert!(is_ideal || units >= places, "{units} units in {places} places");
    if !is_ideal && matches!(case.config.precondition, PreconditionConfig::Empty {}) {
        prop_assert_eq!(units, places);
    }
    let has_relocated = flash.blocks_relocated > 0 || !case.relocations.is_empty();
    if let (Some(map), false) = (&report.map, has_relocated) {
        // Each translation page that was written counts as one unit, also if it shares a flash page with others.
        prop_assert_eq!(flash.other_units, map.page_programs + report.parity.map_or(0, |parity| parity.units));
        prop_assert!(map.hits <= map.lookups && map.write_backs + map.updates <= map.page_programs);
    } else if let (Some(parity), false) = (&report.parity, has_relocated) {
        prop_assert_eq!(flash.other_units, parity.units);
    } else if !has_relocated {
        prop_assert_eq!((flash.other_units, flash.other_page_reads, flash.other_page_programs), (0, 0, 0));
    }

    // What the host wrote was programmed, unless a buffer took it.
    let host_written = sum(Op::Write, &|r| units_of(&geometry, r));
    let has_buffer = !matches!(case.config.buffer, BufferConfig::None(_));
    // A write of a part of a superpage takes the rest along.
    let takes_along = case.config.mapping.has_superpages();
    if !has_buffer {
        prop_assert!(flash.host_units == host_written || (takes_along && flash.host_units > host_written));
        prop_assert_eq!(report.buffer_units_left, 0);
    }
    prop_assert!(flash.host_units + report.buffer_units_left <= host_written || takes_along);
    let wa = &report.write_amplification;
    prop_assert_eq!(wa.total.is_some(), host_written > 0);
    if let Some(total) = wa.total {
        let parts = [wa.host, wa.gc, wa.other, wa.padding].map(Option::unwrap);
        prop_assert!((parts.iter().sum::<f64>() - total).abs() < 1e-9 * total.max(1.0), "{:?}", wa);
        // It counts up to the last request, when open pages may still wait for units: some whole number of units was
        // programmed by then.
        let all = total + wa.after_last_request.unwrap_or(f64::NAN);
        let by_then = if all > 0.0 { units as f64 / all } else { host_written as f64 };
        prop_assert!(all > 0.0 || units == 0);
        let most = host_written.max(flash.host_units) as f64;
        prop_assert!((by_then - by_then.round()).abs() < 1e-6 * most, "{units} units are {all} of {by_then}");
        prop_assert!((0.5..most + 0.5).contains(&by_then), "{by_then} of {most} units");
    }

    let by_tasks = flash.blocks_relocated;
    prop_assert!(by_tasks == relocated || (by_tasks > relocated && !case.config.tasks.is_empty()));
    let erased = (report.gc.collections + by_tasks) * u64::from(row_planes);
    let takes_along = case.config.granularity.build().plane_rule().is_some();
    prop_assert!(flash.block_erases == erased || (takes_along && flash.block_erases > erased));
    prop_assert!(flash.gc_units <= report.gc.units_moved);
    prop_assert!(flash.update_page_reads <= flash.host_page_reads);
    for share in [report.utilization.plane, report.utilization.die, report.utilization.channel] {
        prop_assert!((0.0..=1.0).contains(&share), "{:?}", report.utilization);
    }
    prop_assert!(report.utilization.plane_during_gc.is_none_or(|share| (0.0..=1.0).contains(&share)));
    Ok(())
}

/// Each request is done once, takes as long as its parts, and no shorter than flash allows.
fn check_records(case: &Case, records: &[RequestRecord]) -> Result<(), TestCaseError> {
    let geometry = Geometry::new(&case.config.device());
    let timing = &case.config.timing;
    let transfer_ns = |units: u32| timing.channel.transfer_ns(u64::from(units) * u64::from(geometry.unit_bytes));
    let least = |list: Vec<u64>| list.into_iter().min().unwrap();
    let (read_ns, program_ns) = (least(timing.read.list()), least(timing.program.list()));
    let least_read_ns = timing.command.0 + read_ns + transfer_ns(1);
    let least_write_ns = timing.command.0 + program_ns + transfer_ns(geometry.units_per_page);
    // With a buffer, or with pages that wait to fill, writes end in DRAM, and reads are served from it.
    let has_buffer = !matches!(case.config.buffer, BufferConfig::None(_)) || case.config.frontier.fill().is_some();
    let has_trims = case.asked().iter().any(|r| r.op == Op::Trim);
    let merges = matches!(&case.config.compose, ComposeConfig::List(list) if list.gc.contains(&GcBuilderName::Merge));

    let mut seen = vec![false; case.asked().len()];
    let mut before_ns = 0;
    for record in records {
        let asked = &case.asked()[record.index as usize];
        prop_assert!(!std::mem::replace(&mut seen[record.index as usize], true), "{:?} came twice", record);
        prop_assert_eq!(
            (record.op, record.offset_bytes, record.len_bytes),
            (asked.op as u8, asked.offset_bytes, asked.len_bytes)
        );
        if case.config.host.mode == HostMode::Open {
            prop_assert_eq!(record.arrival_ns, asked.arrival_ns);
        }
        prop_assert_eq!(record.breakdown_ns.iter().sum::<u64>(), record.response_ns);
        let end_ns = record.arrival_ns + record.response_ns;
        prop_assert!(end_ns >= before_ns, "{:?} came after a later one", record);
        before_ns = end_ns;
        let flash_ns = record.breakdown_ns[Cause::Flash as usize];
        match asked.op {
            Op::Read if flash_ns > 0 => prop_assert!(record.response_ns >= least_read_ns, "{:?}", record),
            Op::Write if !has_buffer => {
                prop_assert!(record.response_ns >= least_write_ns && flash_ns >= program_ns, "{:?}", record);
            }
            Op::Trim => prop_assert!(!record.gc_affected, "{:?}", record),
            Op::Read | Op::Write => {}
        }
        // If all units hold data and none is lost, a read needs flash. All time of a read that is served with the page
        // of a collection may be the collection's.
        let is_full = matches!(case.config.precondition, PreconditionConfig::Random { fill: 1.0, .. });
        if is_full && asked.op == Op::Read && !has_buffer && !has_trims && !merges {
            prop_assert!(flash_ns > 0, "{:?}", record);
        }
    }
    prop_assert!(seen.iter().all(|&s| s), "a request is missing");
    Ok(())
}

pub fn json(outcome: &Outcome) -> String {
    serde_json::to_string(&outcome.report).expect("a report is plain data")
}

/// A warm-up of half of the requests changes nothing but the measurement.
fn leaves_out_a_warmup(case: &Case, image: Image, options: &Options, whole: &Outcome) -> Result<(), TestCaseError> {
    let begun = whole.requests.len() as u64;
    let warmup = begun / 2;
    if warmup == 0 {
        return Ok(());
    }
    // The limit on requests counts those that are measured.
    let requests = options.requests.map(|_| begun - warmup);
    let options = Options { warmup: Some(Warmup::Requests(warmup)), requests, ..options.clone() };
    let source = Box::new(case.requests.clone().into_iter());
    let later = caught(|| simulate(&case.config, image, source, &options, &mut comes_to_an_end()))?;
    let of_later: Vec<_> = whole.requests.iter().filter(|r| r.index >= warmup).copied().collect();
    prop_assert_eq!(&later.requests, &of_later, "a warm-up changed what came after it");
    let measured = later.report.reads + later.report.writes + later.report.trims;
    prop_assert_eq!(measured, begun - warmup, "not all requests after the warm-up were measured");
    Ok(())
}

/// Runs the case in several ways and compares.
pub fn holds(case: &Case) -> Result<Verdict, TestCaseError> {
    if case.config.check().is_err() {
        return Ok(Verdict::default());
    }
    let image = match precondition(&case.config, case.seed) {
        Ok(image) => image,
        Err(RunError::Config(_)) => return Ok(Verdict::default()),
        Err(e) => return Err(TestCaseError::fail(format!("the preconditioning failed: {e}"))),
    };
    let ftl = caught(|| Ok(preconditioning::preconditioned(&case.config, case.seed)?))?;
    let (outcome, relocated) = run_disturbed(case, ftl.clone(), true, true)?;
    check_report(case, &outcome.report, relocated)?;
    check_records(case, &outcome.requests)?;
    let timed = check_times(case, &ftl, &outcome)?;

    let (unchecked, _) = run_disturbed(case, ftl, false, false)?;
    prop_assert_eq!(json(&unchecked), json(&outcome), "checks and records changed the results");
    if case.is_plain() {
        let options = Options {
            seed: case.seed,
            warmup: None,
            requests: case.cut,
            check: true,
            keep_gc_events: true,
            keep_requests: true,
            keep_commands: None,
            keep_rates: true,
            keep_responses: true,
            microscope: None,
        };
        let source = Box::new(case.requests.clone().into_iter());
        let kept = image.clone().pack().unpack();
        let whole = caught(|| simulate(&case.config, kept, source, &options, &mut comes_to_an_end()))?;
        prop_assert_eq!(json(&whole), json(&outcome), "the same run gave two results");
        prop_assert_eq!(&whole.requests, &outcome.requests);
        prop_assert_eq!(&whole.gc_events, &outcome.gc_events);
        leaves_out_a_warmup(case, image, &options, &whole)?;
    }
    Ok(Verdict { timed, ..Verdict::of(true, &case.marks) })
}
