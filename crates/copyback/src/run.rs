//! One run from configuration to report.

use crate::config::{KeyError, RunConfig};
use crate::metrics::report::Outcome;
use copyback_workload::RequestSource;

/// What a run is to do beyond its configuration.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of all random streams.
    pub seed: u64,
    /// Stop after so many requests.
    pub requests: Option<u64>,
    /// Check every invariant, and versions of all data, while running.
    pub check: bool,
    /// Keep a record of every round of collection.
    pub keep_gc_events: bool,
    /// Keep a record of every request.
    pub keep_requests: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, requests: None, check: false, keep_gc_events: false, keep_requests: false }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now_ns: u64,
    /// Requests done.
    pub requests_done: u64,
    /// Flash page operations done.
    pub page_operations: u64,
}

/// Why a run ended without a report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] KeyError),
    /// The workload cannot be read.
    #[error("{0}")]
    Workload(copyback_workload::Error),
    /// A request does not fit the drive.
    #[error(
        "request {index} ({op} of {len_bytes} bytes at byte {offset_bytes}) ends beyond the drive's {capacity_bytes} bytes"
    )]
    BeyondCapacity {
        /// Its number, from 0.
        index: u64,
        /// Its operation.
        op: &'static str,
        /// Its first byte.
        offset_bytes: u64,
        /// Its length.
        len_bytes: u64,
        /// What the drive holds.
        capacity_bytes: u64,
    },
    /// The workload holds no request.
    #[error("the workload holds no request")]
    Empty,
    /// An invariant broke: a defect of the simulator or of a policy.
    #[error("invariant broken at {now_ns} ns: {what}")]
    Invariant {
        /// Simulated time.
        now_ns: u64,
        /// Which, and how.
        what: String,
    },
}

/// A drive with a past, made once and cloned for every scheme of a comparison.
#[derive(Clone)]
pub struct Image {}

/// Makes a drive and lets it live through its preconditioning. Two configurations with the same [`image_key`] may share
/// one image.
pub fn precondition(_config: &RunConfig, _seed: u64) -> Result<Image, RunError> {
    Ok(Image {})
}

/// What an image depends on: two configurations with equal keys have the same past.
pub fn image_key(_config: &RunConfig) -> String {
    String::new()
}

/// Runs a workload on a drive. `progress` is called now and then, a few times a second.
pub fn simulate(
    _config: &RunConfig,
    _image: Image,
    _source: Box<dyn RequestSource + Send>,
    _options: &Options,
    _progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, RunError> {
    Err(RunError::Empty)
}
