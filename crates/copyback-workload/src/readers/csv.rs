//! A table as text: a header that names the columns, then a row a request, fields between commas.
//!
//! Columns stand in any order: `arrival_ns`, `op`, `offset_bytes`, `length_bytes` and, where there are any, `device`
//! and
//! `priority`; other units have other names, and `[workload.columns]` has others still. A field may stand in double
//! quotes, but no line's end in a field.

use super::columns::{self, Column};
use super::cursor::{Cursor, LineError, shown};
use super::decimal::{self, Decimal};
use super::lines::is_blank_or_comment;
use super::{LineFormat, Parsed};
use crate::spec::{ColumnNames, Field};
use crate::{Error, Priority, Request};

/// Reads a table as text.
pub(crate) struct Csv {
    /// What each column of the header holds.
    of_columns: Vec<Option<Column>>,
    unused: Option<String>,
    header_read: bool,
    counts_from_start: bool,
}

/// A comment in front of a header: the first request does not arrive at zero.
pub(crate) const COUNTS_FROM_START: &str = "# times count from the recording's start";

/// Whether this comment stands in front of the header.
fn counts_from_start(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').take_while(|line| is_blank_or_comment(line));
    lines.any(|line| line.trim_ascii() == COUNTS_FROM_START.as_bytes())
}

/// The first line of a text that is neither blank nor a comment.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.into_iter().find(|line| !is_blank_or_comment(line))
}

/// The names in a header; none where a quote is not closed.
fn names(line: &[u8]) -> Vec<String> {
    let mut rest = Some(line);
    let mut names = Vec::new();
    while rest.is_some() {
        let Ok(field) = next_field(&mut rest) else { return Vec::new() };
        names.push(String::from_utf8_lossy(field).replace("\"\"", "\""));
    }
    names
}

/// What other programs put between columns, and what a message calls it.
const OTHER_SEPARATORS: [(u8, &str); 4] = [(b';', "`;`"), (b'\t', "tabs"), (b'|', "`|`"), (b' ', "blanks")];

/// The separator of a header without commas, if it is one of those.
fn other_separator(line: &[u8]) -> Option<(u8, &'static str)> {
    let is_used = |(byte, _): &(u8, &str)| line.contains(byte) && !line.contains(&b',');
    OTHER_SEPARATORS.into_iter().find(is_used)
}

/// The fields of a line between such separators.
fn split(line: &[u8], separator: u8) -> Vec<String> {
    let text = String::from_utf8_lossy(line);
    let fields = text.split(char::from(separator)).map(|field| field.trim().trim_matches('"').to_owned());
    // Blanks stand in any number.
    fields.filter(|field| separator != b' ' || !field.is_empty()).collect()
}

/// Whether a text begins with a header that says when requests arrive. One with other separators is to be refused as
/// such, and not as a text of no known format.
pub(crate) fn recognises(head: &[u8]) -> bool {
    first_line(head).is_some_and(|line| match other_separator(line) {
        Some((separator, _)) => columns::is_header(split(line, separator).iter().map(String::as_str)),
        None => columns::is_header(names(line).iter().map(String::as_str)),
    })
}

const WITH_COMMAS: &str =
    "write the table with commas and decimal points, in pandas `.to_csv(FILE, sep=\",\", index=False)`";

#[cold]
fn wrong_separator(file: &str, separator: &str) -> Error {
    Error::new(format!("{file}: columns are separated by commas; this header has {separator}")).with_help(WITH_COMMAS)
}

/// Fewer columns are no table of requests.
const COLUMNS_MIN: usize = 3;

/// Why a text of no known format is none, if it begins like a table whose columns have names of their own: with a line
/// of names in front of one with as many fields, a number among them.
#[cold]
pub(crate) fn refuse_unknown_names(file: &str, head: &[u8]) -> Option<Error> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !is_blank_or_comment(line));
    let (header, row) = (lines.next()?.trim_ascii_end(), lines.next()?.trim_ascii_end());
    let separator = other_separator(header);
    let fields = |line| separator.map_or_else(|| names(line), |(byte, _)| split(line, byte));
    let (names, row) = (fields(header), fields(row));
    let is_number = |field: &String| field.starts_with(|c: char| c.is_ascii_digit());
    let is_table = names.len() >= COLUMNS_MIN && names.iter().all(|name| is_name(name)) && row.len() == names.len();
    if !is_table || !row.iter().any(is_number) {
        return None;
    }
    let (missing, name_them) = columns::missing_of_header(&names)?;
    let (between, first) = match separator {
        Some((_, separator)) => {
            (format!(", which {separator} separate and not commas"), format!("{WITH_COMMAS}, and "))
        }
        None => (String::new(), String::new()),
    };
    let columns = columns::list(&names);
    let message = format!("{file}: it looks like a table with the columns {columns}{between}; it lacks {missing}");
    Some(Error::new(message).with_help(first + &name_them))
}

/// Whether a field may be a column's name.
fn is_name(field: &str) -> bool {
    field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// What to try with a text of no known format whose first line may be a header.
pub(crate) fn help_with_header(line: &[u8]) -> Option<String> {
    let names = names(line);
    (names.len() >= 4 && names.iter().all(|name| is_name(name))).then(|| {
        "if its first line names columns, say which is which: --set workload.columns.arrival_ns=NAME, and the same \
         with op, offset_bytes and length_bytes"
            .to_owned()
    })
}

/// Takes a field and the comma behind it; `rest` is `None` once there is no more.
fn next_field<'a>(rest: &mut Option<&'a [u8]>) -> Result<&'a [u8], LineError> {
    let line = rest.take().unwrap_or_default();
    let trimmed = line.trim_ascii_start();
    let (field, behind) = match trimmed.strip_prefix(b"\"") {
        Some(quoted) => {
            let end = quote_end(quoted).ok_or_else(|| LineError("a quotation has no end in its line".to_owned()))?;
            let behind = quoted[end + 1..].trim_ascii_start();
            if behind.first().is_some_and(|byte| *byte != b',') {
                return Err(LineError(format!("expected a comma behind a quotation, at `{}`", shown(behind))));
            }
            (&quoted[..end], behind)
        }
        None => {
            let end = line.iter().position(|byte| *byte == b',').unwrap_or(line.len());
            (line[..end].trim_ascii(), &line[end..])
        }
    };
    *rest = behind.strip_prefix(b",");
    Ok(field)
}

/// Where the closing quote stands; two of them are one in the text.
fn quote_end(quoted: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += quoted[at..].iter().position(|byte| *byte == b'"')?;
        if quoted.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

impl Csv {
    /// A reader for a text that begins so.
    pub(crate) fn new(file: &str, head: &[u8], wanted: &ColumnNames) -> Result<Self, Error> {
        let header = first_line(head).unwrap_or_default();
        if let Some((_, separator)) = other_separator(header) {
            return Err(wrong_separator(file, separator));
        }
        let names = names(header);
        let found = columns::find(file, &names, wanted)?;
        let mut of_columns = vec![None; names.len()];
        for column in found.into_iter().flatten() {
            of_columns[column.at] = Some(column);
        }
        Ok(Self {
            of_columns,
            unused: columns::note_unused(&names, &found),
            header_read: false,
            counts_from_start: counts_from_start(head),
        })
    }

    fn row(&self, line: &[u8]) -> Result<Request, LineError> {
        let mut request = Request {
            arrival_ns: 0,
            offset_bytes: 0,
            len_bytes: 0,
            device: 0,
            op: crate::Op::Read,
            priority: Priority::Normal,
        };
        let mut rest = Some(line);
        let mut count = 0;
        while rest.is_some() {
            let field = next_field(&mut rest)?;
            if let Some(Some(column)) = self.of_columns.get(count) {
                set(&mut request, column, field)?;
            }
            count += 1;
        }
        if count != self.of_columns.len() {
            let wanted = self.of_columns.len();
            return Err(LineError(format!("it has {count} columns, and the header {wanted}")));
        }
        Ok(request)
    }
}

fn set(request: &mut Request, column: &Column, field: &[u8]) -> Result<(), LineError> {
    let key = &column.key;
    if field.is_empty() {
        return Err(LineError(format!("its {} is empty", key.name)));
    }
    match key.field {
        Field::Arrival => request.arrival_ns = time(field, column)?,
        Field::Op => request.op = columns::op_of_text(without_zeros(field))?,
        Field::Offset => request.offset_bytes = columns::scaled(number(field, column)?, key)?,
        Field::Length => request.len_bytes = columns::scaled(number(field, column)?, key)?,
        Field::Device => request.device = columns::device_of(number(field, column)?)?,
        Field::Priority => request.priority = columns::priority_of_text(without_zeros(field))?,
    }
    Ok(())
}

/// A whole number without its decimals where they are zeros: columns that once lacked a value are written so.
fn without_zeros(field: &[u8]) -> &[u8] {
    let Some(point) = field.iter().position(|byte| *byte == b'.') else { return field };
    let (whole, decimals) = (&field[..point], &field[point + 1..]);
    let is_whole = whole.iter().all(u8::is_ascii_digit) && decimals.iter().all(|byte| *byte == b'0');
    if is_whole { whole } else { field }
}

/// A whole number.
fn number(field: &[u8], column: &Column) -> Result<i128, LineError> {
    let mut at = Cursor::new(field);
    if let Some(number) = at.uint("a number").ok().filter(|_| at.rest.is_empty()) {
        return Ok(number.into());
    }
    let (name, text) = (column.key.name, shown(field));
    match decimal::read(field, 0) {
        Some(Decimal { value: Some(number), is_cut: false }) => Ok(number.into()),
        Some(Decimal { value: Some(_), is_cut: true }) => {
            Err(LineError(format!("its {name} is `{text}`, and that column holds whole numbers only")))
        }
        _ => Err(LineError(format!("its {name} is `{text}`, and no whole number below 2^64"))),
    }
}

/// A time; in units above a nanosecond it may have decimals, of which those below a nanosecond are cut off.
fn time(field: &[u8], column: &Column) -> Result<u64, LineError> {
    if column.key.factor == 1 {
        return number(field, column).and_then(|number| columns::scaled(number, &column.key));
    }
    let places = column.key.factor.ilog10();
    let mut at = Cursor::new(field);
    if let Some(time_ns) = at.decimal(places, "a time").ok().filter(|_| at.rest.is_empty()) {
        return Ok(time_ns);
    }
    let (name, text) = (column.key.name, shown(field));
    match decimal::read(field, places) {
        Some(Decimal { value: Some(time_ns), .. }) => Ok(time_ns),
        Some(Decimal { value: None, .. }) => {
            Err(LineError(format!("its {name} is `{text}`, and no time that fits 64 bits of ns")))
        }
        None if text.contains([':', '-']) && text.starts_with(|c: char| c.is_ascii_digit()) => Err(LineError(format!(
            "its {name} is `{text}`: a table as text has times that are counted, and dates are read from Parquet"
        ))),
        None => Err(LineError(format!("its {name} is `{text}`, and no number such as 12, 0.5 or 1e-05"))),
    }
}

impl LineFormat for Csv {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if !self.header_read {
            // It was looked at before the first line was read.
            self.header_read = true;
            return Ok(Parsed::Other);
        }
        self.row(line).map(Parsed::Request)
    }

    fn counts_from_start(&self) -> bool {
        self.counts_from_start
    }

    fn notes(&self) -> Vec<String> {
        self.unused.iter().cloned().collect()
    }
}
