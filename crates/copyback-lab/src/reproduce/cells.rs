//! The cells of a claim, and the values of a scheme in them.

use super::claim::OverSeeds;
use super::metric::{Bound, Metric};
use crate::sweep::journal::RunResult;
use crate::sweep::seeds::SeedGroup;
use crate::sweep::table::SweepResults;
use copyback_theory::confidence::interval_95;
use std::collections::{BTreeMap, BTreeSet};

/// Values of `case`, `device` or varied keys; several values of one key are alternatives.
pub type Coordinates = Vec<(String, Vec<toml::Value>)>;

/// Whether two values are the same; 1 and 1.0 are.
pub fn is_same(a: &toml::Value, b: &toml::Value) -> bool {
    let number = |value: &toml::Value| value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    a == b || number(a).is_some_and(|a| number(b) == Some(a))
}

/// Cells that differ in their seeds only.
pub struct Group {
    /// The choices that distinguish them from other groups.
    pub label: String,
    coordinates: BTreeMap<String, toml::Value>,
    /// The cells, each with its seed.
    cells: Vec<(u64, usize)>,
}

impl Group {
    /// The groups of a table.
    pub fn all(results: &SweepResults<'_>) -> Vec<Self> {
        let of_group = |SeedGroup { label, first, cells }: SeedGroup<'_>| {
            let varied = results.file.vary.iter().map(|vary| vary.key.clone()).zip(first.varied.iter().cloned());
            let own = [("case", &first.case), ("device", &first.device)];
            let own = own.into_iter().map(|(key, value)| (key.to_owned(), value.as_str().into()));
            Self { label, coordinates: own.chain(varied).collect(), cells }
        };
        SeedGroup::all(results).into_iter().map(of_group).collect()
    }

    /// Whether a claim counts it.
    pub fn fits(&self, wanted: &Coordinates) -> bool {
        let has =
            |key: &String, values: &[toml::Value]| values.iter().any(|value| is_same(&self.coordinates[key], value));
        wanted.iter().all(|(key, values)| has(key, values))
    }

    /// Whether `group` is compared with this group: they differ only in `different`.
    pub fn is_base_of(&self, group: &Self, different: &Coordinates) -> bool {
        let is_free = |key: &String| different.iter().any(|(other, _)| other == key);
        let others = group.coordinates.iter().filter(|(key, _)| !is_free(key));
        self.fits(different) && others.into_iter().all(|(key, value)| is_same(&self.coordinates[key], value))
    }

    /// Its seeds.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + '_ {
        self.cells.iter().map(|(seed, _)| *seed)
    }

    /// The value of a scheme over seeds, or with one of them; or the reason why there is none.
    pub fn value(
        &self,
        results: &SweepResults<'_>,
        of: (&str, &Metric),
        over_seeds: OverSeeds,
        seed: Option<u64>,
    ) -> Result<f64, String> {
        self.bound(results, of, (over_seeds, seed), Bound::Value)
    }

    /// The value, or its lower or upper bound, because percentiles are read from bins.
    pub fn bound(
        &self,
        results: &SweepResults<'_>,
        (scheme, metric): (&str, &Metric),
        (over_seeds, seed): (OverSeeds, Option<u64>),
        bound: Bound,
    ) -> Result<f64, String> {
        let cells = self.cells.iter().filter(|(own, _)| seed.is_none_or(|seed| seed == *own));
        let of_cell = |&(_, cell): &(u64, usize)| {
            let run = results.results[cell].runs.iter().find(|run| run.scheme == scheme);
            let run = run.ok_or_else(|| format!("there is no run of {scheme}"))?;
            metric.bound(&run.numbers, bound).map_err(|why| format!("{why} with {scheme}"))
        };
        let values = cells.map(of_cell).collect::<Result<Vec<f64>, String>>()?;
        over_seeds.of(values).ok_or_else(|| "it has no cell with this seed".into())
    }

    /// The largest value over seeds of a number of a scheme's run.
    pub fn worst(&self, results: &SweepResults<'_>, scheme: &str, value: impl Fn(&RunResult) -> f64) -> f64 {
        let runs = self.cells.iter().flat_map(|(_, cell)| &results.results[*cell].runs);
        runs.filter(|run| run.scheme == scheme).map(value).fold(0.0, f64::max)
    }
}

/// Half the width of the 95 % interval of a mean over seeds; none if there is one seed, or if the effect of a seed is
/// missing.
pub fn half_width(groups: &[Group], effect: impl Fn(u64) -> Option<f64>) -> Option<f64> {
    let seeds: BTreeSet<u64> = groups.iter().flat_map(Group::seeds).collect();
    let effects: Option<Vec<f64>> = seeds.into_iter().map(effect).collect();
    interval_95(&effects?).ok().map(|interval| interval.half_width)
}
