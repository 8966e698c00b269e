//! Order: which of a die's ready requests goes first?
//!
//! Contract: a die that is ready offers the head of each class that may run now. The policy names a class; the engine
//! issues its head.

pub mod fifo;
pub mod priority;

use crate::config::axis;

axis! {
    /// `[order]`
    OrderConfig, "order", "which of a die's ready requests goes first?", default Priority,
    { "priority" => priority: Priority, "fifo" => fifo: Fifo }
}

/// What waits at a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// Background work.
    Gc,
    /// A read of the host, or one that a write of the host needs first.
    Read,
    /// A write of the host.
    Write,
}

/// The heads of a die's classes: when each came, [`u64::MAX`] where the class has nothing that may run.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Sequence number of the head, by class.
    pub came: [u64; 3],
    /// Requests of a smaller number waited at the die for the whole of its last collection.
    pub waited_before: u64,
}

/// The policy of a run.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Classes in a fixed order.
    Priority(priority::Policy),
    /// By arrival.
    Fifo,
}

impl Order {
    /// The policy that a configuration asks for.
    pub fn new(config: &OrderConfig) -> Self {
        match config {
            OrderConfig::Priority(p) => Self::Priority(priority::Policy::new(p)),
            OrderConfig::Fifo(_) => Self::Fifo,
        }
    }

    /// The class whose head goes first, none where nothing may run.
    #[inline]
    pub fn pick(&self, heads: Heads) -> Option<Class> {
        match self {
            Self::Priority(p) => p.pick(heads),
            Self::Fifo => fifo::pick(heads),
        }
    }
}
