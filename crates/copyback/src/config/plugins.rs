//! Policies that a program which calls this one hands in: each axis that takes them has a registry of its own, and a
//! configuration names one of it (`policy = "plugin"`, `name = "MyVictim"`).
//!
//! They are there for as long as whoever handed them in holds a [`Plugged`]. What they answer is checked where they are
//! asked; a wrong answer, or none, ends the run ([`fail`]).

use super::KeyError;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What makes the policies of one axis, by name.
pub struct Plugins<F: ?Sized + Send + Sync + 'static> {
    axis: &'static str,
    kept: Mutex<BTreeMap<String, Arc<F>>>,
}

impl<F: ?Sized + Send + Sync> Plugins<F> {
    /// None yet.
    pub const fn new(axis: &'static str) -> Self {
        Self { axis, kept: Mutex::new(BTreeMap::new()) }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Arc<F>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a policy in, under this name or, where that is taken, with a number behind it.
    pub fn plug_in(&'static self, name: &str, make: Arc<F>) -> Plugged {
        let mut kept = self.kept();
        let numbered = std::iter::once(name.to_owned()).chain((2_u32..).map(|number| format!("{name}#{number}")));
        let name = numbered.into_iter().find(|name| !kept.contains_key(name)).expect("there are names enough");
        kept.insert(name.clone(), make);
        let gone = name.clone();
        // Dropped when the lock is free again: whoever handed it in may do anything then.
        let pull = Box::new(move || {
            let gone = self.kept().remove(&gone);
            drop(gone);
        });
        Plugged { axis: self.axis, name, pull: Some(pull) }
    }

    /// What makes the policy of this name.
    pub fn get(&self, name: &str) -> Option<Arc<F>> {
        self.kept().get(name).cloned()
    }

    /// What makes the policy of this name, which a configuration that was checked names.
    ///
    /// # Panics
    /// By [`fail`], where whoever handed it in has taken it away since.
    pub fn made(&self, name: &str) -> Arc<F> {
        self.get(name).unwrap_or_else(|| fail(self.axis, name, "was taken away before the run began", None))
    }

    /// Checks that there is a policy of this name.
    pub fn check(&self, name: &str) -> Result<(), KeyError> {
        if self.kept().contains_key(name) {
            return Ok(());
        }
        let what =
            if name.is_empty() { "a plugin needs a name".to_owned() } else { format!("there is no plugin `{name}`") };
        let help = "only a program that calls Copyback hands policies in (Python: copyback.run(policies=...)); name one \
                    of Copyback's own";
        Err(KeyError::new(format!("{}.name", self.axis), what).with_help(help))
    }
}

/// A policy that is there for as long as this value lives.
pub struct Plugged {
    axis: &'static str,
    name: String,
    pull: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Plugged {
    /// The axis: the table of the configuration that chooses it.
    pub fn axis(&self) -> &'static str {
        self.axis
    }

    /// How a configuration names it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Plugged {
    fn drop(&mut self) {
        if let Some(pull) = self.pull.take() {
            pull();
        }
    }
}

/// Reads a table that is a plugin's name and the parameters of another policy.
///
/// # Errors
/// As those of that policy.
pub fn named<'de, D: Deserializer<'de>, P: DeserializeOwned>(deserializer: D) -> Result<(String, P), D::Error> {
    let mut table = toml::Table::deserialize(deserializer)?;
    let name = match table.remove("name") {
        None => String::new(),
        Some(name) => name.try_into().map_err(|error: toml::de::Error| D::Error::custom(error.message()))?,
    };
    let params = table.try_into().map_err(|error: toml::de::Error| D::Error::custom(error.message()))?;
    Ok((name, params))
}

/// What a policy that was handed in did wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{axis}` plugin `{name}` {what}")]
pub struct Fault {
    /// Its axis.
    pub axis: &'static str,
    /// Its name.
    pub name: String,
    /// What it did.
    pub what: String,
    /// What its author can do.
    pub help: Option<String>,
}

/// Ends a run from within a policy that was handed in: the run returns the fault as its error.
///
/// # Panics
/// Always, with a [`Fault`] that whoever runs a simulation catches.
pub fn fail(axis: &'static str, name: &str, what: impl Into<String>, help: Option<&str>) -> ! {
    let fault = Fault { axis, name: name.to_owned(), what: what.into(), help: help.map(str::to_owned) };
    // Nobody is told of a panic: it is no defect of this program.
    std::panic::resume_unwind(Box::new(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    static PLUGINS: Plugins<dyn Fn() -> u32 + Send + Sync> = Plugins::new("victim");

    #[test]
    fn a_plugin_is_there_while_somebody_holds_it() {
        let first = PLUGINS.plug_in("mine", Arc::new(|| 1));
        let second = PLUGINS.plug_in("mine", Arc::new(|| 2));
        assert_eq!((first.name(), second.name(), second.axis()), ("mine", "mine#2", "victim"));
        assert_eq!((PLUGINS.made("mine")(), PLUGINS.made("mine#2")()), (1, 2));
        drop(first);
        assert!(PLUGINS.get("mine").is_none() && PLUGINS.check("mine#2").is_ok());
        let error = PLUGINS.check("mine").unwrap_err();
        assert_eq!((error.key.as_str(), error.message.as_str()), ("victim.name", "there is no plugin `mine`"));
        let unwound = std::panic::catch_unwind(|| PLUGINS.made("mine")).err().expect("it is gone");
        assert_eq!(
            unwound.downcast_ref::<Fault>().expect("a fault").to_string(),
            "`victim` plugin `mine` was taken away before the run began"
        );
    }
}
