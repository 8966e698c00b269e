//! Fixed priorities at each die: the host first, then the map, collection, scrubbing, wear levelling.
//!
//! Source: atc18 Section 5.2 (RAIN): "resources are arbitrated through fixed priority scheduling, with host requests
//! having the highest priority". If the window of a die is full, later requests of a task for other dies enter before
//! its requests for that die.
//!
//! Parameters:
//! - `slots` (default 4): requests in a die's window.
//! - `guard` (default 1): while the host waits for a collection (for a free page or an update of the map), requests of
//!   collections precede others until this many are in windows. With 0 the host can starve the collection that it waits
//!   for. No source states it.

use super::{AdmitPolicy, AdmitView, Change, Entry, Setup, check_slots, is_guarded};
use crate::config::KeyError;
use crate::flash::command::Source;
use crate::tasks::background::SOURCES;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Requests in a die's window.
    pub slots: u32,
    /// Requests of collections that are first while the host waits for one.
    pub guard: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { slots: 4, guard: 1 }
    }
}

impl super::Parameters for Params {
    fn check(&self) -> Result<(), KeyError> {
        check_slots(self.slots)
    }

    fn slots(&self) -> u32 {
        self.slots
    }

    fn distinguishes_tasks(&self) -> bool {
        true
    }

    fn has_map_task(&self) -> bool {
        true
    }
}

/// The guard, and the tasks.
pub struct Policy {
    guard: u32,
    /// All tasks, in the order of their priority.
    order: [Source; SOURCES.len()],
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, _setup: &Setup) -> Self {
        let mut order = [Source::HOST; SOURCES.len()];
        order.copy_from_slice(SOURCES);
        order.sort_by_key(|task| task.priority());
        Self { guard: params.guard, order }
    }
}

impl AdmitPolicy for Policy {
    /// Requests do not wait at a die with a free slot.
    fn enters(&mut self, _: Entry, _: &AdmitView<'_>) -> bool {
        true
    }

    fn next(&mut self, change: Change, view: &AdmitView<'_>) -> Option<Entry> {
        let Change::Slot { die, .. } = change else { return None };
        if !view.has_room(die) {
            return None;
        }
        let task = match is_guarded(self.guard, die, view) {
            true => Source::GC,
            false => self.order.iter().copied().find(|&task| view.waiting(die).has(task))?,
        };
        Some(Entry { task, die })
    }
}

#[cfg(test)]
mod tests {
    use super::super::chips::Chips;
    use super::*;
    use crate::sim::index::DieId;

    /// The task that enters die 0 next, with one waiting request of each of these tasks, and this many of collection in
    /// windows.
    fn next(guard: u32, waiting: &[Source], debit: u32, waits_for_gc: bool) -> Option<Source> {
        let mut chips = Chips::new(2);
        (0..debit).for_each(|_| chips.windows.enter(DieId(1), Source::GC));
        let mut policy = Policy::new(&Params { guard, ..Params::default() }, &Setup { dies: 2, seed: 1 });
        waiting.iter().for_each(|&task| chips.wait(&mut policy, task, DieId(0)));
        let entry = policy.next(Change::Slot { die: DieId(0), task: None }, &chips.view(waits_for_gc));
        entry.map(|entry| entry.task)
    }

    /// While the host waits for a collection, the collection precedes it as long as fewer of its requests than the
    /// guard are in windows. Otherwise, and if the host waits for no collection, the host is first.
    #[test]
    fn a_collection_goes_before_the_host_up_to_its_guard_and_no_further() {
        let all = [Source::SCRUB, Source::GC, Source::MAP, Source::HOST];
        for guard in [1, 2] {
            assert_eq!(next(guard, &all, guard - 1, true), Some(Source::GC), "guard {guard}");
            assert_eq!(next(guard, &all, guard, true), Some(Source::HOST), "guard {guard}");
            assert_eq!(next(guard, &all, guard - 1, false), Some(Source::HOST), "guard {guard}");
        }
        assert_eq!(next(0, &all, 0, true), Some(Source::HOST));
        assert_eq!(next(1, &[Source::HOST], 0, true), Some(Source::HOST), "no collection waits there");
    }

    /// Each waiting task precedes all tasks after it in the policy's order.
    #[test]
    fn priorities_are_fixed() {
        let order = [Source::HOST, Source::MAP, Source::GC, Source::SCRUB, Source::WEAR];
        for (at, &first) in order.iter().enumerate() {
            assert_eq!(next(1, &order[at..], 0, false), Some(first));
        }
    }
}
