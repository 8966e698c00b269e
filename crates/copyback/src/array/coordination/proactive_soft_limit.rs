//! Registered drives collect at a good moment before the first of them has to: Proactive soft limit.
//!
//! Source: tc12 Section 4.3.2, which names it and does not evaluate it. As `ggc-reactive-selective`, and besides: all
//! drives say from time to time what they have free. When the mean of the registered ones is below the middle between
//! T_soft and T_hard, they are forced at the first moment at which no request is under way, until none of their planes
//! is below T_soft.
//!
//! Parameters:
//! - `report_every` (default `"100 ms"`): time between two reports of what a drive has free.

use super::reactive_selective::Registered;
use super::{Common, CoordinationPolicy, Drives, Force, Message, Order, Parameters, View, check_period, params};
use crate::config::KeyError;
use crate::ssd::told::Stop;
use copyback_workload::units::Nanos;

params! {
    /// Time between two reports of what a drive has free.
    report_every: Nanos = Nanos(100_000_000),
}

impl Parameters for Params {
    fn common(&self) -> Option<Common> {
        Some(self.shared())
    }

    fn build(&self) -> Option<Box<dyn CoordinationPolicy + Send>> {
        Some(Box::new(Policy::new(self)))
    }

    fn check(&self) -> Result<(), KeyError> {
        check_period("coordination.report_every", self.report_every)
    }
}

/// See the page above.
pub struct Policy {
    params: Params,
    force: Force,
    registered: Registered,
    /// By how much each drive was above the middle when it last said so.
    above_middle: [f64; Drives::BITS as usize],
    /// A round would be of use, and waits for a moment without requests.
    is_due: bool,
}

impl Policy {
    /// With these parameters.
    pub fn new(params: &Params) -> Self {
        let (force, above_middle) = (params.shared().force, [0.0; Drives::BITS as usize]);
        Self { params: params.clone(), force, registered: Registered::default(), above_middle, is_due: false }
    }

    /// Whether registered drives are, on average, nearer to T_hard than to T_soft.
    fn are_low(&self) -> bool {
        let is_registered = |&drive: &usize| self.registered.drives() >> drive & 1 == 1;
        let registered = (0..self.above_middle.len()).filter(is_registered);
        registered.map(|drive| self.above_middle[drive]).sum::<f64>() < 0.0
    }
}

impl CoordinationPolicy for Policy {
    fn hear(&mut self, message: Message, view: &View) -> Option<Order> {
        let mut is_moment = message == Message::Quiet;
        if let Message::AboveMiddle(drive, share) = message {
            self.above_middle[drive as usize] = share;
            // Drives say it in turn: with the last one all have.
            if view.drives >> drive == 1 {
                self.is_due = self.are_low();
                is_moment = true;
            }
        }
        if is_moment && view.idle_since_ns.is_some() && self.is_due && view.in_round == 0 {
            self.is_due = false;
            return Some(self.registered.order(Force { stop: Stop::Report, ..self.force }));
        }
        self.registered.hear(message, self.force).inspect(|_| self.is_due = false)
    }

    fn poll_every_ns(&self) -> Option<u64> {
        Some(self.params.report_every.0)
    }

    fn asks_levels(&self) -> bool {
        true
    }
}
