//! Results as flat lists of named numbers: names are paths in the JSON document.

use crate::failure::Failure;
use serde::Serialize;

/// A number, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    U64(u64),
    /// A number.
    F64(f64),
    /// None: what it measures did not happen.
    None,
}

impl Number {
    /// As a number, if there is one.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::U64(value) => Some(value as f64),
            Self::F64(value) => Some(value),
            Self::None => None,
        }
    }
}

/// Every number in `results`, in the order of the alphabet; texts are left out.
pub fn numbers(results: &impl Serialize) -> Result<Vec<(String, Number)>, Failure> {
    let value = serde_json::to_value(results);
    let value = value.map_err(|error| Failure::run(format!("cannot write the results as JSON: {error}")))?;
    let mut found = Vec::new();
    flatten("", &value, &mut found);
    Ok(found)
}

fn flatten(path: &str, value: &serde_json::Value, found: &mut Vec<(String, Number)>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        serde_json::Value::Object(object) => {
            object.iter().for_each(|(name, inner)| flatten(&below(name), inner, found));
        }
        // Lists of named values: [["gc", 1.5], ...]
        serde_json::Value::Array(list) => {
            for pair in list {
                if let Some(name) = pair.get(0).and_then(serde_json::Value::as_str) {
                    flatten(&below(name), &pair[1], found);
                }
            }
        }
        serde_json::Value::Null => found.push((path.to_owned(), Number::None)),
        serde_json::Value::Number(number) => {
            let number = number.as_u64().map(Number::U64).or_else(|| number.as_f64().map(Number::F64));
            found.push((path.to_owned(), number.unwrap_or(Number::None)));
        }
        serde_json::Value::Bool(_) | serde_json::Value::String(_) => {}
    }
}
