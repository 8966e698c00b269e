//! The latency breakdown of a write that waited for space in DRAM: it inherits the causes of the operation that freed
//! the space.

use crate::dispatch::txn::Txn;
use crate::observe::report::{CAUSES, Cause};

/// The latency breakdown of a wait for space, as far as it is known; the rest is charged to DRAM.
#[derive(Clone, Copy, Default)]
pub(in crate::ssd) struct WaitBreakdown {
    pub breakdown_ns: [u64; CAUSES],
    pub gc_affected: bool,
}

/// An ended operation that freed space: an eviction of a buffer, or the program of a filled page.
#[derive(Clone, Copy)]
pub(in crate::ssd) struct FreedSpace {
    /// Its time.
    pub time: OperationTime,
    /// Whether the operation waited for collection.
    pub gc_affected: bool,
    /// How long its page was open for other writes before it was sent; 0 for an eviction of a buffer.
    pub filled_ns: u64,
}

/// The time of one such operation, or the sum of all that have ended.
#[derive(Clone, Copy, Default)]
pub(in crate::ssd) struct OperationTime {
    /// The duration.
    pub took_ns: u64,
    /// The duration by cause. It is incomplete if an operation waited for other writes to share a page.
    pub breakdown_ns: [u64; CAUSES],
}

/// The causes of a command's time after its issue, from the end. If work of the host precedes the command in the array,
/// that time counts among the earlier causes.
const LAST: [Cause; 3] = [Cause::Flash, Cause::Transfer, Cause::Channel];

impl OperationTime {
    pub fn add(&mut self, other: &Self) {
        self.took_ns += other.took_ns;
        self.breakdown_ns.iter_mut().zip(other.breakdown_ns).for_each(|(sum, ns)| *sum += ns);
    }

    fn less(&self, other: &Self) -> Self {
        let breakdown_ns = std::array::from_fn(|cause| self.breakdown_ns[cause] - other.breakdown_ns[cause]);
        Self { took_ns: self.took_ns - other.took_ns, breakdown_ns }
    }

    /// Each cause's share of `part_ns`, in proportion.
    fn part(&self, part_ns: u64) -> [u64; CAUSES] {
        let of = |ns: u64| u128::from(ns) * u128::from(part_ns) / u128::from(self.took_ns.max(1));
        self.breakdown_ns.map(|ns| of(ns) as u64)
    }

    /// The causes of the last `part_ns`: the command, and then as much of each earlier cause as time remains.
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

impl FreedSpace {
    /// The space that a transaction, which ends now, has freed.
    pub fn by(txn: &Txn, now_ns: u64) -> Self {
        let time = OperationTime { took_ns: now_ns - txn.arrival_ns, breakdown_ns: txn.breakdown_ns };
        Self { time, gc_affected: txn.gc_affected, filled_ns: 0 }
    }

    /// The space of a page that was open for `filled_ns` before it was sent.
    #[must_use]
    pub fn filled_for(self, filled_ns: u64) -> Self {
        Self { filled_ns, ..self }
    }

    /// The whole time. The time of filling has no cause.
    pub fn whole(&self) -> OperationTime {
        OperationTime { took_ns: self.time.took_ns + self.filled_ns, ..self.time }
    }

    /// The causes of a write's wait for this space. If the operation began before the wait, they are the causes of its
    /// last part. If it began later, the wait had three parts: waiting behind other operations (their causes, in
    /// proportion), waiting for the page to fill (no cause), and the whole operation. `ended`: all operations that
    /// ended, this one included; `before`: the sum of the operations that ended before the wait.
    pub fn explain_wait(&self, waited_ns: u64, ended: &OperationTime, before: &OperationTime) -> WaitBreakdown {
        let Some(longer_ns) = waited_ns.checked_sub(self.time.took_ns) else {
            let breakdown_ns = self.time.last(waited_ns);
            return WaitBreakdown { breakdown_ns, gc_affected: breakdown_ns[Cause::Gc as usize] > 0 };
        };
        let own = self.time.breakdown_ns;
        let behind_ns = longer_ns.saturating_sub(self.filled_ns);
        let others = if behind_ns > 0 { ended.less(before).less(&self.whole()) } else { OperationTime::default() };
        let behind = others.part(behind_ns);
        let breakdown_ns = std::array::from_fn(|cause| own[cause] + behind[cause]);
        WaitBreakdown { breakdown_ns, gc_affected: self.gc_affected || behind[Cause::Gc as usize] > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(gc_ns: u64, flash_ns: u64) -> OperationTime {
        let mut breakdown_ns = [0; CAUSES];
        (breakdown_ns[Cause::Gc as usize], breakdown_ns[Cause::Flash as usize]) = (gc_ns, flash_ns);
        OperationTime { took_ns: gc_ns + flash_ns, breakdown_ns }
    }

    /// The causes (collection and array) of a write's wait, behind other operations, for the space of an operation
    /// whose page was open for `filled_ns`.
    fn waited((own, filled_ns): (OperationTime, u64), waited_ns: u64, others: OperationTime) -> ([u64; 2], bool) {
        let gc_affected = own.breakdown_ns[Cause::Gc as usize] > 0;
        let made_room = FreedSpace { time: own, gc_affected, filled_ns: 0 }.filled_for(filled_ns);
        let before = time(7, 11);
        let mut ended = before;
        [made_room.whole(), others].iter().for_each(|one| ended.add(one));
        let waited = made_room.explain_wait(waited_ns, &ended, &before);
        ([Cause::Gc, Cause::Flash].map(|cause| waited.breakdown_ns[cause as usize]), waited.gc_affected)
    }

    /// A wait as long as the eviction, a shorter one, which ends with the array's part, and none.
    #[test]
    fn a_write_waited_for_the_end_of_an_eviction() {
        let of = |waited_ns| waited((time(300, 100), 0), waited_ns, time(0, 0));
        assert_eq!(of(400), ([300, 100], true));
        assert_eq!(of(399), ([299, 100], true));
        assert_eq!(of(101), ([1, 100], true));
        assert_eq!(of(100), ([0, 100], false));
        assert_eq!(of(30), ([0, 30], false));
        assert_eq!(of(0), ([0, 0], false));
    }

    /// An operation that began while another was in progress: it took 100, and waited for 200 behind others, which
    /// spent 600 of 700 on collection.
    #[test]
    fn a_write_waited_behind_others() {
        let own = time(0, 100);
        assert_eq!(waited((own, 0), 300, time(600, 100)), ([171, 128], true));
        // It was open for 150 of those 200, or for longer.
        assert_eq!(waited((own, 150), 300, time(600, 100)), ([42, 107], true));
        assert_eq!(waited((own, 500), 300, time(600, 100)), ([0, 100], false));
        // The others filled for half of their time.
        let filled = OperationTime { took_ns: 1_400, ..time(600, 100) };
        assert_eq!(waited((own, 0), 300, filled), ([85, 114], true));
    }
}
