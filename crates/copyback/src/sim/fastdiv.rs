//! Division by a number that is fixed for a run, as one multiplication.

/// Divides `u32`s by a fixed divisor: with `m = ⌊(2⁶⁴ − 1)/d⌋` the quotient of every 32-bit `x` is the upper half of
/// `m·(x + 1)`, for 1 as for any other divisor.
///
/// With `x = q·d + s` the product is `2⁶⁴·(q + (s + 1)/d)` less an error above 0 and at most `x + 1` ≤ 2³². `(s + 1)/d`
/// is at most 1, so the product is below `2⁶⁴·(q + 1)`. `(s + 1)/d` is at least `1/d` > 2⁻³², so the product is not
/// below `2⁶⁴·q`. (Compare Robison 2005, "N-bit unsigned division via N-bit multiply-add".)
#[derive(Clone, Copy, Debug)]
pub struct FastDiv {
    multiplier: u64,
    divisor: u32,
}

impl FastDiv {
    /// A divider by `divisor`, which must not be zero.
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "division by zero");
        Self { multiplier: u64::MAX / u64::from(divisor), divisor }
    }

    /// `x / divisor`.
    #[inline(always)]
    pub fn quotient(self, x: u32) -> u32 {
        ((u128::from(self.multiplier) * u128::from(u64::from(x) + 1)) >> 64) as u32
    }

    /// `(x / divisor, x % divisor)`.
    #[inline(always)]
    pub fn div_rem(self, x: u32) -> (u32, u32) {
        let quotient = self.quotient(x);
        (quotient, x - quotient * self.divisor)
    }

    /// The divisor.
    #[inline(always)]
    pub fn divisor(self) -> u32 {
        self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_divider_of_the_machine(x: u32, d in 1u32..) {
            prop_assert_eq!(FastDiv::new(d).div_rem(x), (x / d, x % d));
        }
    }

    #[test]
    fn agrees_at_the_edges() {
        for d in [1, 2, 3, 7, 255, 256, 65_535, 65_536, u32::MAX - 1, u32::MAX] {
            for x in [0, 1, d - 1, d, d.wrapping_add(1), u32::MAX - 1, u32::MAX] {
                assert_eq!(FastDiv::new(d).quotient(x), x / d, "{x} / {d}");
            }
        }
    }
}
