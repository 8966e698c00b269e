//! Many doubly linked lists over one set of small integers, each of which is on at most one list.

use super::table;

/// `lists` lists over the items `0..items`.
///
/// Each list is a ring of nodes: one for the list itself, between its last item and its first, and one for each of its
/// items. No item is first or last in a ring, so that adding and removing items needs no branch. Greedy victim policies
/// move blocks between lists at each overwrite, and no processor can predict which are at an end.
#[derive(Clone)]
pub struct Lists {
    /// The nodes of the lists, then those of the items.
    nodes: Vec<Links>,
    lists: u32,
}

/// The neighbours of a node in its ring.
#[derive(Clone, Copy)]
struct Links {
    next: u32,
    prev: u32,
}

/// The links of an item that is on no list.
const FREE: Links = Links { next: u32::MAX, prev: u32::MAX };

impl Lists {
    /// Empty lists.
    ///
    /// # Panics
    /// If there are more lists and items together than 32-bit numbers.
    pub fn new(lists: usize, items: usize) -> Self {
        let nodes = u32::try_from(lists + items).expect("lists and items have 32-bit numbers") as usize;
        let mut nodes = Vec::with_capacity(nodes);
        nodes.extend((0..lists as u32).map(|list| Links { next: list, prev: list }));
        nodes.resize(lists + items, FREE);
        Self { nodes, lists: lists as u32 }
    }

    /// Makes room for the items below `items`.
    #[inline(always)]
    pub fn grow(&mut self, items: usize) {
        let nodes = self.lists as usize + items;
        if nodes > self.nodes.len() {
            u32::try_from(nodes).expect("lists and items have 32-bit numbers");
            self.nodes.resize(nodes, FREE);
        }
    }

    /// The node of an item.
    #[inline(always)]
    fn node(&self, item: u32) -> u32 {
        self.lists + item
    }

    /// The item of a node; none if it is the node of a list.
    #[inline(always)]
    fn item(&self, node: u32) -> Option<u32> {
        node.checked_sub(self.lists)
    }

    #[inline(always)]
    fn links(&self, node: u32) -> Links {
        self.nodes[node as usize]
    }

    /// Fetches an item's links into the processor's cache.
    #[inline(always)]
    pub fn prefetch(&self, item: u32) {
        table::prefetch(&self.nodes, self.node(item) as usize);
    }

    /// Appends an item that is on no list.
    #[inline]
    pub fn push_back(&mut self, list: usize, item: u32) {
        let last = self.nodes[list].prev;
        self.insert(last, self.node(item), list as u32);
    }

    /// Puts an item that is on no list behind another one of a list, or first.
    pub fn insert_behind(&mut self, list: usize, before: Option<u32>, item: u32) {
        let prev = before.map_or(list as u32, |before| self.node(before));
        self.insert(prev, self.node(item), self.links(prev).next);
    }

    /// Puts a node between two neighbours.
    #[inline(always)]
    fn insert(&mut self, prev: u32, node: u32, next: u32) {
        debug_assert_eq!(self.nodes[node as usize].next, FREE.next, "the item is on a list");
        self.nodes[node as usize] = Links { next, prev };
        self.nodes[prev as usize].next = node;
        self.nodes[next as usize].prev = node;
    }

    /// Takes an item off the list that it is on.
    ///
    /// # Panics
    /// If it is on no list.
    #[inline]
    pub fn remove(&mut self, item: u32) {
        let node = self.node(item) as usize;
        let Links { next, prev } = std::mem::replace(&mut self.nodes[node], FREE);
        self.nodes[prev as usize].next = next;
        self.nodes[next as usize].prev = prev;
    }

    /// Takes the first item off.
    #[inline]
    pub fn pop_front(&mut self, list: usize) -> Option<u32> {
        let item = self.first(list)?;
        self.remove(item);
        Some(item)
    }

    /// The first item.
    #[inline]
    pub fn first(&self, list: usize) -> Option<u32> {
        self.item(self.nodes[list].next)
    }

    /// The item behind another one of its list.
    #[inline]
    pub fn next(&self, item: u32) -> Option<u32> {
        self.item(self.links(self.node(item)).next)
    }

    /// The last item.
    #[inline]
    pub fn last(&self, list: usize) -> Option<u32> {
        self.item(self.nodes[list].prev)
    }

    /// The item before another one of its list.
    #[inline]
    pub fn prev(&self, item: u32) -> Option<u32> {
        self.item(self.links(self.node(item)).prev)
    }

    /// Whether the list holds nothing.
    #[inline]
    pub fn is_empty(&self, list: usize) -> bool {
        self.nodes[list].next == list as u32
    }

    /// The items in order.
    pub fn iter(&self, list: usize) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.first(list), |&item| self.next(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agree_with_vectors(operations in proptest::collection::vec((0usize..3, 0u32..8, 0usize..16), 0..200)) {
            let mut lists = Lists::new(3, 0);
            let mut naive: Vec<Vec<u32>> = vec![vec![]; 3];
            for (list, item, place) in operations {
                lists.grow(item as usize + 1);
                match naive.iter().position(|l| l.contains(&item)) {
                    Some(at) => {
                        lists.remove(item);
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
                    prop_assert_eq!(lists.first(at), expected.first().copied());
                    let backwards = std::iter::successors(lists.last(at), |&item| lists.prev(item));
                    prop_assert_eq!(&backwards.collect::<Vec<_>>(), &expected.iter().rev().copied().collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn the_first_item_can_be_taken_until_none_is_left() {
        let mut lists = Lists::new(2, 3);
        [2, 0, 1].into_iter().for_each(|item| lists.push_back(1, item));
        let taken: Vec<Option<u32>> = (0..4).map(|_| lists.pop_front(1)).collect();
        assert_eq!(taken, [Some(2), Some(0), Some(1), None]);
        assert_eq!(lists.pop_front(0), None);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn an_item_cannot_be_removed_twice() {
        let mut lists = Lists::new(1, 2);
        lists.push_back(0, 0);
        lists.push_back(0, 1);
        lists.remove(0);
        lists.remove(0);
    }
}
