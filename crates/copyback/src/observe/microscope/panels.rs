//! The panels of a view, one below the other: for each kind of response and for each drive's collecting, all on one
//! time axis.

use super::{Kind, MicroscopeView, Row};
use copyback_workload::Op;

/// The content of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Response times of reads.
    Reads,
    /// Response times of writes.
    Writes,
    /// On how many of its dies a drive collects.
    Collecting,
    /// Rounds of coordinated collection.
    Rounds,
}

impl Shows {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Collecting => "GC",
            Self::Rounds => "rounds",
        }
    }

    /// Whether it shows response times; otherwise it shows intervals.
    pub fn has_responses(self) -> bool {
        matches!(self, Self::Reads | Self::Writes)
    }
}

/// One of the drawings below each other.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The drive of the panel; `None` for the volume.
    pub drive: Option<u32>,
    /// Its content.
    pub shows: Shows,
    /// Responses that began in the window; or intervals, in the order of time, without overlap.
    pub rows: Vec<Row>,
    /// The value of its full height: a time, or a number of dies.
    pub scale: u64,
}

impl Panel {
    /// The owners of its rows.
    pub fn of(&self) -> String {
        self.drive.map_or_else(|| "volume".to_owned(), |drive| format!("drive {drive}"))
    }

    /// The panel's height in each of a number of equal parts of the window, as a share of 1: the longest response that
    /// began there, or the mean of the intervals.
    pub fn heights(&self, view: &MicroscopeView, columns: usize) -> Vec<f64> {
        let mut heights = vec![0.0; columns];
        let span_ns = (view.to_ns - view.from_ns).max(1);
        let after_ns = |ns: u64| ns.clamp(view.from_ns, view.to_ns) - view.from_ns;
        let column = |ns: u64| after_ns(ns) as f64 * columns as f64 / span_ns as f64;
        // In integers: rounding must not move a row that begins with a column into the column before.
        let column_of = |ns: u64| (u128::from(after_ns(ns)) * columns as u128 / u128::from(span_ns)) as usize;
        for row in &self.rows {
            let (start, end) = (column(row.start_ns), column(row.end_ns));
            let first = column_of(row.start_ns).min(columns - 1);
            if self.shows.has_responses() {
                heights[first] = f64::max(heights[first], row.time_ns() as f64 / self.scale as f64);
                continue;
            }
            let height = f64::from(row.dies.max(1)) / self.scale as f64;
            let last = (end.ceil() as usize).clamp(first, columns);
            for (at, sum) in (first..last).zip(&mut heights[first..last]) {
                *sum += height * (end.min(at as f64 + 1.0) - start.max(at as f64));
            }
        }
        heights
    }
}

/// The panels of a view: of the volume, and of this many of its drives.
pub fn panels(view: &MicroscopeView, drives: u32) -> Vec<Panel> {
    let shown = 0..drives.min(view.drives());
    let responses = |drive: Option<u32>, op: Op| {
        let kind = if drive.is_some() { Kind::Part } else { Kind::Request };
        // What began before has no place on the axis, and its length would hide the others.
        view.of(kind, drive, Some(op)).iter().filter(|row| row.start_ns >= view.from_ns).copied()
    };
    let longest = |drive: Option<u32>, op: Op| responses(drive, op).map(|row| row.time_ns()).max().unwrap_or(0);
    let panel = |drive: Option<u32>, (shows, op): (Shows, Op), scale: u64| Panel {
        drive,
        shows,
        rows: responses(drive, op).collect(),
        scale,
    };
    let both = [(Shows::Reads, Op::Read), (Shows::Writes, Op::Write)];
    let mut panels: Vec<Panel> = both.map(|both| panel(None, both, scale_ns(longest(None, both.1)))).into();
    // Drives are compared with each other: they have one scale.
    let scales = both.map(|(_, op)| scale_ns(shown.clone().map(|drive| longest(Some(drive), op)).max().unwrap_or(0)));
    if view.is_coordinated {
        let rounds = (0..view.drives()).flat_map(|drive| view.of(Kind::Round, Some(drive), None));
        panels.push(Panel { drive: None, shows: Shows::Rounds, rows: united(rounds), scale: 1 });
    }
    for drive in shown {
        panels.extend(both.iter().zip(scales).map(|(both, scale)| panel(Some(drive), *both, scale)));
        let rows = view.of(Kind::Collecting, Some(drive), None).to_vec();
        let scale = u64::from(view.dies[drive as usize]);
        panels.push(Panel { drive: Some(drive), shows: Shows::Collecting, rows, scale });
    }
    panels
}

/// The times at which a drive collects; if no drive is given, the times at which any drive of the array does, shown or
/// not.
pub fn when_collecting(view: &MicroscopeView, drive: Option<u32>) -> Vec<Row> {
    let drives = drive.map_or(0..view.drives(), |drive| drive..drive + 1);
    united(drives.flat_map(|drive| view.of(Kind::Collecting, Some(drive), None)))
}

/// Joins times that overlap or touch.
pub fn united<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.into_iter().copied().collect();
    rows.sort_by_key(|row| row.start_ns);
    rows.dedup_by(|next, row| {
        let touches = next.start_ns <= row.end_ns;
        row.end_ns = if touches { row.end_ns.max(next.end_ns) } else { row.end_ns };
        touches
    });
    rows
}

/// Lengths of a scale, in tenths of a power of ten.
const LENGTHS: &[u64] = &[10, 12, 15, 20, 25, 30, 40, 50, 60, 80];

/// The smallest scale that includes the longest response.
fn scale_ns(longest_ns: u64) -> u64 {
    let mut lengths = (0..18).flat_map(|power| LENGTHS.iter().map(move |length| length * 10u64.pow(power)));
    lengths.find(|&length| length >= longest_ns).unwrap_or(u64::MAX)
}
