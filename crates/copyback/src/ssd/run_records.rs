//! Records of a drive. They do not change its behaviour.

use crate::ftl::core::{Counts, Ftl};
use crate::observe::counters::Counters;
use crate::observe::flash_requests::FlashRequestTotals;
use crate::observe::shadow::Shadow;
use crate::sim::index::PlaneId;

/// The records of a drive. Only a record's own module writes its fields.
pub(super) struct Records {
    /// Work, collections, evictions.
    pub(super) counters: Counters,
    /// The data in each physical unit, under `--check`.
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
    /// Starts with the current values.
    pub(super) fn from_now(ftl: &Ftl) -> Self {
        let planes = (0..ftl.geometry.planes).map(PlaneId);
        Self { blocks: planes.map(|plane| ftl.free_blocks_of(plane)).min().unwrap_or(0) }
    }

    /// Updates the minimum: a plane may have lost a block.
    #[inline(always)]
    pub(super) fn note(&mut self, ftl: &Ftl, plane: PlaneId) {
        self.blocks = self.blocks.min(ftl.free_blocks_of(plane));
    }

    /// The fewest free blocks.
    pub(super) fn blocks(&self) -> u32 {
        self.blocks
    }
}

/// The drive's work before the run, and the flash that was programmed then.
pub(super) struct BeforeRun {
    counts: Counts,
    units_programmed: u64,
}

impl BeforeRun {
    /// The state of the translation layer when a run begins.
    pub(super) fn new(ftl: &Ftl) -> Self {
        Self { counts: ftl.counts(), units_programmed: ftl.units_programmed() }
    }

    /// The drive's work since then.
    pub(super) fn since(&self, ftl: &Ftl) -> Counts {
        ftl.counts().since(&self.counts)
    }

    /// Units that were programmed and not erased when the run began.
    pub(super) fn units_programmed(&self) -> u64 {
        self.units_programmed
    }
}
