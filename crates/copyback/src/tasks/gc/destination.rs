//! The destination of a page of a collection.

use crate::sim::index::PlaneId;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// The destination of moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destination {
    /// The victim's plane.
    #[default]
    Local,
    /// A plane with more room, chosen page by page.
    Global,
}

/// The visible state of the planes that a page could go to.
pub trait DestinationView {
    /// Planes of the drive.
    fn planes(&self) -> u32;
    /// Pages that moves can still take on a plane.
    fn reservable(&self, plane: PlaneId) -> u32;
    /// Whether a plane can take another page of another plane's job and keep its reservations.
    fn accepts(&self, plane: PlaneId) -> bool;
    /// Whether the die of a plane runs no collection and has no moves of others to program.
    fn is_die_idle(&self, plane: PlaneId) -> bool;
    /// Whether a plane that takes a page stays at or above its watermark.
    fn keeps_watermark(&self, plane: PlaneId) -> bool;
    /// Host transactions that wait at the die of a plane.
    fn waiting(&self, plane: PlaneId) -> u32;
}

impl Destination {
    /// The plane to which a page of a victim on `home` goes.
    ///
    /// With a global destination it goes to a plane with more free pages than its own, on a die without a collection
    /// and without moves of other dies to program. Of such planes, planes that take the page without falling below
    /// their watermark come first, then the plane whose die has the fewest waiting requests, then the plane with the
    /// most free pages. A page that goes to `home` never waits. Without the rule for dies, collections could wait for
    /// each other's dies in a chain, and all of them would be delayed.
    ///
    /// A page that must leave goes to the plane with the most free pages: its own plane is full of valid data, where a
    /// move would free nothing.
    pub fn of_page(self, home: PlaneId, has_to_leave: bool, drive: &impl DestinationView) -> PlaneId {
        if self == Self::Local {
            return home;
        }
        let others = (0..drive.planes()).map(PlaneId).filter(|&p| p != home);
        if has_to_leave {
            let accepting = others.filter(|&p| drive.accepts(p));
            return accepting.max_by_key(|&p| (drive.reservable(p), Reverse(p))).unwrap_or(home);
        }
        let rank =
            |&p: &PlaneId| (drive.keeps_watermark(p), Reverse(drive.waiting(p)), drive.reservable(p), Reverse(p));
        // The most expensive check is last, because this examines all planes for each page.
        let room_at_home = drive.reservable(home);
        let suits = |&p: &PlaneId| drive.is_die_idle(p) && drive.reservable(p) > room_at_home && drive.accepts(p);
        others.filter(suits).max_by_key(rank).unwrap_or(home)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room, whether it accepts the page, whether its die is quiet, whether it keeps its watermark, and the waiting
    /// requests.
    struct Drive(&'static [(u32, bool, bool, bool, u32)]);

    impl DestinationView for Drive {
        fn planes(&self) -> u32 {
            self.0.len() as u32
        }
        fn reservable(&self, plane: PlaneId) -> u32 {
            self.0[plane.at()].0
        }
        fn accepts(&self, plane: PlaneId) -> bool {
            self.0[plane.at()].1
        }
        fn is_die_idle(&self, plane: PlaneId) -> bool {
            self.0[plane.at()].2
        }
        fn keeps_watermark(&self, plane: PlaneId) -> bool {
            self.0[plane.at()].3
        }
        fn waiting(&self, plane: PlaneId) -> u32 {
            self.0[plane.at()].4
        }
    }

    #[test]
    fn a_page_goes_to_the_best_plane_with_more_room_or_stays() {
        const HOME: (u32, bool, bool, bool, u32) = (4, true, false, true, 0);
        let goes = |planes| Destination::Global.of_page(PlaneId(0), false, &Drive(planes)).0;
        assert_eq!(goes(&[HOME, (4, true, true, true, 0)]), 0, "no more room");
        assert_eq!(goes(&[HOME, (9, false, true, true, 0), (9, true, false, true, 0)]), 0, "not taken, not quiet");
        assert_eq!(goes(&[HOME, (9, true, true, false, 0), (5, true, true, true, 7)]), 2, "its watermark first");
        assert_eq!(goes(&[HOME, (9, true, true, true, 1), (5, true, true, true, 0)]), 2, "then who waits");
        assert_eq!(goes(&[HOME, (5, true, true, true, 0), (6, true, true, true, 0)]), 2, "then room");
        assert_eq!(goes(&[HOME, (6, true, true, true, 0), (6, true, true, true, 0)]), 1, "then the first");
    }

    #[test]
    fn a_page_that_has_to_leave_goes_where_most_room_is() {
        let drive = Drive(&[(4, true, true, true, 0), (2, true, false, false, 9), (3, true, false, false, 9)]);
        assert_eq!(Destination::Global.of_page(PlaneId(0), true, &drive).0, 2);
        assert_eq!(Destination::Local.of_page(PlaneId(0), true, &drive).0, 0);
    }
}
