//! Configurations of runs as flat lists of settings.

use serde_json::Value;
use std::collections::BTreeMap;

/// The settings as dotted keys and texts; `None` if they exceed `left_bytes`, from which their size is subtracted.
///
/// A key repeats the names of the tables around it, so settings can be far longer than their document.
pub fn settings(config: &Value, left_bytes: &mut usize) -> Option<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    add(&mut all, String::new(), config, left_bytes)?;
    Some(all)
}

fn add(into: &mut BTreeMap<String, String>, name: String, value: &Value, left_bytes: &mut usize) -> Option<()> {
    *left_bytes = left_bytes.checked_sub(name.len())?;
    let text = match value {
        Value::Object(members) => {
            return members.iter().try_for_each(|(key, value)| {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                add(into, name, value, left_bytes)
            });
        }
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    *left_bytes = left_bytes.checked_sub(text.len())?;
    into.insert(name, text);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Names of `a`, `a.b` and `a.c` have 1 + 3 + 3 bytes, and their values `1` and `x` one each.
    #[test]
    fn settings_take_the_room_of_their_names_and_values() {
        let config = json!({ "a": { "b": 1, "c": "x" } });
        let expected = [("a.b", "1"), ("a.c", "x")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let mut left_bytes = 10;
        assert_eq!(settings(&config, &mut left_bytes), Some(BTreeMap::from(expected)));
        assert_eq!(left_bytes, 1);
        assert_eq!(settings(&config, &mut 8), None);
        // Tables without settings take room, too.
        assert_eq!(settings(&json!({ "aaaaaaaa": { "b": {}, "c": {} } }), &mut 20), None);
    }
}
