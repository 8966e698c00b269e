//! Classes in a fixed order, first come first served inside a class.
//!
//! Source: hpdc18 Section 5 (GC > read > write); tpds20 Section 6.1 (reads first: read > GC > write).
//!
//! Parameters:
//! - `first` (default `"gc-read-write"`): or `"read-gc-write"`, `"read-write-gc"`, or `"read"`: reads first, then
//!   collection and writes in order of arrival. Under `"read"`, if the first of several evicted pages causes a
//!   collection, the other pages precede it. If collection is not first, its data is not first on a channel either.
//! - `next_collection` (default `"at-once"`): when a die that has just collected may collect again: `"at-once"`, or
//!   `"after-waiting"`, after the waiting requests that arrived before the die's last collection began. No source
//!   states it: in the papers, collections follow each other. A controller that limits the wait of a read does not
//!   permit that.

use super::{Class, OrderPolicy, OrderView, Parameters};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The precedence of classes.
    pub first: First,
    /// When a die that has just collected may collect again.
    #[serde(skip_serializing_if = "NextCollection::is_default")]
    pub next_collection: NextCollection,
}

impl Parameters for Params {}

/// When a die that has just collected may collect again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextCollection {
    /// As soon as the order of classes allows it.
    #[default]
    AtOnce,
    /// After the requests that waited during all of the last collection.
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
    /// Whether the last two classes are served in order of arrival.
    is_as_they_came: bool,
    next_collection: NextCollection,
}

/// The precedence of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// GC > read > write.
    #[default]
    GcReadWrite,
    /// Read > GC > write.
    ReadGcWrite,
    /// Read > write > GC.
    ReadWriteGc,
    /// Read > GC and write.
    Read,
}

impl Policy {
    /// The policy with these parameters.
    pub fn new(params: &Params, _geometry: &Geometry, _timing: &Timing) -> Self {
        let classes = match params.first {
            First::GcReadWrite => [Class::Gc, Class::Read, Class::Write],
            First::ReadGcWrite | First::Read => [Class::Read, Class::Gc, Class::Write],
            First::ReadWriteGc => [Class::Read, Class::Write, Class::Gc],
        };
        let is_as_they_came = params.first == First::Read;
        Self { classes, is_as_they_came, next_collection: params.next_collection }
    }
}

impl OrderPolicy for Policy {
    /// The first class that can run. If requests that waited during a whole collection precede the next one: the first
    /// of their classes.
    #[inline]
    fn pick(&mut self, view: &OrderView<'_>) -> Option<Class> {
        if self.next_collection == NextCollection::AfterWaiting && view.may_run(Class::Gc) {
            let heads = &view.heads;
            let has_waited = |&c: &Class| c != Class::Gc && heads.came[c as usize] < heads.waited_before;
            if let Some(class) = self.classes.iter().copied().find(has_waited) {
                return Some(class);
            }
        }
        if self.is_as_they_came && !view.may_run(self.classes[0]) {
            let came = |class: &Class| view.heads.came[*class as usize];
            return self.classes[1..].iter().copied().min_by_key(came).filter(|&class| view.may_run(class));
        }
        self.classes.iter().copied().find(|&class| view.may_run(class))
    }

    fn puts_gc_first(&self) -> bool {
        self.classes[0] == Class::Gc
    }
}
