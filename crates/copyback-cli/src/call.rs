//! Calls of `run` and `compare`: the experiment, how its runs are executed, and which outputs are written.

use crate::args::{Common, RunArgs};
use crate::plan::Experiment;
use crate::progress::ProgressSink;
use crate::results::KeptTables;
use copyback::host::config::HostMode;
use copyback_report::drawings::{Drawings, MicroscopeOptions, PerfettoOptions, Slowest, TimelineOptions};
use std::path::PathBuf;

/// A call of `run` or `compare`. Files named `-` go to standard output.
#[derive(Clone, Debug, Default)]
pub struct RunCall {
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
    /// Tables to keep in addition to those that every run keeps.
    pub tables: KeptTables,
    /// Check every invariant during the runs.
    pub check: bool,
    /// Runs to execute in parallel, from 1 on; one for each core without it.
    pub jobs: Option<u32>,
    /// Receives progress updates.
    pub sink: ProgressSink,
}

impl RunArgs {
    /// The call that the arguments describe.
    pub fn into_call(self) -> (RunCall, Drawings) {
        let Self { scheme, timeline, perfetto, microscope, fio_json, common, print_config: _ } = self;
        let drawings = Drawings {
            timeline: TimelineOptions {
                path: timeline.timeline,
                from_ns: timeline.timeline_from,
                to_ns: timeline.timeline_to,
                around: timeline.timeline_around.map(Slowest::from),
                dies: timeline.timeline_die,
            },
            perfetto: PerfettoOptions {
                path: perfetto.perfetto,
                from_ns: perfetto.perfetto_from,
                for_ns: perfetto.perfetto_for,
                around: perfetto.perfetto_around.map(Slowest::from),
            },
            microscope: MicroscopeOptions {
                path: microscope.microscope,
                from_ns: microscope.microscope_from,
                for_ns: microscope.microscope_for,
                drives: microscope.microscope_drives,
            },
            fio_json,
        };
        (common.into_call(scheme.into_iter().collect()), drawings)
    }
}

impl Common {
    /// The call that the arguments describe, with these schemes.
    pub fn into_call(self, schemes: Vec<String>) -> RunCall {
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
        RunCall {
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
