//! Each key of the tables outside of schemes changes a run, or a note says why it does not.
//!
//! A row sets a key of a table, and states which of the two applies. The keys are those that the configuration itself
//! lists, so that a new key without a row fails.

mod drives;

use super::{Runner, plan_notes, says_so};
use copyback::config::layers::{Layer, LayerError};
use copyback::config::presets::{SCHEMES, find};
use copyback::run::config::{Resolved, Stack};
use std::collections::{BTreeMap, BTreeSet};

/// What setting a key does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Another result, or a refusal.
    Differs,
    /// The same result, and a note that says so.
    Notes,
}

use Does::{Differs, Notes};

/// A key with another value: the workload under it, the settings that it needs, and what it does.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str], Does);

/// Half reads, half writes, all of 4 KiB, one after the other.
const PLAIN: &str = "requests = 200\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }";
const BIG: &str = "requests = 200\nread_share = 0.5\nsize = { kind = 'fixed', mean = '16 KiB' }";
const SMALL: &str = "requests = 200\nread_share = 0.0\nalign = '512 B'\nsize = { kind = 'fixed', mean = '512 B' }";
const SIZES: &str = "requests = 200\nread_share = 0.5\nsize = { kind = 'range', min = '4 KiB', max = '32 KiB' }";
const POISSON: &str = "requests = 200\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                       arrivals = { kind = 'poisson', rate = 4000.0 }";
const GAPS: &str = "requests = 200\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                    arrivals = { kind = 'poisson', mean_gap = '250 us' }";
const BURSTS: &str = "requests = 200\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                      arrivals = { kind = 'on-off', rate = 1000.0, burst = '5 ms', burst_rate = 4000.0 }";
const APART: &str = "requests = 200\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                     arrivals = { kind = 'poisson', rate = 2000.0 }\n\
                     read_arrivals = { kind = 'poisson', rate = 2000.0 }";
const GAPS_APART: &str = "requests = 200\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                          arrivals = { kind = 'poisson', rate = 2000.0 }\n\
                          read_arrivals = { kind = 'poisson', mean_gap = '500 us' }";
const BURSTS_APART: &str = "requests = 200\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                            arrivals = { kind = 'poisson', rate = 2000.0 }\n\
                            read_arrivals = { kind = 'on-off', rate = 1000.0, burst = '5 ms', burst_rate = 4000.0 }";

/// Traces, by the placeholder for their paths.
const TRACES: &[(&str, &str)] = &[
    (
        "CSV",
        "arrival_us,op,offset_bytes,length_bytes,device\n0,W,512,4096,0\n50,R,512,4096,0\n100,W,2097152,4096,1\n150,R,0,4096,1\n",
    ),
    ("PLAIN", "arrival_us,op,offset_bytes,length_bytes\n0,W,4096,4096\n50,R,8192,4096\n"),
    ("LOW", "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n50,R,4096,4096\n"),
    ("LATE", "arrival_us,op,offset_bytes,length_bytes\n100,W,4096,4096\n50,R,8192,4096\n"),
    ("BAD", "arrival_us,op,offset_bytes,length_bytes\n0,W,4096,4096\n50,R,x,4096\n"),
    ("FAR", "arrival_us,op,offset_bytes,length_bytes\n0,W,4096,4096\n50,R,1099511627776,4096\n"),
    ("SSDSIM", "0 0 0 8 1\n50000 0 16 8 0\n100000 0 32 8 0\n"),
    ("BLKPARSE", "8,0 0 1 0.1 7 Q W 0 + 8 [x]\n8,0 0 2 0.2 7 D W 0 + 8 [x]\n8,0 0 3 0.3 7 D R 8 + 8 [x]\n"),
    ("NS", "other,op,offset_bytes,length_bytes\n0,W,4096,4096\n50000,R,8192,4096\n"),
    ("OP", "arrival_us,other,offset_bytes,length_bytes\n0,W,4096,4096\n50,R,8192,4096\n"),
    ("OFFSET", "arrival_us,op,other,length_bytes\n0,W,4096,4096\n50,R,8192,4096\n"),
    ("LENGTH", "arrival_us,op,offset_bytes,other\n0,W,4096,4096\n50,R,8192,4096\n"),
    ("DEVICE", "arrival_us,op,offset_bytes,length_bytes,other\n0,W,4096,4096,0\n50,R,8192,4096,1\n"),
    ("BARE", "0,W,4096,4096\n50,R,8192,4096\n"),
];

/// So many reads that several arrive in the time of an erase.
const READS: &str = "requests = 3000\nread_share = 0.9\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                     arrivals = { kind = 'poisson', rate = 8000.0 }";
const SUSPEND: &[&str] = &["preemption.policy=suspend", "commands.suspend.latency=20 us"];
const TOO_SLOW: &[&str] = &["preemption.policy=suspend", "commands.suspend.latency=800 ms"];

const ROWS: &[Row] = &[
    ("commands.multi_plane", "false", BIG, &["compose.builders=[]"], Notes),
    ("commands.multi_plane", "false", BIG, &[], Differs),
    ("commands.same_block", "true", BIG, &[], Differs),
    ("commands.same_block", "true", BIG, &["compose.builders=[]"], Notes),
    ("commands.plane_pairs", "true", BIG, &["geometry.planes_per_die=4"], Differs),
    ("commands.plane_pairs", "true", BIG, &[], Notes),
    ("commands.cache_read", "false", BIG, &["compose.builders=['cache']"], Differs),
    ("commands.cache_read", "false", BIG, &[], Notes),
    ("commands.cache_program", "false", BIG, &["compose.builders=['cache']"], Differs),
    ("commands.cache_program", "false", BIG, &[], Notes),
    ("commands.copyback", "false", BIG, &["granularity.copyback=true", "geometry.mapping_unit=16 KiB"], Differs),
    ("commands.copyback", "false", BIG, &[], Notes),
    ("commands.suspend.latency", "900 us", READS, SUSPEND, Differs),
    ("commands.suspend.latency", "20 us", PLAIN, &[], Notes),
    ("commands.suspend.latency", "900 ms", READS, TOO_SLOW, Notes),
    ("commands.suspend.limit", "1", READS, TOO_SLOW, Notes),
    ("commands.suspend.resume", "900 us", READS, SUSPEND, Differs),
    ("commands.suspend.resume", "900 us", PLAIN, &["commands.suspend.latency=20 us"], Notes),
    ("commands.suspend.limit", "1", READS, SUSPEND, Differs),
    ("commands.suspend.limit", "1", PLAIN, &["commands.suspend.latency=20 us"], Notes),
    ("commands.suspend.erase", "false", READS, SUSPEND, Differs),
    ("commands.suspend.erase", "false", PLAIN, &["commands.suspend.latency=20 us"], Notes),
    ("commands.suspend.program", "false", READS, SUSPEND, Differs),
    ("commands.suspend.program", "false", PLAIN, &["commands.suspend.latency=20 us"], Notes),
    ("host.mode", "closed", POISSON, &[], Differs),
    ("host.queue_depth", "2", PLAIN, &[], Differs),
    ("host.queue_depth", "2", POISSON, &[], Notes),
    ("host.outstanding_max", "1", POISSON, &[], Differs),
    ("host.outstanding_max", "1", PLAIN, &[], Notes),
    ("host.outstanding_max", "300", POISSON, &[], Notes),
    ("host.queue_depth", "300", PLAIN, &["host.queue_depth=250"], Notes),
    ("host.subpage_writes", "overwrite", SMALL, &[], Differs),
    ("host.subpage_writes", "overwrite", PLAIN, &[], Notes),
    ("host.target", "drive", "trace = 'CSV'", &["array.level=raid-0", "array.drives=2"], Differs),
    ("measure.small_read_max", "8 KiB", SIZES, &[], Differs),
    ("measure.small_read_max", "8 KiB", SMALL, &[], Notes),
    ("measure.window", "20 ms", PLAIN, &["measure.window=10 ms", "measure.bin=1 ms"], Differs),
    ("measure.window_start", "1 ms", PLAIN, &["measure.window=10 ms", "measure.bin=1 ms"], Differs),
    ("measure.bin", "2 ms", PLAIN, &["measure.window=10 ms", "measure.bin=1 ms"], Differs),
    ("measure.flash_requests", "true", PLAIN, &[], Differs),
    ("measure.bandwidth", "1 ms", PLAIN, &[], Differs),
    ("workload.trace", "PLAIN", "trace = 'CSV'", &[], Differs),
    ("workload.format", "parquet", "trace = 'CSV'", &[], Differs),
    ("workload.columns.order", "['arrival_us', 'op', 'offset', 'length']", "trace = 'BARE'", &[], Differs),
    ("workload.columns.arrival_ns", "other", "trace = 'NS'", &[], Differs),
    ("workload.columns.arrival_us", "other", "trace = 'NS'", &[], Differs),
    ("workload.columns.arrival_ms", "other", "trace = 'NS'", &[], Differs),
    ("workload.columns.arrival_s", "other", "trace = 'NS'", &[], Differs),
    ("workload.columns.op", "other", "trace = 'OP'", &[], Differs),
    ("workload.columns.offset_bytes", "other", "trace = 'OFFSET'", &[], Differs),
    ("workload.columns.offset_sectors", "other", "trace = 'OFFSET'", &["workload.beyond_capacity=fold"], Differs),
    ("workload.columns.offset_kib", "other", "trace = 'OFFSET'", &["workload.beyond_capacity=fold"], Differs),
    ("workload.columns.length_bytes", "other", "trace = 'LENGTH'", &[], Differs),
    ("workload.columns.len_bytes", "other", "trace = 'LENGTH'", &[], Differs),
    ("workload.columns.length_sectors", "other", "trace = 'LENGTH'", &["workload.beyond_capacity=fold"], Differs),
    ("workload.columns.length_kib", "other", "trace = 'LENGTH'", &["workload.beyond_capacity=fold"], Differs),
    ("workload.columns.device", "other", "trace = 'DEVICE'", &["workload.device=1"], Differs),
    ("workload.columns.priority", "missing", "trace = 'PLAIN'", &[], Differs),
    ("workload.operations", "{ W = 'trim' }", "trace = 'CSV'", &[], Differs),
    ("workload.operations", "{ W = 'trim' }", "trace = 'SSDSIM'", &[], Notes),
    ("workload.zero_means", "read", "trace = 'SSDSIM'", &[], Differs),
    ("workload.zero_means", "read", "trace = 'CSV'", &[], Notes),
    ("workload.event", "Q", "trace = 'BLKPARSE'", &[], Differs),
    ("workload.event", "Q", "trace = 'CSV'", &[], Notes),
    ("workload.skip_bad", "1", "trace = 'BAD'", &[], Differs),
    ("workload.reorder_window", "1", "trace = 'LATE'", &[], Differs),
    ("workload.layout", "packed", "trace = 'FAR'", &[], Differs),
    ("workload.layout", "packed", "trace = 'LOW'", &[], Notes),
    ("workload.layout", "compact", "trace = 'FAR'", &[], Differs),
    ("workload.layout", "compact", "trace = 'LOW'", &[], Notes),
    ("workload.requests", "100", PLAIN, &[], Differs),
    ("workload.read_share", "0.2", PLAIN, &[], Differs),
    ("workload.trim_share", "0.2", PLAIN, &[], Differs),
    ("workload.footprint", "0.25", PLAIN, &[], Differs),
    ("workload.seed", "9", PLAIN, &[], Differs),
    ("workload.repeat_after", "64 KiB", PLAIN, &[], Differs),
    ("workload.repeat_after", "64 MiB", PLAIN, &[], Notes),
    ("workload.trim_before_write", "true", PLAIN, &[], Differs),
    ("workload.device", "1", "trace = 'CSV'", &[], Differs),
    ("workload.device", "0", PLAIN, &[], Notes),
    ("workload.window", "['10 ms', '20 ms']", POISSON, &[], Differs),
    ("workload.window", "['0 ms', '1 s']", "trace = 'CSV'", &[], Notes),
    ("workload.first", "50", PLAIN, &[], Differs),
    ("workload.first", "201", PLAIN, &[], Notes),
    ("workload.time_scale", "3.0", POISSON, &[], Differs),
    ("workload.time_scale", "3.0", PLAIN, &[], Notes),
    ("workload.align", "16 KiB", BIG, &[], Differs),
    ("workload.align", "4 KiB", "trace = 'CSV'", &[], Differs),
    ("workload.align", "4 KiB", "trace = 'PLAIN'", &[], Notes),
    ("workload.beyond_capacity", "fold", "trace = 'FAR'", &[], Differs),
    ("workload.beyond_capacity", "reject", "trace = 'FAR'", &[], Differs),
    ("workload.beyond_capacity", "fold", "trace = 'CSV'", &[], Notes),
    ("workload.beyond_capacity", "reject", PLAIN, &[], Notes),
    ("workload.high_priority_share", "0.5", BIG, &URGENT, Differs),
    ("workload.high_priority_share", "0.5", PLAIN, &[], Notes),
    ("workload.loop", "2", PLAIN, &[], Differs),
];

/// Requests preempt a collection, unless free blocks are low and an urgent write waits.
const URGENT: [&str; 3] = ["preemption.policy=points", "trigger.hard=1.0", "host.queue_depth=64"];

/// Keys that describe a workload to its reader.
const LABELS: &[&str] = &["workload.name", "workload.source"];

/// Names of what only a calling program can supply.
const SUPPLIED: &[&str] = &["tasks.plugin.name"];

/// Tables with the same keys, each with rows as in [`ROWS`]: `{}` in a workload is replaced by the table.
const FAMILIES: &[(&[&str], &[Row])] = &[
    (&["workload.size", "workload.read_size", "workload.write_size", "workload.trim_size"], SIZE_ROWS),
    (&["workload.arrivals"], ARRIVAL_ROWS),
    (&["workload.read_arrivals"], READ_ARRIVAL_ROWS),
    (&["workload.addresses"], ADDRESS_ROWS),
];

const FIXED_SIZE: &str = "requests = 200\nread_share = 0.4\ntrim_share = 0.3\n{} = { kind = 'fixed', mean = '8 KiB' }";
const DRAWN_SIZE: &str =
    "requests = 200\nread_share = 0.4\ntrim_share = 0.3\n{} = { kind = 'exponential', mean = '16 KiB' }";
const MIXED_SIZE: &str = "requests = 200\nread_share = 0.4\ntrim_share = 0.3\n\
                          {} = { kind = 'mix', mix = [{ size = '4 KiB', weight = 1.0 }] }";
const RANGE_SIZE: &str =
    "requests = 200\nread_share = 0.4\ntrim_share = 0.3\n{} = { kind = 'range', min = '4 KiB', max = '16 KiB' }";

const SIZE_ROWS: &[Row] = &[
    ("kind", "exponential", FIXED_SIZE, &[], Differs),
    ("mean", "16 KiB", FIXED_SIZE, &[], Differs),
    ("mix", "[{ size = '8 KiB', weight = 1.0 }]", MIXED_SIZE, &[], Differs),
    ("min", "8 KiB", RANGE_SIZE, &[], Differs),
    ("max", "32 KiB", RANGE_SIZE, &[], Differs),
    ("align", "8 KiB", DRAWN_SIZE, &[], Differs),
    ("offset_align", "64 KiB", FIXED_SIZE, &[], Differs),
];

const ARRIVAL_ROWS: &[Row] = &[
    ("kind", "fixed", POISSON, &[], Differs),
    ("rate", "9000.0", POISSON, &[], Differs),
    ("mean_gap", "90 us", GAPS, &[], Differs),
    ("burst", "2 ms", BURSTS, &[], Differs),
    ("burst_rate", "9000.0", BURSTS, &[], Differs),
    ("start", "1 s", POISSON, &[], Differs),
];

const READ_ARRIVAL_ROWS: &[Row] = &[
    ("kind", "fixed", APART, &[], Differs),
    ("rate", "9000.0", APART, &[], Differs),
    ("mean_gap", "90 us", GAPS_APART, &[], Differs),
    ("burst", "2 ms", BURSTS_APART, &[], Differs),
    ("burst_rate", "9000.0", BURSTS_APART, &[], Differs),
    ("start", "1 s", APART, &[], Differs),
];

/// Addresses of this table under [`PLAIN`].
macro_rules! addresses {
    ($table:literal) => {
        concat!(
            "requests = 200\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }\naddresses = { ",
            $table,
            " }"
        )
    };
}

/// Fewer blocks than requests.
const FEW: &str = "requests = 200\nfootprint = '256 KiB'\nread_share = 0.5\nsize = { kind = 'fixed', mean = '4 KiB' }\n\
                   addresses = { kind = 'numbered' }";
const RUNS: &str = addresses!("kind = 'uniform', sequential_share = 0.9");
const SKIPS: &str = addresses!("kind = 'uniform', sequential_share = 0.9, skip = '16 KiB'");
const LONG_RUNS: &str = addresses!("kind = 'uniform', run_length = 4");
const LISTED: &str = addresses!("kind = 'listed', blocks = [2, 0, 1]");
const HOT: &str = addresses!("kind = 'hot-cold', hot_share = 0.9, hot_space = 0.1");
const SKEWED: &str = addresses!("kind = 'array-skew', drives = 2, drive_share = 0.9, stripe_unit = '16 KiB'");

const ADDRESS_ROWS: &[Row] = &[
    ("kind", "once", addresses!("kind = 'uniform'"), &[], Differs),
    ("ends", "true", FEW, &[], Differs),
    ("map_unit", "2 KiB", FEW, &[], Differs),
    ("sequential_share", "0.5", addresses!("kind = 'uniform'"), &[], Differs),
    ("sequential_by_op", "true", RUNS, &[], Differs),
    ("sequential_by_op", "true", addresses!("kind = 'uniform'"), &[], Notes),
    ("skip", "16 KiB", RUNS, &[], Differs),
    ("skip_back", "8 KiB", RUNS, &[], Differs),
    ("skip_every", "64 KiB", SKIPS, &[], Differs),
    ("run_length", "4", addresses!("kind = 'uniform'"), &[], Differs),
    ("run_repeats", "true", LONG_RUNS, &[], Differs),
    ("run_repeats", "true", addresses!("kind = 'uniform', run_length = 1"), &[], Notes),
    ("theta", "0.5", addresses!("kind = 'zipf', theta = 1.5"), &[], Differs),
    ("skew", "0.4", addresses!("kind = 'self-similar', skew = 0.1"), &[], Differs),
    ("zones", "[[0.5, 0.2], [0.5, 0.8]]", addresses!("kind = 'zones', zones = [[0.9, 0.2], [0.1, 0.8]]"), &[], Differs),
    ("blocks", "[9, 7]", LISTED, &[], Differs),
    ("advance", "true", LISTED, &[], Differs),
    ("hot_share", "0.5", HOT, &[], Differs),
    ("hot_space", "0.5", HOT, &[], Differs),
    ("hot_scope", "writes", HOT, &[], Differs),
    ("drive", "1", SKEWED, &[], Differs),
    ("drives", "4", SKEWED, &[], Differs),
    ("drive_share", "0.2", SKEWED, &[], Differs),
    ("stripe_unit", "64 KiB", SKEWED, &[], Differs),
    ("per_drive", "true", SKEWED, &["array.level=raid-0", "array.drives=2"], Differs),
];

/// All rows with whole keys, and the workloads of their tables.
fn rows() -> Vec<(String, &'static str, String, &'static [&'static str], Does)> {
    let mut all: Vec<_> = [ROWS, drives::ROWS]
        .concat()
        .iter()
        .map(|(key, value, load, sets, does)| ((*key).to_owned(), *value, (*load).to_owned(), *sets, *does))
        .collect();
    for (tables, rows) in FAMILIES {
        for table in *tables {
            let name = table.rsplit('.').next().expect("a name");
            // Kinds of requests without sizes of their own have this one.
            let others = if *table == "workload.size" { "" } else { "\nsize = { kind = 'fixed', mean = '4 KiB' }" };
            let load = |load: &str| match load.contains("{}") {
                true => load.replace("{}", name) + others,
                false => load.to_owned(),
            };
            all.extend(
                rows.iter()
                    .map(|(key, value, text, sets, does)| (format!("{table}.{key}"), *value, load(text), *sets, *does)),
            );
        }
    }
    all
}

/// The configuration of `baseline` under a workload.
fn resolved(load: &str, before: &[&str], setting: Option<&str>) -> Result<Resolved, LayerError> {
    let baseline = find(SCHEMES, "baseline").expect("it is a preset");
    let mut stack = super::stack(baseline, (load, before))?;
    if let Some(setting) = setting {
        stack.push(Layer::of_sets(&[setting.to_owned()])?);
    }
    stack.resolve()
}

/// The keys of a table and of the tables in it, as errors list them.
fn listed(table: &str) -> BTreeSet<String> {
    let error = |set: String| {
        let mut stack = Stack::new();
        stack.push(Layer::parse("device", super::DEVICE).expect("it is TOML"));
        stack.push(Layer::of_sets(&[set]).ok()?);
        stack.resolve_parts().err()
    };
    let unknown = error(format!("{table}.zzz=1")).filter(|error| error.message.contains("unknown key"));
    let help = unknown.and_then(|error| error.help).unwrap_or_default();
    let names = help.split_once("keys: ").map_or("", |(_, names)| names);
    let mut keys = BTreeSet::new();
    for name in names.split('`').skip(1).step_by(2) {
        let key = format!("{table}.{name}");
        let is_table =
            error(format!("{key}=zzz")).is_some_and(|error| error.message.contains("is a table, not a value"));
        let inner = if is_table { listed(&key) } else { BTreeSet::new() };
        keys.extend(if inner.is_empty() { BTreeSet::from([key]) } else { inner });
    }
    keys
}

/// Keys whose notes depend on the requests of the run. The run of one request that [`plan_notes`] makes has no such
/// notes.
const NOTED_OF_RUNS: [&str; 5] = [
    "array.gc_aware_reads",
    "host.outstanding_max",
    "host.queue_depth",
    "host.subpage_writes",
    "measure.small_read_max",
];

/// All tables but those of schemes.
const TABLES: [&str; 10] =
    ["array", "capacity", "commands", "geometry", "host", "measure", "precondition", "tasks", "timing", "workload"];

#[test]
fn every_key_of_the_other_tables_has_an_effect_or_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, text) in TRACES {
        std::fs::write(path(name), text).unwrap();
    }
    // A word of capitals in quotes, or a whole value, is a trace.
    let with_paths = |text: &str| {
        let quoted =
            |text: String, (name, _): &(&str, &str)| text.replace(&format!("'{name}'"), &format!("'{}'", path(name)));
        TRACES.iter().fold(text.to_owned(), quoted)
    };
    let mut runner = Runner::default();
    let (mut wrong, mut found) = (Vec::new(), BTreeMap::new());
    for (key, value, load, before, does) in rows() {
        let value = if TRACES.iter().any(|(name, _)| *name == value) { path(value) } else { value.to_owned() };
        let (load, setting) = (with_paths(&load), format!("{key}={value}"));
        *found.entry(key.clone()).or_insert(0) += 1;
        let base = resolved(&load, before, None);
        let base = match &base {
            Ok(base) => runner.known(format!("{load} {before:?}"), base),
            Err(error) => {
                wrong.push(format!("{setting} over {before:?}: {error}\n{load}"));
                continue;
            }
        };
        let other = resolved(&load, before, Some(&setting)).ok().and_then(|other| runner.ran(&other));
        let mut notes: BTreeSet<String> = other.iter().flat_map(|(_, notes)| notes.iter().cloned()).collect();
        let differs = base.as_ref().map(|(report, _)| report) != other.as_ref().map(|(report, _)| report);
        let is_static = !key.starts_with("workload.") && !NOTED_OF_RUNS.contains(&key.as_str());
        if other.is_some() && (does == Notes || is_static) {
            let sets: Vec<String> = before.iter().map(|set| (*set).to_owned()).chain([setting.clone()]).collect();
            notes.extend(plan_notes("baseline", &load, &sets));
        }
        let is_noted = says_so(&notes, &key);
        let is = (differs, is_noted);
        if is != (does == Differs, does == Notes) {
            wrong.push(format!("{setting} over {before:?}: differs {differs}, noted {is_noted}: {notes:?}\n{load}"));
        }
    }
    assert!(wrong.is_empty(), "{} settings:\n{}", wrong.len(), wrong.join("\n"));
    let all: BTreeSet<String> = TABLES.into_iter().flat_map(listed).collect();
    let others = [LABELS, SUPPLIED].concat();
    let known: BTreeSet<String> = found.into_keys().chain(others.into_iter().map(str::to_owned)).collect();
    assert_eq!(all, known, "a key without a row, or a row without a key");
}
