//! Background tasks: relocation of blocks for reasons other than garbage collection.
//!
//! Contract: a task is notified of every page that is read and of every block that is erased. While it is due
//! ([`BackgroundTask::is_due`]) the engine relocates the blocks that it selects, one after the other: valid data moves
//! as in a collection, and the block is erased. The engine calls it after each read and each erase, so that both
//! answers take constant time. It changes nothing itself, and draws only from its own stream.
//!
//! A task is a file of this folder and a row of the registry below; it is on if it has a table in `[tasks]`.

pub mod scrub;
pub mod wear;

use super::delays;
use crate::config::{Axis, Choice, KeyError};
use crate::flash::command::Source;
use crate::ftl::blocks::{Blocks, FreeOrder};
use crate::sim::index::BlockId;
use serde::{Deserialize, Serialize};

/// What a task watches, for those who set shares by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// The highest count of a block.
    pub highest: u32,
    /// The count above which the task begins.
    pub target: u32,
}

/// See the module's contract.
pub trait BackgroundTask {
    /// For whom its commands are.
    fn source(&self) -> Source;
    /// A page of a block is read.
    fn on_read(&mut self, block: BlockId);
    /// A block is erased.
    fn on_erase(&mut self, block: BlockId);
    /// Whether it has blocks relocated now.
    fn is_due(&self) -> bool;
    /// The full block that is relocated next, if there is one.
    fn pick(&self, blocks: &Blocks) -> Option<BlockId>;
    /// What it watches.
    fn level(&self) -> Level;
}

/// What a configuration says of a task.
pub trait Parameters {
    /// For whom its commands are.
    fn source(&self) -> Source;
    /// Which free block is opened next, as far as the task has a say.
    fn free_order(&self) -> FreeOrder {
        FreeOrder::InTurn
    }
    /// Checks the values.
    fn check(&self) -> Result<(), KeyError>;
}

/// Writes the registry: of each row its table in the configuration, its place in the run-time enum and its page.
macro_rules! tasks {
    ($( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        /// `[tasks]`: a table for each task that is on, and what making their requests takes.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        #[allow(missing_docs)]
        pub struct TasksConfig {
            #[serde(skip_serializing_if = "Option::is_none")]
            pub delays: Option<delays::Params>,
            $( #[serde(skip_serializing_if = "Option::is_none")] pub $module: Option<$module::Params> ),+
        }

        impl TasksConfig {
            /// Checks the parameters.
            pub fn check(&self) -> Result<(), KeyError> {
                $( if let Some(p) = &self.$module { p.check()?; } )+
                self.delays.as_ref().map_or(Ok(()), delays::Params::check)
            }

            /// The tasks that are on: their names, and for whom their commands are.
            pub fn on(&self) -> impl Iterator<Item = (&'static str, Source)> {
                let tasks = [$( self.$module.as_ref().map(|p| ($name, p.source())) ),+];
                tasks.into_iter().flatten()
            }

            /// The free block to open next, as the first task with a preference says.
            pub fn free_order(&self) -> FreeOrder {
                let orders = [$( self.$module.as_ref().map(Parameters::free_order) ),+];
                orders.into_iter().flatten().find(|&order| order != FreeOrder::InTurn).unwrap_or_default()
            }

            /// The tasks of a drive in this state.
            pub fn build(&self, blocks: &Blocks, seed: u64) -> Vec<Background> {
                let mut tasks = Vec::new();
                $( if let Some(p) = &self.$module {
                    tasks.push(Background::$variant($module::Policy::new(p, blocks, seed)));
                } )+
                tasks
            }
        }

        /// A task of a run.
        #[allow(missing_docs)]
        pub enum Background { $( $variant($module::Policy) ),+ }

        impl BackgroundTask for Background {
            fn source(&self) -> Source {
                match self { $( Self::$variant(p) => p.source() ),+ }
            }
            #[inline]
            fn on_read(&mut self, block: BlockId) {
                match self { $( Self::$variant(p) => p.on_read(block) ),+ }
            }
            fn on_erase(&mut self, block: BlockId) {
                match self { $( Self::$variant(p) => p.on_erase(block) ),+ }
            }
            #[inline]
            fn is_due(&self) -> bool {
                match self { $( Self::$variant(p) => p.is_due() ),+ }
            }
            fn pick(&self, blocks: &Blocks) -> Option<BlockId> {
                match self { $( Self::$variant(p) => p.pick(blocks) ),+ }
            }
            fn level(&self) -> Level {
                match self { $( Self::$variant(p) => p.level() ),+ }
            }
        }

        /// The registry.
        pub const AXIS: Axis = Axis {
            name: "tasks",
            question: "what else uses the flash?",
            choices: &[
                $( Choice::new($name, include_str!(concat!(stringify!($module), ".rs"))), )+
                Choice::new("delays", include_str!("../delays.rs")),
            ],
        };
    };
}

tasks! {
    "scrub" => scrub: Scrub,
    "wear" => wear: Wear,
}

impl TasksConfig {
    /// Whether none is on.
    pub fn is_empty(&self) -> bool {
        self.on().next().is_none()
    }
}
