//! Sums the results of cases.

use crate::cases::{KINDS, Kind};
use crate::coverage::Coverage;
use crate::knobs::Mark;
use crate::timing_oracle::{Predicted, Timed};
use crate::{arrays, runs, traces};
use copyback::observe::array_report::CoordinationTotals;

/// The result of one case.
#[derive(Default)]
pub struct Verdict {
    /// The configuration could be run, or had to be refused.
    pub ran: bool,
    pub marks: Vec<Mark>,
    /// What the timing oracle predicted, if it agreed.
    pub timed: Option<Predicted>,
    /// Erases in cases that test the translation layer alone.
    pub erases: u64,
    pub dropped_moves: u64,
    /// The orders to the drives of an array.
    pub coordination: CoordinationTotals,
}

impl Verdict {
    /// A case that ran, or none.
    pub fn of(ran: bool, marks: &[Mark]) -> Self {
        Self { ran, marks: if ran { marks.to_vec() } else { Vec::new() }, ..Self::default() }
    }
}

/// The results of the cases so far.
#[derive(Clone)]
pub struct Tally {
    pub drawn: u64,
    pub ran: u64,
    /// Cases that had to be refused, and were, with a reason.
    refused_rightly: u64,
    /// What the timing oracle predicted, to the end of every request.
    pub timed: Timed,
    pub erases: u64,
    pub dropped_moves: u64,
    /// The orders to drives of arrays.
    coordination: CoordinationTotals,
    pub coverage: Coverage,
}

impl Tally {
    pub fn new() -> Self {
        let kinds: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        let files = runs::FAULTS.iter().chain(traces::KNOBS).chain(arrays::KNOBS).copied();
        let more: Vec<_> = files.chain([("kind", &kinds[..])]).collect();
        Self {
            drawn: 0,
            ran: 0,
            refused_rightly: 0,
            timed: Timed::default(),
            erases: 0,
            dropped_moves: 0,
            coordination: CoordinationTotals::default(),
            coverage: Coverage::new(&more),
        }
    }

    pub fn add(&mut self, kind: Kind, verdict: &Verdict) {
        self.drawn += 1;
        if !verdict.ran {
            return;
        }
        if kind == Kind::Impossible {
            self.refused_rightly += 1;
        } else {
            self.ran += 1;
        }
        if let Some(predicted) = verdict.timed {
            self.timed.add(predicted);
        }
        self.erases += verdict.erases;
        self.dropped_moves += verdict.dropped_moves;
        self.coordination = self.coordination.zip(&verdict.coordination, |sum, of_case| sum + of_case);
        self.coverage.add(&verdict.marks);
        self.coverage.add(&[("kind", kind.name())]);
    }

    /// Adds what another worker counted.
    pub fn merge(&mut self, other: &Self) {
        self.drawn += other.drawn;
        self.ran += other.ran;
        self.refused_rightly += other.refused_rightly;
        self.timed.merge(&other.timed);
        self.erases += other.erases;
        self.dropped_moves += other.dropped_moves;
        self.coordination = self.coordination.zip(&other.coordination, |a, b| a + b);
        self.coverage.merge(&other.coverage);
    }
}

impl std::fmt::Display for Tally {
    /// One line of progress.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { drawn, ran, refused_rightly, timed, coordination, .. } = self;
        let CoordinationTotals { forced, forced_collections, last_resort_collections, pauses } = coordination;
        write!(
            f,
            "{drawn} cases, {ran} ran, {refused_rightly} impossible ones refused with a reason, {} others refused; \
             {timed}; drives forced {forced} times, to {forced_collections} collections, {last_resort_collections} at \
             the last resort, {pauses} pauses",
            drawn - ran - refused_rightly
        )
    }
}
