//! `copyback validate`: does the simulator say what theory says?
//!
//! Closed forms, solved equations and a Monte-Carlo of its own (the crate `copyback-theory`, which shares nothing with
//! the simulator) against the simulator as shipped.

mod bandwidth;
mod gate;
mod points;
mod subject;
mod sustained;
mod table;
mod waiting;
mod write_amplification;

use crate::args::ValidateArgs;
use crate::failure::Failure;
use crate::files::{self, Input, Output};
use crate::results::Program;
use copyback::config::layers::suggestion;
use gate::{Case, GROUPS, Group, How, Judged, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;
use subject::Scope;

/// Seeds of each random case.
const SEEDS: u64 = 5;
/// The same with `--quick`.
const SEEDS_QUICK: u64 = 4;

/// Runs the command.
pub fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    let Validated { text, verdict, is_printed, .. } = validated(args)?;
    if !is_printed {
        files::print(&text)?;
    }
    verdict
}

/// A validation that is done and written.
pub struct Validated {
    /// The JSON document.
    pub json: String,
    /// What the program prints of it.
    pub text: String,
    /// Why it did not pass, if so.
    pub verdict: Result<(), Failure>,
    /// Whether standard output is taken by the document.
    is_printed: bool,
}

/// Does what the command line says but for the text.
pub fn validated(args: &ValidateArgs) -> Result<Validated, Failure> {
    let mut inputs = Vec::new();
    let scope = Scope::new(args.device.as_deref(), args.quick, &mut inputs)?;
    if let Some(path) = args.json.as_deref() {
        files::check_output(path)?;
        files::refuse_clashes(&[Output::new("--json", path)], &inputs)?;
    }
    let mut cases = all_cases(&scope)?;
    select(&mut cases, &args.only)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let how = How {
        jobs: args.jobs.map_or(cores, |jobs| jobs as usize),
        seed: args.seed.unwrap_or(1),
        seeds: args.seeds.map_or(if args.quick { SEEDS_QUICK } else { SEEDS }, u64::from),
        audience: args.hearing.audience(),
    };
    let mut judged = gate::judge_all(&cases, &how)?;
    // A case may have gates beside those that were asked for.
    judged.retain(|gate| is_chosen(gate.group, &gate.name, &args.only));
    let json = json(args, &how, &inputs, &judged)?;
    let is_printed = args.json.as_ref().map_or(Ok(false), |path| files::write_text(path, &json))?;
    let text = table::text(&judged, passed(&judged));
    Ok(Validated { json, text, verdict: verdict(&judged), is_printed })
}

fn all_cases(scope: &Scope) -> Result<Vec<Case>, Failure> {
    let mut cases = write_amplification::cases(scope)?;
    cases.extend(waiting::cases(scope)?);
    cases.extend(bandwidth::cases(scope)?);
    cases.extend(sustained::cases(scope)?);
    Ok(cases)
}

/// Whether a gate belongs to a group of one of these words, or has it in its name.
fn is_chosen(group: Group, name: &str, only: &[String]) -> bool {
    let has = |word: &String| group.name() == word || name.to_lowercase().contains(&word.to_lowercase());
    only.is_empty() || only.iter().any(has)
}

/// Keeps the cases that were asked for. A word that fits none is refused.
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

/// The JSON document. All of it is a function of the command.
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

fn passed(judged: &[Judged]) -> usize {
    judged.iter().filter(|gate| gate.verdict == Verdict::Pass).count()
}

fn json(args: &ValidateArgs, how: &How, inputs: &[Input], judged: &[Judged]) -> Result<String, Failure> {
    let document = Document {
        schema: "copyback/validate/1",
        program: Program::THIS,
        command: "validate",
        quick: args.quick,
        device: args.device.as_deref(),
        only: &args.only,
        seed: how.seed,
        seeds: how.seeds,
        inputs,
        passed: passed(judged),
        gates: judged,
    };
    let text = serde_json::to_string_pretty(&document).map(|text| text + "\n");
    text.map_err(|error| Failure::run(format!("cannot write the results as JSON: {error}")))
}

/// Exit code 1 where a gate did not pass.
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
