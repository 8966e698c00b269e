//! Compose: what goes into one flash command?
//!
//! Contract: when a die is ready, the order names a transaction to lead the next command. The builders of the list are
//! asked in turn; each sees the command so far, the die's queues and the planes, and may let queued transactions join.
//! Without any the lead goes alone. What they build is checked by code that does not know them, and issued by the engine.
//!
//! A builder is a file of this folder and a row of [`BuilderName`] and its two questions below.

pub mod list;
mod multi_plane;

use super::drive::Drive;
use crate::config::{KeyError, RunConfig, axis};
use crate::nand::command::Command;
use crate::sim::index::DieId;
use crate::sim::queue::EventQueue;
pub use list::BuilderName;

axis! {
    /// `[compose]`
    ComposeConfig, "compose", "what goes into one flash command?", default List,
    { "list" => list: List }
}

impl ComposeConfig {
    /// Checks the parameters.
    pub fn check(&self, run: &RunConfig) -> Result<(), KeyError> {
        let Self::List(p) = self;
        p.check(run)
    }
}

impl BuilderName {
    /// Lets queued reads of a die join the one that leads the command.
    #[inline]
    pub(super) fn join_reads(self, drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
        match self {
            Self::MultiPlane => multi_plane::join_reads(drive, die, command, events),
            // It says when a command may follow another, not what goes into one.
            Self::Cache => {}
        }
    }

    /// Lets queued writes of a die join the one that leads the command.
    #[inline]
    pub(super) fn join_writes(self, drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
        match self {
            Self::MultiPlane => multi_plane::join_writes(drive, die, command, events),
            Self::Cache => {}
        }
    }
}
