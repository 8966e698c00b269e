//! An order of a program that calls Copyback: a class of Python, for example.
//!
//! It reads the same state as every order, and names one of the classes that may run; another answer ends the run. Each
//! drive has its own order.
//!
//! Source: none of its own; docs/python.md shows how a policy is written and supplied.
//!
//! Parameters:
//! - `name`: the policy's name, as the caller supplied it.

use super::{Class, OrderPolicy, OrderView, Parameters};
use crate::config::plugins::{Supplied, fail};
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use serde::{Deserialize, Serialize};

/// Makes an order for a drive of this shape.
pub type Make = dyn Fn(&Geometry) -> Box<dyn OrderPolicy + Send> + Send + Sync;

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The policy, by its name.
    pub name: Supplied<Make>,
}

impl Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        self.name.check("order")
    }
}

/// The policy of a run.
pub struct Policy {
    name: String,
    plugin: Box<dyn OrderPolicy + Send>,
}

impl Policy {
    /// The policy for a drive.
    pub fn new(params: &Params, geometry: &Geometry, _timing: &Timing) -> Self {
        Self { name: params.name.name().to_owned(), plugin: params.name.maker()(geometry) }
    }
}

impl OrderPolicy for Policy {
    fn pick(&mut self, view: &OrderView<'_>) -> Option<Class> {
        let may_run = || Class::ALL.into_iter().filter(|&class| view.may_run(class));
        // If nothing may run, the program is not called.
        may_run().next()?;
        let picked = self.plugin.pick(view);
        if picked.is_none_or(|class| !view.may_run(class)) {
            let named = picked.map_or("no class".to_owned(), |class| format!("{class:?}"));
            let names: Vec<String> = may_run().map(|class| format!("{class:?}")).collect();
            let why = format!("picked {named} where {} may run", names.join(" and "));
            fail("order", &self.name, why, Some("name one of the classes that may run"));
        }
        picked
    }

    fn puts_gc_first(&self) -> bool {
        self.plugin.puts_gc_first()
    }
}
