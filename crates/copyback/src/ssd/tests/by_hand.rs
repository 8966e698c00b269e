//! The controller's decisions in states that runs reach rarely, or never.
//!
//! Each test builds a state by hand, and calls one function.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::Source;
use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::ftl::space::Space;
use crate::observe::clocks::Occupant;
use crate::run::config::RunConfig;
use crate::run::preconditioning::preconditioned;
use crate::sim::index::{BlockId, DieId, JobId, LogicalUnit, PlaneId, TxnId};
use crate::sim::queue::{EventQueue, kind};
use crate::ssd::admission::page_reservations::PageReservations;
use crate::ssd::alarms::{ALARMS, Alarms, Timers};
use crate::ssd::back_end::BackEnd;
use crate::tasks::job::{Footprint, Job, Purpose};

/// An empty drive on one channel, 32 blocks of 8 pages a plane, whose writes choose their die.
fn drive(dies: u32, planes_per_die: u32, more: &str) -> (BackEnd, EventQueue) {
    drive_with(dies, planes_per_die, more, |_| {}, false)
}

/// An empty drive to which something is written; checked or not.
fn drive_with(
    dies: u32,
    planes_per_die: u32,
    more: &str,
    write: impl Fn(&mut Ftl),
    check: bool,
) -> (BackEnd, EventQueue) {
    let mut table: toml::Table = toml::from_str(&format!(
        r#"
        allocation = {{ policy = "dynamic" }}
        capacity = {{ over_provisioning = 0.5 }}
        precondition = {{ mode = "empty" }}
        timing = {{ read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }}
        [geometry]
        channels = 1
        chips_per_channel = {dies}
        dies_per_chip = 1
        planes_per_die = {planes_per_die}
        blocks_per_plane = 32
        pages_per_block = 8
        page_size = "4 KiB"
        "#
    ))
    .expect("the base parses");
    table.extend(toml::from_str::<toml::Table>(more).expect("the test's settings parse"));
    let config: RunConfig = table.try_into().expect("the configuration is complete");
    config.check().expect("the configuration is possible");
    let mut ftl = preconditioned(&config, 1).expect("the drive is preconditioned");
    write(&mut ftl);
    let timers = Timers { alarms: Alarms(BackEnd::timers(&ftl.geometry)), first: 0 };
    let events = EventQueue::new((ALARMS + BackEnd::timers(&ftl.geometry)) as usize);
    (BackEnd::new(&config.back_end(), ftl, timers, check, false), events)
}

fn write(back_end: &mut BackEnd, die: u32, events: &mut EventQueue) -> TxnId {
    let id = back_end.add_txn(Txn::new(Role::Write, LogicalUnit(0), 1, DieId(die), PlaneId::NONE));
    back_end.submit(id, events);
    id
}

/// Reserves all pages of a die for others.
fn reserve_all(back_end: &mut BackEnd, die: u32) {
    let die = DieId(die);
    while back_end.reservable(die, PlaneId::NONE) > 0 {
        back_end.reserve_page(die, PlaneId::NONE);
    }
}

/// The first die in order is no better than any other unless it has room.
#[test]
fn a_write_that_leaves_its_die_goes_where_room_is() {
    let (mut back_end, mut events) = drive(3, 1, "");
    reserve_all(&mut back_end, 0);
    reserve_all(&mut back_end, 1);
    let id = write(&mut back_end, 0, &mut events);
    assert_eq!((back_end.txns[id].die, back_end.dies.waiting_for_space()), (DieId(0), 1));
    back_end.send_waiters_elsewhere(DieId(0), &mut events);
    assert_eq!(
        (back_end.txns[id].die, back_end.dies.waiting_for_space(), back_end.dies[DieId(0)].waiting_for_space()),
        (DieId(2), 0, 0)
    );
}

/// If collections reserve no die, a write whose die has given its pages to others goes to another die at once. It does
/// not wait at its own die for the end of a collection.
#[test]
fn a_write_whose_die_has_no_page_left_waits_for_no_collection() {
    let as_task = "preemption = { policy = \"always\" }
                   trigger = { policy = \"watermark\", scope = \"device\", soft = 4 }";
    let (mut back_end, mut events) = drive(3, 1, as_task);
    reserve_all(&mut back_end, 0);
    let id = write(&mut back_end, 0, &mut events);
    assert_eq!((back_end.txns[id].die, back_end.dies.waiting_for_space()), (DieId(1), 0));
}

/// A die that executes a command is busy, even if no transaction waits there.
#[test]
fn a_write_that_chooses_its_die_passes_one_that_is_busy() {
    let (mut back_end, _) = drive(2, 1, "");
    back_end.flash.inside().dies[0].array.set_at(0);
    assert_eq!(back_end.place(LogicalUnit(0)).die, DieId(1));
}

/// A scene may request a collection on a plane where nothing is reclaimable.
#[test]
fn a_plane_without_a_full_block_is_not_collected() {
    let (mut back_end, mut events) = drive(1, 1, "");
    assert!(!back_end.collect_once(PlaneId(0), &mut events));
    assert_eq!(back_end.dies[DieId(0)].jobs_waiting(), 0);
}

const GLOBAL: &str = "granularity = { policy = \"block\", destination = \"global\" }\n";

/// Pages of the other plane of the die count, too: less one block if that plane's job is assumed to have begun.
#[test]
fn a_plane_takes_moves_as_far_as_its_die_keeps_what_it_reserved() {
    let (mut back_end, _) = drive(2, 2, GLOBAL);
    let mut most_reserved = |beginning: PlaneId| {
        back_end.admission.reservations = PageReservations::new(Space::new(&back_end.geometry, 1), None);
        let mut reserved = 0;
        while back_end.would_accept_move(PlaneId(0), beginning) {
            back_end.reserve_page(DieId(0), PlaneId::NONE);
            reserved += 1;
        }
        assert!(reserved > 0, "a drive that reserved nothing takes moves");
        reserved
    };
    assert_eq!(most_reserved(PlaneId::NONE) - most_reserved(PlaneId(1)), back_end.geometry.pages_per_block);
}

/// Moves of other planes count like those of the collection that has the die.
#[test]
fn a_page_that_is_on_its_way_to_a_plane_takes_one_page_from_the_host() {
    let used = "precondition = { mode = \"random\", overwrites = 1.0 }\nfrontier = { policy = \"single\" }\n";
    let (mut back_end, mut events) = drive(2, 1, &format!("{GLOBAL}{used}"));
    assert!(back_end.collect_once(PlaneId(0), &mut events));
    back_end.begin_job(DieId(0), &mut events);
    assert!(back_end.gc.jobs[back_end.dies[DieId(0)].reserved_by()].moves_left() > 0);
    let left = back_end.host_pages_left(PlaneId(0));
    back_end.admission.reservations.expect_move(PlaneId(0));
    assert_eq!(back_end.host_pages_left(PlaneId(0)), left - 1);
}

/// A page goes to the die with the fewest waiting requests, among the dies that stay at or above their watermark.
#[test]
fn a_plane_that_a_page_would_bring_below_its_watermark_is_the_last_to_get_it() {
    let (mut back_end, _) = drive(3, 1, GLOBAL);
    let mut units = (0..).map(LogicalUnit);
    // This many pages of each plane are used; a request waits at die 1, and none at die 2.
    for (plane, pages) in [(0, 9), (1, 1), (2, 5)] {
        for _ in 0..pages {
            back_end.ftl.write_page(PlaneId(plane), &[units.next().unwrap()], 0);
        }
    }
    back_end.dies[DieId(1)].begin_wait(true, false);
    let purpose = Purpose { source: Source::GC, picks_victim: true, reserves_die: true };
    back_end.gc.jobs.push(Job::new(purpose, DieId(0), Footprint::one(PlaneId(0), BlockId::NONE), 1));
    let left = back_end.ftl.pages_left(PlaneId(2), Stream::Moved);
    let mut destination = |watermark: u32| {
        back_end.scheme.settings.collection.watermark_pages = watermark;
        back_end.destination_of(JobId(0))
    };
    assert_eq!([destination(left - 1), destination(left)], [PlaneId(2), PlaneId(1)]);
}

/// If a die is idle because writes at it wait for space, its time is collection's. If none waits, no task is charged.
#[test]
fn a_die_at_rest_whose_writes_wait_for_space_is_kept_by_collection() {
    let (mut back_end, mut events) = drive(2, 1, "");
    reserve_all(&mut back_end, 0);
    write(&mut back_end, 0, &mut events);
    back_end.update_clock(DieId(1), 0);
    let shown = [0, 1].map(|die| back_end.dies[DieId(die)].clocks().read(1_000));
    assert_eq!(shown.map(|clocks| clocks[Occupant::Gc as usize]), [1_000, 0]);
    assert_eq!(shown.map(|clocks| clocks[Occupant::NoWork as usize]), [0, 1_000]);
}

#[test]
fn a_report_of_those_who_wait_leaves_out_dies_at_rest() {
    let (mut back_end, mut events) = drive(2, 1, "");
    assert_eq!(back_end.describe_waiting(), "");
    reserve_all(&mut back_end, 1);
    write(&mut back_end, 1, &mut events);
    let text = back_end.describe_waiting();
    assert!(text.starts_with("die 1: 1 transactions wait, 1 of them for space;"), "{text}");
}

/// The rest of a drive's work, each event with all that follows from it.
fn run_to_end(back_end: &mut BackEnd, events: &mut EventQueue) {
    back_end.dispatch_ready(events);
    while let Some((_, timer)) = events.pop() {
        back_end.on_event::<{ kind::ANY }>(timer.0, events);
        back_end.dispatch_ready(events);
    }
}

/// Two planes of a die whose first blocks are full; all pages of each but the first are valid. All checks are on.
fn two_full_blocks(more: &str) -> (BackEnd, EventQueue, Footprint) {
    let fill = |ftl: &mut Ftl| {
        for (plane, first) in [(0, 0), (1, 8)] {
            (first..first + 8).for_each(|unit| {
                ftl.write_page(PlaneId(plane), &[LogicalUnit(unit)], 0);
            });
            ftl.trim(LogicalUnit(first));
        }
    };
    let (back_end, events) = drive_with(1, 2, more, fill, true);
    let footprint = Footprint::one(PlaneId(0), BlockId(0)).and(PlaneId(1), BlockId(32));
    (back_end, events, footprint)
}

/// Pages of one offset are read together, are programmed together, and the blocks are erased together.
#[test]
fn a_job_of_two_planes_takes_each_step_on_both() {
    let (mut back_end, mut events, footprint) = two_full_blocks("");
    back_end.start_relocation_of(footprint, Source::WEAR, true);
    run_to_end(&mut back_end, &mut events);
    assert_eq!(
        (back_end.records.counters.work().other_page_reads, back_end.records.counters.work().other_page_programs),
        (14, 14)
    );
    assert_eq!(back_end.records.counters.work().multi_plane_commands, 7 + 7 + 1);
    assert_eq!((back_end.ftl.blocks()[BlockId(0)].erases, back_end.ftl.blocks()[BlockId(32)].erases), (1, 1));
    back_end.check_end(events.now_ns());
}

/// A job that reserves its die excludes the host until its end. A job that reserves no die lets a read go after its
/// first step, if the order policy says so.
#[test]
fn a_job_without_a_reservation_lets_the_order_decide_before_each_step() {
    let read_done_ns = |reserves_die: bool| {
        let (mut back_end, mut events, footprint) =
            two_full_blocks("order = { policy = \"priority\", first = \"read-write-gc\" }");
        back_end.start_relocation_of(footprint, Source::WEAR, reserves_die);
        back_end.dispatch_ready(&mut events);
        let id = back_end.add_txn(Txn::new(Role::Read, LogicalUnit(5), 1, DieId(0), PlaneId(0)));
        back_end.submit(id, &mut events);
        let mut read_ns = 0;
        back_end.dispatch_ready(&mut events);
        while let Some((now_ns, timer)) = events.pop() {
            back_end.on_event::<{ kind::ANY }>(timer.0, &mut events);
            back_end.dispatch_ready(&mut events);
            if let Some(done) = back_end.take_done() {
                back_end.remove_txn(done);
                read_ns = now_ns;
            }
        }
        back_end.check_end(events.now_ns());
        assert_eq!(back_end.records.counters.work().other_page_programs, 14);
        (read_ns, events.now_ns())
    };
    let ((alone_ns, end_ns), (shared_ns, _)) = (read_done_ns(true), read_done_ns(false));
    assert!(alone_ns > end_ns - 1_000_000, "the read waits for the job: {alone_ns} of {end_ns} ns");
    assert!(shared_ns < 300_000, "the read goes behind the first step: {shared_ns} ns");
}

/// The view of a die for policies agrees with the die's state.
#[test]
fn policies_see_who_waits_what_is_free_and_what_is_left() {
    use crate::ftl::core::Move;
    use crate::sim::index::PhysicalUnit;
    use crate::tasks::view::{Class, DieView, WorkLeft};
    let (mut back_end, mut events) =
        drive(2, 2, "preemption = { policy = \"points\" }\nadmit = { policy = \"window\", slots = 4 }\n");
    let (die, plane) = (DieId(1), PlaneId(3));
    let page = back_end.ftl.write_page(plane, &[LogicalUnit(7)], 0);
    let mut submit = |back_end: &mut BackEnd, role, unit, plane, urgent| {
        let mut txn = Txn::new(role, LogicalUnit(unit), 1, die, plane);
        (txn.arrival_ns, txn.high_priority) = (u64::from(unit), urgent);
        let id = back_end.add_txn(txn);
        back_end.submit(id, &mut events);
        id
    };
    submit(&mut back_end, Role::Write, 1, PlaneId(2), false);
    let second = submit(&mut back_end, Role::Write, 2, plane, true);
    let read = submit(&mut back_end, Role::Read, 7, PlaneId::NONE, false);
    submit(&mut back_end, Role::Write, 3, PlaneId::NONE, false);
    submit(&mut back_end, Role::Read, 9, PlaneId::NONE, false);
    assert!(back_end.visible_die(die, 5).work_left().is_none(), "no collection has the die");
    let unit = back_end.geometry.unit_of_page(page);
    let moves = (0..3).map(|at| Move { unit: LogicalUnit(at), from: PhysicalUnit(unit.0 + at) }).collect();
    let purpose = Purpose { source: Source::GC, picks_victim: true, reserves_die: true };
    let mut job = Job::new(purpose, die, Footprint::one(plane, BlockId::NONE), 1);
    job.begin(BlockId::NONE, moves, 0, 1);
    job.take_for_read(1);
    back_end.gc.jobs.push(job);
    back_end.dies.reserve(die, JobId(0), Source::GC, 0, 0);
    let seen = back_end.visible_die(die, 5);
    assert_eq!((seen.now_ns(), seen.die(), seen.geometry().planes), (5, die, 4));
    assert_eq!(Class::ALL.map(|class| seen.waiting(class)), [0, 2, 3], "the last read waits for a slot");
    assert_eq!([2, 3, u32::MAX].map(|p| seen.waiting_for(Class::Write, PlaneId(p))), [1, 1, 1]);
    assert_eq!([2, 3].map(|p| seen.waiting_for(Class::Read, PlaneId(p))), [0, 1]);
    let first = seen.first(Class::Write).expect("writes wait");
    assert_eq!((first.arrival_ns, first.units, first.is_urgent, first.plane), (1, 1, false, PlaneId(2)));
    assert_eq!(seen.first_for(Class::Write, plane), Some(seen.request(second)));
    assert!(seen.request(second).is_urgent);
    assert_eq!(seen.first_for(Class::Read, plane), Some(seen.request(read)));
    assert_eq!((seen.first_for(Class::Read, PlaneId(2)), seen.first(Class::Gc)), (None, None));
    assert_eq!((seen.free_blocks(plane), seen.free_pages(plane)), (31, 31 * 8 + 7));
    assert_eq!(seen.work_left(), Some(WorkLeft { plane, pages_to_read: 2, pages_to_program: 3, steps: 6 }));
    // Hot data follows.
    back_end.gc.jobs[JobId(0)].hot_mut().push(Move { unit: LogicalUnit(5), from: PhysicalUnit(unit.0 + 5) });
    let left = back_end.visible_die(die, 5).work_left();
    assert_eq!(left, Some(WorkLeft { plane, pages_to_read: 3, pages_to_program: 4, steps: 8 }));
}

/// A page with hot and cold units takes two pages if they are separated. A collection of two victims separates them if
/// the reserve of each plane, a block of 8 pages, takes both kinds: 4 such pages need 8, 5 need 10.
#[test]
fn hot_moves_are_separated_if_each_plane_takes_both_kinds() {
    use crate::ftl::core::Move;
    use crate::sim::index::PhysicalUnit;
    let settings = "frontier = { policy = \"single\", hot_window = \"1 s\", hot_updates = 1 }
                    allocation = { policy = \"static\" }
                    granularity = { policy = \"paired\" }
                    geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2,
                                 blocks_per_plane = 32, pages_per_block = 8, page_size = \"4 KiB\",
                                 mapping_unit = \"1 KiB\" }";
    for (mixed_pages, are_separated) in [(4, true), (5, false)] {
        let (mut back_end, _) = drive(1, 2, settings);
        let hotness = back_end.map.hotness.as_mut().expect("hot data is known");
        (0..mixed_pages).for_each(|page| hotness.on_written(LogicalUnit(4 * page), 0));
        let mut moves: Vec<_> =
            (0..4 * mixed_pages).map(|at| Move { unit: LogicalUnit(at), from: PhysicalUnit(at) }).collect();
        let purpose = Purpose { source: Source::GC, picks_victim: true, reserves_die: true };
        let footprint = Footprint::one(PlaneId(0), BlockId(0)).and(PlaneId(1), BlockId(32));
        back_end.gc.jobs.push(Job::new(purpose, DieId(0), footprint, 1));
        back_end.take_hot(JobId(0), PlaneId(0), &mut moves, 0);
        let hot = if are_separated { mixed_pages } else { 0 };
        let expected = (hot as usize, (4 * mixed_pages - hot) as usize);
        assert_eq!((back_end.gc.jobs[JobId(0)].hot().len(), moves.len()), expected, "{mixed_pages} pages");
    }
}
