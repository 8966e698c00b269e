//! Requests of several tasks enter windows as the rules of atc18 require, to the nanosecond.
//!
//! Timelines A1 to A7 are examples under these rules, worked out by hand. Each test that names one states its requests
//! and times. Tests of the policies (`dispatch::admit`) and of whole runs (`tests/it`) use them, too.
//!
//! A die has a channel of its own, one plane and pages of 16 KiB. The times are those of atc18's Table 1. Two tasks
//! submit requests by hand: A is the host, B collection.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::Source;
use crate::ftl::core::Ftl;
use crate::run::config::RunConfig;
use crate::run::preconditioning::preconditioned;
use crate::sim::index::{DieId, LogicalUnit, PlaneId, TxnId};
use crate::sim::queue::{EventQueue, Timer, kind};
use crate::ssd::alarms::{ALARMS, Alarm, Alarms, Timers};
use crate::ssd::back_end::BackEnd;

mod feedback;
mod guard;
mod map;

const READ_NS: u64 = 60_240;
const PROGRAM_NS: u64 = 540_960;
const A: Source = Source::HOST;
const B: Source = Source::GC;

struct ManualDrive {
    back_end: BackEnd,
    events: EventQueue,
    /// Ends `run_until`.
    clock: Timer,
    /// Requests and their names.
    names: Vec<(TxnId, &'static str)>,
    /// The end of each request.
    ends: Vec<(&'static str, u64)>,
    /// The most requests that A and B had in windows at once.
    most: [u32; 2],
    /// The share of B and the time from which it applied, if the policy has shares.
    shares: Vec<(u64, f64)>,
}

impl ManualDrive {
    fn new(dies: u32, admit: &str) -> Self {
        // Unit 100 + n is on die n, so that each die has data to read.
        Self::with(dies, &format!("admit = {admit}"), |ftl| {
            for die in 0..dies {
                ftl.write_page(PlaneId(die), &[LogicalUnit(100 + die)], 0);
            }
        })
    }

    /// A drive with these settings and some written data.
    fn with(dies: u32, more: &str, write: impl Fn(&mut Ftl)) -> Self {
        let mut table: toml::Table = toml::from_str(&format!(
            r#"
            preemption = {{ policy = "always" }}
            order = {{ policy = "fifo" }}
            compose = {{ policy = "list", builders = [] }}
            trigger = {{ policy = "watermark", soft = 1 }}
            capacity = {{ over_provisioning = 0.9 }}
            timing = {{ read = "50 us", program = "500 us", erase = "5 ms", channel = "400 MB/s" }}
            precondition = {{ mode = "empty" }}
            [geometry]
            channels = {dies}
            chips_per_channel = 1
            dies_per_chip = 1
            planes_per_die = 1
            blocks_per_plane = 16
            pages_per_block = 8
            page_size = "16 KiB"
            mapping_unit = "4 KiB"
            "#
        ))
        .expect("the base parses");
        table.extend(toml::from_str::<toml::Table>(more).expect("the test's settings parse"));
        let config: RunConfig = table.try_into().expect("a configuration");
        config.check().expect("the configuration is possible");
        let mut ftl = preconditioned(&config, 1).expect("an empty drive");
        write(&mut ftl);
        let timers = Timers { alarms: Alarms(0), first: ALARMS };
        let clock = Timer(ALARMS + BackEnd::timers(&ftl.geometry));
        let events = EventQueue::new(clock.0 as usize + 1);
        let back_end = BackEnd::new(&config.back_end(), ftl, timers, false, false);
        let (names, ends) = (Vec::new(), Vec::new());
        Self { back_end, events, clock, names, ends, most: [0; 2], shares: Vec::new() }
    }

    /// Submits a request of a task for a die: a read, or a program.
    fn submit(&mut self, name: &'static str, task: Source, role: Role, die: u32) {
        let (unit, plane) = match role {
            Role::Read => (LogicalUnit(100 + die), PlaneId::NONE),
            _ => (LogicalUnit(200 + self.names.len() as u32), PlaneId(die)),
        };
        let txn = Txn { task, ..Txn::new(role, unit, 1, DieId(die), plane) };
        let id = self.name(name, txn);
        self.back_end.submit(id, &mut self.events);
        self.look();
    }

    fn name(&mut self, name: &'static str, txn: Txn) -> TxnId {
        let id = self.back_end.add_txn(txn);
        assert!(self.names.iter().all(|&(other, _)| other != id), "no number is given twice");
        self.names.push((id, name));
        id
    }

    /// Handles all events up to a time, with everything that follows from them.
    fn run_until(&mut self, end_ns: u64) {
        if end_ns < u64::MAX {
            self.events.schedule(self.clock, end_ns);
        }
        self.back_end.dispatch_ready(&mut self.events);
        while let Some((now_ns, timer)) = self.events.pop()
            && timer != self.clock
        {
            match timer.0.checked_sub(ALARMS) {
                Some(local) => drop(self.back_end.on_event::<{ kind::ANY }>(local, &mut self.events)),
                None => self.back_end.on_alarm(Alarm::at(timer.0), &mut self.events),
            }
            while let Some(id) = self.back_end.take_done() {
                match self.names.iter().find(|&&(other, _)| other == id) {
                    Some(&(_, name)) => self.ends.push((name, now_ns)),
                    None => self.back_end.end_map_txn(id, &mut self.events),
                }
            }
            self.back_end.dispatch_ready(&mut self.events);
            self.look();
        }
    }

    fn look(&mut self) {
        let debits = self.debits();
        self.most = [0, 1].map(|task| self.most[task].max(debits[task]));
        let Some(share) = self.back_end.share_percent(B) else { return };
        if self.shares.last().is_none_or(|&(_, before)| before != share) {
            self.shares.push((self.events.now_ns(), share));
        }
    }

    fn debits(&self) -> [u32; 2] {
        [A, B].map(|task| self.back_end.admission.control.windows().debit(task))
    }

    fn ends(mut self) -> Vec<(&'static str, u64)> {
        self.run_until(u64::MAX);
        self.ends.sort_unstable();
        self.ends
    }
}

/// atc18 Fig. 3, both halves, worked out by hand: timeline A1. Limits 5 and 3 of eight slots.
#[test]
fn the_examples_of_debit_scheduling() {
    let shares = "{ policy = \"fixed\", gc = 37.5 }";
    let mut drive = ManualDrive::new(4, &format!("{{ policy = \"debit\", slots = 2, shares = {shares} }}"));
    drive.back_end.admission.control.set_active(B, true);
    for (name, task, role, die) in
        [("A0", A, Role::Write, 0), ("B0", B, Role::Read, 0), ("B1", B, Role::Write, 1), ("B3", B, Role::Read, 3)]
    {
        drive.submit(name, task, role, die);
    }
    assert_eq!(drive.debits(), [1, 3]);
    drive.submit("a1", A, Role::Read, 0);
    assert_eq!(drive.debits(), [1, 3], "chip 0 is full");
    drive.submit("a2", A, Role::Write, 2);
    assert_eq!(drive.debits(), [2, 3], "Fig. 3a: a2 enters past a1");
    drive.submit("b1", B, Role::Read, 0);
    drive.submit("b2", B, Role::Read, 1);
    assert_eq!(drive.debits(), [2, 3], "B is at its limit");
    drive.run_until(READ_NS);
    // Fig. 3b: B3 has ended, and b2 entered past b1.
    assert_eq!((drive.debits(), drive.back_end.admission.control.windows().used(DieId(1))), ([2, 3], 2));
    let expected = [
        ("A0", PROGRAM_NS),
        ("B0", 601_200),
        ("B1", PROGRAM_NS),
        ("B3", READ_NS),
        ("a1", 661_440),
        ("a2", PROGRAM_NS),
        ("b1", 721_680),
        ("b2", 601_200),
    ];
    assert_eq!(drive.ends(), expected);
}

/// Timeline A3: with one queue, a read of an idle chip waits for a request of a full chip; no other policy lets it
/// wait.
#[test]
fn one_queue_blocks_what_others_let_pass() {
    let end = |policy: &str| {
        let mut drive = ManualDrive::new(2, &format!("{{ policy = \"{policy}\", slots = 1 }}"));
        drive.submit("p", A, Role::Write, 0);
        drive.submit("r1", A, Role::Read, 0);
        drive.submit("r2", A, Role::Read, 1);
        drive.ends()
    };
    assert_eq!(end("vanilla"), [("p", PROGRAM_NS), ("r1", 601_200), ("r2", 601_200)]);
    for policy in ["window", "strict", "qosfc", "debit"] {
        assert_eq!(end(policy), [("p", PROGRAM_NS), ("r1", 601_200), ("r2", READ_NS)], "{policy}");
    }
}

/// The order in which one chip serves `count` requests of each of two tasks.
fn served(admit: &str, b: Role, count: usize) -> String {
    let mut drive = ManualDrive::new(1, admit);
    drive.back_end.admission.control.set_active(B, true);
    (0..count).for_each(|_| drive.submit("A", A, Role::Read, 0));
    (0..count).for_each(|_| drive.submit("B", B, b, 0));
    drive.run_until(u64::MAX);
    drive.ends.iter().map(|(name, _)| *name).collect()
}

/// Timeline A4: tasks with equal costs and weights 3/4 and 1/4, and then reads and programs with equal weights, which
/// get equal time.
#[test]
fn fair_queueing_gives_time_by_weight() {
    let weights = |host: f64, gc: f64| format!("{{ policy = \"qosfc\", slots = 1, host = {host}, gc = {gc} }}");
    assert!(served(&weights(0.75, 0.25), Role::Read, 9).starts_with("ABAAABAAAB"));
    assert!(served(&weights(0.5, 0.5), Role::Write, 20).starts_with("ABAAAAAAAAB"));
}

/// The rest of timeline A4. Two tasks with limits of one request each always have more requests; A reads and B
/// programs. They take turns, so that they get equal numbers and not equal time. The chip's window has two slots, of
/// which a share of half leaves each task one. A task whose request ends makes room only for its own next request; that
/// is served after the other's, which is in the window already. With a window of one slot, each task would also have a
/// limit of one, but the next request would be drawn at random.
#[test]
fn equal_limits_of_one_request_take_turns() {
    let admit = "{ policy = \"debit\", slots = 2, shares = { policy = \"fixed\", gc = 50 } }";
    assert_eq!(served(admit, Role::Write, 10), "ABABABABABABABABABAB");
}

/// The host always goes first.
#[test]
fn strict_priorities_serve_the_host_first() {
    assert_eq!(served("{ policy = \"strict\", slots = 1 }", Role::Read, 4), "AAAABBBB");
}
