//! The pages of many devices that were read, written and trimmed, in bounded memory.
//!
//! Addresses are divided into pieces of 128 MiB (32,768 pages). A piece keeps its pages as runs while these are few,
//! then as a bitmap of 4 KiB. The whole pieces of a request are one run of pieces, so that a request of any length
//! takes about the same time. All counts are exact as long as the pieces take no more than [`MEMORY_BYTES`], and the
//! runs of pieces of each set no more than a 24th of that. Beyond that, pieces are sampled by a hash of their address:
//! half of them are dropped, and half of the rest each time they take too much memory again. The counts are then those
//! of the remaining pieces, scaled up. Runs of pieces are sampled by the hash of their first piece.

mod whole_runs;

use crate::rng::splitmix64;
use std::collections::BTreeMap;
use whole_runs::WholeRuns;

/// Largest memory of the pieces: enough for 3.8 TiB of addresses that are all read and written at random, and for far
/// more if runs are long or pages few.
pub(crate) const MEMORY_BYTES: usize = 256 << 20;

/// In addition, runs of pieces take at most `MEMORY_BYTES` divided by this, in all sets together.
const RUNS_PART: usize = 8;

const WORDS: usize = 512;

/// Pages in a piece.
pub(crate) const PIECE_PAGES: u64 = WORDS as u64 * 64;

/// Memory of a piece in the map, with the unused part of the map's nodes.
const PIECE_BYTES: usize = 224;

/// With more runs, a bitmap takes no more memory, and less time.
const RUNS_MAX: usize = 512;

/// First and last page of a run in its piece.
type Run = (u16, u16);

/// Some pages of a piece.
#[derive(Default)]
enum Pages {
    #[default]
    None,
    All,
    /// In order, with gaps between them.
    Runs(Vec<Run>),
    Bits(Box<[u64; WORDS]>),
}

impl Pages {
    /// Adds a run. Returns its memory on the heap, in addition to the piece itself.
    fn insert(&mut self, first: u16, last: u16) -> usize {
        if u64::from(last - first) + 1 == PIECE_PAGES {
            *self = Self::All;
        }
        match self {
            Self::None => {
                let mut runs = Vec::with_capacity(2);
                runs.push((first, last));
                *self = Self::Runs(runs);
            }
            Self::All => {}
            Self::Runs(runs) => {
                insert_run(runs, first, last);
                if runs.len() > RUNS_MAX {
                    let mut bits = Box::new([0; WORDS]);
                    runs.iter().for_each(|(first, last)| set_bits(&mut bits, *first, *last));
                    *self = Self::Bits(bits);
                } else if u64::from(runs[0].1 - runs[0].0) + 1 == PIECE_PAGES {
                    *self = Self::All;
                }
            }
            Self::Bits(bits) => set_bits(bits, first, last),
        }
        self.heap_bytes()
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::None | Self::All => 0,
            Self::Runs(runs) => 16 + runs.capacity() * size_of::<Run>(),
            Self::Bits(_) => 16 + WORDS * 8,
        }
    }

    fn count(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::All => PIECE_PAGES,
            Self::Runs(runs) => runs.iter().map(|(first, last)| u64::from(last - first) + 1).sum(),
            Self::Bits(bits) => bits.iter().map(|word| u64::from(word.count_ones())).sum(),
        }
    }

    /// Sets the bits of its pages.
    fn add_to(&self, bits: &mut [u64; WORDS]) {
        match self {
            Self::None => {}
            Self::All => bits.fill(u64::MAX),
            Self::Runs(runs) => runs.iter().for_each(|(first, last)| set_bits(bits, *first, *last)),
            Self::Bits(own) => bits.iter_mut().zip(own.iter()).for_each(|(word, own)| *word |= own),
        }
    }
}

/// Adds a run to others, and joins those that touch.
fn insert_run(runs: &mut Vec<Run>, first: u16, last: u16) {
    // Runs that neither overlap nor touch the new run stay unchanged.
    let from = runs.partition_point(|run| run.1 + 1 < first);
    let to = runs.partition_point(|run| run.0 <= last + 1);
    if from >= to {
        runs.insert(from, (first, last));
        return;
    }
    let joined = (first.min(runs[from].0), last.max(runs[to - 1].1));
    runs.splice(from..to, [joined]);
}

/// Sets the bits from `first` to `last`.
fn set_bits(words: &mut [u64; WORDS], first: u16, last: u16) {
    let (first_word, last_word) = (usize::from(first / 64), usize::from(last / 64));
    for (index, word) in words.iter_mut().enumerate().take(last_word + 1).skip(first_word) {
        let low = if index == first_word { u64::MAX << (first % 64) } else { u64::MAX };
        let high = if index == last_word { u64::MAX >> (63 - last % 64) } else { u64::MAX };
        *word |= low & high;
    }
}

/// The location of a piece: its device and its number there.
type Place = (u32, u64);

/// Number of sets: one for each operation.
pub(crate) const SETS: usize = 3;

/// Sets of pages, one for each operation.
pub(crate) struct PageSets {
    pieces: BTreeMap<Place, [Pages; SETS]>,
    /// Pieces that one request covered completely. Entries of `pieces` for them do not count.
    whole: [WholeRuns; SETS],
    taken_bytes: usize,
    memory_bytes: usize,
    /// A piece is kept if its hash ends in this many zero bits.
    halvings: u32,
}

/// How many pages there are in sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counts {
    /// Pages of each set.
    pub of_sets: [u64; SETS],
    /// Pages that are in one of the first two sets or both.
    pub of_either: u64,
    /// How the counts were estimated; `None` if they are exact.
    pub estimate: Option<Estimate>,
}

/// How counts were estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// One of this many pieces was counted.
    pub one_of: u64,
    /// The standard error of the count of pages read or written, as a share of it.
    pub error_share: f64,
}

impl Default for PageSets {
    fn default() -> Self {
        Self::with_memory(MEMORY_BYTES)
    }
}

impl PageSets {
    fn with_memory(memory_bytes: usize) -> Self {
        Self { pieces: BTreeMap::new(), whole: Default::default(), taken_bytes: 0, memory_bytes, halvings: 0 }
    }

    /// Adds the pages from `first` to `last`, both included, to a set.
    pub(crate) fn insert(&mut self, set: usize, device: u32, first: u64, last: u64) {
        let (first_piece, last_piece) = (first / PIECE_PAGES, last / PIECE_PAGES);
        let (from, to) = ((first % PIECE_PAGES) as u16, (last % PIECE_PAGES) as u16);
        const LAST: u16 = (PIECE_PAGES - 1) as u16;
        if first_piece == last_piece {
            return self.insert_in_piece(set, (device, first_piece), from, to);
        }
        let whole_from = first_piece + u64::from(from > 0);
        let whole_to = last_piece - u64::from(to < LAST);
        if from > 0 {
            self.insert_in_piece(set, (device, first_piece), from, LAST);
        }
        if to < LAST {
            self.insert_in_piece(set, (device, last_piece), 0, to);
        }
        if whole_from <= whole_to {
            let most_bytes = self.memory_bytes / RUNS_PART;
            let runs = &mut self.whole[set];
            runs.insert(device, whole_from, whole_to);
            if runs.taken_bytes() > most_bytes / SETS {
                runs.halve(most_bytes / SETS);
            }
        }
    }

    fn insert_in_piece(&mut self, set: usize, place: Place, first: u16, last: u16) {
        if !is_drawn(place, self.halvings) || self.whole[set].contains(place) {
            return;
        }
        let pages = self.pieces.entry(place).or_insert_with(|| {
            self.taken_bytes += PIECE_BYTES;
            Default::default()
        });
        let before = pages[set].heap_bytes();
        let after = pages[set].insert(first, last);
        self.taken_bytes = self.taken_bytes - before + after;
        if self.taken_bytes > self.memory_bytes {
            self.halve();
        }
    }

    /// Drops pieces until the rest takes half of the memory.
    #[cold]
    fn halve(&mut self) {
        while self.taken_bytes > self.memory_bytes / 2 && self.halvings < 63 {
            self.halvings += 1;
            self.pieces.retain(|place, _| is_drawn(*place, self.halvings));
            let heap_bytes = |sets: &[Pages; SETS]| sets.iter().map(Pages::heap_bytes).sum::<usize>();
            self.taken_bytes = self.pieces.values().map(|sets| PIECE_BYTES + heap_bytes(sets)).sum();
        }
    }

    /// How many pages there are.
    pub(crate) fn counts(&self) -> Counts {
        let (mut of_sets, mut of_either, mut variance) = ([0_u64; SETS], 0_u64, 0.0);
        let either = self.whole[0].union(&self.whole[1]);
        let mut bits = [0_u64; WORDS];
        for (place, sets) in &self.pieces {
            for ((count, pages), whole) in of_sets.iter_mut().zip(sets).zip(&self.whole) {
                *count += if whole.contains(*place) { 0 } else { pages.count() };
            }
            let count = if either.contains(*place) { 0 } else { count_of_either(sets, &mut bits) };
            of_either += count;
            variance += (count as f64) * (count as f64);
        }
        let one_of = 1_u64 << self.halvings;
        // Each piece is drawn by itself, with the same chance, and so is each run of pieces.
        let spread = |one_of: u64| (one_of as f64) * (one_of as f64 - 1.0);
        variance *= spread(one_of);
        let pages = |runs: &WholeRuns| runs.lengths().map(|pieces| pieces.saturating_mul(PIECE_PAGES)).sum::<u64>();
        let all = |of_pieces: u64, runs: &WholeRuns| {
            of_pieces.saturating_mul(one_of).saturating_add(pages(runs).saturating_mul(runs.one_of()))
        };
        let of_sets = std::array::from_fn(|set| all(of_sets[set], &self.whole[set]));
        let of_either = all(of_either, &either);
        let squares: f64 = either.lengths().map(|pieces| ((pieces * PIECE_PAGES) as f64).powi(2)).sum();
        variance += squares * spread(either.one_of());
        let one_of = self.whole.iter().map(WholeRuns::one_of).fold(one_of, u64::max);
        let error_share = if of_either == 0 { 0.0 } else { variance.sqrt() / of_either as f64 };
        Counts { of_sets, of_either, estimate: (one_of > 1).then_some(Estimate { one_of, error_share }) }
    }
}

/// Pages of a piece that are in one of the first two sets or both; `bits` are overwritten.
fn count_of_either(sets: &[Pages; SETS], bits: &mut [u64; WORDS]) -> u64 {
    match &sets[..2] {
        [one, Pages::None] | [Pages::None, one] => one.count(),
        [one, other] => {
            bits.fill(0);
            one.add_to(bits);
            other.add_to(bits);
            bits.iter().map(|word| u64::from(word.count_ones())).sum()
        }
        _ => 0,
    }
}

/// Whether a piece is kept after this many halvings.
fn is_drawn((device, piece): Place, halvings: u32) -> bool {
    if halvings == 0 {
        return true;
    }
    splitmix64(piece ^ splitmix64(device.into())).trailing_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn counts_are_those_of_plain_sets(
            ranges in prop::collection::vec((0_usize..3, 0_u32..2, 0_u64..100_000, 0_u64..70_000), 0..12),
            pages in prop::collection::vec((0_usize..2, 0_u64..2000), 0..1500),
        ) {
            const PAGES: usize = 170_000;
            let mut sets = PageSets::default();
            let mut oracle: [Vec<bool>; 3] = std::array::from_fn(|_| vec![false; 2 * PAGES]);
            let single = pages.into_iter().map(|(set, page)| (set, 0, page, 0));
            for (set, device, first, len) in ranges.into_iter().chain(single) {
                sets.insert(set, device, first, first + len);
                let at = device as usize * PAGES + first as usize;
                oracle[set][at..=at + len as usize].fill(true);
            }
            let counts = sets.counts();
            let count = |of: &dyn Fn(usize) -> bool| (0..2 * PAGES).filter(|at| of(*at)).count() as u64;
            prop_assert_eq!(counts.of_sets, [0, 1, 2].map(|set: usize| count(&|at| oracle[set][at])));
            prop_assert_eq!(counts.of_either, count(&|at| oracle[0][at] || oracle[1][at]));
            prop_assert!(counts.estimate.is_none());
        }
    }

    #[test]
    fn runs_join_where_they_touch() {
        let mut runs = Vec::new();
        for (first, last) in [(10, 12), (20, 20), (0, 0), (13, 13), (14, 19), (2, 5), (1, 1), (32_767, 32_767)] {
            insert_run(&mut runs, first, last);
        }
        assert_eq!(runs, [(0, 5), (10, 20), (32_767, 32_767)]);
        insert_run(&mut runs, 4, 32_766);
        assert_eq!(runs, [(0, 32_767)]);
    }

    #[test]
    fn memory_has_a_bound_and_what_is_beyond_it_is_estimated() {
        // Every 64th page of 2,000 pieces, in runs of one: exact, they would take 4 MiB.
        let mut sets = PageSets::with_memory(1 << 18);
        let (pieces, step) = (2000, 64);
        for piece in 0..pieces {
            for page in (0..PIECE_PAGES).step_by(step) {
                let at = piece * PIECE_PAGES + page;
                sets.insert(1, 7, at, at);
            }
            assert!(sets.taken_bytes <= 1 << 18, "piece {piece} takes {}", sets.taken_bytes);
        }
        let counts = sets.counts();
        let exact = pieces * PIECE_PAGES / step as u64;
        let Estimate { one_of, error_share } = counts.estimate.expect("it is an estimate");
        assert!((16..=64).contains(&one_of), "{one_of}");
        assert!((0.02..0.2).contains(&error_share), "{error_share}");
        let miss = counts.of_either as f64 / exact as f64 - 1.0;
        assert!(miss.abs() < 3.0 * error_share, "missed by {miss}");
        assert_eq!(counts.of_sets, [0, counts.of_either, 0]);
    }

    #[test]
    fn requests_of_a_tebibyte_take_little() {
        let mut sets = PageSets::default();
        for index in 0..10 {
            sets.insert(1, 0, index << 29, (index << 29) + (1 << 28) - 1);
        }
        assert_eq!(sets.taken_bytes, 0, "all of them are whole pieces");
        assert_eq!(sets.counts().of_either, 10 << 28);
    }

    /// Piece by piece, each of these requests would take hours.
    #[test]
    fn time_depends_on_the_number_of_requests_alone() {
        let mut sets = PageSets::default();
        let last = (u64::MAX >> 12) - 5;
        for index in 0..100_000 {
            sets.insert(0, 0, 3 + index, last - index);
            sets.insert(1, 1, 7 * index, last);
        }
        let counts = sets.counts();
        assert_eq!((counts.of_sets, counts.estimate), ([last - 2, last + 1, 0], None));
        assert_eq!(counts.of_either, 2 * last - 1);
    }

    #[test]
    fn runs_of_pieces_have_a_bound_too() {
        let memory_bytes = 1 << 18;
        let mut sets = PageSets::with_memory(memory_bytes);
        // Two whole pieces in every four.
        for index in 0..4_000 {
            sets.insert(0, 0, 4 * index * PIECE_PAGES, (4 * index + 2) * PIECE_PAGES - 1);
        }
        assert!(sets.whole[0].taken_bytes() <= memory_bytes / RUNS_PART);
        let counts = sets.counts();
        let Estimate { error_share, .. } = counts.estimate.expect("it is an estimate");
        let miss = counts.of_either as f64 / (8_000 * PIECE_PAGES) as f64 - 1.0;
        assert!((0.01..0.2).contains(&error_share) && miss.abs() < 3.0 * error_share, "{miss} {error_share}");
        assert_eq!(counts.of_sets, [counts.of_either, 0, 0]);
    }
}
