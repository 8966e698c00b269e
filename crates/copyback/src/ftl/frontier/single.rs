//! One open block a plane: host data and moved data share it.
//!
//! Source: the baseline of hpdc18 (Section 2.2: "for each plane, the FTL keeps one active block"); one frontier in the
//! write-amplification literature (Desnoyers 2014).
//!
//! Parameters: none.

use super::Parameters;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {}
