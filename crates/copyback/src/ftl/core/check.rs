//! Checks that the maps, the blocks and the counts of a translation layer agree.

use super::Ftl;
use crate::ftl::blocks::BlockState;
use crate::sim::index::{BlockId, LogicalUnit, PlaneId};

impl Ftl {
    /// Places of all blocks that are programmed, padded or skipped, programs in progress included.
    pub fn units_programmed(&self) -> u64 {
        self.blocks.iter().map(|b| u64::from(b.written)).sum()
    }

    /// Pages of each flash block that are programmed, padded or skipped, programs in progress included.
    pub fn pages_programmed(&self) -> Vec<u32> {
        let g = &self.geometry;
        let mut pages = vec![0; (g.blocks * g.row_planes) as usize];
        for (block, state) in self.blocks.iter().enumerate() {
            for row_plane in 0..g.row_planes {
                let block = g.flash_block_of(BlockId(block as u32), row_plane);
                pages[block.at()] = u32::from(state.written) / g.units_per_page;
            }
        }
        pages
    }

    /// Compares both maps, the valid bits and the blocks' counts, and the blocks among themselves. Slow: it examines
    /// every unit.
    ///
    /// # Errors
    /// Names what does not agree.
    pub fn check_all(&self) -> Result<(), String> {
        let g = &self.geometry;
        if g.has_superpages() {
            self.check_superpages()?;
            return self.check_blocks();
        }
        let mut valid_units = 0u64;
        for unit in (0..g.mapped_units).map(LogicalUnit) {
            let place = self.map.get(unit);
            if place.is_none() {
                continue;
            }
            valid_units += 1;
            if self.reverse[place.at()] != unit || self.valid[place.at() / 64] >> (place.0 % 64) & 1 == 0 {
                return Err(format!("{unit:?} is mapped to {place:?}, which holds {:?}", self.reverse[place.at()]));
            }
        }
        let bits: u64 = self.valid.iter().map(|w| u64::from(w.count_ones())).sum();
        let counted: u64 = self.blocks.iter().map(|b| u64::from(b.valid)).sum();
        if bits != valid_units || counted != valid_units {
            return Err(format!("{valid_units} units are mapped, {bits} bits are set, blocks count {counted}"));
        }
        self.check_blocks()
    }

    /// Compares each block's state with its counts, and the lists of free blocks with both. It examines every block.
    ///
    /// # Errors
    /// Names what does not agree.
    pub fn check_blocks(&self) -> Result<(), String> {
        let free: u64 = self.planes.iter().map(|p| u64::from(p.free_blocks)).sum();
        if free != self.free_blocks {
            return Err(format!("planes count {free} free blocks, the drive {}", self.free_blocks));
        }
        if let Some(twins) = &self.twins {
            let mut counted = twins.clone();
            counted.count_erased(&self.geometry, &self.blocks);
            if counted != *twins {
                return Err(format!("erased rows are {counted:?}, not {twins:?}"));
            }
        }
        (0..self.geometry.planes).map(PlaneId).try_for_each(|plane| self.check_plane(plane))
    }

    fn check_plane(&self, plane: PlaneId) -> Result<(), String> {
        let p = &self.planes[plane.at()];
        let listed = self.free.iter(plane.at()).count() as u32;
        if listed != p.free_blocks {
            return Err(format!("{plane:?} counts {} free blocks and lists {listed}", p.free_blocks));
        }
        for (offset, block) in self.blocks.of_plane(plane).iter().enumerate() {
            let id = self.blocks.id(plane, offset as u32);
            let fits = match block.state {
                BlockState::Free => block.written == 0 && block.valid == 0,
                BlockState::Open => p.open.contains(&id) && u32::from(block.written) < self.geometry.units_per_block,
                BlockState::Closed | BlockState::Victim => {
                    let is_full = u32::from(block.written) == self.geometry.units_per_block;
                    (is_full || self.has_log_blocks()) && !p.open.contains(&id)
                }
            };
            if !fits || block.valid > block.written {
                return Err(format!("{id:?} cannot be in this state: {block:?}"));
            }
        }
        Ok(())
    }
}
