//! A table as text: a header that names the columns, then a row for each request, fields between commas (or `;`, tabs,
//! `|`, blanks). The header may begin with a comment sign; `workload.columns.order` replaces the header.
//!
//! Columns have any order: `arrival_ns`, `op`, `offset_bytes`, `length_bytes` and, if present, `device` and `priority`.
//! Columns in other units have other names, some names have short forms (`time_us`, `offset`), and `[workload.columns]`
//! sets other names. A column of dates, or one of dates and one of times of day, is found by usual names such as `date`
//! and `time` (`dated_header.rs`). A field may be in double quotes, but has no line end.

use super::columns::{self, Column, OpWords};
use super::csv_fields::{Decimals, Times, number, set, without_zeros};
use super::cursor::LineError;
use super::dated_header;
use super::lines::is_blank_or_comment;
use super::names::Names;
use super::registry::{Content, FormatRow, open_lines};
use super::separator::Separator;
use super::unknown_table::{self, are_names};
use super::{LineFormat, Parsed, ReaderOptions};
use crate::spec::Field;
use crate::units::counted;
use crate::{Error, Priority, Request};

/// The format.
pub(crate) const FORMAT: FormatRow = FormatRow {
    options: &["columns", "operations"],
    ..FormatRow::new(
        "csv",
        Content::Known {
            recognises,
            why: "as its header names columns",
            open: |opening| {
                let format = Csv::new(opening.file, opening.head, opening.options)?;
                open_lines(opening, format)
            },
        },
    )
};

/// Reads a table as text.
pub(crate) struct Csv {
    separator: Separator,
    /// The names of the columns, if `order` sets them.
    order: Option<String>,
    /// The field of each column of the header.
    of_columns: Vec<Option<Column>>,
    unused: Option<String>,
    /// Whether the first line is a header that was not read yet.
    header_ahead: bool,
    /// Whether the settings name the columns, but the first line may still be a header.
    header_possible: bool,
    header_passed: bool,
    counts_from_start: bool,
    operations: OpWords,
    ignored: u64,
    /// How devices are distinguished, by number or by name; unknown before the first device.
    devices: Devices,
    times: Times,
    decimals: Decimals,
}

/// How a table's devices are distinguished.
enum Devices {
    Unknown,
    Numbers,
    Names(Names),
}

/// A comment before a header: the first request does not arrive at zero.
pub(crate) const COUNTS_FROM_START: &str = "# times count from the recording's start";

/// Whether this comment precedes the header.
fn counts_from_start(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').take_while(|line| is_blank_or_comment(line));
    lines.any(|line| line.trim_ascii() == COUNTS_FROM_START.as_bytes())
}

/// The last comment before the first row, without its sign: numpy writes headers as comments.
pub(crate) fn last_comment(head: &[u8]) -> Option<&[u8]> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let comment = lines.take_while(|line| is_blank_or_comment(line)).filter(|line| !line.is_empty()).last()?;
    let sign = comment.iter().take_while(|byte| matches!(byte, b'#' | b'/' | b';')).count();
    Some(comment[sign..].trim_ascii())
}

/// Whether a line names columns, including one of arrival times.
fn is_header(line: &[u8]) -> bool {
    columns::is_header(names(line).iter().map(String::as_str))
}

/// The first line of a text that is neither blank nor a comment.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.into_iter().find(|line| !is_blank_or_comment(line))
}

/// The names in a header; none if a quotation is not closed.
pub(crate) fn names(line: &[u8]) -> Vec<String> {
    Separator::of(line).fields(line)
}

/// Whether a text begins with a header that has a column of arrival times, or of dates.
pub(crate) fn recognises(head: &[u8]) -> bool {
    let is_dated = |line: &[u8]| dated_header::is_whole(&names(line), Separator::of(line), head);
    first_line(head).is_some_and(|line| is_header(line) || is_dated(line)) || last_comment(head).is_some_and(is_header)
}

impl Csv {
    /// A reader for a text with this beginning.
    pub(crate) fn new(file: &str, head: &[u8], options: &ReaderOptions) -> Result<Self, Error> {
        let first = first_line(head).unwrap_or_default();
        let ordered = options.columns.header();
        let has_named = |line: &[u8]| {
            let names = names(line);
            let mut named = options.columns.set().map(|(_, name)| name).peekable();
            named.peek().is_some() && named.all(|name| names.iter().any(|known| known == name))
        };
        let is_such = |line: &[u8]| is_header(line) || has_named(line);
        let commented = last_comment(head).filter(|comment| is_such(comment) && !is_such(first));
        let line = commented.unwrap_or(first);
        let separator = match &ordered {
            Some(ordered) => Separator::of_columns(first, ordered.len()),
            // Names behind a comment's sign may have another separator than the rows.
            None if commented.is_some() => Separator::of_columns(first, names(line).len()),
            None => Separator::of(line),
        };
        let (is_ordered, mut names) = (ordered.is_some(), ordered.unwrap_or_else(|| names(line)));
        let is_arrival_unnamed = options.columns.set().all(|(key, _)| key.field != Field::Arrival);
        let dated = if is_arrival_unnamed { dated_header::columns(&names, separator, head) } else { None };
        if let Some(dated) = dated {
            dated_header::ARRIVAL.clone_into(&mut names[dated.arrival()]);
        }
        let times = Times::new(dated);
        let rows = || unknown_table::rows(head, separator, names.len());
        let found = columns::find(file, &names, &options.columns, (!is_ordered).then_some(&rows as _))?;
        let mut of_columns = vec![None; names.len()];
        for column in found.into_iter().flatten() {
            of_columns[column.at] = Some(column);
        }
        if let (Some(at), Some(arrival)) = (times.date_at(), found[0]) {
            of_columns[at] = Some(Column { at, ..arrival });
        }
        Ok(Self {
            separator,
            order: is_ordered.then(|| names.join(",")),
            of_columns,
            unused: columns::note_unused(&names, &found, times.date_at()),
            header_ahead: !is_ordered && commented.is_none(),
            header_possible: is_ordered,
            header_passed: false,
            counts_from_start: counts_from_start(head),
            operations: OpWords::new(&options.operations),
            ignored: 0,
            devices: Devices::Unknown,
            times,
            decimals: Decimals::default(),
        })
    }

    /// Reads a row; `None` for one whose operation is ignored.
    fn row(&mut self, line: &[u8]) -> Result<Option<Request>, LineError> {
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
        let mut is_ignored = false;
        // An ignored row may lack the other fields.
        let mut wrong = None;
        while rest.is_some() {
            let field = self.separator.next_field(&mut rest)?;
            if let Some(Some(column)) = self.of_columns.get(count) {
                let done = match column.key.field {
                    Field::Op if !field.is_empty() => {
                        self.operations.of_text(without_zeros(field)).map(|op| match op {
                            Some(op) => request.op = op,
                            None => is_ignored = true,
                        })
                    }
                    Field::Device if !field.is_empty() => {
                        self.devices.number(field, column).map(|device| request.device = device)
                    }
                    Field::Arrival => match self.times.set(&mut request, count, field) {
                        Some(done) => done,
                        None => self
                            .decimals
                            .set(self.separator, &mut request, column, field)
                            .and_then(|()| self.times.check(field, column)),
                    },
                    Field::Offset | Field::Length => self.decimals.set(self.separator, &mut request, column, field),
                    _ => set(&mut request, column, field),
                };
                wrong = wrong.or(done.err());
            }
            count += 1;
        }
        if count != self.of_columns.len() {
            return Err(self.wrong_count(count));
        }
        match wrong {
            _ if is_ignored => {
                self.ignored += 1;
                Ok(None)
            }
            Some(wrong) => Err(wrong),
            None => Ok(Some(request)),
        }
    }

    /// The error of a row whose number of columns is not the number of names.
    #[cold]
    fn wrong_count(&self, count: usize) -> LineError {
        let (between, wanted) = (self.separator.word(), self.of_columns.len());
        let has = format!("it has {} with {between} between them", counted(count as u64, "column"));
        LineError(match &self.order {
            None => format!("{has}, and the header has {wanted}"),
            Some(order) => format!(
                "{has}, and `--columns` (`workload.columns.order`) names \
                 {wanted}: {order}; name each column in its order, and `other` for one that is not looked at"
            ),
        })
    }
}

impl Devices {
    /// The number of a row's device. The first row determines whether devices are numbers or names.
    #[inline]
    fn number(&mut self, field: &[u8], column: &Column) -> Result<u32, LineError> {
        if let Self::Unknown = self {
            let is_number = number(without_zeros(field), column).and_then(columns::device_of).is_ok();
            *self = if is_number { Self::Numbers } else { Self::Names(Names::default()) };
        }
        match self {
            // In a quotation, two quotes are one.
            Self::Names(names) if field.contains(&b'"') => {
                names.device_of(String::from_utf8_lossy(field).replace("\"\"", "\"").as_bytes())
            }
            Self::Names(names) => names.device_of(field),
            _ => number(field, column).and_then(columns::device_of).map_err(|error| {
                LineError(format!("{}, and those before it are numbers; name all devices, or number all", error.0))
            }),
        }
    }
}

impl LineFormat for Csv {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if self.header_ahead {
            // The header was used before the first line was read.
            self.header_ahead = false;
            return Ok(Parsed::Other);
        }
        let could_be_header = std::mem::take(&mut self.header_possible);
        match self.row(line) {
            Ok(Some(request)) => Ok(Parsed::Request(request)),
            Ok(None) => Ok(Parsed::Other),
            // A header that `order` replaces has names, and no number.
            Err(_) if could_be_header && are_names(&self.separator.fields(line)) => {
                self.header_passed = true;
                self.devices = Devices::Unknown;
                Ok(Parsed::Other)
            }
            Err(error) => Err(error),
        }
    }

    fn is_row(&self, line: &[u8]) -> bool {
        self.separator == Separator::Semicolon && line.first() == Some(&b';')
    }

    fn counts_from_start(&self) -> bool {
        self.counts_from_start
    }

    fn device_name(&self, device: u32) -> Option<String> {
        match &self.devices {
            Devices::Names(names) => names.name_of(device),
            _ => None,
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.unused.iter().cloned().collect();
        if self.separator != Separator::Comma {
            notes.push(format!("its columns have {} between them", self.separator.word()));
        }
        notes.extend(self.decimals.note());
        if self.header_passed {
            notes.push(
                "its first line was taken for a header, and the names in `workload.columns.order` replace it".into(),
            );
        }
        if self.ignored > 0 {
            let ignored = counted(self.ignored, "row");
            notes.push(format!("{ignored} left out, as `workload.operations` says"));
        }
        notes.extend(self.operations.notes());
        if let Devices::Names(names) = &self.devices {
            notes.extend(super::fio::named_devices(names.list().iter().map(Vec::as_slice)));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::lines::LineReader;
    use crate::readers::{Record, RecordReader};

    const HEADER: &[u8] = b"arrival_us,op,offset_bytes,length_bytes,device\n";

    /// Endless rows, each with a new device.
    struct Hostile {
        row: u64,
        left: Vec<u8>,
    }

    impl std::io::Read for Hostile {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.left.is_empty() {
                self.row += 1;
                self.left = format!("{0},W,0,4096,volume-{0}\n", self.row).into_bytes();
            }
            let count = self.left.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.left[..count]);
            self.left.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn a_new_device_in_each_row_ends_with_an_error() {
        let mut table = Csv::new("t.csv", HEADER, &ReaderOptions::default()).expect("it has a header");
        table.devices = Devices::Names(Names::limited(1 << 20));
        let hostile = Hostile { row: 0, left: HEADER.to_vec() };
        let mut reader = LineReader::new("t.csv".to_owned(), Box::new(hostile), table, 0, String::new());
        let (mut records, mut count): (Vec<Record>, usize) = (Vec::new(), 0);
        let error = loop {
            records.clear();
            let read = reader.read_batch(&mut records);
            count += records.len();
            match read {
                Ok(_) => assert!(count < 10_000, "it reads on"),
                Err(error) => break error,
            }
        };
        let message = &error.message;
        // A name and its two entries take 192 bytes, plus twice its text.
        assert!((4_500..5_500).contains(&count), "after {count} names: {message}");
        assert!(message.starts_with(&format!("t.csv, line {}: with `volume-{}`", count + 2, count + 1)), "{message}");
        assert!(message.contains("take more than 1 MiB of memory; write numbers instead of names"), "{message}");
    }
}
