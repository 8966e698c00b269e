//! Response times of one class: exact moments, and a histogram for the percentiles.

use super::report::Latency;
use hdrhistogram::Histogram;

/// The longest response time that has a bin: 292 years, the longest run. A histogram that clamped longer times would
/// sort them below shorter ones. Bins take 442 KB, of which the system provides the pages that are written.
const HIGHEST_NS: u64 = i64::MAX as u64;
/// Three significant digits: a percentile is at most 0.1 % above the true one.
const DIGITS: u8 = 3;

/// The share of the mean square below which a difference of floats has too few digits for a variance.
const CANCELLED: f64 = 1e-6;

/// Response times of one class.
#[derive(Clone)]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ns: u128,
    sum_squares: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("the bounds are constants");
        Self { histogram, sum_ns: 0, sum_squares: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Latencies {
    /// Counts one response time.
    #[inline]
    pub fn record(&mut self, response_ns: u64) {
        self.histogram.saturating_record(response_ns);
        self.sum_ns += u128::from(response_ns);
        self.sum_squares += u128::from(response_ns) * u128::from(response_ns);
        self.min_ns = self.min_ns.min(response_ns);
        self.max_ns = self.max_ns.max(response_ns);
    }

    /// Adds those of another class. Skips an empty class, because a histogram has many bins.
    pub fn add(&mut self, other: &Self) {
        if other.count() == 0 {
            return;
        }
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.sum_squares += other.sum_squares;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Requests.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Sum of the response times.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The histogram.
    pub fn into_histogram(self) -> Histogram<u64> {
        self.histogram
    }

    /// The variance, from the mean: the difference of the mean square and the square of the mean. If most of their
    /// digits cancel, it is computed in whole numbers, from the squares of distances to the mean's whole part.
    fn variance(&self, mean: f64) -> f64 {
        let count = self.count();
        let mean_square = self.sum_squares as f64 / count as f64;
        let variance = mean_square - mean * mean;
        if variance > CANCELLED * mean_square {
            return variance;
        }
        let (whole, n) = (self.sum_ns / u128::from(count), u128::from(count));
        let rest = (self.sum_ns % n) as f64 / count as f64;
        // Modulo 2^128, as the sum is; it is small.
        let distances = self.sum_squares.wrapping_sub(whole.wrapping_mul(2 * self.sum_ns));
        let distances = distances.wrapping_add(whole.wrapping_mul(whole).wrapping_mul(n));
        (distances as f64 / count as f64 - rest * rest).max(0.0)
    }

    /// Their part of the report.
    pub fn summary(&self) -> Latency {
        let count = self.count();
        if count == 0 {
            return Latency::default();
        }
        let mean = self.sum_ns as f64 / count as f64;
        let at = |quantile: f64| self.histogram.value_at_quantile(quantile).min(self.max_ns);
        Latency {
            count,
            mean_ns: mean,
            stdev_ns: self.variance(mean).sqrt(),
            min_ns: self.min_ns,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            p99_99_ns: at(0.9999),
            p99_999_ns: at(0.99999),
            p99_9999_ns: at(0.999999),
            max_ns: self.max_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(times_ns: &[u64]) -> Latency {
        let mut latencies = Latencies::default();
        times_ns.iter().for_each(|&ns| latencies.record(ns));
        latencies.summary()
    }

    /// Percentiles are sorted, lie between the shortest and the longest time, and are at most 0.1 % too long.
    #[test]
    fn percentiles_of_the_longest_times_are_sorted() {
        for shift in [20, 46, 47, 48, 49, 55, 61, 62] {
            let (short, long) = ((1_u64 << shift) + (1 << (shift - 1)), (1_u64 << (shift + 1)) - 1);
            let of = summary(&[short, short, long]);
            assert!((short..=short + short / 1_000).contains(&of.p50_ns), "{shift}: {of:?}");
            assert_eq!((of.min_ns, of.p99_ns, of.p99_9999_ns, of.max_ns), (short, long, long, long));
            let several = summary(&[1 << shift, 1, 1 << (shift + 1), 1 << 46]);
            assert!(several.min_ns <= several.p50_ns && several.p50_ns <= several.p90_ns, "{shift}: {several:?}");
        }
    }

    /// Distances of 3, 1, 1 and 3 ns from the mean, however long it is.
    #[test]
    fn the_standard_deviation_of_long_times_keeps_its_digits() {
        for shift in [4, 20, 30, 48, 60] {
            let from = 1_u64 << shift;
            let of = summary(&[from, from + 2, from + 4, from + 6]);
            assert!((of.stdev_ns - 5_f64.sqrt()).abs() < 1e-6, "2^{shift}: {}", of.stdev_ns);
        }
        assert_eq!(summary(&[1 << 50; 3]).stdev_ns, 0.0);
        assert_eq!(summary(&[7]).stdev_ns, 0.0);
    }
}
