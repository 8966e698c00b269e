//! Response times of one class: exact moments, and a histogram for the percentiles.

use super::report::Latency;
use hdrhistogram::Histogram;

/// The longest response time that a bin is kept for: 39 hours. Longer ones count in the last bin; moments stay exact.
const HIGHEST_NS: u64 = 1 << 47;
/// Three significant digits: a percentile is at most 0.1 % above the true one.
const DIGITS: u8 = 3;

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

    /// Their part of the report.
    pub fn summary(&self) -> Latency {
        let count = self.count();
        if count == 0 {
            return Latency::default();
        }
        let mean = self.sum_ns as f64 / count as f64;
        let mean_square = self.sum_squares as f64 / count as f64;
        let at = |quantile: f64| self.histogram.value_at_quantile(quantile).min(self.max_ns);
        Latency {
            count,
            mean_ns: mean,
            stdev_ns: (mean_square - mean * mean).max(0.0).sqrt(),
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
