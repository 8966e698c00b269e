//! The layers of a run, lowest first.

use crate::policies::Policies;
use copyback::config::layers::{Layer, LayerError};
use copyback::run::config::{Resolved, Stack};

/// The layers of a run.
pub(super) struct Layers<'a> {
    pub device: Option<Layer>,
    pub scheme: Layer,
    pub above: Vec<Layer>,
    /// What goes over everything, also over what a drive of an array has otherwise.
    pub sets: Vec<Layer>,
    /// Policies of the calling program that the layers may name.
    pub policies: &'a Policies,
}

impl Layers<'_> {
    /// All layers; `otherwise`: what a drive has otherwise, which goes over all that is said of the others, so that a
    /// configuration that says everything leaves it its own.
    pub fn all(&self, otherwise: impl IntoIterator<Item = Layer>) -> impl Iterator<Item = Layer> {
        let below = self.device.iter().chain([&self.scheme]).chain(&self.above).cloned();
        below.chain(otherwise).chain(self.sets.iter().cloned())
    }

    /// Those of a run.
    pub fn stack(&self) -> Stack {
        let mut stack = Stack::new();
        self.all([]).for_each(|layer| stack.push(layer));
        stack
    }

    /// The configuration that a stack amounts to.
    pub fn resolve(&self, stack: &Stack) -> Result<Resolved, LayerError> {
        stack.resolve_with(&|run| self.policies.supply(run))
    }

    /// Those of a drive with settings of its own. The array decides whether the drive is coordinated.
    pub fn of_drive(&self, otherwise: impl IntoIterator<Item = Layer>) -> Stack {
        let mut stack = Stack::new();
        self.all(otherwise).for_each(|layer| stack.push(layer.without("coordination")));
        stack
    }
}
