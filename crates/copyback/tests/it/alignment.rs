//! Do planes that skip pages (`compose.align`) keep all records of a drive in order while it collects?
//!
//! Every run has all checks on. `figures/tpds20_alignment.rs` has single commands.

use crate::common::*;
use copyback::dispatch::compose::ComposeConfig;
use copyback::dispatch::compose::list::Align;
use copyback::observe::report::{FlashWork, Outcome};
use copyback::observe::steady::Verdict;
use copyback::workload::Op;
use copyback::workload::rng;
use rand::RngExt;

/// Random requests on a drive that was overwritten at random, under each setting.
fn none_and_greedy(tables: &str, requests: u64) -> [Outcome; 2] {
    [Align::None, Align::Greedy].map(|align| {
        let mut config = config(&format!(
            "precondition = {{ mode = \"random\" }}\nhost = {{ mode = \"closed\", queue_depth = 16 }}\n{tables}"
        ));
        let ComposeConfig::List(list) = &mut config.compose;
        list.align = align;
        let mut stream = rng::stream(3, "test.requests");
        let units = 1_000;
        let request = |_| {
            let op = if stream.random_range(0..5) == 0 { Op::Read } else { Op::Write };
            pages(op, 0, stream.random_range(0..units), 1)
        };
        run(&config, (0..requests).map(request).collect())
    })
}

const DRIVE: &str = "geometry = { chips_per_channel = 2, blocks_per_plane = 32, pages_per_block = 16 }";

#[test]
fn skipped_pages_are_collected_and_all_records_agree() {
    let rows = [
        "",
        "frontier = { policy = \"split\" }",
        "frontier = { policy = \"single\", hot_window = \"5 ms\" }",
        "preemption = { policy = \"points\" }\ncompose = { policy = \"list\", gc = [\"gc+host\", \"merge\"] }",
        "preemption = { policy = \"always\" }",
        "preemption = { policy = \"ideal\" }",
        "buffer = { policy = \"die-lists\", size = \"64 KiB\" }\norder = { policy = \"priority\", first = \"read\" }",
        "granularity = { policy = \"block\", copyback = true }",
        "trigger = { policy = \"watermark\", soft = 2, count = \"pages\" }",
        "mapping = { policy = \"dftl\", cache = \"4 KiB\" }",
        "tasks = { wear = { threshold = 2 } }",
    ];
    for tables in rows {
        let [none, greedy] = none_and_greedy(&format!("{DRIVE}\n{tables}"), 3_000);
        let (before, flash) = (&none.report.flash, &greedy.report.flash);
        assert!(greedy.report.gc.collections > 0 && flash.skipped_pages > 100, "{tables}: {flash:?}");
        assert_eq!(before.skipped_pages, 0);
        let share = |flash: &FlashWork| flash.host_multi_plane_page_programs as f64 / flash.host_page_programs as f64;
        assert!(share(flash) > share(before), "{tables}: {} and {}", share(flash), share(before));
        assert!(flash.block_erases > before.block_erases, "{tables}: skipped pages cost collections");
    }
    let [_, greedy] = none_and_greedy(DRIVE, 3_000);
    let flash = &greedy.report.flash;
    let programmed = flash.host_units + flash.gc_units + flash.other_units + flash.padding_units;
    let amplification = programmed as f64 / flash.host_units as f64;
    assert_eq!(greedy.report.write_amplification.total, Some(amplification), "programs only");
}

/// Skipped pages use free blocks as programs do: a drive that erases both is in its steady state.
#[test]
fn a_drive_that_skips_pages_can_be_steady() {
    let [_, greedy] = none_and_greedy(DRIVE, 20_000);
    let steady = &greedy.report.steady;
    assert!(greedy.report.flash.skipped_pages > 1_000);
    assert_eq!(steady.verdict, Verdict::Steady, "{steady:?}");
    assert!(steady.reserve.is_some_and(|reserve| reserve.consumed.abs() < 0.05), "{steady:?}");
}
