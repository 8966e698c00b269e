//! Host transactions are served with the pages that collection moves.
//!
//! Source: ispass11 Section III-B, Fig. 5. A read completes when the page has reached the controller. A write of data
//! that was read and not programmed yet joins that program instead of the old version, and releases its reserved page.
//! Pages of the victim for which a request waits are moved first: "the order of pages to be moved does not matter". If
//! collections are preemptible, such requests wait for the collection and do not preempt it; they wait behind all
//! requests that do.

use super::{ComposeView, HostPages};
use crate::ftl::core::Move;
use crate::sim::index::{BlockId, LogicalUnit, PageId, TxnId};
use std::ops::Range;

/// Queued writes whose data a program of collection takes instead of the old version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedWrites {
    /// The first of these writes; the others are on its list (`Txn::next_in_list`).
    pub first: TxnId,
    /// Bit n: the n-th unit of the page is the host's.
    pub units: u32,
}

impl ServedWrites {
    /// No writes.
    pub const NONE: Self = Self { first: TxnId::NONE, units: 0 };
}

/// The position, among the pending moves of a victim, of the first move of the page for which a request has waited
/// longest; reads precede writes.
pub(crate) fn wanted_move<R: HostPages>(view: &ComposeView<'_, R>, victim: BlockId, pending: &[Move]) -> Option<usize> {
    let start_of = |page| pending.iter().position(|m| view.geometry.page_of(m.from) == page);
    let waiting = |is_write| view.queues.index().of_block(view.die, victim, is_write);
    let mut looked_for = PageId::NONE;
    waiting(false).chain(waiting(true)).find_map(|(_, page)| {
        // Many requests may wait for one page, which is searched for once.
        let is_new = std::mem::replace(&mut looked_for, page) != page;
        if is_new { start_of(page) } else { None }
    })
}

/// The first queued read of a page whose turn is in `turns`.
pub(crate) fn read_of<R: HostPages>(view: &ComposeView<'_, R>, page: PageId, turns: Range<u64>) -> Option<TxnId> {
    let index = view.queues.index();
    let block = view.geometry.block_and_offset(page).0;
    let is_next = |&(id, at): &(TxnId, PageId)| at == page && turns.contains(&index.turn(id));
    index.of_block(view.die, block, false).find(is_next).map(|(id, _)| id)
}

/// The next queued write of data in the victim, after `behind` (if given) and with a turn before `end`.
pub(crate) fn next_write<R: HostPages>(
    view: &ComposeView<'_, R>,
    victim: BlockId,
    behind: Option<TxnId>,
    end: u64,
) -> Option<TxnId> {
    let index = view.queues.index();
    let next = match behind {
        Some(id) => index.of_block_behind(id, view.die, victim, true).next(),
        None => index.of_block(view.die, victim, true).next(),
    };
    next.map(|(id, _)| id).filter(|&id| index.turn(id) < end)
}

/// The units of a program of these moves that a write covers, if it covers nothing else and is the newest write of
/// each.
pub(crate) fn units_in_program<R: HostPages>(view: &ComposeView<'_, R>, id: TxnId, moves: &[Move]) -> Option<u32> {
    let txn = &view.txns[id];
    let mut covered = 0;
    for unit in (txn.first.0..txn.first.0 + txn.units).map(LogicalUnit) {
        let at = moves.iter().position(|m| m.unit == unit && view.ftl.lookup(unit) == m.from)?;
        if !view.newest.would_be_newest(unit, txn.sequence) {
            return None;
        }
        covered |= 1 << at;
    }
    Some(covered)
}
