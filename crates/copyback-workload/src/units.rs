//! Sizes and times as people write them: `"16 KiB"`, `"1.6 ms"`.
//!
//! Numbers are read as exact decimals, never through floating point, and rounded half up to a whole byte or
//! nanosecond. Texts of [`format_bytes`], [`format_duration_ns`] and [`exact_time`] parse back to the same value.

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Units of size, largest first, with their bytes. Only binary units are printed.
const BYTE_UNITS: &[(&str, u64)] = &[
    ("PiB", 1 << 50),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("PB", 1_000_000_000_000_000),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

/// Units of time, largest first, with their nanoseconds.
const TIME_UNITS: &[(&str, u64)] = &[
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// The most decimals that a printed value has.
const PRINTED_DECIMALS: u32 = 3;

/// Reads a size: a number and a unit (`"16 KiB"`, `"1.5 GB"`), or a whole number of bytes.
///
/// KiB, MiB, GiB, TiB and PiB are powers of 1024; KB, MB, GB, TB and PB are powers of 1000. Part of a byte is rounded.
///
/// # Errors
/// A text that names the mistake and the remedy.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    refuse_negative(text, "a size", "16 KiB")?;
    let (number, unit) = split_number(text);
    let factor = if unit.is_empty() {
        if number.contains('.') {
            return Err(format!(
                "`{text}` has no unit: write for example \"{number} KiB\", or a whole number of bytes"
            ));
        }
        1
    } else {
        find_unit(BYTE_UNITS, unit, true)
            .ok_or_else(|| unknown_unit(text, unit, BYTE_UNITS, "B, KiB, MiB, GiB, TiB, PiB, KB, MB, GB, TB, PB"))?
    };
    scaled(text, number, factor, "a size", "16 KiB")
}

/// Prints a size from which [`parse_bytes`] reads the same number of bytes.
pub fn format_bytes(bytes: u64) -> String {
    let binary = BYTE_UNITS.iter().filter(|(name, _)| name.ends_with("iB") || *name == "B");
    format_exact(bytes, binary, "B")
}

/// A number below a few thousand with three significant digits. Below 1, it has two decimals; below 0.005, two
/// significant digits and an exponent.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        v if v < 0.005 => format!("{value:.1e}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A size with three significant digits: `1.50 GiB`.
pub fn rounded_bytes(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    let mut at = 0;
    while value >= 1024.0 && at + 1 < units.len() {
        value /= 1024.0;
        at += 1;
    }
    if at == 0 && bytes > 0.0 && bytes < 0.5 {
        format!("{} B", three_digits(bytes))
    } else if at == 0 {
        format!("{} B", format_count(bytes.round() as u64))
    } else {
        format!("{} {}", three_digits(value), units[at])
    }
}

/// A count with its noun: "1 request", "2 requests", "1,234 flushes". `one` is the singular, with a regular plural;
/// further words may follow the noun.
pub fn counted(count: u64, one: &str) -> String {
    let ending = match count {
        1 => "",
        _ if ["s", "x", "sh", "ch"].iter().any(|end| one.ends_with(end)) => "es",
        _ => "s",
    };
    format!("{} {one}{ending}", format_count(count))
}

/// A count with a comma before each thousand: `182,345`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Reads a time: a number and a unit (`ns`, `us` or `µs`, `ms`, `s`, `min`, `h`), as nanoseconds.
///
/// # Errors
/// A text that names the mistake and the remedy. A number without a unit is an error: nanoseconds and
/// milliseconds are both usual here, and a wrong guess is off by a million.
pub fn parse_duration_ns(text: &str) -> Result<u64, String> {
    refuse_negative(text, "a time", "1.6 ms")?;
    let (number, unit) = split_number(text);
    if unit.is_empty() {
        let shown = if number.is_empty() { "1" } else { number };
        return Err(format!("`{text}` needs a unit of time: write for example \"{shown} ms\" (ns, us, ms, s, min, h)"));
    }
    let plain = unit.replace(['µ', 'μ'], "u");
    let factor = find_unit(TIME_UNITS, &plain, false)
        .ok_or_else(|| unknown_unit(text, unit, TIME_UNITS, "ns, us (or µs), ms, s, min, h"))?;
    scaled(text, number, factor, "a time", "1.6 ms")
}

/// Prints a time from which [`parse_duration_ns`] reads the same number of nanoseconds.
pub fn format_duration_ns(duration_ns: u64) -> String {
    format_exact(duration_ns, TIME_UNITS.iter(), "ns")
}

/// A time in messages, with all its digits, in the largest unit up to seconds in which it is at least one:
/// `123.456789 ms`, never `123456789 ns`. [`parse_duration_ns`] reads the same time from it.
pub fn exact_time(duration_ns: u64) -> String {
    let (unit, decimals) = match duration_ns {
        ..1_000 => ("ns", 0),
        1_000..1_000_000 => ("us", 3),
        1_000_000..1_000_000_000 => ("ms", 6),
        _ => ("s", 9),
    };
    let factor = 10_u64.pow(decimals);
    let fraction = format!("{:0width$}", duration_ns % factor, width = decimals as usize);
    let fraction = if decimals == 0 { "" } else { fraction.trim_end_matches('0') };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction} {unit}", duration_ns / factor)
}

/// Without this, the sign would become part of the unit.
fn refuse_negative(text: &str, what: &str, example: &str) -> Result<(), String> {
    match text.trim().strip_prefix(['-', '\u{2212}']) {
        Some(number) if number.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            Err(format!("`{text}`: {what} cannot be negative: write for example \"{example}\""))
        }
        _ => Ok(()),
    }
}

fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_'))).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

fn find_unit(units: &[(&str, u64)], unit: &str, any_case: bool) -> Option<u64> {
    let same = |name: &str| if any_case { name.eq_ignore_ascii_case(unit) } else { name == unit };
    units.iter().find(|(name, _)| same(name)).map(|(_, factor)| *factor)
}

fn unknown_unit(text: &str, unit: &str, units: &[(&str, u64)], all: &str) -> String {
    let near = crate::words::nearest(unit, units.iter().map(|(name, _)| *name));
    let near = near.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    format!("`{text}` has an unknown unit `{unit}`: {near}Known units are {all}")
}

/// The decimal `number` times `factor`, rounded half up.
fn scaled(text: &str, number: &str, factor: u64, what: &str, example: &str) -> Result<u64, String> {
    let malformed = || format!("`{text}` is not {what}: write for example \"{example}\"");
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(malformed());
    }
    // The eighteenth decimal of any unit here is far below a byte or a nanosecond.
    let fraction = &fraction[..fraction.len().min(18)];
    let too_large = || format!("`{text}` is too large: it does not fit 64 bits");
    let mantissa: u128 = format!("0{whole}{fraction}").parse().map_err(|_| too_large())?;
    let divisor = 10_u128.pow(u32::try_from(fraction.len()).map_err(|_| malformed())?);
    let product = mantissa.checked_mul(u128::from(factor)).ok_or_else(too_large)?;
    u64::try_from((product + divisor / 2) / divisor).map_err(|_| too_large())
}

/// The largest unit in which `value` is at least one and needs at most [`PRINTED_DECIMALS`] decimals.
fn format_exact<'a>(value: u64, units: impl Iterator<Item = &'a (&'a str, u64)>, smallest: &str) -> String {
    let scale = 10_u128.pow(PRINTED_DECIMALS);
    for (name, factor) in units {
        let scaled = u128::from(value) * scale;
        let factor = u128::from(*factor);
        if u128::from(value) >= factor && scaled.is_multiple_of(factor) {
            let thousandths = scaled / factor;
            let fraction = format!("{:03}", thousandths % scale);
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            return format!("{}{point}{fraction} {name}", thousandths / scale);
        }
    }
    format!("{value} {smallest}")
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $parse:ident, $format:ident, $expects:literal, $number:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&$format(self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&$format(self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct TextOrNumber;
                impl Visitor<'_> for TextOrNumber {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expects)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $parse(text).map($name).map_err(E::custom)
                    }

                    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$name, E> {
                        let from_number: fn(u64) -> Result<u64, String> = $number;
                        from_number(number).map($name).map_err(E::custom)
                    }

                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$name, E> {
                        let number = u64::try_from(number)
                            .map_err(|_| E::custom(format!("{number} is negative; it must be zero or more")))?;
                        self.visit_u64(number)
                    }
                }
                deserializer.deserialize_any(TextOrNumber).map_err(D::Error::custom)
            }
        }
    };
}

quantity!(
    /// A size. In a file: `"16 KiB"`, `"4096 B"`, or a whole number of bytes.
    Bytes,
    parse_bytes,
    format_bytes,
    "a size such as \"16 KiB\", or a whole number of bytes",
    Ok
);
quantity!(
    /// A time. In a file: `"1.6 ms"`, `"115 us"`; the unit is required.
    Nanos,
    parse_duration_ns,
    format_duration_ns,
    "a time such as \"1.6 ms\"",
    |number| parse_duration_ns(&number.to_string())
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_messages_have_the_unit_of_their_size() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1 us"),
            (500_000_000, "500 ms"),
            (123_456_789, "123.456789 ms"),
            (1_500_000_001, "1.500000001 s"),
            (7_200_000_000_000, "7200 s"),
            (u64::MAX, "18446744073.709551615 s"),
        ] {
            assert_eq!(exact_time(ns), text);
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
    }
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_as_written() {
        for (text, bytes) in [
            ("16 KiB", 16_384),
            ("510.53 KiB", 522_783),
            ("4096 B", 4096),
            ("4096", 4096),
            ("1KB", 1000),
            ("1.5 mib", 1_572_864),
            ("1_000", 1000),
            ("0.5 B", 1),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn times_are_read_as_written() {
        for (text, ns) in
            [("1.6 ms", 1_600_000), ("115 us", 115_000), ("115 µs", 115_000), ("25ns", 25), ("2 min", 120_000_000_000)]
        {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn mistakes_name_the_remedy() {
        assert!(parse_duration_ns("3").unwrap_err().contains("needs a unit"));
        assert!(parse_duration_ns("3 msec").unwrap_err().contains("did you mean `ms`"));
        assert!(parse_bytes("3 Kib/s").unwrap_err().contains("unknown unit"));
        assert!(parse_bytes("-3 KiB").unwrap_err().contains("a size cannot be negative"));
        assert!(parse_duration_ns("-5 us").unwrap_err().contains("a time cannot be negative"));
        assert!(parse_duration_ns("-us").unwrap_err().contains("unknown unit"));
        assert!(parse_bytes("1.5").unwrap_err().contains("no unit"));
        assert!(parse_bytes("1.2.3 KiB").unwrap_err().contains("not a size"));
        assert!(parse_bytes("").is_err());
        assert!(parse_bytes("-4 KiB").is_err());
        assert!(parse_bytes("99999999 PiB").unwrap_err().contains("too large"));
    }

    #[test]
    fn printed_as_people_write_it() {
        assert_eq!(format_bytes(16_384), "16 KiB");
        assert_eq!(format_bytes(1536), "1.5 KiB");
        assert_eq!(format_bytes(522_783), "522783 B");
        assert_eq!(format_bytes(0), "0 B");
        assert_eq!(format_duration_ns(1_600_000), "1.6 ms");
        assert_eq!(format_duration_ns(90_000_000_000), "1.5 min");
    }

    #[test]
    fn numbers_have_three_digits_and_small_ones_do_not_vanish() {
        let numbers = [(0.0, "0"), (0.000_015, "1.5e-5"), (0.25, "0.25"), (9.996, "10.0"), (123.4, "123")];
        numbers.iter().for_each(|(value, text)| assert_eq!(three_digits(*value), *text));
        let sizes = [(0.0, "0 B"), (0.02, "0.02 B"), (1023.0, "1,023 B"), (430_020.0 * 1024.0, "420 MiB")];
        sizes.iter().for_each(|(bytes, text)| assert_eq!(rounded_bytes(*bytes), *text));
    }

    #[test]
    fn a_bare_number_in_a_file_is_bytes_but_never_a_time() {
        assert_eq!(serde_json::from_str::<Bytes>("4096").unwrap(), Bytes(4096));
        assert!(serde_json::from_str::<Bytes>("-1").unwrap_err().to_string().contains("negative"));
        assert!(serde_json::from_str::<Nanos>("3").unwrap_err().to_string().contains("needs a unit"));
    }

    #[test]
    fn a_count_has_the_plural_of_its_number() {
        for (count, one, text) in [
            (0, "call", "0 calls"),
            (1, "call", "1 call"),
            (2, "call", "2 calls"),
            (1_234, "malformed record", "1,234 malformed records"),
            (1, "flush", "1 flush"),
            (2, "flush", "2 flushes"),
            (2, "class", "2 classes"),
        ] {
            assert_eq!(counted(count, one), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_back(value: u64, shift in 0_u32..64) {
            let value = value >> shift;
            prop_assert_eq!(parse_bytes(&format_bytes(value)), Ok(value));
            prop_assert_eq!(parse_duration_ns(&format_duration_ns(value)), Ok(value));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = parse_bytes(&text);
            let _ = parse_duration_ns(&text);
        }
    }
}
