//! "A Semi-Preemptive Garbage Collector for Solid State Drives" (ISPASS 2011), Figures 4 to 7.
//!
//! One die of one plane. The paper's times are 25, 200 and 1500 µs: a read takes 1 unit of time, a program 8, an erase
//! 60. Collection of a block with the valid pages x and y begins at time 0. Polling the queue takes no time here.
//!
//! The text does not state the following; the tests use:
//! - Figure 6: which of the two pipelined reads goes first. The request does, and GC's follows it.
//! - Figure 7: in state 2, which forbids "free block consuming" requests, reads are let in and writes are not.

use super::table::Figure;
use copyback::scene::Block::{self, Free, Full, Holds};
use copyback::scene::SceneOp;
use copyback::scene::SceneOp::{Overwrite, Read, UrgentWrite, Write};

const DRIVE: &str = r#"
capacity = { logical = "10 KiB" }
timing = { read = "1 ms", program = "8 ms", erase = "60 ms", channel = "1000 GB/s" }
trigger = { policy = "watermark", soft = 1 }
order = { policy = "priority", first = "gc-read-write" }
precondition = { mode = "empty" }
geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 10, pages_per_block = 4, page_size = "512 B" }
"#;

/// Block 2 is collected: its pages 1 and 3 are x and y.
const PLANE: &[Block] = &[Full, Full, Holds(&[1, 3]), Full, Free, Free, Free, Free, Free, Free];

const NEVER: &str = r#"
compose = { policy = "list", builders = [] }
preemption = { policy = "none" }
"#;
const POINTS: &str = r#"
compose = { policy = "list", builders = [] }
preemption = { policy = "points", poll = "0 ns" }
"#;
const MERGE: &str = r#"
compose = { policy = "list", builders = [], gc = ["merge"] }
preemption = { policy = "points", poll = "0 ns" }
"#;
const PIPELINE: &str = r#"
commands = { cache_read = true, cache_program = true }
compose = { policy = "list", builders = [], gc = ["pipeline"] }
preemption = { policy = "points", poll = "0 ns" }
"#;

fn figure<'a>(scheme: &str, requests: &'a [(&'static str, f64, SceneOp)]) -> Figure<'a> {
    Figure { config: format!("{DRIVE}{scheme}"), planes: &[PLANE], collects: 0, requests }
}

#[test]
fn figure_4_without_preemption_z_waits_until_gc_is_finished() {
    // z arrives while x is being written.
    figure(NEVER, &[("z", 3.0, Write(0))]).shows(
        "
         0   1  GC  read     P0 B2 p1  -- R x
         1   9  GC  program  P0 B4 p0  -- W x
         9  10  GC  read     P0 B2 p3  -- R y
        10  18  GC  program  P0 B4 p1  -- W y
        18  78  GC  erase    P0 B2     -- E
        78  86  z   program  P0 B4 p2  -- W z
        ends: z 86
        ",
    );
}

#[test]
fn figure_4_with_semi_preemption_z_is_inserted_between_two_moves() {
    figure(POINTS, &[("z", 3.0, Write(0))]).shows(
        "
         0   1  GC  read     P0 B2 p1  -- R x
         1   9  GC  program  P0 B4 p0  -- W x
         9  17  z   program  P0 B4 p1  -- W z, at point (2)
        17  18  GC  read     P0 B2 p3  -- R y
        18  26  GC  program  P0 B4 p2  -- W y
        26  86  GC  erase    P0 B2     -- E
        ends: z 17
        ",
    );
}

#[test]
fn at_point_1_the_register_is_occupied() {
    // "At preemption point (1) an incoming request of reading a page cannot be serviced": it waits for point (2).
    figure(POINTS, &[("z", 0.5, Read(0, 1, 0))]).shows(
        "
         0   1  GC  read     P0 B2 p1
         1   9  GC  program  P0 B4 p0
         9  10  z   read     P0 B1 p0
        10  11  GC  read     P0 B2 p3
        11  19  GC  program  P0 B4 p1
        19  79  GC  erase    P0 B2
        ends: z 10
        ",
    );
}

#[test]
fn at_point_1_another_plane_is_free() {
    let config =
        format!("{DRIVE}{POINTS}").replace("planes_per_die = 1", "planes_per_die = 2").replace("10 KiB", "20 KiB");
    let requests = &[("z", 0.5, Read(1, 1, 0))];
    Figure { config, planes: &[PLANE, PLANE], collects: 0, requests }.shows(
        "
         0   1  GC  read     P0 B2 p1
         1   2  z   read     P1 B1 p0
         2  10  GC  program  P0 B4 p0
        10  11  GC  read     P0 B2 p3
        11  19  GC  program  P0 B4 p1
        19  79  GC  erase    P0 B2
        ends: z 2
        ",
    );
}

#[test]
fn figure_5_a_read_of_the_page_that_is_moved_is_served_from_the_register() {
    figure(MERGE, &[("x", 0.5, Read(0, 2, 1))]).shows(
        "
         0   1  GC  read     P0 B2 p1  -- R x, for both
         1   9  GC  program  P0 B4 p0
         9  10  GC  read     P0 B2 p3
        10  18  GC  program  P0 B4 p1
        18  78  GC  erase    P0 B2
        ends: x 1
        ",
    );
}

#[test]
fn figure_5_a_write_of_the_page_that_is_moved_updates_the_register() {
    figure(MERGE, &[("x", 0.5, Overwrite(0, 2, 1))]).shows(
        "
         0   1  GC    read     P0 B2 p1
         1   9  GC+x  program  P0 B4 p0  -- W x, with the new data
         9  10  GC    read     P0 B2 p3
        10  18  GC    program  P0 B4 p1
        18  78  GC    erase    P0 B2
        ends: x 9
        ",
    );
}

#[test]
fn merging_reorders_the_pages_that_are_left_to_move() {
    // "Pages x, y, and z are supposed to be moved in that order … when a request on page z arrives, it can be
    // reordered." Here x is under way already, so z goes before y.
    let plane = &[Full, Full, Holds(&[1, 2, 3]), Full, Free, Free, Free, Free, Free, Free];
    let requests = &[("z", 0.5, Read(0, 2, 3))];
    Figure { config: format!("{DRIVE}{MERGE}"), planes: &[plane], collects: 0, requests }.shows(
        "
         0   1  GC    read     P0 B2 p1
         1   9  GC    program  P0 B4 p0
         9  10  GC    read     P0 B2 p3  -- R z, for both
        10  18  GC    program  P0 B4 p1
        18  19  GC    read     P0 B2 p2
        19  27  GC    program  P0 B4 p2
        27  87  GC    erase    P0 B2
        ends: z 10
        ",
    );
}

/// Transfers take 1 unit, and a page leaves or enters its register in one go: a read takes 2 + 1, a program 1 + 8.
fn with_transfers(scheme: &str) -> String {
    let config = format!("{DRIVE}{scheme}");
    config.replace("1000 GB/s", "512 KB/s").replace("read = \"1 ms\"", "read = \"2 ms\"")
}

#[test]
fn figure_6_a_read_is_pipelined_with_the_read_of_the_next_page() {
    let requests = &[("z", 5.0, Read(0, 1, 0))];
    Figure { config: with_transfers(PIPELINE), planes: &[PLANE], collects: 0, requests }.shows(
        "
         0   3  GC  read     P0 B2 p1
         3  12  GC  program  P0 B4 p0
        12  15  z   read     P0 B1 p0  -- leaves from 14 to 15,
        14  17  GC  read     P0 B2 p3  -- while y is read: one unit less than one after the other
        17  26  GC  program  P0 B4 p1
        26  86  GC  erase    P0 B2
        ends: z 15
        ",
    );
}

#[test]
fn figure_6_a_write_is_inserted_serially_before_a_read() {
    let requests = &[("z", 5.0, Write(0))];
    Figure { config: with_transfers(PIPELINE), planes: &[PLANE], collects: 0, requests }.shows(
        "
         0   3  GC  read     P0 B2 p1
         3  12  GC  program  P0 B4 p0
        12  21  z   program  P0 B4 p1
        21  24  GC  read     P0 B2 p3
        24  33  GC  program  P0 B4 p2
        33  93  GC  erase    P0 B2
        ends: z 21
        ",
    );
}

/// Figure 7, with this plane: T_soft is 10 blocks, T_hard 2.
fn state<'a>(plane: &'a [&'a [Block]], requests: &'a [(&'static str, f64, SceneOp)]) -> Figure<'a> {
    let config = format!("{DRIVE}{POINTS}")
        .replace("soft = 1", "soft = 10, hard = 0.2")
        .replace("10 KiB", "84 KiB")
        .replace("pages_per_block = 4", "pages_per_block = 8")
        .replace("blocks_per_plane = 10", "blocks_per_plane = 32");
    Figure { config, planes: plane, collects: 0, requests }
}

/// A plane with so many free blocks; block 0 has the fewest valid pages.
fn plane_with(free_blocks: usize) -> [Block; 32] {
    let mut blocks = [Holds(&[0, 1, 2, 3, 4]); 32];
    blocks[0] = Holds(&[1, 3]);
    blocks[32 - free_blocks..].fill(Free);
    blocks
}

#[test]
fn figure_7_state_1_lets_all_requests_in() {
    let requests = &[("r", 3.0, Read(0, 1, 0)), ("w", 4.0, Write(0))];
    state(&[&plane_with(9)], requests).begins_with(
        "
         0   1  GC  read     P0 B0 p1
         1   9  GC  program  P0 B23 p0
         9  10  r   read     P0 B1 p0
        10  18  w   program  P0 B23 p1
        18  19  GC  read     P0 B0 p3
        19  27  GC  program  P0 B23 p2
        27  87  GC  erase    P0 B0
        ",
    );
}

#[test]
fn figure_7_state_2_lets_no_request_in_that_consumes_free_blocks() {
    let requests = &[("r", 3.0, Read(0, 1, 0)), ("w", 4.0, Write(0))];
    state(&[&plane_with(1)], requests).begins_with(
        "
         0   1  GC  read     P0 B0 p1
         1   9  GC  program  P0 B31 p0
         9  10  r   read     P0 B1 p0
        10  11  GC  read     P0 B0 p3
        11  19  GC  program  P0 B31 p1
        19  79  GC  erase    P0 B0
        ",
    );
}

#[test]
fn figure_7_state_3_finishes_collection_first_for_an_urgent_write() {
    let requests = &[("r", 3.0, Read(0, 1, 0)), ("u", 4.0, UrgentWrite(0))];
    state(&[&plane_with(1)], requests).begins_with(
        "
         0   1  GC  read     P0 B0 p1
         1   9  GC  program  P0 B31 p0
         9  10  GC  read     P0 B0 p3
        10  18  GC  program  P0 B31 p1
        18  78  GC  erase    P0 B0
        78  86  u   program  P0 B31 p2
        ",
    );
}

/// z1 waits when point (2) opens at 9; z2 and z3 arrive while it is served.
const BATCH: &[(&str, f64, SceneOp)] = &[("z1", 3.0, Write(0)), ("z2", 12.0, Read(0, 1, 0)), ("z3", 13.0, Write(0))];

fn fenced(fence: &str) -> Figure<'static> {
    let points = format!("poll = \"0 ns\", at_register = \"plane\", fence = \"{fence}\"");
    figure(&POINTS.replace("poll = \"0 ns\"", &points), BATCH)
}

#[test]
fn what_comes_while_a_point_is_open_goes_too_where_no_fence_stands() {
    let shown = "
         0   1  GC  read     P0 B2 p1
         1   9  GC  program  P0 B4 p0
         9  17  z1  program  P0 B4 p1
        17  18  z2  read     P0 B1 p0
        18  26  z3  program  P0 B4 p2
        26  27  GC  read     P0 B2 p3
        27  35  GC  program  P0 B4 p3
        35  95  GC  erase    P0 B2
        ends: z1 17, z2 18, z3 26
        ";
    fenced("none").shows(shown);
    // As the paper says of state 1: "all incoming requests are allowed".
    figure(POINTS, BATCH).shows(shown);
}

#[test]
fn a_fence_for_writes_lets_later_reads_go() {
    fenced("writes").shows(
        "
         0   1  GC  read     P0 B2 p1
         1   9  GC  program  P0 B4 p0
         9  17  z1  program  P0 B4 p1
        17  18  z2  read     P0 B1 p0
        18  19  GC  read     P0 B2 p3
        19  27  GC  program  P0 B4 p2
        27  35  z3  program  P0 B4 p3  -- the next point (2)
        35  95  GC  erase    P0 B2
        ends: z1 17, z2 18, z3 35
        ",
    );
}

#[test]
fn a_fence_for_all_ends_a_point_with_what_it_found() {
    fenced("all").shows(
        "
         0   1  GC  read     P0 B2 p1
         1   9  GC  program  P0 B4 p0
         9  17  z1  program  P0 B4 p1
        17  18  GC  read     P0 B2 p3
        18  26  GC  program  P0 B4 p2
        26  27  z2  read     P0 B1 p0  -- the next point (2), for z2 and z3
        27  35  z3  program  P0 B4 p3
        35  95  GC  erase    P0 B2
        ends: z1 17, z2 27, z3 35
        ",
    );
}

#[test]
fn below_the_hard_watermark_every_point_is_fenced() {
    // In state 2 reads go first. r2 arrives while r1 is read, and still waits for the next point.
    let requests = &[("r1", 3.0, Read(0, 1, 0)), ("r2", 9.5, Read(0, 1, 1))];
    let fenced = "
         0   1  GC  read     P0 B0 p1
         1   9  GC  program  P0 B31 p0
         9  10  r1  read     P0 B1 p0
        10  11  GC  read     P0 B0 p3
        11  19  GC  program  P0 B31 p1
        19  20  r2  read     P0 B1 p1
        20  80  GC  erase    P0 B0
        ";
    state(&[&plane_with(1)], requests).begins_with(fenced);
    // In state 1 it preempts at once.
    state(&[&plane_with(9)], requests).begins_with(
        "
         0   1  GC  read     P0 B0 p1
         1   9  GC  program  P0 B23 p0
         9  10  r1  read     P0 B1 p0
        10  11  r2  read     P0 B1 p1
        11  12  GC  read     P0 B0 p3
        12  20  GC  program  P0 B23 p1
        20  80  GC  erase    P0 B0
        ",
    );
}

#[test]
fn an_urgent_write_in_front_of_the_window_gets_its_turn_too() {
    // Two slots: the collection has one, and r, which state 3 delays, has the other, so that u waits in front. Another
    // collection is due when the first ends, and GC precedes writes.
    let (plane, requests) = (plane_with(1), [("r", 3.0, Read(0, 1, 0)), ("u", 4.0, UrgentWrite(0))]);
    let planes: &[&[Block]] = &[&plane];
    let mut figure = state(planes, &requests);
    figure.config += "admit = { policy = \"window\", slots = 2 }\n";
    figure.config = figure.config.replace("poll = \"0 ns\"", "poll = \"0 ns\", at_hard = \"writes\"");
    figure.begins_with(
        "
         0   1  GC  read     P0 B0 p1
         1   9  GC  program  P0 B31 p0
         9  10  GC  read     P0 B0 p3
        10  18  GC  program  P0 B31 p1
        18  78  GC  erase    P0 B0
        78  86  u   program  P0 B31 p2
        ",
    );
}

/// Two planes of the drive of Figure 7; the pages of moves and of writes to the other plane have the same offset.
fn paired_state<'a>(planes: &'a [&'a [Block]], requests: &'a [(&'static str, f64, SceneOp)]) -> Figure<'a> {
    let mut figure = state(planes, requests);
    figure.config = figure.config.replace("planes_per_die = 1", "planes_per_die = 2").replace("84 KiB", "168 KiB");
    figure.config = figure.config.replace("builders = []", "builders = [], gc = [\"gc+host\"], gc_scan = \"0 ns\"");
    figure
}

#[test]
fn writes_join_collections_above_the_hard_watermark_and_not_below_it() {
    let requests = &[("w", 0.5, Write(1))];
    paired_state(&[&plane_with(9), &plane_with(9)], requests).begins_with(
        "
         0   1  GC    read     P0 B0 p1
         1   9  GC+w  program  P0 B23 p0 + P1 B23 p0
         9  10  GC    read     P0 B0 p3
        ",
    );
    // The collected plane has one free block, T_hard is two.
    paired_state(&[&plane_with(1), &plane_with(9)], requests).begins_with(
        "
         0   1  GC    read     P0 B0 p1
         1   9  GC    program  P0 B31 p0
         9  10  GC    read     P0 B0 p3
        ",
    );
}
