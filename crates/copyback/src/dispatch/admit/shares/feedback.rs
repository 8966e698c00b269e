//! Shares that follow the state of the drive: S = P · e + I · S, once every period while the task is active.
//!
//! Source: atc18 Section 3.3, equations 1 to 3. The error e of collection is the number of free blocks missing to the
//! watermark at which it starts. The error of scrubbing is the excess of the highest read count of a block over its
//! threshold. A task that becomes active starts with S = 0, so that its limit is one request. In a steady state S = P ·
//! e / (1 − I). A share that is within a billionth of a percent of this value takes it, and stays until e changes.
//!
//! The paper's P and I are "empirically hand-tuned" and not given. P and I of collection are set so that its share
//! spans 0 to 40 % as in Fig. 6b; no other result was used.
//!
//! Parameters:
//! - `period` (default `"1 ms"`, at least `"1 us"`): time between two updates. Updates at every change of the free
//!   blocks would make the loop's gain depend on the load.
//! - `gc_p` (default 0.05 % a block), `gc_i` (default 0.9): P and I of collection.
//! - `scrub_p` (default 0.002 % a read), `scrub_i` (default 0.9): P and I of scrubbing.
//! - `most` (default 80): the shares of collection and of scrubbing do not exceed this percentage.
//! - `map` (default 20), `wear` (default 5): shares of the map, if that is a separate task, and of wear levelling in
//!   percent, without feedback. No source states it.

use super::State;
use crate::config::times::check_distance;
use crate::config::{KeyError, number};
use crate::flash::command::Source;
use crate::flash::source::Account;
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// Shortest period.
const PERIOD_MIN_NS: u64 = 1_000;

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Time between two updates.
    pub period: Nanos,
    /// P of collection, in percent a block.
    pub gc_p: f64,
    /// I of collection.
    pub gc_i: f64,
    /// P of scrubbing, in percent a read.
    pub scrub_p: f64,
    /// I of scrubbing.
    pub scrub_i: f64,
    /// Highest share in percent.
    pub most: f64,
    /// Share of the map in percent.
    pub map: f64,
    /// Share of wear levelling in percent.
    pub wear: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            period: Nanos(1_000_000),
            gc_p: 0.05,
            gc_i: 0.9,
            scrub_p: 0.002,
            scrub_i: 0.9,
            most: 80.0,
            map: 20.0,
            wear: 5.0,
        }
    }
}

impl Params {
    pub(super) fn check(&self) -> Result<(), KeyError> {
        let refuse =
            |key: &str, why: String, help: &str| Err(KeyError::new(format!("admit.shares.{key}"), why).with_help(help));
        if self.period.0 < PERIOD_MIN_NS {
            let why = format!("shares cannot be updated every {}", self.period);
            return refuse("period", why, "use 1 us or more");
        }
        check_distance("admit.shares.period", self.period)?;
        for (key, value) in [("gc_p", self.gc_p), ("scrub_p", self.scrub_p)] {
            if !(0.0..=100.0).contains(&value) {
                return refuse(key, format!("{} is no coefficient P", number(value)), "use a number from 0 to 100");
            }
        }
        for (key, value) in [("gc_i", self.gc_i), ("scrub_i", self.scrub_i)] {
            if !(0.0..1.0).contains(&value) {
                let why = format!("with a coefficient I of {} a share does not fall again", number(value));
                return refuse(key, why, "use a number from 0 to below 1");
            }
        }
        for (key, value) in [("most", self.most), ("map", self.map), ("wear", self.wear)] {
            if !(value > 0.0 && value <= 100.0) {
                return refuse(key, format!("{} % is no share", number(value)), "use a number of percent up to 100");
            }
        }
        Ok(())
    }
}

/// A share within this distance of its steady value P · e / (1 − I), in percent, has settled.
const SETTLED: f64 = 1e-9;

/// The shares and their parameters.
#[derive(Clone, Debug)]
pub struct Feedback {
    params: Params,
    of: [f64; Account::ALL.len()],
}

impl Feedback {
    /// No task is active.
    pub fn new(params: &Params) -> Self {
        let mut of = [0.0; Account::ALL.len()];
        (of[Account::Map.at()], of[Account::Wear.at()]) = (params.map, params.wear);
        Self { params: params.clone(), of }
    }

    /// The share of a task.
    pub fn of(&self, task: Source) -> f64 {
        self.of[task.account().at()]
    }

    /// See [`super::Shares::period_ns`].
    pub fn period_ns(&self) -> u64 {
        self.params.period.0
    }

    /// See [`super::Shares::on_activate`].
    pub fn on_activate(&mut self, task: Source) {
        if task == Source::GC || task == Source::SCRUB {
            self.of[task.account().at()] = 0.0;
        }
    }

    /// See [`super::Shares::update`].
    pub fn update(&mut self, active: impl Fn(Source) -> bool, state: &State) -> bool {
        let p = &self.params;
        let before = self.of;
        let gc_error = state.free_blocks_target.saturating_sub(state.free_blocks) as f64;
        let scrub_error = state.reads_max.saturating_sub(state.reads_target) as f64;
        let loops = [(Source::GC, p.gc_p, p.gc_i, gc_error), (Source::SCRUB, p.scrub_p, p.scrub_i, scrub_error)];
        for (task, p, i, error) in loops.into_iter().filter(|&(task, ..)| active(task)) {
            let share = &mut self.of[task.account().at()];
            let (next, settled) = (p * error + i * *share, p * error / (1.0 - i));
            *share = if (next - settled).abs() < SETTLED { settled } else { next }.min(self.params.most);
        }
        self.of != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares of a task at updates in these states.
    fn shares(task: Source, states: &[State]) -> Vec<f64> {
        let mut feedback = Feedback::new(&Params::default());
        feedback.on_activate(task);
        let share = |state| {
            feedback.update(|active| active == task, state);
            (feedback.of(task) * 1e6).round() / 1e6
        };
        states.iter().map(share).collect()
    }

    /// Equations 1 and 2 worked out by hand, timeline A2 (`ssd::tests::dispatching`), its first half: errors 1, 28, 68,
    /// 0, 0.
    #[test]
    fn collections_share_follows_free_blocks() {
        let states = [127, 100, 60, 140, 140].map(|free_blocks| State {
            free_blocks,
            free_blocks_target: 128,
            ..State::default()
        });
        assert_eq!(shares(Source::GC, &states), [0.05, 1.445, 4.7005, 4.23045, 3.807405]);
    }

    /// The second half of timeline A2: errors 1, 500, 1000.
    #[test]
    fn scrubbings_share_follows_the_highest_count() {
        let states =
            [100_001, 100_500, 101_000].map(|reads_max| State { reads_max, reads_target: 100_000, ..State::default() });
        assert_eq!(shares(Source::SCRUB, &states), [0.002, 1.0018, 2.90162]);
    }

    /// atc18 Section 3.3: "Once a task becomes active, it initially is allocated a small share", however high its share
    /// was before.
    #[test]
    fn a_task_that_begins_again_begins_with_nothing() {
        let mut feedback = Feedback::new(&Params::default());
        let low = State { free_blocks: 60, free_blocks_target: 128, ..State::default() };
        let mut shares_from_the_beginning = || {
            feedback.on_activate(Source::GC);
            [(); 3].map(|()| {
                feedback.update(|active| active == Source::GC, &low);
                (feedback.of(Source::GC) * 1e6).round() / 1e6
            })
        };
        // 68 blocks are missing: 0.05 * 68, and 0.9 of the last share.
        let expected = [3.4, 6.46, 9.214];
        assert_eq!([shares_from_the_beginning(), shares_from_the_beginning()], [expected, expected]);
    }

    /// After some hundred updates, a share of any height equals its steady value, to the bit, until e changes.
    #[test]
    fn an_update_of_a_share_that_has_settled_changes_nothing() {
        let mut feedback = Feedback::new(&Params::default());
        feedback.on_activate(Source::GC);
        let mut updates_until_settled = |missing: u64| {
            let state = State { free_blocks: 2_000 - missing, free_blocks_target: 2_000, ..State::default() };
            let updates = (1..).find(|_| !feedback.update(|active| active == Source::GC, &state)).expect("it settles");
            (updates, feedback.of(Source::GC))
        };
        for (missing, share) in [(2_000, 80.0), (0, 0.0), (7, 3.5), (1, 0.5), (0, 0.0)] {
            let (updates, settled) = updates_until_settled(missing);
            assert!(updates < 300 && (settled - share).abs() < 1e-12, "{missing}: {settled} after {updates}");
        }
    }

    /// 80 blocks below the watermark hold a share of 40 %, and no share exceeds its bound.
    #[test]
    fn a_share_settles_where_the_equation_says() {
        let low = |free_blocks| State { free_blocks, free_blocks_target: 128, ..State::default() };
        assert!((shares(Source::GC, &[low(48); 200])[199] - 40.0).abs() < 1e-5);
        let starved = State { free_blocks_target: 1_000, ..State::default() };
        assert_eq!(shares(Source::GC, &[starved; 200])[199], 80.0);
    }
}
