//! Counts that increase by one or return to 0, with the highest and the lowest: every change takes constant time.

use super::lists::Lists;

const NONE: u32 = u32::MAX;

/// A rung: items of one count. The rungs in use are linked by rising counts.
#[derive(Clone, Copy)]
struct Rung {
    count: u32,
    above: u32,
    below: u32,
}

/// Items `0..items`, each with a count; items with equal counts are on one rung.
pub struct Ladder {
    rungs: Vec<Rung>,
    /// The items of each rung, in the order in which they came.
    items: Lists,
    rung_of: Vec<u32>,
    unused: Vec<u32>,
    top: u32,
    bottom: u32,
}

impl Ladder {
    /// Items with these counts.
    pub fn new(counts: &[u32]) -> Self {
        let count = counts.len();
        let mut by_count: Vec<u32> = (0..count as u32).collect();
        by_count.sort_by_key(|&item| counts[item as usize]);
        let mut ladder = Self {
            rungs: vec![Rung { count: 0, above: NONE, below: NONE }; count],
            items: Lists::new(count, count),
            rung_of: vec![NONE; count],
            unused: (0..count as u32).rev().collect(),
            top: NONE,
            bottom: NONE,
        };
        for item in by_count {
            let count = counts[item as usize];
            if ladder.top == NONE || ladder.rungs[ladder.top as usize].count < count {
                ladder.add_rung(count, ladder.top);
            }
            ladder.put(item, ladder.top);
        }
        ladder
    }

    /// The count of an item.
    #[inline]
    pub fn count(&self, item: u32) -> u32 {
        self.rungs[self.rung_of[item as usize] as usize].count
    }

    /// The highest count; 0 without items.
    #[inline]
    pub fn highest(&self) -> u32 {
        if self.top == NONE { 0 } else { self.rungs[self.top as usize].count }
    }

    /// Items from the highest count down; of equal counts, the item that reached it first.
    pub fn from_highest(&self) -> impl Iterator<Item = u32> + '_ {
        let below = |rung: &u32| Some(self.rungs[*rung as usize].below).filter(|&rung| rung != NONE);
        let top = Some(self.top).filter(|&top| top != NONE);
        std::iter::successors(top, below).flat_map(|rung| self.items.iter(rung as usize))
    }

    /// The lowest count; 0 without items.
    #[inline]
    pub fn lowest(&self) -> u32 {
        if self.bottom == NONE { 0 } else { self.rungs[self.bottom as usize].count }
    }

    /// Items from the lowest count up; of equal counts, the item that reached it first.
    pub fn from_lowest(&self) -> impl Iterator<Item = u32> + '_ {
        let above = |rung: &u32| Some(self.rungs[*rung as usize].above).filter(|&rung| rung != NONE);
        let bottom = Some(self.bottom).filter(|&bottom| bottom != NONE);
        std::iter::successors(bottom, above).flat_map(|rung| self.items.iter(rung as usize))
    }

    /// Counts one more.
    #[inline]
    pub fn add(&mut self, item: u32) {
        let from = self.rung_of[item as usize];
        let Rung { count, above, .. } = self.rungs[from as usize];
        let is_next = above != NONE && self.rungs[above as usize].count == count + 1;
        self.items.remove(item);
        let is_empty = self.items.is_empty(from as usize);
        if is_empty && !is_next {
            self.rungs[from as usize].count += 1;
            return self.put(item, from);
        }
        let to = if is_next { above } else { self.add_rung(count + 1, from) };
        if is_empty {
            self.remove_rung(from);
        }
        self.put(item, to);
    }

    /// Counts from 0 again.
    pub fn reset(&mut self, item: u32) {
        let from = self.rung_of[item as usize];
        self.items.remove(item);
        if self.items.is_empty(from as usize) {
            self.remove_rung(from);
        }
        if self.bottom == NONE || self.rungs[self.bottom as usize].count > 0 {
            self.add_rung(0, NONE);
        }
        self.put(item, self.bottom);
    }

    fn put(&mut self, item: u32, rung: u32) {
        self.items.push_back(rung as usize, item);
        self.rung_of[item as usize] = rung;
    }

    /// Adds a rung of this count above the rung `below`, or at the bottom.
    fn add_rung(&mut self, count: u32, below: u32) -> u32 {
        let rung = self.unused.pop().expect("no more counts than items");
        let above = if below == NONE { self.bottom } else { self.rungs[below as usize].above };
        self.rungs[rung as usize] = Rung { count, above, below };
        match below {
            NONE => self.bottom = rung,
            below => self.rungs[below as usize].above = rung,
        }
        match above {
            NONE => self.top = rung,
            above => self.rungs[above as usize].below = rung,
        }
        rung
    }

    fn remove_rung(&mut self, rung: u32) {
        let Rung { above, below, .. } = self.rungs[rung as usize];
        match below {
            NONE => self.bottom = above,
            below => self.rungs[below as usize].above = above,
        }
        match above {
            NONE => self.top = below,
            above => self.rungs[above as usize].below = below,
        }
        self.unused.push(rung);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_workload::rng;
    use rand::RngExt;

    /// Against counts in a plain list, whose greatest is looked for.
    #[test]
    fn the_highest_is_that_of_a_plain_list() {
        let mut stream = rng::stream(1, "test.ladder");
        for items in [1, 2, 7, 40] {
            let mut counts: Vec<u32> = (0..items).map(|_| stream.random_range(0..5)).collect();
            let mut ladder = Ladder::new(&counts);
            for _ in 0..2_000 {
                let item = stream.random_range(0..items);
                if stream.random_bool(0.1) {
                    counts[item as usize] = 0;
                    ladder.reset(item);
                } else {
                    counts[item as usize] += 1;
                    ladder.add(item);
                }
                let order: Vec<u32> = ladder.from_highest().collect();
                assert_eq!(ladder.highest(), *counts.iter().max().unwrap());
                assert_eq!(ladder.lowest(), *counts.iter().min().unwrap());
                let rising: Vec<u32> = ladder.from_lowest().map(|i| counts[i as usize]).collect();
                assert!(rising.len() == items as usize && rising.is_sorted());
                assert_eq!(order.len(), items as usize);
                assert!(order.iter().all(|&i| ladder.count(i) == counts[i as usize]));
                assert!(order.windows(2).all(|w| counts[w[0] as usize] >= counts[w[1] as usize]));
            }
        }
    }

    /// Among equals the one that has had its count longest.
    #[test]
    fn of_equal_counts_the_first_goes_first() {
        let mut ladder = Ladder::new(&[0, 0, 0]);
        [2, 0, 1].into_iter().for_each(|item| ladder.add(item));
        assert_eq!(ladder.from_highest().collect::<Vec<_>>(), [2, 0, 1]);
        ladder.reset(2);
        assert_eq!((ladder.from_highest().collect::<Vec<_>>(), ladder.count(2)), (vec![0, 1, 2], 0));
    }
}
