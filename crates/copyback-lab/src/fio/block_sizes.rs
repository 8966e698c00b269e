//! Parses block sizes: `bs`, `bsrange`, `bssplit`.

use super::number::number;
use super::parse::Opt;
use crate::failure::Failure;
use toml::{Table, Value};

/// A drive's smallest unit of a request.
const SECTOR_BYTES: u64 = 512;

/// Sizes of one operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Blocks {
    /// Sizes with their weights.
    Mix(Vec<(u64, u64)>),
    /// Multiples of the first up to the second, equally likely.
    Range(u64, u64),
}

impl Blocks {
    /// All of one size.
    pub fn one(bytes: u64) -> Self {
        Self::Mix(vec![(bytes, 1)])
    }

    /// The smallest.
    pub fn least(&self) -> u64 {
        match self {
            Self::Mix(sizes) => sizes.iter().map(|(bytes, _)| *bytes).min().unwrap_or(SECTOR_BYTES),
            Self::Range(min, _) => *min,
        }
    }

    /// The largest.
    pub fn largest(&self) -> u64 {
        match self {
            Self::Mix(sizes) => sizes.iter().map(|(bytes, _)| *bytes).max().unwrap_or(SECTOR_BYTES),
            Self::Range(_, max) => *max,
        }
    }

    /// The only size, if there is one.
    pub fn only(&self) -> Option<u64> {
        match self {
            Self::Mix(sizes) => sizes.iter().all(|(bytes, _)| *bytes == sizes[0].0).then_some(sizes[0].0),
            Self::Range(min, max) => (min == max).then_some(*min),
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Mix(sizes) => {
                let weights: u64 = sizes.iter().map(|(_, weight)| weight).sum();
                sizes.iter().map(|(bytes, weight)| *bytes as f64 * *weight as f64).sum::<f64>() / weights as f64
            }
            // The multiples that fit; draws above the last one count as the largest size.
            Self::Range(min, max) => {
                let (whole, rest) = ((max / min) as f64, (max % min) as f64);
                let multiples = *min as f64 * whole * (whole + 1.0) / 2.0;
                (multiples * *min as f64 + *max as f64 * rest) / *max as f64
            }
        }
    }

    /// What every size is a multiple of.
    pub fn divisor(&self) -> u64 {
        match self {
            Self::Mix(sizes) => sizes.iter().map(|(bytes, _)| *bytes).reduce(common_divisor).unwrap_or(SECTOR_BYTES),
            Self::Range(min, max) => common_divisor(*min, *max),
        }
    }

    /// The table `size` of a workload.
    pub fn table(&self) -> Table {
        let bytes = |bytes: u64| Value::from(format!("{bytes} B"));
        let (kind, keys) = match self {
            Self::Range(min, max) => ("range", vec![("min", bytes(*min)), ("max", bytes(*max))]),
            Self::Mix(sizes) if sizes.len() == 1 => ("fixed", vec![("mean", bytes(sizes[0].0))]),
            Self::Mix(sizes) => {
                let entry = |(size, weight): &(u64, u64)| {
                    let keys = [("size", bytes(*size)), ("weight", Value::from(*weight as f64))];
                    Value::Table(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
                };
                ("mix", vec![("mix", Value::Array(sizes.iter().map(entry).collect()))])
            }
        };
        let kind = std::iter::once(("kind", Value::from(kind)));
        kind.chain(keys).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// The greatest common divisor of both.
pub fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// A request size: whole sectors.
pub fn sectors(opt: &Opt, text: &str, kb_base: u64) -> Result<u64, Failure> {
    let bytes = number(opt, text, kb_base)?;
    if bytes == 0 {
        return Err(opt.wrong("a request has at least one sector of 512 bytes", "write for example 4k"));
    }
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        let help = match text.to_ascii_lowercase().ends_with("ib") {
            true => "fio's KiB has 1000 bytes unless kb_base=1000: write 4k for 4096 bytes",
            false => "write a multiple of 512",
        };
        return Err(opt.wrong(format!("{bytes} bytes are no whole sectors of 512"), help));
    }
    Ok(bytes)
}

/// A range such as `4k-64k` or `4k:64k`.
pub fn range(opt: &Opt, text: &str, kb_base: u64) -> Result<Blocks, Failure> {
    let wrong = || opt.wrong("it is no range of sizes", "write for example 4k-64k");
    let (min, max) = text.split_once(['-', ':']).ok_or_else(wrong)?;
    let (min, max) = (sectors(opt, min, kb_base)?, sectors(opt, max, kb_base)?);
    let (min, max) = (min.min(max), min.max(max));
    Ok(if min == max { Blocks::one(min) } else { Blocks::Range(min, max) })
}

/// Sizes with percentages; sizes without one share the rest equally.
pub fn split(opt: &Opt, text: &str, kb_base: u64) -> Result<Blocks, Failure> {
    let wrong = || opt.wrong("it is no list of sizes and percentages", "write for example 4k/60:64k/40");
    let mut entries: Vec<(u64, Option<u64>)> = Vec::new();
    for entry in text.split(':') {
        let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
        let share = if share.is_empty() { None } else { Some(share.trim().parse().map_err(|_| wrong())?) };
        entries.push((sectors(opt, size, kb_base)?, share));
    }
    let given: u64 = entries.iter().filter_map(|(_, share)| *share).fold(0, u64::saturating_add);
    let open = entries.iter().filter(|(_, share)| share.is_none()).count() as u64;
    if given > 100 || (open == 0 && given != 100) {
        return Err(opt.wrong(format!("its percentages add up to {given}"), "let them add up to 100"));
    }
    let rest = |share: Option<u64>| share.map_or((100 - given) as f64 / open as f64, |share| share as f64);
    let weighted = entries.into_iter().map(|(bytes, share)| (bytes, (rest(share) * 1000.0).round() as u64));
    let sizes: Vec<_> = weighted.filter(|(_, weight)| *weight > 0).collect();
    if sizes.is_empty() { Err(wrong()) } else { Ok(Blocks::Mix(sizes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of the smallest size up to the largest are equally likely: their mean is half of the largest.
    #[test]
    fn the_mean_of_a_wide_range_does_not_overflow() {
        let mean = Blocks::Range(512, 4 << 40).mean();
        assert!((mean / f64::from(1 << 20) - 2.0 * f64::from(1 << 20)).abs() < 1e-3, "{mean}");
    }
}
