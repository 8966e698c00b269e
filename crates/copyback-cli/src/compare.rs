//! `copyback compare`: one table, with a row for each scheme.

pub mod shown;

use crate::args::CompareArgs;
use crate::call::RunCall;
use crate::execute::Finished;
use crate::failure::Failure;
use crate::format;
use crate::notes;
use crate::output;
use crate::plan::{self, DEFAULT_SCHEMES, Experiment, Plan};
use crate::results::{ResultCommand, Results};
use crate::steady;
use crate::table::{self, BOLD, Cell, DIM};
use crate::workloads;
use copyback::observe::report::{Latency, Report};
use copyback_workload::passed_traces;

/// Schemes to suggest for an array: with coordinated collections, and two to compare them with.
const SCHEMES_OF_ARRAYS: &[&str] =
    &["uncoordinated", "ggc-reactive-inclusive", "ggc-reactive-selective", "ggc-proactive-idle", "ideal-no-gc"];
/// Schemes for a map with log blocks.
const SCHEMES_THAT_MERGE: &[&str] = &["baseline", "pgc", "baseline-d", "spd"];

/// Runs the command.
pub fn compare(args: CompareArgs) -> Result<(), Failure> {
    let call = args.common.into_call(args.schemes);
    let Compared { results, is_stdout_taken } = compared(&call)?;
    if is_stdout_taken {
        return Ok(());
    }
    crate::files::print(&text(&results, &call, table::terminal_columns(table::PAGE))?)
}

/// A comparison that has ended, and whose files are written.
pub struct Compared {
    /// The results.
    pub results: Results,
    /// Whether a requested file went to standard output, so that the text is not printed there.
    is_stdout_taken: bool,
}

/// Simulates several schemes, and writes their files. The caller prints the text.
pub fn compared(call: &RunCall) -> Result<Compared, Failure> {
    let plan = call.experiment.plan_of_several()?;
    shown::check(&call.show, &plan)?;
    let tables = output::tables(call);
    output::check(call, &plan, &[], tables)?;
    let folder = output::begin(call, &plan, tables)?;
    let results = Results::of(ResultCommand::Compare, plan, &output::execution_options(call), tables)?;
    let is_stdout_taken = output::write(call, folder, &results, &|| latex(&results, &call.show), &[])?;
    Ok(Compared { results, is_stdout_taken })
}

/// The comparison as text, `terminal_columns` characters wide.
pub fn text(results: &Results, call: &RunCall, terminal_columns: usize) -> Result<String, Failure> {
    let Results { plan, finished, .. } = results;
    let mut text = heading(plan, finished);
    if call.show.is_empty() {
        text.push_str(&tables(plan, finished, terminal_columns));
        let of_each = crate::tenants::text(plan, finished, &[], terminal_columns)?;
        text.push_str(&if of_each.is_empty() { of_each } else { format!("\n{of_each}") });
    } else {
        text.push_str(&shown::table(plan, finished, &call.show, terminal_columns)?);
    }
    text.push_str(&notes::notes(plan, finished));
    text.push_str(&next_steps(plan, &call.experiment));
    Ok(text)
}

/// The table, cell by cell: group titles, column titles, then each scheme's values; from the second scheme on, also a
/// row of changes from the first.
pub fn table_rows(results: &Results) -> Vec<Vec<String>> {
    let Results { plan, finished, .. } = results;
    let columns: Vec<&Column> = groups(finished).into_iter().flatten().collect();
    rows(plan, finished, &columns).into_iter().map(|row| row.into_iter().map(Cell::into_text).collect()).collect()
}

/// The rows of the table, in one piece: groups of columns, their titles, then schemes; with `show` titles and schemes.
fn rows_of(results: &Results, show: &[String]) -> Result<Vec<Vec<Cell>>, Failure> {
    let Results { plan, finished, .. } = results;
    if !show.is_empty() {
        return shown::rows(plan, finished, show);
    }
    let columns: Vec<&Column> = groups(finished).into_iter().flatten().collect();
    Ok(rows(plan, finished, &columns))
}

/// The table for LaTeX with booktabs.
pub fn latex(results: &Results, show: &[String]) -> Result<String, Failure> {
    let headings = if show.is_empty() { 2 } else { 1 };
    Ok(table::latex(rows_of(results, show)?, headings))
}

/// The text below the table: the results of each of several workloads, and notes on the runs.
pub fn remarks(results: &Results) -> String {
    let Results { plan, finished, .. } = results;
    let of_each = crate::tenants::text(plan, finished, &[], table::PAGE).unwrap_or_default();
    let of_each = if of_each.is_empty() { of_each } else { format!("\n{of_each}") };
    of_each + &notes::notes(plan, finished)
}

/// The first lines: the requests, the workload, the drive and the warm-up.
fn heading(plan: &Plan, finished: &[Finished]) -> String {
    let first = &finished[0].outcome.report;
    let workload = workloads::shown_names(&plan.runs[0].resolved);
    let requests = format::counted(first.reads + first.writes + first.trims, "request");
    let title = plan.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let device = output::target_line(&plan.runs[0]);
    let warmup = output::warmup_text(first);
    let warmup = if warmup.is_empty() { warmup } else { format!("after a warm-up of {warmup}\n") };
    format!("{title}{requests} of {workload}, {device}\n{warmup}\n")
}

/// A column: its heading, and its content.
struct Column {
    group: &'static str,
    title: &'static str,
    content: Content,
}

/// The content of a column.
enum Content {
    /// A number. It is compared with that of the first scheme.
    Number(Number),
    /// A word.
    Word(fn(&Finished) -> &'static str),
}

/// The numbers of a column: a value, how it is printed, and why there is none.
struct Number {
    value: fn(&Finished) -> Option<f64>,
    print: fn(f64) -> String,
    none: fn(&Finished) -> &'static str,
    /// The text of a change if both values are 0, and neither run collected.
    without_gc: &'static str,
}

fn latency(class: &Latency, value: f64) -> Option<f64> {
    (class.count > 0).then_some(value)
}

/// The report of a run.
fn report(done: &Finished) -> &Report {
    &done.outcome.report
}

/// A response time of a class; none if its requests are too few for it.
fn percentile(class: &Latency, beyond_ppm: u64, value: fn(&Latency) -> u64) -> Option<f64> {
    latency(class, value(class) as f64).filter(|_| !format::are_too_few(class.count, beyond_ppm))
}

fn reads(done: &Finished, beyond_ppm: u64, value: fn(&Latency) -> u64) -> Option<f64> {
    percentile(&report(done).response.read, beyond_ppm, value)
}

fn writes(done: &Finished, beyond_ppm: u64, value: fn(&Latency) -> u64) -> Option<f64> {
    percentile(&report(done).response.write, beyond_ppm, value)
}

fn no_reads(done: &Finished) -> &'static str {
    if report(done).response.read.count == 0 { "no reads" } else { "-" }
}

fn no_writes(done: &Finished) -> &'static str {
    if report(done).response.write.count == 0 { "no writes" } else { "-" }
}

const READ: &[Column] = &[
    column("reads", "mean", |done| latency(&report(done).response.read, report(done).response.read.mean_ns), no_reads),
    column("", "p99", |done| reads(done, 10_000, |l| l.p99_ns), no_reads),
    column("", "p99.9", |done| reads(done, 1_000, |l| l.p99_9_ns), no_reads),
    column("", "p99.99", |done| reads(done, 100, |l| l.p99_99_ns), no_reads),
];

const WRITE: &[Column] = &[
    column(
        "writes",
        "mean",
        |done| latency(&report(done).response.write, report(done).response.write.mean_ns),
        no_writes,
    ),
    column("", "p99", |done| writes(done, 10_000, |l| l.p99_ns), no_writes),
    column("", "p99.9", |done| writes(done, 1_000, |l| l.p99_9_ns), no_writes),
    column("", "p99.99", |done| writes(done, 100, |l| l.p99_99_ns), no_writes),
];

/// For workloads of trims alone, which have no response times.
const TRIM: &[Column] = &[Column {
    group: "trims",
    title: "requests",
    content: Content::Number(Number {
        value: |done| Some(report(done).trims as f64),
        print: |v| format::count(v as u64),
        none: |_| "",
        without_gc: "same",
    }),
}];

const FLASH: &[Column] = &[
    Column {
        group: "flash",
        title: "WA",
        content: Content::Number(Number {
            value: |done| report(done).write_amplification.total,
            print: |v| format!("{v:.3}"),
            none: |_| "no writes",
            without_gc: "in buffer",
        }),
    },
    Column {
        group: "",
        title: "erases",
        content: Content::Number(Number {
            value: |done| Some(report(done).flash.block_erases as f64),
            print: |v| format::count(v as u64),
            none: |_| "",
            without_gc: "no GC",
        }),
    },
    Column { group: "", title: "steady", content: Content::Word(|done| steady::short(report(done).steady.verdict)) },
];

/// Columns for arrays: they show whether a gain comes from collecting less or from collecting together.
const ARRAY: &[Column] = &[
    Column {
        group: "array",
        title: "in GC",
        content: Content::Number(Number {
            value: |done| report(done).array.as_ref().map(|array| array.gc_share),
            print: format::percent,
            none: |_| "-",
            without_gc: "no GC",
        }),
    },
    Column {
        group: "",
        title: "rounds",
        content: Content::Number(Number {
            value: |done| report(done).array.as_ref()?.rounds.map(|rounds| rounds.rounds as f64),
            print: |v| format::count(v as u64),
            none: |_| "-",
            without_gc: "no GC",
        }),
    },
];

const fn column(
    group: &'static str,
    title: &'static str,
    value: fn(&Finished) -> Option<f64>,
    none: fn(&Finished) -> &'static str,
) -> Column {
    let content = Content::Number(Number { value, print: format::time, none, without_gc: "both 0" });
    Column { group, title, content }
}

/// Groups of columns that apply to these runs.
fn groups(finished: &[Finished]) -> Vec<&'static [Column]> {
    let trims_only = |done: &Finished| report(done).response.all.count == 0 && report(done).trims > 0;
    let mut groups = match finished.iter().all(trims_only) {
        true => vec![TRIM, FLASH],
        false => vec![READ, WRITE, FLASH],
    };
    groups.extend(
        finished.iter().any(|done| report(done).array.as_ref().is_some_and(|a| a.drives.len() > 1)).then_some(ARRAY),
    );
    groups
}

/// One table if the terminal is wide enough, otherwise as few as its width allows. No group of columns is cut.
fn tables(plan: &Plan, finished: &[Finished], terminal_columns: usize) -> String {
    let mut tables: Vec<Vec<&Column>> = Vec::new();
    for group in groups(finished) {
        let wider = tables.last().map(|columns| columns.iter().copied().chain(group).collect::<Vec<_>>());
        match wider.filter(|columns| table::width(&rows(plan, finished, columns)) <= terminal_columns) {
            Some(wider) => *tables.last_mut().expect("it was made wider") = wider,
            None => tables.push(group.iter().collect()),
        }
    }
    let lay_out = |columns: &Vec<&Column>| table::lay_out(&rows(plan, finished, columns));
    tables.iter().map(lay_out).collect::<Vec<_>>().join("\n")
}

/// Two lines of headings, and for each scheme a line of values and one of how they differ from the first scheme's.
fn rows(plan: &Plan, finished: &[Finished], columns: &[&Column]) -> Vec<Vec<Cell>> {
    let bold = |text: &str| Cell::styled(text, BOLD);
    let mut rows = vec![
        std::iter::once(Cell::default()).chain(columns.iter().map(|c| bold(c.group))).collect(),
        std::iter::once(bold("scheme")).chain(columns.iter().map(|c| bold(c.title))).collect::<Vec<_>>(),
    ];
    let first = &finished[0];
    for (at, (planned, done)) in plan.runs.iter().zip(finished).enumerate() {
        let value = |c: &&Column| Cell::new(c.content.text(done));
        rows.push(std::iter::once(bold(&planned.scheme)).chain(columns.iter().map(value)).collect());
        if at > 0 {
            let change = |c: &&Column| Cell::styled(c.content.change(done, first), DIM);
            rows.push(std::iter::once(Cell::default()).chain(columns.iter().map(change)).collect());
        }
    }
    rows
}

impl Content {
    /// The text of a run.
    fn text(&self, done: &Finished) -> String {
        match self {
            Self::Number(number) => (number.value)(done).map_or_else(|| (number.none)(done).to_owned(), number.print),
            Self::Word(word) => word(done).to_owned(),
        }
    }

    /// The change of a value from the first scheme's, or the reason why it has no meaning; empty for a word.
    fn change(&self, done: &Finished, first: &Finished) -> String {
        let Self::Number(number) = self else { return String::new() };
        match ((number.value)(done), (number.value)(first)) {
            (None, _) => "-".into(),
            (Some(_), None) if (number.none)(first) == "-" => "-".into(),
            (Some(_), None) => "first: none".into(),
            (Some(value), Some(from)) if from == 0.0 && value == 0.0 => {
                if report(done).gc.collections == 0 && report(first).gc.collections == 0 {
                    number.without_gc.into()
                } else {
                    "both 0".into()
                }
            }
            (Some(_), Some(0.0)) => "first is 0".into(),
            (Some(value), Some(from)) => format::change(value, from),
        }
    }
}

/// Greatest width of a command, in characters, to which the explanations behind commands are aligned.
const COMMAND_COLUMNS: usize = 80;

/// Commands to try next. They keep the chosen drive and workload.
fn next_steps(plan: &Plan, experiment: &Experiment) -> String {
    if !experiment.policies.is_empty() || experiment.trace.as_deref().is_some_and(passed_traces::is_passed) {
        // A command line cannot have the policies or the requests of the calling program.
        return String::new();
    }
    let (chosen, limits) = (chosen(experiment), limits(experiment));
    let is_default = chosen.is_empty();
    let has = |scheme: &str| plan.runs.iter().any(|planned| planned.scheme == scheme);
    let mut steps = Vec::new();
    let is_array = plan.runs.iter().any(|planned| planned.members.len() > 1);
    if is_array && !has(SCHEMES_OF_ARRAYS[1]) {
        let command = format!("compare{chosen}{limits} --schemes {}", SCHEMES_OF_ARRAYS.join(","));
        steps.push((command, "drives that coordinate their collections"));
    } else if !is_array && !has("pgc") {
        let merges = plan.runs.iter().any(|planned| planned.resolved.run.mapping.log_blocks().is_some());
        let schemes = if merges { SCHEMES_THAT_MERGE } else { DEFAULT_SCHEMES };
        let command = format!("compare{chosen}{limits} --schemes {}", schemes.join(","));
        steps.push((command, "more schemes"));
    }
    if is_default {
        steps.push((format!("compare{limits} --set capacity.over_provisioning=0.15"), "less spare flash"));
        let own = format!("compare{limits} --trace FILE --set workload.layout=compact");
        steps.push((own, "your trace, its addresses packed"));
    }
    if let Some(first) = plan.runs.first() {
        let own =
            experiment.settings.iter().filter(|set| plan::set_of_scheme(set).is_some_and(|(of, _)| of == first.scheme));
        let own: String = own.map(|set| argument("--set", Some(set))).collect();
        let scheme = argument("--scheme", Some(&first.word));
        steps.push((format!("run{chosen}{own}{limits}{scheme}"), "one scheme in depth"));
    }
    steps.push(("schemes".into(), "what to choose from"));
    // A long command does not move the explanations of the others out of sight.
    let widths = steps.iter().map(|(command, _)| command.chars().count());
    let width = widths.filter(|width| *width <= COMMAND_COLUMNS).max().unwrap_or(0);
    let lines = steps
        .iter()
        .map(|(command, why)| format!("  copyback {command:<width$}  {}# {why}{}\n", DIM.render(), DIM.render_reset()));
    format!("\nTry next:\n{}", lines.collect::<String>())
}

/// The arguments that chose the drive and the workload.
fn chosen(experiment: &Experiment) -> String {
    let path = |path: &std::path::PathBuf| path.display().to_string();
    let mut text = argument("", experiment.file.as_ref().map(path));
    text += &argument("--device", experiment.device.as_ref());
    text += &argument("--array", experiment.array.as_ref());
    text += &argument("--workload", experiment.workload.as_ref());
    text += &argument("--trace", experiment.trace.as_ref().map(path));
    text += &argument("--fio", experiment.fio.as_ref().map(path));
    text += &argument("--fio-args", experiment.fio_args.as_ref());
    text += &argument("--format", experiment.format.as_ref());
    text += &argument("--columns", (!experiment.columns.is_empty()).then(|| experiment.columns.join(",")));
    text += &argument("--skip-bad", experiment.skip_bad);
    text += &argument("--fit", experiment.fit);
    // A setting of one scheme belongs to commands with that scheme.
    let of_all = experiment.settings.iter().filter(|set| plan::set_of_scheme(set).is_none());
    of_all.for_each(|set| text += &argument("--set", Some(set)));
    if let Some(mode) = experiment.mode {
        text += &format!(" {}", plan::option_of_mode(mode));
    }
    text + &argument("--warmup", experiment.warmup)
}

/// The arguments for the seed and the number of requests, which fit every drive and workload.
fn limits(experiment: &Experiment) -> String {
    argument("--seed", experiment.seed) + &argument("--requests", experiment.requests)
}

/// An argument as a shell takes it; empty if it was not given.
fn argument(flag: &str, value: Option<impl ToString>) -> String {
    let Some(value) = value.map(|value| format::quoted(&value.to_string())) else { return String::new() };
    if flag.is_empty() { format!(" {value}") } else { format!(" {flag} {value}") }
}
