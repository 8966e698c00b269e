//! Checks of the arrivals of generated requests.

use super::{Checked, positive, wrong};
use crate::ARRIVAL_MAX_NS;
use crate::spec::{ArrivalKind, ArrivalSpec};

const SECONDS_OF_YEAR: f64 = 365.25 * 24.0 * 3600.0;

/// Longest time that a message states in years.
const YEARS_SHOWN_MAX: f64 = 1e6;

impl ArrivalSpec {
    /// Checks the process in `table`.
    pub(super) fn check(&self, table: &str) -> Checked {
        let at = |part: &str| format!("{table}.{part}");
        let burst_keys = [("burst", self.burst.is_some()), ("burst_rate", self.burst_rate.is_some())];
        if self.kind != ArrivalKind::OnOff
            && let Some((key, _)) = burst_keys.iter().find(|(_, is_set)| *is_set)
        {
            return Err(wrong(&at(key), "only `kind = \"on-off\"` has bursts", "remove it, or change `kind`"));
        }
        if self.kind == ArrivalKind::Closed {
            if self.rate.is_some() || self.mean_gap.is_some() {
                let help = "remove `rate` and `mean_gap`, or set `kind = \"poisson\"`";
                return Err(wrong(&at("kind"), "a closed loop has no arrival rate", help));
            }
            if self.start.is_some() {
                let help = "remove it, or set `kind = \"poisson\"`";
                return Err(wrong(&at("start"), "a closed loop has no arrival times", help));
            }
            return Ok(());
        }
        match (self.rate, self.mean_gap) {
            (Some(_), Some(_)) => {
                return Err(wrong(&at("mean_gap"), "rate says the same already", "remove one of the two"));
            }
            (None, Some(gap)) if gap.0 == 0 => {
                let help = "for requests without gaps, set `kind = \"closed\"`";
                return Err(wrong(&at("mean_gap"), "it is zero", help));
            }
            (None, Some(_)) => {}
            (rate, None) => positive(&at("rate"), rate, "set the requests a second, or `mean_gap`")?,
        }
        self.check_times(table)?;
        if self.kind == ArrivalKind::OnOff {
            let mean_rate = self.requests_per_s();
            positive(&at("burst_rate"), self.burst_rate, "set the requests a second during a burst")?;
            if self.burst_rate.is_some_and(|burst_rate| burst_rate < mean_rate) {
                let message = format!("bursts are slower than the mean of {mean_rate} requests a second");
                return Err(wrong(&at("burst_rate"), message, "raise it to the mean or above"));
            }
            if self.burst.is_none_or(|burst| burst.0 == 0) {
                return Err(wrong(&at("burst"), "bursts need a length", "set for example \"100 ms\""));
            }
        }
        Ok(())
    }

    /// Refuses a process that starts, or whose second request would arrive, after [`ARRIVAL_MAX_NS`].
    fn check_times(&self, table: &str) -> Checked {
        let start_ns = self.start.map_or(0, |start| start.0);
        let gap_ns = 1e9 / self.requests_per_s();
        let years = |ns: f64| match ns / 1e9 / SECONDS_OF_YEAR {
            years if years < YEARS_SHOWN_MAX => format!("{years:.0} years"),
            _ => format!("more than {YEARS_SHOWN_MAX:.0} years"),
        };
        let (key, what) = match self.rate {
            _ if start_ns > ARRIVAL_MAX_NS => {
                ("start", format!("it is {} after the run's start", years(start_ns as f64)))
            }
            Some(_) => ("rate", format!("a request arrives only once in {}", years(gap_ns))),
            None => ("mean_gap", format!("it is {}", years(gap_ns))),
        };
        if start_ns as f64 + gap_ns <= ARRIVAL_MAX_NS as f64 {
            return Ok(());
        }
        let help = if key == "rate" { "raise it" } else { "lower it" };
        let message = format!("{what}, but a run lasts at most {}", years(ARRIVAL_MAX_NS as f64));
        Err(wrong(&format!("{table}.{key}"), message, help))
    }

    /// The mean rate; zero for a closed loop.
    pub fn requests_per_s(&self) -> f64 {
        self.rate.or(self.mean_gap.map(|gap| 1e9 / gap.0 as f64)).unwrap_or(0.0)
    }
}
