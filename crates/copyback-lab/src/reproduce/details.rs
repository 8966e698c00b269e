//! Details that qualify a claim's verdict: its interval, the same effect on other requests and in controls, and the
//! work of collection. Each is a text in the claim's unit.

use super::claim::{Claim, Kind};
use super::judge::Measured;
use crate::format::{count, counted};
use serde::{Deserialize, Serialize};

/// The details of one claim. Those that were not measured are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// Half of the width of the 95 % interval over seeds.
    pub interval: Option<String>,
    /// The lowest and the highest effect of one seed.
    pub single_seeds: Option<(String, String)>,
    /// The least and the greatest number of samples in a run.
    pub samples: Option<String>,
    /// The effect on the requests that each scheme's own collection affects.
    pub own: Option<String>,
    /// The effect on all requests.
    pub all: Option<String>,
    /// The changes of collection's work.
    pub work: Vec<String>,
    /// The null controls.
    pub controls: Vec<Control>,
}

/// A null control: a scheme that lacks the idea of the claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Its name.
    pub scheme: String,
    /// Its effect, if it was measured.
    pub effect: Option<String>,
}

/// Why a claim does not count among those that can fail, if it does not.
pub fn apart(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Claim => None,
        Kind::Calibrated => Some("calibrated"),
        Kind::Construction => Some("true by construction"),
        Kind::Own => Some("our own"),
    }
}

impl Details {
    /// Those of a measured claim; none if the claim could not be read.
    pub fn of(claim: &Claim, measured: &Measured) -> Self {
        let Ok(test) = &claim.test else { return Self::default() };
        let control = |null: &super::judge::Null| {
            let effect = null.outcome.as_ref().ok().map(|(effect, _)| test.shown(*effect));
            Control { scheme: null.scheme.clone(), effect }
        };
        Self {
            interval: measured.half_width.map(|width| test.shown_width(width)),
            single_seeds: measured.spread.map(|(least, most)| (test.shown(least), test.shown(most))),
            samples: measured.samples.map(|(fewest, most)| samples(fewest, most)),
            own: measured.own.map(|effect| test.shown(effect)),
            all: measured.all.map(|effect| test.shown(effect)),
            work: measured.changes_of_work(),
            controls: measured.null.iter().map(control).collect(),
        }
    }
}

fn samples(fewest: u64, most: u64) -> String {
    match most > fewest {
        true => format!("{} to {} samples", count(fewest), count(most)),
        false => counted(fewest, "sample"),
    }
}
