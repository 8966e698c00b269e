//! What both `run` and `compare` do with results: JSON, a folder of tables, notes.

use crate::args::Common;
use crate::execute::{self, Finished, How};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::format;
use crate::latex;
use crate::out_dir::{self, OutDir};
use crate::plan::{Plan, Planned};
use crate::results::{Asked, Results};
use crate::workloads;
use copyback::buffer::BufferConfig;
use copyback::flash::geometry::Geometry;
use copyback::ftl::frontier::fill::FillEnds;
use copyback::host::config::HostMode;
use copyback::observe::commands::CommandFilter;
use copyback::observe::report::Report;
use copyback::run::config::Resolved;
use copyback::run::config::RunConfig;
use copyback_workload::printable::printable;
use copyback_workload::spec::WorkloadSpec;
use std::collections::BTreeSet;
use std::path::Path;

/// Refuses outputs that cannot be written, or that would destroy something, before time is spent on what they would
/// hold.
pub fn check(common: &Common, plan: &Plan, drawings: &[Output], tables: Asked) -> Result<(), Failure> {
    let json = common.json.as_deref().map(|path| Output::new("--json", path));
    let latex = common.latex.as_deref().map(|path| Output::new("--latex", path));
    let single: Vec<Output> = drawings.iter().cloned().chain(json).chain(latex).collect();
    let folder = common.out.as_deref();
    let inside = folder.map(|folder| out_dir::outputs(folder, plan, tables));
    let all: Vec<Output> = single.iter().cloned().chain(inside.into_iter().flatten()).collect();
    files::refuse_clashes(&all, &plan.inputs)?;
    single.iter().try_for_each(|output| files::check_output(&output.path))?;
    let Some(folder) = folder else { return Ok(()) };
    single.iter().try_for_each(|output| out_dir::refuse_inside(folder, output))?;
    out_dir::check(folder, plan)
}

/// The tables that are asked for beside those that all runs have.
pub fn asked(common: &Common) -> Asked {
    let Asked { gc_events, requests, commands, microscope } = common.asked;
    Asked {
        gc_events: gc_events || common.out.is_some(),
        requests: requests || common.out_requests,
        commands: commands || common.out_commands,
        microscope,
    }
}

/// How the command line wants runs to be done.
pub fn how(common: &Common) -> How {
    How {
        jobs: common.jobs.map_or_else(execute::cores, |jobs| jobs as usize),
        audience: common.hearing.audience(),
        check: common.check,
        keep_gc_events: asked(common).gc_events,
        keep_rates: false,
        keep_requests: asked(common).requests,
        keep_commands: asked(common).commands.then(CommandFilter::default),
        microscope: None,
    }
}

/// Takes the folder of `--out` for this program alone, right before the run.
pub fn begin<'a>(common: &'a Common, plan: &Plan, tables: Asked) -> Result<Option<OutDir<'a>>, Failure> {
    common.out.as_deref().map(|folder| OutDir::begin(folder, plan, tables)).transpose()
}

/// Writes what was asked for; true where standard output is taken by it. That comes last: whoever reads it may go away.
pub fn write(
    common: &Common,
    folder: Option<OutDir<'_>>,
    results: &Results,
    drawn: &[(&Path, Vec<u8>)],
) -> Result<bool, Failure> {
    let json = if common.json.is_some() || folder.is_some() { results.json()? } else { String::new() };
    folder.map_or(Ok(()), |folder| folder.write(results, &json))?;
    let latex = common.latex.as_ref().map_or_else(|| Ok(String::new()), |_| latex::of(results, &common.show))?;
    let mut texts: Vec<(&Path, &[u8])> =
        common.json.as_deref().map(|path| (path, json.as_bytes())).into_iter().collect();
    texts.extend(common.latex.as_deref().map(|path| (path, latex.as_bytes())));
    texts.extend(drawn.iter().map(|(path, bytes)| (*path, bytes.as_slice())));
    texts.sort_by_key(|(path, _)| files::is_standard_output(path));
    let mut is_taken = false;
    for (path, text) in texts {
        is_taken |= files::write_bytes(path, text)?;
    }
    Ok(is_taken)
}

/// What users should know about the runs and about whether their drives had settled; each note once.
pub fn notes(plan: &Plan, finished: &[Finished]) -> String {
    let fitted = plan.fitted.zip(plan.runs.first()).map(|(fitted, planned)| fitted.note(planned));
    let of_jobs: String = plan.notes.iter().map(|note| format!("Note: {}\n", printable(note))).collect();
    let lines = of_jobs
        + &fitted.unwrap_or_default()
        + &note_of_times(plan).unwrap_or_default()
        + &notes_of_runs(plan, finished)
        + &note_of_unwritten(finished).unwrap_or_default()
        + nothing_to_collect(finished)
        + &crate::steady::notes(plan, finished).concat();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// What users should know about the runs but for how their drives had settled and what reads found; each note once.
pub fn notes_of_runs(plan: &Plan, finished: &[Finished]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for planned in &plan.runs {
        lines.extend(planned.notes().map(|what| format!("Note ({}): {}\n", planned.scheme, printable(what))));
    }
    for (planned, done) in plan.runs.iter().zip(finished) {
        for note in done.outcome.notes.iter().filter(|note| !is_known(planned, note)) {
            let everywhere = finished.iter().all(|other| other.outcome.notes.contains(note));
            let note = printable(note);
            let line =
                if everywhere { format!("Note: {note}\n") } else { format!("Note ({}): {note}\n", planned.scheme) };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(limit_note(plan, finished));
    lines.extend(note_of_erases(plan, finished));
    lines.extend(note_of_ends(plan, finished));
    lines.extend(plan.runs.iter().zip(finished).filter_map(|(planned, done)| note_of_rounds(planned, done)));
    lines.extend(plan.runs.first().and_then(note_of_units));
    lines.extend(note_of_drives(plan));
    lines.extend(crate::tenants::note_of_regions(plan));
    lines.extend(crate::tenants::note_of_warmups(plan));
    lines.extend(crate::small_writes::notes(plan, finished));
    lines.concat()
}

/// That schemes run on different drives, so that it is not they alone that are compared.
fn note_of_drives(plan: &Plan) -> Option<String> {
    let first = &plan.runs.first()?.resolved.run;
    let is_another = |planned: &&Planned| {
        let run = &planned.resolved.run;
        (&run.geometry, &run.timing, &run.capacity) != (&first.geometry, &first.timing, &first.capacity)
    };
    let names: Vec<&str> = plan.runs.iter().filter(is_another).map(|planned| &*planned.scheme).collect();
    (!names.is_empty()).then(|| {
        let names = format::names(&names);
        format!(
            "Note: {names} runs on a different drive than `{}`: the schemes differ in more than GC\n",
            plan.runs[0].scheme
        )
    })
}

/// That units of different sizes are counted together.
fn note_of_units(planned: &Planned) -> Option<String> {
    let sizes: BTreeSet<u64> = planned.members.iter().map(|member| member.config.geometry.unit_bytes()).collect();
    let list: Vec<String> = sizes.iter().map(|bytes| format::size(*bytes as f64)).collect();
    (sizes.len() > 1).then(|| {
        let list = list.join(" and ");
        format!(
            "Note: drives have mapping units of {list}; sums of units, and write amplification, count all units alike\n"
        )
    })
}

/// That a workload's arrival times are not used, unless the command line itself asks for that.
fn note_of_times(plan: &Plan) -> Option<String> {
    let is_deaf = |planned: &&Planned| {
        let Resolved { run, workload, tenants } = &planned.resolved;
        tenants.is_empty() && run.host.mode == HostMode::Closed && workload.has_times()
    };
    let from = plan.runs.iter().find(is_deaf)?.mode_from.as_deref().filter(|from| *from != "--set")?;
    let from = printable(from);
    Some(format!(
        "Note: `host.mode = \"closed\"` ({from}): the workload's arrival times are not used; --open uses them, and \
         --closed leaves this note out\n"
    ))
}

/// Why schemes that are compared are alike.
fn nothing_to_collect(finished: &[Finished]) -> &'static str {
    let is_idle = |report: &Report| report.writes == 0 && report.gc.collections == 0;
    if finished.len() > 1 && finished.iter().all(|done| is_idle(&done.outcome.report)) {
        return "Note: no request writes, so no scheme collects, and all GC schemes give the same results\n";
    }
    ""
}

/// That drives which are told when to collect have done so by themselves: what coordination would do does not show.
fn note_of_rounds(planned: &Planned, done: &Finished) -> Option<String> {
    let array = done.outcome.report.array.as_ref()?;
    let (rounds, alone) = (array.rounds?.rounds, array.told?.last_resort_collections);
    (rounds == 0 && alone > 0).then(|| {
        format!(
            "Note ({}): no round of coordinated collection, and {} collections at the last resort: drives fell to \
             `trigger.last_resort` before an order came; raise `trigger.soft`, so that they report earlier\n",
            planned.scheme,
            format::count(alone)
        )
    })
}

/// That blocks were erased and none was collected: what a run says of GC is then nothing, and the cost is not GC's.
fn note_of_erases(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let by_tasks = |report: &Report| report.gc.collections == 0 && report.flash.blocks_relocated > 0;
    let found: Vec<(&str, String)> = plan
        .runs
        .iter()
        .zip(finished)
        .map(|(planned, done)| (&*planned.scheme, &done.outcome.report))
        .filter(|(_, report)| by_tasks(report))
        .map(|(scheme, report)| (scheme, format::count(report.flash.block_erases)))
        .collect();
    let schemes: Vec<&str> = found.iter().map(|(scheme, _)| *scheme).collect();
    let erases: Vec<&str> = found.iter().map(|(_, erases)| &**erases).collect();
    (!found.is_empty()).then(|| {
        let (schemes, erases) = (format::names(&schemes), erases.join(", "));
        format!("Note: no collection in {schemes}: scrubbing or wear levelling made all {erases} erases\n")
    })
}

/// That writes of schemes which are compared end in DRAM here and in flash there, so that their times tell of that.
fn note_of_ends(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let ends_in_dram = |planned: &&Planned| {
        let run = &planned.resolved.run;
        let fills_in_dram = run.frontier.fill().is_some_and(|fill| fill.ends == FillEnds::Dram);
        fills_in_dram || !matches!(run.buffer, BufferConfig::None(_))
    };
    let names = |are_in_dram: bool| {
        let of = plan.runs.iter().filter(|planned| ends_in_dram(planned) == are_in_dram);
        of.map(|planned| &*planned.scheme).collect::<Vec<_>>()
    };
    let (in_dram, in_flash) = (names(true), names(false));
    let has_written = finished.iter().any(|done| done.outcome.report.writes > 0);
    (has_written && !in_dram.is_empty() && !in_flash.is_empty()).then(|| {
        let key = match plan.runs.iter().find(ends_in_dram).map(|planned| &planned.resolved.run.buffer) {
            Some(BufferConfig::None(_)) => "`frontier.fill_limit`, `frontier.fill_ends`",
            _ => "`buffer.policy`",
        };
        format!(
            "Note: a write completes in DRAM under {} and in flash under {}, so do not compare their times ({key}): \
             set the same for all\n",
            format::names(&in_dram),
            format::names(&in_flash)
        )
    })
}

/// That requests waited for room in a drive, whatever `host.outstanding_max` or `host.queue_depth` would have let in.
fn limit_note(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let held = |done: &Finished| done.outcome.report.held_by_transaction_limit;
    let most = finished.iter().map(held).max().filter(|most| *most > 0)?;
    let of = if plan.runs.len() > 1 { "up to " } else { "" };
    Some(format!(
        "Note: {of}{} requests waited for admission: the drive takes {} pages of requests at once\n",
        format::count(most),
        format::count(copyback::run::TRANSACTIONS_MAX as u64)
    ))
}

/// How much of what the first run read holds no data.
fn note_of_unwritten(finished: &[Finished]) -> Option<String> {
    let report = &finished.first()?.outcome.report;
    let units = report.unwritten_units_read;
    let share = format::percent(units as f64 / report.units_read.max(1) as f64);
    let units = format::count(units);
    (report.unwritten_units_read > 0).then(|| {
        format!(
            "Note: {units} of the mapping units read hold no data ({share}); reading these needs no flash command\n"
        )
    })
}

/// Whether a note says only how a built-in trace is stored and played, which its reader need not know: its devices'
/// addresses do not overlap.
fn is_known(planned: &Planned, note: &str) -> bool {
    let trace = planned.resolved.workload.trace.as_deref();
    let is_of_storage = ["format `", "played "].iter().any(|known| note.starts_with(known));
    trace.is_some_and(workloads::is_built_in) && (is_of_storage || note.contains(" devices share one address space"))
}

/// What a run left out of its results, and the rest; empty where it left nothing out.
pub fn warmup_text(report: &Report) -> String {
    let Some(warmup) = report.warmup else { return String::new() };
    format!("{} requests, {} of simulated time", format::count(warmup.requests), format::time(warmup.end_ns as f64))
}

/// The flash of a drive in a few words.
fn flash_of(run: &RunConfig) -> String {
    let geometry = Geometry::new(&run.device());
    let physical = f64::from(geometry.physical_units) * f64::from(geometry.unit_bytes);
    format!(
        "{} of flash: {} channels, {} dies, {} planes",
        format::size(physical),
        geometry.channels,
        geometry.dies,
        geometry.planes
    )
}

/// A drive in a line.
pub fn device_line(run: &RunConfig) -> String {
    let holds = format::size(Geometry::new(&run.device()).logical_bytes() as f64);
    format!("a drive of {holds} ({})", flash_of(run))
}

/// What requests are for, in a line: a drive, or the volume of an array.
pub fn target_line(planned: &Planned) -> String {
    let run = &planned.resolved.run;
    let Some(array) = &run.array else { return device_line(run) };
    let holds = format::size(planned.capacity_bytes() as f64);
    let (level, drives) = (array.level.name(), array.drives);
    let plural = if drives == 1 { "" } else { "s" };
    match planned.members.iter().all(|member| member.config.geometry == run.geometry) {
        true => format!("{level} of {holds} over {drives} drive{plural} (each of {})", flash_of(run)),
        false => format!("{level} of {holds} over {drives} drive{plural} of several kinds"),
    }
}

/// What the workload of a run is called, or that there are several.
pub fn asked_name(resolved: &Resolved) -> String {
    if resolved.tenants.is_empty() {
        return workload_name(&resolved.workload);
    }
    let names: Vec<&str> = resolved.tenants.keys().map(String::as_str).collect();
    format::names(&names)
}

/// What a workload is called.
pub fn workload_name(spec: &WorkloadSpec) -> String {
    match (&spec.name, &spec.trace) {
        (Some(name), _) => format!("`{}`", printable(name)),
        (None, Some(trace)) => printable(&trace.display().to_string()).into_owned(),
        (None, None) => "a generated workload".into(),
    }
}
