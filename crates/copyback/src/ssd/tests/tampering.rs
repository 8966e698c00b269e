//! Every check can fail.
//!
//! Each row breaks the engine in one way during a run. It changes state that only the engine may change, or makes the
//! engine do what it must not, and names the invariant that has to stop the run. The rows together name every
//! invariant, except for those of volumes.

use crate::dispatch::compose::list::BuilderName;
use crate::flash::channel::Channels;
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::flash::{FlashDie, NO_COMMAND, Phase};
use crate::ftl::blocks::BlockState;
use crate::ftl::victim::Victim;
use crate::observe::clocks::Occupant;
use crate::observe::report::CAUSES;
use crate::run::config::RunConfig;
use crate::run::preconditioning::preconditioned;
use crate::run::simulation::{Setup, Simulation};
use crate::sim::index::{BlockId, ChannelId, DieId, JobId, LogicalUnit, PageId, PhysicalUnit, PlaneId, TxnId};
use crate::sim::invariant::Invariant;
use crate::sim::invariant::When;
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::back_end::{BackEnd, Queue};
use crate::ssd::dies::die::PreemptionPoint;
use crate::tasks::gc::preemption::Preemption;
use copyback_workload::{Op, Priority, Request};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A way to break the engine. It is called after each event until it returns that it is done, because it may need a
/// certain moment.
type Tamper = fn(&mut BackEnd, &mut EventQueue) -> bool;

struct Row {
    broken: Invariant,
    /// Lines of the configuration beyond those of [`config`].
    settings: &'static str,
    requests: fn() -> Vec<Request>,
    tamper: Tamper,
}

/// Two channels, and parity of the data of each on the other.
const RAIN: &str = r#"
    redundancy = { policy = "rain" }
    allocation = { policy = "dynamic" }
    frontier = { policy = "single", fill_limit = "1 ms" }
    preemption = { policy = "always" }
    admit = { policy = "strict" }
    capacity = { over_provisioning = 3.0 }
    geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 32, pages_per_block = 8, page_size = "4 KiB", mapping_unit = "2 KiB" }
"#;

const UNIT_BYTES: u64 = 2048;
/// The units that requests use. The drive of each row has at least as many.
const UNITS: u64 = 500;

/// Two dies of two planes on one channel, full and overwritten.
fn config(settings: &str) -> RunConfig {
    let base: toml::Table = toml::from_str(
        r#"
        precondition = { mode = "random", overwrites = 2.0 }
        trigger = { policy = "watermark", soft = 3 }
        capacity = { over_provisioning = 0.6 }
        commands = { cache_read = true, cache_program = true }
        compose = { policy = "list", builders = ["multi-plane", "cache"] }
        timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s", cache_busy = "3 us" }
        host = { mode = "closed", queue_depth = 16 }
        geometry = { channels = 1, chips_per_channel = 2, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 16, pages_per_block = 8, page_size = "4 KiB", mapping_unit = "2 KiB" }
        "#,
    )
    .expect("the base parses");
    let mut table = base;
    table.extend(toml::from_str::<toml::Table>(settings).expect("the row's settings parse"));
    let config: RunConfig = table.try_into().expect("the configuration is complete");
    config.check().expect("the configuration is possible");
    config
}

fn requests(count: u64, op: impl Fn(u64) -> Op, units: u64) -> Vec<Request> {
    let request = |i: u64| Request {
        arrival_ns: 0,
        // A step that shares no factor with the number of places visits them all.
        offset_bytes: i * 7_919 % (UNITS / units) * units * UNIT_BYTES,
        len_bytes: units * UNIT_BYTES,
        device: 0,
        op: op(i),
        priority: Priority::Normal,
    };
    (0..count).map(request).collect()
}

fn writes() -> Vec<Request> {
    requests(4_000, |_| Op::Write, 2)
}
fn reads() -> Vec<Request> {
    requests(2_000, |_| Op::Read, 2)
}
fn reads_of_a_unit() -> Vec<Request> {
    requests(2_000, |_| Op::Read, 1)
}
fn reads_of_four_pages() -> Vec<Request> {
    requests(2_000, |_| Op::Read, 8)
}
fn writes_of_four_pages() -> Vec<Request> {
    requests(2_000, |_| Op::Write, 8)
}
/// Writes to four units, one unit after the other: first a part of the unit, then the whole unit.
fn writes_of_parts() -> Vec<Request> {
    let mut requests = requests(2_000, |_| Op::Write, 2);
    for (i, request) in (0u64..).zip(&mut requests) {
        request.offset_bytes = i / 2 % 4 * UNIT_BYTES;
        request.len_bytes = if i % 2 == 0 { 512 } else { UNIT_BYTES };
    }
    requests
}
/// One write in four is urgent.
fn both_with_urgent_writes() -> Vec<Request> {
    let mut requests = both();
    for (i, request) in (0u64..).zip(&mut requests) {
        request.priority = if i % 4 == 1 { Priority::High } else { Priority::Normal };
    }
    requests
}
fn both() -> Vec<Request> {
    requests(4_000, |i| if i % 3 == 0 { Op::Read } else { Op::Write }, 2)
}

/// Runs a row; an error is what stopped it.
fn run(row: &Row) -> Result<(), String> {
    let config = config(row.settings);
    let ftl = preconditioned(&config, 1).expect("the drive is preconditioned");
    let mut source = (row.requests)().into_iter();
    let setup = Setup {
        host: config.host.clone(),
        source: &mut source,
        requests: None,
        check: true,
        keep_gc_events: false,
        keep_requests: false,
    };
    let mut simulation = Simulation::new(vec![(&config, ftl)], setup);
    let mut is_broken = false;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        simulation.start().expect("there is a request");
        loop {
            if !is_broken {
                let (back_end, events) = simulation.back_end_and_events(0);
                is_broken = (row.tamper)(back_end, events);
            }
            if !simulation.step().expect("the workload can be read") {
                break;
            }
        }
        simulation.check_end();
    }));
    outcome.map_err(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

// ---- what rows look for ---------------------------------------------------------------------------------------------

fn dies(back_end: &BackEnd) -> impl Iterator<Item = DieId> + use<> {
    (0..back_end.geometry.dies).map(DieId)
}

fn planes(back_end: &BackEnd) -> impl Iterator<Item = PlaneId> + use<> {
    (0..back_end.geometry.planes).map(PlaneId)
}

/// A transaction that waits in a die's queue.
fn queued(back_end: &BackEnd, queue: Queue) -> Option<(usize, TxnId)> {
    dies(back_end).find_map(|die| Some((back_end.queue(die, queue), back_end.head(die, queue)?)))
}

/// A job that has its die, with so many moves to go at least.
fn job_with_moves(back_end: &BackEnd, least: usize) -> Option<JobId> {
    let reservations = dies(back_end).map(|die| back_end.dies[die].reserved_by());
    reservations.into_iter().find(|&job| job.is_some() && back_end.gc.jobs[job].pending().len() >= least)
}

fn block_in(back_end: &BackEnd, state: BlockState) -> Option<BlockId> {
    back_end.ftl.blocks().iter().position(|b| b.state == state).map(|at| BlockId(at as u32))
}

fn a_die_at_rest(back_end: &BackEnd) -> Option<DieId> {
    dies(back_end).find(|&die| back_end.flash.is_ready(die) && !back_end.dies[die].is_reserved())
}

/// An open block with at least two pages programmed, and room for at least two more.
fn an_open_block(back_end: &BackEnd) -> Option<BlockId> {
    let per_page = back_end.geometry.units_per_page;
    let written = |b: BlockId| u32::from(back_end.ftl.blocks()[b].written);
    let begun =
        |&b: &BlockId| written(b) >= 2 * per_page && written(b) + 2 * per_page <= back_end.geometry.units_per_block;
    planes(back_end).find_map(|plane| back_end.ftl.open_blocks(plane).find(begun))
}

// ---- the rows -------------------------------------------------------------------------------------------------------

macro_rules! row {
    ($broken:ident, $settings:expr, $requests:ident, $tamper:expr) => {
        Row { broken: Invariant::$broken, settings: $settings, requests: $requests, tamper: $tamper }
    };
}

const NO_WATERMARK_FIFO: &str = "trigger = { policy = \"watermark\", soft = 0 }\nvictim = { policy = \"fifo\" }";
const NO_MULTI_PLANE: &str =
    "commands = { multi_plane = false }\ncompose = { policy = \"list\", builders = [\"cache\"] }";

/// A hard watermark as high as the soft one: every collection is below it.
const HARD_AT_SOFT: &str =
    "preemption = { policy = \"points\" }\ntrigger = { policy = \"watermark\", soft = 3, hard = 1.0 }";
const ALL_STOP_AT_SOFT: &str = "preemption = { policy = \"points\", at_hard = \"all\" }\n\
     trigger = { policy = \"watermark\", soft = 3, hard = 1.0 }";

/// The policy of another configuration.
fn preemption_of(back_end: &BackEnd, settings: &str) -> Preemption {
    Preemption::new(&config(settings).preemption, &back_end.geometry, back_end.flash.timing())
}

/// Four planes that take a row in two commands.
const ROWS_BY_PAIRS: &str = "commands = { plane_pairs = true }\nfrontier = { policy = \"row\" }\n\
     granularity = { policy = \"aligned\" }\ngeometry = { channels = 1, chips_per_channel = 2, dies_per_chip = 1, \
     planes_per_die = 4, blocks_per_plane = 16, pages_per_block = 8, page_size = \"4 KiB\", mapping_unit = \"2 KiB\" }";

/// Two units change places, and no map is wrong.
fn swap(back_end: &mut BackEnd, a: LogicalUnit, b: LogicalUnit) {
    let (at_a, at_b) = (back_end.ftl.lookup(a), back_end.ftl.lookup(b));
    let inside = back_end.ftl.inside();
    (_, _) = (inside.map.set(a, at_b), inside.map.set(b, at_a));
    (inside.reverse[at_a.at()], inside.reverse[at_b.at()]) = (b, a);
}

const ROWS: &[Row] = &[
    row!(TimeOrder, "", writes, |back_end, events| {
        let is_late = events.now_ns() > 0;
        if is_late {
            events.schedule(back_end.flash.die_timer(DieId(0)), events.now_ns() - 1);
        }
        is_late
    }),
    row!(TransferEnded, "", writes, |back_end, events| {
        let flash = back_end.flash.inside();
        let is_busy = !flash.channels[ChannelId(0)].is_free(events.now_ns());
        if is_busy {
            flash.channels[ChannelId(0)].occupy(events.now_ns(), 10, DieId(0));
        }
        is_busy
    }),
    row!(LegalCommand, "", reads, |back_end, events| {
        let Some(die) = a_die_at_rest(back_end) else { return false };
        let mut command = Command::new(FlashOp::Read, Source::HOST, JobId::NONE, events.now_ns());
        let plane = back_end.geometry.planes_of(die).next().unwrap();
        let beyond = PageId((plane.0 + 1) * back_end.geometry.blocks_per_plane * back_end.geometry.pages_per_block);
        command.push(CommandPlane { plane, page: beyond, units: 1, txn: TxnId::NONE });
        back_end.issue(die, &command, events);
        true
    }),
    row!(PageRoom, "", writes, |back_end, _| {
        let Some(block) = an_open_block(back_end) else { return false };
        back_end.ftl.inside().blocks[block].written += 1;
        true
    }),
    row!(FreeBlock, "", writes, |back_end, _| {
        let Some(block) = block_in(back_end, BlockState::Free) else { return false };
        back_end.ftl.inside().blocks[block].state = BlockState::Closed;
        true
    }),
    row!(FreeBlock, "", writes, |back_end, _| {
        let inside = back_end.ftl.inside();
        (0..4).for_each(|plane| while inside.free.pop_front(plane).is_some() {});
        true
    }),
    row!(VictimFull, "", writes, |back_end, _| {
        let full: Vec<_> = (0..back_end.geometry.blocks)
            .map(BlockId)
            .filter(|&b| back_end.ftl.blocks()[b].state == BlockState::Closed)
            .collect();
        full.iter().for_each(|&b| back_end.ftl.inside().blocks[b].state = BlockState::Open);
        true
    }),
    row!(VictimRoom, "", writes, |back_end, _| {
        let first = |d: DieId| back_end.dies[d].first_job();
        let Some(job) = dies(back_end).find_map(first) else { return false };
        let plane = back_end.gc.jobs[job].plane();
        let (full, page) = (back_end.geometry.units_per_block, back_end.geometry.units_per_page);
        let open: Vec<_> = back_end.ftl.open_blocks(plane).collect();
        open.iter().for_each(|&b| back_end.ftl.inside().blocks[b].written = (full - page) as u16);
        back_end.ftl.forget_free_blocks(plane);
        true
    }),
    row!(VictimEmpty, "", writes, |back_end, _| {
        let Some(job) = job_with_moves(back_end, 1) else { return false };
        back_end.records.shadow = None;
        back_end.gc.jobs[job].moves_mut().pop();
        true
    }),
    row!(OneJob, "", writes, |back_end, events| {
        let Some(plane) = planes(back_end).find(|p| back_end.gc.jobs.is_on(*p)) else { return false };
        let first = back_end.ftl.blocks().id(plane, 0);
        back_end.start_relocation(first, Source::WEAR, events);
        true
    }),
    // The host uses a die with a non-preemptible collection, while the collection's step is under way on another die.
    row!(DieReservation, "granularity = { policy = \"block\", destination = \"global\" }", both, |back_end, events| {
        let reserved = |back_end: &BackEnd, d: DieId| back_end.dies[d].is_reserved() && back_end.flash.is_ready(d);
        let Some(die) = dies(back_end).find(|&d| reserved(back_end, d) && back_end.head(d, Queue::Read).is_some())
        else {
            return false;
        };
        let read = back_end.head(die, Queue::Read).expect("it was looked at");
        back_end.take_read(die, read, events);
        true
    }),
    // The host uses a die whose preemptible collection is still polling the queue.
    row!(DieReservation, "preemption = { policy = \"points\" }", both, |back_end, events| {
        let polls = |back_end: &BackEnd, d: DieId| back_end.dies[d].point() == PreemptionPoint::Polling;
        let Some(die) = dies(back_end).find(|&d| polls(back_end, d) && back_end.head(d, Queue::Read).is_some()) else {
            return false;
        };
        let read = back_end.head(die, Queue::Read).expect("it was looked at");
        back_end.take_read(die, read, events);
        true
    }),
    // The policy admits requests to the plane whose register holds a page.
    row!(PlaneExcluded, "preemption = { policy = \"points\" }", both, |back_end, _| {
        back_end.scheme.preemption =
            preemption_of(back_end, "preemption = { policy = \"points\", at_register = \"none\" }");
        true
    }),
    // State 2 of ispass11 Fig. 7 (`preemption::State`): below the hard watermark a write goes before a collection.
    row!(HardWatermark, HARD_AT_SOFT, both, |back_end, _| {
        let never_hard = config("trigger = { policy = \"watermark\", soft = 3, hard = 0.0 }").trigger;
        back_end.scheme.trigger = never_hard.build(&back_end.geometry);
        true
    }),
    // A scheme that stops all requests lets reads go.
    row!(HardWatermark, ALL_STOP_AT_SOFT, both, |back_end, _| {
        back_end.scheme.preemption = preemption_of(back_end, HARD_AT_SOFT);
        true
    }),
    // State 3: a write of high priority waits as well, but a read goes.
    row!(HardWatermark, HARD_AT_SOFT, both_with_urgent_writes, |back_end, _| {
        let polls_in_state_3 = |&d: &DieId| {
            let die = &back_end.dies[d];
            let urgent =
                back_end.queues.iter(back_end.queue(d, Queue::Write)).any(|id| back_end.txns[TxnId(id)].high_priority);
            urgent && die.point() == PreemptionPoint::Polling && back_end.head(d, Queue::Read).is_some()
        };
        let Some(die) = dies(back_end).find(polls_in_state_3) else { return false };
        *back_end.dies[die].inside().high_priority_waiting = 0;
        true
    }),
    row!(TimeExplained, "", both, |back_end, _| {
        let Some((_, txn)) = queued(back_end, Queue::Read) else { return false };
        back_end.txns[txn].breakdown_ns[0] += 1;
        true
    }),
    // The array time of a command exceeds the time that elapsed.
    row!(TimeExplained, "", reads, |back_end, _| {
        let Some(d) = back_end.flash.inside().dies.iter_mut().find(|d| d.array.is_busy()) else { return false };
        d.commands[d.array.at() as usize].array_end_ns += 100_000;
        true
    }),
    // The only part of a request that arrived at time 0 ends twice.
    row!(RequestOnce, "", reads_of_a_unit, |back_end, events| {
        let Some((_, txn)) = queued(back_end, Queue::Read) else { return false };
        back_end.txns[txn].breakdown_ns = [0; CAUSES];
        back_end.txns[txn].breakdown_ns[0] = events.now_ns() + 50_000;
        let is_next = events.now_ns() == 0;
        if is_next {
            [txn, txn].into_iter().for_each(|txn| back_end.host_side.endings.end(txn));
        }
        is_next
    }),
    row!(Window, "", both, |back_end, _| {
        let Some(die) = dies(back_end).find(|d| back_end.admission.control.windows().used(*d) > 0) else {
            return false;
        };
        *back_end.admission.control.used_mut(die) = 0;
        true
    }),
    row!(DecisionsEnd, "", both, |back_end, _| {
        back_end.scheme.settings.decisions_max = 2;
        true
    }),
    // The victim policy has forgotten all blocks but those that are full of valid data.
    row!(CollectionsReclaim, NO_WATERMARK_FIFO, writes, |back_end, _| {
        if back_end.dies.waiting_for_space() == 0 {
            return false;
        }
        *back_end.ftl.inside().victim = Victim::new(&config(NO_WATERMARK_FIFO).victim, &back_end.geometry, 1);
        true
    }),
    row!(RunEnds, "", both, |back_end, _| {
        let Some((list, txn)) = queued(back_end, Queue::Read) else { return false };
        back_end.queues.remove(list, txn.0);
        true
    }),
    row!(AllReturned, "", writes, |back_end, _| {
        *back_end.admission.control.used_mut(DieId(0)) += 1;
        true
    }),
    // Two faults do not make up for each other.
    row!(AllReturned, "", writes, |back_end, _| {
        *back_end.dies[DieId(0)].inside().waiting += 1;
        *back_end.dies[DieId(0)].inside().reads_waiting += 1;
        true
    }),
    row!(AllReturned, "", writes, |back_end, _| {
        back_end.admission.reservations.break_reservation(PlaneId(0), 1);
        true
    }),
    row!(ProgramsAddUp, "", writes, |back_end, _| {
        back_end.records.counters.inside().gc_units += 1;
        true
    }),
    row!(ProgramsAddUp, "", writes, |back_end, _| {
        back_end.records.counters.inside().host_page_programs -= 1;
        true
    }),
    row!(ProgramsAddUp, "", writes, |back_end, _| {
        back_end.records.counters.inside().block_erases += 1;
        true
    }),
    row!(BusyTime, "", writes, |back_end, _| {
        *back_end.flash.inside().plane_busy_ns += 1 << 50;
        true
    }),
    row!(MeasuredShares, "", writes, |back_end, _| {
        back_end.records.counters.on_plane_busy(1 << 50);
        true
    }),
    row!(ClocksCurrent, "", writes, |back_end, events| {
        if back_end.dies[DieId(0)].is_marked() || back_end.occupant_of(DieId(0)).0 != Occupant::NoWork {
            return false;
        }
        back_end.dies[DieId(0)].switch_clock(events.now_ns(), Occupant::Scrub, false);
        back_end.check_clocks();
        true
    }),
    row!(BlocksAddUp, "", writes, |back_end, _| {
        *back_end.ftl.inside().free_blocks += 1;
        true
    }),
    row!(BlocksAddUp, "", reads, |back_end, _| {
        let Some(block) = block_in(back_end, BlockState::Closed) else { return false };
        back_end.ftl.inside().blocks[block].written -= 1;
        true
    }),
    row!(MapBothWays, "", reads, |back_end, _| {
        let place = back_end.ftl.lookup(LogicalUnit(3));
        back_end.ftl.inside().reverse[place.at()] = LogicalUnit(4);
        back_end.check_all();
        true
    }),
    row!(MapBothWays, "", reads, |back_end, _| {
        let Some(block) = block_in(back_end, BlockState::Closed) else { return false };
        back_end.ftl.inside().blocks[block].valid ^= 1;
        back_end.check_all();
        true
    }),
    // Parity is lost.
    row!(StripesWhole, RAIN, writes, |back_end, _| {
        // Some parity is in flash.
        let parity = back_end.geometry.logical_units..back_end.geometry.first_map_unit();
        assert!(parity.map(LogicalUnit).filter(|&unit| back_end.ftl.trim(unit)).count() > 0);
        back_end.check_all();
        true
    }),
    row!(StripesWhole, RAIN, writes, |back_end, _| {
        let parity = back_end.geometry.stripes.expect("there is parity").parity_of(LogicalUnit(0));
        // On the channel of its data.
        back_end.ftl.append(PlaneId(0), LogicalUnit(0), 0);
        back_end.ftl.append(PlaneId(0), parity, 0);
        back_end.check_all();
        true
    }),
    // Data moves without an update of the map.
    row!(TranslationCurrent, "mapping = { policy = \"dftl\" }", writes, |back_end, _| {
        back_end.map.stop_tracking_moves();
        back_end.check_all();
        false
    }),
    // Two pages of data blocks change places.
    row!(
        LogBlocks,
        "mapping = { policy = \"fast\" }\nprecondition = { mode = \"sequential\" }",
        reads,
        |back_end, _| {
            let (a, b) = (LogicalUnit(0), LogicalUnit(2));
            swap(back_end, a, b);
            back_end.check_all();
            true
        }
    ),
    row!(MovesCounted, "granularity = { policy = \"paired\" }", writes, |back_end, _| {
        let jobs = || planes(back_end).map(|p| back_end.gc.jobs.of_plane(p)).filter(|id| id.is_some());
        let Some(job) = jobs().find(|id| back_end.gc.jobs[*id].footprint().has_several_blocks()) else { return false };
        back_end.gc.jobs[job].miscount_pages_left();
        back_end.check_all();
        true
    }),
    row!(ReservationsCovered, "", writes, |back_end, _| {
        let Some(plane) = planes(back_end).find(|p| back_end.gc.jobs.is_free(*p)) else { return false };
        back_end.admission.reservations.break_reservation(plane, 1_000);
        back_end.check_all();
        true
    }),
    row!(BestDie, "allocation = { policy = \"dynamic\" }", writes, |back_end, _| {
        back_end.admission.searches.as_mut().expect("dynamic allocation compares dies").forget_gains();
        false
    }),
    row!(NewestRead, "", reads, |back_end, _| {
        swap(back_end, LogicalUnit(0), LogicalUnit(2));
        true
    }),
    row!(NewestWritten, "", writes_of_parts, |back_end, _| {
        back_end.map.newest.forget();
        false
    }),
    row!(NewestMoved, "", writes, |back_end, _| {
        let Some(job) = job_with_moves(back_end, 1) else { return false };
        let from = back_end.gc.jobs[job].pending().last().unwrap().from;
        let other = back_end.ftl.lookup(LogicalUnit(0));
        if back_end.gc.jobs[job].pending().last().unwrap().unit == LogicalUnit(0) || other.is_none() {
            return false;
        }
        // The place of the last move is recorded as the place of another unit.
        back_end.gc.jobs[job].moves_mut().last_mut().unwrap().unit = LogicalUnit(0);
        back_end.ftl.inside().map.set(LogicalUnit(0), from);
        true
    }),
    row!(ProgrammedOnce, "", writes, |back_end, _| {
        let Some(block) = an_open_block(back_end) else { return false };
        back_end.ftl.inside().blocks[block].written -= back_end.geometry.units_per_page as u16;
        true
    }),
    // A job begins its erase while its last page is on its way to another die.
    row!(NothingLost, "granularity = { policy = \"block\", destination = \"global\" }", writes, |back_end, _| {
        let home = dies(back_end).find(|d| {
            let job = back_end.dies[*d].reserved_by();
            job.is_some() && back_end.flash.is_ready(*d) && {
                let j = &back_end.gc.jobs[job];
                j.is_stepping() && j.moves_left() == 0
            }
        });
        let Some(home) = home else { return false };
        let job = back_end.dies[home].reserved_by();
        back_end.gc.jobs[job].end_step();
        back_end.mark_ready(home);
        true
    }),
    row!(RowAligned, ROWS_BY_PAIRS, writes, |back_end, _| { back_end.dies.lose_rests() }),
    row!(OnfiOneCommand, "commands = { cache_program = false }", writes, |back_end, _| {
        back_end.scheme.settings.follow.program = true;
        true
    }),
    row!(OnfiOneCommand, "commands = { cache_read = false }", reads, |back_end, _| {
        back_end.scheme.settings.follow.read = true;
        true
    }),
    row!(OnfiAddress, NO_MULTI_PLANE, reads_of_four_pages, |back_end, _| {
        back_end.flash.inside().rules.commands.multi_plane = true;
        back_end.scheme.settings.compose.builders.push(BuilderName::MultiPlane);
        true
    }),
    row!(OnfiAddress, "commands = { same_block = true }", writes_of_four_pages, |back_end, _| {
        back_end.flash.inside().rules.commands.same_block = false;
        true
    }),
    row!(OnfiBus, "compose = { policy = \"list\", builders = [] }", writes, |back_end, events| {
        // The only channel's timer follows those of both dies.
        let timer = Timer(back_end.flash.die_timer(DieId(0)).0 + back_end.geometry.dies);
        let flash = back_end.flash.inside();
        let is_idle = !flash.channels[ChannelId(0)].has_waiters() && !events.is_pending(timer);
        if is_idle && flash.channels[ChannelId(0)].busy_until_ns() > events.now_ns() {
            *flash.channels = Channels::new(1, 2, true);
        }
        false
    }),
    row!(OnfiTransferTime, "", reads, |back_end, events| {
        let flash = back_end.flash.inside();
        let has_waiters = events.now_ns() > 0 && flash.channels[ChannelId(0)].has_waiters();
        if has_waiters {
            flash.dies.iter_mut().for_each(|d| d.bus_ns += 1);
        }
        has_waiters
    }),
    row!(OnfiArrayBusy, "", reads, |back_end, _| {
        back_end.flash.inside().timing.cache_busy_ns -= 1;
        true
    }),
    row!(OnfiArrayTime, "", writes, |back_end, _| {
        back_end.flash.inside().timing.erase_ns -= 1;
        true
    }),
    // A program that waits for the channel is taken for a read.
    row!(OnfiDataReady, "", writes, |back_end, _| {
        let flash = back_end.flash.inside();
        let has_waiters = flash.channels[ChannelId(0)].has_waiters();
        let waits = |d: &&mut FlashDie| {
            d.bus != NO_COMMAND
                && d.phase == Phase::Load
                && d.commands[d.bus as usize].planes == 1
                && d.commands[d.bus as usize].issued_ns == d.commands[d.bus as usize].loaded_ns
                && has_waiters
        };
        let mut found = false;
        for d in flash.dies.iter_mut().filter(waits) {
            (d.phase, found) = (Phase::Out, true);
        }
        found
    }),
    // The data of a plane is left in its register, and the next page sent.
    row!(
        OnfiRegister,
        "frontier = { policy = \"single\", fill_limit = \"1 ms\" }",
        reads_of_four_pages,
        |back_end, _| {
            let leaves = |d: &&mut FlashDie| {
                let follows = d.array.is_busy() || d.staged != NO_COMMAND;
                follows
                    && d.bus != NO_COMMAND
                    && d.commands[d.bus as usize].planes == 2
                    && d.commands[d.bus as usize].out == 0
            };
            let Some(d) = back_end.flash.inside().dies.iter_mut().find(leaves) else { return false };
            d.commands[d.bus as usize].planes = 1;
            true
        }
    ),
    row!(OnfiPageOrder, "", writes, |back_end, _| {
        let Some(block) = an_open_block(back_end) else { return false };
        back_end.ftl.inside().blocks[block].written += back_end.geometry.units_per_page as u16;
        true
    }),
    row!(OnfiEraseFirst, "", writes, |back_end, _| {
        let Some(block) = an_open_block(back_end) else { return false };
        back_end.records.shadow = None;
        back_end.ftl.inside().blocks[block].written -= back_end.geometry.units_per_page as u16;
        true
    }),
    row!(OnfiReadProgrammed, "", reads, |back_end, _| {
        let Some(block) = block_in(back_end, BlockState::Free) else { return false };
        back_end.records.shadow = None;
        let place: PhysicalUnit = back_end.geometry.first_unit(block);
        back_end.ftl.inside().map.set(LogicalUnit(0), place);
        true
    }),
];

#[test]
fn an_engine_that_is_not_broken_passes() {
    let mut passed: Vec<(&str, Vec<Request>)> = Vec::new();
    for row in ROWS {
        // Without tampering, rows of the same drive and requests are one run.
        let run_of_row = (row.settings, (row.requests)());
        if passed.contains(&run_of_row) {
            continue;
        }
        passed.push(run_of_row);
        let untouched = Row { tamper: |_, _| false, ..*row };
        assert_eq!(run(&untouched), Ok(()), "{:?} without tampering", row.broken);
    }
}

#[test]
fn a_broken_engine_is_caught_by_the_invariant_that_it_breaks() {
    let mut missed = Vec::new();
    for (number, row) in ROWS.iter().enumerate() {
        let outcome = run(row);
        let found = outcome.as_ref().err().and_then(|text| Invariant::named_in(text));
        if found != Some(row.broken) {
            missed.push(format!("row {number}, {:?}: {outcome:?}", row.broken));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_invariant_has_a_row() {
    // Invariants of volumes are broken in the tests of volumes.
    let of_volumes = [Invariant::StripeParity, Invariant::StripeLock];
    let has_row = |i: &Invariant| of_volumes.contains(i) || ROWS.iter().any(|row| row.broken == *i);
    let without: Vec<_> = Invariant::ALL.iter().filter(|i| !has_row(i)).collect();
    assert!(without.is_empty(), "nothing breaks {without:?}");
    assert!(Invariant::ALL.iter().filter(|i| i.when() == When::Always).count() > 10);
}
