//! Whether requests of an open loop arrive faster than the drives serve them.
//!
//! Waits then grow with the length of the run: response times are not in a steady state, even if write amplification
//! is.
//!
//! In an overload, outstanding requests accumulate: their number rises along a line. The rise is compared with the
//! requests that arrived meanwhile, not with the number at the start, so that it is the same after any warm-up: a
//! backlog of the warm-up neither hides nor causes an overload.

use super::simulation::Simulation;
use crate::observe::backlog::Trend;
use crate::observe::report::{Arrivals, Outcome};
use crate::observe::steady::{self, RESERVE_MAX, ROUNDS, RunPosition};

/// Rise of outstanding requests below which they do not accumulate: a drive that serves 99 of 100 requests in time
/// keeps up, as far as a run of limited length tells.
const RISE_MIN: f64 = 0.01;
/// Outstanding requests below which none accumulate.
const OUTSTANDING_MIN: u32 = 64;
/// A run that had many outstanding requests is overloaded if it lasts longer than this, in multiples of the time in
/// which requests arrive.
const LASTS: f64 = 2.0;

/// Whether outstanding requests accumulate at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// They neither accumulate nor decrease.
    Served,
    /// A backlog that the warm-up left is worked off: response times still fall.
    Draining,
    /// Requests arrive faster than the drives serve them.
    Overloaded,
}

/// Whether requests of an open loop came faster than the drives served them, at the end of a run.
///
/// The measured part may be short, so the trend of the whole run, with its warm-up, counts as well.
pub(super) fn load(simulation: &Simulation<'_>) -> Load {
    // A few requests of many pages fill a drive, too. If each ends before the next one arrives, none accumulates.
    let most = OUTSTANDING_MIN.min(simulation.host().outstanding_max);
    let fills_up = simulation.peak_outstanding() >= most || simulation.held_requests() > 0;
    let start = simulation.start_of_measures();
    let warmup_end_ns = (start.requests > 0).then_some(start.now_ns);
    let lasts = times_of_arrivals(&simulation.arrivals(), warmup_end_ns, simulation.span_ns());
    let trends = [0, warmup_end_ns.unwrap_or(0)].map(|from_ns| simulation.backlog().trend(from_ns));
    if fills_up && lasts > LASTS || trends.iter().flatten().any(accumulates) {
        Load::Overloaded
    } else if trends[1].is_some_and(|trend| drains(&trend)) {
        Load::Draining
    } else {
        Load::Served
    }
}

/// Whether outstanding requests rise by more than chance. After a burst, their number departs from any line by more
/// than the line rises.
fn accumulates(trend: &Trend) -> bool {
    let least = f64::from(OUTSTANDING_MIN).max(RISE_MIN * trend.arrived as f64);
    trend.rise >= least && trend.rise >= trend.deviation
}

/// Whether drives serve noticeably more requests than arrive: by at least [`RESERVE_MAX`] of the arrived requests, and
/// by at least [`OUTSTANDING_MIN`] requests.
fn drains(trend: &Trend) -> bool {
    -trend.rise >= f64::from(OUTSTANDING_MIN).max(RESERVE_MAX * trend.arrived as f64)
}

/// Whether drives work off a backlog over the rounds that end here.
pub(super) fn drains_over(ends: &[RunPosition; ROUNDS + 1]) -> bool {
    let (first, last) = (ends[0], ends[ROUNDS]);
    let rise = steady::rise(&ends.map(|end| end.outstanding as f64));
    let arrived = (last.requests + last.outstanding).saturating_sub(first.requests + first.outstanding);
    drains(&Trend { rise, deviation: 0.0, arrived })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_requests_small_shares_and_bursts_do_not_accumulate() {
        let of = |rise: f64, deviation, arrived| accumulates(&Trend { rise, deviation, arrived });
        assert!(of(64.0, 10.0, 6_400) && of(700.0, 699.0, 50_000));
        assert!(
            !of(63.0, 10.0, 100) && !of(64.0, 10.0, 6_500) && !of(700.0, 701.0, 50_000) && !of(-700.0, 10.0, 5_000)
        );
        let of = |rise: f64, arrived| drains(&Trend { rise, deviation: 900.0, arrived });
        assert!(of(-700.0, 7_000) && !of(-700.0, 7_001) && !of(-63.0, 100) && !of(700.0, 1_000));
    }
}
