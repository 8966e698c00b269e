//! Validation: does the simulator agree with theory?
//!
//! Gates compare the simulator with closed forms, solved equations and a Monte-Carlo simulation. Those are in the crate
//! `copyback-theory`, which shares no code with the simulator. A [`Validation`] names the gates; its plan runs them.

mod bandwidth;
pub mod gate;
mod points;
mod subject;
mod sustained;
mod waiting;
mod write_amplification;

use crate::failure::Failure;
use crate::files::Input;
use crate::results::Program;
use copyback::config::layers::suggestion;
use gate::{Case, GROUPS, Group, JudgeOptions, Judged, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;
use subject::Scope;

/// The gates to judge.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// The device: a preset's name or a TOML file; without it, the policies and the flash of all presets.
    pub device: Option<String>,
    /// Fewer and shorter cases.
    pub is_quick: bool,
    /// Groups, or words in the names of gates; all gates if it is empty.
    pub only: Vec<String>,
}

/// Gates whose cases can be run.
pub struct PlannedValidation {
    validation: Validation,
    cases: Vec<Case>,
    /// The files that were read.
    pub inputs: Vec<Input>,
}

/// Gates that are judged.
pub struct Validated {
    validation: Validation,
    inputs: Vec<Input>,
    /// The first seed.
    pub seed: u64,
    /// Seeds of each random case.
    pub seeds: u64,
    /// The gates, in the order of their groups.
    pub gates: Vec<Judged>,
}

impl Validation {
    /// Selects the cases. Nothing is simulated.
    ///
    /// # Errors
    /// If the device cannot be read, or no gate has a word of `only` in its name.
    pub fn plan(&self) -> Result<PlannedValidation, Failure> {
        let mut inputs = Vec::new();
        let scope = Scope::new(self.device.as_deref(), self.is_quick, &mut inputs)?;
        let mut cases = all_cases(&scope)?;
        select(&mut cases, &self.only)?;
        Ok(PlannedValidation { validation: self.clone(), cases, inputs })
    }
}

impl PlannedValidation {
    /// Runs the cases and judges their gates. The result does not depend on `options.jobs`.
    ///
    /// # Errors
    /// If a case breaks an invariant, or the caller stops the run.
    pub fn run(self, options: &JudgeOptions) -> Result<Validated, Failure> {
        let Self { validation, cases, inputs } = self;
        let mut gates = gate::judge_all(&cases, options)?;
        // A case may have gates that `only` does not select.
        gates.retain(|gate| is_chosen(gate.group, &gate.name, &validation.only));
        Ok(Validated { validation, inputs, seed: options.seed, seeds: options.seeds, gates })
    }
}

impl Validated {
    /// The number of gates that passed.
    pub fn passed(&self) -> usize {
        self.gates.iter().filter(|gate| gate.verdict == Verdict::Pass).count()
    }

    /// The JSON document. All of it is a function of the validation and the seeds.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn json(&self) -> Result<String, Failure> {
        let document = Document {
            schema: "copyback/validate/1",
            program: Program::THIS,
            command: "validate",
            quick: self.validation.is_quick,
            device: self.validation.device.as_deref(),
            only: &self.validation.only,
            seed: self.seed,
            seeds: self.seeds,
            inputs: &self.inputs,
            passed: self.passed(),
            gates: &self.gates,
        };
        let text = serde_json::to_string_pretty(&document).map(|text| text + "\n");
        text.map_err(|error| Failure::run(format!("cannot write the results as JSON: {error}")))
    }

    /// Whether all gates passed.
    ///
    /// # Errors
    /// The gates that did not, and what to do.
    pub fn verdict(&self) -> Result<(), Failure> {
        verdict(&self.gates)
    }
}

fn all_cases(scope: &Scope) -> Result<Vec<Case>, Failure> {
    let mut cases = write_amplification::cases(scope)?;
    cases.extend(waiting::cases(scope)?);
    cases.extend(bandwidth::cases(scope)?);
    cases.extend(sustained::cases(scope)?);
    Ok(cases)
}

/// Whether one of these words is a gate's group, or occurs in its name; true without words.
fn is_chosen(group: Group, name: &str, only: &[String]) -> bool {
    let has = |word: &String| group.name() == word || name.to_lowercase().contains(&word.to_lowercase());
    only.is_empty() || only.iter().any(has)
}

/// Keeps the selected cases. A word that selects no gate is refused.
fn select(cases: &mut Vec<Case>, only: &[String]) -> Result<(), Failure> {
    let names = |cases: &[Case]| -> Vec<(Group, String)> {
        cases.iter().flat_map(|case| case.gates.iter().map(|gate| (case.group, gate.name.clone()))).collect()
    };
    let all = names(cases);
    for word in only {
        if !all.iter().any(|(group, name)| is_chosen(*group, name, std::slice::from_ref(word))) {
            let first_word = |name: &str| name.split([',', ' ']).next().unwrap_or_default().to_owned();
            let mut words: Vec<String> = GROUPS.iter().map(|group| group.name().to_owned()).collect();
            let families: BTreeSet<String> = all.iter().map(|(_, name)| first_word(name)).collect();
            words.extend(families);
            let help = suggestion(word, "groups, and words in names", words.iter().map(String::as_str));
            return Err(Failure::input(format!("--only: no gate has `{word}` in its name")).with_help(help));
        }
    }
    cases.retain(|case| case.gates.iter().any(|gate| is_chosen(case.group, &gate.name, only)));
    Ok(())
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    program: Program,
    command: &'static str,
    quick: bool,
    device: Option<&'a str>,
    only: &'a [String],
    seed: u64,
    seeds: u64,
    inputs: &'a [Input],
    passed: usize,
    gates: &'a [Judged],
}

/// The error of gates that did not pass.
fn verdict(judged: &[Judged]) -> Result<(), Failure> {
    let failed: Vec<&Judged> = judged.iter().filter(|gate| gate.verdict != Verdict::Pass).collect();
    let Some(first) = failed.first() else { return Ok(()) };
    let names: Vec<String> = failed.iter().take(5).map(|gate| format!("`{}`", gate.name)).collect();
    let more = if failed.len() > names.len() { ", ..." } else { "" };
    let message = format!(
        "{} of {} did not pass: {}{more}",
        failed.len(),
        crate::format::counted(judged.len() as u64, "gate"),
        names.join(", ")
    );
    let help = if failed.iter().all(|gate| gate.verdict == Verdict::Noisy) {
        "the interval is wider than the tolerance, so that nothing is shown either way: use more --seeds".to_owned()
    } else {
        format!(
            "simulator and theory disagree, and one of them is wrong; run it alone with more seeds: \
             copyback validate --only '{}' --seeds 20",
            first.name
        )
    };
    Err(Failure::run(message).with_help(help))
}
