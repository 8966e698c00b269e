//! Redundancy: can data be rebuilt from other dies while its own is at work for somebody else?
//!
//! Contract: a policy that keeps parity says so by stripes ([`crate::flash::stripes`]): each unit of the host has a
//! channel, and parity units, hidden behind the host's, are written with them ([`planner`] says what has to be read
//! first). When a read of the host would enter its die's window the policy is asked whether it is rebuilt from the
//! other members of its stripe instead ([`RedundancyPolicy::rebuilds`]). It changes nothing itself, and takes constant
//! time.
//!
//! A policy is a file of this folder and a row of the registry below.

pub mod none;
pub mod planner;
pub mod rain;

use crate::config::axis;

axis! {
    /// `[redundancy]`
    RedundancyConfig, "redundancy", "can a blocked read be rebuilt from other dies?", default None,
    { "none" => none: None, "rain" => rain: Rain }
}

/// What a policy sees of the die that a read would go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieLoad {
    /// A request of another task than the host is under way there, or is in its window.
    pub is_at_background_work: bool,
}

/// See the module's contract.
pub trait RedundancyPolicy {
    /// Whether a read of the host that would enter a die's window is rebuilt from other dies.
    fn rebuilds(&self, load: DieLoad) -> bool;
}

impl RedundancyConfig {
    /// The policy, where there is parity.
    pub fn build(&self) -> Option<Box<dyn RedundancyPolicy + Send>> {
        match self {
            Self::None(_) => None,
            Self::Rain(params) => Some(Box::new(rain::Policy::new(params))),
        }
    }

    /// Whether parity is kept.
    pub fn has_parity(&self) -> bool {
        !matches!(self, Self::None(_))
    }
}
