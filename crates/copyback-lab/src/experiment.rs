//! Experiments: planned, executed, and their results.

use crate::execute::{ExecutionOptions, execute};
use crate::failure::Failure;
pub use crate::plan::Experiment;
use crate::plan::{DEFAULT_SCHEMES, Plan, plan};
use crate::results::{KeptTables, ResultCommand, Results};

impl Experiment {
    /// The plan of one run: presets and files found, settings applied, and everything checked. Nothing is simulated.
    /// Without a scheme it is `baseline`.
    ///
    /// # Errors
    /// If a choice is wrong, choices do not fit together, or several schemes are named.
    pub fn plan_of_one(&self) -> Result<Plan, Failure> {
        let plan = plan(self, &["baseline"])?;
        if plan.runs.len() != 1 {
            let names: Vec<&str> = plan.runs.iter().map(|planned| planned.scheme.as_str()).collect();
            return Err(Failure::input(format!("the experiment names {} schemes: {}", names.len(), names.join(", ")))
                .with_help("`copyback compare` runs several; `--scheme NAME` chooses one"));
        }
        Ok(plan)
    }

    /// The plan of several schemes; of five default schemes if none is named.
    ///
    /// # Errors
    /// If a choice is wrong, or choices do not fit together.
    pub fn plan_of_several(&self) -> Result<Plan, Failure> {
        plan(self, DEFAULT_SCHEMES)
    }

    /// Simulates one scheme.
    ///
    /// # Errors
    /// Those of [`Self::plan_of_one`]; or if the run fails.
    pub fn run(&self) -> Result<Results, Failure> {
        Results::of(ResultCommand::Run, self.plan_of_one()?, &ExecutionOptions::default(), KeptTables::default())
    }

    /// Simulates several schemes on the same requests, from the same drive.
    ///
    /// # Errors
    /// Those of [`Self::plan_of_several`]; or if a run fails.
    pub fn compare(&self) -> Result<Results, Failure> {
        Results::of(
            ResultCommand::Compare,
            self.plan_of_several()?,
            &ExecutionOptions::default(),
            KeptTables::default(),
        )
    }
}

impl Results {
    /// Executes the plan of a command. `tables`: the tables that `options` keeps.
    ///
    /// # Errors
    /// If a run fails.
    pub fn of(
        command: ResultCommand,
        plan: Plan,
        options: &ExecutionOptions,
        tables: KeptTables,
    ) -> Result<Self, Failure> {
        let finished = execute(&plan, options)?;
        Ok(Self { command, plan, finished, tables })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::{PolicyMaker, SuppliedPolicy};
    use copyback::ftl::blocks::Blocks;
    use copyback::ftl::victim::plugin::Plugin;
    use copyback::ftl::victim::{VictimPolicy, VictimView, fifo, greedy};
    use copyback::sim::index::{BlockId, PlaneId};
    use std::sync::Arc;

    /// A built-in policy as the calling program's own.
    #[derive(Clone)]
    struct Own<P>(P);

    impl<P: VictimPolicy> VictimPolicy for Own<P> {
        fn on_close(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
            self.0.on_close(blocks, plane, block);
        }
        fn on_invalidate(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
            self.0.on_invalidate(blocks, plane, block);
        }
        fn on_take(&mut self, blocks: &Blocks, plane: PlaneId, block: BlockId) {
            self.0.on_take(blocks, plane, block);
        }
        fn pick(&mut self, view: VictimView<'_>) -> Option<BlockId> {
            self.0.pick(view)
        }
    }

    impl<P: VictimPolicy + Clone + Send + Sync + 'static> Plugin for Own<P> {
        fn copied(&self) -> Box<dyn Plugin> {
            Box::new(self.clone())
        }
    }

    /// Schemes on a workload that collects, with supplied policies and settings.
    fn experiment(schemes: &[&str], policies: Vec<SuppliedPolicy>, settings: &[&str]) -> Experiment {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let (schemes, settings) = (owned(schemes), owned(settings));
        let workload = Some("mixed-70-30".to_owned());
        Experiment { schemes, workload, requests: Some(300), policies, settings, ..Experiment::default() }
    }

    fn reports(experiment: &Experiment) -> Vec<String> {
        let results = experiment.compare().expect("it runs");
        results.schemes().map(|result| serde_json::to_string(result.report).expect("a report is JSON")).collect()
    }

    #[test]
    fn a_supplied_policy_decides_as_the_built_in_one_for_its_scheme_alone() {
        let greedy = PolicyMaker::Victim(Arc::new(|geometry, seed| {
            Box::new(Own(greedy::Policy::new(&greedy::Params::default(), geometry, seed)))
        }));
        let fifo = PolicyMaker::Victim(Arc::new(|geometry, seed| {
            Box::new(Own(fifo::Policy::new(&fifo::Params::default(), geometry, seed)))
        }));
        let named = |scheme: Option<&str>, maker: &PolicyMaker| SuppliedPolicy {
            scheme: scheme.map(str::to_owned),
            name: "Mine".into(),
            maker: maker.clone(),
        };
        let schemes = ["baseline", "first=baseline"];
        let supplied = experiment(&schemes, vec![named(None, &greedy), named(Some("first"), &fifo)], &[]);
        let built_in = experiment(&schemes, Vec::new(), &["victim.policy=greedy", "first:victim.policy=fifo"]);
        let (supplied, built_in) = (reports(&supplied), reports(&built_in));
        assert_eq!(supplied, built_in);
        assert_ne!(built_in[0], built_in[1], "the policies decide differently");
    }

    #[test]
    fn impossible_numbers_and_two_workloads_are_refused_with_their_place() {
        let refused = |experiment: Experiment| experiment.compare().unwrap_err();
        let of_seed = refused(Experiment { seed: Some(u64::MAX), ..Experiment::default() });
        assert_eq!(of_seed.place(), Some(("seed", 1, 1, "18446744073709551615")));
        let of_requests = refused(Experiment { requests: Some(0), ..Experiment::default() });
        assert_eq!(of_requests.place(), Some(("requests", 1, 1, "0")));
        assert!(of_seed.help().is_some() && of_requests.help().is_some());
        let two = Experiment { trace: Some("a.csv".into()), ..experiment(&[], Vec::new(), &[]) };
        let says = "`workload` and `trace` exclude each other: an experiment has one workload";
        assert_eq!(refused(two).message(), says);
    }

    /// The text of a file is not in it: `main` prints its error with `Debug`.
    #[test]
    fn an_error_is_debugged_as_it_is_shown() {
        let failure =
            Experiment { settings: vec!["trigger.sofft=4".into()], ..Experiment::default() }.run().unwrap_err();
        assert_eq!(format!("{failure:?}"), failure.to_string());
        assert!(failure.place().is_some() && failure.to_string().lines().count() == 2, "{failure}");
    }

    #[test]
    fn no_jobs_are_one_job_and_a_class_without_requests_has_no_times() {
        let plan = experiment(&[], Vec::new(), &["workload.read_share=0"]).plan_of_one().expect("it is right");
        let options = ExecutionOptions { jobs: 0, ..ExecutionOptions::default() };
        let results = Results::of(ResultCommand::Run, plan, &options, KeptTables::default()).expect("it runs");
        assert!(format!("{results:?}").contains("schemes: [\"baseline\"]"), "{results:?}");
        let result = results.schemes().next().expect("a scheme ran");
        assert!(result.read.is_none(), "{result:?}");
        assert_eq!(result.write.map(|write| write.count), Some(300));
    }

    #[test]
    fn a_policy_of_another_experiment_is_unknown() {
        let chosen = ["victim.policy=plugin", "victim.name=Mine"];
        let failure = experiment(&["baseline"], Vec::new(), &chosen).compare().unwrap_err();
        assert_eq!(failure.message(), "`victim.name`: there is no plugin `Mine`");
        assert_eq!(failure.place().map(|(name, .., value)| (name, value)), Some(("--set", "Mine")));
        assert!(failure.help().is_some());
    }
}
