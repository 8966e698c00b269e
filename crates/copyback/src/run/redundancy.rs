//! Does what keeps parity fit to the rest of a configuration?

use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::buffer::BufferConfig;
use crate::config::KeyError;
use crate::ftl::allocation::{AllocationConfig, Known};

/// Members of a stripe that its planner can tell apart.
const MEMBERS_MAX: u32 = 31;

impl RunConfig {
    /// Parity across channels: units stay on theirs, and whoever lets requests in can tell tasks apart.
    pub(super) fn check_redundancy(&self) -> Result<(), KeyError> {
        if !self.redundancy.has_parity() {
            return Ok(());
        }
        let refuse = |key: &str, why: &str, help: &str| Err(KeyError::new(key, why).with_help(help));
        let other = "or set `redundancy.policy = \"none\"`";
        if !(2..=MEMBERS_MAX).contains(&self.geometry.channels) {
            let why = format!(
                "a stripe has a unit of data or parity on each channel, and there are {}",
                self.geometry.channels
            );
            return refuse("redundancy.policy", &why, &format!("use 2 to {MEMBERS_MAX} channels, {other}"));
        }
        let keeps_channels = match &self.allocation {
            AllocationConfig::Dynamic(_) => true,
            AllocationConfig::Static(order) => order.begins_with_channels(),
            AllocationConfig::StaticDie(_) => false,
        };
        if !keeps_channels {
            let why = "the channel of a unit follows from its stripe, and `[allocation]` has another one for it";
            let help = "set `allocation.policy = \"dynamic\"`, or \"static\" with an `order` that begins with C";
            return refuse("allocation.policy", why, &format!("{help}, {other}"));
        }
        if self.redundancy.takes_turns() && self.allocation.knows() != Known::Plane {
            let why = "planes that hold members of the same stripes are collected in turn, and `[allocation]` leaves open \
                       which those are";
            let help = "set `allocation.policy = \"static\"`, or `redundancy.policy = \"rain\"`";
            return refuse("allocation.policy", why, help);
        }
        if self.frontier.fill().is_none() {
            let why = "parity is written unit by unit, as its stripes are, and gathers in pages that fill";
            return refuse("frontier.fill_limit", why, &format!("set it to \"1 ms\", {other}"));
        }
        if !self.admit.tells_tasks_apart() || self.preemption.is_timeless() {
            let why = "a read is rebuilt where its die is at work for another task, and `admit.policy` tells no tasks \
                       apart";
            let help = "set `admit.policy = \"strict\"` and `preemption.policy = \"always\"`";
            return refuse("admit.policy", why, &format!("{help}, {other}"));
        }
        if !matches!(self.buffer, BufferConfig::None(_)) {
            let why = "what leaves a buffer has no parity";
            return refuse("buffer.policy", why, &format!("set `buffer.policy = \"none\"`, {other}"));
        }
        if matches!(self.precondition, PreconditionConfig::Aged { .. }) {
            let why = "`aged` writes each plane by itself, and parity goes with data of other channels";
            return refuse("precondition.mode", why, &format!("use \"random\" or \"sequential\", {other}"));
        }
        Ok(())
    }
}
