//! Numbers of blocks, each taken once: fio's map of blocks.
//!
//! fio has one map for reads, writes and trims, and a bit for each number, not for each byte: block 3 of writes of
//! 16 KiB and block 3 of reads of 4 KiB exclude each other. The map has as many numbers as there are blocks of the
//! smallest size of any operation. A draw that finds its number taken goes on to the next free one, and from the last
//! number to the first. If the operation's smallest request, begun there, would reach beyond the last block of that
//! operation, fio 3.33 ends the job. fio draws a larger request again until it fits; this module shortens it. A request
//! of several blocks takes a number for each of them, and ends before the first one that is taken.

use crate::rng::{Xoshiro256PlusPlus, below};

/// Numbers that were taken.
pub(super) struct Numbers {
    /// A bit for each number. It grows to the highest one that was taken.
    taken: Vec<u64>,
    /// How many numbers there are.
    count: u64,
    /// Whether the workload ends with the first draw that finds no number.
    ends: bool,
}

impl Numbers {
    /// All numbers are free.
    pub(super) fn new(count: u64, ends: bool) -> Self {
        Self { taken: Vec::new(), count, ends }
    }

    /// Frees all numbers.
    pub(super) fn free_all(&mut self) {
        self.taken.clear();
    }

    /// Takes a number below `count`, and the free ones that follow it, for a request of at most `wanted` numbers, of an
    /// operation whose requests have at least `least`. Returns the first number and how many were taken; `None` if the
    /// workload ends.
    ///
    /// The caller ensures that `1 <= least <= wanted <= count`. If no number is free, or if `least` numbers from the
    /// first free one on would reach beyond `count`, the workload ends (`ends`), or all numbers become free again.
    pub(super) fn next(
        &mut self,
        rng: &mut Xoshiro256PlusPlus,
        count: u64,
        [least, wanted]: [u64; 2],
    ) -> Option<(u64, u64)> {
        let drawn = below(rng, count);
        let first = match self.free_from(drawn) {
            Some(free) if free <= count - least => free,
            _ if self.ends => return None,
            _ => {
                self.free_all();
                drawn.min(count - least)
            }
        };
        let wanted = wanted.min(count - first);
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

    /// The first free number from this one on, or else the first free number of all.
    fn free_from(&self, number: u64) -> Option<u64> {
        let from = |number: u64| Some(self.free_behind(number)).filter(|free| *free < self.count);
        from(number).or_else(|| from(0))
    }

    /// The first free number from this one on, as if numbers had no end.
    fn free_behind(&self, number: u64) -> u64 {
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
        let mut numbers = Numbers::new(8, false);
        let mut rng = stream(1, "numbers");
        assert!((0..100).all(|_| numbers.next(&mut rng, 8, [1, 1]).is_some_and(|(number, _)| number < 8)));
        assert!((0..100).all(|_| numbers.next(&mut rng, 8, [3, 3]).is_some_and(|(number, _)| number < 6)));
    }

    /// A slow map: a request begins at the next free number, where the first number follows the last, and ends before
    /// a taken one. The workload ends if the request would reach beyond the numbers of its operation.
    #[test]
    fn each_number_is_taken_once_and_the_next_free_one_follows() {
        let one = [(1, 1, 1, 1), (2, 64, 64, 1), (3, 65, 65, 1), (4, 1000, 4000, 1)];
        let several = [(2, 128, 128, 8), (3, 200, 200, 3), (4, 4096, 4096, 100), (5, 64, 64, 64)];
        let mut went_on = 0;
        for (seed, count, all, wanted) in one.into_iter().chain(several) {
            let mut numbers = Numbers::new(all, true);
            let (mut rng, mut same) = (stream(seed, "numbers"), stream(seed, "numbers"));
            let mut taken = std::collections::BTreeSet::new();
            loop {
                let drawn = below(&mut same, count);
                let free = (drawn..all).chain(0..drawn).find(|number| !taken.contains(number));
                let first = free.filter(|first| first + wanted <= count);
                let own = first.map(|first| (first..first + wanted).take_while(|number| !taken.contains(number)));
                let own: Option<Vec<u64>> = own.map(Iterator::collect);
                let expected = own.as_ref().map(|own| (own[0], own.len() as u64));
                assert_eq!(numbers.next(&mut rng, count, [wanted, wanted]), expected, "{count}, {wanted}");
                let Some(own) = own else { break };
                went_on += u32::from(own[0] < drawn);
                taken.extend(own);
            }
            assert!(wanted > 1 || count < all || taken.len() as u64 == count, "all {count} numbers are taken");
        }
        assert!(went_on > 0, "no draw went on at the first number");
    }

    /// Sizes of one to four numbers: all of them are taken before the workload ends, also the last ones.
    #[test]
    fn requests_of_several_sizes_take_all_numbers() {
        for seed in 0..20 {
            let mut numbers = Numbers::new(101, true);
            let mut rng = stream(seed, "numbers");
            let mut taken = 0;
            while let Some((first, length)) = numbers.next(&mut rng, 101, [1, 1 + (taken + seed) % 4]) {
                assert!(first + length <= 101);
                taken += length;
            }
            assert_eq!(taken, 101);
        }
    }

    /// fio makes no request at all if the first one would reach beyond the file.
    #[test]
    fn a_first_request_that_does_not_fit_ends_the_workload() {
        let is_empty = |seed| Numbers::new(8, true).next(&mut stream(seed, "numbers"), 8, [6, 6]).is_none();
        let empty = (0..800).filter(|seed| is_empty(*seed)).count();
        assert!((400..600).contains(&empty), "five of eight draws do not fit: {empty} of 800 are empty");
    }
}
