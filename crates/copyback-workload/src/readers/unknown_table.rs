//! Advice for a text that looks like a table without a known header: the meaning of its columns.

use super::csv::{last_comment, names};
use super::cursor::shown;
use super::lines::is_blank_or_comment;
use super::separator::Separator;
use super::{columns, dated_header, dates, decimal, guess, suggested};
use crate::Error;

/// Fewest columns of a table of requests.
const COLUMNS_MIN: usize = 3;

/// The reason why a text has no known format, if it begins like a table with other column names: with a line of names
/// before a line with as many fields, a number among them.
#[cold]
pub(crate) fn refuse_unknown_names(file: &str, head: &[u8]) -> Option<Error> {
    let lines = lines_of_rows(head);
    let ahead = Header::of(lines.first()?, lines.get(1..)?).filter(|header| are_names(&header.names));
    let behind_sign = || {
        let header = Header::of(last_comment(head)?, &lines)?;
        // A comment may be prose: its words must suggest fields.
        guess::are_names(&header.names).then_some(header)
    };
    let (header, place, rows) = match ahead {
        Some(header) => (header, "", &lines[1..]),
        None => (behind_sign()?, " in its last comment", &lines[..]),
    };
    let (missing, name_them) = columns::missing_of_header(&header.names)?;
    if let Some(refused) = refuse_wrong_date(file, head, &header) {
        return Some(refused);
    }
    let between = between(header.separator);
    let columns = columns::list(&header.names);
    let message =
        format!("{file}: it looks like a table with the columns {columns}{place}{between}; it lacks {missing}");
    let guessed = guess::columns(&header.names, &header.rows);
    let convert = without_key(&guessed.without_key);
    let in_order = match suggested::remarks(&guessed, rows, &header.rows, true) {
        Some(remarks) => format!("--columns {}{remarks}", guessed.keys.join(",")),
        None => names_of(header.names.len()),
    };
    Some(Error::new(message).with_help(format!("{name_them}; or name all in their order: {in_order}{convert}")))
}

/// The reason why a column of times has no date, if one of its values looks like a date.
fn refuse_wrong_date(file: &str, head: &[u8], header: &Header) -> Option<Error> {
    let at = header.names.iter().position(|name| dated_header::is_of_times(name))?;
    let row = header.rows.iter().find(|row| dates::is_wrong(&row[at]))?;
    let is_row =
        |line: &&[u8]| !is_blank_or_comment(line) && pointed(header.separator.fields(line), header.separator) == *row;
    let line = 1 + head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).position(|line| is_row(&line))?;
    let (name, value) = (shown(header.names[at].as_bytes()), shown(row[at].as_bytes()));
    let message = format!("{file}, line {line}: its `{name}` is `{value}`, which is no date that is read");
    Some(Error::new(message).with_help(
        "dates are days that exist, from 1970 to 2554, written as 2024-10-27 or 2024/10/27, and with a time of day as \
         2024-10-27 02:59:59 or 2024-10-27T02:59:59Z",
    ))
}

/// How to name this number of columns if nothing is known about them.
fn names_of(count: usize) -> String {
    format!(
        "--columns with a name for each of its {count} columns: arrival_s (or _ms, _us, _ns), op, offset_bytes (or \
         _sectors), length_bytes (or _sectors), device, and `other` for the rest"
    )
}

/// Rows that are examined for the units of their values.
const ROWS_MAX: usize = 64;

/// The first lines that are neither blank nor comments.
fn lines_of_rows(head: &[u8]) -> Vec<&[u8]> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !is_blank_or_comment(line));
    lines.take(ROWS_MAX).map(<[u8]>::trim_ascii_end).collect()
}

/// The fields of the lines that have `count` fields, with points instead of decimal commas.
fn fields_of(lines: &[&[u8]], separator: Separator, count: usize) -> Vec<Vec<String>> {
    let rows = lines.iter().map(|line| pointed(separator.fields(line), separator));
    rows.filter(|row| row.len() == count).collect()
}

/// Fields with points instead of decimal commas, unless commas separate them.
fn pointed(mut fields: Vec<String>, separator: Separator) -> Vec<String> {
    for field in fields.iter_mut().filter(|_| separator != Separator::Comma) {
        let pointed = field.replacen(',', ".", 1);
        if decimal::read(pointed.as_bytes(), 0).is_some() {
            *field = pointed;
        }
    }
    fields
}

/// The first rows of a table with so many columns, without a header.
pub(crate) fn rows(head: &[u8], separator: Separator, count: usize) -> Vec<Vec<String>> {
    let mut rows = fields_of(&lines_of_rows(head), separator, count);
    rows.retain(|row| row.iter().any(|field| guess::is_number(field)));
    rows
}

/// A line of names before rows.
struct Header {
    names: Vec<String>,
    /// The separator of the rows.
    separator: Separator,
    rows: Vec<Vec<String>>,
}

impl Header {
    /// The header, if the row after it has as many fields, a number among them.
    fn of(header: &[u8], rows: &[&[u8]]) -> Option<Self> {
        let names = names(header.trim_ascii_end());
        let first = rows.first()?;
        let separator = Separator::of_columns(first, names.len());
        let is_number = |field: &String| field.starts_with(|c: char| c.is_ascii_digit());
        let fields = separator.fields(first);
        let is_table = names.len() >= COLUMNS_MIN && fields.len() == names.len() && fields.iter().any(is_number);
        is_table.then(|| Self { rows: fields_of(rows, separator, names.len()), names, separator })
    }
}

/// What to do with columns in a unit that no key has.
fn without_key(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; no key has the unit of {}: convert it to bytes or seconds first", columns::list(names)),
    }
}

/// The reason why a text has no known format, if its first line looks like a row of a table: it lacks a header.
#[cold]
pub(crate) fn refuse_without_header(file: &str, head: &[u8]) -> Option<Error> {
    let lines = lines_of_rows(head);
    let line = *lines.first()?;
    let is_row = |separator: &Separator| {
        let fields = pointed(separator.fields(line), *separator);
        (4..=16).contains(&fields.len()) && fields.iter().filter(|field| guess::is_number(field)).count() >= 3
    };
    // A comma may be a decimal one.
    let separator = Separator::ALL.into_iter().find(is_row)?;
    let fields = separator.fields(line);
    let rows = fields_of(&lines, separator, fields.len());
    let guessed = guess::columns_of_rows(&rows);
    let between = between(separator);
    let message =
        format!("{file}: it looks like a table without a header{between}; its first row is `{}`", shown(line));
    let Some(remarks) = suggested::remarks(&guessed, &lines, &rows, false) else {
        let help = format!("name the columns in their order, here or in a header line: {}", names_of(fields.len()));
        return Some(Error::new(message).with_help(help));
    };
    let guessed = guessed.keys.join(",");
    // A header has the same separator as its rows.
    let header = match separator {
        Separator::Comma => format!(", such as `{guessed}`"),
        _ => format!(", with the same separator, such as `{}`", guessed.replace(',', &separator.between())),
    };
    Some(Error::new(message).with_help(format!(
        "add a header line that names the columns{header}, or name them on the command line: --columns {guessed}{remarks}"
    )))
}

/// The name of a separator in messages, unless it is a comma.
fn between(separator: Separator) -> String {
    match separator {
        Separator::Comma => String::new(),
        other => format!(", with {} between columns", other.word()),
    }
}

/// Whether fields may be the names of columns. The first may be empty: the index of a data frame has no name.
pub(crate) fn are_names(fields: &[String]) -> bool {
    let is_name = |field: &String| field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    fields.iter().enumerate().all(|(at, field)| is_name(field) || (at == 0 && field.is_empty() && fields.len() > 1))
}

/// The remedy for a text of no known format whose first line may be a header.
pub(crate) fn help_with_header(line: &[u8]) -> Option<String> {
    // Words of prose have blanks between them, too.
    let names = if Separator::of(line) == Separator::Blanks { Vec::new() } else { names(line) };
    (names.len() >= 4 && are_names(&names)).then(|| {
        let in_order = guess::columns(&names, &[]).keys.join(",");
        format!(
            "if its first line names columns, map them: --set workload.columns.arrival_ns=NAME, and the same with op, \
             offset_bytes and length_bytes; or name all of them in order: --columns {in_order}"
        )
    })
}
