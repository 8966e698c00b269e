//! The measurement of a claim in a sweep: its effect, its null controls, the requests that it counts, and the work of
//! collection.

use super::cells::{self, Group};
use super::claim::{Claim, Measure, OverSeeds, Test};
use super::metric::{Bound, Metric};
use super::verdict::Verdict;
use crate::sweep::journal::CellResult;
use crate::sweep::notes::unwritten_share;
use crate::sweep::table::SweepResults;
use copyback::config::layers::{LayerError, Located};
use std::collections::BTreeSet;

/// The measurement of a claim.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The effect of each cell: in per cent, points, or the figure's unit.
    pub cells: Vec<(String, f64)>,
    /// The aggregate; none if something was not measured.
    pub effect: Option<f64>,
    /// Half the width of the 95 % interval of its mean over seeds, if there are several.
    pub half_width: Option<f64>,
    /// The lowest and the highest effect of a single seed, if medians over seeds are compared.
    pub spread: Option<(f64, f64)>,
    /// The fewest and the most samples that a number of the comparison is taken from, if the claim asks.
    pub samples: Option<(u64, u64)>,
    /// The verdict, or why there is none.
    pub outcome: Result<Verdict, MissingVerdict>,
    /// The same comparison with each null control instead of the scheme.
    pub null: Vec<Null>,
    /// The same change on each scheme's own affected requests, if the claim is about matched ones.
    pub own: Option<f64>,
    /// The same change on all requests.
    pub all: Option<f64>,
    /// Change of pages moved by collection.
    pub pages_moved: Option<WorkChange>,
    /// Change of erased blocks.
    pub erases: Option<WorkChange>,
    /// Change of the share of time in which the dies of an array collect.
    pub gc_time: Option<WorkChange>,
}

/// The change of an amount of work over a claim's cells, in per cent.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WorkChange {
    /// The mean.
    pub mean: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

/// Why a claim has no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingVerdict {
    /// There is nothing to measure.
    NotMeasured(String),
    /// The measurement has no meaning for the claim.
    NotJudged(String),
}

/// The measurement of a null control.
#[derive(Clone, Debug)]
pub struct Null {
    /// Its scheme.
    pub scheme: String,
    /// Its effect and the verdict on it; or why something was not measured.
    pub outcome: Result<(f64, Verdict), String>,
}

/// Largest share of read units without data at which a claim is judged.
const UNWRITTEN_MAX: f64 = 0.01;

/// Judges a claim by a table.
pub fn judge(claim: &Claim, results: &SweepResults<'_>) -> Result<Measured, LayerError> {
    let test = match &claim.test {
        Ok(test) => test,
        Err(why) => return Ok(Measured::nothing(MissingVerdict::NotMeasured(why.clone()))),
    };
    results.results.first().map_or(Ok(()), |first| check(claim, first))?;
    let groups = Group::all(results);
    Ok(ClaimContext { test, results, groups: &groups }.judge())
}

/// Refuses a claim about numbers that no run of its scheme has; the first cell's result tells.
pub fn check(claim: &Claim, first: &CellResult) -> Result<(), LayerError> {
    let Ok(test) = &claim.test else { return Ok(()) };
    let Some(run) = first.runs.iter().find(|run| run.scheme == test.scheme).or(first.runs.first()) else {
        return Ok(());
    };
    [Some(&test.metric), test.requires.as_ref(), test.samples.as_ref()]
        .into_iter()
        .flatten()
        .try_for_each(|m| m.check(&run.numbers))
}

impl WorkChange {
    /// The mean, and the range over cells if they differ.
    fn shown(self) -> String {
        let Self { mean, min, max } = self;
        if max - min < 1.0 { format!("{mean:+.1} %") } else { format!("{mean:+.1} % ({min:+.1} to {max:+.1})") }
    }
}

impl Measured {
    /// The changes of the work of collection that were measured, as texts.
    pub fn changes_of_work(&self) -> Vec<String> {
        let work = [("pages moved", self.pages_moved), ("erases", self.erases), ("time in GC", self.gc_time)];
        work.into_iter().filter_map(|(name, change)| Some(format!("{name} {}", change?.shown()))).collect()
    }

    fn nothing(why: MissingVerdict) -> Self {
        Self {
            cells: Vec::new(),
            effect: None,
            half_width: None,
            spread: None,
            samples: None,
            outcome: Err(why),
            null: Vec::new(),
            own: None,
            all: None,
            pages_moved: None,
            erases: None,
            gc_time: None,
        }
    }
}

/// A claim's test, and the results and groups of cells that it is judged with.
struct ClaimContext<'a> {
    test: &'a Test,
    results: &'a SweepResults<'a>,
    groups: &'a [Group],
}

/// Two schemes and the compared number.
#[derive(Clone, Copy)]
struct Pair<'a> {
    scheme: &'a str,
    against: &'a str,
    metric: &'a Metric,
    /// The bound of percentiles that is used for the scheme; the opposite bound is used for the scheme that it is
    /// compared with.
    bound: Bound,
}

impl<'a> ClaimContext<'a> {
    fn judge(&self) -> Measured {
        let test = self.test;
        let pair = Pair { scheme: &test.scheme, against: &test.against, metric: &test.metric, bound: Bound::Value };
        let cells = match self.effects(pair, None) {
            Ok(cells) if cells.is_empty() => {
                return Measured::nothing(MissingVerdict::NotMeasured("its cells were left out".into()));
            }
            Ok(cells) => cells,
            Err(why) => return Measured::nothing(MissingVerdict::NotMeasured(why)),
        };
        let effect = self.of_cells(&cells);
        let half_width = self.half_width(pair);
        let null: Vec<Null> = test.null.iter().map(|scheme| self.null(scheme)).collect();
        let outcome = match self.why_not_judged() {
            Some(why) => Err(MissingVerdict::NotJudged(why)),
            None => self.verdict_with_controls(effect, half_width, &null),
        };
        let change = |metric: Option<Metric>| self.other(pair, &metric?);
        Measured {
            effect: Some(effect),
            half_width,
            spread: self.spread(pair),
            samples: self.samples(),
            outcome,
            null,
            own: change(test.metric.renamed(of_own_set)),
            all: change(test.metric.renamed(of_all)),
            pages_moved: self.work("flash.gc_page_programs"),
            erases: self.work("flash.block_erases"),
            gc_time: self.work("array.gc_share"),
            cells,
        }
    }

    /// The effects of two schemes by cell: means over seeds, or of one seed; or why an effect is missing.
    fn effects(&self, pair: Pair<'_>, seed: Option<u64>) -> Result<Vec<(String, f64)>, String> {
        let mut cells = Vec::new();
        for group in self.groups.iter().filter(|group| group.fits(&self.test.cells)) {
            let bases = self.bases(group);
            if bases.is_empty() {
                continue;
            }
            let effect = self.effect(pair, group, &bases, seed).map_err(|why| format!("{}: {why}", group.label))?;
            if !effect.is_finite() {
                return Err(format!("{}: the effect on `{}` is no number", group.label, pair.metric.text.value));
            }
            cells.push((group.label.clone(), effect));
        }
        Ok(cells)
    }

    /// The groups with which a group is compared.
    fn bases(&self, group: &Group) -> Vec<&'a Group> {
        self.groups.iter().filter(|base| base.is_base_of(group, &self.test.base_cells)).collect()
    }

    fn effect(&self, pair: Pair<'_>, group: &Group, bases: &[&Group], seed: Option<u64>) -> Result<f64, String> {
        let over = (self.test.over_seeds, seed);
        let mean = |group: &Group, scheme: &str, bound| group.bound(self.results, (scheme, pair.metric), over, bound);
        // The effect grows with `own`, and falls with `other`: their bounds are opposite.
        let own = |group: &Group| mean(group, pair.scheme, pair.bound);
        let other = |group: &Group| mean(group, pair.against, pair.bound.opposite());
        let over_bases = |value: &dyn Fn(&Group) -> Result<f64, String>| -> Result<f64, String> {
            let values = bases.iter().map(|base| value(base)).collect::<Result<Vec<f64>, _>>()?;
            Ok(values.iter().sum::<f64>() / values.len() as f64)
        };
        let change = |value: f64, from: f64| match from {
            0.0 => Err(format!("`{}` is 0 with {}", pair.metric.text.value, pair.against)),
            _ => Ok(100.0 * (value / from - 1.0)),
        };
        match self.test.measure {
            Measure::Share => Ok(100.0 * own(group)?),
            Measure::Figure => Ok(own(group)? / per_unit(&self.test.unit)),
            Measure::Trend => {
                let (low, high) = (pair.bound.opposite(), pair.bound);
                let change_in =
                    |group: &Group, high, low| change(mean(group, pair.scheme, high)?, mean(group, pair.against, low)?);
                Ok(change_in(group, high, low)? - over_bases(&|base| change_in(base, low, high))?)
            }
            Measure::Rise => {
                let rise = |scheme: &str, bound: Bound| {
                    let from = over_bases(&|base| mean(base, scheme, bound.opposite()))?;
                    Ok::<_, String>(mean(group, scheme, bound)? - from)
                };
                let rises = rise(pair.scheme, pair.bound)? - rise(pair.against, pair.bound.opposite())?;
                Ok(rises / per_unit(&self.test.unit))
            }
            Measure::Points => Ok(100.0 * (own(group)? - over_bases(&other)?)),
            Measure::Change | Measure::Times => change(own(group)?, over_bases(&other)?),
        }
    }

    fn of_cells(&self, cells: &[(String, f64)]) -> f64 {
        let effects: Vec<f64> = cells.iter().map(|(_, effect)| *effect).collect();
        self.test.aggregate(&effects).expect("there is a cell")
    }

    /// The half width of an effect's interval over seeds: at least the effect's error due to the width of the bins of
    /// percentiles. `None` for figures, which compare nothing.
    fn half_width(&self, pair: Pair<'_>) -> Option<f64> {
        if self.test.measure.is_figure() {
            return None;
        }
        let of_seed = |seed| Some(self.of_cells(&self.effects(pair, Some(seed)).ok()?));
        let half_width = cells::half_width(self.groups, of_seed)?;
        let effect = |bound| Some(self.of_cells(&self.effects(Pair { bound, ..pair }, None).ok()?));
        let value = effect(Bound::Value)?;
        let bounds = [Bound::Low, Bound::High].map(|bound| effect(bound).map_or(0.0, |end| (end - value).abs()));
        Some(half_width.max(bounds[0]).max(bounds[1]))
    }

    /// The range over single seeds, if their median counts.
    fn spread(&self, pair: Pair<'_>) -> Option<(f64, f64)> {
        if self.test.over_seeds == OverSeeds::Mean {
            return None;
        }
        let seeds: BTreeSet<u64> = self.groups.iter().flat_map(Group::seeds).collect();
        let of_seed = |seed| Some(self.of_cells(&self.effects(pair, Some(seed)).ok()?));
        let effects: Vec<f64> = seeds.into_iter().filter_map(of_seed).collect();
        let by = |a: &f64, b: &f64| a.total_cmp(b);
        Some((effects.iter().copied().min_by(by)?, effects.iter().copied().max_by(by)?)).filter(|(a, b)| a < b)
    }

    /// The fewest and the most samples in a run of either scheme.
    fn samples(&self) -> Option<(u64, u64)> {
        let samples = self.test.samples.as_ref()?;
        let groups = || self.groups.iter().filter(|group| group.fits(&self.test.cells));
        let of = |group: &Group, scheme: &str| -> Vec<u64> {
            let seeds = group.seeds();
            let value = |seed| group.value(self.results, (scheme, samples), OverSeeds::Mean, Some(seed)).ok();
            seeds.filter_map(value).map(|count| count as u64).collect()
        };
        let counts: Vec<u64> = groups()
            .flat_map(|group| [&self.test.scheme, &self.test.against].into_iter().flat_map(move |s| of(group, s)))
            .collect();
        Some((*counts.iter().min()?, *counts.iter().max()?))
    }

    /// The claim's comparison with a control in the place of its scheme.
    fn null(&self, scheme: &str) -> Null {
        let test = self.test;
        let against = if test.scheme == test.against { scheme } else { &test.against };
        let pair = Pair { scheme, against, metric: &test.metric, bound: Bound::Value };
        let outcome = self.effects(pair, None).map(|cells| {
            let effect = self.of_cells(&cells);
            (effect, test.rule.verdict(effect, self.half_width(pair)))
        });
        Null { scheme: scheme.to_owned(), outcome }
    }

    /// The verdict with null controls. If a control was not measured, a claim that holds is not judged; a miss stays a
    /// miss.
    fn verdict_with_controls(
        &self,
        effect: f64,
        half_width: Option<f64>,
        null: &[Null],
    ) -> Result<Verdict, MissingVerdict> {
        let rule = &self.test.rule;
        let controls: Vec<(f64, Verdict)> = null.iter().filter_map(|null| null.outcome.clone().ok()).collect();
        let verdict = rule.verdict_with_controls(rule.verdict(effect, half_width), effect, &controls);
        let missing = |null: &Null| {
            let why = null.outcome.as_ref().err()?;
            Some(format!("the null control {} was not measured: {why}", null.scheme))
        };
        match null.iter().find_map(missing) {
            Some(why) if verdict.direction_holds() && verdict != Verdict::NullToo => {
                Err(MissingVerdict::NotJudged(why))
            }
            _ => Ok(verdict),
        }
    }

    /// The change in another number.
    fn other(&self, pair: Pair<'_>, metric: &Metric) -> Option<f64> {
        let cells = self.effects(Pair { metric, ..pair }, None).ok()?;
        Some(self.of_cells(&cells))
    }

    /// The change of an amount of work in the comparison.
    fn work(&self, name: &str) -> Option<WorkChange> {
        let test = self.test;
        if test.measure.is_figure() {
            return None;
        }
        // Some claims compare the two schemes in two groups of cells. Their work is compared inside each cell.
        let is_trend = test.measure.compares_groups();
        let metric = Metric::parse(Located { value: name.to_owned(), place: None }).ok()?;
        let mut changes = Vec::new();
        for group in self.groups.iter().filter(|group| group.fits(&test.cells)) {
            let bases = if is_trend { vec![group] } else { self.bases(group) };
            let mean =
                |group: &Group, scheme: &str| group.value(self.results, (scheme, &metric), OverSeeds::Mean, None).ok();
            let from = bases.iter().map(|base| mean(base, &test.against)).sum::<Option<f64>>()? / bases.len() as f64;
            let value = mean(group, &test.scheme)?;
            if from == 0.0 || !from.is_finite() {
                return None;
            }
            changes.push(100.0 * (value / from - 1.0));
        }
        (!changes.is_empty()).then(|| WorkChange {
            mean: changes.iter().sum::<f64>() / changes.len() as f64,
            min: changes.iter().copied().fold(f64::INFINITY, f64::min),
            max: changes.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    /// The reason why a claim is not judged, if the events that it requires did not occur, or occurred too rarely. Only
    /// a number other than 0 shows that they did.
    fn why_unfulfilled(&self, group: &Group, requires: &Metric) -> Option<String> {
        let (scheme, name) = (&self.test.scheme, &requires.text.value);
        let least = self.test.requires_at_least.unwrap_or(f64::NEG_INFINITY);
        match group.value(self.results, (scheme, requires), OverSeeds::Mean, None) {
            Ok(0.0) => Some(format!("`{name}` is 0 with {scheme}")),
            Ok(value) if value < least => Some(format!("`{name}` is {value} with {scheme}, less than {least}")),
            Ok(value) if value.is_finite() => None,
            Ok(_) => Some(format!("`{name}` is no number with {scheme}")),
            Err(why) => Some(why),
        }
    }

    /// The reason if the measurement has no meaning: the claimed event does not occur, or reads find no data.
    fn why_not_judged(&self) -> Option<String> {
        let test = self.test;
        for group in self.groups.iter().filter(|group| group.fits(&test.cells)) {
            if let Some(why) = test.requires.as_ref().and_then(|requires| self.why_unfulfilled(group, requires)) {
                return Some(format!("{}: {why}", group.label));
            }
            for (group, scheme) in
                self.bases(group).into_iter().flat_map(|base| [(group, &test.scheme), (base, &test.against)])
            {
                let share = group.worst(self.results, scheme, unwritten_share);
                if share > UNWRITTEN_MAX {
                    let share = 100.0 * share;
                    return Some(format!("{}: {share:.1} % of the mapping units read hold no data", group.label));
                }
            }
        }
        None
    }
}

/// The nanoseconds of a unit of time, 0.01 for `%`, otherwise 1.
fn per_unit(unit: &str) -> f64 {
    match unit {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "%" => 1e-2,
        _ => 1.0,
    }
}

/// The number of a scheme's own affected requests that corresponds to a number of the matched requests.
fn of_own_set(name: &str) -> Option<String> {
    let (class, number) = name.strip_prefix("matched.")?.split_once('.')?;
    let class = if class == "all" { String::new() } else { format!("_{class}") };
    Some(format!("response.gc_affected{class}.{number}"))
}

/// The number of all requests that corresponds to a number of the matched requests.
fn of_all(name: &str) -> Option<String> {
    Some(format!("response.{}", name.strip_prefix("matched.")?))
}
