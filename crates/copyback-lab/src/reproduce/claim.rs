//! The claims of a paper.
//!
//! A claim names one number of the table and two schemes (or one scheme in two groups of cells). Each cell gives one
//! effect, from means over seeds; an aggregate combines the effects of all cells.

use super::cells::Coordinates;
use super::metric::Metric;
use super::verdict::{Published, Rule};

/// A claim, as its file states it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The figure, table or section.
    pub figure: String,
    /// The text of the claim.
    pub text: String,
    /// The place in the paper.
    pub source: String,
    /// Whether it counts.
    pub kind: Kind,
    /// The paper's sentence, if the claim is a headline.
    pub quote: Option<String>,
    /// The cause of a miss, if the claim's file states one.
    pub cause: Option<Cause>,
    /// The comparison; or why there can be none.
    pub test: Result<Test, String>,
}

/// Whether a claim can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It can, and counts.
    Claim,
    /// The experiment was calibrated so that it holds.
    Calibrated,
    /// It holds by construction.
    Construction,
    /// The paper has no number for it: a question of the project's own.
    Own,
}

/// Why a claim misses, as its file states it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cause {
    /// The origin of the miss.
    pub origin: Origin,
    /// The cause, in a sentence.
    pub text: String,
}

/// The origin of a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A decision of this project, which the paper leaves open.
    Decision,
    /// An unpublished trace.
    Trace,
    /// The paper's own arithmetic.
    Arithmetic,
    /// The paper's comparison: it lacks the control that shows the effect, too.
    Comparison,
    /// Nothing that was tried explains it.
    NotExplained,
}

impl Origin {
    /// As tables print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decision => "our decision",
            Self::Trace => "unpublished trace",
            Self::Arithmetic => "the paper's arithmetic",
            Self::Comparison => "the paper's comparison",
            Self::NotExplained => "not explained",
        }
    }
}

/// A comparison and the published figure.
#[derive(Clone, Debug)]
pub struct Test {
    /// The number.
    pub metric: Metric,
    /// The scheme.
    pub scheme: String,
    /// The scheme that it is compared with; the same scheme if cells are compared.
    pub against: String,
    /// How the effect is computed from the two.
    pub measure: Measure,
    /// The unit of a figure.
    pub unit: String,
    /// Cells that count.
    pub cells: Coordinates,
    /// The choices of the cells that they are compared with.
    pub base_cells: Coordinates,
    /// How the effects of cells are combined.
    pub aggregate: Aggregate,
    /// How the numbers of seeds are combined to one number of a cell.
    pub over_seeds: OverSeeds,
    /// The metric with the number of samples, which shows how reliable a percentile is.
    pub samples: Option<Metric>,
    /// The rule for the effect.
    pub rule: Rule,
    /// Why the rule has a tolerance of its own.
    pub tolerance_reason: Option<String>,
    /// Null controls: schemes that lack the idea. If one shows half of the effect, the verdict is `NullToo`.
    pub null: Vec<String>,
    /// The number that must not be 0 for the claim to be judged.
    pub requires: Option<Metric>,
    /// The least value of this number, if being above 0 is not enough.
    pub requires_at_least: Option<f64>,
}

/// How a claim compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// In per cent of the base.
    Change,
    /// As a factor.
    Times,
    /// The difference of two shares, in points.
    Points,
    /// The change in per cent, minus the change in the compared cells: whether a gain grows.
    Trend,
    /// The rise from the compared cells to the counted cells, minus the rise of another scheme, in the claim's unit.
    Rise,
    /// No comparison: a share, in per cent.
    Share,
    /// No comparison: a figure, in the claim's unit.
    Figure,
}

/// How the effects of several cells are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregate {
    /// Arithmetic mean.
    Mean,
    /// Geometric mean of factors.
    GeometricMean,
    /// The lowest.
    Min,
    /// The highest.
    Max,
    /// All of them: the claim holds if it holds in each. The measured effect is the one that is least in its favour.
    Each,
}

/// How the numbers of several seeds are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverSeeds {
    /// Arithmetic mean.
    Mean,
    /// Median: a single slowest request determines a maximum, and thereby a mean of maxima.
    Median,
}

impl OverSeeds {
    /// The combined number; `None` without numbers.
    pub fn of(self, mut values: Vec<f64>) -> Option<f64> {
        let count = values.len();
        match self {
            _ if count == 0 => None,
            Self::Mean => Some(values.iter().sum::<f64>() / count as f64),
            Self::Median => {
                values.sort_by(f64::total_cmp);
                Some((values[(count - 1) / 2] + values[count / 2]) / 2.0)
            }
        }
    }
}

impl Measure {
    /// Whether it is of one scheme by itself.
    pub fn is_figure(self) -> bool {
        matches!(self, Self::Share | Self::Figure)
    }

    /// Whether it is in a unit of the claim's own.
    pub fn has_unit(self) -> bool {
        matches!(self, Self::Rise | Self::Figure)
    }

    /// Whether both schemes are compared in each of two groups of cells.
    pub fn compares_groups(self) -> bool {
        matches!(self, Self::Trend | Self::Rise)
    }
}

impl Test {
    /// The combined effect of all cells.
    pub fn aggregate(&self, effects: &[f64]) -> Option<f64> {
        if effects.is_empty() {
            return None;
        }
        let count = effects.len() as f64;
        let by = |key: &dyn Fn(f64) -> f64| effects.iter().copied().max_by(|a, b| key(*a).total_cmp(&key(*b)));
        match self.aggregate {
            Aggregate::Mean => Some(effects.iter().sum::<f64>() / count),
            Aggregate::GeometricMean => {
                let logs: f64 = effects.iter().map(|effect| (1.0 + effect / 100.0).ln()).sum();
                Some(100.0 * ((logs / count).exp() - 1.0))
            }
            Aggregate::Min => by(&|effect| -effect),
            Aggregate::Max => by(&|effect| effect),
            Aggregate::Each => by(&|effect| self.rule.published.distance(effect)),
        }
    }

    /// How effects of the claim are printed.
    pub fn format(&self) -> Format {
        Format { measure: self.measure, unit: self.unit.clone(), digits: self.digits() }
    }

    /// An effect as the claim states it.
    pub fn shown(&self, effect: f64) -> String {
        self.format().shown(effect)
    }

    /// The width of an interval as the claim states its effect.
    pub fn shown_width(&self, width: f64) -> String {
        self.format().shown_width(width)
    }

    /// The unit of an effect, as a number.
    pub fn unit_of_effect(&self) -> &str {
        match self.measure {
            Measure::Change | Measure::Times | Measure::Share => "%",
            Measure::Points | Measure::Trend => "pp",
            Measure::Rise | Measure::Figure => &self.unit,
        }
    }

    /// Digits after the decimal point: one, or two if the claim's tolerance is below 0.5.
    fn digits(&self) -> usize {
        if self.rule.tolerance.is_some_and(|tolerance| tolerance < 0.5) { 2 } else { 1 }
    }

    /// The published figure, as the claim states it.
    pub fn shown_published(&self) -> String {
        match self.rule.published {
            Published::Effect(effect) | Published::Figure(effect) => self.shown(effect),
            Published::Lower => "lower".into(),
            Published::Higher => "higher".into(),
            Published::Within(least, most) if most == f64::INFINITY => format!(">= {}", self.shown(least)),
            Published::Within(least, most) if least == f64::NEG_INFINITY => format!("<= {}", self.shown(most)),
            Published::Within(least, most) => {
                let (least, most) = (self.shown(least), self.shown(most));
                let unit = most.find(' ').map_or("", |at| &most[at..]);
                let to = if least.starts_with('-') { " to " } else { "-" };
                format!("{}{to}{most}", least.trim_end_matches(unit))
            }
        }
    }
}

/// How effects of a claim are printed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Format {
    /// The comparison.
    pub measure: Measure,
    /// The unit of a figure.
    pub unit: String,
    /// Digits behind the point.
    pub digits: usize,
}

impl Format {
    /// An effect as its claim states it.
    pub fn shown(&self, effect: f64) -> String {
        match self.measure {
            Measure::Change => format!("{effect:+.*} %", self.digits),
            Measure::Times => format!("{:.2}x", 1.0 + effect / 100.0),
            Measure::Points | Measure::Trend => format!("{effect:+.*} pp", self.digits),
            Measure::Rise => format!("{effect:+.*} {}", self.digits, self.unit),
            Measure::Share => format!("{effect:.*} %", self.digits),
            Measure::Figure => format!("{} {}", figure(effect), self.unit).trim_end().to_owned(),
        }
    }

    /// The width of an interval as its claim states the effect.
    pub fn shown_width(&self, width: f64) -> String {
        match self.measure {
            Measure::Times => format!("{:.2}x", width / 100.0),
            Measure::Change | Measure::Share => format!("{width:.*} %", self.digits),
            Measure::Points | Measure::Trend => format!("{width:.*} pp", self.digits),
            Measure::Rise => format!("{width:.*} {}", self.digits, self.unit),
            Measure::Figure => self.shown(width),
        }
    }
}

impl Published {
    /// The effect or the figure, if it is a number.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Effect(number) | Self::Figure(number) => Some(number),
            Self::Lower | Self::Higher | Self::Within(..) => None,
        }
    }

    /// The distance of an effect from the published one; larger is less in its favour.
    fn distance(self, effect: f64) -> f64 {
        match self {
            Self::Lower => effect,
            Self::Higher => -effect,
            Self::Effect(published) | Self::Figure(published) => (effect - published).abs(),
            Self::Within(least, most) => (least - effect).max(effect - most),
        }
    }
}

/// A figure with as many digits as it needs.
fn figure(value: f64) -> String {
    match value {
        value if value.fract() == 0.0 => format!("{value}"),
        value if value.abs() < 9.995 => format!("{value:.2}"),
        value if value.abs() < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
