//! Collections: a victim is selected and taken, its valid data is listed, and it is erased.

use super::{BoundPage, Ftl, Move};
use crate::ftl::blocks::{Block, BlockState};
use crate::ftl::victim::{PlaneRange, VictimPolicy, VictimView};
use crate::sim::index::{BlockId, LogicalUnit, PageId, PhysicalUnit, PlaneId};
use crate::sim::invariant::hold;
use crate::sim::table;

impl Ftl {
    /// The block that the victim policy would collect on a plane.
    pub fn pick_victim(&mut self, plane: PlaneId, stamp: u64) -> Option<BlockId> {
        self.pick_victim_for(PlaneRange::one(plane), &[], stamp)
    }

    /// The same on any of several planes, with a view of the page offsets of reads that wait for other planes of the
    /// die.
    pub fn pick_victim_for(&mut self, planes: PlaneRange, read_offsets: &[u32], stamp: u64) -> Option<BlockId> {
        let (blocks, geometry) = (&self.blocks, &self.geometry);
        let view = VictimView { blocks, planes, now: stamp, read_offsets, valid: &self.valid, geometry };
        let picked = self.victim.pick(view)?;
        let state = self.blocks[picked].state;
        hold!(state == BlockState::Closed, VictimFull, "the victim policy picked {picked:?}, which is {state:?}");
        let home = self.geometry.plane_of(picked);
        hold!(planes.has(home), VictimFull, "the victim policy picked {picked:?} of {home:?} for {planes:?}");
        Some(picked)
    }

    /// Whether the victim policy examines waiting reads.
    pub fn victim_matches_reads(&self) -> bool {
        self.victim.matches_reads()
    }

    /// How long the controller took for the last choice of a victim.
    pub fn choice_ns(&self) -> u64 {
        self.victim.choice_ns()
    }

    /// Whether a full block of the plane has at least this many units without valid data: a collection that frees less
    /// never makes progress.
    pub fn is_reclaimable(&self, plane: PlaneId, least_units: u32) -> bool {
        let valid_max = self.geometry.units_per_block - least_units;
        let is_worth_it = |b: &Block| b.state == BlockState::Closed && u32::from(b.valid) <= valid_max;
        self.blocks.of_plane(plane).iter().any(is_worth_it)
    }

    /// Makes a full block the victim of a collection and lists its valid data, page by page.
    pub fn take_victim(&mut self, block: BlockId, moves: &mut Vec<Move>) {
        moves.clear();
        self.add_victim(block, moves);
    }

    /// The same for a further victim of a collection: its valid units follow those of the others.
    pub fn add_victim(&mut self, block: BlockId, moves: &mut Vec<Move>) {
        let of_others = moves.len();
        let state = self.blocks[block].state;
        hold!(state == BlockState::Closed, VictimFull, "{block:?} is to be collected, and is {state:?}");
        let plane = self.geometry.plane_of(block);
        self.victim.on_take(&self.blocks, plane, block);
        self.blocks[block].state = BlockState::Victim;
        self.list_valid(block, moves);
        let own = moves.len() - of_others;
        debug_assert!(own == usize::from(self.blocks[block].valid) || self.geometry.has_superpages());
    }

    /// Programs a page with moved data of several victims: see [`Ftl::move_page`].
    ///
    /// # Panics
    /// When the plane has no page left, or the page no room for the moves.
    pub fn move_page_of_several(&mut self, plane: PlaneId, write_point: usize, moves: &[Move], stamp: u64) -> PageId {
        let bound = self.bind_page(plane, write_point, moves.len());
        let BoundPage { block, first, .. } = bound;
        let mut moved = 0;
        for (at, m) in moves.iter().enumerate() {
            if self.relocate(*m, PhysicalUnit(first.0 + at as u32)) {
                let victim = self.geometry.block_of(m.from);
                let state = &mut self.blocks[victim];
                hold!(state.state == BlockState::Victim, VictimEmpty, "data is moved out of {victim:?}: {state:?}");
                state.valid -= 1;
                moved += 1;
            }
        }
        self.blocks[block].valid += moved;
        self.counts.dropped_moves += moves.len() as u64 - u64::from(moved);
        self.counts.moved_units += moves.len() as u64;
        self.close_if_last(plane, &bound, write_point, stamp);
        self.geometry.page_of(first)
    }

    /// The valid data of a block.
    pub fn valid_units(&self, block: BlockId) -> Vec<Move> {
        let mut moves = Vec::new();
        self.list_valid(block, &mut moves);
        moves
    }

    /// Pages of the flash in a block that hold a valid unit.
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        let units_per_page = self.geometry.units_per_flash_page;
        let first = self.geometry.first_unit(block).0;
        let is_valid = |place: u32| self.valid[(place / 64) as usize] >> (place % 64) & 1 == 1;
        let holds_data = |page: &u32| {
            let start = first + page * units_per_page;
            (start..start + units_per_page).any(is_valid)
        };
        (0..self.geometry.units_per_block / units_per_page).filter(holds_data).count() as u32
    }

    /// Pages of a block that hold a valid unit; rows of pages if the drive is written in rows.
    pub fn valid_rows(&self, block: BlockId) -> u32 {
        let (first, units_per_page) = (self.geometry.first_unit(block).0, self.geometry.units_per_page);
        let is_valid = |place: u32| self.valid[(place / 64) as usize] >> (place % 64) & 1 == 1;
        let starts = (first..first + self.geometry.units_per_block).step_by(units_per_page as usize);
        starts.filter(|&start| (start..start + units_per_page).any(is_valid)).count() as u32
    }

    fn list_valid(&self, block: BlockId, moves: &mut Vec<Move>) {
        let first = self.geometry.first_unit(block).0;
        let end = first + self.geometry.units_per_block;
        // Together, lines of the processor's cache arrive earlier than one after the other.
        const UNITS_PER_LINE: usize = 64 / size_of::<LogicalUnit>();
        for at in (first..end).step_by(UNITS_PER_LINE) {
            if self.valid[at as usize / 64] != 0 {
                table::prefetch(&self.reverse, at as usize);
            }
        }
        let mut at = first;
        while at < end {
            let in_word = (64 - at % 64).min(end - at);
            let mask = if in_word == 64 { u64::MAX } else { (1 << in_word) - 1 };
            let mut word = (self.valid[(at / 64) as usize] >> (at % 64)) & mask;
            while word != 0 {
                let from = PhysicalUnit(at + word.trailing_zeros());
                moves.push(Move { from, unit: self.reverse[from.at()] });
                word &= word - 1;
            }
            at += in_word;
        }
        if self.geometry.has_superpages() {
            // The valid bits of a row also cover its padding and its trimmed units.
            moves.retain(|m| m.unit.is_some() && self.map.get(m.unit) == m.from);
        }
    }

    /// Erases a victim whose valid data was moved.
    ///
    /// # Panics
    /// When the block is no victim or still holds valid data.
    pub fn erase(&mut self, block: BlockId) {
        let state = &mut self.blocks[block];
        let is_empty = state.state == BlockState::Victim && state.valid == 0;
        hold!(is_empty, VictimEmpty, "{block:?} is to be erased: {state:?}");
        state.state = BlockState::Free;
        self.counts.unwritten_units += u64::from(self.geometry.units_per_block) - u64::from(state.written);
        state.written = 0;
        state.erases += 1;
        let plane = self.geometry.plane_of(block);
        self.free.push_back(plane.at(), block.0);
        if let Some(twins) = &mut self.twins {
            twins.on_erase(self.geometry.die_of(plane), self.geometry.block_offset(block));
        }
        self.planes[plane.at()].free_blocks += 1;
        self.free_blocks += 1;
        self.counts.erases += u64::from(self.geometry.row_planes);
    }
}
