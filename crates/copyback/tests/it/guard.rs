//! Does a run continue if its drive has no page left and its collection has no share? The log of commands is compared
//! with timeline A7, which `src/ssd/tests/dispatching/guard.rs` defines.
//!
//! Two chips with a channel each, pages of 16 KiB and units of 4 KiB, times of atc18's Table 1: a unit is read in
//! 60,240 ns, a page in 90,960. Windows have four slots.

use crate::common::*;
use copyback::flash::command::{FlashOp, Source};
use copyback::observe::commands::CommandFilter;
use copyback::observe::report::Outcome;
use copyback::run::{Options, RunError, precondition, simulate};
use copyback::workload::{Op, Request};

const UNIT_NS: u64 = 60_240;
const WHOLE_PAGE_NS: u64 = 90_960;
/// When the scene begins.
const SCENE_NS: u64 = 1_000_000_000;

/// A page of four units is written, or its first unit read.
fn page(op: Op, arrival_ns: u64, page: u64) -> Request {
    pages(op, arrival_ns, 4 * page, if op == Op::Read { 1 } else { 4 })
}

/// Each of the two chips fills all its blocks but the one that is kept for moves. One page of each block stays valid.
/// The others are versions of one page, 100 on the first chip and 101 on the second. Then four reads, a write and a
/// read arrive at once at both chips.
fn script() -> Vec<Request> {
    let fill = (0..15 * 8).flat_map(|at| [0, 1].map(|chip| (at, chip))).map(|(at, chip)| {
        let (block, offset) = (at / 8, at % 8);
        page(Op::Write, at * 1_000_000, if offset == 0 { 2 * block + chip } else { 100 + chip })
    });
    let scene = [Op::Read, Op::Read, Op::Read, Op::Read, Op::Write, Op::Read];
    let scene = scene.into_iter().flat_map(|op| [100, 101].map(|number| page(op, SCENE_NS, number)));
    fill.chain(scene).collect()
}

fn outcome(admit: &str) -> Result<Outcome, RunError> {
    let config = config(&format!(
        "preemption = {{ policy = \"always\" }}
         order = {{ policy = \"fifo\" }}
         compose = {{ policy = \"list\", builders = [] }}
         trigger = {{ policy = \"watermark\", soft = 1 }}
         capacity = {{ over_provisioning = 0.9 }}
         timing = {{ read = \"50 us\", program = \"500 us\", erase = \"5 ms\", command = \"0 ns\", \
         channel = \"400 MB/s\" }}
         geometry = {{ channels = 2, planes_per_die = 1, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }}
         admit = {admit}"
    ));
    let image = precondition(&config, 1).expect("preconditioning works");
    let filter = CommandFilter { windows: [[SCENE_NS, u64::MAX], [0, 0], [0, 0]], ..CommandFilter::default() };
    let options = Options { check: true, keep_commands: Some(filter), ..Options::default() };
    simulate(&config, image, Box::new(script().into_iter()), &options, &mut |_| {})
}

/// The first commands of the first chip in the scene: operation, source and begin.
fn first_commands(outcome: &Outcome, count: usize) -> Vec<(FlashOp, Source, u64)> {
    let of_chip = outcome.commands.iter().filter(|command| command.die == 0);
    of_chip.take(count).map(|c| (c.op, c.parts[0].source, c.issued_ns - SCENE_NS)).collect()
}

/// With a guard of one request the collection enters after the four reads that fill the window, and before the fifth,
/// which arrived earlier. Without a guard, and with fixed priorities, it enters after the fifth. In the end everything
/// is written.
#[test]
fn a_guard_lets_a_collection_in_before_requests_that_came_first() {
    let four_reads = || (0..4).map(|at| (FlashOp::Read, Source::HOST, at * UNIT_NS));
    for admit in [
        "{ policy = \"debit\", guard = 1, shares = { policy = \"fixed\", gc = 0 } }",
        "{ policy = \"strict\", guard = 1 }",
    ] {
        let outcome = outcome(admit).expect("the run ends");
        let mut expected: Vec<_> = four_reads().collect();
        expected.push((FlashOp::Read, Source::GC, 4 * UNIT_NS));
        expected.push((FlashOp::Read, Source::HOST, 4 * UNIT_NS + WHOLE_PAGE_NS));
        assert_eq!(first_commands(&outcome, 6), expected, "{admit}");
        assert_eq!((outcome.report.gc.collections, outcome.report.response.all.count), (2, 252), "{admit}");
    }
    let outcome = outcome("{ policy = \"strict\", guard = 0 }").expect("the run ends");
    let mut expected: Vec<_> = four_reads().collect();
    expected.push((FlashOp::Read, Source::HOST, 4 * UNIT_NS));
    expected.push((FlashOp::Read, Source::GC, 5 * UNIT_NS));
    assert_eq!(first_commands(&outcome, 6), expected);
}

/// With neither a share nor a guard the five reads of each chip end, and then no event follows: the writes wait for
/// ever, and the run ends with an error.
#[test]
fn without_a_guard_the_reads_end_and_the_run_stops() {
    let stopped = outcome("{ policy = \"debit\", guard = 0, shares = { policy = \"fixed\", gc = 0 } }").err();
    let stopped = stopped.expect("the run stops");
    assert!(stopped.to_string().starts_with("the run cannot end: 2 requests wait"), "{stopped}");
    let RunError::CollectionKeptOut { at_ns, .. } = stopped else { panic!("{stopped}") };
    assert_eq!(at_ns, SCENE_NS + 5 * UNIT_NS);
}
