//! Collection takes no time: the same blocks are collected at the same moments, and nobody waits.
//!
//! Source: `Ideal-No-GC` of hpdc18 (Section 3.1) and of tc12: the bound that no schedule can beat.
//!
//! Parameters: none.

use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}
