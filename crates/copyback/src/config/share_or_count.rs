//! A share or a count of blocks.

use serde::{Deserialize, Serialize};

/// A number of blocks: a share (`0.05`) or a count (`128`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ShareOrCount {
    /// A number of blocks.
    Blocks(u32),
    /// This share of the blocks, between 0 and 1.
    Share(f64),
}

/// Blocks by which a share of any number of blocks may exceed the exact product, because both are rounded.
const ROUNDING: f64 = 1e-6;

impl ShareOrCount {
    /// The number of blocks, of `blocks` in all, rounded up: 0.07 of 100 blocks are 7, although the product of the
    /// floating-point numbers is a little more.
    pub fn of(self, blocks: u32) -> u32 {
        match self {
            Self::Blocks(count) => count,
            Self::Share(share) => {
                let product = share * f64::from(blocks);
                // A share of less than a block is a block.
                ((product - ROUNDING).ceil() as u32).max(u32::from(product > 0.0))
            }
        }
    }

    /// Whether it is a count, or a share from 0 to below 1.
    pub fn is_possible(self) -> bool {
        match self {
            Self::Blocks(_) => true,
            Self::Share(share) => (0.0..1.0).contains(&share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_a_whole_number_of_blocks_is_that_number() {
        for blocks in [10, 100, 1_000, 100_000, 4_000_000_000] {
            for hundredths in 0..100 {
                let exact = (u64::from(blocks) * hundredths).div_ceil(100);
                let share: f64 = format!("0.{hundredths:02}").parse().expect("a number");
                assert_eq!(u64::from(ShareOrCount::Share(share).of(blocks)), exact, "0.{hundredths:02} of {blocks}");
            }
        }
    }
}
