//! Numbers of blocks, each taken once: fio's map of blocks.
//!
//! fio has one map for reads, writes and trims, and a bit for each number, not for each byte: block 3 of writes of
//! 16 KiB and block 3 of reads of 4 KiB exclude each other. A draw that finds its number taken goes on to the next free
//! one. If this is beyond the blocks of its operation, fio 3.33 ends the job. A request of several blocks takes a
//! number for each of them, and ends before the first one that is taken.

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

    /// Takes a number below `count`, and the free ones that follow it, for a request of at most `wanted` numbers.
    /// Returns the first number and how many were taken; `None` if the workload ends.
    ///
    /// The caller ensures that `1 <= wanted <= count`. A request that would reach beyond `count` ends the workload.
    pub(super) fn next(&mut self, rng: &mut Xoshiro256PlusPlus, count: u64, wanted: u64) -> Option<(u64, u64)> {
        let drawn = below(rng, count);
        let first = match self.free_from(drawn) {
            free if free <= count - wanted => free,
            // A first request that would reach beyond the blocks begins earlier: a workload is not empty.
            _ if self.ends && !self.taken.is_empty() => return None,
            _ => {
                self.free_all();
                drawn.min(count - wanted)
            }
        };
        let last_word = ((first + wanted - 1) / 64) as usize;
        if last_word >= self.taken.len() {
            self.taken.resize(last_word + 1, 0);
        }
        let mut length = 0;
        while length < wanted {
            let (word, bit) = (((first + length) / 64) as usize, 1 << ((first + length) % 64));
            if self.taken[word] & bit != 0 {
                break;
            }
            self.taken[word] |= bit;
            length += 1;
        }
        Some((first, length))
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

    #[test]
    fn numbers_are_free_again_unless_the_workload_ends() {
        let mut numbers = Numbers::new(false);
        let mut rng = stream(1, "numbers");
        assert!((0..100).all(|_| numbers.next(&mut rng, 8, 1).is_some_and(|(number, _)| number < 8)));
        assert!((0..100).all(|_| numbers.next(&mut rng, 8, 3).is_some_and(|(number, _)| number < 6)));
    }

    /// A slow map: a request begins at the next free number, and ends before a taken one. The workload ends at the last
    /// number.
    #[test]
    fn each_number_is_taken_once_and_the_next_free_one_follows() {
        let one = [(1, 1, 1), (2, 64, 1), (3, 65, 1), (4, 1000, 1)];
        let several = [(2, 128, 8), (3, 200, 3), (4, 4096, 100), (5, 64, 64)];
        for (seed, count, wanted) in one.into_iter().chain(several) {
            let mut numbers = Numbers::new(true);
            let (mut rng, mut same) = (stream(seed, "numbers"), stream(seed, "numbers"));
            let mut taken = std::collections::BTreeSet::new();
            loop {
                let drawn = below(&mut same, count);
                let free = (drawn..count).find(|number| !taken.contains(number));
                let free = if taken.is_empty() { free.map(|first| first.min(count - wanted)) } else { free };
                let first = free.filter(|first| first + wanted <= count);
                let own = first.map(|first| (first..first + wanted).take_while(|number| !taken.contains(number)));
                let own: Option<Vec<u64>> = own.map(Iterator::collect);
                let expected = own.as_ref().map(|own| (own[0], own.len() as u64));
                assert_eq!(numbers.next(&mut rng, count, wanted), expected, "{count}, {wanted}");
                let Some(own) = own else { break };
                taken.extend(own);
            }
        }
    }
}
