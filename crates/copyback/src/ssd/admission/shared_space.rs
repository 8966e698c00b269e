//! Space that planes share, on a drive that may relocate data to any plane: what all planes together have left. That is
//! so if the allocation chooses dies and moved data shares open blocks with the host's: a block that only one of the
//! two may write would be lost to the other when it is opened for a single page.
//!
//! If each plane takes the moves of its own collections, a block of it is kept for them. Here the blocks that are kept
//! are a common stock: a relocation begins when the drive has room for what it moves, whatever its own plane has, and
//! the host leaves a block's worth for each relocation that may be under way at once. As an end gives back a whole
//! block for the part of one that was moved, there is always room for the next. If units stay on their channels, each
//! channel has a stock.

use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::ftl::space::Anywhere;
use crate::sim::index::PlaneId;

/// What planes have together.
#[derive(Clone, Copy, Default)]
struct Stock {
    /// Pages that moved data may take.
    left: u32,
    /// Pages reserved for writes that were admitted, and moves on their way to a plane.
    promised: u32,
    /// Pages that relocations have still to send to a plane.
    unsent: u32,
    /// Writes that wait in front of windows.
    parked: u32,
}

/// The stocks of blocks that planes share.
pub(in crate::ssd) struct SharedSpace {
    /// Pages of each plane that moved data may take. Invariant: what the translation layer says since the last change.
    left_of: Vec<u32>,
    /// Invariant: `left` of each is the sum over its planes.
    stocks: Vec<Stock>,
    planes_per_stock: u32,
    /// Pages of each stock that the host leaves.
    kept: u32,
}

impl SharedSpace {
    /// What a drive has, of which so many blocks at most are relocated at once.
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

    /// A plane has lost pages or won a block.
    pub fn follow(&mut self, ftl: &Ftl, plane: PlaneId) {
        let left = ftl.pages_left(plane, Stream::Moved);
        let before = std::mem::replace(&mut self.left_of[plane.at()], left);
        let stock = self.stock_of(plane);
        self.stocks[stock].left = self.stocks[stock].left - before + left;
    }

    /// A page of a plane, or of one of its die, is promised.
    pub fn promise(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].promised += 1;
    }

    /// It was bound, or is wanted no more.
    pub fn release(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].promised -= 1;
    }

    /// Of what a relocation of a plane's block has still to send, so many pages became so many.
    pub fn change_unsent(&mut self, plane: PlaneId, before: u32, now: u32) {
        let stock = self.stock_of(plane);
        self.stocks[stock].unsent = self.stocks[stock].unsent - before + now;
    }

    /// A write begins to wait in front of the window of a die whose plane this is.
    pub fn park(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].parked += 1;
    }

    /// It waits there no longer.
    pub fn unpark(&mut self, plane: PlaneId) {
        let stock = self.stock_of(plane);
        self.stocks[stock].parked -= 1;
    }

    /// Whether two planes have a stock in common.
    pub fn share_stock(&self, plane: PlaneId, other: PlaneId) -> bool {
        self.stock_of(plane) == self.stock_of(other)
    }

    /// What a plane has together with those that it shares a stock with.
    #[inline(always)]
    pub fn of(&self, plane: PlaneId) -> Anywhere {
        let stock = self.stocks[self.stock_of(plane)];
        Anywhere {
            left: stock.left,
            kept: self.kept,
            unsent: stock.unsent,
            promised: stock.promised,
            parked: stock.parked,
        }
    }

    /// All that is promised.
    pub fn promised(&self) -> u32 {
        self.stocks.iter().map(|stock| stock.promised).sum()
    }
}
