//! fio's map of blocks: a random job draws each block once.

use super::Job;

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
        let sizes: Vec<Option<u64>> = self.used(|op| self.sizes.blocks[op].only()).collect();
        let is_one = sizes.iter().all(|size| size.is_some() && *size == sizes[0]);
        self.ends_with_map() && is_one
    }

    /// Whether fio uses a map of blocks, but the generator does not.
    pub fn lacks_map(&self) -> bool {
        self.pattern.is_random && self.places.has_map && !self.goes_by_map()
    }

    /// Whether fio ends the job early. fio's map counts blocks of the smallest size of all operations, and each
    /// operation looks up blocks of its own size.
    pub fn ends_early(&self) -> bool {
        let least = (0..3).map(|op| self.sizes.blocks[op].least()).min();
        self.ends_with_map() && self.used(|op| self.sizes.blocks[op].least()).any(|own| Some(own) != least)
    }
}
