//! Settled planes: each copies the state of a plane of another drive, the sample, with its own data. The result is a
//! drive in a steady state without its writes.

use super::Ftl;
use crate::ftl::blocks::BlockState;
use crate::ftl::victim::VictimPolicy;
use crate::sim::index::{BlockId, DieId, LogicalUnit, PhysicalUnit, PlaneId};
use crate::sim::invariant::hold;

/// How far the sample has gone on since a plane was settled.
#[derive(Clone, Copy, Debug)]
pub struct Lag {
    /// Units that the host has written to it.
    pub stamps: u64,
    /// Erases of each of its blocks, on average.
    pub erases: u32,
}

impl Ftl {
    /// Gives a fresh plane the blocks of a plane of `sample`: their written pages, valid units, wear, and which are
    /// open or free. `offsets` gives the location of each block of the sample on the plane; `units` gives the content
    /// of the valid units, in the order of the sample's blocks. Units of flash without a content are invalid.
    ///
    /// The victim policy is not notified before [`Ftl::end_settling`].
    ///
    /// # Panics
    /// If there are more units than valid locations, or the plane is not fresh.
    pub fn settle(
        &mut self,
        plane: PlaneId,
        (sample, of): (&Self, PlaneId),
        offsets: &[u32],
        units: &mut impl Iterator<Item = LogicalUnit>,
    ) {
        let first = plane.0 * self.geometry.blocks_per_plane;
        let own = |block: BlockId| BlockId(first + offsets[sample.geometry.block_offset(block) as usize]);
        while let Some(block) = self.free.pop_front(plane.at()) {
            let state = &self.blocks[BlockId(block)];
            hold!(state.written == 0 && state.erases == 0, FreeBlock, "{plane:?} is settled, and was used: {state:?}");
        }
        sample.free_of(of).for_each(|block| self.free.push_back(plane.at(), own(block).0));
        let from = &sample.planes[of.at()];
        self.free_blocks -= u64::from(self.geometry.blocks_per_plane - from.free_blocks);
        let p = &mut self.planes[plane.at()];
        (p.free_blocks, p.paired) = (from.free_blocks, from.paired);
        p.open = from.open.map(|block| if block.is_some() { own(block) } else { block });
        for block in (0..sample.geometry.blocks_per_plane).map(|offset| sample.blocks.id(of, offset)) {
            let to = own(block);
            let mut state = sample.blocks[block];
            state.valid = self.settle_block(sample, block, to, units);
            self.blocks[to] = state;
        }
        assert!(units.next().is_none(), "the sample has a place for each unit");
    }

    /// Maps units to the places of a block that are valid in the sample. Returns how many.
    fn settle_block(
        &mut self,
        sample: &Self,
        block: BlockId,
        to: BlockId,
        units: &mut impl Iterator<Item = LogicalUnit>,
    ) -> u16 {
        let (first, own_first) = (sample.geometry.first_unit(block).0, self.geometry.first_unit(to).0);
        let mut valid = 0;
        for at in 0..u32::from(sample.blocks[block].written) {
            let place = first + at;
            if sample.valid[(place / 64) as usize] >> (place % 64) & 1 == 0 {
                continue;
            }
            let Some(unit) = units.next() else { break };
            let place = PhysicalUnit(own_first + at);
            let old = self.map.set(unit, place);
            debug_assert!(old.is_none(), "{unit:?} is written once");
            self.reverse[place.at()] = unit;
            self.valid[place.at() / 64] |= 1 << (place.0 % 64);
            valid += 1;
        }
        valid
    }

    /// Makes a settled die open the same blocks next as the die of `sample`.
    pub fn settle_die(&mut self, die: DieId, sample: &Self, offsets: &[u32]) {
        if let (Some(twins), Some(from)) = (&mut self.twins, &sample.twins) {
            twins.settle(die, from, offsets);
        }
    }

    /// Adjusts a settled plane to the moment of planes that were settled later: its blocks keep their ages, and get the
    /// wear of that moment. On this drive, stamps are `times` those of the sample.
    pub fn align_settled(&mut self, plane: PlaneId, lag: Lag, times: u64) {
        for offset in 0..self.geometry.blocks_per_plane {
            let block = self.blocks.id(plane, offset);
            let state = &mut self.blocks[block];
            state.erases += lag.erases;
            if state.state == BlockState::Closed {
                state.closed_at = (state.closed_at + lag.stamps) * times;
            }
        }
    }

    /// All planes are settled and aligned: the victim policy is notified of the full blocks in the order in which they
    /// were closed. The drive's past is `times` that of the sample, because stamps count the host's writes.
    pub fn end_settling(&mut self, sample: &Self, times: u64) {
        let blocks = (0..self.geometry.blocks).map(BlockId);
        let mut closed: Vec<BlockId> = blocks.filter(|&b| self.blocks[b].state == BlockState::Closed).collect();
        closed.sort_by_key(|&block| (self.blocks[block].closed_at, block));
        for block in closed {
            self.victim.on_close(&self.blocks, self.geometry.plane_of(block), block);
        }
        if let Some(twins) = &mut self.twins {
            twins.count_erased(&self.geometry, &self.blocks);
        }
        self.counts = sample.counts.times(times);
    }
}
