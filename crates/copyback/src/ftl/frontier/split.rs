//! Two open blocks a plane: one for host data, one for data that garbage collection moves.
//!
//! Source: two frontiers in the hot/cold literature (Van Houdt 2013); moved data is colder than the host's, so that
//! separate blocks lower write amplification under skew.
//!
//! Parameters:
//! - `fill_limit` (default: none): the host's open page gathers writes smaller than a page, of any address, until it is
//!   full or has this age; the rest of it is then padded. Without it, writes do not wait for each other: writes that
//!   wait at the die when a page is bound share the page. atc18 Section 4.2: "multiple host writes are aggregated to
//!   fill the page"; the limit is own.
//! - `fill_ends` (default `"dram"`): the point at which a write that fills a page completes: `"dram"`, when it enters
//!   the page, or `"flash"`, with the page's program.
//! - `fill_pages` (default two for each location of an open page, 64 at least; at most 2,000): pages of the host that
//!   may be in the controller at once, including full pages on their way to flash; a write that needs another page
//!   waits. Locations are planes or dies, as far as the address determines the allocation. Own.
//! - `fill_awaited` (default `"at-once"`): the treatment of the map's open page when a request waits for its content:
//!   `"at-once"`, it is sent, and its rest is padded; `"waits"`, it waits to fill like any page. Own.

use super::fill::{Fill, FillAwaited, FillEnds, Given};
use super::{Parameters, STREAMS};
use crate::config::KeyError;
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// How long an open page waits for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_limit: Option<Nanos>,
    /// The point at which a write completes that waits for its page to fill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_ends: Option<FillEnds>,
    /// Pages in the controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_pages: Option<u32>,
    /// The handling of a map page for which a request waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_awaited: Option<FillAwaited>,
}

impl Params {
    fn given(&self) -> Given {
        let (limit, ends, pages) = (self.fill_limit, self.fill_ends, self.fill_pages);
        Given { limit, ends, pages, awaited: self.fill_awaited }
    }
}

impl Parameters for Params {
    fn open_block_of(&self) -> [u8; STREAMS] {
        [0, 1]
    }

    fn fill(&self) -> Option<Fill> {
        self.given().fill()
    }

    fn check(&self) -> Result<(), KeyError> {
        self.given().check()
    }
}
