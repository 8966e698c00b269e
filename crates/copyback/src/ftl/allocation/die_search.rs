//! A search for the best die that does not compare all dies.
//!
//! It notes a key for each die. A key may be better than the die's present value, but never worse: components report
//! dies that may have become better ([`DieSearch::gain`]); if a die has become worse, its key is corrected when it
//! wins. A change costs the logarithm of the number of dies; a die without a change costs nothing.

use super::Load;
use crate::sim::index::DieId;
use crate::sim::tournament::{NEVER, Tournament};

/// Divides dies into rings, which are searched separately: a die's ring is its turn modulo `rings`.
#[derive(Clone, Copy, Debug)]
pub struct RingLayout {
    /// The number of rings: 1, or the number of channels.
    pub rings: u32,
}

impl RingLayout {
    /// The ring of a turn, and the place in it.
    #[inline(always)]
    fn place_of(self, turn: u32) -> (usize, u32) {
        ((turn % self.rings) as usize, turn / self.rings)
    }

    /// The turn of a place in a ring.
    #[inline(always)]
    fn turn_at(self, ring: usize, place: u32) -> u32 {
        place * self.rings + ring as u32
    }
}

/// See the head of the file.
#[derive(Clone, Debug)]
pub struct DieSearch {
    rings: Vec<RingKeys>,
    turn_of: Vec<u32>,
    /// Dies that may be better than noted. Invariant: each once, those with `has_gained`.
    gained: Vec<DieId>,
    has_gained: Vec<bool>,
}

/// The noted keys of a ring, by place. Invariant: none is greater than the die's key, but for those of `gained`.
#[derive(Clone, Debug)]
struct RingKeys {
    /// Of all dies.
    all: Tournament,
    /// Of those with pages of their own, [`NEVER`] of others.
    with_pages: Tournament,
}

/// The lesser, the better: a die without background work, then the one with the fewest transactions.
#[inline(always)]
fn key_of(die: DieId, load: &impl Load) -> u64 {
    u64::from(load.is_collecting(die)) << 32 | u64::from(load.queued(die))
}

impl DieSearch {
    /// A search among dies of these turns, without known keys.
    pub fn new(layout: RingLayout, turn_of: &[usize]) -> Self {
        let dies = turn_of.len() as u32;
        let none = Tournament::new(dies / layout.rings);
        Self {
            rings: vec![RingKeys { all: none.clone(), with_pages: none }; layout.rings as usize],
            turn_of: turn_of.iter().map(|&turn| turn as u32).collect(),
            gained: (0..dies).map(DieId).collect(),
            has_gained: vec![true; dies as usize],
        }
    }

    /// A die may be better from now on: it has more pages, fewer transactions, or no background work any more.
    #[inline]
    pub fn gain(&mut self, die: DieId) {
        if !std::mem::replace(&mut self.has_gained[die.at()], true) {
            self.gained.push(die);
        }
    }

    /// The best die of the ring of turn `first`: a die with free pages precedes one without, then the least key counts;
    /// of equal dies, the first from turn `first` on.
    pub fn best(&mut self, layout: RingLayout, first: usize, die_at: impl Fn(u32) -> DieId, load: &impl Load) -> DieId {
        self.note_gains(layout, load);
        let (number, start) = layout.place_of(first as u32);
        let die_at = |place| die_at(layout.turn_at(number, place));
        let keys = &mut self.rings[number];
        if load.has_shared_pages(die_at(start)) {
            while let Some(place) = keys.with_pages.first_from(start) {
                let die = die_at(place);
                let key = key_of(die, load);
                let has_pages = load.has_own_pages(die);
                if has_pages && key == keys.with_pages.key(place) {
                    return die;
                }
                keys.with_pages.set(place, if has_pages { key } else { NEVER });
                keys.all.set(place, key);
            }
        }
        loop {
            let place = keys.all.first_from(start).expect("a ring has a die");
            let die = die_at(place);
            let key = key_of(die, load);
            if key == keys.all.key(place) {
                return die;
            }
            keys.all.set(place, key);
        }
    }

    /// Forgets which dies gained.
    #[cfg(test)]
    pub(crate) fn forget_gains(&mut self) {
        self.gained.clear();
        self.has_gained.fill(false);
    }

    /// Notes the current keys of dies that gained. Whether they have pages is checked when they win.
    fn note_gains(&mut self, layout: RingLayout, load: &impl Load) {
        while let Some(die) = self.gained.pop() {
            self.has_gained[die.at()] = false;
            let (number, place) = layout.place_of(self.turn_of[die.at()]);
            let key = key_of(die, load);
            self.rings[number].all.set(place, key);
            self.rings[number].with_pages.set(place, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dynamic::Dynamic;
    use super::*;
    use crate::flash::geometry::Geometry;
    use crate::run::config::RunConfig;
    use copyback_workload::rng;
    use rand::RngExt;
    use std::cell::Cell;

    /// The true value of each die, and the number of queries.
    #[derive(Default)]
    struct Dies {
        collecting: Vec<bool>,
        queued: Vec<u32>,
        pages: Vec<u32>,
        shared: u32,
        asked: Cell<u32>,
    }

    impl Load for Dies {
        fn is_collecting(&self, die: DieId) -> bool {
            self.collecting[die.at()]
        }
        fn queued(&self, die: DieId) -> u32 {
            self.asked.set(self.asked.get() + 1);
            self.queued[die.at()]
        }
        fn free_pages(&self, die: DieId) -> u32 {
            self.pages[die.at()].min(self.shared)
        }
        fn has_own_pages(&self, die: DieId) -> bool {
            self.pages[die.at()] > 0
        }
        fn has_shared_pages(&self, _: DieId) -> bool {
            self.shared > 0
        }
    }

    fn dies(count: u32) -> (Dynamic, Dies) {
        let text = format!(
            r#"
            capacity = {{ reserved = 0.2 }}
            timing = {{ read = "1 us", program = "1 us", erase = "1 us", channel = "1 MB/s" }}
            geometry = {{ channels = 4, chips_per_channel = {}, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 8, pages_per_block = 8, page_size = "4 KiB" }}
            "#,
            count / 4
        );
        let geometry = Geometry::new(&crate::config::from_toml::<RunConfig>(&text).expect("a configuration").device());
        let count = count as usize;
        let dies = Dies {
            collecting: vec![false; count],
            queued: vec![0; count],
            pages: vec![1; count],
            shared: 1,
            ..Dies::default()
        };
        (Dynamic::new(&geometry), dies)
    }

    /// After any changes of dies, the answer is that of a comparison of all dies.
    #[test]
    fn it_finds_what_a_look_at_all_dies_finds() {
        let mut stream = rng::stream(3, "test.die_search");
        for count in [4, 12, 64] {
            let (mut policy, mut dies) = dies(count);
            let mut search = policy.search();
            for _ in 0..5_000 {
                let die = stream.random_range(0..count as usize);
                let has_gained = |before: &[u32; 3], now: [u32; 3]| before.iter().zip(now).any(|(b, n)| n < *b);
                let state =
                    |dies: &Dies| [u32::from(dies.pages[die] == 0), u32::from(dies.collecting[die]), dies.queued[die]];
                let before = state(&dies);
                match stream.random_range(0..4) {
                    0 => dies.collecting[die] = stream.random_bool(0.5),
                    1 => dies.pages[die] = u32::from(stream.random_bool(0.2)),
                    2 => dies.shared = u32::from(stream.random_bool(0.8)),
                    _ => dies.queued[die] = stream.random_range(0..4),
                }
                if has_gained(&before, state(&dies)) {
                    search.gain(DieId(die as u32));
                }
                let place = policy.place(None, &dies, Some(&mut search));
                assert_eq!(place, policy.place(None, &dies, None));
                policy.on_placed(place.die);
            }
        }
    }

    /// Dies without pages, one of which gains a page for each write: a write queries as many of 1,024 dies as of 16.
    #[test]
    fn a_search_asks_few_dies_however_many_there_are() {
        let asked = |count: u32| {
            let (mut policy, mut dies) = dies(count);
            let mut search = policy.search();
            dies.pages.fill(0);
            dies.queued.fill(3);
            policy.place(None, &dies, Some(&mut search));
            dies.asked.set(0);
            for write in 0..2_000 {
                let die = write * 7 % count as usize;
                dies.pages[die] = 1;
                search.gain(DieId(die as u32));
                let place = policy.place(None, &dies, Some(&mut search));
                assert_eq!(place.die, DieId(die as u32), "the only one with a page");
                dies.pages[die] = 0;
                policy.on_placed(place.die);
            }
            dies.asked.get()
        };
        let (few, many) = (asked(16), asked(1_024));
        assert!(many <= few + few / 4, "{many} looks at dies among 1,024, {few} among 16");
    }
}
