//! Space that planes share, on a drive that may relocate data to any plane: the sum of free pages over all planes.
//! Planes share their space if the allocation chooses dies, and moved data shares open blocks with the host's. With
//! separate open blocks, a block opened for a single page of one kind of data would be lost to the other kind.
//!
//! If each plane takes the moves of its own collections, it keeps a block for them. Here the kept blocks are a common
//! stock. A relocation begins when the whole drive has space for its moves, even if its own plane has none. The host
//! leaves a block's worth of pages for each relocation that may be in progress at once. A relocation frees a whole
//! block and uses only a part of one, so that there is always space for the next. If units stay on their channels, each
//! channel has a stock.

use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::ftl::space::MovePool;
use crate::sim::index::PlaneId;

/// The space that some planes share. Queries get it, with `kept`, as a [`MovePool`].
#[derive(Clone, Copy, Default)]
struct Stock {
    /// Pages that moved data may take.
    left: u32,
    /// Pages reserved for writes that were admitted, and moves on their way to a plane.
    promised: u32,
    /// Pages that relocations still have to send to a plane.
    unsent: u32,
    /// Writes that wait in front of windows.
    waiting_for_window: u32,
}

/// The stocks of blocks that planes share.
pub(in crate::ssd) struct SharedSpace {
    /// Pages of each plane that moved data may take. Invariant: the translation layer's numbers at the last change.
    left_of: Vec<u32>,
    /// Invariant: `left` of each is the sum over its planes.
    stocks: Vec<Stock>,
    planes_per_stock: u32,
    /// Pages of each stock that the host must leave.
    kept: u32,
}

impl SharedSpace {
    /// The stocks of a drive that relocates at most this many blocks at once.
    pub fn new(ftl: &Ftl, relocations_max: u32) -> Self {
        let geometry = &ftl.geometry;
        let planes_per_stock = geometry.stripes.map_or(geometry.planes, |_| geometry.planes_per_channel());
        let mut shared = Self {
            left_of: vec![0; geometry.planes as usize],
            stocks: vec![Stock::default(); (geometry.planes / planes_per_stock) as usize],
            planes_per_stock,
            kept: relocations_max.min(planes_per_stock) * geometry.pages_per_block,
        };
        (0..geometry.planes).for_each(|plane| shared.follow(ftl, PlaneId(plane)));
        shared
    }

    /// The stock of a plane.
    fn stock_of(&self, plane: PlaneId) -> usize {
        (plane.0 / self.planes_per_stock) as usize
    }

    /// Updates the pages of a plane that has lost pages or gained a block.
    pub fn follow(&mut self, ftl: &Ftl, plane: PlaneId) {
        let left = ftl.pages_left(plane, Stream::Moved);
        let before = std::mem::replace(&mut self.left_of[plane.at()], left);
        let stock = self.stock_of(plane);
        self.stocks[stock].left = self.stocks[stock].left - before + left;
    }

    /// Promises a page of a plane, or of a plane of its die.
    pub fn promise(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].promised += 1;
    }

    /// Releases a promised page: it is bound now, or no longer needed.
    pub fn release(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].promised -= 1;
    }

    /// Changes the number of pages that a relocation of a plane's block still has to send.
    pub fn change_unsent(&mut self, plane: PlaneId, before: u32, now: u32) {
        let stock = self.stock_of(plane);
        self.stocks[stock].unsent = self.stocks[stock].unsent - before + now;
    }

    /// A write begins to wait in front of the window of this plane's die.
    pub fn begin_wait_for_window(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].waiting_for_window += 1;
    }

    /// A write no longer waits there.
    pub fn end_wait_for_window(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].waiting_for_window -= 1;
    }

    /// Whether two planes have a stock in common.
    pub fn share_stock(&self, plane: PlaneId, other: PlaneId) -> bool {
        self.stock_of(plane) == self.stock_of(other)
    }

    /// The state of a plane's stock.
    #[inline(always)]
    pub fn move_pool(&self, plane: PlaneId) -> MovePool {
        let stock = self.stocks[self.stock_of(plane)];
        MovePool {
            left: stock.left,
            kept: self.kept,
            unsent: stock.unsent,
            promised: stock.promised,
            waiting_for_window: stock.waiting_for_window,
        }
    }

    /// All promised pages.
    pub fn promised(&self) -> u32 {
        self.stocks.iter().map(|stock| stock.promised).sum()
    }
}
