//! When each die was busy: the busy share of each short interval.

use super::Detail;
use super::distribution::rounded;
use super::read::Table;
use copyback_lab::Failure;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A die of a drive.
type Die = (u64, u64);
/// Busy intervals in nanoseconds, by die.
type Busy = BTreeMap<Die, Vec<(f64, f64)>>;

/// The busy intervals of dies, by layer of the heat map and by scheme.
pub struct DieActivity {
    layers: Vec<(&'static str, BTreeMap<String, Busy>)>,
}

/// The layers of the heat map of dies, one for each kind of work.
pub const COLLECTIONS: &str = "collections";
const HOST: &str = "host";
const GC: &str = "gc";

impl DieActivity {
    /// Reads the tables of a folder: collections, and array times if it has `commands.parquet`.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let mut layers = Vec::new();
        let path = folder.join("gc_events.parquet");
        if path.is_file() {
            let wanted = ["scheme", "start_ns", "end_ns", "drive", "die"];
            let table = Table::read(&path, |name| wanted.contains(&name))?;
            layers.push((COLLECTIONS, by_scheme(&table, "start_ns", "end_ns", |_| true)?));
        }
        let path = folder.join("commands.parquet");
        if path.is_file() {
            let wanted = ["scheme", "source", "array_start_ns", "array_end_ns", "drive", "die"];
            let table = Table::read(&path, |name| wanted.contains(&name))?;
            let sources = table.texts("source")?.to_vec();
            for (layer, source) in [(HOST, "host"), (GC, "GC")] {
                let is_of = |row: usize| sources.get(row).is_some_and(|own| own == source);
                layers.push((layer, by_scheme(&table, "array_start_ns", "array_end_ns", is_of)?));
            }
        }
        Ok(Self { layers })
    }

    /// The heat map of a run. Each layer is a flat list: for each bin in which a die worked, the index of the die in
    /// `dies`, the number of the bin, and the busy share in thousandths.
    pub fn drawn(&self, scheme: &str, (from_ns, to_ns): (f64, f64), dies: usize, detail: Detail) -> Value {
        let of_scheme: Vec<_> = self.layers.iter().map(|(layer, all)| (*layer, all.get(scheme))).collect();
        let of_drives = of_scheme.iter().filter_map(|(_, busy)| *busy).flat_map(BTreeMap::keys);
        let dies = dies.max(1);
        let drives = of_drives.map(|(drive, _)| drive.saturating_add(1)).max().unwrap_or(1);
        let all = (0..drives).flat_map(|drive| (0..dies as u64).map(move |die| (drive, die)));
        let all_count = usize::try_from(drives).unwrap_or(usize::MAX).saturating_mul(dies);
        // A file may name any number of dies.
        let shown: Vec<Die> = all.take(detail.dies()).collect();
        let bins = detail.die_bins(shown.len());
        let width_ns = (to_ns - from_ns) / bins as f64;
        let mut layers = serde_json::Map::new();
        for (layer, busy) in of_scheme {
            let mut cells = Vec::new();
            for (at, die) in shown.iter().enumerate() {
                let intervals = busy.and_then(|busy| busy.get(die)).map(Vec::as_slice).unwrap_or_default();
                let shares = shares(intervals, from_ns, width_ns, bins);
                let worked = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
                cells.extend(
                    worked.flat_map(|(bin, share)| [at, bin, ((share * 1000.0).round() as usize).clamp(1, 1000)]),
                );
            }
            layers.insert(layer.to_owned(), json!(cells));
        }
        let name = |(drive, die): &Die| if drives > 1 { format!("{drive}/{die}") } else { die.to_string() };
        json!({
            "from_ns": rounded(from_ns),
            "bin_ns": rounded(width_ns),
            "bins": bins,
            "dies": shown.iter().map(name).collect::<Vec<_>>(),
            "dies_left_out": all_count - shown.len(),
            "layers": layers,
        })
    }
}

fn by_scheme(
    table: &Table,
    start: &str,
    end: &str,
    is_of: impl Fn(usize) -> bool,
) -> Result<BTreeMap<String, Busy>, Failure> {
    if table.rows == 0 {
        return Ok(BTreeMap::new());
    }
    let [starts, ends, drives, dies] = [start, end, "drive", "die"].map(|name| table.whole(name));
    let (starts, ends, drives, dies) = (starts?, ends?, drives?, dies?);
    let mut all: BTreeMap<String, Busy> = BTreeMap::new();
    for (row, scheme) in table.texts("scheme")?.iter().enumerate().filter(|(row, _)| is_of(*row)) {
        if !all.contains_key(scheme) {
            all.insert(scheme.clone(), Busy::new());
        }
        let die = (drives[row] as u64, dies[row] as u64);
        all.entry(scheme.clone()).or_default().entry(die).or_default().push((starts[row], ends[row]));
    }
    Ok(all)
}

/// The share of each bin in which something was under way. What overlaps counts once: a die may collect on several
/// planes at a time.
fn shares(intervals: &[(f64, f64)], from_ns: f64, width_ns: f64, bins: usize) -> Vec<f64> {
    let mut shares = vec![0.0; bins];
    if width_ns <= 0.0 {
        return shares;
    }
    let mut intervals = intervals.to_vec();
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut until_ns = from_ns;
    for (start_ns, end_ns) in intervals {
        let start_ns = start_ns.max(until_ns);
        let end_ns = end_ns.min(from_ns + width_ns * bins as f64);
        if end_ns <= start_ns {
            continue;
        }
        until_ns = end_ns;
        let first = ((start_ns - from_ns) / width_ns) as usize;
        let last = (((end_ns - from_ns) / width_ns).ceil() as usize).min(bins);
        for (bin, share) in shares.iter_mut().enumerate().take(last).skip(first) {
            let begin_ns = from_ns + width_ns * bin as f64;
            *share += ((end_ns.min(begin_ns + width_ns) - start_ns.max(begin_ns)) / width_ns).max(0.0);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once_and_what_is_outside_does_not() {
        let intervals = [(25.0, 45.0), (5.0, 15.0), (10.0, 15.0), (-5.0, 2.0), (95.0, 130.0)];
        let expected = [0.7, 0.5, 0.5, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5];
        for (share, expected) in shares(&intervals, 0.0, 10.0, 10).into_iter().zip(expected) {
            assert!((share - expected).abs() < 1e-12, "{share} {expected}");
        }
        assert_eq!(shares(&intervals, 0.0, 0.0, 2), [0.0, 0.0]);
    }
}
