//! Allocation: which die and plane get a new page?
//!
//! Contract: the engine calls [`Allocation::place`] when a host write is admitted, once for each logical page that it
//! touches. It returns the die, and the plane if the policy fixes it. Otherwise the plane is chosen at issue, among the
//! planes of the die that have a page. It reads the drive through [`Load`] and changes only its own state. A policy
//! that compares all dies finds the best with a [`DieSearch`], which is notified of dies that become better.

pub mod die_search;
pub mod dynamic;
pub mod plugin;
pub mod static_die;
pub mod static_order;

use self::die_search::DieSearch;
use crate::config::{KeyError, axis};
use crate::flash::geometry::Geometry;
use crate::sim::index::{ChannelId, DieId, LogicalUnit, PlaneId};

axis! {
    /// `[allocation]`
    AllocationConfig, "allocation", "which die and plane get a new page?", default Static,
    { "static" => static_order: Static, "static-die" => static_die: StaticDie, "dynamic" => dynamic: Dynamic,
      "plugin" => plugin: Plugin }
}

/// The destination of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePlacement {
    /// Its die.
    pub die: DieId,
    /// Its plane, [`PlaneId::NONE`] for any plane of the die.
    pub plane: PlaneId,
}

/// How much of a page's place is a function of its address, and known before it is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// Its die.
    Die,
    /// Its die and its plane.
    Plane,
}

/// A policy's view of the dies.
pub trait Load {
    /// Whether a job has reserved the die, or waits for it. Always false if the page is of a write that has waited for
    /// space, or is moved by a relocation.
    fn is_collecting(&self, die: DieId) -> bool;
    /// Transactions that wait at the die, also for its space, and the command that it executes.
    fn queued(&self, die: DieId) -> u32;
    /// Pages that the host may still write on the die before it must wait for space; for a page that a relocation
    /// moves, the planes of the die that can take it.
    fn free_pages(&self, die: DieId) -> u32;
    /// Whether the die itself has such pages, without the space that it shares with other dies.
    fn has_own_pages(&self, die: DieId) -> bool {
        self.free_pages(die) > 0
    }
    /// Whether the space that the die shares with other dies has a page left; if not, none of these dies has free
    /// pages.
    fn has_shared_pages(&self, _die: DieId) -> bool {
        true
    }
}

/// The policy of a run.
#[derive(Clone)]
pub enum Allocation {
    /// A function of the address.
    Static(static_order::StaticOrder),
    /// The die is a function of the address.
    StaticDie(static_die::StaticDie),
    /// Decided for each write.
    Dynamic(dynamic::Dynamic),
    /// Decided by a program that calls this one.
    Plugin(plugin::Plugged),
}

impl Allocation {
    /// The policy of a configuration.
    pub fn new(config: &AllocationConfig, geometry: &Geometry) -> Self {
        match config {
            AllocationConfig::Static(p) => Self::Static(static_order::StaticOrder::new(p, geometry)),
            AllocationConfig::StaticDie(p) => Self::StaticDie(static_die::StaticDie::new(p, geometry)),
            AllocationConfig::Dynamic(_) => Self::Dynamic(dynamic::Dynamic::new(geometry)),
            AllocationConfig::Plugin(p) => Self::Plugin(plugin::Plugged::new(p, geometry)),
        }
    }

    /// The destination of the page of `unit`. It changes nothing: the caller reports the placement
    /// ([`Allocation::on_placed`]). With a search of the same load, not every die is compared; the answer is the same.
    #[inline]
    pub fn place(&self, unit: LogicalUnit, load: &impl Load, search: Option<&mut DieSearch>) -> PagePlacement {
        match self {
            Self::Static(p) => p.place(unit),
            Self::StaticDie(p) => p.place(unit),
            Self::Dynamic(p) => p.place(p.channel(unit), load, search),
            Self::Plugin(p) => {
                p.place(&plugin::AllocationView { unit: Some(unit), channel: p.dynamic.channel(unit), load })
            }
        }
    }

    /// The destination of a page of moved data from a block of this plane: it stays on its channel if units have one.
    pub fn place_move(
        &self,
        from: PlaneId,
        geometry: &Geometry,
        load: &impl Load,
        search: Option<&mut DieSearch>,
    ) -> PagePlacement {
        match self {
            Self::Static(_) | Self::StaticDie(_) => PagePlacement { die: geometry.die_of(from), plane: from },
            Self::Dynamic(p) => p.place(channel_of_moves(from, geometry), load, search),
            Self::Plugin(p) => {
                p.place(&plugin::AllocationView { unit: None, channel: channel_of_moves(from, geometry), load })
            }
        }
    }

    /// A search for the best die, if the policy compares all dies.
    pub fn search(&self) -> Option<DieSearch> {
        match self {
            Self::Dynamic(p) => Some(p.search()),
            Self::Static(_) | Self::StaticDie(_) | Self::Plugin(_) => None,
        }
    }

    /// A page was placed where the policy decided.
    #[inline]
    pub fn on_placed(&mut self, place: PagePlacement) {
        match self {
            Self::Static(_) | Self::StaticDie(_) => {}
            Self::Dynamic(p) => p.on_placed(place.die),
            Self::Plugin(p) => p.on_placed(place.die),
        }
    }

    /// The plane of a unit if it is a function of the address.
    #[inline]
    pub fn static_plane(&self, unit: LogicalUnit) -> Option<PlaneId> {
        match self {
            Self::Static(p) => Some(p.place(unit).plane),
            Self::StaticDie(_) | Self::Dynamic(_) | Self::Plugin(_) => None,
        }
    }

    /// The die of a unit if the die, but not the plane, is a function of the address.
    #[inline]
    pub fn static_die(&self, unit: LogicalUnit) -> Option<DieId> {
        match self {
            Self::StaticDie(p) => Some(p.die(unit)),
            Self::Static(_) | Self::Dynamic(_) | Self::Plugin(_) => None,
        }
    }

    /// The plane of a write while no time passes (preconditioning): the next plane in rotation with a free page.
    #[inline]
    pub fn timeless_plane(&mut self, unit: LogicalUnit, has_room: impl Fn(PlaneId) -> bool) -> PlaneId {
        match self {
            Self::Static(p) => p.place(unit).plane,
            Self::StaticDie(p) => p.next_plane(unit, has_room),
            Self::Dynamic(p) => p.next_plane(unit, has_room),
            Self::Plugin(p) => p.dynamic.next_plane(unit, has_room),
        }
    }

    /// The planes of addresses, if addresses determine them.
    pub fn by_address(&self) -> Option<&static_order::StaticOrder> {
        match self {
            Self::Static(p) => Some(p),
            Self::StaticDie(_) | Self::Dynamic(_) | Self::Plugin(_) => None,
        }
    }

    /// How much of a page's place is a function of its address.
    pub fn knows(&self) -> Known {
        match self {
            Self::Static(_) => Known::Plane,
            Self::StaticDie(_) => Known::Die,
            Self::Dynamic(_) | Self::Plugin(_) => Known::Nothing,
        }
    }

    /// Whether the plane is a function of the address.
    pub fn is_static(&self) -> bool {
        matches!(self, Self::Static(_))
    }

    /// Whether a write that waits at a die may go to another.
    pub fn chooses_die(&self) -> bool {
        matches!(self, Self::Dynamic(_) | Self::Plugin(_))
    }
}

/// The channel on which moved data stays, if units have channels.
fn channel_of_moves(from: PlaneId, geometry: &Geometry) -> Option<ChannelId> {
    geometry.stripes.map(|_| geometry.channel_of(geometry.die_of(from)))
}

impl AllocationConfig {
    /// This configuration, with a plane for each address if the address determines the die.
    #[must_use]
    pub fn by_address(&self) -> Self {
        match self {
            Self::StaticDie(p) => Self::Static(p.clone()),
            Self::Static(_) | Self::Dynamic(_) | Self::Plugin(_) => self.clone(),
        }
    }

    /// How much of a page's place is a function of its address.
    pub fn knows(&self) -> Known {
        match self {
            Self::Static(_) => Known::Plane,
            Self::StaticDie(_) => Known::Die,
            Self::Dynamic(_) | Self::Plugin(_) => Known::Nothing,
        }
    }

    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        match self {
            Self::Static(p) | Self::StaticDie(p) => p.order.parse::<static_order::Order>().map(|_| ()),
            Self::Dynamic(_) => Ok(()),
            Self::Plugin(p) => p.check(),
        }
    }
}
