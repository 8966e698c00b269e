//! What a drive is made of beyond its translation layer.

use crate::config::Device;
use crate::dispatch::admit::AdmitConfig;
use crate::dispatch::compose::ComposeConfig;
use crate::dispatch::order::OrderConfig;
use crate::tasks::gc::trigger::TriggerConfig;
use crate::tasks::gc::unit::UnitConfig;
use crate::tasks::gc::r#yield::YieldConfig;

/// The flash and the policies of one drive; each part was checked, and that they fit together.
#[derive(Clone, Copy, Debug)]
pub struct DriveConfig<'a> {
    /// The flash.
    pub device: Device<'a>,
    /// When does GC start and stop?
    pub trigger: &'a TriggerConfig,
    /// What does one round collect, and where does it go?
    pub unit: &'a UnitConfig,
    /// When does GC let host work onto its die?
    pub yield_: &'a YieldConfig,
    /// What goes into one flash command?
    pub compose: &'a ComposeConfig,
    /// Which requests may enter a die's window?
    pub admit: &'a AdmitConfig,
    /// Which of a die's requests goes first?
    pub order: &'a OrderConfig,
}
