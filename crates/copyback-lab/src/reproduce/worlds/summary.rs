//! The summary of all worlds: for each headline, the share of worlds in which it holds, its distribution, the decisions
//! that matter, and a rule.

use super::effects::{self, Factor, Share};
use super::record::{Row, Status, WorldClaim, Worlds};
use super::rule::{self, Rule, Test, Tree};
use crate::reproduce::claim::Measure;
use crate::reproduce::headlines::Holds;
use serde::Serialize;

/// Worlds below which shares of variance and rules say little.
const ENOUGH: usize = 20;

/// The summary of a document.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Worlds that agree with the paper's printed values.
    pub consistent: usize,
    /// Worlds that contradict a printed value.
    pub inconsistent: usize,
    /// Worlds that did not run.
    pub impossible: usize,
    /// Whether shares are of the consistent worlds. If there are fewer than 20, shares are of all worlds that ran.
    pub is_of_consistent: bool,
    /// The rule that separates the consistent worlds from the others.
    pub consistency: Option<RuleSummary>,
    /// One entry for each headline.
    pub headlines: Vec<HeadlineSummary>,
}

/// The summary of a headline over worlds.
#[derive(Clone, Debug, Serialize)]
pub struct HeadlineSummary {
    /// Worlds that judge it.
    pub judged: usize,
    /// Worlds in which direction and size hold.
    pub in_size: usize,
    /// Worlds in which at least the direction holds, and no control shows half of the effect.
    pub in_direction: usize,
    /// Worlds in which a control without the idea also shows half of the effect.
    pub control_too: usize,
    /// The effect that 5 % of the worlds are below, the median, and the effect that 95 % are below.
    pub quantiles: Option<[f64; 3]>,
    /// The decisions by their shares of the variance, the largest first.
    pub decides: Vec<DecisionShare>,
    /// The rule for its direction.
    pub rule: Option<RuleSummary>,
}

/// A decision's share of the variance.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionShare {
    /// The decision.
    pub decision: String,
    /// Its share, from 0 to 1.
    pub share: f64,
    /// The lower bound of the 95 % interval.
    pub least: f64,
    /// The upper bound.
    pub most: f64,
}

/// A rule in words, and how often it is right.
#[derive(Clone, Debug, Serialize)]
pub struct RuleSummary {
    /// The rule.
    pub rule: String,
    /// Worlds that it is right about.
    pub right: usize,
    /// Worlds that the more frequent answer alone is right about.
    pub right_without: usize,
    /// Worlds that a rule fitted to other worlds is right about.
    pub right_validated: usize,
    /// All worlds.
    pub worlds: usize,
}

/// An effect on the scale of its measure; for changes and factors a logarithm: half and double are equally far from 0.
fn scaled(claim: &WorldClaim, effect: f64) -> f64 {
    match claim.format.as_ref().map(|format| format.measure) {
        Some(Measure::Change | Measure::Times) => (1.0 + effect / 100.0).max(1e-4).ln(),
        _ => effect,
    }
}

fn factors(document: &Worlds, rows: &[&Row]) -> Vec<Factor> {
    let of = |(at, decision): (usize, &super::record::DecisionAbout)| Factor {
        values: rows.iter().map(|row| row.numbers[at].unwrap_or(0.0)).collect(),
        is_choice: !decision.choices.is_empty(),
    };
    document.decisions.iter().enumerate().map(of).collect()
}

impl Summary {
    /// The summary of a document.
    pub fn of(document: &Worlds) -> Self {
        let ran: Vec<&Row> = document.worlds.iter().filter(|row| row.status != Status::Impossible).collect();
        let consistent: Vec<&Row> = ran.iter().copied().filter(|row| row.status == Status::Consistent).collect();
        let is_of_consistent = consistent.len() >= ENOUGH.min(ran.len());
        let rows = if is_of_consistent { &consistent } else { &ran };
        let answers: Vec<bool> = ran.iter().map(|row| row.status == Status::Consistent).collect();
        let consistency = rule::rule(&answers, &factors(document, &ran));
        let described = |rule: Rule, answers: (&str, &str)| RuleSummary {
            rule: words(document, &rule.tree, answers),
            right: rule.right,
            right_without: rule.right_without,
            right_validated: rule.right_validated,
            worlds: rule.worlds,
        };
        let of_headline = |at: usize| {
            let judged: Vec<&Row> = rows
                .iter()
                .copied()
                .filter(|row| row.effects[at].is_some() && row.holds[at] != Holds::Unknown)
                .collect();
            let count = |wanted: &[Holds]| judged.iter().filter(|row| wanted.contains(&row.holds[at])).count();
            let factors = factors(document, &judged);
            let claim = &document.headlines[at];
            let effects: Vec<f64> = judged.iter().filter_map(|row| row.effects[at]).collect();
            let on_scale: Vec<f64> = effects.iter().map(|&effect| scaled(claim, effect)).collect();
            let shares = effects::shares(&on_scale, &factors, document.seed);
            let holds: Vec<bool> = judged.iter().map(|row| is_in_direction(row.holds[at])).collect();
            HeadlineSummary {
                judged: judged.len(),
                in_size: count(&[Holds::Size]),
                in_direction: count(&[Holds::Size, Holds::Direction]),
                control_too: count(&[Holds::Control]),
                quantiles: quantiles(effects),
                decides: decides(document, &shares),
                rule: rule::rule(&holds, &factors).map(|rule| described(rule, ("holds", "does not hold"))),
            }
        };
        Self {
            consistent: consistent.len(),
            inconsistent: ran.len() - consistent.len(),
            impossible: document.worlds.len() - ran.len(),
            is_of_consistent,
            consistency: consistency.map(|rule| described(rule, ("consistent", "inconsistent"))),
            headlines: (0..document.headlines.len()).map(of_headline).collect(),
        }
    }
}

fn is_in_direction(holds: Holds) -> bool {
    matches!(holds, Holds::Size | Holds::Direction)
}

fn quantiles(mut effects: Vec<f64>) -> Option<[f64; 3]> {
    effects.sort_by(f64::total_cmp);
    let last = effects.len().checked_sub(1)?;
    Some([0.05, 0.5, 0.95].map(|part| effects[(part * last as f64).round() as usize]))
}

fn decides(document: &Worlds, shares: &[Share]) -> Vec<DecisionShare> {
    let mut all: Vec<DecisionShare> = document
        .decisions
        .iter()
        .zip(shares)
        .map(|(decision, share)| DecisionShare {
            decision: decision.name.clone(),
            share: share.share,
            least: share.least,
            most: share.most,
        })
        .collect();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}

/// A tree in words.
fn words(document: &Worlds, tree: &Tree, answers: (&str, &str)) -> String {
    match tree {
        Tree::Leaf(true) => answers.0.to_owned(),
        Tree::Leaf(false) => answers.1.to_owned(),
        Tree::Split(criterion, yes, no) => {
            let decision = &document.decisions[criterion.factor];
            let condition = match criterion.test {
                Test::Below(threshold) => format!("{} < {}", decision.name, three_digits(threshold)),
                Test::Is(choice) => format!("{} = {}", decision.name, decision.choices[choice as usize]),
            };
            let part = |tree: &Tree| match tree {
                Tree::Leaf(_) => words(document, tree, answers),
                Tree::Split(..) => format!("({})", words(document, tree, answers)),
            };
            format!("if {condition}: {}; else {}", part(yes), part(no))
        }
    }
}

/// A threshold with three significant digits.
fn three_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded}")
}
