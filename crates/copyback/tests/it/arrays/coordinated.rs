//! Coordinated drives: no request starves, whatever time messages take. Drives that cannot be coordinated, or have no
//! requests, are left alone. All runs end, even with paused collections.

use copyback::array::ArrayConfig;
use copyback::array::coordination::CoordinationConfig;
use copyback::flash::geometry::Geometry;
use copyback::host::config::Target;
use copyback::observe::array_report::{CoordinationTotals, RoundTotals};
use copyback::observe::report::{GcEvent, RequestRecord};
use copyback::run::config::RunConfig;
use copyback::run::precondition;
use copyback::run::preconditioning::preconditioned;
use copyback::run::simulation::{Setup, Simulation};
use copyback::run::{Options, RunError, simulate_drives};
use copyback::tasks::gc::trigger::{FreeLevel, TriggerPolicy};
use copyback::workload::{Op, Priority, Request, rng};
use rand::RngExt;

/// Four dies of two planes; coordination starts well above the last resort.
const DRIVE: &str = r#"
timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "200 MB/s" }
trigger = { policy = "watermark", soft = 4, report = 5 }
precondition = { mode = "random", overwrites = 1.0 }
capacity = { over_provisioning = 0.8 }
geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = 2, blocks_per_plane = 16, pages_per_block = 8, page_size = "4 KiB" }
"#;

const POLICIES: [&str; 4] = ["reactive-inclusive", "reactive-selective", "proactive-idle", "proactive-soft-limit"];

/// That drive, with these tables instead of its tables of the same names.
fn drive(more: &str) -> RunConfig {
    let mut table: toml::Table = toml::from_str(DRIVE).expect("the drive");
    table.extend(toml::from_str::<toml::Table>(more).unwrap_or_else(|e| panic!("{e}\n{more}")));
    let config: RunConfig = table.try_into().unwrap_or_else(|e| panic!("{e}\n{more}"));
    config.check().unwrap_or_else(|e| panic!("{e}\n{more}"));
    config
}

fn coordination(text: &str) -> CoordinationConfig {
    copyback::config::from_toml(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

struct Ran {
    coordination: Vec<Option<CoordinationTotals>>,
    collections: Vec<Vec<GcEvent>>,
    requests: Vec<RequestRecord>,
    rounds: RoundTotals,
}

impl Ran {
    fn sum(&self, of: fn(&CoordinationTotals) -> u64) -> u64 {
        self.coordination.iter().flatten().map(of).sum()
    }
}

/// Runs equal drives; `coordinated` is empty if no drive is coordinated.
fn run(config: &RunConfig, array: &str, coordinated: &str, requests: &[Request]) -> Ran {
    let array: ArrayConfig = copyback::config::from_toml(array).unwrap_or_else(|e| panic!("{e}\n{array}"));
    let ftl = |number| preconditioned(config, array.seed_of(number, 5)).expect("a drive");
    let mut source = Vec::from(requests).into_iter();
    let setup = Setup {
        host: config.host.clone(),
        source: &mut source,
        requests: None,
        check: true,
        keep_gc_events: true,
        keep_requests: true,
    };
    let mut simulation = Simulation::new((0..array.drives).map(|number| (config, ftl(number))).collect(), setup);
    let policy = if coordinated.is_empty() { CoordinationConfig::default() } else { coordination(coordinated) };
    simulation.form_array(&array, &policy);
    let mut calls = 0;
    let ran = simulation.run(&mut |progress| {
        calls += 1;
        assert!(calls < 160, "the run does not end: {progress:?}");
    });
    ran.expect("the run ends well");
    let ran = Ran {
        coordination: simulation.back_ends().map(|drive| drive.coordination_totals()).collect(),
        collections: simulation.back_ends().map(|drive| drive.counters().gc_events().to_vec()).collect(),
        requests: simulation.collector.take_records(),
        rounds: simulation.rounds().unwrap_or_default(),
    };
    assert_eq!(ran.requests.len(), requests.len());
    for (coordination, collections) in ran.coordination.iter().zip(&ran.collections) {
        let Some(coordination) = coordination else { continue };
        // Nothing collects for another reason.
        assert_eq!(
            coordination.forced_collections + coordination.last_resort_collections,
            collections.len() as u64,
            "{coordination:?}"
        );
    }
    ran
}

/// Requests for the drives, or for the volume if there is one: `gap_ns` apart on average, with silence after each
/// `burst` of them.
struct Mix {
    capacity: u64,
    drives: u32,
    count: usize,
    gap_ns: u64,
    burst: usize,
    silence_ns: u64,
    writes: f64,
}

impl Mix {
    fn of(config: &RunConfig, drives: u32, count: usize, gap_ns: u64) -> Self {
        let capacity = Geometry::new(&config.device()).logical_bytes();
        Self { capacity, drives, count, gap_ns, burst: usize::MAX, silence_ns: 0, writes: 0.8 }
    }

    fn requests(&self, seed: u64) -> Vec<Request> {
        let mut stream = rng::stream(seed, "test.requests");
        let mut arrival_ns = 0;
        let mut one = |at: usize| {
            arrival_ns += stream.random_range(0..2 * self.gap_ns);
            arrival_ns += if at % self.burst == self.burst - 1 { self.silence_ns } else { 0 };
            let op = if stream.random_bool(self.writes) { Op::Write } else { Op::Read };
            let len_bytes = [4096, 8192, 5000, 20_000][stream.random_range(0..4usize)];
            let offset_bytes = stream.random_range(0..=(self.capacity - len_bytes) / 512) * 512;
            let device = stream.random_range(0..self.drives);
            Request { arrival_ns, offset_bytes, len_bytes, device, op, priority: Priority::Normal }
        };
        (0..self.count).map(&mut one).collect()
    }
}

/// The same drive for requests that name drives.
fn named() -> RunConfig {
    let mut config = drive("");
    config.host.target = Target::Drive;
    config
}

/// Messages arrive too late by hundreds of collections: each drive collects by itself, and these collections are
/// counted.
#[test]
fn messages_that_take_a_second_starve_nobody() {
    let config = drive("");
    let requests = Mix::of(&config, 1, 6_000, 900_000).requests(1);
    for policy in POLICIES {
        let played = |latency: &str| {
            let text = format!("policy = \"ggc-{policy}\"\nmessage_latency = \"{latency}\"");
            run(&config, "drives = 2", &text, &requests)
        };
        let (late, at_once) = (played("1 s"), played("0 ns"));
        for (number, coordination) in late.coordination.iter().flatten().enumerate() {
            assert!(coordination.last_resort_collections > 100, "{policy}, drive {number}: {coordination:?}");
            assert!(coordination.forced > 0, "{policy}, drive {number}: {coordination:?}");
        }
        let slowest_ns = late.requests.iter().map(|r| r.response_ns).max().expect("there are requests");
        assert!(slowest_ns < 500_000_000, "{policy}: somebody waited for {slowest_ns} ns");
        let [late, at_once] = [&late, &at_once].map(|ran| ran.sum(|coordination| coordination.last_resort_collections));
        assert!(at_once * 10 < late, "{policy}: {at_once} at the last resort without latency, {late} with it");
    }
}

/// A drive that cannot be coordinated has the same results as without the others, which are forced together.
#[test]
fn a_drive_that_cannot_be_coordinated_collects_by_itself() {
    let config = named();
    let requests = Mix::of(&config, 3, 6_000, 400_000).requests(2);
    let array = "drives = 3\n[[override]]\ndrives = [1]\ncoordinated = false";
    let left_alone = run(&config, array, "", &requests);
    for policy in POLICIES {
        let ran = run(&config, array, &format!("policy = \"ggc-{policy}\""), &requests);
        assert_eq!(ran.coordination[1], None, "{policy}");
        assert_eq!(ran.collections[1], left_alone.collections[1], "{policy}");
        assert!(ran.collections[1].len() > 100, "{policy}: {} collections", ran.collections[1].len());
        let own = |ran: &Ran| -> Vec<RequestRecord> {
            ran.requests.iter().filter(|r| requests[r.index as usize].device == 1).copied().collect()
        };
        assert_eq!(own(&ran), own(&left_alone), "{policy}");
        assert_ne!(ran.collections[0], left_alone.collections[0], "{policy}");
        let [first, last] = [0, 2].map(|drive| ran.coordination[drive].expect("it is coordinated").forced);
        assert!(first > 0 && last > 0, "{policy}: {first} and {last} times forced");
        if policy == "reactive-inclusive" {
            assert_eq!((first, ran.rounds.drives_forced), (last, first + last));
        }
    }
}

/// Only drive 1 is written: its elements agree with each other, and with no other drive.
#[test]
fn rounds_of_one_drive_leave_the_others_alone() {
    let config = named();
    let mut requests = Mix::of(&config, 1, 3_000, 900_000).requests(3);
    requests.iter_mut().for_each(|request| request.device = 1);
    let play =
        |more: &str| run(&config, "drives = 3", &format!("policy = \"ggc-reactive-inclusive\"\n{more}"), &requests);
    let (apart, together) = (play("scope = \"drive\""), play(""));
    let forced = |ran: &Ran| {
        ran.coordination.iter().map(|coordination| coordination.expect("it is coordinated").forced).collect::<Vec<_>>()
    };
    let rounds = apart.rounds.rounds;
    assert!(rounds > 10, "{rounds} rounds");
    // A round that has not ended with the run does not count.
    let forced_in_all = apart.rounds.drives_forced;
    assert!((rounds..=rounds + 1).contains(&forced_in_all), "{forced_in_all} times forced in {rounds} rounds");
    assert_eq!(forced(&apart), [0, forced_in_all, 0]);
    assert_eq!(apart.collections.iter().map(|all| all.is_empty()).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(forced(&together), [together.rounds.rounds; 3]);
    assert!(together.collections.iter().all(|all| !all.is_empty()));
    // A round is one of all elements: those that have enough collect, too.
    let dies: Vec<usize> = (0..4).map(|die| apart.collections[1].iter().filter(|c| c.die == die).count()).collect();
    assert!(dies.iter().all(|&count| count as u64 >= rounds), "{dies:?} collections in {rounds} rounds");
}

/// tc12 Section 4.3.2: drives collect before one of them must, in a "state in which a GGC cycle would be beneficial".
/// Only polls tell the coordinator of it: without writes, no plane falls to a watermark.
#[test]
fn polled_drives_collect_before_one_must() {
    let config = drive("trigger = { policy = \"watermark\", soft = 4, report = 12 }");
    let reads = Mix { writes: 0.0, burst: 20, silence_ns: 30_000_000, ..Mix::of(&config, 2, 200, 900_000) }.requests(6);
    let rounds = |policy: &str| run(&config, "drives = 2", &format!("policy = \"{policy}\""), &reads).rounds.rounds;
    assert_eq!(rounds("ggc-reactive-selective"), 0, "no drive must collect");
    assert!(rounds("ggc-proactive-soft-limit") > 0, "all drives are below the middle");
}

/// At its last resort a scope has only the blocks that its planes keep for moves, one each, or fewer if `soft` is that
/// low; and it has reported before.
#[test]
fn the_last_resort_is_what_is_kept_for_moves() {
    for (scope, soft, kept) in [("plane", "0.25", 1), ("die", "0.25", 2), ("device", "0.25", 8), ("plane", "2", 0)] {
        let config = drive(&format!("trigger = {{ policy = \"watermark\", scope = \"{scope}\", soft = {soft} }}"));
        let trigger = config.trigger.build(&Geometry::new(&config.device()));
        let is_last = |free| trigger.level_of(free) == FreeLevel::LastResort;
        assert_eq!((is_last(kept), is_last(kept + 1)), (true, false), "{scope}, {soft}");
        assert_eq!(trigger.level_of(kept + 1), FreeLevel::Start, "{scope}, {soft}");
    }
}

/// If writes wait for a page, their plane collects, whatever is free elsewhere, and whatever the last resort's level.
#[test]
fn writes_that_wait_for_a_page_are_a_last_resort() {
    let triggers = [
        "soft = 1, report = 1, last_resort = 0",
        "scope = \"die\", soft = 3, last_resort = 0",
        "scope = \"device\", soft = 9, last_resort = 0",
        "count = \"pages\", soft = 1, last_resort = 0",
    ];
    for trigger in triggers {
        let config = drive(&format!("trigger = {{ policy = \"watermark\", {trigger} }}"));
        let requests = Mix::of(&config, 1, 3_000, 900_000).requests(4);
        let late = "policy = \"ggc-reactive-inclusive\"\nmessage_latency = \"1 s\"";
        let ran = run(&config, "drives = 1", late, &requests);
        assert!(
            ran.sum(|coordination| coordination.last_resort_collections) > 100,
            "{trigger}: {:?}",
            ran.coordination
        );
    }
}

/// Levels of dies and of the device are reported like those of planes, also those of triggers that wait for a request.
#[test]
fn whatever_the_scope_a_drive_asks_for_a_round() {
    for trigger in [
        "soft = 4, report = 5",
        "scope = \"die\", soft = 8, report = 10",
        "scope = \"device\", soft = 32, report = 40",
        "scope = \"device\", soft = 32, report = 40, when = \"waiting\"",
        "soft = 4, report = 5, when = \"waiting\"",
    ] {
        let config = drive(&format!("trigger = {{ policy = \"watermark\", {trigger} }}"));
        let requests = Mix::of(&config, 1, 4_000, 900_000).requests(5);
        let ran = run(&config, "drives = 2", "policy = \"ggc-reactive-selective\"", &requests);
        for coordination in ran.coordination.iter().flatten() {
            assert!(coordination.forced > 20, "{trigger}: {coordination:?}");
            assert!(
                coordination.last_resort_collections * 10 < coordination.forced_collections,
                "{trigger}: {coordination:?}"
            );
        }
    }
}

/// Drives whose collections are paused while requests arrive in bursts: all work that is under way there ends.
#[test]
fn nothing_is_stuck_where_collections_stand_still() {
    let rows = "geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 4, \
                blocks_per_plane = 16, pages_per_block = 8, page_size = \"4 KiB\" }\n\
                commands = { plane_pairs = true }\nfrontier = { policy = \"row\" }\ngranularity = { policy = \"aligned\" }";
    let global = "granularity = { policy = \"block\", destination = \"global\" }";
    let polls = "preemption = { policy = \"deadline\", poll = \"300 us\" }";
    let wear = "tasks = { wear = { threshold = 2 } }\nadmit = { policy = \"window\", slots = 2 }";
    let kinds = [
        "",
        rows,
        global,
        polls,
        wear,
        "preemption = { policy = \"points\" }\ncompose = { policy = \"list\", gc = [\"gc+host\", \"merge\", \"pipeline\"] }",
        "preemption = { policy = \"points\" }\ngranularity = { policy = \"block\", destination = \"global\" }",
        "frontier = { policy = \"second-active\" }",
        "mapping = { policy = \"dftl\", cache = \"16 KiB\" }",
        "granularity = { policy = \"paired\" }\nallocation = { policy = \"dynamic\" }",
    ];
    for kind in kinds {
        let config = drive(kind);
        let mix = Mix { burst: 40, silence_ns: 12_000_000, ..Mix::of(&config, 1, 2_500, 1_000_000) };
        let mut pauses = 0;
        for (seed, more) in (0..).zip(["", "message_latency = \"2 ms\"", "force_collections = 0"]) {
            let text = format!("policy = \"ggc-proactive-idle\"\nidle_after = \"2 ms\"\n{more}");
            pauses += run(&config, "drives = 2", &text, &mix.requests(seed)).sum(|coordination| coordination.pauses);
        }
        assert!(pauses > 10, "{kind}: {pauses} pauses");
    }
}

/// A plane with a paused collection that falls below the level of a round requests one; it need not wait for the last
/// resort.
#[test]
fn a_plane_that_pauses_asks_for_a_round() {
    let config = drive("trigger = { policy = \"watermark\", soft = 5, report = 6 }");
    // A silence in which collection begins, and then no other.
    let mix = Mix { burst: 60, silence_ns: 15_000_000, ..Mix::of(&config, 1, 3_000, 2_000_000) };
    let text = "policy = \"ggc-proactive-idle\"\nidle_after = \"10 ms\"";
    let ran = run(&config, "drives = 1", text, &mix.requests(6));
    let coordination = ran.coordination[0].expect("it is coordinated");
    assert!(coordination.pauses >= 5, "{coordination:?}");
    assert_eq!(coordination.last_resort_collections, 0, "{coordination:?}");
}

/// A polled drive that waits for an event that never comes ends the run, with a reason.
#[test]
fn polls_do_not_keep_a_run_alive_that_is_stuck() {
    let tasks = "preemption = { policy = \"always\" }\nadmit = { policy = \"debit\", guard = 0, \
                 shares = { policy = \"fixed\", gc = 0 } }";
    let mut config = drive(tasks);
    config.coordination = coordination("policy = \"ggc-proactive-idle\"");
    let array = "drives = 1\n[[override]]\ndrives = [0]\ncoordinated = false";
    config.array = Some(copyback::config::from_toml(array).expect("an array"));
    let requests = Mix { writes: 1.0, ..Mix::of(&config, 1, 4_000, 300_000) }.requests(7);
    let image = precondition(&config, 5).expect("a drive");
    let mut calls = 0;
    let ran = simulate_drives(
        &config,
        vec![(&config, image)],
        Box::new(requests.into_iter()),
        &Options::default(),
        &mut |progress| {
            calls += 1;
            assert!(calls < 160, "the run does not end: {progress:?}");
        },
    );
    assert!(matches!(ran, Err(RunError::CollectionKeptOut { .. })), "{:?}", ran.err());
}

/// Settings that contradict coordination are refused for coordinated drives, and for no others. Similar settings are
/// accepted.
#[test]
fn what_contradicts_coordination_is_refused() {
    let rows = [
        ("reactive-inclusive", "", None),
        ("reactive-inclusive", "preemption = { policy = \"ideal\" }", Some("coordination.policy")),
        ("reactive-inclusive", "preemption = { policy = \"always\" }", Some("coordination.policy")),
        (
            "reactive-inclusive",
            "trigger = { policy = \"watermark\", soft = 4, idle = { after = \"1 ms\", stop = 5 } }",
            Some("trigger.idle"),
        ),
        ("reactive-inclusive", "trigger = { policy = \"watermark\", soft = 4, stagger = 1 }", Some("trigger.stagger")),
        ("reactive-inclusive", "admit = { policy = \"window\", slots = 1 }", None),
        ("proactive-idle", "admit = { policy = \"window\", slots = 1 }", Some("admit.slots")),
        ("proactive-idle\"\non_request = \"finish-collection", "admit = { policy = \"window\", slots = 1 }", None),
        ("proactive-idle", "admit = { policy = \"window\", slots = 2 }", None),
    ];
    for (policy, more, refused) in rows {
        let mut config = drive("");
        config.coordination = coordination(&format!("policy = \"ggc-{policy}\""));
        config.array = Some(copyback::config::from_toml("drives = 2").expect("an array"));
        let mut other = drive(more);
        // Alone, and as the second of two, the first of which is a different drive.
        other.coordination = config.coordination.clone();
        assert_eq!(other.check().err().map(|e| e.key), refused.map(Into::into), "{policy} {more}");
        other.coordination = CoordinationConfig::default();
        for (text, refused) in [("", refused), ("\n[[override]]\ndrives = [1]\ncoordinated = false", None)] {
            config.array = Some(copyback::config::from_toml(&format!("drives = 2{text}")).expect("an array"));
            let images = [&config, &other].map(|drive| (drive, precondition(drive, 1).expect("a drive"))).to_vec();
            let source = Box::new(Mix::of(&config, 1, 20, 900_000).requests(1).into_iter());
            let ran = simulate_drives(&config, images, source, &Options::default(), &mut |_| {});
            let key = ran.err().map(|e| match e {
                RunError::Config(e) => e.key,
                e => panic!("{e}"),
            });
            assert_eq!(key, refused.map(Into::into), "{policy} {more} {text}");
        }
    }
}
