//! Frontier: which open block of its plane takes a page?
//!
//! Contract: a frontier determines how many open blocks a plane keeps, and which of them takes the data of a stream. It
//! reads how far they are filled, and never changes the drive. A frontier that writes in rows advances the write points
//! of a die's planes together: to the translation layer, the drive then has another geometry (`flash::geometry`).

pub mod fill;
pub mod hot_cold;
pub mod row;
pub mod second_active;
mod shared_keys;
pub mod single;
pub mod split;
pub mod twin;

use crate::config::layers::Kept;
use crate::config::{KeyError, axis};
use fill::FillRules;
use hot_cold::HotCold;

/// Parameters that are kept if a higher layer chooses another of these policies: the filling of a drive's pages.
pub const KEPT: Kept = Kept {
    table: "frontier",
    policies: &["single", "split"],
    keys: &["fill_limit", "fill_ends", "fill_pages", "fill_awaited"],
};

/// The configuration of a frontier: see the module's contract.
pub trait Parameters {
    /// Which open block of a plane takes data of each stream. With two active blocks, only until a collection begins.
    fn open_block_of(&self) -> [u8; STREAMS] {
        [0; STREAMS]
    }
    /// The block of programs without a partner, if all streams share two open blocks that are chosen by how far they
    /// are filled.
    fn second_active(&self) -> Option<second_active::Unpaired> {
        None
    }
    /// The definition of hot data, if hot and cold data have separate blocks.
    fn hot_cold(&self) -> Option<HotCold> {
        None
    }
    /// The rules of filling pages, if small writes wait for each other.
    fn fill(&self) -> Option<FillRules> {
        None
    }
    /// Checks the values.
    fn check(&self) -> Result<(), KeyError> {
        Ok(())
    }
    /// Whether a program takes the next page of all planes of its die.
    fn is_in_rows(&self) -> bool {
        false
    }
    /// Whether the planes of a die open blocks of the same offsets.
    fn opens_twins(&self) -> bool {
        false
    }
}

/// Writes the registry: for each row its entry in the configuration and in the queries.
macro_rules! frontiers {
    ($( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[frontier]`
            FrontierConfig, "frontier", "which open block of a plane takes a page?", default Single,
            { $( $name => $module: $variant ),+ }
        }

        impl FrontierConfig {
            fn parameters(&self) -> &dyn Parameters {
                match self { $( Self::$variant(p) => p ),+ }
            }
        }
    };
}

frontiers! {
    "single" => single: Single,
    "split" => split: Split,
    "second-active" => second_active: SecondActive,
    "row" => row: Row,
    "twin" => twin: Twin,
}

/// Data of one kind, as a frontier may keep it apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stream {
    /// Data that the host writes.
    Host,
    /// Valid data that background work moves.
    Moved,
}

/// How many streams there are.
pub const STREAMS: usize = 2;

/// Most open blocks that a plane can have.
pub const OPEN_BLOCKS_MAX: usize = 4;

/// A frontier: each stream's open block.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    open_block_of: [u8; STREAMS],
    open_blocks: u8,
    second_active: Option<second_active::Unpaired>,
    hot_cold: Option<HotCold>,
}

impl Frontier {
    /// The frontier of a configuration.
    pub fn new(config: &FrontierConfig) -> Self {
        let (open_block_of, second_active) = (config.open_block_of(), config.parameters().second_active());
        let hot_cold = config.parameters().hot_cold();
        let open_blocks = open_block_of.iter().max().map_or(1, |most| most + 1);
        let open_blocks = open_blocks.max(1 + u8::from(second_active.is_some()));
        Self { open_block_of, open_blocks, second_active, hot_cold }
    }

    /// The definition of hot data, if hot and cold data have separate blocks.
    pub fn hot_cold(&self) -> Option<HotCold> {
        self.hot_cold
    }

    /// Whether all streams share two open blocks, which are chosen by how far they are filled.
    #[inline(always)]
    pub fn has_second_active(&self) -> bool {
        self.second_active.is_some()
    }

    /// The block of programs without a partner, with a second active block.
    #[inline]
    pub fn unpaired(&self) -> second_active::Unpaired {
        self.second_active.unwrap_or_default()
    }

    /// Which of the plane's open blocks takes data of this stream.
    #[inline(always)]
    pub fn open_block_of(&self, stream: Stream) -> usize {
        self.open_block_of[stream as usize] as usize
    }

    /// Open blocks of a plane.
    pub fn open_blocks(&self) -> usize {
        self.open_blocks as usize
    }
}

impl FrontierConfig {
    /// Checks the parameters.
    pub fn check(&self) -> Result<(), KeyError> {
        self.parameters().check()
    }

    /// Moved data has its own block if hot and cold are separated; moves of hot data go to the host's.
    fn open_block_of(&self) -> [u8; STREAMS] {
        if self.parameters().hot_cold().is_some() { [0, 1] } else { self.parameters().open_block_of() }
    }

    /// The rules of filling pages, if small writes wait for each other.
    pub fn fill(&self) -> Option<FillRules> {
        self.parameters().fill()
    }

    /// Whether planes have two active blocks.
    pub fn has_second_active(&self) -> bool {
        self.parameters().second_active().is_some()
    }

    /// Whether hot and cold data have blocks of their own.
    pub fn keeps_hot_apart(&self) -> bool {
        self.parameters().hot_cold().is_some()
    }

    /// Open blocks of a plane.
    pub fn open_blocks(&self) -> u32 {
        Frontier::new(self).open_blocks() as u32
    }

    /// Whether moves and host writes go to the same open block of a plane.
    pub fn shares_block(&self) -> bool {
        let p = self.parameters();
        p.second_active().is_none() && self.open_block_of().iter().all(|&block| block == self.open_block_of()[0])
    }

    /// Whether the planes of a die open blocks of the same offsets.
    pub fn opens_twins(&self) -> bool {
        self.parameters().opens_twins()
    }

    /// Whether a program takes the next page of all planes of its die.
    pub fn is_in_rows(&self) -> bool {
        self.parameters().is_in_rows()
    }
}
