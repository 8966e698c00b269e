//! Every transaction that has what it needs enters its die's queue at once.
//!
//! Source: the queue model of DiskSim+SSD and SSDsim, on which four of the papers stand.
//!
//! Parameters: none.

use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}
