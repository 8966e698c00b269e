//! Background tasks: relocation of blocks for reasons other than garbage collection.
//!
//! Contract: a task is notified of every page that is read or programmed, and of every block that is erased, with the
//! time. It is also notified of the alarm that it has set ([`BackgroundTask::alarm_ns`]). While it is due
//! ([`BackgroundTask::is_due`]) the engine relocates the blocks that it selects, one after the other: valid data moves
//! as in a collection, and the block is erased. The engine queries the task after each notification, so all answers
//! except the selection must take little time. A task that becomes due without a notification sets an alarm for that
//! time. It changes nothing itself, and draws only from its own stream.
//!
//! A built-in task is a file of this folder and a row of the registry below; it is on if it has a table in `[tasks]`.
//! Its file names the source of its commands: a new source is a row of data in that file (`flash::source::SourceData`).
//! A calling program adds a task of its own by `run::policies::PolicyMaker::Task` ([`plugin`]).

pub mod plugin;
pub mod scrub;
pub mod wear;

use super::delays;
use crate::config::{Axis, Choice, KeyError};
use crate::flash::source::Source;
use crate::ftl::blocks::{Blocks, FreeOrder};
use crate::sim::index::BlockId;
use enum_dispatch::enum_dispatch;
use serde::{Deserialize, Serialize};

/// The level that a task watches, for share policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskLevel {
    /// The highest count of a block; for wear levelling, its difference from the lowest.
    pub highest: u32,
    /// The count above which the task begins.
    pub target: u32,
}

/// See the module's contract.
#[enum_dispatch]
pub trait BackgroundTask {
    /// A page of a block is read.
    fn on_read(&mut self, _block: BlockId, _now_ns: u64) {}
    /// A page of a block is programmed; with page 0, the block begins to take new data.
    fn on_program(&mut self, _block: BlockId, _page_offset: u32, _now_ns: u64) {}
    /// A block is erased.
    fn on_erase(&mut self, _block: BlockId, _now_ns: u64) {}
    /// The time of its alarm has come.
    fn on_alarm(&mut self, _now_ns: u64) {}
    /// The first time after `now_ns` at which the engine must query the task again without a notification; `None` for
    /// never. An earlier time sets no alarm: the engine queries the task now.
    fn alarm_ns(&self, _now_ns: u64) -> Option<u64> {
        None
    }
    /// Whether blocks are to be relocated for it now.
    fn is_due(&self, now_ns: u64) -> bool;
    /// Whether waiting requests of the host have a turn between two of its relocations that reserve the die.
    fn gives_host_a_turn(&self) -> bool {
        false
    }
    /// The full block that is relocated next, if there is one. The engine drops the answer if it cannot relocate the
    /// block now, and asks again later; `on_erase` reports that the block was relocated.
    fn pick(&self, blocks: &Blocks, now_ns: u64) -> Option<BlockId>;
    /// What it watches, if shares may follow it.
    fn level(&self) -> TaskLevel {
        TaskLevel::default()
    }
}

/// The configuration of a task.
pub trait Parameters {
    /// Which free block is opened next; [`FreeOrder::InTurn`] if the task has no preference.
    fn free_order(&self) -> FreeOrder {
        FreeOrder::InTurn
    }
    /// Checks the values.
    fn check(&self) -> Result<(), KeyError>;
}

/// Writes the registry: of each row its table in the configuration, its source, its place in the run-time enum and its
/// page.
macro_rules! tasks {
    ($hash:tt $dispatch:tt $( $name:literal => $module:ident : $variant:ident ),+ $(,)?) => {
        /// `[tasks]`: a table for each task that is on, and the delays of firmware.
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

            /// The tasks that are on: their names and sources.
            pub fn on(&self) -> impl Iterator<Item = (&'static str, Source)> {
                let tasks = [$( self.$module.as_ref().map(|_| ($name, $module::SOURCE)) ),+];
                tasks.into_iter().flatten()
            }

            /// The free block to open next, by the first task with a preference.
            pub fn free_order(&self) -> FreeOrder {
                let orders = [$( self.$module.as_ref().map(Parameters::free_order) ),+];
                orders.into_iter().flatten().find(|&order| order != FreeOrder::InTurn).unwrap_or_default()
            }

            /// The tasks of a drive in this state, each with its source.
            pub fn build(&self, blocks: &Blocks, seed: u64) -> Vec<(Source, Background)> {
                let mut tasks = Vec::new();
                $( if let Some(p) = &self.$module {
                    tasks.push(($module::SOURCE, Background::$variant($module::Policy::new(p, blocks, seed))));
                } )+
                tasks
            }
        }

        /// A task of a run.
        $hash $dispatch
        #[allow(missing_docs)]
        pub enum Background { $( $variant($module::Policy) ),+ }

        /// The sources of tasks, in the order of the registry.
        const OF_TASKS: &[Source] = &[$( $module::SOURCE ),+];

        /// The registry.
        pub const AXIS: Axis = Axis {
            name: "tasks",
            question: "what else uses the flash?",
            choices: &[
                $( Choice::new($name, $module::PAGE), )+
                Choice::new("delays", include_str!("../delays.rs")),
            ],
        };
    };
}

tasks! {
    #[enum_dispatch(BackgroundTask)]
    "scrub" => scrub: Scrub,
    "wear" => wear: Wear,
    "plugin" => plugin: Plugin,
}

/// The number of sources that only background tasks add.
const ADDED: usize = {
    let (mut at, mut added) = (0, 0);
    while at < OF_TASKS.len() {
        if OF_TASKS[at].at() >= Source::BUILT_IN.len() {
            assert!(
                OF_TASKS[at].at() == Source::BUILT_IN.len() + added,
                "a new task's source has the next free number"
            );
            added += 1;
        }
        at += 1;
    }
    added
};

/// All sources, in the order of their numbers.
pub const SOURCES: &[Source; Source::BUILT_IN.len() + ADDED] = {
    const ALL: [Source; Source::BUILT_IN.len() + ADDED] = {
        let mut all = [Source::HOST; Source::BUILT_IN.len() + ADDED];
        let mut at = 0;
        while at < Source::BUILT_IN.len() {
            all[at] = Source::BUILT_IN[at];
            at += 1;
        }
        let mut at = 0;
        while at < OF_TASKS.len() {
            all[OF_TASKS[at].at()] = OF_TASKS[at];
            at += 1;
        }
        all
    };
    &ALL
};

impl TasksConfig {
    /// Whether no task is on.
    pub fn is_empty(&self) -> bool {
        self.on().next().is_none()
    }
}
