//! Whether requests of an open loop arrive faster than the drives serve them.
//!
//! Requests then wait the longer, the longer the run: no response time is that of a steady state, whatever write
//! amplification does.

use crate::observe::report::{Arrivals, Outcome, Sample};

/// Parts of a run, until its last arrival, over which outstanding requests are compared.
const PARTS: usize = 5;
/// Rise of outstanding requests from the first part to the last, as a factor.
const RISE: f64 = 2.0;
/// Outstanding requests below which nothing piles up.
const OUTSTANDING_MIN: u32 = 64;
/// Duration of an overloaded run, in multiples of the time in which requests arrive.
const LASTS: f64 = 2.0;

/// Whether requests of an open loop came faster than the drives served them, which had `outstanding_max` at most.
pub(super) fn is_overloaded(outstanding_max: u32, outcome: &Outcome) -> bool {
    let report = &outcome.report;
    // A few requests of many pages fill a drive, too. If each ends before the next one arrives, none piles up.
    let fills_up =
        report.peak_outstanding >= OUTSTANDING_MIN.min(outstanding_max) || report.held_by_transaction_limit > 0;
    fills_up && (lasts(outcome) > LASTS || rises(outcome))
}

/// How long a run lasted, in multiples of the time in which its requests arrived; not finite if they arrived at once.
pub fn lasts(outcome: &Outcome) -> f64 {
    let Arrivals { first_ns, last_ns, .. } = outcome.arrivals;
    let report = &outcome.report;
    let since_ns = report.warmup.map_or(first_ns, |warmup| warmup.end_ns);
    let end_ns = since_ns + report.simulated_ns;
    end_ns.saturating_sub(first_ns) as f64 / (last_ns - first_ns) as f64
}

/// Whether outstanding requests rose from each part of the run to the next. After the last arrival they can only fall:
/// that time does not count.
fn rises(outcome: &Outcome) -> bool {
    let series = &outcome.series;
    let samples = &series[..series.partition_point(|sample| sample.time_ns <= outcome.arrivals.last_ns)];
    if samples.len() < 2 * PARTS {
        return false;
    }
    let mean = |part: &[Sample]| part.iter().map(|s| f64::from(s.queue_depth)).sum::<f64>() / part.len() as f64;
    let means: Vec<f64> = (0..PARTS)
        .map(|part| mean(&samples[part * samples.len() / PARTS..(part + 1) * samples.len() / PARTS]))
        .collect();
    means.windows(2).all(|pair| pair[0] < pair[1])
        && means[PARTS - 1] >= RISE * means[0]
        && means[PARTS - 1] >= f64::from(OUTSTANDING_MIN)
}
