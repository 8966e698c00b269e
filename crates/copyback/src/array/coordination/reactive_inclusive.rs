//! When the first drive must collect, all drives collect: Reactive inclusive.
//!
//! Source: tc12 Section 4.3.1: "all SSDs in the array have to participate in GC coordination irrespective of their
//! internal status".
//!
//! When a drive falls below `trigger.soft`, every drive is forced: each plane collects `force_collections` times, and
//! then until it has reached `force_stop`.

use super::{Common, CoordinationPolicy, CoordinationView, Message, Order, Parameters, params};
use crate::ssd::gc::coordinated_drive::Force;
use crate::tasks::gc::trigger::FreeLevel;

params! {}

impl Parameters for Params {
    fn common(&self) -> Option<Common> {
        Some(self.shared())
    }

    fn build(&self) -> Option<Box<dyn CoordinationPolicy + Send>> {
        Some(Box::new(Policy::new(self)))
    }
}

/// See the page above.
pub struct Policy {
    force: Force,
}

impl Policy {
    /// The policy with these parameters.
    pub fn new(params: &Params) -> Self {
        Self { force: params.shared().force }
    }
}

impl CoordinationPolicy for Policy {
    fn on_message(&mut self, message: Message, view: &CoordinationView) -> Option<Order> {
        let asks = matches!(message, Message::Low(_, FreeLevel::Start));
        asks.then_some(Order::force(view.drives, self.force))
    }
}
