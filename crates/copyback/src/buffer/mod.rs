//! Buffer: what does DRAM hold, and what does it evict?
//!
//! Contract: a buffer takes mapping units that the host writes ([`Buffer::insert`]). It is notified of units that are
//! read ([`Buffer::hit`]) or trimmed, and of the location to which each page will be written. If waiting units do not
//! fit, the engine requests pages to evict together ([`Buffer::next_set`]), writes them, and reports when they are in
//! flash ([`Buffer::ended`]); until then they stay readable. If a row is programmed and not full, the engine takes
//! dirty pages of its die ([`Buffer::take_set`]).
//!
//! All buffers hold pages in the same way (`pages`). Each list is in the order of last use. A policy chooses the list
//! of a page, and the list that the next set comes from. It reads the lists and records whose turn is next; the buffer
//! removes the pages. A policy is a file of this folder and a row of the registry.
//!
//! Pages are evicted when waiting writes need space. With two settings of all policies they are evicted earlier:
//! `low_water`, the share of the size that remains once pages are evicted, and `idle_after`, the time without a request
//! after which all pages are evicted.

pub mod die_lists;
mod die_rotation;
pub mod die_writes;
pub mod lru;
pub mod none;
mod pages;
pub mod plane_lists;

pub use pages::{Leaving, Set};

use crate::config::layers::Kept;
use crate::config::times::check_distance;
use crate::config::{GeometryConfig, KeyError, axis, number};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::{Known, PagePlacement};
use crate::sim::index::{DieId, LogicalUnit};
use copyback_workload::units::Nanos;
use enum_dispatch::enum_dispatch;
use pages::Pages;
use std::ops::Range;

/// The pages to evict together next: the least recently used ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    /// Logical pages of each of some lists.
    Pages {
        /// The lists.
        lists: Range<usize>,
        /// At most this many pages of each. All lists together give at most as many as a die can have planes.
        pages_each: u32,
    },
    /// Of one list as many as fit into a page of the flash, or into a row of a drive that writes rows: one at least.
    Filling {
        /// The list.
        list: usize,
    },
}

#[cfg(test)]
impl Take {
    /// The lists, and the pages of each.
    fn pages(self) -> (Range<usize>, u32) {
        match self {
            Self::Pages { lists, pages_each } => (lists, pages_each),
            Self::Filling { list } => panic!("pages of list {list} that fill one of the flash"),
        }
    }
}

/// A policy's view of the pages that are not on their way to flash: the next eviction takes some of them.
#[derive(Clone, Copy, Debug)]
pub struct Staying<'a> {
    /// How many pages each list has.
    pub of_lists: &'a [u32],
    /// The list of the page that was used least recently of all.
    pub oldest: usize,
}

#[cfg(test)]
impl<'a> Staying<'a> {
    /// This many pages of each list; the first list's page was used least recently.
    fn of(of_lists: &'a [u32]) -> Self {
        Self { of_lists, oldest: 0 }
    }
}

/// See the module's contract.
#[enum_dispatch]
pub trait BufferPolicy {
    /// How many lists there are.
    fn lists(&self) -> usize;
    /// The list of a page that will be written to `home`; the allocation may leave its plane and die open.
    fn list_of(&self, home: PagePlacement) -> usize;
    /// The next eviction. `None` if no page may leave before more pages enter, or before those on their way are in
    /// flash.
    fn next(&mut self, staying: Staying<'_>) -> Option<Take>;
    /// The number of lists that take turns: one if the policy takes the least recently used page of all.
    fn lists_in_turn(&self) -> usize {
        self.lists()
    }
    /// The list of pages that will be written to a die, if the policy keeps a list for each die.
    fn list_of_die(&self, _die: DieId) -> Option<usize> {
        None
    }
}

/// The configuration of a buffer.
pub trait Parameters {
    /// Checks the values against the device.
    fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError>;
    /// Room for data.
    fn size_bytes(&self) -> u64;
    /// Time of an access.
    fn latency_ns(&self) -> u64;
    /// When pages are evicted before the buffer is full.
    fn early(&self) -> Early;
}

/// Whether pages evicted together fill flash pages, if these hold several mapping units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fills {
    /// Each logical page leaves by itself.
    Never,
    /// Pages of all planes of a die are evicted together: a row, if the drive is written in rows.
    Rows,
    /// As many as fit.
    Always,
}

/// When pages are evicted before the buffer is full: settings that all policies share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Early {
    /// The share of the size that remains once pages are evicted.
    pub low_water: f64,
    /// After this time without a request, all pages are evicted.
    pub idle_after: Option<Nanos>,
}

/// The low-water mark without early evictions.
pub fn whole() -> f64 {
    1.0
}

impl Early {
    /// Checks the values.
    pub fn check(&self) -> Result<(), KeyError> {
        if !(0.0..=1.0).contains(&self.low_water) {
            return Err(KeyError::new("buffer.low_water", format!("{} is no share", number(self.low_water)))
                .with_help("use a number from 0 to 1; with 1, pages are evicted only if writes need space"));
        }
        match self.idle_after {
            Some(Nanos(0)) => Err(KeyError::new("buffer.idle_after", "an idle time of 0 is not possible")
                .with_help("use a time such as \"10 ms\", or leave it out")),
            time => time.map_or(Ok(()), |time| check_distance("buffer.idle_after", time)),
        }
    }
}

/// Writes the registry: for each row its entry in the configuration, in the run-time enum and in the queries. `none` is
/// no buffer. Each module states in `NEEDS` what must be known of a page's destination when it enters.
macro_rules! buffers {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        axis! {
            /// `[buffer]`
            BufferConfig, "buffer", "what does DRAM hold, and what does it evict?", default None,
            { "none" => none: None, $( $name => $module: $variant ),+ }
        }

        /// The DRAM's size and latency and its early evictions are kept if a scheme chooses another policy.
        pub const KEPT: Kept = Kept {
            table: "buffer",
            policies: &[$( $name ),+],
            keys: &["size", "latency", "low_water", "idle_after"],
        };

        impl BufferConfig {
            /// Checks the parameters.
            pub fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
                match self {
                    Self::None(_) => Ok(()),
                    $( Self::$variant(p) => p.check(geometry) ),+
                }
            }

            /// Capacity for data, if there is a buffer.
            pub fn size_bytes(&self) -> Option<u64> {
                match self {
                    Self::None(_) => None,
                    $( Self::$variant(p) => Some(p.size_bytes()) ),+
                }
            }

            /// Whether the capacity is the policy's default.
            pub fn has_default_size(&self) -> bool {
                match self {
                    Self::None(_) => true,
                    $( Self::$variant(p) => p.size_bytes() == $module::Params::default().size_bytes() ),+
                }
            }

            /// The share of the capacity that remains once pages are evicted; 1 without a buffer.
            pub fn low_water(&self) -> f64 {
                match self {
                    Self::None(_) => whole(),
                    $( Self::$variant(p) => p.early().low_water ),+
                }
            }

            /// The time without a request after which all pages are evicted, if it is set.
            pub fn idle_after(&self) -> Option<Nanos> {
                match self {
                    Self::None(_) => None,
                    $( Self::$variant(p) => p.early().idle_after ),+
                }
            }

            /// What must be known of a page's destination when the page enters the buffer.
            pub fn needs(&self) -> Known {
                match self {
                    Self::None(_) => Known::Nothing,
                    $( Self::$variant(_) => $module::NEEDS ),+
                }
            }

            /// Whether small writes fill flash pages on their way through the buffer; `in_rows`: whether these are
            /// rows.
            pub fn fills_pages(&self, in_rows: bool) -> bool {
                let fills = match self {
                    Self::None(_) => Fills::Never,
                    $( Self::$variant(_) => $module::FILLS ),+
                };
                fills == Fills::Always || (fills == Fills::Rows && in_rows)
            }

            /// Time of an access; none without a buffer.
            pub fn latency_ns(&self) -> Option<u64> {
                match self {
                    Self::None(_) => None,
                    $( Self::$variant(p) => Some(p.latency_ns()) ),+
                }
            }

            /// The buffer of a run, if it has one.
            pub fn build(&self, geometry: &Geometry) -> Option<Buffer> {
                match self {
                    Self::None(_) => None,
                    $( Self::$variant(p) => {
                        Some(Buffer::new(p, EvictionPolicy::$variant($module::Policy::new(p, geometry)), geometry))
                    } ),+
                }
            }
        }

        $hash $dispatch
        enum EvictionPolicy { $( $variant($module::Policy) ),+ }
    };
}

buffers! {
    #[enum_dispatch(BufferPolicy)]
    "lru" => lru: Lru,
    "die-lists" => die_lists: DieLists,
    "plane-lists" => plane_lists: PlaneLists,
    "die-writes" => die_writes: DieWrites,
}

/// The buffer of a run: see the module's contract.
pub struct Buffer {
    bookkeeping_bytes: f64,
    pages: Pages,
    policy: EvictionPolicy,
    /// Once pages must be evicted, this many units stay.
    low_units: u64,
    idle_after_ns: Option<u64>,
    /// Pages had to be evicted for waiting units, and eviction continues until only `low_units` stay.
    drains: bool,
    /// No request has arrived for `idle_after_ns`: all pages are evicted.
    is_idle: bool,
    /// Whether `is_idle` was ever set.
    was_idle: bool,
    /// Whether pages were ever evicted because waiting units did not fit.
    was_full: bool,
    /// The most units on their way to flash at once because of `low_water` or `idle_after`: a page for each plane.
    /// Evictions for waiting units have no limit.
    leaving_max_units: u64,
}

/// The memory of several lists: for each list a head (a logical page number of 4 bytes) and a counter that can count
/// all pages of the buffer; for all lists together, the turn. tpds20 Section 4.2.2.
fn bookkeeping_bytes(lists: usize, pages: u64) -> f64 {
    let bits = |values: u64| f64::from(values.next_power_of_two().trailing_zeros());
    if lists < 2 { 0.0 } else { (lists as f64 * (32.0 + bits(pages)) + bits(lists as u64)) / 8.0 }
}

impl Buffer {
    fn new(params: &impl Parameters, policy: EvictionPolicy, geometry: &Geometry) -> Self {
        let page_bytes = u64::from(geometry.units_per_flash_page) * u64::from(geometry.unit_bytes);
        let bookkeeping_bytes = bookkeeping_bytes(policy.lists_in_turn(), params.size_bytes() / page_bytes);
        let units = params.size_bytes() / u64::from(geometry.unit_bytes);
        let Early { low_water, idle_after } = params.early();
        Self {
            bookkeeping_bytes,
            pages: Pages::new(units, policy.lists(), geometry),
            policy,
            low_units: (units as f64 * low_water) as u64,
            idle_after_ns: idle_after.map(|after| after.0),
            drains: false,
            is_idle: false,
            was_idle: false,
            was_full: false,
            leaving_max_units: u64::from(geometry.planes) * u64::from(geometry.units_per_page),
        }
    }

    /// Memory in addition to its pages and the links of their lists.
    pub fn bookkeeping_bytes(&self) -> f64 {
        self.bookkeeping_bytes
    }

    /// Whether a unit's newest data is here.
    #[inline]
    pub fn holds(&self, unit: LogicalUnit) -> bool {
        self.pages.holds(unit)
    }

    /// A read used a unit that is here.
    pub fn hit(&mut self, unit: LogicalUnit) {
        self.pages.touch(unit);
    }

    /// Takes units of one logical page that will be written to `home`, if they fit. Returns how many were here already.
    pub fn insert(&mut self, first: LogicalUnit, units: u32, home: PagePlacement) -> Option<u32> {
        let list = self.policy.list_of(home);
        self.pages.insert(first, units, list)
    }

    /// Whether more pages must be evicted than are on their way. Waiting units require this until all of them fit, or
    /// as many as the buffer can hold. Otherwise the low-water mark or idle time requires it, until the content is
    /// within its limit.
    pub fn must_evict(&mut self, waiting_units: u64) -> bool {
        if self.pages.lacks_room_for(waiting_units) {
            (self.drains, self.was_full) = (true, true);
            return true;
        }
        let staying_units = self.pages.staying_units() + waiting_units;
        self.drains &= staying_units > self.low_units;
        self.is_idle &= staying_units > 0;
        (self.drains || self.is_idle) && self.pages.leaving_units() < self.leaving_max_units
    }

    /// The time without a request after which all pages are evicted, if it is set.
    pub fn idle_after_ns(&self) -> Option<u64> {
        self.idle_after_ns
    }

    /// No request has arrived for `idle_after`: all pages are evicted.
    pub fn begin_idle(&mut self) {
        (self.is_idle, self.was_idle) = (true, true);
    }

    /// From now on pages are evicted only if waiting units need room.
    pub fn end_early_evictions(&mut self) {
        (self.drains, self.is_idle) = (false, false);
    }

    /// Whether `idle_after` has passed without a request, if it is set.
    pub fn was_idle(&self) -> bool {
        self.was_idle
    }

    /// Whether pages were ever evicted because waiting units did not fit.
    pub fn was_full(&self) -> bool {
        self.was_full
    }

    /// A request came: pages not yet evicted because of idle time stay.
    pub fn end_idle(&mut self) {
        self.is_idle = false;
    }

    /// Starts the next eviction, and returns its pages. Returns none if all pages are on their way to flash already, or
    /// if the policy waits for more pages.
    pub fn next_set(&mut self) -> Set {
        if self.pages.is_all_leaving() {
            return Set::default();
        }
        let Some(take) = self.policy.next(self.pages.staying()) else { return Set::default() };
        let set = self.pages.take(take);
        debug_assert!(!set.is_empty(), "the policy names lists without a page");
        set
    }

    /// Starts an eviction of pages that will be written to this die: the least recently used ones, as many as fit into
    /// this many units.
    pub fn take_set(&mut self, die: DieId, units_max: u32) -> Set {
        self.policy.list_of_die(die).map_or_else(Set::default, |list| self.pages.take_within(list, units_max))
    }

    /// Units of one page are in flash, except `others` (one bit for each unit, from the first on). Units that were
    /// written again meanwhile stay.
    pub fn ended(&mut self, first: LogicalUnit, units: u32, others: u32) {
        self.pages.ended(first, units, others);
    }

    /// Forgets units that were trimmed. Data that is already on its way to flash is still written.
    pub fn trim(&mut self, first: LogicalUnit, units: u32) {
        self.pages.trim(first, units);
    }

    /// Units whose newest data is only here.
    pub fn dirty_units(&self) -> u64 {
        self.pages.used_units()
    }
}

#[cfg(test)]
mod tests {
    use super::bookkeeping_bytes;

    /// tpds20 Section 4.2.2: 128 bytes of heads, 5 bits, 32 counters of 17 bits, "less than 197 bytes".
    #[test]
    fn lists_of_32_dies_take_less_than_197_bytes() {
        let bytes = bookkeeping_bytes(32, 1 << 17);
        assert!(bytes > 196.0 && bytes < 197.0, "{bytes}");
        assert!((bookkeeping_bytes(128, 1 << 17) - (512.0 + 272.0 + 0.875)).abs() < 1e-9);
        assert!(bookkeeping_bytes(1, 1 << 17) == 0.0, "one list needs no turn");
    }
}
