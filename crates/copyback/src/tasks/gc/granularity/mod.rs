//! Granularity: the data that one collection takes, and the destination of its valid units.
//!
//! Contract: a granularity decides whether data stays on its plane, how it moves, in which order it is read, how it
//! fills pages, and to which plane each page goes. The engine calls it when a collection begins and when it has a page
//! to program; the policy reads, and the engine binds. The victim policy selects a block, which is a row of blocks if
//! the drive is written in rows. If planes were filled separately, a granularity may name a companion of the victim on
//! each other plane of the die ([`GranularityPolicy::companion`]). These blocks are collected together, and it decides
//! to which plane each page goes.

pub mod aligned;
pub mod block;
pub mod paired;
pub mod twin;

use crate::config::{Device, KeyError, axis};
use crate::flash::geometry::Geometry;
use crate::ftl::core::Move;
use crate::sim::index::{BlockId, PlaneId};
use crate::tasks::gc::destination::DestinationView;
use crate::tasks::job::JobFill;
use enum_dispatch::enum_dispatch;

/// The planes for the pages of a collection of several blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneRule {
    /// The planes of the die in turn, like host writes.
    InTurn,
    /// The plane whose write point is behind.
    Behind,
}

/// The visible state of planes other than a victim's plane.
pub trait OtherPlanesView {
    /// The block of the victim's offset on a plane, if it is full.
    fn twin(&self, plane: PlaneId, victim: BlockId) -> Option<BlockId>;
    /// The block that the victim policy would collect on a plane.
    fn picked(&mut self, plane: PlaneId) -> Option<BlockId>;
    /// Whether a plane is below the watermark at which its collection starts.
    fn is_low(&self, plane: PlaneId) -> bool;
    /// Units of a full block without valid data.
    fn invalid_units(&self, block: BlockId) -> u32;
}

/// See the module's contract.
#[enum_dispatch]
pub trait GranularityPolicy {
    /// Whether moves may go to other planes than the victim's.
    fn leaves_plane(&self) -> bool {
        false
    }
    /// Whether moves do not use the channel: each is one command.
    fn copies_back(&self) -> bool {
        false
    }
    /// The plane to which a page of a victim on `home` goes. `has_to_leave`: it gains nothing on `home`.
    fn destination(&self, home: PlaneId, _has_to_leave: bool, _drive: &impl DestinationView) -> PlaneId {
        home
    }
    /// The destination of the pages of collections of several blocks, if there are such collections.
    fn plane_rule(&self) -> Option<PlaneRule> {
        None
    }
    /// The block of another plane of the die that is collected with a victim.
    fn companion(&self, _plane: PlaneId, _victim: BlockId, _beside: &mut impl OtherPlanesView) -> Option<BlockId> {
        None
    }
    /// How a collection fills the pages that it programs.
    fn fill(&self) -> JobFill {
        JobFill::Pages
    }
    /// Whether writes that wait at the die share rows with moves.
    fn combines(&self) -> bool {
        false
    }
    /// Sorts the valid units of a victim, in the order of their locations, into the order of reads.
    fn order_moves(&self, _moves: &mut [Move], _geometry: &Geometry) {}
}

/// The configuration of a granularity.
pub trait Parameters {
    /// Checks the values against the device.
    fn check(&self, _device: &Device<'_>) -> Result<(), KeyError> {
        Ok(())
    }
    /// Whether it collects rows, so that the drive has to be written in rows.
    fn needs_rows(&self) -> bool {
        false
    }
}

/// Writes the registry: for each row its place in the configuration, in the run-time enum and in the queries.
macro_rules! granularities {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[granularity]`
            GranularityConfig, "granularity", "what does one collection take, and where does it go?", default Block,
            { $( $name => $module: $variant ),+ }
        }

        impl GranularityConfig {
            /// The parameters of the policy.
            fn parameters(&self) -> &dyn Parameters {
                match self { $( Self::$variant(p) => p ),+ }
            }

            /// The policy of a configuration.
            pub fn build(&self) -> Granularity {
                match self { $( Self::$variant(p) => Granularity::$variant($module::Policy::new(p)) ),+ }
            }
        }

        /// The policy of a run.
        $hash $dispatch
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)]
        pub enum Granularity { $( $variant($module::Policy) ),+ }
    };
}

granularities! {
    #[enum_dispatch(GranularityPolicy)]
    "block" => block: Block,
    "aligned" => aligned: Aligned,
    "twin" => twin: Twin,
    "paired" => paired: Paired,
}

impl GranularityConfig {
    /// Checks the parameters.
    pub fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        self.parameters().check(device)
    }

    /// Whether it collects rows, so that the drive has to be written in rows.
    pub fn needs_rows(&self) -> bool {
        self.parameters().needs_rows()
    }
}
