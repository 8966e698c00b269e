//! The configuration of the host: how it sends requests to the drive.

use crate::config::KeyError;
use serde::{Deserialize, Serialize};

/// Open or closed loop. `[host]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// `open`: requests arrive when the workload says (default). `closed`: the next request arrives when one ends.
    pub mode: HostMode,
    /// Requests that a closed loop keeps outstanding (default 32, at most 65536).
    pub queue_depth: u32,
    /// Requests that may be inside the drive at once (default 65536, the maximum); later ones wait for admission, in
    /// order. A drive takes 65,536 pages of requests at once, so that large requests may wait before this number is
    /// reached; the report counts them (`held_by_transaction_limit`).
    pub outstanding_max: u32,
    /// What a write of part of a mapping unit does (default `read-modify-write`).
    pub subpage_writes: SubpageWrites,
    /// The target of requests to an array: its `volume` (default), or `drive`. With `drive`, a request names its drive
    /// by number, bypasses the volume, and has an address of that drive. Only if stripes are not protected.
    #[serde(skip_serializing_if = "Target::is_default")]
    pub target: Target,
}

/// What requests to an array address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// The volume.
    #[default]
    Volume,
    /// One of its drives.
    Drive,
}

impl Target {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The source of arrival times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostMode {
    /// From the workload.
    Open,
    /// From completions.
    Closed,
}

/// What a write of part of a mapping unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubpageWrites {
    /// The rest of the unit is read first, if it holds data.
    ReadModifyWrite,
    /// The unit is written as if it were whole.
    Overwrite,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            mode: HostMode::Open,
            queue_depth: 32,
            outstanding_max: 65_536,
            subpage_writes: SubpageWrites::ReadModifyWrite,
            target: Target::Volume,
        }
    }
}

impl HostConfig {
    /// The note that the setting of partial writes has no effect. `has_partial_updates`: whether there was such a
    /// write.
    pub fn note_of_partial_updates(&self, has_partial_updates: bool) -> Option<String> {
        let is_set = self.subpage_writes != Self::default().subpage_writes;
        (is_set && !has_partial_updates).then(|| {
            "`host.subpage_writes` has no effect: no write covered a part of a mapping unit that held data".to_owned()
        })
    }

    /// The note that a limit was never reached: at most `peak` requests were outstanding. `has_one_loop`: the run has
    /// one workload, and `self.mode` is the mode of its loop.
    pub fn note_of_limits(&self, peak: u32, has_one_loop: bool) -> Option<String> {
        let usual = Self::default();
        let is_closed = has_one_loop && self.mode == HostMode::Closed;
        let (key, limit, usual) = match is_closed {
            true => ("queue_depth", self.queue_depth, usual.queue_depth),
            false => ("outstanding_max", self.outstanding_max, usual.outstanding_max),
        };
        (limit != usual && peak < limit)
            .then(|| format!("`host.{key}` has no effect: the largest number of outstanding requests was {peak}"))
    }

    /// Checks the limits.
    pub fn check(&self) -> Result<(), KeyError> {
        const MOST: u32 = super::TRANSACTIONS_MAX as u32;
        for (key, value) in [("queue_depth", self.queue_depth), ("outstanding_max", self.outstanding_max)] {
            if value == 0 || value > MOST {
                let why = if value == 0 { "" } else { ": a drive takes 65536 pages of requests at once, and no more" };
                return Err(KeyError::new(format!("host.{key}"), format!("{value} is not possible{why}"))
                    .with_help(format!("use a number from 1 to {MOST}")));
            }
        }
        Ok(())
    }
}
