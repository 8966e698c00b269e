//! The table `[workload.operations]`: the meaning of the words and numbers of a table's operations.

use crate::words::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

words! {
    /// What an operation of a table does.
    pub enum Meaning("meaning of an operation") {
        /// It reads.
        Read = "read",
        /// It writes.
        Write = "write",
        /// It trims.
        Trim = "trim",
        /// It is left out, and counted.
        Ignore = "ignore",
    }
}

/// The table `[workload.operations]`: each key is a word or a number as in the trace, with the same capital letters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Operations(pub BTreeMap<String, Meaning>);
