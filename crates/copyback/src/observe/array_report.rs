//! The report of an array, and of each of its drives.

use super::report::Latency;
use serde::Serialize;

/// An array.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ArrayReport {
    /// Its RAID level.
    pub level: &'static str,
    /// Bytes of a stripe unit.
    pub stripe_unit_bytes: u64,
    /// Stripe units of the drives that had failed before the run.
    pub units_lost: u64,
    /// The counters of the volume.
    pub volume: VolumeTotals,
    /// Rounds of coordinated collection; `None` without coordination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<RoundTotals>,
    /// Shares of time in which exactly 0, 1, … drives collect: windows of degraded service are those above 0.
    pub collecting_shares: Vec<f64>,
    /// Share of time in which any drive collects.
    pub degraded_share: f64,
    /// Share of time in which a die is held by collection: mean over the dies of all drives.
    pub gc_share: f64,
    /// The least of a drive.
    pub gc_share_min: f64,
    /// The most of a drive.
    pub gc_share_max: f64,
    /// Orders to all drives; `None` without coordination.
    #[serde(rename = "orders", skip_serializing_if = "Option::is_none")]
    pub coordination: Option<CoordinationTotals>,
    /// Windows of degraded service: how often a drive began to collect while none did, and the one that was open when
    /// the measurement began.
    pub degraded_windows: u64,
    /// Its drives.
    pub drives: Vec<DriveReport>,
}

/// A drive of an array.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DriveReport {
    /// Its number, from 0.
    pub drive: u32,
    /// The seed of its streams, which a run of this drive alone would take.
    pub seed: u64,
    /// Response times of the volume's reads on it.
    pub read: Latency,
    /// Response times of the volume's writes on it.
    pub write: Latency,
    /// Units that it wrote for the volume, data and parity.
    pub units_written: u64,
    /// Collections.
    pub collections: u64,
    /// Valid units that they moved.
    pub units_moved: u64,
    /// Blocks that it erased.
    pub erases: u64,
    /// Share of its dies' time in which collection held them.
    pub gc_share: f64,
    /// Share of its dies' time in which they worked.
    pub busy_share: f64,
    /// Fewest free blocks of a plane.
    pub min_free_blocks: u32,
    /// Orders to it; `None` if it collects by itself.
    #[serde(rename = "orders", skip_serializing_if = "Option::is_none")]
    pub coordination: Option<CoordinationTotals>,
}

/// Writes the counters of something: fields, and their differences.
macro_rules! totals {
    ($(#[$meta:meta])* $name:ident { $( $(#[$of:meta])* $field:ident ),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct $name {
            $( $(#[$of])* pub $field: u64, )+
        }

        impl $name {
            /// Combines each count with the same count of `other`.
            #[must_use]
            pub fn zip(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
                Self { $( $field: with(self.$field, other.$field), )+ }
            }
        }
    };
}

totals! {
    /// The counters of a volume.
    VolumeTotals {
        /// Requests of drives.
        parts,
        /// Writes that read nothing: of whole stripes, of mirrors, and of stripes whose parity is lost.
        full_stripe_writes,
        /// Writes after reading old data and parity.
        read_modify_writes,
        /// Writes after reading other data.
        reconstruct_writes,
        /// Reads before those.
        reads_before_writes,
        /// Writes of parity, or of second and further copies.
        redundant_writes,
        /// Reads that were rebuilt because a drive has failed.
        degraded_reads,
        /// Reads that were rebuilt or went to a mirror because their drive collected.
        gc_aware_reads,
        /// Reads that had to wait, because alternative drives collected, too, or had failed.
        gc_aware_waits,
        /// Operations that waited for their stripe.
        stripe_waits,
        /// Stripe units that were rebuilt.
        units_rebuilt,
        /// When the last of them was; 0 while some are left.
        rebuilt_at_ns,
    }
}

totals! {
    /// Rounds of coordinated collection.
    RoundTotals {
        /// Rounds that have ended.
        rounds,
        /// Drives that were forced.
        drives_forced,
        /// From the order to the last drive that was done, summed over rounds.
        rounds_ns,
        /// Messages of drives to their controller, and back.
        messages,
    }
}

totals! {
    /// Orders to a drive.
    CoordinationTotals {
        /// Times that it was forced to collect.
        forced,
        /// Collections that it began for that.
        forced_collections,
        /// Collections that it began without an order, at its last resort.
        last_resort_collections,
        /// Orders to pause that arrived during a collection.
        pauses,
    }
}

/// Bytes done in intervals of one length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BandwidthReport {
    /// Length of an interval.
    pub every_ns: u64,
    /// Whole intervals of the measurement.
    pub intervals: u64,
    /// Bytes a second: mean over intervals; no number without intervals.
    pub mean_bytes_per_s: f64,
    /// Standard deviation.
    pub stdev_bytes_per_s: f64,
    /// Standard deviation over mean: coefficient of variation; no number if nothing was done.
    pub cv: f64,
    /// Shares of intervals by Z-score, the distance of an interval from the mean in standard deviations: below −3, in
    /// steps of a half from −3 to 3, and from 3 on.
    pub z_scores: Vec<f64>,
    /// Bytes of each interval.
    pub bytes: Vec<u64>,
}

impl BandwidthReport {
    /// Of the bytes of each interval.
    pub fn of(every_ns: u64, bytes: &[u64]) -> Self {
        let per_s = 1e9 / every_ns as f64;
        let count = bytes.len() as f64;
        let mean = bytes.iter().map(|&b| b as f64).sum::<f64>() / count;
        let variance = bytes.iter().map(|&b| (b as f64 - mean).powi(2)).sum::<f64>() / count;
        let stdev = variance.sqrt();
        let mut z_scores = vec![0.0; 14];
        for &b in bytes {
            let z = if stdev > 0.0 { (b as f64 - mean) / stdev } else { 0.0 };
            z_scores[(((z + 3.0) * 2.0).floor() + 1.0).clamp(0.0, 13.0) as usize] += 1.0 / count;
        }
        Self {
            every_ns,
            intervals: bytes.len() as u64,
            mean_bytes_per_s: mean * per_s,
            stdev_bytes_per_s: stdev * per_s,
            cv: if mean > 0.0 { stdev / mean } else { f64::NAN },
            z_scores,
            bytes: bytes.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four intervals of half a second: 1, 3, 1 and 3 MB have a mean of 4 MB/s and a deviation of 2.
    #[test]
    fn bandwidth_by_hand() {
        let report = BandwidthReport::of(500_000_000, &[1_000_000, 3_000_000, 1_000_000, 3_000_000]);
        assert_eq!((report.mean_bytes_per_s, report.stdev_bytes_per_s, report.cv), (4e6, 2e6, 0.5));
        // Z-scores −1 and 1.
        let expected = |at: usize| if [5, 9].contains(&at) { 0.5 } else { 0.0 };
        assert_eq!(report.z_scores, (0..14).map(expected).collect::<Vec<_>>());
        // Nothing measured is no number.
        let none = BandwidthReport::of(1, &[]);
        assert!(none.mean_bytes_per_s.is_nan() && none.cv.is_nan());
    }
}
