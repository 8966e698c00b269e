//! Prints new values for the reference table of the Monte Carlo simulation: mean and 95 % interval over five seeds.
//! Takes some minutes.

use copyback_theory::confidence::interval_95;
use copyback_theory::monte_carlo::{Plane, REFERENCE_BLOCKS, REFERENCE_PAGES_PER_BLOCK, REFERENCES};

fn main() {
    let only = std::env::args().nth(1);
    for r in REFERENCES.iter().filter(|r| only.as_ref().is_none_or(|o| format!("{r:?}").contains(o))) {
        let plane = Plane {
            blocks: REFERENCE_BLOCKS,
            pages_per_block: REFERENCE_PAGES_PER_BLOCK,
            over_provisioning: r.over_provisioning,
            victim: r.victim,
            two_frontiers: r.two_frontiers,
            skew: r.skew,
        };
        let samples: Vec<f64> = (1..=5).map(|seed| plane.write_amplification(15, 15, seed)).collect();
        let interval = interval_95(&samples).expect("there are five samples");
        println!("{r:?}\n  {:.4} +- {:.4}", interval.mean, interval.half_width);
    }
}
