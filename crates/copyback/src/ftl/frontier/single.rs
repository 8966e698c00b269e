//! One open block for each plane: host data and moved data share it.
//!
//! Source: the baseline of hpdc18 (Section 2.2: "for each plane, the FTL keeps one active block"); one frontier in the
//! write-amplification literature (Desnoyers 2014).
//!
//! Parameters:
//! - `hot_window` (default: none): hot and cold data go to separate blocks. Data of the host shares a block with moved
//!   units that the host wrote in this time window or the previous one; other moves have another block. Source: tpds20
//!   Section 6.5, 120 minutes; scale it like the workload's times. Much of a gain may come from a separate block for
//!   any moves: compare with windows so short that nothing is hot, or with `split`.
//! - `hot_updates` (default 1, at most 3): writes in a window that make a unit hot.
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

use super::Parameters;
use super::fill::FillRules;
use super::hot_cold::HotCold;
use super::shared_keys::frontier_params;
use crate::config::KeyError;

frontier_params! { {} hot fill }

impl Parameters for Params {
    fn hot_cold(&self) -> Option<HotCold> {
        self.hot_keys().hot_cold()
    }

    fn fill(&self) -> Option<FillRules> {
        self.fill_keys().fill()
    }

    fn check(&self) -> Result<(), KeyError> {
        self.fill_keys().check()?;
        self.hot_keys().check()
    }
}
