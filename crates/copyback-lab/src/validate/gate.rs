//! A gate: theory's value, the simulator's value, and the tolerance.

use crate::execute::in_parallel;
use crate::failure::Failure;
use crate::progress::{Bars, ProgressSink, stoppable};
use copyback::run::{RunError, is_stop};
use copyback_theory::confidence::{Interval, interval_95};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Theory's value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Theory {
    /// It is this.
    Equal(f64),
    /// It is no more than the ceiling, and no less than the floor.
    Between {
        /// No less than this.
        floor: f64,
        /// No more than this.
        ceiling: f64,
    },
}

/// A figure of one run, and theory's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The simulated value.
    pub simulated: f64,
    /// The value of theory.
    pub theory: Theory,
}

impl Figure {
    /// A figure that theory knows.
    pub fn equal(simulated: f64, theory: f64) -> Self {
        Self { simulated, theory: Theory::Equal(theory) }
    }
}

/// The group of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Pages programmed for each page that the host writes.
    WriteAmplification,
    /// Waits of requests for one die.
    Waiting,
    /// Ceilings of channels and dies.
    Bandwidth,
    /// Ceilings of random writes in the steady state.
    Sustained,
}

/// All groups in the order in which they are printed.
pub const GROUPS: [Group; 4] = [Group::WriteAmplification, Group::Waiting, Group::Bandwidth, Group::Sustained];

impl Group {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::WriteAmplification => "write-amplification",
            Self::Waiting => "waiting",
            Self::Bandwidth => "bandwidth",
            Self::Sustained => "sustained",
        }
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::WriteAmplification => "Write amplification",
            Self::Waiting => "Waiting for a die, in service times of a read",
            Self::Bandwidth => "Bandwidth, MB/s of the whole device",
            Self::Sustained => "Sustained random writes, MB/s of a drive with fewer, smaller blocks",
        }
    }
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Gate {
    /// The comparison.
    pub name: String,
    /// The source of theory's value.
    pub source: &'static str,
    /// Largest relative deviation that passes.
    pub tolerance: f64,
    /// The reason for the tolerance.
    pub reason: &'static str,
}

/// The figures of one run with a seed, in the order of the case's gates.
type Run = Box<dyn Fn(u64) -> Result<Vec<Figure>, Failure> + Send + Sync>;

/// Gates that are judged by the same runs.
pub struct Case {
    /// The group of its gates.
    pub group: Group,
    /// The gates: each run returns a figure for each of them.
    pub gates: Vec<Gate>,
    /// Whether a seed makes a difference; a case without chance runs once.
    pub is_random: bool,
    /// One run.
    pub run: Run,
}

/// How a gate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Simulator and theory agree.
    Pass,
    /// They do not.
    Fail,
    /// The runs differ too much to decide.
    Noisy,
}

impl Verdict {
    /// How it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Noisy => "NOISY",
        }
    }
}

/// A gate and how it ended.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// Its group.
    pub group: Group,
    /// The comparison.
    pub name: String,
    /// Theory's value, or its ceiling; the mean over the runs if it depends on their measurements.
    pub theory: f64,
    /// Theory's floor, if it differs from the ceiling.
    pub floor: Option<f64>,
    /// The simulator's value, the mean over the runs.
    pub simulated: f64,
    /// simulated / theory − 1, the mean over the runs.
    pub deviation: f64,
    /// Half the width of the 95 % confidence interval of `deviation`; `None` without random choices.
    pub interval_95: Option<f64>,
    /// Largest deviation that passes: above the ceiling, and below the floor if there is one.
    pub tolerance: f64,
    /// Pass, fail, or noisy.
    pub verdict: Verdict,
    /// The source of theory's value.
    pub source: &'static str,
    /// The reason of the tolerance.
    pub reason: &'static str,
    /// The simulator's value in each run.
    pub samples: Vec<f64>,
}

impl Gate {
    /// Judges the figures of a gate, one for each run.
    pub fn judge(&self, group: Group, figures: &[Figure]) -> Result<Judged, Failure> {
        let count = figures.len() as f64;
        let mean = |of: &dyn Fn(&Figure) -> f64| figures.iter().map(of).sum::<f64>() / count;
        let high = |figure: &Figure| match figure.theory {
            Theory::Equal(value) => value,
            Theory::Between { ceiling, .. } => ceiling,
        };
        let low = |figure: &Figure| match figure.theory {
            Theory::Equal(value) => value,
            Theory::Between { floor, .. } => floor,
        };
        let deviations: Vec<f64> = figures.iter().map(|figure| figure.simulated / high(figure) - 1.0).collect();
        let (deviation, interval_95) = match interval_95(&deviations) {
            Ok(Interval { mean, half_width }) => (mean, Some(half_width)),
            Err(_) => (deviations.iter().sum::<f64>() / count, None),
        };
        let least = mean(&|figure| low(figure) / high(figure) - 1.0);
        let is_inside = deviation <= self.tolerance && deviation >= least - self.tolerance;
        // Half of the band that passes.
        let half_band = self.tolerance - 0.5 * least;
        let verdict = match (is_inside, interval_95) {
            (false, _) => Verdict::Fail,
            (true, Some(half_width)) if half_width > half_band => Verdict::Noisy,
            (true, _) => Verdict::Pass,
        };
        let is_range = matches!(figures.first(), Some(Figure { theory: Theory::Between { .. }, .. }));
        Ok(Judged {
            group,
            name: self.name.clone(),
            theory: mean(&high),
            floor: is_range.then(|| mean(&low)),
            simulated: mean(&|figure| figure.simulated),
            deviation,
            interval_95,
            tolerance: self.tolerance,
            verdict,
            source: self.source,
            reason: self.reason,
            samples: figures.iter().map(|figure| figure.simulated).collect(),
        })
    }
}

/// How cases are run.
pub struct JudgeOptions {
    /// Runs at once.
    pub jobs: usize,
    /// The first seed of random cases.
    pub seed: u64,
    /// Seeds of each random case.
    pub seeds: u64,
    /// Receives progress updates.
    pub sink: ProgressSink,
}

/// Runs all cases and judges their gates, in order; the result does not depend on `options.jobs`.
pub fn judge_all(cases: &[Case], options: &JudgeOptions) -> Result<Vec<Judged>, Failure> {
    let seeds_of = |case: &Case| if case.is_random { options.seeds } else { 1 };
    let runs: Vec<(&Case, u64)> =
        cases.iter().flat_map(|case| (0..seeds_of(case)).map(move |i| (case, options.seed.wrapping_add(i)))).collect();
    let bars = Bars::new(&options.sink, std::iter::once("validate"));
    let bar = bars.add("validate", Some(runs.len() as u64));
    let figures = in_parallel(options.jobs, runs.len(), |at| {
        let (case, seed) = runs[at];
        if options.sink.is_stopped() {
            return Err(RunError::Stopped.into());
        }
        let figures = stoppable(&options.sink, || guarded(case, seed))?;
        assert_eq!(figures.len(), case.gates.len(), "a case returns a figure for each of its gates");
        bar.step(&case.gates[0].name);
        Ok(figures)
    })?;
    let mut judged = Vec::new();
    let mut of_runs = figures.chunk_by({
        let mut at = 0;
        let runs = &runs;
        move |_, _| {
            at += 1;
            std::ptr::eq(runs[at - 1].0, runs[at].0)
        }
    });
    for case in cases {
        let runs = of_runs.next().expect("every case was run");
        for (at, gate) in case.gates.iter().enumerate() {
            let figures: Vec<Figure> = runs.iter().map(|figures| figures[at]).collect();
            judged.push(gate.judge(case.group, &figures)?);
        }
    }
    Ok(judged)
}

/// One run, whose broken invariants are errors that name the case and the seed.
fn guarded(case: &Case, seed: u64) -> Result<Vec<Figure>, Failure> {
    catch_unwind(AssertUnwindSafe(|| (case.run)(seed))).unwrap_or_else(|panic| {
        if is_stop(&*panic) {
            return Err(RunError::Stopped.into());
        }
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default();
        let name = &case.gates[0].name;
        Err(Failure::run(format!("`{name}`, seed {seed}: invariant broken: {text}"))
            .with_help("this is a defect of the simulator; RUST_BACKTRACE=1 shows where"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(tolerance: f64) -> Gate {
        Gate { name: "a gate".into(), source: "a book", tolerance, reason: "a reason" }
    }

    fn verdict(tolerance: f64, figures: &[Figure]) -> Verdict {
        gate(tolerance).judge(Group::Waiting, figures).unwrap().verdict
    }

    #[test]
    fn a_figure_passes_up_to_its_tolerance_and_fails_beyond() {
        for (simulated, expected) in [
            (100.0, Verdict::Pass),
            (100.99, Verdict::Pass),
            (99.01, Verdict::Pass),
            (101.01, Verdict::Fail),
            (98.99, Verdict::Fail),
            (f64::NAN, Verdict::Fail),
        ] {
            assert_eq!(verdict(0.01, &[Figure::equal(simulated, 100.0)]), expected, "{simulated}");
        }
    }

    #[test]
    fn a_wrong_theory_fails_whatever_the_number_of_seeds() {
        let figures: Vec<Figure> = [3.80, 3.81, 3.79].map(|a| Figure::equal(a, 4.2)).to_vec();
        assert_eq!(verdict(0.01, &figures), Verdict::Fail);
        let right: Vec<Figure> = [3.80, 3.81, 3.79].map(|a| Figure::equal(a, 3.8)).to_vec();
        assert_eq!(verdict(0.01, &right), Verdict::Pass);
    }

    #[test]
    fn a_ceiling_may_be_missed_down_to_the_floor_and_not_passed() {
        let between = |simulated| Figure { simulated, theory: Theory::Between { floor: 80.0, ceiling: 100.0 } };
        for (simulated, expected) in [
            (100.5, Verdict::Pass),
            (101.5, Verdict::Fail),
            (90.0, Verdict::Pass),
            (79.5, Verdict::Pass),
            (78.5, Verdict::Fail),
        ] {
            assert_eq!(verdict(0.01, &[between(simulated)]), expected, "{simulated}");
        }
        let judged = gate(0.01).judge(Group::Sustained, &[between(90.0)]).unwrap();
        assert_eq!((judged.theory, judged.floor, judged.simulated), (100.0, Some(80.0), 90.0));
    }

    #[test]
    fn runs_that_differ_too_much_say_nothing() {
        let figures: Vec<Figure> = [90.0, 100.0, 110.0].map(|x| Figure::equal(x, 100.0)).to_vec();
        assert_eq!(verdict(0.01, &figures), Verdict::Noisy);
        // 4.303·10 %/√3 is the interval's half.
        let judged = gate(0.25).judge(Group::Waiting, &figures).unwrap();
        assert!((judged.interval_95.unwrap() - 0.248).abs() < 0.001 && judged.verdict == Verdict::Pass, "{judged:?}");
        // Between floor and ceiling there is more room: ±1 % and half of 20 %.
        let between = |simulated| Figure { simulated, theory: Theory::Between { floor: 80.0, ceiling: 100.0 } };
        assert_eq!(verdict(0.01, &[88.0, 90.0, 92.0].map(between)), Verdict::Pass);
        assert_eq!(verdict(0.01, &[84.0, 90.0, 96.0].map(between)), Verdict::Noisy);
    }

    fn options(jobs: usize, seeds: u64) -> JudgeOptions {
        JudgeOptions { jobs, seed: 1, seeds, sink: ProgressSink::Discard }
    }

    #[test]
    fn cases_keep_their_order_and_their_seeds_with_any_number_of_jobs() {
        let case = |is_random, group| Case {
            group,
            gates: vec![gate(10.0), gate(10.0)],
            is_random,
            run: Box::new(|seed| Ok(vec![Figure::equal(seed as f64, 1.0), Figure::equal(0.5, 1.0)])),
        };
        let cases = [case(true, Group::Waiting), case(false, Group::Bandwidth), case(true, Group::Sustained)];
        for jobs in [1, 2, 8] {
            let judged = judge_all(&cases, &options(jobs, 3)).unwrap();
            let samples: Vec<Vec<f64>> = judged.into_iter().map(|j| j.samples).collect();
            let (random, half) = (vec![1.0, 2.0, 3.0], vec![0.5; 3]);
            assert_eq!(samples, [random.clone(), half.clone(), vec![1.0], vec![0.5], random, half]);
        }
    }

    #[test]
    fn a_broken_invariant_is_an_error_that_names_the_case() {
        let run = |_| -> Result<Vec<Figure>, Failure> { panic!("a block was programmed twice") };
        let case = Case { group: Group::Waiting, gates: vec![gate(0.1)], is_random: false, run: Box::new(run) };
        let failure = judge_all(&[case], &options(1, 2)).unwrap_err();
        assert!(format!("{failure:?}").contains("`a gate`, seed 1: invariant broken: a block was programmed twice"));
    }

    /// A stop that a case notices between its runs is no broken invariant.
    #[test]
    fn a_stopped_case_is_no_broken_invariant() {
        let run = |_| -> Result<Vec<Figure>, Failure> { copyback::run::stop() };
        let case = Case { group: Group::Waiting, gates: vec![gate(0.1)], is_random: false, run: Box::new(run) };
        let failure = judge_all(&[case], &options(1, 1)).unwrap_err();
        assert_eq!(failure.to_string(), RunError::Stopped.to_string());
    }
}
