//! Bytes read and written in intervals of equal length, from the beginning of the measurement.

use super::array_report::BandwidthReport;

/// Largest number of intervals; later ones are not measured.
pub const INTERVALS_MAX: usize = 1_000_000;

/// See the module's page.
pub struct Bandwidth {
    every_ns: u64,
    /// When the interval at hand ends, and the bytes done before it.
    next_ns: u64,
    before: u64,
    bytes: Vec<u64>,
}

impl Bandwidth {
    /// Intervals of this length.
    pub fn new(every_ns: u64) -> Self {
        Self { every_ns, next_ns: every_ns, before: 0, bytes: Vec::new() }
    }

    /// The measurement begins.
    pub fn begin(&mut self, now_ns: u64, bytes: u64) {
        (self.next_ns, self.before) = (now_ns + self.every_ns, bytes);
        self.bytes.clear();
    }

    /// The time of its next reading.
    pub fn next_ns(&self) -> u64 {
        if self.bytes.len() < INTERVALS_MAX { self.next_ns } else { u64::MAX }
    }

    /// `bytes` were transferred before this time.
    pub fn update(&mut self, now_ns: u64, bytes: u64) {
        while self.next_ns <= now_ns && self.bytes.len() < INTERVALS_MAX {
            // Nothing happened between the end of the first of these intervals and now.
            self.bytes.push(bytes - std::mem::replace(&mut self.before, bytes));
            self.next_ns += self.every_ns;
        }
    }

    /// The report of all whole intervals: the last one is left out if it has not ended.
    pub fn report(self) -> BandwidthReport {
        BandwidthReport::of(self.every_ns, &self.bytes)
    }
}
