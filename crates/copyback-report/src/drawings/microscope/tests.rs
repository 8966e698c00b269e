use super::svg;
use copyback::observe::microscope::{Focus, Kind, MicroscopeView, Recorder, Row};
use copyback_workload::Op::{self, Read, Write};

const MS: u64 = 1_000_000;
/// How long a write takes.
const WRITE: u64 = 302_400;
/// How long a read takes on a drive that does not collect.
const READ: u64 = 127_400;
// The begin of the collections, and the ends of those that move one page and two.
const BEGIN: u64 = 50_302_400;
const ONE: u64 = 52_232_200;
const TWO: u64 = 54_162_000;

/// Figure 5 of tc12 in small, as the engine's tests simulate it: four drives; three of them collect in a round; a
/// write each 10 ms, and a read of a whole stripe at 51 ms.
fn view() -> MicroscopeView {
    let row = |kind, drive, op: Option<Op>, dies, start_ns, end_ns| Row { kind, drive, op, dies, start_ns, end_ns };
    let response = |drive: Option<u32>, op: Op, start_ns: u64, end_ns: u64| {
        row(if drive.is_some() { Kind::Part } else { Kind::Request }, drive, Some(op), 0, start_ns, end_ns)
    };
    let both = |drive: Option<u32>, read_end_ns: u64| {
        let writes = [50, 60, 70].map(|at_ms| response(drive, Write, at_ms * MS, at_ms * MS + WRITE));
        std::iter::once(response(drive, Read, 51 * MS, read_end_ns)).chain(writes)
    };
    let ends = [TWO + READ, ONE + READ, ONE + READ, 51 * MS + READ];
    let mut rows: Vec<Row> = both(None, TWO + READ).collect();
    rows.extend((0..).zip(ends).flat_map(|(drive, end_ns)| both(Some(drive), end_ns)));
    let collects = |(drive, end_ns)| row(Kind::Collecting, Some(drive), None, 1, BEGIN, end_ns);
    rows.extend((0..).zip([TWO, ONE, ONE]).map(collects));
    rows.extend((0..3).map(|drive| row(Kind::Round, Some(drive), None, 0, 50 * MS, TWO)));
    MicroscopeView {
        from_ns: 45 * MS,
        to_ns: 75 * MS,
        run_end_ns: 100 * MS,
        wanted_ns: 30 * MS,
        dies: vec![1; 4],
        is_coordinated: true,
        is_cut: false,
        rows,
    }
}

/// Whether all that is opened is closed, in its order, and all attributes are quoted.
fn check_xml(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim();
    while let Some(start) = rest.find('<') {
        let outside = &rest[..start];
        let is_entity = |at: usize| ["&amp;", "&lt;", "&gt;"].iter().any(|entity| outside[at..].starts_with(entity));
        if let Some((at, _)) = outside.match_indices('&').find(|(at, _)| !is_entity(*at)) {
            return Err(format!("no entity: {}", &outside[at..]));
        }
        let end = start + rest[start..].find('>').ok_or("a tag without an end")?;
        let tag = &rest[start + 1..end];
        if !tag.matches('"').count().is_multiple_of(2) || tag.contains(['<', '&']) {
            return Err(format!("no tag: {tag}"));
        }
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) if open.pop() != Some(name) => return Err(format!("</{name}> closes another")),
            (false, false) => open.push(name),
            _ => {}
        }
        rest = &rest[end + 1..];
        if open.is_empty() && !rest.is_empty() {
            return Err(format!("beyond the end: {rest}"));
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("open: {open:?}")) }
}

/// If the drawing changes on purpose, look at the new one and replace the old one with it.
#[test]
fn the_drawing_is_the_one_that_was_reviewed() {
    let drawn = svg::draw(&view(), "selective", 2);
    let file = std::env::temp_dir().join("copyback-microscope.svg");
    let is_expected = drawn == include_str!("expected.svg");
    if !is_expected {
        std::fs::write(&file, &drawn).expect("the folder of temporary files can be written to");
    }
    assert!(is_expected, "{} is not src/drawings/microscope/expected.svg", file.display());
}

#[test]
fn a_drawing_is_whole_and_has_every_row() {
    let view = view();
    let drawn = svg::draw(&view, "fish & <chips>", 4);
    assert_eq!(check_xml(&drawn), Ok(()));
    assert!(check_xml(&drawn.replacen("</g>", "", 1)).is_err() && check_xml(&drawn.replacen("&amp;", "&", 1)).is_err());
    for says in [
        "volume, reads: 1; the slowest took 3289.4 us and arrived at 51 ms",
        "volume, writes: 3; the slowest took 302.4 us and arrived at ",
        "volume, rounds: 50 ms to 54.162 ms",
        "drive 0, reads: 1; the slowest took 3289.4 us",
        "drive 0, GC: 50302.4 us to 54.162 ms",
        "drive 3, GC: never",
    ] {
        assert!(drawn.contains(says), "{says}: {drawn}");
    }
    // A needle for each response: one read, three writes.
    let needles = |panel: &str| {
        let panel = drawn.split("<title>").find(|part| part.starts_with(panel)).expect("the panel is there");
        let paths = panel.split("<path d=\"").filter(|path| path.contains("fill=\"none\""));
        paths.map(|path| path.matches('v').count()).sum::<usize>()
    };
    assert_eq!(["volume, reads", "volume, writes", "drive 3, writes"].map(needles), [1, 3, 3]);
    assert!(!svg::draw(&view, "", 1).contains("drive 1"), "one drive was requested");
}

#[test]
fn an_empty_window_is_drawn_and_a_heading_may_hold_anything() {
    let view = Recorder::new(Focus { from_ns: Some(100), for_ns: 50 }, vec![1]).end(false, 99);
    let drawn = svg::draw(&view, "a<b & c>d", 1);
    assert!(drawn.contains("volume, reads: none"), "{drawn}");
    assert!(drawn.contains("<title>a&lt;b &amp; c&gt;d</title>"), "{drawn}");
}
