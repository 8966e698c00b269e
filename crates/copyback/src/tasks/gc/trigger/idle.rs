//! Idle time: collection also runs while the drive has no other work, before a watermark requires it.
//!
//! Source: ispass11 Section IV-A: "in the idle-time GC scheme the GC process is triggered when there are no new
//! incoming requests and all queued requests are already serviced". The reactive watermarks stay in effect.

use super::watermark;
use crate::config::times::check_distance;
use crate::config::{GeometryConfig, KeyError, ShareOrCount};
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// `[trigger.idle]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The time for which the drive has been idle.
    pub after: Nanos,
    /// Collection stops when this many blocks are free (default: twice `trigger.soft`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<ShareOrCount>,
}

impl Default for Params {
    fn default() -> Self {
        Self { after: Nanos(10_000_000), stop: None }
    }
}

impl Params {
    /// The watermark at which idle collection stops, in blocks of the scope.
    fn stop_blocks(&self, scope_blocks: u32, soft_blocks: u32) -> u32 {
        self.stop.map_or(2 * soft_blocks, |watermark| watermark.of(scope_blocks))
    }

    /// The watermark at which idle collection stops, in blocks of each plane.
    pub(super) fn stop_blocks_per_plane(&self, watermark: &watermark::Params, geometry: &GeometryConfig) -> u32 {
        let (blocks, planes) = watermark.scope_blocks(geometry);
        self.stop_blocks(blocks, watermark.soft.of(blocks)).div_ceil(planes)
    }

    pub(super) fn check(&self, watermark: &watermark::Params, geometry: &GeometryConfig) -> Result<(), KeyError> {
        check_distance("trigger.idle.after", self.after)?;
        let blocks = watermark.scope_blocks(geometry).0;
        let reactive = watermark.stop.unwrap_or(watermark.soft).of(blocks);
        let stop = self.stop_blocks(blocks, watermark.soft.of(blocks));
        if (reactive..blocks).contains(&stop) {
            return Ok(());
        }
        Err(KeyError::new(
            "trigger.idle.stop",
            format!("{stop} of {blocks} blocks are no watermark for idle collection"),
        )
        .with_help(format!("use {reactive} (the reactive collection stops there) to {} blocks", blocks - 1)))
    }
}

/// The idle trigger of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    after_ns: u64,
    stop_watermark: u32,
}

impl Idle {
    /// The time at which a drive that has had no work since `since_ns` counts as idle.
    #[inline]
    pub fn begins_ns(&self, since_ns: u64) -> u64 {
        since_ns + self.after_ns
    }

    /// Whether a plane with this much free is collected in idle time.
    #[inline]
    pub fn wants_plane(&self, free: u32) -> bool {
        free < self.stop_watermark
    }

    /// For a scope of this many blocks and planes; `watermark` converts a number of blocks to a watermark.
    pub(super) fn new(
        params: &Params,
        soft_blocks: u32,
        (blocks, planes): (u32, u32),
        watermark: impl Fn(u32) -> u32,
    ) -> Self {
        let stop_blocks = params.stop_blocks(blocks, soft_blocks);
        Self { after_ns: params.after.0, stop_watermark: watermark(stop_blocks.div_ceil(planes)) }
    }
}
