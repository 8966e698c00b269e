//! Admit: which task's request enters which die's window?
//!
//! Contract: requests of all tasks (the host, collections that reserve no die, the map, ...) enter the queue of their
//! die through its window, in which commands are taken as `order` says. The policy is asked when one comes to a die
//! with a free slot where none of its task waits ([`AdmitPolicy::enters`]), and when a slot is free again
//! ([`AdmitPolicy::next`], until it names nobody). It is told of all that enter and end, sees the heads of the waiting
//! lists, one for each task and die, through [`View`], and may own state. Requests of one task at one die keep their
//! order. It answers in a time that does not depend on how many wait.
//!
//! A program of the host is admitted only with a page to land on, so that what is in a window can always finish; a
//! collection that reserves its die takes a slot like anybody else, and goes first when one becomes free: it is no
//! business of the policy.
//!
//! A policy is a file of this folder and a row of the registry below.

pub mod all;
pub mod window;

use super::queues::Queues;
use super::txn::Txns;
use super::windows::{Tasks, Windows};
use crate::config::{KeyError, axis};
use crate::flash::command::Source;
use crate::sim::index::{DieId, TxnId};

/// What a policy may look at.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(crate) windows: &'a Windows,
    pub(crate) queues: &'a Queues,
    pub(crate) txns: &'a Txns,
}

impl View<'_> {
    /// Whether a slot of a die's window is free.
    #[inline(always)]
    pub fn has_room(&self, die: DieId) -> bool {
        self.windows.has_room(die)
    }

    /// Tasks of which requests wait in front of a die's window.
    #[inline(always)]
    pub fn waiting(&self, die: DieId) -> Tasks {
        self.windows.waiting(die)
    }

    /// The place in the order of arrival of the first request of a task that waits in front of a die's window,
    /// [`u64::MAX`] where none does.
    #[inline]
    pub fn came(&self, task: Source, die: DieId) -> u64 {
        let first = self.queues.first(self.queues.in_front(die, task));
        first.map_or(u64::MAX, |id| self.txns[TxnId(id)].sequence)
    }
}

/// A slot that became free.
#[derive(Clone, Copy, Debug)]
pub struct Freed {
    /// Of which die.
    pub die: DieId,
}

/// A waiting list: its first request enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whose request.
    pub task: Source,
    /// Into the window of which die, which has room.
    pub die: DieId,
}

/// See the module's contract.
pub trait AdmitPolicy {
    /// Whether a request of a task that comes to a die enters at once.
    fn enters(&mut self, entry: Entry, view: &View<'_>) -> bool;
    /// Whose request enters next, now that a slot is free.
    fn next(&mut self, freed: Freed, view: &View<'_>) -> Option<Entry>;
}

/// What a configuration says of a policy.
pub trait Parameters {
    /// Checks the values.
    fn check(&self) -> Result<(), KeyError> {
        Ok(())
    }
    /// Slots of a die's window.
    fn slots(&self) -> u32;
}

/// Writes the registry: of each row its place in the configuration, in the run-time enum and in the questions.
macro_rules! admits {
    ($( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
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
        #[allow(missing_docs)]
        pub enum Admit { $( $variant($module::Policy) ),+ }

        impl Admit {
            /// The policy that a configuration asks for.
            pub fn new(config: &AdmitConfig) -> Self {
                match config { $( AdmitConfig::$variant(p) => Self::$variant($module::Policy::new(p)) ),+ }
            }
        }

        impl AdmitPolicy for Admit {
            #[inline(always)]
            fn enters(&mut self, entry: Entry, view: &View<'_>) -> bool {
                match self { $( Self::$variant(p) => p.enters(entry, view) ),+ }
            }
            #[inline]
            fn next(&mut self, freed: Freed, view: &View<'_>) -> Option<Entry> {
                match self { $( Self::$variant(p) => p.next(freed, view) ),+ }
            }
        }
    };
}

admits! {
    "all" => all: All,
    "window" => window: Window,
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
}

/// The request that has waited longest in front of a die's window, if one of its slots is free.
fn first_come(die: DieId, view: &View<'_>) -> Option<Entry> {
    let waiting = view.waiting(die);
    if waiting.is_empty() || !view.has_room(die) {
        return None;
    }
    let task = waiting.iter().min_by_key(|&task| view.came(task, die))?;
    Some(Entry { task, die })
}
