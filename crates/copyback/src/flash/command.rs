//! Flash commands, and whether a device takes them.

use crate::config::CommandsConfig;
use crate::config::device::PLANES_MAX;
use crate::flash::geometry::Geometry;
pub use crate::flash::source::Source;
use crate::sim::index::{JobId, PageId, PlaneId, TxnId};
use crate::sim::invariant::hold;

/// The operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FlashOp {
    /// Array to register, then register to controller.
    Read,
    /// Controller to register, then register to array.
    Program,
    /// A whole block.
    Erase,
    /// Read and program inside a plane, off the channel.
    Copyback,
}

/// One plane's part in a command.
#[derive(Clone, Copy, Debug)]
pub struct CommandPlane {
    /// The plane.
    pub plane: PlaneId,
    /// The page; for an erase the first page of the block; for a copyback the destination.
    pub page: PageId,
    /// Mapping units that cross the channel.
    pub units: u32,
    /// First of the host's transactions that this part serves; the others are on its list.
    pub txn: TxnId,
}

/// A command on its way through a die.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// The operation.
    pub op: FlashOp,
    /// The source.
    pub source: Source,
    /// The job that it is a step of.
    pub job: JobId,
    /// How many of the parts are used.
    pub planes: u8,
    /// Whether it follows another through the cache register.
    pub cached: bool,
    /// Whether it has its die to itself and no observer.
    pub alone: bool,
    /// Whether it keeps its place in the die, and its registers if it has any, until it is released or resumed, while
    /// another command may go beside it: a read whose first page has left, or a suspended program or erase.
    pub held: bool,
    /// Reads: the part whose data leaves next.
    pub out: u8,
    /// The planes' parts.
    pub parts: [CommandPlane; PLANES_MAX as usize],
    /// When the die took it.
    pub issued_ns: u64,
    /// Programs: when its data was in the register.
    pub loaded_ns: u64,
    /// When the array began. After a suspension: later by the time of the suspension. While a program or an erase is
    /// suspended (`held`), not a time but a duration: how long the array has worked for it.
    pub array_start_ns: u64,
    /// When the array ended, or will. While a program or an erase is suspended (`held`): how long the array must still
    /// work for it.
    pub array_end_ns: u64,
}

/// A part that is not used.
pub const NO_PART: CommandPlane = CommandPlane { plane: PlaneId::NONE, page: PageId::NONE, units: 0, txn: TxnId::NONE };

impl Command {
    /// A command of no plane yet.
    pub fn new(op: FlashOp, source: Source, job: JobId, issued_ns: u64) -> Self {
        Self {
            op,
            source,
            job,
            planes: 0,
            cached: false,
            alone: false,
            held: false,
            out: 0,
            parts: [NO_PART; PLANES_MAX as usize],
            issued_ns,
            loaded_ns: issued_ns,
            array_start_ns: 0,
            array_end_ns: 0,
        }
    }

    /// Makes this a read or a program of one page that is no step of a job. In place and field by field, because a copy
    /// of a command that was just made is slow: it reads fields in wider pieces than they were written, so that the
    /// processor first completes all earlier writes to memory. Parts that are not used keep their old values.
    #[inline(always)]
    pub(super) fn set_page(&mut self, op: FlashOp, source: Source, part: CommandPlane, cached: bool, issued_ns: u64) {
        (self.op, self.source, self.job) = (op, source, JobId::NONE);
        (self.planes, self.cached, self.alone, self.held, self.out) = (1, cached, false, false, 0);
        let own = &mut self.parts[0];
        own.plane = part.plane;
        own.page = part.page;
        own.units = part.units;
        own.txn = part.txn;
        (self.issued_ns, self.loaded_ns) = (issued_ns, issued_ns);
        (self.array_start_ns, self.array_end_ns) = (0, 0);
    }

    /// Makes this a command of one plane that has its die to itself. In place, because most commands are of this kind.
    #[inline(always)]
    pub(super) fn set_alone(&mut self, op: FlashOp, source: Source, job: JobId, part: CommandPlane, issued_ns: u64) {
        (self.op, self.source, self.job) = (op, source, job);
        (self.planes, self.cached, self.alone, self.held, self.out) = (1, false, true, false, 0);
        self.parts[0] = part;
        (self.issued_ns, self.loaded_ns) = (issued_ns, issued_ns);
    }

    /// Turns such a command into the next one of its job on the same plane.
    #[inline(always)]
    pub(super) fn set_following(&mut self, op: FlashOp, page: PageId, units: u32, issued_ns: u64) {
        (self.op, self.parts[0].page, self.parts[0].units) = (op, page, units);
        (self.issued_ns, self.loaded_ns) = (issued_ns, issued_ns);
    }

    /// Adds a plane's part.
    #[inline(always)]
    pub fn push(&mut self, part: CommandPlane) {
        self.parts[self.planes as usize] = part;
        self.planes += 1;
    }

    /// The parts in use.
    #[inline(always)]
    pub fn parts(&self) -> &[CommandPlane] {
        &self.parts[..self.planes as usize]
    }

    /// Whether a plane has a part already.
    #[inline(always)]
    pub fn uses(&self, plane: PlaneId) -> bool {
        self.parts().iter().any(|s| s.plane == plane)
    }
}

/// The commands that a device takes, and which planes and pages go together.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The device's own description.
    pub commands: CommandsConfig,
}

impl Rules {
    /// The rules of a device.
    pub fn new(commands: &CommandsConfig) -> Self {
        Self { commands: *commands }
    }

    /// Whether two planes of one die may be in one command at all.
    #[inline]
    pub fn may_pair(&self, geometry: &Geometry, a: PlaneId, b: PlaneId) -> bool {
        let is_pair = || geometry.plane_offset(a) / 2 == geometry.plane_offset(b) / 2;
        self.commands.multi_plane && a != b && (!self.commands.plane_pairs || is_pair())
    }

    /// Whether two pages of one die may be in one command: on different planes that the device combines, at the same
    /// offset.
    #[inline]
    pub fn go_together(&self, geometry: &Geometry, a: PageId, b: PageId) -> bool {
        let ((block_a, offset_a), (block_b, offset_b)) = (geometry.block_and_offset(a), geometry.block_and_offset(b));
        let (plane_a, plane_b) = (geometry.plane_of(block_a), geometry.plane_of(block_b));
        self.may_pair(geometry, plane_a, plane_b)
            && offset_a == offset_b
            && (!self.commands.same_block || geometry.block_offset(block_a) == geometry.block_offset(block_b))
    }

    /// Stops the run on a command that the device would refuse. This check does not depend on the code that
    /// composes commands.
    ///
    /// # Panics
    /// With the rule that is broken.
    #[inline(always)]
    pub fn check(&self, geometry: &Geometry, command: &Command) {
        let lead = &command.parts[0];
        let is_there = command.planes > 0 && geometry.plane_of_page(lead.page) == lead.plane;
        hold!(is_there, LegalCommand, "{:?} of {:?} on {:?}", command.op, lead.page, lead.plane);
        if command.planes > 1 {
            self.check_partners(geometry, command);
        }
    }

    fn check_partners(&self, geometry: &Geometry, command: &Command) {
        let parts = command.parts();
        for (i, a) in parts.iter().enumerate() {
            hold!(geometry.plane_of_page(a.page) == a.plane, LegalCommand, "{:?} is not on {:?}", a.page, a.plane);
            for b in &parts[..i] {
                hold!(
                    geometry.die_of(a.plane) == geometry.die_of(b.plane) && self.go_together(geometry, a.page, b.page),
                    LegalCommand,
                    "multi-plane {:?} of {:?} with {:?}",
                    command.op,
                    a.page,
                    b.page
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a used command, only parts beyond those in use stay.
    #[test]
    fn a_command_of_a_page_in_place_equals_a_new_one() {
        let part = CommandPlane { plane: PlaneId(3), page: PageId(77), units: 4, txn: TxnId(5) };
        for (op, cached) in [(FlashOp::Read, true), (FlashOp::Program, false)] {
            let mut new = Command { cached, ..Command::new(op, Source::HOST, JobId::NONE, 900) };
            new.push(part);
            let mut used = Command {
                planes: 2,
                cached: !cached,
                alone: true,
                held: true,
                out: 1,
                parts: [CommandPlane { units: 1, ..part }; PLANES_MAX as usize],
                issued_ns: 1,
                loaded_ns: 2,
                array_start_ns: 3,
                array_end_ns: 4,
                ..Command::new(FlashOp::Erase, Source::GC, JobId(1), 0)
            };
            used.set_page(op, Source::HOST, part, cached, 900);
            assert_eq!(format!("{:?}", used.parts()), format!("{:?}", new.parts()));
            used.parts = new.parts;
            assert_eq!(format!("{used:?}"), format!("{new:?}"));
        }
    }
}
