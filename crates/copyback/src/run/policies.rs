//! Policies that the calling program supplies for a run, by axis and name.

use super::config::RunConfig;
use crate::config::plugins::Supplied;
use crate::dispatch::admit::AdmitConfig;
use crate::dispatch::admit::shares::{self, SharesConfig};
use crate::dispatch::order::{self, OrderConfig};
use crate::ftl::allocation::{self, AllocationConfig};
use crate::ftl::victim::{self, VictimConfig};
use crate::tasks::background;
use crate::tasks::gc::preemption::{self, PreemptionConfig};
use crate::tasks::gc::trigger::{self, TriggerConfig};
use std::sync::Arc;

/// The maker of the policy of each drive. The variant is the axis on which it replaces the scheme's own policy; a
/// background task is added to the scheme's tasks.
#[derive(Clone)]
pub enum PolicyMaker {
    /// Selects the die and plane of a page.
    Allocation(Arc<allocation::plugin::Make>),
    /// Decides when GC starts.
    Trigger(Arc<trigger::plugin::Make>),
    /// Selects the block to collect.
    Victim(Arc<victim::plugin::Make>),
    /// Decides which requests preempt a collection.
    Preemption(Arc<preemption::plugin::Make>),
    /// Sets the shares of tasks.
    Shares(Arc<shares::plugin::Make>),
    /// Selects the class that a die serves next.
    Order(Arc<order::plugin::Make>),
    /// A background task, beside the drive's other tasks.
    Task(Arc<background::plugin::Make>),
}

impl PolicyMaker {
    /// The axis of the policy, such as `victim`.
    pub fn axis(&self) -> &'static str {
        match self {
            Self::Allocation(_) => "allocation",
            Self::Trigger(_) => "trigger",
            Self::Victim(_) => "victim",
            Self::Preemption(_) => "preemption",
            Self::Shares(_) => "admit.shares",
            Self::Order(_) => "order",
            Self::Task(_) => "tasks",
        }
    }

    /// The settings that choose the policy by its name, as `--set` takes them.
    pub fn settings(&self, name: &str) -> Vec<String> {
        let (axis, name) = (self.axis(), toml::Value::from(name));
        match self {
            Self::Task(_) => vec![format!("{axis}.plugin.name={name}")],
            _ => vec![format!("{axis}.policy=plugin"), format!("{axis}.name={name}")],
        }
    }

    /// The address of the maker: clones have the same one.
    fn address(&self) -> *const () {
        match self {
            Self::Allocation(make) => Arc::as_ptr(make).cast(),
            Self::Trigger(make) => Arc::as_ptr(make).cast(),
            Self::Victim(make) => Arc::as_ptr(make).cast(),
            Self::Preemption(make) => Arc::as_ptr(make).cast(),
            Self::Shares(make) => Arc::as_ptr(make).cast(),
            Self::Order(make) => Arc::as_ptr(make).cast(),
            Self::Task(make) => Arc::as_ptr(make).cast(),
        }
    }
}

impl std::fmt::Debug for PolicyMaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PolicyMaker").field(&self.axis()).finish()
    }
}

/// The supplied policies of one or more configurations. A name is unique within an axis.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    named: Vec<(String, PolicyMaker)>,
}

impl Policies {
    /// Adds a policy, and returns the name by which configurations choose it: `name`, or `name#2` if another policy of
    /// the axis has that name. A clone of a maker keeps the maker's name.
    pub fn add(&mut self, name: &str, maker: &PolicyMaker) -> String {
        let of_axis = || self.named.iter().filter(|(_, other)| other.axis() == maker.axis());
        if let Some((name, _)) = of_axis().find(|(_, other)| other.address() == maker.address()) {
            return name.clone();
        }
        let mut names = std::iter::once(name.to_owned()).chain((2_u32..).map(|number| format!("{name}#{number}")));
        let is_free = |name: &String| of_axis().all(|(other, _)| other != name);
        let name = names.find(is_free).expect("there are more numbers than policies");
        self.named.push((name.clone(), maker.clone()));
        name
    }

    /// Adds the makers to the policies that a configuration names.
    pub fn supply(&self, run: &mut RunConfig) {
        if let AllocationConfig::Plugin(params) = &mut run.allocation {
            self.supply_one(&mut params.name, |maker| {
                if let PolicyMaker::Allocation(make) = maker { Some(make) } else { None }
            });
        }
        if let TriggerConfig::Plugin(params) = &mut run.trigger {
            self.supply_one(
                &mut params.name,
                |maker| if let PolicyMaker::Trigger(make) = maker { Some(make) } else { None },
            );
        }
        if let VictimConfig::Plugin(params) = &mut run.victim {
            self.supply_one(
                &mut params.name,
                |maker| if let PolicyMaker::Victim(make) = maker { Some(make) } else { None },
            );
        }
        if let PreemptionConfig::Plugin(params) = &mut run.preemption {
            self.supply_one(&mut params.name, |maker| {
                if let PolicyMaker::Preemption(make) = maker { Some(make) } else { None }
            });
        }
        if let AdmitConfig::Debit(debit) = &mut run.admit
            && let SharesConfig::Plugin(params) = &mut debit.shares
        {
            self.supply_one(
                &mut params.name,
                |maker| if let PolicyMaker::Shares(make) = maker { Some(make) } else { None },
            );
        }
        if let OrderConfig::Plugin(params) = &mut run.order {
            self.supply_one(
                &mut params.name,
                |maker| if let PolicyMaker::Order(make) = maker { Some(make) } else { None },
            );
        }
        if let Some(params) = &mut run.tasks.plugin {
            self.supply_one(
                &mut params.name,
                |maker| if let PolicyMaker::Task(make) = maker { Some(make) } else { None },
            );
        }
    }

    fn supply_one<F: ?Sized>(&self, supplied: &mut Supplied<F>, of: impl Fn(&PolicyMaker) -> Option<&Arc<F>>) {
        let named = self.named.iter().filter(|(name, _)| name == supplied.name());
        let make = named.filter_map(|(_, maker)| of(maker)).next().cloned();
        supplied.supply(make);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn victim() -> PolicyMaker {
        PolicyMaker::Victim(Arc::new(|_, _| unreachable!("no drive is made")))
    }

    #[test]
    fn names_are_unique_within_an_axis() {
        let (mut policies, first) = (Policies::default(), victim());
        let order = PolicyMaker::Order(Arc::new(|_| unreachable!("no drive is made")));
        assert_eq!(policies.add("mine", &first), "mine");
        assert_eq!(policies.add("mine", &victim()), "mine#2");
        assert_eq!(policies.add("mine", &victim()), "mine#3");
        assert_eq!(policies.add("mine", &first.clone()), "mine", "the same policy");
        assert_eq!(policies.add("mine", &order), "mine", "another axis");
    }
}
