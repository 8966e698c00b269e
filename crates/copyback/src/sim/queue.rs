//! The event queue: one pending time for each of a fixed set of slots, and the earliest of them first.
//!
//! A die, a channel, a timer and a host each own a slot, so an event is a slot and a time: nothing is allocated, nothing
//! is cancelled by search, and re-scheduling is one store. The order is total: earlier times first, then lower slots.
//! The slots stand under a tournament tree; changing one plays its path to the root anew, `log2(slots)` matches of
//! which each reads one sibling.

/// A place in the queue that holds at most one pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// The time of a slot that waits for nothing.
const NEVER: u64 = u64::MAX;

/// A queue over a fixed number of slots.
pub struct EventQueue {
    /// Pending time of each slot, padded to a power of two with `NEVER`.
    time_ns: Vec<u64>,
    /// `winner[i]`: the slot that wins below inner node `i`; the root is node 1.
    winner: Vec<u32>,
    leaves: usize,
    now_ns: u64,
}

impl EventQueue {
    /// A queue of `slots` idle slots at time 0.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        let mut queue = Self { time_ns: vec![NEVER; leaves], winner: vec![0; leaves], leaves, now_ns: 0 };
        for node in (1..leaves).rev() {
            queue.winner[node] = queue.play(node);
        }
        queue
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
        assert!(time_ns >= self.now_ns, "an event at {time_ns} ns was scheduled at {} ns", self.now_ns);
        self.set(slot.0 as usize, time_ns);
    }

    /// Takes the earliest event, the lower slot where two are equal, and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Slot)> {
        let slot = self.winner[1] as usize;
        let time_ns = self.time_ns[slot];
        if time_ns == NEVER {
            return None;
        }
        debug_assert!(time_ns >= self.now_ns);
        self.now_ns = time_ns;
        self.set(slot, NEVER);
        Some((time_ns, Slot(slot as u32)))
    }

    /// The time of the next event.
    #[inline]
    pub fn peek_ns(&self) -> Option<u64> {
        let time_ns = self.time_ns[self.winner[1] as usize];
        (time_ns != NEVER).then_some(time_ns)
    }

    #[inline(always)]
    fn set(&mut self, slot: usize, time_ns: u64) {
        self.time_ns[slot] = time_ns;
        let mut node = (slot + self.leaves) / 2;
        while node >= 1 {
            self.winner[node] = self.play(node);
            node /= 2;
        }
    }

    /// The match at an inner node: its left side wins a tie, for it holds the lower slots.
    #[inline(always)]
    fn play(&self, node: usize) -> u32 {
        let (left, right) = (self.entrant(2 * node), self.entrant(2 * node + 1));
        if self.time_ns[right as usize] < self.time_ns[left as usize] { right } else { left }
    }

    #[inline(always)]
    fn entrant(&self, node: usize) -> u32 {
        if node >= self.leaves { (node - self.leaves) as u32 } else { self.winner[node] }
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
                    prop_assert_eq!(queue.peek_ns(), expected.map(|(t, _)| t));
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
