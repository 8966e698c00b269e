//! Runs of whole pieces of one set: a request of any length costs as much time and memory as one run.

use super::{Place, is_drawn};
use std::collections::BTreeMap;

/// Memory of a run in the map, with the unused part of the map's nodes.
pub(super) const RUN_BYTES: usize = 48;

/// Runs without a common piece, that do not touch each other.
#[derive(Clone, Default)]
pub(super) struct WholeRuns {
    /// The last piece of each, by the place of the first.
    runs: BTreeMap<Place, u64>,
    /// A run is kept if the hash of its first piece ends in this many zero bits.
    halvings: u32,
}

impl WholeRuns {
    /// Adds the pieces from `first` to `last`, both included, and joins runs that touch.
    pub fn insert(&mut self, device: u32, mut first: u64, mut last: u64) {
        if !is_drawn((device, first), self.halvings) {
            return;
        }
        if let Some((&(of, from), &to)) = self.runs.range(..=(device, first)).next_back()
            && of == device
            && to + 1 >= first
        {
            if to >= last {
                return;
            }
            first = from;
        }
        // Each run is removed once, by the run that takes its place.
        while let Some((&place, &to)) = self.runs.range((device, first)..=(device, last + 1)).next() {
            self.runs.remove(&place);
            last = last.max(to);
        }
        self.runs.insert((device, first), last);
    }

    /// Whether a run has the piece.
    pub fn contains(&self, (device, piece): Place) -> bool {
        let before = self.runs.range(..=(device, piece)).next_back();
        before.is_some_and(|(&(of, _), &last)| of == device && last >= piece)
    }

    /// Drops runs until the rest takes at most half of this memory.
    #[cold]
    pub fn halve(&mut self, memory_bytes: usize) {
        while self.taken_bytes() > memory_bytes / 2 && self.halvings < 63 {
            self.halvings += 1;
            self.runs.retain(|place, _| is_drawn(*place, self.halvings));
        }
    }

    pub fn taken_bytes(&self) -> usize {
        self.runs.len() * RUN_BYTES
    }

    /// The runs of both.
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.halvings = all.halvings.max(other.halvings);
        other.runs.iter().for_each(|(&(device, first), &last)| all.insert(device, first, last));
        all
    }

    /// The pieces of each run that was kept.
    pub fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        self.runs.iter().map(|((_, first), last)| last - first + 1)
    }

    /// One of this many runs was kept.
    pub fn one_of(&self) -> u64 {
        1 << self.halvings
    }
}
