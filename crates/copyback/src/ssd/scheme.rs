//! The scheme of a drive for the engine: its policies, and constants from the configuration.

use super::derived_settings::Settings;
use crate::dispatch::order::Order;
use crate::tasks::gc::granularity::Granularity;
use crate::tasks::gc::preemption::Preemption;
use crate::tasks::gc::trigger::Trigger;

/// The policies of a drive, except those of its translation layer and of admission.
pub(super) struct Scheme {
    /// Which of a die's ready requests is served first.
    pub(super) order: Order,
    /// When collection lets the host onto its die.
    pub(super) preemption: Preemption,
    /// When collection starts and stops.
    pub(super) trigger: Trigger,
    /// The blocks of a collection, and the destination of its pages.
    pub(super) granularity: Granularity,
    /// Constants from the configuration.
    pub(super) settings: Settings,
}
