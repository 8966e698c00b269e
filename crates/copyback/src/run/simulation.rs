//! The loop: events in their order, requests from the host, and what ended.

use super::{Progress, RunError};
use crate::buffer::lru::Buffer;
use crate::check::{Invariant, broken, hold};
use crate::config::host::{HostMode, SubpageWrites};
use crate::config::{HostConfig, RunConfig};
use crate::controller::drive::Drive;
use crate::controller::txn::{Role, Txn};
use crate::ftl::core::Ftl;
use crate::host::cutter::{Cutter, Piece};
use crate::host::{HostRequest, Requests};
use crate::metrics::collector::Collector;
use crate::metrics::commands::{CommandFilter, CommandRecord};
use crate::metrics::report::{CAUSES, Cause, Sample};
use crate::metrics::steady::{Mark, Steady, Track};
use crate::nand::command::Source;
use crate::sim::index::{BlockId, LogicalUnit, PlaneId, RequestId, TxnId};
use crate::sim::queue::{EventQueue, Slot};
use copyback_workload::{Op, Priority, Request, RequestSource};
use std::collections::VecDeque;

/// The next arrival.
const ARRIVAL: Slot = Slot(0);
/// The next completion out of DRAM.
const DRAM: Slot = Slot(1);
const FIRST_DRIVE: u32 = 2;
/// Transactions under way on a drive above which no request is cut further: more would not be looked at.
const TXNS_MAX: usize = 1 << 16;
/// Events between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 18;

/// Something that ends in DRAM at a known time.
struct InDram {
    end_ns: u64,
    start_ns: u64,
    request: RequestId,
}

/// A piece of a write that waits for room in the buffer.
struct WaitingPiece {
    request: RequestId,
    piece: Piece,
    since_ns: u64,
}

/// One drive and what belongs to it.
struct Member {
    drive: Drive,
    buffer: Option<Buffer>,
    waiting_pieces: VecDeque<WaitingPiece>,
    /// Units of those pieces together.
    waiting_units: u64,
    first_slot: u32,
    buffer_read_hits: u64,
    buffer_write_hits: u64,
}

/// A run under way: one or more drives that share a clock, and a host.
pub struct Simulation<'a> {
    events: EventQueue,
    members: Vec<Member>,
    member_of_slot: Vec<u16>,
    host: HostConfig,
    source: &'a mut dyn RequestSource,
    requests: Requests,
    /// The request that was fetched and has not begun.
    next: Option<Request>,
    is_source_empty: bool,
    fetched: u64,
    fetch_max: u64,
    /// The request that is being cut.
    cutting: Option<(RequestId, Cutter)>,
    in_dram: VecDeque<InDram>,
    /// Measures.
    pub collector: Collector,
    track: Track,
    max_queue_depth: u32,
    first_arrival_ns: Option<u64>,
    last_end_ns: u64,
    check: bool,
}

/// What a run needs beyond its drives.
pub struct Setup<'a> {
    /// How the host hands requests over.
    pub host: HostConfig,
    /// The workload.
    pub source: &'a mut dyn RequestSource,
    /// Stop after so many requests.
    pub requests: Option<u64>,
    /// Check everything.
    pub check: bool,
    /// Keep a record of every round of collection.
    pub keep_gc_events: bool,
    /// Keep a record of every request.
    pub keep_requests: bool,
}

impl<'a> Simulation<'a> {
    /// Drives with their pasts; a request goes to the drive that its `device` names where there are several.
    pub fn new(drives: Vec<(&RunConfig, Ftl)>, setup: Setup<'a>) -> Self {
        let mut members = Vec::new();
        let mut member_of_slot = vec![0; FIRST_DRIVE as usize];
        for (number, (config, ftl)) in drives.into_iter().enumerate() {
            let first_slot = member_of_slot.len() as u32;
            member_of_slot.resize(member_of_slot.len() + Drive::slots(&ftl.geometry) as usize, number as u16);
            let buffer = config.buffer.build(&ftl.geometry);
            let drive = Drive::new(config, ftl, first_slot, setup.check, setup.keep_gc_events);
            let waiting_pieces = VecDeque::new();
            members.push(Member {
                drive,
                buffer,
                waiting_pieces,
                waiting_units: 0,
                first_slot,
                buffer_read_hits: 0,
                buffer_write_hits: 0,
            });
        }
        Self {
            events: EventQueue::new(member_of_slot.len()),
            members,
            member_of_slot,
            host: setup.host,
            source: setup.source,
            requests: Requests::default(),
            next: None,
            is_source_empty: false,
            fetched: 0,
            fetch_max: setup.requests.unwrap_or(u64::MAX),
            cutting: None,
            in_dram: VecDeque::new(),
            collector: Collector::new(setup.keep_requests),
            track: Track::default(),
            max_queue_depth: 0,
            first_arrival_ns: None,
            last_end_ns: 0,
            check: setup.check,
        }
    }

    /// Has every drive keep a record of its commands, or of some of them. Before the run starts.
    pub fn keep_commands(&mut self, filter: CommandFilter) {
        self.members.iter_mut().for_each(|m| m.drive.keep_commands(filter));
    }

    /// The commands that were kept, drive by drive; none afterwards.
    pub fn take_commands(&mut self) -> Vec<CommandRecord> {
        self.members.iter_mut().flat_map(|m| m.drive.take_commands()).collect()
    }

    /// Runs to the end of the workload.
    pub fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), RunError> {
        self.start()?;
        let mut handled = 0u64;
        while self.step()? {
            handled += 1;
            if handled.is_multiple_of(PROGRESS_EVERY) {
                self.report_progress(progress);
                if self.check && handled.is_multiple_of(PROGRESS_EVERY * 16) {
                    self.members.iter().for_each(|m| m.drive.check_all());
                }
            }
        }
        self.report_progress(progress);
        self.check_end();
        Ok(())
    }

    /// The first requests begin. Once, before the first step.
    pub fn start(&mut self) -> Result<(), RunError> {
        self.fetch()?;
        if self.next.is_none() {
            return Err(RunError::Empty);
        }
        self.settle()
    }

    /// Handles the next event and all that follows from it; whether there was one.
    #[inline(always)]
    pub fn step(&mut self) -> Result<bool, RunError> {
        let Some((now_ns, slot)) = self.events.pop() else { return Ok(false) };
        if now_ns >= self.collector.next_sample_ns() {
            self.sample(now_ns);
        }
        match slot {
            ARRIVAL => {}
            DRAM => self.end_in_dram(now_ns),
            Slot(slot) => {
                let member = self.member_of_slot[slot as usize] as usize;
                let local = slot - self.members[member].first_slot;
                self.members[member].drive.on_event(local, &mut self.events);
                self.settle_member(member);
            }
        }
        if self.may_begin() || self.is_touched() {
            self.settle()?;
        }
        Ok(true)
    }

    /// Has a full block relocated between two steps, as a scrubber or a wear leveller would; whether the drive can now.
    pub fn relocate(&mut self, member: usize, block: BlockId, source: Source) -> Result<bool, RunError> {
        let drive = &mut self.members[member].drive;
        if !drive.may_relocate(block) {
            return Ok(false);
        }
        drive.start_relocation(block, source);
        self.settle()?;
        Ok(true)
    }

    /// Everything that follows from what happened at this moment: requests begin, dies take commands, requests end.
    fn settle(&mut self) -> Result<(), RunError> {
        loop {
            if self.may_begin() {
                self.pump()?;
            }
            if !self.is_touched() {
                return Ok(());
            }
            for member in 0..self.members.len() {
                self.members[member].drive.kick_touched(&mut self.events);
                self.settle_member(member);
            }
        }
    }

    /// Whether something changed for a die and it was not looked at yet.
    #[inline(always)]
    fn is_touched(&self) -> bool {
        self.members.iter().any(|m| m.drive.is_touched())
    }

    /// Whether a request may be waiting to begin or to be cut; asked at every event, so it has to be cheap.
    #[inline]
    fn may_begin(&self) -> bool {
        let limit = match self.host.mode {
            HostMode::Open if self.events.is_pending(ARRIVAL) => 0,
            HostMode::Open => self.host.outstanding_max,
            HostMode::Closed => self.host.queue_depth,
        };
        self.cutting.is_some() || (self.next.is_some() && self.requests.live() < limit)
    }

    fn report_progress(&self, progress: &mut dyn FnMut(Progress)) {
        let operations = |m: &Member| {
            let w = &m.drive.work;
            w.host_page_reads + w.host_page_programs + w.gc_page_reads + w.gc_page_programs
        };
        progress(Progress {
            now_ns: self.events.now_ns(),
            requests_done: self.collector.done.iter().sum(),
            page_operations: self.members.iter().map(operations).sum(),
        });
    }

    /// Nothing may be left when no event is.
    ///
    /// # Panics
    /// With what is left.
    pub fn check_end(&self) {
        let left = self.requests.live();
        if left > 0 || self.next.is_some() {
            let dies: String = self.members.iter().map(|m| m.drive.describe_waiting()).collect();
            broken(Invariant::RunEnds, format_args!("{left} requests wait for something that never comes: {dies}"));
        }
        self.members.iter().for_each(|m| m.drive.check_end(self.events.now_ns()));
        if self.check {
            self.members.iter().for_each(|m| m.drive.check_all());
        }
    }

    // ---- requests begin ---------------------------------------------------------------------------------------------

    fn fetch(&mut self) -> Result<(), RunError> {
        if self.is_source_empty || self.fetched >= self.fetch_max {
            return Ok(());
        }
        self.next = self.source.next_request().map_err(RunError::Workload)?;
        match self.next {
            Some(_) => self.fetched += 1,
            None => self.is_source_empty = true,
        }
        Ok(())
    }

    /// Lets requests begin, and be cut, as far as limits allow.
    fn pump(&mut self) -> Result<(), RunError> {
        loop {
            if self.cutting.is_some() && !self.cut_on() {
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
        let cutter = Cutter::new(&asked, geometry.unit_bytes, geometry.units_per_page);
        self.first_arrival_ns.get_or_insert(arrival_ns);
        let id = self.requests.add(HostRequest {
            asked,
            index,
            arrival_ns,
            drive: drive as u16,
            open: 0,
            is_cut: false,
            gc_affected: false,
            blame_ns: [0; CAUSES],
        });
        self.members[drive].drive.announce(id, index);
        self.max_queue_depth = self.max_queue_depth.max(self.requests.live());
        self.cutting = Some((id, cutter));
        Ok(())
    }

    /// Cuts the request at hand further; whether it is done.
    fn cut_on(&mut self) -> bool {
        let (id, mut cutter) = self.cutting.take().expect("a request is being cut");
        let member = self.requests[id].drive as usize;
        if cutter.op() == Op::Trim {
            let (first, units) = cutter.rest();
            self.members[member].drive.trim(first, units);
            if let Some(buffer) = &mut self.members[member].buffer {
                buffer.trim(first, units);
            }
        } else {
            loop {
                if self.members[member].drive.txns_live() >= TXNS_MAX {
                    self.cutting = Some((id, cutter));
                    return false;
                }
                let Some(piece) = cutter.next() else { break };
                if cutter.op() == Op::Write {
                    self.collector.written_units += u64::from(piece.units);
                }
                match cutter.op() {
                    Op::Read => self.read(member, id, piece),
                    _ if self.members[member].buffer.is_some() => self.write_to_buffer(member, id, piece),
                    _ => self.write(member, id, piece),
                }
            }
        }
        self.settle_member(member);
        let now_ns = self.events.now_ns();
        let request = &mut self.requests[id];
        request.is_cut = true;
        if request.open == 0 {
            // Whatever came last needed nothing but its way in.
            let explained_ns: u64 = request.blame_ns.iter().sum();
            request.blame_ns[Cause::Scheduler as usize] += now_ns - request.arrival_ns - explained_ns;
        }
        self.end_if_done(id);
        true
    }

    /// A new transaction of a request. What passed since the request arrived was a wait for room in the drive.
    fn txn(&self, role: Role, id: RequestId, first: LogicalUnit, units: u32) -> Txn {
        let mut txn = Txn::new(role, first, units, crate::sim::index::DieId::NONE, PlaneId::NONE);
        txn.request = id;
        txn.arrival_ns = self.requests[id].arrival_ns;
        txn.high_priority = self.requests[id].asked.priority == Priority::High;
        txn.blame_ns[Cause::Scheduler as usize] = self.events.now_ns() - self.requests[id].arrival_ns;
        txn
    }

    /// Reads a piece: units in DRAM end there, units without data need nothing, and the others are read page by page.
    fn read(&mut self, member: usize, id: RequestId, piece: Piece) {
        let end = piece.first.0 + piece.units;
        self.collector.units_read += u64::from(piece.units);
        let mut unit = piece.first;
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
            let place = m.drive.ftl.lookup(unit);
            if place.is_none() {
                self.collector.unwritten_units_read += 1;
                unit.0 += 1;
                continue;
            }
            let page = m.drive.geometry().page_of(place);
            let is_together = |u: u32| {
                let other = m.drive.ftl.lookup(LogicalUnit(u));
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

    fn submit_read(
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
        txn.die = g.die_of(g.plane_of(g.block_of(drive.ftl.lookup(first))));
        txn.successor = successor;
        if successor.is_none() {
            self.requests[id].open += 1;
        }
        let txn = drive.add_txn(txn);
        drive.submit(txn, &mut self.events);
    }

    /// The units of a write of which only a part is written and whose rest has to be read first.
    fn units_to_update(&self, member: usize, piece: Piece) -> impl Iterator<Item = LogicalUnit> + use<> {
        let m = &self.members[member];
        let needs_read = |unit: LogicalUnit| {
            self.host.subpage_writes == SubpageWrites::ReadModifyWrite
                && m.drive.ftl.lookup(unit).is_some()
                && !m.buffer.as_ref().is_some_and(|b| b.holds(unit))
        };
        let last = LogicalUnit(piece.first.0 + piece.units - 1);
        let first = (piece.first_is_partial && needs_read(piece.first)).then_some(piece.first);
        let last = (piece.last_is_partial && needs_read(last)).then_some(last);
        first.into_iter().chain(last)
    }

    /// Writes a piece to flash, after the reads that it needs.
    fn write(&mut self, member: usize, id: RequestId, piece: Piece) {
        let mut txn = self.txn(Role::Write, id, piece.first, piece.units);
        let reads = self.units_to_update(member, piece);
        let reads: (Option<LogicalUnit>, Option<LogicalUnit>) = {
            let mut reads = reads;
            (reads.next(), reads.next())
        };
        txn.waits_for = u32::from(reads.0.is_some()) + u32::from(reads.1.is_some());
        self.requests[id].open += 1;
        let drive = &mut self.members[member].drive;
        if txn.waits_for == 0 {
            let place = drive.place(piece.first);
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

    // ---- DRAM -------------------------------------------------------------------------------------------------------

    fn write_to_buffer(&mut self, member: usize, id: RequestId, piece: Piece) {
        // The rest of a unit that is written in part is merged in DRAM: the request waits for both.
        for unit in self.units_to_update(member, piece) {
            self.submit_read(member, Role::UpdateRead, id, unit, 1, TxnId::NONE);
        }
        self.requests[id].open += 1;
        let waiting = WaitingPiece { request: id, piece, since_ns: self.events.now_ns() };
        self.members[member].waiting_pieces.push_back(waiting);
        self.members[member].waiting_units += u64::from(piece.units);
        self.fill_buffer(member);
    }

    /// Lets waiting pieces into the buffer, in order, and evicts what has to go for all that wait: pages leave side by side,
    /// as far as there are dies.
    fn fill_buffer(&mut self, member: usize) {
        loop {
            let m = &mut self.members[member];
            let (Some(waiting), Some(buffer)) = (m.waiting_pieces.front(), &mut m.buffer) else { return };
            let piece = waiting.piece;
            if let Some(hits) = buffer.write(piece.first, piece.units) {
                m.buffer_write_hits += u64::from(hits);
                m.waiting_units -= u64::from(piece.units);
                let waiting = m.waiting_pieces.pop_front().expect("it was looked at");
                self.requests[waiting.request].open -= 1;
                self.enter_dram(member, waiting.request, waiting.since_ns);
                continue;
            }
            if !buffer.must_evict(m.waiting_units) {
                return;
            }
            let runs = buffer.evict();
            if runs.is_empty() {
                return;
            }
            for (first, units) in runs {
                let mut txn = Txn::new(Role::Evict, first, units, crate::sim::index::DieId::NONE, PlaneId::NONE);
                txn.arrival_ns = self.events.now_ns();
                let drive = &mut self.members[member].drive;
                let place = drive.place(first);
                (txn.die, txn.plane) = (place.die, place.plane);
                let txn = drive.add_txn(txn);
                drive.submit(txn, &mut self.events);
            }
        }
    }

    /// A part of a request is in DRAM and ends after the time of an access.
    fn enter_dram(&mut self, member: usize, request: RequestId, start_ns: u64) {
        let latency_ns = self.members[member].buffer.as_ref().map_or(0, |b| b.latency_ns);
        let end_ns = self.events.now_ns() + latency_ns;
        self.requests[request].open += 1;
        // Drives may differ in latency: the list stays in the order of its ends.
        let at = self.in_dram.partition_point(|d| d.end_ns <= end_ns);
        self.in_dram.insert(at, InDram { end_ns, start_ns, request });
        self.events.schedule(DRAM, self.in_dram[0].end_ns);
    }

    fn end_in_dram(&mut self, now_ns: u64) {
        while self.in_dram.front().is_some_and(|d| d.end_ns <= now_ns) {
            let part = self.in_dram.pop_front().expect("it was looked at");
            let request = &mut self.requests[part.request];
            request.open -= 1;
            request.blame_ns = [0; CAUSES];
            request.blame_ns[Cause::Scheduler as usize] = part.start_ns - request.arrival_ns;
            request.blame_ns[Cause::Buffer as usize] = now_ns - part.start_ns;
            self.end_if_done(part.request);
        }
        if let Some(next) = self.in_dram.front() {
            self.events.schedule(DRAM, next.end_ns);
        }
    }

    // ---- requests end -----------------------------------------------------------------------------------------------

    /// Hears what ended on a drive, until nothing more does.
    #[inline(always)]
    fn settle_member(&mut self, member: usize) {
        while self.members[member].drive.has_news() {
            self.hear(member);
        }
    }

    fn hear(&mut self, member: usize) {
        while let Some(request) = self.members[member].drive.split_of.pop() {
            self.requests[request].open += 1;
        }
        if let Some(txn) = self.members[member].drive.take_done() {
            self.end_txn(member, txn);
        }
    }

    fn end_txn(&mut self, member: usize, id: TxnId) {
        let m = &mut self.members[member];
        let txn = m.drive.txn(id);
        let (role, first, units, request) = (txn.role, txn.first, txn.units, txn.request);
        if role == Role::Evict {
            m.drive.remove_txn(id);
            m.buffer.as_mut().expect("only a buffer evicts").evicted(first, units);
            self.fill_buffer(member);
            return;
        }
        let r = &mut self.requests[request];
        hold!(r.open > 0, RequestOnce, "more parts of request {} ended than were begun", r.index);
        r.open -= 1;
        r.gc_affected |= txn.gc_affected;
        r.blame_ns = txn.blame_ns;
        m.drive.remove_txn(id);
        self.end_if_done(request);
    }

    fn end_if_done(&mut self, id: RequestId) {
        let request = &mut self.requests[id];
        if request.open > 0 || !request.is_cut {
            return;
        }
        let now_ns = self.events.now_ns();
        self.collector.record(request, now_ns);
        self.last_end_ns = now_ns;
        self.requests.remove(id);
        if self.next.is_none() && self.requests.live() == 0 {
            self.members.iter_mut().for_each(|m| m.drive.end_idleness(&mut self.events));
        }
        if self.collector.written_units >= self.track.next_units() {
            self.track.add(self.mark());
        }
    }

    // ---- measures ---------------------------------------------------------------------------------------------------

    /// Where the run is.
    fn mark(&self) -> Mark {
        let mut mark = Mark {
            host_units: self.collector.written_units,
            requests: self.collector.done.iter().sum(),
            now_ns: self.events.now_ns(),
            ..Mark::default()
        };
        for drive in self.drives() {
            let counts = drive.counts();
            mark.flash_units += counts.host_units + counts.moved_units + counts.padding_units;
            mark.erases += counts.erases;
        }
        mark
    }

    /// Whether the drives had settled, at the end of the run.
    pub fn steady(&self) -> Steady {
        self.track.judge(self.mark(), self.host.mode == HostMode::Closed)
    }

    fn sample(&mut self, now_ns: u64) {
        let planes = self.members.iter().flat_map(|m| {
            let ftl = &m.drive.ftl;
            (0..m.drive.geometry().planes).map(|p| ftl.free_blocks_of(PlaneId(p)))
        });
        let (mut count, mut sum, mut min) = (0u64, 0u64, u32::MAX);
        for free in planes {
            (count, sum, min) = (count + 1, sum + u64::from(free), min.min(free));
        }
        let state = Sample {
            free_blocks_min: min,
            free_blocks_mean: sum as f64 / count as f64,
            queue_depth: self.requests.live(),
            dies_collecting: self.members.iter().map(|m| m.drive.dies_leased()).sum(),
            ..Sample::default()
        };
        self.collector.sample(now_ns, state);
    }

    /// The drives of the run.
    pub fn drives(&self) -> impl Iterator<Item = &Drive> {
        self.members.iter().map(|m| &m.drive)
    }

    /// A drive, to have work of other tasks started on it, and the queue that this needs.
    pub fn drive_and_events(&mut self, member: usize) -> (&mut Drive, &mut EventQueue) {
        (&mut self.members[member].drive, &mut self.events)
    }

    /// Hits of reads and of writes in DRAM, and dirty units left there.
    pub fn buffer_counts(&self) -> (u64, u64, u64) {
        let left = |m: &Member| m.buffer.as_ref().map_or(0, Buffer::dirty_units);
        self.members
            .iter()
            .fold((0, 0, 0), |(r, w, l), m| (r + m.buffer_read_hits, w + m.buffer_write_hits, l + left(m)))
    }

    /// Most requests that were under way at once.
    pub fn max_queue_depth(&self) -> u32 {
        self.max_queue_depth
    }

    /// From the first arrival to the last end.
    pub fn span_ns(&self) -> u64 {
        self.last_end_ns - self.first_arrival_ns.unwrap_or(0)
    }

    /// The clock.
    pub fn now_ns(&self) -> u64 {
        self.events.now_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_of_urgent_requests_are_urgent() {
        let config: RunConfig = toml::from_str(
            r#"
            precondition = { mode = "empty" }
            capacity = { over_provisioning = 0.6 }
            timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }
            geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 16, pages_per_block = 8, page_size = "4 KiB" }
            "#,
        )
        .unwrap();
        let request = |offset_bytes, priority| Request {
            arrival_ns: 0,
            offset_bytes,
            len_bytes: 4096,
            device: 0,
            op: Op::Write,
            priority,
        };
        let mut source = vec![request(0, Priority::Normal), request(4096, Priority::High)].into_iter();
        let host = config.host.clone();
        let setup = Setup {
            host,
            source: &mut source,
            requests: None,
            check: true,
            keep_gc_events: false,
            keep_requests: false,
        };
        let mut simulation = Simulation::new(vec![(&config, Ftl::new(&config, 1))], setup);
        simulation.start().unwrap();
        let marks = [0, 1].map(|id| simulation.members[0].drive.txn(TxnId(id)).high_priority);
        assert_eq!(marks, [false, true]);
    }
}
