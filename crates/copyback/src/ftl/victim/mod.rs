//! Victim: which block is collected?
//!
//! Contract: the engine notifies a policy when a block becomes a candidate ([`VictimPolicy::on_close`]), when such a
//! block loses a unit ([`VictimPolicy::on_invalidate`], after the count decreased), and when it is taken
//! ([`VictimPolicy::on_take`]). [`VictimPolicy::pick`] returns a candidate of the requested planes (one plane, or all
//! planes of a die, a channel or the drive), or none if there is none. The engine checks whether the collection of this
//! block frees a page. The policy may keep its own state and draw from its own random stream; it never changes the
//! drive. `on_*` take constant time.

pub mod cost_benefit;
pub mod d_choices;
pub mod fifo;
pub mod greedy;
pub mod plugin;
pub mod random;
pub mod read_match;
pub mod windowed_greedy;

use super::blocks::{Block, BlockState, Blocks};
use crate::config::{Device, KeyError, axis};
use crate::flash::geometry::Geometry;
use crate::sim::index::{BlockId, DieId, PlaneId};
use copyback_workload::rng;
use enum_dispatch::enum_dispatch;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Planes that follow each other: one, or all of a die, a channel or a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneRange {
    first: u32,
    count: u32,
}

impl PlaneRange {
    /// One plane.
    #[inline(always)]
    pub fn one(plane: PlaneId) -> Self {
        Self { first: plane.0, count: 1 }
    }

    /// The planes of a die.
    pub fn of_die(geometry: &Geometry, die: DieId) -> Self {
        Self { first: die.0 * geometry.planes_per_die, count: geometry.planes_per_die }
    }

    /// The planes of a die's channel.
    pub fn of_channel(geometry: &Geometry, die: DieId) -> Self {
        let count = geometry.planes_per_channel();
        Self { first: geometry.channel_of(die).0 * count, count }
    }

    /// All planes of a drive.
    pub fn all(geometry: &Geometry) -> Self {
        Self { first: 0, count: geometry.planes }
    }

    /// The first of them.
    pub fn first(self) -> PlaneId {
        PlaneId(self.first)
    }

    /// How many they are.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Each of them.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = PlaneId> {
        (self.first..self.first + self.count).map(PlaneId)
    }

    /// Whether a plane is one of them.
    pub fn has(self, plane: PlaneId) -> bool {
        (self.first..self.first + self.count).contains(&plane.0)
    }
}

/// The view of a policy.
#[derive(Clone, Copy)]
pub struct VictimView<'a> {
    /// All blocks.
    pub blocks: &'a Blocks,
    /// The planes to choose from.
    pub planes: PlaneRange,
    /// The caller's stamp: the number of units written so far.
    pub now: u64,
    /// Page offsets of the reads that wait for other planes of the die, each once, if the policy requests them.
    pub read_offsets: &'a [u32],
    /// One bit for each physical unit: whether it is valid.
    pub valid: &'a [u64],
    /// The drive's shape.
    pub geometry: &'a Geometry,
}

impl<'a> VictimView<'a> {
    /// All blocks of the requested planes, including blocks that are no candidates.
    #[inline(always)]
    pub fn all_blocks(self) -> impl Iterator<Item = (BlockId, &'a Block)> {
        let per_plane = self.blocks.per_plane();
        let (first, count) = (self.planes.first * per_plane, self.planes.count * per_plane);
        (first..first + count).map(BlockId).zip(self.blocks.run(BlockId(first), count))
    }

    /// The full blocks: the candidates.
    #[inline(always)]
    pub fn full_blocks(self) -> impl Iterator<Item = (BlockId, &'a Block)> {
        self.all_blocks().filter(|(_, block)| block.state == BlockState::Closed)
    }

    /// Whether a page of a block holds valid data.
    pub fn is_page_valid(&self, block: BlockId, page_offset: u32) -> bool {
        let start = self.geometry.first_unit(block).0 + page_offset * self.geometry.units_per_page;
        (start..start + self.geometry.units_per_page)
            .any(|unit| self.valid[(unit / 64) as usize] >> (unit % 64) & 1 == 1)
    }
}

/// See the module's contract.
#[enum_dispatch]
pub trait VictimPolicy {
    /// A block is full.
    fn on_close(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId);
    /// A full block lost a valid unit.
    fn on_invalidate(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId);
    /// A full block was chosen.
    fn on_take(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId);
    /// Fetches what [`VictimPolicy::on_invalidate`] will touch for a block into the processor's cache.
    fn prefetch(&self, _block: BlockId) {}
    /// Which of the planes' full blocks to collect.
    fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId>;
    /// Whether it reads [`VictimView::read_offsets`].
    fn matches_reads(&self) -> bool {
        false
    }
    /// How long the controller took for the last choice.
    fn choice_ns(&self) -> u64 {
        0
    }
}

/// The configuration of a policy.
pub trait Parameters {
    /// Checks the values against the device.
    fn check(&self, _device: &Device<'_>) -> Result<(), KeyError> {
        Ok(())
    }
}

/// Writes the registry: of each row its place in the configuration, in the run-time enum and in the checks.
macro_rules! victims {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[victim]`
            VictimConfig, "victim", "which block is collected?", default Greedy,
            { $( $name => $module: $variant ),+ }
        }

        impl VictimConfig {
            /// Checks the parameters.
            pub fn check(&self, device: &Device<'_>) -> Result<(), KeyError> {
                match self { $( Self::$variant(p) => p.check(device) ),+ }
            }
        }

        /// The policy of a run.
        $hash $dispatch
        #[derive(Clone)]
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum Victim { $( $variant($module::Policy) ),+ }

        impl Victim {
            /// The policy of a configuration.
            pub fn new(config: &VictimConfig, geometry: &Geometry, seed: u64) -> Self {
                match config { $( VictimConfig::$variant(p) => Self::$variant($module::Policy::new(p, geometry, seed)) ),+ }
            }
        }
    };
}

victims! {
    #[enum_dispatch(VictimPolicy)]
    "greedy" => greedy: Greedy,
    "cost-benefit" => cost_benefit: CostBenefit,
    "d-choices" => d_choices: DChoices,
    "windowed-greedy" => windowed_greedy: WindowedGreedy,
    "random" => random: Random,
    "fifo" => fifo: Fifo,
    "read-match" => read_match: ReadMatch,
    "plugin" => plugin: Plugin,
}

/// Draws full blocks, each as likely as the other. Nearly all blocks of a drive in use are full, so a draw
/// from all blocks that is repeated until it hits a full one ends soon.
#[derive(Clone)]
struct Draw {
    stream: Xoshiro256PlusPlus,
}

impl Draw {
    fn new(seed: u64) -> Self {
        Self { stream: rng::stream(seed, "ftl.victim") }
    }

    /// A full block, or none.
    fn full_block(&mut self, view: VictimView<'_>) -> Option<BlockId> {
        let per_plane = view.blocks.per_plane();
        let (first, count) = (view.planes.first * per_plane, view.planes.count * per_plane);
        for _ in 0..64 * u64::from(count) {
            let block = BlockId(first + self.stream.random_range(0..count));
            if view.blocks[block].state == BlockState::Closed {
                return Some(block);
            }
        }
        // If a candidate exists, this is so unlikely (below e^-64) that a scan of all blocks costs nothing on average.
        view.full_blocks().next().map(|(block, _)| block)
    }
}
