//! Zipf's law over any number of ranks in constant time and memory, and a scattering of the ranks.

use crate::rng::{self, Xoshiro256PlusPlus, splitmix64};

/// Draws ranks from 1 to `count` with probability proportional to `rank^-theta`.
///
/// Rejection-inversion after Hörmann and Derflinger (1996): the integral of `x^-theta` is inverted, and the few draws
/// under the histogram's corners are rejected.
pub(crate) struct Zipf {
    count: f64,
    theta: f64,
    integral_first: f64,
    integral_last: f64,
    sure: f64,
}

impl Zipf {
    /// The law over `count` ranks, at least one.
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self { count: count as f64, theta, integral_first: 0.0, integral_last: 0.0, sure: 0.0 };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(zipf.count + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    /// Draws a rank.
    pub(crate) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            let area = self.integral_last + rng::unit_f64(rng) * (self.integral_first - self.integral_last);
            let x = self.inverse(area);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.count);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.weight(rank) {
                return rank as u64;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// The integral of `x^-theta`, up to a constant; continuous in theta at 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        expm1_over((1.0 - self.theta) * log) * log
    }

    fn inverse(&self, area: f64) -> f64 {
        // Rounding may bring the product below the logarithm's domain.
        let t = (area * (1.0 - self.theta)).max(-1.0);
        libm::exp(log1p_over(t) * area)
    }
}

/// `(exp(x) - 1) / x`, and its limit at zero.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::expm1(x) / x } else { 1.0 + x * 0.5 }
}

/// `ln(1 + x) / x`, and its limit at zero.
fn log1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::log1p(x) / x } else { 1.0 - x * 0.5 }
}

/// A pseudo-random permutation of `0..count`: a Feistel network over the next even number of bits, repeated until the
/// result is below `count`. Popular ranks are then not neighbours, and no table is needed.
pub(crate) struct Scatter {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Scatter {
    pub(crate) fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        let keys = [1, 2, 3, 4].map(|round| splitmix64(seed ^ splitmix64(round)));
        Self { count, half_bits, keys }
    }

    /// The address of `index`, which must be below the count.
    pub(crate) fn place(&self, index: u64) -> u64 {
        let mut at = index;
        loop {
            at = self.permute(at);
            // A cycle that starts below `count` returns there, on average in fewer than four steps.
            if at < self.count {
                return at;
            }
        }
    }

    fn permute(&self, value: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (splitmix64(right ^ key) & mask));
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_follow_the_law() {
        for theta in [0.5, 0.99, 1.0, 1.5] {
            let (count, draws) = (50_u64, 400_000);
            let zipf = Zipf::new(count, theta);
            let mut rng = rng::stream(3, "zipf");
            let mut seen = vec![0_u32; count as usize + 1];
            for _ in 0..draws {
                seen[zipf.draw(&mut rng) as usize] += 1;
            }
            let total: f64 = (1..=count).map(|rank| (rank as f64).powf(-theta)).sum();
            for rank in 1..=count {
                let expected = (rank as f64).powf(-theta) / total * f64::from(draws);
                let error = (f64::from(seen[rank as usize]) - expected).abs();
                // Five standard errors of a count are 5 sqrt(expected).
                assert!(error < 5.0 * expected.sqrt() + 1.0, "theta {theta}, rank {rank}: {error} of {expected}");
            }
        }
    }

    #[test]
    fn scattering_is_a_permutation() {
        for count in [1, 2, 3, 17, 64, 1000] {
            let scatter = Scatter::new(count, 9);
            let mut places: Vec<u64> = (0..count).map(|index| scatter.place(index)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..count).collect::<Vec<_>>());
        }
    }
}
