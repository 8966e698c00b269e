//! Do background tasks relocate the blocks that they should, when they should?

use crate::common::*;
use copyback::flash::command::FlashOp;
use copyback::ftl::core::Ftl;
use copyback::observe::commands::CommandFilter;
use copyback::observe::report::{FlashWork, Outcome};
use copyback::run::config::RunConfig;
use copyback::run::precondition::PreconditionConfig;
use copyback::run::{Options, precondition, simulate};
use copyback::workload::rng;
use copyback::workload::{Op, Request};
use rand::RngExt;

/// Four dies on a channel each, whose units were written in order; scrubbing begins above 50 reads of a block and ends
/// below 40. A block has 8 pages.
fn scrubbed(more: &str) -> RunConfig {
    config(&format!(
        "precondition = {{ mode = \"sequential\" }}
         geometry = {{ channels = 4, planes_per_die = 1 }}
         tasks = {{ scrub = {{ start = 50, stop = 40, first_max = 0 }} }}
         {more}"
    ))
}

const AS_TASK: &str = "preemption = { policy = \"always\" }";
const RESERVING: &str = "preemption = { policy = \"none\" }";
const IN_NO_TIME: &str = "preemption = { policy = \"ideal\" }";

/// By hand: a read takes 100 + 50,000 + 40,960 = 91,060 ns, a program 100 + 40,960 + 500,000 = 541,060 ns, and so a
/// move 632,120 ns. The sixth read of block 0 comes at 5 ms and exceeds the threshold. Scrubbing begins when it has
/// ended, at 5,091,060, and moves eight pages, until 10,148,020. A read that comes 1 ms later suspends the erase. It is
/// served after 20 µs, until 11,259,080. The erase continues 5 µs later with 3,000,100 - 1,000,000 ns left, until
/// 13,264,180.
#[test]
fn times_of_scrubbing_are_those_calculated_by_hand() {
    let config = config(
        "precondition = { mode = \"sequential\" }
         geometry = { planes_per_die = 1 }
         tasks = { scrub = { start = 5, stop = 4, first_max = 0 } }
         commands = { suspend = { latency = \"20 us\", resume = \"5 us\" } }
         preemption = { policy = \"suspend\", poll = \"0 ns\" }",
    );
    let elsewhere = pages(Op::Read, 11_148_020, 8, 1);
    let requests: Vec<Request> = reads(0, 6).chain([elsewhere]).collect();
    let options = Options {
        check: true,
        keep_requests: true,
        keep_commands: Some(CommandFilter::default()),
        ..Options::default()
    };
    let image = precondition(&config, 1).expect("preconditioning works");
    let outcome =
        simulate(&config, image, Box::new(requests.into_iter()), &options, &mut |_| {}).expect("it ends well");
    let of_task = |op| outcome.commands.iter().filter(move |c| c.op == op && c.parts[0].source.name() == "scrub");
    let read_ns: Vec<u64> = of_task(FlashOp::Read).map(|c| c.issued_ns).collect();
    let by_hand: Vec<u64> = (0..8).map(|page| 5_091_060 + page * 632_120).collect();
    assert_eq!(read_ns, by_hand);
    let erases: Vec<(u64, u64)> = of_task(FlashOp::Erase).map(|c| (c.issued_ns, c.end_ns())).collect();
    assert_eq!(erases, [(10_148_020, 13_264_180)]);
    let last = outcome.requests.iter().find(|r| r.arrival_ns == 11_148_020).expect("it ends");
    assert_eq!(last.arrival_ns + last.response_ns, 11_259_080);
}

/// Reads of one page, a millisecond apart.
fn reads(unit: u64, count: u64) -> impl Iterator<Item = Request> {
    (0..count).map(move |at| pages(Op::Read, at * 1_000_000, unit, 1))
}

fn work(outcome: &Outcome) -> (u64, u64, u64, u64, u64) {
    let flash = &outcome.report.flash;
    let by_others = (flash.other_page_reads, flash.other_page_programs, flash.other_units);
    (flash.blocks_relocated, flash.block_erases, by_others.0, by_others.1, by_others.2)
}

/// Blocks that scrubbing and that wear levelling relocated.
fn apart(flash: &FlashWork) -> (u64, u64) {
    (flash.blocks_relocated_by_scrub, flash.blocks_relocated_by_wear)
}

/// A block whose page is read once more than `start` allows is relocated, page by page, with and without reserved dies.
/// Its eight pages fill a destination block, which is relocated in its turn after 51 more reads: 7 times in 400.
#[test]
fn a_block_is_scrubbed_above_its_threshold_and_not_at_it() {
    for preemption in [AS_TASK, RESERVING] {
        let config = scrubbed(preemption);
        let outcome = run(&config, reads(0, 50).collect());
        assert_eq!((work(&outcome), outcome.report.block_reads_max), ((0, 0, 0, 0, 0), Some(50)), "{preemption}");
        let outcome = run(&config, reads(0, 400).collect());
        assert_eq!(work(&outcome), (7, 7, 56, 56, 56), "{preemption}");
        assert_eq!((outcome.report.gc.collections, apart(&outcome.report.flash)), (0, (7, 0)), "{preemption}");
    }
}

/// Reads of any page of a block count, and those of the map.
#[test]
fn reads_by_anybody_count() {
    // Units 0 and 4 are in one block, the second one behind the first.
    let script = reads(0, 44).chain(reads(4, 7)).collect();
    assert_eq!(work(&run(&scrubbed(AS_TASK), script)).0, 1);
    // A cache of one page: reads of two units whose entries are in different pages load one page each time.
    let mapped = |reads_each: u64| {
        let map = "mapping = { policy = \"map-cache\", cache = \"4 KiB\" }
                   geometry = { channels = 4, planes_per_die = 1, blocks_per_plane = 256 }";
        let mut config = scrubbed(AS_TASK);
        let text = toml::to_string(&config).expect("a configuration is TOML");
        let mut table: toml::Table = text.parse().expect("TOML");
        for (name, value) in map.parse::<toml::Table>().expect("TOML") {
            match (table.get_mut(&name), value) {
                (Some(toml::Value::Table(old)), toml::Value::Table(new)) if name == "geometry" => old.extend(new),
                (_, value) => drop(table.insert(name, value)),
            }
        }
        config = table.try_into().expect("a configuration");
        let script = (0..2 * reads_each).map(|at| pages(Op::Read, at * 1_000_000, at % 2 * 512 + at / 2, 1)).collect();
        run(&config, script).report.block_reads_max
    };
    // 20 of each translation page, and five of each block of data.
    assert_eq!(mapped(20), Some(20));
}

/// It ends below `stop`: of three blocks with 51, 45 and 39 reads the first two are relocated.
#[test]
fn scrubbing_goes_on_until_no_block_has_many() {
    let config = scrubbed(AS_TASK);
    // Units 0, 1 and 2 are on different dies.
    let script: Vec<Request> = reads(2, 39).chain(reads(1, 45)).chain(reads(0, 51)).collect();
    let mut script: Vec<Request> = script;
    for (at, request) in script.iter_mut().enumerate() {
        request.arrival_ns = at as u64 * 1_000_000;
    }
    // One more read, so that the run lasts until the second relocation is done.
    script.push(pages(Op::Read, 300_000_000, 3, 1));
    let outcome = run(&config, script);
    assert_eq!((work(&outcome).0, outcome.report.block_reads_max), (2, Some(39)));
}

/// A tenth of the data takes all writes. Without levelling, blocks of the rest are never erased again, and dynamic
/// levelling alone does not reach them. With a threshold no block falls further behind than that, except for the one
/// that is being relocated.
#[test]
fn blocks_wear_evenly_where_a_tenth_of_the_data_is_overwritten() {
    for collecting in [AS_TASK, RESERVING, IN_NO_TIME] {
        let wear = |tasks: &str| {
            let config = config(&format!(
                "precondition = {{ mode = \"sequential\" }}
                 geometry = {{ blocks_per_plane = 32 }}
                 host = {{ mode = \"closed\", queue_depth = 4 }}
                 {collecting}
                 {tasks}"
            ));
            let mut stream = rng::stream(1, "test.wear");
            let writes = (0..20_000).map(|_| pages(Op::Write, 0, stream.random_range(0..32), 1)).collect();
            let report = run(&config, writes).report;
            assert_eq!(apart(&report.flash), (0, report.flash.blocks_relocated), "{collecting}");
            (report.wear.min_erases, report.wear.max_erases, report.flash.blocks_relocated)
        };
        let (least, most, relocated) = wear("");
        assert!(least == 0 && most > 50 && relocated == 0, "{collecting}: {least} to {most}");
        let (least, most, relocated) = wear("tasks = { wear = { threshold = 1000 } }");
        assert!(least == 0 && most > 50 && relocated == 0, "{collecting}, dynamic: {least} to {most}");
        let (least, most, relocated) = wear("tasks = { wear = { threshold = 10 } }");
        assert!(most - least <= 12 && relocated > 50, "{collecting}: {least} to {most}, {relocated} relocated");
    }
}

/// Collections erase blocks also if they take no time: reads count from then on.
#[test]
fn reads_count_from_the_last_erase_under_every_collection() {
    for collecting in [AS_TASK, RESERVING, IN_NO_TIME] {
        let requests = (0..200).flat_map(|round| {
            let at_ns = move |at: u64| (round * 80 + at) * 1_000_000;
            let reads = (0..30).map(move |at| pages(Op::Read, at_ns(at), 0, 1));
            // Each round writes 48 units of 320: data is overwritten within few rounds.
            reads.chain((0..48).map(move |at| pages(Op::Write, at_ns(30 + at), at, 1)))
        });
        let outcome = run(&scrubbed(collecting), requests.collect());
        assert!(outcome.report.gc.collections > 500, "{collecting}: {}", outcome.report.gc.collections);
        assert_eq!(outcome.report.flash.blocks_relocated, 0, "{collecting}");
    }
}

/// A task waits for its turn among the requests of its die. Trims of units without data need no die, and delay no task.
#[test]
fn trims_do_not_delay_tasks() {
    let rest = "order = { policy = \"fifo\" }\nadmit = { policy = \"debit\" }";
    for more in [IN_NO_TIME, AS_TASK] {
        let mut config = scrubbed(&format!("{more}\n{rest}"));
        config.precondition = PreconditionConfig::Sequential { fill: 0.5 };
        let last = config.check().map(|()| Ftl::geometry_of(&config.ftl()).logical_units).expect("it is possible") - 1;
        let scrubbed = |trims: u64| {
            let requests = (0..3_000).flat_map(|at| {
                let trims = (0..trims).map(move |_| pages(Op::Trim, at * 10_000, u64::from(last), 1));
                trims.chain([pages(Op::Read, at * 10_000, at % 64, 1)])
            });
            run(&config, requests.collect()).report.flash.blocks_relocated
        };
        assert_eq!(scrubbed(0), scrubbed(5), "{more}");
    }
}
