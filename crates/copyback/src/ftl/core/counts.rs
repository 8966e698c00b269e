//! The counters of a translation layer.

/// Counts of operations, in mapping units and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Units written for the host.
    pub host_units: u64,
    /// Units moved.
    pub moved_units: u64,
    /// Moves that came too late: the host had overwritten or trimmed the unit.
    pub dropped_moves: u64,
    /// Places that were left empty in programmed pages.
    pub padding_units: u64,
    /// Places of pages that were skipped: used without a program.
    pub skipped_units: u64,
    /// Blocks of the flash erased.
    pub erases: u64,
    /// Places of such blocks that were not programmed: a block may be closed before it is full.
    pub unwritten_units: u64,
}

impl Counts {
    /// Units programmed over units that the host wrote. Skipped places are not programmed.
    pub fn write_amplification(&self) -> Option<f64> {
        let flash = self.host_units + self.moved_units + self.padding_units;
        (self.host_units > 0).then(|| flash as f64 / self.host_units as f64)
    }

    /// The sum of two counts.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            host_units: self.host_units + other.host_units,
            moved_units: self.moved_units + other.moved_units,
            dropped_moves: self.dropped_moves + other.dropped_moves,
            padding_units: self.padding_units + other.padding_units,
            skipped_units: self.skipped_units + other.skipped_units,
            erases: self.erases + other.erases,
            unwritten_units: self.unwritten_units + other.unwritten_units,
        }
    }

    /// Counts this many repetitions.
    #[must_use]
    pub fn times(&self, times: u64) -> Self {
        Self {
            host_units: self.host_units * times,
            moved_units: self.moved_units * times,
            dropped_moves: self.dropped_moves * times,
            padding_units: self.padding_units * times,
            skipped_units: self.skipped_units * times,
            erases: self.erases * times,
            unwritten_units: self.unwritten_units * times,
        }
    }

    /// The counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_units: self.host_units - earlier.host_units,
            moved_units: self.moved_units - earlier.moved_units,
            dropped_moves: self.dropped_moves - earlier.dropped_moves,
            padding_units: self.padding_units - earlier.padding_units,
            skipped_units: self.skipped_units - earlier.skipped_units,
            erases: self.erases - earlier.erases,
            unwritten_units: self.unwritten_units - earlier.unwritten_units,
        }
    }
}
