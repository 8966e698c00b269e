//! Causes of waiting at a die: cumulative clocks, read when a transaction begins to wait and when it stops.
//!
//! At each instant exactly one of a die's clocks runs: the clock of the work that uses the die, or the clock of the
//! reason for which a free die takes no transaction. The differences of two readings therefore add up to the time
//! between them, and the cost of a latency breakdown does not depend on the number of waiting transactions.

use crate::flash::command::Source;
use crate::flash::source::Account;
use crate::observe::report::{CAUSES, Cause};

/// Causes for which a die can keep a transaction waiting, in the order of their clocks.
const WAITS: [Cause; 7] =
    [Cause::Gc, Cause::Map, Cause::Scrub, Cause::Wear, Cause::Parity, Cause::HostIo, Cause::Scheduler];

/// The occupant of a die, as its waiters see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Occupant {
    /// Garbage collection; also a free die at which writes wait for space.
    Gc,
    /// Map traffic.
    Map,
    /// Scrubbing.
    Scrub,
    /// Wear levelling.
    Wear,
    /// Parity.
    Parity,
    /// Other host requests.
    HostIo,
    /// No work, and no write waits for space.
    NoWork,
}

impl From<Source> for Occupant {
    fn from(source: Source) -> Self {
        match source.account() {
            Account::Host => Self::HostIo,
            Account::Gc => Self::Gc,
            Account::Map => Self::Map,
            Account::Scrub => Self::Scrub,
            Account::Wear => Self::Wear,
            Account::Parity => Self::Parity,
        }
    }
}

/// A reading of a die's clocks: one for each cause, then the time that collection held the die.
pub type Reading = [u64; WAITS.len() + 1];
const HELD: usize = WAITS.len();

/// The clocks of one die.
#[derive(Clone, Debug)]
pub struct Clocks {
    elapsed_ns: Reading,
    running: Occupant,
    held_by_gc: bool,
    since_ns: u64,
}

impl Clocks {
    /// Clocks of a free die at time 0.
    pub fn new() -> Self {
        Self { elapsed_ns: [0; WAITS.len() + 1], running: Occupant::NoWork, held_by_gc: false, since_ns: 0 }
    }

    /// Stops the running clock and starts another. `held_by_gc`: the die is reserved for or executing collection,
    /// whatever else runs on it.
    #[inline]
    pub fn switch(&mut self, now_ns: u64, occupant: Occupant, held_by_gc: bool) {
        if (occupant, held_by_gc) == (self.running, self.held_by_gc) {
            return;
        }
        let ran_ns = now_ns - self.since_ns;
        self.elapsed_ns[self.running as usize] += ran_ns;
        self.elapsed_ns[HELD] += if self.held_by_gc { ran_ns } else { 0 };
        (self.running, self.held_by_gc, self.since_ns) = (occupant, held_by_gc, now_ns);
    }

    /// The occupant whose clock runs, and whether the clock of the time that collection holds the die runs.
    pub fn running(&self) -> (Occupant, bool) {
        (self.running, self.held_by_gc)
    }

    /// The reading of the clocks.
    #[inline]
    pub fn read(&self, now_ns: u64) -> Reading {
        let mut reading = [0; WAITS.len() + 1];
        self.read_into(now_ns, &mut reading);
        reading
    }

    /// Writes the reading of the clocks to its place. A copy of it would read in large pieces what was just written in
    /// small ones, and such a read waits.
    #[inline(always)]
    pub fn read_into(&self, now_ns: u64, reading: &mut Reading) {
        *reading = self.elapsed_ns;
        let running_ns = now_ns - self.since_ns;
        reading[self.running as usize] += running_ns;
        reading[HELD] += if self.held_by_gc { running_ns } else { 0 };
    }

    /// As [`charge`], up to now, without a second reading.
    #[inline(always)]
    pub fn charge_since(&self, from: &Reading, now_ns: u64, breakdown_ns: &mut [u64; CAUSES]) -> bool {
        let running_ns = now_ns - self.since_ns;
        for (clock, cause) in WAITS.iter().enumerate() {
            // `from` may include time of the clock that still runs: the sum is complete only after the next addition.
            let stopped_ns = self.elapsed_ns[clock].wrapping_sub(from[clock]);
            breakdown_ns[*cause as usize] = breakdown_ns[*cause as usize].wrapping_add(stopped_ns);
        }
        let running = &mut breakdown_ns[WAITS[self.running as usize] as usize];
        *running = running.wrapping_add(running_ns);
        self.elapsed_ns[HELD] + if self.held_by_gc { running_ns } else { 0 } > from[HELD]
    }

    /// Time that collection held the die.
    pub fn held_by_gc_ns(&self, now_ns: u64) -> u64 {
        self.read(now_ns)[HELD]
    }
}

impl Default for Clocks {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds the time between two readings to `breakdown`; returns whether collection held the die in this time.
#[inline(always)]
pub fn charge(breakdown_ns: &mut [u64; CAUSES], from: &Reading, to: &Reading) -> bool {
    for (clock, cause) in WAITS.iter().enumerate() {
        breakdown_ns[*cause as usize] += to[clock] - from[clock];
    }
    to[HELD] > from[HELD]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_clock_runs_at_a_time_and_nothing_is_left_over() {
        let mut clocks = Clocks::new();
        let before = clocks.read(5);
        clocks.switch(10, Occupant::Gc, true);
        clocks.switch(30, Occupant::HostIo, true);
        clocks.switch(60, Occupant::Wear, false);
        let mut breakdown = [0; CAUSES];
        assert!(charge(&mut breakdown, &before, &clocks.read(100)));
        let mut same = [0; CAUSES];
        assert!(clocks.charge_since(&before, 100, &mut same));
        assert_eq!(same, breakdown);
        // Both readings in the time of one clock.
        let mut of_one = [0; CAUSES];
        assert!(!clocks.charge_since(&clocks.read(70), 100, &mut of_one));
        assert_eq!((of_one[Cause::Wear as usize], of_one.iter().sum::<u64>()), (30, 30));
        // Collection holds the die by the clock that still runs, and the breakdown has time of an earlier wait.
        clocks.switch(100, Occupant::Gc, true);
        assert!(clocks.charge_since(&clocks.read(110), 120, &mut of_one));
        assert_eq!((of_one[Cause::Gc as usize], of_one.iter().sum::<u64>()), (10, 40));
        let parts = [Cause::Scheduler, Cause::Gc, Cause::HostIo, Cause::Wear].map(|c| breakdown[c as usize]);
        assert_eq!(parts, [5, 20, 30, 40]);
        assert_eq!(breakdown.iter().sum::<u64>(), 95);
        assert_eq!(clocks.held_by_gc_ns(100), 50);
    }
}
