//! One run's whole configuration, and the checks that need more than one part of it.

use super::precondition::PreconditionConfig;
use crate::buffer;
use crate::config::{Axis, CapacityConfig, CommandsConfig, GeometryConfig, KeyError, TimingConfig};
use crate::dispatch::{admit, compose, order};
use crate::ftl::{allocation, frontier, mapping, victim};
use crate::host::config::HostConfig;
use crate::tasks::gc::unit;
use crate::tasks::gc::{trigger, r#yield};
use serde::{Deserialize, Serialize};

/// Everything that a run depends on but for its workload and its seed. Each field is a table of the TOML that users
/// write: the first four describe the device, the axes the scheme, the last two the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Where is a logical unit?
    #[serde(default)]
    pub mapping: mapping::MappingConfig,
    /// Which die and plane get a new page?
    #[serde(default)]
    pub allocation: allocation::AllocationConfig,
    /// Which open block of that plane?
    #[serde(default)]
    pub frontier: frontier::FrontierConfig,
    /// What does DRAM hold?
    #[serde(default)]
    pub buffer: buffer::BufferConfig,
    /// When does GC start and stop?
    #[serde(default)]
    pub trigger: trigger::TriggerConfig,
    /// What does one round collect, and where does it go?
    #[serde(default)]
    pub unit: unit::UnitConfig,
    /// Which block is collected?
    #[serde(default)]
    pub victim: victim::VictimConfig,
    /// When does GC let host work onto its die?
    #[serde(default, rename = "yield")]
    pub yield_: r#yield::YieldConfig,
    /// What goes into one flash command?
    #[serde(default)]
    pub compose: compose::ComposeConfig,
    /// Which requests may enter a die's window?
    #[serde(default)]
    pub admit: admit::AdmitConfig,
    /// Which of a die's requests goes first?
    #[serde(default)]
    pub order: order::OrderConfig,
    /// How the host hands requests over.
    #[serde(default)]
    pub host: HostConfig,
    /// What the drive has lived through.
    #[serde(default)]
    pub precondition: PreconditionConfig,
}

/// Every axis of a scheme, in the order in which a write meets them.
pub const AXES: &[Axis] = &[
    mapping::AXIS,
    allocation::AXIS,
    frontier::AXIS,
    buffer::AXIS,
    trigger::AXIS,
    unit::AXIS,
    victim::AXIS,
    r#yield::AXIS,
    compose::AXIS,
    admit::AXIS,
    order::AXIS,
];

impl RunConfig {
    /// Checks every part and how they fit together.
    pub fn check(&self) -> Result<(), KeyError> {
        self.geometry.check()?;
        self.timing.check()?;
        self.host.check()?;
        self.precondition.check()?;
        self.allocation.check(self)?;
        self.trigger.check(self)?;
        self.victim.check(self)?;
        self.buffer.check(self)?;
        self.unit.check(self)?;
        self.yield_.check(self)?;
        self.compose.check(self)?;
        self.admit.check()?;
        self.check_spare()?;
        self.check_past()
    }

    /// Whether an aged drive keeps the block that collection needs.
    fn check_past(&self) -> Result<(), KeyError> {
        let PreconditionConfig::Aged { used_max, .. } = self.precondition else { return Ok(()) };
        let blocks = self.geometry.blocks_per_plane;
        let used_blocks = (f64::from(blocks) * used_max).ceil() as u32;
        if used_blocks + crate::ftl::GC_RESERVE_BLOCKS > blocks {
            return Err(KeyError::new(
                "precondition.used_max",
                format!("{used_max} of {blocks} blocks a plane leaves none to collect with"),
            )
            .with_help(format!(
                "use at most {}, or more blocks",
                f64::from(blocks - crate::ftl::GC_RESERVE_BLOCKS) / f64::from(blocks)
            )));
        }
        Ok(())
    }

    /// Blocks of a plane that never hold host data at rest: what GC needs to move a victim, and the open blocks.
    pub fn blocks_held_back(&self) -> u32 {
        crate::ftl::GC_RESERVE_BLOCKS + self.frontier.open_blocks()
    }

    /// Whether the drive can collect at all: beyond the data, each plane must have room for its open blocks, its reserve
    /// and the level that the trigger keeps free.
    fn check_spare(&self) -> Result<(), KeyError> {
        let units_per_block = u64::from(self.geometry.pages_per_block) * self.geometry.units_per_page();
        let planes = u64::from(self.geometry.channels)
            * u64::from(self.geometry.chips_per_channel)
            * u64::from(self.geometry.dies_per_chip)
            * u64::from(self.geometry.planes_per_die);
        let physical =
            planes * u64::from(self.geometry.blocks_per_plane) * units_per_block * self.geometry.unit_bytes();
        let logical = self.capacity.logical_bytes(physical)?;
        let data_blocks = logical.div_ceil(self.geometry.unit_bytes()).div_ceil(planes).div_ceil(units_per_block);
        let spare = u64::from(self.geometry.blocks_per_plane).saturating_sub(data_blocks);
        let level = u64::from(self.trigger.stop_blocks_per_plane(self));
        let needed = u64::from(self.blocks_held_back()).max(level) + 1;
        if spare < needed {
            return Err(KeyError::new(
                "capacity",
                format!(
                    "each plane has {} blocks, of which data takes {data_blocks}; the {spare} left are fewer than the \
                     {needed} that garbage collection needs (open blocks and reserve: {}, trigger.stop: {level})",
                    self.geometry.blocks_per_plane,
                    self.blocks_held_back(),
                ),
            )
            .with_help("raise `capacity.over_provisioning`, lower the trigger's levels, or use more, smaller blocks"));
        }
        self.check_gain(data_blocks, units_per_block)
    }

    /// Whether a full plane always has a block whose collection frees a page: where all blocks that may be collected
    /// share the invalid units evenly, each must still have a page's worth.
    fn check_gain(&self, data_blocks: u64, units_per_block: u64) -> Result<(), KeyError> {
        let full_blocks = u64::from(self.geometry.blocks_per_plane - self.blocks_held_back() + 1);
        let least_invalid = (full_blocks - data_blocks) * units_per_block;
        if least_invalid > full_blocks * (self.geometry.units_per_page() - 1) {
            return Ok(());
        }
        Err(KeyError::new(
            "capacity",
            format!(
                "{} spare blocks a plane are too few for pages of {} mapping units: each block might hold less than a \
                 page of invalid data, and garbage collection would gain nothing",
                full_blocks - data_blocks,
                self.geometry.units_per_page(),
            ),
        )
        .with_help("raise `capacity.over_provisioning`, or use more pages a block"))
    }
}
