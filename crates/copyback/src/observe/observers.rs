//! All observers of a drive's commands, transfers and array times.

use super::commands::{CommandFilter, CommandLog, CommandRecord, Issued, Transfer};
use super::protocol::ProtocolChecker;
use crate::flash::geometry::Geometry;
use crate::flash::{Carries, Observer};
use crate::sim::index::{BlockId, DieId, PageId, PlaneId, RequestId};

/// The protocol checker under `--check`, and the log on request.
#[derive(Default)]
pub struct Observers {
    protocol: Option<ProtocolChecker>,
    log: Option<CommandLog>,
}

impl Observers {
    /// With a protocol checker.
    pub fn watching(protocol: ProtocolChecker) -> Self {
        Self { protocol: Some(protocol), log: None }
    }

    /// Keeps a record of the commands of the drive of this number from now on.
    pub fn keep_commands(&mut self, drive: u32, filter: CommandFilter, geometry: &Geometry) {
        self.log = Some(CommandLog::new(drive, filter, geometry));
    }

    /// The commands that were kept, in the order of their issue.
    pub fn take_commands(&mut self) -> Vec<CommandRecord> {
        self.log.take().map_or_else(Vec::new, CommandLog::finish)
    }

    /// A request of this number begins.
    pub fn on_request(&mut self, id: RequestId, number: u64) {
        if let Some(log) = &mut self.log {
            log.on_request(id, number);
        }
    }

    /// A command is issued.
    pub(crate) fn on_command(&mut self, issued: &Issued<'_>) {
        if let Some(protocol) = &mut self.protocol {
            let pages: Vec<(PlaneId, PageId)> = issued.parts.iter().map(|part| (part.0, part.1)).collect();
            protocol.on_command(issued.die.0, issued.at, issued.now_ns, issued.op, &pages);
        }
        if let Some(log) = &mut self.log {
            log.on_command(issued);
        }
    }

    /// The number of programmed pages of a block, as far as commands show; none without a checker.
    pub fn programmed(&self, block: BlockId) -> Option<u32> {
        self.protocol.as_ref().map(|protocol| protocol.programmed(block))
    }

    /// Pages of a block are skipped: the page at this offset is programmed next.
    pub fn on_skipped(&mut self, block: BlockId, page_offset: u32) {
        if let Some(protocol) = &mut self.protocol {
            protocol.on_skipped(block, page_offset);
        }
    }

    /// A block was programmed up to this page while no time passed.
    pub fn on_timeless(&mut self, block: BlockId, pages_programmed: u32) {
        if let Some(protocol) = &mut self.protocol {
            protocol.on_timeless(block, pages_programmed);
        }
    }
}

impl Observer for Observers {
    fn on_transfer(&mut self, die: DieId, place: usize, carries: Carries, start_ns: u64, end_ns: u64) {
        if let Some(protocol) = &mut self.protocol {
            protocol.on_transfer(die.0, place, carries, start_ns, end_ns);
        }
        if let Some(log) = &mut self.log {
            log.on_transfer(die, place, Transfer { start_ns, end_ns, carries });
        }
    }

    fn on_array(&mut self, die: DieId, place: usize, start_ns: u64, end_ns: u64) {
        if let Some(protocol) = &mut self.protocol {
            protocol.on_array(die.0, place, start_ns, end_ns);
        }
        if let Some(log) = &mut self.log {
            log.on_array(die, place, start_ns, end_ns);
        }
    }
}
