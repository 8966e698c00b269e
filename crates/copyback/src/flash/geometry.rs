//! The drive's shape with every derived number, and the way from one index to another.
//!
//! Indices nest: planes of one die stand together, dies of one chip, chips of one channel. All divisors are fixed for
//! a run, so each step is a multiplication.

use crate::config::Device;
use crate::sim::fastdiv::FastDiv;
use crate::sim::index::{BlockId, ChannelId, DieId, PageId, PhysicalUnit, PlaneId};

/// Numbers that a run needs about its drive's shape. All `*_per_*` are counts.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Channels of the drive.
    pub channels: u32,
    /// Chips on a channel.
    pub chips_per_channel: u32,
    /// Dies in a chip.
    pub dies_per_chip: u32,
    /// Planes in a die.
    pub planes_per_die: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// Mapping units in a page.
    pub units_per_page: u32,
    /// Mapping units in a block.
    pub units_per_block: u32,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Dies of the drive.
    pub dies: u32,
    /// Planes of the drive.
    pub planes: u32,
    /// Blocks of the drive.
    pub blocks: u32,
    /// Places for mapping units in flash.
    pub physical_units: u32,
    /// Mapping units that the host sees.
    pub logical_units: u32,
    per_page: FastDiv,
    per_block: FastDiv,
    pages_in_block: FastDiv,
    blocks_in_plane: FastDiv,
    pages_in_plane: FastDiv,
    planes_in_die: FastDiv,
    dies_on_channel: FastDiv,
}

impl Geometry {
    /// The numbers of a checked device.
    ///
    /// # Panics
    /// When the configuration was not checked.
    pub fn new(device: &Device<'_>) -> Self {
        let g = device.geometry;
        g.check().expect("the configuration was checked");
        let dies = g.channels * g.chips_per_channel * g.dies_per_chip;
        let planes = dies * g.planes_per_die;
        let blocks = planes * g.blocks_per_plane;
        let units_per_page = g.units_per_page() as u32;
        let units_per_block = units_per_page * g.pages_per_block;
        let physical_units = blocks * units_per_block;
        let physical_bytes = u64::from(physical_units) * g.unit_bytes();
        let logical_bytes = device.capacity.logical_bytes(physical_bytes).expect("the configuration was checked");
        Self {
            channels: g.channels,
            chips_per_channel: g.chips_per_channel,
            dies_per_chip: g.dies_per_chip,
            planes_per_die: g.planes_per_die,
            blocks_per_plane: g.blocks_per_plane,
            pages_per_block: g.pages_per_block,
            units_per_page,
            units_per_block,
            unit_bytes: g.unit_bytes() as u32,
            dies,
            planes,
            blocks,
            physical_units,
            logical_units: (logical_bytes / g.unit_bytes()) as u32,
            per_page: FastDiv::new(units_per_page),
            per_block: FastDiv::new(units_per_block),
            pages_in_block: FastDiv::new(g.pages_per_block),
            blocks_in_plane: FastDiv::new(g.blocks_per_plane),
            pages_in_plane: FastDiv::new(g.blocks_per_plane * g.pages_per_block),
            planes_in_die: FastDiv::new(g.planes_per_die),
            dies_on_channel: FastDiv::new(g.chips_per_channel * g.dies_per_chip),
        }
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.unit_bytes * self.units_per_page
    }

    /// Bytes that the host sees.
    pub fn logical_bytes(&self) -> u64 {
        u64::from(self.logical_units) * u64::from(self.unit_bytes)
    }

    /// The page that holds a physical unit.
    #[inline(always)]
    pub fn page_of(&self, unit: PhysicalUnit) -> PageId {
        PageId(self.per_page.quotient(unit.0))
    }

    /// The block that holds a physical unit.
    #[inline(always)]
    pub fn block_of(&self, unit: PhysicalUnit) -> BlockId {
        BlockId(self.per_block.quotient(unit.0))
    }

    /// The block of a page and the page's offset in it.
    #[inline(always)]
    pub fn block_and_offset(&self, page: PageId) -> (BlockId, u32) {
        let (block, offset) = self.pages_in_block.div_rem(page.0);
        (BlockId(block), offset)
    }

    /// The plane of a block.
    #[inline(always)]
    pub fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId(self.blocks_in_plane.quotient(block.0))
    }

    /// The plane of a page.
    #[inline(always)]
    pub fn plane_of_page(&self, page: PageId) -> PlaneId {
        PlaneId(self.pages_in_plane.quotient(page.0))
    }

    /// The block's offset in its plane.
    #[inline(always)]
    pub fn block_offset(&self, block: BlockId) -> u32 {
        self.blocks_in_plane.div_rem(block.0).1
    }

    /// The die of a plane.
    #[inline(always)]
    pub fn die_of(&self, plane: PlaneId) -> DieId {
        DieId(self.planes_in_die.quotient(plane.0))
    }

    /// The plane's offset in its die.
    #[inline(always)]
    pub fn plane_offset(&self, plane: PlaneId) -> u32 {
        self.planes_in_die.div_rem(plane.0).1
    }

    /// The channel of a die.
    #[inline(always)]
    pub fn channel_of(&self, die: DieId) -> ChannelId {
        ChannelId(self.dies_on_channel.quotient(die.0))
    }

    /// First unit of a block.
    #[inline(always)]
    pub fn first_unit(&self, block: BlockId) -> PhysicalUnit {
        PhysicalUnit(block.0 * self.units_per_block)
    }

    /// First unit of a page.
    #[inline(always)]
    pub fn unit_of_page(&self, page: PageId) -> PhysicalUnit {
        PhysicalUnit(page.0 * self.units_per_page)
    }

    /// The planes of a die.
    #[inline(always)]
    pub fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = die.0 * self.planes_per_die;
        (first..first + self.planes_per_die).map(PlaneId)
    }
}
