//! The share of each decision in an effect's variance over worlds, with an interval.
//!
//! The share is the variance between groups of worlds that agree in the decision (a first-order effect), corrected for
//! the variance that such groups show by chance. With n worlds in k groups it is
//! 1 − (n − 1) / (n − k) · within / total. Ranges are cut into four groups of equal size.

use copyback_workload::rng::{below, stream};

/// Groups that a range is cut into.
const GROUPS: usize = 4;
/// Resamplings of the worlds.
const RESAMPLINGS: usize = 400;

/// A decision's values over worlds.
pub struct Factor {
    /// Numbers of a range, or places of choices.
    pub values: Vec<f64>,
    /// Whether they are choices.
    pub is_choice: bool,
}

/// A share of the variance and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share, from 0 to 1.
    pub share: f64,
    /// The lower bound of its interval.
    pub least: f64,
    /// The upper bound.
    pub most: f64,
}

/// The group of each world.
fn groups(factor: &Factor) -> Vec<usize> {
    if factor.is_choice {
        return factor.values.iter().map(|&value| value as usize).collect();
    }
    let mut order: Vec<usize> = (0..factor.values.len()).collect();
    order.sort_by(|&a, &b| factor.values[a].total_cmp(&factor.values[b]).then(a.cmp(&b)));
    let mut groups = vec![0; order.len()];
    for (rank, at) in order.iter().enumerate() {
        groups[*at] = rank * GROUPS / order.len();
    }
    groups
}

/// The share of the variance of `effects` between groups, for the worlds of these places.
fn share(effects: &[f64], groups: &[usize], places: &[usize]) -> f64 {
    let count = places.len() as f64;
    let mean = places.iter().map(|&at| effects[at]).sum::<f64>() / count;
    let total: f64 = places.iter().map(|&at| (effects[at] - mean).powi(2)).sum();
    let kinds = groups.iter().max().map_or(0, |most| most + 1);
    let mut sums = vec![(0.0, 0.0); kinds];
    for &at in places {
        sums[groups[at]].0 += effects[at];
        sums[groups[at]].1 += 1.0;
    }
    let used = sums.iter().filter(|(_, count)| *count > 0.0).count() as f64;
    let between: f64 = sums.iter().filter(|s| s.1 > 0.0).map(|(sum, n)| n * (sum / n - mean).powi(2)).sum();
    if total <= 0.0 || count <= used {
        return 0.0;
    }
    let within = (total - between).max(0.0);
    (1.0 - (count - 1.0) / (count - used) * within / total).clamp(0.0, 1.0)
}

/// The share of each factor, with its interval by resampling of worlds.
pub fn shares(effects: &[f64], factors: &[Factor], seed: u64) -> Vec<Share> {
    let all: Vec<usize> = (0..effects.len()).collect();
    let mut rng = stream(seed, "worlds.resampling");
    let resampled: Vec<Vec<usize>> = (0..RESAMPLINGS)
        .map(|_| all.iter().map(|_| below(&mut rng, effects.len() as u64) as usize).collect())
        .collect();
    let of = |factor: &Factor| {
        let groups = groups(factor);
        let mut values: Vec<f64> = resampled.iter().map(|places| share(effects, &groups, places)).collect();
        values.sort_by(f64::total_cmp);
        let at = |part: f64| values[((part * RESAMPLINGS as f64) as usize).min(RESAMPLINGS - 1)];
        Share { share: share(effects, &groups, &all), least: at(0.025), most: at(0.975) }
    };
    if effects.is_empty() { Vec::new() } else { factors.iter().map(of).collect() }
}
