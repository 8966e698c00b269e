//! Preemption: when does garbage collection let host work onto its die?
//!
//! Contract: a policy is asked at the start of a collection whether the collection takes time at all, and between any
//! two steps of a collection, with the die free, whether a request that waits there may go first. It looks; the engine
//! reserves the die.
//!
//! What comes to the die while others go first may follow them, as far as the policy's `fence` lets it. Where free blocks are
//! below the hard watermark, or a write waits at the die for a page to land on, nothing that comes meanwhile may: so a
//! point ends, however many come, and the collection that makes free blocks goes on.
//!
//! How far free blocks have fallen is a state of collection (ispass11 Fig. 7), which preemptive policies have in
//! common: from 0, no collection, to 3, in which nothing goes before it.

pub mod deadline;
pub mod ideal;
pub mod none;
pub mod points;

use crate::config::{KeyError, axis};
use crate::flash::timing::Timing;
use serde::{Deserialize, Serialize};

axis! {
    /// `[preemption]`
    PreemptionConfig, "preemption", "when does garbage collection let host work onto its die?", default None,
    { "none" => none: None, "points" => points: Points, "deadline" => deadline: Deadline, "ideal" => ideal: Ideal }
}

impl PreemptionConfig {
    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        match self {
            Self::None(_) | Self::Ideal(_) | Self::Points(_) => Ok(()),
            Self::Deadline(p) => p.check(),
        }
    }

    /// Whether collections take no time.
    pub fn is_timeless(&self) -> bool {
        matches!(self, Self::Ideal(_))
    }

    /// Whether a collection may let requests go before its steps.
    pub fn lets_host_first(&self) -> bool {
        matches!(self, Self::Points(_) | Self::Deadline(_))
    }
}

/// What collection does on its die next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// A move begins with a read: ispass11's point (2).
    Read,
    /// What was read is programmed: ispass11's point (1).
    Program,
    /// The moves are done: point (2) once more.
    Erase,
    /// Nothing: its step is under way on another die, and this one is free meanwhile.
    Elsewhere,
}

/// The state of collection on a plane: ispass11 Fig. 7. State 0, no collection, is that no collection has the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// 1: all requests may go first.
    AllAllowed,
    /// 2: free blocks are below the hard watermark. Requests that consume them may not go first.
    WritesProhibited,
    /// 3: and a write of high priority waits. Nothing may go first until the collection is over and that write served.
    AllProhibited,
}

/// The state that follows from the free blocks and from who waits; `at_hard` says what the hard watermark prohibits.
pub fn state_of(is_below_hard: bool, high_priority_write_waits: bool, at_hard: AtHard) -> State {
    match (is_below_hard, at_hard) {
        (false, _) => State::AllAllowed,
        (true, AtHard::Writes) if !high_priority_write_waits => State::WritesProhibited,
        (true, _) => State::AllProhibited,
    }
}

/// What the hard watermark prohibits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtHard {
    /// Writes: the state diagram of ispass11 Section III-D.
    #[default]
    Writes,
    /// All requests: ispass11 Section IV-B4, "SSD stops GC preemption".
    All,
}

/// What may go first of that which comes while requests go before a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fence {
    /// All of it.
    #[default]
    None,
    /// Reads; writes wait for the next point.
    Writes,
    /// Nothing: all of it waits for the next point.
    All,
}

impl Fence {
    /// Whether a request that came after the point was opened waits for the next one.
    #[inline]
    pub fn holds_back(self, is_write: bool) -> bool {
        match self {
            Self::None => false,
            Self::Writes => is_write,
            Self::All => true,
        }
    }
}

/// A request that waits at the die of a collection.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Whether it is a write.
    pub is_write: bool,
    /// Whether it goes to the plane on which the collection is at work.
    pub is_on_its_plane: bool,
    /// When its request arrived.
    pub arrival_ns: u64,
}

/// What a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The state of collection.
    pub state: State,
    /// What the collection does next.
    pub step: NextStep,
    /// Whole pages that the collection has moved.
    pub pages_moved: u32,
    /// The clock.
    pub now_ns: u64,
}

/// The policy of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Preemption {
    /// Blocking.
    None,
    /// Semi-preemptive.
    Points(points::Policy),
    /// As long as deadlines hold.
    Deadline(deadline::Policy),
    /// Without time.
    Ideal,
}

impl Preemption {
    /// The policy that a configuration asks for.
    pub fn new(config: &PreemptionConfig, timing: &Timing, units_per_page: u32) -> Self {
        match config {
            PreemptionConfig::None(_) => Self::None,
            PreemptionConfig::Points(p) => Self::Points(points::Policy::new(p)),
            PreemptionConfig::Deadline(p) => Self::Deadline(deadline::Policy::new(p, timing, units_per_page)),
            PreemptionConfig::Ideal(_) => Self::Ideal,
        }
    }

    /// Whether a collection is done in no time at all.
    #[inline(always)]
    pub fn is_timeless(&self) -> bool {
        *self == Self::Ideal
    }

    /// Whether anything may ever go between two steps.
    #[inline(always)]
    pub fn is_preemptive(&self) -> bool {
        matches!(self, Self::Points(_) | Self::Deadline(_))
    }

    /// How long the controller polls the queue before each step.
    pub fn poll_ns(&self) -> u64 {
        match self {
            Self::Points(p) => p.poll_ns,
            Self::Deadline(p) => p.poll_ns,
            Self::None | Self::Ideal => 0,
        }
    }

    /// What may go first of that which comes while requests go before a step.
    pub fn fence(&self) -> Fence {
        match self {
            Self::Points(p) => p.fence,
            Self::Deadline(p) => p.fence,
            Self::None | Self::Ideal => Fence::All,
        }
    }

    /// What the hard watermark prohibits.
    pub fn at_hard(&self) -> AtHard {
        match self {
            Self::Points(p) => p.at_hard,
            Self::Deadline(_) | Self::None | Self::Ideal => AtHard::All,
        }
    }

    /// Whether a request may go before the collection's next step.
    #[inline]
    pub fn admits(&self, view: View, candidate: Candidate) -> bool {
        let is_prohibited = match view.state {
            State::AllAllowed => false,
            State::WritesProhibited => candidate.is_write,
            State::AllProhibited => true,
        };
        !is_prohibited
            && match self {
                Self::Points(p) => p.admits(view, candidate),
                Self::Deadline(p) => p.admits(view, candidate),
                Self::None | Self::Ideal => false,
            }
    }

    /// Whether a command that leads with another plane may take a page of this plane along, before the collection's
    /// next step.
    #[inline]
    pub fn excludes_plane(&self, step: NextStep, is_write: bool) -> bool {
        match self {
            Self::Points(p) => p.excludes_plane(step, is_write),
            Self::Deadline(_) | Self::None | Self::Ideal => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each row of ispass11 Fig. 7 hold? States 0 and 1 differ by the soft watermark, which starts and ends
    /// collections.
    #[test]
    fn states_follow_the_diagram() {
        let rows = [
            // below T_hard, high-priority write, what the hard watermark prohibits: state
            (false, false, AtHard::Writes, State::AllAllowed),
            (false, true, AtHard::Writes, State::AllAllowed),
            (true, false, AtHard::Writes, State::WritesProhibited),
            (true, true, AtHard::Writes, State::AllProhibited),
            (false, false, AtHard::All, State::AllAllowed),
            (true, false, AtHard::All, State::AllProhibited),
        ];
        for (is_below, waits, at_hard, state) in rows {
            assert_eq!(state_of(is_below, waits, at_hard), state, "{is_below} {waits} {at_hard:?}");
        }
    }
}
