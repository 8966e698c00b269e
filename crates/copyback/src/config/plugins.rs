//! Policies that the calling program supplies. A configuration names one (`policy = "plugin"`, `name = "MyVictim"`),
//! and holds what makes it ([`Supplied`]).
//!
//! Text holds the name only. The reader of a configuration adds the maker before the configuration is checked
//! ([`super::layers::Stack::resolve_with`]). The engine checks each answer of such a policy; a wrong answer, or none,
//! ends the run ([`fail`]).

use super::KeyError;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// A supplied policy in a configuration: the name that results show, and what makes the policy of each drive.
///
/// Text has only the name; a policy that was read from text has no maker yet.
pub struct Supplied<F: ?Sized> {
    name: String,
    make: Option<Arc<F>>,
}

impl<F: ?Sized> Supplied<F> {
    /// The name that results show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets what makes the policy; `None` if the calling program supplied no policy of this name.
    pub fn supply(&mut self, make: Option<Arc<F>>) {
        self.make = make;
    }

    /// The maker of the policy of a drive.
    ///
    /// # Panics
    /// If the configuration was not checked.
    pub fn maker(&self) -> &F {
        self.make.as_deref().expect("a checked configuration has the makers of its policies")
    }

    /// Checks that the calling program supplied the policy. `axis`: the table that names it.
    ///
    /// # Errors
    /// If it has no maker.
    pub fn check(&self, axis: &str) -> Result<(), KeyError> {
        if self.make.is_some() {
            return Ok(());
        }
        let what = match self.name() {
            "" => "a plugin needs a name".to_owned(),
            name => format!("there is no plugin `{name}`"),
        };
        let help = "only a program that calls Copyback can supply policies (Python: copyback.run(policies=...)); \
                    name one of Copyback's own";
        Err(KeyError::new(format!("{axis}.name"), what).with_help(help))
    }

    /// The address of the maker.
    fn address(&self) -> Option<*const ()> {
        self.make.as_ref().map(|make| Arc::as_ptr(make).cast())
    }
}

impl<F: ?Sized> Default for Supplied<F> {
    fn default() -> Self {
        Self { name: String::new(), make: None }
    }
}

impl<F: ?Sized> Clone for Supplied<F> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), make: self.make.clone() }
    }
}

impl<F: ?Sized> PartialEq for Supplied<F> {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), self.address()) == (other.name(), other.address())
    }
}

impl<F: ?Sized> std::fmt::Debug for Supplied<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Supplied").field(&self.name).finish()
    }
}

impl<F: ?Sized> Serialize for Supplied<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de, F: ?Sized> Deserialize<'de> for Supplied<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { name: String::deserialize(deserializer)?, make: None })
    }
}

/// Reads a table that is a plugin's name and the parameters of another policy.
///
/// # Errors
/// As those of that policy.
pub fn named<'de, D, F, P>(deserializer: D) -> Result<(Supplied<F>, P), D::Error>
where
    D: Deserializer<'de>,
    F: ?Sized,
    P: DeserializeOwned,
{
    let mut table = toml::Table::deserialize(deserializer)?;
    let name = match table.remove("name") {
        None => Supplied::default(),
        Some(name) => name.try_into().map_err(|error: toml::de::Error| D::Error::custom(error.message()))?,
    };
    let params = table.try_into().map_err(|error: toml::de::Error| D::Error::custom(error.message()))?;
    Ok((name, params))
}

/// A mistake of a supplied policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{axis}` plugin `{name}` {what}")]
pub struct Fault {
    /// Its axis.
    pub axis: &'static str,
    /// Its name.
    pub name: String,
    /// The wrong answer or the failure.
    pub what: String,
    /// The remedy for its author.
    pub help: Option<String>,
}

/// Ends a run from within a supplied policy: the run returns the fault as its error.
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

    type Make = dyn Fn() -> u32 + Send + Sync;

    fn read(name: &str) -> Supplied<Make> {
        toml::Value::from(name).try_into().expect("any text is a name")
    }

    #[test]
    fn a_name_that_was_read_needs_a_maker() {
        let mut mine = read("mine");
        let error = mine.check("victim").unwrap_err();
        assert_eq!((error.key.as_str(), error.message.as_str()), ("victim.name", "there is no plugin `mine`"));
        assert_eq!(read("").check("order").unwrap_err().message, "a plugin needs a name");
        mine.supply(Some(Arc::new(|| 1)));
        assert!(mine.check("victim").is_ok());
        assert_eq!((mine.maker())(), 1);
    }

    #[test]
    fn text_has_the_name_and_equality_the_maker() {
        let one: Arc<Make> = Arc::new(|| 1);
        let (mut first, mut second) = (read("same"), read("same"));
        first.supply(Some(one.clone()));
        second.supply(Some(one));
        assert_eq!(first, second);
        second.supply(Some(Arc::new(|| 2)));
        assert_ne!(first, second);
        let written = |name: &Supplied<Make>| toml::Value::try_from(name).expect("a text");
        assert_eq!((written(&first), written(&second)), ("same".into(), "same".into()));
        assert_eq!(format!("{first:?}"), "Supplied(\"same\")");
    }
}
