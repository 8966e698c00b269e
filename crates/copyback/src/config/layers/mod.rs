//! Layered configuration: later layers over earlier ones, and every value remembers the text that it came from.
//!
//! A run's configuration is a stack: built-in defaults, a device, a scheme, a workload, an experiment, `--set`. All
//! layers share one flat namespace: the tables of the [`Configuration`] and `[workload]`. A key of a later layer
//! replaces the same key of an earlier layer. There are four exceptions, in which other keys would have no meaning
//! after the replacement:
//!
//! - if a layer chooses another `policy` of an axis (`mode` of `[precondition]`, `kind` in a table of `[workload]`),
//!   the parameters of the earlier choice are dropped, except those that describe the drive ([`Kept`]);
//! - a layer's `[capacity]` replaces the earlier table whole, because its keys exclude each other;
//! - a layer that brings a trace drops an earlier generator's settings, and those of an earlier trace. Settings of a
//!   trace (`columns`, `layout`) are kept if no earlier layer names a trace. A layer that brings a generator drops all
//!   settings of a trace;
//! - of a workload, `read_share` and `read_arrivals` replace each other, and `size` drops an earlier `read_size`,
//!   `write_size` and `trim_size`.
//!
//! Two defaults depend on other keys. The host's loop is closed if a generator has no arrival times, otherwise open.
//! Requests to an array go to drives if their addresses are those of a drive, otherwise to the volume.

mod decode;
#[cfg(test)]
mod dropped_tests;
mod fault;
mod layer;
mod merge;
mod names;
mod resolved;
mod set;
mod several;
#[cfg(test)]
mod tests;
mod texts;
mod tree;
#[cfg(test)]
mod type_tests;
mod wording;

use super::{Axis, KeyError};
use copyback_workload::spec::{Footprint, WorkloadSpec};
pub use copyback_workload::words::nearest;
pub use layer::Layer;
pub use merge::{Dropped, Replaced};
pub use names::suggestion;
pub use resolved::Resolved;
use serde::{Serialize, de::DeserializeOwned};
pub use set::{SetTwice, set_twice};
use std::marker::PhantomData;
use std::sync::Arc;
pub use texts::{LayerError, Located, Origin, Text, TextSpan};
use tree::Table;
pub use tree::{check_printable, no_toml};

/// Parameters that are kept if a layer chooses one of these policies: all of them have these parameters, which describe
/// the drive.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The axis.
    pub table: &'static str,
    /// The policies.
    pub policies: &'static [&'static str],
    /// The parameters.
    pub keys: &'static [&'static str],
}

/// The result of the layers, without a workload. The caller that knows all parts of a configuration passes it in:
/// layers know tables and keys, and no policy.
pub trait Configuration: DeserializeOwned + Serialize {
    /// The tables that choose a `policy`.
    const AXES: &'static [Axis];
    /// The keys that another policy does not drop.
    const KEPT: &'static [Kept];
    /// The other tables.
    const OTHER_TABLES: &'static [&'static str];
    /// Checks every part and how they fit together.
    fn check(&self) -> Result<(), KeyError>;
    /// Whether the next request arrives when one ends.
    fn has_closed_loop(&self) -> bool;
    /// Lets the next request arrive when one ends.
    fn close_loop(&mut self);
    /// Whether requests name drives of an array.
    fn names_drives(&self) -> bool;
    /// Requests address drives of an array, if there is one: their addresses are those of a drive.
    fn name_drives(&mut self);
    /// The share of the logical capacity, from its start, whose every unit holds data before the run; 0 if nothing is
    /// known to be mapped. Called after the configuration was checked.
    fn mapped_share(&self) -> f64;
}

/// The table of several workloads that share a drive, a table by name for each.
pub const WORKLOADS: &str = "workloads";

/// Every table of a configuration.
pub fn tables<C: Configuration>() -> impl Iterator<Item = &'static str> + Clone {
    C::OTHER_TABLES.iter().copied().chain(["workload", WORKLOADS]).chain(C::AXES.iter().map(|axis| axis.name))
}

/// Layers, the last one on top.
#[derive(Clone, Debug)]
pub struct Stack<C> {
    root: Table,
    dropped: Vec<Dropped>,
    amounts_to: PhantomData<fn() -> C>,
}

impl<C: Configuration> Default for Stack<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Configuration> Stack<C> {
    /// The built-in defaults: every axis and every table that has one.
    pub fn new() -> Self {
        let text = Text::new(decode::BUILT_IN, decode::defaults::<C>()).of(Origin::Program);
        let root = tree::parse(&Arc::new(text)).expect("the defaults were printed by the same library");
        Self { root, dropped: Vec::new(), amounts_to: PhantomData }
    }

    /// Puts a layer on top.
    pub fn push(&mut self, layer: Layer) {
        merge::merge::<C>(&mut self.root, layer.root, &mut self.dropped);
    }

    /// Settings that a later layer dropped, because it chose another policy or workload; without built-in defaults.
    pub fn dropped(&self) -> impl Iterator<Item = &Dropped> {
        self.dropped.iter().filter(|dropped| decode::user_place(&dropped.place).is_some())
    }

    /// The configuration that the layers amount to, checked as a whole.
    pub fn resolve(&self) -> Result<Resolved<C>, LayerError> {
        self.resolve_with(&|_| ())
    }

    /// The same. Before the check, `complete` adds what no text can hold, such as policies of the calling program.
    pub fn resolve_with(&self, complete: &dyn Fn(&mut C)) -> Result<Resolved<C>, LayerError> {
        let mut resolved = self.resolve_parts()?;
        complete(&mut resolved.run);
        let is_alone = resolved.tenants.is_empty();
        if is_alone {
            self.check_loop(&mut resolved)?;
        }
        let names_drives = resolved.workload.addresses.as_ref().and_then(|addresses| addresses.per_drive);
        if names_drives == Some(true) && self.place_of_leaf("host.target").is_none() {
            resolved.run.name_drives();
        }
        resolved.run.check().map_err(|error| {
            let place = decode::place_of(&self.root, &error.key);
            LayerError { message: format!("`{}`: {}", error.key, error.message), help: error.help, place }
        })?;
        match is_alone {
            true => self.check_workload(&resolved.workload)?,
            false => {
                self.check_tenants(&resolved)?;
                let is_closed = resolved.run.has_closed_loop();
                for tenant in resolved.tenants.values_mut() {
                    tenant.settings.mode = Some(tenant.pace(is_closed));
                }
            }
        }
        self.address_mapped(&mut resolved)?;
        Ok(resolved)
    }

    /// A footprint that is `mapped` is the share that the drive's preconditioning writes.
    fn address_mapped(&self, resolved: &mut Resolved<C>) -> Result<(), LayerError> {
        let share = resolved.run.mapped_share();
        let named = resolved.tenants.iter_mut().map(|(name, tenant)| (format!("{WORKLOADS}.{name}"), &mut tenant.spec));
        let alone = std::iter::once(("workload".to_owned(), &mut resolved.workload));
        for (table, spec) in alone.chain(named).filter(|(_, spec)| spec.footprint == Some(Footprint::Mapped)) {
            if share <= 0.0 {
                let key = format!("{table}.footprint");
                let error = LayerError::new(format!(
                    "`{key}`: the drive's preconditioning maps nothing that could be addressed"
                ));
                let help = "precondition the drive (`precondition.mode`), or use a footprint such as 0.8";
                return Err(error.with_help(help).at(self.place_of(&key)));
            }
            spec.footprint = Some(Footprint::Share(share));
        }
        Ok(())
    }

    /// A generator without arrival times needs a closed loop: it is then the host's default, and an explicit open loop
    /// is refused.
    fn check_loop(&self, resolved: &mut Resolved<C>) -> Result<(), LayerError> {
        if resolved.workload.has_times() || resolved.run.has_closed_loop() {
            return Ok(());
        }
        match self.place_of_leaf("host.mode") {
            None => resolved.run.close_loop(),
            place => {
                return Err(LayerError::new(
                    "`host.mode`: an open loop needs arrival times, and the workload has none",
                )
                .with_help("set `host.mode = \"closed\"`, or give the workload `arrivals`")
                .at(place));
            }
        }
        Ok(())
    }

    /// The place at which a key of a table, or of a table in it, was set; `None` if only the defaults set it.
    pub fn place_of_leaf(&self, key: &str) -> Option<TextSpan> {
        decode::user_place(&tree::find(&self.root, key)?.value)
    }

    /// The workload alone, checked.
    pub fn resolve_workload(&self) -> Result<WorkloadSpec, LayerError> {
        let workload = decode::decode_workload::<C>(&self.root)?;
        self.check_workload(&workload)?;
        Ok(workload)
    }

    fn check_workload(&self, workload: &WorkloadSpec) -> Result<(), LayerError> {
        workload.check().map_err(|error| {
            let key = format!("workload.{}", error.key);
            let place = decode::place_of(&self.root, &key);
            LayerError { message: format!("`{key}`: {}", error.message), help: error.help, place }
        })
    }

    /// The configuration without the checks that need all of it: the settings of a scheme alone.
    pub fn resolve_parts(&self) -> Result<Resolved<C>, LayerError> {
        decode::decode(&self.root)
    }

    /// The place at which the last layer set a key.
    pub fn place_of(&self, key: &str) -> Option<TextSpan> {
        decode::place_of(&self.root, key)
    }
}
