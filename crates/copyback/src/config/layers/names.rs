//! Lists of names for an error about an unknown word.

use super::nearest;

/// The help for a name that does not exist: the nearest one, and all of them.
pub fn suggestion<'a>(word: &str, kind: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let list = list_of(kind, names.clone());
    match nearest(word, names) {
        Some(name) => format!("did you mean `{name}`? {list}"),
        None => list,
    }
}

/// All names of a kind.
pub(super) fn list_of<'a>(kind: &str, names: impl Iterator<Item = &'a str>) -> String {
    format!("{kind}: {}", names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
}
