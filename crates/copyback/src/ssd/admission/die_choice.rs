//! The choice of a die for a page, and searches that avoid comparing all dies.
//!
//! A page is placed for one of three purposes. Each purpose counts the pages of a die differently, and has its own
//! search if the allocation compares dies. Call [`BackEnd::notify_die_search`] whenever a die may have become better: a
//! wait, a command or a step ended, a reservation was released, a block was erased. The search itself detects dies that
//! became worse.

use crate::ftl::allocation::die_search::DieSearch;
use crate::ftl::allocation::{Allocation, Load, PagePlacement};
use crate::ftl::space::JobSpace;
use crate::sim::index::{DieId, LogicalUnit, PlaneId};
use crate::sim::invariant::hold;
use crate::ssd::admission::PlaneJobs;
use crate::ssd::back_end::BackEnd;

/// The purpose of placing a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(in crate::ssd) enum Purpose {
    /// A write that arrives.
    Arrival,
    /// A write that has waited for space.
    Waiter,
    /// A page that a relocation moves.
    Move,
}

/// The searches of a drive, by purpose: [`Purpose::Arrival`] alone if collections reserve dies.
pub(in crate::ssd) struct DieSearches {
    of_purpose: Vec<DieSearch>,
}

impl DieSearches {
    /// The searches that an allocation has, if it compares dies.
    pub fn of(allocation: &Allocation, collections_are_tasks: bool) -> Option<Box<Self>> {
        let search = allocation.search()?;
        let purposes = if collections_are_tasks { Purpose::Move as usize + 1 } else { 1 };
        Some(Box::new(Self { of_purpose: vec![search; purposes] }))
    }

    /// Out of line: most drives have no searches, and only test a pointer.
    #[cold]
    #[inline(never)]
    fn gain(&mut self, die: DieId) {
        self.of_purpose.iter_mut().for_each(|search| search.gain(die));
    }

    #[cfg(test)]
    pub fn forget_gains(&mut self) {
        self.of_purpose.iter_mut().for_each(DieSearch::forget_gains);
    }
}

/// The dies' loads as the allocation sees them.
struct DieLoads<'a> {
    drive: &'a BackEnd,
    purpose: Purpose,
}

impl Load for DieLoads<'_> {
    fn is_collecting(&self, die: DieId) -> bool {
        let d = &self.drive.dies[die];
        self.purpose == Purpose::Arrival && (d.is_reserved() || d.jobs_waiting() > 0)
    }

    fn queued(&self, die: DieId) -> u32 {
        self.drive.queued(die)
    }

    fn free_pages(&self, die: DieId) -> u32 {
        match self.purpose {
            Purpose::Arrival => self.drive.reservable(die, PlaneId::NONE),
            Purpose::Waiter => self.drive.claimable(die, PlaneId::NONE),
            Purpose::Move => self.drive.planes_for_move(die).count() as u32,
        }
    }

    fn has_own_pages(&self, die: DieId) -> bool {
        let drive = self.drive;
        let space = drive.admission.reservations.space();
        match self.purpose {
            Purpose::Move => drive.planes_for_move(die).next().is_some(),
            _ if !drive.admission.reservations.are_shared() => self.free_pages(die) > 0,
            Purpose::Arrival => space.has_own_pages(&drive.ftl, die),
            Purpose::Waiter => space.has_own_claimable_pages(&drive.ftl, die),
        }
    }

    fn has_shared_pages(&self, die: DieId) -> bool {
        let Some(shared) = PlaneJobs(self.drive).move_pool(self.drive.geometry.first_plane(die)) else { return true };
        match self.purpose {
            Purpose::Arrival => shared.reservable() > 0,
            Purpose::Waiter => shared.claimable() > 0,
            Purpose::Move => true,
        }
    }
}

impl BackEnd {
    /// Notifies the searches that a die may be a better choice from now on.
    #[inline(always)]
    pub(in crate::ssd) fn notify_die_search(&mut self, die: DieId) {
        if let Some(searches) = &mut self.admission.searches {
            searches.gain(die);
        }
    }

    /// Selects the die, or the plane, for the page of a unit.
    pub(in crate::ssd) fn choose_die(&mut self, unit: LogicalUnit, purpose: Purpose) -> PagePlacement {
        self.choose(purpose, |allocation, loads, search| allocation.place(unit, loads, search))
    }

    /// Selects the die, or the plane, for a page that a relocation moves off this plane.
    pub(in crate::ssd) fn choose_die_for_move(&mut self, home: PlaneId) -> PagePlacement {
        self.choose(Purpose::Move, |allocation, loads, search| {
            allocation.place_move(home, &loads.drive.geometry, loads, search)
        })
    }

    fn choose(
        &mut self,
        purpose: Purpose,
        place: impl Fn(&Allocation, &DieLoads<'_>, Option<&mut DieSearch>) -> PagePlacement,
    ) -> PagePlacement {
        // The search is taken out of the drive while the drive is read.
        let mut searches = self.admission.searches.take();
        let search = searches.as_deref_mut().map(|searches| &mut searches.of_purpose[purpose as usize]);
        let loads = DieLoads { drive: self, purpose };
        let chosen = place(self.ftl.allocation(), &loads, search);
        if self.records.shadow.is_some() {
            let best = place(self.ftl.allocation(), &loads, None);
            hold!(chosen == best, BestDie, "{chosen:?} was chosen for {purpose:?}, and {best:?} is the best");
        }
        self.admission.searches = searches;
        chosen
    }
}
