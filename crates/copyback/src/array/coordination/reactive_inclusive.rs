//! When the first drive must collect, all drives collect: Reactive inclusive.
//!
//! Source: tc12 Section 4.3.1: "all SSDs in the array have to participate in GC coordination irrespective of their
//! internal status".
//!
//! When a drive falls below `trigger.soft`, every drive is forced: each plane collects `force_collections` times, and
//! then until it has reached `force_stop`.
//!
//! Parameters:
//! - `scope` (default `"array"`): whose collections are coordinated: those of all drives together, or with `"drive"`
//!   those of each drive's elements (each a die with its channel), each drive separately.
//! - `message_latency` (default 0): time of a message from a drive to the controller, or back.
//! - `force_collections` (default 1): collections that each plane of a forced drive makes, however many blocks it has
//!   free.
//! - `force_stop` (default `"own"`): the level at which a forced plane then stops: `"own"`, the level at which its own
//!   collection would stop (`trigger.stop`); `"report"`, the level at which it no longer reports (`trigger.report`);
//!   `"reserve"`, the level at which no more can be freed.
//! - `force_scope` (default `"plane"`): whose free blocks are compared with that level. `"plane"`: each plane's own.
//!   `"drive"`: the sum of the drive ("until the number of free blocks exceeds an internal threshold", tc12 Section
//!   4.3.1). Each element then does `force_collections`, first on its plane with the fewest free blocks, and goes on
//!   until the drive has reached the level.

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
