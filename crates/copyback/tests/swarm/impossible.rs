//! Is a drive that is impossible refused with a reason?
//!
//! One knob of an accepted drive gets another setting, until the configuration checks refuse the drive. They must name
//! a key and a reason, and a run must refuse the drive in the same words.

use crate::draws::{Demands, choice};
use crate::tally::Verdict;
use copyback::config::KeyError;
use copyback::run::config::RunConfig;
use copyback::run::{RunError, precondition};
use proptest::prelude::*;

/// A drive that should be impossible.
#[derive(Clone)]
pub struct Case {
    config: RunConfig,
    text: String,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "the configuration\n{}", self.text)
    }
}

/// Drives that were possible before one knob was changed.
pub fn case() -> impl Strategy<Value = Case> {
    (choice(Demands::NONE), any::<u64>()).prop_map(|(choice, number)| {
        let (config, text, _) = choice.spoilt(number).as_ref().unwrap_or(&choice).configuration();
        Case { config, text }
    })
}

/// Whether the drive is impossible; if it is, it is refused as it should be.
pub fn holds(case: &Case) -> Result<Verdict, TestCaseError> {
    let Err(refusal) = case.config.check() else { return Ok(Verdict::default()) };
    let KeyError { key, message, help } = &refusal;
    let table = key.split('.').next().unwrap_or_default();
    let tables = toml::Table::try_from(&case.config).expect("a configuration is a table");
    prop_assert!(tables.contains_key(table), "no such table: {:?}", refusal);
    prop_assert!(key.split('.').all(|part| !part.is_empty()), "no key: {:?}", refusal);
    prop_assert!(has_words(message, 3), "no reason: {:?}", refusal);
    prop_assert!(help.as_ref().is_none_or(|help| has_words(help, 2)), "no help: {:?}", refusal);
    match precondition(&case.config, 0) {
        Err(RunError::Config(again)) => {
            let words = |e: &KeyError| (e.key.clone(), e.message.clone(), e.help.clone());
            prop_assert_eq!(words(&again), words(&refusal), "a run refuses the drive in other words");
        }
        Err(other) => return Err(TestCaseError::fail(format!("a run ends otherwise: {other}"))),
        Ok(_) => return Err(TestCaseError::fail(format!("a run takes the drive: {refusal:?}"))),
    }
    Ok(Verdict::of(true, &[]))
}

/// Whether a text has so many words, and no traces of how it was put together.
fn has_words(text: &str, least: usize) -> bool {
    text.split_whitespace().count() >= least && text.trim() == text && !text.contains("  ") && !text.contains("{}")
}
