//! Maps in flash, with the times of tpds20's Table 1 (`tpds20`): the cost of each look-up.

use super::tpds20::{LATENCY_NS, MOVE_NS, PROGRAM_NS, TWO_PLANE_PROGRAM_NS, drive, response_ns, run};
use copyback::flash::command::{FlashOp, Source};
use copyback::ftl::mapping::{MappingConfig, dftl};
use copyback::observe::report::{MapReport, Outcome};
use copyback::run::config::RunConfig;
use copyback::run::precondition::PreconditionConfig;
use copyback::scene::Block::{Free, Holds, Open};
use copyback::scene::{Scene, SceneOp};
use copyback::workload::units::Bytes;
use copyback::workload::{Op, Priority, Request};

const READ_NS: u64 = 177_400;
/// No request waits for another.
const APART_NS: u64 = 100_000_000;

/// A drive of one die under a scheme, without a buffer, with this cached map.
fn mapped(scheme: &str, mapping: &str) -> RunConfig {
    let mut config = drive(scheme, 1, &format!("mapping = {mapping}"));
    config.buffer = Default::default();
    config
}

fn page(at: usize, op: Op, page: u64) -> Request {
    let arrival_ns = at as u64 * APART_NS;
    Request { arrival_ns, offset_bytes: 4096 * page, len_bytes: 4096, device: 0, op, priority: Priority::Normal }
}

/// One request after the other, each when the drive rests.
fn one_by_one(config: &RunConfig, asked: &[(Op, u64)]) -> Outcome {
    run(config, asked.iter().enumerate().map(|(at, &(op, number))| page(at, op, number)).collect())
}

fn responses_ns(outcome: &Outcome) -> Vec<u64> {
    outcome.requests.iter().map(response_ns).collect()
}

fn map(outcome: &Outcome) -> &MapReport {
    outcome.report.map.as_ref().expect("its map is in flash")
}

/// Room for one entry: a request for another page evicts the entry of the one before.
#[test]
fn a_miss_costs_its_translation_page_and_a_changed_entry_that_leaves_its_own() {
    let asked = [(Op::Write, 0), (Op::Write, 1), (Op::Read, 0), (Op::Read, 1), (Op::Read, 1)];
    for scheme in ["baseline-d", "baseline-p"] {
        let outcome = one_by_one(&mapped(scheme, "{ policy = \"dftl\", cache = \"8 B\" }"), &asked);
        // The first translation page is written for the first time when the entry of page 0 leaves.
        let first_ns = PROGRAM_NS;
        let second_ns = PROGRAM_NS + READ_NS + PROGRAM_NS;
        let changed_ns = READ_NS + PROGRAM_NS + READ_NS + READ_NS;
        assert_eq!((changed_ns, 2 * READ_NS), (2_134_600, 354_800), "{scheme}");
        assert_eq!(responses_ns(&outcome), [first_ns, second_ns, changed_ns, 2 * READ_NS, READ_NS], "{scheme}");
        let MapReport { lookups, hits, page_reads, page_programs, write_backs, updates, .. } = *map(&outcome);
        assert_eq!((lookups, hits, page_reads, page_programs, write_backs, updates), (5, 1, 4, 2, 2, 0), "{scheme}");
    }
}

/// A cache of whole pages writes one back without reading it. The map has one page here, which therefore never leaves.
#[test]
fn a_cached_translation_page_serves_all_its_entries() {
    let asked = [(Op::Write, 0), (Op::Write, 1), (Op::Read, 0), (Op::Read, 1)];
    let outcome = one_by_one(&mapped("baseline-d", "{ policy = \"map-cache\", cache = \"4 KiB\" }"), &asked);
    assert_eq!(responses_ns(&outcome), [PROGRAM_NS, PROGRAM_NS, READ_NS, READ_NS]);
    assert_eq!((map(&outcome).hits, map(&outcome).page_reads, map(&outcome).page_programs), (3, 0, 0));
}

/// Requests one by one, and behind the last of them another one 10 us later; what the last two took.
fn last_two_ns(config: &RunConfig, asked: &[(Op, u64)], follower: u64) -> [u64; 2] {
    let mut script: Vec<_> = asked.iter().enumerate().map(|(at, &(op, number))| page(at, op, number)).collect();
    let mut last = page(asked.len() - 1, Op::Read, follower);
    last.arrival_ns += 10_000;
    script.push(last);
    let mut requests = run(config, script).requests;
    requests.sort_by_key(|record| record.index);
    [&requests[asked.len() - 1], &requests[asked.len()]].map(response_ns)
}

/// A look-up waits if another look-up is making room for the same entry: it ends no earlier than the other.
#[test]
fn a_second_look_up_does_not_overtake_the_first() {
    let config = mapped("baseline-d", "{ policy = \"dftl\", cache = \"8 B\" }");
    let asked = [(Op::Write, 0), (Op::Write, 1), (Op::Read, 0)];
    let first_ns = READ_NS + PROGRAM_NS + READ_NS + READ_NS;
    assert_eq!(last_two_ns(&config, &asked, 0), [first_ns, first_ns + READ_NS - 10_000]);
}

/// An entry on its way to flash is not there yet: its page is read when its update is programmed, once for both.
#[test]
fn a_look_up_waits_for_the_update_of_its_page() {
    let config = mapped("baseline-d", "{ policy = \"dftl\", cache = \"16 B\" }");
    // The read of page 0 drives out what the third write changed.
    let asked = [(Op::Write, 0), (Op::Write, 1), (Op::Write, 2), (Op::Read, 1), (Op::Read, 0)];
    let first_ns = READ_NS + PROGRAM_NS + READ_NS + READ_NS;
    assert_eq!(last_two_ns(&config, &asked, 2), [first_ns, first_ns + READ_NS - 10_000]);
}

/// Entries are cached for eight bytes each, and written back page by page: the other changed entries of the page later
/// leave without a program.
#[test]
fn a_write_back_takes_all_changed_entries_of_its_page_along() {
    let config = mapped("baseline-d", "{ policy = \"dftl\", cache = \"24 B\" }");
    let asked = [0, 1, 2].map(|number| (Op::Write, number)).into_iter();
    let asked: Vec<_> = asked.chain([3, 4, 5].map(|number| (Op::Write, number))).collect();
    let outcome = one_by_one(&config, &asked);
    // The fourth entry evicts the first, and the second and third are written with it: they leave without a program.
    // The fourth itself is changed: only a seventh would evict it.
    assert_eq!((map(&outcome).write_backs, map(&outcome).page_programs), (1, 1));
}

/// Pages that leave the buffer as one Die-Write stay together even if the entry of one of them has to come from flash
/// (Section 6.5: "evicted from RAM buffer are organized as Die-Write as well").
#[test]
fn a_die_write_waits_for_the_entries_of_all_its_pages() {
    let mut config =
        drive("spd", 1, "mapping = { policy = \"dftl\" }\nbuffer = { size = \"8 KiB\", latency = \"1 us\" }");
    config.precondition = PreconditionConfig::Sequential { fill: 0.5 };
    // The read loads the entry of page 0; the last write drives pages 0 and 1 out.
    let asked = [(Op::Read, 0), (Op::Write, 0), (Op::Write, 1), (Op::Write, 2)];
    let outcome = one_by_one(&config, &asked);
    let evicted_ns = READ_NS + TWO_PLANE_PROGRAM_NS;
    let read_ns = 2 * READ_NS + LATENCY_NS;
    assert_eq!(responses_ns(&outcome), [read_ns, LATENCY_NS, LATENCY_NS, evicted_ns + LATENCY_NS]);
    assert_eq!((outcome.report.evictions.parallel_pages, outcome.report.flash.padding_units), (2, 0));
}

/// A translation page fills a row with a dirty page of its die, and is padded if there is none.
#[test]
fn a_translation_page_shares_a_row() {
    let mut config = drive("spd", 1, "mapping = { policy = \"dftl\", cache = \"8 B\" }");
    config.buffer = Default::default();
    let asked = [(Op::Write, 0), (Op::Write, 1), (Op::Read, 0)];
    let outcome = one_by_one(&config, &asked);
    let changed_ns = READ_NS + TWO_PLANE_PROGRAM_NS + READ_NS + READ_NS;
    assert_eq!(responses_ns(&outcome)[2], changed_ns);
    assert_eq!(outcome.report.flash.padding_units, 4, "two pages of the host and two of the map, a row each");
}

/// Superpages with a map in flash: an entry for each superpage, and translation pages that form superpages, too. A
/// look-up reads the page with the entry; an update reads and writes all pages of its row.
#[test]
fn a_translation_page_of_superpages_is_a_superpage() {
    let mut config = mapped("superpage", "{}");
    config.mapping = MappingConfig::Dftl(dftl::Params { cache: Bytes(8), superpages: true });
    // Pages 0 and 1 share one entry, pages 2 and 3 the other.
    let asked = [(Op::Write, 0), (Op::Write, 2), (Op::Read, 0), (Op::Write, 1), (Op::Read, 0)];
    let outcome = one_by_one(&config, &asked);
    let first_ns = TWO_PLANE_PROGRAM_NS;
    let second_ns = TWO_PLANE_PROGRAM_NS + READ_NS + TWO_PLANE_PROGRAM_NS;
    let both_ns = READ_NS + 102_400;
    let changed_ns = both_ns + TWO_PLANE_PROGRAM_NS + READ_NS + READ_NS;
    let update_ns = READ_NS + TWO_PLANE_PROGRAM_NS;
    assert_eq!(responses_ns(&outcome), [first_ns, second_ns, changed_ns, update_ns, READ_NS]);
    let MapReport { page_reads, page_programs, write_backs, updates, .. } = *map(&outcome);
    assert_eq!((page_reads, page_programs, write_backs, updates), (4, 4, 2, 0));
}

/// Data that a collection moves takes no entry to DRAM: its translation page is written once, after the collection.
#[test]
fn a_round_updates_each_translation_page_once_when_it_has_ended() {
    let other = Holds(&[0, 1, 2, 3]);
    let plane = [Holds(&[0, 1, 2]), other, other, Open(2), Free, Free, Free, Free];
    let mut config = mapped("baseline-d", "{ policy = \"dftl\" }");
    let requests = [(APART_NS, SceneOp::Read(1, 1, 0))];
    for is_map_in_dram in [false, true] {
        config.mapping = match is_map_in_dram {
            false => config.mapping.clone(),
            true => Default::default(),
        };
        let scene = Scene { config: &config, planes: &[&plane, &plane], collects: &[0], requests: &requests };
        let played = scene.play().expect("the scene plays");
        let of_map = |op| {
            let of = |command: &&copyback::observe::commands::CommandRecord| {
                command.op == op && command.parts[0].source == Source::MAP
            };
            played.commands.iter().filter(of).map(|command| command.issued_ns).collect::<Vec<_>>()
        };
        let erased_ns = 3 * MOVE_NS + 3_800_000;
        let programs = if is_map_in_dram { vec![] } else { vec![erased_ns] };
        assert_eq!(of_map(FlashOp::Program), programs);
        // The read's own miss.
        assert_eq!(of_map(FlashOp::Read).len(), usize::from(!is_map_in_dram));
    }
}

/// The hit ratio of 200 reads of these pages in turn, every `skips`-th one; the writes before them are not counted.
fn hit_ratio(pages: u64, cache_bytes: u64, skips: u64) -> f64 {
    let config = mapped("baseline-d", &format!("{{ policy = \"dftl\", cache = \"{cache_bytes} B\" }}"));
    let asked: Vec<_> = (0..pages).map(|number| (Op::Write, number)).collect();
    let rounds = (0..200).map(|at| (Op::Read, at * skips % pages));
    let first = one_by_one(&config, &asked);
    let asked: Vec<_> = asked.into_iter().chain(rounds).collect();
    let all = one_by_one(&config, &asked);
    let (hits, lookups) = (map(&all).hits - map(&first).hits, map(&all).lookups - map(&first).lookups);
    hits as f64 / lookups as f64
}

#[test]
fn the_hit_ratio_is_1_where_the_map_fits_and_0_where_a_round_never_does() {
    assert_eq!(hit_ratio(16, 16 * 8, 1), 1.0);
    assert_eq!(hit_ratio(16, 17 * 8, 1), 1.0);
    // One entry short, and the least recently used one is always the next.
    assert_eq!(hit_ratio(16, 15 * 8, 1), 0.0);
    // Every fourth of 16 pages is accessed.
    assert_eq!(hit_ratio(16, 4 * 8, 4), 196.0 / 200.0);
}
