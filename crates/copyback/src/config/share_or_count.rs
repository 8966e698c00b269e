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

impl ShareOrCount {
    /// The number of blocks, of `blocks` in all, rounded up.
    pub fn of(self, blocks: u32) -> u32 {
        match self {
            Self::Blocks(count) => count,
            Self::Share(share) => (share * f64::from(blocks)).ceil() as u32,
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
