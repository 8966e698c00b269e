//! Does what keeps parity fit to the rest of a configuration?

use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::buffer::BufferConfig;
use crate::config::KeyError;
use crate::ftl::allocation::AllocationConfig;

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
        if !matches!(self.allocation, AllocationConfig::Dynamic(_)) {
            let why = "the channel of a unit follows from its stripe, and `allocation.policy` has another one for it";
            return refuse("allocation.policy", why, &format!("set `allocation.policy = \"dynamic\"`, {other}"));
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
