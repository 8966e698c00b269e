//! What does each page of a small drive hold? A drive whose contents are written down block by block.

use crate::ftl::core::Ftl;
use crate::run::config::RunConfig;
use crate::sim::index::{BlockId, DieId, LogicalUnit, PlaneId};

/// A block's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Every page is valid.
    Full,
    /// All pages are programmed, and these are valid.
    Holds(&'static [u32]),
    /// The plane's open block: so many pages are programmed, and none is valid.
    Open(u32),
    /// Erased.
    Free,
}

/// A drive and the logical pages that its flash pages hold. Where an allocation binds a logical page to no plane, it is
/// said to be of one in turn.
pub struct Contents {
    /// The drive.
    pub ftl: Ftl,
    /// For each plane the logical pages of it that were not given out yet.
    unused: Vec<Vec<LogicalUnit>>,
    /// Plane, block and page of each valid page, and what it holds.
    held: Vec<((u32, u32, u32), LogicalUnit)>,
}

impl Contents {
    /// The drive of a configuration with these blocks, by plane and number. Its erased blocks are opened in the order
    /// of their numbers. Every block was erased once.
    ///
    /// # Panics
    /// Where the blocks do not fit the drive, or hold more than it has logical pages for.
    pub fn new(config: &RunConfig, planes: &[&[Block]]) -> Self {
        let ftl = Ftl::new(&config.ftl(), 1);
        let g = &ftl.geometry;
        assert_eq!((g.planes as usize, g.units_per_page), (planes.len(), 1), "every plane, one unit a page");
        let mut unused = vec![Vec::new(); planes.len()];
        for unit in (0..g.logical_units).rev().map(LogicalUnit) {
            unused[home_of(&ftl, unit).at()].push(unit);
        }
        let mut contents = Self { unused, held: Vec::new(), ftl };
        for (plane, blocks) in (0..).zip(planes) {
            assert_eq!(blocks.len(), contents.ftl.geometry.blocks_per_plane as usize, "blocks of plane {plane}");
            contents.fill_plane(plane, blocks);
        }
        contents.ftl.check_all().expect("the drive is in order");
        contents
    }

    fn fill_plane(&mut self, plane: u32, blocks: &[Block]) {
        // Written and erased once, blocks come to be opened in any order: full ones, the open one, those that stay
        // erased.
        let scratch = self.unused_unit(plane);
        let pages = self.ftl.geometry.pages_per_block;
        for _ in 0..blocks.len() as u32 * pages {
            self.ftl.write_page(PlaneId(plane), &[scratch], 0);
        }
        self.ftl.trim(scratch);
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|&block| match blocks[block] {
            Block::Full | Block::Holds(_) => 0,
            Block::Open(_) => 1,
            Block::Free => 2,
        });
        for &block in &order {
            let id = BlockId(plane * blocks.len() as u32 + block as u32);
            self.ftl.take_victim(id, &mut Vec::new());
            self.ftl.erase(id);
        }
        for block in order {
            let written = match blocks[block] {
                Block::Full | Block::Holds(_) => pages,
                Block::Open(written) => written,
                Block::Free => 0,
            };
            for page in 0..written {
                let is_valid = match blocks[block] {
                    Block::Full => true,
                    Block::Holds(valid) => valid.contains(&page),
                    Block::Open(_) | Block::Free => false,
                };
                let unit = if is_valid { self.unused_unit(plane) } else { scratch };
                self.ftl.write_page(PlaneId(plane), &[unit], 0);
                if is_valid {
                    self.held.push(((plane, block as u32, page), unit));
                }
            }
        }
        self.ftl.trim(scratch);
    }

    /// A logical page of a plane (see [`Contents`]) that holds nothing and was not given out before.
    ///
    /// # Panics
    /// Where the plane has none left.
    pub fn unused_unit(&mut self, plane: u32) -> LogicalUnit {
        self.unused[plane as usize].pop().expect("the plane has a logical page left")
    }

    /// What a flash page holds.
    ///
    /// # Panics
    /// Where it holds nothing.
    pub fn held_at(&self, plane: u32, block: u32, page: u32) -> LogicalUnit {
        let found = self.held.iter().find(|(place, _)| *place == (plane, block, page));
        found.unwrap_or_else(|| panic!("page {page} of block {block} of plane {plane} holds nothing")).1
    }
}

/// The plane that a logical page is written to, or one in turn of those that it may be written to.
fn home_of(ftl: &Ftl, unit: LogicalUnit) -> PlaneId {
    let g = &ftl.geometry;
    ftl.allocation().static_plane(unit).unwrap_or_else(|| {
        let die = ftl.allocation().static_die(unit).unwrap_or(DieId(unit.0 % g.dies));
        PlaneId(die.0 * g.planes_per_die + unit.0 / g.dies % g.planes_per_die)
    })
}
