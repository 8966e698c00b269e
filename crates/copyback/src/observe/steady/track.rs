//! Marks of a run, which determine its fifths.

use super::{Loop, ROUNDS, RunPosition, Steady, Verdict, VerdictInputs, judge};

/// Marks of a run, or of its measured part, evenly spread over what the host wrote. Memory is fixed: if there are too
/// many, every other one is dropped.
#[derive(Clone, Debug)]
pub struct Track {
    marks: Vec<RunPosition>,
    every_units: u64,
    next_units: u64,
    /// The position at the last completion: collection may continue after it.
    end: Option<RunPosition>,
}

/// Marks that are kept at most. With half of them, the ends of rounds are off by at most 0.2 % of the run.
const MARKS_MAX: usize = 1024;

impl Default for Track {
    fn default() -> Self {
        Self::starting_at(RunPosition::default())
    }
}

impl Track {
    /// The part of a run from here on.
    pub fn starting_at(start: RunPosition) -> Self {
        let mut marks = Vec::with_capacity(MARKS_MAX);
        marks.push(start);
        Self { marks, every_units: 1, next_units: start.host_units + 1, end: None }
    }

    /// Units that the host has to have written before another mark is due.
    #[inline(always)]
    pub fn next_units(&self) -> u64 {
        self.next_units
    }

    /// Keeps a mark that is due.
    pub fn add(&mut self, mark: RunPosition) {
        self.marks.push(mark);
        if self.marks.len() == MARKS_MAX {
            for at in 0..MARKS_MAX / 2 {
                self.marks[at] = self.marks[2 * at];
            }
            self.marks.truncate(MARKS_MAX / 2);
            self.every_units *= 2;
        }
        self.next_units = mark.host_units + self.every_units;
    }

    /// The last request has completed: no host waits for the later work of the drives.
    pub fn end(&mut self, mark: RunPosition) {
        self.end = Some(mark);
    }

    /// The position at the last completion; none before.
    pub fn last_end(&self) -> Option<RunPosition> {
        self.end
    }

    /// Units programmed after the last request, up to the position `now`.
    fn units_after_end(&self, now: RunPosition) -> u64 {
        self.end.map_or(0, |end| now.flash_units - end.flash_units)
    }

    /// Units programmed after the last request, up to the position `now`, over those before; 0 if there were none
    /// before.
    pub fn share_after_end(&self, now: RunPosition) -> f64 {
        let after = self.units_after_end(now);
        let before = now.flash_units - self.marks[0].flash_units - after;
        if before == 0 { 0.0 } else { after as f64 / before as f64 }
    }

    /// The verdict on a run in which no request completed after `last`, on drives with so many physical units beyond
    /// their logical ones.
    pub fn judge(&self, last: RunPosition, host: Loop, spare_units: u64) -> Steady {
        let inputs = VerdictInputs { units_after_end: self.units_after_end(last), spare_units };
        let steady = judge(&self.ends(self.end.unwrap_or(last)), host, &inputs);
        // If blocks were erased after the host was done, the drive is not still filling up.
        if steady.verdict == Verdict::NoErase && last.erases > self.marks[0].erases {
            return Steady { verdict: Verdict::TooShort, ..steady };
        }
        steady
    }

    /// The start, the marks nearest to each fifth of what the host wrote, and the end.
    fn ends(&self, last: RunPosition) -> [RunPosition; ROUNDS + 1] {
        std::array::from_fn(|round| {
            if round == ROUNDS {
                return last;
            }
            let start_units = self.marks[0].host_units;
            let wanted = start_units + (last.host_units - start_units) * round as u64 / ROUNDS as u64;
            let nearest = self.marks.iter().min_by_key(|mark| mark.host_units.abs_diff(wanted));
            *nearest.expect("the start is a mark")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_thinned_out_where_there_are_too_many() {
        let (mut track, mut at) = (Track::default(), RunPosition::default());
        for _ in 0..25_000 {
            at.host_units += 1;
            if at.host_units >= track.next_units() {
                track.add(at);
            }
        }
        assert!(track.marks.len() < MARKS_MAX && track.marks.len() >= MARKS_MAX / 2);
    }
}
