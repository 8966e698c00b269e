//! Do all requests end that wait for room in a small map cache, which others hold?

mod common;

use common::*;
use copyback::workload::rng;
use copyback::workload::units::Bytes;
use copyback::workload::{Op, Request};
use rand::RngExt;

/// Entries of one to three requests fit; each transaction needs up to sixteen, and many are under way.
fn ends(seed: u64) {
    let mut stream = rng::stream(seed, "test.map-cache");
    let (cache, depth) = (stream.random_range(16..26) * 8, stream.random_range(2..14));
    let mut config = config(&format!(
        "host = {{ mode = \"closed\", queue_depth = {depth} }}
         mapping = {{ policy = \"dftl\", cache = \"{cache} B\" }}
         capacity = {{ over_provisioning = 1.5 }}
         geometry = {{ dies_per_chip = 2, planes_per_die = 2, blocks_per_plane = 12, pages_per_block = 4, page_size = \"16 KiB\", mapping_unit = \"1 KiB\" }}"
    ));
    config.geometry.mapping_unit = Some(Bytes(1024));
    let units = 1_000;
    let script = (0..800).map(|_| {
        let len = stream.random_range(1..25);
        let op = [Op::Write, Op::Write, Op::Read][stream.random_range(0..3)];
        let reach: u64 = if stream.random_range(0..2) == 0 { 160 } else { units };
        let first = stream.random_range(0..reach - len);
        Request { offset_bytes: first * 1024, len_bytes: len * 1024, ..pages(op, 0, 0, 1) }
    });
    let outcome = run(&config, script.collect());
    assert_eq!(outcome.requests.len(), 800, "seed {seed}");
}

#[test]
fn requests_that_hold_room_for_each_other_end() {
    (0..60).for_each(ends);
}
