//! A job: background work as a resumable list of steps.
//!
//! A job relocates the valid data of its blocks and erases them. Garbage collection, scrubbing and wear levelling
//! differ only in their choice of blocks. Its reads may have any order. A program follows when a page's worth of units
//! is in the controller, or when nothing remains to read. The erase waits for all programs (the barrier). A job returns
//! one step at a time, and only then is the step bound to addresses, so that the job can be interrupted between any two
//! steps.
//!
//! Most jobs have one block. A job may have a block on each of several planes of a die, and erases all at once at its
//! end. Under `twin` and `paired`, the granularity chooses the plane of each page (`ssd::gc::companion_blocks`). Other
//! such jobs proceed row by row: they read the pages of one offset together, and program each on its own plane. Only
//! tests create such jobs, and only tests create jobs that release their die between two steps
//! (`ssd/tests/by_hand.rs`).

use crate::flash::command::Source;
use crate::ftl::core::Move;
use crate::sim::index::{BlockId, DieId, PageId, PhysicalUnit, PlaneId};

pub use super::footprint::Footprint;
use pages_left::{PagesLeft, forget};

mod gathering;
mod pages_left;
mod rows;

pub use rows::order_by_rows;

/// The next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read the valid units of one page, or of one row of pages: those of the job's pending moves up to this index.
    Read {
        /// End of the moves in the pending list.
        end: usize,
    },
    /// Program this many of the units that were read.
    Program {
        /// Units of one page, or of one row.
        units: usize,
    },
    /// Erase the blocks: all reads and programs are done.
    Erase,
}

/// How a job fills the pages that it programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobFill {
    /// Pages are read whole; units that do not fit into the next programmed page wait for the one after it.
    #[default]
    Pages,
    /// A read takes no more units than still fit into the next programmed page.
    ToFit,
    /// The units that were read from one page are programmed as one page.
    AsRead,
}

/// The fixed properties of a job.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// The task for which it works.
    pub source: Source,
    /// Whether its block is chosen by the victim policy when it begins.
    pub picks_victim: bool,
    /// Whether it reserves its die from its first step to its last.
    pub reserves_die: bool,
}

/// The state that a job found when it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beginning {
    /// When it began.
    pub start_ns: u64,
    /// Valid units of its blocks.
    pub units_valid: u32,
    /// Free blocks of its plane.
    pub free_blocks: u32,
}

/// The memory that an ended job passes to the next, so that no job allocates.
#[derive(Debug, Default)]
pub struct JobMemory {
    moves: Vec<Move>,
    hot: Vec<Move>,
    left: Option<Box<PagesLeft>>,
}

/// A job in progress.
#[derive(Clone, Debug)]
pub struct Job {
    purpose: Purpose,
    die: DieId,
    footprint: Footprint,
    /// Order of arrival among transactions.
    turn: u64,
    /// Valid units of the block in the order of their places; those before `next` were read.
    moves: Vec<Move>,
    /// First move that was not read yet.
    next: usize,
    /// First move that was not programmed yet; it lags behind `next` by the units in the controller.
    programmed: usize,
    /// Moves of hot data: they follow the others, and go to other blocks.
    hot: Vec<Move>,
    /// Whether the current moves are the hot ones.
    moves_hot: bool,
    /// Pages of its blocks with moves that were not programmed yet, if they are counted.
    left: Option<Box<PagesLeft>>,
    dropped: u32,
    pages_stayed: u32,
    is_stepping: bool,
    fill: JobFill,
    /// A program follows as soon as this many units were read and not programmed.
    program_at: u32,
    /// `None` until it has its blocks.
    beginning: Option<Beginning>,
    /// Whether its moves gain nothing on their own plane, so that they must leave it.
    pub has_to_leave: bool,
}

impl Job {
    /// A job that has not begun, on blocks of one die; `turn`: its position among the requests that wait at its die.
    pub fn new(purpose: Purpose, die: DieId, footprint: Footprint, turn: u64) -> Self {
        Self {
            purpose,
            die,
            footprint,
            turn,
            moves: Vec::new(),
            next: 0,
            programmed: 0,
            hot: Vec::new(),
            moves_hot: false,
            left: None,
            dropped: 0,
            pages_stayed: 0,
            is_stepping: false,
            fill: JobFill::Pages,
            program_at: u32::MAX,
            beginning: None,
            has_to_leave: false,
        }
    }

    /// Memory for the moves of this many units, which a completed job leaves to the next.
    #[must_use]
    pub fn with_memory(mut self, mut memory: JobMemory, units: usize) -> Self {
        memory.moves.clear();
        memory.moves.reserve(units);
        memory.hot.clear();
        if let Some(left) = &mut memory.left {
            left.clear();
        }
        (self.moves, self.hot, self.left) = (memory.moves, memory.hot, memory.left);
        self
    }

    /// The memory of an ended job.
    pub fn take_memory(&mut self) -> JobMemory {
        let Self { moves, hot, left, .. } = self;
        JobMemory { moves: std::mem::take(moves), hot: std::mem::take(hot), left: left.take() }
    }

    /// The job with this way of filling pages of this many units.
    #[must_use]
    pub fn filling(mut self, fill: JobFill, units_per_page: u32) -> Self {
        self.fill = fill;
        self.program_at = if fill == JobFill::AsRead { 1 } else { units_per_page };
        self
    }

    /// Its blocks are taken: `moves` are their valid units, in the order of their locations, or row by row.
    pub fn begin(&mut self, block: BlockId, moves: Vec<Move>, start_ns: u64, free_blocks: u32) {
        self.footprint.set_lead(block);
        let units_valid = (moves.len() + self.hot.len()) as u32;
        self.beginning = Some(Beginning { start_ns, units_valid, free_blocks });
        self.moves = moves;
    }

    /// The moves of hot data, which follow the others; to be listed before the job begins.
    pub fn hot_mut(&mut self) -> &mut Vec<Move> {
        &mut self.hot
    }

    /// Whether its current moves are hot.
    pub fn moves_hot(&self) -> bool {
        self.moves_hot
    }

    /// Its first moves are done: it continues with hot units, if there are any.
    pub fn go_on_with_hot(&mut self) -> bool {
        debug_assert_eq!(self.programmed, self.next, "what was read is programmed first");
        self.moves_hot = true;
        let more = !self.hot.is_empty();
        self.moves.append(&mut self.hot);
        more
    }

    /// Replaces its footprint by one with blocks of other planes. Call it before the job begins.
    pub fn take_along(&mut self, footprint: Footprint) {
        self.footprint = footprint;
    }

    /// Drops the units not read yet, because the host had written newer versions of all of them.
    pub fn drop_pending(&mut self) {
        forget(&mut self.left, &self.moves[self.next..], self.moves_hot);
        self.dropped += (self.moves.len() - self.next) as u32;
        self.moves.truncate(self.next);
    }

    /// The storage for its moves, taken out, to be returned when it begins or completes.
    pub fn take_moves(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.moves)
    }

    /// The job waits for its die again, after the requests that arrived meanwhile.
    pub fn wait_again(&mut self, turn: u64) {
        self.turn = turn;
    }

    // ---- questions --------------------------------------------------------------------------------------------------

    /// The task for which it works.
    #[inline(always)]
    pub fn source(&self) -> Source {
        self.purpose.source
    }

    /// The purpose of the job.
    #[inline(always)]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Its die.
    #[inline(always)]
    pub fn die(&self) -> DieId {
        self.die
    }

    /// Its position among the requests that wait at its die: in the order of arrival or, if the policy of admission
    /// distinguishes tasks, in the order of entry into windows.
    #[inline(always)]
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// The state that it found when it began, if it has.
    #[inline(always)]
    pub fn beginning(&self) -> Option<Beginning> {
        self.beginning
    }

    /// Whether a step is executing.
    #[inline(always)]
    pub fn is_stepping(&self) -> bool {
        self.is_stepping
    }

    /// Moves that were not read yet.
    #[inline(always)]
    pub fn pending(&self) -> &[Move] {
        &self.moves[self.next..]
    }

    /// The later moves, of hot data.
    pub fn hot(&self) -> &[Move] {
        &self.hot
    }

    /// The index of the first pending move among all moves.
    pub fn first_pending(&self) -> usize {
        self.next
    }

    /// Moves that were read and not programmed yet: the units in the controller.
    #[inline(always)]
    pub fn held(&self) -> &[Move] {
        &self.moves[self.programmed..self.next]
    }

    /// Moves that were programmed.
    #[inline(always)]
    pub fn programmed(&self) -> usize {
        self.programmed
    }

    /// Moves that were dropped before they were read: the host had written a newer version.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// Pages that were programmed on the planes of its blocks.
    pub fn pages_stayed(&self) -> u32 {
        self.pages_stayed
    }

    /// Its blocks.
    pub fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// The plane of its first block.
    #[inline(always)]
    pub fn plane(&self) -> PlaneId {
        self.footprint.lead().0
    }

    /// Its first block, none until it is chosen.
    #[inline(always)]
    pub fn block(&self) -> BlockId {
        self.footprint.lead().1
    }

    /// Moves that were not programmed yet, including the later ones of hot data.
    pub fn moves_left(&self) -> usize {
        self.moves.len() - self.programmed + self.hot.len()
    }

    /// Full pages that its remaining programs take, of `units_per_page` units each: hot and cold data share no page.
    #[inline(always)]
    pub fn pages_left(&self, units_per_page: u32) -> u32 {
        let cold = (self.moves.len() - self.programmed) as u32;
        cold.div_ceil(units_per_page) + if self.hot.is_empty() { 0 } else { self.hot_pages(units_per_page) }
    }

    #[cold]
    fn hot_pages(&self, units_per_page: u32) -> u32 {
        (self.hot.len() as u32).div_ceil(units_per_page)
    }

    // ---- steps ------------------------------------------------------------------------------------------------------

    /// A step is issued.
    #[inline(always)]
    pub fn begin_step(&mut self) {
        self.is_stepping = true;
    }

    /// The step ended.
    #[inline(always)]
    pub fn end_step(&mut self) {
        self.is_stepping = false;
    }

    /// Puts `count` pending moves, from index `start`, before the others: they are read next.
    pub fn put_first(&mut self, start: usize, count: usize) {
        self.moves[self.next..][..start + count].rotate_right(count);
    }

    /// Pending moves after the next read, which ends at `end`: at most twice `together`. Empty unless the read crosses
    /// a multiple of `together`, so that the caller prefetches many moves at once.
    #[inline(always)]
    pub fn ahead(&self, end: usize, together: usize) -> &[Move] {
        if self.next / together == end / together {
            return &[];
        }
        let ahead = self.moves.get(end + 1..).unwrap_or_default();
        &ahead[..ahead.len().min(2 * together)]
    }

    /// The next step, none while one executes. Moves that the host overwrote are not read: `is_current` tells whether a
    /// unit is still where the job expects it. `page_of` returns the page of a unit, `offset_of` that page's offset in
    /// its block.
    #[inline(always)]
    pub fn next_step(
        &mut self,
        units_per_page: u32,
        page_of: impl Fn(PhysicalUnit) -> PageId,
        offset_of: impl Fn(PhysicalUnit) -> u32,
        is_current: impl Fn(Move) -> bool,
    ) -> Option<Step> {
        if self.is_stepping {
            return None;
        }
        if self.footprint.has_several_blocks() {
            return Some(self.next_of_row(&offset_of, &is_current));
        }
        Some(self.next_of_one(units_per_page, page_of, is_current))
    }

    /// The next step of a job of one block.
    #[inline(always)]
    pub fn next_of_one(
        &mut self,
        units_per_page: u32,
        page_of: impl Fn(PhysicalUnit) -> PageId,
        is_current: impl Fn(Move) -> bool,
    ) -> Step {
        debug_assert!(!self.footprint.has_several_blocks());
        let held = self.next - self.programmed;
        if held >= self.program_at as usize {
            return Step::Program { units: held.min(units_per_page as usize) };
        }
        let is_pending_current = self.moves.get(self.next).is_some_and(|&m| is_current(m));
        if !is_pending_current && let Some(step) = self.find_next_move(held, &is_current) {
            return step;
        }
        let mut end = self.next + 1;
        if units_per_page > 1 {
            let first = page_of(self.moves[self.next].from);
            let slots = match self.fill {
                JobFill::ToFit => self.programmed + units_per_page as usize,
                JobFill::Pages | JobFill::AsRead => usize::MAX,
            };
            while end < self.moves.len().min(slots) && page_of(self.moves[end].from) == first {
                if is_current(self.moves[end]) {
                    end += 1;
                } else {
                    forget(&mut self.left, &[self.moves.remove(end)], self.moves_hot);
                    self.dropped += 1;
                }
            }
        }
        Step::Read { end }
    }

    /// Makes the next move that is current the pending one. Returns the step to take if there is none.
    #[inline(never)]
    fn find_next_move(&mut self, held: usize, is_current: &impl Fn(Move) -> bool) -> Option<Step> {
        self.drop_stale(is_current);
        if self.next < self.moves.len() {
            return None;
        }
        if held > 0 {
            return Some(Step::Program { units: held });
        }
        if !self.hot.is_empty() {
            self.go_on_with_hot();
            self.drop_stale(is_current);
        }
        (self.next == self.moves.len()).then_some(Step::Erase)
    }

    /// A read takes the moves up to `end`; returns the place of the first, and their number.
    #[inline(always)]
    pub fn take_for_read(&mut self, end: usize) -> (PhysicalUnit, u32) {
        let first = std::mem::replace(&mut self.next, end);
        (self.moves[first].from, (end - first) as u32)
    }

    /// A read takes a row of moves up to `end`; returns the moves.
    pub fn take_row_for_read(&mut self, end: usize) -> &[Move] {
        let first = std::mem::replace(&mut self.next, end);
        &self.moves[first..end]
    }

    /// A program on `plane` takes this many of the moves that were read.
    #[inline(always)]
    pub fn take_for_program(&mut self, units: usize, plane: PlaneId) -> &[Move] {
        let first = self.programmed;
        self.programmed += units;
        self.pages_stayed += u32::from(plane == self.plane() || self.footprint.has_several_blocks());
        let moves = &self.moves[first..first + units];
        forget(&mut self.left, moves, self.moves_hot);
        moves
    }

    /// Drops pending moves, up to the next one that is current.
    fn drop_stale(&mut self, is_current: &impl Fn(Move) -> bool) {
        let stale = self.moves[self.next..].iter().take_while(|m| !is_current(**m)).count();
        if stale > 0 {
            forget(&mut self.left, &self.moves[self.next..self.next + stale], self.moves_hot);
            self.moves.drain(self.next..self.next + stale);
            self.dropped += stale as u32;
        }
    }
}

/// Changes that tests make, to see that checks detect them.
#[cfg(test)]
impl Job {
    pub(crate) fn moves_mut(&mut self) -> &mut Vec<Move> {
        &mut self.moves
    }
}

#[cfg(test)]
pub(crate) mod tests;
