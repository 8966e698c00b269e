//! Named random streams.
//!
//! Every component draws from its own stream, which is named after its decision. A new component, or a new draw in one
//! component, therefore changes no draws of other components. A seed gives the same numbers on every machine.

use rand_core::{Rng, SeedableRng};
pub use rand_xoshiro::Xoshiro256PlusPlus;

/// The stream `name` of the run with this `seed`.
///
/// The state is seeded with `splitmix64(splitmix64(fnv1a64(name)) ^ seed)`. FNV-1a maps the name to the same 64 bits on
/// every machine. splitmix64 spreads them, so that neither similar names nor neighbouring seeds give similar streams.
pub fn stream(seed: u64, name: &str) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(splitmix64(splitmix64(fnv1a64(name.as_bytes())) ^ seed))
}

/// FNV-1a, 64 bits: a hash that is the same on every machine and in every version.
pub fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// One step of splitmix64: a bijection of 64 bits that spreads every input bit over the output.
pub fn splitmix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in `[0, 1)` with 53 random bits.
pub fn unit_f64(rng: &mut Xoshiro256PlusPlus) -> f64 {
    // 2^-53 is exact, and so is the product: every machine gets the same number.
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// A whole number in `0..bound`, with a bias of at most `bound / 2^64`; zero for a bound of zero.
pub fn below(rng: &mut Xoshiro256PlusPlus, bound: u64) -> u64 {
    let product = u128::from(rng.next_u64()) * u128::from(bound);
    (product >> 64) as u64
}

/// An exponentially distributed number with this mean.
pub fn exponential(rng: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    // 1 - u is in (0, 1], so the logarithm is finite.
    -libm::log(1.0 - unit_f64(rng)) * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_everywhere_and_for_ever() {
        // Values of both hashes as constants: a change of either would change every result.
        let mut rng = stream(1, "workload.op");
        let first = rng.next_u64();
        assert_eq!(first, stream(1, "workload.op").next_u64());
        assert_eq!(fnv1a64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn names_and_seeds_give_different_streams() {
        let draw = |seed, name: &str| stream(seed, name).next_u64();
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn exponential_has_its_mean_and_below_its_bound() {
        let mut rng = stream(7, "test");
        let draws = 200_000;
        let mean = (0..draws).map(|_| exponential(&mut rng, 5.0)).sum::<f64>() / f64::from(draws);
        // The standard error of the mean is 5 / sqrt(200,000) = 0.011; five of them.
        assert!((mean - 5.0).abs() < 0.056, "{mean}");
        assert!((0..1000).all(|_| below(&mut rng, 7) < 7));
        assert_eq!(below(&mut rng, 0), 0);
    }
}
