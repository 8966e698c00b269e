//! Binding: the open block and the page of a program, the pages that are skipped before it, and its content.

use crate::config::device::UNITS_PER_PAGE_MAX;
use crate::dispatch::txn::Role;
use crate::flash::command::Command;
use crate::ftl::frontier::Stream;
use crate::sim::index::{DieId, LogicalUnit, PageId, PlaneId, TxnId};
use crate::ssd::back_end::{BackEnd, Queue};
use crate::ssd::dies::row_commands::RowWrites;

impl BackEnd {
    /// The open block of a plane that takes a queued write, and the writes behind it that share its page.
    #[inline(always)]
    pub(in crate::ssd) fn host_write_point(&self, die: DieId, plane: PlaneId, lead: TxnId) -> usize {
        if self.writes_to_logs() {
            return self.view_for_builders(die).log_for(plane, lead);
        }
        self.ftl.write_point(plane, Stream::Host)
    }

    /// Whether each write is bound to a single page of the flash when it leaves its queue: not to a row, and without
    /// writes that wait for their page to fill.
    #[inline(always)]
    pub(in crate::ssd) fn binds_single_pages(&self) -> bool {
        !self.geometry.is_in_rows() && self.host_side.filling.is_none()
    }

    /// Binds the next page, or row, of one of a plane's open blocks for a queued write, and for later writes that fill
    /// the page, and adds it to a command.
    pub(in crate::ssd) fn bind_write(
        &mut self,
        die: DieId,
        (plane, write_point): (PlaneId, usize),
        lead: TxnId,
        command: &mut Command,
        now_ns: u64,
    ) {
        if self.geometry.has_superpages() {
            return self.bind_superpage(die, (plane, write_point), lead, command, now_ns);
        }
        if self.host_side.filling.is_some() {
            return self.bind_full_page(die, (plane, write_point), lead, command, now_ns);
        }
        let page = self.bind_page(die, (plane, write_point), lead, now_ns);
        self.push_page(command, plane, page, lead);
    }

    /// Binds the next page of one of a plane's open blocks for a queued write, and for later writes that fill the page.
    pub(in crate::ssd) fn bind_page(
        &mut self,
        die: DieId,
        (plane, write_point): (PlaneId, usize),
        lead: TxnId,
        now_ns: u64,
    ) -> PageId {
        let list = self.queue(die, Queue::Write);
        let room = self.geometry.units_per_page;
        let mut units = [LogicalUnit::NONE; UNITS_PER_PAGE_MAX as usize];
        let (mut used, mut last, mut next) = (0, TxnId::NONE, lead);
        if self.txns[lead].plane.is_none() {
            self.pass_turn(die, plane);
        }
        while next.is_some() {
            let id = next;
            self.queues.remove(list, id.0);
            used = self.put_units(id, &mut units, used);
            self.stop_waiting(id, now_ns);
            self.release_page(die, self.txns[id].plane);
            if last.is_some() {
                self.txns[last].next_in_list = id;
            }
            last = id;
            next = TxnId::NONE;
            if used < room {
                // Writes of one plane keep their order, so the first that does not fit ends the page.
                if let Some(follower) =
                    self.queues.first_write_for(die, plane, self.scheme.settings.compose.scan_max, &self.txns)
                    && used + self.txns[follower].units <= room
                {
                    next = follower;
                }
            }
        }
        // A translation page's program takes no page of the buffer: its entry would need another translation page, and
        // so on.
        if used < room && self.geometry.shares_rows() && self.txns[lead].role != Role::MapWrite {
            let mut row = RowWrites { first: lead, last, units: used };
            self.take_dirty(die, plane, &mut units[..room as usize], &mut row, now_ns);
            used = row.units;
        }
        self.bind_units(plane, write_point, &units[..used as usize], now_ns)
    }

    /// Binds the next page of one of a plane's open blocks for written units.
    #[inline(always)]
    pub(in crate::ssd) fn bind_units(
        &mut self,
        plane: PlaneId,
        write_point: usize,
        units: &[LogicalUnit],
        now_ns: u64,
    ) -> PageId {
        let stamp = self.ftl.counts().host_units;
        let page = self.ftl.write_page_in(plane, write_point, units, stamp);
        self.records.counters.on_host_units(units.len() as u32);
        if let Some(shadow) = &mut self.records.shadow {
            shadow.write_page(page, units);
        }
        self.after_write(units.iter().copied().filter(|unit| unit.is_some()), now_ns);
        self.after_bind(plane);
        page
    }

    /// The plane of a program's lead skips pages, if a builder names a later offset for the command.
    #[inline(never)]
    pub(in crate::ssd) fn align_lead(&mut self, die: DieId, plane: PlaneId, write_point: usize) {
        let (view, builders) = (self.view_for_builders(die), &self.scheme.settings.compose.builders);
        let offsets = builders.iter().map(|builder| builder.offset_of_lead(&view, plane, write_point));
        let offset = offsets.max().expect("`align` needs a builder");
        self.skip_to(plane, write_point, offset);
    }

    /// Skips pages of a plane, so that its next program has this page offset.
    #[inline(never)]
    pub(in crate::ssd) fn skip_to(&mut self, plane: PlaneId, write_point: usize, page_offset: u32) {
        if self.ftl.next_offset_in(plane, write_point) == page_offset {
            return;
        }
        let block = self.ftl.skip_pages(plane, write_point, page_offset);
        if let Some(observers) = self.flash.observer() {
            observers.on_skipped(block, page_offset);
        }
        self.after_bind(plane);
    }

    /// The next write that is bound to no plane goes to the plane after this one, if that has room.
    #[inline(always)]
    pub(in crate::ssd) fn pass_turn(&mut self, die: DieId, plane: PlaneId) {
        self.dies[die].pass_turn(self.geometry.plane_offset(plane), self.geometry.planes_per_die);
    }

    /// Puts a write's units into the page that is being filled. If a newer version of a unit was bound already, the
    /// unit is stale: it takes its place in the page, but no map entry points to it.
    pub(in crate::ssd) fn put_units(&mut self, id: TxnId, page: &mut [LogicalUnit], mut used: u32) -> u32 {
        let txn = &self.txns[id];
        for unit in (txn.first.0..txn.first.0 + txn.units).map(LogicalUnit) {
            let is_newest = self.map.newest.is_newest(unit, txn.sequence);
            if let Some(shadow) = &mut self.records.shadow {
                shadow.bind(unit, txn.sequence, is_newest);
            }
            page[used as usize] = if is_newest { unit } else { LogicalUnit::NONE };
            used += 1;
        }
        used
    }

    #[inline]
    pub(in crate::ssd) fn after_bind(&mut self, plane: PlaneId) {
        self.records.fewest_free.note(&self.ftl, plane);
        self.admission.reservations.follow(&self.ftl, plane);
    }
}
