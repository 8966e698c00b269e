//! Twin blocks (tpds20 Section 5.3): the erased block that a plane opens, if all planes of a die open the same row. The
//! policy and its page: `frontier/twin.rs`.

use super::blocks::{BlockState, Blocks};
use super::core::Ftl;
use crate::flash::geometry::Geometry;
use crate::sim::index::{BlockId, DieId, PlaneId};

/// A row of blocks that some planes of its die have entered, and not all.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entered {
    block_offset: u32,
    /// Which of a plane's open blocks enters it.
    write_point: u8,
    /// A bit for each plane.
    planes: u8,
}

/// The rows of each die: those that some planes have still to enter, and those that are erased on all planes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Twins {
    /// Of each die, the oldest first.
    entered: Vec<Vec<Entered>>,
    /// Planes on which a row is erased, die by die.
    erased_planes: Vec<u8>,
    /// Of each die. Invariant: the number of rows whose `erased_planes` is `planes_per_die`.
    whole_rows: Vec<u32>,
    planes_per_die: u8,
    rows_per_die: u32,
}

impl Twins {
    /// Of an erased drive.
    pub fn new(geometry: &Geometry) -> Self {
        let (dies, rows_per_die) = (geometry.dies as usize, geometry.blocks_per_plane);
        let planes_per_die = geometry.planes_per_die as u8;
        Self {
            entered: vec![Vec::with_capacity(4); dies],
            erased_planes: vec![planes_per_die; dies * rows_per_die as usize],
            whole_rows: vec![rows_per_die; dies],
            planes_per_die,
            rows_per_die,
        }
    }

    fn row(&self, die: DieId, block_offset: u32) -> usize {
        die.at() * self.rows_per_die as usize + block_offset as usize
    }

    fn is_whole(&self, die: DieId, block_offset: u32) -> bool {
        self.erased_planes[self.row(die, block_offset)] == self.planes_per_die
    }

    /// Whether a die has a row that is erased on all planes and that no plane has entered.
    fn has_new_row(&self, die: DieId) -> bool {
        let entered = self.entered[die.at()].iter().filter(|row| self.is_whole(die, row.block_offset)).count();
        self.whole_rows[die.at()] > entered as u32
    }

    /// A block of a row was erased.
    pub fn on_erase(&mut self, die: DieId, block_offset: u32) {
        let row = self.row(die, block_offset);
        self.erased_planes[row] += 1;
        self.whole_rows[die.at()] += u32::from(self.is_whole(die, block_offset));
    }

    /// A block of a row is erased no longer.
    fn on_open(&mut self, die: DieId, block_offset: u32) {
        self.whole_rows[die.at()] -= u32::from(self.is_whole(die, block_offset));
        let row = self.row(die, block_offset);
        self.erased_planes[row] -= 1;
    }

    /// Counts the erased blocks of all rows anew.
    pub fn count_erased(&mut self, geometry: &Geometry, blocks: &Blocks) {
        self.erased_planes.fill(0);
        self.whole_rows.fill(0);
        for block in (0..geometry.blocks).map(BlockId).filter(|&block| blocks[block].state == BlockState::Free) {
            self.on_erase(geometry.die_of(geometry.plane_of(block)), geometry.block_offset(block));
        }
    }

    /// Gives a die the entered rows of the only die of another drive. `offsets`: for each block offset on that die, the
    /// block offset on this one.
    pub fn settle(&mut self, die: DieId, from: &Self, offsets: &[u32]) {
        let own = |row: &Entered| Entered { block_offset: offsets[row.block_offset as usize], ..*row };
        self.entered[die.at()] = from.entered[0].iter().map(own).collect();
    }
}

impl Ftl {
    /// The block that a plane opens next in place of one of its open blocks.
    pub(super) fn next_twin(&self, twins: &Twins, plane: PlaneId, write_point: usize) -> Option<BlockId> {
        let (die, bit) = (self.geometry.die_of(plane), 1 << self.geometry.plane_offset(plane));
        let entered = &twins.entered[die.at()];
        let is_free = |offset: u32| self.blocks()[self.blocks().id(plane, offset)].state == BlockState::Free;
        let is_awaited = |row: &&Entered| row.planes & bit == 0 && usize::from(row.write_point) == write_point;
        if let Some(row) = entered.iter().filter(is_awaited).find(|row| is_free(row.block_offset)) {
            return Some(self.blocks().id(plane, row.block_offset));
        }
        let is_new = |&block: &BlockId| {
            let offset = self.geometry.block_offset(block);
            twins.is_whole(die, offset) && entered.iter().all(|row| row.block_offset != offset)
        };
        let new_row = if twins.has_new_row(die) { self.free_of(plane).find(is_new) } else { None };
        new_row.or_else(|| self.free_of(plane).next())
    }

    /// A plane opens a block: the other planes of its die are to enter that row, or it was the last to do so.
    pub(super) fn enter_twin(&self, twins: &mut Twins, block: BlockId, write_point: usize) {
        let (plane, block_offset) = (self.geometry.plane_of(block), self.geometry.block_offset(block));
        let die = self.geometry.die_of(plane);
        twins.on_open(die, block_offset);
        let entered = &mut twins.entered[die.at()];
        let bit = 1 << self.geometry.plane_offset(plane);
        let all = ((1u32 << self.geometry.planes_per_die) - 1) as u8;
        match entered.iter().position(|row| row.block_offset == block_offset) {
            Some(at) => {
                entered[at].planes |= bit;
                if entered[at].planes == all {
                    entered.remove(at);
                }
            }
            None if all != bit => {
                entered.push(Entered { block_offset, write_point: write_point as u8, planes: bit });
            }
            None => {}
        }
    }
}
