//! Draws worlds from the open decisions: a Latin hypercube, in which each decision has its own random stream.

use super::open::{Admissible, Decision};
use copyback_workload::rng::{Xoshiro256PlusPlus, below, stream, unit_f64};

/// The decisions of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// Its number, from 1 on.
    pub number: usize,
    /// The seed of its runs.
    pub seed: u64,
    /// A value for each decision.
    pub values: Vec<Value>,
    /// Its settings, as `--set` takes them.
    pub sets: Vec<String>,
}

/// The value of one decision in a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its text in tables.
    pub shown: String,
    /// The number of a range, or the place of a choice among the choices.
    pub number: f64,
}

/// A share of 0 to 1 in each of `count` equal strata, in random order.
pub fn strata(rng: &mut Xoshiro256PlusPlus, count: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, below(rng, last as u64 + 1) as usize);
    }
    order.into_iter().map(|stratum| (stratum as f64 + unit_f64(rng)) / count as f64).collect()
}

/// The worlds of a seed. The runs of each world have another seed, so that worlds also differ by chance.
pub fn worlds(decisions: &[Decision], count: usize, seed: u64) -> Vec<World> {
    let shares: Vec<Vec<f64>> = decisions
        .iter()
        .map(|decision| strata(&mut stream(seed, &format!("worlds.{}", decision.name)), count))
        .collect();
    let world = |at: usize| {
        let drawn = decisions.iter().zip(&shares).map(|(decision, shares)| drawn(decision, shares[at]));
        let (values, sets): (Vec<Value>, Vec<Vec<String>>) = drawn.unzip();
        World { number: at + 1, seed: seed.wrapping_add(at as u64), values, sets: sets.concat() }
    };
    (0..count).map(world).collect()
}

fn drawn(decision: &Decision, share: f64) -> (Value, Vec<String>) {
    match &decision.admissible {
        Admissible::Range(range) => {
            let number = range.at(share);
            (Value { shown: range.shown(number), number }, range.sets(number))
        }
        Admissible::Choices(choices) => {
            let at = ((share * choices.len() as f64) as usize).min(choices.len() - 1);
            (Value { shown: choices[at].0.clone(), number: at as f64 }, choices[at].1.clone())
        }
    }
}
