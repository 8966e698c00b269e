//! Timelines worked out by hand, to the nanosecond: the slowest of an array's drives ends a request, and a write of a
//! part of a stripe reads first.

use super::stage::{Asked, DRIVE, PROGRAM, Played, READ, Stage, collection_ns};
use copyback::observe::report::Cause;
use copyback::scene::Block::{self, Free, Full, Holds};
use copyback::workload::Op::{Read, Write};

/// The first unit of the fifth stripe, whose parity is on drive 3: it is in block 1 of its drive.
const D0: u64 = 12;

/// Block 2 is collected: two of its pages are valid.
const PLANE: &[Block] = &[Full, Full, Holds(&[1, 3]), Full, Free, Free, Free, Free, Free, Free];

fn four(array: &str, collecting: &[usize], asked: &[Asked]) -> Played {
    let array = format!("drives = 4\n{array}");
    let planes = vec![PLANE.to_vec(); 4];
    let coordination = String::new();
    Stage { drive: DRIVE.into(), array, coordination, planes, planes_per_drive: 1, collecting: collecting.to_vec() }
        .play(asked)
}

#[test]
fn a_request_ends_with_its_slowest_drive() {
    assert_eq!(collection_ns(2), 2_359_600);
    let played = four("level = \"raid-0\"", &[2], &[(0, Write, 0, 4)]);
    assert_eq!(played.responses(), [2_662_000]);
    let of = |cause: Cause| played.requests[0].breakdown_ns[cause as usize];
    assert_eq!([Cause::Gc, Cause::Transfer, Cause::Flash].map(of), [2_359_600, 102_400, 200_000]);
    assert!(played.requests[0].gc_affected);
    // Without that drive the others end it.
    let played = four("level = \"raid-0\"", &[2], &[(0, Write, 0, 2), (0, Write, 3, 1)]);
    assert_eq!(played.responses(), [PROGRAM; 2]);
    assert_eq!(played.programs, [1, 1, 0, 1]);
}

#[test]
fn a_partial_write_waits_for_the_collection_of_its_parity() {
    let least = "level = \"raid-5\"";
    let write = [(0, Write, D0, 1)];
    let played = four(least, &[3], &write);
    // Read-modify-write, because it wins ties: the old data is read, the parity after the round, and then both are
    // written.
    assert_eq!(played.responses(), [collection_ns(2) + READ + PROGRAM]);
    assert_eq!(played.responses(), [2_789_400]);
    assert_eq!((&played.reads[..], &played.programs[..]), (&[1, 0, 0, 1][..], &[1, 0, 0, 1][..]));
    let reconstruct = format!("{least}\npartial = \"reconstruct\"");
    let played = four(&reconstruct, &[3], &write);
    assert_eq!(played.responses(), [2_662_000]);
    assert_eq!((&played.reads[..], &played.programs[..]), (&[0, 1, 1, 0][..], &[1, 0, 0, 1][..]));
    // No drive collects.
    for array in [least, &reconstruct] {
        assert_eq!(four(array, &[], &write).responses(), [429_800]);
    }
    // A whole stripe reads nothing.
    let played = four(least, &[3], &[(0, Write, D0, 3)]);
    assert_eq!((played.responses(), played.reads), (vec![2_662_000], vec![0; 4]));
}

/// The breakdown of a request with two phases: all of its time, along the chain of the part that ended last.
#[test]
fn both_phases_are_in_the_breakdown() {
    let played = four("level = \"raid-5\"", &[3], &[(0, Write, D0, 1)]);
    let of = |cause: Cause| played.requests[0].breakdown_ns[cause as usize];
    assert_eq!([Cause::Gc, Cause::Transfer, Cause::Flash].map(of), [collection_ns(2), 2 * 102_400, 225_000]);
}

#[test]
fn a_read_goes_round_a_drive_that_collects() {
    let read = [(0, Read, D0, 1)];
    assert_eq!(four("level = \"raid-5\"", &[0], &read).responses(), [2_487_000]);
    let aware = "level = \"raid-5\"\ngc_aware_reads = true";
    let played = four(aware, &[0], &read);
    assert_eq!((played.responses(), played.reads), (vec![READ], vec![0, 1, 1, 1]));
    assert_eq!((played.totals.gc_aware_reads, played.totals.gc_aware_waits), (1, 0));
    // A drive that the read would use instead collects, too: the read waits.
    let played = four(aware, &[0, 2], &read);
    assert_eq!((played.responses(), played.reads), (vec![2_487_000], vec![1, 0, 0, 0]));
    assert_eq!((played.totals.gc_aware_reads, played.totals.gc_aware_waits), (0, 1));
}

#[test]
fn a_mirrored_read_goes_to_the_copy_that_does_not_collect() {
    // It is the turn of drive 0, which collects. Another drive replaces it: drive 2 in the mirror of four drives,
    // because replacements rotate.
    for (level, unit, reads) in [("raid-1", 4, [0, 0, 1, 0]), ("raid-10", 8, [0, 1, 0, 0])] {
        let read = [(0, Read, unit, 1)];
        let plain = format!("level = \"{level}\"");
        assert_eq!(four(&plain, &[0], &read).responses(), [2_487_000], "{level}");
        let played = four(&format!("{plain}\ngc_aware_reads = true"), &[0], &read);
        assert_eq!((played.responses(), &played.reads[..]), (vec![READ], &reads[..]), "{level}");
    }
}

#[test]
fn reads_and_writes_do_without_a_failed_drive() {
    let failed = "level = \"raid-5\"\nfailed = [0]";
    let played = four(failed, &[], &[(0, Read, D0, 1)]);
    assert_eq!((played.responses(), played.reads, played.totals.degraded_reads), (vec![READ], vec![0, 1, 1, 1], 1));
    let played = four(failed, &[], &[(0, Write, D0, 1)]);
    assert_eq!(played.responses(), [429_800]);
    assert_eq!((&played.reads[..], &played.programs[..]), (&[0, 1, 1, 0][..], &[0, 0, 0, 1][..]));
}
