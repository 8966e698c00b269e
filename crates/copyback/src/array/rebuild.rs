//! A rebuild: the data of failed drives is written to empty ones, stripe by stripe, at a limited rate.

use super::operations::Kind;
use super::volume::Volume;
use crate::observe::report::CAUSES;
use crate::sim::index::RequestId;

/// The progress of a rebuild.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rebuild {
    /// The least time between the starts of two successive rows: each failed drive has a unit in a row.
    every_ns: u64,
    /// The stripe that is being rebuilt, or the next one.
    stripe: u64,
    /// When its row began.
    began_ns: u64,
    is_under_way: bool,
    /// When the next stripe may begin, once that is known.
    due_ns: Option<u64>,
}

impl Rebuild {
    pub(super) fn new(every_ns: u64) -> Self {
        Self { every_ns, stripe: 0, began_ns: 0, is_under_way: false, due_ns: None }
    }

    /// Whether all members of a stripe exist again.
    pub(super) fn has_rebuilt(&self, stripe: u64) -> bool {
        stripe < self.stripe
    }
}

impl Volume {
    /// Whether failed drives are rebuilt.
    pub fn rebuilds_drives(&self) -> bool {
        self.rebuild.is_some()
    }

    /// The time at which the next stripe is to be rebuilt, if that has changed since the last call.
    pub fn take_rebuild_due(&mut self) -> Option<u64> {
        self.rebuild.as_mut().and_then(|rebuild| rebuild.due_ns.take())
    }

    /// Starts to rebuild the next stripe with a failed drive.
    pub fn on_rebuild_due(&mut self, now_ns: u64) {
        let Some(first) = self.rebuild.as_ref().filter(|r| !r.is_under_way).map(|r| r.stripe) else { return };
        let is_new_row = first == 0 || !self.goes_on_in_row(first);
        let stripe = self.next_to_rebuild(first);
        let is_over = stripe == self.layout.stripes();
        let rebuild = self.rebuild.as_mut().expect("a rebuild is configured");
        (rebuild.stripe, rebuild.is_under_way) = (stripe, !is_over);
        if is_new_row {
            rebuild.began_ns = now_ns;
        }
        if is_over {
            if self.totals.rebuilt_at_ns == 0 {
                self.totals.rebuilt_at_ns = now_ns;
            }
            return;
        }
        let id = self.operation(RequestId::NONE, Kind::Rebuild, stripe, [0, 0], [0; CAUSES]);
        self.operations[id].waits_since_ns = now_ns;
        if self.take_lock(id) {
            self.begin_locked(id, 0, now_ns);
        }
    }

    /// The next stripe with a failed drive, from this one on; the number of stripes if none remains.
    fn next_to_rebuild(&self, stripe: u64) -> u64 {
        let members = self.layout.data() + self.layout.parity();
        let has_lost = |&stripe: &u64| (0..members).any(|m| self.failed >> self.layout.drive(stripe, m) & 1 == 1);
        (stripe..self.layout.stripes()).find(has_lost).unwrap_or(self.layout.stripes())
    }

    /// Whether the next rebuilt stripe, from this one on, is in the row of the previous one.
    fn goes_on_in_row(&self, stripe: u64) -> bool {
        let next = self.next_to_rebuild(stripe);
        next < self.layout.stripes() && self.layout.row(next) == self.layout.row(stripe - 1)
    }

    /// A stripe is rebuilt.
    pub(super) fn on_rebuilt(&mut self, now_ns: u64) {
        let goes_on = self.rebuild.is_some_and(|rebuild| self.goes_on_in_row(rebuild.stripe + 1));
        let is_last = self.rebuild.is_some_and(|r| self.next_to_rebuild(r.stripe + 1) == self.layout.stripes());
        let rebuild = self.rebuild.as_mut().expect("a stripe was rebuilt");
        rebuild.stripe += 1;
        rebuild.is_under_way = false;
        rebuild.due_ns = Some(if goes_on { now_ns } else { now_ns.max(rebuild.began_ns + rebuild.every_ns) });
        if is_last {
            self.totals.rebuilt_at_ns = now_ns;
        }
    }
}
