//! Blocking: a collection reserves its die from its first command to its last, and requests for any plane of the die
//! wait.
//!
//! Source: the baseline of hpdc18 (Section 3.2, Fig. 5a) and `npgc` of ispass11.
//!
//! Parameters: none.

use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}
