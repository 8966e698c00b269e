//! What a drive records of itself: nothing here changes what it does.

use crate::ftl::core::{Counts, Ftl};
use crate::observe::counters::Counters;
use crate::observe::flash_requests::FlashRequestTotals;
use crate::observe::shadow::Shadow;
use crate::sim::index::PlaneId;

/// The records of a drive. Each has fields of its own, which its own module alone writes.
pub(super) struct Records {
    /// Work, collections, evictions.
    pub(super) counters: Counters,
    /// The data that each place in flash holds, under `--check`.
    pub(super) shadow: Option<Shadow>,
    /// Time of the host's flash requests, if that is measured.
    pub(super) flash_requests: Option<Box<FlashRequestTotals>>,
    /// The fewest free blocks that a plane had.
    pub(super) fewest_free: FewestFree,
    /// The state of the drive before the run.
    pub(super) before: BeforeRun,
}

/// The fewest free blocks that a plane had since the run began, or a part of it.
pub(super) struct FewestFree {
    blocks: u32,
}

impl FewestFree {
    /// From now on.
    pub(super) fn from_now(ftl: &Ftl) -> Self {
        let planes = (0..ftl.geometry.planes).map(PlaneId);
        Self { blocks: planes.map(|plane| ftl.free_blocks_of(plane)).min().unwrap_or(0) }
    }

    /// A plane may have lost a block.
    #[inline(always)]
    pub(super) fn note(&mut self, ftl: &Ftl, plane: PlaneId) {
        self.blocks = self.blocks.min(ftl.free_blocks_of(plane));
    }

    /// How many they were.
    pub(super) fn blocks(&self) -> u32 {
        self.blocks
    }
}

/// What the drive had done before the run, and how much of its flash was programmed then.
pub(super) struct BeforeRun {
    counts: Counts,
    units_programmed: u64,
}

impl BeforeRun {
    /// A run begins with this translation layer.
    pub(super) fn new(ftl: &Ftl) -> Self {
        Self { counts: ftl.counts(), units_programmed: ftl.units_programmed() }
    }

    /// What the drive did since.
    pub(super) fn since(&self, ftl: &Ftl) -> Counts {
        ftl.counts().since(&self.counts)
    }

    /// Units that were programmed and not erased when the run began.
    pub(super) fn units_programmed(&self) -> u64 {
        self.units_programmed
    }
}
