//! Two active blocks for each plane. The second is for programs of collection that are paired with programs of the host
//! on other planes, so that their offsets agree.
//!
//! Source: hpdc18 Section 4.2, Fig. 7a. A multi-plane program needs the same page offset on all its planes. When a
//! collection starts, its plane and its partners (the planes that can share its commands) open erased blocks as second
//! blocks, so that their offsets agree.
//! "While the first active block works the same as the baseline, the second active block helps us keep every GC write
//! aligned with an I/O write request in the queue" (Section 1). Paired pages, of the collection and of the host,
//! therefore go to the second blocks, and all other pages to the first, so that the second blocks stay aligned until
//! they are full.
//!
//! A plane has at most two open blocks. If open blocks of two planes have equal offsets when a collection starts, it
//! uses this pair. If no offsets are equal and its plane has two open blocks already, it uses the pair with the closest
//! offsets; a partner's block that is ahead of the collection is preferred to one behind, because the collection
//! catches up (Fig. 6). With four planes, a second block may fall behind; pages that are programmed alone then go to it
//! until it has caught up.
//!
//! ```text
//! plane 0  GC     W0 W1    W2      W1 finds no write that waits: it goes to the first block
//! plane 1  host   a        b       a and b have the offsets of W0 and W2
//! ```
//!
//! Parameters:
//! - `unpaired` (default `"other"`): the block for a collection's pages without a partner: `"other"`, the first block;
//!   `"same"`, the second block, as in a literal reading of Algorithm 2: the partners fall behind at the first program
//!   without a partner, and nothing is paired for the rest of the collection (Fig. 6c).
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
use super::shared_keys::frontier_params;
use crate::config::KeyError;
use serde::{Deserialize, Serialize};

frontier_params! {
    {
        /// The block for a collection's pages without a partner.
        pub unpaired: Unpaired,
    }
    fill
}

/// The block for a collection's pages without a partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unpaired {
    /// The plane's first open block.
    #[default]
    Other,
    /// The block set apart for paired programs.
    Same,
}

impl Parameters for Params {
    fn second_active(&self) -> Option<Unpaired> {
        Some(self.unpaired)
    }

    fn fill(&self) -> Option<FillRules> {
        self.fill_keys().fill()
    }

    fn check(&self) -> Result<(), KeyError> {
        self.fill_keys().check()
    }
}

/// How badly a partner's open block at page offset `partner` suits a collection that programs from offset `own` on. The
/// collection catches up with a partner that is ahead; a partner that is behind never catches up (Fig. 6).
pub(in crate::ftl) fn misfit(own: u32, partner: u32) -> (bool, u32) {
    (partner < own, own.abs_diff(partner))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// hpdc18 Fig. 6: aligned before catching up before never.
    #[test]
    fn partners_that_can_be_caught_up_with_suit_best() {
        let mut offsets = [3, 9, 5, 4];
        offsets.sort_by_key(|&partner| misfit(4, partner));
        assert_eq!(offsets, [4, 5, 9, 3]);
    }
}
