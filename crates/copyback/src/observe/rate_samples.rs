//! A summary of rates over equal intervals, as fio samples the bandwidth and the requests of a job.

use copyback_workload::Op;

/// The length of an interval: fio's default.
const INTERVAL_NS: u64 = 500_000_000;

/// The rates of the intervals in which requests completed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSamples {
    /// Intervals in which requests completed.
    pub count: u64,
    /// The lowest rate.
    pub min: u64,
    /// The highest.
    pub max: u64,
    /// Their mean.
    pub mean: f64,
    /// Sum of the squares of their deviations from the mean.
    pub squares: f64,
}

impl RateSamples {
    /// One more interval.
    fn add(&mut self, rate: u64) {
        self.min = if self.count == 0 { rate } else { self.min.min(rate) };
        self.max = self.max.max(rate);
        self.count += 1;
        let delta = rate as f64 - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (rate as f64 - self.mean);
    }

    /// Standard deviation of the sample; 0 of a single one.
    pub fn deviation(&self) -> f64 {
        if self.count > 1 { (self.squares / (self.count - 1) as f64).sqrt() } else { 0.0 }
    }

    /// The sums of two jobs, as fio reports them as one.
    pub fn join(&mut self, other: &Self) {
        self.min += other.min;
        self.max += other.max;
        self.count += other.count;
        self.mean += other.mean;
        self.squares += other.squares;
    }
}

/// Rates of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpRates {
    /// KiB a second.
    pub kib_per_s: RateSamples,
    /// Requests a second.
    pub requests_per_s: RateSamples,
}

/// The interval at hand of a workload, and the rates of those before it.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// When it ends; 0 before the first request.
    end_ns: u64,
    done: [u64; 3],
    bytes: [u64; 3],
    rates: [OpRates; 3],
}

impl Intervals {
    /// A request ends; intervals count from `from_ns`.
    #[inline]
    pub fn record(&mut self, op: Op, len_bytes: u64, now_ns: u64, from_ns: u64) {
        if now_ns >= self.end_ns {
            self.close(now_ns, from_ns);
        }
        self.done[op as usize] += 1;
        self.bytes[op as usize] += len_bytes;
    }

    /// The interval at hand is over, and the one of this time begins.
    #[cold]
    fn close(&mut self, now_ns: u64, from_ns: u64) {
        if self.end_ns > 0 {
            self.sample();
        }
        let whole = now_ns.saturating_sub(from_ns) / INTERVAL_NS + 1;
        self.end_ns = from_ns.saturating_add(whole.saturating_mul(INTERVAL_NS));
    }

    fn sample(&mut self) {
        let per_s = |count: u64| count.saturating_mul(1000) / (INTERVAL_NS / 1_000_000);
        for (op, rates) in self.rates.iter_mut().enumerate() {
            let (done, bytes) = (std::mem::take(&mut self.done[op]), std::mem::take(&mut self.bytes[op]));
            if done > 0 {
                rates.kib_per_s.add(per_s(bytes) / 1024);
                rates.requests_per_s.add(per_s(done));
            }
        }
    }

    /// The rates of reads, writes and trims, of the intervals that have ended by then.
    pub fn rates(&self, now_ns: u64) -> [OpRates; 3] {
        let mut last = self.clone();
        if self.end_ns > 0 && now_ns >= self.end_ns {
            last.sample();
        }
        last.rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two intervals of 500 ms with 100 and 300 reads of 4 KiB, one without, one that has not ended.
    #[test]
    fn rates_are_those_of_whole_intervals() {
        let mut intervals = Intervals::default();
        let from_ns = 7_000_000;
        for (interval, count) in [(0, 100_u64), (1, 300), (3, 50)] {
            for request in 0..count {
                let now_ns = from_ns + interval * INTERVAL_NS + request * 1_000_000;
                intervals.record(Op::Read, 4096, now_ns, from_ns);
            }
        }
        let [reads, writes, _] = intervals.rates(from_ns + 4 * INTERVAL_NS - 1);
        // 200 and 600 requests a second; the deviation of two values is their difference over the root of two.
        let requests = reads.requests_per_s;
        assert_eq!((requests.count, requests.min, requests.max, requests.mean), (2, 200, 600, 400.0));
        assert!((requests.deviation() - 400.0 / 2_f64.sqrt()).abs() < 1e-9);
        assert_eq!((reads.kib_per_s.min, reads.kib_per_s.max), (800, 2400));
        assert_eq!(writes, OpRates::default());
        assert_eq!(intervals.rates(from_ns + 4 * INTERVAL_NS)[0].requests_per_s.count, 3, "the last one has ended");
    }
}
