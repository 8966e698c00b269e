//! The data of `run` and `compare` for the page: their document, and the tables of its folder, if it is in one.

use super::conditions::Condition;
use super::dies::DieActivity;
use super::distribution::{Bins, ccdf};
use super::findings::{self, Row, verdict};
use super::read::{self, Table};
use super::series::{self, Series};
use super::settings::settings;
use super::workloads_and_drives;
use super::{BYTES_MAX, Detail, too_large};
use copyback_lab::Failure;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Parts of a report that the page shows. The length of the others grows with the number of drives or bins.
const SHOWN: [&str; 14] = [
    "warmup",
    "reads",
    "writes",
    "simulated_ns",
    "iops",
    "response",
    "latency_breakdown",
    "write_amplification",
    "steady",
    "gc",
    "flash",
    "utilization",
    "wear",
    "min_free_blocks",
];

/// Tables of a folder that the page shows.
const TABLES: [&str; 4] =
    ["time_series.parquet", "latency_histograms.parquet", "gc_events.parquet", "commands.parquet"];

/// Histograms by scheme and class.
type Histograms = BTreeMap<String, BTreeMap<String, Bins>>;

/// The results of a command.
pub struct Runs {
    document: Value,
    series: Option<Table>,
    histograms: Histograms,
    work: Option<DieActivity>,
}

impl Runs {
    /// Reads the runs of a document, with the tables of its folder, if it has one.
    pub fn read(document: Value, folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(folder) = folder else {
            return Ok(Self { document, series: None, histograms: Histograms::new(), work: None });
        };
        refuse_others(&document, folder)?;
        let path = folder.join("time_series.parquet");
        let series = path.is_file().then(|| Table::read(&path, series::is_wanted)).transpose()?;
        let path = folder.join("latency_histograms.parquet");
        let histograms = if path.is_file() { histograms(&path)? } else { Histograms::new() };
        Ok(Self { document, series, histograms, work: Some(DieActivity::read(folder)?) })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.results().len()
    }

    fn results(&self) -> &[Value] {
        self.document["results"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Names of the schemes.
    pub fn schemes(&self) -> Vec<&str> {
        self.results().iter().filter_map(|result| result["scheme"].as_str()).collect()
    }

    /// The title: the schemes, the workload and the drive.
    pub fn title(&self) -> String {
        let input = |role: &str| {
            let inputs = self.document["inputs"].as_array().into_iter().flatten();
            inputs.rev().find(|input| input["role"] == role).and_then(|input| input["name"].as_str())
        };
        let short = |name: &str| name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
        let schemes: Vec<String> = self.schemes().into_iter().map(str::to_owned).collect();
        let workload = self.document["name"].as_str().or(input("workload")).or(input("trace"));
        let several = self.document["results"][0]["report"]["workloads"].as_object().into_iter().flatten();
        let several: Vec<&str> = several.map(|(name, _)| name.as_str()).collect();
        let several = (!several.is_empty()).then(|| several.join(" with "));
        let workload = workload.map(short).or(several);
        let of = workload.map(|name| format!(" under {name}")).unwrap_or_default();
        let array = input("array").map(|name| format!(", array {}", short(name))).unwrap_or_default();
        let drive = input("device").map(|name| format!(", drive {}", short(name))).unwrap_or_default();
        format!("{}{of}{array}{drive}", findings::listed(&schemes))
    }

    /// The findings.
    pub fn found(&self, conditions: &[Condition]) -> String {
        let row = |result: &Value| {
            let report = result["report"].clone();
            Row {
                name: result["scheme"].as_str().unwrap_or_default().to_owned(),
                workload: None,
                is_ideal: result["config"]["preemption"]["policy"] == "ideal",
                number: Box::new(move |name| number(&report, name)),
            }
        };
        let rows: Vec<Row> = self.results().iter().map(row).collect();
        let first = self.schemes().first().copied();
        let verdict = |result: &Value| verdict(result["report"]["steady"]["verdict"].as_str()?);
        let verdicts: Vec<_> = self.results().iter().filter_map(verdict).collect();
        findings::sentences(&rows, first, conditions, &verdicts)
    }

    /// Whether the reports have a number of this name.
    pub fn has_number(&self, name: &str) -> bool {
        self.results().iter().any(|result| number(&result["report"], name).is_some())
    }

    /// The data of the page on the command.
    pub fn about(&self) -> Value {
        let of = |name: &str| self.document[name].clone();
        let inputs = self.document["inputs"].as_array().into_iter().flatten();
        let inputs: Vec<_> = inputs.map(|input| json!([input["role"], input["name"], input["hash"]])).collect();
        json!({
            "kind": "runs",
            "command": of("command"),
            "version": self.document["program"]["version"],
            "seed": of("seed"),
            "requests": of("requests"),
            "warmup": of("warmup"),
            "inputs": inputs,
        })
    }

    /// Each run.
    pub fn drawn(&self, detail: Detail) -> Result<Vec<Value>, Failure> {
        let mut left_bytes = BYTES_MAX;
        self.results().iter().map(|result| self.one(result, detail, &mut left_bytes)).collect()
    }

    /// A run; `left_bytes`: the room for its configuration.
    fn one(&self, result: &Value, detail: Detail, left_bytes: &mut usize) -> Result<Value, Failure> {
        let scheme = result["scheme"].as_str().unwrap_or_default();
        let report = &result["report"];
        let shown: Map<String, Value> = SHOWN.iter().map(|name| ((*name).to_owned(), report[*name].clone())).collect();
        let start_ns = report["warmup"]["end_ns"].as_f64().unwrap_or(0.0);
        let series = self.series.as_ref().map(|table| Series::of(table, scheme, start_ns)).transpose()?;
        let end_ns = series.as_ref().map_or(start_ns + report["simulated_ns"].as_f64().unwrap_or(0.0), Series::end_ns);
        let classes = self.histograms.get(scheme).into_iter().flatten();
        let distributions: Map<_, _> = classes.map(|(class, bins)| (class.clone(), ccdf(bins, detail))).collect();
        let dies = dies_of(&result["config"]["geometry"]);
        let work = self.work.as_ref().map(|work| work.drawn(scheme, (start_ns, end_ns), dies, detail));
        Ok(json!({
            "scheme": scheme,
            "report": shown,
            "workloads": workloads_and_drives::workloads(report),
            "array": workloads_and_drives::array(report),
            "config": settings(&result["config"], left_bytes).ok_or_else(too_large)?,
            "notes": result["notes"],
            "half_widths": series.as_ref().map(Series::half_widths),
            "series": series.as_ref().map(|series| series.drawn(detail)),
            "ccdf": distributions,
            "dies": work,
        }))
    }
}

/// A number of a report by its name, with dots between.
fn number(report: &Value, name: &str) -> Option<f64> {
    name.split('.').try_fold(report, |value, part| value.get(part)).and_then(Value::as_f64)
}

/// Refuses tables of other runs than those of the document beside them: each names the hashes of its runs.
fn refuse_others(document: &Value, folder: &Path) -> Result<(), Failure> {
    for table in TABLES {
        let path = folder.join(table);
        if !path.is_file() {
            continue;
        }
        let about = read::about(&path)?;
        for result in document["results"].as_array().into_iter().flatten() {
            let scheme = result["scheme"].as_str().unwrap_or_default();
            let own = about.get(&format!("copyback.hash.{scheme}")).map(String::as_str);
            if own != result["hash"].as_str() {
                let what = format!("{} is of other runs than results.json beside it", path.display());
                return Err(Failure::input(what).with_help("run again with --out, which writes both"));
            }
        }
    }
    Ok(())
}

/// Dies of a drive, by its configuration.
fn dies_of(geometry: &Value) -> usize {
    let counts = ["channels", "chips_per_channel", "dies_per_chip"].map(|name| geometry[name].as_u64().unwrap_or(1));
    let dies = counts.into_iter().try_fold(1u64, u64::checked_mul);
    dies.and_then(|dies| usize::try_from(dies).ok()).unwrap_or(1)
}

fn histograms(path: &Path) -> Result<Histograms, Failure> {
    let table = Table::read(path, |_| true)?;
    let (to, counts) = (table.whole("to_ns")?, table.whole("count")?);
    let mut all = Histograms::new();
    for (row, (scheme, class)) in table.texts("scheme")?.iter().zip(table.texts("class")?).enumerate() {
        let of_scheme = all.entry(scheme.clone()).or_default();
        of_scheme.entry(class.clone()).or_default().push((to[row], counts[row]));
    }
    Ok(all)
}
