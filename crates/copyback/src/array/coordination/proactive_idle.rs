//! Registered drives (below `trigger.report`) collect ahead of need, while the array is idle: Proactive idle.
//!
//! Source: tc12 Section 4.3.2. As `ggc-reactive-selective`. In addition, the array is polled. If no drive has served or
//! queued a request for `idle_after`, the registered drives are forced until no more blocks can be freed (by default:
//! `idle_stop`), or a request arrives. In the next idle time, interrupted drives continue with their remaining
//! collections; drives that had finished collect again only after a request.
//!
//! Parameters: those of `ggc-reactive-inclusive`, and these.
//! - `idle_poll` (default `"1 ms"`, at least 1 us): time between two polls.
//! - `idle_after` (default `"10 ms"`): an array is idle if it has served nothing for this time.
//! - `on_request` (default `"pause"`): the treatment of current collections when a request arrives. `"pause"`: a
//!   collection stops before the next step at which no page is in the controller, keeps its victim, and resumes when
//!   the array is idle again or the drive is forced. `"finish-collection"`: it completes, and none follows.
//! - `pause_on` (default `"any-request"`): which request ends a drive's collection in idle time: any request to the
//!   array, or with `"own-request"` the first request to this drive. Section 4.3.2: a drive (in the paper, an O-SSD)
//!   collects "until there is an incoming I/O request in the queue".
//! - `idle_stop` (default `"reserve"`): the level at which collection in idle time stops. Values are those of
//!   `force_stop` except `"own"`: a drive that stops at that level registers again at once.

use super::reactive_selective::Registered;
use super::{Common, CoordinationPolicy, CoordinationView, Drives, Message, Order, Parameters, check_period, params};
use crate::config::KeyError;
use crate::config::times::check_distance;
use crate::ssd::gc::coordinated_drive::{Force, PauseMode, Stop};
use copyback_workload::units::Nanos;

params! {
    /// Time between two polls.
    idle_poll: Nanos = Nanos(1_000_000),
    /// An array without requests for this time is idle.
    idle_after: Nanos = Nanos(10_000_000),
    /// What running collections do when a request arrives.
    on_request: PauseMode = PauseMode::Pause,
    /// Which request ends a drive's collection in idle time.
    pause_on: PauseOn = PauseOn::AnyRequest,
    /// The level at which collection in idle time stops.
    idle_stop: Stop = Stop::Reserve,
}

/// Which request ends a drive's collection in idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseOn {
    /// Any request to the array.
    AnyRequest,
    /// The first that the drive gets.
    OwnRequest,
}

impl Parameters for Params {
    fn common(&self) -> Option<Common> {
        Some(self.shared())
    }

    fn build(&self) -> Option<Box<dyn CoordinationPolicy + Send>> {
        Some(Box::new(Policy::new(self)))
    }

    fn may_pause(&self) -> bool {
        self.on_request == PauseMode::Pause
    }

    fn check(&self) -> Result<(), KeyError> {
        if self.idle_stop == Stop::Own {
            let why = "drives that stop at the level of their own collection would register again at once";
            return Err(KeyError::new("coordination.idle_stop", why).with_help("use \"report\" or \"reserve\""));
        }
        check_distance("coordination.idle_after", self.idle_after)?;
        check_period("coordination.idle_poll", self.idle_poll)
    }
}

/// See the page above.
pub struct Policy {
    params: Params,
    force: Force,
    registered: Registered,
    /// Drives of this round that were forced because the array is idle.
    in_idle_time: Drives,
    /// Drives that a request interrupted before they were done.
    interrupted: Drives,
    /// Drives that completed their collections in this idle time.
    done: Drives,
}

impl Policy {
    /// The policy with these parameters.
    pub fn new(params: &Params) -> Self {
        let (registered, force) = (Registered::default(), params.shared().force);
        Self { params: params.clone(), force, registered, in_idle_time: 0, interrupted: 0, done: 0 }
    }

    fn is_idle(&self, view: &CoordinationView) -> bool {
        view.idle_since_ns.is_some_and(|since_ns| view.now_ns >= since_ns + self.params.idle_after.0)
    }

    /// Requests end the collection of these drives, if the drives collect because the array is idle.
    fn interrupt(&mut self, drives: Drives, view: &CoordinationView) -> Option<Order> {
        let interrupted = self.in_idle_time & drives & view.in_round;
        self.in_idle_time &= !drives;
        self.interrupted |= interrupted;
        (interrupted != 0).then_some(Order::Pause(interrupted, self.params.on_request))
    }

    /// The array is idle: registered and interrupted drives collect.
    fn begin(&mut self) -> Option<Order> {
        let resumed = std::mem::take(&mut self.interrupted);
        let drives = self.registered.take_except(self.done) | resumed;
        if drives == 0 {
            return None;
        }
        self.in_idle_time = drives;
        Some(Order::Force { drives, resumed, force: Force { stop: self.params.idle_stop, ..self.force } })
    }
}

impl CoordinationPolicy for Policy {
    fn on_message(&mut self, message: Message, view: &CoordinationView) -> Option<Order> {
        match message {
            Message::Poll if view.in_round == 0 && self.is_idle(view) => self.begin(),
            Message::Request => {
                self.done = 0;
                if self.observes_parts() { None } else { self.interrupt(Drives::MAX, view) }
            }
            Message::Part(drive) => self.interrupt(1 << drive, view),
            Message::RoundEnd => {
                let done = std::mem::take(&mut self.in_idle_time);
                // Drives that were done only after a request had arrived may collect in the next idle time.
                self.done |= if view.idle_since_ns.is_some() { done } else { 0 };
                None
            }
            // A drive that is forced by need owes as many collections as every forced drive, interrupted or not.
            _ => self.registered.on_message(message, self.force).inspect(|order| {
                if let Order::Force { drives, .. } = order {
                    self.interrupted &= !drives;
                }
            }),
        }
    }

    fn poll_every_ns(&self) -> Option<u64> {
        Some(self.params.idle_poll.0)
    }

    fn observes_parts(&self) -> bool {
        self.params.pause_on == PauseOn::OwnRequest
    }
}
