//! Workloads by name: presets, files, traces, and the recorded trace that is compiled in.

use crate::failure::Failure;
use crate::files::{self, Input, forget_descriptions, looks_like_path};
use crate::format;
use copyback::config::layers::{Layer, LayerError, Located, Origin, TextSpan, WORKLOADS, suggestion};
use copyback::run::Warmup;
use copyback::run::config::Resolved;
use copyback_workload::presets::PRESETS;
use copyback_workload::printable::printable;
use copyback_workload::spec::{Device, Format, WorkloadSpec};
use copyback_workload::temporary::Temporary;
use copyback_workload::{RequestSource, open, passed_traces, per_cpu, standard_input};
use std::path::Path;

/// The workload of a run that names none.
pub const DEFAULT: &str = "oltp";

/// How a configuration names a trace that is compiled in.
const BUILT_IN: &str = "builtin:";

/// A recorded trace that is compiled in.
pub struct Recorded {
    /// Its name for users.
    pub name: &'static str,
    /// Its workload's text.
    pub text: &'static str,
    /// The trace.
    trace: &'static [u8],
    /// Requests in it.
    requests: u64,
}

/// Traces that are compiled in.
pub const RECORDED: &[Recorded] = &[Recorded {
    name: "oltp",
    text: include_str!("../../../traces/oltp.toml"),
    trace: include_bytes!("../../../traces/oltp.parquet"),
    requests: 182_585,
}];

/// Names of all workloads, the default first.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    RECORDED.iter().map(|r| r.name).chain(PRESETS.iter().map(|(name, _)| *name))
}

/// The text of a workload's preset.
pub fn text(name: &str) -> Option<&'static str> {
    let recorded = RECORDED.iter().find(|r| r.name == name).map(|r| r.text);
    recorded.or_else(|| PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text))
}

/// A workload's file.
pub struct Loaded {
    /// Its configuration.
    pub layer: Layer,
    /// The warm-up that it proposes.
    pub warmup: Option<Warmup>,
}

/// Keys of `[workload]` that select another part of a workload, or another workload. A layer that sets one drops the
/// warm-up that the file proposes, which fits only the whole.
const CUTS: &[&str] = &["trace", "requests", "loop", "first", "window", "device"];

/// Whether a layer selects another part of a workload, so that its proposed warm-up no longer fits.
pub fn cuts(layer: &Layer) -> bool {
    CUTS.iter().any(|key| layer.has_key("workload", key))
}

/// Loads a preset, or a file if the name is one.
pub fn load(name: &Located, folder: &Path, inputs: &mut Vec<Input>) -> Result<Loaded, Failure> {
    let path = folder.join(&name.value);
    let (origin, shown, text, path) = match text(&name.value) {
        Some(text) => (Origin::Preset, format!("workload {}", name.value), text.to_owned(), None),
        None if looks_like_path(&name.value) => {
            (Origin::File, path.display().to_string(), files::read_text("workload", &path)?, Some(path))
        }
        None => return Err(unknown(name, &path)),
    };
    inputs.push(Input::text("workload", name.value.clone(), path.clone(), &text));
    let mut layer = Layer::parse_of(origin, shown, text)?;
    forget_descriptions(&mut layer)?;
    let warmup = Warmup::take_from(&mut layer)?;
    if let Some(path) = path {
        let folder = files::folder_of(&path);
        resolve_traces(&mut layer, if folder == Path::new(".") { Path::new("") } else { folder });
    }
    Ok(Loaded { layer, warmup })
}

/// Traces that a file names are relative to it.
pub fn resolve_traces(layer: &mut Layer, folder: &Path) {
    layer.resolve_path("workload.trace", folder);
    for name in layer.names_in(WORKLOADS) {
        layer.resolve_path(&format!("{WORKLOADS}.{name}.trace"), folder);
    }
}

fn unknown(name: &Located, path: &Path) -> Failure {
    if let Some((what, help)) = files::other_simulator(path) {
        let error = LayerError::new(format!("workload {}: it is {what}, which is not read directly", path.display()));
        return error.with_help(help).at(name.place.clone()).into();
    }
    let help = if path.is_file() {
        format!("{} is a file: replay it with `--trace {}`", path.display(), path.display())
    } else {
        let near = suggestion(&name.value, "workloads", names());
        format!("{near}; a TOML file and, with --trace, a trace file will do, too")
    };
    LayerError::new(format!("unknown workload `{}`", name.value)).with_help(help).at(name.place.clone()).into()
}

/// Refuses pipes and other special files: a trace is read several times, for its hash, as a test, and once per scheme.
fn check_trace_file(path: &Path) -> Result<(), Failure> {
    if standard_input::is_named(path) || passed_traces::file(path).is_some() {
        return Ok(());
    }
    let parts = per_cpu::files(path);
    if !parts.is_empty() {
        let on_disk = parts.iter().filter(|part| passed_traces::file(part).is_none());
        return on_disk.into_iter().try_for_each(|part| files::check_file("trace", part));
    }
    files::check_file("trace", path)?;
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        let what = format!("trace {} is no ordinary file, and is read more than once", path.display());
        return Err(Failure::input(what).with_help("write it to a file first, or give it on standard input, as `-`"));
    }
    Ok(())
}

/// The error if a command line names more than one trace, and how to give several.
pub fn several_traces() -> Failure {
    Failure::input("a command reads one trace, and this one names several").with_help(
        "give files that blktrace wrote for each CPU by their base name: BASE for BASE.blktrace.0, BASE.blktrace.1; \
         to run several traces together, write a file with a table [workloads.NAME] for each, with trace = \"FILE\" in \
         it, and run that: copyback run FILE.toml",
    )
}

/// The layer of a trace that the command line names.
pub fn trace_layer(path: &Path) -> Result<Layer, Failure> {
    check_trace_file(path)?;
    let Some(path) = path.to_str() else {
        return Err(Failure::input(format!("the name {} is not UTF-8", path.display())).with_help("rename the file"));
    };
    let table = toml::Table::from_iter([("trace".to_owned(), toml::Value::from(path))]);
    command_line_layer("--trace", &table)
}

/// The layer of options of the command line that set keys of `[workload]`.
fn command_line_layer(name: &str, table: &toml::Table) -> Result<Layer, Failure> {
    let mut layer = Layer::parse_of(Origin::CommandLine, name, table.to_string())?;
    layer.nest("workload");
    Ok(layer)
}

/// Reader options that the command line sets.
pub struct ReaderOptions<'a> {
    /// The trace's format.
    pub format: Option<&'a str>,
    /// The columns of a table without a header, in order; empty if none are given.
    pub columns: &'a [String],
    /// The only device.
    pub device: Option<&'a Device>,
    /// Malformed records that may be left out.
    pub skip_bad: Option<u64>,
}

impl ReaderOptions<'_> {
    /// Their layer, if any is set.
    pub fn layer(&self) -> Result<Option<Layer>, Failure> {
        let mut table = toml::Table::new();
        if let Some(format) = self.format {
            format.parse::<Format>().map_err(|message| match copyback_workload::not_read(format) {
                Some((message, help)) => Failure::input(format!("--format: {message}")).with_help(help),
                None => Failure::input(format!("--format: {message}")),
            })?;
            table.insert("format".into(), format.into());
        }
        if !self.columns.is_empty() {
            let order = toml::Table::from_iter([("order".to_owned(), toml::Value::from(self.columns.to_vec()))]);
            table.insert("columns".into(), order.into());
        }
        if let Some(device) = self.device {
            let device = match device {
                Device::Number(number) => i64::from(*number).into(),
                Device::Name(name) => name.as_str().into(),
            };
            table.insert("device".into(), device);
        }
        if let Some(skip_bad) = self.skip_bad {
            let number = i64::try_from(skip_bad).unwrap_or(i64::MAX);
            table.insert("skip_bad".into(), number.into());
        }
        if table.is_empty() {
            return Ok(None);
        }
        command_line_layer("command line", &table).map(Some)
    }
}

/// The built-in trace that a path names.
pub fn recorded(path: &Path) -> Option<&'static Recorded> {
    let name = path.to_str()?.strip_prefix(BUILT_IN)?;
    RECORDED.iter().find(|r| r.name == name)
}

/// Whether a workload of this name is a trace that is compiled in.
pub fn is_recorded(name: &str) -> bool {
    RECORDED.iter().any(|r| r.name == name)
}

/// Whether a path names a trace that is compiled in.
pub fn is_built_in(path: &Path) -> bool {
    recorded(path).is_some()
}

/// Requests that are read from a trace before its drive is made: enough to find most mistakes at once, and few enough
/// to take no noticeable time.
const TRIED_REQUESTS: u64 = 50_000;

/// Reads the first requests of a trace as a run does. This finds most mistakes before the drive is made, which takes
/// long.
pub fn try_trace(spec: &WorkloadSpec, seed: u64, capacity_bytes: u64, requests: Option<u64>) -> Result<(), Failure> {
    if spec.trace.as_deref().is_some_and(is_built_in) {
        return Ok(());
    }
    let mut source = open(spec, seed, capacity_bytes)?;
    // A generator checks its addresses when it is made.
    let tried = if spec.trace.is_some() { TRIED_REQUESTS.min(requests.unwrap_or(u64::MAX)) } else { 0 };
    for _ in 0..tried {
        if source.next_request()?.is_none() {
            break;
        }
    }
    Ok(())
}

/// Refuses a missing trace, at the place of its name.
pub fn check_trace(path: &Path, place: Option<TextSpan>) -> Result<(), Failure> {
    if recorded(path).is_some() {
        return Ok(());
    }
    check_trace_file(path).map_err(|failure| failure.at(place))
}

/// Hash of a trace's bytes.
pub fn hash_trace(path: &Path) -> Result<String, Failure> {
    match recorded(path) {
        Some(recorded) => Ok(files::hash_bytes(recorded.trace)),
        None if let Some(kept) = passed_traces::file(path) => files::hash_file(&kept),
        None if standard_input::is_named(path) => files::hash_file(&standard_input::kept()?),
        None => match &per_cpu::files(path)[..] {
            [] => files::hash_file(path),
            parts => {
                // In the order of the CPUs, not of the files' names.
                let hash = |part: &std::path::PathBuf| match passed_traces::file(part) {
                    Some(kept) => files::hash_file(&kept),
                    None => files::hash_file(part),
                };
                let hashes = parts.iter().map(hash).collect::<Result<Vec<_>, _>>()?;
                Ok(files::hash_bytes(hashes.join("\n").as_bytes()))
            }
        },
    }
}

/// How many requests a workload will have, if that is known.
pub fn expected_requests(spec: &WorkloadSpec, requests: Option<u64>) -> Option<u64> {
    let recorded = spec.trace.as_deref().and_then(recorded).map(|r| r.requests);
    let once = spec.first.or(spec.requests).or(recorded);
    let all = once.map(|once| once.saturating_mul(u64::from(spec.passes.unwrap_or(1))));
    match (all, requests) {
        (Some(all), Some(requests)) => Some(all.min(requests)),
        (all, requests) => all.or(requests),
    }
}

/// A source of requests and what it reads from.
pub struct Opened {
    /// The requests.
    pub source: Box<dyn RequestSource + Send>,
    /// The file that a built-in trace was unpacked to, removed with this value.
    pub file: Option<Temporary>,
}

/// Opens a workload. A built-in trace is unpacked to a temporary file first, as readers take files.
pub fn open_source(spec: &WorkloadSpec, seed: u64, capacity_bytes: u64) -> Result<Opened, Failure> {
    let Some(recorded) = spec.trace.as_deref().and_then(recorded) else {
        return Ok(Opened { source: open(spec, seed, capacity_bytes)?, file: None });
    };
    let folder = std::env::temp_dir();
    let failed = |error: std::io::Error| {
        // The name of the temporary file would not help the user.
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
            _ => files::reason(&error),
        };
        let what = format!("cannot unpack the trace `{}` in {}: {why}", recorded.name, folder.display());
        let needed = copyback_workload::units::format_bytes(recorded.trace.len().next_multiple_of(1 << 20) as u64);
        Failure::run(what).with_help(match error.kind() {
            std::io::ErrorKind::FileTooLarge => {
                format!("{}; each run unpacks {needed}", copyback_workload::write::RAISE_LIMIT)
            }
            _ => format!(
                "free space there, or name another folder in the environment variable TMPDIR; each run unpacks {needed}"
            ),
        })
    };
    let mut file = Temporary::private_in(&folder, ("copyback-trace-", "")).map_err(failed)?;
    std::io::Write::write_all(file.as_file_mut(), recorded.trace).map_err(failed)?;
    let spec = WorkloadSpec { trace: Some(file.path().to_path_buf()), ..spec.clone() };
    let source = open(&spec, seed, capacity_bytes).map_err(|mut error| {
        // The user named the trace, and not the file.
        let unpacked = file.path().display().to_string();
        error.message = error.message.replace(&unpacked, &format!("the trace `{}`", recorded.name));
        error
    })?;
    // On Unix, a file that is read once needs no name after opening: deleting it now leaves nothing behind.
    let is_done_with = cfg!(unix) && spec.passes.is_none();
    Ok(Opened { source, file: (!is_done_with).then_some(file) })
}

/// All traces that a configuration replays, with the keys that name them.
pub fn traces(resolved: &Resolved) -> Vec<(String, &Path)> {
    let named = resolved.tenants.iter().map(|(name, tenant)| (format!("workloads.{name}.trace"), &tenant.spec));
    let all = std::iter::once(("workload.trace".to_owned(), &resolved.workload)).chain(named);
    all.filter_map(|(key, spec)| Some((key, spec.trace.as_deref()?))).collect()
}

/// The name of a run's workload, or of several.
pub fn shown_names(resolved: &Resolved) -> String {
    if resolved.tenants.is_empty() {
        return shown_name(&resolved.workload);
    }
    let names: Vec<&str> = resolved.tenants.keys().map(String::as_str).collect();
    format::names(&names)
}

/// The name of a workload.
pub fn shown_name(spec: &WorkloadSpec) -> String {
    match (&spec.name, &spec.trace) {
        (Some(name), _) => format!("`{}`", printable(name)),
        (None, Some(trace)) => printable(&trace.display().to_string()).into_owned(),
        (None, None) => "a generated workload".into(),
    }
}
