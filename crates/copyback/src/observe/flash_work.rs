//! Counts of the flash's work.

use serde::Serialize;

/// Programs and reads of flash, in pages, and data in mapping units, by what caused them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlashWork {
    /// Page reads for the host, including reads before a partial write.
    pub host_page_reads: u64,
    /// Page reads for the host that a partial write needed.
    pub update_page_reads: u64,
    /// Page programs for the host.
    pub host_page_programs: u64,
    /// Page reads of garbage collection.
    pub gc_page_reads: u64,
    /// Page programs of garbage collection.
    pub gc_page_programs: u64,
    /// Pages that were copied back, for any task: each is counted as a read and as a program, too.
    pub copybacks: u64,
    /// Page reads of other background work.
    pub other_page_reads: u64,
    /// Page programs of other background work.
    pub other_page_programs: u64,
    /// Block erases.
    pub block_erases: u64,
    /// Blocks that other background work relocated.
    pub blocks_relocated: u64,
    /// Blocks that read scrubbing relocated.
    pub blocks_relocated_by_scrub: u64,
    /// Blocks that wear levelling relocated.
    pub blocks_relocated_by_wear: u64,
    /// Mapping units written for the host.
    pub host_units: u64,
    /// Mapping units moved by garbage collection.
    pub gc_units: u64,
    /// Mapping units moved or written by other background work.
    pub other_units: u64,
    /// Unit places of programmed pages that were left empty.
    pub padding_units: u64,
    /// Pages that were used without a program, so that planes could share commands.
    pub skipped_pages: u64,
    /// Moves that were dropped because the host had written a newer version meanwhile.
    pub dropped_moves: u64,
    /// Commands with more than one plane.
    pub multi_plane_commands: u64,
    /// Pages that were programmed by commands with more than one plane.
    pub multi_plane_page_programs: u64,
    /// Pages of the host that were programmed by commands with more than one plane.
    pub host_multi_plane_page_programs: u64,
    /// Pages of garbage collection that were programmed by commands with more than one plane.
    pub gc_multi_plane_page_programs: u64,
    /// Commands that followed another through the cache register.
    pub cached_commands: u64,
    /// Polls of a die's queue between steps of collections, as far as they take time.
    pub queue_polls: u64,
    /// Commands of the host that went before the next step of a collection or background task that reserves its die.
    pub preemptions: u64,
    /// Suspensions of programs and erases of collections and background tasks that reserve their die, by reads of the
    /// host.
    pub suspensions: u64,
    /// Page reads of the host that were paired with one of collection in a command.
    pub reads_paired_with_gc: u64,
    /// Page programs of the host that were paired with one of collection in a command.
    pub programs_paired_with_gc: u64,
    /// Reads of the host that were served with a page that collection had read.
    pub merged_reads: u64,
    /// Writes of the host that went into a program of collection.
    pub merged_writes: u64,
}

impl FlashWork {
    /// Combines each count with the same count of `other`.
    #[must_use]
    pub fn zip(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            host_page_reads: with(self.host_page_reads, other.host_page_reads),
            update_page_reads: with(self.update_page_reads, other.update_page_reads),
            host_page_programs: with(self.host_page_programs, other.host_page_programs),
            gc_page_reads: with(self.gc_page_reads, other.gc_page_reads),
            gc_page_programs: with(self.gc_page_programs, other.gc_page_programs),
            copybacks: with(self.copybacks, other.copybacks),
            other_page_reads: with(self.other_page_reads, other.other_page_reads),
            other_page_programs: with(self.other_page_programs, other.other_page_programs),
            block_erases: with(self.block_erases, other.block_erases),
            blocks_relocated: with(self.blocks_relocated, other.blocks_relocated),
            blocks_relocated_by_scrub: with(self.blocks_relocated_by_scrub, other.blocks_relocated_by_scrub),
            blocks_relocated_by_wear: with(self.blocks_relocated_by_wear, other.blocks_relocated_by_wear),
            host_units: with(self.host_units, other.host_units),
            gc_units: with(self.gc_units, other.gc_units),
            other_units: with(self.other_units, other.other_units),
            padding_units: with(self.padding_units, other.padding_units),
            skipped_pages: with(self.skipped_pages, other.skipped_pages),
            dropped_moves: with(self.dropped_moves, other.dropped_moves),
            multi_plane_commands: with(self.multi_plane_commands, other.multi_plane_commands),
            multi_plane_page_programs: with(self.multi_plane_page_programs, other.multi_plane_page_programs),
            host_multi_plane_page_programs: with(
                self.host_multi_plane_page_programs,
                other.host_multi_plane_page_programs,
            ),
            gc_multi_plane_page_programs: with(self.gc_multi_plane_page_programs, other.gc_multi_plane_page_programs),
            cached_commands: with(self.cached_commands, other.cached_commands),
            queue_polls: with(self.queue_polls, other.queue_polls),
            preemptions: with(self.preemptions, other.preemptions),
            suspensions: with(self.suspensions, other.suspensions),
            reads_paired_with_gc: with(self.reads_paired_with_gc, other.reads_paired_with_gc),
            programs_paired_with_gc: with(self.programs_paired_with_gc, other.programs_paired_with_gc),
            merged_reads: with(self.merged_reads, other.merged_reads),
            merged_writes: with(self.merged_writes, other.merged_writes),
        }
    }
}
