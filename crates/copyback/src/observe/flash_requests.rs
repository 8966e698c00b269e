//! The time of the host's flash requests by cause: of each transaction, not of the request that it is a part of.
//!
//! The time counts from the arrival of a transaction at its die until its data has left flash or is in it. While the
//! transaction waits for admission to its die's window, the cause is the scheduler, whichever task uses the die. In the
//! window, and while it waits for a free page, the cause is the task that uses the die, according to the die's clocks.

use super::clocks::{Reading, charge};
use super::report::{ALL_CAUSES, CAUSES, Cause, serialize_parts};
use serde::Serialize;

/// The kind of flash request that a transaction of the host, or of the map, makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FlashRequest {
    /// A read of a page, also for a partial write.
    Read,
    /// A program of a page.
    Program,
    /// A page of the map, for any task.
    MapRead,
}

/// How many kinds there are.
const KINDS: usize = 3;

/// Time of flash requests by kind and by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashRequestTotals {
    ended: [u64; KINDS],
    sum_ns: [[u128; CAUSES]; KINDS],
}

impl FlashRequestTotals {
    /// A flash request waited between two readings of its die's clocks.
    pub fn on_wait(&mut self, kind: FlashRequest, from: &Reading, to: &Reading, waits_for_window: bool) {
        let mut waited_ns = [0; CAUSES];
        charge(&mut waited_ns, from, to);
        if waits_for_window {
            self.on_time(kind, Cause::Scheduler, waited_ns.iter().sum());
        } else {
            ALL_CAUSES.iter().for_each(|&cause| self.on_time(kind, cause, waited_ns[cause as usize]));
        }
    }

    /// A flash request took this time for this cause.
    pub fn on_time(&mut self, kind: FlashRequest, cause: Cause, ns: u64) {
        self.sum_ns[kind as usize][cause as usize] += u128::from(ns);
    }

    /// A flash request ended.
    pub fn on_end(&mut self, kind: FlashRequest) {
        self.ended[kind as usize] += 1;
    }

    /// Combines each sum with the same sum of `other`.
    #[must_use]
    pub fn zip(&self, other: &Self, with: fn(u128, u128) -> u128) -> Self {
        let with_ns = |kind: usize| std::array::from_fn(|at| with(self.sum_ns[kind][at], other.sum_ns[kind][at]));
        let ended = |kind: usize| with(self.ended[kind].into(), other.ended[kind].into()) as u64;
        Self { ended: std::array::from_fn(ended), sum_ns: std::array::from_fn(with_ns) }
    }

    /// Their part of the report.
    pub fn report(&self) -> FlashRequestReport {
        let of = |kind: FlashRequest| {
            let ended = self.ended[kind as usize];
            let mean = |cause: Cause| self.sum_ns[kind as usize][cause as usize] as f64 / ended as f64;
            let causes = ALL_CAUSES.iter().filter(|_| ended > 0);
            FlashRequestTimes { count: ended, mean_ns: causes.map(|&cause| (cause, mean(cause))).collect() }
        };
        FlashRequestReport {
            read: of(FlashRequest::Read),
            program: of(FlashRequest::Program),
            map_read: of(FlashRequest::MapRead),
        }
    }
}

/// Time of the host's flash requests, from when they reach their dies until they complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlashRequestReport {
    /// Reads of pages, including reads before partial writes.
    pub read: FlashRequestTimes,
    /// Programs; writes that share a page are several.
    pub program: FlashRequestTimes,
    /// Reads of translation pages, for any task.
    pub map_read: FlashRequestTimes,
}

/// Time of flash requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlashRequestTimes {
    /// How many ended.
    pub count: u64,
    /// Mean by cause, in the order of [`ALL_CAUSES`]; they add up to the mean time. `scheduler` includes the wait for
    /// the die's window. Empty if `count` is 0.
    #[serde(serialize_with = "serialize_parts")]
    pub mean_ns: Vec<(Cause, f64)>,
}
