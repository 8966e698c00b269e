//! When the first drive must collect, all drives that will soon have to collect do so, too: Reactive selective.
//!
//! Source: tc12 Section 4.3.1. A drive that falls below T_soft (`trigger.report`) registers (the paper's message
//! PARTICIPATE GGC, global garbage collection); the first below T_hard (`trigger.soft`) is the coordinator, and all
//! registered drives are forced, as under `ggc-reactive-inclusive`. The list of registered drives is then empty; a
//! drive that is still below T_soft registers again at once.
//!
//! Parameters: those of `ggc-reactive-inclusive`.

use super::{Common, CoordinationPolicy, CoordinationView, Drives, Message, Order, Parameters, params};
use crate::ssd::gc::coordinated_drive::Force;
use crate::tasks::gc::trigger::FreeLevel;

params! {}

/// Drives that have registered.
#[derive(Default)]
pub(super) struct Registered {
    drives: Drives,
}

impl Registered {
    /// A drive registers, or requests a round of the registered drives.
    pub fn on_message(&mut self, message: Message, force: Force) -> Option<Order> {
        let Message::Low(drive, level) = message else { return None };
        self.drives |= 1 << drive;
        (level == FreeLevel::Start).then(|| self.order(force))
    }

    /// The registered drives collect, and the list is cleared.
    pub fn order(&mut self, force: Force) -> Order {
        Order::force(std::mem::take(&mut self.drives), force)
    }

    /// Takes the registered drives that are not in `others` off the list.
    pub fn take_except(&mut self, others: Drives) -> Drives {
        let taken = self.drives & !others;
        self.drives &= others;
        taken
    }

    /// The registered drives.
    pub fn drives(&self) -> Drives {
        self.drives
    }
}

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
    registered: Registered,
}

impl Policy {
    /// The policy with these parameters.
    pub fn new(params: &Params) -> Self {
        Self { force: params.shared().force, registered: Registered::default() }
    }
}

impl CoordinationPolicy for Policy {
    fn on_message(&mut self, message: Message, _: &CoordinationView) -> Option<Order> {
        self.registered.on_message(message, self.force)
    }
}
