//! Feedback shares on a working drive: when they are updated, and which state of the drive they read.

use super::*;
use crate::sim::index::BlockId;

const MS: u64 = 1_000_000;
/// When the collection begins.
const BEGIN_NS: u64 = 60_240;

/// Nine dies. Each has written eleven of its 16 blocks completely, so that 45 are free, two below the watermark. From
/// 60,240 ns on, die 0's first block is collected, page by page, until `end_ns`. `writes`: times, and how many writes
/// arrive then. Each write goes to a die of its own, from die 1 on, where it opens a block.
fn collecting(writes: &[(u64, u32)], end_ns: u64) -> ManualDrive {
    let settings = "admit = { policy = \"debit\", slots = 4, shares = { policy = \"feedback\" } }
        trigger = { policy = \"watermark\", scope = \"device\", soft = 47 }
        capacity = { over_provisioning = 1.2 }";
    let mut drive = ManualDrive::with(9, settings, |ftl| {
        let mut units = (0..).map(LogicalUnit);
        for plane in 0..9 {
            for page in 0..11 * 8 {
                // All data of the first block stays valid.
                let units: Vec<_> = match (plane, page) {
                    (0, 0..8) => units.by_ref().take(4).collect(),
                    _ => vec![LogicalUnit(100 + plane)],
                };
                ftl.write_page(PlaneId(plane), &units, 0);
            }
        }
    });
    assert_eq!(drive.back_end.ftl.free_blocks(), 45);
    drive.look();
    drive.run_until(BEGIN_NS);
    drive.back_end.begin_relocation(BlockId(0), B, &mut drive.events);
    let mut dies = 1..9;
    for &(at_ns, count) in writes {
        drive.run_until(at_ns);
        dies.by_ref().take(count as usize).for_each(|die| drive.submit("write", A, Role::Write, die));
    }
    drive.run_until(end_ns);
    assert_eq!(drive.back_end.gc.relocations.count_of(B), 1, "the collection is under way to the end");
    drive
}

/// Shares in millionths of a percent.
fn shares(drive: &ManualDrive) -> Vec<(u64, u64)> {
    drive.shares.iter().map(|&(since_ns, share)| (since_ns, (share * 1e6).round() as u64)).collect()
}

/// A share stays 0 for a millisecond after the collection has begun, and then changes once a millisecond, independent
/// of events in between. In the four periods, 3, 2, 3 and 0 writes arrive, and each opens a block; the collection
/// itself opens one when it has read its eight pages (8 · 90,960 ns). So e = 6, 8, 11 and 11 blocks are missing at the
/// four updates, and S = 0.05 · e + 0.9 · S = 0.3, 0.67, 1.153, 1.5877.
#[test]
fn a_share_changes_once_a_millisecond_from_activation_on() {
    let writes = [(70_000, 1), (500_000, 1), (BEGIN_NS + MS - 1, 1), (1_100_000, 2), (2_500_000, 3)];
    let drive = collecting(&writes, BEGIN_NS + 4 * MS);
    assert_eq!(drive.back_end.ftl.free_blocks(), 45 - 9);
    let at = |period: u64| BEGIN_NS + period * MS;
    let expected = [(0, 0), (at(1), 300_000), (at(2), 670_000), (at(3), 1_153_000), (at(4), 1_587_700)];
    assert_eq!(shares(&drive), expected);
}

/// Eight blocks that are lost within a period count alike, whether at once, in two parts or one by one: at each update
/// eleven are missing, with the two from before and that of the collection, and S = 0.55, 1.045, 1.4905. A share that
/// followed every event would be higher the more events there are.
#[test]
fn steps_within_a_period_make_no_difference() {
    let at_once = vec![(100_000, 8)];
    let in_two_parts = vec![(100_000, 4), (900_000, 4)];
    let one_by_one: Vec<_> = (1..9).map(|at| (at * 110_000, 1)).collect();
    for writes in [at_once, in_two_parts, one_by_one] {
        let drive = collecting(&writes, BEGIN_NS + 3 * MS);
        let at = |period: u64| BEGIN_NS + period * MS;
        let expected = [(0, 0), (at(1), 550_000), (at(2), 1_045_000), (at(3), 1_490_500)];
        assert_eq!(shares(&drive), expected, "{writes:?}");
    }
}
