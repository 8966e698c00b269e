//! Layered configuration: later layers over earlier ones, and every value remembers the text that it came from.
//!
//! A run's configuration is a stack: built-in defaults, a device, a scheme, a workload, an experiment, `--set`. All
//! layers share one flat namespace: the tables of the [`Configuration`] and `[workload]`. A key of a later layer
//! replaces the same key of an earlier layer. There are three exceptions, in which other keys would have no meaning
//! after the replacement:
//!
//! - if a layer chooses another `policy` of an axis (`mode` of `[precondition]`, `kind` in a table of `[workload]`),
//!   the parameters of the earlier choice are dropped, except those that describe the drive ([`Kept`]);
//! - a layer's `[capacity]` replaces the earlier table whole, because its keys exclude each other;
//! - a layer that brings a trace drops an earlier generator's settings, and the other way round.
//!
//! Two defaults depend on other keys. The host's loop is closed if a generator has no arrival times, otherwise open.
//! Requests to an array go to drives if their addresses are those of a drive, otherwise to the volume.

mod decode;
mod fault;
mod merge;
mod names;
mod resolved;
mod set;
mod several;
#[cfg(test)]
mod tests;
mod tree;
#[cfg(test)]
mod type_tests;
mod wording;

use super::presets::SCHEMES;
use super::{Axis, KeyError};
use copyback_workload::spec::{Footprint, WorkloadSpec};
pub use copyback_workload::words::nearest;
pub use merge::Dropped;
pub use names::suggestion;
pub use resolved::Resolved;
use serde::{Serialize, de::DeserializeOwned};
pub use set::{SetTwice, set_twice};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tree::{Node, Table};
pub use tree::{check_printable, no_toml};

/// The author of a text of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A preset.
    Preset,
    /// A file of the user.
    #[default]
    File,
    /// Options of the command line, or arguments of a calling program.
    CommandLine,
    /// Jobs of fio.
    Fio,
    /// The program itself: its defaults.
    Program,
}

impl Origin {
    /// Whether the user chose the setting, and not a preset.
    pub fn is_users(self) -> bool {
        self != Self::Preset
    }
}

/// A text that settings come from.
#[derive(Debug)]
pub struct Text {
    /// Its name for users: a path, a preset, or an argument of the command line.
    pub name: String,
    /// All of it.
    pub text: String,
    /// Its author.
    pub origin: Origin,
}

impl Text {
    /// A text of a file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), origin: Origin::default() }
    }

    /// The text with another origin.
    #[must_use]
    pub fn of(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

/// A part of a text.
#[derive(Clone, Debug)]
pub struct Place {
    /// The text.
    pub text: Arc<Text>,
    /// Bytes of it.
    pub span: Range<usize>,
}

/// A setting that cannot be used: the mistake, its place, and a remedy.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct LayerError {
    /// The mistake, in one sentence.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The place of the value; `None` if it is a built-in default or an argument that is its own place.
    pub place: Option<Place>,
}

impl LayerError {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, place: None }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same at a place.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }
}

/// A text and its place.
#[derive(Clone, Debug)]
pub struct Located {
    /// The text.
    pub value: String,
    /// Its place.
    pub place: Option<Place>,
}

/// Parameters that are kept if a layer chooses one of these policies: all of them have these parameters, which describe
/// the drive.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The axis.
    pub table: &'static str,
    /// The policies.
    pub policies: &'static [&'static str],
    /// The parameters.
    pub keys: &'static [&'static str],
}

/// The result of the layers, without a workload. The caller that knows all parts of a configuration passes it in:
/// layers know tables and keys, and no policy.
pub trait Configuration: DeserializeOwned + Serialize {
    /// The tables that choose a `policy`.
    const AXES: &'static [Axis];
    /// The keys that another policy does not drop.
    const KEPT: &'static [Kept];
    /// The other tables.
    const OTHER_TABLES: &'static [&'static str];
    /// Checks every part and how they fit together.
    fn check(&self) -> Result<(), KeyError>;
    /// Whether the next request arrives when one ends.
    fn has_closed_loop(&self) -> bool;
    /// Lets the next request arrive when one ends.
    fn close_loop(&mut self);
    /// Whether requests name drives of an array.
    fn names_drives(&self) -> bool;
    /// Requests address drives of an array, if there is one: their addresses are those of a drive.
    fn name_drives(&mut self);
    /// The share of the logical capacity, from its start, whose every unit holds data before the run; 0 if nothing is
    /// known to be mapped. Called after the configuration was checked.
    fn mapped_share(&self) -> f64;
}

/// The table of several workloads that share a drive, a table by name for each.
pub const WORKLOADS: &str = "workloads";

/// Every table of a configuration.
pub fn tables<C: Configuration>() -> impl Iterator<Item = &'static str> + Clone {
    C::OTHER_TABLES.iter().copied().chain(["workload", WORKLOADS]).chain(C::AXES.iter().map(|axis| axis.name))
}

/// One layer: the settings of one text.
#[derive(Clone, Debug)]
pub struct Layer {
    text: Arc<Text>,
    root: Table,
}

impl Layer {
    /// Reads a TOML text of a file.
    pub fn parse(name: impl Into<String>, text: impl Into<String>) -> Result<Self, LayerError> {
        Self::parse_of(Origin::File, name, text)
    }

    /// Reads a TOML text of another origin.
    pub fn parse_of(origin: Origin, name: impl Into<String>, text: impl Into<String>) -> Result<Self, LayerError> {
        let text = Arc::new(Text::new(name, text).of(origin));
        let root = tree::parse(&text)?;
        Ok(Self { text, root })
    }

    /// Reads a text whose keys all belong to one table, as workload presets are written.
    pub fn parse_table(table: &str, name: impl Into<String>, text: impl Into<String>) -> Result<Self, LayerError> {
        let mut layer = Self::parse(name, text)?;
        layer.nest(table);
        Ok(layer)
    }

    /// Puts all keys under one table.
    pub fn nest(&mut self, table: &str) {
        let whole = Place { text: self.text.clone(), span: 0..0 };
        let inner = Node::Table(std::mem::take(&mut self.root));
        self.root.insert(
            table.to_owned(),
            tree::Entry { key: whole.clone(), value: whole, node: inner, items: tree::Items::None },
        );
    }

    /// All `--set` arguments together: they are one layer, so that their order matters only if they set the same key.
    pub fn of_sets(arguments: &[String]) -> Result<Self, LayerError> {
        set::layer(arguments)
    }

    /// The layer of an option of the command line that replaces a setting, such as `--open` for `host.mode=open`.
    pub fn of_option(option: &str, setting: &str) -> Result<Self, LayerError> {
        set::layer_of_option(option, setting)
    }

    /// The text that it was read from.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Whether it has something to say about a table.
    pub fn has(&self, table: &str) -> bool {
        self.root.contains_key(table)
    }

    /// The place of the value of a key outside tables.
    pub fn place_of(&self, key: &str) -> Option<Place> {
        self.root.get(key).map(|entry| entry.value.clone())
    }

    /// Whether it sets a key of a table.
    pub fn has_key(&self, table: &str, key: &str) -> bool {
        matches!(self.root.get(table), Some(tree::Entry { node: Node::Table(inner), .. }) if inner.contains_key(key))
    }

    /// The place of the value of a key of a table, if the layer sets it.
    pub fn place_in(&self, table: &str, key: &str) -> Option<Place> {
        match self.root.get(table) {
            Some(tree::Entry { node: Node::Table(inner), .. }) => inner.get(key).map(|entry| entry.value.clone()),
            _ => None,
        }
    }

    /// The policy that it chooses on an axis.
    pub fn policy(&self, axis: &str) -> Option<&str> {
        let Some(tree::Entry { node: Node::Table(inner), .. }) = self.root.get(axis) else { return None };
        match inner.get("policy") {
            Some(tree::Entry { node: Node::Leaf(toml::Value::String(policy)), .. }) => Some(policy),
            _ => None,
        }
    }

    /// Whether the value of a key is a text rather than a table.
    pub fn is_text(&self, key: &str) -> bool {
        matches!(self.root.get(key), Some(tree::Entry { node: Node::Leaf(toml::Value::String(_)), .. }))
    }

    /// Takes a text out of the layer: `key`, or `table.key`.
    pub fn take_text(&mut self, path: &str) -> Result<Option<Located>, LayerError> {
        let Some(entry) = self.take(path) else { return Ok(None) };
        match entry.node {
            Node::Leaf(toml::Value::String(value)) => Ok(Some(Located { value, place: Some(entry.value) })),
            _ => Err(LayerError::new(format!("`{path}` must be a text"))
                .with_help(format!("write it in quotes: {path} = \"text\""))
                .at(Some(entry.value))),
        }
    }

    /// Takes a list of texts out of the layer.
    pub fn take_texts(&mut self, path: &str) -> Result<Option<Vec<Located>>, LayerError> {
        let Some(entry) = self.take(path) else { return Ok(None) };
        let wrong = || {
            LayerError::new(format!("`{path}` must be a list of texts"))
                .with_help(format!("write for example {path} = [\"{}\", \"{}\"]", SCHEMES[0].name, SCHEMES[1].name))
                .at(Some(entry.value.clone()))
        };
        let Node::Leaf(toml::Value::Array(values)) = &entry.node else { return Err(wrong()) };
        let located = |value: &toml::Value| {
            let value = value.as_str().ok_or_else(wrong)?.to_owned();
            Ok(Located { value, place: Some(entry.value.clone()) })
        };
        values.iter().map(located).collect::<Result<_, _>>().map(Some)
    }

    /// Takes a whole number out of the layer.
    pub fn take_number(&mut self, path: &str) -> Result<Option<u64>, LayerError> {
        let Some(entry) = self.take(path) else { return Ok(None) };
        let number = match entry.node {
            Node::Leaf(toml::Value::Integer(number)) => u64::try_from(number).ok(),
            _ => None,
        };
        let wrong = || {
            LayerError::new(format!("`{path}` must be a whole number, zero or more"))
                .with_help("write digits only, without quotes")
                .at(Some(entry.value))
        };
        number.ok_or_else(wrong).map(Some)
    }

    /// Takes a value out of the layer that its owner knows how to read; errors name the key. `help` tells its forms.
    pub fn take_read<T>(
        &mut self,
        path: &str,
        help: &str,
        read: impl Fn(&toml::Value) -> Result<T, String>,
    ) -> Result<Option<T>, LayerError> {
        let Some(entry) = self.take(path) else { return Ok(None) };
        let value = match entry.node {
            Node::Leaf(value) => value,
            Node::Table(table) => toml::Value::Table(tree::plain(&table)),
        };
        let wrong = |message| LayerError::new(format!("`{path}`: {message}")).with_help(help).at(Some(entry.value));
        read(&value).map(Some).map_err(wrong)
    }

    /// Makes a relative path in the layer relative to `folder` instead: a file's paths are relative to the file. What
    /// no path stays: `builtin:` names, and `-`, standard input.
    pub fn resolve_path(&mut self, path: &str, folder: &Path) {
        if let Some(tree::Entry { node: Node::Leaf(toml::Value::String(text)), .. }) =
            tree::find_mut(&mut self.root, path)
            && !text.contains(':')
            && text != "-"
        {
            *text = folder.join(&*text).to_string_lossy().into_owned();
        }
    }

    /// Shows texts under these keys in the tables of a list, to be changed.
    pub fn each_text_in(&mut self, list: &str, keys: &[&str], mut change: impl FnMut(&mut String)) {
        let Some(tree::Entry { node: Node::Leaf(toml::Value::Array(items)), .. }) =
            tree::find_mut(&mut self.root, list)
        else {
            return;
        };
        for table in items.iter_mut().filter_map(toml::Value::as_table_mut) {
            for key in keys {
                if let Some(toml::Value::String(text)) = table.get_mut(*key) {
                    change(text);
                }
            }
        }
    }

    /// Names of the tables in a table.
    pub fn names_in(&self, table: &str) -> Vec<String> {
        let Some(tree::Entry { node: Node::Table(inner), .. }) = self.root.get(table) else { return Vec::new() };
        let tables = inner.iter().filter(|(_, entry)| matches!(entry.node, Node::Table(_)));
        tables.map(|(name, _)| name.clone()).collect()
    }

    /// The layer without a table.
    #[must_use]
    pub fn without(mut self, table: &str) -> Self {
        self.root.remove(table);
        self
    }

    /// Moves a key from outside tables into a table, with its place.
    ///
    /// # Errors
    /// If the table has this key already.
    pub fn move_into(&mut self, table: &str, key: &str) -> Result<(), LayerError> {
        let Some(entry) = self.root.remove(key) else { return Ok(()) };
        let place = entry.key.clone();
        let inner = self.root.entry(table.to_owned()).or_insert_with(|| tree::Entry {
            key: place.clone(),
            value: entry.value.clone(),
            node: Node::Table(Table::new()),
            items: tree::Items::None,
        });
        if let Node::Table(inner) = &mut inner.node
            && !inner.contains_key(key)
        {
            inner.insert(key.to_owned(), entry);
            return Ok(());
        }
        let error = LayerError::new(format!("`{key}` and `{table}.{key}` are both there"));
        Err(error.with_help("remove one of the two").at(Some(place)))
    }

    fn take(&mut self, path: &str) -> Option<tree::Entry> {
        let Some((table, key)) = path.split_once('.') else { return self.root.remove(path) };
        match &mut self.root.get_mut(table)?.node {
            Node::Table(inner) => inner.remove(key),
            Node::Leaf(_) => None,
        }
    }
}

/// Layers, the last one on top.
#[derive(Clone, Debug)]
pub struct Stack<C> {
    root: Table,
    dropped: Vec<Dropped>,
    amounts_to: PhantomData<fn() -> C>,
}

impl<C: Configuration> Default for Stack<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Configuration> Stack<C> {
    /// The built-in defaults: every axis and every table that has one.
    pub fn new() -> Self {
        let text = Text::new(decode::BUILT_IN, decode::defaults::<C>()).of(Origin::Program);
        let root = tree::parse(&Arc::new(text)).expect("the defaults were printed by the same library");
        Self { root, dropped: Vec::new(), amounts_to: PhantomData }
    }

    /// Puts a layer on top.
    pub fn push(&mut self, layer: Layer) {
        merge::merge::<C>(&mut self.root, layer.root, &mut self.dropped);
    }

    /// Settings that a later layer dropped, because it chose another policy; those of the built-in defaults are none.
    pub fn dropped(&self) -> impl Iterator<Item = &Dropped> {
        self.dropped.iter().filter(|dropped| decode::user_place(&dropped.place).is_some())
    }

    /// The configuration that the layers amount to, checked as a whole.
    pub fn resolve(&self) -> Result<Resolved<C>, LayerError> {
        self.resolve_with(&|_| ())
    }

    /// The same. Before the check, `complete` adds what no text can hold, such as policies of the calling program.
    pub fn resolve_with(&self, complete: &dyn Fn(&mut C)) -> Result<Resolved<C>, LayerError> {
        let mut resolved = self.resolve_parts()?;
        complete(&mut resolved.run);
        let is_alone = resolved.tenants.is_empty();
        if is_alone {
            self.check_loop(&mut resolved)?;
        }
        let names_drives = resolved.workload.addresses.as_ref().and_then(|addresses| addresses.per_drive);
        if names_drives == Some(true) && self.place_of_leaf("host.target").is_none() {
            resolved.run.name_drives();
        }
        resolved.run.check().map_err(|error| {
            let place = decode::place_of(&self.root, &error.key);
            LayerError { message: format!("`{}`: {}", error.key, error.message), help: error.help, place }
        })?;
        match is_alone {
            true => self.check_workload(&resolved.workload)?,
            false => {
                self.check_tenants(&resolved)?;
                let is_closed = resolved.run.has_closed_loop();
                for tenant in resolved.tenants.values_mut() {
                    tenant.terms.mode = Some(tenant.pace(is_closed));
                }
            }
        }
        self.address_mapped(&mut resolved)?;
        Ok(resolved)
    }

    /// A footprint that is `mapped` is the share that the drive's preconditioning writes.
    fn address_mapped(&self, resolved: &mut Resolved<C>) -> Result<(), LayerError> {
        let share = resolved.run.mapped_share();
        let named = resolved.tenants.iter_mut().map(|(name, tenant)| (format!("{WORKLOADS}.{name}"), &mut tenant.spec));
        let alone = std::iter::once(("workload".to_owned(), &mut resolved.workload));
        for (table, spec) in alone.chain(named).filter(|(_, spec)| spec.footprint == Some(Footprint::Mapped)) {
            if share <= 0.0 {
                let key = format!("{table}.footprint");
                let error = LayerError::new(format!(
                    "`{key}`: the drive's preconditioning maps nothing that could be addressed"
                ));
                let help = "precondition it (`precondition.mode`), or a footprint such as 0.8";
                return Err(error.with_help(help).at(self.place_of(&key)));
            }
            spec.footprint = Some(Footprint::Share(share));
        }
        Ok(())
    }

    /// A generator without arrival times needs a closed loop: it is then the host's default, and an explicit open loop
    /// is refused.
    fn check_loop(&self, resolved: &mut Resolved<C>) -> Result<(), LayerError> {
        if resolved.workload.has_times() || resolved.run.has_closed_loop() {
            return Ok(());
        }
        match self.place_of_leaf("host.mode") {
            None => resolved.run.close_loop(),
            place => {
                return Err(LayerError::new(
                    "`host.mode`: an open loop needs arrival times, and the workload has none",
                )
                .with_help("set `host.mode = \"closed\"`, or give the workload `arrivals`")
                .at(place));
            }
        }
        Ok(())
    }

    /// The place at which a key of a table, or of a table in it, was set; `None` if only the defaults set it.
    pub fn place_of_leaf(&self, key: &str) -> Option<Place> {
        let (tables, leaf) = key.rsplit_once('.')?;
        let table = tables.split('.').try_fold(&self.root, |table, name| match &table.get(name)?.node {
            Node::Table(inner) => Some(inner),
            Node::Leaf(_) => None,
        })?;
        decode::user_place(&table.get(leaf)?.value)
    }

    /// The workload alone, checked.
    pub fn resolve_workload(&self) -> Result<WorkloadSpec, LayerError> {
        let workload = decode::decode_workload::<C>(&self.root)?;
        self.check_workload(&workload)?;
        Ok(workload)
    }

    fn check_workload(&self, workload: &WorkloadSpec) -> Result<(), LayerError> {
        workload.check().map_err(|error| {
            let key = format!("workload.{}", error.key);
            let place = decode::place_of(&self.root, &key);
            LayerError { message: format!("`{key}`: {}", error.message), help: error.help, place }
        })
    }

    /// The configuration without the checks that need all of it: the settings of a scheme alone.
    pub fn resolve_parts(&self) -> Result<Resolved<C>, LayerError> {
        decode::decode(&self.root)
    }

    /// The place at which the last layer set a key.
    pub fn place_of(&self, key: &str) -> Option<Place> {
        decode::place_of(&self.root, key)
    }
}
