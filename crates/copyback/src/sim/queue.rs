//! The event queue: one pending time for each of a fixed set of timers, and the earliest of them first.
//!
//! Each die and each channel has a timer. A drive has further timers for its DRAM, idleness and alarms; the host and an
//! array have their own timers. An event is therefore a timer and a time, and nothing is allocated. The order is total:
//! earlier times first, then lower timers.
//!
//! Most events are ends: of a read, a program, a transfer. Ends of one kind mostly come a fixed time after they are
//! scheduled, in the order in which they are scheduled. Each kind therefore has a ring; ends are appended to it, and it
//! stays in order without sorting. An end that comes before the last entry of its ring, and an event of no kind, goes
//! to a heap. The earliest event is the least of the heads of the rings and the heap, so that its cost does not grow
//! with the number of busy dies. The ring or heap of an event affects only the time to find it, never the order of
//! events.
//!
//! The pending time of each timer says which entries count. A cancelled event leaves its entry behind, which is skipped
//! when its time comes, or dropped when the heap is full: the cost of cancelling does not grow with the number of
//! events.
//!
//! Time and timer are one number of 64 bits. The timer has as many bits as it needs. Time counts from a base, which is
//! set anew every few days or years of simulated time; events beyond that range are in a separate list, until no
//! earlier event remains.

use crate::sim::invariant::hold;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

/// A place in the queue that holds at most one pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timer(pub u32);

/// The end that an event marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// A read in the flash array.
    Read,
    /// A program in the flash array.
    Program,
    /// A transfer.
    Transfer,
}

const KINDS: usize = 3;

/// Kinds of events as constants, for code that is compiled once for each kind.
pub mod kind {
    use super::End;
    /// [`End::Read`].
    pub const READ: u8 = End::Read as u8;
    /// [`End::Program`].
    pub const PROGRAM: u8 = End::Program as u8;
    /// [`End::Transfer`].
    pub const TRANSFER: u8 = End::Transfer as u8;
    /// Any event.
    pub const ANY: u8 = super::KINDS as u8;
}

/// The time of a timer that waits for nothing.
const NEVER: u64 = u64::MAX;

/// A pending time, since the queue's base, and its timer as one number: less is earlier, and of two equal times the
/// lower timer's.
type Key = u64;

/// The key after all others.
const NONE: Key = Key::MAX;

/// Entries in order; the first is also kept outside the ring.
struct Ring {
    /// A power of two of places.
    entries: Box<[Key]>,
    first: usize,
    count: usize,
    /// The last that was appended.
    last: Key,
}

impl Ring {
    fn new(places: usize) -> Self {
        Self { entries: vec![NONE; places.next_power_of_two()].into(), first: 0, count: 0, last: 0 }
    }

    /// Whether an entry can follow all others.
    #[inline(always)]
    fn takes(&self, key: Key) -> bool {
        key >= self.last && self.count < self.entries.len()
    }

    #[inline(always)]
    fn append(&mut self, key: Key) {
        self.last = key;
        let place = (self.first + self.count) & (self.entries.len() - 1);
        self.entries[place] = key;
        self.count += 1;
    }

    /// Drops the first entry, and returns the next one.
    #[inline(always)]
    fn advance(&mut self) -> Key {
        self.count -= 1;
        self.first = (self.first + 1) & (self.entries.len() - 1);
        select_unpredictable(self.count == 0, NONE, self.entries[self.first])
    }
}

/// A queue over a fixed number of timers.
pub struct EventQueue {
    /// The first entry of each ring, and of the heap.
    heads: [Key; KINDS + 1],
    rings: [Ring; KINDS],
    heap: BinaryHeap<Reverse<Key>>,
    /// Bits of a key that name the timer.
    timer_bits: u32,
    /// These bits, set.
    timer_mask: u32,
    /// Times from `base_ns` on that a key can hold.
    range_ns: u64,
    /// The time from which keys count; times beyond their range are in `far`, behind all of them.
    base_ns: u64,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// Pending time of each timer. An entry with another time was cancelled.
    time_ns: Vec<u64>,
    now_ns: u64,
}

impl EventQueue {
    /// A queue of `timers` idle timers at time 0.
    pub fn new(timers: usize) -> Self {
        // One bit pattern more than there are timers, so that no key is `NONE`.
        let timer_bits = (timers + 1).next_power_of_two().trailing_zeros().max(1);
        Self {
            heads: [NONE; KINDS + 1],
            rings: std::array::from_fn(|_| Ring::new(timers)),
            heap: BinaryHeap::with_capacity(ENTRIES_PER_TIMER * timers),
            timer_bits,
            timer_mask: (1 << timer_bits) - 1,
            range_ns: 1 << (u64::BITS - timer_bits),
            base_ns: 0,
            far: BinaryHeap::with_capacity(ENTRIES_PER_TIMER * timers),
            time_ns: vec![NEVER; timers],
            now_ns: 0,
        }
    }

    /// The time of the event that was taken last.
    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Whether the timer has a pending event.
    #[inline(always)]
    pub fn is_pending(&self, timer: Timer) -> bool {
        self.time_ns[timer.0 as usize] != NEVER
    }

    /// Whether any event is pending. Visits every timer.
    pub fn has_events(&self) -> bool {
        self.time_ns.iter().any(|&time_ns| time_ns != NEVER)
    }

    /// When the timer comes up, if it waits for something.
    pub fn time_of(&self, timer: Timer) -> Option<u64> {
        Some(self.time_ns[timer.0 as usize]).filter(|&time_ns| time_ns != NEVER)
    }

    /// Schedules `timer` at `time_ns`; its previous event, if one is pending, is cancelled.
    ///
    /// # Panics
    /// When the time has already passed: an effect may not precede its cause.
    #[inline]
    pub fn schedule(&mut self, timer: Timer, time_ns: u64) {
        self.expect(timer, time_ns);
        match self.key(time_ns, timer) {
            Some(key) => self.push(key),
            None => self.push_far(time_ns, timer),
        }
    }

    /// The same for an event at which something ends. All ends of a timer are of reads and programs, or all of
    /// transfers: code for one kind relies on it.
    ///
    /// # Panics
    /// As [`Self::schedule`].
    #[inline(always)]
    pub fn schedule_end(&mut self, of: End, timer: Timer, time_ns: u64) {
        self.expect(timer, time_ns);
        let Some(key) = self.key(time_ns, timer) else { return self.push_far(time_ns, timer) };
        let ring = &mut self.rings[of as usize];
        if !ring.takes(key) {
            return self.push(key);
        }
        let head = &mut self.heads[of as usize];
        *head = key.min(*head);
        ring.append(key);
    }

    /// Records the time of a timer, and cancels its previous event.
    #[inline(always)]
    fn expect(&mut self, timer: Timer, time_ns: u64) {
        hold!(time_ns >= self.now_ns, TimeOrder, "an event at {time_ns} ns was scheduled at {} ns", self.now_ns);
        self.time_ns[timer.0 as usize] = time_ns;
    }

    /// The key of an event, unless that is far.
    #[inline(always)]
    fn key(&self, time_ns: u64, timer: Timer) -> Option<Key> {
        let since_base_ns = time_ns - self.base_ns;
        (since_base_ns < self.range_ns).then(|| since_base_ns << self.timer_bits | u64::from(timer.0))
    }

    #[inline(never)]
    fn push(&mut self, key: Key) {
        if self.heap.len() == self.heap.capacity() {
            self.drop_cancelled();
        }
        self.heap.push(Reverse(key));
        self.heads[KINDS] = key.min(self.heads[KINDS]);
    }

    #[cold]
    fn push_far(&mut self, time_ns: u64, timer: Timer) {
        if self.far.len() == self.far.capacity() {
            let times_ns = &self.time_ns;
            drop_entries(&mut self.far, |&(time_ns, timer)| times_ns[timer as usize] != time_ns);
        }
        self.far.push(Reverse((time_ns, timer.0)));
    }

    /// Cancels the timer's event.
    pub fn cancel(&mut self, timer: Timer) {
        self.time_ns[timer.0 as usize] = NEVER;
    }

    /// Takes the earliest event (of equal times, the lower timer's), and moves the clock to it.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(u64, Timer)> {
        self.pop_with_end().map(|(time_ns, timer, _)| (time_ns, timer))
    }

    /// As [`Self::pop`], with the end that the event marks; `None` for other events, and for some ends. It is a hint:
    /// if an end of the timer was cancelled, and another is pending at that same moment, it names either.
    #[inline(always)]
    pub fn pop_with_end(&mut self) -> Option<(u64, Timer, Option<End>)> {
        loop {
            let (mut first, mut at) = (self.heads[KINDS], KINDS);
            for ring in 0..KINDS {
                let is_earlier = self.heads[ring] < first;
                first = select_unpredictable(is_earlier, self.heads[ring], first);
                at = select_unpredictable(is_earlier, ring, at);
            }
            if first == NONE {
                if !self.approach() {
                    return None;
                }
                continue;
            }
            self.heads[at] = if at < KINDS { self.rings[at].advance() } else { self.pop_heap() };
            let time_ns = self.base_ns + (first >> self.timer_bits);
            let timer = first as u32 & self.timer_mask;
            if self.time_ns[timer as usize] != time_ns {
                continue;
            }
            self.time_ns[timer as usize] = NEVER;
            debug_assert!(time_ns >= self.now_ns);
            self.now_ns = time_ns;
            // Compiles to nothing: an end is its ring's number.
            let end = match at as u8 {
                kind::READ => Some(End::Read),
                kind::PROGRAM => Some(End::Program),
                kind::TRANSFER => Some(End::Transfer),
                _ => None,
            };
            return Some((time_ns, Timer(timer), end));
        }
    }

    /// Nothing is near: rebases keys, so that far events come nearer. Returns whether there was any.
    #[cold]
    fn approach(&mut self) -> bool {
        let is_pending = |&Reverse((time_ns, timer)): &Reverse<(u64, u32)>| self.time_ns[timer as usize] == time_ns;
        // A cancelled event must not set the base: an event before it may still be scheduled.
        while self.far.peek().is_some_and(|first| !is_pending(first)) {
            self.far.pop();
        }
        let Some(&Reverse((first_ns, _))) = self.far.peek() else { return false };
        self.base_ns = first_ns;
        self.rings.iter_mut().for_each(|ring| ring.last = 0);
        while let Some(&Reverse((time_ns, timer))) = self.far.peek()
            && let Some(key) = self.key(time_ns, Timer(timer))
        {
            self.far.pop();
            self.push(key);
        }
        true
    }

    /// Drops the first entry of the heap, and returns the next one.
    #[inline(never)]
    fn pop_heap(&mut self) -> Key {
        self.heap.pop();
        self.heap.peek().map_or(NONE, |key| key.0)
    }

    /// The heap is full: drops entries of cancelled events, and repeated entries. At most one for each timer remains.
    #[cold]
    fn drop_cancelled(&mut self) {
        let (times_ns, base_ns) = (&self.time_ns, self.base_ns);
        let (bits, timers) = (self.timer_bits, u64::from(self.timer_mask));
        let is_cancelled = |&key: &Key| times_ns[(key & timers) as usize] != base_ns + (key >> bits);
        drop_entries(&mut self.heap, is_cancelled);
        self.heads[KINDS] = self.heap.peek().map_or(NONE, |key| key.0);
    }
}

/// Entries of a heap for each timer, pending and cancelled ones: cancelled ones are dropped when a heap is full.
const ENTRIES_PER_TIMER: usize = 4;

/// Drops entries of a heap, and all but one of equal ones.
fn drop_entries<T: Ord>(heap: &mut BinaryHeap<Reverse<T>>, is_cancelled: impl Fn(&T) -> bool) {
    let mut entries = std::mem::take(heap).into_sorted_vec();
    entries.dedup();
    entries.retain(|entry| !is_cancelled(&entry.0));
    *heap = entries.into();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The queue returns the same as a search through all timers, under any schedule of ends and other events.
        #[test]
        fn agrees_with_a_linear_search(
            timers in 1usize..40,
            operations in proptest::collection::vec((0u32..40, 0u8..6, proptest::option::of(0u64..50)), 1..300),
        ) {
            let mut queue = EventQueue::new(timers);
            let capacities = [queue.heap.capacity(), queue.far.capacity()];
            let mut naive = vec![None; timers];
            let mut now = 0;
            for (timer, how, delay) in operations {
                let timer = timer % timers as u32;
                // Beyond the range of the keys of 40 timers, and sometimes of fewer timers.
                let far = if now < 1 << 62 { (delay.unwrap_or(0) % 3) << 57 } else { 1 };
                if let Some(delay) = delay {
                    match how {
                        0 => queue.schedule_end(End::Read, Timer(timer), now + delay % 4),
                        1 => queue.schedule_end(End::Program, Timer(timer), now + delay),
                        2 => queue.schedule_end(End::Transfer, Timer(timer), now + 7),
                        3 => queue.schedule(Timer(timer), now + delay),
                        4 => queue.schedule_end(End::Read, Timer(timer), now + far),
                        _ => queue.cancel(Timer(timer)),
                    }
                    let delays = [Some(delay % 4), Some(delay), Some(7), Some(delay), Some(far), None];
                    naive[timer as usize] = delays[usize::from(how)].map(|d| now + d);
                } else {
                    let expected = naive.iter().enumerate().filter_map(|(i, t)| t.map(|t| (t, i))).min();
                    prop_assert_eq!(queue.pop(), expected.map(|(t, i)| (t, Timer(i as u32))));
                    if let Some((t, i)) = expected {
                        naive[i] = None;
                        now = t;
                    }
                }
                prop_assert_eq!(queue.has_events(), naive.iter().any(Option::is_some));
                prop_assert_eq!([queue.heap.capacity(), queue.far.capacity()], capacities, "nothing is allocated");
            }
        }
    }

    proptest! {
        /// Few timers that are scheduled again and again fill both heaps with cancelled entries, which are dropped.
        #[test]
        fn full_heaps_drop_cancelled_events(
            timers in 1u32..4,
            operations in proptest::collection::vec((0u32..4, 0u8..8, 0u64..50), 500..1000),
        ) {
            let mut queue = EventQueue::new(timers as usize);
            let capacities = [queue.heap.capacity(), queue.far.capacity()];
            let mut naive = vec![None; timers as usize];
            let (mut now, mut scheduled) = (0, [0; 2]);
            for (timer, how, delay) in operations {
                let timer = timer % timers;
                // The keys of three timers have 62 bits for the time.
                let is_far = how < 4 && now >> 62 < 2;
                match how {
                    0..=6 => {
                        let time_ns = now + delay + if is_far { 1 << 62 } else { 0 };
                        scheduled[usize::from(is_far)] += 1;
                        queue.schedule(Timer(timer), time_ns);
                        naive[timer as usize] = Some(time_ns);
                    }
                    _ if delay > 2 => {
                        queue.cancel(Timer(timer));
                        naive[timer as usize] = None;
                    }
                    _ => {
                        let expected = naive.iter().enumerate().filter_map(|(i, t)| t.map(|t| (t, i))).min();
                        prop_assert_eq!(queue.pop(), expected.map(|(t, i)| (t, Timer(i as u32))));
                        if let Some((t, i)) = expected {
                            (naive[i], now) = (None, t);
                        }
                    }
                }
                prop_assert_eq!([queue.heap.capacity(), queue.far.capacity()], capacities, "nothing is allocated");
            }
            prop_assert!(scheduled[0] > 2 * capacities[0], "{scheduled:?} events for {capacities:?} entries");
        }
    }

    #[test]
    fn events_name_their_ends() {
        let mut queue = EventQueue::new(5);
        queue.schedule_end(End::Transfer, Timer(0), 1);
        queue.schedule_end(End::Program, Timer(1), 2);
        queue.schedule_end(End::Read, Timer(2), 3);
        queue.schedule(Timer(3), 4);
        // An end before the last one of its ring is in the heap.
        queue.schedule_end(End::Program, Timer(4), 1);
        let ends: Vec<_> = std::iter::from_fn(|| queue.pop_with_end()).map(|(_, timer, end)| (timer.0, end)).collect();
        let named = [(0, Some(End::Transfer)), (4, None), (1, Some(End::Program)), (2, Some(End::Read)), (3, None)];
        assert_eq!(ends, named);
    }

    #[test]
    #[should_panic(expected = "was scheduled at")]
    fn refuses_the_past() {
        let mut queue = EventQueue::new(2);
        queue.schedule(Timer(0), 10);
        queue.pop();
        queue.schedule(Timer(1), 9);
    }
}
