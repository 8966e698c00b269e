//! Transactions of the same operation on other planes of the die join the lead in one multi-plane command. Page offsets
//! must agree, and on some devices block offsets and plane pairs.
//!
//! Source: hpdc18 Section 2.2.2, tpds20 Section 2; ONFI 5.1 multi-plane operations.

use super::{ComposeView, HostPages, JoiningReads, JoiningWrite};
use crate::dispatch::queues::Queue;
use crate::flash::command::CommandPlane;
use crate::sim::index::{PageId, PlaneId, TxnId};

/// Queued reads of other planes at the lead's offset, among the first `scan_max`.
#[inline(always)]
pub(super) fn reads<R: HostPages>(view: &ComposeView<'_, R>, lead: PageId) -> JoiningReads {
    let geometry = view.geometry;
    let mut found = JoiningReads::NONE;
    let mut pages = [lead; 4];
    let offset = geometry.block_and_offset(lead).1;
    let mut looked = 0;
    for id in view.queues.iter(view.queues.of_die(view.die, Queue::Read)).map(TxnId) {
        let count = found.as_slice().len();
        if count + 1 == geometry.planes_per_die as usize {
            break;
        }
        looked += 1;
        if looked > view.scan_max {
            break;
        }
        let place = view.ftl.lookup(view.txns[id].first);
        if place.is_none() {
            continue;
        }
        // Most queued reads fail by their offset, so it is checked first.
        let page = view.ftl.geometry.flash_page(place);
        let (block, page_offset) = geometry.block_and_offset(page);
        if page_offset != offset {
            continue;
        }
        let plane = geometry.plane_of(block);
        let is_excluded = view.ftl.geometry.plane_of_flash(plane) == view.excluded[0];
        let fits = |&other: &PageId| view.rules.go_together(geometry, other, page);
        if geometry.die_of(plane) == view.die && !is_excluded && pages[..=count].iter().all(fits) {
            found.push(id);
            pages[count + 1] = page;
        }
    }
    view.queues.note_search(looked);
    found
}

/// A queued write on a plane whose next page has the lead's offset, or a later page if planes skip pages.
#[inline(always)]
pub(super) fn write<R: HostPages>(
    view: &ComposeView<'_, R>,
    parts: &[CommandPlane],
    plane: PlaneId,
) -> Option<JoiningWrite> {
    if view.ftl.has_log_blocks() {
        return view.partner_log(parts, plane);
    }
    let write_point = match view.aligns {
        true => view.write_point_behind(parts, plane)?,
        false => view.partner_write_point(parts, plane, false)?,
    };
    let txn = view.queues.first_write_for(view.die, plane, view.scan_max, view.txns)?;
    Some(JoiningWrite { txn, write_point })
}
