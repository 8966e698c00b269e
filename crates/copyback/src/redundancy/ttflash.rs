//! ttFlash: parity across channels, and at most one collecting plane in a parity group. A read whose plane collects is
//! rebuilt from the rest of its stripe, on planes that do not collect.
//!
//! Source: ttFlash (Yan et al., FAST 2017) as atc18 Section 5.2 ("statically limiting the number of active GC to one
//! per parity group") and hpdc18 Section 3.3 describe it.
//!
//! ```text
//! channel      0    1    2    3
//! group 0      GC   .    .    .     a read of channel 0 comes from channels 1, 2 and 3
//! group 1      .    .    GC   .     each group of planes has its own turn
//! ```
//!
//! - Stripes, parity and the reads of a write: as under `rain`. Addresses determine the locations of all members of a
//!   stripe (`allocation.policy = "static"`): the same chip, die and plane of each channel. These planes, or all planes
//!   of these dies, are a parity group (`group`).
//! - A collection begins only while no task relocates a block of its group. Of the planes that may begin, the one with
//!   the fewest free blocks does. When it has collected one block, another plane whose group relocates nothing is next,
//!   and the same plane only if there is none. Writes that wait for space on a plane also wait for its turn: the
//!   group's limit always holds. atc18 criticises this: it "can quickly deplete free blocks". If collections reserve
//!   their dies (`preemption.policy = "none"`), the next waiting die of the group has the turn.
//! - A read of the host is rebuilt while a block of its plane is relocated, also between two commands of the
//!   relocation, and when its die works for another task (as under `rain`). If parity of the stripe is not in flash
//!   yet, it waits.
//! - ttFlash moves pages by copyback, which keeps them on their plane and off the channel (`granularity.copyback`). A
//!   copyback moves whole pages: if mapping units are smaller, pages with some stale units go over the channel, and
//!   their valid units are gathered.
//! - In ttFlash the other planes of a die continue while one copies back. Here a die executes one command at a time,
//!   and a collection of one plane blocks the others. A group therefore consists of whole dies by default, so that no
//!   die collects while a rebuilt read needs it. hpdc18 notes that ttFlash assumes dies of one plane, for which both
//!   kinds of groups are the same.
//! - ttFlash also needs memory that survives a loss of power for the parity of pages in progress; its size is not
//!   bounded here beyond `frontier.fill_pages`.
//!
//! Parameters:
//! - `group` (default `"die"`): the planes that collect one at a time. `"die"`: the planes of the dies with the same
//!   position on their channels. `"plane"`: the planes with the same position on their channels; more planes collect at
//!   once, but a rebuilt read may wait for another plane of a die that it needs.

use super::{DieLoad, Group, RedundancyPolicy};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The groups of planes that collect one plane at a time.
    pub group: Group,
}

impl Default for Params {
    fn default() -> Self {
        Self { group: Group::Die }
    }
}

/// The policy.
pub struct Policy {
    group: Group,
}

impl Policy {
    /// The policy of a drive.
    pub fn new(params: &Params) -> Self {
        Self { group: params.group }
    }
}

impl RedundancyPolicy for Policy {
    fn rebuilds(&self, load: DieLoad) -> bool {
        load.is_plane_collecting || load.is_at_background_work
    }

    fn turns(&self) -> Option<Group> {
        Some(self.group)
    }
}
