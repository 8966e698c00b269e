//! A time window of a run in fine bins: the requests that ended in each bin, and the state of the drives.
//!
//! Bin k covers [start + k · bin, start + (k + 1) · bin) of simulated time, anywhere in the run. The intervals of the
//! time series grow during a run, these bins do not; the configuration therefore limits their number. Between two
//! events nothing changes, so every bin that ends before an event has the state before that event.

use super::config::Span;
use super::tables::{Bin, Sample};

/// Updates in a bin, at which the bin's fewest free blocks are determined.
const UPDATES_PER_BIN: u64 = 10;

/// The counts of what has ended since a run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// Requests.
    pub requests: u64,
    /// Sum of their response times; it may wrap to 0.
    pub response_ns: u64,
    /// Reads among the requests.
    pub reads: u64,
    /// Small reads among the reads.
    pub small_reads: u64,
    /// Sum of the response times of small reads.
    pub small_read_response_ns: u128,
}

/// The window of a run.
#[derive(Clone, Debug)]
pub(super) struct MeasureWindow {
    span: Span,
    /// The time of its next update.
    next_ns: u64,
    /// Whether it has begun.
    is_open: bool,
    /// What had ended before the bin at hand.
    before: Ends,
    /// The fewest free blocks in the current bin.
    free_blocks_fewest: u64,
    /// The bins before it.
    bins: Vec<Bin>,
}

impl MeasureWindow {
    /// A window that is to come. If it begins with the run, it is open: requests may end before the first event.
    pub fn new(span: Span) -> Self {
        let is_open = span.start_ns == 0;
        let (before, free_blocks_fewest) = (Ends::default(), u64::MAX);
        let mut window = Self { span, next_ns: span.start_ns, is_open, before, free_blocks_fewest, bins: Vec::new() };
        if is_open {
            window.next_ns = window.next_update_after(0);
        }
        window
    }

    /// The time of its next update, which precedes the events of that time.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Updates the bins before the events of this time. `ends` has the requests that ended before; `state` and
    /// `free_blocks` are of all drives.
    pub fn update(&mut self, now_ns: u64, ends: &Ends, state: &Sample, free_blocks: u64) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.before = *ends;
        }
        self.free_blocks_fewest = self.free_blocks_fewest.min(free_blocks);
        while !self.is_over() && self.span.start_of(self.bins.len() as u64 + 1) <= now_ns {
            self.end_bin(ends, state, free_blocks);
        }
        self.next_ns = if self.is_over() { u64::MAX } else { self.next_update_after(now_ns) };
    }

    /// The run has ended, and so does the bin at hand. All bins, in order.
    pub fn end(mut self, ends: &Ends, state: &Sample, free_blocks: u64) -> Vec<Bin> {
        if self.is_open && !self.is_over() {
            self.end_bin(ends, state, free_blocks);
        }
        self.bins
    }

    fn is_over(&self) -> bool {
        self.bins.len() as u64 == self.span.bins
    }

    /// The next update after this time: in the current bin, or at its end.
    fn next_update_after(&self, now_ns: u64) -> u64 {
        let at = self.bins.len() as u64;
        let (start_ns, end_ns) = (self.span.start_of(at), self.span.start_of(at + 1));
        let every_ns = (self.span.bin_ns / UPDATES_PER_BIN).max(1);
        end_ns.min(start_ns + ((now_ns - start_ns) / every_ns + 1) * every_ns)
    }

    fn end_bin(&mut self, ends: &Ends, state: &Sample, free_blocks: u64) {
        let before = std::mem::replace(&mut self.before, *ends);
        let fewest = std::mem::replace(&mut self.free_blocks_fewest, free_blocks).min(free_blocks);
        self.bins.push(Bin {
            start_ns: self.span.start_of(self.bins.len() as u64),
            requests_done: ends.requests - before.requests,
            response_sum_ns: ends.response_ns.wrapping_sub(before.response_ns),
            reads_done: ends.reads - before.reads,
            small_reads_done: ends.small_reads - before.small_reads,
            small_read_response_sum_ns: (ends.small_read_response_ns - before.small_read_response_ns) as u64,
            free_blocks,
            free_blocks_fewest: fewest,
            gc_share_percent: state.gc_share_percent,
            scrub_share_percent: state.scrub_share_percent,
            block_reads_max: state.block_reads_max,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { start_ns: 1_000, bin_ns: 100, bins: 3 };

    fn ends(requests: u64) -> Ends {
        Ends { requests, response_ns: requests * 7, ..Ends::default() }
    }

    fn state(gc_share_percent: f64) -> Sample {
        Sample { gc_share_percent: Some(gc_share_percent), ..Sample::default() }
    }

    fn shown(bins: &[Bin]) -> Vec<(u64, u64, u64, u64, u64)> {
        let row = |b: &Bin| (b.start_ns, b.requests_done, b.response_sum_ns, b.free_blocks, b.free_blocks_fewest);
        bins.iter().map(row).collect()
    }

    /// Events at 1,003, 1,017, 1,150 and 1,300: the last one is at the end of the third bin, and does not count in it.
    #[test]
    fn a_bin_has_what_ended_in_it_and_the_state_at_its_end() {
        let mut window = MeasureWindow::new(SPAN);
        let updates = [(1_003, 40, 8), (1_017, 41, 5), (1_150, 44, 6), (1_300, 50, 9)];
        let due = updates.map(|(now_ns, requests, free_blocks)| {
            let due_ns = window.next_ns();
            window.update(now_ns, &ends(requests), &state(1.5), free_blocks);
            due_ns
        });
        // Updates are due every 10 ns, and at the end of the bin at hand.
        assert_eq!((due, window.next_ns()), ([1_000, 1_010, 1_020, 1_160], u64::MAX));
        let bins = window.end(&ends(99), &state(1.5), 1);
        assert_eq!(shown(&bins), [(1_000, 4, 28, 6, 5), (1_100, 6, 42, 9, 6), (1_200, 0, 0, 9, 9)]);
        assert_eq!(bins[2].gc_share_percent, Some(1.5));
    }

    #[test]
    fn bins_end_where_the_run_does() {
        let mut window = MeasureWindow::new(SPAN);
        window.update(1_105, &ends(10), &state(0.0), 4);
        assert_eq!(shown(&window.end(&ends(12), &state(0.0), 3)), [(1_000, 0, 0, 4, 4), (1_100, 2, 14, 3, 3)]);
        assert!(MeasureWindow::new(SPAN).end(&ends(12), &state(0.0), 3).is_empty(), "it has not begun");
    }

    #[test]
    fn a_window_from_the_start_has_what_ends_before_the_first_event() {
        let mut window = MeasureWindow::new(Span { start_ns: 0, ..SPAN });
        assert_eq!(window.next_ns(), 10);
        window.update(25, &ends(3), &state(0.0), 4);
        assert_eq!(shown(&window.end(&ends(5), &state(0.0), 4)), [(0, 5, 35, 4, 4)]);
    }
}
