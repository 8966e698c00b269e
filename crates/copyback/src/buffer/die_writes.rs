//! A write buffer in DRAM with a list for each die: dies take turns, and each evicts as many pages at once as it has
//! planes.
//!
//! Source: die-level write construction, `spd` of tpds20 (Section 4.2.1). The least recently used pages are evicted. A
//! die with fewer pages than planes is skipped; the case that all dies have fewer is a parameter.
//!
//! ```text
//! pages of dies 0 to 3, of two planes each      3  1  2  2     it is the turn of die 0
//! evicted for five new pages                    2  -  2  2     then it is die 0's turn again
//! ```
//!
//! Parameters: those of `lru`, and one more.
//! - `size` (default `"1 MiB"`): capacity for data, a flash page at least. tpds20: 1 % of the footprint.
//! - `latency` (default `"1 us"`): time of an access to the buffer. Writes pay it, and so do reads of units with data:
//!   data from flash passes through the buffer's memory on its way to the host. It is not kept there.
//! - `low_water` (default 1) and `idle_after` (default: none): evict pages before the buffer is full, as with `lru`.
//! - `short_set` (default `"pad"`): what is evicted if no die has as many pages as planes. `"pad"`: the pages of the
//!   die with most pages, or of equal dies the one whose turn comes first; a drive that is written in rows pads the
//!   rest of the row. `"wait"`: nothing, until a die has enough pages; the buffer must then hold a page for each plane
//!   of the drive.

use super::die_rotation::DieRotation;
use super::{BufferPolicy, Early, Parameters, Staying, Take, lru, whole};
use crate::config::{GeometryConfig, KeyError};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{Known, PagePlacement};
use crate::sim::index::DieId;
use copyback_workload::units::{Bytes, Nanos, format_bytes};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Room for data.
    pub size: Bytes,
    /// Time of an access.
    pub latency: Nanos,
    /// Share of the size that remains once pages are evicted.
    #[serde(skip_serializing_if = "lru::is_whole")]
    pub low_water: f64,
    /// After this time without a request, all pages are evicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_after: Option<Nanos>,
    /// The eviction if no die has as many pages as planes.
    pub short_set: ShortSet,
}

/// The eviction if no die has as many pages as planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShortSet {
    /// The pages of the die that has most.
    #[default]
    Pad,
    /// Nothing.
    Wait,
}

impl Default for Params {
    fn default() -> Self {
        let lru::Params { size, latency, .. } = lru::Params::default();
        Self { size, latency, low_water: whole(), idle_after: None, short_set: ShortSet::default() }
    }
}

impl Parameters for Params {
    fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        let Self { size, latency, low_water, idle_after, .. } = *self;
        lru::Params { size, latency, low_water, idle_after }.check(geometry)?;
        let dies = u64::from(geometry.channels) * u64::from(geometry.chips_per_channel * geometry.dies_per_chip);
        let least_bytes = dies * u64::from(geometry.planes_per_die) * geometry.page_size.0;
        if self.short_set == ShortSet::Wait && idle_after.is_some() {
            let why =
                "the buffer is to be emptied in idle time, but short sets wait for more pages (`buffer.short_set`)";
            return Err(
                KeyError::new("buffer.idle_after", why).with_help("leave it out, or set `buffer.short_set = \"pad\"`")
            );
        }
        if self.short_set == ShortSet::Wait && self.size.0 < least_bytes {
            let why = format!(
                "{} holds less than a page of each of the {} planes of {dies} dies, and might wait for ever",
                format_bytes(self.size.0),
                geometry.planes_per_die
            );
            let help = format!("use at least {}, or set `buffer.short_set = \"pad\"`", format_bytes(least_bytes));
            return Err(KeyError::new("buffer.size", why).with_help(help));
        }
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size.0
    }

    fn latency_ns(&self) -> u64 {
        self.latency.0
    }

    fn early(&self) -> Early {
        Early { low_water: self.low_water, idle_after: self.idle_after }
    }
}

/// Whether pages evicted together fill flash pages.
pub const FILLS: super::Fills = super::Fills::Rows;

/// What must be known of a page's destination when the page enters the buffer.
pub const NEEDS: Known = Known::Die;

/// The policy of a run.
pub struct Policy {
    dies: u32,
    planes_per_die: u32,
    short_set: ShortSet,
    rotation: DieRotation,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        // A superpage takes all planes of its die.
        let (dies, planes_per_die) = (geometry.dies, geometry.planes_per_die * geometry.logical_pages_per_page());
        Self { dies, planes_per_die, short_set: params.short_set, rotation: DieRotation::new(dies) }
    }
}

impl BufferPolicy for Policy {
    fn lists(&self) -> usize {
        self.dies as usize
    }

    #[inline]
    fn list_of(&self, home: PagePlacement) -> usize {
        home.die.at()
    }

    fn next(&mut self, Staying { of_lists: pages_of, .. }: Staying<'_>) -> Option<Take> {
        let whole = self.rotation.take(|die| pages_of[die as usize] >= self.planes_per_die);
        let fullest = |rotation: &mut DieRotation| {
            let most = *pages_of.iter().max().expect("a drive has a die");
            rotation.take(|die| pages_of[die as usize] == most)
        };
        let die = match (whole, self.short_set) {
            (None, ShortSet::Pad) => fullest(&mut self.rotation),
            _ => whole,
        }? as usize;
        Some(Take::Pages { lists: die..die + 1, pages_each: self.planes_per_die })
    }

    fn list_of_die(&self, die: DieId) -> Option<usize> {
        Some(die.at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists that take turns, and the pages of each turn.
    fn taken<const DIES: usize>(short_set: ShortSet, pages_of: [u32; DIES], sets: usize) -> Vec<(usize, u32)> {
        taken_by_planes(2, short_set, pages_of, sets)
    }

    /// The same with this many planes a die.
    fn taken_by_planes<const DIES: usize>(
        planes_per_die: u32,
        short_set: ShortSet,
        mut pages_of: [u32; DIES],
        sets: usize,
    ) -> Vec<(usize, u32)> {
        let mut policy =
            Policy { dies: DIES as u32, planes_per_die, short_set, rotation: DieRotation::new(DIES as u32) };
        let set = |_| {
            let (lists, pages_each) = policy.next(Staying::of(&pages_of))?.pages();
            let pages = pages_each.min(pages_of[lists.start]);
            pages_of[lists.start] -= pages;
            Some((lists.start, pages))
        };
        (0..sets).map_while(set).collect()
    }

    /// tpds20 Fig. 5.
    #[test]
    fn dies_with_fewer_pages_than_planes_are_passed_over() {
        for short_set in [ShortSet::Pad, ShortSet::Wait] {
            assert_eq!(taken(short_set, [3, 1, 2, 2], 3), [(0, 2), (2, 2), (3, 2)]);
        }
    }

    #[test]
    fn where_all_dies_have_fewer_the_fullest_gives_what_it_has() {
        assert_eq!(taken(ShortSet::Pad, [0, 1, 0, 1], 2), [(1, 1), (3, 1)]);
        assert_eq!(taken(ShortSet::Pad, [1, 3, 1], 3), [(1, 2), (2, 1), (0, 1)], "then die 2 has the turn");
    }

    /// Of four planes: dies with two and with three pages differ. The fullest is first, at any turn.
    #[test]
    fn of_short_sets_the_longest_leaves_first() {
        assert_eq!(taken_by_planes(4, ShortSet::Pad, [1, 3, 2], 3), [(1, 3), (2, 2), (0, 1)]);
    }

    #[test]
    fn where_all_dies_have_fewer_they_may_wait_for_more() {
        assert_eq!(taken(ShortSet::Wait, [1, 3, 1], 3), [(1, 2)]);
    }
}
