//! Sizes of generated requests.

use crate::rng::{self, Xoshiro256PlusPlus};
use crate::spec::{SizeKind, SizeSpec};
use crate::units::Bytes;

/// A distribution of sizes.
pub(crate) enum Sizes {
    Fixed(u64),
    /// An exponential with mean `raw_mean`, rounded up to `align_bytes`.
    Exponential {
        raw_mean: f64,
        align_bytes: u64,
    },
    /// Sizes with the sums of weights up to and including each, as shares of one.
    Mix(Vec<(f64, u64)>),
    /// A number from `min_bytes` to below `min_bytes + max_bytes`, all equally likely, is rounded down to a multiple of
    /// `min_bytes`; the size is at most `max_bytes`.
    Range {
        min_bytes: u64,
        max_bytes: u64,
    },
}

impl Sizes {
    /// The distribution of a spec that passed its check.
    pub(crate) fn new(spec: &SizeSpec, workload_align: Bytes) -> Self {
        let align_bytes = spec.align.unwrap_or(workload_align).0;
        let mean_bytes = spec.mean.map_or(align_bytes, |mean| mean.0);
        match spec.kind {
            SizeKind::Fixed => Sizes::Fixed(mean_bytes),
            SizeKind::Exponential if mean_bytes <= align_bytes => Sizes::Fixed(align_bytes),
            SizeKind::Exponential => Sizes::Exponential { raw_mean: raw_mean(mean_bytes, align_bytes), align_bytes },
            SizeKind::Range => {
                let min_bytes = spec.min.map_or(align_bytes, |min| min.0);
                Sizes::Range { min_bytes, max_bytes: spec.max.map_or(min_bytes, |max| max.0) }
            }
            SizeKind::Mix => {
                let total: f64 = spec.mix.iter().map(|entry| entry.weight).sum();
                let mut sum = 0.0;
                let shares = spec.mix.iter().map(|entry| {
                    sum += entry.weight / total;
                    (sum, entry.size.0)
                });
                Sizes::Mix(shares.collect())
            }
        }
    }

    /// The smallest size.
    pub(crate) fn least_bytes(&self) -> u64 {
        match self {
            Sizes::Fixed(len_bytes) => *len_bytes,
            Sizes::Exponential { align_bytes, .. } => *align_bytes,
            Sizes::Mix(shares) => shares.iter().map(|(_, len_bytes)| *len_bytes).min().unwrap_or(0),
            Sizes::Range { min_bytes, .. } => *min_bytes,
        }
    }

    /// Draws a size.
    pub(crate) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Sizes::Fixed(len_bytes) => *len_bytes,
            Sizes::Exponential { raw_mean, align_bytes } => {
                let units = libm::ceil(rng::exponential(rng, *raw_mean) / *align_bytes as f64);
                // At least one unit: the exponential can be exactly zero.
                (units.max(1.0) as u64).saturating_mul(*align_bytes)
            }
            Sizes::Mix(shares) => {
                let draw = rng::unit_f64(rng);
                let entry = shares.iter().find(|(sum, _)| draw < *sum).or(shares.last());
                entry.map_or(0, |(_, len_bytes)| *len_bytes)
            }
            Sizes::Range { min_bytes, max_bytes } => {
                let drawn_bytes = min_bytes + rng::below(rng, *max_bytes);
                (drawn_bytes - drawn_bytes % min_bytes).min(*max_bytes)
            }
        }
    }
}

/// The mean that an exponential needs so that, rounded up to units of `align_bytes`, its mean is `mean_bytes`.
///
/// Rounded up, it is geometric: its mean is `a / (1 - exp(-a / m))`, solved here for `m`.
fn raw_mean(mean_bytes: u64, align_bytes: u64) -> f64 {
    let align = align_bytes as f64;
    -align / libm::log(1.0 - align / mean_bytes as f64)
}
