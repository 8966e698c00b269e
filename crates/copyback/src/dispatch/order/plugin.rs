//! An order of a program that calls Copyback: a class of Python, for example.
//!
//! It sees what every order sees, and names one of the classes that may run; another answer ends the run. Each drive
//! has an order of its own.
//!
//! Source: none of its own; docs/python.md shows how a policy is written and handed in.
//!
//! Parameters:
//! - `name`: the policy's name, as the caller registered it.

use super::{Class, OrderPolicy, Parameters, View};
use crate::config::plugins::{PluginName, Plugins, fail};
use crate::config::{Device, KeyError};
use crate::flash::geometry::Geometry;
use crate::flash::timing::Timing;
use serde::{Deserialize, Serialize};

/// Makes an order for a drive of this shape.
pub type Make = dyn Fn(&Geometry) -> Box<dyn OrderPolicy + Send> + Send + Sync;

/// The registered policies.
pub static PLUGINS: Plugins<Make> = Plugins::new("order");

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The registered policy's name.
    pub name: PluginName,
}

impl Parameters for Params {
    fn check(&self, _: &Device<'_>) -> Result<(), KeyError> {
        PLUGINS.check(&self.name)
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
        Self { name: params.name.as_str().to_owned(), plugin: PLUGINS.made(&params.name)(geometry) }
    }
}

impl OrderPolicy for Policy {
    fn pick(&mut self, view: &View<'_>) -> Option<Class> {
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
