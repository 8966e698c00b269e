//! The layers of a run, lowest first.

use crate::policies::Policies;
use copyback::config::layers::{Layer, LayerError};
use copyback::run::config::{Resolved, Stack};

/// The layers of a run.
pub(super) struct Layers<'a> {
    pub device: Option<Layer>,
    pub scheme: Layer,
    pub above: Vec<Layer>,
    /// Settings of the command line: they override all layers, also a drive's own.
    pub sets: Vec<Layer>,
    /// Policies of the calling program that the layers may name.
    pub policies: &'a Policies,
}

impl Layers<'_> {
    /// All layers, lowest first. `of_one_drive`: the own settings of one drive of an array. They override the shared
    /// layers, so that a complete configuration file does not undo them.
    pub fn all(&self, of_one_drive: impl IntoIterator<Item = Layer>) -> impl Iterator<Item = Layer> {
        let below = self.device.iter().chain([&self.scheme]).chain(&self.above).cloned();
        below.chain(of_one_drive).chain(self.sets.iter().cloned())
    }

    /// The layers of a run.
    pub fn stack(&self) -> Stack {
        let mut stack = Stack::new();
        self.all([]).for_each(|layer| stack.push(layer));
        stack
    }

    /// The configuration that a stack amounts to.
    pub fn resolve(&self, stack: &Stack) -> Result<Resolved, LayerError> {
        stack.resolve_with(&|run| self.policies.supply(run))
    }

    /// The layers of a drive with its own settings. The array decides whether the drive is coordinated.
    pub fn of_drive(&self, of_one_drive: impl IntoIterator<Item = Layer>) -> Stack {
        let mut stack = Stack::new();
        self.all(of_one_drive).for_each(|layer| stack.push(layer.without("coordination")));
        stack
    }
}
