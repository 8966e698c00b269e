//! The open block of a plane that takes a page: one for all, one each for the host and for moves, or two, one of which
//! is set apart for paired programs (hpdc18 Section 4.2).

use super::Oracle;
use super::collection::Stream;
use copyback::dispatch::compose::GcBuilderName;
use copyback::ftl::frontier::FrontierConfig;
use copyback::ftl::frontier::second_active::Unpaired;

impl Oracle<'_> {
    fn unpaired(&self) -> Option<Unpaired> {
        match &self.config.frontier {
            FrontierConfig::SecondActive(params) => Some(params.unpaired),
            FrontierConfig::Single(_) | FrontierConfig::Split(_) => None,
            FrontierConfig::Row(_) | FrontierConfig::Twin(_) => unreachable!("`understands` refuses it"),
        }
    }

    /// Page of the next program in an open block of a plane.
    fn offset(&self, plane: usize, at: usize) -> usize {
        self.planes[plane].open[at].map_or(0, |(_, page)| page)
    }

    fn is_open(&self, plane: usize, at: usize) -> bool {
        self.planes[plane].open[at].is_some()
    }

    /// Whether a block may be opened: one is kept for moves.
    fn may_open(&self, plane: usize) -> bool {
        self.planes[plane].free.len() > 1
    }

    /// The block for a page without a partner.
    pub(super) fn block_alone(&self, plane: usize, stream: Stream) -> usize {
        let Some(unpaired) = self.unpaired() else {
            let is_split = matches!(self.config.frontier, FrontierConfig::Split(_));
            return usize::from(is_split && stream == Stream::Move);
        };
        let Some(apart) = self.planes[plane].apart else {
            // The fuller one, the first of equals.
            let fuller = self.offset(plane, 1) > self.offset(plane, 0) || !self.is_open(plane, 0);
            return usize::from(fuller && self.is_open(plane, 1));
        };
        let other = 1 - apart;
        let goes_apart = match (unpaired, stream) {
            (Unpaired::Same, Stream::Move) => true,
            (Unpaired::Same, Stream::Host) => !self.is_open(plane, other),
            (Unpaired::Other, _) => self.lags(plane) || (!self.is_open(plane, other) && !self.may_open(plane)),
        };
        if goes_apart { apart } else { other }
    }

    /// Whether a block that is set apart is behind that of another plane of the die.
    fn lags(&self, plane: usize) -> bool {
        let offset = |plane: usize| self.planes[plane].apart.map_or(0, |apart| self.offset(plane, apart));
        let die = plane / self.config.geometry.planes_per_die as usize;
        self.planes_of(die).any(|other| offset(other) > offset(plane))
    }

    /// The block of a plane whose next page can share a command with a program of this page; `is_apart`: the program's
    /// block is set apart, so that a block that is set apart is preferred.
    pub(super) fn partner_block(&self, plane: usize, page: usize, is_apart: bool) -> Option<usize> {
        let Some(unpaired) = self.unpaired() else {
            let at = self.block_alone(plane, Stream::Host);
            return (self.offset(plane, at) == page).then_some(at);
        };
        let apart = self.planes[plane].apart;
        let fits = |at: &usize| self.is_open(plane, *at) && self.offset(plane, *at) == page;
        let keeps_apart = unpaired == Unpaired::Other;
        if is_apart {
            let any = [0, 1].into_iter().filter(|_| !keeps_apart);
            return apart.into_iter().chain(any).find(fits);
        }
        let is_fresh = page == 0 && !self.is_open(plane, 0) && !self.is_open(plane, 1);
        let found = [0, 1].into_iter().filter(|&at| !keeps_apart || Some(at) != apart).find(fits);
        found.or(is_fresh.then_some(0))
    }

    /// The block for the next page of a collection, and whether it is the one set apart. It is, if a write waits for a
    /// plane whose block set apart is equally full.
    pub(super) fn block_for_collection(&self, plane: usize, waiting: &[usize]) -> (usize, bool) {
        let apart = self.planes[plane].apart;
        let has_partner = waiting.iter().any(|&other| self.is_aligned(plane, other));
        let at = apart.filter(|_| has_partner).unwrap_or_else(|| self.block_alone(plane, Stream::Move));
        (at, Some(at) == apart)
    }

    /// The partners of a plane whose waiting writes may join its collection.
    pub(super) fn partners_in_wait(&self, plane: usize) -> Vec<usize> {
        let die = plane / self.config.geometry.planes_per_die as usize;
        let waits = |other: &usize| self.first_write_for(die, *other, self.gc_scan_max()).is_some();
        let takes_along = self.has_gc_builder(GcBuilderName::GcHost);
        self.partners(plane).into_iter().filter(|other| takes_along && waits(other)).collect()
    }

    fn is_aligned(&self, plane: usize, other: usize) -> bool {
        let offset = |plane: usize| Some(self.offset(plane, self.planes[plane].apart?));
        offset(plane).is_some() && offset(plane) == offset(other)
    }

    /// Opens a block beside the one that is open.
    fn open_second(&mut self, plane: usize) -> Option<usize> {
        let at = [0, 1].into_iter().find(|&at| !self.is_open(plane, at)).filter(|_| self.may_open(plane))?;
        let p = &mut self.planes[plane];
        p.open[at] = Some((p.free.remove(0), 0));
        Some(at)
    }

    /// How badly a partner's block fits: by its distance, and last if it is behind, because it never catches up.
    fn misfit(own: usize, partner: usize) -> (bool, usize) {
        (partner < own, own.abs_diff(partner))
    }

    fn open_blocks(&self, plane: usize) -> Vec<usize> {
        [0, 1].into_iter().filter(|&at| self.is_open(plane, at)).collect()
    }

    /// A collection begins, or continues without a block set apart: sets one apart on its plane and on each partner.
    pub(super) fn set_blocks_apart(&mut self, plane: usize) {
        let Some(unpaired) = self.unpaired() else { return };
        let partners = self.partners(plane);
        if partners.iter().any(|&other| self.is_aligned(plane, other)) {
            // They stay together. A further plane without one takes a fresh block, which catches up.
            for other in partners {
                if unpaired == Unpaired::Other && self.planes[other].apart.is_none() {
                    self.planes[other].apart = self.open_second(other);
                }
            }
            return;
        }
        let best_with = |own: usize| {
            let blocks =
                partners.iter().flat_map(|&other| self.open_blocks(other).into_iter().map(move |at| (other, at)));
            blocks.map(|(other, at)| Self::misfit(self.offset(plane, own), self.offset(other, at))).min()
        };
        let closest = self.open_blocks(plane).into_iter().min_by_key(|&own| best_with(own));
        let fits = closest.and_then(best_with) == Some((false, 0));
        let own = if fits { closest } else { self.open_second(plane).or(closest) };
        self.planes[plane].apart = own;
        let Some(own) = own else { return };
        let offset = self.offset(plane, own);
        for other in partners {
            let misfit = |at: &usize| Self::misfit(offset, self.offset(other, *at));
            let best = self.open_blocks(other).into_iter().min_by_key(misfit);
            let is_aligned = best.is_some_and(|at| misfit(&at) == (false, 0));
            let fresh = if offset == 0 && !is_aligned { self.open_second(other) } else { None };
            self.planes[other].apart = fresh.or(best);
        }
    }
}
