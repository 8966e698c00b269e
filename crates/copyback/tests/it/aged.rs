//! The cost of the first collections of an aged drive, against closed forms of order statistics, for the drive of
//! tpds20 ("each plane ... randomly filled ... from 93 to 95 percent ..., of which 80 percent are valid", Section 5.1).

use crate::support::under::under;
use copyback::config::presets::{DEVICES, find};
use copyback::observe::report::GcEvent;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning;
use copyback::run::simulation::{Setup, Simulation};
use copyback::tasks::gc::granularity::GranularityPolicy;
use copyback::workload::{Op, Priority, Request};

const BLOCKS: u32 = 2048;
const PAGES: u32 = 256;
const VALID: f64 = 0.8;
/// Used blocks of a plane: 93 to 95 %.
const USED: f64 = 0.94 * BLOCKS as f64;
const DIES: u64 = 8;
const MOVE_NS: f64 = 177_400.0 + 1_602_400.0;
const ERASE_NS: f64 = 3_800_000.0;

/// The probabilities that at most 0, 1, 2, ... pages of a block are valid, each page independently.
fn at_most(pages: u32) -> Vec<f64> {
    // The smallest terms are below the smallest float, so that logarithms are added.
    let mut ln_of_this = f64::from(pages) * (1.0 - VALID).ln();
    let mut sums = vec![ln_of_this.exp()];
    for k in 1..=pages {
        ln_of_this += (f64::from(pages + 1 - k) / f64::from(k) * VALID / (1.0 - VALID)).ln();
        sums.push(sums[k as usize - 1] + ln_of_this.exp());
    }
    sums
}

/// Mean valid pages of the two emptiest of a plane's used blocks, of `pages` pages each. The mean of the least is
/// Σ P(all blocks have more than v), that of the second likewise.
fn of_the_two_emptiest(pages: u32) -> f64 {
    let at_most = at_most(pages);
    let at_most = &at_most[..pages as usize];
    let beyond = |at_most: &f64| (1.0 - at_most).max(0.0);
    let least: f64 = at_most.iter().map(|p| beyond(p).powf(USED)).sum();
    let second: f64 = at_most.iter().map(|p| beyond(p).powf(USED) + USED * p * beyond(p).powf(USED - 1.0)).sum();
    (least + second) / 2.0
}

/// The device's timing and blocks, with fewer dies and a channel for each, under a scheme, without its buffer.
fn drive(scheme: &str) -> RunConfig {
    let device: toml::Table = find(DEVICES, "tpds20").expect("it is a preset").text.parse().expect("it parses");
    let mut table = under(device, scheme);
    let geometry = table["geometry"].as_table_mut().expect("a table");
    geometry.insert("channels".into(), (DIES as i64).into());
    geometry.insert("chips_per_channel".into(), 1.into());
    table.retain(|key, value| value.is_table() && key != "buffer");
    table.try_into().expect("the configuration is complete")
}

/// The first two collections of every plane, or of every row of planes: each plane has three writes, far apart, and
/// starts below its level.
fn first_collections(config: &RunConfig, seed: u64) -> Vec<GcEvent> {
    config.check().expect("the configuration is possible");
    let planes = DIES * 2;
    let takes_along = config.granularity.build().plane_rule().is_some();
    let collected = if config.frontier.is_in_rows() || takes_along { DIES } else { planes };
    let write = |number: u64| Request {
        arrival_ns: number / planes * 1_000_000_000,
        offset_bytes: 4096 * number,
        len_bytes: 4096,
        device: 0,
        op: Op::Write,
        priority: Priority::Normal,
    };
    let mut source = (0..3 * planes).map(write).collect::<Vec<_>>().into_iter();
    let ftl = preconditioning::preconditioned(config, seed).expect("it is aged");
    let (host, source) = (config.host.clone(), &mut source);
    let setup = Setup { host, source, requests: None, check: false, keep_gc_events: true, keep_requests: false };
    let mut simulation = Simulation::new(vec![(config, ftl)], setup);
    simulation.run(&mut |_| {}).expect("it runs");
    let drive = simulation.back_ends().next().expect("there is a drive");
    let mut seen = vec![0; planes as usize];
    let is_early = |event: &&GcEvent| {
        // A collection that takes the die's other plane along counts once, for the die.
        let at = if collected == DIES { event.die } else { event.plane } as usize;
        seen[at] += 1;
        seen[at] <= 2
    };
    let events: Vec<GcEvent> = drive.counters().gc_events().iter().filter(is_early).copied().collect();
    assert_eq!(events.len() as u64, 2 * collected, "two of every plane");
    events
}

/// `baseline-d`: one block, page by page.
#[test]
fn a_baseline_collects_the_emptiest_of_many_blocks() {
    let expected = of_the_two_emptiest(PAGES);
    assert!((expected - 183.0).abs() < 0.2, "{expected}: 183.0 by hand");
    let events = first_collections(&drive("baseline-d"), 1);
    let count = events.len() as f64;
    let valid = events.iter().map(|event| f64::from(event.units_valid)).sum::<f64>() / count;
    // The least of so many binomials has a standard deviation of about 2 pages, the mean of 32 one of 0.4.
    assert!((valid - expected).abs() < 0.01 * expected, "{valid} valid pages, not {expected}");
    let time_ns = events.iter().map(|event| event.end_ns - event.start_ns).sum::<u64>() as f64 / count;
    let expected_ns = expected * MOVE_NS + ERASE_NS;
    assert!((time_ns - expected_ns).abs() < 0.01 * expected_ns, "{time_ns} ns, not {expected_ns}");
    let per_page_ns = time_ns / (f64::from(PAGES) - valid);
    assert!((per_page_ns / 4.514e6 - 1.0).abs() < 0.02, "{per_page_ns} ns for a freed page, not 4.514 ms");
}

/// Time of a freed page, and valid pages of a victim, in the mean of some collections.
fn cost(events: &[GcEvent], pages: u32) -> (f64, f64) {
    let count = events.len() as f64;
    let valid = events.iter().map(|event| f64::from(event.units_valid)).sum::<f64>() / count;
    let time_ns = events.iter().map(|event| event.end_ns - event.start_ns).sum::<u64>() as f64 / count;
    (time_ns / (f64::from(pages) - valid), valid)
}

/// `spd`: a row of two blocks, whose valid pages are programmed in pairs: 190 row programs of 1,704.8 us and 3.8 ms.
/// Some 140 of the reads have two pages if pairs go first, and some fewer in order.
#[test]
fn spd_collects_the_emptiest_of_many_rows() {
    let expected = of_the_two_emptiest(2 * PAGES);
    // The hand calculation gave 379.5, with 377.6 for the emptiest row alone.
    assert!((expected - 378.9).abs() < 0.1, "{expected}");
    let of_blocks = of_the_two_emptiest(PAGES);
    let baseline_ns = (of_blocks * MOVE_NS + ERASE_NS) / (f64::from(PAGES) - of_blocks);
    for (gather, gain) in [("in-order", -0.348), ("pairs-first", -0.357)] {
        let mut config = drive("spd");
        config.granularity =
            copyback::config::from_toml(&format!("policy = \"aligned\"\ngather = \"{gather}\"")).expect("it parses");
        let (per_page_ns, valid) = cost(&first_collections(&config, 1), 2 * PAGES);
        // The least of so many binomials has a standard deviation of about 3 pages, the mean of 16 one of 0.8.
        assert!((valid - expected).abs() < 0.01 * expected, "{gather}: {valid} valid pages, not {expected}");
        let found = per_page_ns / baseline_ns - 1.0;
        assert!((found - gain).abs() < 0.02, "{gather}: {found} against one block, not {gain}");
        let rounds = (f64::from(PAGES) - of_blocks) / (f64::from(2 * PAGES) - valid) - 1.0;
        assert!((rounds + 0.45).abs() < 0.02, "{gather}: {rounds} of the collections");
    }
}

/// The same drive with equally used planes, so that their write points agree.
fn aligned(scheme: &str) -> RunConfig {
    let mut config = drive(scheme);
    config.precondition =
        copyback::config::from_toml("mode = \"aged\"\nused_min = 0.94\nused_max = 0.94").expect("it parses");
    config
}

/// Cost over two seeds of the preconditioning: time of a freed page against one block's, and valid pages.
fn against_the_baseline(config: &RunConfig) -> (f64, f64) {
    let of_blocks = of_the_two_emptiest(PAGES);
    let baseline_ns = (of_blocks * MOVE_NS + ERASE_NS) / (f64::from(PAGES) - of_blocks);
    let events: Vec<GcEvent> = (1..=2).flat_map(|seed| first_collections(config, seed)).collect();
    let (per_page_ns, valid) = cost(&events, 2 * PAGES);
    (per_page_ns / baseline_ns - 1.0, valid)
}

/// `paragc` and `twinblk` also collect the block of the victim's offset, which has 0.8 · 256 valid pages on average. If
/// write points agree, 194 programs of two planes move 388 pages: in 392.4 ms if pages of one offset are read together,
/// and in 403.4 ms if none are. That is 29.9 to 27.9 % below one block's cost of a freed page. Twins whose turns never
/// agree move pages one by one: 24.1 % above.
#[test]
fn a_block_that_is_taken_along_is_no_victim_of_its_own() {
    let expected = of_the_two_emptiest(PAGES) + VALID * f64::from(PAGES);
    for scheme in ["paragc", "twinblk"] {
        let (gain, valid) = against_the_baseline(&aligned(scheme));
        assert!((valid - expected).abs() < 0.01 * expected, "{scheme}: {valid} valid pages, not {expected}");
        assert!((-0.309..-0.269).contains(&gain), "{scheme}: {gain}");
    }
    let (gain, _) = against_the_baseline(&drive("twinblk"));
    assert!((gain - 0.241).abs() < 0.02, "twins whose turns never agree: {gain}");
    // A plane that is behind first catches up page by page: by a quarter of a block in the mean of two collections.
    let (gain, _) = against_the_baseline(&drive("paragc"));
    assert!((-0.25..-0.15).contains(&gain), "a pair of which a plane is behind: {gain}");
}

/// `superpage`: of rows of superpages the two emptiest hold 183, as blocks of single pages do; each is read with one
/// command and programmed with one.
#[test]
fn superpages_are_as_blocks_of_pages_twice_as_large() {
    let (gain, valid) = against_the_baseline(&drive("superpage"));
    let expected = 2.0 * of_the_two_emptiest(PAGES);
    assert!((valid - expected).abs() < 0.01 * expected, "{valid} valid pages, not {expected}");
    assert!((gain + 0.443).abs() < 0.02, "{gain}");
}

/// If no write waits, `spd-plus` does the same as `spd`.
#[test]
fn spd_plus_collects_as_spd_where_nobody_waits() {
    let cost_of =
        |scheme: &str| first_collections(&drive(scheme), 1).iter().map(|e| e.end_ns - e.start_ns).sum::<u64>();
    assert_eq!(cost_of("spd"), cost_of("spd-plus"));
}
