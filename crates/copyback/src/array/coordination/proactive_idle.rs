//! Registered drives collect ahead of need, while nobody asks the array for anything: Proactive idle.
//!
//! Source: tc12 Section 4.3.2. As `ggc-reactive-selective`, and besides: the array is polled, and when no request has
//! been under way for a while, the registered drives are forced until their whole reserve is free, or a request comes.
//!
//! Parameters:
//! - `idle_poll` (default `"1 ms"`): time between two polls.
//! - `idle_after` (default `"10 ms"`): idle is an array in which no request has been under way for so long.
//! - `on_request` (default `"pause"`): what becomes of the collections that are under way when a request comes:
//!   `"pause"`, they stand still before their next step without a page in hand, keep their victims and go on when the
//!   array is idle again or the drive is forced; `"finish-collection"`, they end, and none follows.
//! - `idle_stop` (default `"reserve"`): where collection in idle time stops: as `force_stop`.

use super::reactive_selective::Registered;
use super::{CoordinationPolicy, Drives, Force, ForceStop, Message, Order, View, params};
use crate::ssd::told::OnRequest;
use copyback_workload::units::Nanos;

params! {
    /// Time between two polls.
    idle_poll: Nanos = Nanos(1_000_000),
    /// Idle is an array without requests for so long.
    idle_after: Nanos = Nanos(10_000_000),
    /// What becomes of collections when a request comes.
    on_request: OnRequest = OnRequest::Pause,
    /// Where collection in idle time stops.
    idle_stop: ForceStop = ForceStop::Reserve,
}

/// See the page above.
pub struct Policy {
    params: Params,
    force: Force,
    registered: Registered,
    /// Drives that collect because the array is idle.
    in_idle_time: Drives,
    /// Those of them that a request interrupted.
    interrupted: Drives,
}

impl Policy {
    /// With these parameters.
    pub fn new(params: &Params) -> Self {
        let force = params.common().force;
        Self { params: params.clone(), force, registered: Registered::default(), in_idle_time: 0, interrupted: 0 }
    }

    fn is_idle(&self, view: &View<'_>) -> bool {
        view.idle_since_ns.is_some_and(|since_ns| view.now_ns >= since_ns + self.params.idle_after.0)
    }

    /// The array is idle: who has registered, or was interrupted, collects.
    fn begin(&mut self) -> Option<Order> {
        let drives = self.registered.drives() | std::mem::take(&mut self.interrupted);
        if drives == 0 {
            return None;
        }
        self.registered = Registered::default();
        self.in_idle_time = drives;
        Some(Order::Force(drives, Force { stop: self.params.idle_stop.into(), ..self.force }))
    }
}

impl CoordinationPolicy for Policy {
    fn hear(&mut self, message: Message, view: &View<'_>) -> Option<Order> {
        match message {
            Message::Poll if !view.in_round && self.is_idle(view) => self.begin(),
            Message::Request if self.in_idle_time != 0 => {
                self.interrupted = std::mem::take(&mut self.in_idle_time);
                Some(Order::Pause(self.interrupted, self.params.on_request))
            }
            Message::RoundEnd => {
                self.in_idle_time = 0;
                None
            }
            _ => self.registered.hear(message, self.force),
        }
    }

    fn poll_every_ns(&self) -> Option<u64> {
        Some(self.params.idle_poll.0)
    }
}
