//! In which unit is a number of the table, and what does a text of the command line say in it?

use copyback_workload::units::{parse_bytes, parse_duration_ns};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A count, a share or a rate: no unit that a text could have.
    Plain,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bytes in a second.
    BytesPerSecond,
    /// Hundredths.
    Percent,
}

/// Ends of names, and the units that they stand for. The longer ones come first.
pub const ENDS: &[(&str, Unit)] =
    &[("bytes_per_s", Unit::BytesPerSecond), ("_bytes", Unit::Bytes), ("_percent", Unit::Percent), ("_ns", Unit::Time)];

impl Unit {
    /// The unit that a number's name says: `response.read.p99_ns`, `latency_breakdown.read_mean_ns.gc`.
    pub fn of_name(name: &str) -> Self {
        let of = |part: &str| ENDS.iter().find(|(end, _)| part.ends_with(end)).map(|(_, unit)| *unit);
        name.split('.').find_map(of).unwrap_or(Self::Plain)
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

    /// What a text says in this unit. `is_named`: the name beside it says the unit, and the text need not.
    pub fn read(self, text: &str, is_named: bool) -> Result<f64, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        if let Some(bare) = number(text).filter(|_| is_named || self == Self::Plain) {
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
            Self::Plain => percent()
                .map(|percent| percent / 100.0)
                .ok_or_else(|| format!("`{text}` is no number: write for example 0.1 or \"10 %\"")),
        }
    }

    /// Half the width of an interval as a person reads it.
    pub fn shown_error(self, half_width: f64) -> String {
        match self {
            Self::Plain if half_width.fract() != 0.0 => crate::format::three_digits(half_width),
            _ => self.shown(half_width),
        }
    }

    /// A value as a person reads it.
    pub fn shown(self, value: f64) -> String {
        use crate::format::{size, three_digits, time};
        match self {
            Self::Time => time(value),
            Self::Bytes => size(value),
            Self::BytesPerSecond => format!("{}/s", size(value)),
            Self::Percent => format!("{} %", three_digits(value)),
            // Settings as they were written: 0.07 is not 0.070.
            Self::Plain if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value}"),
            Self::Plain if value.abs() < 10.0 => {
                let text = format!("{value:.4}");
                text.trim_end_matches('0').to_owned()
            }
            Self::Plain => three_digits(value),
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
            ("write_amplification.total", Unit::Plain),
            ("trigger.soft", Unit::Plain),
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
}
