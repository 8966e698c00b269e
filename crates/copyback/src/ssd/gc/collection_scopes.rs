//! Dies or devices that are below their watermark, and planes whose collection frees nothing.

use crate::sim::index::{DieId, PlaneId};
use crate::sim::invariant::hold;

/// For each block of a plane, the number of successive collections that may free no page. Even a policy that picks at
/// random finds a block that frees a page within this number, if there is one.
const FRUITLESS_PER_BLOCK: u32 = 64;

/// The state of the scopes: devices and dies whose planes a trigger counts together.
pub(in crate::ssd) struct CollectionScopes {
    /// The device fell below its start watermark, and has not reached its stop watermark.
    is_device_low: bool,
    /// The dies that fell below their start watermark, and have not reached their stop watermark.
    is_die_low: Vec<bool>,
    /// The number of last successive collections of each plane that freed no page. Invariant: at most `fruitless_max`.
    fruitless: Vec<u32>,
    fruitless_max: u32,
    /// The page offsets of waiting reads, for the victim policy. The memory is reused.
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

    /// The trigger's last answer for the device.
    #[inline]
    pub fn is_device_low(&self) -> bool {
        self.is_device_low
    }

    /// Sets the trigger's answer for the device.
    #[inline]
    pub fn set_device_low(&mut self, is_low: bool) {
        self.is_device_low = is_low;
    }

    /// The trigger's last answer for a die.
    #[inline]
    pub fn is_die_low(&self, die: DieId) -> bool {
        self.is_die_low[die.at()]
    }

    /// Sets the trigger's answer for a die.
    #[inline]
    pub fn set_die_low(&mut self, die: DieId, is_low: bool) {
        self.is_die_low[die.at()] = is_low;
    }

    /// Counts a collection of a plane. `pages_stayed`: the pages of the plane that its moved data took, out of
    /// `pages_erased`. If they are equal, the collection freed nothing; a policy may pick such blocks for a while.
    /// Relocations of blocks that another task chose need not free pages, and do not count.
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

    /// The page offsets of waiting reads, for the victim policy.
    pub fn read_offsets(&self) -> &[u32] {
        &self.read_offsets
    }

    /// Takes the list of these offsets, to fill it and give it back.
    pub fn take_read_offsets(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.read_offsets)
    }

    pub fn give_back_read_offsets(&mut self, offsets: Vec<u32>) {
        self.read_offsets = offsets;
    }
}
