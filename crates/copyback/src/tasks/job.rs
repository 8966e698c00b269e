//! A job: background work as a resumable list of steps.
//!
//! A job relocates what is valid in a block and erases it: garbage collection, scrubbing and wear levelling differ in
//! which block and why, not in this. Its reads are free in their order, a program follows when a page's worth of units is
//! in the controller or nothing is left to read, and the erase waits for all of them (the barrier). A step is handed out
//! one at a time and bound to addresses only then, so the job can be stopped between any two.

use crate::flash::command::Source;
use crate::ftl::core::Move;
use crate::sim::index::{BlockId, DieId, PageId, PhysicalUnit, PlaneId};

/// What a job does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read the valid units of one page: those of the job's pending moves up to this index.
    Read {
        /// End of the page's moves in the pending list.
        end: usize,
    },
    /// Program so many of the units that were read.
    Program {
        /// Units of one page.
        units: usize,
    },
    /// Erase the block: all reads and programs are done.
    Erase,
}

/// A job under way.
#[derive(Clone, Debug)]
pub struct Job {
    /// For whom it works.
    pub source: Source,
    /// Its die.
    pub die: DieId,
    /// Its plane.
    pub plane: PlaneId,
    /// Its block, none until it begins.
    pub block: BlockId,
    /// Order of arrival among transactions.
    pub sequence: u64,
    /// Valid units of the block in the order of their places; those before `next` were read.
    pub moves: Vec<Move>,
    /// First move that was not read yet.
    pub next: usize,
    /// First move that was not programmed yet; it lags behind `next` by what the controller holds.
    pub programmed: usize,
    /// Moves that were dropped before they were read: the host had written a newer version.
    pub dropped: u32,
    /// Pages that were programmed on the block's own plane.
    pub pages_stayed: u32,
    /// A step is under way.
    pub is_stepping: bool,
    /// Whether its block is chosen by the victim policy when it begins.
    pub picks_victim: bool,
    /// Whether its moves gain nothing on their own plane.
    pub has_to_leave: bool,
    /// When it began.
    pub start_ns: u64,
    /// Valid units when it began.
    pub units_valid: u32,
    /// Free blocks of its plane when it began.
    pub free_blocks: u32,
}

impl Job {
    /// A job that has not begun, with room for the moves of one block.
    pub fn new(units_per_block: usize) -> Self {
        Self {
            source: Source::Gc,
            die: DieId::NONE,
            plane: PlaneId::NONE,
            block: BlockId::NONE,
            sequence: 0,
            moves: Vec::with_capacity(units_per_block),
            next: 0,
            programmed: 0,
            dropped: 0,
            pages_stayed: 0,
            is_stepping: false,
            picks_victim: true,
            has_to_leave: false,
            start_ns: 0,
            units_valid: 0,
            free_blocks: 0,
        }
    }

    /// Moves that were not programmed yet.
    pub fn moves_left(&self) -> usize {
        self.moves.len() - self.programmed
    }

    /// The next step, none while one is under way. Moves that came too late are not read: `is_current` says whether a
    /// unit is still where the job expects it; `page_of` says which page a unit is in.
    #[inline(always)]
    pub fn next_step(
        &mut self,
        units_per_page: u32,
        page_of: impl Fn(PhysicalUnit) -> PageId,
        is_current: impl Fn(Move) -> bool,
    ) -> Option<Step> {
        if self.is_stepping {
            return None;
        }
        let held = self.next - self.programmed;
        if held >= units_per_page as usize {
            return Some(Step::Program { units: units_per_page as usize });
        }
        if self.moves.get(self.next).is_some_and(|&m| !is_current(m)) {
            self.drop_stale(&is_current);
        }
        let Some(first) = self.moves.get(self.next) else {
            return Some(if held > 0 { Step::Program { units: held } } else { Step::Erase });
        };
        let mut end = self.next + 1;
        if units_per_page > 1 {
            let first = page_of(first.from);
            while end < self.moves.len() && page_of(self.moves[end].from) == first {
                if is_current(self.moves[end]) {
                    end += 1;
                } else {
                    self.moves.remove(end);
                    self.dropped += 1;
                }
            }
        }
        Some(Step::Read { end })
    }

    /// Forgets pending moves, up to the next one that is current.
    #[inline(never)]
    fn drop_stale(&mut self, is_current: &impl Fn(Move) -> bool) {
        let stale = self.moves[self.next..].iter().take_while(|m| !is_current(**m)).count();
        if stale > 0 {
            self.moves.drain(self.next..self.next + stale);
            self.dropped += stale as u32;
        }
    }

    /// The first unit of the page that the job reads next.
    pub fn next_place(&self) -> Option<PhysicalUnit> {
        self.moves.get(self.next).map(|m| m.from)
    }
}
