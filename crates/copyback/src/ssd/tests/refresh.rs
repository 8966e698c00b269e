//! Does the task that docs/policies.md adds work, with its file and its row alone?

use crate::ftl::blocks::BlockState;
use crate::observe::commands::CommandFilter;
use crate::run::config::RunConfig;
use crate::run::preconditioning::preconditioned;
use crate::run::simulation::{Setup, Simulation};
use copyback_workload::{Op, Priority, Request};

/// A full drive of two dies that only reads: blocks relocated within 100 ms, blocks that were full at its beginning,
/// and the names of the sources of its commands.
fn run(limit: &str, preemption: &str) -> (u64, u64, Vec<&'static str>) {
    let text = format!(
        r#"
        precondition = {{ mode = "sequential" }}
        capacity = {{ over_provisioning = 0.6 }}
        preemption = {{ policy = "{preemption}" }}
        timing = {{ read = "50 us", program = "100 us", erase = "1 ms", channel = "400 MB/s" }}
        tasks = {{ refresh = {{ limit = "{limit}" }} }}
        geometry = {{ channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 16, pages_per_block = 8, page_size = "4 KiB" }}
        "#
    );
    let config: RunConfig = crate::config::from_toml(&text).expect("a configuration");
    config.check().expect("a possible one");
    let ftl = preconditioned(&config, 1).expect("a preconditioning");
    let full = ftl.blocks().iter().filter(|block| block.state == BlockState::Closed).count() as u64;
    let read = |at: u64| Request {
        arrival_ns: at * 1_000_000,
        offset_bytes: at % 50 * 4096,
        len_bytes: 4096,
        device: 0,
        op: Op::Read,
        priority: Priority::Normal,
    };
    let mut source = (0..=100).map(read).collect::<Vec<_>>().into_iter();
    let host = config.host.clone();
    let setup =
        Setup { host, source: &mut source, requests: None, check: true, keep_gc_events: false, keep_requests: false };
    let mut simulation = Simulation::new(vec![(&config, ftl)], setup);
    simulation.drive_and_events(0).0.keep_commands(0, CommandFilter::default());
    simulation.run(&mut |_| {}).expect("it ends well");
    simulation.check_end();
    let (drive, _) = simulation.drive_and_events(0);
    let commands = drive.take_commands();
    let mut names: Vec<_> = commands.iter().flat_map(|c| &c.parts).map(|part| part.source.name()).collect();
    names.sort_unstable();
    names.dedup();
    (drive.counters().work().blocks_relocated, full, names)
}

/// Ages at the beginning are spread over the limit, so that each full block reaches it once within that time, and so
/// does each open block, once it is full; no rewritten block does. With a limit of a hundred times the run, about a
/// hundredth of the blocks reach it.
#[test]
fn each_block_is_rewritten_once_within_the_limit() {
    for preemption in ["none", "always"] {
        let (relocated, full, names) = run("100 ms", preemption);
        assert!((full - 2..=full + 2).contains(&relocated), "{relocated} of {full} blocks under `{preemption}`");
        assert_eq!(names, ["host", "refresh"]);
        let (relocated, _, names) = run("10 s", preemption);
        assert!(relocated <= 2, "{relocated} blocks under `{preemption}`");
        assert!(names.contains(&"host"));
    }
}
