//! The pages of each plane that a job of several blocks still has to program. Each write that waits for a page needs
//! the number, so it is kept and not recounted.
//!
//! If a page holds hot and cold moves, it counts twice: the two kinds are programmed to different pages.

use super::Job;
use crate::config::device::PLANES_MAX;
use crate::flash::geometry::Geometry;
use crate::ftl::core::Move;
use crate::sim::index::{PhysicalUnit, PlaneId};
use crate::tasks::footprint::Footprint;

/// Pages of each of a job's blocks with moves that were not programmed yet; a page with hot and cold moves twice. Empty
/// until the job has its blocks.
#[derive(Clone, Debug, Default)]
pub struct PagesLeft {
    /// Cold and hot moves of each page, block by block of the footprint.
    moves: Vec<[u16; 2]>,
    /// Pages with at least one cold move, and pages with at least one hot move, added up, block by block.
    pages: [u32; PLANES_MAX as usize],
    /// First unit of each block.
    first: [u32; PLANES_MAX as usize],
    units_per_page: u32,
    units_per_block: u32,
}

impl PagesLeft {
    /// Clears all counts.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.pages = [0; PLANES_MAX as usize];
    }

    fn begin(&mut self, footprint: Footprint, geometry: &Geometry) {
        self.clear();
        (self.units_per_page, self.units_per_block) = (geometry.units_per_page, geometry.units_per_block);
        let mut blocks = 0;
        for (lane, (_, block)) in footprint.blocks().enumerate() {
            self.first[lane] = geometry.first_unit(block).0;
            blocks += 1;
        }
        self.moves.resize(blocks * (self.units_per_block / self.units_per_page) as usize, [0; 2]);
    }

    /// The block of a unit, and its page among the pages of all blocks.
    fn place(&self, unit: PhysicalUnit) -> (usize, usize) {
        let pages_per_block = (self.units_per_block / self.units_per_page) as usize;
        let blocks = self.moves.len() / pages_per_block;
        let lane = self.first[..blocks].iter().position(|&first| unit.0.wrapping_sub(first) < self.units_per_block);
        let lane = lane.expect("a job moves what is in its blocks");
        (lane, lane * pages_per_block + ((unit.0 - self.first[lane]) / self.units_per_page) as usize)
    }

    fn add(&mut self, moves: &[Move], are_hot: bool) {
        for m in moves {
            let (lane, page) = self.place(m.from);
            let moves = &mut self.moves[page][usize::from(are_hot)];
            self.pages[lane] += u32::from(*moves == 0);
            *moves += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn subtract(&mut self, moves: &[Move], are_hot: bool) {
        if self.moves.is_empty() {
            return;
        }
        for m in moves {
            let (lane, page) = self.place(m.from);
            let moves = &mut self.moves[page][usize::from(are_hot)];
            *moves -= 1;
            self.pages[lane] -= u32::from(*moves == 0);
        }
    }
}

/// Removes moves that were programmed, or overwritten by the host, from the counts of a job that keeps them.
#[inline(always)]
pub fn forget(left: &mut Option<Box<PagesLeft>>, moves: &[Move], are_hot: bool) {
    if let Some(left) = left {
        left.subtract(moves, are_hot);
    }
}

impl Job {
    /// Starts to count the pages of the job's blocks with moves that were not programmed yet. Called when the job
    /// begins.
    pub fn keep_pages_left(&mut self, geometry: &Geometry) {
        let Self { left, moves, moves_hot, hot, footprint, programmed, .. } = self;
        let left = left.get_or_insert_default();
        left.begin(*footprint, geometry);
        left.add(&moves[*programmed..], *moves_hot);
        left.add(hot, true);
    }

    /// Pages of a plane with moves that were not programmed yet, for a job that counts them; 0 before it begins. Pages
    /// with hot and cold moves count twice.
    pub fn pages_left_on(&self, plane: PlaneId) -> u32 {
        let lane = self.footprint().planes().position(|p| p == plane);
        self.left.as_ref().zip(lane).map_or(0, |(left, lane)| left.pages[lane])
    }

    /// As [`Self::pages_left_on`], recounted.
    pub fn count_pages_left_on(&self, plane: PlaneId, geometry: &Geometry) -> u32 {
        let pages_of = |moves: &[Move]| {
            let pages = moves.iter().map(|m| geometry.page_of(m.from));
            let mut pages: Vec<_> = pages.filter(|&page| geometry.plane_of_page(page) == plane).collect();
            pages.sort_unstable();
            pages.dedup();
            pages.len() as u32
        };
        pages_of(&self.moves[self.programmed..]) + pages_of(&self.hot)
    }
}

/// Changes that tests make, to see that checks detect them.
#[cfg(test)]
impl Job {
    pub(crate) fn miscount_pages_left(&mut self) {
        self.left.as_mut().expect("it keeps them").pages[0] += 1;
    }
}
