//! Schemes of a sweep that are copies of another scheme with their own settings: `[[variant]]`.

use super::file::{self, Case, Setting, SweepFile};
use super::text::{Entry, Table, Value};
use crate::failure::Failure;
use crate::files;
use crate::plan::{self, ChosenScheme, NamedSet};
use crate::policies::SuppliedPolicy;
use copyback::config::layers::{LayerError, Located, suggestion};
use copyback::config::presets::{self, SCHEMES};

/// A scheme with settings that no other scheme of the file has.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name in the file and in results.
    pub name: String,
    /// The scheme that it copies: a preset or a file.
    pub of: Located,
    /// Its own settings, over all others.
    pub settings: Vec<Setting>,
    /// Settings that it has in one case only, over these.
    pub in_cases: Vec<InCase>,
}

/// The settings of a variant in one case: `[variant.cases.NAME]`.
#[derive(Clone, Debug)]
pub struct InCase {
    /// The case's name, and its place.
    case: Located,
    settings: Vec<Setting>,
}

/// The variants of a file.
pub fn of_file(table: &mut Table) -> Result<Vec<Variant>, LayerError> {
    let mut variants: Vec<Variant> = Vec::new();
    for table in table.take_tables("variant")? {
        let (variant, name) = variant(table)?;
        let is_taken = variants.iter().any(|before| before.name == variant.name);
        if is_taken || presets::find(SCHEMES, &variant.name).is_some() {
            let error = LayerError::new(format!("there is a scheme `{}` already", variant.name));
            return Err(error.with_help("give the variant another name").at(name.place));
        }
        variants.push(variant);
    }
    Ok(variants)
}

fn variant(mut table: Table) -> Result<(Variant, Located), LayerError> {
    let place = table.place.clone();
    let mut needed = |key: &'static str| table.take_text(key)?.ok_or_else(|| table.lacks(key));
    let (name, of) = (needed("name")?, needed("of")?);
    let settings = file::settings(&mut table)?;
    let in_cases = match table.take_table("cases")? {
        Some(cases) => cases.entries.into_iter().map(in_case).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    table.finish()?;
    if settings.is_empty() && in_cases.is_empty() {
        let error = LayerError::new(format!("the variant `{}` is `{}` itself", name.value, of.value));
        return Err(error.with_help("say what differs: set.trigger.soft = 53").at(Some(place)));
    }
    Ok((Variant { name: name.value.clone(), of, settings, in_cases }, name))
}

fn in_case(entry: Entry) -> Result<InCase, LayerError> {
    let case = Located { value: entry.key.clone(), place: Some(entry.key_place.clone()) };
    let Value::Table(settings) = entry.node.value else {
        let error = LayerError::new(format!("`{}` must be a table of settings", entry.key));
        return Err(error.with_help("write for example victim.policy = \"fifo\"").at(Some(entry.node.place)));
    };
    Ok(InCase { case, settings: file::settings_of(settings)? })
}

impl SweepFile {
    /// A scheme of the file with its settings in a case.
    pub fn chosen_scheme<'a>(&'a self, scheme: &'a Located, case: &str) -> ChosenScheme<'a> {
        let mut chosen = match self.variants.iter().find(|variant| variant.name == scheme.value) {
            Some(variant) => {
                let in_case = variant.in_cases.iter().filter(|in_case| in_case.case.value == case);
                let settings = variant.settings.iter().chain(in_case.flat_map(|in_case| &in_case.settings));
                ChosenScheme {
                    label: variant.name.clone(),
                    scheme: &variant.of,
                    sets: settings.map(|setting| setting.of_table("[[variant]]")).collect(),
                }
            }
            None => ChosenScheme { label: plan::label(&scheme.value), scheme, sets: Vec::new() },
        };
        let own = self.own_sets.iter().filter(|(name, _)| *name == chosen.label);
        chosen.sets.extend(own.map(|(_, set)| NamedSet::of_command_line(set.clone())));
        chosen
    }

    /// The names of the schemes.
    pub fn labels(&self) -> Vec<String> {
        self.schemes.iter().map(|scheme| self.label_of(scheme)).collect()
    }

    /// The file with the schemes of a command line instead of its own, if there are any, and with settings of single
    /// schemes: the scheme's name, and `table.key=value`.
    pub fn with_schemes(mut self, named: &[String], own_sets: Vec<(String, String)>) -> Result<Self, Failure> {
        if !named.is_empty() {
            let schemes: Result<_, LayerError> = named.iter().map(|word| self.added(word)).collect();
            self.schemes = schemes?;
        }
        let labels = self.labels();
        plan::refuse_sets_of_others(&own_sets, labels.iter().map(String::as_str))?;
        self.own_sets = own_sets;
        Ok(self)
    }

    /// Adds the policies that replace those of every scheme to the schemes' names: `baseline+Mine`. A policy of one
    /// scheme is not added, because the caller named that scheme.
    pub fn named_after(mut self, policies: &[SuppliedPolicy]) -> Self {
        for at in 0..self.schemes.len() {
            let label = self.label_of(&self.schemes[at]);
            let of_all = policies.iter().filter(|policy| policy.scheme.is_none());
            let is_replaced = |policy: &SuppliedPolicy| {
                let is_own = |own: &SuppliedPolicy| own.scheme.as_ref() == Some(&label);
                policies.iter().any(|own| is_own(own) && own.maker.axis() == policy.maker.axis())
            };
            let names: String =
                of_all.filter(|policy| !is_replaced(policy)).map(|policy| format!("+{}", policy.name)).collect();
            if names.is_empty() {
                continue;
            }
            let (of, name) = (self.schemes[at].clone(), format!("{label}{names}"));
            let variant = match self.variants.iter().find(|variant| variant.name == of.value) {
                Some(variant) => Variant { name: name.clone(), ..variant.clone() },
                None => Variant { name: name.clone(), of, settings: Vec::new(), in_cases: Vec::new() },
            };
            self.variants.push(variant);
            self.schemes[at].value.clone_from(&name);
            self.own_sets.iter_mut().filter(|(own, _)| *own == label).for_each(|(own, _)| own.clone_from(&name));
        }
        self
    }

    /// A scheme as a command line names it; one under another name is added to the variants.
    fn added(&mut self, word: &str) -> Result<Located, LayerError> {
        // Paths of a command line start from the working folder, those of a file from the file's.
        let from_here = |mut scheme: Located| {
            if files::looks_like_path(&scheme.value)
                && let Ok(path) = std::path::absolute(&scheme.value)
            {
                scheme.value = path.to_string_lossy().into_owned();
            }
            scheme
        };
        let named = plan::argument(word);
        let (name, of) = plan::named_scheme(&named)?;
        if of.value == named.value {
            return Ok(from_here(named));
        }
        let variant = match self.variants.iter().find(|variant| variant.name == of.value) {
            Some(variant) => Variant { name: name.clone(), ..variant.clone() },
            None => Variant { name: name.clone(), of: from_here(of), settings: Vec::new(), in_cases: Vec::new() },
        };
        if self.variants.iter().any(|variant| variant.name == name) {
            let error = LayerError::new(format!("there is a scheme `{name}` already"));
            return Err(error.with_help("give it a name of its own").at(named.place));
        }
        self.variants.push(variant);
        Ok(Located { value: name, ..named })
    }

    /// Finds variants that no list of schemes names.
    pub(super) fn find_idle_variants(&mut self) {
        let is_named = |name: &String| self.schemes.iter().chain(&self.null).any(|scheme| scheme.value == *name);
        let idle = self.variants.iter().map(|variant| &variant.name).filter(|name| !is_named(name));
        self.idle_variants = idle.cloned().collect();
    }

    /// The note on variants that do not run.
    pub fn note_idle_variants(&self) -> Option<String> {
        let is_added = |name: &&String| !self.schemes.iter().any(|scheme| scheme.value == **name);
        let idle: Vec<String> = self.idle_variants.iter().filter(is_added).map(|name| format!("`{name}`")).collect();
        let (is, them) = if idle.len() == 1 { ("variant", "its name") } else { ("variants", "their names") };
        (!idle.is_empty())
            .then(|| format!("Note: not run: {is} {}, as `schemes` does not have {them}\n", idle.join(", ")))
    }

    /// The name in results of a scheme of the file.
    pub fn label_of(&self, scheme: &Located) -> String {
        let is_variant = self.variants.iter().any(|variant| variant.name == scheme.value);
        if is_variant { scheme.value.clone() } else { plan::label(&scheme.value) }
    }

    /// Settings of variants, in any case.
    pub fn variant_settings(&self) -> impl Iterator<Item = &Setting> + Clone {
        self.variants.iter().flat_map(|variant| {
            variant.settings.iter().chain(variant.in_cases.iter().flat_map(|in_case| &in_case.settings))
        })
    }

    /// Refuses settings of a variant in a case that is not there.
    pub fn refuse_unknown_cases(variants: &[Variant], cases: &[Case]) -> Result<(), LayerError> {
        let named = variants.iter().flat_map(|variant| &variant.in_cases).map(|in_case| &in_case.case);
        let Some(unknown) = named.clone().find(|name| cases.iter().all(|case| case.name != name.value)) else {
            return Ok(());
        };
        let error = LayerError::new(format!("there is no case `{}`", unknown.value));
        let known = cases.iter().map(|case| case.name.as_str());
        Err(error.with_help(suggestion(&unknown.value, "cases", known)).at(unknown.place.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::PolicyMaker;
    use copyback::config::layers::Text;
    use std::path::Path;
    use std::sync::Arc;

    /// If a policy replaces that of every scheme, its name is in the names of all schemes that do not replace it.
    /// Settings of single schemes remain with them.
    #[test]
    fn schemes_are_named_after_policies_of_every_scheme() {
        let text = "schemes = [\"baseline\", \"late\", \"own\"]\nworkload = \"mixed-70-30\"\n\
                    [[variant]]\nname = \"late\"\nof = \"pgc\"\nset.trigger.soft = 3\n\
                    [[variant]]\nname = \"own\"\nof = \"pgc\"\nset.trigger.soft = 4\n";
        let text = Arc::new(Text::new("a.toml", text));
        let file = SweepFile::parse(&text, "a", Path::new(""), &|_| unreachable!("it names no other")).unwrap();
        let own_sets = vec![("baseline".to_owned(), "trigger.soft=5".to_owned())];
        let file = file.with_schemes(&[], own_sets).unwrap();
        let maker = PolicyMaker::Victim(Arc::new(|_: &_, _| unreachable!("no drive is made")));
        let policy = |scheme: Option<&str>, name: &str| SuppliedPolicy {
            scheme: scheme.map(str::to_owned),
            name: name.to_owned(),
            maker: maker.clone(),
        };
        let unchanged = file.clone().named_after(&[policy(Some("own"), "Other")]);
        let labels = |file: &SweepFile| file.schemes.iter().map(|scheme| file.label_of(scheme)).collect::<Vec<_>>();
        assert_eq!(labels(&unchanged), ["baseline", "late", "own"]);
        let file = file.named_after(&[policy(None, "Mine"), policy(Some("own"), "Other")]);
        assert_eq!(labels(&file), ["baseline+Mine", "late+Mine", "own"]);
        let chosen: Vec<_> = file.schemes.iter().map(|scheme| file.chosen_scheme(scheme, "")).collect();
        let of: Vec<_> = chosen.iter().map(|chosen| chosen.scheme.value.as_str()).collect();
        assert_eq!(of, ["baseline", "pgc", "pgc"]);
        let sets = |at: usize| chosen[at].sets.iter().map(|set| (&*set.name, &*set.argument)).collect::<Vec<_>>();
        assert_eq!(sets(0), [("--set", "trigger.soft=5")]);
        assert_eq!(sets(1), [("[[variant]]", "trigger.soft=3")]);
        assert_eq!(sets(2), [("[[variant]]", "trigger.soft=4")]);
    }
}
