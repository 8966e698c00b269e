//! Twin blocks (tpds20 Section 5.3): which erased block a plane opens, where all planes of a die open the same row. The
//! policy and its page: `frontier/twin.rs`.

use super::blocks::BlockState;
use super::core::Ftl;
use crate::flash::geometry::Geometry;
use crate::sim::index::{BlockId, DieId, PlaneId};

/// A row of blocks that some planes of its die have entered, and not all.
#[derive(Clone, Copy, Debug)]
struct Entered {
    block_offset: u32,
    /// Which of a plane's open blocks enters it.
    write_point: u8,
    /// A bit for each plane.
    planes: u8,
}

/// Of each die the rows that planes are still to enter, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct Twins {
    entered: Vec<Vec<Entered>>,
}

impl Twins {
    pub fn new(geometry: &Geometry) -> Self {
        Self { entered: vec![Vec::with_capacity(4); geometry.dies as usize] }
    }

    /// A die enters the rows that the only die of another drive has entered, where its blocks lie at these offsets.
    pub fn settle(&mut self, die: DieId, from: &Self, offsets: &[u32]) {
        let own = |row: &Entered| Entered { block_offset: offsets[row.block_offset as usize], ..*row };
        self.entered[die.at()] = from.entered[0].iter().map(own).collect();
    }
}

impl Ftl {
    /// The block that a plane opens next in one of its open blocks' place.
    pub(super) fn next_twin(&self, twins: &Twins, plane: PlaneId, write_point: usize) -> Option<BlockId> {
        let (die, bit) = (self.geometry.die_of(plane), 1 << self.geometry.plane_offset(plane));
        let entered = &twins.entered[die.at()];
        let is_free =
            |plane: PlaneId, offset: u32| self.blocks[self.blocks.id(plane, offset)].state == BlockState::Free;
        let is_awaited = |row: &&Entered| row.planes & bit == 0 && usize::from(row.write_point) == write_point;
        if let Some(row) = entered.iter().filter(is_awaited).find(|row| is_free(plane, row.block_offset)) {
            return Some(self.blocks.id(plane, row.block_offset));
        }
        let is_whole = |&block: &BlockId| {
            let offset = self.geometry.block_offset(block);
            let is_new = entered.iter().all(|row| row.block_offset != offset);
            is_new && self.geometry.planes_of(die).all(|p| is_free(p, offset))
        };
        self.free_of(plane).find(is_whole).or_else(|| self.free_of(plane).next())
    }

    /// A plane opens a block: the other planes of its die are to enter that row, or it was the last to do so.
    pub(super) fn enter_twin(&self, twins: &mut Twins, block: BlockId, write_point: usize) {
        let (plane, block_offset) = (self.geometry.plane_of(block), self.geometry.block_offset(block));
        let entered = &mut twins.entered[self.geometry.die_of(plane).at()];
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
