//! Background tasks of a drive: they are notified of reads, programs, erases and alarms, and their blocks are relocated
//! one after another.

use crate::flash::command::{Command, FlashOp, Source};
use crate::ftl::blocks::Blocks;
use crate::sim::index::{BlockId, PlaneId};
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::back_end::BackEnd;
use crate::tasks::background::{Background, BackgroundTask, TaskLevel};

/// Tasks other than collection that relocate blocks.
pub(in crate::ssd) struct BackgroundTasks {
    tasks: Vec<Entry>,
    /// Comes up at the moment at which a task found something to do, or at the first alarm of a task.
    timer: Timer,
}

struct Entry {
    /// The source of its commands.
    source: Source,
    task: Background,
    /// The time of its alarm, until it has come.
    alarm_ns: Option<u64>,
}

impl BackgroundTasks {
    pub fn new(tasks: Vec<(Source, Background)>, timer: Timer) -> Self {
        let tasks = tasks.into_iter().map(|(source, task)| Entry { source, task, alarm_ns: None }).collect();
        Self { tasks, timer }
    }

    /// Whether the drive has no such task.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    fn tasks(&mut self) -> impl Iterator<Item = &mut Background> {
        self.tasks.iter_mut().map(|entry| &mut entry.task)
    }

    /// A block is erased.
    pub fn on_erase(&mut self, block: BlockId, now_ns: u64) {
        self.tasks().for_each(|task| task.on_erase(block, now_ns));
    }

    /// Tasks that have something to do begin it when all commands of this moment were issued.
    fn schedule_if_due(&mut self, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        if self.tasks.iter().any(|entry| entry.task.is_due(now_ns)) && events.time_of(self.timer) != Some(now_ns) {
            events.schedule(self.timer, now_ns);
        }
    }

    /// Tasks are queried again at the first of their alarms.
    fn schedule_alarms(&mut self, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        // An alarm of this moment that has not come yet is kept.
        for entry in self.tasks.iter_mut().filter(|entry| entry.alarm_ns.is_none_or(|alarm_ns| alarm_ns > now_ns)) {
            entry.alarm_ns = entry.task.alarm_ns(now_ns).filter(|&alarm_ns| alarm_ns > now_ns);
        }
        let Some(next_ns) = self.tasks.iter().filter_map(|entry| entry.alarm_ns).min() else { return };
        if events.time_of(self.timer).is_none_or(|set_ns| next_ns < set_ns) {
            events.schedule(self.timer, next_ns);
        }
    }

    /// No request will come any more: nothing begins.
    fn end(&mut self, events: &mut EventQueue) {
        if events.is_pending(self.timer) {
            events.cancel(self.timer);
        }
    }

    /// Whether a task that has something to do gives the host a turn first.
    fn gives_host_a_turn(&self, now_ns: u64) -> bool {
        self.tasks.iter().any(|Entry { task, .. }| task.is_due(now_ns) && task.gives_host_a_turn())
    }

    /// The source of the task with this index, if it has something to do.
    fn due(&self, place: usize, now_ns: u64) -> Option<Source> {
        let Entry { source, task, .. } = &self.tasks[place];
        task.is_due(now_ns).then_some(*source)
    }

    /// The block that the task with this index relocates next.
    fn pick(&self, place: usize, blocks: &Blocks, now_ns: u64) -> Option<BlockId> {
        self.tasks[place].task.pick(blocks, now_ns)
    }

    /// The level that the task of a source watches.
    pub fn level_of(&self, source: Source) -> Option<TaskLevel> {
        self.tasks.iter().find(|entry| entry.source == source).map(|entry| entry.task.level())
    }
}

impl BackEnd {
    /// A command is issued: notifies tasks of the pages that it reads and programs. A task that becomes due begins with
    /// an alarm, because the die is about to take its next command.
    #[cold]
    pub(in crate::ssd) fn notify_tasks(&mut self, command: &Command, events: &mut EventQueue) {
        if command.op == FlashOp::Erase {
            return;
        }
        let now_ns = events.now_ns();
        for part in command.parts() {
            let unit = self.geometry.unit_of_flash_page(part.page);
            let named = self.geometry.block_of(unit);
            // A copyback names the page that it programs; it reads the block that its job moves.
            let read = match command.op {
                FlashOp::Copyback if command.job.is_some() => self.gc.jobs[command.job].block(),
                FlashOp::Copyback => self.gc.relocations.get(self.txns[part.txn].job).block(),
                _ => named,
            };
            let (_, page_offset) = self.geometry.block_and_offset(self.geometry.page_of(unit));
            for task in self.gc.background.tasks() {
                if command.op != FlashOp::Program {
                    task.on_read(read, now_ns);
                }
                if command.op != FlashOp::Read {
                    task.on_program(named, page_offset, now_ns);
                }
            }
        }
        self.schedule_background(events);
    }

    /// Tasks may have become due: they begin when all commands of this moment were issued, unless the host is done.
    pub(in crate::ssd) fn schedule_background(&mut self, events: &mut EventQueue) {
        if !self.gc.background.is_empty() && !self.gc.idleness.is_host_done() {
            self.gc.background.schedule_if_due(events);
            self.gc.background.schedule_alarms(events);
        }
    }

    /// A block was collected in zero time: notifies tasks of the pages that were programmed on its plane, and of the
    /// erase. `written_before`: units of each block of the plane before that. Reads of the victim are not reported: its
    /// erase resets their count.
    #[cold]
    pub(in crate::ssd) fn notify_tasks_at_once(
        &mut self,
        plane: PlaneId,
        victim: BlockId,
        written_before: &[u32],
        now_ns: u64,
    ) {
        let units_per_page = self.geometry.units_per_page;
        for (offset, (b, before)) in self.ftl.blocks().of_plane(plane).iter().zip(written_before).enumerate() {
            let block = self.ftl.blocks().id(plane, offset as u32);
            for page in before / units_per_page..u32::from(b.written) / units_per_page {
                self.gc.background.tasks().for_each(|task| task.on_program(block, page, now_ns));
            }
        }
        self.gc.background.on_erase(victim, now_ns);
    }

    /// No request will come any more: tasks begin nothing.
    pub(in crate::ssd) fn end_background(&mut self, events: &mut EventQueue) {
        self.gc.background.end(events);
    }

    /// The alarm of tasks.
    pub(in crate::ssd) fn on_background_alarm(&mut self, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        for entry in &mut self.gc.background.tasks {
            if entry.alarm_ns.take_if(|alarm_ns| *alarm_ns <= now_ns).is_some() {
                entry.task.on_alarm(now_ns);
            }
        }
        self.begin_background(events);
    }

    /// The run begins: tasks may be due, or set their first alarms.
    pub(in crate::ssd) fn begin_run(&mut self, events: &mut EventQueue) {
        self.schedule_background(events);
    }

    /// A job has released its die: starts the next relocations, or leaves the die to the host for one turn.
    #[inline(always)]
    pub(in crate::ssd) fn continue_background(&mut self, events: &mut EventQueue) {
        if !self.gc.background.is_empty() {
            self.continue_tasks(events);
        }
    }

    #[cold]
    fn continue_tasks(&mut self, events: &mut EventQueue) {
        if self.gc.background.gives_host_a_turn(events.now_ns()) {
            self.schedule_background(events);
        } else {
            self.begin_background(events);
        }
    }

    /// Starts tasks that have work, unless the host is done: no request would benefit.
    pub(in crate::ssd) fn begin_background(&mut self, events: &mut EventQueue) {
        if self.gc.background.is_empty() || self.gc.idleness.is_host_done() {
            return;
        }
        let now_ns = events.now_ns();
        for place in 0..self.gc.background.tasks.len() {
            let Some(source) = self.gc.background.due(place, now_ns).filter(|&source| !self.is_relocating(source))
            else {
                continue;
            };
            let block = self.gc.background.pick(place, self.ftl.blocks(), now_ns);
            if let Some(block) = block.filter(|&block| self.may_relocate(block)) {
                self.start_relocation(block, source, events);
            }
        }
        self.gc.background.schedule_alarms(events);
    }

    /// Whether a block is being relocated for a task.
    fn is_relocating(&self, source: Source) -> bool {
        self.gc.relocations.count_of(source) > 0 || self.gc.jobs.has_of(source)
    }

    /// The highest count of reads of a block since its erase, if the drive counts them.
    pub fn block_reads_max(&self) -> Option<u32> {
        self.gc.background.level_of(Source::SCRUB).map(|level| level.highest)
    }
}
