//! Figure 3a of tpds20: two planes of a die whose write points differ, and "a naive solution is to write data at the
//! aligned points greedily". "If they are written to the aligned pages, a free page in Plane 1 would be wasted."
//!
//! The figure has six pages a block; it does not show how far they are filled. Times are those of `tpds20`.

use super::tpds20::{PROGRAM_NS, TWO_PLANE_PROGRAM_NS, drive};
use copyback::flash::command::FlashOp;
use copyback::run::config::RunConfig;
use copyback::scene::Block::{self, Free, Holds, Open};
use copyback::scene::{Played, Scene, SceneOp};

/// A full block without valid data.
const STALE: Block = Holds(&[]);

/// Baseline-D without its buffer, so that a write is queued when it arrives.
fn baseline(align: &str) -> RunConfig {
    let more = "trigger = { policy = \"watermark\", soft = 0 }";
    let mut config = drive("baseline-d", 1, &format!("compose = {{ policy = \"list\", align = \"{align}\" }}\n{more}"));
    config.buffer = copyback::buffer::BufferConfig::default();
    config
}

/// Writes to planes at time 0, in this order, on planes with these open blocks and this many erased ones.
fn played(config: &RunConfig, open: &[u32], erased: usize, writes: &[u32]) -> Played {
    let plane = |&written: &u32| {
        let mut blocks = vec![STALE; 8 - 1 - erased];
        blocks.push(if written == 0 { STALE } else { Open(written) });
        blocks.extend(vec![Free; erased]);
        blocks
    };
    let planes: Vec<Vec<Block>> = open.iter().map(plane).collect();
    let planes: Vec<&[Block]> = planes.iter().map(Vec::as_slice).collect();
    let requests: Vec<(u64, SceneOp)> = writes.iter().map(|&plane| (0, SceneOp::Write(plane))).collect();
    Scene { config, planes: &planes, collects: &[], requests: &requests }.play().expect("the scene plays")
}

/// Of each program the planes and its pages' offset, and its end.
fn programs(played: &Played) -> Vec<(Vec<u32>, u32, u64)> {
    let pages_per_block = played.geometry.pages_per_block;
    let programs = played.commands.iter().filter(|command| command.op == FlashOp::Program);
    let seen = programs.map(|command| {
        let offset = command.parts[0].page % pages_per_block;
        assert!(command.parts.iter().all(|part| part.page % pages_per_block == offset), "one offset");
        (command.parts.iter().map(|part| part.plane).collect(), offset, command.end_ns())
    });
    seen.collect()
}

/// Fig. 3a-(1): the write points are unaligned, and W1 and W2 are "processed sequentially". Fig. 3a-(2): one command,
/// and one page wasted, whether the plane of the first write or the other is behind.
#[test]
fn figure_3a_aligned_writes_share_a_program_and_waste_a_page() {
    for (open, writes, behind) in [([3, 2], [0, 1], 1), ([3, 2], [1, 0], 1), ([2, 3], [0, 1], 0), ([2, 3], [1, 0], 0)] {
        let [first, second] = writes;
        let separate = played(&baseline("none"), &open, 2, &writes);
        let expected =
            [(vec![first], open[first as usize], PROGRAM_NS), (vec![second], open[second as usize], 2 * PROGRAM_NS)];
        assert_eq!((programs(&separate), separate.work.skipped_pages), (expected.to_vec(), 0), "{open:?}, {writes:?}");

        let greedy = played(&baseline("greedy"), &open, 2, &writes);
        let expected = vec![(vec![first, second], 3, TWO_PLANE_PROGRAM_NS)];
        assert_eq!((programs(&greedy), greedy.work.skipped_pages), (expected, 1), "{open:?}, plane {behind} is behind");
        // The wasted page is no program.
        assert_eq!((greedy.counts.host_units, greedy.work.host_page_programs), (2, 2));
        assert_eq!(greedy.counts.write_amplification(), Some(1.0));
    }
}

/// A lone write wastes nothing, nor do two writes of one plane, nor planes at one offset.
#[test]
fn no_page_is_skipped_without_a_partner() {
    for (open, writes) in [([2, 3], vec![0]), ([2, 3], vec![1]), ([2, 3], vec![0, 0]), ([3, 3], vec![0, 1])] {
        let [greedy, none] = ["greedy", "none"].map(|align| played(&baseline(align), &open, 2, &writes));
        assert_eq!((programs(&greedy), greedy.work.skipped_pages), (programs(&none), 0), "{open:?}, {writes:?}");
    }
}

/// A block that fills after skipped pages closes as usual; a plane without an open block skips pages of the next.
#[test]
fn a_block_closes_behind_skipped_pages_and_the_next_may_begin_with_some() {
    let seen = |open: &[u32], writes: &[u32]| {
        let played = played(&baseline("greedy"), open, 2, writes);
        let places = programs(&played).into_iter().map(|(planes, offset, _)| (planes, offset));
        (places.collect::<Vec<_>>(), played.work.skipped_pages)
    };
    assert_eq!(seen(&[5, 1], &[0, 1, 0]), (vec![(vec![0, 1], 5), (vec![0], 0)], 4));
    assert_eq!(seen(&[0, 2], &[0, 1]), (vec![(vec![0, 1], 2)], 2));
}

/// Plane 0 has five pages, and a block that collection keeps. Each queued write of the plane needs one of them; what is
/// left may be skipped.
#[test]
fn pages_that_queued_writes_need_are_not_skipped() {
    let skipped = |writes: &[u32]| {
        let played = played(&baseline("greedy"), &[1, 4], 1, writes);
        (programs(&played)[0].clone(), played.work.skipped_pages)
    };
    // Two of five pages are reserved: the other three are skipped.
    assert_eq!(skipped(&[0, 0, 1]), ((vec![0, 1], 4, TWO_PLANE_PROGRAM_NS), 3));
    // Three are reserved, and three cannot be skipped. This holds if the plane's write joins another plane's, too.
    assert_eq!(skipped(&[0, 0, 0, 1]).0, (vec![0], 1, PROGRAM_NS));
    assert_eq!(skipped(&[1, 0, 0, 0]).0, (vec![1], 4, PROGRAM_NS));
}

/// Four planes: the command takes the greatest offset that its lead can reach; planes that are ahead do not join.
#[test]
fn the_greatest_offset_that_the_lead_can_reach_decides() {
    let mut config = baseline("greedy");
    config.geometry.planes_per_die = 4;
    let first = |open: &[u32], erased: usize, writes: &[u32]| {
        let played = played(&config, open, erased, writes);
        let (planes, offset, _) = programs(&played)[0].clone();
        (planes, offset, played.work.skipped_pages)
    };
    assert_eq!(first(&[1, 3, 2, 5], 2, &[0, 1, 2, 3]), (vec![0, 1, 2, 3], 5, 4 + 2 + 3));
    // Plane 3 has no write.
    assert_eq!(first(&[1, 3, 2, 5], 2, &[0, 1, 2]), (vec![0, 1, 2], 3, 2 + 1));
    assert_eq!(first(&[1, 3, 2, 5], 2, &[1, 0, 2]), (vec![1, 0, 2], 3, 2 + 1));
    // Plane 0 has five pages and needs two of them: it reaches page 3 or 4, and not page 5.
    let (planes, offset, _) = first(&[1, 3, 2, 5], 1, &[0, 0, 1, 3]);
    assert_eq!((planes, offset), (vec![0, 1], 3));
}
