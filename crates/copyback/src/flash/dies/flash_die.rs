//! One die: what its registers and its array hold.

use super::CellArray;
use crate::config::device::PLANES_MAX;
use crate::flash::command::{Command, FlashOp, Source};
use crate::sim::index::{ChannelId, JobId, PlaneId};

/// No command.
pub(crate) const NO_COMMAND: u8 = u8::MAX;

/// The phase of a die's transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Command and address cycles of a read, an erase or a copyback.
    Command,
    /// Command cycles and data of a program.
    Load,
    /// Data of one plane of a read.
    Out,
}

/// Which commands may follow each other through the cache register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Follow {
    /// A read may follow the read of the host whose data is leaving.
    pub read: bool,
    /// A program may follow the program of the host that the array works on.
    pub program: bool,
}

/// One die. A command is on the channel side (`bus`), in the array (`array`), or, between the two, staged.
pub(crate) struct FlashDie {
    pub channel: ChannelId,
    /// The array, and which of `commands` it works on.
    pub array: CellArray,
    /// Which of `commands` uses, or waits for, the channel.
    pub bus: u8,
    /// A command between the two: a program that is loaded while the array works on the one before, a read whose
    /// register is full while the page before is still leaving, or a command that is held.
    pub staged: u8,
    pub phase: Phase,
    pub bus_ns: u64,
    pub busy_since_ns: u64,
    pub commands: [Command; 2],
}

impl FlashDie {
    pub fn new(channel: ChannelId) -> Self {
        let none = Command::new(FlashOp::Erase, Source::HOST, JobId::NONE, 0);
        Self {
            channel,
            array: CellArray::new(),
            bus: NO_COMMAND,
            staged: NO_COMMAND,
            phase: Phase::Command,
            bus_ns: 0,
            busy_since_ns: 0,
            commands: [none; 2],
        }
    }

    /// Whether there is no current command.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        self.array.at() & self.bus & self.staged == NO_COMMAND
    }

    /// Whether a current command is at this place.
    #[inline(always)]
    fn uses(&self, place: u8) -> bool {
        self.array.at() == place || self.bus == place || self.staged == place
    }

    /// Whether a command that is issued now follows another through the cache register. Beside a held command it uses
    /// registers of its own.
    #[inline(always)]
    pub fn uses_cache_register(&self) -> bool {
        let has_staged = self.staged != NO_COMMAND && !self.command(self.staged).held;
        self.array.is_busy() || self.bus != NO_COMMAND || has_staged
    }

    /// The staged command that goes on by itself: not one that is held.
    #[inline(always)]
    pub fn take_staged(&mut self) -> u8 {
        if self.staged == NO_COMMAND || self.command(self.staged).held {
            return NO_COMMAND;
        }
        std::mem::replace(&mut self.staged, NO_COMMAND)
    }

    /// The planes whose registers hold pages of a read, padded with none.
    #[inline]
    pub fn planes_held(&self) -> [PlaneId; PLANES_MAX as usize] {
        let mut planes = [PlaneId::NONE; PLANES_MAX as usize];
        if self.staged != NO_COMMAND {
            let command = self.command(self.staged);
            if command.held && command.op == FlashOp::Read {
                let held = &command.parts()[usize::from(command.out)..];
                planes.iter_mut().zip(held).for_each(|(plane, part)| *plane = part.plane);
            }
        }
        planes
    }

    /// A place that no current command uses.
    #[inline(always)]
    pub fn free_place(&self) -> usize {
        debug_assert!(!(self.uses(0) && self.uses(1)), "two commands are under way");
        usize::from(self.uses(0))
    }

    /// The command at a place.
    #[inline(always)]
    pub fn command(&self, place: u8) -> &Command {
        debug_assert!(place < 2, "no command is at {place}");
        &self.commands[usize::from(place & 1)]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn command_mut(&mut self, place: u8) -> &mut Command {
        debug_assert!(place < 2, "no command is at {place}");
        &mut self.commands[usize::from(place & 1)]
    }

    /// The current commands: the one in the array, then the one on the channel, then the staged one.
    #[inline(always)]
    pub fn current(&self) -> impl Iterator<Item = &Command> {
        let places = [self.array.at(), self.bus, self.staged].into_iter().filter(|&at| at != NO_COMMAND);
        places.map(|at| self.command(at))
    }

    /// The first of the current commands: what the die works on.
    #[inline(always)]
    pub fn at_work(&self) -> Option<&Command> {
        self.current().next()
    }
}
