//! Where the time of a write went that waited for room in DRAM: it takes over what was done meanwhile to make room.

use crate::dispatch::txn::Txn;
use crate::observe::report::{CAUSES, Cause};

/// Where the time of a wait for room went, as far as somebody knows; the rest is the DRAM's.
#[derive(Clone, Copy, Default)]
pub(super) struct Waited {
    pub breakdown_ns: [u64; CAUSES],
    pub gc_affected: bool,
}

/// What has ended and made room for others: an eviction of a buffer, or the program of a page that filled.
pub(super) struct MadeRoom {
    pub spent: Spent,
    /// Whether it waited for collection.
    pub gc_affected: bool,
    /// How long it had waited before that for others to share a page with.
    pub filled_ns: u64,
}

/// The time of one of them, or of all that have ended.
#[derive(Clone, Copy, Default)]
pub(super) struct Spent {
    /// How long they took.
    pub took_ns: u64,
    /// What for; not all of it where one was given up on its way.
    pub breakdown_ns: [u64; CAUSES],
}

impl Spent {
    pub fn add(&mut self, other: &Self) {
        self.took_ns += other.took_ns;
        self.breakdown_ns.iter_mut().zip(other.breakdown_ns).for_each(|(sum, ns)| *sum += ns);
    }

    /// As much of each cause as `part_ns` is of all, less what `before` had.
    fn part(&self, part_ns: u64, before: &Self) -> [u64; CAUSES] {
        let took_ns = self.took_ns - before.took_ns;
        let of = |cause: usize| u128::from(self.breakdown_ns[cause] - before.breakdown_ns[cause]) * u128::from(part_ns);
        std::array::from_fn(|cause| (of(cause) / u128::from(took_ns.max(1))) as u64)
    }
}

impl MadeRoom {
    /// What a transaction that ends now made.
    pub fn by(txn: &Txn, now_ns: u64) -> Self {
        let spent = Spent { took_ns: now_ns - txn.arrival_ns, breakdown_ns: txn.breakdown_ns };
        Self { spent, gc_affected: txn.gc_affected, filled_ns: 0 }
    }

    /// The same of a page that was open for so long before it was sent.
    #[must_use]
    pub fn filled_for(self, filled_ns: u64) -> Self {
        Self { filled_ns, ..self }
    }

    /// What a write has waited for that this made room for. Nobody wrote down when it passed from one cause to the
    /// next: of one that began before the write waited it is as much of each as the wait is of its time. Of one that
    /// began later, the write waited for it to fill, which nobody explains, and before that it was behind others: that
    /// is what all did that ended since it waits. `ended`: all that have ended, this one among them; `before`: those
    /// before the wait.
    pub fn explains(&self, waited_ns: u64, ended: &Spent, before: &Spent) -> Waited {
        if waited_ns == 0 {
            return Waited::default();
        }
        let own_ns = waited_ns.min(self.spent.took_ns);
        let behind_ns = (waited_ns - own_ns).saturating_sub(self.filled_ns);
        let (own, behind) = (self.spent.part(own_ns, &Spent::default()), ended.part(behind_ns, before));
        let breakdown_ns = std::array::from_fn(|cause| own[cause] + behind[cause]);
        Waited { breakdown_ns, gc_affected: self.gc_affected || behind[Cause::Gc as usize] > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait as long as the eviction, one of a quarter of it, none, and one that began while another was under way.
    #[test]
    fn a_write_waited_for_what_evictions_did() {
        let spent = |gc_ns, flash_ns| {
            let mut breakdown_ns = [0; CAUSES];
            (breakdown_ns[Cause::Gc as usize], breakdown_ns[Cause::Flash as usize]) = (gc_ns, flash_ns);
            Spent { took_ns: gc_ns + flash_ns, breakdown_ns }
        };
        let filled = |own: Spent, filled_ns, waited_ns, others: Spent| {
            let before = spent(7, 11);
            let mut ended = before;
            [own, others].iter().for_each(|one| ended.add(one));
            let gc_affected = own.breakdown_ns[Cause::Gc as usize] > 0;
            let made_room = MadeRoom { spent: own, gc_affected, filled_ns: 0 }.filled_for(filled_ns);
            let waited = made_room.explains(waited_ns, &ended, &before);
            ([Cause::Gc, Cause::Flash].map(|cause| waited.breakdown_ns[cause as usize]), waited.gc_affected)
        };
        let of = |own, waited_ns, others| filled(own, 0, waited_ns, others);
        let none = spent(0, 0);
        assert_eq!(of(spent(300, 100), 400, none), ([300, 100], true));
        assert_eq!(of(spent(300, 100), 100, none), ([75, 25], true));
        assert_eq!(of(spent(300, 100), 0, none), ([0, 0], false));
        // 100 by itself, and 200 behind evictions of which collection had 600 of 800.
        assert_eq!(of(spent(0, 100), 300, spent(600, 100)), ([150, 150], true));
        // The same where it was open for 150 of those 200, or for longer.
        assert_eq!(filled(spent(0, 100), 150, 300, spent(600, 100)), ([37, 112], true));
        assert_eq!(filled(spent(0, 100), 500, 300, spent(600, 100)), ([0, 100], false));
    }
}
