//! First come, first served over all classes; a background job counts as arriving when it is started.
//!
//! Source: atc18 Section 5 (`vanilla`).
//!
//! Parameters: none.

use super::{Class, OrderPolicy, OrderView, Parameters};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {}

/// No state.
pub struct Policy {}

impl Policy {
    /// The policy for a drive.
    pub fn new(_params: &Params, _geometry: &Geometry, _timing: &Timing) -> Self {
        Self {}
    }
}

impl OrderPolicy for Policy {
    /// The class that has waited longest.
    #[inline]
    fn pick(&mut self, view: &OrderView<'_>) -> Option<Class> {
        let first = Class::ALL.into_iter().min_by_key(|&class| view.heads.came[class as usize])?;
        view.may_run(first).then_some(first)
    }
}
