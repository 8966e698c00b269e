//! From a sub-request to its transactions on flash: reads page by page, and writes, with the reads that a partial write
//! needs first.

use crate::dispatch::txn::{Role, Txn};
use crate::host::config::SubpageWrites;
use crate::host::splitter::SubRequest;
use crate::observe::report::Cause;
use crate::sim::index::{DieId, LogicalUnit, PlaneId, RequestId};
use crate::sim::queue::EventQueue;
use crate::ssd::drive::Ssd;
use crate::ssd::requests::eviction_waits::WaitBreakdown;

/// A bit for each of these units; the lowest bit is that of `first`.
fn bits_from(first: LogicalUnit, units: impl Iterator<Item = LogicalUnit>) -> u32 {
    units.fold(0, |bits, unit| bits | 1 << (unit.0 - first.0))
}

impl Ssd {
    /// A new transaction of a request. The time since the request's arrival was a wait for room in the drive.
    #[inline(always)]
    fn txn(&self, role: Role, id: RequestId, first: LogicalUnit, units: u32, now_ns: u64) -> Txn {
        let state = self.requests.state_of(id);
        let mut txn = Txn::new(role, first, units, DieId::NONE, PlaneId::NONE);
        txn.request = id;
        txn.arrival_ns = state.arrival_ns;
        txn.high_priority = state.high_priority;
        txn.breakdown_ns[Cause::Scheduler as usize] = now_ns - state.arrival_ns;
        txn
    }

    /// Reads a sub-request. Units in DRAM end there, units without data need no transaction, and the others are read
    /// page by page.
    pub(in crate::ssd) fn read(&mut self, id: RequestId, sub_request: SubRequest, events: &mut EventQueue) {
        let end = sub_request.first.0 + sub_request.units;
        self.units.on_read(sub_request.units);
        let mut unit = sub_request.first;
        let mut is_in_dram = false;
        while unit.0 < end {
            if let Some(buffer) = self.back_end.host_side.buffer.as_mut().filter(|b| b.holds(unit)) {
                buffer.hit(unit);
                self.units.on_buffer_read_hit();
                is_in_dram = true;
                unit.0 += 1;
                continue;
            }
            if self.back_end.host_side.is_filling(unit) {
                is_in_dram = true;
                unit.0 += 1;
                continue;
            }
            let place = self.back_end.ftl().lookup(unit);
            if place.is_none() {
                self.units.on_unwritten_read();
                unit.0 += 1;
                continue;
            }
            let page = self.back_end.geometry().flash_page(place);
            let is_together = |u: u32| {
                let other = self.back_end.ftl().lookup(LogicalUnit(u));
                let in_dram = self.back_end.host_side.is_in_dram(LogicalUnit(u));
                let is_near = || self.back_end.looks_up() || self.back_end.geometry().flash_page(other) == page;
                !in_dram && other.is_some() && is_near()
            };
            let units = 1 + (unit.0 + 1..end).take_while(|&u| is_together(u)).count() as u32;
            self.submit_read(Role::Read, id, unit, units, events);
            unit.0 += units;
        }
        if is_in_dram {
            self.enter_dram(id, events.now_ns(), WaitBreakdown::default(), events);
        }
    }

    /// Reads consecutive units for a request. They are in one page; with a map in flash they may be in several, and
    /// `go_to_dies` splits them.
    pub(in crate::ssd) fn submit_read(
        &mut self,
        role: Role,
        id: RequestId,
        first: LogicalUnit,
        units: u32,
        events: &mut EventQueue,
    ) {
        let txn = self.txn(role, id, first, units, events.now_ns());
        self.requests.open(id);
        self.submit_at_place(txn, events);
    }

    /// Sends a read to the die of its first unit, after a look-up if necessary.
    fn submit_at_place(&mut self, mut txn: Txn, events: &mut EventQueue) {
        if !self.back_end.is_direct() {
            return self.back_end.submit_new(txn, events);
        }
        let g = self.back_end.geometry();
        txn.die = g.die_of(g.plane_of(g.block_of(self.back_end.ftl().lookup(txn.first))));
        let txn = self.back_end.add_txn(txn);
        self.back_end.submit(txn, events);
    }

    /// The units of a write that are only partly written, and whose rest has to be read first.
    pub(in crate::ssd) fn units_to_update(
        &mut self,
        sub_request: SubRequest,
    ) -> impl Iterator<Item = LogicalUnit> + use<> {
        let is_in_flash =
            |unit: LogicalUnit| self.back_end.ftl().lookup(unit).is_some() && !self.back_end.host_side.is_in_dram(unit);
        let last = LogicalUnit(sub_request.first.0 + sub_request.units - 1);
        let first = (sub_request.first_is_partial && is_in_flash(sub_request.first)).then_some(sub_request.first);
        let last = (sub_request.last_is_partial && is_in_flash(last)).then_some(last);
        self.units.on_write(first.is_some() || last.is_some());
        let reads_rest = self.subpage_writes == SubpageWrites::ReadModifyWrite;
        first.into_iter().chain(last).filter(move |_| reads_rest)
    }

    /// Writes a sub-request to flash, after the reads that it needs.
    pub(in crate::ssd) fn write(&mut self, id: RequestId, sub_request: SubRequest, events: &mut EventQueue) {
        self.requests.open(id);
        let partial_units = self.units_to_update(sub_request);
        if self.back_end.geometry().has_superpages() {
            return self.write_superpage(id, sub_request, partial_units, events);
        }
        let (first, units) = (sub_request.first, sub_request.units);
        let reads = bits_from(first, partial_units);
        if reads > 0 || !self.back_end.is_direct() {
            let txn = self.txn(Role::Write, id, first, units, events.now_ns());
            return self.submit_after(txn, reads, events);
        }
        // As in `submit_after`, but the transaction is made in its entry.
        let txn = self.back_end.add_txn(self.txn(Role::Write, id, first, units, events.now_ns()));
        self.back_end.send_write(txn, events);
    }

    /// Writes the superpage of a sub-request.
    #[inline(never)]
    fn write_superpage(
        &mut self,
        id: RequestId,
        sub_request: SubRequest,
        partial_units: impl Iterator<Item = LogicalUnit>,
        events: &mut EventQueue,
    ) {
        let mut txn = self.txn(Role::Write, id, sub_request.first, sub_request.units, events.now_ns());
        let written = sub_request.first.0..sub_request.first.0 + sub_request.units;
        self.take_superpage(&mut txn, |unit| written.contains(&unit.0));
        let reads = bits_from(txn.first, partial_units) | self.others_held(&txn);
        self.submit_after(txn, reads, events);
    }

    /// Extends a write to the whole superpage of its first unit; `writes` tells which units the host writes.
    pub(in crate::ssd) fn take_superpage(&self, txn: &mut Txn, writes: impl Fn(LogicalUnit) -> bool) {
        let units = self.back_end.ftl().superpage_of(txn.first);
        let (mut first, mut count, mut others) = (LogicalUnit::NONE, 0, 0);
        for unit in units {
            first = LogicalUnit(first.0.min(unit.0));
            others |= u32::from(!writes(unit)) << count;
            count += 1;
        }
        (txn.first, txn.units, txn.role_data) = (first, count, others);
    }

    /// The units that a write of a superpage includes in addition and that hold data, a bit each: they are read first.
    pub(in crate::ssd) fn others_held(&self, txn: &Txn) -> u32 {
        let is_held = |at: &u32| self.back_end.ftl().lookup(LogicalUnit(txn.first.0 + at)).is_some();
        (0..txn.units).filter(|at| txn.role_data >> at & 1 == 1).filter(is_held).fold(0, |mask, at| mask | 1 << at)
    }

    /// Submits a write to the drive, after reads of its units whose bit in `reads` is set.
    #[inline(always)]
    pub(in crate::ssd) fn submit_after(&mut self, txn: Txn, reads: u32, events: &mut EventQueue) {
        if reads > 0 {
            self.submit_behind(txn, reads, events);
        } else if self.back_end.is_direct() {
            let txn = self.back_end.add_txn(txn);
            self.back_end.send_write(txn, events);
        } else {
            self.back_end.submit_new(txn, events);
        }
    }

    #[inline(never)]
    fn submit_behind(&mut self, mut txn: Txn, reads: u32, events: &mut EventQueue) {
        txn.waits_for = reads.count_ones();
        let read = Txn { role: Role::UpdateRead, units: 1, role_data: 0, waits_for: 0, ..txn.clone() };
        let successor = self.back_end.add_txn(txn);
        for at in (0..u32::BITS).filter(|at| reads >> at & 1 == 1) {
            let first = LogicalUnit(read.first.0 + at);
            self.submit_at_place(Txn { first, successor, ..read.clone() }, events);
        }
    }
}
