//! Which dies, or the device, are below a watermark of theirs, and which planes gain nothing by collection.

use crate::sim::index::{DieId, PlaneId};
use crate::sim::invariant::hold;

/// Collections of a plane in a row that may free no page, for each of its blocks: even a policy that picks at random
/// finds a block that would, if there is one.
const FRUITLESS_PER_BLOCK: u32 = 64;

/// The state of the scopes that a trigger counts together.
pub(in crate::ssd) struct CollectionScopes {
    /// The device fell below the watermark at which it starts, and has not reached the one at which it stops.
    is_device_low: bool,
    /// The same of each die.
    is_die_low: Vec<bool>,
    /// The last collections of each plane in a row that freed no page. Invariant: at most `fruitless_max`.
    fruitless: Vec<u32>,
    fruitless_max: u32,
    /// Memory for the page offsets that the victim policy looks at.
    read_offsets: Vec<u32>,
}

impl CollectionScopes {
    pub fn new(dies: u32, planes: u32, blocks_per_plane: u32) -> Self {
        Self {
            is_device_low: false,
            is_die_low: vec![false; dies as usize],
            fruitless: vec![0; planes as usize],
            fruitless_max: FRUITLESS_PER_BLOCK * blocks_per_plane,
            read_offsets: Vec::new(),
        }
    }

    /// Whether the device was low when its trigger was asked last.
    #[inline]
    pub fn is_device_low(&self) -> bool {
        self.is_device_low
    }

    /// The trigger's answer for the device.
    #[inline]
    pub fn set_device_low(&mut self, is_low: bool) {
        self.is_device_low = is_low;
    }

    /// Whether a die was low when its trigger was asked last.
    #[inline]
    pub fn is_die_low(&self, die: DieId) -> bool {
        self.is_die_low[die.at()]
    }

    /// The trigger's answer for a die.
    #[inline]
    pub fn set_die_low(&mut self, die: DieId, is_low: bool) {
        self.is_die_low[die.at()] = is_low;
    }

    /// A collection of a plane ended, whose data took so many of the pages that it erased on the plane itself. If that
    /// is all of them it freed nothing; a policy may pick such blocks for a while. Relocations of blocks that another
    /// task named need not free anything, and do not count.
    pub fn count_collection(&mut self, plane: PlaneId, pages_stayed: u32, pages_erased: u32) {
        let collections = &mut self.fruitless[plane.at()];
        *collections = if pages_stayed < pages_erased { 0 } else { *collections + 1 };
        hold!(
            *collections <= self.fruitless_max,
            CollectionsReclaim,
            "the last {collections} collections of {plane:?} freed no page: the victim policy passes over blocks that \
             would"
        );
    }

    /// The page offsets that the victim policy looks at.
    pub fn read_offsets(&self) -> &[u32] {
        &self.read_offsets
    }

    /// The list of those offsets, to be filled and given back.
    pub fn take_read_offsets(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.read_offsets)
    }

    pub fn give_back_read_offsets(&mut self, offsets: Vec<u32>) {
        self.read_offsets = offsets;
    }
}
