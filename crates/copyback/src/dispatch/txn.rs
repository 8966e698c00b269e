//! Transactions: the work of a request on one die, from its arrival there to its end.
//!
//! A transaction names logical units. Its address is bound when its command is issued, so it follows data that moved
//! while it waited. It may wait for others first (reads before a partial write, translation pages that are written
//! back): `waits_for` is their number, and each names it as its `successor`. Several transactions may wait for the read
//! of a translation page: they are on its list (`next_in_list`).

use crate::flash::command::Source;
use crate::observe::clocks::Reading;
use crate::observe::flash_requests::FlashRequest;
use crate::observe::report::CAUSES;
use crate::sim::index::{DieId, JobId, LogicalUnit, PlaneId, RequestId, TxnId};

/// The purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// A read of the host.
    Read,
    /// A read that a partial write of the host needs first.
    UpdateRead,
    /// A read of a translation page.
    MapRead,
    /// A read on which the new parity of a stripe depends.
    ParityRead,
    /// A read of another member of a stripe, to rebuild a read of the host.
    Rebuild,
    /// A write of the host.
    Write,
    /// An eviction of the buffer: a write of units that leave it.
    Evict,
    /// A write of a translation page.
    MapWrite,
    /// A write of parity.
    ParityWrite,
    /// A page of host writes, programmed together; they are on its list.
    FullPage,
    /// A page of map writes, programmed together; they are on its list.
    FullMapPage,
    /// A page of parity writes, programmed together; they are on its list.
    FullParityPage,
    /// A write whose request ended when the data was in DRAM; its page is still filling.
    Filled,
    /// A page of moved data on its way to another die.
    Move,
    /// A read of a relocation that reserves no die.
    RelocationRead,
    /// A program of a relocation that reserves no die.
    RelocationProgram,
    /// A read of such a relocation that has become a copyback: all units of the page are valid.
    RelocationCopyback,
    /// The erase of such a relocation.
    RelocationErase,
}

impl Role {
    /// Whether it reads flash, except for a relocation: requests of relocations have their own queue.
    #[inline(always)]
    pub fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::UpdateRead | Self::MapRead | Self::ParityRead | Self::Rebuild)
    }

    /// Whether it takes a page of its own; moves have reserved pages.
    #[inline(always)]
    pub fn is_write(self) -> bool {
        let is_page = matches!(self, Self::FullPage | Self::FullMapPage | Self::FullParityPage);
        is_page || matches!(self, Self::Write | Self::Evict | Self::MapWrite | Self::ParityWrite)
    }

    /// The kind of the host's flash request that it serves, if any.
    pub fn flash_request(self) -> Option<FlashRequest> {
        match self {
            Self::Read | Self::UpdateRead | Self::Rebuild => Some(FlashRequest::Read),
            Self::Write | Self::Evict | Self::FullPage => Some(FlashRequest::Program),
            Self::MapRead => Some(FlashRequest::MapRead),
            _ => None,
        }
    }

    /// The source of its commands.
    #[inline(always)]
    pub fn source(self) -> Source {
        match self {
            Self::MapRead | Self::MapWrite | Self::FullMapPage => Source::MAP,
            Self::ParityRead | Self::ParityWrite | Self::FullParityPage => Source::PARITY,
            _ => Source::HOST,
        }
    }
}

/// A transaction.
#[derive(Clone, Debug)]
pub struct Txn {
    /// Its purpose.
    pub role: Role,
    /// The task to which it belongs: `admit` admits it with that task, and counts it there.
    pub task: Source,
    /// Its request, if a request waits for it.
    pub request: RequestId,
    /// Its job, for moves; its relocation, for requests of relocations.
    pub job: JobId,
    /// Its first unit.
    pub first: LogicalUnit,
    /// The number of units, all of one logical page.
    pub units: u32,
    /// What its role needs in addition. For a write of a superpage: the units that it includes without writing them, a
    /// bit each. For a write of parity: the written members of its stripes. For a read or a write of the map: 1 if a
    /// task other than the host caused it.
    pub role_data: u32,
    /// Its die.
    pub die: DieId,
    /// Its plane, if it is decided.
    pub plane: PlaneId,
    /// Order of arrival.
    pub sequence: u64,
    /// Order in which it entered its die's window, if the policy distinguishes tasks; 0 before.
    pub entered: u64,
    /// Transactions that have to end before this one begins.
    pub waits_for: u32,
    /// The transaction that waits for this one.
    pub successor: TxnId,
    /// The next transaction that shares its page. For a read of a translation page: the first transaction that waits
    /// for it; for a waiting transaction, the next one.
    pub next_in_list: TxnId,
    /// The arrival of its request, or its creation if it serves none.
    pub arrival_ns: u64,
    /// Whether its request is marked urgent.
    pub high_priority: bool,
    /// Whether collection held its die while it waited.
    pub gc_affected: bool,
    /// Whether it waits for admission to its die's window.
    pub waits_for_window: bool,
    /// Its time by cause so far.
    pub breakdown_ns: [u64; CAUSES],
    /// Its die's clocks when it began to wait there.
    pub clocks: Reading,
}

impl Txn {
    /// A transaction that waits for no other, and on which no other depends.
    pub fn new(role: Role, first: LogicalUnit, units: u32, die: DieId, plane: PlaneId) -> Self {
        Self {
            role,
            task: Source::HOST,
            request: RequestId::NONE,
            job: JobId::NONE,
            first,
            units,
            role_data: 0,
            die,
            plane,
            sequence: 0,
            entered: 0,
            waits_for: 0,
            successor: TxnId::NONE,
            next_in_list: TxnId::NONE,
            arrival_ns: 0,
            high_priority: false,
            gc_affected: false,
            waits_for_window: false,
            breakdown_ns: [0; CAUSES],
            clocks: Reading::default(),
        }
    }

    /// Its position among the work that waits at its die. `by_entry`: in the order of entry into windows, not of
    /// arrival.
    #[inline(always)]
    pub fn turn(&self, by_entry: bool) -> u64 {
        if by_entry { self.entered } else { self.sequence }
    }

    /// The units that a write of a superpage includes without writing them, a bit each.
    pub fn units_included(&self) -> u32 {
        if self.role == Role::MapWrite { 0 } else { self.role_data }
    }
}

/// Transactions by small integers. Entries are reused, the last one first, so that few transactions touch little
/// memory.
pub struct Txns {
    entries: Vec<Txn>,
    free: Vec<TxnId>,
    last_sequence: u64,
}

impl Txns {
    /// Space for `capacity` transactions; more is allocated on demand.
    pub fn new(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity), last_sequence: 0 }
    }

    /// A new transaction, stamped with its place in the order of arrival.
    ///
    /// Inlined, so that the caller makes the transaction in its entry. A copy would read in large pieces what was just
    /// written in small ones, and such a read waits.
    #[inline(always)]
    pub fn add(&mut self, txn: Txn) -> TxnId {
        let sequence = self.take_sequence();
        let id = self.free.pop().unwrap_or_else(|| self.add_entry());
        self.entries[id.at()] = Txn { sequence, ..txn };
        id
    }

    /// Adds an entry, because all are in use.
    #[cold]
    fn add_entry(&mut self) -> TxnId {
        self.entries.push(Txn::new(Role::Read, LogicalUnit::NONE, 0, DieId::NONE, PlaneId::NONE));
        TxnId(self.entries.len() as u32 - 1)
    }

    /// A position in the order of arrival, not only for transactions. The low half is never 0, so that 0 can mean none.
    #[inline]
    pub fn take_sequence(&mut self) -> u64 {
        self.last_sequence += 1;
        if self.last_sequence as u32 == 0 {
            self.last_sequence += 1;
        }
        self.last_sequence
    }

    /// The position that the next transaction will take.
    pub fn next_sequence(&self) -> u64 {
        self.last_sequence + 1
    }

    /// Ends a transaction.
    #[inline]
    pub fn remove(&mut self, id: TxnId) {
        self.free.push(id);
    }

    /// Current transactions.
    pub fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Entries in use or free.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }
}

impl std::ops::Index<TxnId> for Txns {
    type Output = Txn;
    #[inline(always)]
    fn index(&self, id: TxnId) -> &Txn {
        &self.entries[id.at()]
    }
}

impl std::ops::IndexMut<TxnId> for Txns {
    #[inline(always)]
    fn index_mut(&mut self, id: TxnId) -> &mut Txn {
        &mut self.entries[id.at()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_in_the_order_of_arrival_looks_like_none() {
        let mut txns = Txns { last_sequence: u64::from(u32::MAX) - 1, ..Txns::new(1) };
        assert_eq!([(); 2].map(|()| txns.take_sequence()), [(1 << 32) - 1, (1 << 32) + 1]);
    }
}
