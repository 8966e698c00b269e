//! `copyback run`: one scheme in depth.

mod arrays;
pub mod latencies;
mod sections;
mod tasks;

use crate::args::RunArgs;
use crate::call::RunCall;
use crate::compare::shown;
use crate::execute::{self, ExecutionOptions, Wall};
use crate::failure::Failure;
use crate::files;
use crate::format::{large, time};
use crate::notes;
use crate::output;
use crate::plan::Plan;
use crate::requests;
use crate::results::{KeptTables, ResultCommand, Results};
use crate::steady;
use crate::table::{self, BOLD, Cell};
use crate::workloads;
use copyback::observe::report::Report;
use copyback::run::config::Resolved;
use copyback_report::drawings::{Drawings, Pictures, outputs};
use copyback_report::fio_json;
use latencies::{ShownWords, latency_rows};
use sections::{
    breakdown, collection, map_in_flash, merges_of_logs, over_time, parity_of_stripes, requests, utilization, wear,
    write_amplification,
};

/// Runs the command.
pub fn run(args: RunArgs) -> Result<(), Failure> {
    let print_config = args.print_config;
    let (call, drawings) = args.into_call();
    if print_config {
        return files::print(&config_text(&call)?);
    }
    let Ran { results, is_stdout_taken } = ran(&call, &drawings)?;
    if is_stdout_taken {
        return Ok(());
    }
    files::print(&text(&results, &call.show, table::terminal_columns(table::PAGE))?)
}

/// A run that has ended, and whose files are written.
pub struct Ran {
    /// The results.
    pub results: Results,
    /// Whether a requested file went to standard output, so that the text is not printed there.
    is_stdout_taken: bool,
}

/// The configuration with its defaults filled in, as TOML.
pub fn config_text(call: &RunCall) -> Result<String, Failure> {
    let plan = call.experiment.plan_of_one()?;
    // A configuration that a run would refuse is refused here, too.
    requests::try_traces(&plan.runs[0], plan.seed, plan.requests_in_all())?;
    Ok(plan.runs[0].config_text(&plan))
}

/// Simulates one scheme, and writes its files. The caller prints the text.
pub fn ran(call: &RunCall, drawings: &Drawings) -> Result<Ran, Failure> {
    let plan = call.experiment.plan_of_one()?;
    let tables = KeptTables { microscope: drawings.microscope.path.is_some(), ..output::tables(call) };
    output::check(call, &plan, &outputs(drawings), tables)?;
    let pictures = Pictures::new(drawings, &plan)?;
    let chosen = ShownWords::of(&call.show);
    chosen.check(&plan)?;
    if call.latex.is_some() {
        chosen.check_table()?;
    }
    let folder = output::begin(call, &plan, tables)?;
    let mut spans = pictures.spans(&plan, output::execution_options(call))?;
    let usual = || ExecutionOptions { keep_rates: drawings.fio_json.is_some(), ..output::execution_options(call) };
    let mut finished = execute::execute(&plan, &pictures.options(spans, usual()))?;
    if let Some(with_work) = pictures.with_work(spans, &finished[0].outcome) {
        spans = with_work;
        finished = execute::execute(&plan, &pictures.options(spans, usual()))?;
    }
    let beyond = pictures.check(spans, &mut finished[0].outcome)?;
    let results = Results { command: ResultCommand::Run, plan, finished, tables };
    let of_latex = || latex(&results, &call.show);
    if let Some(failure) = beyond {
        // The other outputs are still written: the run may have taken hours.
        output::write(call, folder, &results, &of_latex, &[])?;
        return Err(failure);
    }
    let mut drawn = pictures.encoded(spans, &results.finished[0].outcome);
    if let Some(path) = &drawings.fio_json {
        let (planned, done) = (&results.plan.runs[0], &results.finished[0]);
        drawn.push((path.as_path(), fio_json::document(planned, done, &results.plan.jobs)?));
    }
    let is_stdout_taken = output::write(call, folder, &results, &of_latex, &drawn)?;
    Ok(Ran { results, is_stdout_taken })
}

/// The printed table for LaTeX with booktabs.
pub fn latex(results: &Results, show: &[String]) -> Result<String, Failure> {
    Ok(table::latex(table_of(results, show)?, 1))
}

/// The table of response times, or of the numbers that `show` names, titles first.
fn table_of(results: &Results, show: &[String]) -> Result<Vec<Vec<Cell>>, Failure> {
    let chosen = ShownWords::of(show);
    chosen.check_table()?;
    let done = &results.finished[0];
    if chosen.numbers.is_empty() {
        let measure = &results.plan.runs[0].resolved.run.measure;
        return Ok(latency_rows(&done.outcome.report, measure, &chosen.columns()));
    }
    let heading = ["number", "value"].map(|text| Cell::styled(text, BOLD)).to_vec();
    let of_run = shown::of_run(done, &chosen.numbers)?;
    let rows = of_run.into_iter().map(|(word, value)| vec![Cell::new(word), Cell::new(value)]);
    Ok(std::iter::once(heading).chain(rows).collect())
}

/// The summary as text, `terminal_columns` characters wide.
pub fn text(results: &Results, show: &[String], terminal_columns: usize) -> Result<String, Failure> {
    let chosen = ShownWords::of(show);
    let (plan, done) = (&results.plan, &results.finished[0]);
    let planned = &plan.runs[0];
    let report = &done.outcome.report;
    let mut text = heading(plan, &planned.scheme, &planned.resolved);
    let numbers = shown::of_run(done, &chosen.numbers)?;
    let run = &planned.resolved.run;
    let latencies = latency_rows(report, &run.measure, &chosen.columns());
    let chosen_rows = numbers.iter().map(|(word, value)| (word.as_str(), value.clone())).collect();
    let of_each = crate::tenants::text(plan, std::slice::from_ref(done), show, terminal_columns)?;
    let tasks = tasks::rows(run, report, &done.outcome.series);
    // One order for all runs: a section that a run lacks is left out.
    let sections: [Option<(&str, String)>; 16] = [
        (!numbers.is_empty()).then(|| ("Chosen numbers", facts(chosen_rows))),
        Some(("Requests", requests(report))),
        Some(("Response times", response_times(report, &latencies, terminal_columns))),
        array_or_bandwidth(report),
        (!of_each.is_empty()).then_some(("Each workload", of_each)),
        Some(("Where the time went", breakdown(report, run.frontier.fill().is_some()))),
        Some(("Write amplification", write_amplification(report))),
        Some(("Steady state", facts(steady::rows(&report.steady)))),
        Some(("Garbage collection", collection(report))),
        report.merges.as_ref().map(|merges| ("Merges of log blocks", merges_of_logs(merges))),
        report.parity.as_ref().map(|parity| ("Parity", parity_of_stripes(parity))),
        report.map.as_ref().map(|map| ("Map in flash", map_in_flash(map))),
        (!tasks.is_empty()).then(|| ("Tasks", facts(tasks))),
        Some(("Utilization", utilization(report))),
        Some(("Wear", wear(report, run))),
        Some(("Over time", over_time(&done.outcome.series))),
    ];
    for (title, body) in sections.into_iter().flatten() {
        text.push_str(&format!("\n{}{title}{}\n{body}", BOLD.render(), BOLD.render_reset()));
    }
    Ok(text + &closing_line(&done.wall) + &notes::notes(plan, std::slice::from_ref(done)))
}

/// The table of response times, or that there are none.
fn response_times(report: &Report, rows: &[Vec<Cell>], terminal_columns: usize) -> String {
    match report.response.all.count {
        0 => "  none: no request reads or writes\n".to_owned(),
        _ => table::split(rows, terminal_columns),
    }
}

/// The section on an array, or on the bandwidth of a drive if it was measured.
fn array_or_bandwidth(report: &Report) -> Option<(&'static str, String)> {
    match (&report.array, &report.bandwidth) {
        (Some(array), bandwidth) => Some(("Array", arrays::section(array, bandwidth.as_ref()))),
        (None, Some(bandwidth)) => Some(("Bandwidth", facts(vec![("each", arrays::per_interval(bandwidth))]))),
        (None, None) => None,
    }
}

/// How long the simulation took.
fn closing_line(wall: &Wall) -> String {
    format!(
        "\nSimulated in {} ({} requests/s, {} flash pages/s), the drive's preconditioning in {}.\n",
        time(wall.simulate_s * 1e9),
        large(wall.requests_per_s),
        large(wall.page_operations_per_s),
        time(wall.precondition_s * 1e9),
    )
}

fn heading(plan: &Plan, scheme: &str, resolved: &Resolved) -> String {
    let title = plan.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let workload = workloads::shown_names(resolved);
    format!("{title}scheme `{scheme}`, workload {workload}, {}\n", output::target_line(&plan.runs[0]))
}

/// Rows of a name and a text.
fn facts(rows: Vec<(&str, String)>) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.into_iter().map(|(name, value)| format!("  {name:<width$}  {value}\n")).collect()
}
