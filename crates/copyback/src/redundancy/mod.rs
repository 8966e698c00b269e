//! Redundancy: can data be rebuilt from other dies while its own die works for another task?
//!
//! Contract: a policy with parity works on stripes ([`crate::flash::stripes`]): each unit of the host has a channel.
//! Parity units are hidden units after the host's, and are written with them ([`planner`] plans the reads before). The
//! engine asks whether to rebuild a read of the host from the other members of its stripe
//! ([`RedundancyPolicy::rebuilds`]): when the read reaches its die and would have to wait for a slot there, and when it
//! would enter the window. The policy may also require that the planes of a parity group are collected in turn
//! ([`RedundancyPolicy::turns`]); a collection that would begin waits for its turn. The policy changes nothing
//! itself, and takes constant time.
//!
//! A policy is a file of this folder and a row of the registry below.

pub mod none;
pub mod planner;
pub mod rain;
pub mod ttflash;

use crate::config::axis;
use crate::flash::geometry::Geometry;
use crate::sim::index::PlaneId;
use serde::{Deserialize, Serialize};

axis! {
    /// `[redundancy]`
    RedundancyConfig, "redundancy", "can a blocked read be rebuilt from other dies?", default None,
    { "none" => none: None, "rain" => rain: Rain, "ttflash" => ttflash: Ttflash }
}

/// The view of a policy on the die of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieLoad {
    /// A request of a task other than the host executes there, or is in its window; or a job has reserved the die.
    pub is_at_background_work: bool,
    /// A block of the read's plane is being relocated, with or without a current command; or a job has reserved the
    /// die.
    pub is_plane_collecting: bool,
}

/// The planes that are collected in turn. If addresses determine planes, they hold members of the same stripes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The planes of the dies that have the same place on their channels.
    Die,
    /// The planes that have the same place on their channels.
    Plane,
}

impl Group {
    /// Which group a plane belongs to.
    pub fn of(self, geometry: &Geometry, plane: PlaneId) -> u32 {
        let on_channel = plane.0 % geometry.planes_per_channel();
        match self {
            Self::Die => on_channel / geometry.planes_per_die,
            Self::Plane => on_channel,
        }
    }
}

/// See the module's contract.
pub trait RedundancyPolicy {
    /// Whether a read of the host that would enter a die's window is rebuilt from other dies.
    fn rebuilds(&self, load: DieLoad) -> bool;
    /// The groups of planes that collect one plane at a time; constant over a run. `None`: there is no such limit.
    fn turns(&self) -> Option<Group> {
        None
    }
}

impl RedundancyConfig {
    /// The policy, if there is parity.
    pub fn build(&self) -> Option<Box<dyn RedundancyPolicy + Send>> {
        match self {
            Self::None(_) => None,
            Self::Rain(params) => Some(Box::new(rain::Policy::new(params))),
            Self::Ttflash(params) => Some(Box::new(ttflash::Policy::new(params))),
        }
    }

    /// Whether planes of a parity group are collected in turn.
    pub fn takes_turns(&self) -> bool {
        self.turns().is_some()
    }

    /// The groups of planes that collect one plane at a time.
    pub fn turns(&self) -> Option<Group> {
        self.build().and_then(|policy| policy.turns())
    }

    /// Whether parity is kept.
    pub fn has_parity(&self) -> bool {
        !matches!(self, Self::None(_))
    }
}
