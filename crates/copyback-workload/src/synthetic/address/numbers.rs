//! Numbers of blocks, each taken once: fio's map of blocks.
//!
//! fio has one map for reads, writes and trims, and a bit for each number, not for each byte: block 3 of writes of
//! 16 KiB and block 3 of reads of 4 KiB exclude each other. A draw that finds its number taken goes on to the next free
//! one. If this is beyond the blocks of its operation, fio 3.33 ends the job.

use crate::rng::{Xoshiro256PlusPlus, below};

/// Numbers that were taken.
pub(super) struct Numbers {
    /// A bit for each number. It grows to the highest one.
    taken: Vec<u64>,
    /// Whether no number comes after the last free one.
    ends: bool,
}

impl Numbers {
    /// All numbers are free.
    pub(super) fn new(ends: bool) -> Self {
        Self { taken: Vec::new(), ends }
    }

    /// Frees all numbers.
    pub(super) fn free_all(&mut self) {
        self.taken.clear();
    }

    /// Takes a number below `count`, which is not 0; `None` if the workload ends.
    pub(super) fn next(&mut self, rng: &mut Xoshiro256PlusPlus, count: u64) -> Option<u64> {
        let drawn = below(rng, count);
        let free = match self.free_from(drawn) {
            free if free < count => free,
            _ if self.ends => return None,
            _ => {
                self.free_all();
                drawn
            }
        };
        let word = (free / 64) as usize;
        if word >= self.taken.len() {
            self.taken.resize(word + 1, 0);
        }
        self.taken[word] |= 1 << (free % 64);
        Some(free)
    }

    /// The first free number from this one on.
    fn free_from(&self, number: u64) -> u64 {
        let first = (number / 64) as usize;
        // Numbers below the first one do not count.
        let mut lower = (1_u64 << (number % 64)) - 1;
        for (at, word) in self.taken.iter().enumerate().skip(first) {
            let taken = word | std::mem::take(&mut lower);
            if taken != u64::MAX {
                return at as u64 * 64 + u64::from(taken.trailing_ones());
            }
        }
        number.max(self.taken.len() as u64 * 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    /// A slow map: the next free number, and the end where there is none.
    #[test]
    fn each_number_is_taken_once_and_the_next_free_one_follows() {
        for (seed, count) in [(1, 1), (2, 64), (3, 65), (4, 1000)] {
            let mut numbers = Numbers::new(true);
            let (mut rng, mut same) = (stream(seed, "numbers"), stream(seed, "numbers"));
            let mut taken = std::collections::BTreeSet::new();
            loop {
                let drawn = below(&mut same, count);
                let free = (drawn..count).find(|number| !taken.contains(number));
                assert_eq!(numbers.next(&mut rng, count), free, "{count}");
                let Some(free) = free else { break };
                taken.insert(free);
            }
        }
    }

    #[test]
    fn numbers_are_free_again_unless_the_workload_ends() {
        let mut numbers = Numbers::new(false);
        let mut rng = stream(1, "numbers");
        assert!((0..100).all(|_| numbers.next(&mut rng, 8).is_some_and(|number| number < 8)));
    }
}
