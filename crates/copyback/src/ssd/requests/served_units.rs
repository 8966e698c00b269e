//! Units that the host asked for, counted by where they were found.

use crate::ssd::device::UnitCounts;

/// The counts of one SSD.
#[derive(Default)]
pub(in crate::ssd) struct ServedUnits {
    counts: UnitCounts,
    /// Whether a write was of a part of a unit that holds data in flash.
    has_updated_parts: bool,
}

impl ServedUnits {
    /// So many units are read.
    #[inline(always)]
    pub fn on_read(&mut self, units: u32) {
        self.counts.read += u64::from(units);
    }

    /// One of them holds no data.
    #[inline(always)]
    pub fn on_unwritten_read(&mut self) {
        self.counts.unwritten_read += 1;
    }

    /// One of them is in the buffer.
    #[inline(always)]
    pub fn on_buffer_read_hit(&mut self) {
        self.counts.buffer_read_hits += 1;
    }

    /// So many units of a write are in the buffer.
    #[inline(always)]
    pub fn on_buffer_write_hits(&mut self, units: u32) {
        self.counts.buffer_write_hits += u64::from(units);
    }

    /// A write came. `updates`: it is of a part of a unit that holds data in flash.
    #[inline(always)]
    pub fn on_partial_write(&mut self, updates: bool) {
        self.has_updated_parts |= updates;
    }

    /// The counts since the run began.
    pub fn counts(&self) -> UnitCounts {
        self.counts
    }

    /// Whether a write was of a part of a unit that holds data in flash.
    pub fn has_updated_parts(&self) -> bool {
        self.has_updated_parts
    }
}
