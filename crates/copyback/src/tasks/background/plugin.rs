//! A background task of a program that calls Copyback: a class of Python, for example.
//!
//! The program is notified as every background task is. It names full blocks, which the engine relocates; another
//! answer ends the run. Each drive has its own task, and one at most. Its commands have the source `task` and the
//! lowest priority; results count its blocks and its time as scrubbing. Between two relocations that reserve the die,
//! waiting requests of the host have one turn. Under `admit.shares.policy = "feedback"` the task has one slot, unless
//! scrubbing has more.
//!
//! Source: none of its own; docs/python.md shows how a task is written and supplied.
//!
//! Parameters:
//! - `name`: the task's name, as the caller supplied it.

use super::{BackgroundTask, Parameters, TaskLevel};
use crate::config::KeyError;
use crate::config::plugins::{Supplied, fail};
use crate::flash::source::{Account, Source, SourceData};
use crate::ftl::blocks::{BlockState, Blocks};
use crate::sim::index::BlockId;
use copyback_workload::ARRIVAL_MAX_NS;
use serde::{Deserialize, Serialize};

/// The page above.
pub const PAGE: &str = include_str!("plugin.rs");

/// The source of its commands.
pub const SOURCE: Source = Source::new(&ROW);
static ROW: SourceData = SourceData { number: 6, name: "task", account: Account::Scrub, priority: 6 };

/// Makes the task of a drive whose blocks are in this state, in a run of this seed.
pub type Make = dyn Fn(&Blocks, u64) -> Box<dyn BackgroundTask + Send> + Send + Sync;

/// See the page above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The task, by its name.
    pub name: Supplied<Make>,
}

impl Parameters for Params {
    fn check(&self) -> Result<(), KeyError> {
        self.name.check("tasks.plugin")
    }
}

/// The task of a run.
pub struct Policy {
    name: String,
    task: Box<dyn BackgroundTask + Send>,
}

impl Policy {
    /// The task of a drive in this state.
    pub fn new(params: &Params, blocks: &Blocks, seed: u64) -> Self {
        Self { name: params.name.name().to_owned(), task: params.name.maker()(blocks, seed) }
    }

    /// The mistake of an answer, if any.
    fn refusal(blocks: &Blocks, picked: BlockId) -> Option<String> {
        let count = blocks.iter().count();
        if picked.at() >= count {
            return Some(format!("picked block {}, and the drive has {count}", picked.0));
        }
        let state = match blocks[picked].state {
            BlockState::Closed => return None,
            BlockState::Free => "erased",
            BlockState::Open => "open, and not full",
            BlockState::Victim => "being collected",
        };
        Some(format!("picked block {}, which is {state}", picked.0))
    }
}

impl BackgroundTask for Policy {
    fn on_read(&mut self, block: BlockId, now_ns: u64) {
        self.task.on_read(block, now_ns);
    }

    fn on_program(&mut self, block: BlockId, page_offset: u32, now_ns: u64) {
        self.task.on_program(block, page_offset, now_ns);
    }

    fn on_erase(&mut self, block: BlockId, now_ns: u64) {
        self.task.on_erase(block, now_ns);
    }

    fn on_alarm(&mut self, now_ns: u64) {
        self.task.on_alarm(now_ns);
    }

    fn alarm_ns(&self, now_ns: u64) -> Option<u64> {
        let alarm_ns = self.task.alarm_ns(now_ns)?;
        if alarm_ns > ARRIVAL_MAX_NS {
            let why = format!("set an alarm at {alarm_ns} ns, and a run lasts at most {ARRIVAL_MAX_NS} ns");
            fail("tasks", &self.name, why, Some("set no alarm (None) if the task waits for nothing"));
        }
        Some(alarm_ns)
    }

    fn gives_host_a_turn(&self) -> bool {
        true
    }

    fn is_due(&self, now_ns: u64) -> bool {
        self.task.is_due(now_ns)
    }

    fn pick(&self, blocks: &Blocks, now_ns: u64) -> Option<BlockId> {
        let picked = self.task.pick(blocks, now_ns)?;
        if let Some(why) = Self::refusal(blocks, picked) {
            fail("tasks", &self.name, why, Some("name a full block, or none"));
        }
        Some(picked)
    }

    fn level(&self) -> TaskLevel {
        self.task.level()
    }
}
