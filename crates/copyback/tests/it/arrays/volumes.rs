//! Volumes of all levels: one drive has the results of a run alone, and many keep their parity in every case.

use copyback::array::coordination::CoordinationConfig;
use copyback::array::{ArrayConfig, Volume};
use copyback::flash::geometry::Geometry;
use copyback::ftl::core::{Counts, Ftl};
use copyback::observe::report::{Outcome, Report, RequestRecord};
use copyback::run::config::RunConfig;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::{Options, RunError, outcome_of, precondition, preconditioning, simulate};
use copyback::workload::{Op, Priority, Request, rng};
use rand::RngExt;

const DRIVE: &str = r#"
timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "200 MB/s" }
trigger = { policy = "watermark", soft = 2 }
precondition = { mode = "random", overwrites = 1.0 }
capacity = { over_provisioning = 0.6 }
geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, blocks_per_plane = 16, pages_per_block = 8, page_size = "4 KiB" }
"#;

fn drive(more: &str) -> RunConfig {
    let config: RunConfig =
        copyback::config::from_toml(&format!("{more}\n{DRIVE}")).unwrap_or_else(|e| panic!("{e}\n{more}"));
    config.check().expect("a configuration");
    config
}

fn array(text: &str) -> ArrayConfig {
    let array: ArrayConfig = copyback::config::from_toml(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    array.check().expect("an array");
    array
}

/// Drives with pasts of their own.
fn ftls(config: &RunConfig, array: &ArrayConfig, seed: u64) -> Vec<Ftl> {
    let one = |drive| preconditioning::preconditioned(config, array.seed_of(drive, seed)).expect("a drive");
    (0..array.drives).map(one).collect()
}

/// Requests of all kinds and sizes, aligned or not, so close that many are under way.
fn mix(capacity_bytes: u64, count: usize, gap_ns: u64, seed: u64) -> Vec<Request> {
    let mut stream = rng::stream(seed, "test.requests");
    let mut arrival_ns = 0;
    let mut request = |_| {
        arrival_ns += stream.random_range(0..2 * gap_ns);
        let op = [Op::Write, Op::Write, Op::Write, Op::Read, Op::Read, Op::Trim][stream.random_range(0..6usize)];
        let len_bytes = [1, 512, 4096, 5000, 20_000, 70_000][stream.random_range(0..6usize)].min(capacity_bytes);
        let align = [1, 512, 4096][stream.random_range(0..3usize)];
        let offset_bytes = stream.random_range(0..=(capacity_bytes - len_bytes) / align) * align;
        Request { arrival_ns, offset_bytes, len_bytes, device: 0, op, priority: Priority::Normal }
    };
    (0..count).map(&mut request).collect()
}

fn run(config: &RunConfig, ftls: Vec<Ftl>, array: Option<&ArrayConfig>, requests: &[Request]) -> Outcome {
    let mut source = Vec::from(requests).into_iter();
    let setup = Setup {
        host: config.host.clone(),
        source: &mut source,
        requests: None,
        check: true,
        keep_gc_events: true,
        keep_requests: true,
    };
    let mut simulation = Simulation::new(ftls.into_iter().map(|ftl| (config, ftl)).collect(), setup);
    array.iter().for_each(|array| simulation.form_array(array, &CoordinationConfig::default()));
    simulation.run(&mut |_| {}).expect("the run ends well");
    outcome_of(simulation, Counts::default())
}

/// An outcome as text, to the byte, without its part on the array; in lines, so that a failure shows the first that
/// differs.
fn lines(outcome: &Outcome) -> Vec<String> {
    let report = Report { array: None, ..outcome.report.clone() };
    let requests = outcome.requests.iter().map(|row| format!("{row:?}"));
    let events = outcome.gc_events.iter().map(|row| format!("{row:?}"));
    let samples = outcome.series.iter().map(|row| format!("{row:?}"));
    std::iter::once(format!("{report:?}")).chain(requests).chain(events).chain(samples).collect()
}

fn are_the_same(a: &Outcome, b: &Outcome, what: &str) {
    let (a, b) = (lines(a), lines(b));
    assert_eq!(a.len(), b.len(), "{what}");
    a.iter().zip(&b).for_each(|(a, b)| assert_eq!(a, b, "{what}"));
}

/// An array of one drive has the results of that drive with any host.
#[test]
fn an_array_of_one_drive_is_that_drive() {
    let hosts = [
        "",
        "host.mode = \"closed\"\nhost.queue_depth = 17",
        "host.outstanding_max = 3",
        "buffer = { policy = \"lru\", size = \"64 KiB\" }",
        // A deadline counts from the arrival, however long the request then waits in front of the volume.
        "host.outstanding_max = 3\npreemption = { policy = \"deadline\", read_deadline = \"20 ms\" }",
    ];
    for host in hosts {
        let config = drive(host);
        let one = array("level = \"raid-0\"\ndrives = 1");
        let ftls = ftls(&config, &one, 3);
        let capacity = Geometry::new(&config.device()).logical_bytes();
        let requests = mix(capacity, 3_000, 900_000, 5);
        let alone = run(&config, ftls.clone(), None, &requests);
        assert!(alone.report.gc.collections > 100, "{host}: {} collections", alone.report.gc.collections);
        are_the_same(&run(&config, ftls, Some(&one), &requests), &alone, host);
    }
}

#[test]
fn an_array_of_one_full_drive_is_that_drive() {
    let config = drive("");
    let one = array("level = \"raid-0\"\ndrives = 1");
    let ftls = ftls(&config, &one, 3);
    // 1,700 writes of 40 pages at once are more than a drive's 65,536 transactions.
    let write = |at: u64| Request {
        arrival_ns: at * 1_000,
        offset_bytes: at % 100 * 4096,
        len_bytes: 40 * 4096,
        device: 0,
        op: Op::Write,
        priority: Priority::Normal,
    };
    let requests: Vec<Request> = (0..2_000).map(write).collect();
    let alone = run(&config, ftls.clone(), None, &requests);
    assert!(alone.report.held_by_transaction_limit > 300, "{}", alone.report.held_by_transaction_limit);
    are_the_same(&run(&config, ftls, Some(&one), &requests), &alone, "an overload");
}

/// A drive that has all transactions that it takes holds back only what is for it.
#[test]
fn a_full_drive_holds_back_only_its_own() {
    let config = drive("");
    let two = array("level = \"raid-0\"\ndrives = 2\nstripe_unit = \"256 KiB\"");
    let ftls = ftls(&config, &two, 3);
    let write = |arrival_ns, offset_bytes, len_bytes| Request {
        arrival_ns,
        offset_bytes,
        len_bytes,
        device: 0,
        op: Op::Write,
        priority: Priority::Normal,
    };
    // All of the first are for drive 0; the last is for drive 1, which has nothing else to do.
    let mut requests: Vec<Request> = (0..1_200).map(|at| write(at, 0, 64 * 4096)).collect();
    requests.push(write(2_000_000, 256 << 10, 4096));
    let outcome = run(&config, ftls, Some(&two), &requests);
    let last = outcome.requests.iter().find(|r| r.index == 1_200).expect("it ended");
    assert!(outcome.report.held_by_transaction_limit >= 170, "{}", outcome.report.held_by_transaction_limit);
    assert!(last.response_ns < 10_000_000, "{last:?}");
}

const LEVELS: &[&str] = &[
    "level = \"raid-0\"\ndrives = 3\nstripe_unit = \"16 KiB\"",
    "level = \"raid-1\"\ndrives = 2",
    "level = \"raid-1\"\ndrives = 3\nstripe_unit = \"8 KiB\"",
    "level = \"raid-10\"\ndrives = 4",
    "level = \"raid-5\"\ndrives = 3",
    "level = \"raid-5\"\ndrives = 5\nstripe_unit = \"16 KiB\"",
    "level = \"raid-6\"\ndrives = 4\nstripe_unit = \"8 KiB\"",
    "level = \"raid-6\"\ndrives = 6",
];

/// Whatever level, plan and failure: parity and data agree after every write, and drives return the newest of all that
/// they were given. `check` compares them after each operation.
#[test]
fn stripes_keep_their_parity() {
    let ways = ["", "partial = \"reconstruct\"", "partial = \"read-modify-write\"\nwrite_after = \"own\""];
    let mut degraded = 0;
    for (at, level) in (0..).zip(LEVELS) {
        for (way_at, way) in (0..).zip(ways) {
            for failed in ["", "failed = [1]", "failed = [0, 3]", "failed = [2]\nrebuild = \"20 MB/s\""] {
                let text = format!("gc_aware_reads = {}\n{level}\n{way}\n{failed}", way_at == 1);
                let array: ArrayConfig = copyback::config::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                if array.check().is_err() {
                    continue;
                }
                let config = drive("");
                let ftls = ftls(&config, &array, 10 + at);
                let drive_bytes = ftls[0].geometry.logical_bytes();
                let capacity = Volume::new(&array, drive_bytes, 4096, false).layout().capacity_bytes();
                let outcome = run(&config, ftls, Some(&array), &mix(capacity, 1_200, 2_000_000, way_at));
                let mut numbers: Vec<u64> = outcome.requests.iter().map(|r: &RequestRecord| r.index).collect();
                numbers.sort_unstable();
                assert_eq!(numbers, (0..1_200).collect::<Vec<_>>(), "{text}");
                degraded += u64::from(!failed.is_empty());
            }
        }
    }
    assert!(degraded > 30, "{degraded} arrays with failed drives");
}

/// Drives with the same past and the same requests collect at once, with or without coordination: there is nothing to
/// coordinate. With pasts of their own they collect at different times.
#[test]
fn drives_of_one_past_collect_at_once() {
    let config = drive("");
    let shares = |seeds: &str| {
        let array = array(&format!("level = \"raid-0\"\ndrives = 4\nseeds = \"{seeds}\""));
        let ftls = ftls(&config, &array, 3);
        let stripes = ftls[0].geometry.logical_bytes() / 4096;
        // Whole stripes: each drive writes the same units.
        let write = |at: u64| Request {
            arrival_ns: at * 4_000_000,
            offset_bytes: at * 7_919 % stripes * 4 * 4096,
            len_bytes: 4 * 4096,
            device: 0,
            op: Op::Write,
            priority: Priority::Normal,
        };
        let outcome = run(&config, ftls, Some(&array), &(0..2_000).map(write).collect::<Vec<_>>());
        let report = outcome.report.array.expect("it is an array");
        assert!(report.gc_share > 0.02, "{}", report.gc_share);
        report.collecting_shares
    };
    let same = shares("same");
    assert_eq!(same[1..4], [0.0; 3], "some collect and others do not: {same:?}");
    let own = shares("own");
    assert!(own[1] > own[4], "mostly one collects at a time: {own:?}");
}

/// Collections that share dies as tasks reserve no die, but their drive still counts as collecting, for as long as its
/// own clock says.
#[test]
fn a_drive_whose_collections_reserve_no_die_collects() {
    let task = "preemption = { policy = \"always\", victims = 2 }\nallocation = { policy = \"dynamic\" }\n\
                admit = { policy = \"strict\" }\norder = { policy = \"fifo\" }";
    let config = drive(task);
    let array = array("level = \"raid-0\"\ndrives = 1");
    let ftls = ftls(&config, &array, 3);
    let capacity = ftls[0].geometry.logical_bytes();
    let report = run(&config, ftls, Some(&array), &mix(capacity, 1_000, 2_000_000, 3)).report;
    let collecting_share = report.array.expect("it is an array").collecting_shares[1];
    // From the start of the run to its end, which may be later than the last request.
    let end_ns = report.gc.under_way_ns as f64 / collecting_share;
    assert!(report.gc.under_way_ns > 0 && collecting_share > 0.01, "{collecting_share}");
    let past_last_ns = end_ns - report.simulated_ns as f64;
    assert!((-1e6..100e6).contains(&past_last_ns), "{collecting_share} of {end_ns} ns, {} ns", report.simulated_ns);
}

/// A stripe unit that is larger than a drive would leave no volume at all.
#[test]
fn a_stripe_unit_fits_on_each_drive() {
    let mut config = drive("");
    let bytes = Geometry::new(&config.device()).logical_bytes();
    for (stripe_unit, is_refused) in [(bytes / 4096 * 4096, false), (bytes / 4096 * 4096 + 4096, true)] {
        config.array = Some(array(&format!("drives = 1\nstripe_unit = {stripe_unit}")));
        let image = precondition(&drive(""), 1).expect("a drive");
        let source = Box::new(mix(4096, 3, 900_000, 1).into_iter());
        let ran = simulate(&config, image, source, &Options::default(), &mut |_| {});
        let refused = ran.err().map(|error| match error {
            RunError::Config(error) => error.key,
            error => panic!("{error}"),
        });
        assert_eq!(refused, is_refused.then(|| "array.stripe_unit".into()), "{stripe_unit} of {bytes}");
    }
}

/// Host writes count as the host's, whichever drive has failed: a copy or the parity replaces the lost data.
#[test]
fn writes_to_a_failed_drive_are_of_the_host() {
    let config = drive("");
    let units = |array: &ArrayConfig| {
        let ftls = ftls(&config, array, 3);
        let capacity = Volume::new(array, ftls[0].geometry.logical_bytes(), 4096, false).layout().capacity_bytes();
        run(&config, ftls, Some(array), &mix(capacity, 500, 3_000_000, 7)).report.units_written
    };
    for level in ["level = \"raid-1\"\ndrives = 2", "level = \"raid-5\"\ndrives = 3", "level = \"raid-6\"\ndrives = 5"]
    {
        let whole = units(&array(level));
        assert!(whole > 500, "{level}: {whole}");
        for failed in 0..2 {
            assert_eq!(units(&array(&format!("{level}\nfailed = [{failed}]"))), whole, "{level}, drive {failed}");
        }
    }
}

/// A missing drive does not lower the reported shares of the others.
#[test]
fn a_failed_drive_is_left_out_of_shares() {
    let config = drive("");
    let array = array("level = \"raid-1\"\ndrives = 3\nfailed = [1]");
    let ftls = ftls(&config, &array, 3);
    let capacity = ftls[0].geometry.logical_bytes();
    let report = run(&config, ftls, Some(&array), &mix(capacity, 2_000, 3_000_000, 3)).report;
    let report = report.array.expect("it is an array");
    let [first, failed, last] = [0, 1, 2].map(|drive: usize| report.drives[drive].gc_share);
    assert!(failed == 0.0 && first > 0.01 && last > 0.01, "{first} {failed} {last}");
    assert!((report.gc_share - (first + last) / 2.0).abs() < 1e-12);
    assert!(report.gc_share_min == first.min(last));
}

/// The work of an array after its host is done serves no request, and lowers no share of the elapsed time.
#[test]
fn nothing_goes_on_when_the_host_is_done() {
    let config = drive("");
    let collecting_share = |more: &str| {
        let array = array(&format!("level = \"raid-5\"\ndrives = 3\nfailed = [0]\n{more}"));
        let ftls = ftls(&config, &array, 3);
        let capacity = Volume::new(&array, ftls[0].geometry.logical_bytes(), 4096, false).layout().capacity_bytes();
        let report = run(&config, ftls, Some(&array), &mix(capacity, 300, 3_000_000, 3)).report;
        let of_array = report.array.as_ref().expect("it is an array");
        of_array.drives[1].gc_share * report.simulated_ns as f64 / report.gc.under_way_ns.max(1) as f64
    };
    // One unit is rebuilt in two minutes: the next is due long after the last request.
    let (without, with) = (collecting_share(""), collecting_share("rebuild = \"34 B/s\""));
    assert!((with / without - 1.0).abs() < 0.05, "{with} against {without}");
}
