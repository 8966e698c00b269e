//! Cells that differ in their seeds only are one measurement, repeated: they are shown as a mean and its error.

use super::grid::Cell;
use super::journal::RunResult;
use super::table::Results;
use copyback_theory::confidence::interval_95;
use std::collections::BTreeMap;

/// Cells that differ in their seeds only.
pub struct SeedGroup<'a> {
    /// What tells them from others.
    pub label: String,
    /// The first of them.
    pub first: &'a Cell,
    /// All of them, by their places in the results, each with its seed.
    pub cells: Vec<(u64, usize)>,
}

impl<'a> SeedGroup<'a> {
    /// The groups of a table, in the order of their first cells.
    pub fn all(results: &Results<'a>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        // Names may be alike: cells are told apart by what they are.
        let mut group_of: BTreeMap<(&str, &str, String), usize> = BTreeMap::new();
        for (at, cell) in results.cells.iter().enumerate() {
            let key = (cell.case.as_str(), cell.device.as_str(), format!("{:?}", cell.varied));
            let group = *group_of.entry(key).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Self { label: label_without_seed(cell).to_owned(), first: cell, cells: Vec::new() });
            }
            groups[group].cells.push((cell.plan.seed, at));
        }
        groups
    }

    /// The runs of the scheme at this place, one for each seed.
    pub fn runs<'r>(&self, results: &'r Results<'_>, scheme: usize) -> Vec<&'r RunResult> {
        self.cells.iter().map(|(_, cell)| &results.results[*cell].runs[scheme]).collect()
    }
}

/// What a cell and those of other seeds are called. The seed comes last.
pub fn label_without_seed(cell: &Cell) -> &str {
    cell.label.strip_suffix(&format!(" seed={}", cell.plan.seed)).unwrap_or(&cell.label)
}

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Half the width of its 95 % interval; none with one seed.
    pub half_width: Option<f64>,
}

impl Mean {
    /// The mean of what each seed has; none where one has nothing.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let values = values.collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())?;
        let interval = interval_95(&values).ok();
        let value = interval.map_or(values[0], |interval| interval.mean);
        Some(Self { value, half_width: interval.map(|interval| interval.half_width) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_needs_a_value_of_each_seed_and_an_interval_two_seeds() {
        let of = |values: &[Option<f64>]| Mean::of(values.iter().copied());
        assert_eq!(of(&[Some(3.0)]), Some(Mean { value: 3.0, half_width: None }));
        assert_eq!(of(&[Some(3.0), None]), None);
        assert_eq!(of(&[]), None);
        // Two samples 2 apart: s = √2, t of one degree of freedom 12.706, so t·s/√2 = 12.706.
        let mean = of(&[Some(2.0), Some(4.0)]).unwrap();
        assert!(mean.value == 3.0 && (mean.half_width.unwrap() - 12.706).abs() < 1e-3, "{mean:?}");
    }
}
