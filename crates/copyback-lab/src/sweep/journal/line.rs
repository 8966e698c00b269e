//! Lines of a journal: JSON objects, each with a check sum as its last member, so that altered lines are never used.

use super::{CellResult, RunResult};
use crate::flat::Number;
use crate::sweep::latencies::Distribution;
use copyback::observe::steady::Verdict;
use serde_json::{Map, Value, json};

/// Layout of the lines: in the first line, and part of the key.
pub const LAYOUT: &str = "copyback/journal/2";

/// The texts between an object and the digits of its check sum, and after them.
const SUM: (&str, &str) = (",\"sum\":\"", "\"}");

/// An object as a line.
fn sealed(object: &Value) -> String {
    let text = object.to_string();
    let text = text.strip_suffix('}').expect("an object ends so");
    format!("{text}{}\n", seal(text.as_bytes()))
}

fn seal(text: &[u8]) -> String {
    format!("{}{}{}", SUM.0, blake3::hash(text).to_hex(), SUM.1)
}

/// The object of a line, if the line was not altered.
fn unsealed(line: &[u8]) -> Option<Value> {
    let line = line.strip_suffix(b"\n")?;
    let seal_bytes = SUM.0.len() + 2 * blake3::OUT_LEN + SUM.1.len();
    let (text, end) = line.split_at(line.len().checked_sub(seal_bytes)?);
    if seal(text).as_bytes() == end { serde_json::from_slice(line).ok() } else { None }
}

/// The first line of the journal of a table. Its program is only for the reader: each cell's key contains the program.
pub fn header(table: &str) -> String {
    let program = concat!("copyback ", env!("CARGO_PKG_VERSION"));
    sealed(&json!({ "journal": LAYOUT, "table": table, "program": program }))
}

/// The layout and the table that a first line names.
pub fn read_header(line: &[u8]) -> Option<(String, String)> {
    let header = unsealed(line)?;
    Some((header["journal"].as_str()?.to_owned(), header["table"].as_str()?.to_owned()))
}

/// Whether a first line is the line of a cell. In the first layout, a journal had no header.
pub fn is_of_first_layout(line: &[u8]) -> bool {
    let object = serde_json::from_slice::<Value>(line);
    object.is_ok_and(|object| ["key", "cell", "runs"].iter().all(|name| object.get(name).is_some()))
}

/// A cell's line. Whole numbers are JSON numbers; others are texts, so that no digit is lost.
pub fn write_line(key: &str, label: &str, result: &CellResult) -> String {
    let number = |number: &Number| match number {
        Number::U64(value) => json!(value),
        Number::F64(value) => json!(format!("{value:?}")),
        Number::None => Value::Null,
    };
    let run = |run: &RunResult| {
        let numbers: Map<String, Value> = run.numbers.iter().map(|(name, n)| (name.clone(), number(n))).collect();
        let texts = run.latencies.iter().map(|(class, of)| (class.clone(), json!(of.to_text())));
        let latencies: Map<String, Value> = texts.collect();
        let steady = run.steady.name();
        json!({ "scheme": run.scheme, "hash": run.hash, "steady": steady, "numbers": numbers, "latencies": latencies })
    };
    let runs: Vec<Value> = result.runs.iter().map(run).collect();
    sealed(&json!({ "key": key, "cell": label, "runs": runs, "notes": result.notes }))
}

/// A cell's key and its results, if its line was not altered.
pub fn read_line(line: &[u8]) -> Option<(String, CellResult)> {
    let value = unsealed(line)?;
    let number = |value: &Value| match value {
        Value::Null => Some(Number::None),
        Value::Number(number) => number.as_u64().map(Number::U64),
        Value::String(text) => text.parse().ok().map(Number::F64),
        _ => None,
    };
    let run = |run: &Value| {
        let numbers = run["numbers"].as_object()?.iter().map(|(name, value)| Some((name.clone(), number(value)?)));
        let latencies = run["latencies"].as_object().into_iter().flatten();
        let latencies = latencies.map(|(class, text)| Some((class.clone(), Distribution::of_text(text.as_str()?)?)));
        Some(RunResult {
            scheme: run["scheme"].as_str()?.to_owned(),
            hash: run["hash"].as_str()?.to_owned(),
            // Lines of earlier programs have no verdict. They are never used: no cell of this program has their keys.
            steady: run["steady"].as_str().and_then(Verdict::of_name).unwrap_or_default(),
            numbers: numbers.collect::<Option<_>>()?,
            latencies: latencies.collect::<Option<_>>()?,
        })
    };
    let runs = value["runs"].as_array()?.iter().map(run).collect::<Option<_>>()?;
    let notes = value["notes"].as_str()?.to_owned();
    Some((value["key"].as_str()?.to_owned(), CellResult { runs, notes }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::result;
    use super::*;

    #[test]
    fn a_line_is_read_back_to_the_last_bit() {
        for mean_ns in [0.1 + 0.2, 1e300, 5e-324, 123_456_789.123_456_79, 4.0] {
            let line = write_line("k", "cell", &result(mean_ns));
            assert_eq!(read_line(line.as_bytes()), Some(("k".to_owned(), result(mean_ns))));
        }
    }

    /// Also if the rest would be JSON.
    #[test]
    fn a_line_with_one_other_byte_is_not_read() {
        let line = write_line("k", "cell", &result(1.5)).into_bytes();
        for at in 0..line.len() {
            for change in [1, 2, 0x20] {
                let mut changed = line.clone();
                changed[at] ^= change;
                assert_eq!(read_line(&changed), None, "byte {at}");
            }
            assert_eq!(read_line(&[&line[..at], &line[at + 1..]].concat()), None, "without byte {at}");
        }
        assert_eq!(read_header(header("t").as_bytes()), Some((LAYOUT.to_owned(), "t".to_owned())));
    }
}
