//! A relocation: requests in a task's queue move the valid data of a block and erase it.
//!
//! Unlike a job (`job`), it reserves no die. A relocation submits requests to `dispatch`, several at once, and is
//! notified of their ends. A read returns the units of one page that are still valid. As units arrive, a program writes
//! a page's worth of them; `ssd::gc::relocations` chooses its plane. The erase follows when the last of them is in
//! flash. Requests are submitted without addresses, which are bound when a die takes them, so that data that the host
//! has overwritten meanwhile is neither read nor moved.
//!
//! With copyback, one command replaces the read and the program of a page whose units are all valid.
//!
//! Units that were issued to be read and are not yet in flash occupy the controller's buffer, which is bounded. Each
//! read reserves a page's worth, because the number of valid units in the page is not known before.

use crate::flash::command::Source;
use crate::ftl::core::Move;
use crate::sim::index::{BlockId, PageId, PhysicalUnit, PlaneId};
use std::ops::Range;

/// A request of a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationRequest {
    /// A read of the next page with valid units.
    Read,
    /// A program of this many buffered units.
    Program {
        /// Units: a page's worth, except for the last program.
        units: u32,
    },
    /// The erase: all valid data has moved.
    Erase,
}

/// A relocation in progress.
#[derive(Clone, Debug)]
pub struct Relocation {
    source: Source,
    plane: PlaneId,
    block: BlockId,
    start_ns: u64,
    /// Free blocks of its plane when it began.
    free_blocks: u32,
    units_valid: u32,
    /// The valid units of the block, page by page. As the block is read, moves that are still valid are placed first.
    moves: Vec<Move>,
    /// The first move that was not examined.
    next: usize,
    /// Numbers of leading moves in each state: read or being read, in the buffer, submitted for programming, bound to
    /// their pages, in flash.
    read: usize,
    arrived: usize,
    submitted: usize,
    bound: usize,
    programmed: usize,
    /// Pages with moves that were not examined.
    pages_unread: u32,
    /// Reads that were submitted and not bound.
    reads_waiting: u32,
    pages_bound: u32,
    dropped: u32,
    /// Units that are being copied back.
    copying: u32,
    is_erasing: bool,
}

impl Relocation {
    /// The relocation of a block whose valid units are `moves`, in the order of their places; `page_of` returns the
    /// page of a place.
    pub fn new(
        (source, plane, block): (Source, PlaneId, BlockId),
        moves: Vec<Move>,
        (start_ns, free_blocks): (u64, u32),
        page_of: impl Fn(PhysicalUnit) -> PageId,
    ) -> Self {
        let pages_unread = moves.chunk_by(|a, b| page_of(a.from) == page_of(b.from)).count() as u32;
        Self {
            source,
            plane,
            block,
            start_ns,
            free_blocks,
            units_valid: moves.len() as u32,
            moves,
            next: 0,
            read: 0,
            arrived: 0,
            submitted: 0,
            bound: 0,
            programmed: 0,
            pages_unread,
            reads_waiting: 0,
            pages_bound: 0,
            dropped: 0,
            copying: 0,
            is_erasing: false,
        }
    }

    // ---- questions --------------------------------------------------------------------------------------------------

    /// Its task.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The plane of its block.
    pub fn plane(&self) -> PlaneId {
        self.plane
    }

    /// Its block.
    pub fn block(&self) -> BlockId {
        self.block
    }

    /// When it began.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Free blocks of its plane when it began.
    pub fn free_blocks(&self) -> u32 {
        self.free_blocks
    }

    /// Valid units of its block when it began.
    pub fn units_valid(&self) -> u32 {
        self.units_valid
    }

    /// Moves that were dropped before they were read: the host had written a newer version.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// Pages that its programs have taken.
    pub fn pages_bound(&self) -> u32 {
        self.pages_bound
    }

    /// Pages that its later programs will take at most.
    pub fn pages_left(&self, units_per_page: u32) -> u32 {
        let units = self.read - self.bound + self.moves.len() - self.next;
        (units as u32).div_ceil(units_per_page)
    }

    /// Pages that its programs will take at most, without the programs that were submitted.
    pub fn pages_unsent(&self, units_per_page: u32) -> u32 {
        let units = self.read - self.submitted + self.moves.len() - self.next;
        (units as u32).div_ceil(units_per_page)
    }

    /// The expected number of units of its next reads: the page is chosen only when a die takes the read.
    pub fn units_per_read(&self) -> u32 {
        ((self.moves.len() - self.next) as u32).div_ceil(self.pages_unread.max(1)).max(1)
    }

    // ---- requests ---------------------------------------------------------------------------------------------------

    /// The next request that it issues, if any; its buffer holds this many units.
    pub fn next_request(&mut self, units_per_page: u32, buffer_units: u32) -> Option<RelocationRequest> {
        if self.is_erasing {
            return None;
        }
        if self.is_about_to_program(units_per_page) {
            let units = ((self.arrived - self.submitted) as u32).min(units_per_page);
            self.submitted += units as usize;
            return Some(RelocationRequest::Program { units });
        }
        if self.has_read_all() {
            self.is_erasing = self.programmed == self.read && self.copying == 0;
            return self.is_erasing.then_some(RelocationRequest::Erase);
        }
        let in_buffer = (self.read - self.programmed) as u32 + self.reads_waiting * units_per_page;
        let reads = self.reads_waiting < self.pages_unread && in_buffer + units_per_page <= buffer_units;
        self.reads_waiting += u32::from(reads);
        reads.then_some(RelocationRequest::Read)
    }

    /// Whether its next request is a program.
    pub fn is_about_to_program(&self, units_per_page: u32) -> bool {
        let held = (self.arrived - self.submitted) as u32;
        !self.is_erasing && (held >= units_per_page || (self.has_read_all() && held > 0))
    }

    /// Whether all valid units were read and have entered the buffer.
    fn has_read_all(&self) -> bool {
        self.next == self.moves.len() && self.reads_waiting == 0 && self.arrived == self.read
    }

    /// A read is bound: the page and its number of valid units; none if no valid unit remains.
    pub fn bind_read(
        &mut self,
        page_of: impl Fn(PhysicalUnit) -> PageId,
        is_current: impl Fn(Move) -> bool,
    ) -> Option<(PageId, u32)> {
        self.reads_waiting -= 1;
        while self.next < self.moves.len() {
            let (page, before) = (page_of(self.moves[self.next].from), self.read);
            while self.next < self.moves.len() && page_of(self.moves[self.next].from) == page {
                let m = self.moves[self.next];
                if is_current(m) {
                    self.moves[self.read] = m;
                    self.read += 1;
                } else {
                    self.dropped += 1;
                }
                self.next += 1;
            }
            self.pages_unread -= 1;
            if self.read > before {
                return Some((page, (self.read - before) as u32));
            }
        }
        None
    }

    /// Copies back the page whose read was just bound, with this many units: it does not enter the buffer, and is bound
    /// at once. Returns its range of moves, which is valid until the next read is bound.
    pub fn copy_back(&mut self, units: u32) -> Range<usize> {
        self.read -= units as usize;
        self.copying += units;
        self.pages_bound += 1;
        self.read..self.read + units as usize
    }

    /// A copyback of this many units completed.
    pub fn end_copyback(&mut self, units: u32) {
        self.copying -= units;
    }

    /// A read of this many units completed.
    pub fn end_read(&mut self, units: u32) {
        self.arrived += units as usize;
    }

    /// A program is bound: it takes this many units, the oldest in the buffer. Returns their range of moves.
    pub fn bind_program(&mut self, units: u32) -> Range<usize> {
        let first = self.bound;
        self.bound += units as usize;
        self.pages_bound += 1;
        first..self.bound
    }

    /// Some of the moves.
    pub fn moves(&self, which: Range<usize>) -> &[Move] {
        &self.moves[which]
    }

    /// A program of this many units completed.
    pub fn end_program(&mut self, units: u32) {
        self.programmed += units as usize;
    }

    /// The memory for its moves, for the next relocation.
    pub fn take_memory(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::index::LogicalUnit;

    /// A relocation of a block with pages of two units: three full pages, half of the last.
    fn relocation() -> Relocation {
        let moves = (0..7).map(|at| Move { from: PhysicalUnit(at), unit: LogicalUnit(at) }).collect();
        Relocation::new((Source::GC, PlaneId(0), BlockId(0)), moves, (0, 1), |unit| PageId(unit.0 / 2))
    }

    /// All requests that it submits now.
    fn requests(relocation: &mut Relocation, buffer_units: u32) -> Vec<RelocationRequest> {
        std::iter::from_fn(|| relocation.next_request(2, buffer_units)).collect()
    }

    fn bind_read(relocation: &mut Relocation, is_current: impl Fn(Move) -> bool) -> Option<(PageId, u32)> {
        relocation.bind_read(|unit| PageId(unit.0 / 2), is_current)
    }

    /// It submits reads as far as the buffer reaches, a program for each page's worth, and the erase when the last is
    /// in flash.
    #[test]
    fn requests_are_limited_by_the_buffer() {
        let mut r = relocation();
        assert_eq!(requests(&mut r, 4), [RelocationRequest::Read; 2]);
        assert_eq!(bind_read(&mut r, |_| true), Some((PageId(0), 2)));
        r.end_read(2);
        // The page that arrived is in the buffer until it is in flash.
        assert_eq!(requests(&mut r, 4), [RelocationRequest::Program { units: 2 }]);
        assert_eq!(r.bind_program(2).len(), 2);
        r.end_program(2);
        assert_eq!(requests(&mut r, 4), [RelocationRequest::Read]);
        for page in 1..3 {
            assert_eq!(bind_read(&mut r, |_| true), Some((PageId(page), 2)));
            r.end_read(2);
            assert_eq!(requests(&mut r, 4), [RelocationRequest::Program { units: 2 }]);
            r.bind_program(2);
            r.end_program(2);
            assert_eq!(requests(&mut r, 4), if page == 1 { vec![RelocationRequest::Read] } else { vec![] });
        }
        assert_eq!((bind_read(&mut r, |_| true), r.pages_left(2)), (Some((PageId(3), 1)), 1));
        r.end_read(1);
        assert_eq!(requests(&mut r, 4), [RelocationRequest::Program { units: 1 }]);
        r.bind_program(1);
        assert_eq!((requests(&mut r, 4), r.pages_left(2)), (vec![], 0));
        r.end_program(1);
        assert_eq!(requests(&mut r, 4), [RelocationRequest::Erase]);
        assert_eq!(requests(&mut r, 4), []);
    }

    /// Units that the host has overwritten meanwhile are neither read nor moved, and a read that finds none needs no
    /// command.
    #[test]
    fn stale_units_are_skipped() {
        let mut r = relocation();
        assert_eq!(requests(&mut r, 100), [RelocationRequest::Read; 4]);
        assert_eq!(bind_read(&mut r, |m| m.unit.0 == 3), Some((PageId(1), 1)));
        assert_eq!(bind_read(&mut r, |_| false), None);
        r.end_read(1);
        assert_eq!(requests(&mut r, 100), [], "two reads wait still");
        assert_eq!([(); 2].map(|()| bind_read(&mut r, |_| true)), [None; 2]);
        assert_eq!((requests(&mut r, 100), r.dropped()), (vec![RelocationRequest::Program { units: 1 }], 6));
        let which = r.bind_program(1);
        assert_eq!(r.moves(which), [Move { from: PhysicalUnit(3), unit: LogicalUnit(3) }]);
    }

    /// A page is copied back between others whose units are gathered: those keep their order, and the erase waits for
    /// both.
    #[test]
    fn a_page_is_copied_back_between_others() {
        let mut r = relocation();
        assert_eq!(requests(&mut r, 100).len(), 4);
        assert_eq!(bind_read(&mut r, |m| m.unit.0 > 0), Some((PageId(0), 1)));
        assert_eq!(bind_read(&mut r, |_| true), Some((PageId(1), 2)));
        let which = r.copy_back(2);
        assert_eq!(r.moves(which).iter().map(|m| m.unit.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!((bind_read(&mut r, |_| false), r.pages_left(2)), (None, 1));
        assert_eq!(bind_read(&mut r, |_| true), None, "nothing is left");
        r.end_read(1);
        assert_eq!(requests(&mut r, 100), [RelocationRequest::Program { units: 1 }]);
        let which = r.bind_program(1);
        assert_eq!(r.moves(which)[0].unit.0, 1);
        r.end_program(1);
        assert_eq!(requests(&mut r, 100), [], "a page is being copied back");
        r.end_copyback(2);
        assert_eq!((requests(&mut r, 100), r.pages_bound()), (vec![RelocationRequest::Erase], 2));
    }

    /// A block without valid data is erased at once.
    #[test]
    fn an_empty_block_is_erased_at_once() {
        let mut r = Relocation::new((Source::GC, PlaneId(0), BlockId(0)), Vec::new(), (0, 1), |unit| PageId(unit.0));
        assert_eq!(requests(&mut r, 4), [RelocationRequest::Erase]);
    }
}
