//! Rounds of global collection, to the nanosecond: the drives that collect, from when to when, and the requests that
//! wait.

use super::stage::{Asked, DRIVE, PROGRAM, Played, READ, Stage, collection_ns};
use copyback::scene::Block::{self, Free, Holds, Open};
use copyback::workload::Op::{Read, Write};

pub(crate) const INCLUSIVE: &str = "policy = \"ggc-reactive-inclusive\"";
pub(crate) const SELECTIVE: &str = "policy = \"ggc-reactive-selective\"";
pub(crate) const IDLE: &str = "policy = \"ggc-proactive-idle\"";
pub(crate) const MS: u64 = 1_000_000;

fn drives(trigger: &str) -> String {
    DRIVE.replace("soft = 0", trigger).replace("64 KiB", "128 KiB")
}

pub(crate) fn stage(trigger: &str, coordination: &str, planes: &[Vec<Block>]) -> Stage {
    Stage {
        drive: drives(trigger),
        array: format!("drives = {}", planes.len()),
        coordination: coordination.to_owned(),
        planes: planes.to_vec(),
        planes_per_drive: 1,
        collecting: Vec::new(),
    }
}

fn play(trigger: &str, coordination: &str, planes: &[Vec<Block>], asked: &[Asked]) -> Played {
    stage(trigger, coordination, planes).play(asked)
}

/// A plane: `open` pages of its open block are written, `free` blocks are free, and each of the others holds `held`.
pub(crate) fn plane(open: Option<u32>, free: usize, held: &'static [u32]) -> Vec<Block> {
    let mut blocks = vec![Holds(held); 10 - free - usize::from(open.is_some())];
    blocks.extend(open.map(Open));
    blocks.extend(vec![Free; free]);
    blocks
}

/// Drive 0 falls below its watermark when its page is bound, and all collect once the dies have written.
#[test]
fn the_first_request_behind_a_global_round_is_worse_off() {
    // The write opens a block on each drive: drive 0 then has two free blocks, the others have five.
    let planes = [plane(None, 3, &[0, 1]), plane(None, 6, &[0]), plane(None, 6, &[0, 1, 2]), plane(None, 6, &[])];
    let asked = [(0, Write, 100, 4), (MS, Read, 4, 4)];
    let played = play("soft = 3", INCLUSIVE, &planes, &asked);
    assert_eq!(played.responses(), [PROGRAM, 2_219_200]);
    let ends = [2_662_000, 2_232_200, 3_091_800, 1_802_400];
    for (drive, end) in ends.into_iter().enumerate() {
        assert_eq!(played.collections[drive], [(PROGRAM, end)], "drive {drive}");
    }
    let played = play("soft = 3", "", &planes, &asked);
    assert_eq!(played.responses(), [PROGRAM, 1_789_400]);
    assert_eq!(played.collections.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0, 0, 0]);
}

/// Figure 5 in small: T_soft 4 free blocks, T_hard 3, stop 4; each victim has one valid page.
pub(crate) const LEVELS: &str = "soft = 3, stop = 4, report = 4, last_resort = 1";

/// The block of the next write has 1, 3, 4 and 4 pages left; 4, 4, 4 and 5 other blocks are free. The last two drives
/// have no open block: that block is erased, and counts as free until a page of it is written.
pub(crate) fn figure_5(held: &'static [u32]) -> Vec<Vec<Block>> {
    vec![plane(Some(3), 4, held), plane(Some(1), 4, held), plane(None, 5, held), plane(None, 6, held)]
}

/// Full-stripe writes every 10 ms, the first of so many at 0.
pub(crate) fn writes(count: u64) -> Vec<Asked> {
    (0..count).map(|at| (at * 10 * MS, Write, 4 * (20 + at), 4)).collect()
}

pub(crate) fn with_read(mut asked: Vec<Asked>, arrival_ns: u64, unit: u64, units: u64) -> (Vec<Asked>, usize) {
    let at = asked.iter().position(|request| request.0 > arrival_ns).unwrap_or(asked.len());
    asked.insert(at, (arrival_ns, Read, unit, units));
    (asked, at)
}

/// The periods in which at least one drive collects: start and end.
fn windows(played: &Played) -> Vec<(u64, u64)> {
    let mut collections: Vec<(u64, u64)> = played.collections.iter().flatten().copied().collect();
    collections.sort_unstable();
    let mut windows: Vec<(u64, u64)> = Vec::new();
    for (start, end) in collections {
        match windows.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => windows.push((start, end)),
        }
    }
    windows
}

#[test]
fn figure_5_uncoordinated_has_three_windows() {
    let played = play(LEVELS, "", &figure_5(&[0]), &writes(10));
    assert_eq!(collection_ns(1), 1_929_800);
    let expected = [(50_302_400, 54_162_000), (70_302_400, 74_162_000), (80_302_400, 84_162_000)];
    assert_eq!(windows(&played), expected);
    assert_eq!(expected.iter().map(|(start, end)| end - start).sum::<u64>(), 11_578_800);
    assert_eq!(played.collections.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 0]);
}

#[test]
fn figure_5_selective_has_one() {
    let played = play(LEVELS, SELECTIVE, &figure_5(&[0]), &writes(10));
    assert_eq!(windows(&played), [(50_302_400, 54_162_000)]);
    assert_eq!(played.collections[0], [(50_302_400, 52_232_200), (52_232_200, 54_162_000)]);
    for drive in [1, 2] {
        assert_eq!(played.collections[drive], [(50_302_400, 52_232_200)], "drive {drive}");
    }
    assert_eq!(played.collections[3], []);
    // The next event: drive 1 is the first, and all four have registered.
    let played = play(LEVELS, SELECTIVE, &figure_5(&[0]), &writes(11));
    assert_eq!(
        played.coordination.iter().map(|drive| drive.expect("it is coordinated").forced).collect::<Vec<_>>(),
        [2, 2, 2, 1]
    );
    assert!(played.collections.iter().all(|of_drive| of_drive.iter().any(|collection| collection.0 == 100_302_400)));
}

#[test]
fn figure_5_inclusive_erases_what_was_not_needed() {
    let played = play(LEVELS, INCLUSIVE, &figure_5(&[0]), &writes(10));
    assert_eq!(windows(&played), [(50_302_400, 54_162_000)]);
    assert_eq!(played.collections[3], [(50_302_400, 52_232_200)]);
    assert_eq!(played.collections.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1, 1]);
}

/// Only later requests gain.
#[test]
fn figure_5_reads_of_whole_stripes() {
    for (policy, later) in [("", 74_289_400), (SELECTIVE, 71_127_400), (INCLUSIVE, 71_127_400)] {
        for (arrival_ns, end) in [(51 * MS, 54_289_400), (71 * MS, later)] {
            let (asked, at) = with_read(writes(10), arrival_ns, 80, 4);
            let played = play(LEVELS, policy, &figure_5(&[0]), &asked);
            assert_eq!(arrival_ns + played.responses()[at], end, "{policy} {arrival_ns}");
        }
    }
}

fn idle(more: &str, planes: &[Vec<Block>], arrival_ns: u64) -> (Played, u64) {
    let (asked, at) = with_read(writes(5), arrival_ns, 80, 1);
    let played = play(LEVELS, &format!("{IDLE}\n{more}"), planes, &asked);
    let end = arrival_ns + played.responses()[at];
    (played, end)
}

/// The last write ends at 40,302,400; the array is idle from 50,302,400 on, which the poll at 51 ms finds out.
#[test]
fn idle_time_is_used_by_who_has_registered() {
    let (played, end) = idle("", &figure_5(&[0]), 51_700_000);
    assert_eq!(end, 53_057_200);
    assert_eq!(played.collections[0][0], (51 * MS, 52_929_800));
    assert_eq!(played.collections.iter().map(|of_drive| of_drive.len().min(1)).collect::<Vec<_>>(), [1, 1, 1, 0]);
    // An earlier request arrives: no drive collects until the array is idle again.
    let (played, _) = idle("", &figure_5(&[0]), 50_500_000);
    assert!(played.collections.iter().flatten().all(|collection| collection.0 > 60 * MS), "{:?}", played.collections);
    assert_eq!(played.responses()[5], READ);
}

#[test]
fn a_request_in_idle_time_waits_for_a_step_or_for_a_collection() {
    // An open block without valid data cannot be the victim: all drives open their blocks with the first write.
    let three = [vec![plane(None, 5, &[0, 1, 2]); 3], vec![plane(None, 6, &[0, 1, 2])]].concat();
    let (played, end) = idle("", &three, 51_600_000);
    assert_eq!(end, 51_987_000);
    assert_eq!(played.coordination[0].expect("it is coordinated").pauses, 1);
    let (_, end) = idle("on_request = \"finish-collection\"", &three, 51_600_000);
    assert_eq!(end, 53_916_800);
}

/// tc12 Section 4.3.2: a drive generates free blocks "until there is an incoming I/O request in the queue": with
/// `pause_on = "own-request"` its own queue. Drive 0 gets the read and pauses; drive 1 completes its round.
#[test]
fn a_request_for_another_drive_pauses_a_collection_or_does_not() {
    let three = [vec![plane(None, 5, &[0, 1, 2]); 3], vec![plane(None, 6, &[0, 1, 2])]].concat();
    let (own, end) = idle("pause_on = \"own-request\"", &three, 51_600_000);
    assert_eq!(end, 51_987_000);
    let pauses = |played: &Played| [0, 1].map(|drive| played.coordination[drive].expect("it is coordinated").pauses);
    assert_eq!(pauses(&own), [1, 0]);
    assert_eq!(own.collections[1][0], (51 * MS, 51 * MS + collection_ns(3)));
    let (any, end) = idle("", &three, 51_600_000);
    assert_eq!(end, 51_987_000);
    assert_eq!(pauses(&any), [1, 1]);
    // The move under way ends at 51,859,600. The rest waits for the end of the read, the last request of the run.
    assert_eq!(any.collections[1][0], (51 * MS, end + READ + PROGRAM + 1_500_000));
}

/// Collections of a forced drive with one die of two planes, each `(start, end)`. Plane 0 falls to two free blocks with
/// the write, plane 1 has `free`; every victim holds a valid page.
fn forced_collections(more: &str, free: usize) -> Vec<(u64, u64)> {
    let planes = [plane(None, 3, &[0]), plane(Some(1), free, &[0])];
    let mut stage = stage(LEVELS, &format!("{INCLUSIVE}\n{more}"), &planes);
    stage.drive = stage.drive.replace("planes_per_die = 1", "planes_per_die = 2").replace("128 KiB", "256 KiB");
    (stage.array, stage.planes_per_drive) = ("drives = 1".to_owned(), 2);
    let played = stage.play(&[(0, Write, 40, 1)]);
    played.collections[0].clone()
}

/// tc12 Section 4.3.1: a forced drive collects "until the number of free blocks exceeds an internal threshold". The
/// planes stop at four free blocks, the drive at eight. Blocks count as free until a page of them is written.
#[test]
fn a_forced_drive_stops_by_the_free_blocks_of_its_planes_or_of_all() {
    let in_turn = |count: u64| -> Vec<(u64, u64)> {
        (0..count).map(|at| (PROGRAM + at * collection_ns(1), PROGRAM + (at + 1) * collection_ns(1))).collect()
    };
    for (free, by_planes, by_drive) in [(7, 3, 1), (5, 3, 1), (4, 3, 2)] {
        assert_eq!(forced_collections("", free), in_turn(by_planes), "each plane once, and plane 0 again: {free} free");
        assert_eq!(forced_collections("force_scope = \"drive\"", free), in_turn(by_drive), "{free} free");
    }
}

/// The round resumes when the array is idle again: from the end of the read at 51,987,000 on, which the poll at 62 ms
/// detects. One move and the erase remain.
#[test]
fn a_round_that_a_request_interrupted_goes_on_in_the_next_idle_time() {
    let three = [vec![plane(None, 5, &[0, 1, 2]); 3], vec![plane(None, 6, &[0, 1, 2])]].concat();
    let (asked, _) = with_read(writes(5), 51_600_000, 80, 1);
    let (asked, _) = with_read(asked, 90 * MS, 80, 1);
    let played = play(LEVELS, IDLE, &three, &asked);
    assert_eq!(played.collections[0][0], (51 * MS, 62 * MS + READ + PROGRAM + 1_500_000));
    assert_eq!(played.collections[0][0].1, 63_929_800);
}

/// Collections that began before a request arrived are not owed again: a drive that has reached its stop level does
/// nothing in the next idle time.
#[test]
fn an_interrupted_drive_owes_no_more_than_it_did() {
    let one = vec![plane(None, 5, &[0]); 4];
    let (asked, _) = with_read(writes(5), 51_600_000, 80, 1);
    let (asked, _) = with_read(asked, 90 * MS, 80, 1);
    let stops = format!("{IDLE}\nidle_stop = \"report\"\non_request = \"finish-collection\"");
    let played = play(LEVELS, &stops, &one, &asked);
    assert_eq!(played.collections[0], [(51 * MS, 51 * MS + collection_ns(1))]);
}
