//! Shares that are set by a program that calls Copyback: a class of Python, for example.
//!
//! Once a period while a task is active, the program receives the state of the drive, and returns the shares of
//! collection and of scrubbing in percent. Shares control collection only while it is active: set `trigger.soft` high,
//! and let the shares control how much is collected. With a share of 0 the task stops, except for the guard. Each drive
//! has its own shares.
//!
//! Source: none of its own; docs/python.md shows how a policy is written and supplied.
//!
//! Parameters:
//! - `name`: the policy's name, as the caller supplied it.
//! - `period` (default `"1 ms"`, at least `"1 us"`): time between two updates.
//! - `gc`, `scrub` (default 20): shares before the first update.
//! - `map` (default 20), `wear` (default 5): shares of the map, if that is a separate task, and of wear levelling.

use super::State;
use crate::config::plugins::{Supplied, fail};
use crate::config::times::check_distance;
use crate::config::{KeyError, number};
use crate::flash::command::Source;
use crate::flash::source::Account;
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// Shortest period.
const PERIOD_MIN_NS: u64 = 1_000;

/// Shares of tasks in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent {
    /// Of collection.
    pub gc: f64,
    /// Of scrubbing.
    pub scrub: f64,
}

/// A policy of the calling program.
pub trait Plugin: Send {
    /// A period has passed: the shares from now on; `before` are those up to now.
    fn update(&mut self, state: &State, before: Percent) -> Percent;
}

/// Makes shares for a drive.
pub type Make = dyn Fn() -> Box<dyn Plugin> + Send + Sync;

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The policy, by its name.
    pub name: Supplied<Make>,
    /// Time between two updates.
    pub period: Nanos,
    /// Share of collection before the first update.
    pub gc: f64,
    /// Share of scrubbing before the first update.
    pub scrub: f64,
    /// Share of the map.
    pub map: f64,
    /// Share of wear levelling.
    pub wear: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { name: Supplied::default(), period: Nanos(1_000_000), gc: 20.0, scrub: 20.0, map: 20.0, wear: 5.0 }
    }
}

impl Params {
    pub(super) fn check(&self) -> Result<(), KeyError> {
        self.name.check("admit.shares")?;
        if self.period.0 < PERIOD_MIN_NS {
            let why = format!("shares cannot be updated every {}", self.period);
            return Err(KeyError::new("admit.shares.period", why).with_help("use 1 us or more"));
        }
        check_distance("admit.shares.period", self.period)?;
        let shares = [("gc", self.gc), ("scrub", self.scrub), ("map", self.map), ("wear", self.wear)];
        match shares.into_iter().find(|(_, share)| !(0.0..=100.0).contains(share)) {
            None => Ok(()),
            Some((key, share)) => {
                Err(KeyError::new(format!("admit.shares.{key}"), format!("{} % is no share", number(share)))
                    .with_help("use a number of percent up to 100"))
            }
        }
    }
}

/// The shares of a run.
pub struct Plugged {
    name: String,
    period_ns: u64,
    of: [f64; Account::ALL.len()],
    plugin: Box<dyn Plugin>,
}

impl Plugged {
    /// The shares before the first update.
    pub fn new(params: &Params) -> Self {
        let mut of = [0.0; Account::ALL.len()];
        let set = [
            (Account::Gc, params.gc),
            (Account::Scrub, params.scrub),
            (Account::Map, params.map),
            (Account::Wear, params.wear),
            (Account::Parity, params.wear),
        ];
        set.into_iter().for_each(|(account, share)| of[account.at()] = share);
        let plugin = params.name.maker()();
        Self { name: params.name.name().to_owned(), period_ns: params.period.0, of, plugin }
    }

    /// The share of a task.
    pub fn of(&self, task: Source) -> f64 {
        self.of[task.account().at()]
    }

    /// See [`super::Shares::period_ns`].
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// See [`super::Shares::update`].
    pub fn update(&mut self, state: &State) {
        let before = Percent { gc: self.of(Source::GC), scrub: self.of(Source::SCRUB) };
        let after = self.plugin.update(state, before);
        for (task, share) in [(Source::GC, after.gc), (Source::SCRUB, after.scrub)] {
            if !(0.0..=100.0).contains(&share) {
                let why = format!("gave {:?} a share of {} %", task.account(), number(share));
                fail("admit.shares", &self.name, why, Some("answer with percent from 0 to 100"));
            }
            self.of[task.account().at()] = share;
        }
    }
}
