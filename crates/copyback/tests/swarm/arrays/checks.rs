//! Conditions that hold for every run of an array.
//!
//! Each request ends once and takes as long as its parts. The same run twice gives the same results. The final content
//! of drives follows from the requests. A coordinated drive collects as often as it was forced to and at its last
//! resort, and no more. One drive behind a volume has the results of that drive alone. If requests address drives, each
//! drive has the results that it has in a run of its own. The engine's own checks cover stripes.

use super::Case;
use crate::runs::{caught, comes_to_an_end, held, json, run_together};
use crate::tally::Verdict;
use copyback::array::coordination::CoordinationConfig;
use copyback::array::{Layout, RaidLevel};
use copyback::buffer::BufferConfig;
use copyback::flash::geometry::Geometry;
use copyback::ftl::core::{Counts, Ftl};
use copyback::host::config::{HostConfig, HostMode, Target};
use copyback::observe::array_report::ArrayReport;
use copyback::observe::report::{Outcome, Report, RequestRecord};
use copyback::run::config::RunConfig;
use copyback::run::precondition::PreconditionConfig;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::{Options, RunError, outcome_of, precondition, preconditioning, simulate_drives};
use copyback::tasks::gc::preemption::PreemptionConfig;
use copyback::tasks::gc::trigger::TriggerPolicy;
use copyback::workload::{Op, Request};
use proptest::prelude::*;

impl Case {
    /// The drives with which a run begins: the replacement of a failed drive is empty.
    fn members(&self) -> Vec<(RunConfig, u64)> {
        let member = |(number, drive): (u32, &RunConfig)| {
            let mut config = drive.clone();
            if self.array.failed.contains(&number) {
                config.precondition = PreconditionConfig::Empty {};
            }
            (config, self.array.seed_of(number, self.seed))
        };
        (0..).zip(&self.drives).map(member).collect()
    }

    fn layout(&self, ftls: &[Ftl]) -> Layout {
        let least = ftls.iter().map(|ftl| ftl.geometry.logical_bytes()).min().expect("there are drives");
        Layout::new(self.array.level, self.array.drives, self.stripe_bytes, least)
    }

    fn is_coordinated(&self) -> bool {
        self.config.coordination.common().is_some()
    }
}

/// The outcome of a run, and the units that each drive holds at its end.
struct Ran {
    outcome: Outcome,
    held: Vec<Vec<bool>>,
}

/// Runs an array, or a single drive if there is no array.
fn run(
    drives: &[RunConfig],
    ftls: Vec<Ftl>,
    host: &HostConfig,
    join: impl FnOnce(&mut Simulation<'_>),
    requests: &[Request],
) -> Result<Ran, TestCaseError> {
    caught(|| {
        let preconditioning = ftls.iter().fold(Counts::default(), |sum, ftl| sum.and(&ftl.counts()));
        let mut source = Vec::from(requests).into_iter();
        let (host, source) = (host.clone(), &mut source);
        let setup = Setup { host, source, requests: None, check: true, keep_gc_events: true, keep_requests: true };
        let mut simulation = Simulation::new(drives.iter().zip(ftls).collect(), setup);
        join(&mut simulation);
        simulation.run(&mut comes_to_an_end())?;
        let held = simulation.back_ends().map(|drive| held(drive.ftl())).collect();
        Ok(Ran { outcome: outcome_of(simulation, preconditioning), held })
    })
}

/// Runs the case in several ways and compares the results. If it could run, the verdict has the orders to its drives.
pub fn holds(case: &Case) -> Result<Verdict, TestCaseError> {
    let members = case.members();
    if case.config.check().is_err() || members.iter().any(|(drive, _)| drive.check().is_err()) {
        return Ok(Verdict::default());
    }
    let aged = |(drive, seed): &(RunConfig, u64)| preconditioning::preconditioned(drive, *seed).ok();
    let Some(ftls) = members.iter().map(aged).collect::<Option<Vec<Ftl>>>() else { return Ok(Verdict::default()) };
    if case.layout(&ftls).stripes() == 0 {
        return Ok(Verdict::default());
    }
    let drives: Vec<RunConfig> = members.into_iter().map(|(drive, _)| drive).collect();
    let held_before: Vec<Vec<bool>> = ftls.iter().map(held).collect();
    let join = |simulation: &mut Simulation<'_>| simulation.form_array(&case.array, &case.config.coordination);
    let ran = run(&drives, ftls.clone(), &case.config.host, join, &case.requests)?;
    check_records(case, &ran.outcome.requests)?;
    check_report(case, &ran.outcome.report)?;
    check_contents(case, &ftls, held_before, &ran.held)?;
    check_again(case, &drives, &ran.outcome)?;
    if case.array.drives == 1 && !case.is_coordinated() && case.array.delay.0 == 0 {
        let alone = run(&drives, ftls.clone(), &case.config.host, |_| {}, &case.requests)?;
        are_the_same(&lines(&ran.outcome), &lines(&alone.outcome), "an array of one drive, and that drive")?;
    }
    if case.config.host.target == Target::Drive && !case.is_coordinated() {
        each_as_if_alone(case, &drives, &ftls, &ran.outcome.requests)?;
    }
    let coordination = ran.outcome.report.array.and_then(|array| array.coordination).unwrap_or_default();
    Ok(Verdict { coordination, ..Verdict::of(true, &case.marks) })
}

/// Each request is done once, and takes as long as its parts.
fn check_records(case: &Case, records: &[RequestRecord]) -> Result<(), TestCaseError> {
    let mut seen = vec![false; case.requests.len()];
    let mut before_ns = 0;
    for record in records {
        let asked = &case.requests[record.index as usize];
        prop_assert!(!std::mem::replace(&mut seen[record.index as usize], true), "{:?} came twice", record);
        let (op, from, len) = (asked.op as u8, asked.offset_bytes, asked.len_bytes);
        prop_assert_eq!((record.op, record.offset_bytes, record.len_bytes), (op, from, len));
        if case.config.host.mode == HostMode::Open {
            prop_assert_eq!(record.arrival_ns, asked.arrival_ns);
        }
        prop_assert_eq!(record.breakdown_ns.iter().sum::<u64>(), record.response_ns, "{:?}", record);
        let end_ns = record.arrival_ns + record.response_ns;
        prop_assert!(end_ns >= before_ns, "{:?} came after a later one", record);
        before_ns = end_ns;
        let delay_ns = if case.config.host.target == Target::Drive { 0 } else { case.array.delay.0 };
        prop_assert!(record.response_ns >= delay_ns, "{:?}", record);
    }
    prop_assert!(seen.iter().all(|&seen| seen), "a request is missing");
    Ok(())
}

/// What a report of an array adds up to.
fn check_report(case: &Case, report: &Report) -> Result<(), TestCaseError> {
    let count = |op: Op| case.requests.iter().filter(|r| r.op == op).count() as u64;
    prop_assert_eq!([report.reads, report.writes, report.trims], [Op::Read, Op::Write, Op::Trim].map(count));
    let array: &ArrayReport = report.array.as_ref().expect("there is an array");
    prop_assert_eq!(array.drives.len(), case.drives.len());
    let collections: u64 = array.drives.iter().map(|drive| drive.collections).sum();
    prop_assert_eq!(report.gc.collections, collections);
    let shares: f64 = array.collecting_shares.iter().sum();
    prop_assert!(report.simulated_ns == 0 || (shares - 1.0).abs() < 1e-6, "{:?}", array.collecting_shares);
    prop_assert!((0.0..=1.0 + 1e-9).contains(&array.gc_share), "{}", array.gc_share);
    let mut forced = Vec::new();
    for (number, drive) in (0..).zip(&array.drives) {
        let is_there = !case.array.failed.contains(&number) || case.array.rebuild.is_some();
        let is_coordinated = case.is_coordinated() && case.array.is_coordinated(number) && is_there;
        prop_assert_eq!(drive.coordination.is_some(), is_coordinated, "drive {}", number);
        let Some(coordination) = drive.coordination else { continue };
        let asked_for = coordination.forced_collections + coordination.last_resort_collections;
        prop_assert_eq!(drive.collections, asked_for, "collections of drive {}: {:?}", number, coordination);
        prop_assert!(
            coordination.forced > 0 || coordination.forced_collections + coordination.pauses == 0,
            "drive {}: {:?}",
            number,
            coordination
        );
        forced.push(coordination.forced);
    }
    let of_all: u64 = forced.iter().sum();
    prop_assert_eq!(array.rounds.unwrap_or_default().drives_forced, of_all);
    // The inclusive policy forces all drives equally often.
    let is_shared = case.config.coordination.common().is_some_and(|c| c.scope == Default::default());
    if matches!(case.config.coordination, CoordinationConfig::ReactiveInclusive(_)) && is_shared {
        prop_assert!(forced.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", forced);
    }
    Ok(())
}

/// Which data drives hold in the end follows from the requests in the order of their arrival: the last write or trim of
/// a unit decides. Data may also be in a buffer.
fn check_contents(
    case: &Case,
    ftls: &[Ftl],
    mut expected: Vec<Vec<bool>>,
    held: &[Vec<bool>],
) -> Result<(), TestCaseError> {
    let layout = case.layout(ftls);
    // Trims are of whole units of all drives.
    let units = || ftls.iter().map(|ftl| u64::from(ftl.geometry.unit_bytes));
    let grain =
        (1u64..).find(|bytes| units().all(|unit| (bytes * 512).is_multiple_of(unit))).expect("there is one") * 512;
    let mut change = |drive: usize, op: Op, [from, to]: [u64; 2]| {
        let unit = u64::from(ftls[drive].geometry.unit_bytes);
        let units = match op {
            Op::Read => 0..0,
            Op::Write => from / unit..to.div_ceil(unit),
            Op::Trim => from.div_ceil(unit)..to / unit,
        };
        units.for_each(|unit| expected[drive][unit as usize] = op == Op::Write);
    };
    for r in case.requests.iter().filter(|r| r.len_bytes > 0) {
        let mut bytes = [r.offset_bytes, r.offset_bytes + r.len_bytes];
        if case.config.host.target == Target::Drive {
            change(r.device as usize, r.op, bytes);
            continue;
        }
        if r.op == Op::Trim {
            bytes = [bytes[0].next_multiple_of(grain), bytes[1] / grain * grain];
        }
        let mut from = bytes[0];
        while from < bytes[1] {
            let to = bytes[1].min((from / layout.unit_bytes() + 1) * layout.unit_bytes());
            let place = layout.place(from);
            let copies = if layout.is_mirror() { 0..1 + layout.parity() } else { place.member..place.member + 1 };
            let start = layout.unit_start(place.stripe) + place.byte;
            copies.for_each(|m| change(layout.drive(place.stripe, m) as usize, r.op, [start, start + to - from]));
            from = to;
        }
    }
    for (drive, (expected, held)) in expected.iter().zip(held).enumerate() {
        // Not compared: units that hold parity, drives with a buffer, and drives that failed (a rebuild writes them).
        let has_parity = matches!(case.array.level, RaidLevel::Raid5 | RaidLevel::Raid6);
        let buffers = !matches!(case.drives[drive].buffer, BufferConfig::None(_));
        if buffers || case.array.failed.contains(&(drive as u32)) {
            continue;
        }
        for (unit, (&expected, &held)) in expected.iter().zip(held).enumerate() {
            prop_assert!(
                expected == held || (has_parity && is_parity(&layout, drive as u32, unit, &ftls[drive].geometry)),
                "unit {} of drive {} holds data: {}, by the requests {}",
                unit,
                drive,
                held,
                expected
            );
        }
    }
    Ok(())
}

/// Whether a unit of a drive holds parity of a stripe.
fn is_parity(layout: &Layout, drive: u32, unit: usize, geometry: &Geometry) -> bool {
    let row = unit as u64 * u64::from(geometry.unit_bytes) / layout.unit_bytes();
    row < layout.stripes() && (layout.data()..layout.data() + layout.parity()).any(|m| layout.drive(row, m) == drive)
}

/// Runs the case again as the program does, without checks: the results are the same.
fn check_again(case: &Case, drives: &[RunConfig], first: &Outcome) -> Result<(), TestCaseError> {
    let again = caught(|| {
        let image = |(number, drive): (u32, _)| precondition(drive, case.array.seed_of(number, case.seed));
        let images = (0..).zip(drives).map(image).collect::<Result<Vec<_>, RunError>>()?;
        let source = Box::new(case.requests.clone().into_iter());
        let options = Options { seed: case.seed, keep_gc_events: true, keep_requests: true, ..Options::default() };
        let members = drives.iter().zip(images).collect();
        simulate_drives(&case.config, members, source, &options, &mut comes_to_an_end())
    })?;
    are_the_same(&lines(&again), &lines(first), "the same run, with and without checks")?;
    let pieces = |outcome| -> Vec<String> { json(outcome).split(',').map(str::to_owned).collect() };
    are_the_same(&pieces(&again), &pieces(first), "the report of the same run, with and without checks")
}

/// Shows the first difference of two runs; all of them would fill pages.
fn are_the_same(a: &[String], b: &[String], what: &str) -> Result<(), TestCaseError> {
    if let Some((a, b)) = a.iter().zip(b).find(|(a, b)| a != b) {
        return Err(TestCaseError::fail(format!("{what}:\n{a}\n{b}")));
    }
    prop_assert_eq!(a.len(), b.len(), "{}", what);
    Ok(())
}

/// An outcome as text, without its part on the array. Samples are not compared: they are taken at events, which are
/// more with checks.
fn lines(outcome: &Outcome) -> Vec<String> {
    let report = Report { array: None, ..outcome.report.clone() };
    let rows = outcome.requests.iter().map(|row| format!("{row:?}"));
    let events = outcome.gc_events.iter().map(|row| format!("{row:?}"));
    rows.chain(events).chain([format!("{report:?}")]).collect()
}

/// For requests that address drives: checks that each drive has the results that it has in a run of its own.
fn each_as_if_alone(
    case: &Case,
    drives: &[RunConfig],
    ftls: &[Ftl],
    together: &[RequestRecord],
) -> Result<(), TestCaseError> {
    let is_open = case.config.host.mode == HostMode::Open && case.config.host.outstanding_max > 10_000;
    if !is_open || drives.iter().any(works_beside_the_host) {
        return Ok(());
    }
    let host = HostConfig { target: Target::Volume, ..case.config.host.clone() };
    for (device, (drive, ftl)) in (0..).zip(drives.iter().zip(ftls)) {
        let own = |(at, r): (usize, &Request)| (r.device == device).then_some((at as u64, *r));
        let (numbers, asked): (Vec<u64>, Vec<Request>) = case.requests.iter().enumerate().filter_map(own).unzip();
        if asked.is_empty() {
            continue;
        }
        let (mut alone, _) = run_together(vec![(drive, ftl.clone())], &host, &asked)?;
        // `index` counts the requests of all drives in the common run, and of one drive in the run alone.
        let number = |record: &RequestRecord| numbers.binary_search(&record.index).ok();
        let renumbered = together.iter().filter_map(|r| Some(RequestRecord { index: number(r)? as u64, ..*r }));
        let mut among: Vec<RequestRecord> = renumbered.collect();
        [&mut among, &mut alone].into_iter().for_each(|records| records.sort_by_key(|r| r.index));
        prop_assert_eq!(&among, &alone, "requests of drive {}", device);
    }
    Ok(())
}

/// Whether a drive works without host requests; such work continues for longer with other drives.
fn works_beside_the_host(config: &RunConfig) -> bool {
    let collects = config.trigger.build(&Geometry::new(&config.device())).idle().is_some();
    collects
        || config.tasks.on().next().is_some()
        || config.redundancy.has_parity()
        || matches!(config.preemption, PreemptionConfig::Always(_))
}
