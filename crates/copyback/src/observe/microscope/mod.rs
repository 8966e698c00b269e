//! The microscope: a time window of an array. It shows how long each request of the volume took, how long drives took
//! for their parts, and when drives collected, on how many of their dies (tc12, Figures 10 and 13).
//!
//! A [`Recorder`] keeps a row for each request, part and collection that overlaps the window; a [`MicroscopeView`] has
//! all rows. [`text`] prints a view on terminals and in documents; `copyback-report` draws it as SVG.

pub mod panels;
pub mod text;

use copyback_workload::Op;
use copyback_workload::units::exact_time;

/// Most rows of responses that are kept, and most rows of collecting and rounds: 32 bytes each.
pub const ROWS_MAX: usize = 1_000_000;

/// The recorded time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Its start; none: the start of the measurement.
    pub from_ns: Option<u64>,
    /// How long it lasts.
    pub for_ns: u64,
}

/// The content of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A request of the volume, from its arrival to its end.
    Request,
    /// A part of one, on its drive.
    Part,
    /// A drive collects, all the time on the same number of dies.
    Collecting,
    /// A round of coordinated collection forces the drive, from the order to the end of the round.
    Round,
}

impl Kind {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Part => "part",
            Self::Collecting => "collecting",
            Self::Round => "round",
        }
    }
}

/// Something that took time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What.
    pub kind: Kind,
    /// The drive; none for the volume.
    pub drive: Option<u32>,
    /// The request: a read or a write; none without a request.
    pub op: Option<Op>,
    /// Dies on which a drive collects; 0 for other kinds.
    pub dies: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

impl Row {
    /// How long it took.
    pub fn time_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    fn sorted_by(&self) -> Order {
        sorted_by(self.kind, self.drive, self.op)
    }
}

/// What rows are sorted by before their times.
type Order = (Kind, Option<u32>, Option<u8>);

fn sorted_by(kind: Kind, drive: Option<u32>, op: Option<Op>) -> Order {
    (kind, drive, op.map(|op| op as u8))
}

/// Keeps rows during a run.
pub struct Recorder {
    focus: Focus,
    from_ns: u64,
    to_ns: u64,
    responses: Vec<Row>,
    intervals: Vec<Row>,
    /// Dies of each drive.
    dies: Vec<u32>,
    /// On how many of them each drive collects, and since when.
    collecting: Vec<(u32, u64)>,
    rows_max: usize,
    is_cut: bool,
}

impl Recorder {
    /// For an array of drives of this many dies. A window that begins with the measurement begins when [`Self::begin`]
    /// is called.
    pub fn new(focus: Focus, dies: Vec<u32>) -> Self {
        let mut recorder = Self {
            focus,
            from_ns: u64::MAX,
            to_ns: u64::MAX,
            responses: Vec::new(),
            intervals: Vec::new(),
            collecting: vec![(0, 0); dies.len()],
            dies,
            rows_max: ROWS_MAX,
            is_cut: false,
        };
        focus.from_ns.iter().for_each(|from_ns| recorder.open(*from_ns));
        recorder
    }

    fn open(&mut self, from_ns: u64) {
        (self.from_ns, self.to_ns) = (from_ns, from_ns.saturating_add(self.focus.for_ns));
    }

    /// The measurement begins, and with it a window without a start of its own.
    pub fn begin(&mut self, now_ns: u64) {
        if self.focus.from_ns.is_none() {
            self.open(now_ns);
        }
    }

    /// Whether an interval overlaps the window; an interval of zero length does if it is inside.
    fn overlaps(&self, start_ns: u64, end_ns: u64) -> bool {
        start_ns < self.to_ns && (end_ns > self.from_ns || start_ns >= self.from_ns)
    }

    /// A request of the volume ends now, or a drive's part of one; trims are not recorded.
    pub fn note_response(&mut self, drive: Option<u32>, op: Op, start_ns: u64, now_ns: u64) {
        if op == Op::Trim || !self.overlaps(start_ns, now_ns) || self.cuts(self.responses.len(), now_ns) {
            return;
        }
        let kind = if drive.is_some() { Kind::Part } else { Kind::Request };
        self.responses.push(Row { kind, drive, op: Some(op), dies: 0, start_ns, end_ns: now_ns });
    }

    /// A drive collects on this many of its dies from now on.
    pub fn note_collecting(&mut self, drive: u32, dies: u32, now_ns: u64) {
        let (before, since_ns) = self.collecting[drive as usize];
        if dies == before {
            return;
        }
        self.collecting[drive as usize] = (dies, now_ns);
        if before > 0 && since_ns < now_ns {
            self.note_interval(Kind::Collecting, (drive, before), since_ns, now_ns);
        }
    }

    /// A round of these drives, a bit each, ends now.
    pub fn note_round(&mut self, drives: u64, start_ns: u64, now_ns: u64) {
        for drive in (0..u64::BITS).filter(|drive| drives >> drive & 1 == 1) {
            self.note_interval(Kind::Round, (drive, 0), start_ns, now_ns);
        }
    }

    fn note_interval(&mut self, kind: Kind, (drive, dies): (u32, u32), start_ns: u64, now_ns: u64) {
        if self.overlaps(start_ns, now_ns) && !self.cuts(self.intervals.len(), now_ns) {
            self.intervals.push(Row { kind, drive: Some(drive), op: None, dies, start_ns, end_ns: now_ns });
        }
    }

    /// Whether the maximum number of rows is reached: the window then ends here, with all that ended before.
    fn cuts(&mut self, rows: usize, now_ns: u64) -> bool {
        if rows < self.rows_max {
            return false;
        }
        (self.to_ns, self.is_cut) = (self.to_ns.min(now_ns), true);
        true
    }

    /// The run and current collections are over. `is_coordinated`: whether there can have been rounds.
    pub fn end(mut self, is_coordinated: bool, now_ns: u64) -> MicroscopeView {
        for drive in 0..self.dies.len() as u32 {
            self.note_collecting(drive, 0, now_ns);
        }
        let Self { focus, from_ns, to_ns, responses: mut rows, intervals, dies, is_cut, .. } = self;
        rows.extend(intervals);
        rows.sort_by_key(|row| (row.sorted_by(), row.start_ns, row.end_ns));
        // If one collection follows another on a die, both are one interval.
        rows.dedup_by(|next, row| {
            let goes_on = row.kind == Kind::Collecting
                && (row.kind, row.drive, row.dies, row.end_ns) == (next.kind, next.drive, next.dies, next.start_ns);
            row.end_ns = if goes_on { next.end_ns } else { row.end_ns };
            goes_on
        });
        let to_ns = to_ns.min(now_ns).max(from_ns);
        MicroscopeView {
            from_ns,
            to_ns,
            run_end_ns: now_ns,
            wanted_ns: focus.for_ns,
            dies,
            is_coordinated,
            is_cut,
            rows,
        }
    }
}

/// The recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MicroscopeView {
    /// When the window begins.
    pub from_ns: u64,
    /// Its end: as requested, or with the run, or at the maximum number of rows.
    pub to_ns: u64,
    /// When the run ended.
    pub run_end_ns: u64,
    /// The requested length.
    pub wanted_ns: u64,
    /// Dies of each drive of the array.
    pub dies: Vec<u32>,
    /// Whether their collections are coordinated.
    pub is_coordinated: bool,
    /// Whether rows were left out, and the end of the window with them.
    pub is_cut: bool,
    /// What overlaps the window: by kind, drive and operation, each in the order of the starts.
    pub rows: Vec<Row>,
}

impl MicroscopeView {
    /// Drives of the array.
    fn drives(&self) -> u32 {
        self.dies.len() as u32
    }

    /// The rows of a kind, drive and operation.
    fn of(&self, kind: Kind, drive: Option<u32>, op: Option<Op>) -> &[Row] {
        let wanted = sorted_by(kind, drive, op);
        let start = self.rows.partition_point(|row| row.sorted_by() < wanted);
        let end = self.rows.partition_point(|row| row.sorted_by() <= wanted);
        &self.rows[start..end]
    }

    /// What overlaps the window, by kind, drive and operation.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Notes for its reader.
    pub fn notes(&self) -> Vec<String> {
        let [from, to, wanted] = [self.from_ns, self.to_ns, self.wanted_ns].map(exact_time);
        let note = if self.is_cut {
            format!("the microscope keeps {ROWS_MAX} rows, and its window of {wanted} ends after them, at {to}")
        } else if self.to_ns <= self.from_ns {
            let end = exact_time(self.run_end_ns);
            format!("the run ended at {end}, before the window of the microscope, which begins at {from}")
        } else if self.to_ns - self.from_ns < self.wanted_ns {
            format!("the run ended at {to}, within the window of the microscope ({wanted} from {from} on)")
        } else {
            return Vec::new();
        };
        vec![note]
    }
}

#[cfg(test)]
mod tests;
