//! No coordination: each element collects by itself.
//!
//! Source: tc12 Section 5 (the baseline: "there is no GC coordination among SSDs in the array"). With
//! `preemption.policy = "ideal"`, it is the paper's ideal: the same blocks are collected, and no request waits.

use super::{Common, CoordinationPolicy, Parameters};
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    fn common(&self) -> Option<Common> {
        None
    }

    fn build(&self) -> Option<Box<dyn CoordinationPolicy + Send>> {
        None
    }
}
