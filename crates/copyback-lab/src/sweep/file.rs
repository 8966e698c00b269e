//! The file of a sweep: devices, schemes, workloads or named cases, varied keys, seeds.

use super::text::{Entry, Node, Table, Value};
use super::variant::{self, Variant};
use super::workload;
use crate::files::{self, Input};
use crate::plan::{self, NamedSet};
use copyback::config::layers::{LayerError, Located, Text, TextSpan, suggestion};
use copyback::run::Warmup;
use copyback_workload::printable::printable;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sweep file; all that its own text determines is checked.
#[derive(Clone, Debug)]
pub struct SweepFile {
    /// Its name: the one that it states, or the file's name without the ending.
    pub name: String,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// Folder that its paths start from.
    pub folder: PathBuf,
    /// Devices.
    pub devices: Vec<Located>,
    /// Schemes; requests are matched with the first.
    pub schemes: Vec<Located>,
    /// Schemes that are made of others, by settings of their own.
    pub variants: Vec<Variant>,
    /// Variants of this file (not of the grid that it names) that its lists of schemes do not name.
    pub idle_variants: Vec<String>,
    /// Settings of one scheme alone that the command line has: its name, and `table.key=value`.
    pub own_sets: Vec<(String, String)>,
    /// Workloads, each with settings of its own.
    pub cases: Vec<Case>,
    /// Keys that are varied, the slowest first.
    pub vary: Vec<Vary>,
    /// Settings of all cells.
    pub settings: Vec<Setting>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Requests after which runs stop.
    pub requests: Option<u64>,
    /// Requests after which quick runs stop.
    pub quick_requests: Option<u64>,
    /// The warm-up of runs.
    pub warmup: Option<Warmup>,
    /// Schemes that take part as null controls of claims, which `reproduce` reads.
    pub null: Vec<Located>,
    /// Tables `[[claim]]`, which `reproduce` reads.
    pub claims: Vec<Table>,
    /// The files that it was read from; empty if it is compiled in.
    pub inputs: Vec<Input>,
}

/// A workload and what belongs to it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in results.
    pub name: String,
    /// Its own device, instead of each of the file's.
    pub device: Option<Located>,
    /// The workload.
    pub source: Source,
    /// Its own settings.
    pub settings: Vec<Setting>,
    /// Requests after which its runs stop, instead of the file's.
    pub requests: Option<u64>,
    /// Requests after which its quick runs stop.
    pub quick_requests: Option<u64>,
    /// The warm-up of its runs, instead of the file's.
    pub warmup: Option<Warmup>,
}

/// The source of requests.
#[derive(Clone, Debug)]
pub enum Source {
    /// The file's own settings: they define a workload, which results call by this name.
    Settings(String),
    /// A preset or a TOML file.
    Workload(Located),
    /// A trace.
    Trace {
        /// Its file.
        path: Located,
        /// Whether the case is skipped if the file is missing.
        is_optional: bool,
    },
}

/// A key of the configuration and its values.
#[derive(Clone, Debug)]
pub struct Vary {
    /// The key.
    pub key: String,
    /// One setting for each value, with the value.
    pub settings: Vec<(toml::Value, Setting)>,
}

/// One key of the configuration set to a value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The key.
    pub key: String,
    /// As `--set` takes it.
    pub argument: String,
    /// The place of the key.
    pub key_place: TextSpan,
    /// The place of the value.
    value_place: TextSpan,
}

impl Setting {
    fn new(key: String, key_place: TextSpan, node: &Node) -> Self {
        let argument = format!("{key}={}", node.plain());
        Self { key, argument, key_place, value_place: node.place.clone() }
    }

    /// The value, if it is a text.
    pub fn text(&self) -> Option<String> {
        let (_, value) = self.argument.split_once('=')?;
        let table: toml::Table = format!("v = {value}").parse().ok()?;
        Some(table.get("v")?.as_str()?.to_owned())
    }

    /// The setting with the name of the file's table that has it.
    pub fn of_table(&self, table: &str) -> NamedSet {
        NamedSet { name: table.to_owned(), argument: self.argument.clone() }
    }

    /// The place in the file of an error in the argument.
    pub fn place_of(&self, place: &TextSpan) -> Option<TextSpan> {
        let is_value = place.span.start > self.key.len();
        (place.text.text == self.argument).then(|| if is_value { &self.value_place } else { &self.key_place }.clone())
    }
}

/// Keys that a file does not take over from the grid that it names.
const OWN_KEYS: &[&str] = &["name", "description", "source", "claim"];
/// Keys that replace each other.
const WORKLOAD_KEYS: &[&str] = &["workload", "workloads", "trace", "traces", "case"];

/// Keys of one thing and of several: a file has one of the two.
const ONE_OR_MANY: &[(&str, &str)] = &[("device", "devices"), ("scheme", "schemes"), ("seed", "seeds")];

/// Finds the text of another file of the same folder.
pub type Neighbour<'a> = &'a dyn Fn(&Located) -> Result<Arc<Text>, LayerError>;

impl SweepFile {
    /// Reads a file's text. `stem` is its name if the text has none.
    pub fn parse(text: &Arc<Text>, stem: &str, folder: &Path, neighbour: Neighbour<'_>) -> Result<Self, LayerError> {
        let mut table = Table::parse(text)?;
        let has_variants = table.has("variant");
        let inherited = inherit_grid(&mut table, neighbour)?;
        refuse_both(&table)?;
        let named = |name: &str| Located { value: name.to_owned(), place: None };
        let name = table.take_text("name")?.map_or_else(|| printable(stem).into_owned(), |name| name.value);
        let description = table.take_text("description")?.map(|text| text.value);
        table.take_text("source")?;
        let devices = devices(&mut table)?;
        let schemes = one_or_many(&mut table, "scheme", "schemes")?;
        let schemes = schemes.unwrap_or_else(|| vec![named("baseline"), named("ideal-no-gc")]);
        let seeds = table.take_numbers("seeds")?.or(table.take_numbers("seed")?).unwrap_or_else(|| vec![1]);
        let (vary, own) = (vary(&mut table)?, settings(&mut table)?);
        let chosen = table.take_texts("cases")?;
        let (variants, all_cases) = (variant::of_file(&mut table)?, cases(&mut table)?);
        Self::refuse_unknown_cases(&variants, &all_cases)?;
        let mut file = Self {
            name,
            description,
            folder: folder.to_path_buf(),
            devices,
            schemes,
            variants,
            idle_variants: Vec::new(),
            own_sets: Vec::new(),
            cases: chosen_of(all_cases, chosen)?,
            settings: overridden_by(inherited, own, &vary),
            vary,
            seeds,
            requests: table.take_number("requests", 1)?,
            quick_requests: table.take_number("quick_requests", 1)?,
            warmup: table.take_warmup()?,
            null: table.take_texts_or_none("null")?.unwrap_or_default(),
            claims: table.take_tables("claim")?,
            inputs: Vec::new(),
        };
        refuse_array(&table)?;
        table.finish()?;
        if has_variants {
            file.find_idle_variants();
        }
        file.refuse_settings_that_vary()?;
        workload::take_from_settings(&mut file);
        Ok(file)
    }

    /// Adds a setting, as `--set` takes it, to one case.
    pub fn add_to_case(&mut self, case: &str, set: &str) -> Result<(), LayerError> {
        let Some(own) = self.cases.iter().position(|own| own.name == case) else {
            let known = self.cases.iter().map(|case| case.name.as_str());
            let error = LayerError::new(format!("there is no case `{case}`"));
            return Err(error.with_help(suggestion(case, "cases", known)));
        };
        let text = Arc::new(Text::new(format!("{case}@{set}"), set));
        let added = settings_of(Table::parse(&text)?)?;
        let settings = &mut self.cases[own].settings;
        settings
            .retain(|before| !added.iter().any(|set| plan::replaces_share_of_reads(&set.argument, &before.argument)));
        settings.extend(added);
        Ok(())
    }

    fn refuse_settings_that_vary(&self) -> Result<(), LayerError> {
        let own = self.cases.iter().flat_map(|case| &case.settings).chain(&self.settings);
        let varies = |setting: &&Setting| self.vary.iter().any(|vary| vary.key == setting.key);
        match own.clone().find(varies) {
            Some(setting) => Err(LayerError::new(format!("`{}` is set here and varied in [vary]", setting.key))
                .with_help("remove one of the two")
                .at(Some(setting.key_place.clone()))),
            None => Ok(()),
        }
    }
}

/// Adds the keys of the grid that a file names. Returns the grid's settings.
fn inherit_grid(table: &mut Table, neighbour: Neighbour<'_>) -> Result<Vec<Setting>, LayerError> {
    let Some(name) = table.take_text("grid")? else { return Ok(Vec::new()) };
    let mut grid = Table::parse(&neighbour(&name)?)?;
    let inherited = settings(&mut grid)?;
    overlay(table, grid, &name)?;
    Ok(inherited)
}

/// The texts of a key that has two names, for one text and for several.
fn one_or_many(table: &mut Table, one: &'static str, many: &'static str) -> Result<Option<Vec<Located>>, LayerError> {
    Ok(table.take_texts(many)?.or(table.take_texts(one)?))
}

/// The devices of a file. Repeated devices are refused.
fn devices(table: &mut Table) -> Result<Vec<Located>, LayerError> {
    let default = || vec![Located { value: "small".to_owned(), place: None }];
    let devices = one_or_many(table, "device", "devices")?.unwrap_or_else(default);
    refuse_twins("device", devices.iter().map(|device| (device.value.clone(), device.place.clone())))?;
    refuse_devices_of_one_name(&devices)?;
    Ok(devices)
}

/// Inherited settings that a file does not replace, and its own settings.
fn overridden_by(mut inherited: Vec<Setting>, own: Vec<Setting>, vary: &[Vary]) -> Vec<Setting> {
    let replaced: BTreeSet<&String> = own.iter().map(|own| &own.key).chain(vary.iter().map(|vary| &vary.key)).collect();
    inherited.retain(|setting| !replaced.contains(&setting.key));
    inherited.into_iter().chain(own).collect()
}

/// Refuses a table `[array]`: in a sweep, settings describe the array.
fn refuse_array(table: &Table) -> Result<(), LayerError> {
    let Some(array) = table.entries.iter().find(|entry| entry.key == "array") else { return Ok(()) };
    let help = "set the array's keys: [set] array.level = \"raid-5\", or [vary] array.drives = [2, 4, 8]";
    let error = LayerError::new("`array` is no key of a file of many runs").with_help(help);
    Err(error.at(Some(array.key_place.clone())))
}

/// Refuses repeated names that make cells: they would be the same cells, and count double.
fn refuse_twins(what: &str, named: impl Iterator<Item = (String, Option<TextSpan>)>) -> Result<(), LayerError> {
    let mut seen = BTreeSet::new();
    for (name, place) in named {
        if seen.contains(&name) {
            let error =
                LayerError::new(format!("{what} `{name}` is there twice: its cells would be run and counted twice"));
            return Err(error.with_help("name each once").at(place));
        }
        seen.insert(name);
    }
    Ok(())
}

/// Refuses two devices with one name in results: a preset, and a file of its name.
fn refuse_devices_of_one_name(devices: &[Located]) -> Result<(), LayerError> {
    let mut seen = BTreeSet::new();
    let twin = devices.iter().find(|device| !seen.insert(super::grid::device_name(device)));
    let Some(device) = twin else { return Ok(()) };
    let error = LayerError::new(format!("results call two devices `{}`", super::grid::device_name(device)));
    Err(error.with_help("give the file another name, or name one of the two").at(device.place.clone()))
}

/// Refuses a key in two spellings, `a.b` and `"a.b"`: to TOML they are two keys.
fn refuse_twin_keys<'a>(keys: impl Iterator<Item = (&'a String, &'a TextSpan)>) -> Result<(), LayerError> {
    let mut seen = BTreeSet::new();
    for (key, place) in keys {
        if !seen.insert(key) {
            let error = LayerError::new(format!("`{key}` is there twice, in two spellings"));
            return Err(error.with_help("write it once").at(Some(place.clone())));
        }
    }
    Ok(())
}

/// A key without the blanks around its dots, as settings have it.
pub fn normalised_key(key: &str) -> String {
    key.split('.').map(str::trim).collect::<Vec<_>>().join(".")
}

/// A value as labels and settings write it: 1 and 1.0 are equal, and so are 1 and "1".
fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::Float(number) => number.to_string(),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Refuses a key of one thing beside the key of several: one of them would be ignored.
fn refuse_both(file: &Table) -> Result<(), LayerError> {
    let Some((one, many)) = ONE_OR_MANY.iter().find(|(one, many)| file.has(one) && file.has(many)) else {
        return Ok(());
    };
    let place = file.entries.iter().find(|entry| entry.key == *one).map(|entry| entry.key_place.clone());
    let error = LayerError::new(format!("`{one}` and `{many}` are both set, but a sweep takes one of them"));
    Err(error.with_help(format!("put all of them into `{many}`, and remove `{one}`")).at(place))
}

/// Applies the keys of a file over the grid that it names.
fn overlay(file: &mut Table, grid: Table, named: &Located) -> Result<(), LayerError> {
    if grid.has("grid") {
        let error = LayerError::new(format!("{} takes its own grid from another file", named.value));
        return Err(error.with_help("name that file").at(named.place.clone()));
    }
    let has_workloads = WORKLOAD_KEYS.iter().any(|key| file.has(key));
    for entry in grid.entries {
        let key = entry.key.as_str();
        let is_replaced = file.has(key)
            || OWN_KEYS.contains(&key)
            || (has_workloads && WORKLOAD_KEYS.contains(&key))
            || ONE_OR_MANY.iter().any(|(one, many)| (key == *one && file.has(many)) || (key == *many && file.has(one)));
        if !is_replaced {
            file.entries.push(entry);
        }
    }
    Ok(())
}

/// The cases that `cases` names, in the order of the file; all without it.
fn chosen_of(mut cases: Vec<Case>, chosen: Option<Vec<Located>>) -> Result<Vec<Case>, LayerError> {
    let Some(chosen) = chosen else { return Ok(cases) };
    let names: BTreeSet<&String> = cases.iter().map(|case| &case.name).collect();
    if let Some(unknown) = chosen.iter().find(|name| !names.contains(&name.value)) {
        let error = LayerError::new(format!("there is no case `{}`", unknown.value));
        let known = cases.iter().map(|case| case.name.as_str());
        return Err(error.with_help(suggestion(&unknown.value, "cases", known)).at(unknown.place.clone()));
    }
    let chosen: BTreeSet<&String> = chosen.iter().map(|name| &name.value).collect();
    cases.retain(|case| chosen.contains(&case.name));
    Ok(cases)
}

fn cases(table: &mut Table) -> Result<Vec<Case>, LayerError> {
    let mut cases = Vec::new();
    for key in ["workload", "workloads"] {
        for workload in table.take_texts(key)?.unwrap_or_default() {
            cases.push(Case::plain(Source::Workload(workload)));
        }
    }
    for key in ["trace", "traces"] {
        for path in table.take_texts(key)?.unwrap_or_default() {
            cases.push(Case::plain(Source::Trace { path, is_optional: false }));
        }
    }
    for case in table.take_tables("case")? {
        cases.push(self::case(case)?);
    }
    if cases.is_empty() {
        let value = crate::workloads::DEFAULT.to_owned();
        cases.push(Case::plain(Source::Workload(Located { value, place: None })));
    }
    let mut names = BTreeSet::new();
    for case in &cases {
        if !names.insert(&case.name) {
            let place = match &case.source {
                Source::Workload(name) | Source::Trace { path: name, .. } => name.place.clone(),
                Source::Settings(_) => None,
            };
            let error = LayerError::new(format!("two cases are called `{}`", case.name));
            return Err(error.with_help("give each [[case]] a `name` of its own").at(place));
        }
    }
    Ok(cases)
}

impl Case {
    fn plain(source: Source) -> Self {
        let name = match &source {
            Source::Workload(name) | Source::Trace { path: name, .. } => stem(&name.value),
            Source::Settings(name) => name.clone(),
        };
        Self { name, device: None, source, settings: Vec::new(), requests: None, quick_requests: None, warmup: None }
    }
}

/// A preset's name, or a file's without folder and ending.
fn stem(name: &str) -> String {
    let is_file = files::looks_like_path(name) || name.contains('.');
    let file = Path::new(name).file_name().filter(|_| is_file).map(|file| file.to_string_lossy().into_owned());
    file.map_or_else(|| name.to_owned(), |file| file.split('.').next().unwrap_or(name).to_owned())
}

fn case(mut table: Table) -> Result<Case, LayerError> {
    let name = table.take_text("name")?;
    let is_optional = table.take_bool("optional")?.unwrap_or(false);
    let source = match (table.take_text("workload")?, table.take_text("trace")?) {
        (Some(workload), None) => Source::Workload(workload),
        (None, Some(path)) => Source::Trace { path, is_optional },
        (None, None) => Source::Workload(Located { value: crate::workloads::DEFAULT.to_owned(), place: None }),
        (Some(_), Some(path)) => {
            let error = LayerError::new("a case has a workload or a trace, not both");
            return Err(error.with_help("remove one of the two").at(path.place));
        }
    };
    let plain = Case::plain(source);
    let case = Case {
        name: name.map_or_else(|| plain.name.clone(), |name| name.value),
        device: table.take_text("device")?,
        settings: settings(&mut table)?,
        requests: table.take_number("requests", 1)?,
        quick_requests: table.take_number("quick_requests", 1)?,
        warmup: table.take_warmup()?,
        ..plain
    };
    table.finish()?;
    Ok(case)
}

/// The table `[set]`: keys of the configuration, in tables or with dots.
pub fn settings(table: &mut Table) -> Result<Vec<Setting>, LayerError> {
    table.take_table("set")?.map_or(Ok(Vec::new()), settings_of)
}

/// The keys of such a table.
pub fn settings_of(table: Table) -> Result<Vec<Setting>, LayerError> {
    let mut settings = Vec::new();
    table.entries.into_iter().for_each(|entry| flatten("", entry, &mut settings));
    refuse_twin_keys(settings.iter().map(|setting| (&setting.key, &setting.key_place)))?;
    Ok(settings)
}

fn flatten(path: &str, entry: Entry, settings: &mut Vec<Setting>) {
    let key = if path.is_empty() { entry.key } else { format!("{path}.{}", entry.key) };
    match entry.node.value {
        Value::Table(table) => table.entries.into_iter().for_each(|entry| flatten(&key, entry, settings)),
        _ => settings.push(Setting::new(normalised_key(&key), entry.key_place, &entry.node)),
    }
}

/// The table `[vary]`: keys of the configuration, each with a list of values.
fn vary(table: &mut Table) -> Result<Vec<Vary>, LayerError> {
    let Some(table) = table.take_table("vary")? else { return Ok(Vec::new()) };
    let mut varied = Vec::new();
    table.entries.into_iter().try_for_each(|entry| vary_below("", entry, &mut varied))?;
    refuse_twin_keys(varied.iter().map(|vary| (&vary.key, &vary.settings[0].1.key_place)))?;
    Ok(varied)
}

fn vary_below(path: &str, entry: Entry, varied: &mut Vec<Vary>) -> Result<(), LayerError> {
    let key = if path.is_empty() { entry.key } else { format!("{path}.{}", entry.key) };
    let values = match entry.node.value {
        Value::Table(table) => return table.entries.into_iter().try_for_each(|entry| vary_below(&key, entry, varied)),
        Value::List(values) if !values.is_empty() => values,
        Value::List(_) => {
            return Err(LayerError::new(format!("`{key}` has no values: the grid has no cell"))
                .with_help("give it one, or remove the key")
                .at(Some(entry.node.place)));
        }
        Value::Leaf(_) => {
            return Err(LayerError::new(format!("`{key}` must be a list of values"))
                .with_help(format!("write for example [0.05, 0.1]; a single value belongs into [set]: {key} = ..."))
                .at(Some(entry.node.place)));
        }
    };
    let key = normalised_key(&key);
    refuse_twins(&key, values.iter().map(|node| (shown(&node.plain()), Some(node.place.clone()))))?;
    let setting = |node: &Node| (node.plain(), Setting::new(key.clone(), entry.key_place.clone(), node));
    varied.push(Vary { settings: values.iter().map(setting).collect(), key });
    Ok(())
}

/// The default name of a sweep: the name of its file without the ending.
pub fn default_name(path: &Path) -> String {
    path.file_stem().map_or_else(|| "sweep".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
