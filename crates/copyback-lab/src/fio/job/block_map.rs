//! fio's map of blocks: a random job draws each block once.

use super::{Job, TRIM};
use crate::failure::Failure;
use crate::fio::block_sizes::Blocks;

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
        self.ends_with_map() && self.only_size().is_some() && !self.has_other_units()
    }

    /// The unit in which random requests of an operation begin and are counted, without `blockalign`. With
    /// `bs_is_seq_rand`, it stays the smallest size of the operation, and requests have another size.
    pub fn map_unit(&self, op: usize) -> u64 {
        // fio draws the address of the trim, and its write has the same.
        let drawn = if self.pattern.trims_first { TRIM } else { op };
        match self.sizes.are_by_order {
            true => self.sizes.given[drawn].least(),
            false => self.sizes.blocks[drawn].least(),
        }
    }

    /// Whether requests of an operation differ in size from the units of its addresses, because of `bs_is_seq_rand`.
    pub fn has_other_units(&self) -> bool {
        self.used(|op| self.map_unit(op) != self.sizes.blocks[op].least()).any(|differs| differs)
    }

    /// Whether random requests are larger than the units of their addresses, so that some would reach beyond the file.
    pub fn exceeds_units(&self) -> bool {
        let exceeds = |op: usize| self.map_unit(op) < self.sizes.blocks[op].least();
        self.pattern.is_random && self.random_percent() > 0 && self.used(exceeds).any(|exceeds| exceeds)
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

    /// The largest size of a request of any operation, also of operations that the job does not have.
    pub fn largest_size(&self) -> u64 {
        self.sizes.given.iter().map(Blocks::largest).max().unwrap_or(0)
    }

    /// Whether fio uses a map of blocks, but the generator does not.
    pub fn lacks_map(&self) -> bool {
        self.pattern.is_random && self.places.has_map && !self.goes_by_map() && !self.counts_by_own_size()
    }

    /// Whether fio's map counts blocks of several sizes. The map has a bit for each block of the smallest size of all
    /// operations, also of operations that the job does not have. Each operation looks up blocks of its own size.
    pub fn counts_by_own_size(&self) -> bool {
        let differs = |own: u64| own != self.least_of_all();
        self.ends_with_map()
            && (self.has_other_units() || self.draws_sizes() || self.used(|op| self.map_unit(op)).any(differs))
    }

    /// Whether an operation has requests of several sizes.
    fn draws_sizes(&self) -> bool {
        self.used(|op| self.sizes.blocks[op].only()).any(|size| size.is_none())
    }

    /// Whether fio's map is full when the job has moved its size, and not before: all requests are whole blocks of the
    /// size that the map counts.
    pub fn fills_map(&self) -> bool {
        let unit = self.least_of_all();
        let is_whole = |op: usize| self.map_unit(op) == unit && self.sizes.blocks[op].divisor().is_multiple_of(unit);
        self.ends_with_map() && !self.has_other_units() && self.used(is_whole).all(|is_whole| is_whole)
    }

    /// Whether fio's map shortens requests that reach into a block that was drawn before.
    pub fn shortens(&self) -> bool {
        self.counts_by_own_size() && (self.draws_sizes() || self.exceeds_units())
    }

    /// The smallest size of a request of any operation, also of operations that the job does not have.
    pub fn least_of_all(&self) -> u64 {
        (0..3).map(|op| self.sizes.given[op].least()).min().unwrap_or(0)
    }

    /// Refuses a job of several passes if fio's map ends each pass after a different number of bytes.
    pub(super) fn refuse_uneven_passes(&self) -> Result<(), Failure> {
        let repeats = self.extent.loops > 1 || self.extent.io_size.is_some();
        if !repeats
            || self.is_endless()
            || !self.counts_by_own_size()
            || self.fills_map()
            || self.replay.iolog.is_some()
        {
            return Ok(());
        }
        let message = "with different sizes in `bs`, fio's map of blocks ends each pass after a different number of \
                       bytes, and passes like that are not simulated";
        Err(self.at(&["loops", "io_size"]).wrong(message, "remove it, or add norandommap=1"))
    }
}
