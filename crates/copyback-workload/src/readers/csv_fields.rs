//! Fields of a table as text: numbers with decimals, times, dates.

use super::columns::{self, Column};
use super::cursor::{Cursor, LineError, shown};
use super::dated_header::DateColumns;
use super::dates;
use super::decimal::{self, Decimal};
use super::separator::Separator;
use crate::Request;
use crate::spec::Field;

/// The sign before the decimals of a table's numbers; `None` before the first one.
#[derive(Default)]
pub(super) struct Decimals(Option<u8>);

impl Decimals {
    /// Reads a field, possibly with a decimal comma, into a request. A comma that may separate thousands, or columns,
    /// is refused.
    pub(super) fn set(
        &mut self,
        separator: Separator,
        to: &mut Request,
        column: &Column,
        field: &[u8],
    ) -> Result<(), LineError> {
        let done = set(to, column, field);
        if separator == Separator::Comma && done.is_ok() {
            return done;
        }
        let Some(at) = field.iter().position(|byte| matches!(byte, b'.' | b',')) else { return done };
        let is_number = |text: &[u8]| decimal::read(text, 0).is_some();
        let pointed = [&field[..at], b".", &field[at + 1..]].concat();
        // Dates have points, too, and names may have both.
        if !is_number(&pointed) {
            return done;
        }
        let (sign, name, text) = (field[at], column.key.name, shown(field));
        if separator == Separator::Comma {
            return match sign {
                b',' => Err(LineError(format!(
                    "its {name} is `{text}`, and commas separate the columns: write decimals with a point, or another \
                     sign between columns, such as `;`"
                ))),
                _ => done,
            };
        }
        if *self.0.get_or_insert(sign) != sign {
            let [own, other] = if sign == b',' { ["comma", "point"] } else { ["point", "comma"] };
            return Err(LineError(format!(
                "its {name} is `{text}`, with a {own}, and decimals before it have a {other}; write all alike, without \
                 signs between thousands"
            )));
        }
        if sign != b',' {
            return done;
        }
        set(to, column, &pointed).map_err(|_| {
            LineError(format!(
                "its {name} is `{text}`, and the comma is read as a decimal point: that is no number of this column; \
                 write thousands without a sign between them"
            ))
        })
    }

    /// The note that commas were read as decimal points.
    pub(super) fn note(&self) -> Option<String> {
        (self.0 == Some(b',')).then(|| "commas in its numbers were read as decimal points".to_owned())
    }
}

/// Whether a table's times are dates; `None` before the first row.
#[derive(Default)]
pub(super) struct Times {
    are_dates: Option<bool>,
    /// Columns of dates and of times of day, if these are separate.
    apart: Option<Apart>,
}

/// An arrival in two columns: its date, and its time of day.
struct Apart {
    date_at: usize,
    time_at: usize,
    /// Midnight before the arrival of the current row, and the time since then.
    midnight_ns: u64,
    of_day_ns: u64,
}

impl Times {
    /// Times of a table with such columns.
    pub(super) fn new(dated: Option<DateColumns>) -> Self {
        let apart = match dated {
            Some(DateColumns::Apart { date, time }) => {
                Some(Apart { date_at: date, time_at: time, midnight_ns: 0, of_day_ns: 0 })
            }
            _ => None,
        };
        Self { are_dates: None, apart }
    }

    /// The column of dates, if times of day have another one.
    pub(super) fn date_at(&self) -> Option<usize> {
        self.apart.as_ref().map(|apart| apart.date_at)
    }

    /// Stores a date or a time of day in a request; `None` if the column has neither.
    pub(super) fn set(&mut self, to: &mut Request, at: usize, field: &[u8]) -> Option<Result<(), LineError>> {
        let apart = self.apart.as_mut()?;
        let (part, value, form) = match at {
            at if at == apart.date_at => (&mut apart.midnight_ns, dates::midnight_ns(field), "date such as 2026-11-26"),
            at if at == apart.time_at => (&mut apart.of_day_ns, dates::of_day_ns(field), "time such as 17:02:07.5"),
            _ => return None,
        };
        let Some(value) = value else {
            return Some(Err(LineError(format!("its arrival has `{}`, and no {form}", shown(field)))));
        };
        *part = value;
        // The part that comes second completes the sum.
        let sum = apart.midnight_ns.checked_add(apart.of_day_ns);
        Some(sum.map(|sum| to.arrival_ns = sum).ok_or_else(|| LineError("its date is after the year 2554".to_owned())))
    }

    /// Refuses a date among other times, and another time among dates: their differences would be decades.
    pub(super) fn check(&mut self, field: &[u8], column: &Column) -> Result<(), LineError> {
        let is_date = dates::ns(field).is_some();
        if *self.are_dates.get_or_insert(is_date) == is_date {
            return Ok(());
        }
        let (name, text) = (column.key.name, shown(field));
        Err(LineError(match is_date {
            true => format!("its {name} is the date `{text}`, and those before it are numbers; write all alike"),
            false => format!("its {name} is `{text}`, and those before it are dates; write all alike"),
        }))
    }
}

pub(super) fn set(request: &mut Request, column: &Column, field: &[u8]) -> Result<(), LineError> {
    let key = &column.key;
    if field.is_empty() {
        return Err(LineError(format!("its {} is empty", key.name)));
    }
    match key.field {
        Field::Arrival => request.arrival_ns = time(field, column)?,
        // `Csv::row` reads these fields: operations depend on the settings, and devices on previous rows.
        Field::Op | Field::Device => {}
        Field::Offset => request.offset_bytes = columns::scaled(number(field, column)?, key)?,
        Field::Length => request.len_bytes = columns::scaled(number(field, column)?, key)?,
        Field::Priority => request.priority = columns::priority_of_text(without_zeros(field))?,
    }
    Ok(())
}

/// A whole number without its decimals if they are zeros: tools write such decimals in a column that has had a missing
/// value.
pub(super) fn without_zeros(field: &[u8]) -> &[u8] {
    let Some(point) = field.iter().position(|byte| *byte == b'.') else { return field };
    let (whole, decimals) = (&field[..point], &field[point + 1..]);
    let is_whole = whole.iter().all(u8::is_ascii_digit) && decimals.iter().all(|byte| *byte == b'0');
    if is_whole { whole } else { field }
}

/// A whole number.
pub(super) fn number(field: &[u8], column: &Column) -> Result<i128, LineError> {
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

/// A time, with decimals in units above a nanosecond; fractions of a nanosecond are cut off.
fn time(field: &[u8], column: &Column) -> Result<u64, LineError> {
    if let Some(time_ns) = dates::ns(field) {
        return Ok(time_ns);
    }
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
            "its {name} is `{text}`, and dates are written as 2026-11-26T17:02:07.5Z, from 1970 on"
        ))),
        None => Err(LineError(format!("its {name} is `{text}`, and no number such as 12, 0.5 or 1e-05"))),
    }
}
