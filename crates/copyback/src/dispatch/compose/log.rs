//! The log block that takes a queued write, if writes wait in log blocks to be merged (`mapping::fast`).

use super::{ComposeView, HostPages, JoiningWrite};
use crate::config::device::UNITS_PER_PAGE_MAX;
use crate::dispatch::queues::Queue;
use crate::flash::command::CommandPlane;
use crate::ftl::log_blocks::RANDOM;
use crate::sim::index::{LogicalUnit, PlaneId, TxnId};

impl<R: HostPages> ComposeView<'_, R> {
    /// The log block of a plane for a queued write, and for later writes that share its page.
    #[inline(never)]
    pub fn log_for(&self, plane: PlaneId, lead: TxnId) -> usize {
        let (units, used, is_newest) = self.page_of_writes(plane, lead);
        // A write that a newer write overtook holds no current data, and continues no sequence.
        if is_newest { self.ftl.log_for(plane, &units[..used]) } else { RANDOM }
    }

    /// The first queued write for a plane, and its log block, if the next page of that block can share a command with
    /// these parts.
    #[inline(never)]
    pub(super) fn partner_log(&self, parts: &[CommandPlane], plane: PlaneId) -> Option<JoiningWrite> {
        let txn = self.queues.first_write_for(self.die, plane, self.scan_max, self.txns)?;
        let log = self.log_for(plane, txn);
        let page = self.ftl.log_page(plane, log, &[self.txns[txn].first])?;
        let fits = parts.iter().all(|part| self.rules.go_together(self.geometry, part.page, page));
        (fits && self.host_pages.host_pages_left(plane) > 0).then_some(JoiningWrite { txn, write_point: log })
    }

    /// The units of queued writes that would share a page, their number, and whether all are the newest. It searches as
    /// far as the binding does: `scan_max` counts only writes that are passed over, because the binding removes the
    /// others from the queue.
    fn page_of_writes(&self, plane: PlaneId, lead: TxnId) -> ([LogicalUnit; UNITS_PER_PAGE_MAX as usize], usize, bool) {
        let room = self.ftl.geometry.units_per_page;
        let (mut units, mut used, mut is_newest) = ([LogicalUnit::NONE; UNITS_PER_PAGE_MAX as usize], 0, true);
        let mut passed_over = 0;
        let queued = self.queues.iter(self.queues.of_die(self.die, Queue::Write)).map(TxnId);
        for id in std::iter::once(lead).chain(queued.filter(|&id| id != lead)) {
            let txn = &self.txns[id];
            let is_for_plane = txn.plane == plane;
            if used == room || passed_over == self.scan_max || (is_for_plane && used + txn.units > room) {
                self.queues.note_search(passed_over + usize::from(passed_over == self.scan_max));
                break;
            }
            passed_over += usize::from(!is_for_plane);
            for unit in (txn.first.0..txn.first.0 + txn.units).map(LogicalUnit).filter(|_| is_for_plane) {
                is_newest &= self.newest.would_be_newest(unit, txn.sequence);
                units[used as usize] = unit;
                used += 1;
            }
        }
        self.queues.note_search(passed_over);
        (units, used as usize, is_newest)
    }
}
