//! Collection starts when free blocks fall below one watermark and continues until they have reached another.
//!
//! Source: ispass11 Table II ("minimum free blocks 5 %"), hpdc18 Section 5, tpds20 Section 5.1 (7 %): watermarks of a
//! plane; atc18 Section 4.2: 128 and 256 free blocks of the device.
//!
//! A plane on which host writes wait for space is collected at any watermark.
//!
//! Parameters:
//! - `scope` (default `"plane"`): whose free blocks are counted: `"plane"`, `"die"` or `"device"`.
//!   - A die or a device below its watermark collects on each of its dies the plane with the fewest free blocks.
//!   - Under `preemption.policy = "always"`, victims are selected over all planes of the scope. At most
//!     `preemption.victims` blocks of the drive are collected at a time, and with watermarks of planes or dies at most
//!     one block of each.
//! - `soft` (default 0.05): collection starts below this watermark, a share or a count of the scope's blocks.
//! - `count` (default `"blocks"`): the quantity counted against the watermarks.
//!   - `"blocks"`: blocks that are erased and not open.
//!   - `"pages"`: pages that can still be programmed, including those of open blocks (tpds20 Section 5.1). A watermark
//!     of n blocks is then all pages of n blocks.
//!   - If planes open blocks together (`second-active`), both planes fall below the watermark at once if blocks are
//!     counted.
//! - `report` (default: 1.5 times `soft`): a drive of an array whose collections are coordinated (`coordination`)
//!   reports below this watermark, and starts nothing. This is T_soft of tc12; `soft` is its T_hard. Without
//!   coordination it has no effect.
//! - `last_resort` (default: the scope's number of planes, as each keeps a block for moves, plus one: 2 for a
//!   plane, 3 for a die of two planes; always below `soft`): a coordinated drive of an array collects without an order
//!   below this watermark. A plane on which writes wait for a page is collected in any case.
//! - `stop` (default: `soft`): collection continues until this watermark is reached.
//! - `collections` (default `"until-stop"`): what follows a collection whose scope is still below `stop`.
//!   - `"until-stop"`: the next collection.
//!   - `"one"`: none until another page of the scope is written. Each page then starts at most one collection, as in
//!     SSDsim, so that `stop` has no effect. `"one"` cannot be combined with a device's watermarks.
//!   - A plane on which writes wait for a page is collected in any case.
//! - `when` (default `"below"`): what starts a collection of a scope below its watermark.
//!   - `"below"`: the watermark alone.
//!   - `"waiting"`: the watermark together with a request of the host that waits at the die, read or write, as in
//!     DiskSim's SSD extension, which cleans an element in the foreground only. A collection that the watermark starts
//!     then never uses idle time: at its start a request waits for it.
//!   - Idle collection, and collection of planes on which writes wait for space, do not wait for a request.
//! - `stagger` (default 0): if `scope` is `"plane"`, the watermarks of each plane of a die are this many blocks above
//!   those of the previous plane. Planes that are written in step then do not reach their watermarks together. It does
//!   not separate the collections of planes whose second active blocks are opened together (`frontier`): each
//!   collection costs both planes a block. No source states it.
//! - `idle` (default: none): a table that lets collection run in idle time, too. ispass11 Section IV-A.
//!   - `idle.after` (default `"10 ms"`): it begins once the drive has been idle for this time.
//!   - `idle.stop` (default: twice `soft`): it ends when this watermark is reached or a request arrives.
//! - `hard` (default 0.2): the hard watermark, T_hard of ispass11, as a share of `soft`, rounded up, or as a count of
//!   the scope's blocks. Below it, no request preempts a collection, or only one that consumes no free block
//!   (`preemption`). ispass11 Sections III-D and IV-B4: 80 to 20 % of T_soft. As with `soft`, 1.0 is a share and 1 is
//!   one block.

use super::idle::{self, Idle};
use super::{CoordinationWatermarks, DriveView, FreeLevel, Parameters, Scope, Start, TriggerPolicy, Wanted};
use crate::config::{GeometryConfig, KeyError, ShareOrCount, number};
use crate::flash::geometry::Geometry;
use crate::ftl::GC_RESERVE_BLOCKS;
use crate::ftl::core::Ftl;
use crate::sim::index::PlaneId;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Whose free blocks are counted.
    pub scope: Scope,
    /// The counted quantity.
    #[serde(skip_serializing_if = "Count::is_default")]
    pub count: Count,
    /// Collection starts below.
    pub soft: ShareOrCount,
    /// Collection stops at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<ShareOrCount>,
    /// A coordinated drive reports below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<ShareOrCount>,
    /// A coordinated drive collects below this without an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_resort: Option<ShareOrCount>,
    /// What follows a collection.
    #[serde(skip_serializing_if = "Collections::is_default")]
    pub collections: Collections,
    /// What starts it below its watermark.
    #[serde(skip_serializing_if = "When::is_default")]
    pub when: When,
    /// Blocks between the watermarks of a die's planes.
    #[serde(skip_serializing_if = "is_zero")]
    pub stagger: u32,
    /// The hard watermark: a share of the watermark at which collection starts, or a count of the scope's blocks.
    pub hard: ShareOrCount,
    /// Collection in idle time, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<idle::Params>,
}

/// The quantity that is compared with the watermarks.
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

/// What follows a collection of a scope that is below the watermark at which it stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collections {
    /// The next one.
    #[default]
    UntilStop,
    /// Nothing, until a page is written.
    One,
}

impl Collections {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What starts a collection of a scope below its watermark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The watermark alone.
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
        Self {
            scope: Scope::Plane,
            count: Count::Blocks,
            soft: ShareOrCount::Share(0.05),
            stop: None,
            report: None,
            last_resort: None,
            collections: Collections::UntilStop,
            when: When::Below,
            stagger: 0,
            hard: ShareOrCount::Share(0.2),
            idle: None,
        }
    }
}

impl Params {
    /// Blocks and planes of the scope.
    pub(super) fn scope_blocks(&self, g: &GeometryConfig) -> (u32, u32) {
        let planes = self.scope.planes(g);
        (planes * g.blocks_per_plane, planes)
    }

    /// The free blocks below which a coordinated drive reports. Default: 1.5 times `soft`, as tc12's T_soft is to its
    /// T_hard (7.5 to 5).
    fn report_blocks(&self, scope_blocks: u32) -> u32 {
        let soft = self.soft.of(scope_blocks);
        self.report.map_or((soft + soft.div_ceil(2)).min(scope_blocks - 1), |report| report.of(scope_blocks))
    }

    /// The error for a watermark that the scope's blocks cannot exceed: collection would never stop.
    fn no_watermark(&self, key: &str, watermark: ShareOrCount, scope_blocks: u32) -> KeyError {
        let scope = self.scope.noun();
        let watermark = match watermark {
            ShareOrCount::Blocks(blocks) => copyback_workload::units::counted(blocks.into(), "block"),
            ShareOrCount::Share(share) => format!("a share of {}", number(share)),
        };
        let message =
            format!("{watermark} is no possible watermark of free blocks: {scope} has {scope_blocks} blocks in all");
        let help = format!("use a share such as 0.05, or a number of blocks: fewer than the {scope_blocks} of {scope}");
        KeyError::new(format!("trigger.{key}"), message).with_help(help)
    }
}

impl Params {
    /// Refuses watermarks that the scope's blocks cannot exceed.
    fn check_possible(&self, scope_blocks: u32) -> Result<(), KeyError> {
        let watermarks = [
            ("soft", self.soft),
            ("stop", self.stop.unwrap_or(self.soft)),
            ("report", self.report.unwrap_or(self.soft)),
            ("last_resort", self.last_resort.unwrap_or(ShareOrCount::Blocks(0))),
        ];
        let is_impossible = |(_, of): &(&str, ShareOrCount)| !of.is_possible() || of.of(scope_blocks) >= scope_blocks;
        match watermarks.into_iter().find(is_impossible) {
            Some((key, watermark)) => Err(self.no_watermark(key, watermark, scope_blocks)),
            None => Ok(()),
        }
    }

    /// Refuses watermarks that are reached in the wrong order; `soft` and `stop` in blocks.
    fn check_order(&self, scope_blocks: u32, (soft, stop): (u32, u32)) -> Result<(), KeyError> {
        if self.report.is_some_and(|report| report.of(scope_blocks) < soft) {
            let message = format!("a drive would start to collect at {soft} free blocks, before it reports");
            return Err(
                KeyError::new("trigger.report", message).with_help("set `trigger.report` to at least `trigger.soft`")
            );
        }
        if let Some(lower) = self.last_resort.map(|lower| lower.of(scope_blocks)).filter(|lower| *lower >= soft) {
            let message = format!(
                "a drive would collect without an order below {lower} blocks, before it requests one below {soft}"
            );
            return Err(KeyError::new("trigger.last_resort", message)
                .with_help("set `trigger.last_resort` below `trigger.soft`"));
        }
        if stop < soft {
            return Err(KeyError::new(
                "trigger.stop",
                format!("collection would stop at {stop} free blocks, below the {soft} at which it starts"),
            )
            .with_help("set `trigger.stop` to at least `trigger.soft`"));
        }
        Ok(())
    }

    /// Checks `stagger`; `stop` in blocks.
    fn check_stagger(&self, geometry: &GeometryConfig, scope_blocks: u32, stop: u32) -> Result<(), KeyError> {
        if self.stagger > 0 && self.scope != Scope::Plane {
            return Err(KeyError::new("trigger.stagger", "only watermarks of planes can be staggered")
                .with_help("set `trigger.scope` to \"plane\", or leave `trigger.stagger` out"));
        }
        let apart = u64::from(self.stagger) * u64::from(geometry.planes_per_die - 1);
        if u64::from(stop) + apart >= u64::from(scope_blocks) {
            let message =
                format!("{} blocks lift the last plane's watermark to {}", self.stagger, u64::from(stop) + apart);
            return Err(KeyError::new("trigger.stagger", message)
                .with_help(format!("keep all watermarks below the {scope_blocks} blocks of a plane")));
        }
        Ok(())
    }

    /// Checks `hard`; `soft` in blocks.
    fn check_hard(&self, soft: u32) -> Result<(), KeyError> {
        let why = match self.hard {
            ShareOrCount::Share(share) if (0.0..=1.0).contains(&share) => None,
            ShareOrCount::Share(share) => Some(format!("{} is no share of `trigger.soft`", number(share))),
            ShareOrCount::Blocks(count) if count <= soft => None,
            ShareOrCount::Blocks(count) => Some(format!("{count} blocks are more than the {soft} of `trigger.soft`")),
        };
        let Some(why) = why else { return Ok(()) };
        let help = format!("use a share from 0.0 to 1.0, such as 0.2, or a number of blocks up to {soft}");
        Err(KeyError::new("trigger.hard", why).with_help(help))
    }

    /// Refuses combinations with `collections` and `count` that are not possible.
    fn check_choices(&self) -> Result<(), KeyError> {
        if self.collections == Collections::One && self.stop.is_some() {
            return Err(KeyError::new(
                "trigger.stop",
                "it has no effect, because each page that is written starts at most one collection",
            )
            .with_help("remove `trigger.stop`, or set `trigger.collections` to \"until-stop\""));
        }
        if self.collections == Collections::One && self.scope == Scope::Device {
            return Err(KeyError::new(
                "trigger.collections",
                "\"one\" is not possible: a device that is below its watermark collects on all dies",
            )
            .with_help("set `trigger.scope` to \"plane\" or \"die\", or leave `trigger.collections` out"));
        }
        if self.count == Count::Pages && self.scope == Scope::Device {
            return Err(KeyError::new("trigger.count", "pages of a whole device are not counted")
                .with_help("set `trigger.scope` to \"plane\" or \"die\", or `trigger.count` to \"blocks\""));
        }
        Ok(())
    }
}

impl Parameters for Params {
    fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        let scope_blocks = self.scope_blocks(geometry).0;
        self.check_possible(scope_blocks)?;
        let [soft, stop] = [self.soft, self.stop.unwrap_or(self.soft)].map(|watermark| watermark.of(scope_blocks));
        self.check_order(scope_blocks, (soft, stop))?;
        self.check_stagger(geometry, scope_blocks, stop)?;
        self.check_hard(soft)?;
        self.check_choices()?;
        self.idle.as_ref().map_or(Ok(()), |idle| idle.check(self, geometry))
    }

    fn blocks_per_plane(&self, geometry: &GeometryConfig) -> (u32, u32) {
        let (blocks, planes) = self.scope_blocks(geometry);
        let share = |watermark: ShareOrCount| watermark.of(blocks).div_ceil(planes);
        (share(self.soft), share(self.stop.unwrap_or(self.soft)))
    }

    fn stagger_blocks(&self) -> u32 {
        self.stagger
    }

    fn stop_blocks_per_plane(&self, geometry: &GeometryConfig) -> u32 {
        let apart = self.stagger * (geometry.planes_per_die - 1);
        let reactive = self.blocks_per_plane(geometry).1 + apart;
        self.idle.as_ref().map_or(reactive, |idle| idle.stop_blocks_per_plane(self, geometry).max(reactive))
    }

    fn stop_key(&self) -> Option<(&'static str, ShareOrCount)> {
        Some(self.stop.map_or(("trigger.soft", self.soft), |stop| ("trigger.stop", stop)))
    }

    fn key_needing_dies(&self) -> Option<&'static str> {
        let set = [
            (self.when != When::Below, "trigger.when"),
            (self.collections != Collections::UntilStop, "trigger.collections"),
            (self.idle.is_some(), "trigger.idle"),
        ];
        set.into_iter().find_map(|(is_set, key)| is_set.then_some(key))
    }

    fn key_of_own_start(&self) -> Option<&'static str> {
        self.idle.is_some().then_some("trigger.idle")
    }
}

/// The watermarks, in the counted quantity.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    scope: Scope,
    count: Count,
    collections: Collections,
    when: When,
    /// Below it, the trigger wants a collection: `soft`, or for a coordinated drive `report`.
    soft_watermark: u32,
    stop_watermark: u32,
    hard_watermark: u32,
    stagger: u32,
    idle: Option<Idle>,
    coordination: CoordinationLevels,
}

/// The watermarks of a coordinated drive, in the unit of `free_of`.
#[derive(Clone, Copy, Debug, Default)]
struct CoordinationLevels {
    report: u32,
    start: u32,
    last_resort: u32,
}

impl Policy {
    /// The watermarks for a drive.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        let planes = match params.scope {
            Scope::Plane => 1,
            Scope::Die => geometry.planes_per_die * geometry.row_planes,
            Scope::Device => geometry.planes * geometry.row_planes,
        };
        let blocks = planes * geometry.blocks_per_plane;
        let soft_blocks = params.soft.of(blocks);
        // In rows, a plane has as many blocks as each plane of the flash, and keeps its watermarks. A larger scope has
        // fewer blocks in rows; its watermarks are divided by the planes of a row.
        let blocks_in_row = if params.scope == Scope::Plane { 1 } else { geometry.row_planes };
        let of_plane = |blocks: u32| match params.count {
            Count::Blocks => blocks,
            Count::Pages => blocks * geometry.pages_per_block,
        };
        let watermark = |blocks: u32| of_plane(blocks.div_ceil(blocks_in_row));
        // Always below `soft`: otherwise a drive would be at its last resort before it reported.
        let last_resort = (planes * GC_RESERVE_BLOCKS + 1).min(soft_blocks.saturating_sub(1));
        let coordination = CoordinationLevels {
            report: watermark(params.report_blocks(blocks)),
            start: watermark(soft_blocks),
            last_resort: watermark(params.last_resort.unwrap_or(ShareOrCount::Blocks(last_resort)).of(blocks)),
        };
        Self {
            coordination,
            scope: params.scope,
            count: params.count,
            collections: params.collections,
            when: params.when,
            soft_watermark: watermark(soft_blocks),
            stop_watermark: watermark(params.stop.unwrap_or(params.soft).of(blocks)),
            hard_watermark: watermark(params.hard.of(soft_blocks)),
            stagger: watermark(params.stagger),
            idle: params.idle.as_ref().map(|idle| Idle::new(idle, soft_blocks, (blocks, planes), of_plane)),
        }
    }

    #[inline(always)]
    fn watermark(&self, is_collecting: bool) -> u32 {
        if is_collecting { self.stop_watermark } else { self.soft_watermark }
    }
}

impl TriggerPolicy for Policy {
    #[inline(always)]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[inline(always)]
    fn free_of(&self, ftl: &Ftl, plane: PlaneId) -> u32 {
        match self.count {
            Count::Blocks => ftl.free_blocks_of(plane),
            Count::Pages => ftl.free_pages_of(plane),
        }
    }

    #[inline(always)]
    fn wants_plane(&self, free: u32, plane_offset: u32, is_collecting: bool, _drive: &dyn DriveView) -> bool {
        free < self.watermark(is_collecting) + plane_offset * self.stagger
    }

    #[inline(always)]
    fn wants_collection(&self, free: u32, is_collecting: bool, _drive: &dyn DriveView) -> bool {
        free < self.watermark(is_collecting)
    }

    fn starts_now(&self, wanted: Wanted) -> bool {
        wanted.start != Start::Watermark || self.when == When::Below || wanted.request_waits
    }

    fn goes_on(&self) -> bool {
        self.collections == Collections::UntilStop
    }

    #[inline(always)]
    fn hard_watermark(&self) -> u32 {
        self.hard_watermark
    }

    fn soft_blocks(&self, geometry: &Geometry) -> u64 {
        let scopes = match self.scope {
            Scope::Plane => geometry.planes,
            Scope::Die => geometry.dies,
            Scope::Device => 1,
        };
        let per_block = if self.count == Count::Pages { geometry.pages_per_block } else { 1 };
        u64::from(scopes) * u64::from(self.soft_watermark / per_block)
    }

    #[inline(always)]
    fn idle(&self) -> Option<Idle> {
        self.idle
    }

    fn obey(&mut self) {
        self.soft_watermark = self.coordination.report.max(self.coordination.last_resort);
    }

    fn level_of(&self, free: u32) -> FreeLevel {
        // The lowest level that applies.
        let levels =
            [(self.coordination.last_resort, FreeLevel::LastResort), (self.coordination.start, FreeLevel::Start)];
        let low = levels.into_iter().find(|(watermark, _)| free < *watermark).map(|(_, level)| level);
        low.unwrap_or(if free < self.coordination.report { FreeLevel::Report } else { FreeLevel::High })
    }

    fn coordination_watermarks(&self, geometry: &Geometry) -> CoordinationWatermarks {
        let planes = match self.scope {
            Scope::Plane => 1,
            Scope::Die => geometry.planes_per_die,
            Scope::Device => geometry.planes,
        };
        let per_block = if self.count == Count::Pages { geometry.pages_per_block } else { 1 };
        let blocks = |watermark: u32| watermark.div_ceil(planes * per_block);
        CoordinationWatermarks {
            report: blocks(self.coordination.report),
            start: blocks(self.coordination.start),
            stop: blocks(self.stop_watermark),
        }
    }
}

#[cfg(test)]
mod tests;
