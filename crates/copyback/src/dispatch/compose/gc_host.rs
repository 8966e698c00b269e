//! Host transactions on other planes of the die join the reads and programs of collection if page offsets agree.
//!
//! Source: hpdc18 Section 4.1, Algorithm 2. There is one partner for each free plane. A write can join a program if the
//! next page of an open block of its plane has the offset of the collection's page. If collections are preemptible,
//! requests that can join the next command wait for it, and do not preempt it: in hpdc18 Section 4.4, preemption serves
//! those that "miss".

use super::{ComposeView, HostPages, JoiningReads, JoiningWrite};
use crate::flash::command::CommandPlane;
use crate::sim::index::{BlockId, PageId, PlaneId, TxnId};

/// The queued reads that can share a command with a collection's read of a page: the first of each other plane, in the
/// order of their queue.
pub(crate) fn reads<R: HostPages>(view: &ComposeView<'_, R>, lead: PageId) -> JoiningReads {
    let (index, geometry) = (view.queues.index(), view.geometry);
    let (lead_block, offset) = geometry.block_and_offset(lead);
    let lead_plane = geometry.plane_of(lead_block);
    let mut found = JoiningReads::NONE;
    for plane in geometry.planes_of(view.die) {
        if plane == view.excluded[0] || !view.rules.may_pair(geometry, lead_plane, plane) {
            continue;
        }
        // A joining transaction is read from its first unit on.
        let fits = |&(id, page): &(TxnId, PageId)| {
            view.rules.go_together(geometry, lead, page) && view.ftl.lookup(view.txns[id].first).is_some()
        };
        if let Some((id, _)) = index.reads_at(view.die, plane, offset).find(fits) {
            found.push(id);
        }
    }
    found.sort_by_key(|id| index.turn(id));
    found
}

/// A queued write on a plane whose next page has the offset of the collection's; `is_paired`: that page is in the block
/// that its plane has set apart for paired programs.
pub(super) fn write<R: HostPages>(
    view: &ComposeView<'_, R>,
    parts: &[CommandPlane],
    plane: PlaneId,
    is_paired: bool,
) -> Option<JoiningWrite> {
    let write_point = view.partner_write_point(parts, plane, is_paired)?;
    let txn = view.queues.index().first_write_for(view.die, plane)?;
    Some(JoiningWrite { txn, write_point })
}

/// Whether writes to `partner`, or unbound writes if it is none, can join the next program of a collection on `plane`.
pub(crate) fn can_writes_join<R: HostPages>(view: &ComposeView<'_, R>, partner: PlaneId, plane: PlaneId) -> bool {
    if view.ftl.needs_pairing(plane) {
        return false;
    }
    let mut partners = view.geometry.planes_of(view.die).filter(|&p| view.rules.may_pair(view.geometry, plane, p));
    partners.any(|p| (partner.is_none() || p == partner) && has_partner_page(view, p, plane))
}

/// Whether the next page of a plane can share a command with the next page of a collection on another plane.
fn has_partner_page<R: HostPages>(view: &ComposeView<'_, R>, partner: PlaneId, plane: PlaneId) -> bool {
    let page_of = |block: BlockId, offset: u32| PageId(block.0 * view.geometry.pages_per_block + offset);
    let (write_point, is_paired) = view.ftl.write_point_for_collection(plane, &[partner]);
    let lead_offset = view.ftl.next_offset_in(plane, write_point);
    let lead = view.ftl.next_block_in(plane, write_point).map(|block| page_of(block, lead_offset));
    let own = view.ftl.write_point_at(partner, lead_offset, is_paired);
    let own = own.filter(|_| view.host_pages.host_pages_left(partner) > 0);
    let page = own.and_then(|own| view.ftl.next_block_in(partner, own)).map(|block| page_of(block, lead_offset));
    lead.zip(page).is_some_and(|(lead, page)| view.rules.go_together(view.geometry, lead, page))
}
