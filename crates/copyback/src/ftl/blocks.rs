//! The state of each block in the translation layer.

use crate::flash::geometry::Geometry;
use crate::sim::index::{BlockId, PlaneId};
use crate::sim::shared_table::SharedTable;
use crate::sim::table;
use serde::{Deserialize, Serialize};

/// Which of a plane's free blocks is opened next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreeOrder {
    /// The free block that was erased first.
    #[default]
    InTurn,
    /// The free block with the fewest erases; of equal blocks, the one that was erased first.
    Youngest,
}

/// A block's place in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockState {
    /// Erased, in its plane's free list.
    Free,
    /// Being filled.
    Open,
    /// Takes no more data, because it is full or, with log blocks, was closed early; a candidate for collection.
    Closed,
    /// Being collected.
    Victim,
}

/// One block. Counts are of mapping units.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Units that hold the newest version of their data.
    pub valid: u16,
    /// Units that are programmed, padded or skipped, programs in progress included. The next program begins after them.
    pub written: u16,
    /// Its state.
    pub state: BlockState,
    /// Erases so far.
    pub erases: u32,
    /// The caller's stamp when the block was closed: ages count from it.
    pub closed_at: u64,
}

/// All blocks of a drive.
#[derive(Clone)]
pub struct Blocks {
    table: SharedTable<Block>,
    per_plane: u32,
    /// Units in a block.
    pub units_per_block: u32,
}

impl Blocks {
    /// All blocks free and new.
    pub fn new(geometry: &Geometry) -> Self {
        let fresh = Block { valid: 0, written: 0, state: BlockState::Free, erases: 0, closed_at: 0 };
        Self {
            table: SharedTable::new(vec![fresh; geometry.blocks as usize]),
            per_plane: geometry.blocks_per_plane,
            units_per_block: geometry.units_per_block,
        }
    }

    /// The blocks of a plane, in their order.
    #[inline]
    pub fn of_plane(&self, plane: PlaneId) -> &[Block] {
        let first = plane.at() * self.per_plane as usize;
        &self.table[first..first + self.per_plane as usize]
    }

    /// `count` consecutive blocks.
    #[inline(always)]
    pub fn run(&self, first: BlockId, count: u32) -> &[Block] {
        &self.table[first.at()..first.at() + count as usize]
    }

    /// The block at an offset of a plane.
    #[inline(always)]
    pub fn id(&self, plane: PlaneId, offset: u32) -> BlockId {
        BlockId(plane.0 * self.per_plane + offset)
    }

    /// Fetches a block's record into the processor's cache.
    #[inline(always)]
    pub fn prefetch(&self, block: BlockId) {
        table::prefetch(&self.table, block.at());
    }

    /// Blocks in a plane.
    #[inline(always)]
    pub fn per_plane(&self) -> u32 {
        self.per_plane
    }

    /// Never frees the memory of these blocks, because readers of them remain.
    pub fn keep_for_ever(&self) {
        self.table.keep_for_ever();
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Block> {
        self.table.iter()
    }
}

#[cfg(test)]
impl Blocks {
    /// A plane of blocks in these states.
    pub(crate) fn in_states(states: &[BlockState]) -> Self {
        let block = |&state| Block { valid: 0, written: 0, state, erases: 0, closed_at: 0 };
        Self {
            table: SharedTable::new(states.iter().map(block).collect()),
            per_plane: states.len() as u32,
            units_per_block: 8,
        }
    }
}

impl std::ops::Index<BlockId> for Blocks {
    type Output = Block;
    #[inline(always)]
    fn index(&self, block: BlockId) -> &Block {
        &self.table[block.at()]
    }
}

impl std::ops::IndexMut<BlockId> for Blocks {
    #[inline(always)]
    fn index_mut(&mut self, block: BlockId) -> &mut Block {
        &mut self.table[block.at()]
    }
}
