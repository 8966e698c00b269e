//! The choice of the free block of a plane that is opened next.

use super::Ftl;
use crate::ftl::blocks::FreeOrder;
use crate::sim::index::{BlockId, PlaneId};

impl Ftl {
    /// The block that a plane opens next in place of one of its open blocks.
    pub(super) fn next_free_block(&self, plane: PlaneId, write_point: usize) -> Option<BlockId> {
        match &self.twins {
            Some(twins) => self.next_twin(twins, plane, write_point),
            None => self.first_free(plane).map(BlockId),
        }
    }

    /// The free block that a plane opens next. The search for the youngest compares all free blocks of the plane, which
    /// is rare enough: a block takes many pages.
    fn first_free(&self, plane: PlaneId) -> Option<u32> {
        match self.free_order {
            FreeOrder::InTurn => self.free.first(plane.at()),
            FreeOrder::Youngest => self.free.iter(plane.at()).min_by_key(|&block| self.blocks[BlockId(block)].erases),
        }
    }

    /// The free blocks of a plane, in the order in which they were erased.
    pub(in crate::ftl) fn free_of(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.free.iter(plane.at()).map(BlockId)
    }

    pub(super) fn pop_free(&mut self, plane: PlaneId) -> Option<u32> {
        if self.free_order == FreeOrder::InTurn {
            return self.free.pop_front(plane.at());
        }
        let block = self.first_free(plane)?;
        self.free.remove(block);
        Some(block)
    }

    pub(super) fn pop_twin(&mut self, plane: PlaneId, write_point: usize) -> Option<u32> {
        let mut twins = self.twins.take().expect("only a frontier with twin blocks opens a twin");
        let block = self.next_twin(&twins, plane, write_point);
        if let Some(block) = block {
            self.free.remove(block.0);
            self.enter_twin(&mut twins, block, write_point);
        }
        self.twins = Some(twins);
        block.map(|block| block.0)
    }
}
