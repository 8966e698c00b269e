//! Collection starts when free blocks fall below one level and goes on until they have reached another.
//!
//! Source: ispass11 Table II ("minimum free blocks 5 %"), hpdc18 Section 5, tpds20 Section 5.1 (7 %): levels of a plane;
//! atc18 Section 4.2: 128 and 256 free blocks of the device.
//!
//! A plane on which host writes wait for space is collected whatever the levels say.
//!
//! Parameters:
//! - `scope` (default `"plane"`): whose free blocks are counted: `"plane"`, `"die"` or `"device"`. A die or a device below
//!   its level collects on each of its dies the plane with the fewest free blocks.
//! - `soft` (default 0.05): collection starts below this level, a share or a count of the scope's blocks.
//! - `count` (default `"blocks"`): what is counted against the levels: `"blocks"` that are erased and not open, or `"pages"`
//!   that can still be programmed, those of open blocks among them (tpds20 Section 5.1), a level of n blocks being all pages of
//!   n blocks. Where planes open blocks together (`second-active`), counted blocks bring both below the level at once.
//! - `stop` (default: `soft`): collection goes on until this level is reached.
//! - `when` (default `"below"`): what starts a collection of a scope below its level. `"below"`: nothing else. `"waiting"`: a
//!   request of the host that waits at the die, read or write, as in DiskSim's SSD extension, which cleans an element in the
//!   foreground only; so collection never uses idle time, and every one has a request waiting for it when it starts. Idle
//!   collection, and collection of planes on which writes wait for space, wait for nobody.
//! - `stagger` (default 0): blocks by which the levels of a die's second plane lie above those of its first, of its third above
//!   its second, ..., where `scope` is `"plane"`: planes that are written in step do not reach their levels together. It does not keep apart
//!   the collections of planes whose second active blocks are opened together (`frontier`): each costs both planes a block.
//!   Own.
//! - `idle` (default: none): a table that lets collection run in idle time, too: `idle.after` (default `"10 ms"`), once the
//!   drive has had nothing to do for so long; `idle.stop` (default: twice `soft`), until this level is reached or a request
//!   arrives. ispass11 Section IV-A.
//! - `hard` (default 0.2): T_hard as a share of `soft`, rounded up: below it rounds that yield to the host do so no more, or
//!   only to what consumes no free block (`yield`). ispass11 Sections III-D and IV-B4: 80 to 20 % of T_soft.

use super::idle::{self, Idle};
use crate::config::{GeometryConfig, KeyError, Level};
use crate::flash::geometry::Geometry;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Whose free blocks are counted.
    pub scope: Scope,
    /// What is counted.
    #[serde(skip_serializing_if = "Count::is_default")]
    pub count: Count,
    /// Collection starts below.
    pub soft: Level,
    /// Collection stops at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Level>,
    /// What starts it below its level.
    #[serde(skip_serializing_if = "When::is_default")]
    pub when: When,
    /// Blocks between the levels of a die's planes.
    #[serde(skip_serializing_if = "is_zero")]
    pub stagger: u32,
    /// The hard level as a share of the level at which collection starts.
    pub hard: f64,
    /// Collection in idle time, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<idle::Params>,
}

/// Whose free blocks are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Each plane's own.
    #[default]
    Plane,
    /// Those of a die's planes together.
    Die,
    /// All.
    Device,
}

/// What is counted against the levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Erased blocks that are not open.
    #[default]
    Blocks,
    /// Pages that can still be programmed.
    Pages,
}

impl Count {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What starts a collection of a scope below its level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The level alone.
    #[default]
    Below,
    /// A request that waits at the die.
    Waiting,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl When {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Params {
    fn default() -> Self {
        let (scope, count, when) = (Scope::Plane, Count::Blocks, When::Below);
        Self { scope, count, soft: Level::Share(0.05), stop: None, when, stagger: 0, hard: 0.2, idle: None }
    }
}

impl Params {
    /// Blocks and planes of the scope.
    pub(super) fn scope_blocks(&self, g: &GeometryConfig) -> (u32, u32) {
        let dies = g.channels * g.chips_per_channel * g.dies_per_chip;
        let planes = match self.scope {
            Scope::Plane => 1,
            Scope::Die => g.planes_per_die,
            Scope::Device => g.planes_per_die * dies,
        };
        (planes * g.blocks_per_plane, planes)
    }

    pub(super) fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        let stop = self.stop.unwrap_or(self.soft);
        let scope_blocks = self.scope_blocks(geometry).0;
        for (key, level) in [("soft", self.soft), ("stop", stop)] {
            if !level.is_possible() || level.of(scope_blocks) >= scope_blocks {
                return Err(self.no_level(key, level, scope_blocks));
            }
        }
        let (soft, stop) = (self.soft.of(scope_blocks), stop.of(scope_blocks));
        if stop < soft {
            return Err(KeyError::new(
                "trigger.stop",
                format!("collection would stop at {stop} free blocks, below the {soft} at which it starts"),
            )
            .with_help("set `trigger.stop` to at least `trigger.soft`"));
        }
        if self.stagger > 0 && self.scope != Scope::Plane {
            return Err(KeyError::new("trigger.stagger", "only levels of planes can lie apart")
                .with_help("set `trigger.scope` to \"plane\", or leave `trigger.stagger` out"));
        }
        let apart = u64::from(self.stagger) * u64::from(geometry.planes_per_die - 1);
        if u64::from(stop) + apart >= u64::from(scope_blocks) {
            let message = format!("{} blocks lift the last plane's level to {}", self.stagger, u64::from(stop) + apart);
            return Err(KeyError::new("trigger.stagger", message)
                .with_help(format!("keep all levels below the {scope_blocks} blocks of a plane")));
        }
        if !(0.0..=1.0).contains(&self.hard) {
            return Err(KeyError::new("trigger.hard", format!("{} is no share of `trigger.soft`", self.hard))
                .with_help("use a number from 0 to 1, such as 0.2"));
        }
        if self.count == Count::Pages && self.scope == Scope::Device {
            return Err(KeyError::new("trigger.count", "pages of a whole device are not counted")
                .with_help("set `trigger.scope` to \"plane\" or \"die\", or `trigger.count` to \"blocks\""));
        }
        self.idle.as_ref().map_or(Ok(()), |idle| idle.check(self, geometry))
    }

    /// Collection would never stop at a level that all blocks of the scope do not exceed.
    fn no_level(&self, key: &str, level: Level, scope_blocks: u32) -> KeyError {
        let scope = match self.scope {
            Scope::Plane => "a plane",
            Scope::Die => "a die",
            Scope::Device => "the drive",
        };
        let level = match level {
            Level::Blocks(count) => format!("{count} blocks"),
            Level::Share(share) => format!("a share of {share}"),
        };
        let message = format!("{level} is no possible level of free blocks: {scope} has {scope_blocks} blocks in all");
        let help = format!("use a share such as 0.05, or a number of blocks: fewer than the {scope_blocks} of {scope}");
        KeyError::new(format!("trigger.{key}"), message).with_help(help)
    }

    /// Free blocks of each plane below which collection starts, and at which it stops.
    pub fn blocks_per_plane(&self, geometry: &GeometryConfig) -> (u32, u32) {
        let (blocks, planes) = self.scope_blocks(geometry);
        let share = |level: Level| level.of(blocks).div_ceil(planes);
        (share(self.soft), share(self.stop.unwrap_or(self.soft)))
    }

    pub(super) fn stop_blocks_per_plane(&self, geometry: &GeometryConfig) -> u32 {
        let apart = self.stagger * (geometry.planes_per_die - 1);
        let reactive = self.blocks_per_plane(geometry).1 + apart;
        self.idle.as_ref().map_or(reactive, |idle| idle.stop_blocks_per_plane(self, geometry).max(reactive))
    }
}

/// The levels, in what is counted.
#[derive(Clone, Copy, Debug)]
pub struct Watermark {
    /// Whose free blocks or pages are counted.
    pub scope: Scope,
    /// What is counted.
    pub count: Count,
    /// What starts a collection below its level.
    pub when: When,
    soft_level: u32,
    stop_level: u32,
    hard_level: u32,
    stagger_level: u32,
    /// Collection in idle time, too.
    pub idle: Option<Idle>,
}

impl Watermark {
    /// The levels for a drive.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        let planes = match params.scope {
            Scope::Plane => 1,
            Scope::Die => geometry.planes_per_die,
            Scope::Device => geometry.planes,
        };
        let blocks = planes * geometry.blocks_per_plane;
        let soft_blocks = params.soft.of(blocks);
        let level = |blocks: u32| match params.count {
            Count::Blocks => blocks,
            Count::Pages => blocks * geometry.pages_per_block,
        };
        Self {
            scope: params.scope,
            count: params.count,
            when: params.when,
            soft_level: level(soft_blocks),
            stop_level: level(params.stop.unwrap_or(params.soft).of(blocks)),
            hard_level: level(Level::Share(params.hard).of(soft_blocks)),
            stagger_level: level(params.stagger),
            idle: params.idle.as_ref().map(|idle| Idle::new(idle, soft_blocks, (blocks, planes), level)),
        }
    }

    /// The level below which rounds may hardly be held up any more.
    pub fn hard_level(&self) -> u32 {
        self.hard_level
    }

    /// Whether rounds of a scope at such a level may hardly be held up any more.
    #[inline]
    pub fn is_below_hard(&self, free_level: u32) -> bool {
        free_level < self.hard_level
    }

    /// Whether a plane at such a level must collect, where planes are the scope: the plane of that number on its die.
    #[inline(always)]
    pub fn wants_plane(&self, free_level: u32, plane_offset: u32, is_collecting: bool) -> bool {
        free_level < self.level(is_collecting) + plane_offset * self.stagger_level
    }

    /// Whether a scope at such a level must collect; `is_collecting` says whether it already does.
    #[inline(always)]
    pub fn wants_collection(&self, free_level: u32, is_collecting: bool) -> bool {
        free_level < self.level(is_collecting)
    }

    #[inline(always)]
    fn level(&self, is_collecting: bool) -> u32 {
        if is_collecting { self.stop_level } else { self.soft_level }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of planes lie apart by what `stagger` says, also above a first one of 0.
    #[test]
    fn each_plane_starts_below_its_own_level() {
        let levels = |soft| Watermark {
            scope: Scope::Plane,
            count: Count::Blocks,
            when: When::Below,
            soft_level: soft,
            stop_level: soft,
            hard_level: 0,
            stagger_level: 2,
            idle: None,
        };
        for soft in [0, 1, 3] {
            for plane in 0..4 {
                let level = soft + 2 * plane;
                let starts: Vec<u32> = (0..12).filter(|&free| levels(soft).wants_plane(free, plane, false)).collect();
                assert_eq!(starts, (0..level).collect::<Vec<u32>>(), "plane {plane} of a drive with level {soft}");
            }
        }
    }

    /// So that what is printed of a scheme is what it says.
    #[test]
    fn keys_that_nobody_set_are_not_written_out() {
        let written = toml::Table::try_from(Params::default()).unwrap();
        assert_eq!(written.keys().collect::<Vec<_>>(), ["hard", "scope", "soft"]);
    }
}
