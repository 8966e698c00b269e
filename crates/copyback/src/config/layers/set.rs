//! Parses `--set table.key=value`.

use super::tree::{self, Entry, Items, Node, Table};
use super::{Layer, LayerError, Origin, Text, TextSpan};
use std::sync::Arc;

/// Names in a key at most. No key has more than three (`workload.size.mean`), and tables inside tables without end
/// would overflow the stack.
const NAMES_MAX: usize = 8;

/// The name of arguments in messages.
const NAME: &str = "--set";

/// One layer of all arguments; later ones replace what earlier ones set.
pub(super) fn layer(arguments: &[String]) -> Result<Layer, LayerError> {
    layer_of_named(arguments.iter().map(|argument| (NAME, argument.as_str())))
}

/// The same for arguments, each after the name of its origin in messages: `--set`, or a table of a sweep.
pub(super) fn layer_of_named<'a>(arguments: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Layer, LayerError> {
    let (mut root, mut all) = (Table::new(), Vec::new());
    for (name, argument) in arguments {
        insert(&mut root, name, argument)?;
        all.push(argument);
    }
    Ok(Layer { text: Arc::new(Text::new(NAME, all.join("\n")).of(Origin::CommandLine)), root })
}

/// The layer of an option that replaces a setting. All places are the option, so that messages name what the user
/// typed.
pub(super) fn layer_of_option(option: &str, setting: &str) -> Result<Layer, LayerError> {
    let text = Arc::new(Text::new(option, option).of(Origin::CommandLine));
    let mut own = Table::new();
    insert(&mut own, NAME, setting)?;
    let root = own
        .into_iter()
        .map(|(name, entry)| (name, entry_at(entry, &TextSpan { text: text.clone(), span: 0..option.len() })));
    Ok(Layer { root: root.collect(), text })
}

/// A key that two arguments set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTwice {
    /// Its path.
    pub key: String,
    /// The argument without effect, as it is typed.
    pub before: String,
    /// The later argument, which replaces it.
    pub after: String,
}

/// Keys that several of the arguments set, in order.
///
/// # Errors
/// If an argument is no setting.
pub fn set_twice(arguments: &[String]) -> Result<Vec<SetTwice>, LayerError> {
    let (mut root, mut found) = (Table::new(), Vec::new());
    for argument in arguments {
        let mut own = Table::new();
        insert(&mut own, NAME, argument)?;
        note_replaced("", &root, &own, &mut found);
        overlay(&mut root, own);
    }
    Ok(found)
}

/// Notes the keys of `base` that `over` replaces.
fn note_replaced(path: &str, base: &Table, over: &Table, found: &mut Vec<SetTwice>) {
    for (name, entry) in over {
        let Some(before) = base.get(name) else { continue };
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if let (Node::Table(base), Node::Table(over)) = (&before.node, &entry.node) {
            note_replaced(&key, base, over, found);
            continue;
        }
        let [before, after] = [before, entry].map(|entry| entry.value.text.text.clone());
        found.push(SetTwice { key, before, after });
    }
}

fn insert(root: &mut Table, name: &str, argument: &str) -> Result<(), LayerError> {
    let text = Arc::new(Text::new(name, argument).of(Origin::CommandLine));
    let place = |from: usize, to: usize| TextSpan { text: text.clone(), span: from..to };
    let Some(equals) = argument.find('=') else {
        return Err(LayerError::new(format!("`--set {argument}` sets nothing"))
            .with_help("write `--set table.key=value`, for example `--set trigger.soft=0.05`"));
    };
    let path = argument[..equals].trim_end();
    let names: Vec<&str> = path.split('.').map(str::trim).collect();
    if names.len() < 2 || names.iter().any(|name| name.is_empty()) {
        let help = match path {
            "device" | "scheme" | "schemes" | "workload" | "seed" | "requests" | "trace" | "warmup" => {
                format!("use `--{path}`")
            }
            _ => "write `--set table.key=value`, for example `--set trigger.soft=0.05`".into(),
        };
        return Err(LayerError::new(format!("`{path}` does not name a key of a table"))
            .with_help(help)
            .at(Some(place(0, equals))));
    }
    if names.len() > NAMES_MAX {
        return Err(LayerError::new(format!("a key of {} names does not exist", names.len()))
            .with_help("no key is longer than `workload.size.mean`")
            .at(Some(place(0, equals))));
    }
    let value_place = place(equals + 1, argument.len());
    let mut node = value(argument, &value_place)?;
    // From the inside out: a chain of tables, each with one key.
    let mut end = path.len();
    for (depth, name) in names.iter().enumerate().rev() {
        let start = end - path[..end].rsplit('.').next().map_or(end, str::len);
        let value = if depth + 1 == names.len() { value_place.clone() } else { place(start, end) };
        let entry = Entry { key: place(start, end), value, node, items: Items::None };
        node = Node::Table(Table::from([((*name).to_owned(), entry)]));
        end = start.saturating_sub(1);
    }
    let Node::Table(table) = node else { unreachable!("a path has at least two names") };
    overlay(root, table);
    Ok(())
}

/// The value as TOML, or else as a text: `75us` and `global` need no quotes.
fn value(argument: &str, place: &TextSpan) -> Result<Node, LayerError> {
    let raw = argument[place.span.clone()].trim();
    let document = Arc::new(Text::new(String::new(), format!("v = {raw}")));
    match tree::parse(&document).map(|mut table| (table.remove("v"), table.is_empty())) {
        Ok((Some(entry), true)) => Ok(at(entry.node, place)),
        Ok(_) => Err(LayerError::new("`--set` sets one key, but its value continues with other keys in a new line")
            .with_help("write a separate `--set` for each key")
            .at(Some(place.clone()))),
        _ if raw.is_empty() || raw.starts_with(['[', '{', '"', '\'']) => {
            Err(LayerError::new(format!("`{raw}` is no TOML value"))
                .with_help("texts need no quotes here; lists are written [\"a\", \"b\"]")
                .at(Some(place.clone())))
        }
        _ => Ok(Node::Leaf(toml::Value::String(raw.to_owned()))),
    }
}

/// The node with all its places at the argument's value.
fn at(node: Node, place: &TextSpan) -> Node {
    match node {
        Node::Leaf(value) => Node::Leaf(value),
        Node::Table(table) => {
            Node::Table(table.into_iter().map(|(name, entry)| (name, entry_at(entry, place))).collect())
        }
    }
}

/// The entry with all its places at the argument's value.
fn entry_at(entry: Entry, place: &TextSpan) -> Entry {
    Entry { key: place.clone(), value: place.clone(), node: at(entry.node, place), items: Items::None }
}

/// Key by key, without the rules of layers.
fn overlay(base: &mut Table, over: Table) {
    for (key, entry) in over {
        match (base.get_mut(&key).map(|below| &mut below.node), entry.node) {
            (Some(Node::Table(below)), Node::Table(table)) => overlay(below, table),
            (_, node) => {
                base.insert(key, Entry { node, ..entry });
            }
        }
    }
}
