//! The commands as functions for a calling program: same arguments, same results, nothing printed.

use crate::args::{Cli, Command, DeviceCommand, TraceCommand};
pub use crate::call::RunCall;
pub use crate::columns::Column;
pub use crate::failure::Failure;
pub use crate::package::Package;
use crate::progress::ProgressSink;
pub use crate::progress::{Track, Watch};
pub use crate::reproduced::{Reproduced, Tables};
pub use crate::results::KeptTables;
use crate::results::{ResultCommand, Results};
pub use crate::sweep::SweepCall;
use crate::tables::TABLES;
use crate::{compare, diagnostics, from_mqsim, listing, report, reproduce, run, sweep, trace, validate};
use clap::{CommandFactory, Parser};
pub use copyback_lab::sweep::remote_cells::{Cluster, OnAnswer, cell};
pub use copyback_lab::{Experiment, SuppliedPolicy, Sweep};
use copyback_report::drawings::Drawings;
pub use copyback_workload::passed_traces::PassedTrace;
use copyback_workload::printable::printable_lines;
use copyback_workload::temporary::Temporary;
use std::fs::File;
use std::sync::Arc;

/// The result of a command.
pub enum Done {
    /// `run`, `compare`.
    Runs(Box<Runs>),
    /// `sweep`: what the program prints, the table, and that of response times.
    Sweep {
        /// The printed text.
        text: String,
        /// The table that it prints, for LaTeX with booktabs.
        latex: String,
        /// The columns of the table.
        table: Vec<Column>,
        /// Those of the table of response times.
        latencies: Vec<Column>,
    },
    /// `reproduce`.
    Reproduced(Box<Reproduced>),
    /// `validate` and `trace info`.
    Document {
        /// The JSON document.
        json: String,
        /// The printed text.
        text: String,
        /// Why the program's exit code would not be 0.
        verdict: Option<Failure>,
    },
    /// A command that returns no more than what it prints.
    Text(String),
}

/// Runs that are done.
pub struct Runs {
    results: Results,
    call: RunCall,
}

impl Runs {
    /// `run` or `compare`.
    pub fn command(&self) -> &'static str {
        self.results.command.name()
    }

    /// The JSON document.
    pub fn json(&self) -> Result<String, Failure> {
        self.results.json()
    }

    /// The text that the program prints, `columns` characters wide.
    pub fn text(&self, columns: usize) -> Result<String, Failure> {
        match self.results.command {
            ResultCommand::Run => run::text(&self.results, &self.call.show, columns),
            ResultCommand::Compare => compare::text(&self.results, &self.call, columns),
        }
    }

    /// The table of `compare`, cell by cell: group titles, column titles, then each scheme's values; from the second
    /// scheme on, also a row of changes from the first.
    pub fn table_rows(&self) -> Vec<Vec<String>> {
        compare::table_rows(&self.results)
    }

    /// The table that the command prints, for LaTeX with booktabs.
    pub fn latex(&self) -> Result<String, Failure> {
        let latex = match self.results.command {
            ResultCommand::Run => run::latex,
            ResultCommand::Compare => compare::latex,
        };
        latex(&self.results, &self.call.show)
    }

    /// The text below the table: the results of each of several workloads, then the notes on the runs, one per line.
    pub fn remarks(&self) -> String {
        compare::remarks(&self.results)
    }

    /// The schemes, in the order of the results.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.results.plan.runs.iter().map(|planned| planned.scheme.as_str())
    }

    /// Names of the tables that there are.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        let Results { plan, tables, .. } = &self.results;
        TABLES.iter().filter(|table| table.is_of(plan, *tables)).map(|table| table.name)
    }

    /// The columns of a table; `None` if there is no table of this name.
    pub fn table(&self, name: &str) -> Result<Option<Vec<Column>>, Failure> {
        let Results { plan, tables, .. } = &self.results;
        let table = TABLES.iter().find(|table| table.name == name && table.is_of(plan, *tables));
        table.map(|table| table.columns(&self.results)).transpose()
    }
}

/// Simulates one scheme, and writes the requested files.
///
/// # Errors
/// Those of [`Experiment::run`], and of files that cannot be written.
pub fn run(call: RunCall, drawings: &Drawings) -> Result<Runs, Failure> {
    run_quietly(|| {
        drawings.check()?;
        Ok(Runs { results: run::ran(&call, drawings)?.results, call })
    })
}

/// Simulates several schemes, and writes the requested files.
///
/// # Errors
/// Those of [`Experiment::compare`], and of files that cannot be written.
pub fn compare(call: RunCall) -> Result<Runs, Failure> {
    run_quietly(|| Ok(Runs { results: compare::compared(&call)?.results, call }))
}

/// The configuration of a run with its defaults filled in, as TOML.
///
/// # Errors
/// Those of [`Experiment::plan_of_one`].
pub fn config(call: &RunCall) -> Result<String, Failure> {
    run_quietly(|| run::config_text(call))
}

/// Runs the cells of a sweep, and writes its tables. A `cluster` runs the cells instead of this process.
///
/// # Errors
/// Those of [`Sweep::plan`], of the first cell that failed, and of files that cannot be written.
pub fn sweep(call: &SweepCall, cluster: Option<Arc<dyn Cluster>>) -> Result<Done, Failure> {
    run_quietly(|| swept(call, cluster))
}

fn swept(call: &SweepCall, cluster: Option<Arc<dyn Cluster>>) -> Result<Done, Failure> {
    let mut swept = sweep::swept(call, cluster)?;
    let text = plain(&std::mem::take(&mut swept.text));
    let latex = std::mem::take(&mut swept.latex);
    let (table, latencies) = swept.columns();
    Ok(Done::Sweep { text, latex, table, latencies })
}

/// Does some work. A broken invariant becomes an error, and prints no panic on standard error.
fn run_quietly<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    crate::execute::quiet_broken_invariants();
    work().map_err(diagnostics::with_command)
}

/// Executes a command line; `words` are all words after the program's name. Colours are left out; nothing is printed,
/// except to a file `-`.
///
/// # Errors
/// Those of the program; after `watch` was stopped, any error.
pub fn call(words: &[String], watch: &Arc<Watch>) -> Result<Done, Failure> {
    run_quietly(|| called(words, watch))
}

fn called(words: &[String], watch: &Arc<Watch>) -> Result<Done, Failure> {
    let words = std::iter::once("copyback").chain(words.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|wrong| refused(&wrong))?;
    let sink = ProgressSink::Program(watch.clone());
    let watch = Some(watch.clone());
    let done = match cli.command {
        Command::Run(args) if args.print_config => Done::Text(run::config_text(&args.into_call().0)?),
        Command::Run(args) => {
            let (call, drawings) = args.into_call();
            let call = RunCall { sink, ..call };
            Done::Runs(Box::new(Runs { results: run::ran(&call, &drawings)?.results, call }))
        }
        Command::Compare(args) => {
            let call = RunCall { sink, ..args.common.into_call(args.schemes) };
            Done::Runs(Box::new(Runs { results: compare::compared(&call)?.results, call }))
        }
        Command::Sweep(args) if args.list => Done::Text(sweep::listed(&SweepCall { sink, ..args.into_call() })?),
        Command::Sweep(args) => {
            let call = SweepCall { sink, ..args.into_call() };
            swept(&call, None)?
        }
        Command::Reproduce(mut args) => {
            args.cells.progress.watch = watch;
            let mut reproduced = reproduce::reproduced(&args, None)?;
            reproduced.text = plain(&reproduced.text);
            Done::Reproduced(Box::new(reproduced))
        }
        Command::Validate(mut args) => {
            args.progress.watch = watch;
            let validated = validate::validated(&args)?;
            Done::Document { json: validated.json, text: validated.text, verdict: validated.verdict.err() }
        }
        Command::Report(args) => Done::Text(report::reported(args)?.text),
        Command::Trace(TraceCommand::Info(args)) => {
            let info = trace::info(&args)?;
            Done::Document { json: info.json, text: info.text, verdict: None }
        }
        Command::Trace(TraceCommand::Convert(args)) => Done::Text(trace::converted(&args)?),
        Command::Schemes { pages: Some(folder), .. } => {
            copyback_report::scheme_pages::write_all(&folder)?;
            Done::Text(String::new())
        }
        Command::Schemes { name, .. } => Done::Text(listing::schemes_text(name.as_deref())?),
        Command::Devices { name } => Done::Text(listing::devices_text(name.as_deref())?),
        Command::Device(DeviceCommand::FromMqsim { file }) => Done::Text(from_mqsim::text(&file)?),
        Command::Workloads { name } => Done::Text(listing::workloads_text(name.as_deref())?),
    };
    Ok(match done {
        Done::Document { json, text, verdict } => Done::Document { json, text: plain(&text), verdict },
        Done::Text(text) => Done::Text(plain(&text)),
        done => done,
    })
}

/// The program's commands and options, with their help: the description from which the functions of the Python package
/// are made.
pub fn command_line() -> clap::Command {
    Cli::command()
}

/// A text without what only a terminal understands.
pub fn plain(text: &str) -> String {
    printable_lines(&anstream::adapter::strip_str(text).to_string()).into_owned()
}

/// The error of a wrong command line.
fn refused(wrong: &clap::Error) -> Failure {
    let text = wrong.to_string();
    let text = text.trim().strip_prefix("error: ").unwrap_or(text.trim());
    // A failure is one line.
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.split_once("\n\n") {
        Some((message, help)) => Failure::input(joined(message)).with_help(joined(help)),
        None => Failure::input(joined(text)),
    }
}

/// Keeps a trace that `write` writes into a file. While the returned value exists, `workload.trace` may name it.
///
/// # Errors
/// If the file cannot be made, or `write` fails.
pub fn pass_requests(write: impl FnOnce(&mut File) -> Result<(), Failure>) -> Result<PassedTrace, Failure> {
    let folder = std::env::temp_dir();
    let mut file = Temporary::private_in(&folder, ("copyback-requests-", ""))
        .map_err(|error| Failure::of_disk(&folder, &error))?;
    write(file.as_file_mut())?;
    let hash = crate::files::hash_file(file.path())?;
    let digits = hash.rsplit(':').next().unwrap_or(&hash);
    Ok(PassedTrace::new(&digits[..16], file))
}

/// A table of texts for LaTeX with booktabs. The first `headings` rows are headings.
pub fn latex_table(rows: &[Vec<String>], headings: usize) -> String {
    copyback_report::latex::table(rows, headings)
}

/// Lists of choices: names, with a line of description each.
pub fn listed(what: Listed) -> Vec<(&'static str, String)> {
    match what {
        Listed::Schemes => listing::described(copyback::config::presets::SCHEMES),
        Listed::Devices => listing::described(copyback::config::presets::DEVICES),
        Listed::Workloads => listing::described_workloads(),
    }
}

/// The kinds of names that can be listed.
#[derive(Clone, Copy, Debug)]
pub enum Listed {
    /// Schemes.
    Schemes,
    /// Devices.
    Devices,
    /// Workloads.
    Workloads,
}
