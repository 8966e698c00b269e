use super::panels::{Shows, panels};
use super::*;

/// From 100 on, for 50.
fn recorder(dies: &[u32]) -> Recorder {
    Recorder::new(Focus { from_ns: Some(100), for_ns: 50 }, dies.to_vec())
}

fn times(view: &MicroscopeView) -> Vec<(u64, u64)> {
    view.rows.iter().map(|row| (row.start_ns, row.end_ns)).collect()
}

#[test]
fn what_overlaps_the_window_is_kept() {
    let mut recorder = recorder(&[1]);
    for (start_ns, end_ns) in [(10, 99), (20, 100), (30, 101), (100, 100), (149, 400), (150, 150), (151, 160)] {
        recorder.note_response(None, Op::Read, start_ns, end_ns);
    }
    recorder.note_response(None, Op::Trim, 110, 120);
    assert_eq!(times(&recorder.end(false, 500)), [(30, 101), (100, 100), (149, 400)]);
}

#[test]
fn a_window_that_nobody_has_placed_begins_with_the_measurement() {
    let mut recorder = Recorder::new(Focus { from_ns: None, for_ns: 50 }, vec![1]);
    recorder.note_response(None, Op::Read, 10, 20);
    recorder.note_collecting(0, 1, 60);
    recorder.begin(100);
    recorder.note_response(None, Op::Read, 99, 101);
    recorder.note_collecting(0, 0, 110);
    let view = recorder.end(false, 120);
    assert_eq!(times(&view), [(99, 101), (60, 110)]);
    assert_eq!((view.from_ns, view.to_ns), (100, 120));
    assert!(view.notes()[0].contains("the run ended at 120 ns"), "{:?}", view.notes());
    // A window that has its own start keeps it.
    let mut placed = self::recorder(&[1]);
    placed.begin(7);
    assert_eq!(placed.end(false, 500).from_ns, 100);
}

#[test]
fn a_drive_collects_without_a_break_where_one_collection_follows_another() {
    let mut recorder = recorder(&[4, 4]);
    // Two dies, then one; at 130 one ends and another begins; drive 1 to the end of the run.
    for (drive, dies, at_ns) in [(0, 2, 90), (0, 1, 120), (1, 3, 125), (0, 0, 130), (0, 1, 130), (0, 0, 140)] {
        recorder.note_collecting(drive, dies, at_ns);
    }
    // No time passes.
    recorder.note_collecting(0, 4, 145);
    recorder.note_collecting(0, 0, 145);
    let rows = recorder.end(false, 200).rows;
    let shown: Vec<_> = rows.iter().map(|row| (row.drive, row.dies, row.start_ns, row.end_ns)).collect();
    assert_eq!(shown, [(Some(0), 2, 90, 120), (Some(0), 1, 120, 140), (Some(1), 3, 125, 200)]);
}

#[test]
fn a_window_with_too_many_rows_ends_there() {
    let mut recorder = recorder(&[1]);
    recorder.rows_max = 3;
    recorder.note_collecting(0, 1, 90);
    for at_ns in 110..140 {
        recorder.note_response(Some(0), Op::Write, at_ns, at_ns + 2);
    }
    recorder.note_collecting(0, 0, 145);
    let view = recorder.end(false, 200);
    // The fourth response would have ended at 115. Collecting has its own limit of rows.
    assert_eq!(times(&view), [(110, 112), (111, 113), (112, 114), (90, 145)]);
    assert_eq!((view.to_ns, view.is_cut), (115, true));
    assert!(view.notes()[0].contains("keeps 1000000 rows"), "{:?}", view.notes());
}

#[test]
fn a_run_that_ends_before_the_window_is_noted() {
    let view = recorder(&[1]).end(false, 99);
    assert!(view.notes()[0].contains("ended at 99 ns, before the window"), "{:?}", view.notes());
    assert_eq!((view.from_ns, view.to_ns), (100, 100));
    // Nothing is drawn, and nothing fails.
    assert!(text::draw(&view, "nothing", 1).contains("drive 0 GC"));
    assert_eq!(recorder(&[1]).end(false, 150).notes(), Vec::<String>::new());
}

#[test]
fn heights_are_parts_of_the_longest_and_of_the_dies() {
    let mut recorder = recorder(&[4, 4]);
    for (start_ns, end_ns) in [(60, 190), (100, 110), (104, 134), (149, 151)] {
        recorder.note_response(Some(0), Op::Read, start_ns, end_ns);
    }
    recorder.note_response(Some(1), Op::Read, 120, 180);
    recorder.note_collecting(0, 2, 95);
    recorder.note_collecting(0, 4, 115);
    recorder.note_collecting(0, 0, 120);
    let view = recorder.end(false, 500);
    let shown = panels(&view, 2);
    let of = |shows: Shows, drive: u32| shown.iter().find(|p| p.shows == shows && p.drive == Some(drive)).unwrap();
    // Both drives on one scale, of the longest that began in the window; the one that began before has no place.
    assert_eq!((of(Shows::Reads, 0).scale, of(Shows::Reads, 1).scale), (60, 60));
    assert_eq!(of(Shows::Reads, 0).heights(&view, 5), [0.5, 0.0, 0.0, 0.0, 2.0 / 60.0]);
    assert_eq!(of(Shows::Collecting, 0).heights(&view, 5), [0.5, 0.75, 0.0, 0.0, 0.0]);
    assert_eq!(panels(&view, 1).len(), 5, "reads and writes of the volume, and the three of a drive");
}
