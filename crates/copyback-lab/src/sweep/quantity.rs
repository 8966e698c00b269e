//! The units of numbers in tables, and the values of arguments in these units.

use copyback_workload::units::{parse_bytes, parse_duration_ns};

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A count, or another number without a unit.
    Plain,
    /// Write amplification: units over units.
    Ratio,
    /// Requests a second.
    Rate,
    /// A share, from 0 to 1: shown in per cent.
    Share,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bytes in a second.
    BytesPerSecond,
    /// Hundredths.
    Percent,
}

/// Ends of names, and their units. No name has two of these ends.
pub const ENDS: &[(&str, Unit)] =
    &[("bytes_per_s", Unit::BytesPerSecond), ("_bytes", Unit::Bytes), ("_percent", Unit::Percent), ("_ns", Unit::Time)];

impl Unit {
    /// The unit in a number's name: `response.read.p99_ns`, `latency_breakdown.read_mean_ns.gc`.
    pub fn of_name(name: &str) -> Self {
        let of = |part: &str| ENDS.iter().find(|(end, _)| part.ends_with(end)).map(|(_, unit)| *unit);
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_share = name.starts_with("utilization.") || last.ends_with("_share") || last == "hit_ratio";
        match name.split('.').find_map(of) {
            Some(unit) => unit,
            None if last == "iops" => Self::Rate,
            None if is_share => Self::Share,
            None if name.contains("write_amplification") => Self::Ratio,
            None => Self::Plain,
        }
    }

    /// The value of a configuration, and its unit; none of a text that is no quantity.
    pub fn of_value(value: &toml::Value) -> Option<(f64, Self)> {
        if let Some(number) = value.as_float().or_else(|| value.as_integer().map(|n| n as f64)) {
            return Some((number, Self::Plain));
        }
        let text = value.as_str()?;
        let in_unit = |unit: Self| unit.read(text, false).ok().map(|number| (number, unit));
        [Self::Plain, Self::Time, Self::Bytes, Self::BytesPerSecond].into_iter().find_map(in_unit)
    }

    /// Reads a text in this unit. `is_named`: the name beside it has the unit, so the text may omit it.
    pub fn read(self, text: &str, is_named: bool) -> Result<f64, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let needs_no_unit = is_named || matches!(self, Self::Plain | Self::Ratio | Self::Rate | Self::Share);
        if let Some(bare) = number(text).filter(|_| needs_no_unit) {
            return Ok(bare);
        }
        let percent = || text.trim().strip_suffix('%').and_then(number);
        match self {
            Self::Time => parse_duration_ns(text).map(|ns| ns as f64),
            Self::Bytes => parse_bytes(text).map(|bytes| bytes as f64),
            Self::BytesPerSecond => {
                let bytes = text.trim().strip_suffix("/s").map(parse_bytes);
                let missing = || Err(format!("`{text}` needs a unit: write for example \"200 MB/s\""));
                bytes.unwrap_or_else(missing).map(|bytes| bytes as f64)
            }
            Self::Percent => percent().ok_or_else(|| format!("`{text}` is no share: write for example \"10 %\"")),
            Self::Rate => thousands(text).ok_or_else(|| format!("`{text}` is no rate: write for example \"100 k\"")),
            Self::Plain | Self::Ratio | Self::Share => percent()
                .map(|percent| percent / 100.0)
                .ok_or_else(|| format!("`{text}` is no number: write for example 0.1 or \"10 %\"")),
        }
    }

    /// A setting as it was written: 0.07 is not 0.070.
    pub fn shown_setting(self, value: f64) -> String {
        match self {
            Self::Plain => shortest(value),
            _ => self.shown(value),
        }
    }

    /// A value as a person reads it.
    pub fn shown(self, value: f64) -> String {
        use crate::format::{large, percent, size, three_digits, time};
        match self {
            Self::Time => time(value),
            Self::Bytes => size(value),
            Self::BytesPerSecond => format!("{}/s", size(value)),
            Self::Percent => format!("{} %", three_digits(value)),
            Self::Ratio => format!("{value:.3}"),
            Self::Rate => large(value),
            Self::Share => percent(value),
            Self::Plain => Format::in_unit(self, std::iter::once(value)).shown(value),
        }
    }
}

/// A number with a suffix for thousands, millions or billions, as tables show rates: `104 k`.
fn thousands(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, factor) = [("k", 1e3), ("M", 1e6), ("G", 1e9)]
        .into_iter()
        .find_map(|(sign, factor)| Some((text.strip_suffix(sign)?, factor)))?;
    number.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

/// A number without a unit, with no more digits than it needs.
fn shortest(value: f64) -> String {
    match value {
        whole if whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole}"),
        small if small.abs() < 10.0 => format!("{small:.4}").trim_end_matches('0').to_owned(),
        large => crate::format::three_digits(large),
    }
}

/// How the numbers of a column are printed: all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Each with its unit.
    Unit(Unit),
    /// Whole numbers, with separators.
    Count,
    /// With this number of decimals.
    Decimals(usize),
}

/// Largest number of decimals.
const DECIMALS_MAX: usize = 6;

impl Format {
    /// The format of a column of this name with these values.
    pub fn of(name: &str, values: impl Iterator<Item = f64>) -> Self {
        Self::in_unit(Unit::of_name(name), values)
    }

    /// The format of a column in this unit.
    pub fn in_unit(unit: Unit, values: impl Iterator<Item = f64>) -> Self {
        if unit != Unit::Plain {
            return Self::Unit(unit);
        }
        let (mut are_whole, mut largest) = (true, 0.0f64);
        for value in values {
            (are_whole, largest) = (are_whole && value.fract() == 0.0, largest.max(value.abs()));
        }
        if are_whole {
            return Self::Count;
        }
        // Four digits of the largest; three decimals from 1 to 99, as tables show ratios.
        let before_point = largest.max(1e-9).log10().floor() as i32 + 1;
        Self::Decimals(match before_point {
            ..=0 => (4 - before_point).min(DECIMALS_MAX as i32) as usize,
            1..=2 => 3,
            3 => 1,
            _ => 0,
        })
    }

    /// A value of the column.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::Unit(unit) => unit.shown(value),
            Self::Count | Self::Decimals(0) => {
                let sign = if value <= -0.5 { "-" } else { "" };
                format!("{sign}{}", crate::format::count(value.abs().round() as u64))
            }
            Self::Decimals(decimals) => format!("{value:.decimals$}"),
        }
    }

    /// Half the width of an interval around a value of the column, in the column's format. That of a count is rounded
    /// up: it is 0 only if the interval has no width.
    pub fn shown_error(self, half_width: f64) -> String {
        match self {
            Self::Count => self.shown(half_width.ceil()),
            _ => self.shown(half_width),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_units() {
        for (name, unit) in [
            ("response.read.p99_9_ns", Unit::Time),
            ("latency_breakdown.read_mean_ns.gc", Unit::Time),
            ("read_bytes", Unit::Bytes),
            ("bytes_per_s", Unit::BytesPerSecond),
            ("window.gc_share_max_percent", Unit::Percent),
            ("write_amplification.total", Unit::Ratio),
            ("precondition_write_amplification", Unit::Ratio),
            ("trigger.soft", Unit::Plain),
            ("iops", Unit::Rate),
            ("workloads.w1.iops", Unit::Rate),
            ("utilization.plane_during_gc", Unit::Share),
            ("array.gc_share", Unit::Share),
            ("map.hit_ratio", Unit::Share),
        ] {
            assert_eq!(Unit::of_name(name), unit, "{name}");
        }
    }

    #[test]
    fn texts_are_read_in_the_unit_of_their_name() {
        assert_eq!(Unit::Time.read("5ms", false), Ok(5e6));
        assert_eq!(Unit::Time.read("5000000", true), Ok(5e6));
        assert!(Unit::Time.read("5", false).unwrap_err().contains("needs a unit of time"));
        assert_eq!(Unit::Plain.read("10 %", false), Ok(0.1));
        assert_eq!(Unit::Percent.read("10 %", false), Ok(10.0));
        assert_eq!([Unit::Share.read("10 %", false), Unit::Share.read("0.1", false)], [Ok(0.1), Ok(0.1)]);
        assert_eq!([Unit::Rate.read("104 k", false), Unit::Rate.read("1.5M", false)], [Ok(104e3), Ok(1.5e6)]);
        assert!(Unit::Rate.read("5ms", true).unwrap_err().contains("is no rate"));
        assert_eq!(Unit::Bytes.read("1 KiB", true), Ok(1024.0));
        assert_eq!(Unit::BytesPerSecond.read("1 KiB/s", true), Ok(1024.0));
        assert!(Unit::BytesPerSecond.read("1 KiB", true).unwrap_err().contains("200 MB/s"));
        for wrong in ["5ms", "nan", "inf", ""] {
            assert!(Unit::Plain.read(wrong, true).unwrap_err().contains("is no number"), "{wrong}");
        }
    }

    #[test]
    fn settings_have_the_units_that_they_are_written_in() {
        let of = |text: &str| Unit::of_value(&toml::Value::from(text));
        assert_eq!(Unit::of_value(&toml::Value::from(0.07)), Some((0.07, Unit::Plain)));
        assert_eq!(of("50 us"), Some((5e4, Unit::Time)));
        assert_eq!(of("2 KiB"), Some((2048.0, Unit::Bytes)));
        assert_eq!(of("greedy"), None);
    }

    #[test]
    fn a_column_has_one_format() {
        let shown = |name: &str, values: &[f64]| {
            let format = Format::of(name, values.iter().copied());
            values.iter().map(|value| format.shown(*value)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("write_amplification.total", &[1.0, 2.5, 11.2375]), "1.000 2.500 11.238");
        assert_eq!(shown("write_amplification.total", &[1.0]), "1.000");
        assert_eq!(shown("flash.block_erases", &[36_572.0, 0.0]), "36,572 0");
        assert_eq!(shown("flash.block_erases", &[36_572.5, 12.0]), "36,573 12");
        // Rates and shares, as all other tables show them.
        assert_eq!(shown("iops", &[104_000.25, 12.0]), "104 k 12.0");
        assert_eq!(shown("utilization.die", &[0.123, 0.00012]), "12.3 % 0.0 %");
        assert_eq!(shown("evictions.ratio", &[0.00123, 0.0001]), "0.001230 0.000100");
        assert_eq!(shown("response.read.p99_ns", &[1_000.0, 2_000_000.0]), "1.00 us 2.00 ms");
        assert_eq!(shown("steady.reserve.consumed", &[-3.0, 2.0]), "-3 2");
        assert_eq!([2.5, 4_577.5].map(|half_width| Format::Count.shown_error(half_width)), ["3", "4,578"]);
    }
}
