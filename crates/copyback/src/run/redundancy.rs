//! Checks that parity fits the rest of a configuration.

use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::buffer::BufferConfig;
use crate::config::{CapacityConfig, KeyError};
use crate::ftl::allocation::{AllocationConfig, Known};
use crate::tasks::gc::granularity::GranularityPolicy;
use copyback_workload::units::Bytes;

/// If parity has no space, larger drives are tried, with up to this many times as many blocks.
const BLOCKS_TIMES: u64 = 4;

/// The largest number up to `most` such that a condition holds for it and all numbers below it; 0 if there is none.
fn last_that(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Members of a drive's stripe: a transaction has a bit for each that is written (`Txn::role_data`).
const MEMBERS_MAX: u32 = 31;

/// The remedy of each refusal: no parity.
const NO_PARITY: &str = "or set `redundancy.policy = \"none\"`";

impl RunConfig {
    /// The flash that parity needs on a drive without space for it, and a remedy; none without parity, or if no remedy
    /// helps.
    pub(super) fn help_for_parity(&self) -> Option<String> {
        if !self.redundancy.has_parity() {
            return None;
        }
        let members = self.geometry.channels;
        let g = &self.geometry;
        let physical = [g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die, g.blocks_per_plane]
            .into_iter()
            .chain([g.pages_per_block])
            .map(u64::from)
            .product::<u64>()
            * g.page_size.0;
        let logical = self.capacity.logical_bytes(physical).ok()?;
        let fits = |logical: u64, blocks_per_plane: u32| {
            let mut other = self.clone();
            other.capacity = CapacityConfig { over_provisioning: None, reserved: None, logical: Some(Bytes(logical)) };
            other.geometry.blocks_per_plane = blocks_per_plane;
            other.geometry.check().is_ok() && other.check_room().is_ok()
        };
        // Messages have capacities in steps of about a hundredth of the drive's capacity.
        let step = (logical / 128).next_power_of_two().max(self.geometry.unit_bytes());
        let logical = logical / step * step;
        let steps = last_that(logical / step, |steps| fits(steps * step, self.geometry.blocks_per_plane));
        let blocks = u64::from(self.geometry.blocks_per_plane);
        let too_few = last_that(BLOCKS_TIMES * blocks, |blocks| !fits(logical, blocks as u32));
        if steps == 0 || too_few == BLOCKS_TIMES * blocks {
            return None;
        }
        // The remedy that keeps the over-provisioning, as far as it is enough.
        let (data, members) = (u64::from(members - 1), u64::from(members));
        let less = (logical * data / members / step).clamp(1, steps) * step;
        let more = (blocks * members).div_ceil(data).max(too_few + 1);
        Some(format!(
            "parity takes a unit for each {data} of data, so that the same data needs {members}/{data} of the flash: \
             set `capacity.logical` to \"{}\" (at most \"{}\"), or keep \"{}\" and set `geometry.blocks_per_plane` \
             to {more} (at least {})",
            Bytes(less),
            Bytes(steps * step),
            Bytes(logical),
            too_few + 1
        ))
    }

    /// Parity across channels: units stay on their channel, and admission can distinguish tasks.
    pub(super) fn check_redundancy(&self) -> Result<(), KeyError> {
        if !self.redundancy.has_parity() {
            return Ok(());
        }
        self.check_stripe_channels()?;
        let Some((key, why, help)) = self.against_parity() else { return Ok(()) };
        Err(KeyError::new(key, why).with_help(format!("{help}, {NO_PARITY}")))
    }

    /// Parity needs two channels or more, and the channel of a unit follows from its stripe.
    fn check_stripe_channels(&self) -> Result<(), KeyError> {
        let refuse = |key: &str, why: &str, help: &str| Err(KeyError::new(key, why).with_help(help));
        if !(2..=MEMBERS_MAX).contains(&self.geometry.channels) {
            let why = format!(
                "a stripe has a unit of data or parity on each channel, and there are {}",
                self.geometry.channels
            );
            return refuse("redundancy.policy", &why, &format!("use 2 to {MEMBERS_MAX} channels, {NO_PARITY}"));
        }
        let keeps_channels = match &self.allocation {
            AllocationConfig::Dynamic(_) | AllocationConfig::Plugin(_) => true,
            AllocationConfig::Static(order) => order.begins_with_channels(),
            AllocationConfig::StaticDie(_) => false,
        };
        if !keeps_channels {
            let why = "the channel of a unit follows from its stripe, and `[allocation]` may choose another channel";
            let help = "set `allocation.policy = \"dynamic\"`, or \"static\" with an `order` that begins with C";
            return refuse("allocation.policy", why, &format!("{help}, {NO_PARITY}"));
        }
        if self.redundancy.takes_turns() && self.allocation.knows() != Known::Plane {
            let why = "planes that hold members of the same stripes are collected in turn, and this `[allocation]` \
                       does not determine those planes";
            let help = "set `allocation.policy = \"static\"`, or `redundancy.policy = \"rain\"`";
            return refuse("allocation.policy", why, help);
        }
        Ok(())
    }

    /// The first setting of another axis that does not go with parity: its key, the reason, and a remedy.
    fn against_parity(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let settings = [
            (
                self.frontier.fill().is_none(),
                "frontier.fill_limit",
                "stripes and their parity are written unit by unit, and need pages that fill",
                "set it to \"1 ms\"",
            ),
            (
                !self.admit.distinguishes_tasks() && self.preemption.as_task().is_some(),
                "admit.policy",
                "a read is rebuilt if its die works for another task, and `admit.policy` does not distinguish tasks",
                "set `admit.policy = \"strict\"`",
            ),
            (
                self.preemption.is_timeless(),
                "preemption.policy",
                "a read is rebuilt if its die collects, and collections take no time",
                "set `preemption.policy = \"always\"`",
            ),
            (
                self.granularity.build().leaves_plane(),
                "granularity.destination",
                "a unit stays on its channel, and moves to other dies may leave it",
                "set `granularity.destination = \"local\"`",
            ),
            (
                self.preemption.lets_host_first(),
                "preemption.policy",
                "only requests of the host preempt a collection, and parity has requests of its own",
                "set it to \"always\" or \"none\"",
            ),
            (
                !matches!(self.buffer, BufferConfig::None(_)),
                "buffer.policy",
                "pages evicted from a buffer have no parity",
                "set `buffer.policy = \"none\"`",
            ),
            (
                matches!(self.precondition, PreconditionConfig::Aged { .. }),
                "precondition.mode",
                "`aged` writes each plane by itself, and parity goes with data of other channels",
                "use \"random\" or \"sequential\"",
            ),
        ];
        settings.into_iter().find_map(|(is_set, key, why, help)| is_set.then_some((key, why, help)))
    }
}
