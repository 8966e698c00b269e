//! Compose: what goes into one flash command?
//!
//! Contract: when a die is ready, the order names a transaction to lead the next command. The builders of the list are
//! asked in turn; each sees the command so far, the die's queues and the planes, and may let queued transactions join.
//! Without any the lead goes alone. Those of a second list are asked about commands of collection. What they build is checked by code that does not know them, and issued by the engine.
//!
//! A builder is a file of this folder and a row of [`BuilderName`] or [`GcBuilderName`] and of their questions below.

mod gc_host;
pub mod list;
pub(crate) mod merge;
mod multi_plane;

use crate::config::{CommandsConfig, KeyError, axis};
use crate::flash::command::Command;
use crate::sim::index::DieId;
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Drive;
pub use list::{BuilderName, GcBuilderName};

axis! {
    /// `[compose]`
    ComposeConfig, "compose", "what goes into one flash command?", default List,
    { "list" => list: List }
}

impl ComposeConfig {
    /// Which builders are tried, in this order.
    pub fn builders(&self) -> &[BuilderName] {
        let Self::List(p) = self;
        &p.builders
    }

    /// Which builders for commands of collection are tried.
    pub fn gc_builders(&self) -> &[GcBuilderName] {
        let Self::List(p) = self;
        &p.gc
    }

    /// Transactions of a queue that are looked at for a partner: of a command of the host, and of one of collection.
    pub fn scan_max(&self) -> [u32; 2] {
        let Self::List(p) = self;
        [p.scan_max, p.gc_scan_max]
    }

    /// Time to look for a partner before each read of a collection, where one is looked for.
    pub fn gc_scan_ns(&self) -> u64 {
        let Self::List(p) = self;
        if p.gc.contains(&GcBuilderName::GcHost) { p.gc_scan.0 } else { 0 }
    }

    /// Checks the parameters.
    pub fn check(&self, commands: &CommandsConfig) -> Result<(), KeyError> {
        let Self::List(p) = self;
        p.check(commands)
    }
}

impl BuilderName {
    /// Lets queued reads of a die join the one that leads the command.
    #[inline(always)]
    pub(crate) fn join_reads(self, drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
        match self {
            Self::MultiPlane => multi_plane::join_reads(drive, die, command, events),
            // It says when a command may follow another, not what goes into one.
            Self::Cache => {}
        }
    }

    /// Lets queued writes of a die join the one that leads the command.
    #[inline(always)]
    pub(crate) fn join_writes(self, drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
        match self {
            Self::MultiPlane => multi_plane::join_writes(drive, die, command, events),
            Self::Cache => {}
        }
    }
}

impl GcBuilderName {
    /// Lets queued reads of a die join a read of collection.
    #[inline]
    pub(crate) fn join_gc_read(self, drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
        if self == Self::GcHost {
            gc_host::join_gc_read(drive, die, command, events);
        }
    }

    /// Lets queued writes of a die join a program of collection.
    #[inline]
    pub(crate) fn join_gc_program(
        self,
        drive: &mut Drive,
        die: DieId,
        command: &mut Command,
        is_paired: bool,
        events: &mut EventQueue,
    ) {
        if self == Self::GcHost {
            gc_host::join_gc_program(drive, die, command, is_paired, events);
        }
    }
}
