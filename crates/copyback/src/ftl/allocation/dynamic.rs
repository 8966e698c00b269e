//! A write goes to a die without garbage collection and with the shortest queue, decided when it is admitted; its plane
//! is chosen when its command is issued.
//!
//! Source: SSDsim (Hu et al. 2011), as hpdc18 Section 3.3 describes it. Among equal dies the turn goes round, channels
//! first. Dies on which the host has no page left are passed over while any other has one.
//!
//! ```text
//! die 0  GC     R1 W1 R2 W2 ... E
//! die 1  host     w0 w1             writes that static allocation would have sent to die 0 need not wait for that
//! ```
//!
//! Parameters: none.

use super::{Load, Place};
use crate::flash::geometry::Geometry;
use crate::sim::index::{DieId, PlaneId};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The policy and whose turn it is.
#[derive(Clone, Debug)]
pub struct Dynamic {
    /// The dies in the order of their turns: channels change fastest.
    turns: Vec<DieId>,
    /// Which turn is each die's.
    turn_of: Vec<usize>,
    planes_per_die: u32,
    next_turn: usize,
    next_plane: u32,
    /// Units that a page takes, and how many more the page takes that was begun without time.
    units_per_page: u32,
    units_left: u32,
}

impl Dynamic {
    /// The policy for a drive.
    pub fn new(geometry: &Geometry) -> Self {
        let dies_per_channel = geometry.dies / geometry.channels;
        let turns: Vec<DieId> = (0..geometry.dies)
            .map(|turn| DieId(turn % geometry.channels * dies_per_channel + turn / geometry.channels))
            .collect();
        let mut turn_of = vec![0; turns.len()];
        turns.iter().enumerate().for_each(|(turn, die)| turn_of[die.at()] = turn);
        Self {
            turns,
            turn_of,
            planes_per_die: geometry.planes_per_die,
            next_turn: 0,
            next_plane: 0,
            units_per_page: if geometry.has_superpages() { 1 } else { geometry.units_per_page },
            units_left: 0,
        }
    }

    /// The die for the next write.
    pub fn place(&self, load: &impl Load) -> Place {
        let dies = self.turns.len();
        let rank = |die: DieId| (load.free_pages(die) == 0, load.is_collecting(die), load.queued(die));
        let mut in_turn = (0..dies).map(|i| (self.next_turn + i) % dies);
        let mut best = in_turn.next().expect("a drive has a die");
        let mut least = rank(self.turns[best]);
        for at in in_turn {
            if least == (false, false, 0) {
                break;
            }
            // Room is looked at only where it decides, as it takes longest to find out.
            let die = self.turns[at];
            let may_win = least.0 || (load.is_collecting(die), load.queued(die)) < (least.1, least.2);
            if may_win && rank(die) < least {
                (best, least) = (at, rank(die));
            }
        }
        Place { die: self.turns[best], plane: PlaneId::NONE }
    }

    /// A write went to a die: the next turn is that of the die behind it.
    pub fn on_placed(&mut self, die: DieId) {
        self.next_turn = (self.turn_of[die.at()] + 1) % self.turns.len();
    }

    /// The next plane in turn that has room; the one whose turn it is where none has. A page is filled before the turn
    /// goes on: what is written one after the other lies together.
    pub fn next_plane(&mut self, has_room: impl Fn(PlaneId) -> bool) -> PlaneId {
        let dies = self.turns.len() as u32;
        let planes = dies * self.planes_per_die;
        let plane_at = |turn: u32| {
            PlaneId(self.turns[(turn % dies) as usize].0 * self.planes_per_die + turn / dies % self.planes_per_die)
        };
        if self.units_left > 0 && has_room(plane_at(self.next_plane + planes - 1)) {
            self.units_left -= 1;
            return plane_at(self.next_plane + planes - 1);
        }
        self.units_left = self.units_per_page - 1;
        let mut in_turn = (0..planes).map(|i| (self.next_plane + i) % planes);
        let turn = in_turn.find(|&turn| has_room(plane_at(turn))).unwrap_or(self.next_plane % planes);
        self.next_plane = (turn + 1) % planes;
        plane_at(turn)
    }
}
