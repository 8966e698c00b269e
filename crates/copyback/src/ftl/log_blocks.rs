//! Log blocks: a plane's data blocks and the log blocks that take its writes, which merges combine (`mapping::fast`
//! defines them). `core::merging` changes them.

use crate::flash::geometry::Geometry;
use crate::ftl::mapping::fast;
use crate::sim::index::{BlockId, LogicalBlock, PlaneId};
use crate::sim::lists::Lists;

/// The open block that takes pages of any logical block.
pub const RANDOM: usize = 0;
/// The write point of the sequential log block, which takes pages of one logical block in order.
pub const SEQUENTIAL: usize = 1;
/// The write point of the block in which a merge gathers the pages of one logical block.
pub const MERGED: usize = 2;

/// Blocks of a plane in addition to data blocks and random log blocks: a sequential log block, the replaced data block
/// that is not erased yet, a block in which a merge gathers pages, and a block kept for the next merge.
///
/// This number suffices. Let X be the number of erased blocks that are not promised. A block is promised to each future
/// random log block, and to each logical block without a data block, unless the sequential log block or a merge holds a
/// block for it already.
/// - X begins at 4 or more.
/// - X does not change if a random log block is opened, or if a logical block gets its first data block.
/// - X does not change if a merge finds no valid page: the logical block loses its data block, which is erased, and one
///   block is promised for it.
/// - A sequential log block is opened only if X is 1 or more afterwards (`kept_blocks`). A replaced data block returns
///   one block to X when it is erased.
/// - Only a merge of a logical block that has a data block takes one block from X, and the erase of this merge returns
///   it.
///
/// So X is 1 or more whenever a merge begins, and never below 0.
pub const BLOCKS_BESIDE: u32 = 4;

/// Logical blocks of a plane, at most.
pub fn logical_blocks(geometry: &Geometry) -> u32 {
    let pages = geometry.logical_units.div_ceil(geometry.units_per_logical_page);
    let rounds = pages.div_ceil(geometry.planes * geometry.logical_pages_per_page());
    (rounds * geometry.units_per_page).div_ceil(geometry.units_per_block)
}

/// Random log blocks of a plane.
pub fn random_blocks(params: &fast::Params, geometry: &Geometry) -> u32 {
    params.log_share.of(geometry.blocks_per_plane)
}

/// Merges of log blocks with data blocks. Pages are those of the flash, padding included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MergeTotals {
    /// Sequential log blocks that took the place of a data block.
    pub switch_merges: u64,
    /// Sequential log blocks to which the rest of a data block was copied.
    pub partial_merges: u64,
    /// Logical blocks that were gathered because a random log block was emptied.
    pub full_merges: u64,
    /// Random log blocks that were emptied.
    pub log_blocks_emptied: u64,
    /// Pages written to sequential log blocks.
    pub sequential_pages: u64,
    /// Pages written to random log blocks.
    pub random_pages: u64,
    /// Pages programmed by merges.
    pub pages_gathered: u64,
}

impl MergeTotals {
    /// Combines two totals count by count, for example as a difference.
    #[must_use]
    pub fn zip(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            switch_merges: with(self.switch_merges, other.switch_merges),
            partial_merges: with(self.partial_merges, other.partial_merges),
            full_merges: with(self.full_merges, other.full_merges),
            log_blocks_emptied: with(self.log_blocks_emptied, other.log_blocks_emptied),
            sequential_pages: with(self.sequential_pages, other.sequential_pages),
            random_pages: with(self.random_pages, other.random_pages),
            pages_gathered: with(self.pages_gathered, other.pages_gathered),
        }
    }
}

/// The sequential log block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequential {
    /// The logical block whose pages it takes.
    pub logical: LogicalBlock,
    /// Another page of that logical block was written to another log block: it takes no more.
    pub is_broken: bool,
}

/// The logical block that is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Merging {
    pub logical: LogicalBlock,
    /// The block in which its pages are gathered; none before the first.
    pub block: BlockId,
    /// Whether the job that gathers them has begun.
    pub has_begun: bool,
}

#[derive(Clone, Debug)]
pub(super) struct PlaneLogs {
    pub sequential: Option<Sequential>,
    pub merging: Option<Merging>,
    /// Random log blocks, the open one included.
    pub random: u32,
    /// The log block that is being emptied.
    pub emptied: BlockId,
    /// Logical blocks without a data block.
    pub missing: u32,
}

/// The work of a plane's next job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// Gathers the pages of the logical block that is merged, and erases its old data block.
    Gather(BlockId),
    /// Gathers the pages of logical blocks that have valid pages in a log block and no data block, and erases the log
    /// block; or erases a replaced data block without valid pages.
    Empty(BlockId),
}

/// See the head of the file.
#[derive(Clone)]
pub(super) struct LogBlocks {
    pub random_max: u32,
    /// Whether writes go to a sequential log block at all.
    pub has_sequential: bool,
    pub planes: Vec<PlaneLogs>,
    pub totals: MergeTotals,
    /// Logical blocks of a plane.
    logical_blocks: u32,
    /// The data block of each logical block, plane by plane.
    data: Vec<BlockId>,
    /// First a list for each plane with its random log blocks, the oldest first; then a list for each plane with its
    /// replaced data blocks, which are to be erased.
    lists: Lists,
}

impl LogBlocks {
    /// No block holds data.
    pub fn new(params: &fast::Params, geometry: &Geometry) -> Self {
        let (planes, logical_blocks) = (geometry.planes as usize, logical_blocks(geometry));
        let plane =
            PlaneLogs { sequential: None, merging: None, random: 0, emptied: BlockId::NONE, missing: logical_blocks };
        Self {
            random_max: random_blocks(params, geometry),
            has_sequential: params.sequential_log,
            planes: vec![plane; planes],
            totals: MergeTotals::default(),
            logical_blocks,
            data: vec![BlockId::NONE; planes * logical_blocks as usize],
            lists: Lists::new(2 * planes, geometry.blocks as usize),
        }
    }

    fn at(&self, plane: PlaneId, logical: LogicalBlock) -> usize {
        plane.at() * self.logical_blocks as usize + logical.at()
    }

    /// The data block of a logical block.
    pub fn data(&self, plane: PlaneId, logical: LogicalBlock) -> BlockId {
        self.data[self.at(plane, logical)]
    }

    /// Data blocks of a plane, by logical block.
    pub fn data_of(&self, plane: PlaneId) -> impl Iterator<Item = (LogicalBlock, BlockId)> + '_ {
        (0..self.logical_blocks).map(LogicalBlock).map(move |logical| (logical, self.data(plane, logical)))
    }

    /// Sets the data block of a logical block, or removes it ([`BlockId::NONE`]). Returns the previous data block.
    pub fn set_data(&mut self, plane: PlaneId, logical: LogicalBlock, block: BlockId) -> BlockId {
        let at = self.at(plane, logical);
        let old = std::mem::replace(&mut self.data[at], block);
        let missing = &mut self.planes[plane.at()].missing;
        *missing = *missing + u32::from(block.is_none()) - u32::from(old.is_none());
        old
    }

    /// A random log block is opened.
    pub fn push_random(&mut self, plane: PlaneId, block: BlockId) {
        self.lists.push_back(plane.at(), block.0);
        self.planes[plane.at()].random += 1;
    }

    /// A block is erased: removes it if it is the oldest random log block. Returns whether it was.
    pub fn remove_random(&mut self, plane: PlaneId, block: BlockId) -> bool {
        let is_random = self.oldest(plane) == Some(block);
        if is_random {
            self.lists.pop_front(plane.at());
            let p = &mut self.planes[plane.at()];
            p.random -= 1;
            p.emptied = BlockId::NONE;
        }
        is_random
    }

    /// The oldest random log block.
    pub fn oldest(&self, plane: PlaneId) -> Option<BlockId> {
        self.lists.first(plane.at()).map(BlockId)
    }

    /// Random log blocks, the oldest first.
    pub fn random_of(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.lists.iter(plane.at()).map(BlockId)
    }

    fn replaced_list(&self, plane: PlaneId) -> usize {
        self.planes.len() + plane.at()
    }

    /// A data block was replaced.
    pub fn push_replaced(&mut self, plane: PlaneId, block: BlockId) {
        self.lists.push_back(self.replaced_list(plane), block.0);
    }

    /// A data block that was replaced, to be erased now.
    pub fn pop_replaced(&mut self, plane: PlaneId) -> Option<BlockId> {
        self.lists.pop_front(self.replaced_list(plane)).map(BlockId)
    }

    /// Data blocks that were replaced.
    pub fn replaced_of(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.lists.iter(self.replaced_list(plane)).map(BlockId)
    }

    /// Whether a plane has merges that need not wait for a write.
    pub fn is_due(&self, plane: PlaneId) -> bool {
        let p = &self.planes[plane.at()];
        p.merging.is_some() || p.emptied.is_some() || !self.lists.is_empty(self.replaced_list(plane))
    }

    /// Erased blocks that are kept for uses with precedence over opening a sequential log block: future random log
    /// blocks, a merge, and data blocks of logical blocks without one, except the given number of logical blocks that
    /// are about to get theirs.
    pub fn kept_blocks(&self, plane: PlaneId, about_to: u32) -> u32 {
        let p = &self.planes[plane.at()];
        self.random_max - p.random + 1 + p.missing - about_to
    }
}
