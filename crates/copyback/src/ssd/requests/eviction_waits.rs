//! The latency breakdown of a write that waited for room in DRAM: it takes over what was done meanwhile to make room.

use crate::dispatch::txn::Txn;
use crate::observe::report::{CAUSES, Cause};

/// The latency breakdown of a wait for room, as far as it is known; the rest is the DRAM's.
#[derive(Clone, Copy, Default)]
pub(in crate::ssd) struct WaitBreakdown {
    pub breakdown_ns: [u64; CAUSES],
    pub gc_affected: bool,
}

/// What has ended and made room for others: an eviction of a buffer, or the program of a page that filled.
#[derive(Clone, Copy)]
pub(in crate::ssd) struct RoomGained {
    pub spent: TimeSpent,
    /// Whether it waited for collection.
    pub gc_affected: bool,
    /// How long it had waited before that for others to share a page with.
    pub filled_ns: u64,
}

/// The time of one of them, or of all that have ended.
#[derive(Clone, Copy, Default)]
pub(in crate::ssd) struct TimeSpent {
    /// How long they took.
    pub took_ns: u64,
    /// What for; not all of it where one was given up on its way, or waited for others to share a page with.
    pub breakdown_ns: [u64; CAUSES],
}

/// What a transaction's time ends with, the last first: its command, behind which it waits for nothing.
const LAST: [Cause; 3] = [Cause::Flash, Cause::Transfer, Cause::Channel];

impl TimeSpent {
    pub fn add(&mut self, other: &Self) {
        self.took_ns += other.took_ns;
        self.breakdown_ns.iter_mut().zip(other.breakdown_ns).for_each(|(sum, ns)| *sum += ns);
    }

    fn less(&self, other: &Self) -> Self {
        let breakdown_ns = std::array::from_fn(|cause| self.breakdown_ns[cause] - other.breakdown_ns[cause]);
        Self { took_ns: self.took_ns - other.took_ns, breakdown_ns }
    }

    /// As much of each cause as `part_ns` is of all.
    fn part(&self, part_ns: u64) -> [u64; CAUSES] {
        let of = |ns: u64| u128::from(ns) * u128::from(part_ns) / u128::from(self.took_ns.max(1));
        self.breakdown_ns.map(|ns| of(ns) as u64)
    }

    /// What the last `part_ns` were spent for: the command, and of what was before it as much of each cause as there is
    /// time left.
    fn last(&self, part_ns: u64) -> [u64; CAUSES] {
        let (mut last_ns, mut before) = ([0; CAUSES], *self);
        let mut left_ns = part_ns;
        for cause in LAST.map(|cause| cause as usize) {
            let all_ns = std::mem::take(&mut before.breakdown_ns[cause]);
            before.took_ns -= all_ns;
            last_ns[cause] = all_ns.min(left_ns);
            left_ns -= last_ns[cause];
        }
        before.part(left_ns).iter().zip(&mut last_ns).for_each(|(ns, sum)| *sum += ns);
        last_ns
    }
}

impl RoomGained {
    /// What a transaction that ends now made.
    pub fn by(txn: &Txn, now_ns: u64) -> Self {
        let spent = TimeSpent { took_ns: now_ns - txn.arrival_ns, breakdown_ns: txn.breakdown_ns };
        Self { spent, gc_affected: txn.gc_affected, filled_ns: 0 }
    }

    /// The same of a page that was open for so long before it was sent.
    #[must_use]
    pub fn filled_for(self, filled_ns: u64) -> Self {
        Self { filled_ns, ..self }
    }

    /// The time of all of it. How long it filled has no cause.
    pub fn whole(&self) -> TimeSpent {
        TimeSpent { took_ns: self.spent.took_ns + self.filled_ns, ..self.spent }
    }

    /// What a write has waited for that this made room for. No record says when it passed from one cause to the
    /// next: of one that began before the write waited it is what that ended with. Of one that began later it is all,
    /// before that the write waited for it to fill, and before that it was behind others: that is, in proportion, what
    /// all others did that ended since it waits. `ended`: all that have ended, this one among them; `before`: those
    /// before the wait.
    pub fn explains(&self, waited_ns: u64, ended: &TimeSpent, before: &TimeSpent) -> WaitBreakdown {
        let Some(longer_ns) = waited_ns.checked_sub(self.spent.took_ns) else {
            let breakdown_ns = self.spent.last(waited_ns);
            return WaitBreakdown { breakdown_ns, gc_affected: breakdown_ns[Cause::Gc as usize] > 0 };
        };
        let own = self.spent.breakdown_ns;
        let behind_ns = longer_ns.saturating_sub(self.filled_ns);
        let others = if behind_ns > 0 { ended.less(before).less(&self.whole()) } else { TimeSpent::default() };
        let behind = others.part(behind_ns);
        let breakdown_ns = std::array::from_fn(|cause| own[cause] + behind[cause]);
        WaitBreakdown { breakdown_ns, gc_affected: self.gc_affected || behind[Cause::Gc as usize] > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(gc_ns: u64, flash_ns: u64) -> TimeSpent {
        let mut breakdown_ns = [0; CAUSES];
        (breakdown_ns[Cause::Gc as usize], breakdown_ns[Cause::Flash as usize]) = (gc_ns, flash_ns);
        TimeSpent { took_ns: gc_ns + flash_ns, breakdown_ns }
    }

    /// What a write waited for, of collection and of the array, that one made room for which filled for so long, behind
    /// others.
    fn waited((own, filled_ns): (TimeSpent, u64), waited_ns: u64, others: TimeSpent) -> ([u64; 2], bool) {
        let gc_affected = own.breakdown_ns[Cause::Gc as usize] > 0;
        let made_room = RoomGained { spent: own, gc_affected, filled_ns: 0 }.filled_for(filled_ns);
        let before = spent(7, 11);
        let mut ended = before;
        [made_room.whole(), others].iter().for_each(|one| ended.add(one));
        let waited = made_room.explains(waited_ns, &ended, &before);
        ([Cause::Gc, Cause::Flash].map(|cause| waited.breakdown_ns[cause as usize]), waited.gc_affected)
    }

    /// A wait as long as the eviction, one of less, of which the end is the array's, and none.
    #[test]
    fn a_write_waited_for_the_end_of_an_eviction() {
        let of = |waited_ns| waited((spent(300, 100), 0), waited_ns, spent(0, 0));
        assert_eq!(of(400), ([300, 100], true));
        assert_eq!(of(399), ([299, 100], true));
        assert_eq!(of(101), ([1, 100], true));
        assert_eq!(of(100), ([0, 100], false));
        assert_eq!(of(30), ([0, 30], false));
        assert_eq!(of(0), ([0, 0], false));
    }

    /// One that began while another was under way: 100 by itself, and 200 behind others, of which collection had 600 of
    /// 700.
    #[test]
    fn a_write_waited_behind_others() {
        let own = spent(0, 100);
        assert_eq!(waited((own, 0), 300, spent(600, 100)), ([171, 128], true));
        // It was open for 150 of those 200, or for longer.
        assert_eq!(waited((own, 150), 300, spent(600, 100)), ([42, 107], true));
        assert_eq!(waited((own, 500), 300, spent(600, 100)), ([0, 100], false));
        // The others filled for half of their time.
        let filled = TimeSpent { took_ns: 1_400, ..spent(600, 100) };
        assert_eq!(waited((own, 0), 300, filled), ([85, 114], true));
    }
}
