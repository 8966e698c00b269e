//! Planes that are behind skip pages, so that programs of the host share a command (`compose.align = "greedy"`).
//!
//! Source: tpds20 Fig. 3a-(2); Hu et al. 2011, greedy multi-plane commands. A plane skips only pages that it can spare.

use super::{ComposeView, HostPages};
use crate::flash::command::CommandPlane;
use crate::ftl::frontier::Stream;
use crate::sim::index::{PageId, PlaneId};

/// The page offset of a program that leads a command: the greatest that its plane can reach, out of its own and those
/// of planes whose queued writes can share the command.
pub(super) fn offset_of_lead<R: HostPages>(view: &ComposeView<'_, R>, plane: PlaneId, write_point: usize) -> u32 {
    let own = view.ftl.next_offset_in(plane, write_point);
    let Some(block) = view.ftl.next_block_in(plane, write_point) else { return own };
    let others = view.geometry.planes_of(view.die).filter(|&other| other != plane && other != view.excluded[1]);
    let offsets = others.filter_map(|other| {
        let write_point = view.ftl.write_point(other, Stream::Host);
        let offset = view.ftl.next_offset_in(other, write_point);
        let page_of = |block: u32| PageId(block * view.geometry.pages_per_block + offset);
        let next = view.ftl.next_block_in(other, write_point)?;
        let fits = offset > own && view.rules.go_together(view.geometry, page_of(block.0), page_of(next.0));
        (fits && view.host_pages.host_pages_left(other) > 0).then_some((other, offset))
    });
    let spare = view.host_pages.spare_pages(plane);
    let in_reach = offsets.filter(|&(_, offset)| offset - own <= spare);
    let is_asked_for =
        |&(other, _): &(PlaneId, u32)| view.queues.first_write_for(view.die, other, view.scan_max, view.txns).is_some();
    in_reach.filter(is_asked_for).map(|(_, offset)| offset).max().unwrap_or(own)
}

impl<R: HostPages> ComposeView<'_, R> {
    /// The write point of a plane that can share a command with these parts if it skips the pages up to their offset.
    pub(super) fn write_point_behind(&self, parts: &[CommandPlane], plane: PlaneId) -> Option<usize> {
        let offset = self.geometry.block_and_offset(parts[0].page).1;
        let write_point = self.ftl.write_point(plane, Stream::Host);
        let skipped = offset.checked_sub(self.ftl.next_offset_in(plane, write_point))?;
        let can_skip = skipped == 0 || skipped <= self.host_pages.spare_pages(plane);
        (can_skip && self.fits_at(parts, plane, write_point)).then_some(write_point)
    }
}
