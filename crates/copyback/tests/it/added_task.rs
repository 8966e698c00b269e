//! Does the background task of docs/policies.md work, although no file of the simulator names it?

use crate::common::{config, pages, unchecked};
use copyback::flash::command::FlashOp;
use copyback::ftl::blocks::{BlockState, Blocks};
use copyback::observe::commands::{CommandFilter, CommandRecord};
use copyback::observe::report::Outcome;
use copyback::run::policies::{Policies, PolicyMaker};
use copyback::run::preconditioning::preconditioned;
use copyback::run::{Options, RunError, precondition, simulate};
use copyback::sim::index::BlockId;
use copyback::tasks::background::BackgroundTask;
use copyback::workload::{Op, Request};
use std::sync::Arc;

#[path = "../../../../docs/examples/refresh.rs"]
pub mod refresh;

/// A full drive of two dies that only reads, a page each millisecond for 100 ms.
fn run(preemption: &str, maker: &PolicyMaker) -> Result<Outcome, RunError> {
    run_from(0, &drive(preemption), maker)
}

/// The same with other tables of the drive. The first read comes at `start_ns`.
fn run_from(start_ns: u64, tables: &str, maker: &PolicyMaker) -> Result<Outcome, RunError> {
    let mut policies = Policies::default();
    let name = policies.add("refresh", maker);
    let mut config = unchecked(&format!("{tables}\ntasks = {{ plugin = {{ name = \"{name}\" }} }}"));
    policies.supply(&mut config);
    config.check().expect("a possible configuration");
    let requests: Vec<_> = (0..=100).map(|at| pages(Op::Read, start_ns + at * 1_000_000, at % 50, 1)).collect();
    let options = Options { check: true, keep_commands: Some(CommandFilter::default()), ..Options::default() };
    simulate(&config, precondition(&config, 1)?, Box::new(requests.into_iter()), &options, &mut |_| {})
}

fn drive(preemption: &str) -> String {
    format!(
        "precondition = {{ mode = \"sequential\" }}
         preemption = {{ policy = \"{preemption}\" }}
         timing = {{ program = \"100 us\", erase = \"1 ms\", channel = \"400 MB/s\" }}
         geometry = {{ channels = 2, planes_per_die = 1 }}"
    )
}

/// Ages at the beginning are spread over the limit, so that each full block reaches it once within that time, and so
/// does each open block, once it is full; no rewritten block does. With a limit of a hundred times the run, about a
/// hundredth of the blocks reach it.
#[test]
fn each_block_is_rewritten_once_within_the_limit() {
    for preemption in ["none", "always"] {
        let ftl = preconditioned(&config(&drive(preemption)), 1).expect("a preconditioning");
        let full = ftl.blocks().iter().filter(|block| block.state == BlockState::Closed).count() as u64;
        let limit = |limit_ns| run(preemption, &refresh::maker(limit_ns)).expect("it ends well");
        let outcome = limit(100_000_000);
        let relocated = outcome.report.flash.blocks_relocated;
        assert!((full - 2..=full + 2).contains(&relocated), "{relocated} of {full} blocks under `{preemption}`");
        let parts = outcome.commands.iter().flat_map(|command| &command.parts);
        let mut names: Vec<_> = parts.map(|part| part.source.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, ["host", "task"]);
        let relocated = limit(10_000_000_000).report.flash.blocks_relocated;
        assert!(relocated <= 2, "{relocated} blocks under `{preemption}`");
    }
}

/// Each policy of admission knows the account of the task, whose source is none of the built-in ones: the share of
/// scrubbing limits it.
#[test]
fn a_task_works_under_each_admission() {
    let relocated = |admit: &str| {
        let tables = format!("{}\nadmit = {{ {admit} }}", drive("always"));
        let outcome = run_from(0, &tables, &refresh::maker(20_000_000)).expect("it ends well");
        outcome.report.flash.blocks_relocated
    };
    for admit in [
        "policy = \"window\"",
        "policy = \"vanilla\"",
        "policy = \"strict\"",
        "policy = \"qosfc\"",
        "policy = \"debit\", shares = { policy = \"feedback\" }",
    ] {
        let relocated = relocated(admit);
        assert!(relocated > 10, "{relocated} under {admit}");
    }
    let of_share =
        |share: u32| relocated(&format!("policy = \"debit\", shares = {{ policy = \"fixed\", scrub = {share} }}"));
    let (small, large) = (of_share(1), of_share(90));
    assert!(small < large, "a share of 1 %: {small} blocks; of 90 %: {large}");
}

/// Alarms of the time before the first request come, too: each full block becomes due in the first 400 ms, and is
/// relocated once. So is each open block, if relocations fill it.
#[test]
fn alarms_before_the_first_request_come() {
    let tables = drive("none");
    let ftl = preconditioned(&config(&tables), 1).expect("a preconditioning");
    let full = ftl.blocks().iter().filter(|block| block.state == BlockState::Closed).count();
    let outcome = run_from(500_000_000, &tables, &refresh::maker(400_000_000)).expect("it ends well");
    let erases = outcome.commands.iter().filter(|c| c.op == FlashOp::Erase && c.parts[0].source.name() == "task");
    let early = erases.filter(|c| c.issued_ns <= 400_000_000 + 10_000_000).count();
    assert!((full..=full + 2).contains(&early), "{early} of {full} blocks");
}

/// One die of two planes, empty: the host's even units are on one plane, odd units on the other.
fn run_empty(script: Vec<Request>, maker: &PolicyMaker) -> Vec<CommandRecord> {
    let mut policies = Policies::default();
    let name = policies.add("task", maker);
    let mut config = unchecked(&format!("tasks = {{ plugin = {{ name = \"{name}\" }} }}"));
    policies.supply(&mut config);
    let options = Options { check: true, keep_commands: Some(CommandFilter::default()), ..Options::default() };
    let image = precondition(&config, 1).expect("an empty drive");
    let ran = simulate(&config, image, Box::new(script.into_iter()), &options, &mut |_| {}).expect("it ends well");
    ran.commands
}

/// A write each 10 ms from 10 ms on, to the plane of the even units.
fn writes(count: u64) -> impl Iterator<Item = Request> {
    (1..=count).map(|at| pages(Op::Write, at * 10_000_000, 2 * (at - 1), 1))
}

fn first_of_task_ns(commands: &[CommandRecord]) -> Option<u64> {
    commands.iter().find(|command| command.parts[0].source.name() == "task").map(|command| command.issued_ns)
}

/// The block of the page at 0 stays open, and is due at 500 ms. The block that is full at 80 ms was begun at 10 ms: it
/// is relocated at 510 ms, although no request comes then, and an older block is due and cannot be relocated.
#[test]
fn an_open_block_that_is_due_delays_no_full_block() {
    let older = pages(Op::Write, 0, 1, 1);
    let script = [older].into_iter().chain(writes(9)).chain([pages(Op::Read, 2_000_000_000, 0, 1)]).collect();
    assert_eq!(first_of_task_ns(&run_empty(script, &refresh::maker(500_000_000))), Some(510_000_000));
}

/// A task that is due when the run begins need not wait for the first command, which comes at 500 ms.
#[test]
fn a_task_that_is_due_at_the_beginning_begins_then() {
    let maker = PolicyMaker::Task(Arc::new(|_, _| Box::new(AfterPrograms(0))));
    let outcome = run_from(500_000_000, &drive("none"), &maker).expect("it ends well");
    assert_eq!(first_of_task_ns(&outcome.commands), Some(0));
}

/// Due once, after a number of programs, until an erase.
struct AfterPrograms(u32);

impl BackgroundTask for AfterPrograms {
    fn on_program(&mut self, _: BlockId, _: u32, _: u64) {
        self.0 = self.0.saturating_sub(1);
    }

    fn on_erase(&mut self, _: BlockId, _: u64) {
        self.0 = u32::MAX;
    }

    fn is_due(&self, _: u64) -> bool {
        self.0 == 0
    }

    fn pick(&self, blocks: &Blocks, _: u64) -> Option<BlockId> {
        let full = blocks.iter().position(|block| block.state == BlockState::Closed);
        full.map(|block| BlockId(block as u32))
    }
}

/// A block is full after eight programs. The task is due from the ninth on, at 90 ms, and begins when that has ended:
/// after 100 ns of cycles, 40,960 ns of data and 500,000 ns in the array.
#[test]
fn a_task_that_a_program_makes_due_begins_after_it() {
    let maker = PolicyMaker::Task(Arc::new(|_, _| Box::new(AfterPrograms(9))));
    assert_eq!(first_of_task_ns(&run_empty(writes(12).collect(), &maker)), Some(90_541_060));
}

/// Always due, and names the first full block. The field is the time of its alarm.
struct Endless(Option<u64>);

impl BackgroundTask for Endless {
    fn alarm_ns(&self, _: u64) -> Option<u64> {
        self.0
    }

    fn is_due(&self, _: u64) -> bool {
        true
    }

    fn pick(&self, blocks: &Blocks, _: u64) -> Option<BlockId> {
        let full = blocks.iter().position(|block| block.state == BlockState::Closed);
        full.map(|block| BlockId(block as u32))
    }
}

/// Collections and tasks precede the host, but a task that is always due does not keep it out.
#[test]
fn a_task_that_is_always_due_lets_the_host_go_on() {
    let maker = PolicyMaker::Task(Arc::new(|_, _| Box::new(Endless(None))));
    for first in ["gc-read-write", "read-gc-write"] {
        let tables = format!("{}\norder = {{ policy = \"priority\", first = \"{first}\" }}", drive("none"));
        let outcome = run_from(0, &tables, &maker).expect("it ends well");
        assert_eq!(outcome.report.response.read.count, 101, "{first}");
        assert!(outcome.report.flash.blocks_relocated > 10, "{first}");
    }
}

#[test]
fn an_alarm_beyond_the_longest_run_is_refused() {
    let maker = PolicyMaker::Task(Arc::new(|_, _| Box::new(Endless(Some(u64::MAX)))));
    let error = run("none", &maker).expect_err("it does not run").to_string();
    assert!(error.starts_with("`tasks` plugin `refresh` set an alarm at 18446744073709551615 ns"), "{error}");
}

/// Always due, and names one block.
struct Always(u32);

impl BackgroundTask for Always {
    fn is_due(&self, _: u64) -> bool {
        true
    }

    fn pick(&self, _: &Blocks, _: u64) -> Option<BlockId> {
        Some(BlockId(self.0))
    }
}

#[test]
fn a_wrong_block_is_named() {
    for (block, what) in [(99, "picked block 99, and the drive has 32"), (15, "picked block 15, which is erased")] {
        let maker = PolicyMaker::Task(Arc::new(move |_, _| Box::new(Always(block))));
        let error = run("none", &maker).expect_err("it does not run").to_string();
        assert_eq!(error, format!("`tasks` plugin `refresh` {what}"));
    }
}

#[test]
fn a_task_that_is_not_supplied_is_refused() {
    let error = unchecked("tasks = { plugin = { name = \"nobody\" } }").check().expect_err("it is not supplied");
    assert_eq!(error.to_string(), "`tasks.plugin.name`: there is no plugin `nobody`");
}
