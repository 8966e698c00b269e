//! fio's map of blocks: a random job draws each block once.

use super::Job;
use crate::failure::Failure;

impl Job {
    /// Whether a pass over its addresses ends when fio's map of blocks is full. fio does not use the map for requests
    /// that continue others.
    pub fn ends_with_map(&self) -> bool {
        self.pattern.is_random
            && self.places.has_map
            && self.random_percent() == 100
            && self.pattern.modifier.run_length.is_none()
    }

    /// Whether each random block is drawn once before any is drawn again.
    pub fn goes_by_map(&self) -> bool {
        self.ends_with_map() && self.only_size().is_some()
    }

    /// The size of all requests of its operations, if they have one.
    pub fn only_size(&self) -> Option<u64> {
        let mut sizes = self.used(|op| self.sizes.blocks[op].only());
        let first = sizes.next().flatten()?;
        sizes.all(|size| size == Some(first)).then_some(first)
    }

    /// The smallest size of a request of its operations; 0 without an operation.
    pub fn least_size(&self) -> u64 {
        self.used(|op| self.sizes.blocks[op].least()).min().unwrap_or(0)
    }

    /// Whether fio uses a map of blocks, but the generator does not.
    pub fn lacks_map(&self) -> bool {
        self.pattern.is_random && self.places.has_map && !self.goes_by_map() && !self.counts_by_own_size()
    }

    /// Whether fio's map counts blocks of several sizes. It has a bit for each block of the smallest size of all
    /// operations, also of those that the job does not have, and each operation looks up blocks of its own size.
    pub fn counts_by_own_size(&self) -> bool {
        let differs = |own: u64| own != self.least_of_all();
        self.ends_with_map()
            && self.used(|op| self.sizes.blocks[op].only()).all(|size| size.is_some())
            && self.used(|op| self.sizes.blocks[op].least()).any(differs)
    }

    /// The smallest size of a request of any operation, also of those that the job does not have.
    pub fn least_of_all(&self) -> u64 {
        (0..3).map(|op| self.sizes.blocks[op].least()).min().unwrap_or(0)
    }

    /// Refuses a job that fio's map ends several times, each time after other bytes.
    pub(super) fn refuse_rounds(&self) -> Result<(), Failure> {
        let repeats = self.extent.loops > 1 || self.extent.io_size.is_some();
        if !repeats || self.is_endless() || !self.counts_by_own_size() || self.replay.iolog.is_some() {
            return Ok(());
        }
        let message = "with different sizes in `bs`, fio's map of blocks ends each pass after another number of bytes, \
                       and passes like that are not simulated";
        Err(self.at(&["loops", "io_size"]).wrong(message, "remove it, or add norandommap=1"))
    }
}
