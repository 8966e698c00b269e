//! A collection has begun updates of the map, and a read of the host waits for one: the requests of that update that
//! have not entered a window become the host's.

use super::*;

/// Five dies. The map is in flash; DRAM can hold one translation page, and holds none yet. The first translation page
/// is on die 4; its next program goes to die 1. It has the entry of the data that `read_by_map` reads, on die 0.
fn mapped(slots: u32, share: f64) -> ManualDrive {
    mapped_with("", slots, share)
}

fn mapped_with(more: &str, slots: u32, share: f64) -> ManualDrive {
    let shares = format!("{{ policy = \"fixed\", gc = {share} }}");
    mapped_under(&format!("{{ policy = \"debit\", slots = {slots}, shares = {shares} }}"), more)
}

fn mapped_under(admit: &str, more: &str) -> ManualDrive {
    let settings = format!(
        "admit = {admit}
         mapping = {{ policy = \"map-cache\", cache = \"4 KiB\" }}
         {more}"
    );
    let mut drive = ManualDrive::with(5, &settings, |ftl| {
        for die in 0..5 {
            ftl.write_page(PlaneId(die), &[LogicalUnit(100 + die)], 0);
        }
        ftl.write_page(PlaneId(4), &[LogicalUnit(ftl.geometry.first_map_unit())], 0);
    });
    assert_eq!(drive.back_end.home(LogicalUnit(drive.back_end.geometry.first_map_unit())).die, DieId(1));
    drive.back_end.admission.control.set_active(B, true);
    drive
}

impl ManualDrive {
    /// The collection begins to update the first translation page: a read, and a program.
    fn update(&mut self) {
        self.back_end.update_owed(0, B, &mut self.events);
    }

    /// A read of the host that has to look up the place of its data.
    fn read_by_map(&mut self, name: &'static str) {
        let id = self.name(name, Txn::new(Role::Read, LogicalUnit(100), 1, DieId::NONE, PlaneId::NONE));
        self.back_end.look_up_first(id, &mut self.events);
        self.look();
    }

    /// Whether requests of the collection wait in front of a die.
    fn collection_waits(&self, die: u32) -> bool {
        self.back_end.admission.control.windows().waiting(DieId(die)).has(B)
    }
}

/// The collection may have one request in windows, and has: the first of nine reads on die 3, which take until 542,160.
/// The read of its update, for die 4, comes after them: it waits in front of the window, though die 4 is idle, until
/// the host's read waits for the update. From then on it is the host's, and enters. So the update is read (60,240) and
/// programmed (540,960), the page is read for the host (60,240), and then its data (60,240): 721,680, not 542,160
/// later.
#[test]
fn an_update_that_waits_in_front_of_its_window_enters_as_the_hosts() {
    let mut drive = mapped(4, 1.0);
    (0..9).for_each(|_| drive.submit("collected", B, Role::Read, 3));
    drive.update();
    assert_eq!((drive.debits(), drive.collection_waits(4)), ([0, 1], true));
    drive.read_by_map("read");
    assert_eq!((drive.debits(), drive.collection_waits(4)), ([1, 1], false));
    let ends = drive.ends();
    assert_eq!(ends[8..], [("collected", 9 * READ_NS), ("read", READ_NS + PROGRAM_NS + 2 * READ_NS)]);
}

/// The read of the update is under way already: only its program becomes the host's. Windows have one slot, and the
/// collection has two of the five: one for reads on die 3, one after the other, and one for the read of its update,
/// from 10,000 to 70,240. Two more of its reads wait for die 2, which a read of the host occupies until 60,240. They
/// are older than the update, and have the second slot from 70,240 to 190,720. The update's program does not wait for
/// that, but follows its read.
#[test]
fn the_program_of_an_update_whose_read_is_under_way_is_the_hosts() {
    let mut drive = mapped(1, 40.0);
    (0..9).for_each(|_| drive.submit("collected", B, Role::Read, 3));
    drive.submit("first read", A, Role::Read, 2);
    (0..2).for_each(|_| drive.submit("collected too", B, Role::Read, 2));
    drive.run_until(10_000);
    drive.update();
    assert_eq!((drive.debits(), drive.collection_waits(2)), ([1, 2], true));
    drive.read_by_map("read");
    assert_eq!(drive.debits(), [1, 2], "what has entered stays the collection's");
    drive.run_until(70_240);
    assert_eq!(drive.debits(), [1, 2], "dies 3 and 2, and for the host die 1");
    let ends = drive.ends();
    let update_ns = 70_240 + PROGRAM_NS;
    let expected = [
        ("collected", 9 * READ_NS),
        ("collected too", 70_240 + READ_NS),
        ("collected too", 70_240 + 2 * READ_NS),
        ("first read", READ_NS),
        ("read", update_ns + 2 * READ_NS),
    ];
    assert_eq!(ends[8..], expected);
}

/// Pages of the map fill for 10,000 ns before they go to flash, the page of the update until 70,240. It then waits in
/// front after the nine reads of the collection, which has one request in windows. A read of the host that arrives at
/// 80,000 makes it the host's, so that it enters at once. A read that arrives at 65,000, while the page fills, sends it
/// as it is. If awaited pages fill like others, the page instead enters as the host's when it is sent. The page is
/// programmed, then read for the host, and then its data is read.
#[test]
fn an_update_that_is_in_a_page_with_others_enters_as_the_hosts() {
    for (arrival_ns, awaited, enters_ns) in
        [(80_000, "at-once", 80_000), (65_000, "at-once", 65_000), (65_000, "waits", 70_240)]
    {
        let fill = format!("policy = \"single\", fill_limit = \"10 us\", fill_awaited = \"{awaited}\"");
        let mut drive = mapped_with(&format!("frontier = {{ {fill} }}"), 4, 1.0);
        drive.update();
        (0..9).for_each(|_| drive.submit("collected", B, Role::Read, 3));
        drive.run_until(arrival_ns);
        let (is_sent, waits) = (arrival_ns > 70_240, drive.collection_waits(1));
        assert_eq!((drive.debits(), waits), ([0, 1], is_sent), "{arrival_ns} ns");
        drive.read_by_map("read");
        let enters = u32::from(enters_ns == arrival_ns);
        assert_eq!((drive.debits(), drive.collection_waits(1)), ([enters, 1], false), "{arrival_ns} ns, {awaited}");
        let ends = drive.ends();
        assert_eq!(ends[8..], [("collected", 10 * READ_NS), ("read", enters_ns + PROGRAM_NS + 2 * READ_NS)]);
    }
}

/// An update for which no request waits stays the collection's: its read enters when the nine others have ended, at
/// 542,160, and its own program follows.
#[test]
fn an_update_for_which_nobody_waits_stays_the_collections() {
    let mut drive = mapped(4, 1.0);
    (0..9).for_each(|_| drive.submit("collected", B, Role::Read, 3));
    drive.update();
    drive.run_until(9 * READ_NS - 1);
    assert_eq!((drive.debits(), drive.collection_waits(4)), ([0, 1], true));
    drive.run_until(10 * READ_NS);
    assert_eq!((drive.debits(), drive.collection_waits(4)), ([0, 1], false));
    drive.run_until(u64::MAX);
    assert_eq!((drive.debits(), drive.most, drive.events.now_ns()), ([0, 0], [0, 1], 10 * READ_NS + PROGRAM_NS));
}

/// atc18 Section 5.2 (QoSFC): "virtual time as a measure of progress for each FTL task". The map is such a task: its
/// read does not count as the host's, which caused it. Under `debit` it does, unless the map has a share.
#[test]
fn a_read_of_the_map_is_a_task_of_its_own_under_qosfc() {
    for (admit, task) in [
        ("{ policy = \"qosfc\", slots = 1 }", Source::MAP),
        ("{ policy = \"debit\", slots = 1, shares = { policy = \"fixed\", gc = 20 } }", A),
    ] {
        let mut drive = mapped_under(admit, "");
        drive.submit("first read", A, Role::Read, 4);
        drive.read_by_map("read");
        let waiting = drive.back_end.admission.control.windows().waiting(DieId(4));
        assert_eq!([A, Source::MAP].map(|own| waiting.has(own)), [A, Source::MAP].map(|own| own == task), "{admit}");
    }
}
