//! The event queue: one pending time for each of a fixed set of slots, and the earliest of them first.
//!
//! A die, a channel, a timer and a host each own a slot, so an event is a slot and a time, and nothing is allocated. The
//! order is total: earlier times first, then lower slots. Pending slots stand in a binary heap, each with its time, so
//! that the work depends on how many wait and not on how many there are; at most dies and channels at work wait, and most
//! slots of a drive do not.

use crate::check::hold;

/// A place in the queue that holds at most one pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// The time of a slot that waits for nothing.
const NEVER: u64 = u64::MAX;

/// A pending time and its slot as one number: less is earlier, and of two equal times the lower slot's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    #[inline(always)]
    fn new(time_ns: u64, slot: u32) -> Self {
        Self(u128::from(time_ns) << 64 | u128::from(slot))
    }

    #[inline(always)]
    fn time_ns(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline(always)]
    fn slot(self) -> u32 {
        self.0 as u32
    }
}

/// A queue over a fixed number of slots.
pub struct EventQueue {
    /// A heap: no entry comes before its parent, which stands at half its place, counted from 1.
    heap: Vec<Entry>,
    /// Whether the first entry was taken already. It makes room for the next that is scheduled, usually at once: what a
    /// die does next is known when it has done something.
    first_is_taken: bool,
    /// Pending time of each slot.
    time_ns: Vec<u64>,
    now_ns: u64,
}

impl EventQueue {
    /// A queue of `slots` idle slots at time 0.
    pub fn new(slots: usize) -> Self {
        Self { heap: Vec::with_capacity(slots), first_is_taken: false, time_ns: vec![NEVER; slots], now_ns: 0 }
    }

    /// The time of the event that was taken last.
    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Whether the slot has a pending event.
    #[inline(always)]
    pub fn is_pending(&self, slot: Slot) -> bool {
        self.time_ns[slot.0 as usize] != NEVER
    }

    /// Lets `slot` come up at `time_ns`; what it waited for before is forgotten.
    ///
    /// # Panics
    /// When the time has already passed: an effect may not precede its cause.
    #[inline]
    pub fn schedule(&mut self, slot: Slot, time_ns: u64) {
        hold!(time_ns >= self.now_ns, TimeOrder, "an event at {time_ns} ns was scheduled at {} ns", self.now_ns);
        let before_ns = std::mem::replace(&mut self.time_ns[slot.0 as usize], time_ns);
        if before_ns != NEVER {
            self.withdraw(Entry::new(before_ns, slot.0));
        }
        if self.first_is_taken {
            self.first_is_taken = false;
            self.sink(Entry::new(time_ns, slot.0));
        } else {
            self.heap.push(Entry::new(time_ns, slot.0));
            self.rise(self.heap.len());
        }
    }

    /// Forgets what the slot waits for.
    #[cold]
    pub fn cancel(&mut self, slot: Slot) {
        let before_ns = std::mem::replace(&mut self.time_ns[slot.0 as usize], NEVER);
        if before_ns != NEVER {
            self.withdraw(Entry::new(before_ns, slot.0));
        }
    }

    /// Takes the earliest event, the lower slot where two are equal, and moves the clock to it.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(u64, Slot)> {
        self.close_gap();
        let first = *self.heap.first()?;
        self.first_is_taken = true;
        debug_assert!(first.time_ns() >= self.now_ns);
        self.now_ns = first.time_ns();
        self.time_ns[first.slot() as usize] = NEVER;
        Some((first.time_ns(), Slot(first.slot())))
    }

    /// The last entry takes the place of a first that was taken.
    #[inline(always)]
    fn close_gap(&mut self) {
        if !self.first_is_taken {
            return;
        }
        self.first_is_taken = false;
        let last = self.heap.pop().expect("there was a first");
        if !self.heap.is_empty() {
            self.sink(last);
        }
    }

    /// Takes an entry out of the middle. Rare: only a list of completions in DRAM has its head replaced.
    #[cold]
    fn withdraw(&mut self, entry: Entry) {
        self.close_gap();
        self.heap.retain(|&e| e != entry);
        (1..=self.heap.len()).for_each(|place| self.rise(place));
    }

    /// Lets the entry at a place rise above those that come after it.
    #[inline(always)]
    fn rise(&mut self, mut place: usize) {
        let heap = &mut self.heap[..];
        let entry = heap[place - 1];
        while place > 1 {
            let parent = heap[place / 2 - 1];
            if parent < entry {
                break;
            }
            heap[place - 1] = parent;
            place /= 2;
        }
        heap[place - 1] = entry;
    }

    /// Puts an entry in at the top and lets those rise that come before it.
    #[inline(always)]
    fn sink(&mut self, entry: Entry) {
        let heap = &mut self.heap[..];
        let mut place = 1;
        while 2 * place <= heap.len() {
            let mut child = 2 * place;
            if child < heap.len() && heap[child] < heap[child - 1] {
                child += 1;
            }
            if entry < heap[child - 1] {
                break;
            }
            heap[place - 1] = heap[child - 1];
            place = child;
        }
        heap[place - 1] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Does the tree give what a search through all slots gives, under any schedule?
        #[test]
        fn agrees_with_a_linear_search(
            slots in 1usize..40,
            operations in proptest::collection::vec((0u32..40, proptest::option::of(0u64..50)), 1..300),
        ) {
            let mut queue = EventQueue::new(slots);
            let mut naive = vec![None; slots];
            let mut now = 0;
            for (slot, delay) in operations {
                let slot = slot % slots as u32;
                if let Some(delay) = delay {
                    queue.schedule(Slot(slot), now + delay);
                    naive[slot as usize] = Some(now + delay);
                } else {
                    let expected = naive.iter().enumerate().filter_map(|(i, t)| t.map(|t| (t, i))).min();
                    prop_assert_eq!(queue.pop(), expected.map(|(t, i)| (t, Slot(i as u32))));
                    if let Some((t, i)) = expected {
                        naive[i] = None;
                        now = t;
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "was scheduled at")]
    fn refuses_the_past() {
        let mut queue = EventQueue::new(2);
        queue.schedule(Slot(0), 10);
        queue.pop();
        queue.schedule(Slot(1), 9);
    }
}
