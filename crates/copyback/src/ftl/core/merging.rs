//! Merging: log blocks are opened, filled and merged with data blocks (`log_blocks`; defined in `mapping::fast`).

use super::{BoundPage, Ftl, Move};
use crate::ftl::blocks::BlockState;
use crate::ftl::log_blocks::{LogBlocks, MERGED, Merge, MergeTotals, Merging, RANDOM, SEQUENTIAL, Sequential};
use crate::ftl::victim::VictimPolicy;
use crate::sim::index::{BlockId, LogicalBlock, LogicalUnit, PageId, PhysicalUnit, PlaneId};
use crate::sim::invariant::hold;

impl Ftl {
    /// Whether writes go to log blocks, and are merged with data blocks.
    #[inline(always)]
    pub fn has_log_blocks(&self) -> bool {
        self.logs.is_some()
    }

    /// Merges so far, if there are log blocks.
    pub fn merge_totals(&self) -> Option<MergeTotals> {
        self.logs.as_ref().map(|logs| logs.totals)
    }

    pub(super) fn logs(&self) -> &LogBlocks {
        self.logs.as_ref().expect("the mapping has log blocks")
    }

    fn logs_mut(&mut self) -> &mut LogBlocks {
        self.logs.as_mut().expect("the mapping has log blocks")
    }

    /// The logical block of a unit and its place there.
    pub(super) fn logical_block(&self, unit: LogicalUnit) -> (LogicalBlock, u32) {
        let order = self.allocation.by_address().expect("log blocks need a plane for each address");
        let index = order.index_in_plane(unit);
        (LogicalBlock(index / self.geometry.units_per_block), index % self.geometry.units_per_block)
    }

    fn unit_of(&self, plane: PlaneId, logical: LogicalBlock, offset: u32) -> Option<LogicalUnit> {
        let order = self.allocation.by_address().expect("log blocks need a plane for each address");
        order.unit_at(plane, logical.0 * self.geometry.units_per_block + offset)
    }

    /// The logical block of a unit, and the page of that block to which the unit belongs.
    pub fn page_in_place(&self, unit: LogicalUnit) -> (LogicalBlock, u32) {
        let (logical, offset) = self.logical_block(unit);
        (logical, offset / self.geometry.units_per_page)
    }

    // ---- what the host writes ---------------------------------------------------------------------------------------

    /// The open block for a page of these units: the sequential log block if they fill the page in order and continue
    /// its content, or begin a logical block; otherwise a random one.
    pub fn log_for(&self, plane: PlaneId, units: &[LogicalUnit]) -> usize {
        if !self.logs().has_sequential {
            return RANDOM;
        }
        let (logical, offset) = self.logical_block(units[0]);
        let is_whole = units.len() == self.geometry.units_per_page as usize
            && offset.is_multiple_of(self.geometry.units_per_page)
            && units.iter().zip(offset..).all(|(&unit, offset)| self.logical_block(unit) == (logical, offset));
        if is_whole && (self.continues(plane, logical, offset) || (offset == 0 && self.may_open(plane, logical))) {
            SEQUENTIAL
        } else {
            RANDOM
        }
    }

    fn continues(&self, plane: PlaneId, logical: LogicalBlock, offset: u32) -> bool {
        let open = self.planes[plane.at()].open[SEQUENTIAL];
        let follows = |s: Sequential| s.logical == logical && !s.is_broken && self.written(open) == offset;
        self.logs().planes[plane.at()].sequential.is_some_and(follows)
    }

    fn written(&self, block: BlockId) -> u32 {
        if block.is_none() { 0 } else { u32::from(self.blocks[block].written) }
    }

    /// Whether a sequential log block can be opened for a logical block: the open one can be displaced, and enough
    /// erased blocks remain for uses with precedence.
    fn may_open(&self, plane: PlaneId, logical: LogicalBlock) -> bool {
        let logs = self.logs();
        let p = &logs.planes[plane.at()];
        let has_data = |logical| logs.data(plane, logical).is_some();
        // A logical block is in one merge at a time. It gets no log block while it is merged, or if its own log block
        // is open and would be set aside for a merge.
        let is_open = p.sequential.is_some_and(|s| s.logical == logical) && has_data(logical);
        let is_gathered =
            p.merging.is_some_and(|m| m.logical == logical) || (p.emptied.is_some() && !has_data(logical));
        let is_merged = is_open || is_gathered;
        let makes_way = p.sequential.is_none_or(|s| p.merging.is_none() || !has_data(s.logical));
        let open = p.sequential.filter(|s| !has_data(s.logical)).map(|s| s.logical);
        let about_to = u32::from(open.is_some()) + u32::from(!has_data(logical) && open != Some(logical));
        !is_merged && makes_way && self.planes[plane.at()].free_blocks > logs.kept_blocks(plane, about_to)
    }

    /// The page that the next program of units into a log block will take.
    pub fn log_page(&self, plane: PlaneId, log: usize, units: &[LogicalUnit]) -> Option<PageId> {
        let (logical, offset) = self.logical_block(units[0]);
        let is_new = log == SEQUENTIAL && !self.continues(plane, logical, offset);
        let (block, offset) = match is_new {
            true => (self.next_free_block(plane, log)?, 0),
            false => (self.next_block_in(plane, log)?, self.next_offset_in(plane, log)),
        };
        Some(PageId(block.0 * self.geometry.pages_per_block + offset))
    }

    /// A page of units is about to be bound in a log block.
    #[cold]
    pub(super) fn before_logging(&mut self, plane: PlaneId, log: usize, units: &[LogicalUnit]) {
        if log != SEQUENTIAL {
            return;
        }
        let (logical, offset) = self.logical_block(units[0]);
        if !self.continues(plane, logical, offset) {
            self.set_sequential_aside(plane);
            self.logs_mut().planes[plane.at()].sequential = Some(Sequential { logical, is_broken: false });
        }
    }

    /// A page of units was bound in a log block.
    #[cold]
    pub(super) fn after_logging(&mut self, plane: PlaneId, log: usize, units: &[LogicalUnit]) {
        let pages = u64::from(self.geometry.row_planes);
        let totals = &mut self.logs_mut().totals;
        *(if log == SEQUENTIAL { &mut totals.sequential_pages } else { &mut totals.random_pages }) += pages;
        if log == SEQUENTIAL {
            return;
        }
        let Some(open) = self.logs().planes[plane.at()].sequential else { return };
        if units.iter().any(|&unit| unit.is_some() && self.logical_block(unit).0 == open.logical) {
            self.logs_mut().planes[plane.at()].sequential = Some(Sequential { is_broken: true, ..open });
            self.set_broken_aside(plane);
        }
    }

    /// Sets the sequential log block aside if it is broken. If it needs a merge while another merge is in progress, it
    /// waits for the end of that merge.
    fn set_broken_aside(&mut self, plane: PlaneId) {
        let p = &self.logs().planes[plane.at()];
        let Some(broken) = p.sequential.filter(|s| s.is_broken) else { return };
        if p.merging.is_none() || self.logs().data(plane, broken.logical).is_none() {
            self.set_sequential_aside(plane);
        }
    }

    /// The open sequential log block takes no more pages: the other pages of its logical block will be merged into it.
    /// Without a data block, it becomes the data block.
    fn set_sequential_aside(&mut self, plane: PlaneId) {
        let Some(Sequential { logical, .. }) = self.logs_mut().planes[plane.at()].sequential.take() else { return };
        let block = std::mem::replace(&mut self.planes[plane.at()].open[SEQUENTIAL], BlockId::NONE);
        if self.logs().data(plane, logical).is_none() {
            self.close_early(plane, block);
            self.logs_mut().set_data(plane, logical, block);
            return;
        }
        let logs = self.logs_mut();
        let p = &mut logs.planes[plane.at()];
        hold!(p.merging.is_none(), LogBlocks, "{plane:?} merges {:?}, and {logical:?} as well", p.merging);
        p.merging = Some(Merging { logical, block, has_begun: false });
        logs.totals.partial_merges += 1;
        self.planes[plane.at()].open[MERGED] = block;
    }

    /// Closes an open block that need not be full: its remaining pages stay unprogrammed until it is erased.
    fn close_early(&mut self, plane: PlaneId, block: BlockId) {
        let (units_per_page, stamp) = (self.geometry.units_per_page, self.counts.host_units);
        let state = &mut self.blocks[block];
        hold!(u32::from(state.written).is_multiple_of(units_per_page), PageRoom, "a page of {block:?} is not sealed");
        state.state = BlockState::Closed;
        state.closed_at = stamp;
        self.victim.on_close(&self.blocks, plane, block);
    }

    /// A log block was opened.
    #[cold]
    pub(super) fn on_log_opened(&mut self, plane: PlaneId, log: usize, block: BlockId) {
        let logs = self.logs_mut();
        match (log, &mut logs.planes[plane.at()].merging) {
            (RANDOM, _) => logs.push_random(plane, block),
            (MERGED, Some(merging)) => merging.block = block,
            _ => {}
        }
    }

    /// A log block is full. A sequential one is in order, and takes the data block's place.
    #[cold]
    pub(super) fn on_log_closed(&mut self, plane: PlaneId, log: usize, block: BlockId) {
        if log != SEQUENTIAL {
            return;
        }
        let logs = self.logs_mut();
        let sequential = logs.planes[plane.at()].sequential.take();
        let Sequential { logical, is_broken } = sequential.expect("the block that was filled was open");
        hold!(!is_broken, LogBlocks, "the sequential log block of {logical:?} is full, and broken");
        let old = logs.set_data(plane, logical, block);
        if old.is_some() {
            logs.push_replaced(plane, old);
            logs.totals.switch_merges += 1;
        }
    }

    /// Appends a unit of a drive that is filled in order.
    #[cold]
    pub(super) fn append_in_order(&mut self, plane: PlaneId, unit: LogicalUnit, stamp: u64) {
        let write_point = self.begin_in_order(plane, unit);
        let (block, place) = self.append_place(plane, write_point);
        self.point(unit, place, block);
        self.counts.host_units += 1;
        self.close_if_full(plane, block, write_point, stamp);
    }

    /// The write point of a unit of a drive that is filled in order.
    pub(super) fn begin_in_order(&mut self, plane: PlaneId, unit: LogicalUnit) -> usize {
        let (logical, offset) = self.logical_block(unit);
        if offset == 0 {
            self.set_sequential_aside(plane);
            self.logs_mut().planes[plane.at()].sequential = Some(Sequential { logical, is_broken: false });
        }
        assert!(offset == 0 || self.continues(plane, logical, offset), "a drive with log blocks is filled in order");
        SEQUENTIAL
    }

    /// The end of a sequential fill: the block begun on each plane is a data block.
    pub fn end_filling(&mut self, stamp: u64) {
        for plane in (0..self.geometry.planes).map(PlaneId) {
            self.seal_write_point(plane, SEQUENTIAL, stamp);
            self.set_sequential_aside(plane);
        }
    }

    // ---- merges -----------------------------------------------------------------------------------------------------

    /// Pages of a plane's random log blocks that can still be programmed.
    #[cold]
    pub(super) fn log_pages_left(&self, plane: PlaneId) -> u32 {
        let (logs, open) = (self.logs(), self.planes[plane.at()].open[RANDOM]);
        let blocks = logs.random_max - logs.planes[plane.at()].random;
        blocks * self.geometry.pages_per_block + self.pages_left_in(open)
    }

    /// Whether a plane has merges that need not wait for a write.
    pub fn is_merge_due(&self, plane: PlaneId) -> bool {
        self.logs().is_due(plane)
    }

    /// Whether a plane can merge if a write waits: its oldest random log block is full, or a merge is due.
    pub fn can_merge(&self, plane: PlaneId) -> bool {
        let is_full = |block: BlockId| self.blocks[block].state == BlockState::Closed;
        self.is_merge_due(plane) || self.logs().oldest(plane).is_some_and(is_full)
    }

    /// Starts a plane's next merge. Returns the block that it erases, if any, and all moves. Moves are in the order of
    /// the destination's pages, and within a page in the order of reads.
    pub fn begin_merge(&mut self, plane: PlaneId, moves: &mut Vec<Move>) -> Option<BlockId> {
        let merge = self.next_merge(plane)?;
        let block = match merge {
            Merge::Gather(old) | Merge::Empty(old) => old,
        };
        // The lists of the gathered logical blocks include the valid units of this block.
        self.take_victim(block, moves);
        let mut logical: Vec<LogicalBlock> = match merge {
            Merge::Gather(_) => self.logs().planes[plane.at()].merging.iter().map(|m| m.logical).collect(),
            Merge::Empty(_) => moves.iter().map(|m| self.logical_block(m.unit).0).collect(),
        };
        logical.sort_unstable();
        logical.dedup();
        moves.clear();
        logical.iter().for_each(|&logical| self.list_logical_block(plane, logical, moves));
        match (merge, logical.first()) {
            (Merge::Gather(_), _) => {
                self.logs_mut().planes[plane.at()].merging.iter_mut().for_each(|m| m.has_begun = true)
            }
            (Merge::Empty(_), Some(&first)) => self.begin_full_merge(plane, first),
            (Merge::Empty(_), None) => {}
        }
        Some(block)
    }

    fn next_merge(&mut self, plane: PlaneId) -> Option<Merge> {
        if let Some(merging) = self.logs().planes[plane.at()].merging {
            return Some(Merge::Gather(self.logs().data(plane, merging.logical)));
        }
        if let Some(block) = self.logs_mut().pop_replaced(plane) {
            return Some(Merge::Empty(block));
        }
        let oldest = self.logs().oldest(plane).filter(|&block| self.blocks[block].state == BlockState::Closed)?;
        let logs = self.logs_mut();
        if std::mem::replace(&mut logs.planes[plane.at()].emptied, oldest).is_none() {
            logs.totals.log_blocks_emptied += 1;
        }
        let mut valid: Vec<LogicalBlock> =
            self.valid_units(oldest).iter().map(|m| self.logical_block(m.unit).0).collect();
        let sequential = self.logs().planes[plane.at()].sequential;
        if let Some(s) = sequential.filter(|s| valid.contains(&s.logical)) {
            // The pages of its logical block are gathered in this log block.
            let has_data = self.logs().data(plane, s.logical).is_some();
            self.set_sequential_aside(plane);
            if has_data {
                return Some(Merge::Gather(self.logs().data(plane, s.logical)));
            }
        }
        valid.retain(|&logical| self.logs().data(plane, logical).is_some());
        let Some(&logical) = valid.first() else { return Some(Merge::Empty(oldest)) };
        self.begin_full_merge(plane, logical);
        Some(Merge::Gather(self.logs().data(plane, logical)))
    }

    /// The pages of a logical block will be gathered in a new block.
    fn begin_full_merge(&mut self, plane: PlaneId, logical: LogicalBlock) {
        let logs = self.logs_mut();
        logs.totals.full_merges += 1;
        logs.planes[plane.at()].merging = Some(Merging { logical, block: BlockId::NONE, has_begun: true });
    }

    /// Adds the units of a logical block, wherever they are, from the next gathered page on.
    fn list_logical_block(&self, plane: PlaneId, logical: LogicalBlock, moves: &mut Vec<Move>) {
        let merging = self.logs().planes[plane.at()].merging.filter(|m| m.logical == logical);
        let start = merging.map_or(0, |m| self.written(m.block));
        let per_page = self.geometry.units_per_page;
        for page in (start..self.geometry.units_per_block).step_by(per_page as usize) {
            let first = moves.len();
            let units = (page..page + per_page).filter_map(|offset| self.unit_of(plane, logical, offset));
            let held = units.map(|unit| Move { from: self.map.get(unit), unit }).filter(|m| m.from.is_some());
            moves.extend(held);
            moves[first..].sort_unstable_by_key(|m| m.from);
        }
    }

    /// Whether a page without data precedes that of a unit, in the block in which its logical block is gathered.
    pub fn has_gap_before(&self, plane: PlaneId, unit: LogicalUnit) -> bool {
        let (logical, page) = self.page_in_place(unit);
        let merging = self.logs().planes[plane.at()].merging.filter(|m| m.logical == logical);
        merging.map_or(0, |m| self.written(m.block)) < page * self.geometry.units_per_page
    }

    /// Programs a page with gathered units of a logical block, each at its offset; without moves it is padding before
    /// the page of `unit`. Moves whose unit was written or trimmed meanwhile are dropped.
    ///
    /// # Panics
    /// When the plane has no page left.
    pub fn merge_page(&mut self, plane: PlaneId, unit: LogicalUnit, moves: &[Move], stamp: u64) -> PageId {
        let (logical, _) = self.logical_block(unit);
        if self.logs().planes[plane.at()].merging.is_none_or(|m| m.logical != logical) {
            self.end_gathering(plane);
            self.begin_full_merge(plane, logical);
        }
        let bound = self.bind_page(plane, MERGED, moves.len());
        let BoundPage { block, first, .. } = bound;
        let moved = match self.geometry.has_superpages() {
            true => self.gather_superpage(first, moves),
            false => self.gather_units(plane, block, first, moves),
        };
        self.counts.dropped_moves += (moves.len() - moved) as u64;
        self.counts.moved_units += moves.len() as u64;
        self.logs_mut().totals.pages_gathered += u64::from(self.geometry.row_planes);
        self.close_if_last(plane, &bound, MERGED, stamp);
        self.geometry.page_of(first)
    }

    /// Points units at their places in a gathered page. Returns how many were still where they were moved from.
    fn gather_units(&mut self, plane: PlaneId, block: BlockId, first: PhysicalUnit, moves: &[Move]) -> usize {
        let mut moved = 0;
        for m in moves {
            let from = self.geometry.block_of(m.from);
            if self.relocate(*m, self.place_in_page(first, m.unit)) {
                moved += 1;
                self.blocks[from].valid -= 1;
                if self.blocks[from].state == BlockState::Closed {
                    self.victim.on_invalidate(&self.blocks, plane, from);
                }
            }
        }
        self.blocks[block].valid += moved;
        usize::from(moved)
    }

    /// The same for a superpage.
    fn gather_superpage(&mut self, first: PhysicalUnit, moves: &[Move]) -> usize {
        let units = self.geometry.units_per_page;
        self.relocate_row(first, moves, |at| PhysicalUnit(first.0 + moves[at].unit.0 % units))
    }

    /// The location of a unit in the page that begins at `first`, if each unit has its own.
    pub fn place_in_page(&self, first: PhysicalUnit, unit: LogicalUnit) -> PhysicalUnit {
        PhysicalUnit(first.0 + self.logical_block(unit).1 % self.geometry.units_per_page)
    }

    /// A merge is complete: the gathered block is a data block, and `erased` was erased.
    pub fn end_merge(&mut self, plane: PlaneId, erased: BlockId) {
        self.logs_mut().remove_random(plane, erased);
        self.end_gathering(plane);
        self.set_broken_aside(plane);
    }

    fn end_gathering(&mut self, plane: PlaneId) {
        let merging = &mut self.logs_mut().planes[plane.at()].merging;
        // The merge of a block that was set aside meanwhile has not begun.
        let Some(Merging { logical, block, .. }) = merging.take_if(|m| m.has_begun) else { return };
        let open = std::mem::replace(&mut self.planes[plane.at()].open[MERGED], BlockId::NONE);
        if open.is_some() {
            self.close_early(plane, open);
        }
        self.logs_mut().set_data(plane, logical, block);
    }

    // ---- checks -----------------------------------------------------------------------------------------------------

    /// Whether the state of each block matches log blocks, data blocks and merges, and its content is allowed.
    ///
    /// # Errors
    /// Names what does not agree.
    pub fn check_log_blocks(&self) -> Result<(), String> {
        let Some(logs) = &self.logs else { return Ok(()) };
        (0..self.geometry.planes).map(PlaneId).try_for_each(|plane| self.check_logs_of(logs, plane))
    }

    fn check_logs_of(&self, logs: &LogBlocks, plane: PlaneId) -> Result<(), String> {
        let (p, open) = (&logs.planes[plane.at()], self.planes[plane.at()].open);
        let random: Vec<BlockId> = logs.random_of(plane).collect();
        if random.len() as u32 != p.random || p.random > logs.random_max {
            return Err(format!("{plane:?} counts {} random log blocks of {}: {random:?}", p.random, logs.random_max));
        }
        if p.sequential.is_some() != open[SEQUENTIAL].is_some() {
            return Err(format!("{plane:?} has {:?} for {:?}", open[SEQUENTIAL], p.sequential));
        }
        let is_random =
            |&block: &BlockId| block == open[RANDOM] || self.written(block) == self.geometry.units_per_block;
        if !random.iter().all(is_random) {
            return Err(format!("{plane:?} has random log blocks that are not full: {random:?}"));
        }
        let of_sequential = p.sequential.map(|s| (s.logical, open[SEQUENTIAL]));
        let of_merge = p.merging.map(|m| (m.logical, m.block));
        let in_place: Vec<(LogicalBlock, BlockId)> =
            logs.data_of(plane).chain(of_sequential).chain(of_merge).filter(|(_, block)| block.is_some()).collect();
        let mut roles = vec![0; self.geometry.blocks_per_plane as usize];
        let named =
            in_place.iter().map(|(_, block)| *block).chain(random.iter().copied()).chain(logs.replaced_of(plane));
        named.for_each(|block| roles[self.geometry.block_offset(block) as usize] += 1);
        for (offset, block) in self.blocks.of_plane(plane).iter().enumerate() {
            let expected = match block.state {
                BlockState::Free => 0..=0,
                BlockState::Open | BlockState::Closed => 1..=1,
                // A replaced data block has no role while it is erased.
                BlockState::Victim => 0..=1,
            };
            if !expected.contains(&roles[offset]) {
                return Err(format!("block {offset} of {plane:?} has {} roles: {block:?}", roles[offset]));
            }
        }
        for (logical, block) in in_place {
            let first = self.geometry.first_unit(block).0;
            for Move { from, unit } in self.valid_units(block) {
                let place = self.logical_block(unit);
                let is_at_home = self.allocation.static_plane(unit) == Some(plane);
                if place != (logical, from.0 - first) || !is_at_home {
                    return Err(format!("{block:?}, of {logical:?}, holds {unit:?} of {place:?} at {from:?}"));
                }
            }
        }
        let stray = logs.replaced_of(plane).find(|&block| self.blocks[block].valid > 0);
        stray.map_or(Ok(()), |block| Err(format!("{block:?} was replaced, and holds valid data")))
    }
}
