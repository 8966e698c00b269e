//! The second active block of each plane (hpdc18 Section 4.2): which of two open blocks takes a page.
//!
//! One of a plane's two open blocks may be reserved for paired programs of a collection and of the host; the other
//! takes the plane's other pages. The policy and its page: `frontier/second_active.rs`.

use super::Ftl;
use crate::ftl::GC_RESERVE_BLOCKS;
use crate::ftl::frontier::Stream;
use crate::ftl::frontier::second_active::{Unpaired, misfit};
use crate::sim::index::PlaneId;

impl Ftl {
    /// The open block of a plane that is set apart for paired programs.
    fn paired_write_point(&self, plane: PlaneId) -> Option<usize> {
        let p = &self.planes[plane.at()];
        p.paired.map(usize::from).filter(|&write_point| p.open[write_point].is_some())
    }

    /// Whether the blocks set apart on two planes have the same next offset; false if one of the planes has none.
    fn is_aligned(&self, plane: PlaneId, partner: PlaneId) -> bool {
        let offset = |p: PlaneId| self.paired_write_point(p).map(|write_point| self.next_offset_in(p, write_point));
        offset(plane).is_some() && offset(plane) == offset(partner)
    }

    /// Whether the block set apart on a plane is behind that of another plane of its die.
    fn lags(&self, plane: PlaneId) -> bool {
        let offset =
            |p: PlaneId| self.paired_write_point(p).map_or(0, |write_point| self.next_offset_in(p, write_point));
        let own = offset(plane);
        self.geometry.planes_of(self.geometry.die_of(plane)).any(|other| offset(other) > own)
    }

    /// Which of a plane's two open blocks takes the next page of this stream that goes without a partner.
    #[inline(never)]
    pub(super) fn write_point_of_two(&self, plane: PlaneId, stream: Stream) -> usize {
        let p = &self.planes[plane.at()];
        let Some(pair) = self.paired_write_point(plane) else {
            let written = |write_point: usize| self.blocks[p.open[write_point]].written;
            let open = (0..2).filter(|&write_point| p.open[write_point].is_some());
            return open.max_by_key(|&write_point| (written(write_point), std::cmp::Reverse(write_point))).unwrap_or(0);
        };
        let own = 1 - pair;
        let may_open = p.free_blocks > GC_RESERVE_BLOCKS;
        let uses_pair = match (self.frontier.unpaired(), stream) {
            (Unpaired::Same, Stream::Moved) => true,
            (Unpaired::Same, Stream::Host) => p.open[own].is_none(),
            (Unpaired::Other, _) => self.lags(plane) || (p.open[own].is_none() && !may_open),
        };
        if uses_pair { pair } else { own }
    }

    #[inline(never)]
    pub(super) fn write_point_of_two_at(&self, plane: PlaneId, page_offset: u32, is_paired: bool) -> Option<usize> {
        let p = &self.planes[plane.at()];
        let fits = |write_point: &usize| {
            p.open[*write_point].is_some() && self.next_offset_in(plane, *write_point) == page_offset
        };
        let pair = self.paired_write_point(plane);
        let keeps_apart = self.frontier.unpaired() == Unpaired::Other;
        if is_paired {
            let others = (0..2).filter(|_| !keeps_apart);
            return pair.into_iter().chain(others).find(fits);
        }
        let is_fresh = p.open[0].is_none() && p.open[1].is_none() && page_offset == 0;
        let own = (0..2).filter(|&write_point| !keeps_apart || Some(write_point) != pair);
        own.into_iter().find(fits).or(is_fresh.then_some(0))
    }

    /// A collection begins on a plane, or the block set apart there is full: sets a block apart there and on its
    /// partners. Blocks with equal offsets stay together; otherwise fresh blocks, if allowed; otherwise the closest
    /// pair.
    pub fn pair_open_blocks(&mut self, plane: PlaneId, partners: &[PlaneId]) {
        if partners.iter().any(|&partner| self.is_aligned(plane, partner)) {
            // A partner without a block set apart takes a fresh block, which catches up.
            let catches_up = self.frontier.unpaired() == Unpaired::Other;
            for &partner in partners {
                if catches_up && self.paired_write_point(partner).is_none() {
                    self.planes[partner.at()].paired = self.open_second(partner).map(|write_point| write_point as u8);
                }
            }
            return;
        }
        let closest =
            self.open_write_points(plane).min_by_key(|&write_point| self.misfit_with(plane, write_point, partners));
        let is_aligned =
            closest.is_some_and(|write_point| self.misfit_with(plane, write_point, partners) == Some((false, 0)));
        let own = if is_aligned { closest } else { self.open_second(plane).or(closest) };
        self.planes[plane.at()].paired = own.map(|write_point| write_point as u8);
        let Some(own) = own else { return };
        let offset = self.next_offset_in(plane, own);
        for &partner in partners {
            let suits = |write_point: usize| misfit(offset, self.next_offset_in(partner, write_point));
            let best = self.open_write_points(partner).min_by_key(|&write_point| suits(write_point));
            let fits = best.is_some_and(|write_point| suits(write_point) == (false, 0));
            let fresh = if offset == 0 && !fits { self.open_second(partner) } else { None };
            self.planes[partner.at()].paired = fresh.or(best).map(|write_point| write_point as u8);
        }
    }

    /// Opens the second block of every plane, as on a drive that has collected before.
    pub fn open_second_blocks(&mut self) {
        for plane in (0..self.geometry.planes).map(PlaneId) {
            self.open_block(plane, 1);
            self.planes[plane.at()].paired = Some(1);
        }
    }

    /// Whether a collection has to set a block apart again before its next program.
    pub fn needs_pairing(&self, plane: PlaneId) -> bool {
        self.frontier.has_second_active() && self.paired_write_point(plane).is_none()
    }

    /// The open block for a collection's next page, given the partners on which writes wait, and whether it is the
    /// block set apart.
    pub fn write_point_for_collection(&self, plane: PlaneId, waiting: &[PlaneId]) -> (usize, bool) {
        let pair = if self.frontier.has_second_active() { self.paired_write_point(plane) } else { None };
        let has_partner = waiting.iter().any(|&partner| self.is_aligned(plane, partner));
        let write_point = pair.filter(|_| has_partner).unwrap_or_else(|| self.write_point(plane, Stream::Moved));
        (write_point, Some(write_point) == pair)
    }

    fn open_write_points(&self, plane: PlaneId) -> impl Iterator<Item = usize> + '_ {
        (0..2).filter(move |&write_point| self.planes[plane.at()].open[write_point].is_some())
    }

    /// How badly an open block suits the best of its partners' open blocks.
    fn misfit_with(&self, plane: PlaneId, write_point: usize, partners: &[PlaneId]) -> Option<(bool, u32)> {
        let offset = self.next_offset_in(plane, write_point);
        let of = |&p: &PlaneId| self.open_write_points(p).map(|s| misfit(offset, self.next_offset_in(p, s))).min();
        partners.iter().filter_map(of).min()
    }

    /// Opens a fresh block in addition to the open one, if the plane has one open block and a free block to spare.
    fn open_second(&mut self, plane: PlaneId) -> Option<usize> {
        let p = &self.planes[plane.at()];
        let write_point = (0..2).find(|&write_point| p.open[write_point].is_none())?;
        if p.free_blocks <= GC_RESERVE_BLOCKS {
            return None;
        }
        self.open_block(plane, write_point);
        Some(write_point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::config::RunConfig;
    use crate::sim::index::LogicalUnit;

    /// Only a collection sets blocks apart. When one is full, the block that the host opens in its place is like any
    /// other.
    #[test]
    fn a_block_that_the_host_opens_is_not_set_apart() {
        let config: RunConfig = crate::config::from_toml(
            r#"
            precondition = { mode = "empty" }
            capacity = { over_provisioning = 0.6 }
            frontier = { policy = "second-active" }
            timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }
            geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 8, pages_per_block = 4, page_size = "4 KiB" }
            "#,
        )
        .unwrap();
        let mut ftl = Ftl::new(&config.ftl(), 1);
        let (plane, partner) = (PlaneId(0), PlaneId(1));
        ftl.pair_open_blocks(plane, &[partner]);
        let pair = ftl.paired_write_point(partner).expect("both planes have free blocks");
        for unit in 0..4 {
            ftl.write_page_in(partner, pair, &[LogicalUnit(unit)], 0);
        }
        assert!(ftl.needs_pairing(partner), "the block that was set apart is full");
        ftl.write_page(partner, &[LogicalUnit(4)], 0);
        assert!(ftl.needs_pairing(partner), "no collection has set another one apart");
    }
}
