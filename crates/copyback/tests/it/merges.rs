//! Log blocks: which merges does a load cost?

use crate::common::*;
use copyback::ftl::log_blocks::MergeTotals;
use copyback::observe::report::Report;
use copyback::run::config::RunConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::rng;
use copyback::workload::{Op, Request};
use rand::RngExt;

const PAGES_PER_BLOCK: u64 = 16;

/// One channel, filled in order; `shape`: dies and planes of a die, and blocks of a plane.
fn drive(shape: [u64; 3], more: &str) -> RunConfig {
    let [dies, planes, blocks] = shape;
    config(&format!(
        "precondition = {{ mode = \"sequential\" }}
         host = {{ mode = \"closed\", queue_depth = 8 }}
         capacity = {{ over_provisioning = 0.5 }}
         {more}
         geometry = {{ dies_per_chip = {dies}, planes_per_die = {planes}, blocks_per_plane = {blocks}, pages_per_block = {PAGES_PER_BLOCK} }}"
    ))
}

fn report(config: &RunConfig, script: Vec<Request>) -> Report {
    config.check().expect("the configuration is possible");
    let image = precondition(config, 1).expect("the drive is filled");
    let options = Options { check: true, ..Options::default() };
    simulate(config, image, Box::new(script.into_iter()), &options, &mut |_| {}).expect("the run ends well").report
}

fn merges(report: &Report) -> &MergeTotals {
    report.merges.as_ref().expect("it has log blocks")
}

const FAST: &str = "mapping = { policy = \"fast\" }";
const ROWS: &str = "frontier = { policy = \"row\" }
    granularity = { policy = \"aligned\" }";
const TWINS: &str = "frontier = { policy = \"twin\" }
    granularity = { policy = \"twin\" }
    allocation = { policy = \"static-die\" }";

/// Everything is overwritten in order, twice, by requests of one page and of many.
#[test]
fn sequential_overwrites_are_switch_merges_only() {
    let superpages = format!("{ROWS}\nmapping.superpages = true");
    for (more, blocks_per_log_block, writes) in
        [("", 1, [1, 8]), (TWINS, 1, [1, 8]), (ROWS, 2, [1, 8]), (&superpages, 2, [2, 8])]
    {
        for pages_together in writes {
            let config = drive([2, 2, 24], &format!("mapping.policy = \"fast\"\n{more}"));
            // Two thirds of its flash are the host's: sixteen logical blocks a plane.
            let whole = 4 * 16 * PAGES_PER_BLOCK;
            let firsts = (0..2 * whole).step_by(pages_together as usize).map(|at| at % whole);
            let script = firsts.map(|first| pages(Op::Write, 0, first, pages_together)).collect();
            let report = report(&config, script);
            let of = merges(&report);
            let switches = 2 * whole / PAGES_PER_BLOCK / blocks_per_log_block;
            let expected =
                MergeTotals { switch_merges: switches, sequential_pages: 2 * whole, ..MergeTotals::default() };
            assert_eq!(*of, expected, "{more}, {pages_together} pages together");
            assert_eq!((report.flash.gc_units, report.gc.collections), (0, switches), "{more}");
        }
    }
}

/// One random log block takes n pages of m logical blocks with equal chances. On average it has pages of m (1 - (1 -
/// 1/m)^n) logical blocks; each is merged when the log block is emptied.
#[test]
fn full_merges_grow_with_randomness() {
    let n = PAGES_PER_BLOCK as f64;
    for logical_blocks in [1u64, 2, 8, 32] {
        let config = drive([1, 1, 64], "mapping = { policy = \"fast\", log_share = 1 }");
        let mut stream = rng::stream(3, "test.writes");
        // First pages would open the sequential log block.
        let mut page =
            || stream.random_range(0..logical_blocks) * PAGES_PER_BLOCK + stream.random_range(1..PAGES_PER_BLOCK);
        let report = report(&config, (0..20_000).map(|_| pages(Op::Write, 0, page(), 1)).collect());
        let (of, m) = (merges(&report), logical_blocks as f64);
        let mean = m * (1.0 - (1.0 - 1.0 / m).powf(n));
        // The variance of the number of logical blocks with pages in the log block: one has none with probability p1,
        // and two both have none with probability p2.
        let [p1, p2] = [1.0, 2.0].map(|cells| (1.0 - cells / m).max(0.0).powf(n));
        let variance = (m * p1 + m * (m - 1.0) * p2 - (m * p1).powi(2)).max(0.0);
        let emptied = of.log_blocks_emptied as f64;
        let measured = of.full_merges as f64 / emptied;
        // Four standard errors.
        let tolerance = 4.0 * (variance / emptied).sqrt();
        assert!((measured - mean).abs() <= tolerance, "{m} logical blocks: {measured}, not {mean} +- {tolerance}");
        assert_eq!((of.switch_merges, of.partial_merges, of.sequential_pages), (0, 0, 0));
        assert_eq!(of.log_blocks_emptied, (20_000 - 1) / PAGES_PER_BLOCK);
        // A merge programs a whole logical block.
        assert_eq!(of.pages_gathered, of.full_merges * PAGES_PER_BLOCK);
    }
}

/// On a drive that begins empty, a merge gathers a logical block's pages from the log in its first data block: up to
/// the last written page, with padding in gaps. The log block is erased after all of its logical blocks were merged.
#[test]
fn logical_blocks_without_data_get_their_first_data_blocks() {
    let mut config = drive([1, 1, 64], "mapping = { policy = \"fast\", log_share = 1 }");
    config.precondition = copyback::run::precondition::PreconditionConfig::Empty {};
    // Page 2 of eight logical blocks, twice; then another page.
    let twos = (0..2).flat_map(|_| (0..8).map(|logical| logical * PAGES_PER_BLOCK + 2));
    let script = twos.chain([3]).map(|page| pages(Op::Write, 0, page, 1)).collect();
    let report = report(&config, script);
    let expected = MergeTotals {
        full_merges: 8,
        log_blocks_emptied: 1,
        random_pages: 17,
        // Two pages of padding and a page of data each.
        pages_gathered: 8 * 3,
        ..MergeTotals::default()
    };
    assert_eq!(*merges(&report), expected);
    assert_eq!((report.flash.gc_units, report.flash.padding_units, report.flash.block_erases), (8, 16, 1));
}

/// Reads of the host go between the steps of a merge like between those of any collection, and it ends as it would.
#[test]
fn a_preemptible_merge_lets_reads_first() {
    let script = || -> Vec<Request> {
        let mut stream = rng::stream(4, "test.requests");
        let mut next = || {
            (
                stream.random_range(0..8) * PAGES_PER_BLOCK + stream.random_range(1..PAGES_PER_BLOCK),
                stream.random_range(0..3),
            )
        };
        let mut request = |at: u64| {
            let (page, kind) = next();
            pages(if kind == 0 { Op::Read } else { Op::Write }, at * 300_000, page, 1)
        };
        (0..6_000).map(&mut request).collect()
    };
    let of = |preemption: &str| {
        let mut config = drive([1, 1, 64], &format!("mapping = {{ policy = \"fast\", log_share = 2 }}\n{preemption}"));
        config.host = Default::default();
        report(&config, script())
    };
    let [waits, goes] = ["", "preemption = { policy = \"points\", serves = \"reads\", poll = \"0 ns\" }"].map(of);
    let means = [&waits, &goes].map(|report| report.response.read.mean_ns);
    assert!(means[1] < 0.1 * means[0], "reads took {means:?} ns");
    assert_eq!(merges(&waits).random_pages, merges(&goes).random_pages);
}

/// Settings of a scheme that merges ignore are noted.
#[test]
fn what_merges_leave_out_is_noted() {
    let notes = |more: &str| {
        let notes = run(&drive([1, 2, 24], more), vec![pages(Op::Write, 0, 0, 1)]).notes;
        // One request reaches no limit of the host, which has a note of its own.
        notes.into_iter().filter(|note| !note.contains("`host.")).collect::<Vec<_>>()
    };
    let whole = "mapping = { policy = \"fast\", log_share = 4 }";
    assert!(notes(whole).is_empty() && notes(&format!("{whole}\n{ROWS}")).is_empty());
    assert!(notes(&format!("{whole}\n{TWINS}")).concat().ends_with("each address has its own"));
    assert!(notes(FAST).concat().contains("`mapping.log_share` could be 4 instead of 1"));
}

/// A stream that begins half a row later leaves the buffer in pairs that never fill a row in order. Die-Writes leave by
/// age, which costs `spd` with FAST additional moves. Without rows, each page follows the last one of its plane.
#[test]
fn rows_are_in_order_only_if_a_stream_begins_with_one() {
    let buffer = "buffer = { policy = \"die-writes\", size = \"64 KiB\" }";
    let whole = 2 * 16 * PAGES_PER_BLOCK;
    let in_order = |more: &str, first: u64| {
        let config = drive([1, 2, 24], &format!("{FAST}\n{more}"));
        let script = (first..2 * whole).map(|at| pages(Op::Write, 0, at % whole, 1)).collect();
        let report = report(&config, script);
        let of = merges(&report);
        (of.sequential_pages as f64 / (of.sequential_pages + of.random_pages) as f64 * 100.0).round()
    };
    let rows = format!("{ROWS}\n{buffer}");
    assert_eq!([in_order(&rows, 0), in_order(&rows, 1)], [100.0, 0.0]);
    assert_eq!([in_order("", 0), in_order("", 1)].map(|share| share > 95.0), [true; 2]);
}

/// While a partial merge runs, writes go between its steps, whatever space its own moves need and however few blocks
/// are free; a sequential log block that they break is merged next.
#[test]
fn writes_pass_a_partial_merge_and_what_they_break_is_merged_next() {
    let sets = ["", "collections = \"one\",", "when = \"waiting\","];
    let of = |set: &str| {
        let mut config = drive(
            [1, 1, 64],
            &format!(
                "mapping = {{ policy = \"fast\", log_share = 1 }}
                 trigger = {{ policy = \"watermark\", soft = 0.9, {set} hard = 1.0 }}
                 preemption = {{ policy = \"points\", poll = \"0 ns\" }}"
            ),
        );
        config.host = Default::default();
        let page = |logical: u64, offset: u64| logical * PAGES_PER_BLOCK + offset;
        let before = (1..6).map(|offset| (0, page(5, offset)));
        // Logical block 1 displaces logical block 0, whose other fifteen pages are merged for some 10 ms. 2 ms later a
        // page of block 1 breaks the order, and one more arrives.
        let during = [(100, page(0, 0)), (200, page(1, 0)), (202, page(1, 7)), (204, page(6, 3))];
        let script = before.chain(during).map(|(ms, page)| pages(Op::Write, ms * 1_000_000, page, 1)).collect();
        run(&config, script)
    };
    for outcome in sets.map(of) {
        let (report, slowest_ns) = (&outcome.report, responses(&outcome)[5..].iter().max().copied());
        assert!(slowest_ns < Some(2_000_000), "a write took {slowest_ns:?} ns");
        assert_eq!((merges(report).partial_merges, merges(report).full_merges), (2, 0));
        // Two logical blocks, each with one page in the log; for the second the broken block is gathered, too.
        assert_eq!((report.gc.collections, merges(report).pages_gathered), (2, 30));
    }
}

/// The search that predicts which writes will share a page reaches as far as their binding, which removes each write
/// from the queue before it searches for the next.
#[test]
fn units_in_order_share_pages_of_the_sequential_log() {
    let mut config =
        drive([1, 1, 64], "mapping = { policy = \"fast\" }\ncompose = { policy = \"list\", scan_max = 1 }");
    config.geometry.mapping_unit = Some(copyback::workload::units::Bytes(1024));
    config.host.queue_depth = 64;
    let unit = |at: u64| Request { offset_bytes: at * 1024, len_bytes: 1024, ..pages(Op::Write, 0, 0, 1) };
    let report = report(&config, (0..4 * PAGES_PER_BLOCK * 8).map(unit).collect());
    let of = merges(&report);
    assert!(of.random_pages <= 2 && of.full_merges == 0, "{of:?}");
}
