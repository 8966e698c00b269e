//! What does collection do to time, to data and to latency breakdowns? Schedules that are worked out by hand, exact to
//! the nanosecond.

use crate::common::*;
use copyback::flash::command::Source;
use copyback::observe::report::GcEvent;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning;
use copyback::run::simulation::{Setup, Simulation};
use copyback::sim::index::BlockId;
use copyback::workload::Op::{Read, Trim, Write};
use copyback::workload::Request;
use copyback::workload::rng::splitmix64;

const LATER: u64 = 1_000_000_000;
const WRITE: u64 = COMMAND_NS + TRANSFER_NS + PROGRAM_NS;
const MOVE: u64 = COMMAND_NS + READ_NS + TRANSFER_NS + WRITE;
const ERASE: u64 = COMMAND_NS + ERASE_NS;

/// Blocks of 8 pages, 16 a plane, collected when fewer than 3 are free.
fn drive(planes: u32, more: &str) -> RunConfig {
    config(&format!(
        "geometry = {{ planes_per_die = {planes} }}
         trigger = {{ policy = \"watermark\", soft = 3 }}
         capacity = {{ over_provisioning = 0.5 }}
         {more}"
    ))
}

/// Brings plane 0 to the brink: thirteen of its blocks are full, the next write opens the block that brings it below
/// its watermark, and block 0, with one valid page, page 7 of the plane, is the one with fewest. `stride`: planes of
/// the drive.
fn brink(stride: u64) -> Vec<Request> {
    let page = |arrival_ns, page: u64| pages(Write, arrival_ns, page * stride, 1);
    let mut script: Vec<Request> = (0..80).map(|p| page(p, p)).collect();
    script.extend((0..7).map(|p| pages(Trim, LATER / 2, p * stride, 1)));
    // Three blocks of overwrites, which leave at least five valid pages in every other block.
    let overwritten = (1..10).flat_map(|block| [8 * block, 8 * block + 1]).chain((1..7).map(|block| 8 * block + 2));
    script.extend(overwritten.map(|p| page(LATER / 2 + p, p)));
    script
}

/// Without an invalid page no victim frees anything, so that none is taken although the plane is below its watermark.
#[test]
fn a_victim_that_frees_nothing_is_left() {
    for preemption in ["none", "ideal"] {
        let drive = drive(1, &format!("preemption = {{ policy = \"{preemption}\" }}"));
        let last = 128 * 2 / 3 - 1; // 0.5 of over-provisioning
        let script = (0..=last).map(|page| pages(Write, page, page, 1)).collect();
        let report = run(&drive, script).report;
        assert_eq!((report.gc.collections, report.flash.gc_units), (0, 0), "{preemption}");
    }
}

/// Whole pages are written, and a partner's valid data is moved page by page: pairs do not depend on the units.
#[test]
fn pairs_are_the_same_with_any_number_of_units_in_a_page() {
    let [whole, eighths] = ["4 KiB", "512 B"].map(|unit| {
        let drive = config(&format!(
            "geometry = {{ planes_per_die = 2, mapping_unit = \"{unit}\" }}
             trigger = {{ policy = \"watermark\", soft = 3 }}
             capacity = {{ over_provisioning = 0.5 }}
             granularity = {{ policy = \"paired\", partner = \"own-greedy\", pairs = \"invalid-pages\" }}"
        ));
        let page = |at: u64| if at < 170 { at } else { splitmix64(at) % 170 };
        let script = (0..1_000).map(|at| pages(Write, at * 2_000_000, page(at), 1)).collect();
        let report = run(&drive, script).report;
        (report.gc.collections, report.flash.block_erases)
    });
    assert!(whole.0 > 10 && whole.1 > whole.0, "{whole:?} collections and blocks");
    assert_eq!(whole, eighths);
}

/// Below its watermark a plane collects until it has reached the watermark at which it stops; or each write there
/// starts at most one collection, as in SSDsim.
#[test]
fn collections_follow_each_other_or_each_waits_for_a_write() {
    // Two writes after the one that leaves the plane 2 free blocks, far apart.
    let mut script = brink(1);
    script.extend((0..3).map(|later| pages(Write, LATER * (1 + later), 79, 1)));
    let collections_of_each_second = |follows: &str| {
        let drive = config(&format!(
            "geometry = {{ planes_per_die = 1 }}
             trigger = {{ policy = \"watermark\", soft = 3, {follows} }}
             capacity = {{ over_provisioning = 0.6 }}"
        ));
        let outcome = run(&drive, script.clone());
        [1, 2, 3].map(|second| outcome.gc_events.iter().filter(|e| e.start_ns / LATER == second).count())
    };
    // The first victim holds 1 valid page and makes 3 free blocks; the others hold 5 each. The open block has 1 page of
    // 8: it takes the 1 of the first victim and the 5 of the second (then 4 blocks are free). The third victim puts 1
    // page there and 4 into the next block (4 free), the fourth 4 there and 1 into the next (4), the fifth 5 there (5).
    assert_eq!(collections_of_each_second("stop = 5"), [5, 0, 0]);
    // 3 free blocks are not below the watermark: no later write starts another.
    assert_eq!(collections_of_each_second("collections = \"one\""), [1, 0, 0]);
}

#[test]
fn a_read_that_waits_for_blocking_collection_finds_its_page_where_it_was_moved() {
    let mut script = brink(1);
    script.push(pages(Write, LATER, 79, 1));
    // It arrives while the program of the last write ends and the victim's only valid page is about to be moved. The
    // version stamps of a checked run would stop a read from the old address.
    let arrival_ns = LATER + WRITE + 10;
    script.push(pages(Read, arrival_ns, 7, 1));
    let outcome = run(&drive(1, ""), script);
    let end_ns = LATER + WRITE + MOVE + ERASE;
    let gc = outcome.gc_events[0];
    assert_eq!((gc.block, gc.units_valid, gc.start_ns, gc.end_ns), (0, 1, LATER + WRITE, end_ns));
    let read = outcome.requests.last().unwrap();
    let expected = [("flash", READ_NS), ("transfer", COMMAND_NS + TRANSFER_NS), ("gc", end_ns - arrival_ns)];
    assert_eq!(breakdown(read), expected);
    assert!(read.gc_affected);
}

/// A buffer of one page: each write waits until the previous page has left. The causes of that page's wait, such as
/// collection, count as the write's own.
#[test]
fn a_write_that_waits_for_room_waits_for_the_collection_that_its_eviction_waits_for() {
    let mut script = brink(1);
    // The first of these writes evicts the last page of the script, the second evicts the page that takes the plane
    // below its watermark. The third arrives during the collection.
    let arrival_ns = 2 * LATER + WRITE + 10;
    script.extend([(LATER, 79), (2 * LATER, 78), (arrival_ns, 77)].map(|(at, page)| pages(Write, at, page, 1)));
    let buffered = drive(1, "buffer = { policy = \"lru\", size = \"4 KiB\", latency = \"1 us\" }");
    let outcome = run(&buffered, script);
    let end_ns = 2 * LATER + WRITE + MOVE + ERASE;
    let gc = outcome.gc_events[0];
    assert_eq!((gc.start_ns, gc.end_ns), (2 * LATER + WRITE, end_ns));
    let [before, write] = outcome.requests.last_chunk().expect("two requests");
    let own = [("flash", PROGRAM_NS), ("transfer", COMMAND_NS + TRANSFER_NS)];
    assert_eq!(breakdown(before), [own[0], own[1], ("buffer", 1_000)]);
    assert_eq!(breakdown(write), [own[0], own[1], ("gc", end_ns - arrival_ns), ("buffer", 1_000)]);
    assert_eq!([before.gc_affected, write.gc_affected], [false, true]);
}

/// A buffer of one page, and five reads before it: the first eviction waits for them.
fn writes_behind_reads(buffer: &str, writes: &[(u64, u64)]) -> Vec<Vec<(&'static str, u64)>> {
    let config = config(&format!(
        "geometry = {{ planes_per_die = 1 }}
         precondition = {{ mode = \"sequential\" }}
         buffer = {{ policy = \"lru\", size = \"4 KiB\", latency = \"0 us\" {buffer} }}"
    ));
    let mut script: Vec<Request> = (0..5).map(|page| pages(Read, 0, page, 1)).collect();
    script.extend(writes.iter().map(|&(at, page)| pages(Write, at, page, 1)));
    run(&config, script).requests[5..].iter().map(breakdown).collect()
}

const READS_NS: u64 = 5 * (COMMAND_NS + READ_NS + TRANSFER_NS);

/// The third write waits for the eviction of the first, which waits for the reads, and for that of the second.
#[test]
fn a_write_waits_for_what_all_evictions_before_it_did() {
    let parts = writes_behind_reads("", &[(1_000, 10), (2_000, 20), (3_000, 30)]);
    let own = |writes: u64| [("flash", writes * PROGRAM_NS), ("transfer", writes * (COMMAND_NS + TRANSFER_NS))];
    assert_eq!(parts[0], []);
    assert_eq!(parts[1], [&own(1)[..], &[("host_io", READS_NS - 2_000)]].concat());
    // The first eviction had been under way for a microsecond when the third write arrived.
    let by_hand = [&own(2)[..], &[("host_io", READS_NS - 3_000)]].concat();
    for ((cause, ns), (expected, expected_ns)) in parts[2].iter().zip(by_hand) {
        assert!(*cause == expected && ns.abs_diff(expected_ns) <= 1_000, "{:?}", parts[2]);
    }
}

/// A write that arrives after the reads, while the eviction's data is on its way, waits only for the program.
#[test]
fn a_write_that_comes_late_waits_for_the_end_of_an_eviction() {
    let late_ns = READS_NS + COMMAND_NS + TRANSFER_NS + 10_000;
    let parts = writes_behind_reads(", idle_after = \"10 us\"", &[(1_000, 10), (late_ns, 20)]);
    assert_eq!(parts[1], [("flash", PROGRAM_NS - 10_000)]);
}

#[test]
fn the_report_has_the_times_of_the_collections_that_were() {
    let script = (0..1_500).map(|i| pages(Write, i * 900_000, splitmix64(i) % 80, 1)).collect();
    let outcome = run(&drive(1, ""), script);
    let took: Vec<u64> = outcome.gc_events.iter().map(|e| e.end_ns - e.start_ns).collect();
    let gc = outcome.report.gc;
    assert!(took.len() > 50 && took.len() as u64 == gc.collections, "{} collections", gc.collections);
    assert_eq!(gc.collection_max_ns, took.iter().max().copied());
    let mean_ns = took.iter().sum::<u64>() as f64 / took.len() as f64;
    let reported_ns = gc.collection_mean_ns.unwrap();
    assert!((reported_ns / mean_ns - 1.0).abs() < 1e-12, "{reported_ns} and {mean_ns}");
    // Nothing of the host waited for space, and its reads and writes never joined a collection.
    assert_eq!(gc.die_time_ns, took.iter().sum::<u64>());
}

/// The drive of [`drive`] whose collection waits for a request.
fn waiting_drive() -> RunConfig {
    config(
        "geometry = { planes_per_die = 1 }
         trigger = { policy = \"watermark\", soft = 3, when = \"waiting\" }
         capacity = { over_provisioning = 0.5 }",
    )
}

#[test]
fn collection_that_waits_for_a_request_begins_when_one_comes() {
    // The last write takes the plane below its watermark, and no request waits. The read finds an idle die, and waits
    // for a collection.
    let mut script = brink(1);
    script.push(pages(Write, LATER, 79, 1));
    let arrival_ns = LATER + 50_000_000;
    script.push(pages(Read, arrival_ns, 7, 1));
    let outcome = run(&waiting_drive(), script);
    let end_ns = arrival_ns + MOVE + ERASE;
    let gc = outcome.gc_events[0];
    assert_eq!((gc.block, gc.units_valid, gc.start_ns, gc.end_ns), (0, 1, arrival_ns, end_ns));
    let read = outcome.requests.last().unwrap();
    let expected = [("flash", READ_NS), ("transfer", COMMAND_NS + TRANSFER_NS), ("gc", MOVE + ERASE)];
    assert_eq!(breakdown(read), expected);
}

#[test]
fn collection_that_waits_for_a_request_begins_behind_the_write_where_one_waits_already() {
    let mut script = brink(1);
    script.push(pages(Write, LATER, 79, 1));
    script.push(pages(Read, LATER + 10, 7, 1));
    let gc = run(&waiting_drive(), script).gc_events[0];
    assert_eq!((gc.start_ns, gc.end_ns), (LATER + WRITE, LATER + WRITE + MOVE + ERASE));
}

#[test]
fn collection_that_waits_for_a_request_never_begins_where_none_comes() {
    let mut script = brink(1);
    script.push(pages(Write, LATER, 79, 1));
    let waiting = run(&waiting_drive(), script.clone());
    let below = run(&drive(1, ""), script);
    assert_eq!((waiting.gc_events.len(), below.gc_events.len()), (0, 1));
}

#[test]
fn writes_that_wait_for_space_start_collection_whoever_else_waits() {
    // Many more writes than fit without collection, one at a time, so that none waits for another.
    let script: Vec<Request> = (0..2_000).map(|i| pages(Write, 0, splitmix64(i) % 80, 1)).collect();
    let mut config = waiting_drive();
    config.host = copyback::config::from_toml("mode = \"closed\"\nqueue_depth = 1").unwrap();
    let outcome = run(&config, script);
    assert!(outcome.report.gc.collections > 100 && outcome.report.min_free_blocks >= 1, "{:?}", outcome.report.gc);
}

/// The same on the next plane.
fn one_page_on(script: Vec<Request>) -> impl Iterator<Item = Request> {
    script.into_iter().map(|r| Request { offset_bytes: r.offset_bytes + r.len_bytes, ..r })
}

#[test]
fn collection_that_waits_for_a_request_begins_only_on_planes_that_fell_below_their_watermark() {
    // Plane 0 has 4 free blocks, fewer than it would stop at; plane 1 falls to 2.
    let config = config("trigger = { policy = \"watermark\", soft = 3, stop = 5, when = \"waiting\" }");
    let mut script = brink(2);
    script.truncate(script.len() - 8);
    script.extend(one_page_on(brink(2)));
    script.sort_by_key(|r| r.arrival_ns);
    script.extend([pages(Write, LATER, 159, 1), pages(Read, 2 * LATER, 14, 1)]);
    let collections = run(&config, script).gc_events;
    assert_eq!(collections[0].start_ns, 2 * LATER);
    assert!(collections.iter().all(|e| e.plane == 1), "{collections:?}");
}

#[test]
fn requests_that_waited_for_a_collection_go_before_the_next_where_they_may() {
    // Two planes of a die reach their watermarks at once; a read arrives while the first of them collects.
    let collections_before_the_read = |order: &str| {
        let mut script: Vec<Request> = brink(2).into_iter().chain(one_page_on(brink(2))).collect();
        script.sort_by_key(|r| r.arrival_ns);
        script.extend([pages(Write, LATER, 158, 1), pages(Write, LATER, 159, 1)]);
        script.push(pages(Read, LATER + WRITE, 14, 1));
        let outcome = run(&drive(2, &format!("order = {{ policy = \"priority\", {order} }}")), script);
        let read = outcome.requests.iter().find(|r| r.op == 0).unwrap();
        let end_ns = read.arrival_ns + read.response_ns;
        (outcome.gc_events.len(), outcome.gc_events.iter().filter(|e| e.end_ns < end_ns).count())
    };
    assert_eq!(collections_before_the_read("next_collection = \"at-once\""), (2, 2));
    assert_eq!(collections_before_the_read("next_collection = \"after-waiting\""), (2, 1));
}

#[test]
fn a_die_below_its_watermark_collects_the_plane_with_fewest_free_blocks() {
    // Ten blocks a plane of data, half of them stale on both planes; then only plane 0 is written.
    let trigger = "trigger = { policy = \"watermark\", scope = \"die\", soft = 8 }";
    let config = config(&format!("capacity = {{ over_provisioning = 1.0 }}\n{trigger}"));
    let mut script: Vec<Request> = (0..160).map(|i| pages(Write, i * 1_000_000, i % 80, 1)).collect();
    script.extend((160..400).map(|i| pages(Write, i * 20_000_000, 2 * (i % 40), 1)));
    let outcome = run(&config, script);
    let on_plane = |plane| outcome.gc_events.iter().filter(|e| e.plane == plane).count();
    assert!(on_plane(0) > 10 && on_plane(1) == 0, "{} and {} collections", on_plane(0), on_plane(1));
}

#[test]
fn idle_collection_begins_when_the_drive_has_been_idle_for_so_long_and_no_sooner() {
    let idle = "trigger = { policy = \"watermark\", soft = 2, idle = { after = \"7 ms\", stop = 5 } }";
    let mut script: Vec<Request> = (0..200).map(|i| pages(Write, i, i % 60, 1)).collect();
    let last = run(&config(idle), script.clone()).requests.iter().map(|r| r.arrival_ns + r.response_ns).max().unwrap();
    // The host has more to ask for, later.
    script.push(pages(Read, last + LATER, 0, 1));
    let first = run(&config(idle), script.clone()).gc_events[0];
    assert_eq!(first.start_ns, last + 7_000_000);
    // A request that arrives a nanosecond earlier puts it off for as long again.
    let arrival_ns = last + 7_000_000 - 1;
    script.insert(200, pages(Read, arrival_ns, 0, 1));
    let first = run(&config(idle), script).gc_events[0];
    assert_eq!(first.start_ns, arrival_ns + COMMAND_NS + READ_NS + TRANSFER_NS + 7_000_000);
}

#[test]
fn a_request_that_comes_during_idle_collection_puts_the_next_off() {
    let idle = "trigger = { policy = \"watermark\", soft = 2, idle = { after = \"7 ms\", stop = 5 } }";
    let mut script: Vec<Request> = (0..200).map(|i| pages(Write, i, i % 60, 1)).collect();
    script.push(pages(Read, 10 * LATER, 0, 1));
    let undisturbed = run(&config(idle), script.clone()).gc_events;
    assert_eq!(undisturbed[1].start_ns, undisturbed[0].end_ns);
    script.insert(200, pages(Read, undisturbed[0].start_ns + 1, 0, 1));
    let disturbed = run(&config(idle), script).gc_events;
    assert_eq!(disturbed[1].start_ns, disturbed[0].end_ns + COMMAND_NS + READ_NS + TRANSFER_NS + 7_000_000);
}

#[test]
fn watermarks_of_a_die_lie_apart_by_as_many_blocks_as_they_are_told() {
    // Sequential writes fill all planes in step.
    let free_at_first_collection = |stagger: u32| {
        let trigger = format!("trigger = {{ policy = \"watermark\", soft = 3, stagger = {stagger} }}");
        let table = format!("geometry = {{ planes_per_die = 4 }}\ncapacity = {{ over_provisioning = 2.0 }}\n{trigger}");
        let script: Vec<Request> = (0..1_000).map(|i| pages(Write, i * 5_000_000, i % 160, 1)).collect();
        let events = run(&config(&table), script).gc_events;
        [0, 1, 2, 3].map(|plane| events.iter().find(|e| e.plane == plane).map(|e| e.free_blocks).unwrap())
    };
    assert_eq!(free_at_first_collection(0), [2, 2, 2, 2]);
    assert_eq!(free_at_first_collection(2), [2, 4, 6, 8]);
}

#[test]
fn a_collected_page_that_is_overwritten_meanwhile_is_neither_moved_nor_lost() {
    // Dynamic allocation sends the new version to another die while the old one is being collected.
    let mut config = drive(1, "allocation = { policy = \"dynamic\" }");
    config.geometry.chips_per_channel = 2;
    let mut script: Vec<Request> = (0..160).map(|p| pages(Write, p, p, 1)).collect();
    script.extend((0..4000).map(|i| pages(Write, LATER + 400_000 * i, splitmix64(i) % 160, 1)));
    let outcome = run(&config, script);
    assert!(outcome.report.gc.collections > 0 && outcome.report.flash.dropped_moves > 0, "{:?}", outcome.report.flash);
}

#[test]
fn blocking_collection_uses_one_plane_of_two_and_ideal_collection_no_time() {
    let mut script = brink(2);
    script.push(pages(Write, LATER, 158, 1));
    script.push(pages(Read, LATER + WRITE + 10, 14, 1));
    let blocking = run(&drive(2, ""), script.clone());
    assert_eq!(blocking.report.utilization.plane_during_gc, Some(0.5));
    let ideal = run(&drive(2, "preemption = { policy = \"ideal\" }"), script);
    let read = ideal.requests.last().unwrap();
    assert_eq!(read.response_ns, COMMAND_NS + READ_NS + TRANSFER_NS, "the block is collected, and nobody waited");
    let work = |r: &copyback::observe::report::Report| (r.gc.collections, r.gc.units_moved, r.flash.block_erases);
    assert_eq!(work(&ideal.report), work(&blocking.report), "both collect the same");
}

#[test]
fn copyback_keeps_moves_off_the_channel() {
    let mut script = brink(1);
    script.push(pages(Write, LATER, 79, 1));
    let outcome = run(&drive(1, "granularity = { policy = \"block\", copyback = true }"), script);
    let gc = outcome.gc_events[0];
    assert_eq!(gc.end_ns - gc.start_ns, COMMAND_NS + READ_NS + PROGRAM_NS + ERASE);
}

#[test]
fn a_collection_looks_for_requests_to_merge_as_far_into_the_queue_as_it_is_told() {
    let merged = |scan_max: u32| {
        let mut script = brink(1);
        script.push(pages(Write, LATER, 79, 1));
        // Both pages have requests while page 7 is about to be moved; those for page 7 are second in their queues.
        let arrival_ns = LATER + WRITE + 10;
        script.extend([Read, Write].iter().flat_map(|&op| [40, 7].map(|page| pages(op, arrival_ns, page, 1))));
        let compose = format!("compose = {{ policy = \"list\", gc = [\"merge\"], gc_scan_max = {scan_max} }}");
        let flash = run(&drive(1, &compose), script).report.flash;
        [flash.merged_reads, flash.merged_writes]
    };
    assert_eq!([merged(1), merged(2)], [[0, 0], [1, 1]]);
}

#[test]
fn every_cause_of_waiting_is_charged_to_the_nanosecond() {
    // Two dies of four planes on one channel. Without command cycles and with copyback, only reads of the host use the
    // channel: a job of eight valid pages takes 8 (tR + tPROG) + tBERS.
    const JOB: u64 = 8 * (READ_NS + PROGRAM_NS) + ERASE_NS;
    let config = config(
        r#"
        geometry = { chips_per_channel = 2, planes_per_die = 4 }
        timing = { command = "0 ns" }
        granularity = { policy = "block", copyback = true }
        buffer = { policy = "lru", size = "64 KiB", latency = "3 us" }
        host = { outstanding_max = 3 }
        precondition = { mode = "sequential" }
        "#,
    );
    // In the order CWDP page p is on die p mod 2 and plane p / 2 mod 4 of it.
    let (on_die_0, same_plane, on_die_1) = (0, 8, 1);
    let mut script = vec![
        pages(Read, 0, on_die_1, 1),
        pages(Read, 0, on_die_0, 1),
        pages(Read, 0, same_plane, 1),
        pages(Read, 0, on_die_1, 1),
        pages(Read, LATER, on_die_0, 1),
        pages(Read, LATER, on_die_1, 1),
        pages(Write, 2 * LATER, 0, 1),
    ]
    .into_iter();
    let ftl = preconditioning::preconditioned(&config, 1).unwrap();
    let setup = Setup {
        host: config.host.clone(),
        source: &mut script,
        requests: None,
        check: true,
        keep_gc_events: false,
        keep_requests: true,
    };
    let mut simulation = Simulation::new(vec![(&config, ftl)], setup);
    let (drive, events) = simulation.back_end_and_events(0);
    let first_block_of = |plane: u32| BlockId(plane * 16);
    for (plane, source) in
        [(0, Source::MAP), (1, Source::SCRUB), (2, Source::WEAR), (3, Source::PARITY), (4, Source::GC)]
    {
        drive.start_relocation(first_block_of(plane), source, events);
    }
    simulation.run(&mut |_| {}).unwrap();
    let mut records = simulation.collector.take_records();
    records.sort_by_key(|r| r.index);

    let served = [("flash", READ_NS), ("transfer", TRANSFER_NS)];
    let own = READ_NS + TRANSFER_NS;
    let jobs = [("map", JOB), ("scrub", JOB), ("wear", JOB), ("parity", JOB)];
    let [flash, transfer] = served;
    // Read data passes through the buffer's memory, and so does the data of a write.
    let dram = ("buffer", 3_000);
    assert_eq!(breakdown(&records[0]), [flash, transfer, ("gc", JOB), dram]);
    assert_eq!(breakdown(&records[1]), [&served[..], &jobs[..], &[dram]].concat());
    assert_eq!(breakdown(&records[2]), [&served[..], &jobs[..], &[("host_io", own), dram]].concat());
    // Three requests were under way: the fourth entered when the first had ended.
    assert_eq!(breakdown(&records[3]), [flash, transfer, ("scheduler", JOB + own + 3_000), dram]);
    assert_eq!(breakdown(&records[4]), [flash, transfer, dram]);
    assert_eq!(breakdown(&records[5]), [flash, transfer, ("channel", TRANSFER_NS), dram]);
    assert_eq!(breakdown(&records[6]), [dram]);
    let affected: Vec<bool> = records.iter().map(|r| r.gc_affected).collect();
    assert_eq!(affected, [true, false, false, false, false, false, false], "only collection counts as collection");
}

#[test]
fn small_units_survive_preconditioning_and_collection() {
    for preemption in ["none", "ideal"] {
        let config = config(&format!(
            "geometry = {{ page_size = \"16 KiB\", mapping_unit = \"4 KiB\", blocks_per_plane = 32 }}
             precondition = {{ mode = \"random\" }}
             preemption = {{ policy = \"{preemption}\" }}
             host = {{ mode = \"closed\" }}"
        ));
        let script = (0..20_000).map(|i| pages(Write, 0, splitmix64(i) % 1_200, 1 + splitmix64(i + 7) % 9)).collect();
        let outcome = run(&config, script);
        assert!(outcome.report.gc.collections > 0);
    }
}

/// The collections of a drive that counts free space in one of two ways.
fn collections_counting(count: &str, more: &str) -> Vec<GcEvent> {
    let trigger = format!("trigger = {{ policy = \"watermark\", soft = 4, count = \"{count}\" }}");
    let config = config(&format!("capacity = {{ over_provisioning = 1.0 }}\n{trigger}\n{more}"));
    let page = |i: u64| pages(Write, i * 1_500_000, splitmix64(i) % 120, 1);
    let collections = run(&config, (0..3000).map(page).collect()).gc_events;
    assert!(collections.len() > 100);
    collections
}

/// A plane with one open block is below a watermark of pages when it is below that of blocks: when it opens the block
/// that makes them too few.
#[test]
fn pages_count_like_blocks_where_one_block_is_open() {
    assert_eq!(collections_counting("pages", ""), collections_counting("blocks", ""));
}

/// Two planes that open second blocks together fall below a watermark of blocks together, and their collections follow
/// each other. With a watermark of pages, the pages written to a plane decide when that plane falls below it.
#[test]
fn pages_of_second_active_blocks_count_as_free() {
    let second = "frontier = { policy = \"second-active\" }\ncompose = { policy = \"list\", gc = [\"gc+host\"] }";
    let chained = |count: &str| {
        let collections = collections_counting(count, second);
        let follows = |pair: &&[GcEvent]| pair[1].start_ns < pair[0].end_ns + 10_000 && pair[1].plane != pair[0].plane;
        collections.windows(2).filter(follows).count()
    };
    let (blocks, pages) = (chained("blocks"), chained("pages"));
    assert!(pages < blocks / 2, "{pages} {blocks}");
}

/// Moves of global collection leave home only for dies that run no collection and expect no other move. Each move
/// therefore waits for at most one command of the host, and for no collection of another die. Each die has a channel of
/// its own here.
#[test]
fn global_collections_do_not_wait_for_each_other() {
    for count in ["blocks", "pages"] {
        let config = config(&format!(
            "geometry = {{ channels = 8, planes_per_die = 1 }}
             trigger = {{ policy = \"watermark\", soft = 4, count = \"{count}\" }}
             granularity = {{ policy = \"block\", destination = \"global\" }}
             frontier = {{ policy = \"second-active\" }}
             precondition = {{ mode = \"random\" }}
             host = {{ mode = \"closed\", queue_depth = 64 }}"
        ));
        let script = (0..20_000).map(|i| pages(Write, 0, splitmix64(i) % 500, 1)).collect();
        let collections = run(&config, script).gc_events;
        let together = collections.windows(2).filter(|pair| pair[1].start_ns < pair[0].end_ns).count();
        assert!(collections.len() > 1000 && together > collections.len() / 2, "{together} of {}", collections.len());
        for collection in &collections {
            // At its beginning a move that was sent before may still be programmed here.
            let longest_ns = u64::from(collection.units_valid) * (MOVE + WRITE) + ERASE + WRITE;
            let took_ns = collection.end_ns - collection.start_ns;
            assert!(took_ns <= longest_ns, "{collection:?} took {took_ns} ns, more than {longest_ns} ns");
        }
    }
}

/// Two planes, on dies of their own or on one, with 5 blocks of data on each and 6 free. Writes of pages 0 and 1 open a
/// block on either and bring the scope below its watermark of 11; what is collected then holds nothing that is valid.
fn two_planes(scope: &str, geometry: &str, preemption: &str) -> (RunConfig, Vec<Request>) {
    let config = config(&format!(
        "geometry = {{ {geometry} }}
         trigger = {{ policy = \"watermark\", scope = \"{scope}\", soft = 11, stop = 15 }}
         capacity = {{ over_provisioning = 2.2 }}
         preemption = {{ policy = \"{preemption}\" }}"
    ));
    let mut script: Vec<Request> = (0..160).map(|i| pages(Write, i * 1_000_000, i % 80, 1)).collect();
    script.extend([pages(Write, LATER, 0, 1), pages(Write, 2 * LATER, 1, 1)]);
    (config, script)
}

/// Planes and beginnings of collections, the latter counted from the write that brings the scope below its watermark.
fn collections_of_scope(scope: &str, geometry: &str) -> Vec<(u32, u64)> {
    let (config, script) = two_planes(scope, geometry, "none");
    run(&config, script).gc_events.iter().map(|e| (e.plane, e.start_ns - 2 * LATER)).collect()
}

#[test]
fn a_drive_below_its_watermark_collects_on_all_dies_until_it_reaches_the_one_where_it_stops() {
    let mut collections = collections_of_scope("device", "channels = 2, planes_per_die = 1");
    collections.sort_unstable();
    // Die 1 is busy with the write; when it collects for the third time, the drive has 14 free blocks.
    let expected = [(0, 0), (0, ERASE), (0, 2 * ERASE), (1, WRITE), (1, WRITE + ERASE), (1, WRITE + 2 * ERASE)];
    assert_eq!(collections, expected);
}

#[test]
fn a_die_below_its_watermark_collects_one_plane_after_the_other_until_it_reaches_the_one_where_it_stops() {
    let collections = collections_of_scope("die", "planes_per_die = 2");
    let expected: Vec<(u32, u64)> = (0..5).map(|n| (n % 2, WRITE + u64::from(n) * ERASE)).collect();
    assert_eq!(collections, expected);
}

#[test]
fn a_drive_whose_collection_takes_no_time_is_above_its_watermark_after_each_write() {
    let (config, mut script) = two_planes("device", "channels = 2, planes_per_die = 1", "ideal");
    let collections = |script: &[Request]| run(&config, script.to_vec()).report.gc.collections;
    assert_eq!([collections(&script[..161]), collections(&script)], [0, 6]);
    // Far more than fits without collection.
    script.extend((0..2_000).map(|i| pages(Write, 3 * LATER + i * 1_000_000, splitmix64(i) % 80, 1)));
    assert!(run(&config, script).report.min_free_blocks >= 4);
}

/// With a global destination, a write that waits for space may need a collection of any die: the first one starts all
/// collections that wait for a request.
#[test]
fn the_first_write_that_waits_for_space_ends_all_waiting_of_collection() {
    let config = config(
        "geometry = { channels = 2, planes_per_die = 1 }
         granularity = { policy = \"block\", destination = \"global\" }
         trigger = { policy = \"watermark\", soft = 3, when = \"waiting\" }
         capacity = { over_provisioning = 0.5 }",
    );
    let started_on_die_0 = |writes: u64| {
        // Both dies are near their watermark; the write of page 158 takes die 0 below it, and no request waits there.
        let mut script: Vec<Request> = brink(2).into_iter().chain(one_page_on(brink(2))).collect();
        script.sort_by_key(|r| r.arrival_ns);
        script.push(pages(Write, LATER, 158, 1));
        // Die 1 has 3 erased blocks, one of which it keeps for its moves.
        script.extend((0..writes).map(|i| pages(Write, 2 * LATER, 2 * i + 1, 1)));
        let collections = run(&config, script).gc_events;
        collections.iter().find(|e| e.die == 0).map(|e| e.start_ns)
    };
    assert_eq!(started_on_die_0(16), None);
    assert_eq!(started_on_die_0(17), Some(2 * LATER));
}
