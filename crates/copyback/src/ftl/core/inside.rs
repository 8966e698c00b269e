//! Access for tests that break a translation layer from outside.

use super::{Blocks, Ftl, Lists, LogicalUnit, Mapping, PlaneId, Victim};

/// The parts of a translation layer that only it may change.
pub(crate) struct Inside<'a> {
    pub map: &'a mut Mapping,
    pub reverse: &'a mut Vec<LogicalUnit>,
    pub blocks: &'a mut Blocks,
    pub free: &'a mut Lists,
    pub victim: &'a mut Victim,
    pub free_blocks: &'a mut u64,
}

impl Ftl {
    pub(crate) fn inside(&mut self) -> Inside<'_> {
        Inside {
            map: &mut self.map,
            reverse: &mut self.reverse,
            blocks: &mut self.blocks,
            free: &mut self.free,
            victim: &mut self.victim,
            free_blocks: &mut self.free_blocks,
        }
    }

    pub(crate) fn forget_free_blocks(&mut self, plane: PlaneId) {
        self.planes[plane.at()].free_blocks = 0;
    }

    pub(crate) fn open_blocks(&self, plane: PlaneId) -> impl Iterator<Item = super::BlockId> + '_ {
        self.planes[plane.at()].open.iter().copied().filter(|b| b.is_some())
    }
}
