//! Registered drives collect when no request is outstanding, before the first of them must: Proactive soft limit.
//!
//! Source: tc12 Section 4.3.2, which names it and does not evaluate it. As `ggc-reactive-selective`, and in addition:
//! all drives report their free blocks every `report_every`. Drives below T_soft (`trigger.report`) are registered. If
//! their mean is below the middle between T_soft and T_hard (`trigger.soft`), they are forced when no request is
//! outstanding, until none of their planes is below T_soft.
//!
//! Parameters: those of `ggc-reactive-inclusive`, and one more.
//! - `report_every` (default `"100 ms"`): time between two reports of a drive's free blocks.

use super::reactive_selective::Registered;
use super::{Common, CoordinationPolicy, CoordinationView, Drives, Message, Order, Parameters, check_period, params};
use crate::config::KeyError;
use crate::ssd::gc::coordinated_drive::{Force, Stop};
use copyback_workload::units::Nanos;

params! {
    /// Time between two reports of a drive's free blocks.
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
    /// How far each drive was above the middle at its last report.
    above_middle: [f64; Drives::BITS as usize],
    /// A round would be useful, and waits for a moment without requests.
    is_due: bool,
}

impl Policy {
    /// The policy with these parameters.
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
    fn on_message(&mut self, message: Message, view: &CoordinationView) -> Option<Order> {
        let mut is_moment = message == Message::Quiet;
        if let Message::AboveMiddle(drive, share) = message {
            self.above_middle[drive as usize] = share;
            // Drives report in turn: with the last one, all have reported.
            if view.drives >> drive == 1 {
                self.is_due = self.are_low();
                is_moment = true;
            }
        }
        if is_moment && view.idle_since_ns.is_some() && self.is_due && view.in_round == 0 {
            self.is_due = false;
            return Some(self.registered.order(Force { stop: Stop::Report, ..self.force }));
        }
        self.registered.on_message(message, self.force).inspect(|_| self.is_due = false)
    }

    fn poll_every_ns(&self) -> Option<u64> {
        Some(self.params.report_every.0)
    }

    fn asks_levels(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::gc::trigger::FreeLevel;

    const IDLE: CoordinationView = CoordinationView { now_ns: 0, drives: 0b111, idle_since_ns: Some(0), in_round: 0 };

    /// Drives 0 and 1 have registered; all three report these shares: the distance from the middle of their levels.
    /// Returns the order, if there is one.
    fn order_at(shares: [f64; 3], view: CoordinationView) -> Option<Order> {
        let mut policy = Policy::new(&Params::default());
        for drive in [0, 1] {
            assert_eq!(
                policy.on_message(Message::Low(drive, FreeLevel::Report), &view),
                None,
                "a registered drive asks for nothing"
            );
        }
        (0..)
            .zip(shares)
            .map(|(drive, share)| policy.on_message(Message::AboveMiddle(drive, share), &view))
            .last()
            .flatten()
    }

    /// tc12 Section 4.3.2: a round when drives have "reached a state in which a GGC cycle would be beneficial". The
    /// registered drives count, by their mean.
    #[test]
    fn registered_drives_collect_when_they_are_low() {
        let forced = |order| match order {
            Some(Order::Force { drives, .. }) => drives,
            _ => 0,
        };
        assert_eq!(forced(order_at([-0.2, 0.1, 0.9], IDLE)), 0b011);
        assert_eq!(forced(order_at([0.2, -0.1, -0.9], IDLE)), 0);
        assert_eq!(forced(order_at([0.2, 0.1, 0.3], IDLE)), 0);
    }

    /// A round begins neither inside another one nor while requests are outstanding.
    #[test]
    fn a_round_waits_for_the_end_of_another_and_of_requests() {
        let low = [-0.2, -0.1, 0.9];
        assert_eq!(order_at(low, CoordinationView { in_round: 0b100, ..IDLE }), None);
        assert_eq!(order_at(low, CoordinationView { idle_since_ns: None, ..IDLE }), None);
    }
}
