//! `copyback trace info | convert`

use crate::args::{ConvertArgs, InfoArgs, TraceArgs, TraceCommand};
use crate::failure::Failure;
use crate::files::{self, Input, Output};
use crate::format::{count, counted, large, quoted, size, three_digits, time};
use crate::plan::refuse_repeated_keys;
use crate::table::BOLD;
use crate::workloads::{self, Opened, ReaderOptions};
use copyback::config::layers::{Layer, Located, suggestion};
use copyback::run::config::Stack;
use copyback_workload::printable::{printable, printable_lines};
use copyback_workload::spec::WorkloadSpec;
use copyback_workload::stats::{Bin, DeviceStats, TraceStats};
use copyback_workload::write::{WriteFormat, write_to};
use copyback_workload::{Request, RequestSource};
use std::path::Path;

/// Capacity in which generated workloads without a footprint of their own are measured.
const CAPACITY_BYTES: u64 = 64 << 30;

/// Runs the command.
pub fn trace(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Info(args) if args.json => files::print(&info(args)?.json),
        TraceCommand::Info(args) => files::print(&info(args)?.text),
        TraceCommand::Convert(args) => {
            let text = converted(args)?;
            if files::is_standard_output(&args.output) {
                // Standard output has the trace, so the text goes to standard error; a failed write is ignored.
                let _ = std::io::Write::write_all(&mut std::io::stderr(), printable_lines(&text).as_bytes());
                return Ok(());
            }
            files::print(&text)
        }
    }
}

/// The measures of a workload.
pub struct Info {
    /// The JSON document.
    pub json: String,
    /// The same for a person.
    pub text: String,
}

/// Measures a workload.
pub fn info(args: &InfoArgs) -> Result<Info, Failure> {
    let mut opened = opened(&spec(&args.what)?.0, &args.what)?;
    let stats = TraceStats::collect(&mut opened.source)?;
    let json = serde_json::to_string_pretty(&stats);
    let json = json.map_err(|error| Failure::run(format!("cannot write JSON: {error}")))? + "\n";
    Ok(Info { json, text: info_text(&args.what.workload, &stats) })
}

/// Writes a workload as a trace; returns the text for the user.
pub fn converted(args: &ConvertArgs) -> Result<String, Failure> {
    let output = &args.output;
    let to = written_format(output, args.to.as_deref())?;
    files::check_output(output)?;
    let (spec, inputs) = spec(&args.what)?;
    files::refuse_clashes(&[Output::new("the trace", output)], &inputs)?;
    if args.to.is_some() {
        refuse_other_ending(output, to)?;
    }
    let mut opened = opened(&spec, &args.what)?;
    let summary = files::write_made(output, |file| {
        write_to(&mut opened.source, file, to).map_err(|mut error| {
            error.message = format!("{}: not written: {}", output.display(), error.message);
            error.into()
        })
    })?;
    let shown = output.display().to_string();
    let mut text = format!("{}: {} as {to}\n", printable(&shown), counted(summary.requests, "request"));
    for note in opened.source.notes().iter().chain(&summary.notes) {
        text.push_str(&format!("Note: {}\n", printable(note)));
    }
    Ok(text)
}

/// The format that the command line or the output's name asks for.
fn written_format(output: &Path, to: Option<&str>) -> Result<WriteFormat, Failure> {
    if let Some(name) = to {
        return name.parse().map_err(|message| Failure::input(format!("--to: {message}")));
    }
    let extension = output.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension {
        "parquet" => Ok(WriteFormat::Parquet),
        "csv" => Ok(WriteFormat::Msr),
        "spc" => Ok(WriteFormat::Spc),
        "iolog" | "fio" => Ok(WriteFormat::Fio3),
        "trace" | "ascii" | "disksim" => Ok(WriteFormat::Disksim),
        _ => {
            let names: Vec<&str> = WriteFormat::ALL.iter().map(|format| format.word()).collect();
            let help = format!(
                "use .parquet, .csv (msr; with --to csv a table), .spc, .iolog (fio-v3) or .trace (disksim), or --to \
                 with one of {}",
                names.join(", ")
            );
            Err(Failure::input(format!("the name {} does not say in which format to write", output.display()))
                .with_help(help))
        }
    }
}

/// Refuses a name whose ending means another format than the one to write. Other endings may mean anything.
fn refuse_other_ending(output: &Path, format: WriteFormat) -> Result<(), Failure> {
    use WriteFormat::{Csv, Disksim, Fio2, Fio3, Msr, Parquet, Spc};
    let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let meant: &[WriteFormat] = match ending.as_str() {
        "parquet" => &[Parquet],
        "csv" => &[Msr, Csv],
        "spc" => &[Spc],
        "iolog" | "fio" => &[Fio3, Fio2],
        "disksim" => &[Disksim],
        _ => &[],
    };
    // Text is text, whatever its columns are.
    let is_text = ending == "txt" && format != Parquet;
    if files::other_ending(output, &[]).is_none() || is_text || meant.contains(&format) {
        return Ok(());
    }
    let shown = output.display();
    let message = format!("{shown}: --to {} writes another format than the ending .{ending} means", format.word());
    let help = match meant {
        [first, ..] => format!("use another ending, or --to {}", first.word()),
        [] => "use another ending".to_owned(),
    };
    Err(Failure::input(message).with_help(help))
}

/// A workload that ends after a number of requests.
struct Cut {
    source: Box<dyn RequestSource + Send>,
    left: u64,
}

impl RequestSource for Cut {
    fn next_request(&mut self) -> Result<Option<Request>, copyback_workload::Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.source.next_request()
    }

    fn notes(&self) -> Vec<String> {
        self.source.notes()
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.source.device_name(device)
    }
}

fn opened(spec: &WorkloadSpec, what: &TraceArgs) -> Result<Opened, Failure> {
    let capacity_bytes = if spec.trace.is_some() { u64::MAX } else { CAPACITY_BYTES };
    let opened = workloads::open_source(spec, what.seed.unwrap_or(1), capacity_bytes)?;
    let left = what.requests.unwrap_or(u64::MAX);
    Ok(Opened { source: Box::new(Cut { source: opened.source, left }), file: opened.file })
}

/// The layers of the command line on the workload, lowest first.
fn option_layers(what: &TraceArgs) -> Result<Vec<Layer>, Failure> {
    let options = ReaderOptions {
        format: what.format.as_deref(),
        columns: &what.columns,
        device: what.device.as_ref(),
        skip_bad: what.skip_bad,
    };
    let mut layers: Vec<Layer> = options.layer()?.into_iter().collect();
    let sets = &what.sets;
    for set in sets {
        if !set.trim_start().starts_with("workload.") {
            let message = format!("--set {set}: this command uses keys of `workload` only");
            return Err(Failure::input(message).with_help("set keys of `workload`, for example workload.event=Q"));
        }
    }
    if !sets.is_empty() {
        refuse_repeated_keys(sets)?;
        layers.push(Layer::of_sets(sets)?);
    }
    Ok(layers)
}

/// A preset, a workload's TOML, or a trace; and the files that it is read from.
fn spec(what: &TraceArgs) -> Result<(WorkloadSpec, Vec<Input>), Failure> {
    let (name, options) = (what.workload.as_str(), option_layers(what)?);
    let (mut stack, mut inputs) = (Stack::new(), Vec::new());
    let layer = if workloads::text(name).is_some() || name.ends_with(".toml") {
        let named = Located { value: name.to_owned(), place: None };
        let mut layer = workloads::load(&named, Path::new(""), &mut inputs)?.layer;
        if workloads::is_recorded(name) {
            // Read the recording once: its `loop` is for runs.
            layer.take_number("workload.loop")?;
        }
        layer
    } else {
        workloads::trace_layer(Path::new(name)).map_err(|failure| {
            if Path::new(name).exists() || name.contains('/') {
                return failure;
            }
            let missing = Failure::input(format!("there is no trace or workload `{name}`"));
            // A name with an ending was meant as a file.
            match files::nearest_file(Path::new(name)).filter(|_| name.contains('.')) {
                Some(near) => missing.with_help(format!("did you mean {near}? `copyback workloads` lists workloads")),
                None => missing.with_help(suggestion(name, "workloads", workloads::names())),
            }
        })?
    };
    stack.push(layer);
    options.into_iter().for_each(|layer| stack.push(layer));
    let spec = stack.resolve_workload()?;
    // This command needs no hash.
    inputs.extend(spec.trace.clone().map(|trace| Input::trace(trace, String::new())));
    Ok((spec, inputs))
}

fn overwrites(stats: &TraceStats) -> String {
    if stats.writes.requests == 0 {
        return "no writes".into();
    }
    format!("each page written {} times on average", three_digits(stats.overwrite_ratio))
}

/// Devices in a list, at most.
const DEVICES_SHOWN: usize = 8;

/// The devices of a trace, those with most requests first, and how to choose one.
fn devices(stats: &TraceStats) -> String {
    let name = |device: &DeviceStats| device.name.clone().unwrap_or_else(|| device.device.to_string());
    let mut all: Vec<&DeviceStats> = stats.devices.iter().collect();
    // Of equal ones, the lower number first.
    all.sort_by_key(|device| std::cmp::Reverse(device.requests));
    let share = |device: &DeviceStats| 100.0 * device.requests as f64 / stats.requests.max(1) as f64;
    let shown: Vec<String> =
        all.iter().take(DEVICES_SHOWN).map(|device| format!("{} ({:.1} %)", name(device), share(device))).collect();
    let more = all.len().saturating_sub(DEVICES_SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {} more", count(more as u64)) };
    // In `run`, `--device` names the drive.
    let first = quoted(&name(all[0]));
    format!(
        "{}: {}{more}; choose one with --device {first} here, with --set workload.device={first} in `run` and `compare`",
        count(all.len() as u64),
        shown.join(", ")
    )
}

/// How fast requests arrive, if they do so at more than one time.
fn arrivals(stats: &TraceStats) -> String {
    if stats.duration_ns == 0 {
        return "at one time".to_owned();
    }
    format!("{} a second, mean gap {}", large(stats.requests_per_s), time(stats.mean_gap_ns))
}

fn info_text(name: &str, stats: &TraceStats) -> String {
    let mean_size = |bytes: f64| match bytes < 1024.0 * 1024.0 {
        true => format!("{} KiB", three_digits(bytes / 1024.0)),
        false => size(bytes),
    };
    let mean = |class: &copyback_workload::stats::ClassStats| {
        if class.requests == 0 { "none".to_owned() } else { mean_size(class.mean_bytes) }
    };
    let urgent = match stats.high_priority_requests {
        0 => String::new(),
        urgent => format!(", {} urgent", count(urgent)),
    };
    let mut rows = vec![
        ("requests", format!("{}{urgent}", count(stats.requests))),
        ("reads", format!("{:.1} %, {}", stats.read_percent, size(stats.reads.bytes as f64))),
        ("writes", format!("{:.1} %, {}", stats.write_percent, size(stats.writes.bytes as f64))),
        ("mean size", format!("read {}, write {}", mean(&stats.reads), mean(&stats.writes))),
        ("arrivals", arrivals(stats)),
        ("duration", time(stats.duration_ns as f64)),
        (
            "footprint",
            format!(
                "{}{} (read {}, written {})",
                if stats.footprint_counted_one_of.is_some() { "about " } else { "" },
                size(stats.footprint_bytes as f64),
                size(stats.reads.footprint_bytes as f64),
                size(stats.writes.footprint_bytes as f64)
            ),
        ),
        ("overwrites", overwrites(stats)),
        ("sequential", format!("{:.1} % start where the last one ended", 100.0 * stats.sequential_share)),
        ("needs", format!("a drive of {} or more", size(stats.end_bytes as f64))),
    ];
    if stats.trims.requests > 0 {
        rows.insert(3, ("trims", format!("{}, {}", count(stats.trims.requests), size(stats.trims.bytes as f64))));
    }
    if stats.devices.len() > 1 {
        rows.push(("devices", devices(stats)));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let bold = |text: &str| format!("{}{text}{}", BOLD.render(), BOLD.render_reset());
    let mut text = format!("{}\n", bold(&printable(name)));
    for (name, value) in rows {
        text.push_str(&format!("  {name:<width$}  {value}\n"));
    }
    text.push_str(&format!("\n{}\n{}", bold("Sizes"), bars(&stats.size_histogram, |b| size(b as f64))));
    text.push_str(&format!(
        "\n{}\n{}",
        bold("Gaps between arrivals"),
        bars(&stats.gap_histogram, |ns| time(ns as f64))
    ));
    for note in &stats.notes {
        text.push_str(&format!("\nNote: {}", printable(note)));
    }
    if stats.notes.is_empty() { text } else { text + "\n" }
}

/// A histogram as bars, a line for each power of two. Thin ends are drawn together.
fn bars(bins: &[Bin], print: impl Fn(u64) -> String) -> String {
    const WIDTH: u64 = 50;
    let bins = without_thin_ends(bins);
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let all: u64 = bins.iter().map(|bin| bin.count).sum();
    let label = |bin: &Bin| {
        let end = bin.to.saturating_add(1);
        if bin.from == 0 { format!("below {}", print(end)) } else { format!("from {}", print(bin.from)) }
    };
    let width = bins.iter().map(|bin| label(bin).len()).max().unwrap_or(0);
    let mut text = String::new();
    let is_empty = |bin: &Bin| bin.count == 0;
    for (at, bin) in bins.iter().enumerate() {
        // A gap of several empty bins takes two lines: an empty bin and `...`.
        let of_a_gap = |at: usize| bins.get(at).is_some_and(is_empty);
        if of_a_gap(at) && of_a_gap(at.wrapping_sub(1)) {
            if !of_a_gap(at + 1) {
                text.push_str(&format!("  {:>width$}\n", "..."));
            }
            continue;
        }
        // A bin that is not empty has at least one sign.
        let length = (bin.count * WIDTH).div_ceil(most);
        let share = 100.0 * bin.count as f64 / all.max(1) as f64;
        let bar = "#".repeat(usize::try_from(length).unwrap_or(0));
        text.push_str(format!("  {:>width$}  {share:>5.1} %  {bar}", label(bin)).trim_end());
        text.push('\n');
    }
    text
}

/// Joins the two outermost bins at either end while both together hold less than a thousandth of the counts.
fn without_thin_ends(bins: &[Bin]) -> Vec<Bin> {
    let all: u64 = bins.iter().map(|bin| bin.count).sum();
    let mut bins = bins.to_vec();
    while let [first, second, ..] = bins[..]
        && (first.count + second.count) * 1000 < all
    {
        bins.remove(0);
        bins[0] = Bin { from: 0, to: second.to, count: first.count + second.count };
    }
    while let [.., second, last] = bins[..]
        && (second.count + last.count) * 1000 < all
    {
        bins.pop();
        let end = bins.len() - 1;
        bins[end] = Bin { from: second.from, to: last.to, count: second.count + last.count };
    }
    bins
}
