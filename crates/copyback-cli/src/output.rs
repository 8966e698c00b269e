//! The outputs of both `run` and `compare`: JSON, a folder of tables.

use crate::call::RunCall;
use crate::execute::{self, ExecutionOptions};
use crate::failure::Failure;
use crate::files::{self, Output};
use crate::format;
use crate::out_dir::{self, OutDir};
use crate::plan::{Plan, Planned};
use crate::results::{KeptTables, Results};
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::CommandFilter;
use copyback::observe::report::Report;
use copyback::run::config::RunConfig;
use std::path::Path;

/// Refuses outputs that cannot be written, or that would destroy something, before anything is simulated.
pub fn check(call: &RunCall, plan: &Plan, drawings: &[Output], tables: KeptTables) -> Result<(), Failure> {
    let json = call.json.as_deref().map(|path| Output::new("--json", path));
    let latex = call.latex.as_deref().map(|path| Output::new("--latex", path));
    let single: Vec<Output> = drawings.iter().cloned().chain(json).chain(latex).collect();
    let folder = call.out.as_deref();
    let inside = folder.map(|folder| out_dir::outputs(folder, plan, tables));
    let all: Vec<Output> = single.iter().cloned().chain(inside.into_iter().flatten()).collect();
    files::refuse_clashes(&all, &plan.inputs)?;
    folder.map_or(Ok(()), |folder| refuse_folder_as_file(folder, &single))?;
    files::refuse_other_endings(&single)?;
    single.iter().try_for_each(|output| files::check_output(&output.path))?;
    let Some(folder) = folder else { return Ok(()) };
    single.iter().try_for_each(|output| files::refuse_inside(folder, output))?;
    out_dir::check(folder, plan)
}

/// Refuses a file with the name of the folder of results.
fn refuse_folder_as_file(folder: &Path, files: &[Output]) -> Result<(), Failure> {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    match files.iter().find(|file| whole(&file.path) == whole(folder)) {
        Some(file) => Err(Failure::input(format!(
            "{} {} and --out {} have one name: a file and a folder",
            file.what,
            file.path.display(),
            folder.display()
        ))
        .with_help("give one of them another name")),
        None => Ok(()),
    }
}

/// The tables of a call; a folder of results always has the collections.
pub fn tables(call: &RunCall) -> KeptTables {
    KeptTables { gc_events: call.tables.gc_events || call.out.is_some(), ..call.tables }
}

/// The options with which the runs of a call are executed.
pub fn execution_options(call: &RunCall) -> ExecutionOptions {
    let KeptTables { gc_events, requests, commands, microscope: _ } = tables(call);
    ExecutionOptions {
        jobs: call.jobs.map_or_else(execute::cores, |jobs| jobs as usize),
        sink: call.sink.clone(),
        check: call.check,
        keep_gc_events: gc_events,
        keep_rates: false,
        keep_requests: requests,
        keep_commands: commands.then(CommandFilter::default),
        microscope: None,
    }
}

/// Takes the folder of results for this program alone, right before the run.
pub fn begin<'a>(call: &'a RunCall, plan: &Plan, tables: KeptTables) -> Result<Option<OutDir<'a>>, Failure> {
    call.out.as_deref().map(|folder| OutDir::begin(folder, plan, tables)).transpose()
}

/// Writes the requested files; `latex` is the printed table. Returns whether one of them took standard output. The file
/// on standard output is written last, because its reader may go away.
pub fn write(
    call: &RunCall,
    folder: Option<OutDir<'_>>,
    results: &Results,
    latex: &dyn Fn() -> Result<String, Failure>,
    drawn: &[(&Path, Vec<u8>)],
) -> Result<bool, Failure> {
    let json = if call.json.is_some() || folder.is_some() { results.json()? } else { String::new() };
    folder.map_or(Ok(()), |folder| folder.write(results, &json))?;
    let latex = call.latex.as_ref().map_or_else(|| Ok(String::new()), |_| latex())?;
    let mut texts: Vec<(&Path, &[u8])> = call.json.as_deref().map(|path| (path, json.as_bytes())).into_iter().collect();
    texts.extend(call.latex.as_deref().map(|path| (path, latex.as_bytes())));
    texts.extend(drawn.iter().map(|(path, bytes)| (*path, bytes.as_slice())));
    texts.sort_by_key(|(path, _)| files::is_standard_output(path));
    let mut is_taken = false;
    for (path, text) in texts {
        is_taken |= files::write_bytes(path, text)?;
    }
    Ok(is_taken)
}

/// The warm-up of a run; empty if it has none.
pub fn warmup_text(report: &Report) -> String {
    let Some(warmup) = report.warmup else { return String::new() };
    format!("{}, {} of simulated time", format::counted(warmup.requests, "request"), format::time(warmup.end_ns as f64))
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

/// The target of requests in a line: a drive, or the volume of an array.
pub fn target_line(planned: &Planned) -> String {
    let run = &planned.resolved.run;
    let Some(array) = &run.array else { return device_line(run) };
    let holds = format::size(planned.capacity_bytes() as f64);
    let (level, drives) = (array.level.name(), array.drives);
    let drives = format::counted(drives.into(), "drive");
    match planned.members.iter().all(|member| member.config.geometry == run.geometry) {
        true => format!("{level} of {holds} over {drives} (each of {})", flash_of(run)),
        false => format!("{level} of {holds} over {drives} of several kinds"),
    }
}
