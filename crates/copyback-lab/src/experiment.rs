//! Experiments: planned, executed, and their results.

use crate::execute::{How, execute};
use crate::failure::Failure;
pub use crate::plan::Experiment;
use crate::plan::{DEFAULT_SCHEMES, Plan, plan};
use crate::results::{Asked, Results};

impl Experiment {
    /// The plan of one run: presets and files found, settings applied, and everything checked. Nothing is simulated.
    /// Without a scheme it is `baseline`.
    ///
    /// # Errors
    /// Where something that was chosen is wrong, or does not fit together, or where several schemes are named.
    pub fn plan_of_one(&self) -> Result<Plan, Failure> {
        let plan = plan(self, &["baseline"])?;
        if plan.runs.len() != 1 {
            let names: Vec<&str> = plan.runs.iter().map(|planned| planned.scheme.as_str()).collect();
            return Err(Failure::input(format!("the experiment names {} schemes: {}", names.len(), names.join(", ")))
                .with_help("`copyback compare` runs several; `--scheme NAME` chooses one"));
        }
        Ok(plan)
    }

    /// The same of several schemes; without any, five of them.
    ///
    /// # Errors
    /// Where something that was chosen is wrong, or does not fit together.
    pub fn plan_of_several(&self) -> Result<Plan, Failure> {
        plan(self, DEFAULT_SCHEMES)
    }

    /// Simulates one scheme.
    ///
    /// # Errors
    /// Those of [`Self::plan_of_one`], and where the run fails.
    pub fn run(&self) -> Result<Results, Failure> {
        Results::of("run", self.plan_of_one()?, &How::default(), Asked::default())
    }

    /// Simulates several schemes on the same requests, from the same drive.
    ///
    /// # Errors
    /// Those of [`Self::plan_of_several`], and where a run fails.
    pub fn compare(&self) -> Result<Results, Failure> {
        Results::of("compare", self.plan_of_several()?, &How::default(), Asked::default())
    }
}

impl Results {
    /// Executes a plan. `command`: `run` or `compare`; `asked`: what `how` keeps for tables.
    ///
    /// # Errors
    /// Where a run fails.
    pub fn of(command: &'static str, plan: Plan, how: &How, asked: Asked) -> Result<Self, Failure> {
        let finished = execute(&plan, how)?;
        Ok(Self { command, plan, finished, asked })
    }
}
