//! Requests begin: fetched, let in, and split into transactions.

use super::{ARRIVAL, Simulation};
use crate::dispatch::txn::{Role, Txn};
use crate::host::HostRequest;
use crate::host::config::{HostMode, SubpageWrites};
use crate::host::splitter::{Splitter, SubRequest};
use crate::observe::report::{CAUSES, Cause};
use crate::run::{RunError, TRANSACTIONS_MAX};
use crate::sim::index::{LogicalUnit, PlaneId, RequestId, TxnId};
use copyback_workload::{Op, Priority, Request};

impl Simulation<'_> {
    pub(super) fn fetch(&mut self) -> Result<(), RunError> {
        if self.is_source_empty || self.fetched >= self.fetch_max {
            return Ok(());
        }
        self.next = self.source.next_request().map_err(RunError::Workload)?;
        match self.next {
            Some(_) => self.fetched += 1,
            None => self.is_source_empty = true,
        }
        match &self.watch {
            Some(watch) if self.is_source_empty && self.fetched > 0 => {
                Err(RunError::WarmupUnfinished(watch.unfinished(self.fetched, self.mark())))
            }
            _ => Ok(()),
        }
    }

    /// Lets requests begin, and be split, as far as limits allow.
    pub(super) fn pump(&mut self) -> Result<(), RunError> {
        loop {
            if self.splitting.is_some() && !self.split_on() {
                return Ok(());
            }
            let Some(request) = self.next else { return Ok(()) };
            let now_ns = self.events.now_ns();
            let (limit, arrival_ns) = match self.host.mode {
                HostMode::Open => (self.host.outstanding_max, request.arrival_ns),
                HostMode::Closed => (self.host.queue_depth, now_ns),
            };
            if self.requests.live() >= limit {
                return Ok(());
            }
            if arrival_ns > now_ns {
                if !self.events.is_pending(ARRIVAL) {
                    self.events.schedule(ARRIVAL, arrival_ns);
                }
                return Ok(());
            }
            if self.watch.is_some() {
                self.end_warmup_before(self.fetched - 1, arrival_ns);
            }
            self.begin(request, arrival_ns)?;
            self.next = None;
            self.fetch()?;
        }
    }

    fn begin(&mut self, asked: Request, arrival_ns: u64) -> Result<(), RunError> {
        let index = self.fetched - 1;
        let drive = if self.members.len() == 1 { 0 } else { asked.device as usize };
        let refuse = |capacity_bytes| RunError::BeyondCapacity {
            index,
            op: ["read", "write", "trim"][asked.op as usize],
            offset_bytes: asked.offset_bytes,
            len_bytes: asked.len_bytes,
            capacity_bytes,
        };
        let Some(member) = self.members.get(drive) else {
            return Err(RunError::NoSuchDrive { index, device: asked.device, drives: self.members.len() });
        };
        let geometry = member.drive.geometry();
        let capacity_bytes = geometry.logical_bytes();
        if asked.offset_bytes.checked_add(asked.len_bytes).is_none_or(|end| end > capacity_bytes) {
            return Err(refuse(capacity_bytes));
        }
        let splitter = Splitter::new(&asked, geometry.unit_bytes, geometry.units_per_page);
        self.start.since_ns.get_or_insert(arrival_ns);
        self.held_requests += u64::from(arrival_ns < self.held_until_ns);
        let id = self.requests.add(HostRequest {
            asked,
            index,
            arrival_ns,
            drive: drive as u16,
            open: 0,
            is_split: false,
            gc_affected: false,
            breakdown_ns: [0; CAUSES],
        });
        self.members[drive].drive.announce(id, index);
        self.peak_outstanding = self.peak_outstanding.max(self.requests.live());
        self.splitting = Some((id, splitter));
        Ok(())
    }

    /// Splits the request at hand further; whether it is done.
    fn split_on(&mut self) -> bool {
        let (id, mut splitter) = self.splitting.take().expect("a request is being split");
        let member = self.requests[id].drive as usize;
        if splitter.op() == Op::Trim {
            let (first, units) = splitter.rest();
            self.members[member].drive.trim(first, units);
            if let Some(buffer) = &mut self.members[member].buffer {
                buffer.trim(first, units);
            }
        } else {
            loop {
                if self.members[member].drive.txns_live() >= TRANSACTIONS_MAX {
                    self.splitting = Some((id, splitter));
                    self.hold_back(id);
                    self.totals.note(member);
                    self.list_if_marked(member);
                    return false;
                }
                let Some(sub_request) = splitter.next() else { break };
                if splitter.op() == Op::Write {
                    self.collector.written_units += u64::from(sub_request.units);
                }
                match splitter.op() {
                    Op::Read => self.read(member, id, sub_request),
                    _ if self.members[member].buffer.is_some() => self.write_to_buffer(member, id, sub_request),
                    _ => self.write(member, id, sub_request),
                }
            }
        }
        let now_ns = self.events.now_ns();
        if std::mem::take(&mut self.is_held) {
            self.held_until_ns = now_ns;
        }
        self.hear_member(member);
        let request = &mut self.requests[id];
        request.is_split = true;
        if request.open == 0 {
            // Whatever came last needed nothing but its way in.
            let explained_ns: u64 = request.breakdown_ns.iter().sum();
            request.breakdown_ns[Cause::Scheduler as usize] += now_ns - request.arrival_ns - explained_ns;
        }
        self.end_if_done(id);
        true
    }

    /// The drive has all transactions that it takes: the request that is being split waits, and all behind it.
    #[cold]
    fn hold_back(&mut self, id: RequestId) {
        // One that itself waited for the request before it was counted when it began.
        let was_counted = self.is_held || self.requests[id].arrival_ns < self.held_until_ns;
        self.held_requests += u64::from(!was_counted);
        self.is_held = true;
    }

    /// A new transaction of a request. What passed since the request arrived was a wait for room in the drive.
    fn txn(&self, role: Role, id: RequestId, first: LogicalUnit, units: u32) -> Txn {
        let mut txn = Txn::new(role, first, units, crate::sim::index::DieId::NONE, PlaneId::NONE);
        txn.request = id;
        txn.arrival_ns = self.requests[id].arrival_ns;
        txn.high_priority = self.requests[id].asked.priority == Priority::High;
        txn.breakdown_ns[Cause::Scheduler as usize] = self.events.now_ns() - self.requests[id].arrival_ns;
        txn
    }

    /// Reads a sub_request: units in DRAM end there, units without data need nothing, and the others are read page by
    /// page.
    fn read(&mut self, member: usize, id: RequestId, sub_request: SubRequest) {
        let end = sub_request.first.0 + sub_request.units;
        self.collector.units_read += u64::from(sub_request.units);
        let mut unit = sub_request.first;
        let mut is_in_dram = false;
        while unit.0 < end {
            let m = &mut self.members[member];
            if let Some(buffer) = m.buffer.as_mut().filter(|b| b.holds(unit)) {
                buffer.touch(unit);
                m.buffer_read_hits += 1;
                is_in_dram = true;
                unit.0 += 1;
                continue;
            }
            let place = m.drive.ftl().lookup(unit);
            if place.is_none() {
                self.collector.unwritten_units_read += 1;
                unit.0 += 1;
                continue;
            }
            let page = m.drive.geometry().page_of(place);
            let is_together = |u: u32| {
                let other = m.drive.ftl().lookup(LogicalUnit(u));
                let in_dram = m.buffer.as_ref().is_some_and(|b| b.holds(LogicalUnit(u)));
                !in_dram && other.is_some() && m.drive.geometry().page_of(other) == page
            };
            let units = 1 + (unit.0 + 1..end).take_while(|&u| is_together(u)).count() as u32;
            self.submit_read(member, Role::Read, id, unit, units, TxnId::NONE);
            unit.0 += units;
        }
        if is_in_dram {
            self.enter_dram(member, id, self.events.now_ns());
        }
    }

    pub(super) fn submit_read(
        &mut self,
        member: usize,
        role: Role,
        id: RequestId,
        first: LogicalUnit,
        units: u32,
        successor: TxnId,
    ) {
        let mut txn = self.txn(role, id, first, units);
        let drive = &mut self.members[member].drive;
        let g = drive.geometry();
        txn.die = g.die_of(g.plane_of(g.block_of(drive.ftl().lookup(first))));
        txn.successor = successor;
        if successor.is_none() {
            self.requests[id].open += 1;
        }
        let txn = drive.add_txn(txn);
        drive.submit(txn, &mut self.events);
    }

    /// The units of a write of which only a part is written and whose rest has to be read first.
    pub(super) fn units_to_update(
        &self,
        member: usize,
        sub_request: SubRequest,
    ) -> impl Iterator<Item = LogicalUnit> + use<> {
        let m = &self.members[member];
        let needs_read = |unit: LogicalUnit| {
            self.host.subpage_writes == SubpageWrites::ReadModifyWrite
                && m.drive.ftl().lookup(unit).is_some()
                && !m.buffer.as_ref().is_some_and(|b| b.holds(unit))
        };
        let last = LogicalUnit(sub_request.first.0 + sub_request.units - 1);
        let first = (sub_request.first_is_partial && needs_read(sub_request.first)).then_some(sub_request.first);
        let last = (sub_request.last_is_partial && needs_read(last)).then_some(last);
        first.into_iter().chain(last)
    }

    /// Writes a sub_request to flash, after the reads that it needs.
    fn write(&mut self, member: usize, id: RequestId, sub_request: SubRequest) {
        let mut txn = self.txn(Role::Write, id, sub_request.first, sub_request.units);
        let reads = self.units_to_update(member, sub_request);
        let reads: (Option<LogicalUnit>, Option<LogicalUnit>) = {
            let mut reads = reads;
            (reads.next(), reads.next())
        };
        txn.waits_for = u32::from(reads.0.is_some()) + u32::from(reads.1.is_some());
        self.requests[id].open += 1;
        let drive = &mut self.members[member].drive;
        if txn.waits_for == 0 {
            let place = drive.place(sub_request.first);
            (txn.die, txn.plane) = (place.die, place.plane);
            let txn = drive.add_txn(txn);
            drive.submit(txn, &mut self.events);
            return;
        }
        let successor = drive.add_txn(txn);
        for unit in [reads.0, reads.1].into_iter().flatten() {
            self.submit_read(member, Role::UpdateRead, id, unit, 1, successor);
        }
    }
}
