//! Cells that differ only in their seeds are repetitions of one measurement: they are shown as a mean and its error.

use super::grid::Cell;
use super::journal::RunResult;
use super::table::SweepResults;
use copyback_theory::confidence::interval_95;
use std::collections::BTreeMap;

/// Cells that differ in their seeds only.
pub struct SeedGroup<'a> {
    /// Their name, without a seed.
    pub label: String,
    /// The first of them.
    pub first: &'a Cell,
    /// All of them, by their places in the results, each with its seed.
    pub cells: Vec<(u64, usize)>,
}

impl<'a> SeedGroup<'a> {
    /// The groups of a table, in the order of their first cells.
    pub fn all(results: &SweepResults<'a>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        // Names may be equal, so cells are compared by their choices.
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
    pub fn runs<'r>(&self, results: &'r SweepResults<'_>, scheme: usize) -> Vec<&'r RunResult> {
        self.cells.iter().map(|(_, cell)| &results.results[*cell].runs[scheme]).collect()
    }
}

/// The name of a cell and of those of other seeds. The seed comes last.
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
    /// The mean over seeds; `None` if one has no value.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let values = values.collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())?;
        let interval = interval_95(&values).ok();
        let value = interval.map_or(values[0], |interval| interval.mean);
        Some(Self { value, half_width: interval.map(|interval| interval.half_width) })
    }

    /// Widens the interval of a percentile to at least one bin of its histogram: percentiles that are reported as equal
    /// lie in the same bin, but their exact values may differ.
    #[must_use]
    pub fn of_bins(self, name: &str) -> Self {
        Self { half_width: self.half_width.map(|half_width| half_width.max(bin_of(name, self.value))), ..self }
    }
}

/// The width of the bin that a number of this name was read from: the number is its end. 0 for exact numbers.
pub fn bin_of(name: &str, value: f64) -> f64 {
    if is_percentile(name) { bin_width(value) } else { 0.0 }
}

/// Whether a number is read from a histogram's bins.
fn is_percentile(name: &str) -> bool {
    let last = name.rsplit('.').next().and_then(|last| last.strip_suffix("_ns").unwrap_or(last).strip_prefix('p'));
    last.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_'))
}

/// Bins of a histogram of response times from a power of two to the next: three significant digits need 2,000 exact
/// values, the next power of two is 2,048, and half of these values lie between 1,024 and 2,048.
const BINS: f64 = 1024.0;

/// The width of the bin that ends with a value: 1 ns for a value below 2,048 ns, otherwise 1/2048 to 1/1024 of it.
fn bin_width(value_ns: f64) -> f64 {
    2f64.powi((value_ns.max(1.0).log2().floor() - BINS.log2()).max(0.0) as i32)
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

    #[test]
    fn the_interval_of_a_percentile_is_no_narrower_than_a_bin() {
        let same = Mean { value: 1_000_000.0, half_width: Some(0.0) };
        // 1 ms lies between 2^19 and 2^20 ns: of 1,024 bins each has 512 ns.
        assert_eq!(same.of_bins("response.read.p99_9_ns").half_width, Some(512.0));
        for name in ["response.read.mean_ns", "response.read.max_ns", "flash.block_erases", "padding_ns"] {
            assert_eq!(same.of_bins(name), same, "{name}");
        }
        let wide = Mean { half_width: Some(7e5), ..same };
        assert_eq!((wide.of_bins("a.p50_ns"), bin_width(2_047.0)), (wide, 1.0));
        assert_eq!(Mean { half_width: None, ..same }.of_bins("a.p50_ns").half_width, None);
    }

    /// The widths are those of the histograms that runs keep.
    #[test]
    fn bins_are_as_wide_as_those_of_histograms() {
        let histogram = hdrhistogram::Histogram::<u64>::new(3).expect("three digits");
        for value in [1u64, 900, 2_047, 2_048, 5_000, 123_456, 1_000_000, 40_000_000_000] {
            assert_eq!(bin_width(value as f64), histogram.equivalent_range(value) as f64, "{value}");
        }
    }
}
