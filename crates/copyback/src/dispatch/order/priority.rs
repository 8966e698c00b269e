//! Classes in a fixed order, first come first served inside a class.
//!
//! Source: hpdc18 Section 5 (GC > read > write).
//!
//! Parameters:
//! - `first` (default `"gc-read-write"`): or `"read-write-gc"`.
//! - `next_collection` (default `"at-once"`): when a die that has just collected may collect again: `"at-once"`, or
//!   `"after-waiting"`, once the requests have gone that arrived before the last collection of the die began and still wait there. Own: the
//!   papers' collections follow each other; a controller that bounds what a read can meet does not let them.

use super::{Class, Heads};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which class goes before which.
    pub first: First,
    /// When a die that has just collected may collect again.
    #[serde(skip_serializing_if = "NextCollection::is_default")]
    pub next_collection: NextCollection,
}

/// When a die that has just collected may collect again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextCollection {
    /// As soon as the classes' order lets it.
    #[default]
    AtOnce,
    /// After the requests that waited for the whole of the last one.
    AfterWaiting,
}

impl NextCollection {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The policy of a run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    classes: [Class; 3],
    next_collection: NextCollection,
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

impl Policy {
    /// The policy that the parameters ask for.
    pub(crate) fn new(params: &Params) -> Self {
        let classes = match params.first {
            First::GcReadWrite => [Class::Gc, Class::Read, Class::Write],
            First::ReadWriteGc => [Class::Read, Class::Write, Class::Gc],
        };
        Self { classes, next_collection: params.next_collection }
    }

    /// The first class that has something to run; where requests that waited for a whole collection go before the next,
    /// the first of theirs.
    #[inline]
    pub(crate) fn pick(&self, heads: Heads) -> Option<Class> {
        if self.next_collection == NextCollection::AfterWaiting && heads.came[Class::Gc as usize] != u64::MAX {
            let has_waited = |&c: &Class| c != Class::Gc && heads.came[c as usize] < heads.waited_before;
            if let Some(class) = self.classes.iter().copied().find(has_waited) {
                return Some(class);
            }
        }
        self.classes.iter().copied().find(|&c| heads.came[c as usize] != u64::MAX)
    }
}
