//! The response times of a run in few bins, which a journal can keep; and the table of these for a sweep.
//!
//! A bin's upper end is at most 1/128 above its lower end: two significant digits. Bins are the same for every run, so
//! that those of several seeds can be added up.

use super::table::{self, SweepResults};
use crate::columns::{Column, write_table};
use crate::failure::Failure;
use crate::outputs;
use hdrhistogram::Histogram;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Classes of requests that are kept. Their sum is all requests but trims.
pub const CLASSES: &[&str] = &["read", "write"];

/// Bins for each doubling of the time, as a power of two.
const BITS: u32 = 7;

/// Requests by bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution(BTreeMap<u32, u64>);

/// The bin of a time.
fn bin_of(ns: u64) -> u32 {
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS + 1);
    (shift << BITS) + (ns >> shift) as u32
}

/// The shortest and the longest time of a bin.
fn bounds_ns(bin: u32) -> (u64, u64) {
    let shift = (bin >> BITS).saturating_sub(1);
    let from = u64::from(bin - (shift << BITS)) << shift;
    (from, from + ((1 << shift) - 1))
}

impl Distribution {
    /// The distribution of a histogram. Its bins are finer than these, and each lies in one of them.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let mut bins = BTreeMap::new();
        for bin in histogram.iter_recorded() {
            *bins.entry(bin_of(histogram.lowest_equivalent(bin.value_iterated_to()))).or_insert(0) +=
                bin.count_at_value();
        }
        Self(bins)
    }

    /// As a text: the requests of each bin, with `SKIPPED.` before it if bins before it are empty.
    pub fn to_text(&self) -> String {
        let mut next = 0;
        let mut words = Vec::new();
        for (&bin, count) in &self.0 {
            words.push(if bin == next { count.to_string() } else { format!("{}.{count}", bin - next) });
            next = bin + 1;
        }
        words.join(" ")
    }

    /// The distribution of such a text.
    pub fn of_text(text: &str) -> Option<Self> {
        let mut next = 0u32;
        let mut bins = BTreeMap::new();
        for word in text.split_ascii_whitespace() {
            let (skipped, count) = word.split_once('.').unwrap_or(("0", word));
            let bin = next.checked_add(skipped.parse().ok()?).filter(|bin| *bin <= bin_of(u64::MAX))?;
            bins.insert(bin, count.parse().ok()?);
            next = bin + 1;
        }
        Some(Self(bins))
    }

    /// The bounds of each bin that is not empty, and its requests.
    pub fn bins(&self) -> impl Iterator<Item = ((u64, u64), u64)> + '_ {
        self.0.iter().map(|(bin, count)| (bounds_ns(*bin), *count))
    }
}

/// The path of the table of response times, next to the sweep's table.
pub fn path_beside(table: &Path) -> PathBuf {
    let stem = table.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    table.with_file_name(format!("{stem}-latencies.parquet"))
}

/// Name of the table in its file.
const TABLE: &str = "latencies";

/// Whether a sweep wrote the file.
pub fn is_of_a_sweep(path: &Path) -> bool {
    let reader = std::fs::File::open(path).ok().and_then(|file| SerializedFileReader::new(file).ok());
    reader.is_some_and(|reader| {
        let metadata = reader.metadata().file_metadata();
        let mut keys = metadata.key_value_metadata().into_iter().flatten();
        metadata.schema().name() == TABLE && keys.any(|pair| pair.key == "copyback.sweep")
    })
}

/// Writes the table.
pub fn write(path: &Path, results: &SweepResults<'_>) -> Result<(), Failure> {
    outputs::write_whole(path, |file| write_table(file, TABLE, &table::about(results), columns(results)))
}

/// The columns of the table: the cell, the scheme, the class, and the bounds and the requests of a bin. Each row is a
/// bin that is not empty.
pub fn columns(results: &SweepResults<'_>) -> Vec<Column> {
    let mut rows = Vec::new();
    let (mut schemes, mut classes) = (Vec::new(), Vec::new());
    let (mut from, mut to, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (cell, run) in table::rows(results) {
        for (class, distribution) in &run.latencies {
            for ((from_ns, to_ns), count) in distribution.bins() {
                rows.push(cell);
                schemes.push(run.scheme.clone());
                classes.push(class.clone());
                from.push(from_ns);
                to.push(to_ns);
                counts.push(count);
            }
        }
    }
    let mut columns = table::cell_columns(results, &rows);
    columns.extend([
        Column::text("scheme", schemes),
        Column::text("class", classes),
        Column::U64("from_ns", from),
        Column::U64("to_ns", to),
        Column::U64("count", counts),
    ]);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_follow_each_other_and_are_at_most_a_128th_wide() {
        let mut next_ns = 0;
        for bin in 0..3_000 {
            let (from, to) = bounds_ns(bin);
            assert_eq!(from, next_ns, "bin {bin}");
            assert!((to - from) * 128 <= from, "bin {bin}: {from} to {to}");
            assert_eq!((bin_of(from), bin_of(to)), (bin, bin));
            next_ns = to + 1;
        }
        assert_eq!(bounds_ns(bin_of(u64::MAX)).1, u64::MAX);
    }

    #[test]
    fn a_distribution_is_read_back_and_keeps_every_request() {
        let mut histogram = Histogram::new_with_bounds(1, 1 << 47, 3).unwrap();
        for ns in [1, 1, 129, 130, 75_000, 75_003, 81_000_000, 1 << 46] {
            histogram.record(ns).unwrap();
        }
        let distribution = Distribution::of(&histogram);
        assert_eq!(Distribution::of_text(&distribution.to_text()), Some(distribution.clone()));
        assert_eq!(distribution.bins().map(|(_, count)| count).collect::<Vec<_>>(), [2, 1, 1, 2, 1, 1]);
        for wrong in ["x", "1.", ".1", "4294967295.1 1", "1.-1"] {
            assert_eq!(Distribution::of_text(wrong), None, "{wrong}");
        }
        assert_eq!(Distribution::of_text(""), Some(Distribution::default()));
    }
}
