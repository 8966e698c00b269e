//! The requests that collection affects under one scheme, measured under another.
//!
//! Each scheme has its own set of affected requests, so that means over these sets cannot be compared: a scheme that
//! spares most requests has a small set of hard cases. A run can therefore keep the response time of every request by
//! its number, in eight bytes each. Of several runs of one workload, the requests that are affected in the first run
//! are compared.

use super::latencies::Latencies;
use super::report::Latency;
use copyback_workload::Op;
use serde::Serialize;

/// Response times of a run by the number of the request, counted from 0 in the order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Responses {
    /// The response time, above [`FLAGS`] bits: an entry exists, the request is affected, it is a write.
    entries: Vec<u64>,
}

/// Bits of an entry below the response time.
const FLAGS: u32 = 3;
const IS_THERE: u64 = 1;
const IS_AFFECTED: u64 = 2;
const IS_WRITE: u64 = 4;
/// The longest response time that an entry holds: 73 years.
const RESPONSE_NS_MAX: u64 = u64::MAX >> FLAGS;

/// Response times of the requests that collection affected in another run: all 0 if there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matched {
    /// Reads and writes.
    pub all: Latency,
    /// Reads.
    pub read: Latency,
    /// Writes.
    pub write: Latency,
}

impl Responses {
    /// Keeps the response time of a read or a write; trims are not compared.
    pub(super) fn keep(&mut self, index: u64, op: Op, gc_affected: bool, response_ns: u64) {
        if op == Op::Trim {
            return;
        }
        let at = usize::try_from(index).expect("requests are counted in memory");
        if at >= self.entries.len() {
            self.entries.resize(at + 1, 0);
        }
        let affected = if gc_affected { IS_AFFECTED } else { 0 };
        let write = if op == Op::Write { IS_WRITE } else { 0 };
        self.entries[at] = response_ns.min(RESPONSE_NS_MAX) << FLAGS | affected | write | IS_THERE;
    }

    /// Response times, in this run, of the requests that collection affected in `first`. Requests that one of the two
    /// runs did not finish are excluded.
    pub fn matched(&self, first: &Self) -> Matched {
        let (mut read, mut write) = (Latencies::default(), Latencies::default());
        for (entry, of_first) in self.entries.iter().zip(&first.entries) {
            if of_first & IS_AFFECTED != 0 && entry & IS_THERE != 0 {
                let class = if entry & IS_WRITE != 0 { &mut write } else { &mut read };
                class.record(entry >> FLAGS);
            }
        }
        let mut all = read.clone();
        all.add(&write);
        Matched { all: all.summary(), read: read.summary(), write: write.summary() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_matched_by_number_and_by_the_first_runs_verdict() {
        let (mut first, mut second) = (Responses::default(), Responses::default());
        // In the order of completion, which differs from one run to the other.
        for (index, op, affected, ns) in [(2, Op::Write, true, 900), (0, Op::Read, true, 400), (1, Op::Read, false, 7)]
        {
            first.keep(index, op, affected, ns);
        }
        first.keep(3, Op::Trim, true, 1);
        first.keep(4, Op::Read, true, 600);
        for (index, op, affected, ns) in
            [(0, Op::Read, false, 100), (1, Op::Read, true, 5000), (2, Op::Write, true, 50)]
        {
            second.keep(index, op, affected, ns);
        }
        let matched = second.matched(&first);
        let means = |m: &Matched| [m.all.mean_ns, m.read.mean_ns, m.write.mean_ns];
        assert_eq!((matched.all.count, matched.read.count, matched.write.count), (2, 1, 1));
        assert_eq!(means(&matched), [75.0, 100.0, 50.0]);
        // Matched with itself, a run has its own affected set.
        let own = first.matched(&first);
        assert_eq!((own.all.count, own.read.count, own.write.count), (3, 2, 1));
        assert_eq!(means(&own), [1900.0 / 3.0, 500.0, 900.0]);
        assert_eq!(own.all.max_ns, 900);
    }
}
