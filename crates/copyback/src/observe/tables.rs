//! Rows of the tables behind a report: samples of a drive's state, collections, requests; and when requests arrived.

use super::report::CAUSES;
use serde::Serialize;

/// State of the drive at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// When.
    pub time_ns: u64,
    /// Free blocks of the plane that has fewest.
    pub free_blocks_min: u32,
    /// Free blocks of a plane on average.
    pub free_blocks_mean: f64,
    /// Requests in the drive.
    pub queue_depth: u32,
    /// Dies in garbage collection.
    pub dies_collecting: u32,
    /// Requests done since the sample before.
    pub requests_done: u64,
    /// Sum of their response times.
    pub response_sum_ns: u64,
    /// Share of collections in percent, 0 while there are none: mean of the drives whose tasks have shares, if any do.
    pub gc_share_percent: Option<f64>,
    /// The same of scrubbing.
    pub scrub_share_percent: Option<f64>,
    /// Reads of the block that was read most since its erase, where they are counted.
    pub block_reads_max: Option<u32>,
}

/// A bin of the window of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// When it begins. It ends where the next one begins.
    pub start_ns: u64,
    /// Requests that ended in it, those of a warm-up, too.
    pub requests_done: u64,
    /// Sum of their response times.
    pub response_sum_ns: u64,
    /// Those of them that are reads.
    pub reads_done: u64,
    /// Those of these that are small.
    pub small_reads_done: u64,
    /// Sum of the response times of these.
    pub small_read_response_sum_ns: u64,
    /// Free blocks of all drives, at its end.
    pub free_blocks: u64,
    /// The fewest that were seen in it: at its start, at its end, and about ten times in between.
    pub free_blocks_fewest: u64,
    /// See [`Sample::gc_share_percent`]; at its end.
    pub gc_share_percent: Option<f64>,
    /// See [`Sample::scrub_share_percent`]; at its end.
    pub scrub_share_percent: Option<f64>,
    /// See [`Sample::block_reads_max`]; at its end.
    pub block_reads_max: Option<u32>,
}

/// One collection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GcEvent {
    /// The drive, where there are several.
    pub drive: u32,
    /// When its die was reserved for it, or its first command began.
    pub start_ns: u64,
    /// When its block was erased.
    pub end_ns: u64,
    /// Die of the victim.
    pub die: u32,
    /// Plane of the victim, counted over the drive.
    pub plane: u32,
    /// Victim, counted over the drive.
    pub block: u32,
    /// Valid units in it.
    pub units_valid: u32,
    /// Free blocks of the plane when it started.
    pub free_blocks: u32,
}

/// One host request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RequestRecord {
    /// Its number in the order of arrival, from 0.
    pub index: u64,
    /// 0 read, 1 write, 2 trim.
    pub op: u8,
    /// Whether it waited for collection.
    pub gc_affected: bool,
    /// When it arrived.
    pub arrival_ns: u64,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
    /// Response time.
    pub response_ns: u64,
    /// Its parts by cause, in the order of [`super::report::ALL_CAUSES`].
    pub breakdown_ns: [u64; CAUSES],
}

/// When requests arrived, those of a warm-up included. In a closed loop: when each began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// The first.
    pub first_ns: u64,
    /// The last.
    pub last_ns: u64,
    /// All of them.
    pub requests: u64,
    /// Those that arrived at the nanosecond of another.
    pub together: u64,
    /// Whether the last is one of those.
    is_together: bool,
}

impl Arrivals {
    /// Another arrival, not before the last one.
    #[inline]
    pub fn add(&mut self, at_ns: u64) {
        let is_together = self.requests > 0 && at_ns == self.last_ns;
        if is_together {
            self.together += 1 + u64::from(!self.is_together);
        }
        if self.requests == 0 {
            self.first_ns = at_ns;
        }
        (self.last_ns, self.is_together) = (at_ns, is_together);
        self.requests += 1;
    }
}
