//! Policies that a program which calls this one hands in: each axis that takes them has a registry of its own, and a
//! configuration names one of it (`policy = "plugin"`, `name = "MyVictim"`).
//!
//! Policies belong to a [`Scope`]: those of one call, for example. A name is unique within its scope only, so that
//! policies of other or earlier calls change no name in a result. A configuration is read within a scope, and keeps it
//! with the name ([`PluginName`]); the scope is not written out.
//!
//! They exist as long as their owner holds a [`Plugged`]. Their answers are checked at each call; a wrong answer, or
//! none, ends the run ([`fail`]).

use super::KeyError;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What names of policies are looked up in. The default is the scope of a process that makes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope(u64);

thread_local! {
    static CURRENT: Cell<Scope> = const { Cell::new(Scope(0)) };
}

impl Scope {
    /// A scope without policies.
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self(MADE.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Reads configurations of this thread within the scope, for as long as the returned value lives.
    pub fn enter(self) -> Entered {
        Entered { before: CURRENT.replace(self), of_thread: PhantomData }
    }
}

/// A scope in which a thread reads configurations.
pub struct Entered {
    before: Scope,
    of_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// A configuration's reference to a policy: the name that results show, and the scope in which it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginName {
    scope: Scope,
    name: String,
}

impl PluginName {
    /// The name that results show.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl Serialize for PluginName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for PluginName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { scope: CURRENT.get(), name: String::deserialize(deserializer)? })
    }
}

/// What makes the policies of one axis, by scope and name.
pub struct Plugins<F: ?Sized + Send + Sync + 'static> {
    axis: &'static str,
    kept: Mutex<BTreeMap<PluginName, Arc<F>>>,
}

impl<F: ?Sized + Send + Sync> Plugins<F> {
    /// None yet.
    pub const fn new(axis: &'static str) -> Self {
        Self { axis, kept: Mutex::new(BTreeMap::new()) }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<PluginName, Arc<F>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a policy to a scope, under this name or, if the scope has one of that name, with a number behind it.
    pub fn plug_in(&'static self, scope: Scope, name: &str, make: Arc<F>) -> Plugged {
        let mut kept = self.kept();
        let numbered = std::iter::once(name.to_owned()).chain((2_u32..).map(|number| format!("{name}#{number}")));
        let mut names = numbered.map(|name| PluginName { scope, name });
        let named = names.find(|named| !kept.contains_key(named)).expect("there are names enough");
        kept.insert(named.clone(), make);
        let (name, gone) = (named.name.clone(), named);
        // Dropped when the lock is free again: the policy's own code may run then.
        let pull = Box::new(move || {
            let gone = self.kept().remove(&gone);
            drop(gone);
        });
        Plugged { axis: self.axis, name, pull: Some(pull) }
    }

    /// What makes the policy of this name.
    pub fn get(&self, named: &PluginName) -> Option<Arc<F>> {
        self.kept().get(named).cloned()
    }

    /// What makes the policy of this name, which a checked configuration has.
    ///
    /// # Panics
    /// By [`fail`], if its owner has taken it away since.
    pub fn made(&self, named: &PluginName) -> Arc<F> {
        self.get(named).unwrap_or_else(|| fail(self.axis, &named.name, "was taken away before the run began", None))
    }

    /// Checks that there is a policy of this name.
    pub fn check(&self, named: &PluginName) -> Result<(), KeyError> {
        if self.kept().contains_key(named) {
            return Ok(());
        }
        let what = match named.as_str() {
            "" => "a plugin needs a name".to_owned(),
            name => format!("there is no plugin `{name}`"),
        };
        let help = "only a program that calls Copyback can register policies (Python: copyback.run(policies=...)); \
                    name one of Copyback's own";
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
pub fn named<'de, D: Deserializer<'de>, P: DeserializeOwned>(deserializer: D) -> Result<(PluginName, P), D::Error> {
    let mut table = toml::Table::deserialize(deserializer)?;
    let name = match table.remove("name") {
        None => PluginName::default(),
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
/// Always, with a [`Fault`] that the caller of the simulation catches.
pub fn fail(axis: &'static str, name: &str, what: impl Into<String>, help: Option<&str>) -> ! {
    let fault = Fault { axis, name: name.to_owned(), what: what.into(), help: help.map(str::to_owned) };
    // The panic hook stays silent: it is no defect of this program.
    std::panic::resume_unwind(Box::new(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    static PLUGINS: Plugins<dyn Fn() -> u32 + Send + Sync> = Plugins::new("victim");

    fn named(scope: Scope, name: &str) -> PluginName {
        let _within = scope.enter();
        toml::Value::from(name).try_into().expect("any text is a name")
    }

    #[test]
    fn a_plugin_is_there_while_somebody_holds_it() {
        let scope = Scope::new();
        let first = PLUGINS.plug_in(scope, "mine", Arc::new(|| 1));
        let second = PLUGINS.plug_in(scope, "mine", Arc::new(|| 2));
        assert_eq!((first.name(), second.name(), second.axis()), ("mine", "mine#2", "victim"));
        let (mine, other) = (named(scope, "mine"), named(scope, "mine#2"));
        assert_eq!((PLUGINS.made(&mine)(), PLUGINS.made(&other)()), (1, 2));
        drop(first);
        assert!(PLUGINS.get(&mine).is_none() && PLUGINS.check(&other).is_ok());
        let error = PLUGINS.check(&mine).unwrap_err();
        assert_eq!((error.key.as_str(), error.message.as_str()), ("victim.name", "there is no plugin `mine`"));
        let unwound = std::panic::catch_unwind(|| PLUGINS.made(&named(scope, "mine"))).err().expect("it is gone");
        assert_eq!(
            unwound.downcast_ref::<Fault>().expect("a fault").to_string(),
            "`victim` plugin `mine` was taken away before the run began"
        );
    }

    #[test]
    fn a_scope_has_names_of_its_own_that_are_written_without_it() {
        let (one, other) = (Scope::new(), Scope::new());
        let first = PLUGINS.plug_in(one, "same", Arc::new(|| 1));
        let second = PLUGINS.plug_in(other, "same", Arc::new(|| 2));
        assert_eq!((first.name(), second.name()), ("same", "same"));
        let (mine, theirs) = (named(one, "same"), named(other, "same"));
        assert_eq!((PLUGINS.made(&mine)(), PLUGINS.made(&theirs)()), (1, 2));
        assert_ne!(mine, theirs);
        let written = |name: &PluginName| toml::Value::try_from(name).expect("a text");
        assert_eq!((written(&mine), written(&theirs)), ("same".into(), "same".into()));
        assert!(PLUGINS.check(&named(Scope::default(), "same")).is_err(), "scopes see each other");
    }
}
