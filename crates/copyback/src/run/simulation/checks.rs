//! Checks of a run: after some events under `--check`, and at its end.

use super::totals::Totals;
use super::{PROGRESS_EVERY, Simulation};
use crate::sim::invariant::{Invariant, broken, hold};

impl Simulation<'_> {
    /// Checks that no request is left when no event is left.
    ///
    /// # Panics
    /// With a description of the remaining requests.
    pub fn check_end(&self) {
        let left = self.requests.live();
        if left > 0 || self.next.is_some() {
            let dies: String = self.members.iter().map(|m| m.ssd.back_end().describe_waiting()).collect();
            broken(Invariant::RunEnds, format_args!("no event is left, and {left} requests did not complete: {dies}"));
        }
        self.members.iter().for_each(|m| m.ssd.back_end().check_end(self.events.now_ns()));
        self.array.iter().for_each(|array| array.volume.check_end());
        // The sums that were updated during the run equal the counters of the drives.
        let written: u64 = self.members.iter().map(|m| m.ssd.back_end().counters().work().host_units).sum();
        debug_assert_eq!(self.written_by_drives, written, "host units of the drives");
        debug_assert_eq!(self.totals.work(&self.members), Totals::new(&self.members).work(&self.members));
        if self.check {
            self.members.iter().for_each(|m| m.ssd.back_end().check_all());
            self.check_shares();
        }
    }

    /// Checks the drives after this many events, under `--check`: their clocks each time, and all records now and then.
    pub(super) fn check_after(&self, handled: u64) {
        if self.check {
            self.members.iter().for_each(|m| m.ssd.back_end().check_clocks());
        }
        if self.check && handled.is_multiple_of(PROGRESS_EVERY * 64) {
            self.members.iter().for_each(|m| m.ssd.back_end().check_all());
        }
    }

    /// No share of time that the report names exceeds 1, in the part of the run that is measured.
    fn check_shares(&self) {
        let passed_ns = u128::from(self.now_ns() - self.start.now_ns);
        for (drive, did) in self.back_ends().zip(self.readings()) {
            let g = drive.flash_geometry();
            let held_ns = [did.gc.reserved_ns, passed_ns, passed_ns, passed_ns, passed_ns];
            let [in_gc_ns, planes_ns, dies_ns, channels_ns] =
                [did.gc.plane_busy_ns, did.plane_busy_ns, did.die_busy_ns, did.channel_busy_ns].map(u128::from);
            let used_ns = [in_gc_ns, planes_ns, dies_ns, channels_ns, did.held_by_gc_ns];
            let counts = [g.planes_per_die, g.planes, g.dies, g.channels, g.dies];
            let names = ["planes during collection", "planes", "dies", "channels", "dies that collection held"];
            for (at, what) in names.into_iter().enumerate() {
                let (used_ns, held_ns, count) = (used_ns[at], held_ns[at], counts[at]);
                hold!(
                    used_ns <= held_ns * u128::from(count),
                    MeasuredShares,
                    "{count} {what} were in use for {used_ns} ns together, in {held_ns} ns"
                );
            }
        }
    }
}
