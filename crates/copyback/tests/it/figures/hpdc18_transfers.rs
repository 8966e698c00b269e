//! HPDC 2018, Section 4.1: "transferring GC data in/out of the chip is prioritized over the normal I/O requests".
//!
//! The times are those of Table 1: a read takes 115 us, a program 1.6 ms, an erase 3 ms, and a page of 16 KiB crosses a
//! channel of 166 MB/s in 98,699 ns. Collection of plane 0 moves pages 1 and 3 from time 0 on. Read I, of page 3 of a
//! block of plane 1, joins the second read. Its page leaves before or after the collection's program is loaded.

use copyback::config::from_toml;
use copyback::run::config::RunConfig;
use copyback::scene::Block::{self, Free, Full, Holds, Open};
use copyback::scene::Scene;
use copyback::scene::SceneOp::{self, Read, Write};

const READ: u64 = 115_000;
const PROGRAM: u64 = 1_600_000;
const ERASE: u64 = 3_000_000;
const PAGE: u64 = 98_699;
/// When the second move begins.
const SECOND: u64 = READ + PAGE + PAGE + PROGRAM;

fn plane_at(write_point: u32, valid: &'static [u32]) -> [Block; 12] {
    [Full, Holds(valid), Full, Open(write_point), Free, Free, Free, Free, Free, Free, Free, Free]
}

/// Start and end of each command, and the end of each request.
fn played(
    gc_transfers: &str,
    preemption: &str,
    planes: u32,
    requests: &[(u64, SceneOp)],
) -> (Vec<(u64, u64)>, Vec<u64>) {
    let config: RunConfig = from_toml(&format!(
        r#"
        capacity = {{ logical = "{} KiB" }}
        timing = {{ read = "115 us", program = "1600 us", erase = "3 ms", channel = "166 MB/s" }}
        trigger = {{ policy = "watermark", soft = 1 }}
        precondition = {{ mode = "empty" }}
        {preemption}
        frontier = {{ policy = "single" }}
        compose = {{ policy = "list", gc = ["gc+host"], gc_scan = "0 ns"{gc_transfers} }}
        geometry = {{ channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = {planes}, blocks_per_plane = 12, pages_per_block = 20, page_size = "16 KiB" }}
        "#,
        planes * 1920
    ))
    .expect("the test's configuration parses");
    // The second program of the collection is at page 9, as the next programs of the other planes are.
    let contents = [plane_at(8, &[1, 3]), plane_at(9, &[3]), plane_at(9, &[3]), plane_at(9, &[3])];
    let contents: Vec<&[Block]> = contents[..planes as usize].iter().map(|plane| plane.as_slice()).collect();
    let played = Scene { config: &config, planes: &contents, collects: &[0], requests }.play().unwrap();
    let commands = played.commands.iter().map(|command| (command.issued_ns, command.end_ns())).collect();
    let ends = played.requests.iter().map(|request| request.arrival_ns + request.response_ns).collect();
    (commands, ends)
}

const NEVER: &str = "preemption = { policy = \"none\" }";
const FIRST: &str = "";
const TOGETHER: &str = ", gc_transfers = \"together\"";

#[test]
fn the_collections_program_is_loaded_before_the_page_of_a_read_that_joined_leaves() {
    let requests = &[(500_000, Read(1, 1, 3))];
    let out = SECOND + READ + PAGE;
    let first = played(FIRST, NEVER, 2, requests);
    let programmed = out + PAGE + PROGRAM;
    let expected = [
        (0, READ + PAGE),
        (READ + PAGE, SECOND),
        (SECOND, out + PAGE + PAGE), // until the page of the read has left
        (out, programmed),
        (programmed, programmed + ERASE),
    ];
    assert_eq!(first, (expected.to_vec(), vec![2_323_495]));
    assert_eq!(first.0[4].1, 6_824_796);

    let together = played(TOGETHER, NEVER, 2, requests);
    let programmed = out + PAGE + PAGE + PROGRAM;
    let expected = [
        (0, READ + PAGE),
        (READ + PAGE, SECOND),
        (SECOND, out + PAGE),
        (out + PAGE, programmed),
        (programmed, programmed + ERASE),
    ];
    assert_eq!(together, (expected.to_vec(), vec![2_224_796]));
    assert_eq!(together.0[4].1, 6_923_495);
}

/// The register of plane 1 has to be empty before a page for plane 1 is loaded.
#[test]
fn a_write_for_the_plane_of_the_read_joins_the_program_and_lets_the_page_leave_before() {
    let requests = &[(500_000, Read(1, 1, 3)), (2_000_000, Write(1))];
    let out = SECOND + READ + PAGE;
    let programmed = out + PAGE + 2 * PAGE + PROGRAM;
    for gc_transfers in [FIRST, TOGETHER] {
        let (commands, ends) = played(gc_transfers, NEVER, 2, requests);
        assert_eq!(commands[2..4], [(SECOND, out + PAGE), (out + PAGE, programmed)], "{gc_transfers}");
        assert_eq!(ends, [2_224_796, 4_022_194], "{gc_transfers}");
    }
}

#[test]
fn a_write_for_a_third_plane_joins_the_program_while_the_page_waits() {
    let requests = &[(500_000, Read(1, 1, 3)), (2_000_000, Write(2))];
    let out = SECOND + READ + PAGE;
    let (commands, ends) = played(FIRST, NEVER, 4, requests);
    let programmed = out + 2 * PAGE + PROGRAM;
    assert_eq!(commands[2..4], [(SECOND, out + 3 * PAGE), (out, programmed)]);
    assert_eq!(ends, [2_422_194, 3_923_495]);
    let (commands, ends) = played(TOGETHER, NEVER, 4, requests);
    assert_eq!(commands[2..4], [(SECOND, out + PAGE), (out + PAGE, programmed + PAGE)]);
    assert_eq!(ends, [2_224_796, 4_022_194]);
}

/// Section 4.4: at point (1) the controller looks for requests, and the page leaves meanwhile.
#[test]
fn a_page_leaves_at_once_if_requests_may_preempt_the_program() {
    let requests = &[(500_000, Read(1, 1, 3))];
    let points = "preemption = { policy = \"points\", poll = \"0 ns\", serves = \"reads\", fence = \"all\" }";
    let times = [FIRST, TOGETHER].map(|gc_transfers| played(gc_transfers, points, 2, requests));
    assert_eq!(times[0], times[1]);
}
