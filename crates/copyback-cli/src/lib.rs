//! The program `copyback` as a library: its commands.

pub mod api;
mod args;
mod bars;
mod call;
mod cleanup_on_signal;
mod compare;
mod diagnostics;
mod files;
mod from_mqsim;
mod listing;
mod out_dir;
mod output;
mod package;
mod report;
mod reproduce;
mod reproduced;
mod run;
mod sweep;
mod table;
mod tenants;
mod trace;
mod validate;

use args::{Cli, Command, DeviceCommand};
use clap::Parser;
use clap::error::{ContextKind, ErrorKind};
use copyback_lab::{
    columns, execute, failure, flat, format, matched, notes, plan, progress, requests, results, steady, tables,
    workloads,
};
use copyback_workload::printable::{is_unprintable, printable, printable_lines};
use failure::Failure;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// Executes a command line; `words` are all words after the program's name. Returns the exit code. A `package` does the
/// work that needs Python libraries.
pub fn main_of(words: impl IntoIterator<Item = OsString>, package: Option<&dyn api::Package>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let cli = match Cli::try_parse_from(std::iter::once(OsString::from("copyback")).chain(words.iter().cloned())) {
        Ok(cli) => cli,
        Err(said) if names_several_traces(&said, &words) => return diagnostics::report(workloads::several_traces()),
        // Help that cannot be printed is no success.
        Err(said) => return if print_clap_message(&said, &words).is_ok() { said.exit_code() as u8 } else { 1 },
    };
    cleanup_on_signal::watch();
    execute::quiet_broken_invariants();
    let done = match cli.command {
        Command::Run(args) => run::run(*args),
        Command::Compare(args) => compare::compare(args),
        Command::Reproduce(args) => reproduce::reproduce(&args, package),
        Command::Sweep(args) => sweep::sweep(args, |address| cluster(address, package)),
        Command::Validate(args) => validate::validate(&args),
        Command::Report(args) => report::report(args),
        Command::Trace(command) => trace::trace(&command),
        Command::Schemes { pages: Some(folder), .. } => copyback_report::scheme_pages::write_all(&folder),
        Command::Schemes { name, .. } => listing::schemes(name.as_deref()),
        Command::Devices { name } => listing::devices(name.as_deref()),
        Command::Device(DeviceCommand::FromMqsim { file }) => from_mqsim::print(&file),
        Command::Workloads { name } => listing::workloads(name.as_deref()),
    };
    copyback_workload::standard_input::forget();
    // After a signal, the program dies of the signal, and reports no error that the removal of its files caused.
    copyback_workload::temporary::wait_for_interruption();
    match done {
        Ok(()) => 0,
        Err(failure) => diagnostics::report(failure),
    }
}

/// Whether what clap refuses is a second trace: `--trace A --trace B`, `--trace A B C`, `trace info A B`.
fn names_several_traces(said: &clap::Error, words: &[OsString]) -> bool {
    let is_trace = |word: &str| {
        let name = word.split([' ', '=']).next().unwrap_or_default();
        ["--trace", "-t"].contains(&name)
    };
    let named = said.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let has_trace = words.iter().filter_map(|word| word.to_str()).any(is_trace);
    let is_of_trace_command = words.first().is_some_and(|word| word == "trace");
    match said.kind() {
        ErrorKind::ArgumentConflict => {
            is_trace(&named) && said.get(ContextKind::PriorArg).is_none_or(|prior| prior.to_string() == named)
        }
        // A file that no argument takes.
        ErrorKind::UnknownArgument => (has_trace || is_of_trace_command) && Path::new(&named).is_file(),
        _ => false,
    }
}

/// Prints clap's message on a command line: help, or an error. Escapes unprintable characters of the words it quotes.
fn print_clap_message(said: &clap::Error, words: &[OsString]) -> std::io::Result<()> {
    let mut text = said.render().ansi().to_string();
    for word in words.iter().map(|word| word.to_string_lossy()).filter(|word| word.contains(is_unprintable)) {
        let value = word.split_once('=').map_or("", |(_, value)| value);
        for part in [&word, value, word.trim_start_matches('-')].into_iter().filter(|part| !part.is_empty()) {
            text = text.replace(part, &printable(part));
        }
    }
    let text = printable_lines(&text);
    match said.use_stderr() {
        true => std::io::Write::write_all(&mut anstream::stderr(), text.as_bytes()),
        false => std::io::Write::write_all(&mut anstream::stdout(), text.as_bytes()),
    }
}

/// The processes behind a scheduler, which run the cells of a sweep.
fn cluster(address: &str, package: Option<&dyn api::Package>) -> Result<Arc<dyn api::Cluster>, Failure> {
    let package = package.ok_or_else(|| {
        let message = format!("--dask {address}: only the program of the Python package can reach Dask");
        Failure::input(message).with_help("pip install '.[dask]', then the same command")
    })?;
    package.cluster(address)
}
