//! Does sharing a die between collections and the host cost what it must, to the nanosecond, and no more?
//!
//! The drive of `common`: read 50 µs, program 500 µs, erase 3 ms, 40,960 ns a page on the channel, 100 ns of cycles.

use crate::common::{COMMAND_NS, ERASE_NS, PROGRAM_NS, READ_NS, TRANSFER_NS, breakdown, config, pages, run};
use copyback::flash::command::{FlashOp, Source};
use copyback::observe::commands::CommandFilter;
use copyback::observe::report::{GcEvent, Outcome};
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::{Op, Request, rng};

const USED: &str = "precondition = { mode = \"random\", overwrites = 2.0 }\n";
const NEVER: &str = "preemption = { policy = \"none\" }\n";
const POINTS: &str = "preemption = { policy = \"points\" }\n";
const POLL_NS: u64 = 600;
/// The time of a read alone, and of a program alone.
const READ_ALL_NS: u64 = COMMAND_NS + READ_NS + TRANSFER_NS;
const PROGRAM_ALL_NS: u64 = COMMAND_NS + TRANSFER_NS + PROGRAM_NS;

fn drive(more: &str) -> RunConfig {
    config(&format!("{USED}{more}"))
}

/// Logical pages of the drive.
const HOST_PAGES: u64 = 150;

/// Random writes of one page, so far apart that collection is over before the next.
fn rare_writes(count: u64) -> Vec<Request> {
    (0..count).map(|i| pages(Op::Write, i * 200_000_000, rng::splitmix64(i) % HOST_PAGES, 1)).collect()
}

/// Random requests that arrive faster than the drive can write.
fn overload(count: u64, read_every: u64) -> Vec<Request> {
    let op = |i: u64| if i.is_multiple_of(read_every) { Op::Read } else { Op::Write };
    (0..count).map(|i| pages(op(i), i * 400_000, rng::splitmix64(i) % HOST_PAGES, 1)).collect()
}

fn collection_ns(event: &GcEvent) -> u64 {
    event.end_ns - event.start_ns
}

/// The time of an undisturbed collection with this many moves, if each step waits for `queue_poll_ns`.
fn undisturbed_ns(event: &GcEvent, queue_poll_ns: u64) -> u64 {
    let moves = u64::from(event.units_valid);
    let steps = 2 * moves + 1;
    moves * (READ_ALL_NS + PROGRAM_ALL_NS) + COMMAND_NS + ERASE_NS + steps * queue_poll_ns
}

#[test]
fn a_collection_that_nobody_disturbs_takes_its_steps_and_its_polls() {
    for (scheme, queue_poll_ns) in
        [(NEVER, 0), (POINTS, POLL_NS), ("preemption = { policy = \"deadline\" }\n", POLL_NS)]
    {
        let outcome = run(&drive(scheme), rare_writes(300));
        assert!(outcome.gc_events.len() > 20, "{scheme}");
        for event in &outcome.gc_events {
            assert_eq!(collection_ns(event), undisturbed_ns(event, queue_poll_ns), "{scheme}{event:?}");
        }
    }
}

/// ispass11 Section III-A: two polls of 600 ns a move of 225 µs are 0.53 %.
#[test]
fn polling_costs_what_the_paper_says() {
    let table = "timing = { read = \"25 us\", program = \"200 us\", erase = \"1500 us\", channel = \"1000 GB/s\", command = \"0 ns\" }\n";
    let mean_ns =
        |scheme| run(&drive(&format!("{table}{scheme}")), rare_writes(300)).report.gc.collection_mean_ns.unwrap();
    let no_poll = "preemption = { policy = \"points\", poll = \"0 ns\" }\n";
    let moves = run(&drive(&format!("{table}{no_poll}")), rare_writes(300)).report;
    let moves = moves.gc.units_moved as f64 / moves.gc.collections as f64;
    let (with, without) = (mean_ns(POINTS), mean_ns(no_poll));
    // The paper counts the moves; the poll before the erase and the erase itself are left out.
    let share = (with - without - POLL_NS as f64) / (moves * 225_000.0);
    assert!((share - 0.0053).abs() < 0.00004, "{share}");
}

fn plane_utilization(planes: u32, scheme: &str, script: Vec<Request>) -> f64 {
    let geometry = format!("geometry = {{ planes_per_die = {planes} }}\n");
    let outcome = run(&config(&format!("{USED}{geometry}{scheme}")), script);
    outcome.report.utilization.plane_during_gc.expect("there were collections")
}

/// hpdc18 Section 6.2: "always 50 %", and 25 % with four planes, whatever the host does.
#[test]
fn blocking_collection_uses_one_plane_exactly() {
    for (planes, expected) in [(2, 0.5), (4, 0.25)] {
        for script in [rare_writes(200), overload(2_000, 3)] {
            assert_eq!(plane_utilization(planes, NEVER, script), expected, "{planes} planes");
        }
    }
}

const PAR: &str = r#"
frontier = { policy = "second-active" }
compose = { policy = "list", gc = ["gc+host"], gc_scan = "0 ns" }
"#;

/// Under load more than one plane works for most of a collection.
#[test]
fn parallel_collection_uses_the_planes_that_idled() {
    for (planes, least) in [(2, 0.6), (4, 0.35)] {
        let used = plane_utilization(planes, PAR, overload(2_000, 3));
        assert!(used > least, "{planes} planes: {used}");
    }
}

fn logged(config: &RunConfig, script: Vec<Request>) -> Outcome {
    let image = precondition(config, 1).unwrap();
    let everything = CommandFilter::default();
    let options = Options { check: true, keep_commands: Some(everything), ..Options::default() };
    let source = Box::new(script.into_iter());
    simulate(config, image, source, &options, &mut |_| {}).unwrap()
}

/// hpdc18 Section 4.1 says that pairing "does not hurt GC execution time". It does, by the transfers of writes that
/// join, and of reads if their pages leave together with the collection's.
#[test]
fn a_paired_step_ends_one_page_transfer_later_for_each_partner() {
    let four_planes = "geometry = { planes_per_die = 4 }\n";
    let together = PAR.replace("gc_scan", "gc_transfers = \"together\", gc_scan");
    let outcome = logged(&config(&format!("{USED}{four_planes}{together}")), overload(1_500, 2));
    let mut seen = [[0; 4]; 2];
    for command in outcome.commands.iter().filter(|c| c.parts[0].source == Source::GC && c.op != FlashOp::Erase) {
        let partners = command.parts.len() as u64 - 1;
        let alone_ns = if command.op == FlashOp::Read { READ_ALL_NS } else { PROGRAM_ALL_NS };
        let expected_ns = alone_ns + partners * (COMMAND_NS + TRANSFER_NS);
        assert_eq!(command.end_ns() - command.issued_ns, expected_ns, "{command:?}");
        seen[usize::from(command.op == FlashOp::Program)][partners as usize] += 1;
    }
    assert!(seen.iter().all(|by_partners| by_partners[0] > 0 && by_partners[1] > 0), "reads, programs: {seen:?}");
}

/// A read that arrives during a collection waits for one step and the following poll, not for the collection.
#[test]
fn a_read_waits_for_one_step_at_most() {
    let reads = |i: u64| {
        let arrival_ns = i * 900_000 + rng::splitmix64(i) % 900_000;
        pages(Op::Read, arrival_ns, rng::splitmix64(i + 7) % HOST_PAGES, 1)
    };
    let mut script: Vec<Request> = (0..6_000).map(reads).chain(rare_writes(27)).collect();
    script.sort_by_key(|r| r.arrival_ns);
    let full = "capacity = { over_provisioning = 0.35 }\n";
    let longest = |scheme: &str| {
        let outcome = run(&drive(&format!("{full}{scheme}")), script.clone());
        let reads = outcome.requests.iter().filter(|r| r.op == 0 && r.gc_affected);
        reads.map(|r| r.response_ns).max().expect("a collection was met")
    };
    let all = "preemption = { policy = \"points\", at_register = \"none\" }\n";
    // The longest step is the erase. Then follow a poll, at most five reads that arrived meanwhile, and one that was
    // under way.
    let bound_ns = COMMAND_NS + ERASE_NS + POLL_NS + 6 * READ_ALL_NS;
    assert!(longest(all) <= bound_ns && bound_ns < longest(NEVER), "{} and {} ns", longest(all), longest(NEVER));
}

/// If collections end before the next request arrives, every way of sharing does the same work.
#[test]
fn undisturbed_collections_do_equal_work_under_every_scheme() {
    let schemes = [
        NEVER,
        POINTS,
        "preemption = { policy = \"deadline\" }\n",
        "preemption = { policy = \"ideal\" }\n",
        "preemption = { policy = \"points\" }\ncompose = { policy = \"list\", gc = [\"merge\", \"pipeline\"] }\n",
        "compose = { policy = \"list\", gc = [\"gc+host\"] }\n",
        "victim = { policy = \"read-match\" }\ncompose = { policy = \"list\", gc = [\"gc+host\"] }\n",
    ];
    let work = schemes.map(|scheme| {
        let flash = run(&drive(scheme), rare_writes(400)).report.flash;
        (flash.block_erases, flash.gc_page_programs, flash.host_page_programs)
    });
    assert!(work[0].0 > 20);
    assert!(work.iter().all(|w| *w == work[0]), "{work:?}");
}

/// ispass11 Fig. 11: under overload free blocks run out without a hard watermark, and do not with one. Writes wait;
/// nothing is lost, which the run checks.
#[test]
fn the_hard_watermark_keeps_free_blocks() {
    let lowest = |hard: f64, at_hard: &str| {
        let trigger = format!("trigger = {{ policy = \"watermark\", soft = 4, hard = {hard:?} }}\n");
        let preemption = format!("preemption = {{ policy = \"points\", at_hard = \"{at_hard}\" }}\n");
        // Reads keep every preemption point busy, writes take free space.
        let outcome = run(&drive(&format!("{trigger}{preemption}")), overload(3_000, 2));
        assert_eq!(outcome.report.reads + outcome.report.writes, 3_000);
        outcome.report.min_free_blocks
    };
    for at_hard in ["writes", "all"] {
        let (without, with) = (lowest(0.0, at_hard), lowest(0.75, at_hard));
        assert!(without < with, "{at_hard}: {without} free blocks without a hard watermark, {with} with one");
        // T_hard is 3 blocks; the collection that is under way there still takes one for its moves.
        assert!(with >= 2, "{at_hard}: {with}");
    }
}

/// ispass11 Section III-C: at one point commands of one type follow each other through the cache register, however many
/// they are. What takes longer keeps going: the channel for reads, the array for programs.
#[test]
fn all_that_goes_first_at_a_point_is_pipelined() {
    let pipelined = r#"
        geometry = { planes_per_die = 1 }
        timing = { read = "30 us" }
        trigger = { policy = "watermark", soft = 4 }
        preemption = { policy = "points" }
        compose = { policy = "list", builders = [], gc = ["pipeline"] }
    "#;
    let pages_of_host = 70;
    let mut script: Vec<Request> =
        (0..300).map(|i| pages(Op::Write, i * 200_000_000, rng::splitmix64(i) % pages_of_host, 1)).collect();
    let collection = run(&drive(pipelined), script.clone()).gc_events[10];
    for (op, apart_ns) in [(Op::Read, TRANSFER_NS), (Op::Write, PROGRAM_NS)] {
        script.retain(|r| r.arrival_ns <= collection.start_ns);
        let before = script.len();
        script.extend((0..6).map(|i| pages(op, collection.start_ns + 1, i, 1)));
        let outcome = run(&drive(pipelined), script.clone());
        let ends: Vec<u64> = outcome.requests[before..].iter().map(|r| r.arrival_ns + r.response_ns).collect();
        let apart: Vec<u64> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(apart, [apart_ns; 5], "{op:?}");
    }
}

/// It waited only for the host, but during a collection on its die.
#[test]
fn a_read_behind_a_read_that_a_collection_let_go_first_counts_as_affected() {
    let mut script = rare_writes(300);
    let collection = run(&drive(POINTS), script.clone()).gc_events[20];
    script.retain(|r| r.arrival_ns <= collection.start_ns);
    // The first arrives with the collection, for the other plane, and is served at the first poll; the second arrives
    // while it is served.
    let other_plane = u64::from(1 - collection.plane);
    let arrivals_ns = [collection.start_ns, collection.start_ns + POLL_NS + COMMAND_NS + 1];
    script.extend([0, 1].map(|i| pages(Op::Read, arrivals_ns[i], other_plane + 2 * i as u64, 1)));
    let outcome = run(&drive(POINTS), script);
    let second = outcome.requests.last().unwrap();
    let own = [("flash", READ_NS), ("transfer", COMMAND_NS + TRANSFER_NS)];
    assert_eq!(breakdown(second), [own[0], own[1], ("host_io", READ_ALL_NS - COMMAND_NS - 1)]);
    assert!(second.gc_affected && outcome.gc_events[20].start_ns == collection.start_ns);
}
