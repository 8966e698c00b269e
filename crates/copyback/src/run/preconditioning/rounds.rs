//! An estimate of the work of overwriting, corrected by the work that was counted.

use super::Preconditioner;
use crate::ftl::core::{Counts, Ftl};

/// Expected rounds of overwrites until the write amplification of a drive changes by less than 0.5 %. Most drives take
/// three to five.
pub(super) const ROUNDS_EXPECTED: f64 = 3.75;
/// Rounds at least: the second is the first that can be compared.
pub(super) const ROUNDS_MIN: f64 = 2.0;
/// Most rounds by which an estimate may be too low, for the printed remaining time; most drives take no more.
const ROUNDS_MORE: f64 = 2.0;
/// Expected ratio of two successive changes of write amplification, until it is measured.
const DECAY_EXPECTED: f64 = 0.3;
/// Largest such ratio that is extrapolated.
const DECAY_MAX: f64 = 0.7;
/// Parts of a pass over which the work of a write is counted.
const WINDOWS: u64 = 16;

/// Units written and moved for each unit that is overwritten.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkOfWrite {
    /// The present estimate.
    pub units: f64,
    /// Whether a whole pass that collected was counted: until then erased blocks may still absorb some of the writes.
    is_counted: bool,
    /// Counts at the start of the window.
    since: Counts,
}

impl WorkOfWrite {
    /// An estimate by the write amplification of greedy collection, (1 + spare) / (2 spare). Writes go to `units` of
    /// `filled` units, and `kept_blocks` blocks of each plane are kept free.
    pub fn expected(ftl: &Ftl, kept_blocks: u32, filled: f64, units: f64) -> Self {
        let spare = (spare_units(ftl, kept_blocks, filled) / units.max(1.0)).max(0.01);
        let units = ((1.0 + spare) / (2.0 * spare)).max(1.0);
        Self { units, is_counted: false, since: ftl.counts() }
    }

    /// A pass begins.
    pub fn begin_pass(&mut self, now: Counts) {
        self.since = now;
    }

    /// A window ends. In the first pass, the estimate can only grow: write amplification rises to its steady state.
    pub fn end_window(&mut self, now: Counts) {
        let done = now.since(&self.since);
        self.since = now;
        let counted = (done.host_units + done.moved_units) as f64 / done.host_units.max(1) as f64;
        if self.is_counted || counted > self.units {
            self.units = counted;
        }
    }

    /// A pass ends; `done`: the work of the pass.
    pub fn end_pass(&mut self, done: &Counts) {
        if done.erases == 0 {
            return;
        }
        // Write amplification rises during a first pass: the mean is below the value at its end.
        let counted = (done.host_units + done.moved_units) as f64 / done.host_units.max(1) as f64;
        if !self.is_counted {
            self.units = self.units.min(2.0 * counted);
        }
        self.is_counted = true;
    }
}

/// Units of a drive, less the filled units and the blocks that collection keeps free.
pub(super) fn spare_units(ftl: &Ftl, kept_blocks: u32, filled: f64) -> f64 {
    let geometry = &ftl.geometry;
    let kept = f64::from(kept_blocks) / f64::from(geometry.blocks_per_plane);
    (f64::from(geometry.physical_units) * (1.0 - kept) - filled).max(0.0)
}

/// Rounds that follow until write amplification changes by at most `steady`, estimated from the changes of the last
/// round and of the one before, if there were two. At least one.
pub(super) fn rounds_to_come(rounds: u32, changes: [Option<f64>; 2], steady: f64) -> f64 {
    let [Some(last), before] = changes else { return (ROUNDS_EXPECTED - f64::from(rounds)).max(1.0) };
    let decay = before.map_or(DECAY_EXPECTED, |before| (last / before).clamp(DECAY_EXPECTED / 2.0, DECAY_MAX));
    ((steady / last).ln() / decay.ln()).ceil().max(1.0)
}

impl Preconditioner<'_> {
    /// The window of a pass: writes between two observations.
    pub(super) fn window_of(writes: u64) -> u64 {
        (writes / WINDOWS).max(1)
    }

    /// Expects `passes` further passes of `writes` writes each, until the drive is steady; `sure` of them follow in any
    /// case.
    pub(super) fn expect_passes(&mut self, passes: f64, sure: f64, writes: u64) {
        let work = writes as f64 * self.work_of_write.units;
        self.pace.passes = passes * work;
        self.pace.margins = [(passes - sure).max(0.0) * work, ROUNDS_MORE * work];
    }

    /// Sets the margins of the passes that were expected at first: rounds until the drive is steady.
    pub(super) fn expect_rounds_at_first(&mut self) {
        let work = self.pace.passes / ROUNDS_EXPECTED;
        self.pace.margins = [(ROUNDS_EXPECTED - ROUNDS_MIN) * work, ROUNDS_MORE * work];
    }

    /// No round follows.
    pub(super) fn expect_no_round(&mut self) {
        (self.pace.passes, self.pace.margins) = (0.0, [0.0; 2]);
    }
}
