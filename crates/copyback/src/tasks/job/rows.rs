//! Steps of a job with several blocks, row by row.

use super::{Job, Step, forget};
use crate::ftl::core::Move;
use crate::sim::index::PhysicalUnit;

impl Job {
    /// The next step: a row of pages is read, and programmed as one row.
    #[cold]
    #[inline(never)]
    pub(super) fn next_of_row(
        &mut self,
        offset_of: &impl Fn(PhysicalUnit) -> u32,
        is_current: &impl Fn(Move) -> bool,
    ) -> Step {
        let held = self.next - self.programmed;
        if held > 0 {
            return Step::Program { units: held };
        }
        let next = self.next;
        let first = self.moves[next..].iter().find(|&&m| is_current(m));
        let Some(offset) = first.map(|m| offset_of(m.from)) else {
            self.drop_pending();
            return if self.go_on_with_hot() { self.next_of_row(offset_of, is_current) } else { Step::Erase };
        };
        // Moves before it, and stale units in its row, were overwritten by the host.
        let row_end = next + self.moves[next..].iter().take_while(|m| offset_of(m.from) <= offset).count();
        let mut end = next;
        for at in next..row_end {
            let m = self.moves[at];
            if is_current(m) {
                self.moves[end] = m;
                end += 1;
            } else {
                forget(&mut self.left, &[m], self.moves_hot);
            }
        }
        self.dropped += (row_end - end) as u32;
        self.moves.drain(end..row_end);
        Step::Read { end }
    }
}

/// Lists the moves of several blocks row by row, and in a row plane by plane.
pub fn order_by_rows(moves: &mut [Move], offset_of: impl Fn(PhysicalUnit) -> u32) {
    moves.sort_by_key(|m| (offset_of(m.from), m.from));
}
