//! Log blocks and their merges, with the times of tpds20's Table 1 (`tpds20`), on blocks of four pages.

use super::tpds20::{ERASE_NS, MOVE_NS, PROGRAM_NS, TWO_PLANE_PROGRAM_NS, response_ns, run};
use crate::support::under::under;
use copyback::config::ShareOrCount;
use copyback::ftl::log_blocks::MergeTotals;
use copyback::ftl::mapping::{MappingConfig, fast};
use copyback::observe::report::Outcome;
use copyback::run::config::RunConfig;
use copyback::workload::units::Bytes;
use copyback::workload::{Op, Priority, Request};

/// No request waits for another.
const APART_NS: u64 = 100_000_000;
const READ_NS: u64 = 177_400;
const TWO_PLANE_READ_NS: u64 = 75_000 + 2 * 102_400;

/// A die of two planes, with two written logical blocks each, and this many random log blocks. Page `p` is page `p / 2`
/// of plane `p % 2`. In rows, it is in row `p / 2`, and logical blocks are twice as large.
fn merged(scheme: &str, count: u32) -> RunConfig {
    let device = r#"
        capacity = { logical = "64 KiB" }
        timing = { read = "75 us", program = "1.5 ms", erase = "3.8 ms", channel = "25 ns/B" }
        precondition = { mode = "sequential" }
        geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 8, pages_per_block = 4, page_size = "4 KiB" }
        "#;
    let device: toml::Table = toml::from_str(device).expect("the device parses");
    let mut config: RunConfig = under(device, scheme).try_into().expect("the configuration is complete");
    config.buffer = Default::default();
    config.mapping = MappingConfig::Fast(log_blocks(count));
    config
}

fn log_blocks(count: u32) -> fast::Params {
    fast::Params { log_share: ShareOrCount::Blocks(count), ..fast::Params::default() }
}

/// Writes of pages, each group at once when the drive rests.
fn written(config: &RunConfig, groups: &[&[u64]]) -> Outcome {
    let page = |at: usize, number: u64| Request {
        arrival_ns: at as u64 * APART_NS,
        offset_bytes: 4096 * number,
        len_bytes: 4096,
        device: 0,
        op: Op::Write,
        priority: Priority::Normal,
    };
    let script = groups.iter().enumerate().flat_map(|(at, group)| group.iter().map(move |&number| page(at, number)));
    run(config, script.collect())
}

fn merges(outcome: &Outcome) -> &MergeTotals {
    outcome.report.merges.as_ref().expect("it has log blocks")
}

/// Switch, partial and full merges.
fn kinds(outcome: &Outcome) -> [u64; 3] {
    let of = merges(outcome);
    [of.switch_merges, of.partial_merges, of.full_merges]
}

const ON_PLANES: [&str; 3] = ["baseline-d", "baseline-p", "twinblk"];

#[test]
fn a_full_merge_copies_all_pages_of_each_logical_block_in_the_log() {
    for scheme in ON_PLANES {
        // Pages 1 and 2 of both logical blocks of plane 0; the fifth write finds no room.
        let outcome = written(&merged(scheme, 1), &[&[2], &[10], &[4], &[12], &[6]]);
        let merge_ns = 8 * MOVE_NS + 3 * ERASE_NS;
        assert_eq!((merge_ns, outcome.report.gc.die_time_ns), (25_638_400, 25_638_400), "{scheme}");
        let responses_ns: Vec<u64> = outcome.requests.iter().map(response_ns).collect();
        assert_eq!(responses_ns, [PROGRAM_NS, PROGRAM_NS, PROGRAM_NS, PROGRAM_NS, merge_ns + PROGRAM_NS], "{scheme}");
        assert_eq!((kinds(&outcome), merges(&outcome).log_blocks_emptied), ([0, 0, 2], 1), "{scheme}");
    }
}

/// "Each merge operation can reclaim two log blocks at the time cost of one merge operation" (Section 6.5).
#[test]
fn a_full_merge_of_rows_reads_and_programs_both_planes_at_once() {
    let pairs: [&[u64]; 5] = [&[2, 3], &[10, 11], &[4, 5], &[12, 13], &[6, 7]];
    for scheme in ["spd", "spd-plus"] {
        let outcome = written(&merged(scheme, 1), &pairs);
        let merge_ns = 8 * (TWO_PLANE_READ_NS + TWO_PLANE_PROGRAM_NS) + 3 * ERASE_NS;
        assert_eq!(outcome.report.gc.die_time_ns, merge_ns, "{scheme}");
        assert_eq!(outcome.report.flash.padding_units, 0, "{scheme}: the last row holds a pair, too");
        let responses_ns: Vec<u64> = outcome.requests.iter().map(response_ns).collect();
        assert_eq!(responses_ns[..8], [TWO_PLANE_PROGRAM_NS; 8], "{scheme}");
        assert_eq!(responses_ns[8..], [merge_ns + TWO_PLANE_PROGRAM_NS; 2], "{scheme}");
        assert_eq!(kinds(&outcome), [0, 0, 2], "{scheme}");
    }
}

/// Superpages with log blocks: an update of one page reads the other, and takes a row of a log block. A merge moves
/// whole superpages: each half of a row comes from the same row.
#[test]
fn superpages_go_to_log_blocks_whole() {
    let mut config = merged("superpage", 1);
    config.mapping = MappingConfig::Fast(fast::Params { superpages: true, ..log_blocks(1) });
    let outcome = written(&config, &[&[2], &[10], &[5], &[12], &[6]]);
    let update_ns = READ_NS + TWO_PLANE_PROGRAM_NS;
    let merge_ns = 8 * (TWO_PLANE_READ_NS + TWO_PLANE_PROGRAM_NS) + 3 * ERASE_NS;
    assert_eq!(outcome.report.gc.die_time_ns, merge_ns);
    let responses_ns: Vec<u64> = outcome.requests.iter().map(response_ns).collect();
    // The last update has read its other half before it waits for the merge.
    assert_eq!(responses_ns, [update_ns, update_ns, update_ns, update_ns, update_ns + merge_ns]);
    assert_eq!((kinds(&outcome), outcome.report.flash.update_page_reads), ([0, 0, 2], 5));
    // An update of a page of each row, in order; then two updates of one row.
    let outcome = written(&config, &[&[0], &[2], &[4], &[6]]);
    assert_eq!((kinds(&outcome), outcome.report.gc.die_time_ns), ([1, 0, 0], ERASE_NS));
    let outcome = written(&config, &[&[0], &[1]]);
    assert_eq!((kinds(&outcome), merges(&outcome).sequential_pages), ([0, 1, 0], 2));
}

/// Two halves of a row that lie in different rows are read one after the other, and programmed together.
#[test]
fn a_row_is_gathered_from_where_its_pages_are() {
    let outcome = written(&merged("spd", 1), &[&[2, 12], &[4, 10], &[3, 6], &[5, 7], &[14, 15]]);
    // The first logical block: row 0 is in its data block, and the halves of the others lie in two rows each. The
    // second: 12 and 10 are in log blocks and their neighbours are not; rows 0 and 3 are whole.
    let first_ns = TWO_PLANE_READ_NS + 6 * READ_NS + 4 * TWO_PLANE_PROGRAM_NS;
    let second_ns = 2 * TWO_PLANE_READ_NS + 4 * READ_NS + 4 * TWO_PLANE_PROGRAM_NS;
    assert_eq!(outcome.report.gc.die_time_ns, first_ns + second_ns + 3 * ERASE_NS);
}

#[test]
fn a_sequential_log_block_that_is_full_takes_the_data_blocks_place() {
    for scheme in ON_PLANES {
        let outcome = written(&merged(scheme, 1), &[&[0], &[2], &[4], &[6], &[8], &[10], &[12], &[14]]);
        assert_eq!((kinds(&outcome), outcome.report.gc.die_time_ns), ([2, 0, 0], 2 * ERASE_NS), "{scheme}");
        assert_eq!((merges(&outcome).sequential_pages, merges(&outcome).random_pages), (8, 0), "{scheme}");
    }
    for scheme in ["spd", "spd-plus"] {
        let outcome = written(&merged(scheme, 1), &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]);
        assert_eq!((kinds(&outcome), outcome.report.gc.die_time_ns), ([1, 0, 0], ERASE_NS), "{scheme}");
    }
}

/// The rest of the data block is copied after the written part: if another logical block begins, if the order is
/// broken, and if the same block begins again.
#[test]
fn a_sequential_log_block_that_is_left_early_takes_the_rest_of_the_data_block() {
    type Row<'a> = (&'a [&'a [u64]], [u64; 3], u64);
    let rows: [Row<'_>; 4] = [
        (&[&[0], &[2], &[8]], [0, 1, 0], 2 * MOVE_NS + ERASE_NS),
        // Page 6 went to the random log block just now, and is copied from there.
        (&[&[0], &[2], &[6]], [0, 1, 0], 2 * MOVE_NS + ERASE_NS),
        (&[&[0], &[0]], [0, 1, 0], 3 * MOVE_NS + ERASE_NS),
        // A second write of page 0 waits while a log block is merged; then it displaces the log block of page 8.
        (&[&[0], &[8, 0]], [0, 2, 0], 2 * (3 * MOVE_NS + ERASE_NS)),
    ];
    for (writes, expected, merge_ns) in rows {
        let outcome = written(&merged("baseline-d", 1), writes);
        assert_eq!((kinds(&outcome), outcome.report.gc.die_time_ns), (expected, merge_ns), "{writes:?}");
    }
}

/// The sequential log block may hold the beginning of a logical block that a full merge takes from the log: the rest is
/// gathered there.
#[test]
fn a_full_merge_of_what_the_sequential_log_block_holds_goes_on_there() {
    // Page 8 begins logical block 1, whose other pages are in the log; page 2 of the other block fills the log.
    let outcome = written(&merged("baseline-d", 1), &[&[10], &[12], &[14], &[8], &[2], &[4]]);
    assert_eq!((kinds(&outcome), outcome.report.gc.die_time_ns), ([0, 1, 1], 7 * MOVE_NS + 3 * ERASE_NS));
    // If none of its pages is in the log, it stays.
    let outcome = written(&merged("baseline-d", 1), &[&[10], &[12], &[14], &[0], &[10], &[12]]);
    assert_eq!((kinds(&outcome), outcome.report.gc.die_time_ns), ([0, 0, 1], 4 * MOVE_NS + 2 * ERASE_NS));
}

/// Rows of four planes: a partial merge with one page in a random log block, on a device whose commands name any planes
/// and on one that pairs them.
#[test]
fn rows_of_four_planes_are_gathered_with_one_command_or_two() {
    let [two_read_ns, three_read_ns, four_read_ns] = [2, 3, 4].map(|pages| 75_000 + pages * 102_400);
    let four_program_ns = 4 * 102_400 + 1_500_000;
    // Row 1: page 5 from the log, the others of its row from the data block; rows 2 and 3 as they are.
    let free_ns = READ_NS + three_read_ns + 2 * four_read_ns + 3 * four_program_ns + ERASE_NS;
    let in_pairs_ns = 2 * READ_NS + two_read_ns + 4 * two_read_ns + 6 * TWO_PLANE_PROGRAM_NS + 2 * ERASE_NS;
    for (plane_pairs, merge_ns) in [(false, free_ns), (true, in_pairs_ns)] {
        let mut config = merged("spd", 1);
        config.geometry.planes_per_die = 4;
        config.capacity.logical = Some(Bytes(128 << 10));
        config.commands.plane_pairs = plane_pairs;
        let outcome = written(&config, &[&[5], &[0, 1, 2, 3], &[16, 17, 18, 19]]);
        assert_eq!((kinds(&outcome), outcome.report.gc.die_time_ns), ([0, 1, 0], merge_ns), "in pairs: {plane_pairs}");
    }
}

/// A write waits until a random log block has a free page, even if it goes to the sequential log block.
#[test]
fn a_page_in_order_waits_for_a_full_random_log_as_well() {
    let outcome = written(&merged("baseline-d", 1), &[&[2], &[10], &[4], &[12], &[0]]);
    assert_eq!(response_ns(&outcome.requests[4]), 8 * MOVE_NS + 3 * ERASE_NS + PROGRAM_NS);
    assert_eq!(merges(&outcome).sequential_pages, 1);
}
