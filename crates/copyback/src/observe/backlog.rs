//! Outstanding requests of open loops over time, and the trend of their number.
//!
//! Arrivals and ends are counted in equal intervals from the first arrival on. A request counts from its arrival, even
//! if the drives take it much later. Memory is fixed: if the intervals do not suffice, neighbours are joined.

use super::steady::rise;

/// Intervals at most. At least half of them are in use in a run of some length.
const INTERVALS: usize = 1024;
/// Fewest ends of intervals to which a line is fitted.
const ENDS_MIN: usize = 10;

/// See the module's page.
#[derive(Clone, Debug)]
pub struct Backlog {
    /// When the first request arrived; `u64::MAX` before.
    first_ns: u64,
    last_ns: u64,
    /// The length of an interval is this power of two, in nanoseconds.
    length_log2: u32,
    /// Requests that arrived and that ended in each interval.
    counts: Box<[[u64; 2]; INTERVALS]>,
}

impl Default for Backlog {
    fn default() -> Self {
        Self { first_ns: u64::MAX, last_ns: 0, length_log2: 0, counts: Box::new([[0; 2]; INTERVALS]) }
    }
}

/// How outstanding requests change over a part of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Rise of the straight line that is fitted to their number; below 0 if it falls.
    pub rise: f64,
    /// Largest distance of their number from this line.
    pub deviation: f64,
    /// Requests that arrived in this part.
    pub arrived: u64,
}

impl Backlog {
    /// A request arrives at `arrival_ns`, not before the first one.
    #[inline(always)]
    pub fn arrive(&mut self, arrival_ns: u64) {
        if self.first_ns == u64::MAX {
            self.first_ns = arrival_ns;
        }
        self.last_ns = self.last_ns.max(arrival_ns);
        self.count(0, arrival_ns);
    }

    /// One of them ends.
    #[inline(always)]
    pub fn end(&mut self, now_ns: u64) {
        self.count(1, now_ns);
    }

    #[inline(always)]
    fn count(&mut self, which: usize, at_ns: u64) {
        let at = at_ns.saturating_sub(self.first_ns) >> self.length_log2;
        match self.counts.get_mut(at as usize) {
            Some(counts) => counts[which] += 1,
            None => self.count_far(which, at_ns),
        }
    }

    /// Counts at a time after the last interval: joins neighbouring intervals until one of them contains the time.
    #[cold]
    #[inline(never)]
    fn count_far(&mut self, which: usize, at_ns: u64) {
        let since_ns = at_ns.saturating_sub(self.first_ns);
        while since_ns >> self.length_log2 >= INTERVALS as u64 {
            // Without checks of bounds in the loop: a short run joins intervals some twenty times.
            let (joined, behind) = self.counts.split_at_mut(INTERVALS / 2);
            for at in 0..INTERVALS / 4 {
                let (one, other) = (joined[2 * at], joined[2 * at + 1]);
                joined[at] = [one[0] + other[0], one[1] + other[1]];
            }
            for (into, pair) in joined[INTERVALS / 4..].iter_mut().zip(behind.chunks_exact(2)) {
                *into = [pair[0][0] + pair[1][0], pair[0][1] + pair[1][1]];
            }
            behind.fill([0; 2]);
            self.length_log2 += 1;
        }
        self.count(which, at_ns);
    }

    /// The trend of outstanding requests from a time to the last arrival: afterwards, their number can only fall.
    /// `None` if this part is too short for the intervals, or for a trend.
    pub fn trend(&self, from_ns: u64) -> Option<Trend> {
        let first_ns = Some(self.first_ns).filter(|first_ns| *first_ns <= self.last_ns)?;
        // Ends of intervals in the part: interval `at` ends where the next one begins.
        let begun = |at_ns: u64| (at_ns.saturating_sub(first_ns) >> self.length_log2) as usize;
        let (from, to) = (begun(from_ns), begun(self.last_ns));
        let mut arrived_by_end = Vec::with_capacity(to.saturating_sub(from));
        let (mut outstanding, mut arrived, mut ended) = (Vec::with_capacity(arrived_by_end.capacity()), 0, 0);
        for (at, counts) in self.counts.iter().enumerate().take(to) {
            (arrived, ended) = (arrived + counts[0], ended + counts[1]);
            if at >= from {
                arrived_by_end.push(arrived);
                outstanding.push(arrived as f64 - ended as f64);
            }
        }
        if outstanding.len() < ENDS_MIN {
            return None;
        }
        let rise = rise(&outstanding);
        let steps = (outstanding.len() - 1) as f64;
        let mean = outstanding.iter().sum::<f64>() / outstanding.len() as f64;
        let line = |at: usize| mean + rise * (at as f64 / steps - 0.5);
        let distances = outstanding.iter().enumerate().map(|(at, value)| (value - line(at)).abs());
        let arrived = arrived_by_end[arrived_by_end.len() - 1] - arrived_by_end[0];
        Some(Trend { rise, deviation: distances.fold(0.0, f64::max), arrived })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request every 1,000 ns; request `index` takes as long as `response_ns` says.
    fn backlog(requests: u64, response_ns: impl Fn(u64) -> u64) -> Backlog {
        let mut backlog = Backlog::default();
        for index in 0..requests {
            backlog.arrive(5_000_000 + 1_000 * index);
        }
        for index in 0..requests {
            backlog.end(5_000_000 + 1_000 * index + response_ns(index));
        }
        backlog
    }

    /// Each request takes 200 ns longer than the last one: of 6 that arrive, 5 are served.
    #[test]
    fn the_trend_is_that_of_what_arrives_and_is_not_served() {
        let grows = backlog(200_000, |index| 200 * index);
        for from_request in [0, 100_000, 180_000] {
            let trend = grows.trend(5_000_000 + 1_000 * from_request).unwrap();
            let arrived = 200_000 - from_request;
            assert!((trend.arrived as f64 / arrived as f64 - 1.0).abs() < 0.05, "{trend:?}");
            assert!((trend.rise / trend.arrived as f64 - 1.0 / 6.0).abs() < 1e-3 && trend.deviation < 2.0, "{trend:?}");
        }
        assert_eq!(grows.trend(5_000_000 + 1_000 * 199_900), None);
    }

    #[test]
    fn requests_that_all_take_as_long_show_no_trend() {
        let steady = backlog(200_000, |_| 50_000);
        let trend = steady.trend(10_000_000).unwrap();
        assert!(trend.rise.abs() < 1.0 && trend.deviation < 2.0, "{trend:?}");
        assert_eq!(Backlog::default().trend(0), None);
        let last = steady.counts.iter().rposition(|counts| counts[1] > 0);
        assert!(last.is_some_and(|last| last >= INTERVALS / 2 - 1));
    }
}
