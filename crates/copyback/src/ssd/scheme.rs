//! The scheme of a drive as the engine asks it: its policies, and what the configuration decides once and for all.

use super::settings::Settings;
use crate::dispatch::order::Order;
use crate::tasks::gc::granularity::Granularity;
use crate::tasks::gc::preemption::Preemption;
use crate::tasks::gc::trigger::Trigger;

/// The policies of a drive, but for those of its translation layer and of admission.
pub(super) struct Scheme {
    /// Which of a die's ready requests goes first.
    pub(super) order: Order,
    /// When collection lets the host onto its die.
    pub(super) preemption: Preemption,
    /// When collection starts and stops.
    pub(super) trigger: Trigger,
    /// What a collection takes, and where it goes.
    pub(super) granularity: Granularity,
    /// What the configuration decides, looked up once.
    pub(super) settings: Settings,
}
