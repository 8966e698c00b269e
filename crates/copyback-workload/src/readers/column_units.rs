//! Units of a table's columns: from a column's name, or else from its values.

use crate::readers::dates;
use crate::spec::Field;

/// A unit of times or of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanos,
    Micros,
    Millis,
    Seconds,
    Bytes,
    Kib,
    Sectors,
    /// A unit that no key has, such as megabytes, pages or days.
    WithoutKey,
}

impl Unit {
    /// The key of a column with this unit.
    pub(crate) fn key(self, field: Field) -> &'static str {
        match (field, self) {
            (Field::Arrival, Self::Nanos) => "arrival_ns",
            (Field::Arrival, Self::Millis) => "arrival_ms",
            (Field::Arrival, Self::Seconds) => "arrival_s",
            (Field::Arrival, _) => "arrival_us",
            (Field::Op, _) => "op",
            (Field::Offset, Self::Kib) => "offset_kib",
            (Field::Offset, Self::Sectors) => "offset_sectors",
            (Field::Offset, _) => "offset_bytes",
            (Field::Length, Self::Kib) => "length_kib",
            (Field::Length, Self::Sectors) => "length_sectors",
            (Field::Length, _) => "length_bytes",
            (Field::Device, _) => "device",
            (Field::Priority, _) => "priority",
        }
    }
}

const TIME_WORDS: &[(&[&str], Unit)] = &[
    (&["ns", "nsec", "nsecs", "nanos", "nanosec", "nanosecs", "nanosecond", "nanoseconds"], Unit::Nanos),
    (&["us", "usec", "usecs", "micros", "microsec", "microsecs", "microsecond", "microseconds"], Unit::Micros),
    (&["ms", "msec", "msecs", "millis", "millisec", "millisecs", "millisecond", "milliseconds"], Unit::Millis),
    (&["s", "sec", "secs", "second", "seconds"], Unit::Seconds),
    (&["min", "mins", "minute", "minutes", "hour", "hours", "day", "days", "tick", "ticks"], Unit::WithoutKey),
    (&["cycle", "cycles", "jiffies", "filetime"], Unit::WithoutKey),
];

/// Endings of time names without a separator, the longer ones first: `timens`, `tsmsec`.
const TIME_ENDINGS: &[(&str, Unit)] = &[
    ("nsec", Unit::Nanos),
    ("usec", Unit::Micros),
    ("msec", Unit::Millis),
    ("sec", Unit::Seconds),
    ("ns", Unit::Nanos),
    ("us", Unit::Micros),
    ("ms", Unit::Millis),
];

const SIZE_WORDS: &[(&[&str], Unit)] = &[
    (&["k", "kb", "kib", "kbyte", "kbytes", "kilobyte", "kilobytes", "kibibyte", "kibibytes"], Unit::Kib),
    (&["mb", "mib", "mbyte", "mbytes", "megabyte", "megabytes", "gb", "gib", "gigabyte"], Unit::WithoutKey),
    (&["page", "pages", "npages", "lpn", "lpa", "blocks", "nblocks", "nblk", "blks"], Unit::WithoutKey),
];

/// A block's number is an offset in blocks; `block_size` is a length in bytes.
const OFFSET_WORDS: &[&str] = &["block", "blk", "blkno", "blocknr"];

/// Whether a column's name says that it counts blocks.
pub(crate) fn counts_blocks(name: &str) -> bool {
    words(name).iter().any(|word| ["blocks", "nblocks", "nblk", "blks"].contains(&word.as_str()))
}

/// Words of a name in lower case: `ts` and `us` of `ts_us`, `size` and `kb` of `SizeKB`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_lower = false;
    // In these units, the capital after the small letter begins no word.
    let name = name.replace("KiB", "KIB").replace("MiB", "MIB").replace("GiB", "GIB");
    for letter in name.chars() {
        let letter = if matches!(letter, 'µ' | 'μ') { 'u' } else { letter };
        if !letter.is_ascii_alphanumeric() || (is_after_lower && letter.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
        is_after_lower = letter.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The unit that a column's name states.
pub(crate) fn of_name(name: &str, field: Field) -> Option<Unit> {
    let words = words(name);
    let listed = |list: &[(&[&str], Unit)]| {
        let is_listed = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        list.iter().find(|(known, _)| is_listed(known)).map(|(_, unit)| *unit)
    };
    match field {
        Field::Arrival => listed(TIME_WORDS).or_else(|| {
            let ends = |(ending, _): &&(&str, Unit)| words.iter().any(|word| word.ends_with(ending));
            TIME_ENDINGS.iter().find(ends).map(|(_, unit)| *unit)
        }),
        Field::Offset | Field::Length => {
            let has = |part: &str| words.iter().any(|word| word.contains(part));
            let is_block = || field == Field::Offset && words.iter().any(|word| OFFSET_WORDS.contains(&word.as_str()));
            listed(SIZE_WORDS)
                .or_else(|| (has("sect") || has("lba")).then_some(Unit::Sectors))
                .or_else(|| has("byte").then_some(Unit::Bytes))
                .or_else(|| is_block().then_some(Unit::WithoutKey))
        }
        Field::Op | Field::Device | Field::Priority => None,
    }
}

/// The years 2001 to 2033, in seconds since 1970: a time in this range is most likely a date.
const EPOCH_S: std::ops::Range<f64> = 1e9..2e9;

/// The unit of arrival times, from their values: dates since 1970 by their magnitude; other numbers with decimals are
/// seconds, and whole ones microseconds.
pub(crate) fn of_times<'a>(values: impl Iterator<Item = &'a str>) -> Unit {
    let mut unit = Unit::Micros;
    for value in values.filter(|value| dates::ns(value.as_bytes()).is_none()) {
        let number = value.parse::<f64>().unwrap_or(0.0);
        let units = [(1.0, Unit::Seconds), (1e3, Unit::Millis), (1e6, Unit::Micros), (1e9, Unit::Nanos)];
        if let Some((_, of_epoch)) = units.into_iter().find(|(factor, _)| EPOCH_S.contains(&(number / factor))) {
            return of_epoch;
        }
        if value.contains(['.', 'e', 'E']) {
            unit = Unit::Seconds;
        }
    }
    unit
}

/// Bytes of a sector.
const SECTOR_BYTES: u64 = 512;

/// The units of offsets and lengths without a unit of their own, from the rows' values. No request is shorter than a
/// sector: smaller lengths count sectors. If all lengths are multiples of a sector, and an offset is not, offsets count
/// sectors.
pub(crate) fn of_sizes(offsets: &[u64], lengths: &[u64], named_length: Option<Unit>) -> (Unit, Unit) {
    let is_tiny = lengths.iter().any(|length| *length > 0) && lengths.iter().all(|length| *length < SECTOR_BYTES);
    if named_length.is_none() && is_tiny {
        return (Unit::Sectors, Unit::Sectors);
    }
    let are_whole = named_length.is_some_and(|unit| unit != Unit::Bytes)
        || (!lengths.is_empty() && lengths.iter().all(|length| length.is_multiple_of(SECTOR_BYTES)));
    let is_of_sectors = are_whole && offsets.iter().any(|offset| !offset.is_multiple_of(SECTOR_BYTES));
    (if is_of_sectors { Unit::Sectors } else { Unit::Bytes }, Unit::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_states_its_unit() {
        use Field::{Arrival, Length, Offset};
        for (name, field, expected) in [
            ("Timestamp (us)", Arrival, Some(Unit::Micros)),
            ("time_µs", Arrival, Some(Unit::Micros)),
            ("tsMsec", Arrival, Some(Unit::Millis)),
            ("timens", Arrival, Some(Unit::Nanos)),
            ("t_s", Arrival, Some(Unit::Seconds)),
            ("time", Arrival, None),
            ("time (min)", Arrival, Some(Unit::WithoutKey)),
            ("Size (KB)", Length, Some(Unit::Kib)),
            ("sizeKiB", Length, Some(Unit::Kib)),
            ("Size (MB)", Length, Some(Unit::WithoutKey)),
            ("nbytes", Length, Some(Unit::Bytes)),
            ("nblocks", Length, Some(Unit::WithoutKey)),
            ("block_size", Length, None),
            ("block", Offset, Some(Unit::WithoutKey)),
            ("startLBA", Offset, Some(Unit::Sectors)),
            ("offset", Offset, None),
        ] {
            assert_eq!(of_name(name, field), expected, "{name}");
        }
    }

    #[test]
    fn values_show_their_unit() {
        for (values, expected) in [
            (&["1669000000.123"][..], Unit::Seconds),
            (&["1669000000"], Unit::Seconds),
            (&["1669000000123"], Unit::Millis),
            (&["1669000000123456"], Unit::Micros),
            (&["1669000000123456789"], Unit::Nanos),
            (&["0", "0.5"], Unit::Seconds),
            (&["0", "5"], Unit::Micros),
            (&["2026-11-26T17:02:07.5Z"], Unit::Micros),
        ] {
            assert_eq!(of_times(values.iter().copied()), expected, "{values:?}");
        }
        assert_eq!(of_sizes(&[123_456], &[8], None), (Unit::Sectors, Unit::Sectors));
        assert_eq!(of_sizes(&[8], &[4096], None), (Unit::Sectors, Unit::Bytes));
        assert_eq!(of_sizes(&[8], &[100, 4096], None), (Unit::Bytes, Unit::Bytes));
        assert_eq!(of_sizes(&[4096], &[8], Some(Unit::Sectors)), (Unit::Bytes, Unit::Bytes));
        assert_eq!(of_sizes(&[100], &[8], Some(Unit::Sectors)), (Unit::Sectors, Unit::Bytes));
        assert_eq!(of_sizes(&[0], &[], None), (Unit::Bytes, Unit::Bytes));
    }
}
