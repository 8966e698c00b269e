//! Calls of `run` and `compare`: the experiment, how its runs are executed, and what is written of them.

use crate::args::{Common, MicroscopeArgs, PerfettoArgs, RunArgs, TimelineArgs};
use crate::failure::Failure;
use crate::plan::Experiment;
use crate::progress::ProgressSink;
use crate::results::KeptTables;
use copyback::host::config::HostMode;
use std::path::PathBuf;

/// A call of `run` or `compare`. Files named `-` go to standard output.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The experiment.
    pub experiment: Experiment,
    /// The file of the JSON document.
    pub json: Option<PathBuf>,
    /// The file of the printed table, for LaTeX with booktabs.
    pub latex: Option<PathBuf>,
    /// The folder of Parquet tables, the JSON document and the configuration.
    pub out: Option<PathBuf>,
    /// Numbers to show, by name; the usual ones if it is empty.
    pub show: Vec<String>,
    /// Tables to keep in addition to those of all runs.
    pub tables: KeptTables,
    /// Check every invariant during the runs.
    pub check: bool,
    /// Runs to execute in parallel, from 1 on; one for each core without it.
    pub jobs: Option<u32>,
    /// Receives progress updates.
    pub sink: ProgressSink,
}

/// Drawings and other documents of one run.
#[derive(Clone, Debug, Default)]
pub struct Drawings {
    /// The work of dies over time.
    pub timeline: TimelineArgs,
    /// The trace for Perfetto.
    pub perfetto: PerfettoArgs,
    /// The collections of an array over time.
    pub microscope: MicroscopeArgs,
    /// The file of a JSON document in fio's layout.
    pub fio_json: Option<PathBuf>,
}

impl Drawings {
    /// Refuses a time window of a drawing that is not requested, and two windows of one drawing.
    ///
    /// # Errors
    /// The option that is wrong.
    pub fn check(&self) -> Result<(), Failure> {
        let Self { timeline, perfetto, .. } = self;
        let drawings = [
            (
                "timeline",
                timeline.timeline.is_some(),
                timeline.timeline_around.is_some(),
                [("timeline_from", timeline.timeline_from.is_some()), ("timeline_to", timeline.timeline_to.is_some())],
            ),
            (
                "perfetto",
                perfetto.perfetto.is_some(),
                perfetto.perfetto_around.is_some(),
                [
                    ("perfetto_from", perfetto.perfetto_from.is_some()),
                    ("perfetto_for", perfetto.perfetto_for.is_some()),
                ],
            ),
        ];
        if !timeline.timeline_die.is_empty() && timeline.timeline.is_none() {
            return Err(Failure::input("`timeline_die` chooses dies of `timeline`, which is not set")
                .with_help("name the file of the drawing: `timeline`"));
        }
        for (name, is_drawn, is_around, window) in drawings {
            let around = format!("{name}_around");
            let named = window.iter().find(|(_, is_set)| *is_set).map(|(option, _)| *option);
            if let Some(option) = named.or(is_around.then_some(&*around)).filter(|_| !is_drawn) {
                return Err(Failure::input(format!("`{option}` is a time window of `{name}`, which is not set"))
                    .with_help(format!("name the file of the drawing: `{name}`")));
            }
            if let Some(option) = named.filter(|_| is_around) {
                return Err(Failure::input(format!("`{around}` and `{option}` exclude each other"))
                    .with_help("leave one of them out"));
            }
        }
        Ok(())
    }
}

impl RunArgs {
    /// The call that the arguments describe.
    pub fn into_request(self) -> (Request, Drawings) {
        let Self { scheme, timeline, perfetto, microscope, fio_json, common, print_config: _ } = self;
        let drawings = Drawings { timeline, perfetto, microscope, fio_json };
        (common.into_request(scheme.into_iter().collect()), drawings)
    }
}

impl Common {
    /// The call that the arguments describe, with these schemes.
    pub fn into_request(self, schemes: Vec<String>) -> Request {
        let closed = self.closed.then_some(HostMode::Closed);
        let experiment = Experiment {
            file: self.experiment,
            device: self.device,
            array: self.array,
            schemes,
            workload: self.workload,
            trace: self.trace,
            fio: self.fio,
            fio_args: self.fio_args,
            format: self.format,
            columns: self.columns,
            skip_bad: self.skip_bad,
            fit: self.fit,
            settings: self.sets,
            mode: self.open.then_some(HostMode::Open).or(closed),
            policies: Vec::new(),
            seed: self.seed,
            requests: self.requests,
            warmup: self.warmup,
        };
        let tables = KeptTables { requests: self.out_requests, commands: self.out_commands, ..KeptTables::default() };
        Request {
            experiment,
            json: self.json,
            latex: self.latex,
            out: self.out,
            show: self.show,
            tables,
            check: self.check,
            jobs: self.jobs,
            sink: self.progress.sink(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Slowest;

    #[test]
    fn a_window_needs_its_drawing_and_excludes_another() {
        let message = |drawings: &Drawings| drawings.check().err().map(|failure| failure.message().to_owned());
        let mut drawings = Drawings::default();
        assert_eq!(message(&drawings), None);
        drawings.perfetto.perfetto_from = Some(1);
        let says = "`perfetto_from` is a time window of `perfetto`, which is not set";
        assert_eq!(message(&drawings).as_deref(), Some(says));
        drawings.perfetto.perfetto = Some("p".into());
        assert_eq!(message(&drawings), None);
        drawings.perfetto.perfetto_around = Some(Slowest::WorstRead);
        let says = "`perfetto_around` and `perfetto_from` exclude each other";
        assert_eq!(message(&drawings).as_deref(), Some(says));
        let timeline = TimelineArgs { timeline_around: Some(Slowest::WorstWrite), ..TimelineArgs::default() };
        let says = "`timeline_around` is a time window of `timeline`, which is not set";
        assert_eq!(message(&Drawings { timeline, ..Drawings::default() }).as_deref(), Some(says));
    }
}
