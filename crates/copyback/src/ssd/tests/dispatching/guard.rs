//! The guard keeps a drive alive at its reserve, while a write waits for a page that only a collection can free
//! (timeline A7, see the parent module). These tests also check what it does not change.

use super::*;

/// Two dies that have written all blocks but the one that is kept for moves, so that no host write finds a page. The
/// first `valid_pages` pages of each block hold a valid unit each; later pages, but for the last of a die, were
/// overwritten.
fn at_its_reserve(admit: &str, valid_pages: u32) -> ManualDrive {
    ManualDrive::with(2, &format!("admit = {admit}"), |ftl| {
        let mut valid = (300..).map(LogicalUnit);
        for die in 0..2 {
            for page in 0..15 * 8 {
                let unit = if page % 8 < valid_pages { valid.next().unwrap() } else { LogicalUnit(100 + die) };
                ftl.write_page(PlaneId(die), &[unit], 0);
            }
        }
    })
}

fn debit(slots: u32, guard: u32, share: f64) -> String {
    format!(
        "{{ policy = \"debit\", slots = {slots}, guard = {guard}, shares = {{ policy = \"fixed\", gc = {share} }} }}"
    )
}

/// Timeline A7: at 0 four reads of the host fill the window of each chip, a write without a page waits at each, and one
/// more read in front of each window.
fn a7(admit: &str) -> ManualDrive {
    let mut drive = at_its_reserve(admit, 1);
    let mut submit_both = |name, role| (0..2).for_each(|die| drive.submit(name, A, role, die));
    ["read", "read", "read", "fourth read"].into_iter().for_each(|name| submit_both(name, Role::Read));
    submit_both("write", Role::Write);
    submit_both("fifth read", Role::Read);
    let collecting = [0, 1].map(|plane| drive.back_end.gc.relocations.is_relocating_on(PlaneId(plane)));
    assert_eq!((drive.back_end.dies.waiting_for_space(), collecting, drive.debits()), (2, [true, false], [8, 0]));
    drive
}

/// The requests that wait in front of chip 0 when the first reads have ended, and the requests in windows.
fn after_the_first_reads(drive: &mut ManualDrive) -> ([bool; 2], [u32; 2]) {
    drive.run_until(READ_NS - 1);
    assert_eq!((drive.debits(), drive.ends.len()), ([8, 0], 0));
    drive.run_until(READ_NS);
    assert_eq!(drive.ends, [("read", READ_NS); 2]);
    ([A, B].map(|task| drive.back_end.admission.control.windows().waiting(DieId(0)).has(task)), drive.debits())
}

/// With a guard of one request the collection gets the first slot of chip 0 that becomes free, at 60,240, and the
/// host's fifth read still waits there. Debits and fixed priorities agree; the latter would otherwise let the host go
/// first. The collection reads after the host's fourth read and before the fifth, 60,240 each; on chip 1 no request
/// comes between. The run ends: the writes get their pages.
#[test]
fn a_collection_enters_the_first_slot_before_the_host() {
    for admit in [debit(4, 1, 0.0), "{ policy = \"strict\", slots = 4, guard = 1 }".to_owned()] {
        let mut drive = a7(&admit);
        assert_eq!(after_the_first_reads(&mut drive), ([true, false], [7, 1]), "{admit}");
        drive.run_until(u64::MAX);
        let of_name = |name: &str| drive.ends.iter().filter(|(n, _)| *n == name).map(|end| end.1).collect::<Vec<_>>();
        assert_eq!(of_name("fourth read"), [4 * READ_NS; 2], "{admit}");
        assert_eq!(of_name("fifth read"), [5 * READ_NS, 6 * READ_NS], "{admit}");
        assert_eq!(
            (drive.ends.len(), drive.back_end.dies.waiting_for_space(), drive.debits()),
            (12, 0, [0, 0]),
            "{admit}"
        );
        // After the fifth read the collection's unit is programmed into a block whose other pages the host then uses.
        assert_eq!(of_name("write")[0], 6 * READ_NS + 2 * PROGRAM_NS, "{admit}");
    }
}

/// Without a guard a collection whose share is 0 never enters: the reads end, and then no event follows. With fixed
/// priorities it enters when no request of the host waits in front of the window of its chip.
#[test]
fn without_a_guard_nobody_helps_the_host() {
    let mut drive = a7(&debit(4, 0, 0.0));
    assert_eq!(after_the_first_reads(&mut drive), ([false, true], [8, 0]));
    drive.run_until(u64::MAX);
    assert_eq!((drive.ends.len(), drive.events.now_ns()), (10, 5 * READ_NS));
    assert_eq!((drive.back_end.dies.waiting_for_space(), drive.debits(), drive.most), (2, [0, 0], [8, 0]));

    let mut drive = a7("{ policy = \"strict\", slots = 4, guard = 0 }");
    assert_eq!(after_the_first_reads(&mut drive), ([false, true], [8, 0]));
    drive.run_until(2 * READ_NS);
    assert_eq!(drive.debits(), [6, 1], "chip 0 has three of the host and one of the collection");
    assert_eq!(drive.ends().len(), 12);
}

/// The guard admits `guard` requests first, and adds nothing to a higher limit: windows of eight at two dies are 16
/// slots, and 18.75 % of them are three. While a write waits for space, a collection with seven pages to read has three
/// requests in windows, and never more, and the host has the other 13.
#[test]
fn the_guard_leaves_shares_as_they_are() {
    for guard in [0, 1, 2, 3] {
        let mut drive = at_its_reserve(&debit(8, guard, 18.75), 7);
        let read_both = |drive: &mut ManualDrive| (0..2).for_each(|die| drive.submit("read", A, Role::Read, die));
        (0..8).for_each(|_| read_both(&mut drive));
        drive.submit("write", A, Role::Write, 0);
        (0..32).for_each(|_| read_both(&mut drive));
        assert_eq!((drive.debits(), drive.back_end.dies.waiting_for_space()), ([16, 0], 1));
        drive.run_until(6 * READ_NS);
        assert_eq!(drive.debits(), [13, 3], "guard {guard}");
        while drive.back_end.dies.waiting_for_space() > 0 {
            let [host, _] = drive.debits();
            assert!(host <= 13 && drive.back_end.gc.relocations.count() == 1, "guard {guard}: {host} of the host");
            drive.run_until(drive.events.now_ns() + READ_NS);
        }
        assert_eq!(drive.most, [16, 3], "guard {guard}");
        assert_eq!(drive.ends().len(), 81, "guard {guard}");
    }
}
