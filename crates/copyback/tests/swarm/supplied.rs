//! A background task that a calling program supplies: the example of docs/policies.md, drawn as other settings are.

use copyback::ftl::blocks::Blocks;
use copyback::run::config::RunConfig;
use copyback::run::policies::{Policies, PolicyMaker};
use copyback::sim::index::BlockId;
use copyback::tasks::background::{BackgroundTask, TaskLevel};
use std::sync::{Arc, OnceLock};

#[path = "../../../../docs/examples/refresh.rs"]
mod refresh;

/// The names of tasks in `KNOBS`, and the age at which each rewrites a block.
const TASKS: [(&str, u64); 2] = [("refresh-2ms", 2_000_000), ("refresh-50ms", 50_000_000)];

/// Erases of a drive after which the task stops. Some hosts are idle for minutes, and the task would then rewrite the
/// drive thousands of times.
const ERASES_MAX: u32 = 500;

/// The configuration with the task that it names.
pub fn supplied(mut config: RunConfig) -> RunConfig {
    supply(&mut config);
    config
}

/// Adds the task that a configuration names.
pub fn supply(config: &mut RunConfig) {
    static POLICIES: OnceLock<Policies> = OnceLock::new();
    let policies = POLICIES.get_or_init(|| {
        let mut policies = Policies::default();
        for (name, limit_ns) in TASKS {
            assert_eq!(policies.add(name, &maker(limit_ns)), name);
        }
        policies
    });
    policies.supply(config);
}

fn maker(limit_ns: u64) -> PolicyMaker {
    let PolicyMaker::Task(make) = refresh::maker(limit_ns) else { unreachable!("the example is a task") };
    PolicyMaker::Task(Arc::new(move |blocks, seed| Box::new(Limited { task: make(blocks, seed), erases: 0 })))
}

/// A task that stops after `ERASES_MAX` erases.
struct Limited {
    task: Box<dyn BackgroundTask + Send>,
    erases: u32,
}

impl Limited {
    fn is_over(&self) -> bool {
        self.erases >= ERASES_MAX
    }
}

impl BackgroundTask for Limited {
    fn on_read(&mut self, block: BlockId, now_ns: u64) {
        self.task.on_read(block, now_ns);
    }

    fn on_program(&mut self, block: BlockId, page_offset: u32, now_ns: u64) {
        self.task.on_program(block, page_offset, now_ns);
    }

    fn on_erase(&mut self, block: BlockId, now_ns: u64) {
        self.erases += 1;
        self.task.on_erase(block, now_ns);
    }

    fn on_alarm(&mut self, now_ns: u64) {
        self.task.on_alarm(now_ns);
    }

    fn alarm_ns(&self, now_ns: u64) -> Option<u64> {
        self.task.alarm_ns(now_ns).filter(|_| !self.is_over())
    }

    fn is_due(&self, now_ns: u64) -> bool {
        !self.is_over() && self.task.is_due(now_ns)
    }

    fn pick(&self, blocks: &Blocks, now_ns: u64) -> Option<BlockId> {
        self.task.pick(blocks, now_ns)
    }

    fn level(&self) -> TaskLevel {
        self.task.level()
    }
}
