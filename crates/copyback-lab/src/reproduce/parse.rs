//! Parses a table `[[claim]]` to a claim.

use super::cells::{Coordinates, is_same};
use super::claim::{Aggregate, Cause, Claim, Kind, Measure, Origin, OverSeeds, Test};
use super::metric::Metric;
use super::verdict::{Published, Rule};
use crate::sweep::file::SweepFile;
use crate::sweep::text::{Entry, Node, Table, Value};
use copyback::config::layers::{LayerError, Located, TextSpan, suggestion};
use copyback::config::renamed;

const KINDS: &[(&str, Kind)] = &[
    ("claim", Kind::Claim),
    ("calibrated", Kind::Calibrated),
    ("construction", Kind::Construction),
    ("own", Kind::Own),
];
const MEASURES: &[(&str, Measure)] = &[
    ("change", Measure::Change),
    ("times", Measure::Times),
    ("points", Measure::Points),
    ("trend", Measure::Trend),
    ("rise", Measure::Rise),
    ("share", Measure::Share),
    ("figure", Measure::Figure),
];
const AGGREGATES: &[(&str, Aggregate)] = &[
    ("mean", Aggregate::Mean),
    ("geometric-mean", Aggregate::GeometricMean),
    ("min", Aggregate::Min),
    ("max", Aggregate::Max),
    ("each", Aggregate::Each),
];

const ORIGINS: &[(&str, Origin)] = &[
    ("decision", Origin::Decision),
    ("trace", Origin::Trace),
    ("arithmetic", Origin::Arithmetic),
    ("comparison", Origin::Comparison),
    ("not-explained", Origin::NotExplained),
];

const OVER_SEEDS: &[(&str, OverSeeds)] = &[("mean", OverSeeds::Mean), ("median", OverSeeds::Median)];

impl Claim {
    /// Reads the claims of a file.
    pub fn of_file(file: &SweepFile) -> Result<Vec<Self>, LayerError> {
        for scheme in &file.null {
            label_of(scheme.clone(), file)?;
        }
        let mut claims = Vec::new();
        for table in &file.claims {
            let mut table = table.clone();
            match table.take_text("for_each")? {
                None => claims.push(Self::read(table, file)?),
                Some(key) => claims.extend(for_each(&key, Self::read(table, file)?, file)?),
            }
        }
        Ok(claims)
    }

    fn read(mut table: Table, file: &SweepFile) -> Result<Self, LayerError> {
        let figure = needed(&mut table, "figure")?.value;
        let text = needed(&mut table, "text")?.value;
        let source = needed(&mut table, "where")?.value;
        let kind = choice(&mut table, "kind", KINDS)?;
        let quote = table.take_text("quote")?.map(|quote| quote.value);
        let cause = cause(&mut table)?;
        if let Some(why) = table.take_text("not_measured")? {
            table.finish()?;
            return Ok(Self { figure, text, source, kind, quote, cause, test: Err(why.value) });
        }
        let test = test(table, file, kind)?;
        Ok(Self { figure, text, source, kind, quote, cause, test: Ok(test) })
    }
}

/// The cause of a miss: its origin, and a sentence.
fn cause(table: &mut Table) -> Result<Option<Cause>, LayerError> {
    let place = table.place.clone();
    let origin = table.has("origin").then(|| choice(table, "origin", ORIGINS)).transpose()?;
    match (origin, table.take_text("cause")?) {
        (None, None) => Ok(None),
        (Some(origin), Some(text)) => Ok(Some(Cause { origin, text: text.value })),
        _ => {
            let error = LayerError::new("a cause needs its origin, and an origin its cause");
            Err(error.with_help("write `origin` and `cause`, or neither").at(Some(place)))
        }
    }
}

/// A copy of the claim for each value of a key that the file varies.
fn for_each(key: &Located, claim: Claim, file: &SweepFile) -> Result<Vec<Claim>, LayerError> {
    let wrong = |error: LayerError| error.at(key.place.clone());
    let name = &key.value;
    let Some(values) = known_values(file, name) else {
        let keys = ["case", "device"].into_iter().chain(file.vary.iter().map(|vary| vary.key.as_str()));
        let error = LayerError::new(format!("no cells differ in `{name}`"));
        return Err(wrong(error.with_help(suggestion(name, "keys", keys))));
    };
    if claim.test.as_ref().is_ok_and(|test| test.cells.iter().chain(&test.base_cells).any(|(key, _)| key == name)) {
        let error = LayerError::new(format!("the claim is judged for each `{name}`, and also names values of it"));
        return Err(wrong(error.with_help("leave one of the two out")));
    }
    let of_value = |value: toml::Value| {
        let mut claim = claim.clone();
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        claim.text = format!("{}; {name} = {shown}", claim.text);
        if let Ok(test) = &mut claim.test {
            test.cells.push((name.clone(), vec![value]));
        }
        claim
    };
    Ok(values.into_iter().map(of_value).collect())
}

fn needed(table: &mut Table, key: &'static str) -> Result<Located, LayerError> {
    let text = table.take_text(key)?;
    text.ok_or_else(|| table.lacks(key))
}

fn test(mut table: Table, file: &SweepFile, kind: Kind) -> Result<Test, LayerError> {
    let place = table.place.clone();
    let metric = Metric::parse(needed(&mut table, "metric")?)?;
    let scheme = label_of(needed(&mut table, "scheme")?, file)?;
    let against = table.take_text("against")?.map(|against| label_of(against, file)).transpose()?;
    let measure = choice(&mut table, "measure", MEASURES)?;
    let unit = table.take_text("unit")?.map(|unit| unit.value);
    let aggregate = choice(&mut table, "aggregate", AGGREGATES)?;
    let cells = coordinates(&mut table, "cells", file)?;
    let base_cells = coordinates(&mut table, "base_cells", file)?;
    let own_null = table.take_texts_or_none("null")?;
    let over_seeds = choice(&mut table, "over_seeds", OVER_SEEDS)?;
    let samples = table.take_text("samples")?.map(Metric::parse).transpose()?;
    let requires = table.take_text("requires")?.map(Metric::parse).transpose()?;
    let requires_at_least = table.take_float("requires_at_least")?;
    let (tolerance, tolerance_reason) = tolerance(&mut table)?;
    let published = published(&mut table, measure, aggregate, &place)?;
    let wrong = |message: &str, help: &str| LayerError::new(message).with_help(help).at(Some(place.clone()));
    if !measure.is_figure() && against.is_none() && base_cells.is_empty() {
        let help = "name a scheme: against = ..., or cells: base_cells = { ... }";
        return Err(wrong("the claim has no base of comparison", help));
    }
    if !measure.is_figure() && against.as_ref() == Some(&scheme) && base_cells.is_empty() {
        return Err(wrong("the claim compares a scheme with itself", "name another scheme: against = ..."));
    }
    if measure.has_unit() != unit.is_some() {
        let help = "write for example measure = \"figure\", unit = \"ms\"";
        return Err(wrong("a figure and a rise need a `unit`, and other measures have none", help));
    }
    if requires_at_least.is_some() && requires.is_none() {
        return Err(wrong("`requires_at_least` needs `requires`", "write for example requires = \"writes\", too"));
    }
    let rule = Rule { published, tolerance };
    let compares_schemes = !measure.is_figure() && against.as_ref().is_some_and(|against| *against != scheme);
    let against = against.unwrap_or_else(|| scheme.clone());
    let is_about_an_idea = matches!(kind, Kind::Claim | Kind::Own) && compares_schemes && !rule.says_nothing_changes();
    let compared = [Some(&scheme), compares_schemes.then_some(&against)];
    let null = null_of(own_null, file, is_about_an_idea, compared)?;
    let unit = unit.unwrap_or_default();
    Ok(Test {
        metric,
        scheme,
        against,
        measure,
        unit,
        cells,
        base_cells,
        aggregate,
        over_seeds,
        samples,
        rule,
        tolerance_reason,
        null,
        requires,
        requires_at_least,
    })
}

/// The name in results of a scheme of the file.
fn label_of(name: Located, file: &SweepFile) -> Result<String, LayerError> {
    if file.schemes.iter().any(|scheme| scheme.value == name.value) {
        return Ok(file.label_of(&name));
    }
    let known = file.schemes.iter().map(|scheme| scheme.value.as_str());
    let error = LayerError::new(format!("the file has no scheme `{}`", name.value));
    Err(error.with_help(suggestion(&name.value, "its schemes", known)).at(name.place))
}

/// One of several words; the first if the key is not there.
fn choice<T: Copy>(table: &mut Table, key: &'static str, choices: &[(&str, T)]) -> Result<T, LayerError> {
    let Some(word) = table.take_text(key)? else { return Ok(choices[0].1) };
    let chosen = choices.iter().find(|(name, _)| *name == word.value).map(|(_, choice)| *choice);
    chosen.ok_or_else(|| {
        let error = LayerError::new(format!("`{key}` cannot be `{}`", word.value));
        error.with_help(suggestion(&word.value, "choices", choices.iter().map(|(name, _)| *name))).at(word.place)
    })
}

/// The null controls of a claim: its own, else those of the file for a claim about an idea. `compared`: the schemes of
/// the claim.
fn null_of(
    own: Option<Vec<Located>>,
    file: &SweepFile,
    is_about_an_idea: bool,
    compared: [Option<&String>; 2],
) -> Result<Vec<String>, LayerError> {
    let is_compared = |control: &String| compared.contains(&Some(control));
    match own {
        Some(named) => own_null_of(named, file, is_compared),
        None if !is_about_an_idea => Ok(Vec::new()),
        // A file's list is for all of its claims. A scheme that a claim compares cannot be that claim's control.
        None => Ok(file.null.iter().map(|scheme| file.label_of(scheme)).filter(|null| !is_compared(null)).collect()),
    }
}

/// The claim's own null controls, which replace those of the file; an empty list means none. A control that shows
/// nothing is refused.
fn own_null_of(
    named: Vec<Located>,
    file: &SweepFile,
    is_compared: impl Fn(&String) -> bool,
) -> Result<Vec<String>, LayerError> {
    let mut controls = Vec::new();
    for name in named {
        let place = name.place.clone();
        let wrong = |message: String, help: &str| Err(LayerError::new(message).with_help(help).at(place));
        let control = label_of(name, file)?;
        if is_compared(&control) {
            let message = format!("`{control}` is compared by the claim, so it cannot be its control");
            return wrong(message, "name a scheme that lacks the idea, or null = [] for none");
        }
        if controls.contains(&control) {
            return wrong(format!("the control `{control}` is there twice"), "name it once");
        }
        controls.push(control);
    }
    Ok(controls)
}

/// The tolerance of an effect, and its reason.
fn tolerance(table: &mut Table) -> Result<(Option<f64>, Option<String>), LayerError> {
    let place = table.place.clone();
    let wrong = |message: &str, help: &str| LayerError::new(message).with_help(help).at(Some(place));
    match (table.take_float("tolerance")?, table.take_text("tolerance_reason")?) {
        (None, None) => Ok((None, None)),
        (Some(tolerance), Some(_)) if tolerance <= 0.0 => {
            Err(wrong("a tolerance is above 0", "leave it out to use the tolerance of the rule"))
        }
        (Some(_), Some(reason)) if reason.value.trim().is_empty() => {
            let error = LayerError::new("`tolerance_reason` gives no reason");
            Err(error
                .with_help(
                    "state the reason of the tolerance, for example the rounding of \
                                 figures",
                )
                .at(reason.place))
        }
        (Some(tolerance), Some(reason)) => Ok((Some(tolerance), Some(reason.value))),
        _ => Err(wrong("a tolerance needs its reason", "write `tolerance` and `tolerance_reason`, or neither")),
    }
}

/// The published figure. Its keys are read last, so that a misspelt key is reported before a missing one.
fn published(
    table: &mut Table,
    measure: Measure,
    aggregate: Aggregate,
    place: &TextSpan,
) -> Result<Published, LayerError> {
    const DIRECTIONS: &[(&str, Published)] = &[("lower", Published::Lower), ("higher", Published::Higher)];
    let wrong = |message: &str, help: &str| Err(LayerError::new(message).with_help(help).at(Some(place.clone())));
    let direction = table.has("direction").then(|| choice(table, "direction", DIRECTIONS)).transpose()?;
    let number = table.take_float("published")?;
    let (least, most) = (table.take_float("at_least")?, table.take_float("at_most")?);
    table.finish()?;
    let effect = |number: f64| if measure == Measure::Times { 100.0 * (number - 1.0) } else { number };
    match (number, direction, least.or(most)) {
        (None, None, None) => {
            wrong("the claim has no published effect", "give it `published = NUMBER` or `direction = \"lower\"`")
        }
        (Some(number), None, None) => {
            let published =
                if measure.is_figure() { Published::Figure(number) } else { Published::Effect(effect(number)) };
            let is_nothing = Rule { published, tolerance: None }.says_nothing_changes();
            if aggregate == Aggregate::Each && !is_nothing {
                return wrong(
                    "`aggregate = \"each\"` needs a `direction`, bounds, or `published = 0`",
                    "use min or max for a number",
                );
            }
            Ok(published)
        }
        (None, Some(_), None) if measure.is_figure() => {
            wrong("a figure has no direction", "give it `published = NUMBER`, or bounds (`at_least`, `at_most`)")
        }
        (None, Some(direction), None) => Ok(direction),
        (None, None, Some(_)) => {
            let (least, most) = (least.map_or(f64::NEG_INFINITY, effect), most.map_or(f64::INFINITY, effect));
            if least > most {
                return wrong("`at_least` is above `at_most`", "exchange the two");
            }
            Ok(Published::Within(least, most))
        }
        _ => wrong("a claim has a `published` number, a `direction`, or bounds", "keep one of them"),
    }
}

/// Coordinates that a claim names; keys that the grid lacks, and values that no cell has, are refused.
fn coordinates(table: &mut Table, key: &'static str, file: &SweepFile) -> Result<Coordinates, LayerError> {
    let Some(inner) = table.take_table(key)? else { return Ok(Vec::new()) };
    let mut flat = Vec::new();
    inner.entries.into_iter().for_each(|entry| flatten("", entry, &mut flat));
    let mut coordinates = Coordinates::new();
    for (name, place, node) in flat {
        let known = known_values(file, &name).ok_or_else(|| {
            let keys = ["case", "device"].into_iter().chain(file.vary.iter().map(|vary| vary.key.as_str()));
            let (message, help) = match renamed::setting(&name) {
                Some(new) => (format!("`{name}` is now `{new}`"), format!("write `{new}`")),
                None => (format!("no cells differ in `{name}`"), suggestion(&name, "keys", keys)),
            };
            LayerError::new(message).with_help(help).at(Some(place))
        })?;
        let nodes = node.elements().unwrap_or_default();
        for one in &nodes {
            if !known.iter().any(|value| is_same(value, &one.plain())) {
                let list: Vec<String> = known.iter().map(ToString::to_string).collect();
                let error = LayerError::new(format!("no cell has `{name} = {}`", one.plain()));
                return Err(error.with_help(format!("values: {}", list.join(", "))).at(Some(one.place.clone())));
            }
        }
        coordinates.push((name, nodes.iter().map(Node::plain).collect()));
    }
    Ok(coordinates)
}

fn flatten(path: &str, entry: Entry, flat: &mut Vec<(String, TextSpan, Node)>) {
    let key = if path.is_empty() { entry.key } else { format!("{path}.{}", entry.key) };
    match entry.node.value {
        Value::Table(table) => table.entries.into_iter().for_each(|entry| flatten(&key, entry, flat)),
        _ => flat.push((key, entry.key_place, entry.node)),
    }
}

fn known_values(file: &SweepFile, key: &str) -> Option<Vec<toml::Value>> {
    match key {
        "case" => Some(file.cases.iter().map(|case| case.name.as_str().into()).collect()),
        "device" => Some(file.devices.iter().map(|device| device.value.as_str().into()).collect()),
        _ => {
            let vary = file.vary.iter().find(|vary| vary.key == key)?;
            Some(vary.settings.iter().map(|(value, _)| value.clone()).collect())
        }
    }
}
