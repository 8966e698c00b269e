//! The document with the results of all worlds, from which tables and pictures are made.

use crate::reproduce::claim::{Claim, Format};
use crate::reproduce::headlines::Holds;
use serde::{Deserialize, Serialize};

/// The document's layout.
pub const SCHEMA: &str = "copyback/worlds/1";

/// The worlds of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worlds {
    /// The document's layout.
    pub schema: String,
    /// The paper, or the name of the sweep file without its ending.
    pub paper: String,
    /// The seed of the draw.
    pub seed: u64,
    /// Whether worlds ran the drives and runs of `--headlines`.
    pub full_size: bool,
    /// The part of the requests that a world ran, as a divisor.
    pub part: u64,
    /// The overrides that change what the files show, in words.
    pub changes: Vec<String>,
    /// The open decisions.
    pub decisions: Vec<DecisionAbout>,
    /// The headlines.
    pub headlines: Vec<WorldClaim>,
    /// The constraints of a world that is consistent with the paper.
    pub constraints: Vec<WorldClaim>,
    /// The world of this project's decisions, at the same size.
    pub decided: Row,
    /// The drawn worlds.
    pub worlds: Vec<Row>,
}

/// An open decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionAbout {
    /// Its name.
    pub name: String,
    /// The admissible values, in words.
    pub admissible: String,
    /// The names of its choices; none for a range.
    pub choices: Vec<String>,
    /// The decision of this project.
    pub decided: String,
    /// The sentence that leaves it open.
    pub sentence: String,
    /// The place in the paper.
    #[serde(rename = "where")]
    pub source: String,
}

/// A headline, or a constraint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldClaim {
    /// The figure, table or section.
    pub figure: String,
    /// The text of the claim.
    pub text: String,
    /// The paper's sentence.
    pub quote: String,
    /// The published value.
    pub published: String,
    /// The published value as a number, in the unit of effects.
    pub published_effect: Option<f64>,
    /// How effects are printed.
    pub format: Option<Format>,
}

/// One world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number; 0 for this project's decisions.
    pub world: usize,
    /// The seed of its runs.
    pub seed: u64,
    /// Its decisions, as texts of tables.
    pub values: Vec<String>,
    /// The same as numbers: choices by their places.
    pub numbers: Vec<Option<f64>>,
    /// The result.
    pub status: Status,
    /// Why it is not consistent, or did not run.
    pub why: Vec<String>,
    /// The effect for each headline.
    pub effects: Vec<Option<f64>>,
    /// Whether each headline holds.
    pub holds: Vec<Holds>,
}

/// The result of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It ran, and agrees with the paper's printed values.
    Consistent,
    /// It ran, and contradicts a printed value of the paper.
    Inconsistent,
    /// Its settings exclude each other, or its run failed.
    Impossible,
}

impl Status {
    /// As tables print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Consistent => "consistent",
            Self::Inconsistent => "inconsistent",
            Self::Impossible => "impossible",
        }
    }
}

impl WorldClaim {
    /// A claim as it is judged in worlds.
    pub fn of(claim: &Claim) -> Self {
        let test = claim.test.as_ref().ok();
        Self {
            figure: claim.figure.clone(),
            text: claim.text.clone(),
            quote: claim.quote.clone().unwrap_or_default(),
            published: test.map_or_else(|| "-".to_owned(), crate::reproduce::claim::Test::shown_published),
            published_effect: test.and_then(|test| test.rule.published.number()),
            format: test.map(crate::reproduce::claim::Test::format),
        }
    }

    /// An effect in the claim's unit.
    pub fn shown(&self, effect: f64) -> String {
        self.format.as_ref().map_or_else(|| format!("{effect:.1}"), |format| format.shown(effect))
    }
}
