//! The contents of a small drive, described block by block.

use crate::ftl::core::Ftl;
use crate::ftl::frontier::Stream;
use crate::run::config::RunConfig;
use crate::sim::index::{BlockId, DieId, LogicalUnit, PlaneId};

/// A block's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Every page is valid.
    Full,
    /// All pages are programmed, and these are valid.
    Holds(&'static [u32]),
    /// The plane's open block: this many pages are programmed, and none is valid.
    Open(u32),
    /// Erased.
    Free,
}

impl Block {
    /// Full blocks are filled before the open one; blocks that stay erased come last.
    fn place_in_life(self) -> u32 {
        match self {
            Self::Full | Self::Holds(_) => 0,
            Self::Open(_) => 1,
            Self::Free => 2,
        }
    }

    /// Programmed pages, out of a number of pages.
    fn written(self, pages: u32) -> u32 {
        match self {
            Self::Full | Self::Holds(_) => pages,
            Self::Open(written) => written,
            Self::Free => 0,
        }
    }

    /// Whether a page is valid.
    fn holds(self, page: u32) -> bool {
        match self {
            Self::Full => true,
            Self::Holds(valid) => valid.contains(&page),
            Self::Open(_) | Self::Free => false,
        }
    }
}

/// A drive and the logical pages that its flash pages hold. If an allocation binds a logical page to no plane, it is
/// assigned to planes in rotation.
pub struct Contents {
    /// The drive.
    pub ftl: Ftl,
    /// Logical pages that were not given out yet, by plane as the translation layer sees planes; of superpages the
    /// first page.
    unused: Vec<Vec<LogicalUnit>>,
    /// Plane, block and page of each valid page, and its content.
    held: Vec<((u32, u32, u32), LogicalUnit)>,
}

impl Contents {
    /// The drive of a configuration with these blocks, by plane and number. Its erased blocks are opened in the order
    /// of their numbers. Every block was erased once. If the drive is written in rows, the blocks of one number on the
    /// planes of a die are filled together.
    ///
    /// # Panics
    /// If the blocks do not fit the drive, or hold more than it has logical pages for; if the blocks of a row have
    /// different numbers of programmed pages.
    pub fn new(config: &RunConfig, planes: &[&[Block]]) -> Self {
        let ftl = Ftl::new(&config.ftl(), 1);
        let g = &ftl.geometry;
        let row_planes = g.row_planes as usize;
        let shape = (g.planes as usize * row_planes, g.units_per_flash_page);
        assert_eq!(shape, (planes.len(), 1), "every plane, one unit a page");
        let mut unused = vec![Vec::new(); g.planes as usize];
        let units_together = if g.has_superpages() { g.units_per_logical_page } else { 1 };
        for unit in (0..g.logical_units).step_by(units_together as usize).map(LogicalUnit).rev() {
            unused[home_of(&ftl, unit).at()].push(unit);
        }
        let mut contents = Self { unused, held: Vec::new(), ftl };
        let rows: Vec<&[&[Block]]> = planes.chunks(row_planes).collect();
        let scratch: Vec<LogicalUnit> = (0..rows.len() as u32).map(|plane| contents.wear(plane, &rows)).collect();
        // Block by block, so that planes which open the same rows do so here.
        for at in 0..contents.ftl.geometry.blocks_per_plane as usize {
            for (plane, row) in (0..).zip(&rows) {
                contents.fill(plane, in_order_of_filling(row)[at], row, scratch[plane as usize]);
            }
        }
        scratch.into_iter().for_each(|unit| {
            contents.ftl.trim(unit);
        });
        contents.ftl.check_all().expect("the drive is in order");
        contents
    }

    /// Writes and erases all blocks of a plane, so that they can be opened in any order. Returns the unit that was
    /// written, which no request uses.
    fn wear(&mut self, plane: u32, rows: &[&[&[Block]]]) -> LogicalUnit {
        let row = rows[plane as usize];
        let blocks = self.ftl.geometry.blocks_per_plane;
        assert!(row.iter().all(|of_plane| of_plane.len() == blocks as usize), "blocks of plane {plane}");
        let scratch = self.unused_unit(plane);
        for _ in 0..blocks * self.ftl.geometry.pages_per_block {
            self.program(plane, &[scratch]);
        }
        self.ftl.trim(scratch);
        for block in in_order_of_filling(row) {
            let id = BlockId(plane * blocks + block as u32);
            self.ftl.take_victim(id, &mut Vec::new());
            self.ftl.erase(id);
        }
        scratch
    }

    /// Fills a block. `row`: the blocks of each plane that is filled with this one; without rows, only of this one.
    fn fill(&mut self, plane: u32, block: usize, row: &[&[Block]], scratch: LogicalUnit) {
        let pages = self.ftl.geometry.pages_per_block;
        let written = row[0][block].written(pages);
        assert!(row.iter().all(|blocks| blocks[block].written(pages) == written), "row {block} is filled as one");
        for page in 0..written {
            self.write(plane, (block, page), row, scratch);
        }
    }

    /// Writes a page of a block, or of all blocks of a row.
    fn write(&mut self, plane: u32, (block, page): (usize, u32), row: &[&[Block]], scratch: LogicalUnit) {
        let is_valid = |at: &usize| row[*at][block].holds(page);
        let first = (0..row.len()).any(|at| is_valid(&at)).then(|| self.unused_unit(plane));
        let units: Vec<Option<LogicalUnit>> = if self.ftl.geometry.has_superpages() {
            let of_superpage = |at: usize| first.map(|first| LogicalUnit(first.0 + at as u32));
            (0..row.len()).map(|at| of_superpage(at).filter(|_| is_valid(&at))).collect()
        } else {
            let mut first = first;
            let mut next = || first.take().unwrap_or_else(|| self.unused_unit(plane));
            (0..row.len()).map(|at| is_valid(&at).then(&mut next)).collect()
        };
        for (at, unit) in units.iter().enumerate().filter_map(|(at, unit)| Some((at, (*unit)?))) {
            self.held.push(((plane * row.len() as u32 + at as u32, block as u32, page), unit));
        }
        if self.ftl.geometry.has_superpages() {
            let nothing = first.is_none().then_some(scratch);
            let valid: Vec<LogicalUnit> = units.into_iter().flatten().chain(nothing).collect();
            self.program(plane, &valid);
        } else {
            let all: Vec<LogicalUnit> = units.into_iter().map(|unit| unit.unwrap_or(scratch)).collect();
            self.program(plane, &all);
        }
    }

    /// Programs a page, or the row of a superpage.
    fn program(&mut self, plane: u32, units: &[LogicalUnit]) {
        if self.ftl.geometry.has_superpages() {
            let write_point = self.ftl.write_point(PlaneId(plane), Stream::Host);
            self.ftl.write_superpage((PlaneId(plane), write_point), units[0], units, 0, 0);
        } else {
            self.ftl.write_page(PlaneId(plane), units, 0);
        }
    }

    /// A logical page of a plane (see [`Contents`]) that holds nothing and was not given out before.
    ///
    /// # Panics
    /// If the plane has none left.
    pub fn unused_unit(&mut self, plane: u32) -> LogicalUnit {
        self.unused[plane as usize].pop().expect("the plane has a logical page left")
    }

    /// The contents of a flash page.
    ///
    /// # Panics
    /// If it holds nothing.
    pub fn held_at(&self, plane: u32, block: u32, page: u32) -> LogicalUnit {
        let found = self.held.iter().find(|(place, _)| *place == (plane, block, page));
        found.unwrap_or_else(|| panic!("page {page} of block {block} of plane {plane} holds nothing")).1
    }
}

/// The plane that a logical page is written to, or the next in rotation of the possible planes.
fn home_of(ftl: &Ftl, unit: LogicalUnit) -> PlaneId {
    let g = &ftl.geometry;
    ftl.allocation().static_plane(unit).unwrap_or_else(|| {
        let die = ftl.allocation().static_die(unit).unwrap_or(DieId(unit.0 % g.dies));
        PlaneId(die.0 * g.planes_per_die + unit.0 / g.dies % g.planes_per_die)
    })
}

/// The blocks of a plane in the order in which they are filled: full blocks, the open block, blocks that stay erased.
fn in_order_of_filling(row: &[&[Block]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..row[0].len()).collect();
    order.sort_by_key(|&block| row[0][block].place_in_life());
    order
}
