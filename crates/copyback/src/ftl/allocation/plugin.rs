//! An allocation of a program that calls Copyback: a class of Python, for example.
//!
//! The program returns the die of a page when the page is admitted. The plane is chosen when its command is issued;
//! pages of the preconditioning are placed as under `dynamic`. With parity, a unit belongs to a channel, and a die on
//! another channel ends the run. Each drive has its own allocation, and a copy of a drive has a copy of it.
//!
//! Source: none of its own; docs/python.md shows how a policy is written and supplied.
//!
//! Parameters:
//! - `name`: the policy's name, as the caller supplied it.

use super::dynamic::Dynamic;
use super::{Load, PagePlacement};
use crate::config::KeyError;
use crate::config::plugins::{Supplied, fail};
use crate::flash::geometry::Geometry;
use crate::sim::index::{ChannelId, DieId, LogicalUnit, PlaneId};
use serde::{Deserialize, Serialize};

/// A page that needs a die.
#[derive(Clone, Copy)]
pub struct AllocationView<'a> {
    /// The first unit of a page that the host writes; `None` if a collection moves the page.
    pub unit: Option<LogicalUnit>,
    /// Its channel, if there is parity.
    pub channel: Option<ChannelId>,
    /// The dies.
    pub load: &'a dyn Load,
}

/// A policy of the calling program.
pub trait Plugin: Send + Sync {
    /// The die of a page. It changes nothing: the engine reports what is placed.
    fn place(&self, view: &AllocationView<'_>) -> DieId;
    /// A page goes to a die.
    fn on_placed(&mut self, _die: DieId) {}
    /// A policy in the same state, for a copy of the drive.
    fn copied(&self) -> Box<dyn Plugin>;
}

/// Makes a policy for a drive of this shape.
pub type Make = dyn Fn(&Geometry) -> Box<dyn Plugin> + Send + Sync;

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The policy, by its name.
    pub name: Supplied<Make>,
}

impl Params {
    pub(super) fn check(&self) -> Result<(), KeyError> {
        self.name.check("allocation")
    }
}

/// The policy of a run.
pub struct Plugged {
    name: String,
    dies: u32,
    dies_per_channel: u32,
    /// Places writes in zero time, and knows the channels of units.
    pub(super) dynamic: Dynamic,
    plugin: Box<dyn Plugin>,
}

impl Clone for Plugged {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), dynamic: self.dynamic.clone(), plugin: self.plugin.copied(), ..*self }
    }
}

impl Plugged {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        Self {
            name: params.name.name().to_owned(),
            dies: geometry.dies,
            dies_per_channel: geometry.dies / geometry.channels,
            dynamic: Dynamic::new(geometry),
            plugin: params.name.maker()(geometry),
        }
    }

    /// The die for a page.
    pub fn place(&self, view: &AllocationView<'_>) -> PagePlacement {
        let die = self.plugin.place(view);
        let channel = die.0 / self.dies_per_channel;
        let why = if die.0 >= self.dies {
            format!("placed a page on die {}, and the drive has {}", die.0, self.dies)
        } else if let Some(own) = view.channel.filter(|own| own.0 != channel) {
            format!("placed a page on die {} of channel {channel}, and its stripe has it on channel {}", die.0, own.0)
        } else {
            return PagePlacement { die, plane: PlaneId::NONE };
        };
        fail(
            "allocation",
            &self.name,
            why,
            Some("name a die of the drive, counted from 0, and of the page's channel if it has one"),
        )
    }

    /// See [`super::Allocation::on_placed`].
    pub fn on_placed(&mut self, die: DieId) {
        self.dynamic.on_placed(die);
        self.plugin.on_placed(die);
    }
}
