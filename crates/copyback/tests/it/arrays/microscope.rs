//! A time window of an array under the microscope: does it show every response that overlaps it and every drive that
//! collects, to the nanosecond, and nothing else? Does the drawing show them?

use super::coordination::{IDLE, INCLUSIVE, LEVELS, MS, SELECTIVE, figure_5, plane, stage, with_read, writes};
use super::stage::{PROGRAM, Played, collection_ns};
use copyback::observe::microscope::{Focus, Kind, MicroscopeView, Row, text};
use copyback::run::Warmup;
use copyback::workload::Op::{self, Read, Write};
use std::ops::Range;

/// Figure 5 in small with a read of a whole stripe at 51 ms, recorded in this time window (nanoseconds).
fn looked_at(coordination: &str, window: Range<u64>) -> Played {
    let focus = Focus { from_ns: Some(window.start), for_ns: window.end - window.start };
    let (asked, _) = with_read(writes(10), 51 * MS, 80, 4);
    stage(LEVELS, coordination, &figure_5(&[0])).play_under(Some(focus), Warmup::Requests(0), &asked)
}

fn seen(coordination: &str, window: Range<u64>) -> MicroscopeView {
    looked_at(coordination, window).seen.expect("it was looked at")
}

fn request(op: Op, start_ns: u64, end_ns: u64) -> Row {
    Row { kind: Kind::Request, drive: None, op: Some(op), dies: 0, start_ns, end_ns }
}

fn part(drive: u32, op: Op, start_ns: u64, end_ns: u64) -> Row {
    Row { kind: Kind::Part, drive: Some(drive), op: Some(op), dies: 0, start_ns, end_ns }
}

fn collecting(drive: u32, start_ns: u64, end_ns: u64) -> Row {
    Row { kind: Kind::Collecting, drive: Some(drive), op: None, dies: 1, start_ns, end_ns }
}

fn in_round(drive: u32, start_ns: u64, end_ns: u64) -> Row {
    Row { kind: Kind::Round, drive: Some(drive), op: None, dies: 0, start_ns, end_ns }
}

/// Collections of one page each begin when the dies have written. One ends at `ONE`, a second one after it at `TWO`.
const BEGIN: u64 = 50 * MS + PROGRAM;
const ONE: u64 = BEGIN + collection_ns(1);
const TWO: u64 = ONE + collection_ns(1);
/// The read, and how long it takes on drives that do nothing else.
const READ_AT: u64 = 51 * MS;
const READ: u64 = 127_400;

#[test]
fn a_round_has_every_row_to_the_nanosecond() {
    assert_eq!((BEGIN, ONE, TWO), (50_302_400, 52_232_200, 54_162_000));
    let expected = [
        vec![request(Read, READ_AT, 54_289_400), request(Write, 50 * MS, BEGIN)],
        vec![part(0, Read, READ_AT, TWO + READ), part(0, Write, 50 * MS, BEGIN)],
        vec![part(1, Read, READ_AT, ONE + READ), part(1, Write, 50 * MS, BEGIN)],
        vec![part(2, Read, READ_AT, ONE + READ), part(2, Write, 50 * MS, BEGIN)],
        vec![part(3, Read, READ_AT, READ_AT + READ), part(3, Write, 50 * MS, BEGIN)],
        vec![collecting(0, BEGIN, TWO), collecting(1, BEGIN, ONE), collecting(2, BEGIN, ONE)],
        // From the order to the last drive that was done.
        (0..3).map(|drive| in_round(drive, 50 * MS, TWO)).collect(),
    ];
    let view = seen(SELECTIVE, 45 * MS..55 * MS);
    assert_eq!(view.rows, expected.concat());
    assert_eq!((view.from_ns, view.to_ns, view.notes()), (45 * MS, 55 * MS, Vec::new()));
}

#[test]
fn what_lies_outside_the_window_is_not_kept() {
    // The read is under way on three drives; drive 3 has ended, and so have the writes.
    let expected = [
        vec![request(Read, READ_AT, 54_289_400), part(0, Read, READ_AT, TWO + READ)],
        vec![part(1, Read, READ_AT, ONE + READ), part(2, Read, READ_AT, ONE + READ)],
        vec![collecting(0, BEGIN, TWO), collecting(1, BEGIN, ONE), collecting(2, BEGIN, ONE)],
        (0..3).map(|drive| in_round(drive, 50 * MS, TWO)).collect(),
    ];
    assert_eq!(seen(SELECTIVE, 52 * MS..52 * MS + 100_000).rows, expected.concat());
    assert_eq!(seen(SELECTIVE, 55 * MS..59 * MS).rows, []);
    // The next write, without the writes before and after it.
    let rows = seen(SELECTIVE, 55 * MS..65 * MS).rows;
    assert_eq!(rows[0], request(Write, 60 * MS, 60 * MS + PROGRAM));
    assert_eq!(rows.len(), 5);
}

#[test]
fn uncoordinated_drives_collect_by_turns_and_in_no_round() {
    let view = seen("", 45 * MS..85 * MS);
    assert!(!view.is_coordinated);
    let rows: Vec<Row> = view.rows.into_iter().filter(|row| row.kind > Kind::Part).collect();
    let turns = [(0, BEGIN, TWO), (1, 70_302_400, 74_162_000), (2, 80_302_400, 84_162_000)];
    assert_eq!(rows, turns.map(|(drive, start_ns, end_ns)| collecting(drive, start_ns, end_ns)));
}

/// The read at 51.6 ms stops all collections at their next steps; later events are outside of the window.
#[test]
fn a_paused_collection_does_not_count_as_collecting() {
    let three = [vec![plane(None, 5, &[0, 1, 2]); 3], vec![plane(None, 6, &[0, 1, 2])]].concat();
    let (asked, _) = with_read(writes(5), 51_600_000, 80, 1);
    let focus = Focus { from_ns: Some(45 * MS), for_ns: 10 * MS };
    let played = stage(LEVELS, IDLE, &three).play_under(Some(focus), Warmup::Requests(0), &asked);
    let rows = played.seen.expect("it was looked at").rows;
    // Move 2 ends at 51,859,600. The round ends with the order to pause.
    let until = |end_ns: u64| rows.iter().filter(|row| row.end_ns == end_ns).copied().collect::<Vec<_>>();
    assert_eq!(until(51_859_600), [0, 1, 2].map(|drive| collecting(drive, 51 * MS, 51_859_600)));
    assert_eq!(until(51_600_000), [0, 1, 2].map(|drive| in_round(drive, 51 * MS, 51_600_000)));
}

#[test]
fn a_window_begins_with_the_measurement_where_nobody_says_when() {
    let focus = Focus { from_ns: None, for_ns: 15 * MS };
    let play = |warmup: u64| {
        let stage = stage(LEVELS, INCLUSIVE, &figure_5(&[0]));
        let view = stage.play_under(Some(focus), Warmup::Requests(warmup), &writes(10)).seen.expect("it was looked at");
        let arrivals = view.rows.iter().filter(|row| row.kind == Kind::Request).map(|row| row.start_ns / MS);
        (view.from_ns, arrivals.collect::<Vec<_>>())
    };
    assert_eq!(play(0), (0, vec![0, 10]));
    assert_eq!(play(4), (40 * MS, vec![40, 50]));
}

#[test]
fn recording_a_window_changes_no_result() {
    for coordination in ["", INCLUSIVE, SELECTIVE, IDLE] {
        let looked_at = looked_at(coordination, 45 * MS..85 * MS);
        let (asked, _) = with_read(writes(10), READ_AT, 80, 4);
        let alone = stage(LEVELS, coordination, &figure_5(&[0])).play(&asked);
        assert!(alone.seen.is_none() && looked_at.seen.is_some());
        assert_eq!(alone, Played { seen: None, ..looked_at }, "{coordination}");
    }
}

/// If the drawing changes on purpose, look at the new one and replace the old one with it.
#[test]
fn the_drawing_is_the_one_that_was_reviewed() {
    let view = seen(SELECTIVE, 45 * MS..75 * MS);
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("microscope.txt");
    let drawn = text::draw(&view, "selective", 2);
    std::fs::write(&file, &drawn).expect("the build's folder can be written to");
    assert!(
        drawn == include_str!("../drawings/microscope.txt"),
        "{} is not tests/it/drawings/microscope.txt",
        file.display()
    );
}
