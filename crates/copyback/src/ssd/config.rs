//! The configuration of an SSD and its back end, beyond the translation layer.

use crate::buffer::BufferConfig;
use crate::config::Device;
use crate::dispatch::admit::AdmitConfig;
use crate::dispatch::compose::ComposeConfig;
use crate::dispatch::order::OrderConfig;
use crate::ftl::frontier::FrontierConfig;
use crate::ftl::mapping::MappingConfig;
use crate::host::config::SubpageWrites;
use crate::redundancy::RedundancyConfig;
use crate::tasks::background::TasksConfig;
use crate::tasks::gc::granularity::GranularityConfig;
use crate::tasks::gc::preemption::PreemptionConfig;
use crate::tasks::gc::trigger::TriggerConfig;

/// The flash and the policies of one back end. Each part was checked, and so was their combination.
#[derive(Clone, Copy, Debug)]
pub struct BackEndConfig<'a> {
    /// The flash.
    pub device: Device<'a>,
    /// What is the place of a logical unit?
    pub mapping: &'a MappingConfig,
    /// Which open block of a plane takes a write, and how do its pages fill?
    pub frontier: &'a FrontierConfig,
    /// When does GC start and stop?
    pub trigger: &'a TriggerConfig,
    /// What does one collection take, and where do its pages go?
    pub granularity: &'a GranularityConfig,
    /// When does collection let host work onto its die?
    pub preemption: &'a PreemptionConfig,
    /// What goes into one flash command?
    pub compose: &'a ComposeConfig,
    /// Which requests may enter a die's window?
    pub admit: &'a AdmitConfig,
    /// Which of a die's requests is issued first?
    pub order: &'a OrderConfig,
    /// Can a blocked read be rebuilt?
    pub redundancy: &'a RedundancyConfig,
    /// What else uses the flash?
    pub tasks: &'a TasksConfig,
}

/// A back end and the DRAM in front of it.
#[derive(Clone, Copy, Debug)]
pub struct SsdConfig<'a> {
    /// The flash and its policies.
    pub back_end: BackEndConfig<'a>,
    /// What does DRAM hold, and what does it evict?
    pub buffer: &'a BufferConfig,
    /// What a write of part of a mapping unit does.
    pub subpage_writes: SubpageWrites,
}
