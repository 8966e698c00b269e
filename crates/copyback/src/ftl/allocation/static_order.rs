//! The plane is a function of the logical page's number: consecutive pages rotate over channels, chips (W, ways), dies
//! and planes in a stated order, whose first letter changes fastest.
//!
//! Source: hpdc18 Table 1 (CWDP), tpds20 Section 5.1 (channel-chip-die-plane); the 24 orders of Jung and Kandemir 2012.
//!
//! With parity, pages are numbered by group of stripes, then by channel; the order must begin with C. All members of a
//! stripe are then on the same chip, die and plane of their channels (`redundancy`). When the rotation of parity over
//! channels and that of pages over a channel's planes end together, each channel skips one plane. So all planes get
//! the same number of parity pages, which are overwritten more often than data.
//!
//! Parameters:
//! - `order` (default `"CWDP"`): each of the letters C, W, D, P once.

use super::PagePlacement;
use crate::config::KeyError;
use crate::flash::geometry::Geometry;
use crate::flash::stripes::Stripes;
use crate::sim::fastdiv::FastDiv;
use crate::sim::index::{LogicalUnit, PlaneId};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Letters C, W, D, P, fastest first.
    pub order: String,
}

impl Default for Params {
    fn default() -> Self {
        Self { order: "CWDP".into() }
    }
}

impl Params {
    /// Whether consecutive pages are on different channels.
    pub fn begins_with_channels(&self) -> bool {
        self.order.starts_with('C')
    }
}

/// The four digits, fastest first: 0 channel, 1 chip, 2 die, 3 plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order([usize; 4]);

impl std::str::FromStr for Order {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let digits: Vec<usize> = text.chars().filter_map(|c| "CWDP".find(c)).collect();
        let mut sorted = digits.clone();
        sorted.sort_unstable();
        if text.len() != 4 || sorted != [0, 1, 2, 3] {
            return Err(KeyError::new(
                "allocation.order",
                format!("`{text}` is no order of channel, way, die and plane"),
            )
            .with_help("use each of the letters C, W, D and P once, for example \"CWDP\""));
        }
        Ok(Self(digits.try_into().expect("there are four")))
    }
}

/// The policy.
#[derive(Clone, Debug)]
pub struct StaticOrder {
    units_per_page: FastDiv,
    planes: FastDiv,
    /// The destination of pages, by the residue of the logical page's number.
    place_of: Vec<PagePlacement>,
    /// Per residue, its index among its plane's pages of one rotation: a plane that is a row of planes has several.
    rank_of: Vec<u32>,
    /// For each page of a plane in one rotation, its residue.
    residue_of: Vec<u32>,
    row_planes: u32,
    stripes: Option<Striped>,
    geometry: Geometry,
}

/// The numbering of pages, if there is parity.
#[derive(Clone, Debug)]
struct Striped {
    stripes: Stripes,
    /// Pages after which the rotations of parity and of a channel's planes start together again.
    pages_per_turn: FastDiv,
}

impl Striped {
    fn new(stripes: Stripes, planes: u32) -> Self {
        let (members, of_channel) = (stripes.members(), planes / stripes.members());
        let groups = (1..).find(|turns| turns * members % of_channel == 0).expect("there is a plane") * members;
        Self { stripes, pages_per_turn: FastDiv::new(groups * members) }
    }

    #[inline]
    fn page(&self, unit: LogicalUnit) -> u32 {
        let page = self.stripes.page_of(unit).0;
        page + self.pages_per_turn.quotient(page) * self.stripes.members()
    }
}

impl StaticOrder {
    /// The policy for a drive.
    ///
    /// # Panics
    /// When the order was not checked.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        let Order(order) = params.order.parse().expect("the configuration was checked");
        // A logical page as large as a row takes all planes of its die.
        let row_planes = geometry.logical_pages_per_page();
        let planes_per_die = geometry.planes_per_die * row_planes;
        let counts = [geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip, planes_per_die];
        let plane_of = |page: u32| {
            let (mut rest, mut digit) = (page, [0; 4]);
            for part in order {
                digit[part] = rest % counts[part];
                rest /= counts[part];
            }
            ((digit[0] * counts[1] + digit[1]) * counts[2] + digit[2]) * counts[3] + digit[3]
        };
        let planes = geometry.planes * row_planes;
        let flash_planes: Vec<u32> = (0..planes).map(plane_of).collect();
        let place_of = |plane| PagePlacement { die: geometry.die_of(plane), plane };
        let mut residue_of = vec![0; planes as usize];
        flash_planes.iter().zip(0..).for_each(|(&plane, residue)| residue_of[plane as usize] = residue);
        Self {
            units_per_page: FastDiv::new(geometry.units_per_logical_page),
            planes: FastDiv::new(planes),
            place_of: flash_planes.iter().map(|plane| place_of(PlaneId(plane / row_planes))).collect(),
            rank_of: flash_planes.iter().map(|plane| plane % row_planes).collect(),
            residue_of,
            row_planes,
            stripes: geometry.stripes.map(|stripes| Striped::new(stripes, planes)),
            geometry: geometry.clone(),
        }
    }

    /// The destination of the page of `unit`.
    #[inline]
    pub fn place(&self, unit: LogicalUnit) -> PagePlacement {
        if let Some(striped) = &self.stripes {
            return self.place_page(striped.page(unit));
        }
        self.place_page(self.units_per_page.quotient(unit.0))
    }

    #[inline(always)]
    fn place_page(&self, page: u32) -> PagePlacement {
        self.place_of[self.planes.div_rem(page).1 as usize]
    }

    /// The index of a unit among the units of its plane, in the order of addresses.
    pub fn index_in_plane(&self, unit: LogicalUnit) -> u32 {
        let (page, rest) = self.units_per_page.div_rem(unit.0);
        let (round, residue) = self.planes.div_rem(page);
        (round * self.row_planes + self.rank_of[residue as usize]) * self.units_per_page.divisor() + rest
    }

    /// The unit of that index on a plane, none behind the last.
    pub fn unit_at(&self, plane: PlaneId, index: u32) -> Option<LogicalUnit> {
        let (page, rest) = self.units_per_page.div_rem(index);
        let (round, rank) = (page / self.row_planes, page % self.row_planes);
        let residue = self.residue_of[(plane.0 * self.row_planes + rank) as usize];
        let unit = (round * self.planes.divisor() + residue) * self.units_per_page.divisor() + rest;
        (unit < self.geometry.logical_units).then_some(LogicalUnit(unit))
    }
}
