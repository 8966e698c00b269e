//! Trigger: when does garbage collection start and stop?
//!
//! Contract: the engine calls a trigger whenever the free blocks of a plane changed, and whenever a collection ended
//! ([`TriggerPolicy::wants_plane`], or [`TriggerPolicy::wants_collection`] if its scope is more than a plane). It also
//! calls it when a wanted collection is about to start ([`TriggerPolicy::starts_now`]). A trigger reads the free
//! quantity that it counts ([`TriggerPolicy::free_of`]), and the waiting requests; it answers, and the engine starts
//! jobs. A coordinated drive ([`TriggerPolicy::obey`]) calls it in the same way, and also reports its level
//! ([`TriggerPolicy::level_of`]).

pub mod idle;
pub mod plugin;
pub mod watermark;

use crate::config::layers::Kept;
use crate::config::{GeometryConfig, KeyError, ShareOrCount, axis};
use crate::flash::geometry::Geometry;
use crate::ftl::core::Ftl;
use crate::sim::index::PlaneId;
pub use crate::tasks::view::DriveView;
use enum_dispatch::enum_dispatch;
use idle::Idle;
use serde::{Deserialize, Serialize};

/// The scope whose free blocks are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Each plane's own.
    #[default]
    Plane,
    /// A die's planes together.
    Die,
    /// All.
    Device,
}

impl Scope {
    /// Its number of planes.
    pub fn planes(self, g: &GeometryConfig) -> u32 {
        match self {
            Self::Plane => 1,
            Self::Die => g.planes_per_die,
            Self::Device => g.planes_per_die * g.channels * g.chips_per_channel * g.dies_per_chip,
        }
    }

    /// Its name in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Plane => "a plane",
            Self::Die => "a die",
            Self::Device => "the drive",
        }
    }
}

/// The reason for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The trigger's scope is below its watermark.
    Watermark,
    /// Writes wait for space, and no other event will make some.
    Space,
    /// The drive has been idle for long enough.
    Idle,
    /// A caller requires it at any watermark: a coordinator's order, a merge that is due.
    Requested,
}

/// The level of the free quantity, for a coordinated drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FreeLevel {
    /// No report is due.
    High,
    /// Below the watermark at which it reports, and starts nothing.
    Report,
    /// Below the watermark at which it would start without coordination.
    Start,
    /// So low that it starts without an order.
    LastResort,
}

/// The watermarks of a coordinated drive, in free blocks of a plane: it reports below `report`, would start a
/// collection below `start`, and stops at `stop`.
#[derive(Clone, Copy, Debug)]
pub struct CoordinationWatermarks {
    /// It reports below this.
    pub report: u32,
    /// It would start a collection below this.
    pub start: u32,
    /// Its collection stops at this.
    pub stop: u32,
}

/// A collection of a plane that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The reason.
    pub start: Start,
    /// Whether a request waits that the collection may serve: at the die, or for space that it may free elsewhere.
    pub request_waits: bool,
}

/// See the module's contract.
#[enum_dispatch]
pub trait TriggerPolicy {
    /// The scope whose free blocks are counted.
    fn scope(&self) -> Scope;
    /// The free blocks or pages of a plane, as the trigger counts them.
    fn free_of(&self, ftl: &Ftl, plane: PlaneId) -> u32;
    /// Whether a plane with this much free must collect, if planes are the scope; the plane's number on its die is
    /// given.
    fn wants_plane(&self, free: u32, plane_offset: u32, is_collecting: bool, drive: &dyn DriveView) -> bool;
    /// Whether a scope with this much free must collect; `is_collecting`: whether it already does.
    fn wants_collection(&self, free: u32, is_collecting: bool, drive: &dyn DriveView) -> bool;
    /// Whether a wanted collection starts now; if not, it does with the next request that reaches the die.
    fn starts_now(&self, _wanted: Wanted) -> bool {
        true
    }
    /// Whether the next collection follows, if the scope is still below the watermark at which collection stops.
    fn goes_on(&self) -> bool {
        true
    }
    /// The hard watermark: below it, few requests or none may delay a collection.
    fn hard_watermark(&self) -> u32 {
        0
    }
    /// Whether a scope with this much free is below the hard watermark.
    fn is_below_hard(&self, free: u32) -> bool {
        free < self.hard_watermark()
    }
    /// Free blocks of the whole drive below which collection starts.
    fn soft_blocks(&self, geometry: &Geometry) -> u64;
    /// The parameters of collection in idle time, if there is any.
    fn idle(&self) -> Option<Idle> {
        None
    }
    /// From now on a coordinator outside the drive orders collections. Below its `report` watermark, the trigger wants
    /// a collection, and the engine reports the level instead of starting one.
    fn obey(&mut self);
    /// The level of a scope with this much free.
    fn level_of(&self, free: u32) -> FreeLevel;
    /// The watermarks of a coordinated drive.
    fn coordination_watermarks(&self, geometry: &Geometry) -> CoordinationWatermarks;
}

/// Watermarks are kept if a plugin is used.
pub const KEPT: Kept = Kept {
    table: "trigger",
    policies: &["plugin"],
    keys: &[
        "scope",
        "count",
        "soft",
        "stop",
        "report",
        "last_resort",
        "collections",
        "when",
        "stagger",
        "hard",
        "idle",
    ],
};

/// The configuration of a trigger.
pub trait Parameters {
    /// Checks the values.
    fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError>;
    /// Free blocks of each plane below which collection starts, and at which it stops, for a preconditioning in which
    /// each plane collects independently. Those of a die's second plane are above those of its first by
    /// [`Parameters::stagger_blocks`].
    fn blocks_per_plane(&self, geometry: &GeometryConfig) -> (u32, u32);
    /// See [`Parameters::blocks_per_plane`].
    fn stagger_blocks(&self) -> u32 {
        0
    }
    /// The most free blocks that a plane has when collection stops.
    fn stop_blocks_per_plane(&self, geometry: &GeometryConfig) -> u32;
    /// The watermark at which collection stops: its key, and its value.
    fn stop_key(&self) -> Option<(&'static str, ShareOrCount)> {
        None
    }
    /// A configured key that has an effect only if collections wait for their dies.
    fn key_needing_dies(&self) -> Option<&'static str> {
        None
    }
    /// A configured key that makes a drive collect at a time of its own choice.
    fn key_of_own_start(&self) -> Option<&'static str> {
        None
    }
}

/// Writes the registry: for each row its place in the configuration, in the run-time enum and in the queries.
macro_rules! triggers {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[trigger]`
            TriggerConfig, "trigger", "when does garbage collection start and stop?", default Watermark,
            { $( $name => $module: $variant ),+ }
        }

        impl TriggerConfig {
            /// The trigger of a drive.
            pub fn build(&self, geometry: &Geometry) -> Trigger {
                match self { $( Self::$variant(p) => Trigger::$variant($module::Policy::new(p, geometry)) ),+ }
            }

            /// The parameters of the trigger.
            fn parameters(&self) -> &dyn Parameters {
                match self { $( Self::$variant(p) => p ),+ }
            }
        }

        /// The policy of a run.
        $hash $dispatch
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum Trigger { $( $variant($module::Policy) ),+ }
    };
}

triggers! {
    #[enum_dispatch(TriggerPolicy)]
    "watermark" => watermark: Watermark,
    "plugin" => plugin: Plugin,
}

impl TriggerConfig {
    /// The watermarks: a plugin sees them, too.
    pub fn watermarks(&self) -> &watermark::Params {
        match self {
            Self::Watermark(params) => params,
            Self::Plugin(params) => &params.watermark,
        }
    }

    /// Whether there is a hard watermark: one of 0 is none.
    pub fn has_hard_watermark(&self) -> bool {
        !matches!(self.watermarks().hard, ShareOrCount::Blocks(0) | ShareOrCount::Share(0.0))
    }

    /// The watermarks, mutable.
    pub fn watermarks_mut(&mut self) -> &mut watermark::Params {
        match self {
            Self::Watermark(params) => params,
            Self::Plugin(params) => &mut params.watermark,
        }
    }

    /// Checks the parameters.
    pub fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        self.parameters().check(geometry)
    }

    /// See [`Parameters::blocks_per_plane`].
    pub fn blocks_per_plane(&self, geometry: &GeometryConfig) -> (u32, u32) {
        self.parameters().blocks_per_plane(geometry)
    }

    /// See [`Parameters::blocks_per_plane`].
    pub fn stagger_blocks(&self) -> u32 {
        self.parameters().stagger_blocks()
    }

    /// See [`Parameters::stop_key`].
    pub fn stop_key(&self) -> Option<(&'static str, ShareOrCount)> {
        self.parameters().stop_key()
    }

    /// See [`Parameters::key_needing_dies`].
    pub fn key_needing_dies(&self) -> Option<&'static str> {
        self.parameters().key_needing_dies()
    }

    /// See [`Parameters::key_of_own_start`].
    pub fn key_of_own_start(&self) -> Option<&'static str> {
        self.parameters().key_of_own_start()
    }

    /// The most free blocks that a plane has when collection stops.
    pub fn stop_blocks_per_plane(&self, geometry: &GeometryConfig) -> u32 {
        self.parameters().stop_blocks_per_plane(geometry)
    }
}
