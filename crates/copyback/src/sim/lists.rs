//! Many doubly linked lists over one set of small integers, each of which is on at most one list.

use super::table;

const NONE: u32 = u32::MAX;

/// `lists` lists over the items `0..items`.
#[derive(Clone)]
pub struct Lists {
    links: Vec<Link>,
    ends: Vec<Link>,
}

#[derive(Clone, Copy)]
struct Link {
    /// For an item its follower; for a list its first item.
    next: u32,
    /// For an item its forerunner; for a list its last item.
    prev: u32,
}

const FREE: Link = Link { next: NONE, prev: NONE };

impl Lists {
    /// Empty lists.
    pub fn new(lists: usize, items: usize) -> Self {
        Self { links: vec![FREE; items], ends: vec![FREE; lists] }
    }

    /// Makes room for the items below `items`.
    #[inline(always)]
    pub fn grow(&mut self, items: usize) {
        if items > self.links.len() {
            self.links.resize(items, FREE);
        }
    }

    /// Fetches an item's links into the processor's cache.
    #[inline(always)]
    pub fn prefetch(&self, item: u32) {
        table::prefetch(&self.links, item as usize);
    }

    /// Appends an item that is on no list.
    #[inline]
    pub fn push_back(&mut self, list: usize, item: u32) {
        let last = self.ends[list].prev;
        self.links[item as usize] = Link { next: NONE, prev: last };
        if last == NONE {
            self.ends[list].next = item;
        } else {
            self.links[last as usize].next = item;
        }
        self.ends[list].prev = item;
    }

    /// Puts an item that is on no list behind another one of a list, or first.
    pub fn insert_behind(&mut self, list: usize, before: Option<u32>, item: u32) {
        let next = before.map_or(self.ends[list].next, |before| self.links[before as usize].next);
        self.links[item as usize] = Link { next, prev: before.unwrap_or(NONE) };
        match before {
            Some(before) => self.links[before as usize].next = item,
            None => self.ends[list].next = item,
        }
        if next == NONE {
            self.ends[list].prev = item;
        } else {
            self.links[next as usize].prev = item;
        }
    }

    /// Takes an item off the list that it is on.
    #[inline]
    pub fn remove(&mut self, list: usize, item: u32) {
        let Link { next, prev } = self.links[item as usize];
        if prev == NONE {
            debug_assert_eq!(self.ends[list].next, item, "the item is not on this list");
            self.ends[list].next = next;
        } else {
            self.links[prev as usize].next = next;
        }
        if next == NONE {
            debug_assert_eq!(self.ends[list].prev, item, "the item is not on this list");
            self.ends[list].prev = prev;
        } else {
            self.links[next as usize].prev = prev;
        }
    }

    /// Takes the first item off.
    #[inline]
    pub fn pop_front(&mut self, list: usize) -> Option<u32> {
        let item = self.first(list)?;
        self.remove(list, item);
        Some(item)
    }

    /// The first item.
    #[inline]
    pub fn first(&self, list: usize) -> Option<u32> {
        let item = self.ends[list].next;
        (item != NONE).then_some(item)
    }

    /// The item behind another one of its list.
    #[inline]
    pub fn next(&self, item: u32) -> Option<u32> {
        let next = self.links[item as usize].next;
        (next != NONE).then_some(next)
    }

    /// The last item.
    #[inline]
    pub fn last(&self, list: usize) -> Option<u32> {
        let item = self.ends[list].prev;
        (item != NONE).then_some(item)
    }

    /// The item before another one of its list.
    #[inline]
    pub fn prev(&self, item: u32) -> Option<u32> {
        let prev = self.links[item as usize].prev;
        (prev != NONE).then_some(prev)
    }

    /// Whether the list holds nothing.
    #[inline]
    pub fn is_empty(&self, list: usize) -> bool {
        self.ends[list].next == NONE
    }

    /// The items in order.
    pub fn iter(&self, list: usize) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.ends[list].next;
        std::iter::from_fn(move || {
            let item = at;
            (item != NONE).then(|| {
                at = self.links[item as usize].next;
                item
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agree_with_vectors(operations in proptest::collection::vec((0usize..3, 0u32..8, 0usize..16), 0..200)) {
            let mut lists = Lists::new(3, 8);
            let mut naive: Vec<Vec<u32>> = vec![vec![]; 3];
            for (list, item, place) in operations {
                match naive.iter().position(|l| l.contains(&item)) {
                    Some(at) => {
                        lists.remove(at, item);
                        naive[at].retain(|&i| i != item);
                    }
                    None if place <= naive[list].len() => {
                        let before = place.checked_sub(1).map(|before| naive[list][before]);
                        lists.insert_behind(list, before, item);
                        naive[list].insert(place, item);
                    }
                    None => {
                        lists.push_back(list, item);
                        naive[list].push(item);
                    }
                }
                for (at, expected) in naive.iter().enumerate() {
                    prop_assert_eq!(&lists.iter(at).collect::<Vec<_>>(), expected);
                    prop_assert_eq!(lists.is_empty(at), expected.is_empty());
                    let backwards = std::iter::successors(lists.last(at), |&item| lists.prev(item));
                    prop_assert_eq!(&backwards.collect::<Vec<_>>(), &expected.iter().rev().copied().collect::<Vec<_>>());
                }
            }
        }
    }
}
