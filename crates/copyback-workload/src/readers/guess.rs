//! Guesses the columns of an unknown table, as an example for the user.

use super::column_units::{self, Unit, of_sizes, of_times, words};
use super::{columns, dates};
use crate::spec::{Field, full_name};

/// The name of an ignored column.
const OTHER: &str = "other";

/// Parts of names, each with the usual field of such a column, or `None` for a column of no field; the first part that
/// a name contains counts. A part of one or two letters must be a whole word of the name.
const HINTS: &[(&str, Option<Field>)] = &[
    ("latency", None),
    ("resp", None),
    ("durat", None),
    ("elapsed", None),
    ("time", Some(Field::Arrival)),
    ("date", Some(Field::Arrival)),
    ("arriv", Some(Field::Arrival)),
    ("ts", Some(Field::Arrival)),
    ("t", Some(Field::Arrival)),
    ("op", Some(Field::Op)),
    ("opcode", Some(Field::Op)),
    ("oper", Some(Field::Op)),
    ("rw", Some(Field::Op)),
    ("type", Some(Field::Op)),
    ("kind", Some(Field::Op)),
    ("cmd", Some(Field::Op)),
    ("len", Some(Field::Length)),
    ("size", Some(Field::Length)),
    ("bytes", Some(Field::Length)),
    ("sectors", Some(Field::Length)),
    ("nblocks", Some(Field::Length)),
    ("npages", Some(Field::Length)),
    ("count", Some(Field::Length)),
    ("off", Some(Field::Offset)),
    ("lba", Some(Field::Offset)),
    ("addr", Some(Field::Offset)),
    ("sector", Some(Field::Offset)),
    ("start", Some(Field::Offset)),
    ("dev", Some(Field::Device)),
    ("disk", Some(Field::Device)),
    ("vol", Some(Field::Device)),
    ("lun", Some(Field::Device)),
];

/// The columns of a table as keys, in their order.
#[derive(Debug, PartialEq)]
pub(crate) struct Guess {
    /// A key for each column, or `other`.
    pub keys: Vec<String>,
    /// Names of columns in a unit that no key has.
    pub without_key: Vec<String>,
    /// Whether neither a name nor the values show the unit of times.
    pub is_time_unit_unknown: bool,
}

/// Whether a field is a number or a date.
pub(crate) fn is_number(field: &str) -> bool {
    let is_plain = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain || dates::ns(field.as_bytes()).is_some()
}

/// Whether a field is a time of day: `17:02:01`.
fn is_time_of_day(field: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    field.split(':').count() == 3 && field.split(':').all(is_number)
}

/// Beginnings of device names, before a letter or a number of the device.
const DEVICES: &[&str] = &[
    "/dev/",
    "sd",
    "hd",
    "vd",
    "xvd",
    "nvme",
    "mmcblk",
    "dm-",
    "md",
    "loop",
    "disk",
    "dev",
    "vol",
    "volume",
    "lun",
    "physicaldrive",
];

/// Whether a field is a device's usual name: `sda`, `nvme0n1`, `8:0`, `vol-3`.
fn is_device(field: &str) -> bool {
    let lower = field.to_ascii_lowercase();
    let is_named = |start: &&str| {
        let Some(rest) = lower.strip_prefix(*start) else { return false };
        let is_letter = start.len() <= 3 && start.ends_with('d') && rest.len() == 1 && *start != "md";
        rest.bytes().any(|byte| byte.is_ascii_digit())
            || (is_letter && rest.as_bytes()[0].is_ascii_lowercase())
            || (*start == "/dev/" && !rest.is_empty())
    };
    let is_pair = || {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        field.split_once(':').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
    };
    DEVICES.iter().any(is_named) || is_pair()
}

/// A key for each column of rows without a header: the operation by its word, a device by its name, and three numbers
/// in the usual order, in the units of their values.
pub(crate) fn columns_of_rows(rows: &[Vec<String>]) -> Guess {
    let row = rows.first().map_or(&[][..], Vec::as_slice);
    let op_at = row.iter().position(|field| columns::is_op_word(field.as_bytes()));
    let device_at = row.iter().position(|field| is_device(field));
    let mut left = [Field::Arrival, Field::Offset, Field::Length].into_iter();
    let mut op = op_at.is_none().then_some(Field::Op);
    let found = row.iter().enumerate().map(|(at, field)| match op_at == Some(at) {
        true => Some(Field::Op),
        false if device_at == Some(at) => Some(Field::Device),
        false if is_time_of_day(field) => left.next().filter(|next| *next == Field::Arrival),
        false if !is_number(field) => None,
        // If no field is a word, the operation is the second number.
        false if at > 0 && op.is_some() => op.take(),
        false => left.next(),
    });
    let found: Vec<Option<Field>> = found.collect();
    keys(&vec![String::new(); row.len()], &found, rows)
}

/// The field that a column's name suggests.
fn suggested(name: &str) -> Option<Field> {
    let (lower, words) = (name.to_ascii_lowercase(), words(name));
    let has_part =
        |part: &str| if part.len() > 2 { lower.contains(part) } else { words.iter().any(|word| word == part) };
    columns::field_of(full_name(name)).or_else(|| HINTS.iter().find(|(part, _)| has_part(part)).and_then(|(_, f)| *f))
}

/// Whether names are those of a table of requests: they suggest two of its fields, one of them the arrival time or
/// the offset.
pub(crate) fn are_names(names: &[String]) -> bool {
    let fields: Vec<Field> = names.iter().filter_map(|name| suggested(name)).collect();
    let has = |field| fields.contains(&field);
    (has(Field::Arrival) || has(Field::Offset)) && Field::ALL.into_iter().filter(|field| has(*field)).count() > 1
}

/// A key for each column of a table whose header has other names: from these names, and from the first rows.
pub(crate) fn columns(names: &[String], rows: &[Vec<String>]) -> Guess {
    let row = rows.first().map_or(&[][..], Vec::as_slice);
    let mut found: Vec<Option<Field>> = vec![None; names.len()];
    let has = |found: &[Option<Field>], field| found.contains(&Some(field));
    for (at, name) in names.iter().enumerate() {
        let known = columns::field_of(full_name(name));
        let by_word = row.get(at).filter(|field| columns::is_op_word(field.as_bytes())).map(|_| Field::Op);
        let field = known.or(by_word).or_else(|| suggested(name)).filter(|field| !has(&found, *field));
        found[at] = field;
    }
    // Fields that no name suggests get the remaining columns, in the usual order.
    for field in Field::ALL.into_iter().filter(|field| field.is_required()) {
        let is_left = |at: &usize| found[*at].is_none() && row.get(*at).is_none_or(|field| is_number(field));
        if !has(&found, field)
            && let Some(at) = (0..names.len()).find(is_left)
        {
            found[at] = Some(field);
        }
    }
    keys(names, &found, rows)
}

/// A time of 2001 in microseconds since 1970: smaller whole numbers may have any unit.
const SINCE_1970_US: u64 = 1_000_000_000_000_000;

/// The keys of columns with these fields, in the units that their names state, or else in those of their values.
fn keys(names: &[String], found: &[Option<Field>], rows: &[Vec<String>]) -> Guess {
    let column = |field: Field| found.iter().position(|known| *known == Some(field));
    let of_name = |field: Field| column(field).and_then(|at| column_units::of_name(&names[at], field));
    let has_name = |name: &str| names.iter().any(|known| known == name);
    let named = |field: Field| match (field, of_name(field)) {
        // Beside offsets in sectors (LBA), lengths in blocks count sectors.
        (Field::Length, Some(Unit::WithoutKey))
            if of_name(Field::Offset) == Some(Unit::Sectors)
                && column(field).is_some_and(|at| column_units::counts_blocks(&names[at])) =>
        {
            Some(Unit::Sectors)
        }
        // Tectonic's times.
        (Field::Arrival, None) if has_name("op_time") && has_name("io_offset") => Some(Unit::Seconds),
        (_, named) => named,
    };
    let texts = |field: Field| {
        let at = column(field);
        rows.iter().filter_map(move |row| row.get(at?)).map(String::as_str)
    };
    let numbers = |field: Field| -> Vec<u64> {
        let whole = |text: &str| text.split('.').next().and_then(|whole| whole.parse().ok());
        texts(field).filter_map(whole).collect()
    };
    let of_values = of_sizes(&numbers(Field::Offset), &numbers(Field::Length), named(Field::Length));
    let unit = |field: Field| {
        named(field).unwrap_or_else(|| match field {
            Field::Arrival => of_times(texts(field)),
            Field::Offset => of_values.0,
            _ => of_values.1,
        })
    };
    let key = |(name, field): (&String, &Option<Field>)| {
        let Some(field) = *field else { return OTHER.to_owned() };
        let key = unit(field).key(field);
        // A key or its short form stays, unless the values have another unit.
        let is_kept = columns::field_of(full_name(name)) == Some(field)
            && (named(field).is_some() || unit(field) != Unit::Sectors);
        if is_kept { name.clone() } else { key.to_owned() }
    };
    let is_without_key = |(name, field): &(&String, &Option<Field>)| {
        field.is_some_and(|field| column_units::of_name(name, field).and(named(field)) == Some(Unit::WithoutKey))
    };
    Guess {
        keys: names.iter().zip(found).map(key).collect(),
        is_time_unit_unknown: named(Field::Arrival).is_none()
            && numbers(Field::Arrival).iter().all(|time| *time < SINCE_1970_US)
            && texts(Field::Arrival).all(|text| text.bytes().all(|byte| byte.is_ascii_digit())),
        without_key: names.iter().zip(found).filter(is_without_key).map(|(name, _)| name.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<String> {
        text.split_terminator(',').map(str::to_owned).collect()
    }

    #[test]
    fn an_example_fits_the_tables_names_and_its_first_rows() {
        for (names, row, expected) in [
            ("volume,ts_us,rw,lba,nbytes", "a,5,W,8,4096", "device,arrival_us,op,offset_sectors,length_bytes"),
            ("when,what,where,size", "0,W,0,4096", "arrival_us,op,offset_bytes,length_bytes"),
            ("a,b,c,d,e", "0.5,W,0,4096,x", "arrival_s,op,offset_bytes,length_bytes,other"),
            ("offsets,stop,time,len", "0,W,7,4096", "offset_bytes,op,arrival_us,length_bytes"),
            ("offsets,stop,time,len", "0,W,7,8", "offset_sectors,op,arrival_us,length_sectors"),
            ("Timestamp(ms),Op,offset,length", "", "arrival_ms,op,offset,length"),
            ("Timestamp (us),Operation,LBA,Size (KB)", "1,W,8,4", "arrival_us,op,offset_sectors,length_kib"),
            ("Time (ms),Op,Offset (KB),Length (KB)", "0.5,R,4,4", "arrival_ms,op,offset_kib,length_kib"),
            ("t_s,length,lba,rw", "0.5,8,100,W", "arrival_s,length_sectors,offset_sectors,op"),
            ("resp_time,time,rw,offset,size", "3,7,W,0,4096", "other,arrival_us,op,offset,length_bytes"),
        ] {
            assert_eq!(columns(&fields(names), &[fields(row)]).keys.join(","), expected, "{names}");
        }
        let pages = columns(&fields("time_us,op,page,Size (MB)"), &[fields("0,W,1,1")]);
        assert_eq!(pages.without_key, ["page", "Size (MB)"]);
    }

    #[test]
    fn devices_are_known_by_their_names() {
        for device in ["sda", "sdb1", "nvme0n1", "8:0", "/dev/mapper/x", "vol-3", "dm-0", "xvda", "PhysicalDrive0"] {
            assert!(is_device(device), "{device}");
        }
        for other in ["fio", "W", "vol", "developer", "mdadm", "12", "a:b", "hdparm", "volume"] {
            assert!(!is_device(other), "{other}");
        }
    }
}
