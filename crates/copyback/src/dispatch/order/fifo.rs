//! First come, first served over all classes; a background job came when it started.
//!
//! Source: atc18 Section 5 (`vanilla`).
//!
//! Parameters: none.

use super::{Class, Heads};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The class that has waited longest.
pub(crate) fn pick(heads: Heads) -> Option<Class> {
    let first = [Class::Gc, Class::Read, Class::Write].into_iter().min_by_key(|&c| heads.came[c as usize])?;
    (heads.came[first as usize] != u64::MAX).then_some(first)
}
