//! Frontier: which open block of its plane takes a page?
//!
//! Contract: a frontier says how many open blocks a plane keeps, and which of them takes data of an origin. It looks at
//! how far they are filled, and never changes the drive. One that lets the write points of a die's planes move together
//! (a superblock, beside a `granularity` that collects it as one) is a policy of this folder; none does yet.

pub mod second_active;
pub mod single;
pub mod split;

use crate::config::axis;

axis! {
    /// `[frontier]`
    FrontierConfig, "frontier", "which open block of that plane?", default Single,
    { "single" => single: Single, "split" => split: Split, "second-active" => second_active: SecondActive }
}

/// Where the data of a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Origin {
    /// The host.
    Host,
    /// Valid data that background work moves.
    Move,
}

/// Most open blocks that a plane can have.
pub const OPEN_BLOCKS_MAX: usize = 4;

/// A frontier: each origin's open block.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    open_block_of: [u8; 2],
    open_blocks: u8,
    second_active: Option<second_active::Unpaired>,
}

impl Frontier {
    /// The frontier that a configuration asks for.
    pub fn new(config: &FrontierConfig) -> Self {
        let open_block_of = match config {
            FrontierConfig::Single(_) => single::OPEN_BLOCK_OF,
            FrontierConfig::Split(_) => split::OPEN_BLOCK_OF,
            FrontierConfig::SecondActive(_) => second_active::OPEN_BLOCK_OF,
        };
        let second_active = match config {
            FrontierConfig::SecondActive(p) => Some(p.unpaired),
            FrontierConfig::Single(_) | FrontierConfig::Split(_) => None,
        };
        let open_blocks = open_block_of.iter().max().map_or(1, |most| most + 1);
        let open_blocks = open_blocks.max(1 + u8::from(second_active.is_some()));
        Self { open_block_of, open_blocks, second_active }
    }

    /// Whether both origins share two open blocks, which are chosen by how far they are filled.
    #[inline(always)]
    pub fn has_second_active(&self) -> bool {
        self.second_active.is_some()
    }

    /// Where programs without a partner go, with a second active block.
    #[inline]
    pub fn unpaired(&self) -> second_active::Unpaired {
        self.second_active.unwrap_or_default()
    }

    /// Which of the plane's open blocks takes data of this origin.
    #[inline(always)]
    pub fn open_block_of(&self, origin: Origin) -> usize {
        self.open_block_of[origin as usize] as usize
    }

    /// Open blocks of a plane.
    pub fn open_blocks(&self) -> usize {
        self.open_blocks as usize
    }
}

impl FrontierConfig {
    /// Open blocks of a plane.
    pub fn open_blocks(&self) -> u32 {
        Frontier::new(self).open_blocks() as u32
    }
}
