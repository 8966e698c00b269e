//! The translation layer's state and the few operations that change it.
//!
//! Every change of the drive's contents goes through here, with or without a clock above: write, move, trim, take a
//! victim, erase. Each operation asserts what it relies on.

mod allocating;
mod at_once;
mod check;
mod collecting;
mod copy;
mod counts;
mod free_blocks;
#[cfg(test)]
pub(crate) mod inside;
mod merging;
mod open_blocks;
mod packed;
mod second_active_blocks;
pub mod settled;
mod skipping;
mod superpages;

use super::FtlConfig;
use super::GC_RESERVE_BLOCKS;
use super::allocation::Allocation;
use super::blocks::{Block, BlockState, Blocks, FreeOrder};
use super::frontier::hot_cold::HotCold;
use super::frontier::{Frontier, OPEN_BLOCKS_MAX, Stream};
use super::log_blocks::LogBlocks;
use super::mapping::Mapping;
use super::twin_blocks::Twins;
use super::victim::{Victim, VictimPolicy};
use crate::flash::geometry::Geometry;
use crate::sim::index::{BlockId, LogicalUnit, PageId, PhysicalUnit, PlaneId};
use crate::sim::invariant::hold;
use crate::sim::lists::Lists;
use crate::sim::table;
pub use counts::Counts;
pub use packed::PackedFtl;

/// A valid unit of a victim: its expected place, and the logical unit whose data it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The location of the data when the move began.
    pub from: PhysicalUnit,
    /// The logical unit.
    pub unit: LogicalUnit,
}

#[derive(Clone)]
struct Plane {
    pub free_blocks: u32,
    pub open: [BlockId; OPEN_BLOCKS_MAX],
    /// Which of two open blocks is set apart for paired programs; see `second_active_blocks`.
    pub paired: Option<u8>,
}

/// The translation layer of one drive.
pub struct Ftl {
    /// The drive's shape, in rows if the frontier writes rows.
    pub geometry: Geometry,
    allocation: Allocation,
    frontier: Frontier,
    map: Mapping,
    /// The logical unit that a physical unit held when it was programmed; meaningful only if its `valid` bit is set.
    reverse: Vec<LogicalUnit>,
    /// One bit for each physical unit.
    valid: Vec<u64>,
    blocks: Blocks,
    planes: Vec<Plane>,
    free: Lists,
    free_order: FreeOrder,
    /// The rows that the planes of a die open together (twin blocks).
    twins: Option<Twins>,
    /// Log blocks, if writes are merged.
    logs: Option<Box<LogBlocks>>,
    victim: Victim,
    counts: Counts,
    free_blocks: u64,
    seed: u64,
    /// Room for the moves of one victim, kept so that a collection allocates nothing.
    moves: Vec<Move>,
}

/// A page of an open block that was bound.
#[derive(Clone, Copy)]
struct BoundPage {
    block: BlockId,
    /// Its first unit.
    first: PhysicalUnit,
    /// Whether it is the block's last page.
    is_last: bool,
}

impl Ftl {
    /// The drive's shape as the translation layer sees it.
    pub fn geometry_of(config: &FtlConfig<'_>) -> Geometry {
        let geometry = match (config.frontier.is_in_rows(), config.mapping.has_superpages()) {
            (true, true) => Geometry::in_rows(&config.device).with_superpages(),
            (true, false) => Geometry::in_rows(&config.device),
            (false, _) => Geometry::new(&config.device),
        };
        let geometry = if config.redundancy.has_parity() { geometry.with_stripes() } else { geometry };
        let map_units = config.mapping.map_units(&geometry);
        geometry.with_map_units(map_units)
    }

    /// The allocation of a fresh drive.
    fn allocation_of(config: &FtlConfig<'_>, geometry: &Geometry) -> Allocation {
        match config.mapping.log_blocks() {
            Some(_) => Allocation::new(&config.allocation.by_address(), geometry),
            None => Allocation::new(config.allocation, geometry),
        }
    }

    /// Bytes of the tables of a drive of this shape.
    pub fn table_bytes(geometry: &Geometry) -> u64 {
        // Two links of lists for each block: of the free blocks, and of the victim policy.
        let of_blocks = u64::from(geometry.blocks) * (size_of::<Block>() as u64 + 16);
        Self::map_bytes(geometry) + u64::from(geometry.physical_units) / 8 + of_blocks
    }

    /// Memory of the map and the reverse map.
    fn map_bytes(geometry: &Geometry) -> u64 {
        let (mapped, physical) = (u64::from(geometry.mapped_units), u64::from(geometry.physical_units));
        size_of::<PhysicalUnit>() as u64 * mapped + size_of::<LogicalUnit>() as u64 * physical
    }

    /// A fresh drive.
    pub fn new(config: &FtlConfig<'_>, seed: u64) -> Self {
        let geometry = Self::geometry_of(config);
        let logs = config.mapping.log_blocks().map(|params| Box::new(LogBlocks::new(params, &geometry)));
        let allocation = Self::allocation_of(config, &geometry);
        let mut free = Lists::new(geometry.planes as usize, geometry.blocks as usize);
        for block in 0..geometry.blocks {
            free.push_back(geometry.plane_of(BlockId(block)).at(), block);
        }
        let plane =
            Plane { free_blocks: geometry.blocks_per_plane, open: [BlockId::NONE; OPEN_BLOCKS_MAX], paired: None };
        Self {
            allocation,
            frontier: Frontier::new(config.frontier),
            map: Mapping::new(geometry.mapped_units),
            reverse: table::filled(geometry.physical_units as usize, LogicalUnit::NONE),
            valid: table::filled((geometry.physical_units as usize).div_ceil(64), 0),
            blocks: Blocks::new(&geometry),
            planes: vec![plane; geometry.planes as usize],
            free,
            free_order: config.free_order,
            twins: config.frontier.opens_twins().then(|| Twins::new(&geometry)),
            logs,
            victim: Victim::new(config.victim, &geometry, seed),
            counts: Counts::default(),
            free_blocks: u64::from(geometry.blocks),
            seed,
            moves: Vec::with_capacity(geometry.units_per_block as usize),
            geometry,
        }
    }

    /// The seed of the random streams of its drive.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The work so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The location of a logical unit, [`PhysicalUnit::NONE`] if it holds no data.
    #[inline(always)]
    pub fn lookup(&self, unit: LogicalUnit) -> PhysicalUnit {
        self.map.get(unit)
    }

    /// Prefetches the map entry of a unit into the processor's cache.
    #[inline(always)]
    pub fn prefetch_entry(&self, unit: LogicalUnit) {
        self.map.prefetch(unit);
    }

    /// Prefetches what an overwrite of a unit touches; its map entry should be cached already.
    #[inline(always)]
    pub fn prefetch_place(&self, unit: LogicalUnit) {
        let place = self.map.get(unit);
        table::prefetch(&self.valid, place.at() / 64);
        if place.is_some() {
            let block = self.geometry.block_of(place);
            self.blocks.prefetch(block);
            self.victim.prefetch(block);
        }
    }

    /// All blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Free blocks of a plane.
    #[inline(always)]
    pub fn free_blocks_of(&self, plane: PlaneId) -> u32 {
        self.planes[plane.at()].free_blocks
    }

    /// Free blocks of the drive.
    #[inline(always)]
    pub fn free_blocks(&self) -> u64 {
        self.free_blocks
    }

    /// Pages that can still be programmed on a plane: those of its free blocks, and the remaining pages of its open
    /// blocks.
    #[inline]
    pub fn free_pages_of(&self, plane: PlaneId) -> u32 {
        let p = &self.planes[plane.at()];
        let in_open: u32 = p.open.iter().map(|&block| self.pages_left_in(block)).sum();
        p.free_blocks * self.geometry.pages_per_block + in_open
    }

    /// Pages of a plane that can still be programmed with data of this stream: the rest of its open block, and the free
    /// blocks. The host may not use the reserve.
    #[inline]
    pub fn pages_left(&self, plane: PlaneId, stream: Stream) -> u32 {
        if self.logs.is_some() {
            return self.log_pages_left(plane);
        }
        let reserve = if stream == Stream::Host { GC_RESERVE_BLOCKS } else { 0 };
        let free_blocks = self.planes[plane.at()].free_blocks.saturating_sub(reserve);
        free_blocks * self.geometry.pages_per_block + self.open_pages_left(plane, stream)
    }

    #[inline(always)]
    fn open_pages_left(&self, plane: PlaneId, stream: Stream) -> u32 {
        let open = &self.planes[plane.at()].open;
        if self.frontier.has_second_active() {
            return open[..2].iter().map(|&block| self.pages_left_in(block)).sum();
        }
        self.pages_left_in(open[self.frontier.open_block_of(stream)])
    }

    #[inline]
    fn pages_left_in(&self, open: BlockId) -> u32 {
        if open.is_none() {
            return 0;
        }
        (self.geometry.units_per_block - u32::from(self.blocks[open].written)) / self.geometry.units_per_page
    }

    /// Pages for host data on a plane that keeps this many free blocks; `None` if it has fewer.
    #[inline]
    pub fn host_pages_left_with(&self, plane: PlaneId, kept_blocks: u32) -> Option<u32> {
        let free_blocks = self.planes[plane.at()].free_blocks.checked_sub(kept_blocks)?;
        Some(free_blocks * self.geometry.pages_per_block + self.open_pages_left(plane, Stream::Host))
    }

    /// Which of a plane's open blocks takes the next page of this stream.
    #[inline(always)]
    pub fn write_point(&self, plane: PlaneId, stream: Stream) -> usize {
        if !self.frontier.has_second_active() {
            return self.frontier.open_block_of(stream);
        }
        self.write_point_of_two(plane, stream)
    }

    /// The open block of a plane that takes host data in the same command as a program at this page offset, if one
    /// does. `is_paired`: that program goes to the block that its plane has set apart for paired programs.
    #[inline]
    pub fn write_point_at(&self, plane: PlaneId, page_offset: u32, is_paired: bool) -> Option<usize> {
        if !self.frontier.has_second_active() {
            let write_point = self.frontier.open_block_of(Stream::Host);
            return (self.next_offset_in(plane, write_point) == page_offset).then_some(write_point);
        }
        self.write_point_of_two_at(plane, page_offset, is_paired)
    }

    /// The definition of hot data, if hot and cold data have separate blocks.
    pub fn hot_cold(&self) -> Option<HotCold> {
        self.frontier.hot_cold()
    }

    /// Whether planes have two active blocks.
    pub fn has_second_active(&self) -> bool {
        self.frontier.has_second_active()
    }

    /// Whether moves and host writes go to the same open block of a plane.
    #[inline]
    pub fn shares_block(&self) -> bool {
        self.frontier.open_block_of(Stream::Host) == self.frontier.open_block_of(Stream::Moved)
    }

    /// The offset of the page that the next program of this stream will take on the plane.
    #[inline]
    pub fn next_page_offset(&self, plane: PlaneId, stream: Stream) -> u32 {
        self.next_offset_in(plane, self.write_point(plane, stream))
    }

    /// The offset of the next page in one of the plane's open blocks.
    #[inline]
    pub fn next_offset_in(&self, plane: PlaneId, write_point: usize) -> u32 {
        let open = self.planes[plane.at()].open[write_point];
        if open.is_none() {
            return 0;
        }
        u32::from(self.blocks[open].written) / self.geometry.units_per_page
    }

    /// The block that the next program at a write point of a plane uses: the open block, or else the next free one.
    pub fn next_block_in(&self, plane: PlaneId, write_point: usize) -> Option<BlockId> {
        let open = self.planes[plane.at()].open[write_point];
        if open.is_some() { Some(open) } else { self.next_free_block(plane, write_point) }
    }

    // ---- writing ------------------------------------------------------------------------------------------------

    /// Programs a page with new data of the host: binds the plane's next page, points the units at it and invalidates
    /// their previous locations. Unit slots without a unit are padding; [`LogicalUnit::NONE`] is data that is already
    /// stale.
    ///
    /// # Panics
    /// When the plane has no page left, or the page no room for the units.
    pub fn write_page(&mut self, plane: PlaneId, units: &[LogicalUnit], stamp: u64) -> PageId {
        self.write_page_in(plane, self.write_point(plane, Stream::Host), units, stamp)
    }

    /// The same into one of the plane's open blocks.
    ///
    /// # Panics
    /// As above.
    pub fn write_page_in(&mut self, plane: PlaneId, write_point: usize, units: &[LogicalUnit], stamp: u64) -> PageId {
        if self.logs.is_some() {
            self.before_logging(plane, write_point, units);
        }
        let bound = self.bind_page(plane, write_point, units.len());
        let BoundPage { block, first, .. } = bound;
        for (at, &unit) in units.iter().enumerate().filter(|(_, unit)| unit.is_some()) {
            self.point(unit, PhysicalUnit(first.0 + at as u32), block);
        }
        self.counts.host_units += units.len() as u64;
        self.close_if_last(plane, &bound, write_point, stamp);
        if self.logs.is_some() {
            self.after_logging(plane, write_point, units);
        }
        self.geometry.page_of(first)
    }

    /// Programs a page with moved data. A move whose unit was written or trimmed meanwhile is dropped: its location
    /// holds stale data from the start. `write_point` selects the plane's open block. `merged`: how many of the moves
    /// are programmed with new data of the host.
    ///
    /// # Panics
    /// When the plane has no page left, or the page no room for the moves.
    #[inline(always)]
    pub fn move_page(&mut self, plane: PlaneId, write_point: usize, moves: &[Move], merged: u32, stamp: u64) -> PageId {
        self.move_page_with(plane, write_point, moves, merged, &[], stamp)
    }

    /// The same with new data of the host in the places behind the moves: see [`Ftl::write_page`].
    ///
    /// # Panics
    /// As above.
    #[inline(always)]
    pub fn move_page_with(
        &mut self,
        plane: PlaneId,
        write_point: usize,
        moves: &[Move],
        merged: u32,
        units: &[LogicalUnit],
        stamp: u64,
    ) -> PageId {
        let bound = self.bind_page(plane, write_point, moves.len() + units.len());
        let BoundPage { block, first, .. } = bound;
        for (at, &unit) in units.iter().enumerate().filter(|(_, unit)| unit.is_some()) {
            self.point(unit, PhysicalUnit(first.0 + (moves.len() + at) as u32), block);
        }
        let mut moved = 0;
        for (at, m) in moves.iter().enumerate() {
            moved += u16::from(self.relocate(*m, PhysicalUnit(first.0 + at as u32)));
        }
        self.blocks[block].valid += moved;
        // All of a page's moves come from one block, which is being collected: no victim policy has to hear of it.
        if let Some(m) = moves.first() {
            let victim = self.geometry.block_of(m.from);
            debug_assert!(moves.iter().all(|m| self.geometry.block_of(m.from) == victim), "moves of several blocks");
            let state = &mut self.blocks[victim];
            hold!(state.state == BlockState::Victim, VictimEmpty, "data is moved out of {victim:?}: {state:?}");
            state.valid -= moved;
        }
        self.counts.dropped_moves += moves.len() as u64 - u64::from(moved);
        self.counts.moved_units += moves.len() as u64 - u64::from(merged);
        self.counts.host_units += u64::from(merged) + units.len() as u64;
        self.close_if_last(plane, &bound, write_point, stamp);
        self.geometry.page_of(first)
    }

    /// Points a unit at a new location if it is still where a move expects it, and returns whether it was. The caller
    /// updates the counts of both blocks.
    #[inline(always)]
    fn relocate(&mut self, m: Move, place: PhysicalUnit) -> bool {
        if !self.map.replace(m.unit, m.from, place) {
            return false;
        }
        self.reverse[place.at()] = m.unit;
        let bit = 1 << (m.from.0 % 64);
        let word = &mut self.valid[m.from.at() / 64];
        debug_assert!(*word & bit != 0, "{:?} is invalid already", m.from);
        *word &= !bit;
        self.valid[place.at() / 64] |= 1 << (place.0 % 64);
        true
    }

    /// Takes the next whole page of a plane's open block.
    #[inline(always)]
    fn bind_page(&mut self, plane: PlaneId, write_point: usize, units: usize) -> BoundPage {
        let units_per_page = self.geometry.units_per_page;
        hold!(units as u32 <= units_per_page, PageRoom, "{units} units for a page of {units_per_page}");
        let block = self.open_block(plane, write_point);
        let state = &mut self.blocks[block];
        let at = u32::from(state.written);
        hold!(self.geometry.begins_page(at), PageRoom, "a page of {block:?} was begun and not sealed");
        state.written = (at + units_per_page) as u16;
        let is_last = at + units_per_page >= self.geometry.units_per_block;
        self.counts.padding_units += u64::from(units_per_page) - units as u64;
        BoundPage { block, first: PhysicalUnit(block.0 * self.geometry.units_per_block + at), is_last }
    }

    /// Points a unit at a place in `block`, and makes the place that it had before invalid.
    #[inline(always)]
    fn point(&mut self, unit: LogicalUnit, place: PhysicalUnit, block: BlockId) {
        let old = self.map.set(unit, place);
        if old.is_some() {
            self.invalidate(old);
        }
        self.reverse[place.at()] = unit;
        self.valid[place.at() / 64] |= 1 << (place.0 % 64);
        self.blocks[block].valid += 1;
    }

    #[inline(always)]
    fn invalidate(&mut self, place: PhysicalUnit) {
        let bit = 1 << (place.0 % 64);
        let word = &mut self.valid[place.at() / 64];
        debug_assert!(*word & bit != 0, "{place:?} is invalid already");
        *word &= !bit;
        let block = self.geometry.block_of(place);
        let state = &mut self.blocks[block];
        state.valid -= 1;
        if state.state == BlockState::Closed {
            let plane = self.geometry.plane_of(block);
            self.victim.on_invalidate(&self.blocks, plane, block);
        }
    }

    /// Discards a unit's data. Returns whether it had any.
    pub fn trim(&mut self, unit: LogicalUnit) -> bool {
        let old = self.map.set(unit, PhysicalUnit::NONE);
        if old.is_some() && self.geometry.has_superpages() {
            self.trim_in_superpage(unit, old);
        } else if old.is_some() {
            self.invalidate(old);
        }
        old.is_some()
    }
}
