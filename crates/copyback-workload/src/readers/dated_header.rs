//! A column of dates in a table whose header has no name of a time in a known unit: the dates show what it is.

use super::separator::Separator;
use super::{columns, dates, unknown_table};

/// Usual names of such a column, in lower case without signs between words.
const NAMES: &[&str] = &["timestamp", "date", "time", "datetime", "ts"];

/// A name of a column of arrival times as dates.
pub(crate) const ARRIVAL: &str = "arrival_ns";

/// The position of the column of dates; `None` if the header names a time's unit, if several columns may have times, or
/// if a row has no date there.
pub(crate) fn column(names: &[String], separator: Separator, head: &[u8]) -> Option<usize> {
    if columns::is_header(names.iter().map(String::as_str)) {
        return None;
    }
    let is_of_times = |name: &String| {
        let letters = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        NAMES.contains(&letters.as_str())
    };
    let mut of_times = names.iter().enumerate().filter(|(_, name)| is_of_times(name)).map(|(at, _)| at);
    let (at, None) = (of_times.next()?, of_times.next()) else { return None };
    let rows = unknown_table::rows(head, separator, names.len());
    (!rows.is_empty() && rows.iter().all(|row| dates::ns(row[at].as_bytes()).is_some())).then_some(at)
}

/// Whether a header has a column of dates, and all other columns that requests need.
pub(crate) fn is_whole(names: &[String], separator: Separator, head: &[u8]) -> bool {
    let Some(at) = column(names, separator, head) else { return false };
    let mut names = names.to_vec();
    names[at] = ARRIVAL.to_owned();
    columns::missing_of_header(&names).is_none()
}
