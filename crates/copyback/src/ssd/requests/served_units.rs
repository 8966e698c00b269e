//! Units that the host accessed, counted by the place where they were found.

use crate::ssd::drive::UnitCounts;

/// The counts of one SSD.
#[derive(Default)]
pub(in crate::ssd) struct ServedUnits {
    counts: UnitCounts,
    /// Whether a write covered a part of a unit that holds data in flash.
    has_partial_updates: bool,
}

impl ServedUnits {
    /// Counts units that are read.
    #[inline(always)]
    pub fn on_read(&mut self, units: u32) {
        self.counts.read += u64::from(units);
    }

    /// Counts a read unit that holds no data.
    #[inline(always)]
    pub fn on_unwritten_read(&mut self) {
        self.counts.unwritten_read += 1;
    }

    /// Counts a read unit that is in the buffer.
    #[inline(always)]
    pub fn on_buffer_read_hit(&mut self) {
        self.counts.buffer_read_hits += 1;
    }

    /// Counts units of a write that are in the buffer.
    #[inline(always)]
    pub fn on_buffer_write_hits(&mut self, units: u32) {
        self.counts.buffer_write_hits += u64::from(units);
    }

    /// A write arrived. `updates`: it covers a part of a unit that holds data in flash.
    #[inline(always)]
    pub fn on_write(&mut self, updates: bool) {
        self.has_partial_updates |= updates;
    }

    /// The counts since the run began.
    pub fn counts(&self) -> UnitCounts {
        self.counts
    }

    /// Whether a write covered a part of a unit that holds data in flash.
    pub fn has_partial_updates(&self) -> bool {
        self.has_partial_updates
    }
}
