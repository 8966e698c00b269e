//! Do small writes wait for each other as `frontier.fill_limit` says, and share one program?
//!
//! Four mapping units of 4 KiB make a page: its transfer takes 163,840 ns and 100 ns of command cycles, its program
//! 500 µs.

use crate::common::*;
use copyback::observe::report::{Cause, Outcome};
use copyback::run::config::RunConfig;
use copyback::workload::{Op, Request};

const LIMIT_NS: u64 = 1_000_000;
const PAGE_NS: u64 = COMMAND_NS + 4 * TRANSFER_NS + PROGRAM_NS;
const UNIT_READ_NS: u64 = COMMAND_NS + READ_NS + TRANSFER_NS;

fn drive(frontier: &str, more: &str) -> RunConfig {
    config(&format!(
        "frontier = {{ policy = \"single\", fill_limit = \"1 ms\" {frontier} }}
         geometry = {{ page_size = \"16 KiB\", mapping_unit = \"4 KiB\", chips_per_channel = 2 }}
         {more}"
    ))
}

const DYNAMIC: &str = "allocation = { policy = \"dynamic\" }";

/// Writes of one unit each, to these units at these times.
fn writes(of: &[(u64, u64)]) -> Vec<Request> {
    of.iter().map(|&(at_ns, unit)| pages(Op::Write, at_ns, unit, 1)).collect()
}

fn programs(outcome: &Outcome) -> (u64, u64) {
    (outcome.report.flash.host_page_programs, outcome.report.flash.padding_units)
}

/// Units of any address fill one page, which is programmed when the last has arrived; each write ends in DRAM at once.
#[test]
fn four_units_share_a_program() {
    let outcome = run(&drive("", DYNAMIC), writes(&[(0, 3), (10_000, 40), (20_000, 9), (30_000, 17)]));
    assert_eq!((programs(&outcome), responses(&outcome)), ((1, 0), vec![0; 4]));
}

/// The same writes end with their page in flash, and the wait for other writes counts as a wait in DRAM.
#[test]
fn writes_may_end_in_flash() {
    let config = drive(", fill_ends = \"flash\"", DYNAMIC);
    let outcome = run(&config, writes(&[(0, 3), (10_000, 40), (20_000, 9), (30_000, 17)]));
    let end_ns = 30_000 + PAGE_NS;
    assert_eq!(responses(&outcome), [end_ns, end_ns - 10_000, end_ns - 20_000, end_ns - 30_000]);
    let own = [("flash", PROGRAM_NS), ("transfer", PAGE_NS - PROGRAM_NS)];
    assert_eq!(breakdown(&outcome.requests[3]), own);
    assert_eq!(breakdown(&outcome.requests[0]), [own[0], own[1], ("buffer", 30_000)]);
}

/// A page that does not fill is padded at the age limit and not before; its age counts from its first write.
#[test]
fn a_page_waits_as_long_as_it_may() {
    let flash = drive(", fill_ends = \"flash\"", DYNAMIC);
    let late = [(0, 3), (LIMIT_NS - 1, 40)];
    let outcome = run(&flash, writes(&late));
    assert_eq!((programs(&outcome), responses(&outcome)), ((1, 2), vec![LIMIT_NS + PAGE_NS, PAGE_NS + 1]));
    // Later writes have a page of their own.
    let outcome = run(&flash, writes(&[(0, 3), (LIMIT_NS + 1, 40)]));
    assert_eq!(programs(&outcome), (2, 6));
}

/// A write of two units after one of three is split: its first unit fills the page, and the rest opens the next.
#[test]
fn a_write_goes_to_two_pages_where_one_has_no_room() {
    let config = drive(", fill_ends = \"flash\"", DYNAMIC);
    let outcome = run(&config, vec![pages(Op::Write, 0, 0, 3), pages(Op::Write, 10_000, 40, 2)]);
    assert_eq!(programs(&outcome), (2, 3));
    // The first ends with its page; the second with that of its last unit.
    assert_eq!(responses(&outcome), [10_000 + PAGE_NS, LIMIT_NS + PAGE_NS]);
}

/// A write of a whole page does not wait, and does not change the open page.
#[test]
fn a_whole_page_waits_for_no_other_write() {
    let config = drive(", fill_ends = \"flash\"", DYNAMIC);
    let script = vec![pages(Op::Write, 0, 0, 1), pages(Op::Write, 10_000, 8, 4)];
    let outcome = run(&config, script);
    assert_eq!((programs(&outcome), responses(&outcome)[1]), ((2, 3), PAGE_NS));
}

/// A read finds what fills, and what is on its way to flash, in DRAM; then it is in flash.
#[test]
fn reads_hit_what_fills() {
    let end_ns = LIMIT_NS + PAGE_NS;
    let mut script = writes(&[(0, 3)]);
    script.extend([10_000, end_ns - 1, end_ns + 1].map(|at_ns| pages(Op::Read, at_ns, 3, 1)));
    let outcome = run(&drive("", DYNAMIC), script);
    assert_eq!(responses(&outcome), [0, 0, 0, UNIT_READ_NS]);
}

/// Data that is trimmed while its page fills is gone: it is not read, and does not return when the page is in flash.
#[test]
fn a_trim_is_not_undone() {
    let mut script = writes(&[(0, 3)]);
    script.push(pages(Op::Trim, 5_000, 3, 1));
    script.extend([10_000, 2 * LIMIT_NS].map(|at_ns| pages(Op::Read, at_ns, 3, 1)));
    let outcome = run(&drive("", DYNAMIC), script);
    assert_eq!(responses(&outcome), [0; 4]);
    assert_eq!(outcome.report.flash.host_page_reads, 0);
}

/// If addresses determine planes, only writes of one plane fill a page together.
#[test]
fn a_page_is_open_where_the_address_says() {
    // Each of four planes has a logical page in turn: units 0 and 16 are on the first, 4 and 20 on the second.
    let order = "allocation = { policy = \"static\" }";
    let outcome = run(&drive("", order), writes(&[(0, 0), (0, 4), (0, 16), (0, 20), (0, 1), (0, 5), (0, 2), (0, 6)]));
    assert_eq!(programs(&outcome), (2, 0));
}

/// With room for one page the second waits until the first is in flash, and so do writes behind it.
#[test]
fn writes_wait_for_pages_in_the_controller() {
    let config = drive(", fill_pages = 1", DYNAMIC);
    let script = vec![pages(Op::Write, 0, 0, 4), pages(Op::Write, 0, 8, 4), pages(Op::Write, 0, 16, 1)];
    let outcome = run(&config, script);
    assert_eq!(responses(&outcome), [0, PAGE_NS, 2 * PAGE_NS]);
    // They waited for what those pages did.
    let pages_did = |pages: u64| [("flash", pages * PROGRAM_NS), ("transfer", pages * (PAGE_NS - PROGRAM_NS))];
    assert_eq!(breakdown(&outcome.requests[1]), pages_did(1));
    assert_eq!(breakdown(&outcome.requests[2]), pages_did(2));
}

/// One page in the controller, and a write to each of four dies, a microsecond apart: each write waits until the
/// earlier pages have waited for `fill_limit` and were programmed. Then its own page does the same.
#[test]
fn writes_wait_for_pages_before_them_to_fill() {
    let config = config(
        "frontier = { policy = \"single\", fill_limit = \"1 ms\", fill_pages = 1, fill_ends = \"flash\" }
         geometry = { page_size = \"16 KiB\", mapping_unit = \"4 KiB\", chips_per_channel = 4, planes_per_die = 1 }
         allocation = { policy = \"static\" }",
    );
    let outcome = run(&config, writes(&[(0, 0), (1_000, 4), (2_000, 8), (3_000, 12)]));
    // A page that is padded is sent as a whole.
    let transfer_ns = PAGE_NS - PROGRAM_NS;
    for (at, request) in (1..).zip(&outcome.requests) {
        let since_ns = 1_000 * (at - 1);
        let parts: std::collections::BTreeMap<_, _> = breakdown(request).into_iter().collect();
        let of = |cause: &str| parts.get(cause).copied().unwrap_or(0);
        let near = |cause: &str, by_hand_ns: u64| {
            // The first page had been under way for this long before the write arrived.
            assert!(of(cause).abs_diff(by_hand_ns) <= since_ns, "write {at}, {cause}: {} ns", of(cause));
        };
        near("flash", at * PROGRAM_NS);
        near("transfer", at * transfer_ns);
        near("buffer", at * LIMIT_NS - since_ns);
    }
}

/// Collections that delay the pages in the controller also delay the writes that wait for room there. The additional
/// wait, compared with timeless collections, is charged to collection, and not to the controller's DRAM.
#[test]
fn a_write_that_waits_for_a_page_is_held_up_by_collection() {
    let mean_ns = |preemption: &str| {
        let more = format!(
            "{DYNAMIC}
             precondition = {{ mode = \"random\", overwrites = 2.0 }}
             host = {{ mode = \"closed\", queue_depth = 64 }}
             preemption = {{ policy = \"{preemption}\" }}"
        );
        let script = (0..4_000).map(|i| pages(Op::Write, 0, i * 7_919 % 1_000, 1)).collect();
        run(&drive(", fill_pages = 4", &more), script).report
    };
    let (report, ideal) = (mean_ns("none"), mean_ns("ideal"));
    let cost_ns = report.response.write.mean_ns - ideal.response.write.mean_ns;
    assert!(cost_ns > ideal.response.write.mean_ns, "collections cost {cost_ns} ns a write");
    let of = |cause: Cause| {
        let parts = &report.latency_breakdown.write_mean_ns;
        parts.iter().filter(|(own, _)| *own == cause).map(|(_, ns)| ns).sum::<f64>()
    };
    // The rest: pages also wait for other pages that collections delayed, and the commands of those pages count as
    // commands of other requests.
    assert!((0.8..1.0).contains(&(of(Cause::Gc) / cost_ns)), "{} of {cost_ns} ns", of(Cause::Gc));
    assert!(of(Cause::Buffer) < 0.02 * report.response.write.mean_ns, "{} ns", of(Cause::Buffer));
    assert!(report.response.gc_affected_write.count > 2_000);
}

/// Without a limit four writes of one unit that arrive apart take four pages.
#[test]
fn without_it_nobody_waits() {
    let config = config(
        "allocation = { policy = \"dynamic\" }\n\
         geometry = { page_size = \"16 KiB\", mapping_unit = \"4 KiB\", chips_per_channel = 2 }",
    );
    let outcome = run(&config, writes(&[(0, 3), (2_000_000, 40), (4_000_000, 9), (6_000_000, 17)]));
    assert_eq!((programs(&outcome), responses(&outcome)), ((4, 12), vec![PAGE_NS; 4]));
}

/// As many pages as may be set, all of one unit: its copies are counted, however many are on their way.
#[test]
fn one_unit_may_fill_all_pages_that_there_are() {
    let config = drive(", fill_pages = 2000", DYNAMIC);
    let writes: Vec<_> = (0..9_000).map(|i| pages(Op::Write, i, 3, 1)).collect();
    let outcome = run(&config, writes);
    assert_eq!(outcome.requests.len(), 9_000);
    assert!(config_of(", fill_pages = 2001").check().is_err());
}

fn config_of(frontier: &str) -> RunConfig {
    unchecked(&format!("frontier = {{ policy = \"single\", fill_limit = \"1 ms\" {frontier} }}"))
}
