//! The drive's shape: its numbers, derived numbers, and conversions between indices.
//!
//! Indices nest: planes of one die are contiguous, as are dies of one chip and chips of one channel. All divisors are
//! fixed for a run, so each step is a multiplication.
//!
//! A translation layer that writes in rows (the next page of all planes of a die at once) uses another geometry than
//! the flash: one plane in each die, whose pages are rows and whose blocks are the blocks of one offset on all planes
//! ([`Geometry::in_rows`]). Units are numbered along a row, so that the pages of a row are contiguous. Flash does not
//! know rows: [`Geometry::flash_page`] and [`Geometry::flash_page_of`] translate for it.

use super::stripes::Stripes;
use crate::config::{Device, GeometryConfig};
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
    /// Mapping units that the map knows: first the host's, then hidden units of the drive itself.
    pub mapped_units: u32,
    /// The layout of stripes, if there is parity: its units follow the host's.
    pub stripes: Option<Stripes>,
    /// Flash planes in a plane of this shape: 1, or all planes of a die if it is in rows.
    pub row_planes: u32,
    /// Mapping units in a page of the flash.
    pub units_per_flash_page: u32,
    /// Mapping units of consecutive addresses that are placed, buffered and written together.
    pub units_per_logical_page: u32,
    per_flash_page: FastDiv,
    planes_in_row: FastDiv,
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
        Self::of_shape(device, device.geometry, 1)
    }

    /// The geometry of a drive that is written in rows.
    ///
    /// # Panics
    /// When the configuration was not checked, or a row has more units than a page may.
    pub fn in_rows(device: &Device<'_>) -> Self {
        Self::of_shape(device, &device.geometry.in_rows(), device.geometry.planes_per_die)
    }

    fn of_shape(device: &Device<'_>, g: &GeometryConfig, row_planes: u32) -> Self {
        g.check().expect("the configuration was checked");
        let dies = g.channels * g.chips_per_channel * g.dies_per_chip;
        let planes = dies * g.planes_per_die;
        let blocks = planes * g.blocks_per_plane;
        let units_per_page = g.units_per_page() as u32;
        let units_per_block = units_per_page * g.pages_per_block;
        let physical_units = blocks * units_per_block;
        let physical_bytes = u64::from(physical_units) * g.unit_bytes();
        let logical_bytes = device.capacity.logical_bytes(physical_bytes).expect("the configuration was checked");
        let logical_units = (logical_bytes / g.unit_bytes()) as u32;
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
            logical_units,
            mapped_units: logical_units,
            stripes: None,
            row_planes,
            units_per_flash_page: units_per_page / row_planes,
            units_per_logical_page: units_per_page / row_planes,
            per_flash_page: FastDiv::new(units_per_page / row_planes),
            planes_in_row: FastDiv::new(row_planes),
            per_page: FastDiv::new(units_per_page),
            per_block: FastDiv::new(units_per_block),
            pages_in_block: FastDiv::new(g.pages_per_block),
            blocks_in_plane: FastDiv::new(g.blocks_per_plane),
            pages_in_plane: FastDiv::new(g.blocks_per_plane * g.pages_per_block),
            planes_in_die: FastDiv::new(g.planes_per_die),
            dies_on_channel: FastDiv::new(g.chips_per_channel * g.dies_per_chip),
        }
    }

    /// The same with parity behind the host's units.
    #[must_use]
    pub fn with_stripes(mut self) -> Self {
        let stripes = Stripes::new(&self);
        (self.mapped_units, self.stripes) = (stripes.end(), Some(stripes));
        self
    }

    /// The same with a number of map units that follow those of the host and of parity: they are placed, moved and
    /// invalidated like data.
    #[must_use]
    pub fn with_map_units(mut self, units: u32) -> Self {
        self.mapped_units = self.first_map_unit() + units;
        self
    }

    /// The first unit of the map, behind those of the host and of parity.
    pub fn first_map_unit(&self) -> u32 {
        self.stripes.map_or(self.logical_units, |stripes| stripes.end())
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.unit_bytes * self.units_per_page
    }

    /// Bytes that the host sees.
    pub fn logical_bytes(&self) -> u64 {
        u64::from(self.logical_units) * u64::from(self.unit_bytes)
    }

    /// Whether a page begins at this unit of a block.
    #[inline(always)]
    pub fn begins_page(&self, unit_offset: u32) -> bool {
        self.per_page.div_rem(unit_offset).1 == 0
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

    /// Planes on a channel, which follow each other.
    pub fn planes_per_channel(&self) -> u32 {
        self.planes / self.channels
    }

    /// The first plane of a die.
    #[inline(always)]
    pub fn first_plane(&self, die: DieId) -> PlaneId {
        PlaneId(die.0 * self.planes_per_die)
    }

    /// The planes of a die.
    #[inline(always)]
    pub fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = die.0 * self.planes_per_die;
        (first..first + self.planes_per_die).map(PlaneId)
    }

    // ---- in rows ----------------------------------------------------------------------------------------------------

    /// Whether this is a shape in rows.
    #[inline(always)]
    pub fn is_in_rows(&self) -> bool {
        self.row_planes > 1
    }

    /// The geometry of a drive whose logical pages are as large as rows.
    #[must_use]
    pub fn with_superpages(mut self) -> Self {
        self.units_per_logical_page = self.units_per_page;
        self
    }

    /// Whether each row is one logical page, which is always written whole.
    #[inline(always)]
    pub fn has_superpages(&self) -> bool {
        self.is_in_rows() && self.units_per_logical_page == self.units_per_page
    }

    /// Logical pages in a page of this shape: one for each flash plane of a row, or one if each row is one.
    pub fn logical_pages_per_page(&self) -> u32 {
        self.units_per_page / self.units_per_logical_page
    }

    /// The fewest mapping units that are written together: those of a superpage, otherwise one.
    pub fn units_per_write(&self) -> u32 {
        if self.has_superpages() { self.units_per_logical_page } else { 1 }
    }

    /// Whether a row holds pages of any addresses.
    #[inline(always)]
    pub fn shares_rows(&self) -> bool {
        self.is_in_rows() && !self.has_superpages()
    }

    /// The page of the flash that holds a physical unit.
    #[inline(always)]
    pub fn flash_page(&self, unit: PhysicalUnit) -> PageId {
        if self.is_in_rows() { self.flash_page_in_row(unit) } else { self.page_of(unit) }
    }

    #[inline(never)]
    fn flash_page_in_row(&self, unit: PhysicalUnit) -> PageId {
        let (row, plane) = self.planes_in_row.div_rem(self.per_flash_page.quotient(unit.0));
        self.flash_page_of(PageId(row), plane)
    }

    /// The flash page that belongs to a page of this shape, on plane `row_plane` of its row.
    pub fn flash_page_of(&self, page: PageId, row_plane: u32) -> PageId {
        let (block, offset) = self.block_and_offset(page);
        PageId(self.flash_block_of(block, row_plane).0 * self.pages_per_block + offset)
    }

    /// The block of the flash that is a part of a block in rows.
    pub fn flash_block_of(&self, block: BlockId, row_plane: u32) -> BlockId {
        let (plane, offset) = self.blocks_in_plane.div_rem(block.0);
        BlockId((plane * self.row_planes + row_plane) * self.blocks_per_plane + offset)
    }

    /// The plane of the flash that is a part of a plane in rows.
    #[inline(always)]
    pub fn flash_plane_of(&self, plane: PlaneId, row_plane: u32) -> PlaneId {
        PlaneId(plane.0 * self.row_planes + row_plane)
    }

    /// The plane of this shape that a plane of the flash belongs to.
    #[inline(always)]
    pub fn plane_of_flash(&self, plane: PlaneId) -> PlaneId {
        PlaneId(self.planes_in_row.quotient(plane.0))
    }

    /// The first physical unit of a page of the flash.
    pub fn unit_of_flash_page(&self, page: PageId) -> PhysicalUnit {
        let (block, offset) = self.block_and_offset(page);
        let (plane, block_offset) = self.blocks_in_plane.div_rem(block.0);
        let (plane, row_plane) = self.planes_in_row.div_rem(plane);
        let row = (plane * self.blocks_per_plane + block_offset) * self.pages_per_block + offset;
        PhysicalUnit((row * self.row_planes + row_plane) * self.units_per_flash_page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::config::RunConfig;

    fn config(planes_per_die: u32, mapping_unit: &str) -> RunConfig {
        let text = format!(
            r#"
            capacity = {{ reserved = 0.2 }}
            timing = {{ read = "1 us", program = "1 us", erase = "1 us", channel = "1 MB/s" }}
            geometry = {{ channels = 2, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = {planes_per_die}, blocks_per_plane = 8, pages_per_block = 4, page_size = "16 KiB", mapping_unit = "{mapping_unit}" }}
            "#
        );
        crate::config::from_toml(&text).expect("a configuration")
    }

    /// Every unit in rows is in one page of the flash, each page of the flash holds its full number of units, and the
    /// pages of a row have one offset on the planes of one die.
    #[test]
    fn rows_are_the_same_pages_in_another_order() {
        for (planes, unit) in [(1, "16 KiB"), (2, "16 KiB"), (2, "4 KiB"), (4, "8 KiB")] {
            let config = config(planes, unit);
            let (flash, rows) = (Geometry::new(&config.device()), Geometry::in_rows(&config.device()));
            assert_eq!((rows.physical_units, rows.logical_units), (flash.physical_units, flash.logical_units));
            assert_eq!((rows.planes, rows.row_planes), (flash.dies, planes));
            let mut units_of = vec![0; (flash.physical_units / flash.units_per_page) as usize];
            for unit in (0..rows.physical_units).map(PhysicalUnit) {
                let page = rows.flash_page(unit);
                units_of[page.at()] += 1;
                let first = rows.unit_of_flash_page(page);
                assert!((first.0..first.0 + flash.units_per_page).contains(&unit.0), "{unit:?} of {page:?}");
                let (block, offset) = flash.block_and_offset(page);
                let (row_block, row_offset) = rows.block_and_offset(rows.page_of(unit));
                assert_eq!((flash.block_offset(block), offset), (rows.block_offset(row_block), row_offset));
                assert_eq!(flash.die_of(flash.plane_of(block)), rows.die_of(rows.plane_of(row_block)));
                assert_eq!(rows.plane_of_flash(flash.plane_of(block)), rows.plane_of(row_block));
            }
            assert!(units_of.iter().all(|&units| units == flash.units_per_page));
        }
    }
}
