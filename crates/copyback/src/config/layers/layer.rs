//! One layer of a configuration: the settings of one text, and what is taken out of it before it is merged.

use super::tree::{self, Node, Table};
use super::{LayerError, Located, Origin, Text, TextSpan, set};
use crate::config::presets::SCHEMES;
use std::path::Path;
use std::sync::Arc;

/// One layer: the settings of one text.
#[derive(Clone, Debug)]
pub struct Layer {
    pub(super) text: Arc<Text>,
    pub(super) root: Table,
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
        let whole = TextSpan { text: self.text.clone(), span: 0..0 };
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

    /// The same for settings, each after the name of its origin in messages: `--set`, or a table of a sweep.
    pub fn of_named_sets<'a>(arguments: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self, LayerError> {
        set::layer_of_named(arguments)
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
    pub fn place_of(&self, key: &str) -> Option<TextSpan> {
        self.root.get(key).map(|entry| entry.value.clone())
    }

    /// The place of a key outside tables, or of a table's name.
    pub fn place_of_key(&self, key: &str) -> Option<TextSpan> {
        self.root.get(key).map(|entry| entry.key.clone())
    }

    /// Whether it sets a key of a table.
    pub fn has_key(&self, table: &str, key: &str) -> bool {
        matches!(self.root.get(table), Some(tree::Entry { node: Node::Table(inner), .. }) if inner.contains_key(key))
    }

    /// The place of the value of a key of a table, if the layer sets it.
    pub fn place_in(&self, table: &str, key: &str) -> Option<TextSpan> {
        match self.root.get(table) {
            Some(tree::Entry { node: Node::Table(inner), .. }) => inner.get(key).map(|entry| entry.value.clone()),
            _ => None,
        }
    }

    /// The value at a dotted path; `None` if the layer does not set it, or if a table is there.
    pub fn value(&self, path: &str) -> Option<&toml::Value> {
        match &tree::find(&self.root, path)?.node {
            Node::Leaf(value) => Some(value),
            Node::Table(_) => None,
        }
    }

    /// The policy that it chooses on an axis.
    pub fn policy(&self, axis: &str) -> Option<&str> {
        self.value(&format!("{axis}.policy"))?.as_str()
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

    /// Takes a value out of the layer, decoded by `read`; errors name the key. `help`: the allowed forms.
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

    /// Makes a relative path in the layer relative to `folder` instead: a file's paths are relative to the file.
    /// `builtin:` names and `-` (standard input) are no paths, and do not change.
    pub fn resolve_path(&mut self, path: &str, folder: &Path) {
        if let Some(tree::Entry { node: Node::Leaf(toml::Value::String(text)), .. }) =
            tree::find_mut(&mut self.root, path)
            && !text.contains(':')
            && text != "-"
        {
            *text = folder.join(&*text).to_string_lossy().into_owned();
        }
    }

    /// Changes the texts under these keys in each table of a list.
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
        let error = LayerError::new(format!("`{key}` and `{table}.{key}` are both set"));
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
