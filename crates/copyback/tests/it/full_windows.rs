//! Does a host that fills every window, on a drive with nothing to spare, still finish?
//!
//! Host writes that wait for space must never keep collection from freeing space. The drive holds as much data as
//! `RunConfig::check` accepts, was overwritten at random before, and a closed loop keeps far more writes under way than
//! all windows have slots. A run that gets stuck ends with an error, so the test checks only that every request is
//! done, and that the load was hard enough: windows were full, collection ran, and hardly a block was free.

use crate::support::{Setting, configuration, fitted};
use copyback::flash::geometry::Geometry;
use copyback::run::{Options, Progress, precondition, simulate};
use copyback::workload::{Op, rng};
use rand::RngExt;

const DEVICE: &[Setting] = &[
    "geometry.channels = 2\ngeometry.chips_per_channel = 1\ngeometry.dies_per_chip = 2\ngeometry.planes_per_die = 2",
    "geometry.blocks_per_plane = 12\ngeometry.pages_per_block = 6",
    "timing.read = \"50 us\"\ntiming.program = \"500 us\"\ntiming.erase = \"3 ms\"\ntiming.channel = \"200 MB/s\"",
    "host.mode = \"closed\"\nhost.queue_depth = 256",
    "precondition.mode = \"random\"\nprecondition.overwrites = 3.0",
];
const PAGES: &[Setting] =
    &["geometry.page_size = \"4 KiB\"", "geometry.page_size = \"16 KiB\"\ngeometry.mapping_unit = \"4 KiB\""];
const WINDOWS: &[Setting] =
    &["admit.policy = \"window\"\nadmit.slots = 1", "admit.policy = \"window\"\nadmit.slots = 4"];
const FRONTIERS: &[Setting] = &["frontier.policy = \"single\"", "frontier.policy = \"split\""];
const ORDERS: &[Setting] = &[
    "order.policy = \"priority\"\norder.first = \"gc-read-write\"",
    "order.policy = \"priority\"\norder.first = \"read-write-gc\"",
    "order.policy = \"fifo\"",
];
const ALLOCATIONS: &[Setting] = &["allocation.policy = \"static\"", "allocation.policy = \"dynamic\""];
const DESTINATIONS: &[Setting] =
    &["granularity.policy = \"block\"", "granularity.policy = \"block\"\ngranularity.destination = \"global\""];

/// Writes that replace the whole drive several times over.
const REQUESTS: u64 = 3_000;

fn finishes(lines: &[Setting]) {
    let (config, text) = configuration(lines, 0);
    config.check().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let geometry = Geometry::new(&config.device());
    let mut stream = rng::stream(3, "test.overwrites");
    let unit = u64::from(geometry.unit_bytes);
    let requests: Vec<_> =
        (0..REQUESTS).map(|_| fitted(&geometry, Op::Write, stream.random_range(0..=u32::MAX), unit, unit, 0)).collect();
    let failed = |e: copyback::run::RunError| -> ! { panic!("{e}\n{text}") };
    let image = precondition(&config, 5).unwrap_or_else(|e| failed(e));
    let options = Options { seed: 5, check: true, ..Options::default() };
    let mut calls = 0;
    let mut progress = |p: Progress| {
        calls += 1;
        assert!(calls < 16, "the run does not come to an end: {p:?}");
    };
    let outcome = simulate(&config, image, Box::new(requests.into_iter()), &options, &mut progress);
    let report = outcome.unwrap_or_else(|e| failed(e)).report;
    assert_eq!(report.writes, REQUESTS, "{text}");
    assert_eq!(report.peak_outstanding, config.host.queue_depth, "the host did not fill the windows\n{text}");
    assert!(report.gc.collections > 0, "collection did not run\n{text}");
    assert!(report.min_free_blocks <= 1, "the drive had {} free blocks to spare\n{text}", report.min_free_blocks);
}

fn every_combination(trigger: Setting) {
    for page in PAGES {
        for window in WINDOWS {
            for frontier in FRONTIERS {
                for order in ORDERS {
                    for allocation in ALLOCATIONS {
                        for destination in DESTINATIONS {
                            let mut lines = DEVICE.to_vec();
                            lines.extend([page, window, frontier, order, allocation, destination, &trigger]);
                            finishes(&lines);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn with_watermarks_of_a_plane() {
    every_combination("trigger.policy = \"watermark\"\ntrigger.scope = \"plane\"\ntrigger.soft = 1");
}

#[test]
fn with_watermarks_of_a_die() {
    every_combination("trigger.policy = \"watermark\"\ntrigger.scope = \"die\"\ntrigger.soft = 2");
}

#[test]
fn with_watermarks_of_the_device() {
    every_combination("trigger.policy = \"watermark\"\ntrigger.scope = \"device\"\ntrigger.soft = 8");
}

#[test]
fn with_no_watermark_at_all_collection_starts_when_writes_wait() {
    every_combination("trigger.policy = \"watermark\"\ntrigger.soft = 0");
}
