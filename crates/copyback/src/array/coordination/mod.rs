//! Coordination: do the drives of an array agree on when they collect?
//!
//! Contract: drives that can be coordinated report that they have fallen to a level ([`FreeLevel`]), once for each
//! level, and that they have completed a forced collection. The controller forwards these messages to a policy. It also
//! reports the end of each round, the moments when requests arrive and when no request is outstanding any more, and
//! each poll, if the policy requests polls. A policy reads a [`CoordinationView`] and sends orders ([`Order`]); it
//! changes nothing itself. A *round* lasts from an order to collect until the last drive has completed it. Reports that
//! arrive meanwhile are kept for the next round.
//! Messages in both directions take `message_latency`. At equal times, messages are handled after the event that caused
//! them, and messages of drives in the order of their numbers.
//!
//! Parameters of every coordinated policy:
//! - `scope` (default `"array"`): whose collections are coordinated: those of all drives together, or with `"drive"`
//!   those of each drive's elements, each drive separately.
//! - `message_latency` (default 0): time of a message from a drive to the controller, or back.
//! - `force_collections` (default 1): collections that each plane of a forced drive makes, however many blocks it has
//!   free.
//! - `force_stop` (default `"own"`): the level at which a forced plane then stops: `"own"`, the level at which its own
//!   collection would stop (`trigger.stop`); `"report"`, the level at which it no longer reports (`trigger.report`);
//!   `"reserve"`, the level at which no more can be freed.
//! - `force_scope` (default `"plane"`): whose free blocks are compared with that level. `"plane"`: each plane's own.
//!   `"drive"`: the sum of the drive ("until the number of free blocks exceeds an internal threshold", tc12 Section
//!   4.3.1). Each element then does `force_collections`, first on its plane with the fewest free blocks, and goes on
//!   until the drive has reached the level.
//!
//! A drive's level is the lowest free share of its planes. Drives report it at each poll if the policy requests that. A
//! forced drive collects on all its elements, one plane of each at a time, the one with the fewest free blocks first.
//! With `force_collections = 0`, a forced plane collects only if it is below the level of `force_stop`. A drive that is
//! at its last resort (`trigger.last_resort`) collects without an order.
//!
//! A drive alone is an array of one: its elements agree on when they collect.
//!
//! A policy is a file of this folder, with [`CoordinationPolicy`] and [`Parameters`], and a row of the registry below.

mod controller;
pub mod proactive_idle;
pub mod proactive_soft_limit;
pub mod reactive_inclusive;
pub mod reactive_selective;
pub mod uncoordinated;

pub use controller::{ArrayState, Controller, DriveOrder, Round};

use crate::config::times::check_distance;
use crate::config::{KeyError, axis};
use crate::ssd::gc::coordinated_drive::{Force, PauseMode};
use crate::tasks::gc::trigger::FreeLevel;
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// The configuration of a coordination: one `impl` a policy.
pub trait Parameters {
    /// The parameters in common with other policies; none without coordination.
    fn common(&self) -> Option<Common>;
    /// The policy, if there is one.
    fn build(&self) -> Option<Box<dyn CoordinationPolicy + Send>>;
    /// Whether collections may be paused by order.
    fn may_pause(&self) -> bool {
        false
    }
    /// Checks the policy's own values.
    fn check(&self) -> Result<(), KeyError> {
        Ok(())
    }
}

/// Lists the policies: their names, modules and variants.
macro_rules! coordinations {
    ($( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[coordination]`
            CoordinationConfig, "coordination", "do the drives of an array agree on when they collect?",
            default Uncoordinated,
            { $( $name => $module: $variant ),+ }
        }

        impl CoordinationConfig {
            /// The policy's parameters.
            fn parameters(&self) -> &dyn Parameters {
                match self { $( Self::$variant(p) => p ),+ }
            }
        }
    };
}

coordinations! {
    "uncoordinated" => uncoordinated: Uncoordinated,
    "ggc-reactive-inclusive" => reactive_inclusive: ReactiveInclusive,
    "ggc-reactive-selective" => reactive_selective: ReactiveSelective,
    "ggc-proactive-idle" => proactive_idle: ProactiveIdle,
    "ggc-proactive-soft-limit" => proactive_soft_limit: ProactiveSoftLimit,
}

/// Which collections are coordinated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All drives.
    #[default]
    Array,
    /// The elements of each drive.
    Drive,
}

/// The parameters that every coordinating policy has.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// Which collections are coordinated.
    pub scope: Scope,
    /// Time of a message.
    pub message_latency_ns: u64,
    /// The order to a forced drive.
    pub force: Force,
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
            /// Collections that each plane of a forced drive makes, however many blocks it has free.
            pub force_collections: u32,
            /// The level at which a forced plane then stops.
            pub force_stop: crate::ssd::gc::coordinated_drive::Stop,
            /// Whose free blocks are compared with that level.
            pub force_scope: crate::ssd::gc::coordinated_drive::ForceScope,
            $( $(#[$meta])* pub $name: $type, )*
        }

        impl Default for Params {
            fn default() -> Self {
                Self {
                    scope: Default::default(),
                    message_latency: copyback_workload::units::Nanos(0),
                    force_collections: 1,
                    force_stop: Default::default(),
                    force_scope: Default::default(),
                    $( $name: $default, )*
                }
            }
        }

        impl Params {
            /// The parameters in common with other policies.
            fn shared(&self) -> super::Common {
                let owed = crate::ssd::gc::coordinated_drive::MinimumCollections::AtLeast(self.force_collections);
                let force =
                    crate::ssd::gc::coordinated_drive::Force { stop: self.force_stop, scope: self.force_scope, owed };
                super::Common { scope: self.scope, message_latency_ns: self.message_latency.0, force }
            }
        }
    };
}
pub(crate) use params;

/// A set of drives, a bit each.
pub type Drives = u64;

/// The view of a policy.
#[derive(Clone, Copy, Debug)]
pub struct CoordinationView {
    /// Simulated time.
    pub now_ns: u64,
    /// Drives that can be coordinated.
    pub drives: Drives,
    /// The time since which no request is outstanding; none while some are.
    pub idle_since_ns: Option<u64>,
    /// Drives of the current round that have not completed their forced collections.
    pub in_round: Drives,
}

/// A message to a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message {
    /// A drive has fallen to a level.
    Low(u32, FreeLevel),
    /// The distance of a drive's lowest plane from the middle between its report level and its start level, as a share
    /// of a plane's blocks. Every drive sends it at each poll, if the policy requests it.
    AboveMiddle(u32, f64),
    /// The round is over.
    RoundEnd,
    /// It is time for a poll.
    Poll,
    /// A request has arrived at an array without outstanding requests.
    Request,
    /// A part of a request, or other work of the array, begins on a drive: if the policy requests it.
    Part(u32),
    /// No request is outstanding any more.
    Quiet,
}

/// The orders of a policy to drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// These drives collect: a round begins. Resumed drives continue a paused round.
    Force {
        /// All forced drives.
        drives: Drives,
        /// Resumed drives: they owe their remaining collections.
        resumed: Drives,
        /// The order.
        force: Force,
    },
    /// These drives pause.
    Pause(Drives, PauseMode),
}

impl Order {
    /// An order to collect without resumed drives.
    fn force(drives: Drives, force: Force) -> Self {
        Self::Force { drives, resumed: 0, force }
    }
}

/// See the module's contract.
pub trait CoordinationPolicy {
    /// Receives a message; returns its orders.
    fn on_message(&mut self, message: Message, view: &CoordinationView) -> Option<Order>;
    /// Time between two polls.
    fn poll_every_ns(&self) -> Option<u64> {
        None
    }
    /// Whether drives report their level at each poll.
    fn asks_levels(&self) -> bool {
        false
    }
    /// Whether it receives [`Message::Part`].
    fn observes_parts(&self) -> bool {
        false
    }
}

impl CoordinationConfig {
    /// The parameters in common with other policies; none without coordination.
    pub fn common(&self) -> Option<Common> {
        self.parameters().common()
    }

    /// The policy, if there is one.
    pub fn build(&self) -> Option<Box<dyn CoordinationPolicy + Send>> {
        self.parameters().build()
    }

    /// Whether collections may be paused by order.
    pub fn may_pause(&self) -> bool {
        self.parameters().may_pause()
    }

    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        let latency_ns = self.common().map_or(0, |common| common.message_latency_ns);
        check_distance("coordination.message_latency", Nanos(latency_ns))?;
        self.parameters().check()
    }
}

/// Checks the time between two polls.
fn check_period(key: &str, time: Nanos) -> Result<(), KeyError> {
    match time.0 {
        0..1_000 => Err(KeyError::new(key, format!("polls every {time} would dominate the run time"))
            .with_help("use 1 us or more, such as \"1 ms\"")),
        _ => check_distance(key, time),
    }
}
