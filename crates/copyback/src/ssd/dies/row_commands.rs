//! Rows: commands that name all planes of a die, on a drive that writes in rows (`frontier::row`).
//!
//! To the rest of the drive such a die has one plane, with pages as wide as all of its planes. This module splits such
//! a page into the parts of a command, and fills a row's remaining pages with dirty pages of the buffer.

use crate::config::device::UNITS_PER_PAGE_MAX;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::ftl::core::Move;
use crate::ftl::frontier::Stream;
use crate::observe::report::Cause;
use crate::sim::index::{DieId, JobId, LogicalUnit, PageId, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};
use crate::ssd::gc::steps::pages_of;
use crate::tasks::job::Step;

/// Writes that use free room of a row.
#[derive(Clone, Copy, Debug)]
pub(in crate::ssd) struct RowWrites {
    /// The first of their transactions; the `next_in_list` of each names the next one.
    pub first: TxnId,
    /// The last.
    pub last: TxnId,
    /// The sum of their units.
    pub units: u32,
}

impl RowWrites {
    /// No writes.
    pub const NONE: Self = Self { first: TxnId::NONE, last: TxnId::NONE, units: 0 };
}

impl BackEnd {
    /// Adds a programmed page, or a row of pages, to a command. The first part serves these transactions.
    #[inline(always)]
    pub(in crate::ssd) fn push_page(&self, command: &mut Command, plane: PlaneId, page: PageId, txn: TxnId) {
        self.push_page_with(command, plane, page, self.geometry.units_per_flash_page, txn);
    }

    /// Adds a page, or a row of pages, to a command. Each page transfers `units` units over the channel.
    #[inline(always)]
    pub(in crate::ssd) fn push_page_with(
        &self,
        command: &mut Command,
        plane: PlaneId,
        page: PageId,
        units: u32,
        txn: TxnId,
    ) {
        if self.geometry.is_in_rows() {
            self.push_row(command, plane, page, units, txn);
        } else {
            command.push(CommandPlane { plane, page, units, txn });
        }
    }

    /// Adds a row of pages to a command. Each page transfers `units` units over the channel. The first part serves
    /// these transactions.
    #[inline(never)]
    pub(in crate::ssd) fn push_row(&self, command: &mut Command, plane: PlaneId, page: PageId, units: u32, txn: TxnId) {
        let g = &self.geometry;
        for at in 0..g.row_planes {
            let (plane, page) = (g.flash_plane_of(plane, at), g.flash_page_of(page, at));
            command.push(CommandPlane { plane, page, units, txn: TxnId::NONE });
        }
        command.parts[0].txn = txn;
    }

    /// Reads the pages of a row that hold the last `units` moves that a job took.
    #[inline(never)]
    pub(in crate::ssd) fn read_in_row(&mut self, die: DieId, id: JobId, units: usize, events: &mut EventQueue) {
        let job = &self.gc.jobs[id];
        let mut command = Command::new(FlashOp::Read, job.source(), id, events.now_ns());
        let held = job.held();
        for (plane, page, units) in pages_of(&self.geometry, self.flash.geometry(), &held[held.len() - units..]) {
            command.push(CommandPlane { plane, page, units, txn: TxnId::NONE });
        }
        self.issue(die, &command, events);
    }

    /// Programs a row with a job's oldest moves that were read. If they do not fill the row, adds waiting writes of the
    /// die (if the granularity combines them with moves), and dirty pages of the buffer (if rows are shared).
    #[inline(never)]
    pub(in crate::ssd) fn program_row(&mut self, die: DieId, id: JobId, units: usize, events: &mut EventQueue) {
        let plane = self.gc.jobs[id].plane();
        let mut data = [LogicalUnit::NONE; UNITS_PER_PAGE_MAX as usize];
        let room = self.geometry.units_per_page as usize - units;
        let mut writes = RowWrites::NONE;
        if self.scheme.settings.compose.combines {
            writes = self.take_waiting(die, plane, &mut data[..room], events.now_ns());
        }
        // Waiting writes have reserved a page of the host's block: a row that they share goes there.
        let write_point = match writes.first.is_some() {
            true => self.ftl.write_point(plane, Stream::Host),
            false => self.write_point_of(id, plane),
        };
        if self.geometry.shares_rows() {
            self.take_dirty(die, plane, &mut data[..room], &mut writes, events.now_ns());
        }
        let data = &data[..writes.units as usize];
        let page = self.bind_row(id, (plane, write_point), units, data, events.now_ns());
        let mut command = Command::new(FlashOp::Program, self.gc.jobs[id].source(), id, events.now_ns());
        self.push_row(&mut command, plane, page, self.geometry.units_per_flash_page, TxnId::NONE);
        // These writes complete with the first page without moves or, if there is none, with the last page.
        let first = units.div_ceil(self.geometry.units_per_flash_page as usize);
        command.parts[first.min(command.parts().len() - 1)].txn = writes.first;
        self.issue(die, &command, events);
    }

    /// The next step of a collection that shares rows with writes that wait at its die; none if no write waits. A row
    /// takes as many valid pages as the writes leave room for, but at least one, block after block.
    #[inline(never)]
    pub(in crate::ssd) fn combined_step(&mut self, id: JobId) -> Option<Step> {
        let (die, g) = (self.gc.jobs[id].die(), &self.geometry);
        if self.gc.jobs[id].is_stepping() || self.head(die, Queue::Write).is_none() {
            return None;
        }
        let scan_max = self.scheme.settings.compose.scan_max;
        let queued = self.queues.iter(self.queue(die, Queue::Write));
        self.queues.note_search(queued.take(scan_max + 1).count());
        let queued = self.queues.iter(self.queue(die, Queue::Write)).take(scan_max);
        let waiting: u32 = queued.map(|txn| self.txns[TxnId(txn)].units).sum();
        let room = g.units_per_page.saturating_sub(waiting).max(g.units_per_flash_page) as usize;
        let job = &self.gc.jobs[id];
        let held = job.held().len();
        if held >= room {
            return Some(Step::Program { units: held });
        }
        let current = |m: &&Move| self.ftl.lookup(m.unit) == m.from;
        let plane_of = |m: &Move| self.flash.geometry().plane_of_page(g.flash_page(m.from));
        let first = job.pending().iter().filter(current).map(plane_of).min()?;
        let start = job.pending().iter().position(|m| current(&m) && plane_of(m) == first)?;
        let page = g.flash_page(job.pending()[start].from);
        let is_together = |m: &&Move| current(m) && g.flash_page(m.from) == page;
        let count = job.pending()[start..].iter().take_while(is_together).count().min(room - held);
        self.gc.jobs[id].put_first(start, count);
        Some(Step::Read { end: self.gc.jobs[id].first_pending() + count })
    }

    /// Takes waiting writes of a die into the free places of a row, `room`.
    fn take_waiting(&mut self, die: DieId, plane: PlaneId, room: &mut [LogicalUnit], now_ns: u64) -> RowWrites {
        let list = self.queue(die, Queue::Write);
        let mut writes = RowWrites::NONE;
        while let Some(id) = self.queues.first_write_for(die, plane, self.scheme.settings.compose.scan_max, &self.txns)
            && (writes.units + self.txns[id].units) as usize <= room.len()
        {
            self.queues.remove(list, id.0);
            self.stop_waiting(id, now_ns);
            self.release_page(die, self.txns[id].plane);
            self.add_to_row(id, room, &mut writes);
        }
        writes
    }

    /// Adds the units of a write to a row, after the others.
    fn add_to_row(&mut self, id: TxnId, room: &mut [LogicalUnit], writes: &mut RowWrites) {
        writes.units = self.put_units(id, room, writes.units);
        if writes.last.is_some() {
            self.txns[writes.last].next_in_list = id;
        } else {
            writes.first = id;
        }
        writes.last = id;
    }

    /// Binds a row for a queued write of a superpage: its own units, and the other units of the superpage that hold
    /// data.
    #[inline(never)]
    pub(in crate::ssd) fn bind_superpage(
        &mut self,
        die: DieId,
        (plane, write_point): (PlaneId, usize),
        id: TxnId,
        command: &mut Command,
        now_ns: u64,
    ) {
        let list = self.queue(die, Queue::Write);
        self.queues.remove(list, id.0);
        let txn = &self.txns[id];
        let (first, units, others, sequence) = (txn.first, txn.units, txn.units_included(), txn.sequence);
        let (mut row, mut used, mut stale) = ([LogicalUnit::NONE; UNITS_PER_PAGE_MAX as usize], 0, 0);
        // In a log block, each unit has its place in the row, as in the data block that it is merged with.
        let keeps_places = self.ftl.has_log_blocks();
        for at in 0..units {
            let unit = LogicalUnit(first.0 + at);
            let is_written = others >> at & 1 == 0;
            let is_newest = is_written && self.map.newest.is_newest(unit, sequence);
            if let Some(shadow) = self.records.shadow.as_mut().filter(|_| is_written) {
                shadow.bind(unit, sequence, is_newest);
            }
            if is_newest || self.ftl.lookup(unit).is_some() {
                row[if keeps_places { at as usize } else { used }] = unit;
                used += 1;
            } else if is_written {
                // The unit was trimmed while its write waited.
                stale += 1;
            }
        }
        let row = &row[..if keeps_places { units as usize } else { used }];
        self.stop_waiting(id, now_ns);
        self.release_page(die, self.txns[id].plane);
        let stamp = self.ftl.counts().host_units;
        let page = self.ftl.write_superpage((plane, write_point), first, row, stale, stamp);
        self.records.counters.on_host_units((used + stale) as u32);
        if let Some(shadow) = &mut self.records.shadow {
            shadow.write_page(page, row);
        }
        self.after_write(row.iter().copied().filter(|unit| unit.is_some()), now_ns);
        self.after_bind(plane);
        self.push_page(command, plane, page, id);
    }

    /// Binds a row for a job's oldest moves that were read, followed by data of the host.
    fn bind_row(
        &mut self,
        id: JobId,
        (plane, write_point): (PlaneId, usize),
        units: usize,
        data: &[LogicalUnit],
        now_ns: u64,
    ) -> PageId {
        let stamp = self.ftl.counts().host_units;
        let job = &mut self.gc.jobs[id];
        self.records.counters.on_moved_units(job.source(), units as u64);
        self.records.counters.on_host_units(data.len() as u32);
        let moves = job.take_for_program(units, plane);
        // A unit that the host has just written in this row is not moved with it.
        let is_current = |m: &Move| self.ftl.lookup(m.unit) == m.from && !data.contains(&m.unit);
        let current: Vec<bool> = match self.records.shadow {
            Some(_) => moves.iter().map(is_current).collect(),
            None => Vec::new(),
        };
        let page = match self.geometry.has_superpages() {
            true => self.ftl.move_superpage(plane, write_point, moves, stamp),
            false => self.ftl.move_page_with(plane, write_point, moves, 0, data, stamp),
        };
        if let Some(shadow) = &mut self.records.shadow {
            shadow.move_page(&self.ftl, page, moves, &current, 0);
            let mut written = [LogicalUnit::NONE; UNITS_PER_PAGE_MAX as usize];
            written[units..units + data.len()].copy_from_slice(data);
            shadow.write_page(page, &written[..units + data.len()]);
        }
        self.map.on_moved(&mut self.queues, &self.txns, &self.ftl, moves, page);
        self.after_write(data.iter().copied().filter(|unit| unit.is_some()), now_ns);
        self.after_bind(plane);
        page
    }

    /// Takes dirty pages of a die out of the buffer, and puts their units into the remaining room of a row.
    #[inline(never)]
    pub(in crate::ssd) fn take_dirty(
        &mut self,
        die: DieId,
        plane: PlaneId,
        room: &mut [LogicalUnit],
        writes: &mut RowWrites,
        now_ns: u64,
    ) {
        let Some(buffer) = &mut self.host_side.buffer else { return };
        let set = buffer.take_set(die, room.len() as u32 - writes.units);
        for (first, units) in set.pages().iter().flat_map(|page| page.runs()) {
            let id = self.txns.add(Txn { arrival_ns: now_ns, ..Txn::new(Role::Evict, first, units, die, plane) });
            self.admission.control.enter(die, Source::HOST);
            if self.looks_up() {
                self.count_look_up(first, units);
            }
            self.add_to_row(id, room, writes);
        }
    }

    /// Checks that all planes of a row are at one page, before a command programs the next page of its first plane.
    pub(in crate::ssd) fn check_row(&mut self, command: &Command) {
        let lead = command.parts[0];
        let plane = self.geometry.plane_of_flash(lead.plane);
        let is_in_row = self.geometry.is_in_rows() && command.op == FlashOp::Program;
        if !is_in_row || lead.plane != self.geometry.flash_plane_of(plane, 0) {
            return;
        }
        let offset = self.flash.geometry().block_offset(self.flash.geometry().block_and_offset(lead.page).0);
        let row = self.ftl.blocks().id(plane, offset);
        let blocks = (0..self.geometry.row_planes).map(|at| self.geometry.flash_block_of(row, at));
        let Some(observers) = self.flash.observer() else { return };
        let programmed: Vec<Option<u32>> = blocks.map(|block| observers.programmed(block)).collect();
        hold!(
            programmed.iter().all(|pages| *pages == programmed[0]),
            RowAligned,
            "the planes of {row:?} are programmed up to {programmed:?}"
        );
    }

    // ---- pair by pair -----------------------------------------------------------------------------------------------

    /// Whether a part of a die's command is not issued yet.
    #[inline(always)]
    pub(in crate::ssd) fn has_rest(&self, die: DieId) -> bool {
        self.dies.has_rest(die)
    }

    /// Splits a command: returns the part that the device takes first. The rest follows when that has ended, and
    /// nothing goes between. The transactions that a program serves end with its last part.
    #[inline(never)]
    pub(in crate::ssd) fn keep_rest(&mut self, die: DieId, command: &Command) -> Command {
        let (mut first, mut rest) = (*command, *command);
        (first.planes, rest.planes) = (0, 0);
        let lead = command.parts[0].page;
        for (at, &part) in command.parts().iter().enumerate() {
            let goes_along = at == 0 || self.flash.rules().go_together(self.flash.geometry(), lead, part.page);
            if goes_along { first.push(part) } else { rest.push(part) }
        }
        if rest.planes > 0 {
            if command.op == FlashOp::Program {
                let served = command.parts().iter().map(|part| part.txn).find(|txn| txn.is_some());
                let parts = first.parts.iter_mut().chain(&mut rest.parts);
                parts.for_each(|part| part.txn = TxnId::NONE);
                rest.parts[0].txn = served.unwrap_or(TxnId::NONE);
            }
            self.dies.keep_rest(die, rest);
        }
        first
    }

    /// A command ended: issues its remaining part. Returns whether there was one.
    #[inline(always)]
    pub(in crate::ssd) fn issue_rest(&mut self, die: DieId, ended: &Command, events: &mut EventQueue) -> bool {
        if !self.has_rest(die) {
            return false;
        }
        self.issue_kept(die, ended, events);
        true
    }

    #[inline(never)]
    fn issue_kept(&mut self, die: DieId, ended: &Command, events: &mut EventQueue) {
        let mut rest = self.dies.take_rest(die).expect("it was looked at");
        (rest.issued_ns, rest.loaded_ns) = (events.now_ns(), events.now_ns());
        let flash_ns = ended.array_end_ns - ended.array_start_ns;
        let channel_ns = events.now_ns() - ended.issued_ns - flash_ns;
        let mut id = rest.parts[0].txn;
        while id.is_some() {
            for (cause, ns) in [(Cause::Flash, flash_ns), (Cause::Channel, channel_ns)] {
                self.txns[id].breakdown_ns[cause as usize] += ns;
                self.count_flash_time(id, cause, ns);
            }
            id = self.txns[id].next_in_list;
        }
        // The rest is issued without `check_between_steps`: that has checked the whole command.
        self.issue_in_parts(die, &rest, events);
    }
}
