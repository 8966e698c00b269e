//! What several test files need: small drives, scripted hosts.
#![allow(dead_code)]

use copyback::observe::report::{Cause, GcEvent, Outcome, RequestRecord};
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::{Op, Priority, Request, RequestSource};

/// A drive with easily distinguished times: read 50 µs, program 500 µs, erase 3 ms, 10 ns a byte (4 KiB: 40,960 ns),
/// 100 ns of command cycles a plane. One die of two planes, each of 16 blocks of 8 pages of 4 KiB. `tables`: tables in
/// TOML. `geometry` and `timing` change the keys that they name; other tables replace the one of their name.
pub fn config(tables: &str) -> RunConfig {
    let config = unchecked(tables);
    config.check().expect("the test's configuration is possible");
    config
}

/// The same, possible or not.
pub fn unchecked(tables: &str) -> RunConfig {
    let base: toml::Table = toml::from_str(
        r#"
        precondition = { mode = "empty" }
        trigger = { policy = "watermark", soft = 2 }
        capacity = { over_provisioning = 0.6 }
        timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s", command = "100 ns" }
        [geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 2
        blocks_per_plane = 16
        pages_per_block = 8
        page_size = "4 KiB"
        "#,
    )
    .expect("the base parses");
    let changes: toml::Table = toml::from_str(tables).expect("the test's tables parse");
    let mut merged = base;
    for (name, table) in changes {
        match (merged.get_mut(&name), table) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) if name == "geometry" || name == "timing" => {
                old.extend(new);
            }
            (_, table) => {
                merged.insert(name, table);
            }
        }
    }
    merged.try_into().expect("the test's configuration is complete")
}

pub const READ_NS: u64 = 50_000;
pub const PROGRAM_NS: u64 = 500_000;
pub const ERASE_NS: u64 = 3_000_000;
pub const TRANSFER_NS: u64 = 40_960;
pub const COMMAND_NS: u64 = 100;

/// One request of whole 4 KiB pages.
pub fn pages(op: Op, arrival_ns: u64, first: u64, count: u64) -> Request {
    let (offset_bytes, len_bytes) = (first * 4096, count * 4096);
    Request { arrival_ns, offset_bytes, len_bytes, device: 0, op, priority: Priority::Normal }
}

/// Runs a script with all checks; the result has the requests in the order of their arrival.
pub fn run(config: &RunConfig, script: Vec<Request>) -> Outcome {
    run_source(config, Box::new(script.into_iter()))
}

/// Runs any source with everything checked.
pub fn run_source(config: &RunConfig, source: Box<dyn RequestSource + Send>) -> Outcome {
    let image = precondition(config, 1).expect("preconditioning works");
    let options = Options { check: true, keep_requests: true, keep_gc_events: true, ..Options::default() };
    let mut outcome = simulate(config, image, source, &options, &mut |_| {}).expect("the run ends well");
    outcome.requests.sort_by_key(|r| r.index);
    outcome
}

/// Response times in the order of arrival.
pub fn responses(outcome: &Outcome) -> Vec<u64> {
    outcome.requests.iter().map(|r| r.response_ns).collect()
}

/// A request's latency breakdown without its zeros.
pub fn breakdown(record: &RequestRecord) -> Vec<(&'static str, u64)> {
    let parts =
        copyback::observe::report::ALL_CAUSES.iter().map(|&c: &Cause| (c.name(), record.breakdown_ns[c as usize]));
    parts.filter(|&(_, ns)| ns > 0).collect()
}

/// Collections that were under way at the same time.
pub fn pairs(outcome: &Outcome) -> Vec<(GcEvent, GcEvent)> {
    let events = &outcome.gc_events;
    let behind = |at: usize| events[at + 1..].iter().map(move |later| (events[at], *later));
    let is_pair = |(a, b): &(GcEvent, GcEvent)| a.start_ns < b.end_ns && b.start_ns < a.end_ns;
    (0..events.len()).flat_map(behind).filter(is_pair).collect()
}
