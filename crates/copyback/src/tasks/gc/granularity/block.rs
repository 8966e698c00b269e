//! One block of one plane: its valid data is read and programmed into another block, and the block is erased.
//!
//! Source: Algorithm 1 of hpdc18, Fig. 3 of ispass11. Two destinations are possible:
//! - Local collection keeps a move inside its plane (hpdc18 Section 2.2.1).
//! - Global collection moves a page to another die: to a plane with more free pages than the victim's plane. The other
//!   die runs no collection, and has no other move to program. If there is no such plane, the page goes to the victim's
//!   plane.
//!
//! If mapping units are smaller than pages, the units of several pages are gathered in the controller and programmed a
//! page at a time. When the block has been read, the remaining units are programmed with padding.
//!
//! Parameters:
//! - `destination` (default `"local"`): `"local"`, the victim's plane, or `"global"`, a plane of the drive with more
//!   room.
//! - `copyback` (default false): move with the copyback command, which does not use the channel. It needs:
//!   - a local destination, and a device that has the command;
//!   - a mapping unit of a whole page, if collections reserve their die. If they do not (`preemption.policy =
//!     "always"`), a page that is valid as a whole is copied back even with smaller units. The units of other pages are
//!     gathered over the channel.

use super::{GranularityPolicy, Parameters};
use crate::config::{Device, KeyError};
use crate::sim::index::PlaneId;
use crate::tasks::gc::destination::{Destination, DestinationView};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The destination of moves.
    pub destination: Destination,
    /// Whether moves do not use the channel.
    pub copyback: bool,
}

impl Parameters for Params {
    fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
        if !self.copyback {
            return Ok(());
        }
        let refuse =
            |why: &str| Err(KeyError::new("granularity.copyback", why).with_help("set `granularity.copyback = false`"));
        if self.destination == Destination::Global {
            return refuse("a copyback cannot leave its plane, but `granularity.destination` is \"global\"");
        }
        if !device.commands.copyback {
            return refuse("this device has no copyback command (`commands.copyback = false`)");
        }
        Ok(())
    }
}

/// The policy of a run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    destination: Destination,
    copyback: bool,
}

impl Policy {
    pub(super) fn new(params: &Params) -> Self {
        Self { destination: params.destination, copyback: params.copyback }
    }
}

impl GranularityPolicy for Policy {
    #[inline(always)]
    fn leaves_plane(&self) -> bool {
        self.destination == Destination::Global
    }

    #[inline(always)]
    fn copies_back(&self) -> bool {
        self.copyback
    }

    #[inline]
    fn destination(&self, home: PlaneId, has_to_leave: bool, drive: &impl DestinationView) -> PlaneId {
        self.destination.of_page(home, has_to_leave, drive)
    }
}
