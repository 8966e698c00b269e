//! The event loop: takes events in order, and handles each. Other modules begin, complete and measure requests; `ssd`
//! serves them.

mod array;
mod array_measures;
mod checks;
mod ends;
mod measures;
mod requests;
mod tenant;
mod tenants;
mod totals;

use super::warmup::{Warmup, Watch};
use super::{Progress, RunError};
use crate::flash::command::Source;
use crate::ftl::core::Ftl;
use crate::host::Requests;
use crate::host::config::HostConfig;
use crate::host::config::HostMode;
use crate::host::splitter::Splitter;
use crate::observe::backlog::Backlog;
use crate::observe::collector::Collector;
use crate::observe::commands::{CommandFilter, CommandRecord};
use crate::observe::report::{Arrivals, FlashWork};
use crate::observe::steady::Track;
use crate::run::config::RunConfig;
use crate::sim::index::{BlockId, RequestId};
use crate::sim::queue::{End, EventQueue, Timer, kind};
use crate::ssd::Ssd;
use copyback_workload::spec::Pace;
use copyback_workload::{Error, Request, RequestSource};
use measures::Start;
pub use requests::ARRIVAL_MAX_NS;
use std::collections::VecDeque;
use totals::Totals;

/// The next arrival.
const ARRIVAL: Timer = Timer(0);
/// The delay of an array's controller has elapsed for a request.
const DELAY: Timer = Timer(1);
/// The next stripe of a failed drive may be rebuilt.
const REBUILD: Timer = Timer(2);
/// A message between a drive and its controller arrives.
const MESSAGE: Timer = Timer(3);
/// Controllers poll their drives.
const POLL: Timer = Timer(4);
/// The first timer of a drive; the timers before it belong to no drive.
const FIRST_DRIVE: u32 = 5;
/// Events between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 16;
/// Events between two checks of the dies' clocks, under `--check`: few, because an error may last for some events only.
const CLOCKS_EVERY: u64 = 16;

/// A drive, and the event loop's state for it.
struct Member {
    ssd: Ssd,
    /// Host units of its work that are counted in [`Simulation::written_by_drives`].
    written_units: u64,
    /// Whether it is in [`Simulation::marked`].
    is_listed: bool,
    /// Requests for it that it has not received completely. The first is being split.
    line: VecDeque<(RequestId, Splitter)>,
    /// The time until which the last request waited in the line, because the drive had its maximum of transactions.
    held_until_ns: u64,
}

/// A run in progress: one or more drives that share a clock, and a host.
pub struct Simulation<'a> {
    events: EventQueue,
    members: Vec<Member>,
    /// Members with a die whose state changed, so that the others need no check.
    marked: Vec<u32>,
    /// Marked members that are dispatched now.
    dispatching: Vec<u32>,
    totals: Totals,
    /// Host units that drives have written.
    written_by_drives: u64,
    /// Whether the units of split requests count as written by the host, because drives write other units: fewer behind
    /// a buffer, more if a write includes other units.
    counts_submitted: bool,
    /// The drive of each timer.
    timers: Vec<TimerOfDrive>,
    host: HostConfig,
    /// The loop of `source`; open if several workloads, each with its own loop, replace it.
    loop_of_host: HostLoop,
    source: &'a mut dyn RequestSource,
    requests: Requests,
    /// The request that was fetched and has not begun.
    next: Option<Request>,
    /// The requests after it that the workload has already returned.
    ahead: VecDeque<Request>,
    is_source_empty: bool,
    /// What follows those in `ahead`, once it is known: the end of the source, or an error. The source must then not be
    /// called again.
    source_end: Option<Result<(), Error>>,
    fetched: u64,
    fetch_max: u64,
    /// Measured requests after which to stop.
    requests_max: u64,
    /// Drives with their maximum of transactions, in the order of the drives: requests wait in their lines.
    held: Vec<u32>,
    /// Whether this moment needs a dispatch though no die is marked: requests may be split or begin, parts of a
    /// volume's requests may be issued, or controllers may have messages.
    needs_dispatch: bool,
    /// The layer between the host and the drives of an array.
    array: Option<Box<array::Array>>,
    /// Several workloads that share the drives, instead of the source.
    tenants: Option<Box<tenants::Tenants>>,
    /// Requests that waited because a drive had its maximum of transactions.
    held_requests: u64,
    /// The detector of the end of the warm-up, until it ends.
    watch: Option<Watch>,
    /// The start of the measured part of the run.
    start: Start,
    /// Measures.
    pub collector: Collector,
    track: Track,
    /// The work of each drive until the last request ended, since the drive was made; none before that end.
    work_at_last_end: Option<Vec<FlashWork>>,
    arrivals: Arrivals,
    backlog: Backlog,
    peak_outstanding: u32,
    last_end_ns: u64,
    /// All requests, and the work that they began, have completed.
    has_ended: bool,
    /// Whether the configuration of a drive never admits its collections.
    keeps_collection_out: bool,
    check: bool,
}

/// A timer of a drive.
#[derive(Clone, Copy, Default)]
struct TimerOfDrive {
    member: u32,
    /// Its number among the drive's timers.
    local: u32,
}

/// How requests of a source begin.
#[derive(Clone, Copy)]
struct HostLoop {
    mode: HostMode,
    /// Most outstanding requests.
    limit: u32,
}

impl HostLoop {
    fn new(mode: HostMode, host: &HostConfig) -> Self {
        let limit = match mode {
            HostMode::Open => host.outstanding_max,
            HostMode::Closed => host.queue_depth,
        };
        Self { mode, limit }
    }
}

/// The inputs of a run beyond its drives.
pub struct Setup<'a> {
    /// How the host issues requests.
    pub host: HostConfig,
    /// The workload.
    pub source: &'a mut dyn RequestSource,
    /// Stop after this many requests.
    pub requests: Option<u64>,
    /// Check everything.
    pub check: bool,
    /// Keep a record of every collection.
    pub keep_gc_events: bool,
    /// Keep a record of every request.
    pub keep_requests: bool,
}

impl<'a> Simulation<'a> {
    /// Drives with their preconditioned state; if there are several, a request goes to the drive that its `device`
    /// names.
    pub fn new(drives: Vec<(&RunConfig, Ftl)>, setup: Setup<'a>) -> Self {
        let mut members = Vec::new();
        let mut timers = vec![TimerOfDrive::default(); FIRST_DRIVE as usize];
        let keeps_collection_out = drives.iter().any(|(config, _)| config.keeps_collection_out());
        for (number, (config, ftl)) in drives.into_iter().enumerate() {
            let first_timer = timers.len() as u32;
            let member = number as u32;
            timers.extend((0..Ssd::timers(&ftl.geometry)).map(|local| TimerOfDrive { member, local }));
            let config = config.ssd(setup.host.subpage_writes);
            let ssd = Ssd::new(&config, ftl, first_timer, setup.check, setup.keep_gc_events);
            members.push(Member { ssd, written_units: 0, is_listed: false, line: VecDeque::new(), held_until_ns: 0 });
        }
        let requests_max = setup.requests.unwrap_or(u64::MAX);
        let mut simulation = Self {
            events: EventQueue::new(timers.len()),
            marked: Vec::with_capacity(members.len()),
            dispatching: Vec::with_capacity(members.len()),
            totals: Totals::new(&members),
            written_by_drives: 0,
            counts_submitted: members.iter().any(|m| m.ssd.has_buffer() || m.ssd.takes_along()),
            held: Vec::with_capacity(members.len()),
            needs_dispatch: false,
            array: None,
            tenants: None,
            members,
            timers,
            loop_of_host: HostLoop::new(setup.host.mode, &setup.host),
            host: setup.host,
            source: setup.source,
            requests: Requests::default(),
            next: None,
            ahead: VecDeque::with_capacity(requests::AHEAD_MAX),
            is_source_empty: false,
            source_end: None,
            fetched: 0,
            fetch_max: requests_max,
            requests_max,
            held_requests: 0,
            watch: None,
            start: Start::default(),
            collector: Collector::new(setup.keep_requests),
            track: Track::default(),
            work_at_last_end: None,
            arrivals: Arrivals::default(),
            backlog: Backlog::default(),
            peak_outstanding: 0,
            last_end_ns: 0,
            has_ended: false,
            keeps_collection_out,
            check: setup.check,
        };
        simulation.start = simulation.reading();
        let work = simulation.work();
        simulation.collector.start_after(work);
        simulation
    }

    /// Whether several workloads share the drives.
    pub fn has_tenants(&self) -> bool {
        self.tenants.is_some()
    }

    /// Whether requests of some workload arrive at their own times (an open loop).
    pub fn has_open_loop(&self) -> bool {
        self.tenants
            .as_ref()
            .map_or(self.host.mode == HostMode::Open, |tenants| tenants.paces().any(|pace| pace == Pace::Open))
    }

    /// Whether each request begins when another one ends: the drives then decide the throughput.
    pub fn is_closed_loop(&self) -> bool {
        let is_closed = self.host.mode == HostMode::Closed;
        self.tenants.as_ref().map_or(is_closed, |tenants| tenants.paces().all(|pace| pace == Pace::Closed))
    }

    /// Excludes a warm-up from the measurement; the limit of requests counts from its end. Call it before the run
    /// starts, and after its workloads are known.
    pub fn warm_up(&mut self, warmup: Warmup) {
        if warmup.is_none() {
            return;
        }
        let units = self.addressable_units();
        self.watch = Some(Watch::new(warmup, self.is_closed_loop(), units));
        self.collector.warm_up();
        self.fetch_max = u64::MAX;
    }

    /// Records the commands of every drive, if they pass a filter. Call it before the run starts.
    pub fn keep_commands(&mut self, filter: CommandFilter) {
        (0..).zip(&mut self.members).for_each(|(number, m)| m.ssd.back_end_mut().keep_commands(number, filter));
    }

    /// The commands that were kept, drive by drive; none afterwards.
    pub fn take_commands(&mut self) -> Vec<CommandRecord> {
        self.members.iter_mut().flat_map(|m| m.ssd.back_end_mut().take_commands()).collect()
    }

    /// Runs until the warm-up ends. Returns the number of the first request that is measured.
    pub fn run_warmup(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<u64, RunError> {
        self.start()?;
        let mut handled = 0u64;
        while self.watch.is_some() && self.step()? {
            handled += 1;
            if handled.is_multiple_of(PROGRESS_EVERY) {
                self.report_progress(progress);
            }
        }
        if self.watch.is_some() {
            // The end of the workload would be an error by now: something is stuck.
            self.check_collections_admitted()?;
            self.check_end();
        }
        Ok(self.start.requests)
    }

    /// Runs to the end of the workload.
    pub fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), RunError> {
        self.start()?;
        let every = if self.check { CLOCKS_EVERY } else { PROGRESS_EVERY };
        let (mut handled, mut left) = (0, every);
        while self.step()? || self.end_tasks()? {
            left -= 1;
            if left == 0 {
                (handled, left) = (handled + every, every);
                self.check_after(handled);
                if handled.is_multiple_of(PROGRESS_EVERY) {
                    self.report_progress(progress);
                }
            }
        }
        self.report_progress(progress);
        self.check_collections_admitted()?;
        self.check_end();
        Ok(())
    }

    /// Returns an error if requests wait for collections that the configuration never admits: this is no defect.
    fn check_collections_admitted(&self) -> Result<(), RunError> {
        let requests = u64::from(self.requests.live());
        if self.keeps_collection_out && requests > 0 {
            return Err(RunError::CollectionKeptOut { requests, at_ns: self.now_ns() });
        }
        Ok(())
    }

    /// The first requests begin. Once, before the first step.
    pub fn start(&mut self) -> Result<(), RunError> {
        self.start_tenants()?;
        self.fetch()?;
        if self.next.is_none() {
            return Err(RunError::Empty);
        }
        self.members.iter_mut().for_each(|member| member.ssd.begin_run(&mut self.events));
        self.dispatch()
    }

    /// Handles the next event and all that follows from it. Returns whether there was one.
    #[inline(always)]
    pub fn step(&mut self) -> Result<bool, RunError> {
        let Some((now_ns, timer, end)) = self.events.pop_with_end() else { return Ok(false) };
        if now_ns >= self.collector.next_update_ns() {
            self.update_measures(now_ns);
        }
        match end {
            Some(End::Read) => self.on_event_of_drive::<{ kind::READ }>(timer),
            Some(End::Program) => self.on_event_of_drive::<{ kind::PROGRAM }>(timer),
            Some(End::Transfer) => self.on_event_of_drive::<{ kind::TRANSFER }>(timer),
            None => self.on_other_event(timer),
        }
    }

    /// Handles an event of a drive. `KIND`: the end that it marks. The code exists once for each kind, so that it need
    /// not ask again what ended.
    #[inline(always)]
    fn on_event_of_drive<const KIND: u8>(&mut self, timer: Timer) -> Result<bool, RunError> {
        let TimerOfDrive { member, local } = self.timers[timer.0 as usize];
        let member = member as usize;
        if self.members[member].ssd.on_event_of_kind::<KIND>(local, &mut self.events) {
            return self.follow_up(member);
        }
        // A collection went on to its next step: no other component has work.
        self.totals.note(member);
        Ok(true)
    }

    /// Handles an event that may have any source.
    #[inline(never)]
    fn on_other_event(&mut self, timer: Timer) -> Result<bool, RunError> {
        if timer.0 >= FIRST_DRIVE {
            return self.on_event_of_drive::<{ kind::ANY }>(timer);
        }
        if timer != ARRIVAL {
            self.on_array_timer(timer);
        }
        self.dispatch_if_needed()
    }

    /// Handles the consequences of a drive's event.
    #[inline(never)]
    fn follow_up(&mut self, member: usize) -> Result<bool, RunError> {
        self.take_completions_of(member);
        self.dispatch_if_needed()
    }

    #[inline(always)]
    fn dispatch_if_needed(&mut self) -> Result<bool, RunError> {
        if self.may_begin() || !self.marked.is_empty() {
            self.dispatch()?;
        }
        Ok(true)
    }

    /// Relocates a full block between two steps, as scrubbing does. Returns false if the drive cannot relocate it now.
    pub fn relocate(&mut self, member: usize, block: BlockId, source: Source) -> Result<bool, RunError> {
        let drive = self.members[member].ssd.back_end_mut();
        if !drive.may_relocate(block) {
            return Ok(false);
        }
        drive.start_relocation(block, source, &mut self.events);
        self.list_if_marked(member);
        self.dispatch()?;
        Ok(true)
    }

    /// Handles all consequences of the events of this moment: requests begin, dies take commands, requests end.
    fn dispatch(&mut self) -> Result<(), RunError> {
        loop {
            if self.may_begin() {
                self.begin_due_requests()?;
            }
            if self.marked.is_empty() {
                if self.array.is_some() && self.deliver() {
                    continue;
                }
                return Ok(());
            }
            std::mem::swap(&mut self.marked, &mut self.dispatching);
            if self.dispatching.len() > 1 {
                // In the order of the drives, whichever was marked first.
                self.dispatching.sort_unstable();
            }
            for at in 0..self.dispatching.len() {
                let member = self.dispatching[at] as usize;
                let m = &mut self.members[member];
                m.is_listed = false;
                m.ssd.dispatch_ready(&mut self.events);
                self.take_completions_of(member);
            }
            if self.array.is_some() {
                self.send_reports();
            }
            self.dispatching.clear();
        }
    }

    /// Marks a drive with a die that may continue.
    #[inline(always)]
    fn list_if_marked(&mut self, member: usize) {
        let m = &mut self.members[member];
        if m.ssd.is_marked() && !m.is_listed {
            m.is_listed = true;
            self.marked.push(member as u32);
        }
    }

    /// Whether a request may be waiting to begin or to be split; asked at every event, so it has to be cheap.
    #[inline]
    fn may_begin(&self) -> bool {
        let HostLoop { mode, limit } = self.loop_of_host;
        let waits_for_arrival = mode == HostMode::Open && self.events.is_pending(ARRIVAL);
        let limit = if waits_for_arrival { 0 } else { limit };
        self.needs_dispatch || (self.next.is_some() && self.requests.live() < limit)
    }

    fn report_progress(&self, progress: &mut dyn FnMut(Progress)) {
        let operations = |m: &Member| {
            let w = m.ssd.back_end().counters().work();
            w.host_page_reads + w.host_page_programs + w.gc_page_reads + w.gc_page_programs
        };
        progress(Progress {
            now_ns: self.events.now_ns(),
            requests_done: self.collector.ended,
            page_operations: self.members.iter().map(operations).sum(),
        });
    }
}
