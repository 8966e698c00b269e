//! Formats whose rows may be those of a table without a header, with other units or another order of columns.
//!
//! A format's reading is accepted unless its values are implausible. Then the file is refused as ambiguous: the units
//! of the table are unknown.

use super::{Parsed, ReaderOptions};
use crate::spec::Format;
use crate::units::{counted, format_bytes};
use crate::{Error, Request};

/// Fewest rows to judge by.
const ROWS_MIN: usize = 4;

/// Of this many rows, one may have a smaller value than the row before it: block layers print events out of order.
const ROWS_PER_FALL: usize = 8;

/// Above this mean length in sectors, 1 MiB, requests are longer than block layers make them.
const SECTORS_MEAN_MAX: u64 = 2048;

/// Largest plausible mean gap in a trace of a cloud volume, whose times are whole seconds.
const GAP_SECONDS_MAX: u64 = 60;

/// Above this, seconds count from 1970.
const SINCE_1970_MIN_SECONDS: u64 = 100_000_000;

/// A format that resembles a table.
struct Resembling {
    format: Format,
    /// The columns of the table, for the help.
    columns: &'static str,
    /// The reason why the rows are implausible in the format, if they are.
    doubt: fn(&[Request]) -> Option<String>,
}

const RESEMBLING: &[Resembling] = &[
    Resembling {
        format: Format::Alibaba,
        columns: "arrival_us,op,offset_bytes,length_bytes,device",
        doubt: devices_are_times,
    },
    Resembling {
        format: Format::Tencent,
        columns: "arrival_us,offset_bytes,length_bytes,op,device",
        doubt: |rows| lengths_are_bytes(rows).or_else(|| gaps_are_long(rows)),
    },
    Resembling {
        format: Format::Disksim,
        columns: "arrival_ms,device,offset_bytes,length_bytes,op",
        doubt: lengths_are_bytes,
    },
    Resembling {
        format: Format::Ssdsim,
        columns: "arrival_ns,device,offset_bytes,length_bytes,op",
        doubt: lengths_are_bytes,
    },
];

/// The reason why rows that have this format are ambiguous, if they are.
#[cold]
pub(crate) fn refuse(file: &str, format: Format, lines: &[&[u8]], options: &ReaderOptions) -> Option<Error> {
    let own = RESEMBLING.iter().find(|own| own.format == format)?;
    let mut parser = format.row().parser(options)?;
    let row = |line: &&[u8]| match parser.parse(line) {
        Ok(Parsed::Request(request)) => Some(request),
        _ => None,
    };
    let rows: Vec<Request> = lines.iter().filter_map(row).collect();
    if rows.len() < ROWS_MIN {
        return None;
    }
    let doubt = (own.doubt)(&rows)?;
    let message = format!(
        "{file}: it is ambiguous: its rows have the form of `{format}`, and of a table without a header; {doubt}"
    );
    Some(Error::new(message).with_help(format!(
        "name the columns of a table, for example --columns {}, or the format: --format {format}",
        own.columns
    )))
}

/// Whether numbers may be the times of a trace: they hardly fall, and are not all equal.
fn are_times(mut values: impl Iterator<Item = u64>) -> bool {
    let Some(first) = values.next() else { return false };
    let (mut last, mut count, mut falls, mut differ) = (first, 1, 0, false);
    for value in values {
        count += 1;
        falls += usize::from(value < last);
        differ |= value != first;
        last = value;
    }
    differ && falls * ROWS_PER_FALL <= count
}

/// The devices rise with every few rows, as times do.
fn devices_are_times(rows: &[Request]) -> Option<String> {
    let devices = || rows.iter().map(|row| u64::from(row.device));
    let changes = devices().zip(devices().skip(1)).filter(|(one, next)| one != next).count();
    if !are_times(devices()) || 2 * changes < rows.len() - 1 {
        return None;
    }
    let times = if are_times(rows.iter().map(|row| row.arrival_ns)) { "rise" } else { "do not rise" };
    Some(format!(
        "as `{}`, the devices of its first {} rise from row to row, as times do, and the times {times}",
        Format::Alibaba,
        counted(rows.len() as u64, "row")
    ))
}

/// If lengths in sectors are multiples of 512, and above 1 MiB on average, they may be bytes.
fn lengths_are_bytes(rows: &[Request]) -> Option<String> {
    let sectors = || rows.iter().map(|row| row.len_bytes / 512);
    let sum: u64 = sectors().fold(0, u64::saturating_add);
    let mean = sum / rows.len() as u64;
    (sectors().all(|sectors| sectors % 512 == 0) && mean > SECTORS_MEAN_MAX).then(|| {
        let mean = format_bytes(mean.saturating_mul(512));
        format!("in sectors, the mean length is {mean}, and all lengths are multiples of 512, so they may be bytes")
    })
}

/// Seconds that do not count from 1970, and are far apart, are of a smaller unit.
fn gaps_are_long(rows: &[Request]) -> Option<String> {
    const SECOND_NS: u64 = 1_000_000_000;
    let (first, last) = (rows.first()?.arrival_ns / SECOND_NS, rows.last()?.arrival_ns / SECOND_NS);
    let gap = last.saturating_sub(first) / (rows.len() as u64 - 1);
    (gap > GAP_SECONDS_MAX && first < SINCE_1970_MIN_SECONDS)
        .then(|| format!("as `{}`, whose times are whole seconds, requests are {gap} s apart", Format::Tencent))
}
