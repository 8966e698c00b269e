//! Host transactions on other planes of the die join the reads and programs of collection, where page offsets agree.
//!
//! Source: hpdc18 Section 4.1, Algorithm 2. One partner for each free plane. A program's partner is a write of that plane
//! whose next page, in one of its open blocks, has the offset of the round's.

use crate::controller::drive::Drive;
use crate::nand::command::Command;
use crate::sim::index::DieId;
use crate::sim::queue::EventQueue;

/// Queued reads of other planes at the offset of the round's page join its read.
#[inline(never)]
pub(super) fn join_gc_read(drive: &mut Drive, die: DieId, command: &mut Command, events: &mut EventQueue) {
    drive.join_reads_of_other_planes(die, command, drive.settings.gc_scan_max, events);
    drive.work.reads_beside_gc += u64::from(command.planes) - 1;
}

/// Queued writes join on planes where a next page has the offset of the round's; `beside_pair`: which is in the block that
/// its plane has set apart for company.
#[inline(never)]
pub(super) fn join_gc_program(
    drive: &mut Drive,
    die: DieId,
    command: &mut Command,
    beside_pair: bool,
    events: &mut EventQueue,
) {
    drive.join_writes_of_other_planes(die, command, (drive.settings.gc_scan_max, beside_pair), events);
    drive.work.programs_beside_gc += u64::from(command.planes) - 1;
}
