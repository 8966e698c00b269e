//! Upper bounds of times in a configuration. With them, the moments of a run fit into 64 bits.

use super::KeyError;
use copyback_workload::units::Nanos;

/// The longest time of a step: the times of all steps of a run add up.
const STEP_MAX_NS: u64 = 1_000_000_000;

/// The longest distance from one moment to another, 146 years: its sum with any time of a run fits into 64 bits.
pub(crate) const DISTANCE_MAX_NS: u64 = 1 << 62;

/// Checks a time that each request, command or step takes.
pub(crate) fn check_step(key: &str, time: Nanos) -> Result<(), KeyError> {
    match time.0 {
        0..=STEP_MAX_NS => Ok(()),
        _ => Err(KeyError::new(key, format!("a step of {time} is not possible")).with_help("use at most 1 s")),
    }
}

/// Checks a time that is added to a moment of a run, and never to another such time.
pub(crate) fn check_distance(key: &str, time: Nanos) -> Result<(), KeyError> {
    match time.0 {
        0..=DISTANCE_MAX_NS => Ok(()),
        _ => Err(KeyError::new(key, format!("{time} is longer than any run")).with_help("use at most 1000000 h")),
    }
}
