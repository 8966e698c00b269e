//! A write goes to a die without garbage collection and with the shortest queue, decided when it is admitted; its plane
//! is chosen when its command is issued.
//!
//! Source: SSDsim (Hu et al. 2011), as hpdc18 Section 3.3 describes it. Equal dies take turns, channels first. Dies
//! without a free page for the host are skipped while another die has one. With parity, a unit has a channel, and its
//! die is chosen on that channel (`redundancy`).
//!
//! ```text
//! die 0  GC     R1 W1 R2 W2 ... E
//! die 1  host     w0 w1             writes that static allocation would have sent to die 0 need not wait for that
//! ```
//!
//! Parameters: none.

use super::die_search::{DieSearch, RingLayout};
use super::{Load, PagePlacement};
use crate::flash::geometry::Geometry;
use crate::flash::stripes::Stripes;
use crate::sim::index::{ChannelId, DieId, LogicalUnit, PlaneId};
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
    dies_per_channel: u32,
    next_turn: usize,
    units_per_page: u32,
    /// The channel of each unit, if there is parity.
    stripes: Option<Stripes>,
    /// Rotation for writes in zero time: over all planes; or, if units have channels, for each channel, separately for
    /// data and parity. With one rotation for both, a sequential fill would put all parity, which is overwritten more
    /// often, on few dies: parity moves over the channels at the pace of the rotation.
    timeless: Vec<Timeless>,
}

/// The rotation over planes that are written in zero time.
#[derive(Clone, Copy, Debug, Default)]
struct Timeless {
    next_plane: u32,
    /// Units that the page in progress still takes.
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
            dies_per_channel,
            next_turn: 0,
            units_per_page: if geometry.has_superpages() { 1 } else { geometry.units_per_page },
            stripes: geometry.stripes,
            timeless: vec![
                Timeless::default();
                1 + geometry.stripes.map_or(0, |stripes| 2 * stripes.members() as usize)
            ],
        }
    }

    /// The channel of a unit, if it has one.
    pub fn channel(&self, unit: LogicalUnit) -> Option<ChannelId> {
        self.stripes.and_then(|stripes| stripes.channel(unit))
    }

    /// The die for the next write, on a given channel if there is one.
    #[inline]
    pub fn place(&self, channel: Option<ChannelId>, load: &impl Load, search: Option<&mut DieSearch>) -> PagePlacement {
        // No die is better than the die whose turn it is, if that is idle and has pages.
        let first = self.turns[self.first_turn_of(channel)];
        if !load.is_collecting(first) && load.queued(first) == 0 && load.free_pages(first) > 0 {
            return PagePlacement { die: first, plane: PlaneId::NONE };
        }
        match (channel, search) {
            (channel, Some(search)) if channel.is_some() == self.stripes.is_some() => {
                let turn = self.first_turn_of(channel);
                let die = search.best(self.ring_layout(), turn, |turn| self.turns[turn as usize], load);
                PagePlacement { die, plane: PlaneId::NONE }
            }
            (Some(channel), _) => self.place_on(channel, load),
            (None, _) => self.place_anywhere(load),
        }
    }

    /// The first turn, from the next one on, of a die of the channel if there is one.
    #[inline(always)]
    fn first_turn_of(&self, channel: Option<ChannelId>) -> usize {
        let Some(channel) = channel else { return self.next_turn };
        // Turns go round the channels.
        let (dies, channels) = (self.turns.len(), self.turns.len() / self.dies_per_channel as usize);
        (self.next_turn + (channel.at() + channels - self.next_turn % channels) % channels) % dies
    }

    /// The dies that are compared with each other: those of a channel if units have channels.
    fn ring_layout(&self) -> RingLayout {
        match self.stripes {
            Some(_) => RingLayout { rings: self.turns.len() as u32 / self.dies_per_channel },
            None => RingLayout { rings: 1 },
        }
    }

    /// A search for the best die.
    pub fn search(&self) -> DieSearch {
        DieSearch::new(self.ring_layout(), &self.turn_of)
    }

    /// The best die of a channel, by a comparison of all its dies.
    fn place_on(&self, channel: ChannelId, load: &impl Load) -> PagePlacement {
        let (dies, channels) = (self.turns.len(), self.turns.len() / self.dies_per_channel as usize);
        let first = self.first_turn_of(Some(channel));
        let in_turn = (0..self.dies_per_channel as usize).map(|i| (first + i * channels) % dies);
        let rank = |die: DieId| (load.free_pages(die) == 0, load.is_collecting(die), load.queued(die));
        let best = in_turn.map(|turn| self.turns[turn]).min_by_key(|&die| rank(die)).expect("a channel has a die");
        PagePlacement { die: best, plane: PlaneId::NONE }
    }

    /// The best die of the drive, by a comparison of all dies until one is idle.
    fn place_anywhere(&self, load: &impl Load) -> PagePlacement {
        let dies = self.turns.len();
        let rank = |die: DieId| (load.free_pages(die) == 0, load.is_collecting(die), load.queued(die));
        let mut in_turn = (0..dies).map(|i| (self.next_turn + i) % dies);
        let mut best = in_turn.next().expect("a drive has a die");
        let mut least = rank(self.turns[best]);
        for at in in_turn {
            if least == (false, false, 0) {
                break;
            }
            // Space is examined only if it decides, because it costs most.
            let die = self.turns[at];
            let may_win = least.0 || (load.is_collecting(die), load.queued(die)) < (least.1, least.2);
            if may_win && rank(die) < least {
                (best, least) = (at, rank(die));
            }
        }
        PagePlacement { die: self.turns[best], plane: PlaneId::NONE }
    }

    /// A write went to a die: the next turn is that of the die behind it.
    pub fn on_placed(&mut self, die: DieId) {
        self.next_turn = (self.turn_of[die.at()] + 1) % self.turns.len();
    }

    /// The next plane in rotation with a free page, among the planes that the unit may go to; if none has one, the
    /// plane whose turn it is. A page is filled before the rotation advances: data written in sequence is contiguous.
    pub fn next_plane(&mut self, unit: LogicalUnit, has_room: impl Fn(PlaneId) -> bool) -> PlaneId {
        let planes = self.turns.len() as u32 * self.planes_per_die;
        match self.channel(unit) {
            None => self.next_of(0, planes, |drive, turn| drive.plane_at(turn), has_room),
            Some(channel) => {
                let first = channel.0 * self.dies_per_channel;
                let planes = self.dies_per_channel * self.planes_per_die;
                let plane_at = move |drive: &Self, turn: u32| {
                    let (die, plane) = (first + turn % drive.dies_per_channel, turn / drive.dies_per_channel);
                    PlaneId(die * drive.planes_per_die + plane % drive.planes_per_die)
                };
                let is_parity = self.stripes.is_some_and(|stripes| stripes.is_parity(unit));
                let turns = 1 + 2 * channel.at() + usize::from(is_parity);
                self.next_of(turns, planes, plane_at, has_room)
            }
        }
    }

    /// The plane of a turn on the whole drive.
    fn plane_at(&self, turn: u32) -> PlaneId {
        let dies = self.turns.len() as u32;
        PlaneId(self.turns[(turn % dies) as usize].0 * self.planes_per_die + turn / dies % self.planes_per_die)
    }

    #[inline(always)]
    fn next_of(
        &mut self,
        turns: usize,
        planes: u32,
        plane_at: impl Fn(&Self, u32) -> PlaneId,
        has_room: impl Fn(PlaneId) -> bool,
    ) -> PlaneId {
        let Timeless { next_plane, units_left } = self.timeless[turns];
        let begun = plane_at(self, next_plane + planes - 1);
        if units_left > 0 && has_room(begun) {
            self.timeless[turns].units_left -= 1;
            return begun;
        }
        let mut in_turn = (0..planes).map(|i| (next_plane + i) % planes);
        let turn = in_turn.find(|&turn| has_room(plane_at(self, turn))).unwrap_or(next_plane % planes);
        self.timeless[turns] = Timeless { next_plane: (turn + 1) % planes, units_left: self.units_per_page - 1 };
        plane_at(self, turn)
    }
}
