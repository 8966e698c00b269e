//! Space: the pages of each plane that are not reserved.
//!
//! Each admitted host write has a page reserved: on its plane if the address determines it, otherwise on its die. The
//! moves of a job reserve pages of the job's plane, or of another plane if the job sends them there. Reserved pages
//! stay reserved: no query here releases them.

use super::GC_RESERVE_BLOCKS;
use super::core::Ftl;
use super::frontier::Stream;
use crate::flash::geometry::Geometry;
use crate::sim::index::{DieId, PlaneId};

/// Pages that the job of a plane has still to program there; none without a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnMoves {
    /// Pages.
    pub pages: u32,
    /// Whether the job has begun.
    pub has_begun: bool,
}

/// The common pool of pages for moves, on a drive or on a channel whose moves may go to the open block of any plane.
/// The host writes these blocks, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovePool {
    /// Pages that all planes have left for moves.
    pub left: u32,
    /// Pages that writes of the host leave to relocations that are to come.
    pub kept: u32,
    /// Pages that relocations have still to send to a plane.
    pub unsent: u32,
    /// Pages that are reserved, and moves on their way to a plane.
    pub promised: u32,
    /// Writes that wait for admission to a window.
    pub waiting_for_window: u32,
}

/// The space that the jobs of planes need.
pub trait JobSpace {
    /// Pages that the job of a plane has still to program there. Zero if moves may go anywhere.
    fn own_moves(&self, plane: PlaneId) -> OwnMoves;
    /// The pool that this plane shares with others; `None` if it shares none.
    fn move_pool(&self, plane: PlaneId) -> Option<MovePool>;
}

impl MovePool {
    /// Whether there is space for this many more moved pages.
    pub fn has_room_for(&self, pages: u32) -> bool {
        pages + self.promised + self.unsent <= self.left
    }

    /// How many more writes of the host can have a page reserved.
    pub fn reservable(&self) -> u32 {
        self.left.saturating_sub(self.promised + self.unsent + self.kept)
    }

    /// How many more writes of the host can have a page reserved, if writes that wait for admission to a window get
    /// theirs first.
    pub fn claimable(&self) -> u32 {
        self.reservable().saturating_sub(self.waiting_for_window)
    }
}

/// Reservations of a drive's pages. Only its own functions change them.
pub struct Space {
    /// Writes that are certain to share a page if they wait together.
    writes_per_page: u32,
    /// Pages reserved for admitted writes, by plane if the address determines it, otherwise by the die's first plane.
    reserved: Vec<u32>,
    /// Pages of other planes' jobs that are on their way to a plane.
    incoming: Vec<u32>,
    /// Writes without a reserved page that wait for admission to a window, counted as in `reserved`.
    waiting_for_window: Vec<u32>,
}

impl Space {
    /// No reservation. `writes_per_page`: the number of writes that are certain to share a page if they wait together:
    /// 1, or the pages of a row.
    pub fn new(geometry: &Geometry, writes_per_page: u32) -> Self {
        Self {
            writes_per_page,
            reserved: vec![0; geometry.planes as usize],
            incoming: vec![0; geometry.planes as usize],
            waiting_for_window: vec![0; geometry.planes as usize],
        }
    }

    // ---- changes ----------------------------------------------------------------------------------------------------

    /// Reserves a page for a write that is admitted.
    #[inline(always)]
    pub fn reserve(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.reserved[account(geometry, die, plane)] += 1;
    }

    /// The page of a write is bound, or the write needs none any more.
    #[inline(always)]
    pub fn release(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.reserved[account(geometry, die, plane)] -= 1;
    }

    /// A write waits for admission to its die's window: it will need a page.
    pub fn begin_wait_for_window(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.waiting_for_window[account(geometry, die, plane)] += 1;
    }

    /// A write no longer waits for admission to its die's window.
    pub fn end_wait_for_window(&mut self, geometry: &Geometry, die: DieId, plane: PlaneId) {
        self.waiting_for_window[account(geometry, die, plane)] -= 1;
    }

    /// Another plane's job sends a page.
    pub fn expect_move(&mut self, plane: PlaneId) {
        self.incoming[plane.at()] += 1;
    }

    /// A page that another plane's job sent is bound.
    pub fn take_move(&mut self, plane: PlaneId) {
        self.incoming[plane.at()] -= 1;
    }

    // ---- questions --------------------------------------------------------------------------------------------------

    /// Pages reserved on a plane, or on a die whose first plane this is.
    pub fn reserved(&self, plane: PlaneId) -> u32 {
        self.reserved[plane.at()]
    }

    /// Whether another plane's job has pages on their way to a plane.
    pub fn expects_moves(&self, plane: PlaneId) -> bool {
        self.incoming[plane.at()] > 0
    }

    /// Pages reserved on a plane, or on a die if the plane is `NONE`.
    pub fn reserved_at(&self, geometry: &Geometry, die: DieId, plane: PlaneId) -> u32 {
        self.reserved[account(geometry, die, plane)]
    }

    /// Pages of other planes' jobs that are on their way to a plane.
    pub fn incoming(&self, plane: PlaneId) -> u32 {
        self.incoming[plane.at()]
    }

    /// The number of writes that are certain to share a page if this many wait together.
    pub fn writes_per_page(&self) -> u32 {
        self.writes_per_page
    }

    /// Pages that reservations on a plane will take at most.
    pub fn pages_reserved(&self, plane: PlaneId) -> u32 {
        self.reserved(plane).div_ceil(self.writes_per_page)
    }

    /// All pages reserved, and all moves on their way to another plane.
    pub fn totals(&self) -> (u32, u32) {
        (self.reserved.iter().sum(), self.incoming.iter().sum())
    }

    /// The number of further host writes for which a page can be reserved on a plane, or on a die (`plane`: `NONE`).
    #[inline(always)]
    pub fn reservable(&self, ftl: &Ftl, jobs: &impl JobSpace, die: DieId, plane: PlaneId) -> u32 {
        if plane.is_some() {
            let left = self.reservable_of_plane(ftl, jobs, plane) * self.writes_per_page;
            return left.saturating_sub(self.reserved[plane.at()]);
        }
        self.reservable_of_die(ftl, jobs, die)
    }

    /// [`Self::reservable`], if writes that wait for admission to a window get their pages first.
    pub fn claimable(&self, ftl: &Ftl, jobs: &impl JobSpace, die: DieId, plane: PlaneId) -> u32 {
        let at = account(&ftl.geometry, die, plane);
        match jobs.move_pool(PlaneId(at as u32)).filter(|_| plane.is_none()) {
            Some(pool) => {
                let of_die =
                    self.host_pages_of(ftl, die).saturating_sub(self.reserved[at] + self.waiting_for_window[at]);
                of_die.min(pool.claimable())
            }
            None => self.reservable(ftl, jobs, die, plane).saturating_sub(self.waiting_for_window[at]),
        }
    }

    #[inline(never)]
    fn reservable_of_die(&self, ftl: &Ftl, jobs: &impl JobSpace, die: DieId) -> u32 {
        let reserved = self.reserved[account(&ftl.geometry, die, PlaneId::NONE)];
        let first = PlaneId(account(&ftl.geometry, die, PlaneId::NONE) as u32);
        if let Some(pool) = jobs.move_pool(first) {
            return self.host_pages_of(ftl, die).saturating_sub(reserved).min(pool.reservable());
        }
        let planes = ftl.geometry.planes_of(die);
        planes.map(|p| self.reservable_of_plane(ftl, jobs, p)).sum::<u32>().saturating_sub(reserved)
    }

    /// Whether the die itself has a page that can be reserved for the host, without the blocks that dies share.
    pub fn has_own_pages(&self, ftl: &Ftl, die: DieId) -> bool {
        self.host_pages_of(ftl, die) > self.reserved[account(&ftl.geometry, die, PlaneId::NONE)]
    }

    /// [`Self::has_own_pages`], if writes that wait for admission to a window get their pages first.
    pub fn has_own_claimable_pages(&self, ftl: &Ftl, die: DieId) -> bool {
        let at = account(&ftl.geometry, die, PlaneId::NONE);
        self.host_pages_of(ftl, die) > self.reserved[at] + self.waiting_for_window[at]
    }

    /// Pages of a die for the host if moves on their way may take the reserve on any plane.
    fn host_pages_of(&self, ftl: &Ftl, die: DieId) -> u32 {
        let planes = ftl.geometry.planes_of(die);
        planes.map(|plane| left_beside_moves(ftl, plane, self.incoming[plane.at()])).sum()
    }

    /// Whether a plane can take another page that may go anywhere, and its die keeps its reservations.
    pub fn takes_move(&self, ftl: &Ftl, plane: PlaneId) -> bool {
        let incoming = self.incoming[plane.at()];
        if ftl.pages_left(plane, Stream::Moved) <= incoming {
            return false;
        }
        let (now, then) = (left_beside_moves(ftl, plane, incoming), left_beside_moves(ftl, plane, incoming + 1));
        let die = ftl.geometry.die_of(plane);
        now == then
            || self.host_pages_of(ftl, die) - (now - then) >= self.reserved[account(&ftl.geometry, die, PlaneId::NONE)]
    }

    /// Pages of a plane that are reserved for no move, of its own job or of another plane's, and that are not kept for
    /// the moves of its next job.
    #[inline]
    fn reservable_of_plane(&self, ftl: &Ftl, jobs: &impl JobSpace, plane: PlaneId) -> u32 {
        let own = jobs.own_moves(plane);
        left_beside_reserve(ftl, self.incoming[plane.at()], plane, own).unwrap_or(0).saturating_sub(own.pages)
    }

    /// Pages of a plane that admitted host writes can use now; none if moves on their way from other planes lack space.
    /// This never decreases when such a move or one of the plane's own is bound, or when its job begins or ends.
    #[inline]
    pub fn host_pages_left(&self, ftl: &Ftl, jobs: &impl JobSpace, plane: PlaneId) -> u32 {
        if jobs.move_pool(plane).is_some() {
            return left_beside_moves(ftl, plane, self.incoming[plane.at()]);
        }
        let (own, incoming) = (jobs.own_moves(plane), self.incoming[plane.at()]);
        // The moves of a collection that has begun keep only the pages that they still need.
        let left = match own.has_begun {
            true => left_beside_begun(ftl, incoming, plane, own),
            false => left_beside_reserve(ftl, incoming, plane, own),
        };
        left.unwrap_or(0)
    }

    /// Whether a plane can relocate one more of its own blocks, with this many pages. The first relocation has the
    /// reserve; a further one needs pages beyond the reserve and beyond admitted writes. `bound`: the plane to which
    /// these writes are bound, none if they are bound to no plane of its die.
    pub fn takes_own(&self, ftl: &Ftl, own: OwnMoves, plane: PlaneId, bound: PlaneId, pages: u32) -> bool {
        let incoming = self.incoming[plane.at()];
        if !own.has_begun {
            return pages + incoming <= ftl.pages_left(plane, Stream::Moved);
        }
        let admitted = self.reserved_at(&ftl.geometry, ftl.geometry.die_of(plane), bound);
        let with = OwnMoves { pages: own.pages + pages, has_begun: true };
        left_beside_begun(ftl, incoming, plane, with).is_some_and(|left| left >= admitted)
    }

    /// Whether a plane can take another page of another plane's job and still keep its reservations. `bound`: the plane
    /// itself if addresses determine planes, none if writes to its die may go to any of the die's planes. `beginning`:
    /// the plane (if any) whose job is assumed to have begun to move a whole block.
    pub fn accepts_move(
        &self,
        ftl: &Ftl,
        jobs: &impl JobSpace,
        plane: PlaneId,
        bound: PlaneId,
        beginning: PlaneId,
    ) -> bool {
        let geometry = &ftl.geometry;
        let die = geometry.die_of(plane);
        let reserved = self.reserved[account(geometry, die, bound)];
        let own = jobs.own_moves(plane);
        let left = left_beside_reserve(ftl, self.incoming[plane.at()] + 1, plane, own);
        let left = left.and_then(|left| left.checked_sub(own.pages));
        let moved = |p: PlaneId| if p == beginning { geometry.pages_per_block } else { 0 };
        let others = geometry.planes_of(die).filter(|&p| p != plane && bound.is_none());
        let of_others: u32 = others.map(|p| self.reservable_of_plane(ftl, jobs, p).saturating_sub(moved(p))).sum();
        left.is_some_and(|left| left + of_others >= reserved)
    }
}

/// The plane that counts the reservations of a plane, or those of a die if the plane is `NONE`.
#[inline(always)]
fn account(geometry: &Geometry, die: DieId, plane: PlaneId) -> usize {
    if plane.is_some() { plane.at() } else { die.at() * geometry.planes_per_die as usize }
}

/// Pages left for the host if the reserve is kept whole for the plane's own moves, and this many come from others.
#[inline]
fn left_beside_reserve(ftl: &Ftl, incoming: u32, plane: PlaneId, own: OwnMoves) -> Option<u32> {
    let left = ftl.pages_left(plane, Stream::Host);
    if incoming == 0 {
        return Some(left);
    }
    if ftl.shares_block() {
        return left.checked_sub(incoming);
    }
    let blocks = blocks_for_moves(ftl, incoming, plane, own);
    if blocks > ftl.free_blocks_of(plane) {
        return None;
    }
    left.checked_sub(blocks.saturating_sub(GC_RESERVE_BLOCKS) * ftl.geometry.pages_per_block)
}

/// Pages left for the host if the plane's own moves have begun, and this many come from others. If moves have their own
/// block, they take whole blocks, and so does the host.
fn left_beside_begun(ftl: &Ftl, incoming: u32, plane: PlaneId, own: OwnMoves) -> Option<u32> {
    if ftl.shares_block() {
        return ftl.pages_left(plane, Stream::Moved).checked_sub(own.pages + incoming);
    }
    ftl.host_pages_left_with(plane, blocks_for_moves(ftl, incoming, plane, own))
}

/// Pages of a plane for the host if this many moves are on their way to its open block, and may take the reserve when
/// that is full.
fn left_beside_moves(ftl: &Ftl, plane: PlaneId, incoming: u32) -> u32 {
    ftl.pages_left(plane, Stream::Host).saturating_sub(incoming)
}

/// Erased blocks of a plane that moves will open, if moves have their own block: moves of other planes, and moves of
/// its own job. Before the job begins, these are the moves of the block that it might take.
fn blocks_for_moves(ftl: &Ftl, incoming: u32, plane: PlaneId, own: OwnMoves) -> u32 {
    let pages_per_block = ftl.geometry.pages_per_block;
    let own = if own.has_begun { own.pages } else { pages_per_block };
    let in_open = ftl.pages_left(plane, Stream::Moved) - ftl.free_blocks_of(plane) * pages_per_block;
    (own + incoming).saturating_sub(in_open).div_ceil(pages_per_block)
}

#[cfg(test)]
impl Space {
    pub(crate) fn break_reservation(&mut self, plane: PlaneId, pages: u32) {
        self.reserved[plane.at()] += pages;
    }
}
