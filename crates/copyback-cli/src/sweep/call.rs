//! Calls of `sweep`: the grid, how its cells are executed, and which outputs are written.

use crate::args::{CellArgs, ObjectiveArgs, SweepArgs};
use crate::execute::{self, ExecutionOptions};
use crate::progress::ProgressSink;
use copyback_lab::Sweep;
use copyback_lab::sweep::grid::Overrides;
use copyback_lab::sweep::objective::ObjectiveText;
use std::path::PathBuf;

/// A call of `sweep`.
#[derive(Clone, Debug, Default)]
pub struct SweepCall {
    /// The grid.
    pub sweep: Sweep,
    /// Conditions and objectives on the table.
    pub objective: ObjectiveText,
    /// The Parquet table to write; by default the sweep file's name in the working folder.
    pub out: Option<PathBuf>,
    /// The file of the printed table, for LaTeX with booktabs.
    pub latex: Option<PathBuf>,
    /// Ignore earlier results.
    pub fresh: bool,
    /// Cells to run in parallel, from 1 on; one for each core without it.
    pub jobs: Option<u32>,
    /// Receives progress updates.
    pub sink: ProgressSink,
}

impl SweepArgs {
    /// The call that the arguments describe.
    pub fn into_call(self) -> SweepCall {
        let ObjectiveArgs { conditions, min, max, show } = self.objective;
        let CellArgs { sets: settings, fit, seed, warmup, traces, fresh, jobs, progress } = self.cells;
        let (file, schemes, requests, policies) = (self.file, self.schemes, self.requests, Vec::new());
        SweepCall {
            sweep: Sweep { file, schemes, settings, policies, fit, seed, requests, warmup, traces },
            objective: ObjectiveText { conditions, min, max, show },
            out: self.out,
            latex: self.latex,
            fresh,
            jobs,
            sink: progress.sink(),
        }
    }
}

impl CellArgs {
    /// The settings that the arguments replace in every cell.
    pub fn overrides(&self) -> Overrides {
        let (traces, sets) = (self.traces.clone(), self.sets.clone());
        let sink = self.progress.sink();
        Overrides { traces, sets, fit: self.fit, seed: self.seed, warmup: self.warmup, sink, ..Overrides::default() }
    }

    /// The options with which the cells are executed.
    pub fn execution_options(&self) -> ExecutionOptions {
        let jobs = self.jobs.map_or_else(execute::cores, |jobs| jobs as usize);
        ExecutionOptions { jobs, sink: self.progress.sink(), ..ExecutionOptions::default() }
    }
}
