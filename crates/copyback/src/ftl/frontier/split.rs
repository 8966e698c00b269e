//! Two open blocks for each plane: one for host data, one for data that garbage collection moves.
//!
//! Source: two frontiers in the hot/cold literature (Van Houdt 2013); moved data is colder than the host's, so that
//! separate blocks lower write amplification under skew.
//!
//! Parameters:
//! - `fill_limit` (default: none): the host's open page gathers writes smaller than a page, of any address, until it is
//!   full or has this age; the rest of it is then padded. Without it, writes do not wait for each other: writes that
//!   wait at the die when a page is bound share the page. atc18 Section 4.2: "multiple host writes are aggregated to
//!   fill the page"; no source states a limit.
//! - `fill_ends` (default `"dram"`): the point at which a write that fills a page completes: `"dram"`, when it enters
//!   the page, or `"flash"`, with the page's program.
//! - `fill_pages` (default two for each location of an open page, 64 at least; at most 2,000): pages of the host that
//!   may be in the controller at once, including full pages on their way to flash; a write that needs another page
//!   waits. Locations: planes or dies if the address determines them, else channels or the drive. No source states it.
//! - `fill_awaited` (default `"at-once"`): the treatment of the map's open page when a request waits for its content:
//!   `"at-once"`, it is sent, and its rest is padded; `"waits"`, it waits to fill like any page. No source states it.

use super::fill::FillRules;
use super::shared_keys::frontier_params;
use super::{Parameters, STREAMS};
use crate::config::KeyError;

frontier_params! { {} fill }

impl Parameters for Params {
    fn open_block_of(&self) -> [u8; STREAMS] {
        [0, 1]
    }

    fn fill(&self) -> Option<FillRules> {
        self.fill_keys().fill()
    }

    fn check(&self) -> Result<(), KeyError> {
        self.fill_keys().check()
    }
}
