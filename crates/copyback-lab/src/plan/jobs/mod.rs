//! Whether the drives of a plan can serve the jobs of a file of fio.

mod capacity;
mod flush;

use super::Plan;
use crate::failure::Failure;

/// Refuses jobs that a plan's drives cannot serve.
pub fn check(plan: &Plan) -> Result<(), Failure> {
    capacity::check(plan)?;
    flush::check(plan)
}
