//! Processing delays: the firmware's time to look up an address and to create a flash request.
//!
//! Source: atc18 Section 4.2: look-up of the mapping table 0.5 to 1 µs, request generation 1 to 2 µs for the host and 1
//! to 3 µs for garbage collection and read scrubbing, each evenly distributed.
//!
//! A request of the host has a look-up and a creation; other requests have a creation only. A request of the map has
//! the delay of the task that caused it, or `host` if the map is a task of its own (`admit`). The requests of a task
//! keep their order: one does not overtake another whose delay was longer. In latency breakdowns a delay is a wait for
//! the schedule. Each task draws from a stream of its own (`delays.host`, ...).
//!
//! Parameters:
//! - `mode` (default `"pipelined"`): a delay postpones its request alone; or `"serial"`: each task has one processor,
//!   which works for one request at a time.
//! - `lookup` (default `["0.5 us", "1 us"]`), `host` (`["1 us", "2 us"]`), `gc`, `scrub`, `wear` (`["1 us", "3 us"]`
//!   each): shortest and longest delay. No source states that of `wear`.

use crate::config::KeyError;
use crate::flash::command::Source;
use crate::flash::source::Account;
use copyback_workload::rng::{self, Xoshiro256PlusPlus};
use copyback_workload::units::{Nanos, exact_time};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The resource that a delay occupies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// None.
    #[default]
    Pipelined,
    /// The processor of its task.
    Serial,
}

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The resource that a delay occupies.
    pub mode: Mode,
    /// The look-up of an address of the host.
    pub lookup: [Nanos; 2],
    /// The processing of a request of the host.
    pub host: [Nanos; 2],
    /// The processing of a request of a collection.
    pub gc: [Nanos; 2],
    /// The processing of a request of scrubbing.
    pub scrub: [Nanos; 2],
    /// The processing of a request of wear levelling.
    pub wear: [Nanos; 2],
}

impl Default for Params {
    fn default() -> Self {
        let us = |from: u64, to: u64| [Nanos(from * 1_000), Nanos(to * 1_000)];
        let (gc, scrub, wear) = (us(1, 3), us(1, 3), us(1, 3));
        Self { mode: Mode::default(), lookup: [Nanos(500), Nanos(1_000)], host: us(1, 2), gc, scrub, wear }
    }
}

/// Longest delay: a longer one is a mistake in the unit.
const MAX_NS: u64 = 1_000_000_000;

impl Params {
    /// Checks the values.
    pub fn check(&self) -> Result<(), KeyError> {
        let all =
            [("lookup", self.lookup), ("host", self.host), ("gc", self.gc), ("scrub", self.scrub), ("wear", self.wear)];
        for (key, [least, most]) in all {
            if least.0 > most.0 || most.0 > MAX_NS {
                let why = format!("a delay of {} to {} is not possible", exact_time(least.0), exact_time(most.0));
                return Err(KeyError::new(format!("tasks.delays.{key}"), why).with_help(
                    "use two times of 1 s or less, the shorter one first, for example [\"1 us\", \"2 us\"]",
                ));
            }
        }
        Ok(())
    }
}

/// One task's delays.
struct Delayer {
    range: [Nanos; 2],
    stream: Xoshiro256PlusPlus,
    /// When the last of its requests is ready.
    last_ns: u64,
}

/// The delays of a run.
pub struct Delays {
    mode: Mode,
    lookup: [Nanos; 2],
    of: [Delayer; Account::ALL.len()],
}

fn draw([least, most]: [Nanos; 2], stream: &mut Xoshiro256PlusPlus) -> u64 {
    stream.random_range(least.0..=most.0)
}

impl Delays {
    /// The delays of a drive.
    pub fn new(params: &Params, seed: u64) -> Self {
        let of = |account: Account| {
            let (name, range) = match account {
                Account::Host => ("host", params.host),
                Account::Gc => ("gc", params.gc),
                Account::Scrub => ("scrub", params.scrub),
                Account::Wear => ("wear", params.wear),
                // Requests of the map and of parity are created as the host's are.
                Account::Map => ("map", params.host),
                Account::Parity => ("parity", params.host),
            };
            Delayer { range, stream: rng::stream(seed, &format!("delays.{name}")), last_ns: 0 }
        };
        Self { mode: params.mode, lookup: params.lookup, of: Account::ALL.map(of) }
    }

    /// The time at which a request is ready if its task begins to process it now. `looks_up`: with an address look-up.
    pub fn ready_at(&mut self, task: Source, looks_up: bool, now_ns: u64) -> u64 {
        let lookup = self.lookup;
        let delayer = &mut self.of[task.account().at()];
        let lookup_ns = if looks_up { draw(lookup, &mut delayer.stream) } else { 0 };
        let delay_ns = lookup_ns + draw(delayer.range, &mut delayer.stream);
        delayer.last_ns = match self.mode {
            Mode::Pipelined => delayer.last_ns.max(now_ns + delay_ns),
            Mode::Serial => delayer.last_ns.max(now_ns) + delay_ns,
        };
        delayer.last_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(mode: Mode) -> Delays {
        let ns = |ns: u64| [Nanos(ns); 2];
        let (lookup, host, gc) = (ns(5), ns(10), ns(20));
        Delays::new(&Params { mode, lookup, host, gc, ..Params::default() }, 1)
    }

    /// Three requests of the host and one of a collection, at 0, 2, 100 and 100 ns: delays that overlap, or delays in
    /// sequence within each task.
    #[test]
    fn delays_postpone_or_occupy() {
        let times = |mode| {
            let mut delays = fixed(mode);
            let host = [0, 2, 100].map(|now_ns| delays.ready_at(Source::HOST, true, now_ns));
            (host, delays.ready_at(Source::GC, false, 100))
        };
        assert_eq!(times(Mode::Pipelined), ([15, 17, 115], 120));
        assert_eq!(times(Mode::Serial), ([15, 30, 115], 120));
    }

    /// U(1, 2) µs far apart: mean 1,500 ns with a standard error of 288.7 / √10,000 = 2.9 ns, all within the range.
    #[test]
    fn delays_are_even() {
        let mut delays = Delays::new(&Params::default(), 3);
        let each: Vec<u64> =
            (1..=10_000).map(|at| delays.ready_at(Source::HOST, false, at * 10_000) - at * 10_000).collect();
        let mean = each.iter().sum::<u64>() as f64 / 10_000.0;
        assert!((mean - 1_500.0).abs() < 3.0 * 2.9 && each.iter().all(|ns| (1_000..=2_000).contains(ns)), "{mean}");
    }

    /// A short delay that follows a long one ends with it at the earliest.
    #[test]
    fn requests_of_a_task_keep_their_order() {
        let mut delays = Delays::new(&Params::default(), 3);
        let made: Vec<u64> = (0..1_000).map(|at| delays.ready_at(Source::GC, false, at * 10)).collect();
        assert!(made.is_sorted() && made.windows(2).any(|w| w[0] == w[1]));
    }
}
