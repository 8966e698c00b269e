//! RAIN: parity across channels. If a read's die works for another task, the read is rebuilt from the other members of
//! its stripe.
//!
//! Source: atc18 Section 5.2 ("RAIN uses parity to reconstruct data when accessing the chip is blocked by background
//! tasks"); stripes after ttFlash (Yan et al., FAST 2017).
//!
//! ```text
//! channel   0    1    2    3
//! group 0   D0   D1   D2   P        units of the same offset of three consecutive logical pages, and their parity
//! group 1   D3   D4   P    D5       parity goes round
//! ```
//!
//! - A stripe is one unit on each channel; with four channels three of data and one of parity. A unit stays on its
//!   channel, also when it is moved; its die there is chosen when it is written.
//! - A read of the host is rebuilt if a request of another task (collection, scrubbing, wear levelling, their map work)
//!   executes at its die or is in the window there, or if a collection has reserved the die (`preemption.policy =
//!   "none"`). This is checked when the read reaches its die, and when it would enter the window. The other members are
//!   read instead, as requests of the host that may have to wait in their turn; the read completes with the last of
//!   them. If parity of the stripe is not in flash yet, or the rest of the stripe holds no data, nothing is rebuilt.
//! - A write reads what its stripes' new parity needs (`redundancy::planner`): for one unit of three the old data and
//!   the old parity, for two the third, for all three nothing. All units that one request writes in a stripe are
//!   planned together. Its data does not wait for these reads. Old data is read at the unit's location when the read is
//!   issued. Two updates of one stripe do not wait for each other, because only times are modelled: no parity is
//!   computed.
//! - Units of parity have their own pages, which fill as pages of the host do (`frontier.fill_limit`).
//! - Parity costs space: give the drive more flash, in proportion (4/3 with four channels), or compare
//!   drives of different over-provisioning.
//! - If the map is in flash, locations of parity are known without a look-up, like those of translation pages. If data
//!   of a stripe was looked up, the locations of its other members are known, too, because entries of neighbours are
//!   contiguous.
//!
//! Parameters:
//! - `rebuild` (default `"blocked"`): when reads are rebuilt: `"blocked"`, as above; `"never"`: parity is written and
//!   not used, which shows its cost.

use super::{DieLoad, RedundancyPolicy};
use serde::{Deserialize, Serialize};

/// When reads are rebuilt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rebuild {
    /// If their die works for another task.
    #[default]
    Blocked,
    /// Not at all.
    Never,
}

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// When reads are rebuilt.
    pub rebuild: Rebuild,
}

/// The policy.
pub struct Policy {
    rebuild: Rebuild,
}

impl Policy {
    /// The policy of a drive.
    pub fn new(params: &Params) -> Self {
        Self { rebuild: params.rebuild }
    }
}

impl RedundancyPolicy for Policy {
    fn rebuilds(&self, load: DieLoad) -> bool {
        self.rebuild == Rebuild::Blocked && load.is_at_background_work
    }
}
