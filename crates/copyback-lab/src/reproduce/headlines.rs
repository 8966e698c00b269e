//! A paper's headlines: what its abstract, introduction and conclusion claim, and whether these claims hold.
//!
//! A headline is a claim with a quoted sentence. The folder of a paper has its headlines in one file, `headlines.toml`,
//! with shorter runs than those of the figures.

use super::claim::{Cause, Claim, Kind, Test};
use super::judge::{Measured, MissingVerdict};
use super::runner::JudgedExperiment;
use super::verdict::Verdict;
use crate::format::counted;
use serde::{Deserialize, Serialize};

/// The document's layout.
pub const SCHEMA: &str = "copyback/headlines/1";

/// The headlines of a paper with their verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headlines {
    schema: String,
    /// The paper, or the name of the sweep file without its ending.
    pub paper: String,
    /// Whether runs were stopped early.
    pub quick: bool,
    /// The overrides that change what the file shows, in words.
    pub changes: Vec<String>,
    /// Number of cells.
    pub cells: usize,
    /// One entry for each headline.
    pub headlines: Vec<Headline>,
}

/// A headline with its verdict. Numbers are texts, in the unit of the claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// The figure, table or section.
    pub figure: String,
    /// The text of the claim.
    pub text: String,
    /// The paper's sentence.
    pub quote: String,
    /// The place of the sentence in the paper.
    #[serde(rename = "where")]
    pub source: String,
    /// Whether it counts.
    pub kind: Kind,
    /// The published value.
    pub published: String,
    /// The measured value.
    pub measured: Option<String>,
    /// The half width of its 95 % interval over seeds.
    pub interval: Option<String>,
    /// Whether it holds, and how far.
    pub holds: Holds,
    /// The verdict of the rule, or why there is none.
    pub detail: String,
    /// The change of the work of collection in the same comparison.
    pub work: String,
    /// The effects of controls without the idea.
    pub controls: Vec<String>,
    /// The cause of a miss.
    pub cause: Option<Cause>,
}

/// Whether a headline holds, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Direction and size.
    Size,
    /// The direction only.
    Direction,
    /// A scheme without the idea shows half of the effect, too.
    Control,
    /// Neither.
    No,
    /// The runs do not decide it.
    Unknown,
}

impl Holds {
    /// The meaning of a verdict.
    pub fn of(outcome: &Result<Verdict, MissingVerdict>) -> Self {
        match outcome {
            Ok(Verdict::Met) => Self::Size,
            Ok(Verdict::Smaller | Verdict::Larger) => Self::Direction,
            Ok(Verdict::NullToo) => Self::Control,
            Ok(Verdict::NoEffect | Verdict::Effect | Verdict::Opposite | Verdict::TooLow | Verdict::TooHigh) => {
                Self::No
            }
            Ok(Verdict::Unclear) | Err(_) => Self::Unknown,
        }
    }

    /// As tables print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "holds",
            Self::Direction => "direction only",
            Self::Control => "control, too",
            Self::No => "does not hold",
            Self::Unknown => "not judged",
        }
    }
}

impl Headlines {
    /// The headlines of experiments that are done.
    pub fn of(paper: &str, is_quick: bool, changes: Vec<String>, done: &[JudgedExperiment]) -> Self {
        let all = done.iter().flat_map(JudgedExperiment::claims).filter(|(claim, _)| claim.quote.is_some());
        let is_as_decided = !is_quick && changes.is_empty();
        Self {
            schema: SCHEMA.into(),
            paper: paper.into(),
            quick: is_quick,
            changes,
            cells: done.iter().map(|done| done.results.len()).sum(),
            headlines: all.map(|(claim, measured)| Headline::of(claim, measured, is_as_decided)).collect(),
        }
    }

    /// The number of counted headlines with this result.
    pub fn count(&self, holds: Holds) -> usize {
        self.counted().filter(|headline| headline.holds == holds).count()
    }

    /// The counted headlines: not calibrated, not true by construction, and not this project's own.
    pub fn counted(&self) -> impl Iterator<Item = &Headline> {
        self.headlines.iter().filter(|headline| headline.kind == Kind::Claim)
    }

    /// The counts in a sentence.
    pub fn sentence(&self) -> String {
        let all = self.counted().count();
        let parts = [
            (Holds::Size, ["holds", "hold"]),
            (Holds::Direction, ["holds in direction only", "hold in direction only"]),
            (Holds::Control, ["is shown by a control without the idea, too", "are shown by controls, too"]),
            (Holds::No, ["does not hold", "do not hold"]),
            (Holds::Unknown, ["is not judged", "are not judged"]),
        ];
        let parts: Vec<String> = parts
            .iter()
            .map(|(holds, names)| (self.count(*holds), names))
            .filter(|(count, _)| *count > 0)
            .map(|(count, names)| format!("{count} {}", names[usize::from(count > 1)]))
            .collect();
        let apart = |of: fn(Kind) -> bool, what: [&str; 2]| match self
            .headlines
            .iter()
            .filter(|headline| of(headline.kind))
            .count()
        {
            0 => String::new(),
            1 => format!("; 1 more {}", what[0]),
            more => format!("; {more} more {}", what[1]),
        };
        let set = apart(
            |kind| matches!(kind, Kind::Calibrated | Kind::Construction),
            ["is calibrated or cannot fail", "are calibrated or cannot fail"],
        );
        let own = apart(|kind| kind == Kind::Own, ["is our own", "are our own"]);
        format!("Of {} {}{set}{own}", counted(all as u64, "headline"), parts.join(", "))
    }
}

impl Headline {
    /// The measured value with its interval.
    pub fn with_interval(&self) -> String {
        match (&self.measured, &self.interval) {
            (Some(measured), Some(interval)) => format!("{measured} +/- {interval}"),
            (Some(measured), None) => measured.clone(),
            (None, _) => "-".into(),
        }
    }

    /// `is_as_decided`: the runs have the settings of the file. The causes in the file explain only such runs.
    fn of(claim: &Claim, measured: &Measured, is_as_decided: bool) -> Self {
        let test = claim.test.as_ref().ok();
        let shown = |effect: Option<f64>| Some(test?.shown(effect?));
        let holds = Holds::of(&measured.outcome);
        let detail = match &measured.outcome {
            Ok(verdict) => verdict.name().to_owned(),
            Err(MissingVerdict::NotMeasured(why) | MissingVerdict::NotJudged(why)) => why.clone(),
        };
        let control = |null: &super::judge::Null| {
            let effect = null.outcome.as_ref().ok().map(|(effect, _)| *effect);
            format!("{} {}", null.scheme, shown(effect).unwrap_or_else(|| "-".into()))
        };
        let does_miss = holds != Holds::Size;
        Self {
            figure: claim.figure.clone(),
            text: claim.text.clone(),
            quote: claim.quote.clone().unwrap_or_default(),
            source: claim.source.clone(),
            kind: claim.kind,
            published: test.map_or_else(|| "-".to_owned(), Test::shown_published),
            measured: shown(measured.effect),
            interval: measured.half_width.and_then(|width| Some(test?.shown_width(width))),
            holds,
            detail,
            work: measured.changes_of_work().join("; "),
            controls: measured.null.iter().map(control).collect(),
            cause: claim.cause.clone().filter(|_| does_miss && is_as_decided),
        }
    }
}
