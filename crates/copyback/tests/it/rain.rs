//! Parity costs the reads and programs that the planner names, and a drive with parity stays consistent.

use crate::common::*;
use copyback::flash::geometry::Geometry;
use copyback::run::config::RunConfig;
use copyback::run::{Options, image_key, precondition, simulate};
use copyback::workload::rng;
use copyback::workload::{Op, Request};
use rand::RngExt;

/// Four channels of pages of four units, which fill before they are written. A group of stripes is 12 units of data.
fn rain(more: &str) -> RunConfig {
    rain_with(DYNAMIC, more)
}

const DYNAMIC: &str = "{ policy = \"dynamic\" }";

fn rain_with(allocation: &str, more: &str) -> RunConfig {
    config(&format!(
        "redundancy = {{ policy = \"rain\" }}
         preemption = {{ policy = \"always\" }}
         admit = {{ policy = \"strict\" }}
         allocation = {allocation}
         order = {{ policy = \"fifo\" }}
         compose = {{ policy = \"list\", builders = [] }}
         frontier = {{ policy = \"single\", fill_limit = \"1 ms\" }}
         trigger = {{ policy = \"watermark\", scope = \"device\", soft = 6, stop = 8, collections = \"until-stop\" }}
         geometry = {{ channels = 4, chips_per_channel = 2, planes_per_die = 1, blocks_per_plane = 16, pages_per_block = 8, page_size = \"16 KiB\", mapping_unit = \"4 KiB\" }}
         capacity = {{ over_provisioning = 1.4 }}
         {more}"
    ))
}

const FILLED: &str = "precondition = { mode = \"sequential\" }";

/// Reads for parity and units of it, of one write.
fn cost(first: u64, units: u64) -> (u64, u64) {
    let outcome = run(&rain(FILLED), vec![pages(Op::Write, 0, first, units)]);
    let parity = outcome.report.parity.expect("there is parity");
    (parity.reads, parity.units)
}

/// One member of three: old data and old parity are read; two: the third; all: nothing.
#[test]
fn parity_costs_what_the_planner_says() {
    assert_eq!(cost(0, 1), (2, 1), "one unit of one member");
    assert_eq!(cost(0, 4), (2, 4), "a page: four stripes, whose reads are one of each page");
    assert_eq!(cost(0, 8), (1, 4), "two pages");
    assert_eq!(cost(0, 12), (0, 4), "a group");
    assert_eq!(cost(0, 6), (3, 4), "two stripes of two members, two of one");
    assert_eq!(cost(8, 8), (4, 8), "a page of each of two groups");
    assert_eq!(cost(0, 36), (0, 12), "three groups");
}

/// Without data there is nothing to read.
#[test]
fn parity_of_an_empty_drive_costs_no_reads() {
    let outcome = run(&rain("precondition = { mode = \"empty\" }"), vec![pages(Op::Write, 0, 0, 1)]);
    let parity = outcome.report.parity.expect("there is parity");
    assert_eq!((parity.reads, parity.units), (0, 1));
}

/// Random writes, reads and trims, more than the drive holds. Reads return written data, each stripe stays on its
/// channels, and at the end no parity is owed. Reads are rebuilt during collections.
#[test]
fn a_drive_with_parity_stays_consistent() {
    let static_order = "{ policy = \"static\", order = \"CPDW\" }";
    let cases = [(1, "page", DYNAMIC), (2, "page", DYNAMIC), (3, "map-cache", DYNAMIC), (4, "page", static_order)];
    for (seed, map, allocation) in cases {
        let mut stream = rng::stream(seed, "test.rain");
        let config = rain_with(
            allocation,
            &format!(
                "mapping = {{ policy = \"{map}\" }}
             precondition = {{ mode = \"random\", overwrites = 1.0 }}"
            ),
        );
        let units = u64::from(Geometry::new(&config.device()).logical_units);
        let script: Vec<Request> = (0..6_000_u64)
            .map(|at| {
                let op = [Op::Write, Op::Write, Op::Read, Op::Read, Op::Trim][stream.random_range(0..5)];
                let op = if op == Op::Trim && at % 4 > 0 { Op::Write } else { op };
                let len = stream.random_range(1..20);
                pages(op, at * 400_000, stream.random_range(0..units - len), len)
            })
            .collect();
        let outcome = run(&config, script);
        let parity = outcome.report.parity.expect("there is parity");
        assert!(outcome.report.gc.collections > 50, "{map}: {} collections", outcome.report.gc.collections);
        assert!(parity.rebuilt > 15 && parity.rebuild_reads > parity.rebuilt, "{map}: {parity:?}");
    }
}

/// A drive with parity and one without get separate images, even if all else is equal: a comparison shares an image
/// among schemes with equal keys.
#[test]
fn drives_with_and_without_parity_share_no_image() {
    let mut without = rain(FILLED);
    without.redundancy = copyback::config::from_toml("policy = \"none\"").expect("a policy");
    let with = rain(FILLED);
    assert_ne!(image_key(&with), image_key(&without));
    let image = precondition(&without, 1).expect("it can be made");
    let source = Box::new(Vec::<Request>::new().into_iter());
    let run = move || simulate(&with, image, source, &Options::default(), &mut |_| {}).is_ok();
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err(), "the image of another drive");
}
