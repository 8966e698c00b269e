//! The columns of a table, found by their names, and what their values mean: shared by CSV and Parquet.

use super::cursor::shown;
use super::{LineError, guess};
use crate::spec::{COLUMN_KEYS, ColumnKey, ColumnNames, Field, Meaning, Operations, full_name, short_names};
use crate::words::nearest;
use crate::{Error, Op, Priority};
use std::cell::Cell;

/// Largest number of column names in a message.
const NAMES_MAX: usize = 12;

/// A column that a reader uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Its position among all columns of the table.
    pub at: usize,
    /// Its field and unit.
    pub key: ColumnKey,
}

/// Whether names are a table's header: one of them is a time's name.
pub(crate) fn is_header<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| COLUMN_KEYS.iter().any(|key| key.field == Field::Arrival && key.name == full_name(name)))
}

/// Finds the column of each field, in the order of [`Field::ALL`]; `None` for an optional field without a column. A
/// named column must exist; an unnamed one may have any key's name, or else its short form. `rows`: the first rows of a
/// text, whose columns can be named in their order, too.
pub(crate) fn find(
    file: &str,
    names: &[String],
    wanted: &ColumnNames,
    rows: Option<&dyn Fn() -> Vec<Vec<String>>>,
) -> Result<[Option<Column>; 6], Error> {
    let mut found = [None; 6];
    for (field, column) in Field::ALL.into_iter().zip(&mut found) {
        *column = match find_one(file, names, wanted, field)? {
            None if field.is_required() => return Err(missing(file, names, (wanted, field), rows.map(|rows| rows()))),
            found => found,
        };
    }
    Ok(found)
}

/// The column of a field; `None` if no column has it.
fn find_one(file: &str, names: &[String], wanted: &ColumnNames, field: Field) -> Result<Option<Column>, Error> {
    let named = wanted.set().find(|(key, _)| key.field == field);
    let columns_of = |is_of: &dyn Fn(ColumnKey, &str) -> bool| -> Vec<Column> {
        let columns = names.iter().enumerate().flat_map(|(at, name)| {
            COLUMN_KEYS.iter().filter(move |key| is_of(**key, name)).map(move |key| Column { at, key: *key })
        });
        columns.collect()
    };
    let mut columns = match named {
        Some((named_key, wanted_name)) => columns_of(&|key, name| key == named_key && name == wanted_name),
        None => columns_of(&|key, name| key.field == field && name == key.name),
    };
    if columns.is_empty() && named.is_none() {
        // A name that a key of `[workload.columns]` mentions is that key's column.
        let is_free = |name: &str| wanted.set().all(|(_, wanted_name)| wanted_name != name);
        columns = columns_of(&|key, name| key.field == field && full_name(name) == key.name && is_free(name));
    }
    match (&columns[..], named) {
        ([], Some((key, name))) => {
            let (name, all) = (shown(name.as_bytes()), list(names));
            let message = format!("{file}: it has no column `{name}`, which `workload.columns.{}` names", key.name);
            Err(Error::new(message).with_help(format!("its columns are {all}")))
        }
        ([] | [_], _) => Ok(columns.first().copied()),
        ([first, second, ..], _) if names[first.at] == names[second.at] => {
            let message = format!("{file}: it has two columns `{}`", shown(names[first.at].as_bytes()));
            Err(Error::new(message).with_help("rename one of them in the file, or take it out"))
        }
        ([first, second, ..], _) => {
            let (first, second) = (shown(names[first.at].as_bytes()), shown(names[second.at].as_bytes()));
            let what = field.word();
            let message = format!("{file}: its columns `{first}` and `{second}` both hold {what} of a request");
            Err(Error::new(message).with_help(remedy(field)))
        }
    }
}

fn missing(
    file: &str,
    names: &[String],
    (wanted, field): (&ColumnNames, Field),
    rows: Option<Vec<Vec<String>>>,
) -> Error {
    let keys: Vec<String> = keys_of(field).map(|key| format!("`{}`", key.name)).collect();
    let message = format!("{file}: it has no column for {} ({})", field.word(), keys.join(" or "));
    // Keys of all columns in their order, if one of them seems to have the field.
    let guessed = rows.map(|rows| guess::columns(names, &rows).keys);
    let guessed = guessed.filter(|keys| keys.iter().any(|key| field_of(key) == Some(field)));
    let near = near(names, (wanted, field), guessed.as_deref()).unwrap_or_default();
    let in_order = guessed.map(|keys| format!("; or name all in their order: --columns {}", keys.join(",")));
    let in_order = in_order.unwrap_or_default();
    Error::new(message).with_help(format!("{near}{}{in_order}; its columns are {}", remedy(field), list(names)))
}

/// A suggestion, if a column's name is no key, but resembles a key of the field. `guessed`: a key for each column, of
/// which one has the field; then only this column is suggested.
fn near(names: &[String], (wanted, field): (&ColumnNames, Field), guessed: Option<&[String]>) -> Option<String> {
    let known: Vec<&str> =
        keys_of(field).flat_map(|key| short_names(key.name).chain(std::iter::once(key.name))).collect();
    let is_free = |name: &str| wanted.set().all(|(_, wanted_name)| wanted_name != name);
    let may_be = |at: usize| guessed.is_none_or(|keys| field_of(&keys[at]) == Some(field));
    let unknown = names.iter().enumerate();
    let unknown = unknown.filter(|(at, name)| field_of(full_name(name)).is_none() && is_free(name) && may_be(*at));
    let mut like = unknown.filter_map(|(at, name)| Some((at, nearest(name, known.iter().copied())?)));
    let (at, key) = like.next()?;
    // The values may be in another unit than the key that is spelt alike.
    let key = guessed.map(|keys| keys[at].as_str()).filter(|guessed| *guessed != full_name(key)).unwrap_or(key);
    Some(format!("did you mean `{key}` instead of `{}`? Or ", shown(names[at].as_bytes())))
}

/// The field of a column with a key's name; `None` for another name.
pub(crate) fn field_of(name: &str) -> Option<Field> {
    COLUMN_KEYS.iter().find(|key| key.name == name).map(|key| key.field)
}

/// The missing columns of a header, and how to name them; `None` if it is complete.
pub(crate) fn missing_of_header(names: &[String]) -> Option<(String, String)> {
    let has = |field: Field| keys_of(field).any(|key| names.iter().any(|name| full_name(name) == key.name));
    let missing: Vec<Field> = Field::ALL.into_iter().filter(|field| field.is_required() && !has(*field)).collect();
    let [first, others @ ..] = &missing[..] else { return None };
    let key = |field: &Field| keys_of(*field).next().map_or("", |key| key.name);
    let what: Vec<String> = missing.iter().map(|field| format!("`{}` ({})", key(field), field.word())).collect();
    let mut help = format!("say which is which: --set workload.columns.{}=NAME", key(first));
    if !others.is_empty() {
        let others: Vec<&str> = others.iter().map(key).collect();
        help.push_str(&format!(", and the same with {}", others.join(", ")));
    }
    let units = "times in other units, sectors and KiB have keys of their own: arrival_us, arrival_ms, arrival_s, \
                 offset_sectors, offset_kib, length_sectors, length_kib";
    Some((what.join(", "), format!("{help}; {units}")))
}

fn keys_of(field: Field) -> impl Iterator<Item = &'static ColumnKey> {
    COLUMN_KEYS.iter().filter(move |key| key.field == field)
}

/// The remedy: how to name a column.
fn remedy(field: Field) -> String {
    let key = keys_of(field).next().map_or("", |key| key.name);
    format!("name the column: --set workload.columns.{key}=NAME, or the key of another unit instead")
}

/// The first of some names.
pub(crate) fn list(names: &[String]) -> String {
    let of_one = |name: &String| match name.is_empty() {
        true => "one without a name".to_owned(),
        false => format!("`{}`", shown(name.as_bytes())),
    };
    let shown: Vec<String> = names.iter().take(NAMES_MAX).map(of_one).collect();
    let more = names.len().saturating_sub(NAMES_MAX);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// The note on ignored columns; `date_at`: a column of dates beside that of arrivals.
pub(crate) fn note_unused(names: &[String], found: &[Option<Column>; 6], date_at: Option<usize>) -> Option<String> {
    let is_used = |at: usize| date_at == Some(at) || found.iter().flatten().any(|column| column.at == at);
    let unused = names.iter().enumerate().filter(|(at, _)| !is_used(*at)).map(|(_, name)| name.clone());
    let unused: Vec<String> = unused.collect();
    (!unused.is_empty()).then(|| format!("columns not looked at: {}", list(&unused)))
}

/// The meaning of the operations of a table: from `[workload.operations]`, otherwise as documented.
#[derive(Debug, Default)]
pub(crate) struct OpWords {
    own: Vec<OwnWord>,
}

/// A word of `[workload.operations]`.
#[derive(Debug)]
struct OwnWord {
    /// The word as in the trace.
    word: Vec<u8>,
    /// The word as a number, if it is one.
    number: Option<i128>,
    meaning: Meaning,
    /// Whether a row had this word.
    is_met: Cell<bool>,
}

impl OwnWord {
    fn op(&self) -> Option<Op> {
        self.is_met.set(true);
        op_of_meaning(self.meaning)
    }

    /// Whether it has the same meaning without the setting.
    fn is_usual(&self) -> bool {
        op_of_text(&self.word).is_ok_and(|op| op_of_meaning(self.meaning) == Some(op))
    }
}

impl OpWords {
    pub(crate) fn new(operations: &Operations) -> Self {
        let entry = |(word, meaning): (&String, &Meaning)| OwnWord {
            word: word.as_bytes().to_vec(),
            number: word.parse().ok(),
            meaning: *meaning,
            is_met: Cell::new(false),
        };
        Self { own: operations.0.iter().map(entry).collect() }
    }

    /// Notes on words without effect.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |own: &OwnWord| {
            let why = match (own.is_met.get(), own.is_usual()) {
                (false, _) => "no row that was read has this operation",
                (true, true) => "it has this meaning anyway",
                (true, false) => return None,
            };
            Some(format!("`workload.operations.{}` has no effect: {why}", shown(&own.word)))
        };
        self.own.iter().filter_map(note).collect()
    }

    /// An operation in words; `None` for one that is ignored.
    pub(crate) fn of_text(&self, text: &[u8]) -> Result<Option<Op>, LineError> {
        match self.own.iter().find(|own| own.word == text) {
            Some(own) => Ok(own.op()),
            None => op_of_text(text).map(Some),
        }
    }

    /// An operation as a number; `None` for one that is ignored.
    pub(crate) fn of_number(&self, number: i128) -> Result<Option<Op>, LineError> {
        match self.own.iter().find(|own| own.number == Some(number)) {
            Some(own) => Ok(own.op()),
            None => op_of_number(number).map(Some),
        }
    }
}

fn op_of_meaning(meaning: Meaning) -> Option<Op> {
    match meaning {
        Meaning::Read => Some(Op::Read),
        Meaning::Write => Some(Op::Write),
        Meaning::Trim => Some(Op::Trim),
        Meaning::Ignore => None,
    }
}

/// The remedy: how to set the meaning of an operation.
pub(crate) fn say_what_it_means(word: &str) -> String {
    format!("say what it means: --set workload.operations.{word}=read (or write, trim, ignore)")
}

const OP_WORDS: &[(&str, Op)] = &[
    ("r", Op::Read),
    ("read", Op::Read),
    ("0", Op::Read),
    ("w", Op::Write),
    ("write", Op::Write),
    ("1", Op::Write),
    ("t", Op::Trim),
    ("trim", Op::Trim),
    ("d", Op::Trim),
    ("discard", Op::Trim),
    ("2", Op::Trim),
];

/// Whether a field is the word of an operation, not a number.
pub(crate) fn is_op_word(field: &[u8]) -> bool {
    OP_WORDS
        .iter()
        .any(|(word, _)| !word.starts_with(|c: char| c.is_ascii_digit()) && field.eq_ignore_ascii_case(word.as_bytes()))
}

fn op_of_text(text: &[u8]) -> Result<Op, LineError> {
    let known = OP_WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word.as_bytes()));
    known.map(|(_, op)| *op).ok_or_else(|| {
        let text = shown(text);
        LineError(format!(
            "its op is `{text}`, which is none of R, W, T, read, write, trim, 0 (read), 1 (write), 2 (trim); {}",
            say_what_it_means(&text)
        ))
    })
}

fn op_of_number(number: i128) -> Result<Op, LineError> {
    match number {
        0 => Ok(Op::Read),
        1 => Ok(Op::Write),
        2 => Ok(Op::Trim),
        other => Err(LineError(format!(
            "its op is {other}, which is none of 0 (read), 1 (write), 2 (trim); {}",
            say_what_it_means(&other.to_string())
        ))),
    }
}

/// A priority in words.
pub(crate) fn priority_of_text(text: &[u8]) -> Result<Priority, LineError> {
    const WORDS: &[(&str, Priority)] =
        &[("0", Priority::Normal), ("normal", Priority::Normal), ("1", Priority::High), ("high", Priority::High)];
    let known = WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word.as_bytes()));
    known
        .map(|(_, priority)| *priority)
        .ok_or_else(|| LineError(format!("its priority is `{}`, which is none of 0, 1, normal, high", shown(text))))
}

/// A priority as a number.
pub(crate) fn priority_of_number(number: i128) -> Result<Priority, LineError> {
    match number {
        0 => Ok(Priority::Normal),
        1 => Ok(Priority::High),
        other => Err(LineError(format!("its priority is {other}, neither 0 (normal) nor 1 (high)"))),
    }
}

/// A number in the column's unit, as nanoseconds or bytes.
pub(crate) fn scaled(number: i128, key: &ColumnKey) -> Result<u64, LineError> {
    let wrong = |what: &str| LineError(format!("its {} is {number}, {what}", key.name));
    let number = u64::try_from(number).map_err(|_| wrong(if number < 0 { "below zero" } else { "not below 2^64" }))?;
    number.checked_mul(key.factor).ok_or_else(|| wrong("too much for 64 bits of nanoseconds or bytes"))
}

/// A device's number.
pub(crate) fn device_of(number: i128) -> Result<u32, LineError> {
    u32::try_from(number).map_err(|_| LineError(format!("its device is {number}, which is not from 0 to 2^32 - 1")))
}
