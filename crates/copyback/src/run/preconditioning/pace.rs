//! The progress of a preconditioning, reported periodically to the caller.

/// The work of a preconditioning, in units written, moved or mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// The completed part.
    pub done: f64,
    /// An estimate of the rest. If the drive must become steady, it is corrected with each round.
    pub left: f64,
    /// The least and the most that the rest may be: they differ if the drive must become steady.
    pub bounds: [f64; 2],
}

impl Work {
    /// The completed share, below 1.
    pub fn share(&self) -> f64 {
        (self.done / (self.done + self.left).max(1.0)).min(0.99)
    }

    /// Whether the rest is known within a factor of two. Near the end of a round of overwrites, it is open whether
    /// another round follows: the rest may be small, or a whole round.
    pub fn is_rest_known(&self) -> bool {
        let [least, most] = self.bounds;
        self.left <= 2.0 * least && most <= 2.0 * self.left
    }
}

/// Counts the work, and keeps the estimate of the rest.
pub(super) struct Pace<'a> {
    done: f64,
    /// Estimated rest of the present pass over a drive.
    pub pass: f64,
    /// Estimated work of the passes that follow this one.
    pub passes: f64,
    /// By how much this may be too high, and too low.
    pub margins: [f64; 2],
    /// Estimated work after all passes.
    pub after: f64,
    /// By how much this may be too high or too low.
    pub after_margin: f64,
    reported: f64,
    step: f64,
    report: Option<&'a mut dyn FnMut(Work)>,
}

/// Work between two reports, at most: some hundredths of a second, so that a caller can stop it soon.
const STEP_MAX: f64 = 1_048_576.0;
/// Reports of a preconditioning, at least.
const REPORTS_MIN: f64 = 64.0;

impl Default for Pace<'_> {
    fn default() -> Self {
        Self {
            done: 0.0,
            pass: 0.0,
            passes: 0.0,
            margins: [0.0; 2],
            after: 0.0,
            after_margin: 0.0,
            reported: 0.0,
            step: f64::INFINITY,
            report: None,
        }
    }
}

impl<'a> Pace<'a> {
    /// Nothing of the expected work is done yet.
    pub fn new(expected: f64, report: &'a mut dyn FnMut(Work)) -> Self {
        let step = (expected / REPORTS_MIN).min(STEP_MAX);
        Self { report: Some(report), passes: expected, step, ..Self::default() }
    }

    /// Adds work that was done in the current pass.
    #[inline]
    pub fn add(&mut self, work: f64) {
        self.done += work;
        self.pass = (self.pass - work).max(0.0);
        if self.done >= self.reported + self.step {
            self.report_progress();
        }
    }

    #[cold]
    fn report_progress(&mut self) {
        self.reported = self.done;
        let left = self.pass + self.passes + self.after;
        let [high, low] = self.margins;
        let work =
            Work { done: self.done, left, bounds: [left - high - self.after_margin, left + low + self.after_margin] };
        if let Some(report) = &mut self.report {
            report(work);
        }
    }
}
