//! Guesses the columns of an unknown table, as an example for the user.

use super::{columns, dates};
use crate::spec::{Field, full_name};

/// The name of an ignored column.
const OTHER: &str = "other";

/// Parts of names, each with the usual field of such a column; the first part that a name contains counts. A part of
/// two letters must be a whole word of the name.
const HINTS: &[(&str, Field)] = &[
    ("time", Field::Arrival),
    ("date", Field::Arrival),
    ("arriv", Field::Arrival),
    ("ts", Field::Arrival),
    ("op", Field::Op),
    ("rw", Field::Op),
    ("type", Field::Op),
    ("kind", Field::Op),
    ("cmd", Field::Op),
    ("len", Field::Length),
    ("size", Field::Length),
    ("bytes", Field::Length),
    ("sectors", Field::Length),
    ("count", Field::Length),
    ("off", Field::Offset),
    ("lba", Field::Offset),
    ("addr", Field::Offset),
    ("sector", Field::Offset),
    ("start", Field::Offset),
    ("dev", Field::Device),
    ("disk", Field::Device),
    ("vol", Field::Device),
    ("lun", Field::Device),
];

/// Whether a field is a number or a date.
pub(crate) fn is_number(field: &str) -> bool {
    let is_plain = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain || dates::ns(field.as_bytes()).is_some()
}

/// A name for each column of a row without a header: the operation by its word, and three numbers in the usual order.
pub(crate) fn columns_of_row(row: &[String]) -> Vec<&'static str> {
    let op_at = row.iter().position(|field| columns::is_op_word(field.as_bytes()));
    let mut left = ["arrival_us", "offset_bytes", "length_bytes"].into_iter();
    let mut op = op_at.is_none().then_some("op");
    let guessed = row.iter().enumerate().map(|(at, field)| match op_at == Some(at) {
        true => "op",
        false if !is_number(field) => OTHER,
        // If no field is a word, the operation is the second number.
        false if at > 0 && op.is_some() => op.take().unwrap_or("op"),
        false => left.next().unwrap_or(OTHER),
    });
    guessed.collect()
}

/// A name for each column of a table whose header has other names: from these names, and from the first row, if there
/// is one.
pub(crate) fn columns(names: &[String], row: &[String]) -> Vec<String> {
    let mut found: Vec<Option<Field>> = vec![None; names.len()];
    let has = |found: &[Option<Field>], field| found.contains(&Some(field));
    for (at, name) in names.iter().enumerate() {
        let known = columns::field_of(full_name(name));
        let lower = name.to_ascii_lowercase();
        let by_word = row.get(at).filter(|field| columns::is_op_word(field.as_bytes())).map(|_| Field::Op);
        let has_part =
            |part: &str| if part.len() > 2 { lower.contains(part) } else { words(&lower).any(|w| w == part) };
        let hint = || HINTS.iter().find(|(part, _)| has_part(part)).map(|(_, field)| *field);
        let field = known.or(by_word).or_else(hint).filter(|field| !has(&found, *field));
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
    let guessed = names.iter().zip(found).enumerate();
    guessed.map(|(at, (name, field))| named(name, field, row.get(at).map_or("", String::as_str))).collect()
}

/// Words of a name: `ts` and `us` of `ts_us`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
}

/// The key of a column with this field, in the unit that its name suggests; `value`: the column's text in the first
/// row.
fn named(name: &str, field: Option<Field>, value: &str) -> String {
    let Some(field) = field else { return OTHER.to_owned() };
    if columns::field_of(full_name(name)) == Some(field) {
        return name.to_owned();
    }
    let lower = name.to_ascii_lowercase();
    let is_of_sectors = lower.contains("sect") || lower.contains("lba");
    let says = |unit: &&str| lower.ends_with(*unit) || words(&lower).any(|word| word == *unit);
    let unit = ["ns", "us", "ms", "sec"].into_iter().find(says);
    match field {
        // Numbers with decimals are mostly seconds.
        Field::Arrival if unit == Some("sec") || (unit.is_none() && value.contains('.')) => "arrival_s".to_owned(),
        Field::Arrival => format!("arrival_{}", unit.unwrap_or("us")),
        Field::Op => "op".to_owned(),
        Field::Offset if is_of_sectors => "offset_sectors".to_owned(),
        Field::Offset => "offset_bytes".to_owned(),
        Field::Length if is_of_sectors => "length_sectors".to_owned(),
        Field::Length => "length_bytes".to_owned(),
        Field::Device => "device".to_owned(),
        Field::Priority => "priority".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(names: &str, row: &str) -> String {
        let fields = |text: &str| -> Vec<String> { text.split_terminator(',').map(str::to_owned).collect() };
        columns(&fields(names), &fields(row)).join(",")
    }

    #[test]
    fn an_example_fits_the_tables_names_and_its_first_row() {
        for (names, row, expected) in [
            ("volume,ts_us,rw,lba,nbytes", "a,5,W,8,4096", "device,arrival_us,op,offset_sectors,length_bytes"),
            ("when,what,where,size", "0,W,0,4096", "arrival_us,op,offset_bytes,length_bytes"),
            ("a,b,c,d,e", "0.5,W,0,4096,x", "arrival_s,op,offset_bytes,length_bytes,other"),
            ("offsets,stop,time,len", "0,W,7,8", "offset_bytes,op,arrival_us,length_bytes"),
            ("Timestamp(ms),Op,offset,length", "", "arrival_ms,op,offset,length"),
        ] {
            assert_eq!(guessed(names, row), expected, "{names}");
        }
    }
}
