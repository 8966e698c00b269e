//! Coordination: do the drives of an array agree on when they collect?
//!
//! Contract: drives that can be told report how low they are, once for each level, and that what they were forced to
//! do is done; the controller hands a policy these messages, the end of each round, polls where it
//! asks for them, and when requests come and when none is left. A policy sees a [`View`] and sends orders
//! ([`Order`]); it changes nothing itself. A *round* is from an order to collect to the last drive that has done it.
//! What drives say meanwhile is kept for the next round. Messages of either way take `message_latency`; at equal times
//! they are handled after the event that caused them, those of drives by number.
//!
//! What every coordinated policy takes:
//! - `scope` (default `"array"`): whose collections are coordinated: those of all drives together, or with `"drive"`
//!   those of each drive's elements, and drives apart.
//! - `message_latency` (default 0): time of a message from a drive to the controller, or back.
//! - `force_collections` (default 1): collections that each plane of a forced drive does, whatever it has free.
//! - `force_stop` (default `"own"`): where a forced plane then stops: `"own"`, where its own collection would
//!   (`trigger.stop`); `"report"`, where it no longer reports (`trigger.report`); `"reserve"`, where all is free that
//!   can be.
//!
//! A drive's level is the lowest free share of its planes. A forced drive collects on all its elements, each plane in
//! turn from the lowest; with less than one collection a plane it would do nothing where only another drive is low, and
//! everybody's collection would be that of the drives that are low. A drive that is at its last resort
//! (`trigger.last_resort`) collects unasked.
//!
//! A drive alone is an array of one: its elements agree on when they collect.
//!
//! A policy is a file of this folder and a row of the registry below.

mod controller;
pub mod proactive_idle;
pub mod proactive_soft_limit;
pub mod reactive_inclusive;
pub mod reactive_selective;
pub mod uncoordinated;

pub use controller::{Controller, Round, Seen, Told};

use crate::config::{KeyError, axis};
use crate::ssd::told::{OnRequest, Stop};
use crate::tasks::gc::trigger::Level;
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

axis! {
    /// `[coordination]`
    CoordinationConfig, "coordination", "do the drives of an array agree on when they collect?", default Uncoordinated,
    {
        "uncoordinated" => uncoordinated: Uncoordinated,
        "ggc-reactive-inclusive" => reactive_inclusive: ReactiveInclusive,
        "ggc-reactive-selective" => reactive_selective: ReactiveSelective,
        "ggc-proactive-idle" => proactive_idle: ProactiveIdle,
        "ggc-proactive-soft-limit" => proactive_soft_limit: ProactiveSoftLimit,
    }
}

/// Whose collections are coordinated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All drives.
    #[default]
    Array,
    /// The elements of each drive.
    Drive,
}

/// Where a forced plane stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForceStop {
    /// Where its own collection would.
    #[default]
    Own,
    /// Where it no longer reports.
    Report,
    /// Where all is free that can be.
    Reserve,
}

impl From<ForceStop> for Stop {
    fn from(stop: ForceStop) -> Self {
        match stop {
            ForceStop::Own => Self::Own,
            ForceStop::Report => Self::Report,
            ForceStop::Reserve => Self::Reserve,
        }
    }
}

/// What every policy that coordinates takes.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// Whose collections are coordinated.
    pub scope: Scope,
    /// Time of a message.
    pub message_latency_ns: u64,
    /// What a forced drive does.
    pub force: Force,
}

/// An order to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Force {
    /// Where a plane stops.
    pub stop: Stop,
    /// Collections of each plane, whatever it has free.
    pub collections_min: u32,
}

/// Writes the parameters of a policy: those of all, and its own.
macro_rules! params {
    ($( $(#[$meta:meta])* $name:ident: $type:ty = $default:expr ),* $(,)?) => {
        /// See the page above.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Params {
            /// Whose collections are coordinated.
            pub scope: super::Scope,
            /// Time of a message.
            pub message_latency: copyback_workload::units::Nanos,
            /// Collections that each plane of a forced drive does, whatever it has free.
            pub force_collections: u32,
            /// Where a forced plane then stops.
            pub force_stop: super::ForceStop,
            $( $(#[$meta])* pub $name: $type, )*
        }

        impl Default for Params {
            fn default() -> Self {
                Self {
                    scope: Default::default(),
                    message_latency: copyback_workload::units::Nanos(0),
                    force_collections: 1,
                    force_stop: Default::default(),
                    $( $name: $default, )*
                }
            }
        }

        impl Params {
            /// What it has in common with others.
            pub(super) fn common(&self) -> super::Common {
                let force = super::Force { stop: self.force_stop.into(), collections_min: self.force_collections };
                super::Common { scope: self.scope, message_latency_ns: self.message_latency.0, force }
            }
        }
    };
}
pub(crate) use params;

/// A set of drives, a bit each.
pub type Drives = u64;

/// How low drives are: shares of a plane's blocks, looked up when they are asked for.
pub trait Levels {
    /// What the lowest plane of a drive has free.
    fn free_share(&self, drive: u32) -> f64;
    /// Where it reports, and where it would start.
    fn report_and_start_shares(&self, drive: u32) -> (f64, f64);
}

/// What a policy sees.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Simulated time.
    pub now_ns: u64,
    /// Drives that can be told.
    pub drives: Drives,
    /// How low they are.
    pub levels: &'a dyn Levels,
    /// Since when no request is under way; none while some are.
    pub idle_since_ns: Option<u64>,
    /// Whether a round is under way.
    pub in_round: bool,
}

/// What a policy hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A drive has fallen to a level.
    Low(u32, Level),
    /// The round is over.
    RoundEnd,
    /// It is time for a poll.
    Poll,
    /// A request has come.
    Request,
    /// No request is left.
    Quiet,
}

/// What a policy tells drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// These collect: a round begins.
    Force(Drives, Force),
    /// These pause.
    Pause(Drives, OnRequest),
}

/// See the module's contract.
pub trait CoordinationPolicy {
    /// Hears a message; what it orders.
    fn hear(&mut self, message: Message, view: &View<'_>) -> Option<Order>;
    /// Time between two polls.
    fn poll_every_ns(&self) -> Option<u64> {
        None
    }
}

impl CoordinationConfig {
    /// What it has in common with others; none where drives are left alone.
    pub fn common(&self) -> Option<Common> {
        match self {
            Self::Uncoordinated(_) => None,
            Self::ReactiveInclusive(p) => Some(p.common()),
            Self::ReactiveSelective(p) => Some(p.common()),
            Self::ProactiveIdle(p) => Some(p.common()),
            Self::ProactiveSoftLimit(p) => Some(p.common()),
        }
    }

    /// The policy, where there is one.
    pub fn build(&self) -> Option<Box<dyn CoordinationPolicy + Send>> {
        match self {
            Self::Uncoordinated(_) => None,
            Self::ReactiveInclusive(p) => Some(Box::new(reactive_inclusive::Policy::new(p))),
            Self::ReactiveSelective(p) => Some(Box::new(reactive_selective::Policy::new(p))),
            Self::ProactiveIdle(p) => Some(Box::new(proactive_idle::Policy::new(p))),
            Self::ProactiveSoftLimit(p) => Some(Box::new(proactive_soft_limit::Policy::new(p))),
        }
    }

    /// Whether collections may be told to stand still.
    pub fn may_pause(&self) -> bool {
        matches!(self, Self::ProactiveIdle(p) if p.on_request == OnRequest::Pause)
    }

    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        let zero = |key: &str, time: Nanos| match time.0 {
            0 => Err(KeyError::new(format!("coordination.{key}"), "polls without time between them never end")
                .with_help("use a time such as \"1 ms\"")),
            _ => Ok(()),
        };
        match self {
            Self::ProactiveIdle(p) => zero("idle_poll", p.idle_poll),
            Self::ProactiveSoftLimit(p) => zero("report_every", p.report_every),
            _ => Ok(()),
        }
    }
}
