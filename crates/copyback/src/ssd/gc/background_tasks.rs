//! Background tasks of a drive: they hear of reads and erases, and their blocks are relocated one after the other.

use crate::flash::command::{Command, FlashOp, Source};
use crate::sim::index::BlockId;
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Drive;
use crate::tasks::background::{BackgroundTask, Level};

impl Drive {
    /// A command is issued: pages that it reads are counted. What follows from that is begun by an alarm, as somebody
    /// is about to take the next command.
    #[cold]
    pub(in crate::ssd) fn count_reads(&mut self, command: &Command, events: &mut EventQueue) {
        if !matches!(command.op, FlashOp::Read | FlashOp::Copyback) {
            return;
        }
        let mut is_due = false;
        for task in &mut self.background {
            for part in command.parts() {
                // A copyback names the page that it programs; it reads the block that its job moves.
                let block = match command.op {
                    FlashOp::Copyback if command.job.is_some() => self.jobs[command.job.at()].block(),
                    FlashOp::Copyback => self.relocations.get(self.txns[part.txn].job).block(),
                    _ => self.geometry.block_of(self.geometry.unit_of_flash_page(part.page)),
                };
                task.on_read(block);
            }
            is_due |= task.is_due();
        }
        if is_due && !self.is_host_done && !events.is_pending(self.background_timer) {
            events.schedule(self.background_timer, events.now_ns());
        }
    }

    /// A block is erased.
    pub(in crate::ssd) fn count_erase(&mut self, block: BlockId) {
        self.background.iter_mut().for_each(|task| task.on_erase(block));
    }

    /// Tasks that have something to do begin it. Without a host nobody would see it.
    pub(in crate::ssd) fn begin_background(&mut self, events: &mut EventQueue) {
        for at in 0..self.background.len() {
            let task = &self.background[at];
            if !task.is_due() || self.is_host_done || self.is_relocating(task.source()) {
                continue;
            }
            let (block, source) = (task.pick(self.ftl.blocks()), task.source());
            if let Some(block) = block.filter(|&block| self.may_relocate(block)) {
                self.start_relocation(block, source, events);
            }
        }
    }

    /// Whether a block is relocated for a task.
    fn is_relocating(&self, source: Source) -> bool {
        let has_job = || self.job_of_plane.iter().any(|j| j.is_some() && self.jobs[j.at()].source() == source);
        self.relocations.count_of(source) > 0 || has_job()
    }

    /// What the task of a source watches.
    pub(in crate::ssd) fn level_of(&self, source: Source) -> Option<Level> {
        self.background.iter().find(|task| task.source() == source).map(BackgroundTask::level)
    }

    /// The highest count of reads of a block since its erase, where they are counted.
    pub fn block_reads_max(&self) -> Option<u32> {
        self.level_of(Source::Scrub).map(|level| level.highest)
    }
}
