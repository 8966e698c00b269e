//! Solves equations by bisection: slow, simple, and it cannot leave the interval that holds the solution.

use crate::Result;

/// The error of an argument outside a formula's domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainError {
    /// The name of the argument, in the formula's terms.
    pub what: &'static str,
    /// Its value.
    pub value: f64,
    /// The formula's domain.
    pub domain: &'static str,
}

impl std::fmt::Display for DomainError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} is outside the formula's domain: use {}", self.what, self.value, self.domain)
    }
}

impl std::error::Error for DomainError {}

/// The value, if it is in the domain.
pub(crate) fn within(what: &'static str, value: f64, is_inside: bool, domain: &'static str) -> Result<f64> {
    if is_inside && value.is_finite() { Ok(value) } else { Err(DomainError { what, value, domain }) }
}

/// The x between `low` and `high` at which a growing function passes zero. 200 halvings leave no bit of an `f64` open.
pub(crate) fn bisect(mut low: f64, mut high: f64, grows: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if grows(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Lambert's W₀: the w ≥ −1 with w·e^w = x.
///
/// # Errors
/// If x < −1/e: no such w exists.
pub fn lambert_w0(x: f64) -> Result<f64> {
    // Rounding may put the computed −1/e just outside the domain.
    let least = -libm::exp(-1.0);
    within("x", x, x >= least - 1e-16, "x >= -1/e")?;
    let above = libm::log(2.0 + x.max(0.0));
    Ok(bisect(-1.0, above.max(0.0), |w| w * libm::exp(w) - x))
}

/// x to a whole power, by multiplication alone, so that every machine gets the same bits.
pub(crate) fn power(x: f64, exponent: u32) -> f64 {
    let (mut result, mut square, mut left) = (1.0, x, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambert_w_undoes_w_times_e_to_the_w() {
        for w in [-0.999, -0.9, -0.5, -0.1, 0.0, 0.3, 1.0, 5.0] {
            let x = w * libm::exp(w);
            // Near −1 the function is flat, so that the last bits of x determine w less exactly.
            assert!((lambert_w0(x).unwrap() - w).abs() < 1e-12 / (w + 1.0).min(1.0), "{w}");
        }
        assert!((lambert_w0(1.0).unwrap() - 0.567_143_290_409_783_8).abs() < 1e-15);
        let error = lambert_w0(-0.5).unwrap_err().to_string();
        assert_eq!(error, "x of -0.5 is outside the formula's domain: use x >= -1/e");
    }

    #[test]
    fn powers_are_products() {
        assert_eq!(power(2.0, 10), 1024.0);
        assert_eq!(power(3.0, 1), 3.0);
        assert_eq!(power(0.5, 0), 1.0);
    }
}
