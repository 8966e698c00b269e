//! A warm-up: the first part of a run, simulated and not measured.
//!
//! It ends when a certain request begins; that request and all later ones are measured, and no earlier one is. The
//! workload alone determines that request, or all runs of a comparison agree on it, so that schemes skip and measure
//! the same requests.

use super::overload;
use crate::config::layers::{Layer, LayerError};
use crate::observe::steady::{self, Loop, ROUNDS, RunPosition, Steady, Verdict, VerdictInputs};
use copyback_workload::Op;
use copyback_workload::units::{counted, exact_time, format_duration_ns, parse_duration_ns};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// How long a run warms up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// For a number of requests.
    Requests(u64),
    /// For so much simulated time, from the first request on.
    Time(u64),
    /// Until the drive is steady: until write amplification, and in a closed loop the throughput, meet the steady-state
    /// rule over the last five rounds. In each round the host writes half of the drives' capacity.
    Steady,
}

/// The word for [`Warmup::Steady`].
const STEADY: &str = "steady";
/// Rounds in which the host writes the drives' capacity once: as `precondition.mode = "snia"` has them by default.
const ROUNDS_PER_CAPACITY: u64 = 2;

impl Warmup {
    /// The accepted forms, for error messages.
    pub const FORMS: &str = "write a number of requests such as 10_000, a time such as \"10 s\", or \"steady\"";

    /// Whether the warm-up is empty.
    pub fn is_none(self) -> bool {
        matches!(self, Self::Requests(0) | Self::Time(0))
    }

    /// A part of it; `Steady` is unchanged.
    #[must_use]
    pub fn divided_by(self, parts: u64) -> Self {
        match self {
            Self::Requests(requests) => Self::Requests(requests.div_ceil(parts)),
            Self::Time(ns) => Self::Time(ns.div_ceil(parts)),
            Self::Steady => Self::Steady,
        }
    }

    /// Takes a warm-up out of a layer: a number of requests, a time, or a word.
    pub fn take_from(layer: &mut Layer) -> Result<Option<Self>, LayerError> {
        layer.take_read("warmup", Self::FORMS, |value| match value {
            toml::Value::Table(_) => Err("a table is no warm-up".to_owned()),
            value => Self::of_toml(value),
        })
    }

    /// The value in a file: a whole number, or a text.
    pub fn of_toml(value: &toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::Integer(requests) => requests.to_string().parse(),
            toml::Value::String(text) => text.parse(),
            other => other.to_string().parse(),
        }
    }

    /// The requests that it has, if known beforehand.
    pub fn requests(self) -> Option<u64> {
        if let Self::Requests(requests) = self { Some(requests) } else { None }
    }

    /// As a file has it: a number, or a text.
    pub fn to_toml(self) -> String {
        match self {
            Self::Requests(requests) => requests.to_string(),
            _ => format!("\"{self}\""),
        }
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests(requests) => write!(f, "{requests}"),
            Self::Time(ns) => f.write_str(&format_duration_ns(*ns)),
            Self::Steady => f.write_str(STEADY),
        }
    }
}

impl FromStr for Warmup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == STEADY {
            return Ok(Self::Steady);
        }
        let is_digit = |c: char| c.is_ascii_digit() || c == '_';
        let remedy = "write a number of requests (10000), a simulated time with its unit (10s), or `steady`";
        if text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_digit) {
            let digits = text.replace('_', "");
            return digits.parse().map(Self::Requests).map_err(|_| format!("`{text}` is too many requests: {remedy}"));
        }
        if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Err(format!("`{text}` is no warm-up: {remedy}"));
        }
        parse_duration_ns(text).map(Self::Time).map_err(|error| format!("{error}; {remedy}"))
    }
}

impl Serialize for Warmup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Requests(requests) => serializer.serialize_u64(*requests),
            _ => serializer.serialize_str(&self.to_string()),
        }
    }
}

/// Watches for the end of a warm-up.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    warmup: Warmup,
    is_closed_loop: bool,
    first_arrival_ns: Option<u64>,
    round_units: u64,
    /// Units that the host has written when the next round ends.
    next_units: u64,
    /// The positions of the run at the ends of the last rounds.
    ends: Vec<RunPosition>,
    /// Whether a request writes.
    has_write: bool,
}

impl Watch {
    /// No round yet. `logical_units`: the capacity of the drives.
    pub(super) fn new(warmup: Warmup, is_closed_loop: bool, logical_units: u64) -> Self {
        let round_units = (logical_units / ROUNDS_PER_CAPACITY).max(1);
        let ends = vec![RunPosition::default()];
        Self {
            warmup,
            is_closed_loop,
            first_arrival_ns: None,
            round_units,
            next_units: round_units,
            ends,
            has_write: false,
        }
    }

    /// The workload has a request of this kind.
    pub(super) fn note(&mut self, op: Op) {
        self.has_write |= op == Op::Write;
    }

    /// Whether it ends before the request of this number, which arrives at `arrival_ns`, begins. `mark` returns the
    /// position of the run. Without a buffer, writes that wait to be bound do not count yet, so that a round may end at
    /// another request under another scheme.
    pub(super) fn is_over(
        &mut self,
        index: u64,
        arrival_ns: u64,
        written_units: u64,
        mark: impl FnOnce() -> RunPosition,
    ) -> bool {
        match self.warmup {
            Warmup::Requests(requests) => index >= requests,
            Warmup::Time(ns) => arrival_ns.saturating_sub(*self.first_arrival_ns.get_or_insert(arrival_ns)) >= ns,
            Warmup::Steady => written_units >= self.next_units && self.end_round(mark()),
        }
    }

    /// A round is over. Returns whether the last five are steady.
    fn end_round(&mut self, mark: RunPosition) -> bool {
        self.next_units = mark.host_units + self.round_units;
        if self.ends.len() > ROUNDS {
            self.ends.remove(0);
        }
        self.ends.push(mark);
        self.verdict().verdict == Verdict::Steady
    }

    /// The verdict of the rule on the last five rounds.
    fn verdict(&self) -> Steady {
        // Five rounds write more than the spare space, and the workload has not ended.
        let inputs = VerdictInputs::default();
        match <&[RunPosition; ROUNDS + 1]>::try_from(&self.ends[..]) {
            Ok(ends) if self.is_closed_loop => steady::judge(ends, Loop::Closed, &inputs),
            // The warm-up waits for the end of a backlog. An overload does not end, and the measurement reports it.
            Ok(ends) if overload::drains_over(ends) => steady::judge(ends, Loop::Draining, &inputs),
            Ok(ends) => steady::judge(ends, Loop::Open, &inputs),
            Err(_) => Steady { verdict: Verdict::TooShort, ..Steady::default() },
        }
    }

    /// The reason why the workload ended first, after this many requests and units written.
    pub(super) fn unfinished(&self, requests: u64, last: RunPosition) -> Unfinished {
        let rounds = last.host_units as f64 / self.round_units as f64;
        Unfinished {
            warmup: self.warmup,
            requests,
            simulated_ns: last.now_ns - self.first_arrival_ns.unwrap_or(0),
            rounds,
            steady: (self.warmup == Warmup::Steady).then(|| self.verdict()),
            has_write: self.has_write,
        }
    }
}

/// A warm-up that outlasts its workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// The requested warm-up.
    pub warmup: Warmup,
    /// Requests that the workload has.
    pub requests: u64,
    /// Simulated time from its first request until it ended, if the warm-up is a time; otherwise from 0.
    pub simulated_ns: u64,
    /// The number of times that the host wrote half of the drives' capacity.
    pub rounds: f64,
    /// The last verdict of the rule, if it was judged.
    pub steady: Option<Steady>,
    /// Whether the workload has a write at all.
    pub has_write: bool,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = counted(self.requests, "request");
        match self.warmup {
            Warmup::Requests(wanted) => {
                write!(f, "the workload ended after {requests}, within the warm-up of {wanted}")
            }
            Warmup::Time(ns) => write!(
                f,
                "the workload ended after {requests} and {}, within the warm-up of {}",
                exact_time(self.simulated_ns),
                exact_time(ns)
            ),
            Warmup::Steady if !self.has_write => {
                write!(
                    f,
                    "the workload ended after {requests} without a write: a drive becomes steady only \
                           by writes"
                )
            }
            Warmup::Steady => {
                write!(f, "the workload ended after {requests} before the drive was steady: {}", self.why_not_steady())
            }
        }
    }
}

impl Unfinished {
    fn why_not_steady(&self) -> String {
        let rounds = self.rounds;
        match self.steady.as_ref().filter(|_| rounds >= ROUNDS as f64) {
            None => {
                format!("it takes {ROUNDS} rounds of half of the drive's capacity each, and {rounds:.2} were written")
            }
            Some(Steady { verdict: Verdict::NoErase, .. }) => "no block was erased".into(),
            Some(steady) => {
                let moves = steady.figures.iter().find(|figure| !figure.is_steady());
                let shown = moves.map(|figure| {
                    let (range, slope) = (100.0 * figure.range, 100.0 * figure.slope);
                    format!("{} has a range of {range:.1} % and a slope of {slope:.1} %", figure.name)
                });
                // Work after the last request is no reason: the workload has not ended when the rule is asked.
                let reserve = steady.reserve.filter(|reserve| !reserve.is_small());
                let reserve = reserve.map(|reserve| reserve.change_text());
                let other = || match steady.verdict {
                    Verdict::NotYet => "it still works off requests that were outstanding before".to_owned(),
                    _ => "a round must erase 10 blocks on average, and each round must take some time".to_owned(),
                };
                shown.or(reserve).unwrap_or_else(other)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_times_and_the_word_are_distinguished() {
        for (text, warmup) in [
            ("10000", Warmup::Requests(10_000)),
            ("10_000", Warmup::Requests(10_000)),
            ("10s", Warmup::Time(10_000_000_000)),
            ("1.5 ms", Warmup::Time(1_500_000)),
            ("2 min", Warmup::Time(120_000_000_000)),
            ("steady", Warmup::Steady),
        ] {
            assert_eq!(text.parse(), Ok(warmup), "{text}");
            assert_eq!(warmup.to_string().parse(), Ok(warmup), "{text}");
        }
        for (text, says) in [
            ("-5", "is no warm-up"),
            ("stedy", "`steady`"),
            ("5 parsecs", "unknown unit"),
            ("1.5", "needs a unit"),
            ("99999999999999999999", "too many requests"),
            ("", "is no warm-up"),
        ] {
            let error = text.parse::<Warmup>().unwrap_err();
            assert!(error.contains(says) && error.contains("10000"), "{text}: {error}");
        }
    }

    /// A drive of 100 units whose host writes one a request: a round is 50 requests.
    fn ends_at(amplification: impl Fn(u64) -> u64) -> Option<u64> {
        let mut watch = Watch::new(Warmup::Steady, false, 100);
        let mut mark = RunPosition::default();
        (0..2_000).find(|&index| {
            let is_over = watch.is_over(index, index, index, || mark);
            mark.host_units += 1;
            mark.requests += 1;
            mark.now_ns += 10;
            mark.flash_units += amplification(index);
            (mark.erases, mark.erased_units) = (mark.flash_units, mark.flash_units);
            is_over
        })
    }

    /// After the first round, five times as many requests are outstanding as are worked off in each later one.
    #[test]
    fn it_goes_on_while_a_backlog_is_worked_off() {
        let ends_at = |backlog: u64| {
            let mut watch = Watch::new(Warmup::Steady, false, 100);
            (0..2_000u64).find(|&index| {
                let round = index / 50;
                let mark = RunPosition {
                    host_units: index,
                    requests: index,
                    outstanding: (backlog * 6).saturating_sub(round * backlog),
                    now_ns: 10 * index,
                    flash_units: 3 * index,
                    erased_units: 3 * index,
                    erases: 3 * index,
                    ..RunPosition::default()
                };
                watch.is_over(index, index, index, || mark)
            })
        };
        assert_eq!((ends_at(0), ends_at(10)), (Some(250), Some(250)));
        // The last five rounds have to be without a backlog: it is gone after the sixth.
        assert_eq!(ends_at(200), Some(550));
    }

    #[test]
    fn it_is_over_with_the_first_five_rounds_that_are_steady() {
        assert_eq!(ends_at(|_| 3), Some(250));
        // Rounds of 1, 2, 3, 3, ... : those from the third on are alike; of 2, 3, 3, 3, 3 the range is 36 %.
        assert_eq!(ends_at(|index| (1 + index / 50).min(3)), Some(350));
        assert_eq!(ends_at(|index| 1 + index / 50 % 2), None);
    }

    #[test]
    fn a_time_counts_from_the_first_request() {
        let mut watch = Watch::new(Warmup::Time(100), false, 1);
        let over = [1_000, 1_050, 1_099, 1_100].map(|at| watch.is_over(0, at, 0, || unreachable!("no mark is needed")));
        assert_eq!(over, [false, false, false, true]);
    }
}
