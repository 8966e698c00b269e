//! Do all requests that wait for room in a small map cache end, if other requests hold that room?

use crate::common::*;
use copyback::run::config::RunConfig;
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
fn requests_that_wait_for_room_of_each_other_end() {
    (0..60).for_each(ends);
}

// ---- a cache of whole translation pages -----------------------------------------------------------------------------

/// Reads of 4 KiB take 60,240 ns on an idle chip, programs of a page of 16 KiB 540,960 ns. A translation page has the
/// entries of 512 units; those of the first 2,048 units lie on the first chip, as do units 0 and 512.
fn of_pages(cached: u32, more: &str) -> RunConfig {
    config(&format!(
        "timing = {{ read = \"50 us\", program = \"500 us\", erase = \"5 ms\", channel = \"400 MB/s\", command = \"0 ns\" }}
         geometry = {{ channels = 4, planes_per_die = 1, blocks_per_plane = 32, pages_per_block = 16, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }}
         capacity = {{ over_provisioning = 2.0 }}
         compose = {{ policy = \"list\", builders = [] }}
         mapping = {{ policy = \"map-cache\", cache = \"{} KiB\" }}
         {more}",
        4 * cached
    ))
}

/// If small writes also fill pages, a write-back that a read waits for is sent at once: 661,440 ns as in timeline A5
/// (see the next test, and `ssd::tests::dispatching`). It waits for others, a millisecond, only if the configuration
/// says so.
#[test]
fn a_write_back_that_is_awaited_does_not_wait_for_its_page_to_fill() {
    let response = |more: &str| {
        let fill = format!("frontier = {{ policy = \"single\", fill_limit = \"1 ms\" {more} }}");
        let config = of_pages(1, &format!("{FILLED}\n{fill}"));
        let at = |slot: u64| slot * 1_000_000;
        let script = vec![pages(Op::Read, at(0), 0, 1), pages(Op::Write, at(1), 0, 1), pages(Op::Read, at(4), 512, 1)];
        responses(&run(&config, script))[2]
    };
    assert_eq!(response(""), PAGE_NS + 2 * UNIT_NS);
    assert_eq!(response(", fill_awaited = \"waits\""), 1_000_000 + PAGE_NS + 2 * UNIT_NS);
}

const FILLED: &str = "precondition = { mode = \"sequential\" }";
const UNIT_NS: u64 = 60_240;
const PAGE_NS: u64 = 540_960;

/// Timeline A5: reads that alternate between two translation pages read one each, and their data. Changed entries go to
/// flash, padded, before another page is loaded.
#[test]
fn a_cache_of_one_page_costs_its_flash_operations() {
    let at = |slot: u64| slot * 1_000_000;
    let reads = |from: u64| [0, 512, 0, 512].into_iter().zip(from..).map(move |(u, s)| pages(Op::Read, at(s), u, 1));
    let outcome = run(&of_pages(1, FILLED), reads(0).collect());
    assert_eq!(responses(&outcome), [2 * UNIT_NS; 4]);
    let map = outcome.report.map.as_ref().expect("the map is in flash");
    assert_eq!((map.page_reads, map.page_programs, map.hits), (4, 0, 0));

    let mut script = vec![pages(Op::Read, at(0), 0, 1), pages(Op::Write, at(1), 0, 1)];
    script.extend(reads(3).skip(1).take(1));
    let outcome = run(&of_pages(1, FILLED), script);
    assert_eq!(responses(&outcome), [2 * UNIT_NS, PAGE_NS, PAGE_NS + 2 * UNIT_NS]);
    let (map, padding) =
        (outcome.report.map.as_ref().expect("the map is in flash"), outcome.report.flash.padding_units);
    assert_eq!((map.page_reads, map.write_backs, map.page_programs, padding), (2, 1, 1, 3 + 3));
}

/// The rest of timeline A5: a request that waits for its translation page delays no request whose page is in DRAM, on
/// idle chips.
#[test]
fn hits_pass_misses() {
    let script = vec![pages(Op::Read, 0, 13, 1), pages(Op::Read, 1_000_000, 516, 1), pages(Op::Read, 1_000_000, 13, 1)];
    let outcome = run(&of_pages(2, FILLED), script);
    assert_eq!(responses(&outcome), [2 * UNIT_NS, 2 * UNIT_NS, UNIT_NS]);
}

/// Moved data changes the map, which costs flash operations. After a collection of data whose entries are not cached,
/// translation pages are read and programmed: at most one for every two freed pages. These are requests of the
/// collection if the map is no separate task.
#[test]
fn collections_as_tasks_pay_for_the_map() {
    let mut stream = rng::stream(2, "test.map-cache");
    let mut unit = || stream.random_range(0..2_048);
    let asked: Vec<_> = (0..1_500).map(|_| pages(Op::Write, 0, unit(), 1)).collect();
    let drive = |admit: &str| {
        let tables = format!(
            "preemption = {{ policy = \"always\" }}
             allocation = {{ policy = \"dynamic\" }}
             order = {{ policy = \"fifo\" }}
             trigger = {{ policy = \"watermark\", scope = \"device\", soft = 24 }}
             host = {{ mode = \"closed\", queue_depth = 16 }}
             precondition = {{ mode = \"random\", overwrites = 1.0 }}
             admit = {{ policy = \"debit\", {admit} }}"
        );
        of_pages(1, &tables)
    };
    for admit in
        ["shares = { policy = \"fixed\", gc = 20 }", "shares = { policy = \"fixed\", gc = 0 }", "map = \"own\""]
    {
        let outcome = run(&drive(admit), asked.clone());
        let (map, gc) = (outcome.report.map.as_ref().expect("the map is in flash"), &outcome.report.gc);
        assert!(gc.collections > 10 && map.updates > gc.collections, "{admit}: {} of {}", map.updates, gc.collections);
        assert_eq!(map.page_programs, map.write_backs + map.updates, "{admit}");
        assert_eq!(outcome.requests.len(), 1_500, "{admit}");
    }
}

/// A read that needs a translation page which a collection is about to update does not wait for the rest of that
/// collection, even with a small share: from then on the update is the host's. The slowest read waits for a few
/// commands of its own chip, and not for the hundreds in the collection's queue. This also holds if the update shares a
/// page that is on its way.
#[test]
fn the_host_takes_over_updates_that_it_waits_for() {
    let tables = "preemption = { policy = \"always\", victims = 2 }
         allocation = { policy = \"dynamic\" }
         order = { policy = \"fifo\" }
         trigger = { policy = \"watermark\", scope = \"device\", soft = 8 }
         precondition = { mode = \"random\", overwrites = 1.0 }";
    let longest_ns = |fill: &str, map: &str| {
        let admit =
            format!("admit = {{ policy = \"debit\", map = \"{map}\", shares = {{ policy = \"fixed\", gc = 1 }} }}");
        let mut config = of_pages(2, &format!("{tables}\n{admit}\n{fill}"));
        (config.geometry.pages_per_block, config.geometry.blocks_per_plane) = (128, 8);
        let mut stream = rng::stream(3, "test.map-cache");
        let mut unit = || stream.random_range(0..2_700);
        let script = (0..3_000).map(|at| {
            let op = if at % 2 == 0 { Op::Read } else { Op::Write };
            pages(op, at * 2_000_000, unit(), 1)
        });
        let report = run(&config, script.collect()).report;
        assert!(report.map.expect("the map is in flash").updates > 20);
        report.response.read.max_ns
    };
    for fill in ["", "frontier = { policy = \"single\", fill_limit = \"100 us\" }"] {
        let (own, cause) = (longest_ns(fill, "own"), longest_ns(fill, "cause"));
        assert!(2 * cause < 3 * own, "{fill}: {cause} ns where updates are the collection's, {own} where the map's");
    }
}
