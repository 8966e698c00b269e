//! One run's whole configuration: all parts, and the values passed to composite parts. `combinations` checks that the
//! parts fit together.

use super::precondition::PreconditionConfig;
use crate::array::ArrayConfig;
use crate::array::coordination::{self, CoordinationConfig};
use crate::buffer;
use crate::config::{Axis, CapacityConfig, CommandsConfig, Device, GeometryConfig, KeyError, TimingConfig, layers};
use crate::dispatch::{admit, compose, order};
use crate::ftl::frontier::fill::FillEnds;
use crate::ftl::{FtlConfig, allocation, frontier, mapping, victim};
use crate::host::config::{HostConfig, SubpageWrites};
use crate::observe::config::MeasureConfig;
use crate::redundancy::{self, RedundancyConfig};
use crate::ssd::{BackEndConfig, SsdConfig};
use crate::tasks::background;
use crate::tasks::gc::granularity;
use crate::tasks::gc::{preemption, trigger};
use serde::{Deserialize, Serialize};

/// Everything that a run depends on, except its workload and its seed. Each field is a table of the TOML that users
/// write: the first four describe the device, the axes and `tasks` the scheme, `array` the array, and the last three
/// the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct RunConfig {
    /// Shape of the flash.
    pub geometry: GeometryConfig,
    /// Times of the flash.
    pub timing: TimingConfig,
    /// What the host sees of it.
    pub capacity: CapacityConfig,
    /// Commands that the flash understands.
    #[serde(default)]
    pub commands: CommandsConfig,
    /// The axis `mapping`: the location of a logical unit.
    #[serde(default)]
    pub mapping: mapping::MappingConfig,
    /// Which die and plane get a new page?
    #[serde(default)]
    pub allocation: allocation::AllocationConfig,
    /// Which open block of a plane takes a page?
    #[serde(default)]
    pub frontier: frontier::FrontierConfig,
    /// What does DRAM hold?
    #[serde(default)]
    pub buffer: buffer::BufferConfig,
    /// When does GC start and stop?
    #[serde(default)]
    pub trigger: trigger::TriggerConfig,
    /// The axis `granularity`: the data that one collection takes, and its destination.
    #[serde(default)]
    pub granularity: granularity::GranularityConfig,
    /// Which block is collected?
    #[serde(default)]
    pub victim: victim::VictimConfig,
    /// When may host requests use a die that GC has reserved?
    #[serde(default)]
    pub preemption: preemption::PreemptionConfig,
    /// What goes into one flash command?
    #[serde(default)]
    pub compose: compose::ComposeConfig,
    /// Which requests may enter a die's window?
    #[serde(default)]
    pub admit: admit::AdmitConfig,
    /// The axis `order`: the class of a die's requests that is served next.
    #[serde(default)]
    pub order: order::OrderConfig,
    /// Can a blocked read be rebuilt?
    #[serde(default)]
    pub redundancy: RedundancyConfig,
    /// Do the drives of an array agree on when they collect?
    #[serde(default, skip_serializing_if = "is_uncoordinated")]
    pub coordination: CoordinationConfig,
    /// What else uses the flash?
    #[serde(default)]
    pub tasks: background::TasksConfig,
    /// The array of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayConfig>,
    /// How the host issues requests.
    #[serde(default)]
    pub host: HostConfig,
    /// How the drive is preconditioned.
    #[serde(default)]
    pub precondition: PreconditionConfig,
    /// The measures of a run.
    #[serde(default)]
    pub measure: MeasureConfig,
}

copyback_workload::serde_once!(RunConfig);

/// A setting with which writes complete in DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBufferSetting {
    /// `frontier.fill_ends`: pages fill in DRAM.
    Fill,
    /// `buffer.policy`, with this name.
    Policy(&'static str),
}

fn is_uncoordinated(coordination: &CoordinationConfig) -> bool {
    *coordination == CoordinationConfig::default()
}

/// Layers of run configurations.
pub type Stack = layers::Stack<RunConfig>;
/// The configuration that layers result in, with a workload.
pub type Resolved = layers::Resolved<RunConfig>;

/// Every axis of a scheme, in the order in which a write meets them.
pub const AXES: &[Axis] = &[
    mapping::AXIS,
    allocation::AXIS,
    frontier::AXIS,
    buffer::AXIS,
    trigger::AXIS,
    granularity::AXIS,
    victim::AXIS,
    preemption::AXIS,
    compose::AXIS,
    admit::AXIS,
    order::AXIS,
    redundancy::AXIS,
    coordination::AXIS,
];

/// Optional tasks: tables of `[tasks]`, of which a scheme may have several or none.
pub const TASKS: Axis = background::AXIS;

impl RunConfig {
    /// Checks every part and how they fit together.
    pub fn check(&self) -> Result<(), KeyError> {
        self.geometry.check()?;
        // Every part below may ask for the drive's shape, which needs both.
        self.check_capacity()?;
        self.timing.check()?;
        self.commands.check()?;
        self.host.check()?;
        self.measure.check()?;
        self.precondition.check()?;
        self.check_map()?;
        self.check_log_blocks()?;
        self.check_allocation()?;
        self.allocation.check()?;
        self.frontier.check()?;
        self.check_hot_cold()?;
        self.check_fill()?;
        self.check_alignment()?;
        self.check_rows()?;
        self.trigger.check(&self.geometry)?;
        self.victim.check(&self.device())?;
        let logical_pages = if self.mapping.has_superpages() { self.shape() } else { self.geometry.clone() };
        self.buffer.check(&logical_pages)?;
        self.check_buffer()?;
        self.granularity.check(&self.device())?;
        self.preemption.check(&self.device())?;
        self.order.check(&self.device())?;
        self.check_tasks()?;
        self.check_background()?;
        self.check_redundancy()?;
        self.check_window()?;
        self.compose.check(&self.commands)?;
        self.check_moves()?;
        self.admit.check()?;
        self.check_array()?;
        self.check_spare()?;
        self.check_preconditioning()
    }

    /// Blocks of a plane that are never available for host data: the reserve that GC needs to move a victim, and the
    /// open blocks.
    pub fn blocks_held_back(&self) -> u32 {
        crate::ftl::GC_RESERVE_BLOCKS + self.frontier.open_blocks()
    }

    /// The setting with which writes complete in DRAM, before they are programmed; `None` if they complete in flash.
    pub fn write_buffer(&self) -> Option<WriteBufferSetting> {
        let fills_in_dram = self.frontier.fill().is_some_and(|fill| fill.ends == FillEnds::Dram);
        match &self.buffer {
            buffer::BufferConfig::None(_) => fills_in_dram.then_some(WriteBufferSetting::Fill),
            buffer => Some(WriteBufferSetting::Policy(buffer.name())),
        }
    }

    /// The flash's shape as the translation layer sees it.
    pub fn shape(&self) -> GeometryConfig {
        if self.frontier.is_in_rows() { self.geometry.in_rows() } else { self.geometry.clone() }
    }

    /// The flash alone: the device against which a policy may check its parameters.
    pub fn device(&self) -> Device<'_> {
        let Self { geometry, timing, capacity, commands, .. } = self;
        Device { geometry, timing, capacity, commands }
    }

    /// The configuration of its translation layer.
    pub fn ftl(&self) -> FtlConfig<'_> {
        let Self { mapping, allocation, frontier, victim, redundancy, .. } = self;
        let free_order = self.tasks.free_order();
        FtlConfig { device: self.device(), mapping, allocation, frontier, victim, redundancy, free_order }
    }

    /// The configuration of its drive's back end beyond the translation layer.
    pub fn back_end(&self) -> BackEndConfig<'_> {
        let Self {
            mapping, frontier, trigger, granularity, preemption, compose, admit, order, redundancy, tasks, ..
        } = self;
        BackEndConfig {
            device: self.device(),
            mapping,
            frontier,
            trigger,
            granularity,
            preemption,
            compose,
            admit,
            order,
            redundancy,
            tasks,
        }
    }

    /// The configuration of its whole drive, with the host's `subpage_writes`; a host may have several drives.
    pub fn ssd(&self, subpage_writes: SubpageWrites) -> SsdConfig<'_> {
        SsdConfig { back_end: self.back_end(), buffer: &self.buffer, subpage_writes }
    }
}
