//! Debit scheduling: a task's share of all slots limits its requests in all windows together.
//!
//! Source: atc18 Section 3.2. The paper's chip is a die here.
//! - A task's debit is the number of its requests that are queued or executing at chips.
//! - If its debit is below its limit, the task's oldest request whose chip has a free slot may enter.
//! - While a task other than the host is active, its limit is max(1, round(share · slots / 100)), or 0 if its share is
//!   set to 0. The host has the remaining slots, at least 1.
//! - The limits of all tasks add up to the slots of all chips. Slots that a task does not use stay free: the policy is
//!   not work-conserving.
//! - If several tasks below their limits wait for one chip, one is drawn, each with the weight 1 − debit / limit.
//! - Requests of the map count against the task that caused them, or belong to a separate task.
//!
//! ```text
//! limits A 5, B 3      chip 0  A0 B0  | a1 b1      full: neither may enter
//!                      chip 1  B1     |    b2      B has 3 in windows: it waits, though chip 1 has room
//!                      chip 2         | a2         A has 1: a2 enters, past a1, which is older
//!                      chip 3  B3     |            when this ends B has 2: b2 enters, past b1
//! ```
//!
//! Parameters:
//! - `slots` (default 4): requests in a die's window.
//! - `guard` (default 1): applies while the host waits for a collection (for a free page, or for an update of the map).
//!   The limit of collections is then at least this. Their requests precede others until this many are in windows. With
//!   a share of 0 and no guard the drive stops. No source states it.
//! - `map` (default `"cause"`): which task is charged for requests of the map: the task that caused them, or with
//!   `"own"` a separate task with its own share.
//! - `shares` (default `{ policy = "fixed", gc = 20, map = 20, scrub = 20, wear = 20 }`): percent of all slots for each
//!   task but the host; with 0 a task has none. `policy = "feedback"` sets them once every `period` (1 ms) while a task
//!   is active:
//!   - S = P · e + I · S (atc18, equations 1 to 3). The error e of collection is the number of free blocks missing to
//!     the watermark.
//!   - P and I are `gc_p` (0.05 % a block) and `gc_i` (0.9) for collection, and `scrub_p` (0.002 % a read) and
//!     `scrub_i` (0.9) for scrubbing. They are not in the paper; those of collection let its share span 0 to 40 % as in
//!     Fig. 6b.
//!   - `most` (80 %) limits each share; `map` (20 %) and `wear` (5 %) are fixed.
//!
//! P and I on another drive:
//! - A share settles at S = P · e / (1 − I).
//! - To reach a share at a given number of missing blocks, set P ≈ share · (1 − I) / blocks. For 40 % at 80 blocks, P
//!   is 40 · 0.1 / 80 = 0.05.
//! - At most `trigger.soft` blocks can be missing, and P of scrubbing is for each read above `tasks.scrub.start`. If
//!   these are a tenth of `atc18`'s, P must be ten times as high.
//! - I determines how slowly a share follows. After log 0.5 / log I periods it has covered half of the distance, with
//!   0.9 after 7 periods.

use super::shares::{Shares, SharesConfig};
use super::{AdmitPolicy, AdmitView, Change, Entry, Setup, check_slots, is_guarded};
use crate::config::KeyError;
use crate::flash::command::Source;
use crate::flash::source::SOURCES_MAX;
use crate::sim::index::DieId;
use crate::sim::tournament::{NEVER, Tournament};
use crate::tasks::background::SOURCES;
use copyback_workload::rng::{self, Xoshiro256PlusPlus};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Requests in a die's window.
    pub slots: u32,
    /// Limit of collections while the host waits for one.
    pub guard: u32,
    /// The task to which the map's requests belong.
    pub map: MapTask,
    /// Percent of all slots for each task.
    pub shares: SharesConfig,
}

/// The task to which the map's requests belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapTask {
    /// The task that caused them.
    #[default]
    Cause,
    /// A task of its own.
    Own,
}

impl Default for Params {
    fn default() -> Self {
        Self { slots: 4, guard: 1, map: MapTask::Cause, shares: SharesConfig::default() }
    }
}

impl super::Parameters for Params {
    fn check(&self) -> Result<(), KeyError> {
        check_slots(self.slots)?;
        if self.has_map_task() && self.shares.of_map() == 0.0 {
            let why = "the map is a separate task without a share, so that no entry is ever looked up".to_owned();
            return Err(
                KeyError::new("admit.shares.map", why).with_help("use a share above 0, or `admit.map = \"cause\"`")
            );
        }
        if self.guard == 0 && matches!(self.shares, SharesConfig::Plugin(_)) {
            let why = "a shares policy that gives collections no share would block them while the host waits for one";
            return Err(KeyError::new("admit.guard", why).with_help("use 1 or more"));
        }
        self.shares.check()
    }

    fn slots(&self) -> u32 {
        self.slots
    }

    fn distinguishes_tasks(&self) -> bool {
        true
    }

    fn has_map_task(&self) -> bool {
        self.map == MapTask::Own
    }

    fn excludes(&self, task: Source) -> bool {
        self.shares.excludes(task)
    }
}

/// The limits and the source of draws.
pub struct Policy {
    /// Slots of all dies.
    slots: u32,
    guard: u32,
    shares: Shares,
    stream: Xoshiro256PlusPlus,
    /// The last draw.
    drawn: f64,
    /// For each task: the arrival of its first waiting request at each die. A die without room is removed when it wins,
    /// and returns with its next free slot.
    heads: Vec<Tournament>,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            slots: params.slots.saturating_mul(setup.dies),
            guard: params.guard,
            shares: Shares::new(&params.shares),
            stream: rng::stream(setup.seed, "dispatch.debit"),
            drawn: 0.0,
            heads: vec![Tournament::new(setup.dies); SOURCES_MAX],
        }
    }

    /// Requests that a task may have in all windows.
    fn limit(&self, task: Source, view: &AdmitView<'_>) -> u32 {
        if task == Source::HOST {
            let others = SOURCES.iter().copied().filter(|&other| other != Source::HOST && view.is_active(other));
            let taken: u32 = others.map(|other| self.limit(other, view)).sum();
            return self.slots.saturating_sub(taken).max(1);
        }
        if view.is_host_done() {
            return self.slots;
        }
        let by_share = |share: f64| (share * f64::from(self.slots) / 100.0).round() as u32;
        let limit = self.shares.of(task).map_or(0, |share| by_share(share).max(1));
        if task == Source::GC && view.waits_for_gc() { limit.max(self.guard) } else { limit }
    }

    /// Whether a task is below its limit.
    fn may_enter(&self, task: Source, view: &AdmitView<'_>) -> bool {
        view.debit(task) < self.limit(task, view)
    }

    /// The die with a free slot at which the task's oldest request waits.
    fn oldest(&mut self, task: Source, view: &AdmitView<'_>) -> Option<DieId> {
        let heads = &mut self.heads[task.at()];
        while let Some(first) = heads.first() {
            if view.has_room(DieId(first)) {
                debug_assert!(
                    !view.dies().any(|die| view.has_room(die) && view.came(task, die) < view.came(task, DieId(first)))
                );
                return Some(DieId(first));
            }
            heads.set(first, NEVER);
        }
        debug_assert!(!view.dies().any(|die| view.has_room(die) && view.waiting(die).has(task)));
        None
    }

    /// A die has a free slot: requests that wait there count again.
    fn put_back(&mut self, die: DieId, view: &AdmitView<'_>) {
        for task in view.waiting(die).iter() {
            self.heads[task.at()].set(die.0, view.came(task, die));
        }
    }

    /// The task whose request enters at a die with a free slot; one of several tasks is drawn.
    fn compete(&mut self, die: DieId, view: &AdmitView<'_>) -> Option<Source> {
        if view.waiting(die).iter().nth(1).is_some() {
            self.drawn = rng::unit_f64(&mut self.stream);
        }
        let tasks = || view.waiting(die).iter().filter(|&task| self.may_enter(task, view));
        let first = tasks().next()?;
        if is_guarded(self.guard, die, view) {
            return Some(Source::GC);
        }
        if tasks().nth(1).is_none() {
            return Some(first);
        }
        let weight = |task: Source| 1.0 - f64::from(view.debit(task)) / f64::from(self.limit(task, view));
        let mut left = tasks().map(weight).sum::<f64>() * self.drawn;
        // The last task gets the rounding error.
        let drawn = tasks().find(|&task| {
            left -= weight(task);
            left < 0.0
        });
        drawn.or_else(|| tasks().last())
    }
}

impl AdmitPolicy for Policy {
    fn enters(&mut self, entry: Entry, view: &AdmitView<'_>) -> bool {
        self.may_enter(entry.task, view)
    }

    /// A completed request leaves its task below the task's limit: the task's oldest request enters, at any die. If
    /// that is the die with the free slot, or no request of the task can enter, the tasks that wait at this die compete
    /// for the slot. Unless limits change, no other task below its limit waits at a die with a free slot.
    fn next(&mut self, change: Change, view: &AdmitView<'_>) -> Option<Entry> {
        match change {
            Change::Slot { die, task } => {
                self.put_back(die, view);
                let task = task.filter(|&task| self.may_enter(task, view));
                let elsewhere = task.and_then(|task| Some((task, self.oldest(task, view)?)));
                if let Some((task, oldest)) = elsewhere.filter(|&(_, oldest)| oldest != die) {
                    return Some(Entry { task, die: oldest });
                }
                let task = if view.has_room(die) { self.compete(die, view)? } else { return None };
                Some(Entry { task, die })
            }
            Change::Limits => {
                let mut tasks = SOURCES.iter().copied();
                tasks.find_map(|task| match self.may_enter(task, view) {
                    true => Some(Entry { task, die: self.oldest(task, view)? }),
                    false => None,
                })
            }
        }
    }

    fn on_head(&mut self, Entry { task, die }: Entry, view: &AdmitView<'_>) {
        self.heads[task.at()].set(die.0, view.came(task, die));
    }

    fn on_kept_slot(&mut self, die: DieId, view: &AdmitView<'_>) {
        self.put_back(die, view);
    }

    fn shares(&mut self) -> Option<&mut Shares> {
        Some(&mut self.shares)
    }

    fn share_percent(&self, task: Source) -> Option<f64> {
        Some(self.shares.of(task).unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests;
