//! The confidence interval of a mean, from a few runs.

use crate::Result;
use crate::numeric::{bisect, within};

/// A mean and half the width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean of the samples.
    pub mean: f64,
    /// Half the width: the interval is `mean` ± this.
    pub half_width: f64,
}

/// The 95 % interval of the mean of independent samples: mean ± t·s/√n, where t is the 97.5 % point of Student's
/// distribution with n − 1 degrees of freedom and s the samples' standard deviation. Domain: two samples or more.
///
/// # Errors
/// Outside the domain.
pub fn interval_95(samples: &[f64]) -> Result<Interval> {
    let n = samples.len() as f64;
    within("a number of samples", n, samples.len() >= 2, "2 or more")?;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let t = student_t(samples.len() as u32 - 1, 0.975)?;
    Ok(Interval { mean, half_width: t * (variance / n).sqrt() })
}

/// The quantile of Student's distribution at `probability`.
///
/// Solved from the distribution's finite sums for whole degrees of freedom (Abramowitz and Stegun 1964, 26.7.3 and
/// 26.7.4). Domain: one degree of freedom or more, 0.5 ≤ probability < 1.
///
/// # Errors
/// Outside the domain.
pub fn student_t(degrees_of_freedom: u32, probability: f64) -> Result<f64> {
    within("degrees of freedom", f64::from(degrees_of_freedom), degrees_of_freedom > 0, "1 or more")?;
    within("a probability", probability, (0.5..1.0).contains(&probability), "0.5 or more, below 1")?;
    // Searched as an angle: t = √ν·tan θ.
    let two_sided = 2.0 * probability - 1.0;
    let quarter_turn = std::f64::consts::FRAC_PI_2;
    let theta = bisect(0.0, quarter_turn, |theta| central(degrees_of_freedom, theta) - two_sided);
    Ok(f64::from(degrees_of_freedom).sqrt() * libm::tan(theta))
}

/// The probability between −t and t, where t = √ν·tan θ.
fn central(nu: u32, theta: f64) -> f64 {
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let is_odd = nu % 2 == 1;
    // Odd: cos θ + 2/3·cos³ θ + (2·4)/(3·5)·cos⁵ θ + …; even: 1 + 1/2·cos² θ + (1·3)/(2·4)·cos⁴ θ + …
    let (mut term, mut next) = if is_odd { (cos, 2.0) } else { (1.0, 1.0) };
    let mut sum = 0.0;
    for _ in 0..nu / 2 {
        sum += term;
        term *= cos * cos * next / (next + 1.0);
        next += 2.0;
    }
    if is_odd { (theta + sin * sum) * std::f64::consts::FRAC_2_PI } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_points_are_those_of_the_tables() {
        let table =
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (29, 2.045), (100, 1.984)];
        for (nu, t) in table {
            assert!((student_t(nu, 0.975).unwrap() - t).abs() < 5e-4, "{nu}: {}", student_t(nu, 0.975).unwrap());
        }
        assert!((student_t(4, 0.95).unwrap() - 2.132).abs() < 5e-4);
        assert!(student_t(4, 0.5).unwrap().abs() < 1e-9);
    }

    #[test]
    fn an_interval_is_a_mean_and_its_error() {
        let interval = interval_95(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        // s² = 2.5, so the error of the mean is √0.5.
        assert_eq!(interval.mean, 3.0);
        assert!((interval.half_width - 2.776_445 * 0.5_f64.sqrt()).abs() < 1e-5, "{interval:?}");
        assert_eq!(interval_95(&[7.0, 7.0]).unwrap(), Interval { mean: 7.0, half_width: 0.0 });
        assert!(interval_95(&[1.0]).is_err());
    }
}
