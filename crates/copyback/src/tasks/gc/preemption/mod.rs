//! Preemption: when may host requests use a die that garbage collection reserved?
//!
//! Contract: the engine asks a policy at the start of a collection whether the collection takes time at all. Between
//! any two steps of a collection, with the die free, it asks whether a request that waits there may preempt
//! ([`PreemptionPolicy::admits`]). The policy only reads the drive ([`DieView`]); the engine reserves the die. Because
//! the policy is called for many requests, its state changes only in [`PreemptionPolicy::on_point`], once before each
//! step. A policy is a file of this folder and a row of the registry.
//!
//! Requests that reach the die while others preempt may follow them, as far as the policy's `fence` permits. If free
//! blocks are below the hard watermark, or a write waits at the die for a free page, no later request may follow: the
//! point ends, however many arrive, and the collection that frees blocks continues.
//!
//! All preemptive policies share the states of collection (ispass11 Fig. 7), which follow the free blocks and waiting
//! writes of high priority: from 0, no collection, to 3, in which no request preempts it.

pub mod always;
pub mod deadline;
pub mod ideal;
pub mod none;
pub mod plugin;
pub mod points;
pub mod suspend;

/// The example of docs/policies.md, compiled at the path that its reader uses.
#[cfg(test)]
#[path = "../../../../../../docs/examples/every_nth.rs"]
mod example;

use crate::config::layers::Kept;
use crate::config::{Device, KeyError, axis};
use crate::flash::command::FlashOp;
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
pub use crate::tasks::view::DieView;
use enum_dispatch::enum_dispatch;
use serde::{Deserialize, Serialize};

/// The configuration of a policy.
pub trait Parameters {
    /// Checks the values against the device.
    fn check(&self, _device: &Device<'_>) -> Result<(), KeyError> {
        Ok(())
    }
    /// Whether collections take no time.
    fn is_timeless(&self) -> bool {
        false
    }
    /// Whether a collection may let requests go before its steps.
    fn lets_host_first(&self) -> bool {
        true
    }
    /// Whether requests avoid a collection's plane between the read and the program of a move.
    fn excludes_plane(&self) -> bool {
        false
    }
    /// The parameters of collections that reserve no die, if they reserve none.
    fn as_task(&self) -> Option<AsTask> {
        None
    }
    /// Keys and tables of the device that no other policy uses.
    fn own_device_keys() -> &'static [&'static str]
    where
        Self: Sized,
    {
        &[]
    }
}

/// The parameters of collections that reserve no die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsTask {
    /// Victims that are collected concurrently.
    pub victims: u32,
    /// Pages that each may hold in the controller.
    pub buffer_pages: u32,
}

/// Parameters that are kept if a plugin or `suspend` is used: the requests that may preempt at a point.
pub const KEPT: Kept = Kept {
    table: "preemption",
    policies: &["plugin", "suspend"],
    keys: &["poll", "at_register", "serves", "fence", "at_hard"],
};

/// See the module's contract.
#[enum_dispatch]
pub trait PreemptionPolicy {
    /// How long the controller polls the queue before each step.
    fn queue_poll_ns(&self) -> u64 {
        0
    }
    /// The requests that wait for the next point if they arrive while others preempt.
    fn fence(&self) -> Fence {
        Fence::None
    }
    /// What the hard watermark prohibits; constant over a run.
    fn at_hard(&self) -> AtHard {
        AtHard::All
    }
    /// Whether a write may ever preempt; constant over a run. If not, the policy is called for reads only.
    fn serves_writes(&self) -> bool {
        true
    }
    /// A point opens, before a step: a policy that keeps state changes it here.
    fn on_point(&mut self, _die: &dyn DieView) {}
    /// Whether the policy lets a request go before the collection's next step.
    fn admits(&self, view: &PreemptionView<'_>, candidate: Candidate) -> bool;
    /// Whether the collection's own plane takes no read (`is_write`: no write) before its next step: neither as the
    /// lead of a command, nor as a partner of a lead on another plane. Constant over a run for [`NextStep::Program`],
    /// because checks rely on it.
    fn excludes_plane(&self, _step: NextStep, _is_write: bool) -> bool {
        false
    }
    /// Whether no plane takes a read before the collection's next step. Constant over a run, as above.
    fn excludes_reads(&self, _step: NextStep) -> bool {
        false
    }
    /// Whether a waiting read suspends a program or an erase of the collection that the device can suspend. `left_ns`:
    /// the remaining array time of this operation.
    fn suspends(&self, _op: FlashOp, _left_ns: u64) -> bool {
        false
    }
}

/// Writes the registry: for each row its place in the configuration, in the run-time enum and in the checks.
macro_rules! preemptions {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[preemption]`
            PreemptionConfig, "preemption", "when may host requests use a die that garbage collection has reserved?",
            default None,
            { $( $name => $module: $variant ),+ }
        }

        impl PreemptionConfig {
            /// The parameters of the policy.
            fn parameters(&self) -> &dyn Parameters {
                match self { $( Self::$variant(p) => p ),+ }
            }

            /// The only policy that uses a key of the device, if there is such a policy.
            pub fn only_user_of(key: &str) -> Option<&'static str> {
                let users = [ $( ($name, <$module::Params as Parameters>::own_device_keys()) ),+ ];
                let is_within = |rest: &str| rest.is_empty() || rest.starts_with('.');
                let names = |own: &&str| key.strip_prefix(*own).is_some_and(is_within);
                users.into_iter().find(|(_, keys)| keys.iter().any(|own| names(&own))).map(|(name, _)| name)
            }
        }

        $hash $dispatch
        #[allow(clippy::large_enum_variant)]
        enum PointPolicy { $( $variant($module::Policy) ),+ }

        impl PointPolicy {
            fn new(config: &PreemptionConfig, geometry: &Geometry, timing: &Timing) -> Self {
                match config { $( PreemptionConfig::$variant(p) => Self::$variant($module::Policy::new(p, geometry, timing)) ),+ }
            }
        }
    };
}

impl PreemptionConfig {
    /// Checks the parameters.
    pub fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        self.parameters().check(device)
    }

    /// Whether collections take no time.
    pub fn is_timeless(&self) -> bool {
        self.parameters().is_timeless()
    }

    /// Whether a collection may let requests go before its steps.
    pub fn lets_host_first(&self) -> bool {
        self.parameters().lets_host_first()
    }

    /// Whether requests avoid a collection's plane between the read and the program of a move.
    pub fn excludes_plane(&self) -> bool {
        self.parameters().excludes_plane()
    }

    /// The parameters of collections that reserve no die, if they reserve none.
    pub fn as_task(&self) -> Option<AsTask> {
        self.parameters().as_task()
    }
}

/// The policy of a run.
pub struct Preemption {
    policy: PointPolicy,
    is_timeless: bool,
    is_preemptive: bool,
}

impl Preemption {
    /// The policy of a configuration.
    pub fn new(config: &PreemptionConfig, geometry: &Geometry, timing: &Timing) -> Self {
        let (is_timeless, is_preemptive) = (config.is_timeless(), config.lets_host_first());
        Self { policy: PointPolicy::new(config, geometry, timing), is_timeless, is_preemptive }
    }

    /// Whether a collection takes no time at all.
    #[inline(always)]
    pub fn is_timeless(&self) -> bool {
        self.is_timeless
    }

    /// Whether any request may ever go between two steps.
    #[inline(always)]
    pub fn is_preemptive(&self) -> bool {
        self.is_preemptive
    }

    /// See [`PreemptionPolicy::queue_poll_ns`].
    pub fn queue_poll_ns(&self) -> u64 {
        self.policy.queue_poll_ns()
    }

    /// See [`PreemptionPolicy::fence`].
    pub fn fence(&self) -> Fence {
        self.policy.fence()
    }

    /// See [`PreemptionPolicy::at_hard`].
    pub fn at_hard(&self) -> AtHard {
        self.policy.at_hard()
    }

    /// See [`PreemptionPolicy::serves_writes`].
    #[inline]
    pub fn serves_writes(&self) -> bool {
        self.policy.serves_writes()
    }

    /// See [`PreemptionPolicy::on_point`].
    #[inline]
    pub fn on_point(&mut self, die: &dyn DieView) {
        self.policy.on_point(die);
    }

    /// See [`PreemptionPolicy::admits`].
    #[inline]
    pub fn admits(&self, view: &PreemptionView<'_>, candidate: Candidate) -> bool {
        self.policy.admits(view, candidate)
    }

    /// See [`PreemptionPolicy::excludes_plane`].
    #[inline]
    pub fn excludes_plane(&self, step: NextStep, is_write: bool) -> bool {
        self.policy.excludes_plane(step, is_write)
    }

    /// See [`PreemptionPolicy::excludes_reads`].
    #[inline]
    pub fn excludes_reads(&self, step: NextStep) -> bool {
        self.policy.excludes_reads(step)
    }

    /// See [`PreemptionPolicy::suspends`].
    pub fn suspends(&self, op: FlashOp, left_ns: u64) -> bool {
        self.policy.suspends(op, left_ns)
    }
}

preemptions! {
    #[enum_dispatch(PreemptionPolicy)]
    "none" => none: None,
    "points" => points: Points,
    "deadline" => deadline: Deadline,
    "always" => always: Always,
    "ideal" => ideal: Ideal,
    "suspend" => suspend: Suspend,
    "plugin" => plugin: Plugin,
}

/// The next step of the collection on its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// A move begins with a read: ispass11's point (2).
    Read,
    /// A program of read units: ispass11's point (1).
    Program,
    /// The moves are done: point (2) once more.
    Erase,
    /// None: the step is executing on another die, and this die is free meanwhile; or the step is suspended.
    Elsewhere,
}

/// The state of collection on a plane: ispass11 Fig. 7. State 0 means that no collection has reserved the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// 1: all requests may preempt.
    AllAllowed,
    /// 2: free blocks are below the hard watermark. Requests that consume them may not preempt.
    WritesProhibited,
    /// 3: as 2, and a write of high priority waits; with [`AtHard::All`], also without one. No request may preempt
    /// until the collection is complete and such a write is served.
    AllProhibited,
}

/// The state, from the free blocks and the waiting requests; `at_hard`: the requests that the hard watermark prohibits.
pub fn state_of(is_below_hard: bool, high_priority_write_waits: bool, at_hard: AtHard) -> State {
    match (is_below_hard, at_hard) {
        (false, _) => State::AllAllowed,
        (true, AtHard::Writes) if !high_priority_write_waits => State::WritesProhibited,
        (true, _) => State::AllProhibited,
    }
}

/// The requests that the hard watermark prohibits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtHard {
    /// Writes: the state diagram of ispass11 Section III-D.
    #[default]
    Writes,
    /// All requests: ispass11 Section IV-B4, "SSD stops GC preemption".
    All,
}

/// The requests that wait for the next point if they arrive while others preempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fence {
    /// No request: all may preempt.
    #[default]
    None,
    /// Writes; reads may preempt.
    Writes,
    /// All requests.
    All,
}

impl Fence {
    /// Whether a request that arrived after the point was opened waits for the next point.
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
    /// Whether it accesses the plane that is being collected.
    pub is_on_its_plane: bool,
    /// When its request arrived.
    pub arrival_ns: u64,
}

/// The view of a policy.
#[derive(Clone, Copy)]
pub struct PreemptionView<'a> {
    /// The state of collection.
    pub state: State,
    /// The collection's next step.
    pub step: NextStep,
    /// Units that the collection has moved, in pages, rounded up.
    pub pages_moved: u32,
    /// The clock.
    pub now_ns: u64,
    /// The die, and the requests that wait there.
    pub die: &'a dyn DieView,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does the policy that docs/policies.md adds open every second point, and each at which an urgent request is
    /// first?
    #[test]
    fn the_example_opens_every_nth_point() {
        use crate::tasks::view::{Class, FixedDie, Waiting};
        let text = r#"
            capacity = { over_provisioning = 0.5 }
            timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }
            [geometry]
            channels = 1
            chips_per_channel = 1
            dies_per_chip = 1
            planes_per_die = 1
            blocks_per_plane = 8
            pages_per_block = 4
            page_size = "4 KiB"
        "#;
        let config: crate::run::config::RunConfig = crate::config::from_toml(text).expect("a configuration");
        let geometry = Geometry::new(&config.device());
        let timing = Timing::new(&config.timing, geometry.unit_bytes, geometry.units_per_page);
        let params = example::Params { n: 2, ..example::Params::default() };
        let mut policy = example::Policy::new(&params, &geometry, &timing);
        let plane = crate::sim::index::PlaneId(0);
        let request = Waiting { came: 0, arrival_ns: 0, units: 1, is_urgent: false, plane };
        let requests = vec![(Class::Write, request)];
        let mut die = FixedDie { now_ns: 0, geometry, requests, free_blocks: vec![8], work_left: None };
        let mut is_open = |die: &FixedDie| {
            policy.on_point(die);
            let view =
                PreemptionView { state: State::AllAllowed, step: NextStep::Read, pages_moved: 0, now_ns: 0, die };
            policy.admits(&view, Candidate { is_write: true, is_on_its_plane: true, arrival_ns: 0 })
        };
        assert_eq!([(); 4].map(|()| is_open(&die)), [false, true, false, true]);
        die.requests[0].1.is_urgent = true;
        assert_eq!([(); 2].map(|()| is_open(&die)), [true; 2]);
    }

    /// Does each row of ispass11 Fig. 7 hold? States 0 and 1 differ by the soft watermark, which starts and ends
    /// collections.
    #[test]
    fn states_follow_the_diagram() {
        let rows = [
            // below T_hard, high-priority write, prohibited at the hard watermark: state
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
