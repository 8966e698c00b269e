//! Observers of the flash.

use crate::sim::index::DieId;

/// The content of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Command and address cycles of a read, an erase or a copyback.
    Cycles,
    /// Cycles and data of all planes of a program.
    DataIn,
    /// Data of one plane of a read.
    DataOut {
        /// Mapping units of it.
        units: u32,
    },
}

/// Receives transfers and array times, and changes nothing. `place` names the command among those of its die.
pub trait Observer {
    /// A transfer begins; its end is known.
    fn on_transfer(&mut self, die: DieId, place: usize, carries: Carries, start_ns: u64, end_ns: u64);
    /// The array begins, and its end is known; a later call with the same start corrects the end.
    fn on_array(&mut self, die: DieId, place: usize, start_ns: u64, end_ns: u64);
}
