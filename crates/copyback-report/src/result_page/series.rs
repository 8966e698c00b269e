//! Series over time in few bins. Each bin has the mean, the least and the greatest value of its rows, so that peaks
//! remain.

use super::Detail;
use super::distribution::rounded;
use super::read::Table;
use copyback_lab::Failure;
use copyback_theory::confidence::interval_95;
use serde_json::{Map, Value, json};
use std::ops::Range;

/// Batches of the run by which the interval of a mean is found: the method of batch means (Law, Simulation Modeling and
/// Analysis, 9.5.3) takes 5 to 30.
const BATCHES: usize = 10;

/// The columns of `time_series` that are drawn.
const COLUMNS: [&str; 11] = [
    "time_ns",
    "free_blocks_min",
    "free_blocks_mean",
    "dies_collecting",
    "requests_done",
    "response_sum_ns",
    "units_written",
    "host_units",
    "gc_units",
    "other_units",
    "padding_units",
];

/// Whether a column of the table is needed.
pub fn is_wanted(name: &str) -> bool {
    name == "scheme" || COLUMNS.contains(&name)
}

/// A run's rows of the table.
pub struct Series {
    start_ns: f64,
    columns: [Vec<f64>; COLUMNS.len()],
}

/// The columns of a ratio.
struct Ratio<'a> {
    parts: &'a [usize],
    of: usize,
}

const RESPONSE: Ratio<'_> = Ratio { parts: &[5], of: 4 };
const WRITE_AMPLIFICATION: Ratio<'_> = Ratio { parts: &[7, 8, 9, 10], of: 6 };

impl Series {
    /// The rows of a scheme in a run that is measured from `start_ns` on.
    pub fn of(table: &Table, scheme: &str, start_ns: f64) -> Result<Self, Failure> {
        let schemes = table.texts("scheme")?;
        let mut columns: [Vec<f64>; COLUMNS.len()] = Default::default();
        for (column, name) in columns.iter_mut().zip(COLUMNS) {
            let all = table.whole(name)?;
            *column = schemes.iter().zip(all).filter(|(own, _)| *own == scheme).map(|(_, value)| value).collect();
        }
        Ok(Self { start_ns, columns })
    }

    fn rows(&self) -> usize {
        self.columns[0].len()
    }

    /// When the last row ends.
    pub fn end_ns(&self) -> f64 {
        self.columns[0].last().copied().unwrap_or(self.start_ns)
    }

    fn sum(&self, column: usize, rows: Range<usize>) -> f64 {
        self.columns[column][rows].iter().sum()
    }

    fn ratio(&self, ratio: &Ratio<'_>, rows: Range<usize>) -> Option<f64> {
        let of = self.sum(ratio.of, rows.clone());
        (of > 0.0).then(|| ratio.parts.iter().map(|part| self.sum(*part, rows.clone())).sum::<f64>() / of)
    }

    /// Mean, least and most of a ratio in each bin.
    fn ratios(&self, ratio: &Ratio<'_>, bins: &[Range<usize>]) -> Value {
        let mut three = [Vec::new(), Vec::new(), Vec::new()];
        for bin in bins {
            let rows = || bin.clone().filter_map(|row| self.ratio(ratio, row..row + 1));
            let values = [self.ratio(ratio, bin.clone()), rows().reduce(f64::min), rows().reduce(f64::max)];
            three.iter_mut().zip(values).for_each(|(all, value)| all.push(value.map(rounded)));
        }
        let [mean, min, max] = three;
        json!({ "mean": mean, "min": min, "max": max })
    }

    /// The same for a sampled state: its time-weighted mean, the minimum of column `min_of`, the maximum of column
    /// `max_of`.
    fn states(&self, column: usize, min_of: usize, max_of: usize, bins: &[Range<usize>]) -> Value {
        let begin = |row: usize| if row == 0 { self.start_ns } else { self.columns[0][row - 1] };
        let length = |row: usize| (self.columns[0][row] - begin(row)).max(0.0);
        let mean = |bin: &Range<usize>| {
            let all: f64 = bin.clone().map(length).sum();
            let weighed: f64 = bin.clone().map(|row| length(row) * self.columns[column][row]).sum();
            if all > 0.0 { weighed / all } else { self.columns[column][bin.start] }
        };
        let least =
            |bin: &Range<usize>| self.columns[min_of][bin.clone()].iter().copied().fold(f64::INFINITY, f64::min);
        let most = |bin: &Range<usize>| self.columns[max_of][bin.clone()].iter().copied().fold(0.0, f64::max);
        let each = |of: &dyn Fn(&Range<usize>) -> f64| bins.iter().map(|bin| rounded(of(bin))).collect::<Vec<_>>();
        json!({ "mean": each(&mean), "min": each(&least), "max": each(&most) })
    }

    /// The data of the page over time.
    pub fn drawn(&self, detail: Detail) -> Value {
        let bins = bins(self.rows(), detail.series_bins());
        let ends: Vec<f64> = bins.iter().map(|bin| self.columns[0][bin.end - 1]).collect();
        let mut drawn = Map::new();
        drawn.insert("start_ns".into(), json!(self.start_ns));
        drawn.insert("end_ns".into(), json!(ends));
        drawn.insert("rows".into(), json!(self.rows()));
        drawn.insert("write_amplification".into(), self.ratios(&WRITE_AMPLIFICATION, &bins));
        drawn.insert("response_ns".into(), self.ratios(&RESPONSE, &bins));
        drawn.insert("free_blocks".into(), self.states(2, 1, 2, &bins));
        drawn.insert("dies_collecting".into(), self.states(3, 3, 3, &bins));
        Value::Object(drawn)
    }

    /// Halves of the 95 % intervals of the mean response time and of write amplification, by batch means: batches with
    /// as nearly equal counts as rows allow. Null if there are fewer rows than batches, or a batch has no value.
    pub fn half_widths(&self) -> Value {
        json!({ "response_ns": self.half_width(&RESPONSE), "write_amplification": self.half_width(&WRITE_AMPLIFICATION) })
    }

    fn half_width(&self, ratio: &Ratio<'_>) -> Option<f64> {
        let total = self.sum(ratio.of, 0..self.rows());
        let mut batches: Vec<Range<usize>> = Vec::new();
        let (mut from, mut done) = (0, 0.0);
        for row in 0..self.rows() {
            done += self.columns[ratio.of][row];
            if done >= total * (batches.len() + 1) as f64 / BATCHES as f64 {
                batches.push(from..row + 1);
                from = row + 1;
            }
        }
        let means: Option<Vec<f64>> = batches.into_iter().map(|batch| self.ratio(ratio, batch)).collect();
        let means = means.filter(|means| means.len() == BATCHES)?;
        interval_95(&means).ok().map(|interval| rounded(interval.half_width))
    }
}

/// Neighbouring rows, in at most `most` bins.
fn bins(rows: usize, most: usize) -> Vec<Range<usize>> {
    let each = rows.div_ceil(most).max(1);
    (0..rows).step_by(each).map(|from| from..(from + each).min(rows)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rows: usize) -> Series {
        let ones = || vec![1.0; rows];
        let mut columns: [Vec<f64>; COLUMNS.len()] = std::array::from_fn(|_| ones());
        columns[0] = (1..=rows).map(|row| row as f64 * 10.0).collect();
        Series { start_ns: 0.0, columns }
    }

    #[test]
    fn a_peak_of_one_row_stays_and_means_are_weighed_by_what_was_done() {
        let mut series = series(5_000);
        (series.columns[5][777], series.columns[4][777]) = (9_000.0, 3.0);
        let drawn = series.drawn(Detail::FINEST);
        let response = &drawn["response_ns"];
        let most =
            |name: &str| response[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).fold(0.0, f64::max);
        assert_eq!(most("max"), 3_000.0);
        // 16 rows a bin: 15 requests of 1 ns, and three that took 9,000 ns together.
        let bin = 5_000_f64 / Detail::FINEST.series_bins() as f64;
        assert_eq!(most("mean"), rounded((bin.ceil() - 1.0 + 9_000.0) / (bin.ceil() + 2.0)));
        assert!(drawn["end_ns"].as_array().unwrap().len() <= Detail::FINEST.series_bins());
        assert_eq!(drawn["end_ns"].as_array().unwrap().last().unwrap().as_f64(), Some(50_000.0));
    }

    #[test]
    fn an_interval_needs_batches_and_is_that_of_their_means() {
        assert_eq!(series(9).half_width(&RESPONSE), None);
        assert_eq!(series(1_000).half_width(&RESPONSE), Some(0.0));
        let mut halves = series(1_000);
        halves.columns[5][500..].fill(3.0);
        // Five batches of 1 and five of 3: s = √(10/9), t of nine degrees of freedom is 2.262.
        let expected = 2.262_157 * (10.0_f64 / 9.0).sqrt() / 10.0_f64.sqrt();
        assert!((halves.half_width(&RESPONSE).unwrap() - expected).abs() < 1e-4);
    }
}
