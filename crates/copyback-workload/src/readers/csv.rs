//! A table as text: a header that names the columns, then a row a request, fields between commas.
//!
//! Columns stand in any order: `arrival_ns`, `op`, `offset_bytes`, `length_bytes` and, where there are any, `device` and
//! `priority`; other units have other names, and `[workload.columns]` has others still. A field may stand in double
//! quotes, but no line's end in a field.

use super::columns::{self, Column};
use super::cursor::{Cursor, LineError, shown};
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

/// Whether a text begins with a header that says when requests arrive.
pub(crate) fn recognises(head: &[u8]) -> bool {
    first_line(head).is_some_and(|line| columns::is_header(names(line).iter().map(String::as_str)))
}

/// What to try with a text of no known format whose first line may be a header.
pub(crate) fn help_with_header(line: &[u8]) -> Option<String> {
    let names = names(line);
    let is_name = |name: &String| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (names.len() >= 4 && names.iter().all(is_name)).then(|| {
        "if its first line names columns, say which is which: --set workload.columns.arrival_ns=NAME, and the same with \
         op, offset_bytes and length_bytes"
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
        let names = names(first_line(head).unwrap_or_default());
        let found = columns::find(file, &names, wanted)?;
        let mut of_columns = vec![None; names.len()];
        for column in found.into_iter().flatten() {
            of_columns[column.at] = Some(column);
        }
        Ok(Self { of_columns, unused: columns::note_unused(&names, &found), header_read: false })
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
        Field::Op => request.op = columns::op_of_text(field)?,
        Field::Offset => request.offset_bytes = columns::scaled(number(field, column)?, key)?,
        Field::Length => request.len_bytes = columns::scaled(number(field, column)?, key)?,
        Field::Device => request.device = columns::device_of(number(field, column)?)?,
        Field::Priority => request.priority = columns::priority_of_text(field)?,
    }
    Ok(())
}

/// A whole number.
fn number(field: &[u8], column: &Column) -> Result<i128, LineError> {
    let mut at = Cursor::new(field);
    let number = at.uint("a number").ok().filter(|_| at.rest.is_empty());
    number.map(i128::from).ok_or_else(|| {
        LineError(format!("its {} is `{}`, and no whole number below 2^64", column.key.name, shown(field)))
    })
}

/// A time; in units above a nanosecond it may have decimals.
fn time(field: &[u8], column: &Column) -> Result<u64, LineError> {
    if column.key.factor == 1 {
        return number(field, column).and_then(|number| columns::scaled(number, &column.key));
    }
    let mut at = Cursor::new(field);
    let time_ns = at.decimal(column.key.factor.ilog10(), "a time").ok().filter(|_| at.rest.is_empty());
    time_ns.ok_or_else(|| {
        LineError(format!("its {} is `{}`, and no time that fits 64 bits of ns", column.key.name, shown(field)))
    })
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

    fn notes(&self) -> Vec<String> {
        self.unused.iter().cloned().collect()
    }
}
