//! Order: which of a die's ready requests is issued first?
//!
//! Contract: a ready die offers the head of each class that may run now. The policy selects one of these classes, and
//! none only if nothing may run; the engine issues its head. If nothing may run, the engine need not call the policy.
//! The policy may read everything in [`DieView`], and keep its own state. Under preemption, requests that may preempt a
//! collection's next step are heads in the same way.
//!
//! A policy is a file of this folder and a row of the registry below.

pub mod fifo;
pub mod plugin;
pub mod priority;

/// The example of docs/policies.md, compiled where its reader puts it.
#[cfg(test)]
#[path = "../../../../../docs/examples/earliest_deadline.rs"]
mod example;
#[cfg(test)]
mod tests;

use crate::config::{Device, KeyError, axis};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use crate::sim::index::TxnId;
pub use crate::tasks::view::{Class, DieView, Waiting};
use enum_dispatch::enum_dispatch;

/// The heads of a die's classes. `came` is the arrival of each; [`u64::MAX`] if the class has none that may run.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Sequence number of the head, by class.
    pub came: [u64; 3],
    /// The head, by class, if it is a transaction.
    pub txns: [TxnId; 3],
    /// Requests with a smaller number waited at the die during all of its last collection.
    pub waited_before: u64,
}

/// The view of a policy.
#[derive(Clone, Copy)]
pub struct OrderView<'a> {
    /// The classes that may run now.
    pub heads: &'a Heads,
    /// The die, the time, and the waiting requests.
    pub die: &'a dyn DieView,
}

impl OrderView<'_> {
    /// Whether a request or job of a class may run now.
    #[inline(always)]
    pub fn may_run(&self, class: Class) -> bool {
        self.heads.came[class as usize] != u64::MAX
    }

    /// The request of a class that may run now; none for [`Class::Gc`].
    pub fn head(&self, class: Class) -> Option<Waiting> {
        let txn = self.heads.txns[class as usize];
        (class != Class::Gc && self.may_run(class)).then(|| self.die.request(txn))
    }
}

/// See the module's contract.
#[enum_dispatch]
pub trait OrderPolicy {
    /// The class whose head is issued next, none if nothing may run.
    fn pick(&mut self, view: &OrderView<'_>) -> Option<Class>;
    /// Whether collection's data precedes the host's on a channel, too.
    fn puts_gc_first(&self) -> bool {
        false
    }
}

/// The configuration of a policy.
pub trait Parameters {
    /// Checks the values against the device.
    fn check(&self, _device: &Device<'_>) -> Result<(), KeyError> {
        Ok(())
    }
}

/// Writes the registry: for each row its place in the configuration, in the run-time enum and in the checks.
macro_rules! orders {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[order]`
            OrderConfig, "order", "which of a die's ready requests goes first?", default Priority,
            { $( $name => $module: $variant ),+ }
        }

        impl OrderConfig {
            /// Checks the parameters.
            pub fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
                match self { $( Self::$variant(p) => p.check(device) ),+ }
            }
        }

        /// The policy of a run.
        $hash $dispatch
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum Order { $( $variant($module::Policy) ),+ }

        impl Order {
            /// The policy of a configuration.
            pub fn new(config: &OrderConfig, geometry: &Geometry, timing: &Timing) -> Self {
                match config { $( OrderConfig::$variant(p) => Self::$variant($module::Policy::new(p, geometry, timing)) ),+ }
            }
        }
    };
}

orders! {
    #[enum_dispatch(OrderPolicy)]
    "priority" => priority: Priority,
    "fifo" => fifo: Fifo,
    "plugin" => plugin: Plugin,
}
