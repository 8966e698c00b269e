//! The summary of a window: its slowest bin, and the correlation of free blocks and shares.

use super::tables::Bin;
use serde::Serialize;

/// Fewest small reads of a bin whose mean is meaningful: the mean of one read is that read.
const SMALL_READS_MIN: u64 = 10;

/// The report of a window; its bins are a table of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WindowReport {
    /// Bins, as far as the run went.
    pub bins: u64,
    /// Standard deviation of the number of requests that ended in a bin, over its mean, without the last bin, in which
    /// the run may end. `None` with fewer than two others, or if no request ended in them.
    pub requests_variation: Option<f64>,
    /// The highest mean response time of small reads in a bin with at least ten of them; `None` if none has.
    pub small_read_mean_max_ns: Option<f64>,
    /// Share of such bins in which the mean was more than twice that of all bins together.
    pub small_read_slow_bins: Option<f64>,
    /// The longest unbroken time of such slow bins; bins with fewer small reads are skipped.
    pub small_read_slow_longest_ns: u64,
    /// Fewest free blocks of all drives.
    pub free_blocks_min: u64,
    /// Most free blocks of all drives.
    pub free_blocks_max: u64,
    /// The highest share of collection, in percent, if shares are known.
    pub gc_share_max_percent: Option<f64>,
    /// Its mean over the bins at whose end it was above 0.
    pub gc_share_mean_percent: Option<f64>,
    /// The highest share of scrubbing.
    pub scrub_share_max_percent: Option<f64>,
    /// Pearson's correlation of the free blocks and the share of collection, bin by bin; `None` if one of them is
    /// constant.
    pub free_blocks_gc_share_correlation: Option<f64>,
    /// The highest count of reads of a block in the first bin in which scrubbing had a share.
    pub scrub_block_reads_first: Option<u32>,
    /// The same in the last.
    pub scrub_block_reads_last: Option<u32>,
}

impl WindowReport {
    /// The report of these bins, which are of one length.
    pub fn of(bins: &[Bin]) -> Self {
        let mean = |bin: &Bin| {
            (bin.small_reads_done >= SMALL_READS_MIN)
                .then(|| bin.small_read_response_sum_ns as f64 / bin.small_reads_done as f64)
        };
        let means = || bins.iter().filter_map(mean);
        let highest = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
        let reads: u64 = bins.iter().map(|bin| bin.small_reads_done).sum();
        let sum_ns: f64 = bins.iter().map(|bin| bin.small_read_response_sum_ns as f64).sum();
        let slow_ns = 2.0 * sum_ns / reads as f64;
        let scrubbing = || bins.iter().filter(|bin| bin.scrub_share_percent.is_some_and(|share| share > 0.0));
        let counts = |bin: Option<&Bin>| bin.and_then(|bin| bin.block_reads_max);
        let pairs: Vec<(f64, f64)> =
            bins.iter().filter_map(|bin| Some((bin.free_blocks as f64, bin.gc_share_percent?))).collect();
        Self {
            bins: bins.len() as u64,
            requests_variation: variation(&bins[..bins.len().saturating_sub(1)]),
            small_read_mean_max_ns: highest(&mut means()),
            small_read_slow_bins: means()
                .next()
                .is_some()
                .then(|| means().filter(|&mean| mean > slow_ns).count() as f64 / means().count() as f64),
            small_read_slow_longest_ns: longest(bins, |bin| mean(bin).map(|mean| mean > slow_ns)),
            free_blocks_min: bins.iter().map(|bin| bin.free_blocks_fewest).min().unwrap_or(0),
            free_blocks_max: bins.iter().map(|bin| bin.free_blocks).max().unwrap_or(0),
            gc_share_max_percent: highest(&mut bins.iter().filter_map(|bin| bin.gc_share_percent)),
            gc_share_mean_percent: {
                let shares: Vec<f64> =
                    bins.iter().filter_map(|bin| bin.gc_share_percent).filter(|&share| share > 0.0).collect();
                (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
            },
            scrub_share_max_percent: highest(&mut bins.iter().filter_map(|bin| bin.scrub_share_percent)),
            free_blocks_gc_share_correlation: correlation(&pairs),
            scrub_block_reads_first: counts(scrubbing().next()),
            scrub_block_reads_last: counts(scrubbing().next_back()),
        }
    }
}

/// The longest time from the first to the last of successive slow bins; inconclusive bins are skipped.
fn longest(bins: &[Bin], is_slow: impl Fn(&Bin) -> Option<bool>) -> u64 {
    let bin_ns = bins.windows(2).next().map_or(0, |two| two[1].start_ns - two[0].start_ns);
    let (mut from_ns, mut longest_ns) = (None, 0);
    for bin in bins {
        match is_slow(bin) {
            Some(true) => {
                let from_ns = *from_ns.get_or_insert(bin.start_ns);
                longest_ns = longest_ns.max(bin.start_ns + bin_ns - from_ns);
            }
            Some(false) => from_ns = None,
            None => {}
        }
    }
    longest_ns
}

fn variation(bins: &[Bin]) -> Option<f64> {
    let (count, done) = (bins.len() as f64, || bins.iter().map(|bin| bin.requests_done as f64));
    let mean = done().sum::<f64>() / count;
    let variance = done().map(|requests| (requests - mean).powi(2)).sum::<f64>() / count;
    (bins.len() > 1 && mean > 0.0).then(|| variance.sqrt() / mean)
}

fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| of(x - x_mean, y - y_mean)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bins of 100 ns: small reads and the sum of their times, free blocks, and the share of collection.
    fn bins(of: &[(u64, u64, u64, f64)]) -> Vec<Bin> {
        let bin = |(at, &(reads, sum_ns, free_blocks, share)): (usize, &(u64, u64, u64, f64))| Bin {
            start_ns: 100 * at as u64,
            requests_done: reads,
            response_sum_ns: sum_ns,
            reads_done: reads,
            small_reads_done: reads,
            small_read_response_sum_ns: sum_ns,
            free_blocks,
            free_blocks_fewest: free_blocks - 1,
            gc_share_percent: Some(share),
            scrub_share_percent: Some(share / 2.0),
            block_reads_max: Some(1_000 - at as u32),
        };
        of.iter().enumerate().map(bin).collect()
    }

    #[test]
    fn a_window_is_as_slow_as_its_slowest_bins() {
        // The bin with few reads is slower, but does not count.
        let (slow, few) = ((10, 1_200, 90, 4.0), (9, 1_260, 100, 0.0));
        let report = WindowReport::of(&bins(&[(20, 100, 100, 0.0), slow, few, slow, (20, 100, 110, 0.0)]));
        assert_eq!((report.bins, report.small_read_mean_max_ns), (5, Some(120.0)));
        assert_eq!((report.small_read_slow_bins, report.small_read_slow_longest_ns), (Some(0.5), 300));
        assert!((report.requests_variation.expect("there are four") - 0.366_780).abs() < 1e-6);
        assert_eq!((report.free_blocks_min, report.free_blocks_max), (89, 110));
        assert_eq!(report.gc_share_mean_percent, Some(4.0));
        assert_eq!((report.gc_share_max_percent, report.scrub_share_max_percent), (Some(4.0), Some(2.0)));
        assert_eq!((report.scrub_block_reads_first, report.scrub_block_reads_last), (Some(999), Some(997)));
    }

    #[test]
    fn shares_that_rise_as_blocks_fall_are_correlated_by_minus_one() {
        let report = WindowReport::of(&bins(&[(1, 1, 100, 0.0), (1, 1, 90, 1.0), (1, 1, 80, 2.0)]));
        assert!((report.free_blocks_gc_share_correlation.expect("both change") + 1.0).abs() < 1e-12);
        assert_eq!(
            WindowReport::of(&bins(&[(1, 1, 100, 0.0), (1, 1, 90, 0.0)])).free_blocks_gc_share_correlation,
            None
        );
        assert_eq!(WindowReport::of(&[]), WindowReport::default());
    }
}
