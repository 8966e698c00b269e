//! What does the translation layer answer in states that are made by hand?
//!
//! Each test asks one question of one function.

use super::blocks::BlockState;
use super::core::{Counts, Ftl};
use super::frontier::Stream;
use super::victim::PlaneRange;
use crate::run::config::RunConfig;
use crate::sim::index::{BlockId, LogicalUnit, PlaneId};

const PLANE: PlaneId = PlaneId(0);

/// An empty plane of 16 blocks of 8 pages, each of the given number of mapping units.
fn plane(units_per_page: u32, more: &str) -> Ftl {
    let mut table: toml::Table = toml::from_str(&format!(
        r#"
        precondition = {{ mode = "empty" }}
        capacity = {{ over_provisioning = 0.6 }}
        timing = {{ read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }}
        [geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = 16
        pages_per_block = 8
        page_size = "4 KiB"
        mapping_unit = {}
        "#,
        4096 / units_per_page
    ))
    .expect("the base parses");
    table.extend(toml::from_str::<toml::Table>(more).expect("the test's settings parse"));
    let config: RunConfig = table.try_into().expect("the configuration is complete");
    config.check().expect("the configuration is possible");
    Ftl::new(&config.ftl(), 1)
}

fn units(from: u32, to: u32) -> impl Iterator<Item = LogicalUnit> {
    (from..to).map(LogicalUnit)
}

fn append(ftl: &mut Ftl, from: u32, to: u32) {
    units(from, to).for_each(|unit| ftl.append(PLANE, unit, 0));
}

#[test]
fn write_amplification_is_what_was_programmed_over_what_was_written() {
    let counts = Counts { host_units: 4, moved_units: 3, padding_units: 1, ..Counts::default() };
    assert_eq!((counts.write_amplification(), Counts::default().write_amplification()), (Some(2.0), None));
}

#[test]
fn pages_beside_kept_blocks_are_those_of_the_others_and_of_the_open_one() {
    let mut ftl = plane(1, "");
    assert_eq!([2, 16, 17].map(|kept| ftl.host_pages_left_with(PLANE, kept)), [Some(14 * 8), Some(0), None]);
    append(&mut ftl, 0, 3);
    assert_eq!(ftl.host_pages_left_with(PLANE, 2), Some(13 * 8 + 5));
}

#[test]
fn skipped_pages_are_used_without_a_program_and_their_block_closes_with_one() {
    let mut ftl = plane(2, "");
    let before = ftl.free_pages_of(PLANE);
    // Skips pages of a block that is opened for it, then pages of the open block.
    for (offset, unit) in [(2, 0), (7, 1)] {
        let block = ftl.skip_pages(PLANE, 0, offset);
        let page = ftl.write_page(PLANE, &[LogicalUnit(unit)], 0);
        assert_eq!(ftl.geometry.block_and_offset(page), (block, offset));
    }
    let block = ftl.blocks()[BlockId(0)];
    assert_eq!((block.state, block.valid, ftl.free_pages_of(PLANE)), (BlockState::Closed, 2, before - 8));
    // Of 16 places, two have data, two are padded, and twelve are skipped.
    let counts = Counts { host_units: 2, padding_units: 2, skipped_units: 12, ..Counts::default() };
    assert_eq!((ftl.counts(), counts.write_amplification()), (counts, Some(2.0)));
    assert_eq!([counts.times(3).skipped_units, counts.and(&counts).skipped_units], [36, 24]);
    assert_eq!((counts.since(&counts).skipped_units, ftl.units_programmed()), (0, 16));
    assert_eq!(ftl.check_all(), Ok(()));
}

#[test]
fn no_block_skips_its_end_or_programmed_pages() {
    for offset in [0, 2, 3, 8] {
        let mut ftl = plane(1, "");
        append(&mut ftl, 0, 3);
        let skip = std::panic::AssertUnwindSafe(|| ftl.skip_pages(PLANE, 0, offset));
        assert!(std::panic::catch_unwind(skip).is_err(), "{offset}");
    }
}

#[test]
fn a_page_is_valid_as_long_as_one_of_its_units_is() {
    let mut ftl = plane(2, "");
    append(&mut ftl, 0, 32);
    // Trims units of the second block: both of its first page, one of its third.
    for unit in [16, 17, 20] {
        ftl.trim(LogicalUnit(unit));
    }
    assert_eq!([0, 1].map(|block| ftl.valid_pages(BlockId(block))), [8, 7]);
}

#[test]
fn pages_that_were_begun_are_ended_in_both_of_two_active_blocks() {
    let mut ftl = plane(2, "frontier = { policy = \"second-active\" }");
    ftl.append_to(PLANE, false, LogicalUnit(0), 0);
    ftl.append_to(PLANE, true, LogicalUnit(1), 0);
    ftl.seal_page(PLANE, Stream::Host, 0);
    let written: Vec<u16> = ftl.open_blocks(PLANE).map(|block| ftl.blocks()[block].written).collect();
    assert_eq!((written, ftl.counts().padding_units), (vec![2, 2], 2));
}

#[test]
fn collection_goes_on_in_the_other_active_block_when_one_is_full() {
    let mut ftl = plane(1, "frontier = { policy = \"second-active\" }");
    for (write_point, from, to) in [(0, 0, 8), (0, 8, 14), (1, 14, 17)] {
        units(from, to).for_each(|unit| {
            ftl.write_page_in(PLANE, write_point, &[unit], 0);
        });
    }
    units(0, 4).for_each(|unit| {
        ftl.trim(unit);
    });
    let free = ftl.free_blocks();
    ftl.collect(BlockId(0), 0);
    // Two of four pages fill the first active block; the others open none.
    assert_eq!(ftl.free_blocks(), free + 1);
}

#[test]
fn a_free_block_with_something_written_does_not_pass_the_check() {
    let mut ftl = plane(1, "");
    assert_eq!(ftl.check_blocks(), Ok(()));
    ftl.inside().blocks[BlockId(9)].written = 1;
    assert!(ftl.check_blocks().unwrap_err().contains("cannot be in this state"));
}

#[test]
fn an_open_block_that_takes_no_data_does_not_pass_the_check() {
    let mut ftl = plane(1, "");
    ftl.inside().blocks[BlockId(9)].state = BlockState::Open;
    assert!(ftl.check_blocks().unwrap_err().contains("cannot be in this state"));
}

#[test]
fn a_choice_by_waiting_reads_takes_a_look_at_each_candidate() {
    let mut ftl = plane(1, "victim = { policy = \"read-match\", scan = \"300 ns\" }");
    append(&mut ftl, 0, 40);
    for block in 0..4 {
        ftl.trim(LogicalUnit(8 * block));
    }
    assert!(ftl.pick_victim_for(PlaneRange::one(PLANE), &[1], 0).is_some());
    // A block without an invalid page is no candidate.
    assert_eq!(ftl.choice_ns(), 4 * 300);
}

/// Blocks 5 and 7 were never erased, all others were; of equal ones the one that was erased first.
#[test]
fn the_youngest_free_block_is_opened_next() {
    for (tasks, expected) in [("", [0, 1, 2]), ("tasks = { wear = {} }", [5, 7, 0])] {
        let mut ftl = plane(1, tasks);
        (0..16).for_each(|block| ftl.inside().blocks[BlockId(block)].erases = u32::from(block != 5 && block != 7));
        let opened = [0, 8, 16].map(|first| {
            let expected = ftl.next_block_in(PLANE, 0);
            append(&mut ftl, first, first + 8);
            let opened = ftl.geometry.block_of(ftl.lookup(LogicalUnit(first)));
            assert_eq!(expected, Some(opened), "the block is predicted before it is opened");
            opened.0
        });
        assert_eq!(opened, expected, "{tasks}");
    }
}
