//! Whether requests of an open loop arrive faster than the drives serve them.
//!
//! Waits then grow with the length of the run: response times are not in a steady state, even if write amplification
//! is.

use super::simulation::Simulation;
use crate::observe::report::{Arrivals, Outcome, Sample};

/// Parts of a run, until its last arrival, over which outstanding requests are compared.
const PARTS: usize = 5;
/// Rise of outstanding requests from the first part to the last, as a factor.
const RISE: f64 = 2.0;
/// Outstanding requests below which nothing piles up.
const OUTSTANDING_MIN: u32 = 64;
/// Duration of an overloaded run, in multiples of the time in which requests arrive.
const LASTS: f64 = 2.0;

/// Whether requests of an open loop came faster than the drives served them, at the end of a run and of its series.
pub(super) fn is_overloaded(simulation: &Simulation<'_>) -> bool {
    // A few requests of many pages fill a drive, too. If each ends before the next one arrives, none piles up.
    let most = OUTSTANDING_MIN.min(simulation.host().outstanding_max);
    let fills_up = simulation.peak_outstanding() >= most || simulation.held_requests() > 0;
    let arrivals = simulation.arrivals();
    let start = simulation.start_of_measures();
    let warmup_end_ns = (start.requests > 0).then_some(start.now_ns);
    let lasts = times_of_arrivals(&arrivals, warmup_end_ns, simulation.span_ns());
    fills_up && (lasts > LASTS || rises(&simulation.collector.series, &arrivals))
}

/// How long a run lasted, in multiples of the time in which its requests arrived; not finite if they arrived at once.
pub fn lasts(outcome: &Outcome) -> f64 {
    let report = &outcome.report;
    times_of_arrivals(&outcome.arrivals, report.warmup.map(|warmup| warmup.end_ns), report.simulated_ns)
}

fn times_of_arrivals(arrivals: &Arrivals, warmup_end_ns: Option<u64>, span_ns: u64) -> f64 {
    let Arrivals { first_ns, last_ns, .. } = *arrivals;
    let end_ns = warmup_end_ns.unwrap_or(first_ns) + span_ns;
    end_ns.saturating_sub(first_ns) as f64 / (last_ns - first_ns) as f64
}

/// Whether outstanding requests rose from each part of the run to the next. After the last arrival they can only fall:
/// that time does not count.
fn rises(series: &[Sample], arrivals: &Arrivals) -> bool {
    let samples = &series[..series.partition_point(|sample| sample.time_ns <= arrivals.last_ns)];
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
