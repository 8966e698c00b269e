//! ISPASS 2011, Section III-A: at preemption point (1), when a page has been read and not yet programmed, "an incoming
//! request of reading a page cannot be serviced", because "the registers are already occupied".
//!
//! The times are those of Table II: a read takes 25 us, a program 200 us, and a page of 4 KiB crosses the channel in
//! 102.4 us. Plane 0 collects from time 0 on. At 50 us, before point (1), these requests come, in this order: K reads
//! plane 0, M reads plane 1, N writes to plane 0, J writes to plane 1. They are served in that order, as far as the
//! point lets them.

use copyback::config::from_toml;
use copyback::run::config::RunConfig;
use copyback::scene::Block::{self, Free, Full, Holds, Open};
use copyback::scene::Scene;
use copyback::scene::SceneOp::{Read, Write};

const R: u64 = 25_000 + 102_400;
const W: u64 = 102_400 + 200_000;

/// The ends of K, M, N and J, and of the collection's first program.
fn ends(at_register: &str) -> [u64; 5] {
    let config: RunConfig = from_toml(&format!(
        r#"
        capacity = {{ logical = "960 KiB" }}
        timing = {{ read = "25 us", program = "200 us", erase = "1500 us", channel = "25 ns/B" }}
        trigger = {{ policy = "watermark", soft = 1 }}
        order = {{ policy = "fifo" }}
        precondition = {{ mode = "empty" }}
        preemption = {{ policy = "points", poll = "0 ns"{at_register} }}
        compose = {{ policy = "list", builders = [] }}
        geometry = {{ channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 12, pages_per_block = 20, page_size = "4 KiB" }}
        "#
    ))
    .expect("the test's configuration parses");
    let plane: &[Block] = &[Full, Holds(&[2, 4]), Full, Open(8), Free, Free, Free, Free, Free, Free, Free, Free];
    let requests = [Read(0, 2, 3), Read(1, 2, 3), Write(0), Write(1)].map(|asks| (50_000, asks));
    let scene = Scene { config: &config, planes: &[plane, plane], collects: &[0], requests: &requests };
    let played = scene.play().unwrap();
    let moved = played.commands.iter().find(|c| c.parts[0].request.is_none() && c.end_ns() - c.issued_ns == W);
    let mut ends = [0; 5];
    for (end, request) in ends.iter_mut().zip(&played.requests) {
        *end = request.arrival_ns + request.response_ns;
    }
    ends[4] = moved.expect("a page was moved").end_ns();
    ends
}

#[test]
fn at_point_1_only_reads_of_the_collections_plane_wait() {
    let expected = [R + R + 3 * W + R, 2 * R, 2 * R + W, 2 * R + 2 * W, 2 * R + 3 * W];
    assert_eq!(expected, [1_289_400, 254_800, 557_200, 859_600, 1_162_000]);
    assert_eq!(ends(""), expected);
    assert_eq!(ends(", at_register = \"reads\""), expected);
}

#[test]
fn to_the_letter_no_read_is_served_at_point_1() {
    assert_eq!(ends(", at_register = \"all-reads\""), [1_162_000, 1_289_400, 429_800, 732_200, 1_034_600]);
}

#[test]
fn all_requests_for_the_collections_plane_may_wait_at_point_1_or_none() {
    assert_eq!(ends(", at_register = \"plane\""), [987_000, 254_800, 1_289_400, 557_200, 859_600]);
    assert_eq!(ends(", at_register = \"none\""), [254_800, 382_200, 684_600, 987_000, 1_289_400]);
}
