//! Schemes of a command line: presets or files, which may have another name and their own settings.
//!
//! `NAME=OF` among the schemes is the scheme `OF`, called `NAME`; `--set NAME:table.key=value` is a setting of the
//! scheme of that name alone.

use super::{Layers, argument, label};
use crate::failure::Failure;
use copyback::config::layers::{Layer, LayerError, Located, SetTwice, set_twice, suggestion};
use copyback::config::presets::{self, SCHEMES};
use copyback::host::config::HostMode;

/// A scheme of a command.
pub(super) struct NamedScheme {
    /// Its name in results.
    pub label: String,
    /// How the command line names it.
    pub word: String,
    /// The preset or file.
    pub scheme: Located,
    /// Its own settings, over all others.
    pub own: Option<Layer>,
}

/// The settings of all schemes, and settings of single schemes, each with the scheme's name.
pub fn split(sets: &[String]) -> (Vec<String>, Vec<(String, String)>) {
    let (mut of_all, mut of_one) = (Vec::new(), Vec::new());
    for set in sets {
        match of_scheme(set) {
            Some((scheme, set)) => of_one.push((scheme.to_owned(), set.to_owned())),
            None => of_all.push(set.clone()),
        }
    }
    (of_all, of_one)
}

/// A note for each key that two settings of all schemes set, or two settings of one scheme. `mode`: the host's loop
/// that an option chooses, over all settings.
pub fn notes_on_repeated_keys(sets: &[String], mode: Option<HostMode>) -> Result<Vec<String>, Failure> {
    let (of_all, of_one) = split(sets);
    let replaced = Layer::of_sets(&of_all)?.place_in("host", "mode");
    let mut groups = vec![(String::new(), of_all)];
    for (scheme, set) in of_one {
        let prefix = format!("{scheme}:");
        match groups.iter_mut().find(|(known, _)| *known == prefix) {
            Some((_, sets)) => sets.push(set),
            None => groups.push((prefix, vec![set])),
        }
    }
    let mut notes = Vec::new();
    for (prefix, sets) in groups {
        for SetTwice { key, before, after } in set_twice(&sets)? {
            notes.push(format!(
                "`{prefix}{key}` is set twice: `--set {prefix}{after}` replaces `--set {prefix}{before}`"
            ));
        }
        if let Some((mode, place)) = mode.zip(replaced.as_ref()).filter(|_| prefix.is_empty()) {
            let (after, before) = (option_of_mode(mode), &place.text.text);
            notes.push(format!("`host.mode` is set twice: `{after}` replaces `--set {before}`"));
        }
    }
    Ok(notes)
}

/// Refuses two settings if one replaces the other.
pub fn refuse_repeated_keys(sets: &[String]) -> Result<(), Failure> {
    match notes_on_repeated_keys(sets, None)?.into_iter().next() {
        Some(message) => Err(Failure::input(message).with_help("leave one of them out")),
        None => Ok(()),
    }
}

/// The option that chooses a loop of the host.
pub fn option_of_mode(mode: HostMode) -> &'static str {
    match mode {
        HostMode::Open => "--open",
        HostMode::Closed => "--closed",
    }
}

/// The layer of the option that chooses a loop of the host.
pub(super) fn layer_of_mode(mode: HostMode) -> Result<Layer, LayerError> {
    let setting = match mode {
        HostMode::Open => "host.mode=open",
        HostMode::Closed => "host.mode=closed",
    };
    Layer::of_option(option_of_mode(mode), setting)
}

/// A setting of one scheme: the scheme and the setting.
pub fn of_scheme(set: &str) -> Option<(&str, &str)> {
    let key = set.split('=').next()?;
    let colon = key.find(':')?;
    Some((set[..colon].trim(), &set[colon + 1..]))
}

/// The schemes that were named, with the settings that each has alone.
pub(super) fn chosen(named: &[Located], of_one: &[(String, String)]) -> Result<Vec<NamedScheme>, Failure> {
    let mut all = Vec::new();
    for scheme in named {
        let (label, of) = named_scheme(scheme)?;
        let own: Vec<String> = of_one.iter().filter(|(name, _)| *name == label).map(|(_, set)| set.clone()).collect();
        let own = if own.is_empty() { None } else { Some(Layer::of_sets(&own)?) };
        let is_preset = presets::find(SCHEMES, &scheme.value).is_some();
        let word = if is_preset { label.clone() } else { scheme.value.clone() };
        all.push(NamedScheme { label, word, scheme: of, own });
    }
    refuse_sets_of_others(of_one, all.iter().map(|chosen| chosen.label.as_str()))?;
    Ok(all)
}

/// Refuses settings of a scheme that the command does not have.
pub fn refuse_sets_of_others<'a>(
    of_one: &[(String, String)],
    labels: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), Failure> {
    let Some((name, set)) = of_one.iter().find(|(name, _)| !labels.clone().any(|label| label == name)) else {
        return Ok(());
    };
    let message = format!("--set {name}:{set} is for a scheme `{name}`, and this command has no scheme of this name");
    Err(Failure::input(message).with_help(suggestion(name, "schemes", labels)))
}

/// The name of a scheme, and the preset or file that it is.
pub fn named_scheme(scheme: &Located) -> Result<(String, Located), LayerError> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.+".contains(c));
    let Some((name, of)) = scheme.value.split_once('=').filter(|(name, _)| is_name(name.trim())) else {
        return Ok((label(&scheme.value), scheme.clone()));
    };
    let (name, of) = (name.trim(), of.trim());
    if presets::find(SCHEMES, name).is_some() {
        let error = LayerError::new(format!("there is a scheme `{name}` already"));
        let help = format!("give it another name, or remove `{name}=`");
        return Err(error.with_help(help).at(scheme.place.clone()));
    }
    let place = scheme.place.clone();
    Ok((name.to_owned(), Located { place, ..argument(of) }))
}

impl Layers<'_> {
    /// The layers above all others of a run: settings of all schemes, and above them the scheme's own.
    pub fn sets_of(of_all: &[Layer], chosen: &NamedScheme) -> Vec<Layer> {
        of_all.iter().chain(&chosen.own).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_one_scheme_begins_with_its_name() {
        assert_eq!(of_scheme("mine:trigger.soft=0.1"), Some(("mine", "trigger.soft=0.1")));
        assert_eq!(of_scheme("trigger.soft=a:b"), None);
    }

    #[test]
    fn a_scheme_under_another_name_is_that_scheme_with_settings_of_its_own() {
        let named = ["pgc", "mine=baseline", "dir=a/b.toml"].map(argument);
        let sets = [("mine".to_owned(), "trigger.soft=0.1".to_owned())];
        let all = chosen(&named, &sets).expect("all are there");
        let seen: Vec<_> = all.iter().map(|own| (&*own.label, &*own.scheme.value, &*own.word)).collect();
        let expected =
            [("pgc", "pgc", "pgc"), ("mine", "baseline", "mine=baseline"), ("dir", "a/b.toml", "dir=a/b.toml")];
        assert_eq!(seen, expected);
        assert_eq!(all.iter().map(|own| own.own.is_some()).collect::<Vec<_>>(), [false, true, false]);
        let unknown = [("min".to_owned(), "trigger.soft=0.1".to_owned())];
        assert!(chosen(&named, &unknown).is_err(), "none is called so");
        assert!(chosen(&[argument("pgc=baseline")], &[]).is_err(), "a preset's name is taken");
    }
}
