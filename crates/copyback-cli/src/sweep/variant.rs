//! Schemes of a sweep that are another one with settings of their own: `[[variant]]`.

use super::file::{self, Setting, SweepFile};
use super::text::Table;
use crate::plan::{self, ChosenScheme};
use copyback::config::layers::{LayerError, Located};
use copyback::config::presets::{self, SCHEMES};

/// A scheme with settings that no other scheme of the file has.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What the file and results call it.
    pub name: String,
    /// What it is made of: a preset or a file.
    pub of: Located,
    /// Its own settings, over all others.
    pub settings: Vec<Setting>,
}

/// The variants of a file.
pub fn of_file(table: &mut Table) -> Result<Vec<Variant>, LayerError> {
    let mut variants: Vec<Variant> = Vec::new();
    for table in table.take_tables("variant")? {
        let (variant, name) = variant(table)?;
        let is_taken = variants.iter().any(|before| before.name == variant.name);
        if is_taken || presets::find(SCHEMES, &variant.name).is_some() {
            let error = LayerError::new(format!("there is a scheme `{}` already", variant.name));
            return Err(error.with_help("give the variant a name of its own").at(name.place));
        }
        variants.push(variant);
    }
    Ok(variants)
}

fn variant(mut table: Table) -> Result<(Variant, Located), LayerError> {
    let place = table.place.clone();
    let needed = |key: &str, text: Option<Located>| {
        text.ok_or_else(|| LayerError::new(format!("`{key}` of a [[variant]] is missing")).at(Some(place.clone())))
    };
    let name = needed("name", table.take_text("name")?)?;
    let of = needed("of", table.take_text("of")?)?;
    let settings = file::settings(&mut table)?;
    table.finish()?;
    if settings.is_empty() {
        let error = LayerError::new(format!("the variant `{}` is `{}` itself", name.value, of.value));
        return Err(error.with_help("say what differs: set.trigger.soft = 53").at(Some(place)));
    }
    Ok((Variant { name: name.value.clone(), of, settings }, name))
}

impl SweepFile {
    /// A scheme of the file with what it is made of.
    pub fn chosen_scheme<'a>(&'a self, scheme: &'a Located) -> ChosenScheme<'a> {
        match self.variants.iter().find(|variant| variant.name == scheme.value) {
            Some(variant) => ChosenScheme {
                label: variant.name.clone(),
                scheme: &variant.of,
                sets: variant.settings.iter().map(|setting| setting.argument.clone()).collect(),
            },
            None => ChosenScheme { label: plan::label(&scheme.value), scheme, sets: Vec::new() },
        }
    }
}
