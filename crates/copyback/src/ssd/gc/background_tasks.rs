//! Background tasks of a drive: they hear of reads and erases, and their blocks are relocated one after the other.

use crate::flash::command::{Command, FlashOp, Source};
use crate::ftl::blocks::Blocks;
use crate::sim::index::BlockId;
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::drive::Drive;
use crate::tasks::background::{Background, BackgroundTask, Level};

/// Tasks other than collection that relocate blocks.
pub(in crate::ssd) struct BackgroundTasks {
    tasks: Vec<Background>,
    /// Comes up at the moment at which a task found something to do.
    timer: Timer,
}

impl BackgroundTasks {
    pub fn new(tasks: Vec<Background>, timer: Timer) -> Self {
        Self { tasks, timer }
    }

    /// Whether the drive has no such task.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// A page of a block is read.
    fn on_read(&mut self, block: BlockId) {
        self.tasks.iter_mut().for_each(|task| task.on_read(block));
    }

    /// A block is erased.
    pub fn on_erase(&mut self, block: BlockId) {
        self.tasks.iter_mut().for_each(|task| task.on_erase(block));
    }

    /// Tasks that have something to do begin it when all commands of this moment were issued.
    fn schedule_if_due(&self, events: &mut EventQueue) {
        if self.tasks.iter().any(BackgroundTask::is_due) && !events.is_pending(self.timer) {
            events.schedule(self.timer, events.now_ns());
        }
    }

    /// The task of this place, if it has something to do.
    fn due(&self, place: usize) -> Option<Source> {
        Some(&self.tasks[place]).filter(|task| task.is_due()).map(BackgroundTask::source)
    }

    /// The block that the task of this place relocates next.
    fn pick(&self, place: usize, blocks: &Blocks) -> Option<BlockId> {
        self.tasks[place].pick(blocks)
    }

    /// What the task of a source watches.
    pub fn level_of(&self, source: Source) -> Option<Level> {
        self.tasks.iter().find(|task| task.source() == source).map(BackgroundTask::level)
    }
}

impl Drive {
    /// A command is issued: pages that it reads are counted. What follows from that begins by an alarm, as the die is
    /// about to take its next command.
    #[cold]
    pub(in crate::ssd) fn count_reads(&mut self, command: &Command, events: &mut EventQueue) {
        if !matches!(command.op, FlashOp::Read | FlashOp::Copyback) {
            return;
        }
        for part in command.parts() {
            // A copyback names the page that it programs; it reads the block that its job moves.
            let block = match command.op {
                FlashOp::Copyback if command.job.is_some() => self.gc.jobs[command.job].block(),
                FlashOp::Copyback => self.gc.relocations.get(self.txns[part.txn].job).block(),
                _ => self.geometry.block_of(self.geometry.unit_of_flash_page(part.page)),
            };
            self.gc.background.on_read(block);
        }
        if !self.gc.idleness.is_host_done() {
            self.gc.background.schedule_if_due(events);
        }
    }

    /// Tasks that have something to do begin it, unless the host is done: no request would notice.
    pub(in crate::ssd) fn begin_background(&mut self, events: &mut EventQueue) {
        if self.gc.background.is_empty() || self.gc.idleness.is_host_done() {
            return;
        }
        for place in 0..self.gc.background.tasks.len() {
            let Some(source) = self.gc.background.due(place).filter(|&source| !self.is_relocating(source)) else {
                continue;
            };
            let block = self.gc.background.pick(place, self.ftl.blocks());
            if let Some(block) = block.filter(|&block| self.may_relocate(block)) {
                self.start_relocation(block, source, events);
            }
        }
    }

    /// Whether a block is relocated for a task.
    fn is_relocating(&self, source: Source) -> bool {
        self.gc.relocations.count_of(source) > 0 || self.gc.jobs.has_of(source)
    }

    /// The highest count of reads of a block since its erase, if the drive counts them.
    pub fn block_reads_max(&self) -> Option<u32> {
        self.gc.background.level_of(Source::Scrub).map(|level| level.highest)
    }
}
