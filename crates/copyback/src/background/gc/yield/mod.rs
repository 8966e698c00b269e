//! Yield: when does garbage collection let host work onto its die?
//!
//! Contract: a policy is asked at the start of a round whether the round takes time at all, and, whenever the die of a
//! round could take a command, whether work of others may go first. It looks; the engine leases the die.

pub mod ideal;
pub mod never;

use crate::config::axis;

axis! {
    /// `[yield]`
    YieldConfig, "yield", "when does garbage collection let host work onto its die?", default Never,
    { "never" => never: Never, "ideal" => ideal: Ideal }
}

/// The policy of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// Blocking.
    Never,
    /// Without time.
    Ideal,
}

impl Yield {
    /// The policy that a configuration asks for.
    pub fn new(config: &YieldConfig) -> Self {
        match config {
            YieldConfig::Never(_) => Self::Never,
            YieldConfig::Ideal(_) => Self::Ideal,
        }
    }

    /// Whether a round is done in no time at all.
    #[inline(always)]
    pub fn is_timeless(self) -> bool {
        self == Self::Ideal
    }

    /// Whether a round leases its die, so that nothing else runs there before its end.
    #[inline(always)]
    pub fn leases_die(self) -> bool {
        self == Self::Never
    }
}
