//! One drive: its translation layer, its dies and channels, and what waits at them.
//!
//! This file holds the state and what the rest of the simulation may ask of it; the engine's parts stand beside it, a
//! file for each subject. A transaction passes `admission` (into a die's queue) and `issue` (into a command); a
//! collection `collection` (which plane), `walks` (which block) and `steps` or `lone_steps` (its commands); `sharing`,
//! `pairing` and `merging` say what the two have of each other; `flow` hears what flash says.

use super::config::DriveConfig;
use super::dies::die::Die;
use super::gc::coordination::Told;
use super::gc::relocation_queues::Relocations;
use super::map::hotness::Hotness;
use super::map::lookups::Translation;
use super::redundancy::parity::Parity;
use super::requests::filling_pages::Filling;
use super::requests::firmware_delays::Delaying;
use super::settings::Settings;
use super::timers::{ALARMS, Alarm, Timers};
use crate::buffer::Buffer;
use crate::dispatch::admit::{Admit, Setup};
use crate::dispatch::order::Order;
pub(super) use crate::dispatch::queues::Queue;
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::{Txn, Txns};
use crate::dispatch::windows::Windows;
use crate::flash::Flash;
use crate::flash::command::{Command, Rules, Source};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::ftl::core::{Counts, Ftl};
use crate::ftl::space::Space;
use crate::ftl::write_ordering::Newest;
use crate::observe::clocks::Occupant;
use crate::observe::commands::{CommandFilter, CommandRecord};
use crate::observe::counters::Counters;
use crate::observe::flash_requests::FlashRequestTotals;
use crate::observe::observers::Observers;
use crate::observe::protocol::ProtocolChecker;
use crate::observe::shadow::Shadow;
use crate::sim::index::{ChannelId, DieId, JobId, LogicalUnit, PlaneId, RequestId, TxnId};
use crate::sim::queue::{EventQueue, Timer};
use crate::tasks::background::Background;
use crate::tasks::gc::granularity::{Granularity, GranularityPolicy};
use crate::tasks::gc::preemption::Preemption;
use crate::tasks::gc::trigger::Trigger;
use crate::tasks::job::Job;
use std::collections::VecDeque;

/// What ended at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The step of a job that has its die to itself. Where that was a transfer, the channel goes on with who waits for
    /// it.
    LoneStep(DieId, ChannelId),
    /// A part of such a step, or the poll before it; or a part of another command of which nobody wants to know.
    LonePart,
    /// Anything else.
    Other,
}

/// One drive of a run.
pub struct Drive {
    /// The translation layer.
    pub(super) ftl: Ftl,
    pub(super) geometry: Geometry,
    /// Dies, registers and channels.
    pub(super) flash: Flash<Observers>,
    pub(super) settings: Settings,
    /// Steps of collection that nobody disturbs follow each other in place; nobody observes them.
    pub(super) steps_alone: bool,
    pub(super) order: Order,
    pub(super) preemption: Preemption,
    pub(super) trigger: Trigger,
    pub(super) granularity: Granularity,
    pub(super) dies: Vec<Die>,
    pub(super) txns: Txns,
    pub(super) queues: Queues,
    pub(super) windows: Windows,
    pub(super) admit: Admit,
    /// Shares of tasks are updated when this comes up.
    pub(super) shares_timer: Timer,
    /// Reads and writes of the host that have come, where tasks are told apart.
    pub(super) arrived: [u64; 2],
    /// When they were updated last, while updates are left out that would change nothing.
    pub(super) shares_settled_ns: Option<u64>,
    /// Transactions that entered windows.
    pub(super) entered: u64,
    pub(super) jobs: Vec<Job>,
    pub(super) free_jobs: Vec<JobId>,
    pub(super) job_of_plane: Vec<JobId>,
    /// What is relocated without a die of its own.
    pub(super) relocations: Relocations,
    /// Requests that firmware is making, where that takes time.
    pub(super) delaying: Option<Box<Delaying>>,
    /// What else relocates blocks.
    pub(super) background: Vec<Background>,
    /// Tasks that have something to do begin it when this comes up.
    pub(super) background_timer: Timer,
    /// Which entries of the map are in DRAM, where the map lives in flash.
    pub(super) translation: Option<Box<Translation>>,
    /// How often the host wrote each unit, where hot and cold data have blocks of their own.
    pub(super) hotness: Option<Box<Hotness>>,
    /// Somebody has to know where data goes: the index of the queues, the map, or who tells hot from cold.
    pub(super) hears_moves: bool,
    /// Pages that fill, where small writes wait for each other.
    pub(super) filling: Option<Box<Filling>>,
    /// Parity of stripes, where there is some.
    pub(super) parity: Option<Box<Parity>>,
    /// What DRAM holds, where the drive has a write buffer.
    pub(super) buffer: Option<Buffer>,
    /// Of each die what is left of a command that the device takes only pair by pair; empty where it takes all whole.
    pub(super) rests: Vec<Option<Command>>,
    /// Which pages are free for whom.
    pub(super) space: Space,
    /// Room for the page offsets that the victim policy looks at.
    pub(super) read_offsets: Vec<u32>,
    /// Collections of each plane, the last in a row, that freed no page.
    pub(super) fruitless_collections: Vec<u32>,
    /// Which write of each unit is the newest that was bound.
    pub(super) newest: Newest,
    /// What every place in flash holds, under `--check`.
    pub(super) shadow: Option<Shadow>,
    /// What it was told, where somebody outside says when it collects.
    pub(super) told: Option<Box<Told>>,
    pub(super) is_collecting_device: bool,
    pub(super) is_collecting_die: Vec<bool>,
    pub(super) dies_reserved: u32,
    /// Since when the drive has had nothing to do, where the trigger wants to know.
    pub(super) idle_since_ns: Option<u64>,
    /// No more requests will come.
    pub(super) is_host_done: bool,
    /// Transactions that wait for a page to land on.
    pub(super) waiting_for_space: u32,
    /// They, and updates of the map by collections for which one waits: what only a collection can bring.
    pub(super) waiting_for_gc: u32,
    pub(super) min_free_blocks: u32,
    /// Dies for which something changed at this moment, in the order of the changes.
    pub(super) marked: Vec<DieId>,
    /// What it did.
    pub(super) counters: Counters,
    /// Time of the host's flash requests, where that is measured.
    pub(super) flash_requests: Option<Box<FlashRequestTotals>>,
    /// Transactions that ended and were not fetched yet.
    pub(super) done: VecDeque<TxnId>,
    /// Requests of which a transaction was split in two, once for each split.
    pub(super) split_of: Vec<RequestId>,
    /// What the drive had done before the run, and how much of its flash was programmed then.
    pub(super) preconditioning: (Counts, u64),
    first_timer: u32,
}

impl Drive {
    /// A preconditioned drive, whose events use these timers.
    pub fn new(config: &DriveConfig<'_>, ftl: Ftl, timers: Timers, check: bool, keep_gc_events: bool) -> Self {
        let Timers { alarms, first: first_timer } = timers;
        let geometry = ftl.geometry.clone();
        let flash_geometry = Geometry::new(&config.device);
        let timing = Timing::new(config.device.timing, geometry.unit_bytes, geometry.units_per_flash_page);
        let preemption = Preemption::new(config.preemption, &geometry, &timing);
        let order = Order::new(config.order, &geometry, &timing);
        let urgent_first = order.puts_gc_first();
        let settings = Settings::new(config, &ftl, &preemption);
        let rules = Rules::new(config.device.commands);
        let mut flash = Flash::new(&flash_geometry, timing, rules, urgent_first, settings.hears_loads(), first_timer);
        if check {
            flash.observe(Box::new(Observers::watching(ProtocolChecker::new(&config.device, ftl.pages_programmed()))));
        }
        let splits_rows = geometry.row_planes > 2 && config.device.commands.plane_pairs;
        let granularity = config.granularity.build();
        let is_simple = !granularity.leaves_plane() && !granularity.copies_back() && !geometry.is_in_rows();
        let is_simple =
            is_simple && !ftl.has_log_blocks() && config.mapping.cache().is_none() && ftl.hot_cold().is_none();
        let made = alarms.timer(Alarm::Made);
        let delaying = config.tasks.delays.as_ref().map(|params| Box::new(Delaying::new(params, ftl.seed(), made)));
        let background = config.tasks.build(ftl.blocks(), ftl.seed());
        let is_simple = is_simple && background.is_empty();
        let steps_alone = settings.allows_lone_steps() && is_simple && flash.has_lone_commands();
        let mut newest = Newest::new(geometry.mapped_units);
        let merges_parts = settings.merge && geometry.units_per_page > 1;
        if !ftl.allocation().is_static() || merges_parts {
            newest.track();
        }
        let queues = Queues::new(&geometry, settings.asks_of_queues(&preemption, &ftl));
        let hotness = ftl.hot_cold().map(|hot| Box::new(Hotness::new(hot, geometry.mapped_units)));
        // Whole pages of the flash that wait for a row go there together, unless a collection takes them one by one.
        let shares_rows = geometry.shares_rows() && geometry.units_per_flash_page == 1 && !settings.combines;
        let writes_per_page = if shares_rows { geometry.row_planes } else { 1 };
        let hears_moves = queues.has_index() || config.mapping.cache().is_some() || hotness.is_some();
        let known = ftl.allocation().knows();
        let filling = config
            .frontier
            .fill()
            .map(|fill| Box::new(Filling::new(fill, known, &geometry, alarms.timer(Alarm::FillLimit))));
        if filling.is_some() || delaying.is_some() {
            newest.track();
        }
        let lowest = (0..geometry.planes).map(|p| ftl.free_blocks_of(PlaneId(p))).min();
        Self {
            flash,
            steps_alone,
            settings,
            order,
            preemption,
            trigger: config.trigger.build(&geometry),
            granularity,
            dies: (0..geometry.dies).map(|_| Die::new()).collect(),
            txns: Txns::new(64),
            queues,
            windows: Windows::new(config.admit.slots(), geometry.dies),
            admit: Admit::new(config.admit, &Setup { dies: geometry.dies, seed: ftl.seed() }),
            shares_timer: alarms.timer(Alarm::Shares),
            arrived: [0; 2],
            shares_settled_ns: None,
            entered: 0,
            jobs: Vec::new(),
            free_jobs: Vec::new(),
            job_of_plane: vec![JobId::NONE; geometry.planes as usize],
            relocations: Relocations::new(config.preemption.as_task(), config.redundancy.turns(), &ftl),
            delaying,
            background,
            background_timer: alarms.timer(Alarm::Background),
            hotness,
            hears_moves,
            translation: config.mapping.cache().map(|cache| Box::new(Translation::new(cache, &ftl, check))),
            filling,
            parity: Parity::new(config.redundancy, &geometry),
            buffer: None,
            rests: if splits_rows { vec![None; geometry.dies as usize] } else { Vec::new() },
            space: Space::new(&geometry, writes_per_page),
            read_offsets: Vec::new(),
            fruitless_collections: vec![0; geometry.planes as usize],
            newest,
            shadow: check.then(|| Shadow::new(&ftl)),
            told: None,
            is_collecting_device: false,
            is_collecting_die: vec![false; geometry.dies as usize],
            dies_reserved: 0,
            idle_since_ns: None,
            is_host_done: false,
            waiting_for_space: 0,
            waiting_for_gc: 0,
            min_free_blocks: lowest.unwrap_or(0),
            marked: Vec::with_capacity(geometry.dies as usize),
            counters: Counters::new(keep_gc_events),
            flash_requests: None,
            done: VecDeque::with_capacity(64),
            split_of: Vec::new(),
            preconditioning: (ftl.counts(), ftl.units_programmed()),
            first_timer,
            ftl,
            geometry,
        }
    }

    /// Timers of the event queue that a drive of this shape needs.
    pub fn timers(geometry: &Geometry) -> u32 {
        Flash::<Observers>::timers(geometry) + 1
    }

    /// The timer of the end of a time without work.
    pub(super) fn idle_timer(&self) -> Timer {
        Timer(self.first_timer + self.geometry.dies + self.geometry.channels)
    }

    /// When the drive's next event comes, but for updates of shares.
    pub(super) fn next_event_ns(&self, events: &EventQueue) -> Option<u64> {
        let own = self.first_timer..self.first_timer + Self::timers(&self.geometry);
        let first_alarm = self.shares_timer.0 - Alarm::Shares as u32;
        let alarms = (first_alarm..first_alarm + ALARMS).filter(|&timer| timer != self.shares_timer.0);
        own.chain(alarms).filter_map(|timer| events.time_of(Timer(timer))).min()
    }

    /// Handles an event of this drive; `local` counts from its first timer. Whether anything may follow from it: a
    /// request that ends, a die that takes what waits.
    #[inline(always)]
    pub fn on_event(&mut self, local: u32, events: &mut EventQueue) -> bool {
        let ended = if local < self.geometry.dies {
            self.on_array_end(DieId(local), events)
        } else if local < self.geometry.dies + self.geometry.channels {
            self.on_channel_event(ChannelId(local - self.geometry.dies), events)
        } else {
            self.on_idle(events);
            Ended::Other
        };
        match ended {
            Ended::LoneStep(die, channel) => {
                let goes_on = self.end_lone_step(die, events);
                if channel.is_some() && (goes_on || !self.puts_off_grant(die, channel, events)) {
                    self.flash.grant(channel, events);
                }
                !goes_on
            }
            Ended::LonePart => false,
            Ended::Other => true,
        }
    }

    /// Has the map entry of what a request begins with fetched into the processor's cache.
    #[inline(always)]
    pub(crate) fn fetch_ahead(&self, offset_bytes: u64) {
        if let Ok(unit) = u32::try_from(offset_bytes / u64::from(self.geometry.unit_bytes)) {
            self.ftl.prefetch_entry(LogicalUnit(unit));
        }
    }

    /// The list that holds a die's queue.
    #[inline(always)]
    pub(super) fn queue(&self, die: DieId, queue: Queue) -> usize {
        self.queues.of_die(die, queue)
    }

    /// The list of transactions that wait for space where `plane` is, or on the die where the plane is open.
    #[inline(always)]
    pub(super) fn space_queue(&self, die: DieId, plane: PlaneId) -> usize {
        let first = if plane.is_none() { self.relocations.first_in_line(die) } else { die };
        self.queues.for_space(first, plane)
    }

    /// Appends a transaction to a list.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, list: usize, txn: TxnId) {
        let ftl = &self.ftl;
        self.queues.push_back(list, txn, &self.txns, |unit| ftl.lookup(unit));
    }

    /// Adds a transaction that has not begun to wait anywhere.
    pub(crate) fn add_txn(&mut self, txn: Txn) -> TxnId {
        if txn.waits_for > 0 {
            self.newest.track();
        }
        self.txns.add(txn)
    }

    /// A transaction.
    pub(crate) fn txn(&self, id: TxnId) -> &Txn {
        &self.txns[id]
    }

    /// Ends a transaction that was fetched from `done`.
    pub(crate) fn remove_txn(&mut self, id: TxnId) {
        self.txns.remove(id);
    }

    /// A transaction that ended, in the order of their ends.
    pub(crate) fn take_done(&mut self) -> Option<TxnId> {
        self.done.pop_front()
    }

    /// A request of which a transaction was split in two, once for each split.
    pub(crate) fn take_split(&mut self) -> Option<RequestId> {
        self.split_of.pop()
    }

    /// Whether a transaction ended or was split and nobody heard of it yet.
    #[inline(always)]
    pub(crate) fn has_news(&self) -> bool {
        !self.done.is_empty() || !self.split_of.is_empty()
    }

    /// Transactions under way.
    pub fn txns_live(&self) -> usize {
        self.txns.live()
    }

    /// Its translation layer.
    #[inline(always)]
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The drive's shape as its translation layer sees it: see [`Ftl::geometry`].
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The shape of its flash.
    pub fn flash_geometry(&self) -> &Geometry {
        self.flash.geometry()
    }

    /// Keeps a record of commands from now on, in which the drive has this number.
    pub(crate) fn keep_commands(&mut self, number: u32, filter: CommandFilter) {
        if !self.flash.is_observed() {
            self.flash.observe(Box::default());
        }
        let geometry = self.flash.geometry().clone();
        if let Some(observers) = self.flash.observer() {
            observers.keep_commands(number, filter, &geometry);
        }
        self.steps_alone = false;
    }

    /// The commands that were kept, in the order of their issue.
    pub(crate) fn take_commands(&mut self) -> Vec<CommandRecord> {
        self.flash.observer().map_or_else(Vec::new, Observers::take_commands)
    }

    /// A request of this number begins.
    #[inline(always)]
    pub(crate) fn announce(&mut self, id: RequestId, number: u64) {
        if let Some(observers) = self.flash.observer() {
            observers.on_request(id, number);
        }
    }

    /// Its counters, as they stand.
    #[inline(always)]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether a unit's newest data is in DRAM: in the buffer, or in a page that fills.
    #[inline(always)]
    pub(super) fn is_in_dram(&self, unit: LogicalUnit) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.holds(unit)) || self.is_filling(unit)
    }

    /// What the drive did since the run began.
    pub fn counts(&self) -> Counts {
        self.ftl.counts().since(&self.preconditioning.0)
    }

    /// Lets the clock of a die run for whoever has it now.
    #[inline]
    pub(super) fn update_clock(&mut self, die: DieId, now_ns: u64) {
        let d = &self.dies[die.at()];
        let is_held = d.is_reserved() && !self.stands_still(d.reserved_by());
        let reserved_for = is_held.then(|| self.jobs[d.reserved_by().at()].source());
        let source = self.flash.works_for(die).or(reserved_for);
        let occupant = match source {
            Some(source) => Occupant::from(source),
            // Nobody is at work; whoever waits for space here waits for collection.
            None if d.waiting_for_space() > 0 => Occupant::Gc,
            None => Occupant::Nobody,
        };
        let held_by_gc = reserved_for == Some(Source::Gc) || occupant == Occupant::Gc;
        self.dies[die.at()].clocks.switch(now_ns, occupant, held_by_gc);
    }

    /// Whether a collection, or another job, is under way or waits for its die.
    pub fn has_jobs(&self) -> bool {
        self.jobs.len() > self.free_jobs.len() || self.relocations.count() > 0
    }

    /// Dies that are reserved for jobs.
    pub fn dies_reserved(&self) -> u32 {
        self.dies_reserved
    }

    /// Dies that are collected: those that collections have to themselves, if they do not stand still, or of which they
    /// move blocks beside the host's work.
    pub fn dies_collecting(&self) -> u32 {
        let keeps_die = |die: &&Die| die.is_reserved() && !self.stands_still(die.reserved_by());
        let reserved = match self.is_paused() {
            true => self.dies.iter().filter(keeps_die).count() as u32,
            false => self.dies_reserved,
        };
        reserved + self.relocations.dies_collecting()
    }

    /// Free blocks of the plane that has fewest.
    pub(super) fn lowest_free_blocks(&self) -> u32 {
        (0..self.geometry.planes).map(|p| self.ftl.free_blocks_of(PlaneId(p))).min().unwrap_or(0)
    }

    /// Smallest number of free blocks that a plane had.
    pub fn min_free_blocks(&self) -> u32 {
        self.min_free_blocks
    }

    /// Sum over dies of the time that collection held them.
    pub fn held_by_gc_ns(&self, now_ns: u64) -> u128 {
        self.dies.iter().map(|d| u128::from(d.clocks.held_by_gc_ns(now_ns))).sum()
    }
}
