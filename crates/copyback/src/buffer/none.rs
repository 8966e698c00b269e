//! No buffer: a write is done when its data is in flash.
//!
//! Source: ispass11, hpdc18.
//!
//! Parameters: none.

use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}
