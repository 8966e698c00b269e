//! The data of a sweep for the page: means over seeds with their intervals, for each cell.

use super::distribution::{Bins, ccdf, rounded};
use super::findings::{self, Row};
use super::read::Table;
use super::settings::settings;
use super::{BYTES_MAX, Detail, too_large};
use copyback::observe::steady::Verdict;
use copyback_lab::Failure;
use copyback_lab::format::{TooFew, is_of_no_request};
use copyback_lab::steady::short_of_runs;
use copyback_lab::sweep::latencies;
use copyback_lab::sweep::seeds::Mean;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Numbers that the page has, and its reader may choose from; the table has all.
const METRICS: [&str; 20] = [
    "response.read.mean_ns",
    "response.read.p50_ns",
    "response.read.p99_ns",
    "response.read.p99_9_ns",
    "response.read.p99_99_ns",
    "response.read.max_ns",
    "response.write.mean_ns",
    "response.write.p99_ns",
    "response.write.p99_9_ns",
    "response.write.p99_99_ns",
    "response.write.max_ns",
    "response.all.mean_ns",
    "write_amplification.total",
    "iops",
    "gc.collections",
    "flash.block_erases",
    "wear.min_erases",
    "wear.mean_erases",
    "wear.max_erases",
    "min_free_blocks",
];
/// Numbers of requests, by which a percentile is known to have too few.
const COUNTS: [&str; 3] = ["response.read.count", "response.write.count", "response.all.count"];
const CAUSES: [&str; 2] = ["latency_breakdown.read_mean_ns.", "latency_breakdown.write_mean_ns."];
/// Columns that are in front of the varied keys.
const BEFORE_VARIED: [&str; 5] = ["cell", "case", "device", "workload", "seed"];

/// A sweep's table, and that of response times, if it stands beside it.
pub struct Sweep {
    table: Table,
    varied: Vec<String>,
    groups: Vec<Group>,
    schemes: Vec<String>,
    distributions: BTreeMap<(String, String, String), Bins>,
}

/// Cells that differ in their seeds only: rows of each scheme.
struct Group {
    label: String,
    rows: BTreeMap<String, Vec<usize>>,
}

impl Sweep {
    /// Reads them.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let all_names = Table::read(path, |_| false)?.names;
        let behind_seed = all_names.iter().skip(BEFORE_VARIED.len());
        let varied: Vec<String> = behind_seed.take_while(|name| *name != "scheme").cloned().collect();
        let is_wanted = |name: &str| {
            BEFORE_VARIED.contains(&name)
                || ["scheme", "steady", "config"].contains(&name)
                || METRICS.contains(&name)
                || COUNTS.contains(&name)
                || name == findings::AFTER_LAST_REQUEST
                || varied.iter().any(|own| own == name)
                || CAUSES.iter().any(|cause| name.starts_with(cause))
        };
        let table = Table::read(path, is_wanted)?;
        let (mut groups, mut schemes): (Vec<Group>, Vec<String>) = (Vec::new(), Vec::new());
        let mut group_of: BTreeMap<String, usize> = BTreeMap::new();
        for (row, scheme) in table.texts("scheme")?.iter().enumerate() {
            let label = label(&table, "cell", row);
            let at = *group_of.entry(label).or_insert_with_key(|label| {
                groups.push(Group { label: label.clone(), rows: BTreeMap::new() });
                groups.len() - 1
            });
            groups[at].rows.entry(scheme.clone()).or_default().push(row);
            if !schemes.contains(scheme) {
                schemes.push(scheme.clone());
            }
        }
        let beside = latencies::path_beside(path);
        let distributions = if beside.is_file() { distributions(&beside)? } else { BTreeMap::new() };
        Ok(Self { table, varied, groups, schemes, distributions })
    }

    /// Names of the schemes.
    pub fn schemes(&self) -> Vec<&str> {
        self.schemes.iter().map(String::as_str).collect()
    }

    /// The title: the schemes and the varied keys; `name`: the name of its table.
    pub fn title(&self, name: &str) -> String {
        let over = if self.varied.is_empty() { String::new() } else { format!(" over {}", self.varied.join(", ")) };
        format!("{name}: {}{over}", findings::listed(&self.schemes))
    }

    /// A row for each scheme of each cell, with means over seeds.
    pub fn rows(&self) -> Vec<Row> {
        let configs = self.configs();
        let is_ideal = |scheme: &str| {
            configs.iter().any(|(own, config)| *own == scheme && config["preemption"]["policy"] == "ideal")
        };
        let several = self.table.texts("workload").ok().filter(|names| names.iter().any(|name| *name != names[0]));
        let row = |group: &Group, scheme: &String, rows: &[usize]| {
            let at = if group.label.is_empty() { String::new() } else { format!(" with {}", group.label) };
            let mean = |name: &str| Some((name.to_owned(), self.mean(name, rows)?.value));
            let least = |name: &str| {
                let counts = self.table.numbers(name).ok()?;
                Some((name.to_owned(), rows.iter().filter_map(|row| counts[*row]).reduce(f64::min)?))
            };
            let means = METRICS.iter().chain([&findings::AFTER_LAST_REQUEST]).filter_map(|name| mean(name));
            let numbers: BTreeMap<String, f64> = means.chain(COUNTS.iter().filter_map(|name| least(name))).collect();
            let number = Box::new(move |name: &str| numbers.get(name).copied());
            let workload = several.as_ref().and_then(|names| names.get(*rows.first()?).cloned());
            Row { name: format!("{scheme}{at}"), workload, is_ideal: is_ideal(scheme), number }
        };
        let mut all = Vec::new();
        for group in &self.groups {
            let own = self.schemes.iter().filter_map(|scheme| Some((scheme, group.rows.get(scheme)?)));
            all.extend(own.map(|(scheme, rows)| row(group, scheme, rows)));
        }
        all
    }

    /// The verdicts of all runs.
    pub fn verdicts(&self) -> Vec<Verdict> {
        (0..self.table.rows).filter_map(|row| self.verdict(row)).collect()
    }

    fn verdict(&self, row: usize) -> Option<Verdict> {
        findings::verdict(&self.table.shown("steady", row))
    }

    /// The note that all seeds replay traces, if there are several seeds: intervals say nothing of other requests.
    pub fn note_of_seeds(&self) -> Option<&'static str> {
        let texts = self.table.texts("config").ok()?;
        let several = self.groups.iter().filter_map(|group| group.rows.values().next().filter(|rows| rows.len() > 1));
        let mut replayed =
            several.map(|rows| toml::from_str(&texts[rows[0]]).is_ok_and(|config: Value| replays(&config)));
        // Cells without a trace have intervals that cover other requests.
        let is_so = replayed.next()? && replayed.all(|is| is);
        is_so.then_some(
            "All seeds replay the trace's requests: intervals are those of the drive's preconditioning and of random \
             choices of policies, and do not cover other traces.",
        )
    }

    /// Whether the table has a number of this name that the page knows.
    pub fn has_number(&self, name: &str) -> bool {
        METRICS.contains(&name) && self.table.numbers(name).is_ok()
    }

    /// The data of the page on it.
    pub fn about(&self) -> Value {
        let seeds: std::collections::BTreeSet<String> =
            (0..self.table.rows).map(|row| self.table.shown("seed", row)).collect();
        json!({ "kind": "sweep", "rows": self.table.rows, "seeds": seeds, "varied": self.varied })
    }

    /// The data of the page.
    pub fn drawn(&self, detail: Detail) -> Result<Value, Failure> {
        let shown = &self.groups[..self.groups.len().min(detail.cells(self.schemes.len()))];
        // Numbers of a class without requests are no choice: those of reads if all runs only write.
        let has_value = |name: &&str| {
            let number = |row: usize| move |name: &str| self.table.numbers(name).ok().and_then(|column| column[row]);
            (0..self.table.rows).any(|row| number(row)(name).is_some() && !is_of_no_request(name, number(row)))
        };
        let metrics: Vec<&str> = METRICS.into_iter().filter(has_value).collect();
        let groups: Vec<Value> = shown.iter().map(|group| self.group(group, &metrics, detail)).collect();
        let mut left_bytes = BYTES_MAX;
        let flat = |(scheme, config): (&String, Value)| {
            let config = settings(&config, &mut left_bytes).ok_or_else(too_large)?;
            Ok::<_, Failure>(json!({ "scheme": scheme, "config": config }))
        };
        let configs = self.configs().into_iter().map(flat).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({
            "schemes": self.schemes,
            "varied": self.varied,
            "metrics": metrics,
            "groups": groups,
            "groups_left_out": self.groups.len() - shown.len(),
            "configs": configs,
        }))
    }

    fn group(&self, group: &Group, metrics: &[&str], detail: Detail) -> Value {
        let mut schemes = Map::new();
        for (scheme, rows) in &group.rows {
            let values: Vec<Value> = metrics.iter().map(|name| self.shown_mean(name, rows)).collect();
            let steady = short_of_runs(&rows.iter().filter_map(|row| self.verdict(*row)).collect::<Vec<_>>());
            let of_class = |class: &&str| {
                let bins = self.distributions.get(&(group.label.clone(), scheme.clone(), (*class).to_owned()))?;
                Some(((*class).to_owned(), ccdf(bins, detail)))
            };
            let ccdf: Map<_, _> = latencies::CLASSES.iter().filter_map(of_class).collect();
            let causes = CAUSES.map(|prefix| self.causes(prefix, rows));
            schemes.insert(
                scheme.clone(),
                json!({ "values": values, "steady": steady, "seeds": rows.len(), "ccdf": ccdf, "causes": causes }),
            );
        }
        json!({ "label": group.label, "schemes": schemes })
    }

    /// A mean over seeds.
    fn mean(&self, name: &str, rows: &[usize]) -> Option<Mean> {
        let column = self.table.numbers(name).ok()?;
        Mean::of(rows.iter().map(|row| column[*row])).map(|mean| mean.of_bins(name))
    }

    /// A mean over seeds and half the width of its interval; `null` also if a run lacks requests for a percentile.
    fn shown_mean(&self, name: &str, rows: &[usize]) -> Value {
        let number = |row: usize| move |name: &str| self.table.numbers(name).ok().and_then(|column| column[row]);
        let is_none = |row: &usize| TooFew::of(name, number(*row)).is_some() || is_of_no_request(name, number(*row));
        let mean = self.mean(name, rows).filter(|_| !rows.iter().any(is_none));
        mean.map_or(Value::Null, |mean| json!([rounded(mean.value), mean.half_width.map(rounded)]))
    }

    fn causes(&self, prefix: &str, rows: &[usize]) -> Vec<Value> {
        let names = self.table.names.iter().filter(|name| name.starts_with(prefix));
        let part = |name: &String| json!([name[prefix.len()..], self.shown_mean(name, rows)[0]]);
        names.map(part).filter(|pair| pair[1].as_f64().is_some_and(|part| part > 0.0)).collect()
    }

    /// The configuration of each scheme in its first cell.
    fn configs(&self) -> Vec<(&String, Value)> {
        let Ok(texts) = self.table.texts("config") else { return Vec::new() };
        let first = |scheme| {
            let row = *self.groups.iter().find_map(|group| group.rows.get(scheme))?.first()?;
            Some((scheme, toml::from_str(&texts[row]).ok()?))
        };
        self.schemes.iter().filter_map(first).collect()
    }
}

/// Whether all requests of a configuration are those of traces: of its workload, or of each of several.
fn replays(config: &Value) -> bool {
    match config["workloads"].as_object().filter(|several| !several.is_empty()) {
        None => config["workload"]["trace"].is_string(),
        Some(several) => several.values().all(|own| own["trace"].is_string()),
    }
}

/// The name of a row's cell without its seed, which comes last. Cells that differ only in their seeds share this name.
fn label(table: &Table, name: &str, row: usize) -> String {
    let label = table.shown(name, row);
    let seed = format!(" seed={}", table.shown("seed", row));
    label.strip_suffix(&seed).map_or_else(|| label.clone(), str::to_owned)
}

/// Histograms over all seeds, by cell, scheme and class.
fn distributions(path: &Path) -> Result<BTreeMap<(String, String, String), Bins>, Failure> {
    let wanted = ["cell", "seed", "scheme", "class", "to_ns", "count"];
    let table = Table::read(path, |name| wanted.contains(&name))?;
    let (to, counts) = (table.whole("to_ns")?, table.whole("count")?);
    let mut all: BTreeMap<_, BTreeMap<u64, f64>> = BTreeMap::new();
    for (row, (scheme, class)) in table.texts("scheme")?.iter().zip(table.texts("class")?).enumerate() {
        let bins = all.entry((label(&table, "cell", row), scheme.clone(), class.clone())).or_default();
        *bins.entry(to[row] as u64).or_insert(0.0) += counts[row];
    }
    let bins = |bins: BTreeMap<u64, f64>| bins.into_iter().map(|(to, count)| (to as f64, count)).collect();
    Ok(all.into_iter().map(|(key, own)| (key, bins(own))).collect())
}
