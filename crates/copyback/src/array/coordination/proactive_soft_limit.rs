//! Registered drives collect at a good moment before the first of them has to: Proactive soft limit.
//!
//! Source: tc12 Section 4.3.2, which names it and does not evaluate it. As `ggc-reactive-selective`, and besides: the
//! controller collects the free shares of all drives from time to time. When the mean of the registered ones is below
//! the middle between T_soft and T_hard, they are forced at the first moment at which no request is under way, until
//! none of their planes is below T_soft.
//!
//! Parameters:
//! - `report_every` (default `"100 ms"`): time between two collections of all free shares.

use super::reactive_selective::Registered;
use super::{CoordinationPolicy, Drives, Force, Message, Order, View, params};
use crate::ssd::told::Stop;
use copyback_workload::units::Nanos;

params! {
    /// Time between two collections of all free shares.
    report_every: Nanos = Nanos(100_000_000),
}

/// See the page above.
pub struct Policy {
    params: Params,
    force: Force,
    registered: Registered,
    /// A round would be of use, and waits for a moment without requests.
    is_due: bool,
}

impl Policy {
    /// With these parameters.
    pub fn new(params: &Params) -> Self {
        let force = params.common().force;
        Self { params: params.clone(), force, registered: Registered::default(), is_due: false }
    }

    /// Whether registered drives are, on average, nearer to T_hard than to T_soft.
    fn are_low(&self, view: &View<'_>) -> bool {
        let registered = (0..Drives::BITS).filter(|drive| self.registered.drives() >> drive & 1 == 1);
        // By how much each is above the middle.
        let above = registered.map(|drive| {
            let (report, start) = view.levels.report_and_start_shares(drive);
            view.levels.free_share(drive) - (report + start) / 2.0
        });
        above.reduce(|a, b| a + b).is_some_and(|sum| sum < 0.0)
    }
}

impl CoordinationPolicy for Policy {
    fn hear(&mut self, message: Message, view: &View<'_>) -> Option<Order> {
        if message == Message::Poll {
            self.is_due = self.are_low(view);
        }
        let is_quiet = view.idle_since_ns.is_some() && matches!(message, Message::Poll | Message::Quiet);
        if is_quiet && self.is_due && !view.in_round {
            self.is_due = false;
            return Some(self.registered.order(Force { stop: Stop::Report, ..self.force }));
        }
        self.registered.hear(message, self.force).inspect(|_| self.is_due = false)
    }

    fn poll_every_ns(&self) -> Option<u64> {
        Some(self.params.report_every.0)
    }
}
