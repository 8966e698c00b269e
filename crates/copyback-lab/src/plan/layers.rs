//! The layers of a run, lowest first.

use copyback::config::layers::Layer;
use copyback::run::config::Stack;

/// The layers of a run.
pub(super) struct Layers {
    pub device: Option<Layer>,
    pub scheme: Layer,
    pub above: Vec<Layer>,
    /// What goes over everything, also over what a drive of an array has otherwise.
    pub sets: Vec<Layer>,
}

impl Layers {
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

    /// Those of a drive that is another one. Whether it is told when to collect is its array's.
    pub fn of_drive(&self, otherwise: impl IntoIterator<Item = Layer>) -> Stack {
        let mut stack = Stack::new();
        self.all(otherwise).for_each(|layer| stack.push(layer.without("coordination")));
        stack
    }
}
