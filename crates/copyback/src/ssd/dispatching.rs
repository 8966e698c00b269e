//! Do requests of several tasks enter windows as the timelines of atc18 have it, to the nanosecond?
//!
//! A die has a channel of its own, one plane and pages of 16 KiB; times are those of atc18's Table 1. Two tasks hand
//! over requests by hand: A is the host, B collection.

use super::alarms::{ALARMS, Alarm, Alarms, Timers};
use super::drive::Drive;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::Source;
use crate::run::config::RunConfig;
use crate::run::preconditioning::preconditioned;
use crate::sim::index::{DieId, LogicalUnit, PlaneId, TxnId};
use crate::sim::queue::EventQueue;

const READ_NS: u64 = 60_240;
const PROGRAM_NS: u64 = 540_960;
const A: Source = Source::Host;
const B: Source = Source::Gc;

struct Hand {
    drive: Drive,
    events: EventQueue,
    /// Names of requests, by their transactions.
    names: Vec<&'static str>,
    /// Who ended when.
    ends: Vec<(&'static str, u64)>,
}

impl Hand {
    fn new(dies: u32, admit: &str) -> Self {
        let text = format!(
            r#"
            preemption = {{ policy = "always" }}
            order = {{ policy = "fifo" }}
            compose = {{ policy = "list", builders = [] }}
            trigger = {{ policy = "watermark", soft = 1 }}
            capacity = {{ over_provisioning = 0.9 }}
            timing = {{ read = "50 us", program = "500 us", erase = "5 ms", channel = "400 MB/s" }}
            precondition = {{ mode = "empty" }}
            admit = {admit}
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
        );
        let config: RunConfig = toml::from_str(&text).expect("a configuration");
        config.check().expect("the configuration is possible");
        let mut ftl = preconditioned(&config, 1).expect("an empty drive");
        // Unit 100 + n of die n, so that each has something to read.
        for die in 0..dies {
            ftl.write_page(PlaneId(die), &[LogicalUnit(100 + die)], 0);
        }
        let timers = Timers { alarms: Alarms(0), first: ALARMS };
        let events = EventQueue::new((ALARMS + Drive::timers(&ftl.geometry)) as usize);
        let drive = Drive::new(&config.drive(), ftl, timers, false, false);
        Self { drive, events, names: Vec::new(), ends: Vec::new() }
    }

    /// A task hands over a request for a die: a read, or a program.
    fn hand(&mut self, name: &'static str, task: Source, role: Role, die: u32) {
        let (unit, plane) = match role {
            Role::Read => (LogicalUnit(100 + die), PlaneId::NONE),
            _ => (LogicalUnit(200 + self.names.len() as u32), PlaneId(die)),
        };
        let txn = Txn { task, ..Txn::new(role, unit, 1, DieId(die), plane) };
        let id = self.drive.add_txn(txn);
        assert_eq!(id.at(), self.names.len(), "no number is given twice");
        self.names.push(name);
        self.drive.submit(id, &mut self.events);
    }

    /// Dies take what they can, and time goes on until this moment.
    fn run_until(&mut self, end_ns: u64) {
        self.drive.dispatch_ready(&mut self.events);
        while self.events.now_ns() < end_ns {
            let Some((now_ns, timer)) = self.events.pop() else { return };
            match timer.0.checked_sub(ALARMS) {
                Some(local) => drop(self.drive.on_event(local, &mut self.events)),
                None => self.drive.on_alarm(Alarm::at(timer.0), &mut self.events),
            }
            self.drive.dispatch_ready(&mut self.events);
            while let Some(TxnId(id)) = self.drive.take_done() {
                self.ends.push((self.names[id as usize], now_ns));
            }
        }
    }

    fn debits(&self) -> [u32; 2] {
        [A, B].map(|task| self.drive.windows.debit(task))
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
    let mut hand = Hand::new(4, &format!("{{ policy = \"debit\", slots = 2, shares = {shares} }}"));
    hand.drive.windows.set_active(B, true);
    for (name, task, role, die) in
        [("A0", A, Role::Write, 0), ("B0", B, Role::Read, 0), ("B1", B, Role::Write, 1), ("B3", B, Role::Read, 3)]
    {
        hand.hand(name, task, role, die);
    }
    assert_eq!(hand.debits(), [1, 3]);
    hand.hand("a1", A, Role::Read, 0);
    assert_eq!(hand.debits(), [1, 3], "chip 0 is full");
    hand.hand("a2", A, Role::Write, 2);
    assert_eq!(hand.debits(), [2, 3], "Fig. 3a: a2 enters past a1");
    hand.hand("b1", B, Role::Read, 0);
    hand.hand("b2", B, Role::Read, 1);
    assert_eq!(hand.debits(), [2, 3], "B is at its limit");
    hand.run_until(READ_NS);
    // Fig. 3b: B3 has ended, and b2 entered past b1.
    assert_eq!((hand.debits(), hand.drive.windows.used(DieId(1))), ([2, 3], 2));
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
    assert_eq!(hand.ends(), expected);
}

/// Timeline A3: one queue blocks a read of an idle chip behind one of a chip that is full; nobody else does.
#[test]
fn one_queue_blocks_what_others_let_pass() {
    let end = |policy: &str| {
        let mut hand = Hand::new(2, &format!("{{ policy = \"{policy}\", slots = 1 }}"));
        hand.hand("p", A, Role::Write, 0);
        hand.hand("r1", A, Role::Read, 0);
        hand.hand("r2", A, Role::Read, 1);
        hand.ends()
    };
    assert_eq!(end("vanilla"), [("p", PROGRAM_NS), ("r1", 601_200), ("r2", 601_200)]);
    for policy in ["window", "strict", "qosfc", "debit"] {
        assert_eq!(end(policy), [("p", PROGRAM_NS), ("r1", 601_200), ("r2", READ_NS)], "{policy}");
    }
}

/// The order in which requests of two tasks are served by one chip, of `count` each.
fn served(admit: &str, b: Role, count: usize) -> String {
    let mut hand = Hand::new(1, admit);
    (0..count).for_each(|_| hand.hand("A", A, Role::Read, 0));
    (0..count).for_each(|_| hand.hand("B", B, b, 0));
    hand.run_until(u64::MAX);
    hand.ends.iter().map(|(name, _)| *name).collect()
}

/// Timeline A4: weights 3/4 and 1/4 of equal costs, and 1/2 and 1/2 of a read and a program: equal time.
#[test]
fn fair_queueing_gives_time_by_weight() {
    let weights = |host: f64, gc: f64| format!("{{ policy = \"qosfc\", slots = 1, host = {host}, gc = {gc} }}");
    assert!(served(&weights(0.75, 0.25), Role::Read, 9).starts_with("ABAAABAAAB"));
    assert!(served(&weights(0.5, 0.5), Role::Write, 20).starts_with("ABAAAAAAAAB"));
}

/// The host goes first, always.
#[test]
fn strict_priorities_serve_the_host_first() {
    assert_eq!(served("{ policy = \"strict\", slots = 1 }", Role::Read, 4), "AAAABBBB");
}
