//! Admit: which task's request enters which die's window?
//!
//! Contract: requests of all tasks (the host, collections that reserve no die, the map, ...) enter the queue of their
//! die through its window. `order` then decides which of them is issued first. The engine calls the policy in two
//! cases: when a request reaches a die with a free slot at which no request of its task waits
//! ([`AdmitPolicy::enters`]), and when the situation of waiting requests has changed ([`AdmitPolicy::next`], until it
//! returns none). The policy is notified of waiting and entering requests. Through [`AdmitView`], it reads the heads of
//! the waiting lists, one for each task and die. It may keep state. Requests of one task at one die keep their order.
//! The time of its answers does not depend on the number of waiting requests.
//!
//! A program of the host is admitted only with a free page, so that all requests in a window can always complete. A
//! collection that reserves its die also takes a slot: while it waits for its die, no request gets a slot that becomes
//! free there. The policy decides neither of the two.
//!
//! A policy is a file of this folder and a row of the registry below.

pub mod all;
#[cfg(test)]
mod chips;
pub mod debit;
pub mod qosfc;
pub mod shares;
pub mod strict;
pub mod vanilla;
pub mod window;

use super::queues::Queues;
use super::txn::Txns;
use super::windows::{DieWindows, Tasks};
use crate::config::layers::Kept;
use crate::config::{KeyError, axis};
use crate::flash::command::Source;
use crate::sim::index::{DieId, TxnId};
use enum_dispatch::enum_dispatch;
use shares::Shares;

/// The view of a policy.
#[derive(Clone, Copy)]
pub struct AdmitView<'a> {
    pub(crate) windows: &'a DieWindows,
    pub(crate) queues: &'a Queues,
    pub(crate) txns: &'a Txns,
    /// Whether a request of the host waits that only a collection can serve.
    pub(crate) waits_for_gc: bool,
}

impl AdmitView<'_> {
    /// Whether a slot of a die's window is free.
    #[inline(always)]
    pub fn has_room(&self, die: DieId) -> bool {
        self.windows.has_room(die)
    }

    /// All dies.
    pub fn dies(&self) -> impl Iterator<Item = DieId> + use<> {
        (0..self.windows.dies()).map(DieId)
    }

    /// Requests of a task in all windows, queued or executing.
    #[inline(always)]
    pub fn debit(&self, task: Source) -> u32 {
        self.windows.debit(task)
    }

    /// Whether the host sends no more requests: no slot is kept for it any longer.
    pub fn is_host_done(&self) -> bool {
        self.windows.is_host_done()
    }

    /// Whether a task other than the host is active.
    #[inline(always)]
    pub fn is_active(&self, task: Source) -> bool {
        self.windows.active().has(task)
    }

    /// Whether a request of the host waits for a collection: for a free page, or for the end of a map update that a
    /// collection has begun.
    #[inline(always)]
    pub fn waits_for_gc(&self) -> bool {
        self.waits_for_gc
    }

    /// Tasks with requests that wait for admission to a die's window.
    #[inline(always)]
    pub fn waiting(&self, die: DieId) -> Tasks {
        self.windows.waiting(die)
    }

    /// The position in the order of arrival of a task's first request that waits for admission to a die's window,
    /// [`u64::MAX`] if none does.
    #[inline]
    pub fn came(&self, task: Source, die: DieId) -> u64 {
        let first = self.queues.first(self.queues.for_window(die, task));
        first.map_or(u64::MAX, |id| self.txns[TxnId(id)].sequence)
    }
}

/// A change for the waiting requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A slot of a die is free: a request of this task, or a job, has released it.
    Slot {
        /// The die.
        die: DieId,
        /// The task of the request.
        task: Option<Source>,
    },
    /// The limits of tasks changed.
    Limits,
}

/// A task's request for a die's window, or the waiting list of such requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The task of the request.
    pub task: Source,
    /// The die whose window the request enters. If a policy names it to enter, the die has a free slot.
    pub die: DieId,
}

/// See the module's contract.
#[enum_dispatch]
pub trait AdmitPolicy {
    /// Whether a request of a task that reaches a die enters at once.
    fn enters(&mut self, entry: Entry, view: &AdmitView<'_>) -> bool;
    /// The waiting list whose request enters next after this change.
    fn next(&mut self, change: Change, view: &AdmitView<'_>) -> Option<Entry>;
    /// A request waits for admission to its die's window, the first of its task there or behind others.
    fn on_wait(&mut self, _entry: Entry, _is_first: bool) {}
    /// The first request of a waiting list changed, or the list is empty now.
    fn on_head(&mut self, _list: Entry, _view: &AdmitView<'_>) {}
    /// A slot of a die is free, and kept for a job: the policy does not decide on it.
    fn on_kept_slot(&mut self, _die: DieId, _view: &AdmitView<'_>) {}
    /// A request enters. Arguments are the time that it will use its die and the channel, and whether another request
    /// of its task still waits there.
    fn on_enter(&mut self, _entry: Entry, _cost_ns: u64, _is_backlogged: bool) {}
    /// The shares of the tasks, fixed ones too, if the policy has shares.
    fn shares(&mut self) -> Option<&mut Shares> {
        None
    }
    /// The share of slots of a task, in percent, if the policy has shares.
    fn share_percent(&self, _task: Source) -> Option<f64> {
        None
    }
}

/// The configuration of a policy.
pub trait Parameters {
    /// Checks the values.
    fn check(&self) -> Result<(), KeyError> {
        Ok(())
    }
    /// Slots of a die's window.
    fn slots(&self) -> u32;
    /// Whether it distinguishes tasks. Requests may then enter in another order than they arrived: of two requests in a
    /// window, the one that entered later may have arrived earlier.
    fn distinguishes_tasks(&self) -> bool {
        false
    }
    /// Whether the map's traffic is a task of its own, and not of the task that caused it.
    fn has_map_task(&self) -> bool {
        false
    }
    /// Whether requests of a task other than the host never enter.
    fn excludes(&self, _task: Source) -> bool {
        false
    }
}

/// Writes the registry: for each row its place in the configuration, in the run-time enum and in the queries.
macro_rules! admits {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[admit]`
            AdmitConfig, "admit", "which task's request enters which die's window?", default All,
            { $( $name => $module: $variant ),+ }
        }

        impl AdmitConfig {
            fn parameters(&self) -> &dyn Parameters {
                match self { $( Self::$variant(p) => p ),+ }
            }
        }

        /// The policy of a run.
        $hash $dispatch
        #[allow(missing_docs)]
        pub enum Admit { $( $variant($module::Policy) ),+ }

        impl Admit {
            /// The policy of a configuration.
            pub fn new(config: &AdmitConfig, setup: &Setup) -> Self {
                match config { $( AdmitConfig::$variant(p) => Self::$variant($module::Policy::new(p, setup)) ),+ }
            }
        }
    };
}

admits! {
    #[enum_dispatch(AdmitPolicy)]
    "all" => all: All,
    "window" => window: Window,
    "vanilla" => vanilla: Vanilla,
    "strict" => strict: Strict,
    "qosfc" => qosfc: Qosfc,
    "debit" => debit: Debit,
}

/// The drive for which a policy is made.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Dies of the drive.
    pub dies: u32,
    /// Seed of the run.
    pub seed: u64,
}

impl AdmitConfig {
    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        self.parameters().check()
    }

    /// Slots of a die's window.
    pub fn slots(&self) -> u32 {
        self.parameters().slots()
    }

    /// See [`Parameters::distinguishes_tasks`].
    pub fn distinguishes_tasks(&self) -> bool {
        self.parameters().distinguishes_tasks()
    }

    /// See [`Parameters::excludes`].
    pub fn excludes(&self, task: Source) -> bool {
        self.parameters().excludes(task)
    }

    /// See [`Parameters::has_map_task`].
    pub fn has_map_task(&self) -> bool {
        self.parameters().has_map_task()
    }
}

/// Parameters that are kept if a higher layer chooses another of these policies: the controller's slots.
pub const KEPT: Kept =
    Kept { table: "admit", policies: &["window", "vanilla", "strict", "qosfc", "debit"], keys: &["slots"] };

/// Checks a number of slots.
fn check_slots(slots: u32) -> Result<(), KeyError> {
    if (1..=65_536).contains(&slots) {
        return Ok(());
    }
    Err(KeyError::new("admit.slots", format!("{slots} slots are not possible")).with_help("use 1 to 65536"))
}

/// Whether a collection's request that waits at a die precedes all others: the host waits for it, and fewer requests of
/// collections than `guard` are in windows.
fn is_guarded(guard: u32, die: DieId, view: &AdmitView<'_>) -> bool {
    view.waits_for_gc() && view.waiting(die).has(Source::GC) && view.debit(Source::GC) < guard
}

/// The request that has waited longest for admission to a die's window, if one of its slots is free.
fn first_come(die: DieId, view: &AdmitView<'_>) -> Option<Entry> {
    let waiting = view.waiting(die);
    if waiting.is_empty() || !view.has_room(die) {
        return None;
    }
    let task = waiting.iter().min_by_key(|&task| view.came(task, die))?;
    Some(Entry { task, die })
}
