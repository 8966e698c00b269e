//! A trigger of a program that calls Copyback: a class of Python, for example.
//!
//! It decides whether a scope must collect, and can read the decision of the watermarks. The rest is as with
//! `watermark`: whose free blocks are counted and how, idle collection, the hard watermark, and preconditioning. A
//! plane on which host writes wait for space is always collected. Each drive has its own trigger.
//!
//! Source: none of its own; docs/python.md shows how a policy is written and supplied.
//!
//! Parameters:
//! - `name`: the policy's name, as the caller supplied it.
//! - all of `watermark`, which are kept if this policy replaces it.

use super::idle::Idle;
use super::{CoordinationWatermarks, DriveView, FreeLevel, Parameters, Scope, TriggerPolicy, Wanted, watermark};
use crate::config::plugins::{Supplied, named};
use crate::config::{GeometryConfig, KeyError, ShareOrCount};
use crate::flash::geometry::Geometry;
use crate::ftl::core::Ftl;
use crate::sim::index::PlaneId;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;

/// The query whether a scope must collect.
#[derive(Clone, Copy)]
pub struct TriggerQuery<'a> {
    /// Its free quantity, as the watermarks count it.
    pub free: u32,
    /// The plane, if planes are the scope: its number on its die.
    pub plane_offset: Option<u32>,
    /// Whether it already collects.
    pub is_collecting: bool,
    /// The decision of the watermarks.
    pub is_below: bool,
    /// The drive.
    pub drive: &'a dyn DriveView,
}

/// A policy of the calling program.
pub trait Plugin: Send + Sync {
    /// Whether the scope must collect.
    fn wants(&self, query: &TriggerQuery<'_>) -> bool;
    /// Whether a wanted collection starts now, if the watermarks' `when` permits it.
    fn starts_now(&self, _wanted: Wanted) -> bool {
        true
    }
}

/// Makes a policy for a drive of this shape.
pub type Make = dyn Fn(&Geometry) -> Box<dyn Plugin> + Send + Sync;

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Params {
    /// The policy, by its name.
    pub name: Supplied<Make>,
    /// The watermarks whose decision it sees.
    #[serde(flatten)]
    pub watermark: watermark::Params,
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, watermark) = named(deserializer)?;
        Ok(Self { name, watermark })
    }
}

impl Parameters for Params {
    fn check(&self, geometry: &GeometryConfig) -> Result<(), KeyError> {
        self.name.check("trigger")?;
        self.watermark.check(geometry)
    }

    fn blocks_per_plane(&self, geometry: &GeometryConfig) -> (u32, u32) {
        self.watermark.blocks_per_plane(geometry)
    }

    fn stagger_blocks(&self) -> u32 {
        self.watermark.stagger_blocks()
    }

    fn stop_blocks_per_plane(&self, geometry: &GeometryConfig) -> u32 {
        self.watermark.stop_blocks_per_plane(geometry)
    }

    fn stop_key(&self) -> Option<(&'static str, ShareOrCount)> {
        self.watermark.stop_key()
    }

    fn key_needing_dies(&self) -> Option<&'static str> {
        self.watermark.key_needing_dies()
    }

    fn key_of_own_start(&self) -> Option<&'static str> {
        // A coordinated drive obeys watermarks; the program is not called.
        Some("trigger.policy")
    }
}

/// The policy of a run.
#[derive(Clone)]
pub struct Policy {
    watermark: watermark::Policy,
    plugin: Arc<dyn Plugin>,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("plugin").field(&self.watermark).finish()
    }
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry) -> Self {
        let plugin = params.name.maker()(geometry);
        Self { watermark: watermark::Policy::new(&params.watermark, geometry), plugin: plugin.into() }
    }
}

impl TriggerPolicy for Policy {
    fn scope(&self) -> Scope {
        self.watermark.scope()
    }

    fn free_of(&self, ftl: &Ftl, plane: PlaneId) -> u32 {
        self.watermark.free_of(ftl, plane)
    }

    fn wants_plane(&self, free: u32, plane_offset: u32, is_collecting: bool, drive: &dyn DriveView) -> bool {
        let is_below = self.watermark.wants_plane(free, plane_offset, is_collecting, drive);
        self.plugin.wants(&TriggerQuery { free, plane_offset: Some(plane_offset), is_collecting, is_below, drive })
    }

    fn wants_collection(&self, free: u32, is_collecting: bool, drive: &dyn DriveView) -> bool {
        let is_below = self.watermark.wants_collection(free, is_collecting, drive);
        self.plugin.wants(&TriggerQuery { free, plane_offset: None, is_collecting, is_below, drive })
    }

    fn starts_now(&self, wanted: Wanted) -> bool {
        self.watermark.starts_now(wanted) && self.plugin.starts_now(wanted)
    }

    fn goes_on(&self) -> bool {
        self.watermark.goes_on()
    }

    fn hard_watermark(&self) -> u32 {
        self.watermark.hard_watermark()
    }

    fn soft_blocks(&self, geometry: &Geometry) -> u64 {
        self.watermark.soft_blocks(geometry)
    }

    fn idle(&self) -> Option<Idle> {
        self.watermark.idle()
    }

    fn obey(&mut self) {
        self.watermark.obey();
    }

    fn level_of(&self, free: u32) -> FreeLevel {
        self.watermark.level_of(free)
    }

    fn coordination_watermarks(&self, geometry: &Geometry) -> CoordinationWatermarks {
        self.watermark.coordination_watermarks(geometry)
    }
}
