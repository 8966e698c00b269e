//! Does ttFlash collect one plane of a parity group at a time, and do reads never wait for that?

use crate::common::*;
use copyback::flash::geometry::Geometry;
use copyback::observe::report::{GcEvent, Outcome};
use copyback::run::config::RunConfig;
use copyback::workload::rng;
use copyback::workload::units::Bytes;
use copyback::workload::{Op, Request};
use rand::RngExt;

const CHANNELS: u32 = 4;
const PLANES_PER_CHANNEL: u32 = 4;

/// Four channels of two dies of two planes; a page is a mapping unit.
fn drive(redundancy: &str) -> RunConfig {
    config(&format!(
        "redundancy = {{ {redundancy} }}
         preemption = {{ policy = \"always\", victims = 16 }}
         admit = {{ policy = \"strict\" }}
         allocation = {{ policy = \"static\" }}
         granularity = {{ policy = \"block\", copyback = true }}
         order = {{ policy = \"fifo\" }}
         compose = {{ policy = \"list\", builders = [] }}
         frontier = {{ policy = \"single\", fill_limit = \"1 ms\" }}
         trigger = {{ policy = \"watermark\", soft = 3 }}
         precondition = {{ mode = \"random\", overwrites = 2.0 }}
         geometry = {{ channels = {CHANNELS}, chips_per_channel = 2, planes_per_die = 2, blocks_per_plane = 16, pages_per_block = 16 }}
         capacity = {{ over_provisioning = 1.2 }}"
    ))
}

/// Random reads and writes of single pages, `apart_ns` apart.
fn random(config: &RunConfig, count: u64, apart_ns: u64) -> Vec<Request> {
    let units = u64::from(Geometry::new(&config.device()).logical_units);
    let mut stream = rng::stream(1, "test.ttflash");
    let request = |at| {
        let op = if stream.random_bool(0.5) { Op::Read } else { Op::Write };
        pages(op, at * apart_ns, stream.random_range(0..units), 1)
    };
    (0..count).map(request).collect()
}

fn place(plane: u32) -> u32 {
    plane % PLANES_PER_CHANNEL
}

#[test]
fn one_plane_of_a_group_collects_at_a_time() {
    let run_with = |redundancy: &str| {
        let config = drive(redundancy);
        run(&config, random(&config, 20_000, 300_000))
    };
    let (by_die, by_plane) = (run_with("policy = \"ttflash\""), run_with("policy = \"ttflash\", group = \"plane\""));
    let free = run_with("policy = \"rain\"");
    for outcome in [&by_die, &by_plane, &free] {
        assert!(outcome.gc_events.len() > 300, "{} collections", outcome.gc_events.len());
    }
    let of_die = |plane: u32| place(plane) / 2;
    assert!(pairs(&by_die).iter().all(|(a, b)| of_die(a.plane) != of_die(b.plane)), "two of a group of dies");
    assert!(!pairs(&by_die).is_empty(), "the groups do not wait for each other");
    assert!(pairs(&by_plane).iter().all(|(a, b)| place(a.plane) != place(b.plane)), "two of a group of planes");
    assert!(pairs(&by_plane).iter().any(|(a, b)| of_die(a.plane) == of_die(b.plane)), "as many as groups of planes");
    assert!(pairs(&free).iter().any(|(a, b)| place(a.plane) == place(b.plane)), "rain has no turns");
}

/// A read whose plane collects is always rebuilt: it waits only for a command of a collection that found it there.
/// Requests are far apart here, so that no read waits for a write in its window, or for parity on its way.
#[test]
fn reads_do_not_wait_for_collections() {
    let affected = |redundancy: &str| {
        let config = drive(redundancy);
        let outcome = run(&config, random(&config, 20_000, 2_000_000));
        let parity = outcome.report.parity.expect("there is parity");
        (outcome.report.response.gc_affected_read.count, parity)
    };
    let (waited, parity) = affected("policy = \"ttflash\"");
    assert_eq!((waited, parity.not_rebuilt), (0, 0), "{parity:?}");
    assert!(parity.rebuilt > 300, "{parity:?}");
    let (waited, parity) = affected("policy = \"rain\", rebuild = \"never\"");
    assert!(waited > 300 && parity.rebuilt == 0, "{waited} reads, {parity:?}");
}

/// A copyback does not use the channel: alone, a collection takes a read and a program for each page, and an erase.
#[test]
fn moves_stay_off_the_channel() {
    let config = drive("policy = \"ttflash\"");
    let outcome = run(&config, random(&config, 2_000, 50_000_000));
    let alone_ns =
        |event: &GcEvent| u64::from(event.units_valid) * (COMMAND_NS + READ_NS + PROGRAM_NS) + COMMAND_NS + ERASE_NS;
    let times: Vec<_> =
        outcome.gc_events.iter().map(|event| (event.end_ns - event.start_ns, alone_ns(event))).collect();
    assert!(times.len() > 30, "{} collections", times.len());
    assert!(times.iter().all(|(took_ns, alone_ns)| took_ns >= alone_ns), "{times:?}");
    let alone = times.iter().filter(|(took_ns, alone_ns)| took_ns == alone_ns).count();
    // The write that starts a collection is often on its die.
    assert!(alone > 5, "{alone} of {}", times.len());
}

/// If a page has several units, pages with only valid units are copied back, and the units of others are gathered.
#[test]
fn pages_of_several_units_go_both_ways() {
    let mut config = drive("policy = \"ttflash\"");
    config.geometry.mapping_unit = Some(Bytes(1024));
    let units = u64::from(Geometry::new(&config.device()).logical_units);
    let mut stream = rng::stream(1, "test.ttflash");
    let request =
        |at: u64| Request { len_bytes: 1024, ..pages(Op::Write, at * 300_000, stream.random_range(0..units / 4), 1) };
    let outcome = run(&config, (0..20_000).map(request).collect());
    let flash = &outcome.report.flash;
    assert!(outcome.report.gc.collections > 50, "{} collections", outcome.report.gc.collections);
    assert!(flash.copybacks > 0 && flash.copybacks < flash.gc_page_programs, "{flash:?}");
}

/// gc-par with parity (hpdc18 Section 4.4): requests join commands of collections that reserve their dies, reads that
/// find such a die are rebuilt, and with ttflash one die of a group collects at a time.
#[test]
fn collections_that_share_their_commands_take_turns_and_reads_are_rebuilt() {
    let run_with = |redundancy: &str, scheme: &str| {
        let mut config = drive(redundancy);
        let shared = unchecked(scheme);
        (config.preemption, config.granularity, config.compose) =
            (shared.preemption, shared.granularity, shared.compose);
        (config.frontier, config.order, config.admit) = (shared.frontier, shared.order, shared.admit);
        run(&config, random(&config, 20_000, 400_000))
    };
    let par = r#"
        preemption = { policy = "none" }
        order = { policy = "priority" }
        compose = { policy = "list", gc = ["gc+host"] }
        frontier = { policy = "second-active", fill_limit = "1 ms" }
    "#;
    let of_die = |plane: u32| place(plane) / 2;
    let ttflash = run_with("policy = \"ttflash\"", par);
    assert!(ttflash.gc_events.len() > 300, "{} collections", ttflash.gc_events.len());
    assert!(pairs(&ttflash).iter().all(|(a, b)| of_die(a.plane) != of_die(b.plane)), "two of a group of dies");
    assert!(!pairs(&ttflash).is_empty(), "the groups do not wait for each other");
    let rain = run_with("policy = \"rain\"", par);
    assert!(pairs(&rain).iter().any(|(a, b)| of_die(a.plane) == of_die(b.plane)), "rain has no turns");
    for outcome in [&ttflash, &rain] {
        let parity = outcome.report.parity.as_ref().expect("there is parity");
        assert!(parity.rebuilt > 300, "{parity:?}");
        assert!(outcome.report.flash.programs_paired_with_gc > 300, "{:?}", outcome.report.flash);
    }
    let read = |outcome: &Outcome| outcome.report.response.read.mean_ns;
    let waits = run_with("policy = \"rain\", rebuild = \"never\"", par);
    assert!(read(&ttflash) < read(&waits) && read(&rain) < read(&waits), "{} ns", read(&waits));
}
