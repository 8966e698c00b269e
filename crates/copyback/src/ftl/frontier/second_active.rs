//! Two active blocks a plane: when collection starts on a die, all its planes get a fresh one, so that programs of the host
//! on other planes can go with those of collection.
//!
//! Source: hpdc18 Section 4.2, Fig. 7a. A multi-plane program needs the same page offset on all its planes. With fresh
//! blocks on the plane that collects and on its partners, offsets agree from the first program on, for as long as every
//! program of the round finds a partner; a program that finds none leaves the partners behind (Fig. 6c).
//!
//! A plane has at most two open blocks. Where it has two already, or no free block to spare, the round takes the pair of
//! open blocks whose offsets are closest, one that lags behind its partner before one that is ahead, for it catches up
//! (Fig. 6b). Between rounds the host fills the fuller block first.
//!
//! ```text
//! plane 0  GC     W0 W1 W2 ...     fresh block
//! plane 1  host   a  b  c          fresh block: the same offsets
//! ```
//!
//! Parameters: none.

use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// Host and moved data, while no round has chosen.
pub(super) const OPEN_BLOCK_OF: [u8; 2] = [0, 0];

/// How badly a partner's open block at page offset `partner` suits a round that programs from offset `own` on: a partner
/// that is ahead is caught up with, one that is behind never (Fig. 6).
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
