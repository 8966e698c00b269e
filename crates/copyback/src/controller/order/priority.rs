//! Classes in a fixed order, first come first served inside a class.
//!
//! Source: hpdc18 Section 5 (GC > read > write).
//!
//! Parameters:
//! - `first` (default `"gc-read-write"`): or `"read-write-gc"`.

use super::Class;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which class goes before which.
    pub first: First,
}

/// Which class goes before which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// GC > read > write.
    #[default]
    GcReadWrite,
    /// Read > write > GC.
    ReadWriteGc,
}

impl Params {
    /// The classes, first one first.
    pub(super) fn classes(&self) -> [Class; 3] {
        match self.first {
            First::GcReadWrite => [Class::Gc, Class::Read, Class::Write],
            First::ReadWriteGc => [Class::Read, Class::Write, Class::Gc],
        }
    }
}
