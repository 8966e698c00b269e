//! Requests reach flash after the delays of firmware.

use crate::common::*;
use copyback::run::config::RunConfig;
use copyback::workload::rng;
use copyback::workload::{Op, Request};
use rand::RngExt;

/// Delays that are all alike: 700 ns for a look-up, 1,500 ns for a request of the host, 2 ms for one of a collection.
/// Four dies with a channel each; reads of 4 KiB take 60,240 ns.
fn delayed(mode: &str, more: &str) -> RunConfig {
    let same = |ns: u64| format!("[\"{ns} ns\", \"{ns} ns\"]");
    let (lookup, host, gc) = (same(700), same(1_500), same(2_000_000));
    config(&format!(
        "timing = {{ channel = \"400 MB/s\", command = \"0 ns\" }}
         geometry = {{ channels = 4, planes_per_die = 1, blocks_per_plane = 32, pages_per_block = 16, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }}
         capacity = {{ over_provisioning = 2.0 }}
         precondition = {{ mode = \"sequential\" }}
         tasks = {{ delays = {{ mode = \"{mode}\", lookup = {lookup}, host = {host}, gc = {gc} }} }}
         {more}"
    ))
}

const UNIT_NS: u64 = 60_240;
const FIRMWARE_NS: u64 = 2_200;

fn at_once(op: Op, units: &[u64]) -> Vec<Request> {
    units.iter().map(|&unit| pages(op, 0, unit, 1)).collect()
}

/// Reads of three dies that arrive at once: their delays overlap, or follow each other.
#[test]
fn a_request_reaches_flash_after_its_delay() {
    let reads = at_once(Op::Read, &[0, 4, 8]);
    let outcome = run(&delayed("pipelined", ""), reads.clone());
    assert_eq!(responses(&outcome), [FIRMWARE_NS + UNIT_NS; 3]);
    let parts = [("flash", 50_000), ("transfer", 10_240), ("scheduler", FIRMWARE_NS)];
    assert_eq!(breakdown(&outcome.requests[1]), parts);
    let outcome = run(&delayed("serial", ""), reads);
    assert_eq!(responses(&outcome), [1, 2, 3].map(|place| place * FIRMWARE_NS + UNIT_NS));
}

/// A miss of the map causes a request of its own, which is processed after the look-up and before the data is read.
#[test]
fn requests_of_the_map_are_delayed_too() {
    let outcome = run(&delayed("pipelined", "mapping = { policy = \"map-cache\" }"), at_once(Op::Read, &[0]));
    assert_eq!(responses(&outcome), [FIRMWARE_NS + 1_500 + 2 * UNIT_NS]);
    assert_eq!(breakdown(&outcome.requests[0])[2], ("map", 1_500 + UNIT_NS));
}

/// A write that ends in DRAM ends there when firmware has processed it.
#[test]
fn a_write_that_fills_a_page_is_delayed_first() {
    let config = delayed("pipelined", "frontier = { policy = \"single\", fill_limit = \"1 ms\" }");
    assert_eq!(responses(&run(&config, at_once(Op::Write, &[3, 70]))), [FIRMWARE_NS; 2]);
}

/// Every read, program and erase of a collection is processed, 2 ms for each: one after the other if the task has one
/// processor.
#[test]
fn each_request_of_a_collection_is_delayed() {
    let mean_ns = |mode: &str| {
        let more = "preemption = { policy = \"always\" }
                    frontier = { policy = \"single\", fill_limit = \"1 ms\" }
                    trigger = { policy = \"watermark\", scope = \"device\", soft = 80 }";
        let config = delayed(mode, more);
        let mut stream = rng::stream(1, "test.delays");
        let mut unit = || stream.random_range(0..2_700);
        let script = (0..8_000).map(|at| pages(Op::Write, at * 200_000, unit(), 1)).collect();
        let report = run(&config, script).report;
        let flash = &report.flash;
        let requests = flash.gc_page_reads + flash.gc_page_programs + flash.block_erases;
        assert!(report.gc.collections > 10, "{} collections", report.gc.collections);
        (report.gc.collection_mean_ns.unwrap(), 2e6 * requests as f64 / report.gc.collections as f64)
    };
    let (side_by_side_ns, _) = mean_ns("pipelined");
    let (serial_ns, delays_ns) = mean_ns("serial");
    assert!(side_by_side_ns > 3.0 * 2e6 && serial_ns > delays_ns, "{side_by_side_ns}, {serial_ns} and {delays_ns} ns");
    assert!(side_by_side_ns < 0.7 * serial_ns, "{side_by_side_ns} and {serial_ns} ns");
}
