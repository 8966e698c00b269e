//! Is a drive or an array that is impossible refused with a place and a remedy?
//!
//! One setting of an accepted drive or array becomes another, until the configuration checks refuse it. They must name
//! a key, a reason and a remedy; a file of the same settings must be refused at the place of that key; and a run must
//! refuse it in the same words.

use crate::arrays;
use crate::draws::{Demands, choice};
use crate::supplied::{supplied, supply};
use crate::tally::Verdict;
use copyback::config::KeyError;
use copyback::config::layers::Layer;
use copyback::run::config::{RunConfig, Stack};
use copyback::run::{Image, Options, RunError, precondition, simulate_drives};
use copyback::workload::rng::{below, stream};
use proptest::prelude::*;

/// A drive or an array that should be impossible.
#[derive(Clone)]
pub struct Case {
    config: RunConfig,
    /// The drives of the array.
    drives: Vec<RunConfig>,
    /// What was changed.
    mistake: String,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let drives = self.drives.iter().map(text_of).collect::<Vec<_>>().join("-- another drive\n");
        writeln!(f, "after {}, the configuration\n{}-- its drives\n{drives}", self.mistake, text_of(&self.config))
    }
}

fn text_of(config: &RunConfig) -> String {
    toml::to_string(config).expect("a configuration holds what TOML can say")
}

/// Mistakes in an array and in its drives: a key and a value.
const MISTAKES: &[(&str, &str)] = &[
    ("capacity", "{ over_provisioning = 0 }"),
    ("capacity", "{ over_provisioning = -0.5 }"),
    ("capacity", "{ reserved = 1.5 }"),
    ("capacity", "{ logical = \"1 B\" }"),
    ("capacity", "{ logical = \"1 EiB\" }"),
    ("capacity", "{ reserved = 0.2, over_provisioning = 0.2 }"),
    ("capacity", "{ over_provisioning = 0.0001 }"),
    ("geometry.channels", "0"),
    ("geometry.blocks_per_plane", "7"),
    ("geometry.page_size", "\"1000 B\""),
    ("geometry.mapping_unit", "\"3 KiB\""),
    ("timing.erase", "\"0 ns\""),
    ("trigger.soft", "1000000"),
    ("trigger.stop", "1"),
    ("trigger.hard", "1.5"),
    ("trigger.hard", "1000"),
    ("trigger.idle", "{ after = \"1 ms\" }"),
    ("trigger.stagger", "1"),
    ("host.queue_depth", "0"),
    ("host.target", "\"drive\""),
    ("preemption.policy", "\"ideal\""),
    ("preemption.policy", "\"always\""),
    ("admit", "{ policy = \"window\", slots = 0 }"),
    ("array.drives", "0"),
    ("array.drives", "65"),
    ("array.drives", "1"),
    ("array.stripe_unit", "\"0 B\""),
    ("array.stripe_unit", "\"777 B\""),
    ("array.stripe_unit", "\"1 EiB\""),
    ("array.delay", "\"2 s\""),
    ("array.failed", "[99]"),
    ("array.failed", "[0, 0]"),
    ("array.failed", "[0, 1, 2, 3]"),
    ("array.rebuild", "\"1 MB/s\""),
    ("array.gc_aware_reads", "true"),
    ("array.override", "[{ drives = [99] }]"),
    ("array.override", "[{ drives = [] }]"),
    ("array.override", "[{ drives = [0], seed = 1 }, { drives = [0], seed = 2 }]"),
    ("array.override", "[{ drives = [0], coordinated = true }, { drives = [0], coordinated = false }]"),
    ("array.override", "[{ drives = [0], device = \"small\" }, { drives = [0], scheme = \"pgc\" }]"),
    ("coordination", "{ policy = \"ggc-reactive-inclusive\", message_latency = \"18446744073 s\" }"),
    ("coordination", "{ policy = \"ggc-proactive-idle\", idle_stop = \"own\" }"),
];

/// The configuration with another value; none if no configuration has it.
fn changed(config: &RunConfig, key: &str, value: &str) -> Option<RunConfig> {
    let mut table = toml::Table::try_from(config).expect("a configuration is a table");
    let value = format!("v = {value}").parse::<toml::Table>().expect("a value").remove("v")?;
    let (name, inner) = key.split_once('.').map_or((key, None), |(name, inner)| (name, Some(inner)));
    match inner {
        None => table.insert(name.to_owned(), value),
        Some(inner) => {
            let below = table.entry(name).or_insert_with(|| toml::Table::new().into());
            below.as_table_mut().expect("a table").insert(inner.to_owned(), value)
        }
    };
    table.try_into().ok().map(supplied)
}

/// Drives that were possible before one knob was changed.
fn alone() -> impl Strategy<Value = Case> {
    (choice(Demands::NONE), any::<u64>()).prop_map(|(choice, number)| {
        let config = choice.spoilt(number).as_ref().unwrap_or(&choice).config();
        Case { config, drives: Vec::new(), mistake: "one knob".to_owned() }
    })
}

/// Arrays that were possible before a mistake in the configuration that all drives share, or in one drive's own.
fn array() -> impl Strategy<Value = Case> {
    (arrays::case(), any::<u64>()).prop_map(|(of, number)| {
        let mut rng = stream(number, "swarm.mistakes");
        let mut case = Case { config: of.config, drives: of.drives, mistake: "nothing".to_owned() };
        for _ in 0..MISTAKES.len() {
            let (key, value) = MISTAKES[below(&mut rng, MISTAKES.len() as u64) as usize];
            let at = below(&mut rng, 2 * case.drives.len() as u64) as usize;
            let mut other = case.clone();
            let is_of_all =
                at >= case.drives.len() || ["array", "host", "coordination"].iter().any(|t| key.starts_with(t));
            let config = if is_of_all { &mut other.config } else { &mut other.drives[at] };
            let Some(spoilt) = changed(config, key, value) else { continue };
            *config = spoilt;
            if refusal(&other).is_some() {
                other.mistake = format!("{key} = {value}");
                return other;
            }
        }
        case.drives.clear();
        case
    })
}

/// Drives and arrays that were possible before one change.
pub fn case() -> impl Strategy<Value = Case> {
    prop_oneof![alone(), array()]
}

/// Why a run is to refuse it, and whether the configuration of all drives is at fault.
fn refusal(case: &Case) -> Option<(KeyError, bool)> {
    if let Err(refusal) = case.config.check() {
        return Some((refusal, true));
    }
    let alone = case.drives.iter().find_map(|drive| drive.check().err());
    let refusal = alone.or_else(|| case.config.check_drives(case.drives.iter()).err());
    refusal.map(|refusal| (refusal, false))
}

/// Checks how an impossible case is refused. The verdict has `ran` if the case is impossible.
pub fn holds(case: &Case) -> Result<Verdict, TestCaseError> {
    let Some((refusal, is_of_all)) = refusal(case) else { return Ok(Verdict::default()) };
    let KeyError { key, message, help } = &refusal;
    let table = key.split('.').next().unwrap_or_default();
    let tables = toml::Table::try_from(&case.config).expect("a configuration is a table");
    prop_assert!(tables.contains_key(table), "no such table: {:?}", refusal);
    prop_assert!(key.split('.').all(|part| !part.is_empty()), "no key: {:?}", refusal);
    prop_assert!(has_words(message, 3), "no reason: {:?}", refusal);
    prop_assert!(help.as_ref().is_some_and(|help| has_words(help, 2)), "no help: {:?}", refusal);
    if is_of_all {
        is_refused_in_its_place(&case.config, &refusal)?;
    }
    let words = |e: &KeyError| (e.key.clone(), e.message.clone(), e.help.clone());
    match ends(case) {
        Err(RunError::Config(again)) => {
            prop_assert_eq!(words(&again), words(&refusal), "a run refuses it in other words");
        }
        Err(other) => return Err(TestCaseError::fail(format!("a run ends otherwise: {other}"))),
        Ok(()) => return Err(TestCaseError::fail(format!("a run takes it: {refusal:?}"))),
    }
    Ok(Verdict::of(true, &[]))
}

/// How a run ends. A single drive is refused when it is made, an array when its drives are put together.
fn ends(case: &Case) -> Result<(), RunError> {
    let Some((first, _)) = case.drives.split_first() else { return precondition(&case.config, 0).map(|_| ()) };
    let drives: Vec<&RunConfig> = if case.config.check().is_ok() {
        case.drives.iter().collect()
    } else {
        // A drive that is possible, in an array that is not.
        vec![if first.check().is_ok() { first } else { &case.config }]
    };
    let images: Vec<Option<Image>> = drives.iter().map(|drive| made(drive)).collect::<Result<_, RunError>>()?;
    let drives: Option<Vec<_>> = drives.into_iter().zip(images).map(|(drive, image)| Some((drive, image?))).collect();
    // A drive has no image, so that the drives cannot be put together, which would refuse the mistake.
    let Some(drives) = drives else {
        return refusal(case).map_or(Ok(()), |(refusal, _)| Err(RunError::Config(refusal)));
    };
    simulate_drives(&case.config, drives, nothing(), &Options::default(), &mut |_| {}).map(|_| ())
}

/// A drive's image. `None` if the drive is impossible although its check passes: only its making shows that.
fn made(drive: &RunConfig) -> Result<Option<Image>, RunError> {
    match precondition(drive, 0) {
        Err(RunError::Config(_)) if drive.check().is_ok() => Ok(None),
        made => made.map(Some),
    }
}

fn nothing() -> Box<dyn copyback::workload::RequestSource + Send> {
    Box::new(Vec::<copyback::workload::Request>::new().into_iter())
}

/// Whether a file with these settings is refused with the same words, at the position of the key.
fn is_refused_in_its_place(config: &RunConfig, refusal: &KeyError) -> Result<(), TestCaseError> {
    let workload = "\n[workload]\nrequests = 1\nread_share = 0.0\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n\
                    arrivals = { kind = \"poisson\", rate = 100.0 }\n";
    let text = text_of(config) + workload;
    let layer = Layer::parse("a file", text.clone()).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
    let mut stack = Stack::new();
    stack.push(layer);
    let Err(error) = stack.resolve_with(&supply) else {
        return Err(TestCaseError::fail(format!("a file of it is taken\n{text}")));
    };
    prop_assert_eq!(&error.message, &format!("`{}`: {}", refusal.key, refusal.message), "a file has other words");
    prop_assert_eq!(&error.help, &refusal.help);
    let Some(place) = &error.place else { return Err(TestCaseError::fail(format!("no place: {error:?}\n{text}"))) };
    prop_assert!(place.text.name == "a file" && place.span.end <= text.len() && !place.span.is_empty(), "{:?}", place);
    Ok(())
}

/// Whether a text has so many words, and no traces of how it was put together.
fn has_words(text: &str, least: usize) -> bool {
    text.split_whitespace().count() >= least && text.trim() == text && !text.contains("  ") && !text.contains("{}")
}
