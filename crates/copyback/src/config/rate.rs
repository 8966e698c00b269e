//! A rate of data, such as the speed of a channel, in the units of device tables.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes a second. Written as `"333 MB/s"`, `"1.2 GB/s"`, `"166 MT/s"` (eight bits a transfer) or as the time of one
/// byte, `"25 ns/B"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes in one second.
    pub bytes_per_s: u64,
}

impl Rate {
    /// Reads a rate; the error names the mistake in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = (&text[..split], text[split..].trim());
        let number: f64 = number.parse().map_err(|_| format!("`{text}` does not start with a number"))?;
        let bytes_per_s = match unit {
            "B/s" => number,
            "KB/s" => number * 1e3,
            "MB/s" | "MT/s" => number * 1e6,
            "GB/s" => number * 1e9,
            "MiB/s" => number * f64::from(1 << 20),
            "GiB/s" => number * f64::from(1 << 30),
            "ns/B" => 1e9 / number,
            "" => return Err(format!("`{text}` has no unit: write for example \"{text} MB/s\"")),
            _ => {
                return Err(format!(
                    "`{unit}` is no unit of a rate: use B/s, KB/s, MB/s, GB/s, MiB/s, GiB/s, MT/s or ns/B"
                ));
            }
        };
        if !(1.0..=1e13).contains(&bytes_per_s) {
            return Err(format!("`{text}` is not a possible rate"));
        }
        Ok(Self { bytes_per_s: bytes_per_s.round() as u64 })
    }

    /// How long `bytes` take, rounded up to a whole nanosecond.
    pub fn transfer_ns(self, bytes: u64) -> u64 {
        self.checked_transfer_ns(bytes).expect("a transfer of more than 584 years")
    }

    /// The same; none if that exceeds 584 years.
    pub fn checked_transfer_ns(self, bytes: u64) -> Option<u64> {
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(self.bytes_per_s));
        u64::try_from(ns).ok()
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = if self.bytes_per_s.is_multiple_of(1_000_000) {
            format!("{} MB/s", self.bytes_per_s / 1_000_000)
        } else {
            format!("{} B/s", self.bytes_per_s)
        };
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_rates_give_the_papers_transfer_times() {
        // hpdc18: 16 KiB over 166 MT/s × 8 bit take 98.7 µs; ispass11 and tpds20: 25 ns a byte.
        assert_eq!(Rate::parse("166 MT/s").unwrap().transfer_ns(16 << 10), 98_699);
        assert_eq!(Rate::parse("25 ns/B").unwrap().transfer_ns(4096), 102_400);
        assert_eq!(Rate::parse("400 MB/s").unwrap().transfer_ns(16 << 10), 40_960);
    }

    #[test]
    fn refuses_what_is_no_rate() {
        for text in ["", "fast", "0 MB/s", "12", "12 parsecs", "-3 MB/s", "1e99 GB/s"] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
    }
}
