//! "Boosting the Performance of SSDs via Fully Exploiting the Plane Level Parallelism" (TPDS 2020): what is written and
//! collected in rows (Sections 4.2 to 4.4, 5.3), with the times of its Table 1 (see `tpds20`).
//!
//! A read of two planes senses once and takes two transfers, 75 + 204.8 us; a program of two 204.8 + 1500 us.

use super::tpds20::*;
use copyback::buffer::BufferConfig;
use copyback::flash::command::{FlashOp, Source};
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::CommandRecord;
use copyback::run::config::RunConfig;
use copyback::scene::Block::{self, Free, Holds, Open};
use copyback::scene::{Played, Scene, SceneOp};

const READ_NS: u64 = 177_400;
const TWO_PLANE_READ_NS: u64 = 75_000 + 2 * 102_400;
const ROW_NS: u64 = TWO_PLANE_PROGRAM_NS;

/// A drive of one die under `spd`; `gather`: which valid pages share a row.
fn spd(gather: &str, more: &str) -> RunConfig {
    let mut config = drive("spd", 1, &format!("trigger = {{ policy = \"watermark\", soft = 1 }}\n{more}"));
    config.granularity =
        copyback::config::from_toml(&format!("policy = \"aligned\"\ngather = \"{gather}\"")).expect("it parses");
    config
}

/// A victim row and others that are fuller, the open row and erased ones.
fn plane(victim: &'static [u32], written: u32) -> [Block; 8] {
    [Holds(victim), OTHER, OTHER, OTHER, Open(written), Free, Free, Free]
}

fn collect(config: &RunConfig, planes: [&[Block]; 2], requests: &[(u64, SceneOp)]) -> Played {
    Scene { config, planes: &planes, collects: &[0], requests }.play().expect("the scene plays")
}

/// What a collection did: operation, planes and end of each command.
fn steps(played: &Played) -> Vec<(FlashOp, usize, u64)> {
    let is_gc = |command: &&CommandRecord| command.parts[0].source == Source::GC;
    played.commands.iter().filter(is_gc).map(|c| (c.op, c.parts.len(), c.end_ns())).collect()
}

/// Steps from their durations, one after the other.
fn one_after_the_other(steps: &[(FlashOp, usize, u64)]) -> Vec<(FlashOp, usize, u64)> {
    let mut now_ns = 0;
    let end = |&(op, planes, takes_ns): &(FlashOp, usize, u64)| {
        now_ns += takes_ns;
        (op, planes, now_ns)
    };
    steps.iter().map(end).collect()
}

const R: (FlashOp, usize, u64) = (FlashOp::Read, 1, READ_NS);
const RR: (FlashOp, usize, u64) = (FlashOp::Read, 2, TWO_PLANE_READ_NS);
const W: (FlashOp, usize, u64) = (FlashOp::Program, 2, ROW_NS);
const E: (FlashOp, usize, u64) = (FlashOp::Erase, 2, ERASE_NS);

/// A run needs a request; this one arrives after all collections.
const LATER: &[(u64, SceneOp)] = &[(1_000_000_000, SceneOp::Read(0, 1, 0))];

/// Figure 5: six pages leave for five, die 1 is skipped, and each pair shares a command.
#[test]
fn figure_5_spd_writes_rows() {
    let outcome = run(&drive("spd", 4, BUFFER), five_new_pages_for(&HELD));
    let flash = &outcome.report.flash;
    assert_eq!((flash.host_page_programs, flash.multi_plane_page_programs), (6, 6));
    assert_eq!(outcome.report.flash.padding_units, 0);
    assert_eq!(response_ns(&outcome.requests[8]), ROW_NS + LATENCY_NS);
}

/// Figure 5 with all dies on one channel: the fifth page needs the third set.
#[test]
fn figure_5_on_one_channel() {
    let mut config = drive("spd", 1, BUFFER);
    config.geometry.chips_per_channel = 4;
    let outcome = run(&config, five_new_pages_for(&HELD));
    assert_eq!(response_ns(&outcome.requests[8]), 3 * 204_800 + 1_500_000 + LATENCY_NS);
}

/// Figure 6: plane 0 holds pages 0 and 2, plane 1 pages 1 and 2.
#[test]
fn figure_6_a_row_is_collected_as_one() {
    let planes = [plane(&[0, 2], 4), plane(&[1, 2], 4)];
    let played = collect(&spd("in-order", ""), [&planes[0], &planes[1]], LATER);
    let expected = one_after_the_other(&[R, R, W, RR, W, E]);
    assert_eq!(steps(&played), expected);
    assert_eq!(expected.last().map(|step| step.2), Some(7_844_200));
}

/// Three valid pages: the last row has one of them, and includes a dirty page of its die if there is one.
#[test]
fn an_odd_page_takes_a_dirty_page_of_its_die() {
    let planes = [plane(&[0, 2], 4), plane(&[2], 4)];
    for (gather, expected, end_ns) in
        [("in-order", [R, R, W, R, W, E], 7_741_800), ("pairs-first", [RR, W, R, W, E, E], 7_666_800)]
    {
        let expected = &expected[..expected.iter().position(|step| *step == E).expect("an erase") + 1];
        for is_dirty in [false, true] {
            let buffer = "buffer = { size = \"32 KiB\", latency = \"1 us\" }";
            let requests = [(1, SceneOp::Write(0)), LATER[0]];
            let requests = &requests[usize::from(!is_dirty)..];
            let played = collect(&spd(gather, buffer), [&planes[0], &planes[1]], requests);
            assert_eq!(steps(&played), one_after_the_other(expected), "{gather}");
            assert_eq!(steps(&played).last().map(|step| step.2), Some(end_ns), "{gather}");
            assert_eq!(played.counts.padding_units, u64::from(!is_dirty), "{gather}");
            assert_eq!(played.counts.host_units, u64::from(is_dirty), "{gather}");
        }
    }
}

/// A dirty page of another die is no help.
#[test]
fn an_odd_page_takes_no_dirty_page_of_another_die() {
    let planes = [plane(&[0], 4), plane(&[], 4), plane(&[0, 1], 4), plane(&[0, 1], 4)];
    let mut config = spd("in-order", "buffer = { size = \"32 KiB\", latency = \"1 us\" }");
    config.geometry.channels = 2;
    config.capacity.logical = Some(copyback::workload::units::Bytes(256 << 10));
    let planes: Vec<&[Block]> = planes.iter().map(|blocks| &blocks[..]).collect();
    let requests = [(1, SceneOp::Write(2)), LATER[0]];
    let scene = Scene { config: &config, planes: &planes, collects: &[0], requests: &requests };
    let played = scene.play().expect("the scene plays");
    assert_eq!((played.counts.padding_units, played.counts.host_units), (1, 0));
}

/// Figure 8a: eight writes arrive while the row is collected, and wait for its end.
#[test]
fn figure_8_die_writes_wait_for_the_collection() {
    let mut config = spd("in-order", "");
    config.buffer = copyback::buffer::BufferConfig::default();
    config.capacity.logical = Some(copyback::workload::units::Bytes(192 << 10));
    let planes = [plane(&[0, 1, 2], 2), plane(&[0, 1, 2, 3, 4], 2)];
    let requests: Vec<(u64, SceneOp)> = (0..8).map(|at| (1, SceneOp::Write(at % 2))).collect();
    let played = collect(&config, [&planes[0], &planes[1]], &requests);
    assert_eq!(steps(&played), one_after_the_other(&[RR, W, RR, W, RR, W, R, R, W, E]));
    let ends_ns: Vec<u64> = played.requests.iter().map(|request| request.arrival_ns + request.response_ns).collect();
    let rows_ns = [13_518_200, 15_223_000, 16_927_800, 18_632_600];
    assert_eq!(ends_ns, rows_ns.iter().flat_map(|&end_ns| [end_ns; 2]).collect::<Vec<u64>>());
    assert_eq!(ends_ns.iter().sum::<u64>() / 8, 16_075_400);
}

/// The drive of Figure 8 under `spd-plus`, and eight writes that arrive at these times.
fn combined(arrivals_ns: [u64; 8]) -> Played {
    let mut config = spd("in-order", "");
    config.granularity = copyback::config::from_toml("policy = \"aligned\"\ncombine = true").expect("it parses");
    config.buffer = copyback::buffer::BufferConfig::default();
    config.capacity.logical = Some(copyback::workload::units::Bytes(192 << 10));
    let planes = [plane(&[0, 1, 2], 2), plane(&[0, 1, 2, 3, 4], 2)];
    let requests: Vec<(u64, SceneOp)> = arrivals_ns.iter().map(|&at_ns| (at_ns, SceneOp::Write(0))).collect();
    collect(&config, [&planes[0], &planes[1]], &requests)
}

fn ends_ns(played: &Played) -> Vec<u64> {
    played.requests.iter().map(|request| request.arrival_ns + request.response_ns).collect()
}

/// Figure 8b: each valid page shares a row with a write; those of block 0 go first.
#[test]
fn figure_8_writes_share_rows_with_valid_pages() {
    let played = combined([0; 8]);
    let both_ns = READ_NS + ROW_NS;
    assert_eq!(ends_ns(&played), (1..=8).map(|k| k * both_ns).collect::<Vec<u64>>());
    assert_eq!(ends_ns(&played).iter().sum::<u64>() / 8, 8_469_900);
    assert_eq!(steps(&played).last(), Some(&(FlashOp::Erase, 2, 18_857_600)));
    let reads = played.commands.iter().filter(|c| c.op == FlashOp::Read);
    let places: Vec<(u32, u32)> = reads.map(|c| (c.parts[0].plane, c.parts[0].page)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4)]);
    assert_eq!(played.counts.padding_units, 0);
}

/// Writes that arrive during the collection are included, but an issued step is not undone. Without writes the
/// collection proceeds like that of `spd`.
#[test]
fn writes_that_come_during_a_collection_share_its_rows() {
    // Two valid pages of one offset were read and are being programmed when the first write arrives; six writes never
    // arrive.
    const NEVER_NS: u64 = 1_000_000_000;
    let arrivals_ns = [300_000, 2_000_000, NEVER_NS, NEVER_NS, NEVER_NS, NEVER_NS, NEVER_NS, NEVER_NS];
    let played = combined(arrivals_ns);
    let (first_ns, both_ns) = (TWO_PLANE_READ_NS + ROW_NS, READ_NS + ROW_NS);
    assert_eq!(ends_ns(&played)[..2], [first_ns + both_ns, first_ns + 2 * both_ns]);
    // Pages 1 and 2 of block 0 are gone; pages 1 to 4 of block 1 are left, each at an offset of its own.
    let rest = one_after_the_other(&[RR, W, R, W, R, W, R, R, W, R, R, W, E]);
    assert_eq!(
        steps(&played).iter().map(|step| step.2).collect::<Vec<_>>(),
        rest.iter().map(|step| step.2).collect::<Vec<_>>()
    );
}

/// One victim row, pages 0, 1, 2 and 0, 1, 3.
#[test]
fn rows_of_a_victim_go_side_by_side() {
    let planes = [plane(&[0, 1, 2], 4), plane(&[0, 1, 3], 4)];
    let played = collect(&spd("in-order", ""), [&planes[0], &planes[1]], LATER);
    assert_eq!(steps(&played), one_after_the_other(&[RR, W, RR, W, R, R, W, E]));
    assert_eq!(steps(&played).last().map(|step| step.2), Some(9_828_800));
}

/// Superpages of a drive of one die without a buffer: offset 1 holds both pages of one; offset 2 holds one page, whose
/// partner was never written.
fn superpages(requests: &[(u64, SceneOp)]) -> Played {
    let mut config = drive("superpage", 1, "trigger = { policy = \"watermark\", soft = 1 }");
    config.buffer = copyback::buffer::BufferConfig::default();
    let plane = |valid| [Holds(valid), Open(1), Free, Free, Free, Free, Free, Free];
    let planes = [plane(&[1, 2]), plane(&[1])];
    Scene { config: &config, planes: &[&planes[0], &planes[1]], collects: &[], requests }.play().expect("it plays")
}

/// From its first command to its end, and what it programmed as data and as padding.
fn update(requests: &[(u64, SceneOp)]) -> (u64, u64, u64) {
    let played = superpages(requests);
    let end_ns = played.commands.iter().map(CommandRecord::end_ns).max().expect("there are commands");
    (end_ns, played.counts.host_units, played.counts.padding_units)
}

/// An update of one of two valid pages reads the other. An update of both, or of a page whose partner was never
/// written, reads nothing.
#[test]
fn an_update_of_a_superpage_reads_what_is_missing() {
    let (first, second, alone) =
        (SceneOp::Overwrite(0, 0, 1), SceneOp::Overwrite(1, 0, 1), SceneOp::Overwrite(0, 0, 2));
    assert_eq!(update(&[(0, first)]), (READ_NS + ROW_NS, 2, 0));
    assert_eq!(update(&[(0, second)]), (READ_NS + ROW_NS, 2, 0));
    assert_eq!(update(&[(0, alone)]), (ROW_NS, 1, 1));
}

/// Two writes of one superpage that are under way at once are both kept: the checks of the run verify it.
#[test]
fn writes_of_one_superpage_are_merged() {
    let played = superpages(&[
        (0, SceneOp::Overwrite(0, 0, 1)),
        (1, SceneOp::Overwrite(1, 0, 1)),
        (9_000_000, SceneOp::Read(0, 0, 1)),
    ]);
    assert_eq!(played.counts.host_units, 4, "each takes the other page along");
    assert_eq!(played.requests[2].response_ns, READ_NS, "one page crosses the channel");
}

/// A superpage is collected as it was read: no row is shared.
#[test]
fn superpages_are_moved_whole() {
    let mut config = drive("superpage", 1, "trigger = { policy = \"watermark\", soft = 1 }");
    config.capacity.logical = Some(copyback::workload::units::Bytes(192 << 10));
    let planes = [plane(&[0, 2, 4], 4), plane(&[2], 4)];
    let played = collect(&config, [&planes[0], &planes[1]], LATER);
    assert_eq!(steps(&played), one_after_the_other(&[R, W, RR, W, R, W, E]));
    assert_eq!(played.counts.padding_units, 2);
}

/// A row of four planes: one command if the device accepts all planes; two, one after the other, if it pairs planes 0
/// and 1, and 2 and 3.
#[test]
fn a_row_of_four_planes_takes_one_command_or_two() {
    for (pairs, commands, end_ns) in [(false, 1, 1_909_600), (true, 2, 2 * ROW_NS)] {
        let mut config = drive("spd", 1, &format!("commands = {{ plane_pairs = {pairs} }}"));
        config.geometry.planes_per_die = 4;
        config.buffer = copyback::buffer::BufferConfig::default();
        let outcome = run(&config, vec![pages(0, 0, 4)]);
        assert_eq!(response_ns(&outcome.requests[0]), end_ns, "pairs: {pairs}");
        let flash = &outcome.report.flash;
        assert_eq!((flash.multi_plane_commands, flash.host_page_programs, flash.padding_units), (commands, 4, 0));
    }
}

/// A write of a whole superpage reads nothing; SPD's rows need no neighbours.
#[test]
fn a_whole_superpage_is_written_at_once() {
    let mut config = drive("superpage", 1, "");
    config.buffer = copyback::buffer::BufferConfig::default();
    let outcome = run(&config, vec![pages(0, 0, 2), pages(10_000_000, 0, 2), pages(20_000_000, 1, 1)]);
    let took_ns: Vec<u64> = outcome.requests.iter().map(response_ns).collect();
    assert_eq!(took_ns, [ROW_NS, ROW_NS, READ_NS + ROW_NS]);
    assert_eq!(outcome.report.flash.update_page_reads, 1);
}

/// If no die has as many dirty pages as planes, one page leaves, and its row is padded. A buffer that waits instead
/// needs room for a page of each plane.
#[test]
fn a_short_set_is_padded_or_waits() {
    let held: Vec<_> = (0..4).map(|die| pages(die, die, 1)).collect();
    let more = |size: &str| format!("buffer = {{ size = \"{size}\", latency = \"1 us\" }}");
    let padded = run(&drive("spd", 4, &more("16 KiB")), held.into_iter().chain([pages(1_000_000_000, 8, 1)]).collect());
    let flash = &padded.report.flash;
    assert_eq!((flash.host_page_programs, flash.padding_units), (2, 1), "one page and one place of a row");
    let mut waits = drive("spd", 4, "");
    let buffer = |size: &str| format!("policy = \"die-writes\"\nsize = \"{size}\"\nshort_set = \"wait\"");
    waits.buffer = copyback::config::from_toml(&buffer("28 KiB")).expect("it parses");
    assert_eq!(waits.check().expect_err("eight planes").key, "buffer.size");
    waits.buffer = copyback::config::from_toml(&buffer("32 KiB")).expect("it parses");
    waits.check().expect("a page of each plane");
}

/// Figure 15's parts: if no request comes between, reads, transfers, programs and erases add up to the collection's
/// time.
#[test]
fn the_parts_of_a_collection_add_up_to_its_time() {
    for scheme in ["baseline-d", "twinblk", "superpage", "paragc", "spd"] {
        let mut config = drive(scheme, 1, "trigger = { policy = \"watermark\", soft = 2 }");
        config.buffer = BufferConfig::default();
        config.capacity = copyback::config::from_toml("logical = \"224 KiB\"").expect("a capacity");
        let logical = u64::from(Geometry::new(&config.device()).logical_units);
        // All pages once, then some of them in no order, and time for a collection between.
        let page = |number: u64| if number < logical { number } else { ((number * 2_654_435_761) >> 7) % logical };
        let script = (0..6 * logical).map(|number| pages(number * 1_000_000_000, page(number), 1)).collect();
        let gc = run(&config, script).report.gc;
        assert!(gc.collections > 0 && gc.units_moved > 0, "{scheme} moves nothing");
        assert_eq!(gc.read_ns + gc.transfer_ns + gc.program_ns + gc.erase_ns, gc.die_time_ns, "{scheme}");
        assert_eq!((gc.read_ns % 75_000, gc.program_ns % 1_500_000, gc.erase_ns % ERASE_NS), (0, 0, 0));
    }
}
