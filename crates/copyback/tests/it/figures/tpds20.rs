//! "Boosting the Performance of SSDs via Fully Exploiting the Plane Level Parallelism" (TPDS 2020): its figures, and
//! times that follow from its Table 1, for the baselines.
//!
//! A read senses for 75 us, a program takes 1.5 ms, an erase 3.8 ms, a page 102.4 us on the channel; there are no
//! command cycles. A move is a read and a program: 177.4 + 1602.4 us.

use crate::support::under::under;
use copyback::flash::command::{FlashOp, Source};
use copyback::observe::report::{EvictionReport, Outcome, RequestRecord};
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::scene::Block::{self, Free, Holds, Open};
use copyback::scene::{Scene, SceneOp};
use copyback::workload::{Op, Priority, Request};

pub(crate) const MOVE_NS: u64 = 177_400 + 1_602_400;
pub(crate) const ERASE_NS: u64 = 3_800_000;
pub(crate) const PROGRAM_NS: u64 = 1_602_400;
pub(crate) const TWO_PLANE_PROGRAM_NS: u64 = 2 * 102_400 + 1_500_000;
pub(crate) const LATENCY_NS: u64 = 1_000;

/// A block with more valid pages than any victim.
pub(crate) const OTHER: Block = Holds(&[0, 1, 2, 3]);

/// A drive of Table 1's times with a channel for each die, under a scheme.
pub(crate) fn drive(scheme: &str, dies: u32, more: &str) -> RunConfig {
    let device = format!(
        r#"
        capacity = {{ logical = "128 KiB" }}
        timing = {{ read = "75 us", program = "1.5 ms", erase = "3.8 ms", channel = "25 ns/B" }}
        precondition = {{ mode = "empty" }}
        geometry = {{ channels = {dies}, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 8, pages_per_block = 6, page_size = "4 KiB" }}
        {more}
        "#
    );
    let device: toml::Table = toml::from_str(&device).expect("the device parses");
    under(device, scheme).try_into().expect("the configuration is complete")
}

/// Ends of the commands of a die whose planes are both collected, the first plane's first.
fn collection(planes: [&[Block]; 2]) -> Vec<(FlashOp, u64)> {
    let config = drive("baseline-d", 1, "trigger = { policy = \"watermark\", soft = 1 }");
    // A run needs a request; it arrives after all collections.
    let requests = [(1_000_000_000, SceneOp::Read(0, 1, 0))];
    let scene = Scene { config: &config, planes: &planes, collects: &[0, 1], requests: &requests };
    let played = scene.play().expect("the scene plays");
    played
        .commands
        .iter()
        .filter(|command| command.parts[0].source == Source::GC)
        .map(|command| (command.op, command.end_ns()))
        .collect()
}

/// The end of the last of these commands, and the number of commands of a kind.
pub(crate) fn end_and_count(commands: &[(FlashOp, u64)], op: FlashOp) -> (u64, usize) {
    let end_ns = commands.iter().map(|&(_, end_ns)| end_ns).max().expect("there are commands");
    (end_ns, commands.iter().filter(|&&(of, _)| of == op).count())
}

/// Figure 6: plane 0 holds pages 0 and 2, plane 1 pages 1 and 2.
#[test]
fn figure_6_the_baseline_collects_its_planes_in_turn() {
    let rest = [OTHER, OTHER, OTHER, Free, Free, Free, Free];
    let plane = |victim: &'static [u32]| [&[Holds(victim)][..], &rest].concat();
    let commands = collection([&plane(&[0, 2]), &plane(&[1, 2])]);
    assert_eq!(end_and_count(&commands, FlashOp::Program), (2 * (2 * MOVE_NS + ERASE_NS), 4));
    assert_eq!(commands[0], (FlashOp::Read, 177_400));
}

/// One victim on each plane, pages 0, 1, 2 and 0, 1, 3, and write points 2 and 4: no two pages can share a command.
#[test]
fn moves_of_two_planes_go_one_after_the_other() {
    let plane = |victim: &'static [u32], written| [Holds(victim), OTHER, OTHER, OTHER, Open(written), Free, Free, Free];
    let commands = collection([&plane(&[0, 1, 2], 2), &plane(&[0, 1, 3], 4)]);
    assert_eq!(end_and_count(&commands, FlashOp::Read), (2 * (3 * MOVE_NS + ERASE_NS), 6));
}

/// "Read requests of all evaluated schemes are processed with highest priority" (Section 6.1), on the plane that is
/// collected, too; a write waits for the collection's end.
#[test]
fn reads_go_between_the_steps_of_a_collection_and_writes_wait() {
    let plane = |victim: &'static [u32]| [Holds(victim), OTHER, OTHER, OTHER, Open(1), Free, Free, Free];
    let mut config = drive("baseline-d", 1, "trigger = { policy = \"watermark\", soft = 1 }");
    config.buffer = copyback::buffer::BufferConfig::default();
    let planes = [plane(&[0, 1]), plane(&[0, 1])];
    let requests = [(1, SceneOp::Write(1)), (2, SceneOp::Read(0, 1, 0)), (200_000, SceneOp::Read(1, 1, 0))];
    let scene = Scene { config: &config, planes: &[&planes[0], &planes[1]], collects: &[0], requests: &requests };
    let played = scene.play().expect("the scene plays");
    let ends_ns: Vec<u64> = played.requests.iter().map(|request| request.arrival_ns + request.response_ns).collect();
    let (first_ns, second_ns) = (2 * 177_400, 3 * 177_400);
    let collected_ns = 2 * MOVE_NS + 2 * 177_400 + ERASE_NS;
    assert_eq!(ends_ns, [collected_ns + PROGRAM_NS, first_ns, second_ns]);
}

pub(crate) fn pages(arrival_ns: u64, first: u64, count: u64) -> Request {
    let (offset_bytes, len_bytes) = (4096 * first, 4096 * count);
    Request { arrival_ns, offset_bytes, len_bytes, device: 0, op: Op::Write, priority: Priority::Normal }
}

pub(crate) fn run(config: &RunConfig, script: Vec<Request>) -> Outcome {
    config.check().expect("the configuration is possible");
    let image = precondition(config, 1).expect("it is empty");
    let options = Options { check: true, keep_requests: true, ..Options::default() };
    simulate(config, image, Box::new(script.into_iter()), &options, &mut |_| {}).expect("it runs")
}

/// From its arrival to its end.
pub(crate) fn response_ns(record: &RequestRecord) -> u64 {
    record.response_ns
}

/// Room for eight pages.
pub(crate) const BUFFER: &str = "buffer = { size = \"32 KiB\", latency = \"1 us\" }";
/// Three pages of die 0, one of die 1, two each of dies 2 and 3.
pub(crate) const HELD: [u64; 8] = [0, 4, 8, 1, 2, 6, 3, 7];

/// Pages that a buffer holds, in the order of their use, and a request for five others when they are there.
pub(crate) fn five_new_pages_for(held: &[u64]) -> Vec<Request> {
    let held = held.iter().enumerate().map(|(at, &page)| pages(at as u64, page, 1));
    held.chain([pages(1_000_000_000, 16, 5)]).collect()
}

/// Figure 5: a full buffer holds 3, 1, 2 and 2 pages of dies 0 to 3, and five new pages arrive. Pages of a die differ
/// in planes: `page = die + 4 * plane + 8 * row`.
#[test]
fn figure_5_each_die_gives_one_page_in_turn() {
    // (scheme, pages of die 0 in the order of their use, when the five are in DRAM)
    let rows = [
        // Its first two pages are for different planes, whose write points agree: they share a command.
        ("baseline-d", [0, 4, 8], TWO_PLANE_PROGRAM_NS),
        // Both are for one plane: the second is programmed after the first.
        ("baseline-d", [0, 8, 4], 2 * PROGRAM_NS),
    ];
    for (scheme, of_die_0, full_ns) in rows {
        let mut held: Vec<u64> = of_die_0.to_vec();
        held.extend([1, 2, 6, 3, 7]);
        let outcome = run(&drive(scheme, 4, BUFFER), five_new_pages_for(&held));
        assert_eq!(response_ns(&outcome.requests[7]), LATENCY_NS, "eight pages fit");
        assert_eq!(response_ns(&outcome.requests[8]), full_ns + LATENCY_NS, "{scheme}, die 0 holds {of_die_0:?}");
        assert_eq!(outcome.report.flash.host_page_programs, 5, "as many leave as come");
    }
}

/// The same if each die evicts as many pages as it has planes. Six pages leave for five, die 1 is skipped, and each
/// pair shares a command, because the planes of a die happen to be at one page.
#[test]
fn figure_5_dies_give_whole_die_writes() {
    let mut config = drive("baseline-d", 4, BUFFER);
    config.buffer = copyback::config::from_toml("policy = \"die-writes\"\nsize = \"32 KiB\"\nlatency = \"1 us\"")
        .expect("a buffer");
    let outcome = run(&config, five_new_pages_for(&HELD));
    let flash = &outcome.report.flash;
    assert_eq!((flash.host_page_programs, flash.multi_plane_page_programs), (6, 6));
    assert_eq!((flash.host_multi_plane_page_programs, flash.gc_multi_plane_page_programs), (6, 0));
    let evictions = &outcome.report.evictions;
    assert_eq!(
        (evictions.planes_in_use_mean, evictions.planes_in_use_max),
        (Some(6.0), Some(6)),
        "three dies, at one moment"
    );
    assert_eq!(response_ns(&outcome.requests[8]), TWO_PLANE_PROGRAM_NS + LATENCY_NS);
}

/// `baseline-p`: each turn is a die's, with a page of each of its planes: two of dies 0, 2 and 3, the one of die 1.
#[test]
fn a_die_gives_a_page_of_each_of_its_planes() {
    let outcome = run(&drive("baseline-p", 4, BUFFER), five_new_pages_for(&HELD));
    // Dies 0, 1 and 2 give five pages.
    assert_eq!(outcome.report.flash.host_page_programs, 5);
    assert_eq!(outcome.report.flash.multi_plane_page_programs, 4, "those of dies 0 and 2 go in pairs");
    assert_eq!(response_ns(&outcome.requests[8]), TWO_PLANE_PROGRAM_NS + LATENCY_NS);
}

/// Figure 3a: write points 2 and 4 of six keep two writes apart; equal ones let them go together.
#[test]
fn figure_3a_writes_go_together_where_write_points_agree() {
    let plane = |written| [OTHER, OTHER, OTHER, Open(written), Free, Free, Free, Free];
    for (written, ends_ns) in [([2, 4], [PROGRAM_NS, 2 * PROGRAM_NS]), ([4, 4], [TWO_PLANE_PROGRAM_NS; 2])] {
        let mut config = drive("baseline-d", 1, "trigger = { policy = \"watermark\", soft = 1 }");
        config.buffer = copyback::buffer::BufferConfig::default();
        let planes = written.map(plane);
        let requests = [(0, SceneOp::Write(0)), (0, SceneOp::Write(1))];
        let scene = Scene { config: &config, planes: &[&planes[0], &planes[1]], collects: &[], requests: &requests };
        let played = scene.play().expect("the scene plays");
        assert_eq!(played.requests.iter().map(response_ns).collect::<Vec<_>>(), ends_ns, "write points {written:?}");
    }
}

/// Figure 3 and Figure 2's cases: a page alone is a single write, even after a write of its own plane. Two pages for
/// planes at the same page are parallel; two for planes at different pages are both unaligned.
#[test]
fn figure_2_cases_of_writes() {
    // A buffer of two pages: the first two writes stay until the next two arrive, which leave at the end.
    let one_die = |script: &[(u64, u64)]| {
        let mut config = drive("baseline-d", 1, "");
        config.buffer = copyback::config::from_toml("policy = \"die-lists\"\nsize = \"8 KiB\"").expect("a buffer");
        let script = script.iter().map(|&(at_ms, page)| pages(at_ms * 1_000_000, page, 1)).collect();
        run(&config, script).report.evictions
    };
    let cases = |e: &EvictionReport| (e.single_pages, e.unaligned_pages, e.parallel_pages);
    // Pages of plane 0 are even. One page leaves for each that arrives: pages 0, 2 and 4, all of plane 0.
    let alone = one_die(&[(0, 0), (1, 2), (10, 4), (20, 1), (30, 3)]);
    assert_eq!(cases(&alone), (3, 0, 0));
    assert_eq!((alone.planes_in_use_max, alone.writes, alone.time_ns), (Some(1), 3, 3 * PROGRAM_NS));
    // Planes 0 and 1 at one page.
    let together = one_die(&[(0, 0), (1, 1), (10, 2), (10, 3)]);
    assert_eq!(cases(&together), (0, 0, 2));
    assert_eq!((together.planes_in_use_max, together.time_ns), (Some(2), 2 * TWO_PLANE_PROGRAM_NS));
    // Plane 0 is a page ahead when both leave.
    let apart = one_die(&[(0, 0), (1, 2), (10, 5), (20, 4), (20, 6)]);
    assert_eq!(cases(&apart), (1, 2, 0));
    assert_eq!((apart.writes, apart.time_ns), (3, PROGRAM_NS + PROGRAM_NS + 2 * PROGRAM_NS));
}

/// A drive of sixteen blocks a plane, nearly all of them in use. Each plane has one victim, with valid pages 0, 1, 2
/// and 0, 1, 3, and write points 2 and 4. Returns the commands of the collection under a scheme.
fn one_victim_a_plane(scheme: &str) -> Vec<(FlashOp, usize, u64)> {
    let more = "trigger = { policy = \"watermark\", soft = 6, collections = \"one\" }";
    let mut config = drive(scheme, 1, more);
    config.geometry.blocks_per_plane = 16;
    config.capacity.logical = Some(copyback::workload::units::Bytes(320 << 10));
    let plane = |victim: &'static [u32], written| {
        let blocks = [Holds(victim)].into_iter().chain([OTHER; 9]).chain([Open(written)]).chain([Free; 5]);
        blocks.collect::<Vec<Block>>()
    };
    let planes = [plane(&[0, 1, 2], 2), plane(&[0, 1, 3], 4)];
    let requests = [(1_000_000_000, SceneOp::Read(0, 1, 0))];
    let scene = Scene { config: &config, planes: &[&planes[0], &planes[1]], collects: &[0], requests: &requests };
    let played = scene.play().expect("the scene plays");
    let of_gc = played.commands.iter().filter(|command| command.parts[0].source == Source::GC);
    of_gc.map(|command| (command.op, command.parts.len(), command.end_ns())).collect()
}

/// TwinBlk: turns never align if write points differ by two.
#[test]
fn twins_are_collected_page_by_page() {
    let commands = one_victim_a_plane("twinblk");
    let end_ns = 6 * MOVE_NS + ERASE_NS;
    assert_eq!((end_ns, commands.last()), (14_478_800, Some(&(FlashOp::Erase, 2, end_ns))));
    assert!(commands[..12].iter().all(|&(_, planes, _)| planes == 1), "{commands:?}");
}

/// ParaGC: plane 0 catches up with two pages, then pages go two by two.
#[test]
fn a_pair_is_collected_side_by_side_once_write_points_agree() {
    let commands = one_victim_a_plane("paragc");
    let programs: Vec<(usize, u64)> =
        commands.iter().filter(|c| c.0 == FlashOp::Program).map(|&(_, planes, end_ns)| (planes, end_ns)).collect();
    assert_eq!(programs, [(1, MOVE_NS), (1, 2 * MOVE_NS), (2, 5_619_200), (2, 7_678_800)]);
    assert_eq!(commands.last(), Some(&(FlashOp::Erase, 2, 11_478_800)));
}
