//! Finds the columns of dates in a table whose names state no unit of time: usual names and the values decide.

use super::separator::Separator;
use super::{columns, dates, unknown_table};

/// Usual names of such columns, in lower case without signs between words.
const NAMES: &[&str] = &["timestamp", "date", "time", "datetime", "ts", "day", "timeofday", "clock"];

/// The key that replaces the name of such a column: its values are read as nanoseconds.
pub(crate) const ARRIVAL: &str = "arrival_ns";

/// Which columns of a table have the date and the time of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateColumns {
    /// One column has both.
    Together(usize),
    /// Each has a column of its own.
    Apart { date: usize, time: usize },
}

impl DateColumns {
    /// The column that counts as that of arrivals.
    pub(crate) fn arrival(self) -> usize {
        match self {
            Self::Together(at) | Self::Apart { time: at, .. } => at,
        }
    }
}

/// Whether a name may be that of a column of dates.
pub(crate) fn is_of_times(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    NAMES.contains(&letters.as_str())
}

/// The columns of dates: one of dates with times, or one of dates and one of times of day. `None` if a name states a
/// time's unit, if more columns may have times, or if a row has no date there.
pub(crate) fn columns(names: &[String], separator: Separator, head: &[u8]) -> Option<DateColumns> {
    if columns::is_header(names.iter().map(String::as_str)) {
        return None;
    }
    let of_times: Vec<usize> = (0..names.len()).filter(|at| is_of_times(&names[*at])).collect();
    let rows = unknown_table::rows(head, separator, names.len());
    let all = |at: usize, is_such: fn(&[u8]) -> Option<u64>| {
        !rows.is_empty() && rows.iter().all(|row| is_such(row[at].as_bytes()).is_some())
    };
    match of_times[..] {
        [at] => all(at, dates::ns).then_some(DateColumns::Together(at)),
        [one, other] => [(one, other), (other, one)]
            .into_iter()
            .find(|(date, time)| all(*date, dates::midnight_ns) && all(*time, dates::of_day_ns))
            .map(|(date, time)| DateColumns::Apart { date, time }),
        _ => None,
    }
}

/// Whether a header has columns of dates, and all other columns that requests need.
pub(crate) fn is_whole(names: &[String], separator: Separator, head: &[u8]) -> bool {
    let Some(dated) = columns(names, separator, head) else { return false };
    let mut names = names.to_vec();
    names[dated.arrival()] = ARRIVAL.to_owned();
    columns::missing_of_header(&names).is_none()
}
