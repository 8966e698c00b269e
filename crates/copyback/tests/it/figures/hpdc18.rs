//! "Parallelizing Garbage Collection with I/O to Improve Flash Resource Utilization" (HPDC 2018), Figures 5 to 7.
//!
//! One die of two planes; a read takes 1 unit of time, a program 2. Collection of plane 0 begins at time 0, when eight
//! requests wait: I, M, O, P read and J, L write on plane 1, K reads and N writes on plane 0, in the order of their
//! letters.
//!
//! The text does not state the following; the tests use:
//! - The erase time. Collection ends at time 50; the operations A to H are four moves, which take 12, so the erase
//!   takes 38. ("Pages 3, 7, 9, 15, …" allows for more moves and a shorter erase: 15 moves and 5, for example.)
//! - Offsets of the pages that K, M, O and P read, and valid pages of block 6: M, O and P match C, E and G of
//!   Figure 5c, and no other pair matches. The write point of block 9: one that no other block reaches.
//! - When the collection has ended, requests are served first come, first served, as in the text, although reads go
//!   first elsewhere.

use super::table::Figure;
use crate::support::under::under;
use copyback::scene::Block::{self, Free, Full, Holds, Open};
use copyback::scene::SceneOp;
use copyback::scene::SceneOp::{Read, Write};

const DRIVE: &str = r#"
capacity = { logical = "120 KiB" }
timing = { read = "1 ms", program = "2 ms", erase = "38 ms", channel = "1000 GB/s" }
trigger = { policy = "watermark", soft = 1 }
order = { policy = "fifo" }
precondition = { mode = "empty" }
geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 12, pages_per_block = 20, page_size = "512 B" }
"#;

const PLANE_0: &[Block] = &[
    Full,
    Full,
    Holds(&[3, 7, 9, 15]), // the victim of Figures 5a and 5b
    Full,
    Full,
    Full,
    Holds(&[1, 5, 10, 18]), // the victim of Figure 5c
    Free,                   // where GC writes
    Free,
    Free,
    Free,
    Free,
];

const PLANE_1: &[Block] = &[
    Holds(&[]),
    Holds(&[5]),
    Holds(&[]),
    Holds(&[7]),
    Holds(&[10]),
    Free, // the new active block of Figures 5b and 5c
    Holds(&[18]),
    Holds(&[]),
    Holds(&[]),
    Open(11), // the active block
    Free,
    Free,
];

const REQUESTS: &[(&str, f64, SceneOp)] = &[
    ("I", 0.0, Read(1, 3, 7)),
    ("J", 0.0, Write(1)),
    ("K", 0.0, Read(0, 4, 2)),
    ("L", 0.0, Write(1)),
    ("M", 0.0, Read(1, 1, 5)),
    ("N", 0.0, Write(0)),
    ("O", 0.0, Read(1, 4, 10)),
    ("P", 0.0, Read(1, 6, 18)),
];

fn figure_5(scheme: &str) -> Figure<'static> {
    Figure { config: format!("{DRIVE}{scheme}"), planes: &[PLANE_0, PLANE_1], collects: 0, requests: REQUESTS }
}

#[test]
fn figure_5a_the_baseline_leaves_plane_1_idle() {
    figure_5(r#"preemption = { policy = "none" }"#).shows(
        "
         0   1  GC     read     P0 B2 p3    -- A
         1   3  GC     program  P0 B7 p0    -- B
         3   4  GC     read     P0 B2 p7    -- C
         4   6  GC     program  P0 B7 p1    -- D
         6   7  GC     read     P0 B2 p9    -- E
         7   9  GC     program  P0 B7 p2    -- F
         9  10  GC     read     P0 B2 p15   -- G
        10  12  GC     program  P0 B7 p3    -- H
        12  50  GC     erase    P0 B2
        50  51  I      read     P1 B3 p7
        51  53  J      program  P1 B9 p11
        53  54  K      read     P0 B4 p2
        54  56  L      program  P1 B9 p12
        56  57  M      read     P1 B1 p5
        57  59  N      program  P0 B7 p4
        59  60  O      read     P1 B4 p10
        60  61  P      read     P1 B6 p18
        ends: I 51, J 53, K 54, L 56, M 57, N 59, O 60, P 61
        ",
    );
}

/// Figure 5a as a drawing: plane 1 is idle until collection ends. Requests 0 to 7 are I to P.
#[test]
fn figure_5a_drawn() {
    let drawn = figure_5(r#"preemption = { policy = "none" }"#).drawing();
    let rows: Vec<&str> = drawn.lines().filter(|line| line.starts_with("plane")).collect();
    let erase = format!("E{}|", "=".repeat(74));
    let until_50 = format!("plane 0    R3W0=|R7W1=|R9W2=|R|W3=|{erase}");
    let from_50_on = ["plane 0          r2      w5=|", "plane 1    r0w1=|  w3=|r4    r6r7"];
    assert_eq!(rows, [&until_50, "plane 1", from_50_on[0], from_50_on[1]], "{drawn}");
}

/// GC-PAR, with a second active block in each plane.
const PAR: &str = r#"
preemption = { policy = "none" }
compose = { policy = "list", builders = ["multi-plane"], gc = ["gc+host"], gc_scan = "0 ns" }
frontier = { policy = "second-active", unpaired = "same" }
"#;

const FIGURE_5B: &str = "
         0   1  GC     read     P0 B2 p3              -- A
         1   3  GC+J   program  P0 B7 p0 + P1 B5 p0   -- B
         3   4  GC+I   read     P0 B2 p7 + P1 B3 p7   -- C
         4   6  GC+L   program  P0 B7 p1 + P1 B5 p1   -- D
         6   7  GC     read     P0 B2 p9              -- E
         7   9  GC     program  P0 B7 p2              -- F
         9  10  GC     read     P0 B2 p15             -- G
        10  12  GC     program  P0 B7 p3              -- H
        12  50  GC     erase    P0 B2
        50  51  K      read     P0 B4 p2
        51  52  M      read     P1 B1 p5
        52  54  N      program  P0 B7 p4
        54  55  O      read     P1 B4 p10
        55  56  P      read     P1 B6 p18
        ends: I 4, J 3, K 51, L 6, M 52, N 54, O 55, P 56
        ";

#[test]
fn figure_5b_a_new_active_block_pairs_writes_from_the_beginning() {
    figure_5(PAR).shows(FIGURE_5B);
}

/// The preset plays the figure, but for the order of requests after collection: there the text has "FCFS".
#[test]
fn figure_5b_is_played_by_a_preset() {
    let drive: toml::Table = DRIVE.parse().expect("the drive parses");
    let mut preset = under(drive, "gc-par-unpaired-same");
    preset["order"].as_table_mut().expect("a table").clear();
    preset["order"].as_table_mut().expect("a table").insert("policy".into(), "fifo".into());
    preset["compose"].as_table_mut().expect("a table").insert("gc_scan".into(), "0 ns".into());
    let config = preset.to_string();
    Figure { config, planes: &[PLANE_0, PLANE_1], collects: 0, requests: REQUESTS }.shows(FIGURE_5B);
}

#[test]
fn figure_5c_the_victim_that_matches_most_reads_is_collected() {
    figure_5(&format!("{PAR}victim = {{ policy = \"read-match\" }}\n")).shows(
        "
         0   1  GC     read     P0 B6 p1               -- A
         1   3  GC+J   program  P0 B7 p0 + P1 B5 p0    -- B
         3   4  GC+M   read     P0 B6 p5 + P1 B1 p5    -- C
         4   6  GC+L   program  P0 B7 p1 + P1 B5 p1    -- D
         6   7  GC+O   read     P0 B6 p10 + P1 B4 p10  -- E
         7   9  GC     program  P0 B7 p2               -- F
         9  10  GC+P   read     P0 B6 p18 + P1 B6 p18  -- G
        10  12  GC     program  P0 B7 p3               -- H
        12  50  GC     erase    P0 B6
        50  51  I      read     P1 B3 p7
        51  52  K      read     P0 B4 p2
        52  54  N      program  P0 B7 p4
        ends: I 51, J 3, K 52, L 6, M 4, N 54, O 7, P 10
        ",
    );
}

/// Figure 6: plane 0 collects three pages into its active block, whose write point is i. The write point of plane 1 is
/// j, and three writes wait for it.
fn figure_6<'a>(planes: &'a [&'a [Block]], scheme: &str) -> Figure<'a> {
    let requests = &[("J", 0.0, Write(1)), ("L", 0.0, Write(1)), ("S", 0.0, Write(1))];
    Figure { config: format!("{DRIVE}{scheme}"), planes, collects: 0, requests }
}

/// Each plane with its one active block.
const ONE_ACTIVE: &str = r#"
preemption = { policy = "none" }
compose = { policy = "list", builders = ["multi-plane"], gc = ["gc+host"], gc_scan = "0 ns" }
frontier = { policy = "single" }
"#;

fn plane_at(write_point: u32) -> [Block; 12] {
    [Full, Holds(&[2, 4, 6]), Full, Open(write_point), Free, Free, Free, Free, Free, Free, Free, Free]
}

#[test]
fn figure_6a_equal_write_points_pair_from_the_beginning() {
    figure_6(&[&plane_at(8), &plane_at(8)], ONE_ACTIVE).shows(
        "
         0   1  GC     read     P0 B1 p2
         1   3  GC+J   program  P0 B3 p8 + P1 B3 p8
         3   4  GC     read     P0 B1 p4
         4   6  GC+L   program  P0 B3 p9 + P1 B3 p9
         6   7  GC     read     P0 B1 p6
         7   9  GC+S   program  P0 B3 p10 + P1 B3 p10
         9  47  GC     erase    P0 B1
        ends: J 3, L 6, S 9
        ",
    );
}

#[test]
fn figure_6b_a_write_point_that_is_behind_comes_up() {
    figure_6(&[&plane_at(8), &plane_at(9)], ONE_ACTIVE).shows(
        "
         0   1  GC     read     P0 B1 p2
         1   3  GC     program  P0 B3 p8
         3   4  GC     read     P0 B1 p4
         4   6  GC+J   program  P0 B3 p9 + P1 B3 p9
         6   7  GC     read     P0 B1 p6
         7   9  GC+L   program  P0 B3 p10 + P1 B3 p10
         9  47  GC     erase    P0 B1
        47  49  S      program  P1 B3 p11
        ends: J 6, L 9, S 49
        ",
    );
}

#[test]
fn figure_6c_a_write_point_that_is_ahead_never_pairs() {
    figure_6(&[&plane_at(9), &plane_at(8)], ONE_ACTIVE).shows(
        "
         0   1  GC  read     P0 B1 p2
         1   3  GC  program  P0 B3 p9
         3   4  GC  read     P0 B1 p4
         4   6  GC  program  P0 B3 p10
         6   7  GC  read     P0 B1 p6
         7   9  GC  program  P0 B3 p11
         9  47  GC  erase    P0 B1
        47  49  J   program  P1 B3 p8
        49  51  L   program  P1 B3 p9
        51  53  S   program  P1 B3 p10
        ends: J 49, L 51, S 53
        ",
    );
}

#[test]
fn figure_7a_both_planes_begin_new_blocks() {
    figure_6(&[&plane_at(9), &plane_at(8)], PAR).shows(
        "
         0   1  GC     read     P0 B1 p2
         1   3  GC+J   program  P0 B4 p0 + P1 B4 p0
         3   4  GC     read     P0 B1 p4
         4   6  GC+L   program  P0 B4 p1 + P1 B4 p1
         6   7  GC     read     P0 B1 p6
         7   9  GC+S   program  P0 B4 p2 + P1 B4 p2
         9  47  GC     erase    P0 B1
        ends: J 3, L 6, S 9
        ",
    );
}

/// Section 4.4: reads "whose page offset has no match with the GC read", and those for the plane that is collected,
/// "can get serviced using the preemptive GC"; requests that match the next command join it.
#[test]
fn section_4_4_what_cannot_join_the_next_command_goes_first() {
    let scheme = PAR.replace("policy = \"none\"", "policy = \"points\", poll = \"0 ns\"");
    let requests = &[
        ("J", 0.5, Write(1)),      // joins B
        ("K", 0.5, Read(0, 4, 2)), // for the plane that is collected
        ("M", 0.5, Read(1, 1, 5)), // matches nothing
        ("I", 2.5, Read(1, 3, 7)), // joins C
    ];
    Figure { config: format!("{DRIVE}{scheme}"), planes: &[PLANE_0, PLANE_1], collects: 0, requests }.shows(
        "
         0   1  GC     read     P0 B2 p3              -- A
         1   2  M      read     P1 B1 p5              -- at point (1), where plane 0 holds a page
         2   4  GC+J   program  P0 B7 p0 + P1 B5 p0   -- B
         4   5  K      read     P0 B4 p2              -- at point (2)
         5   6  GC+I   read     P0 B2 p7 + P1 B3 p7   -- C
         6   8  GC     program  P0 B7 p1              -- D
         8   9  GC     read     P0 B2 p9              -- E
         9  11  GC     program  P0 B7 p2              -- F
        11  12  GC     read     P0 B2 p15             -- G
        12  14  GC     program  P0 B7 p3              -- H
        14  52  GC     erase    P0 B2
        ends: J 4, K 5, M 2, I 6
        ",
    );
}

/// Together with ispass11's merging, the page for which a request waits is moved first, and what matches it joins.
#[test]
fn partners_are_those_of_the_page_that_merging_puts_first() {
    let scheme = PAR.replace("policy = \"none\"", "policy = \"points\", poll = \"0 ns\"");
    let scheme = scheme.replace("[\"gc+host\"]", "[\"merge\", \"gc+host\"]");
    let mut plane_1: Vec<Block> = PLANE_1.to_vec();
    plane_1[0] = Holds(&[15]);
    let requests = &[
        ("Z", 2.5, Read(0, 2, 15)), // moved last, if no request waited
        ("I", 2.5, Read(1, 3, 7)),  // matches the page that would come next
        ("Y", 2.5, Read(1, 0, 15)), // matches Z
    ];
    Figure { config: format!("{DRIVE}{scheme}"), planes: &[PLANE_0, &plane_1], collects: 0, requests }.begins_with(
        "
         0   1  GC       read     P0 B2 p3
         1   3  GC       program  P0 B7 p0
         3   4  I        read     P1 B3 p7
         4   5  GC+Y     read     P0 B2 p15 + P1 B0 p15  -- R Z
         5   7  GC       program  P0 B7 p1
        ",
    );
}
