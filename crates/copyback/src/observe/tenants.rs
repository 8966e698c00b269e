//! The measures of each of several workloads that share a drive.

use super::collector::CompletedRequest;
use super::latencies::Latencies;
use super::rate_samples::{Intervals, OpRates};
use super::report::{ALL_CAUSES, CAUSES, Cause, Latency, LatencyBreakdown};
use copyback_workload::Op;
use serde::Serialize;

/// Bins of the number of outstanding requests: 1, 2 or 3, 4 to 7, and so on; the last one has no end.
const DEPTHS: usize = 7;

/// Measures of one workload.
#[derive(Default)]
pub struct TenantMeasures {
    /// Response times of reads and writes, each not affected and affected by collection.
    response: [[Latencies; 2]; 2],
    breakdown_sum_ns: [[u128; CAUSES]; 2],
    done: [u64; 3],
    bytes: [u64; 3],
    last_end_ns: u64,
    /// Requests by the number outstanding at their completion: 1, 2 or 3, 4 to 7, and so on.
    depths: [u64; DEPTHS],
    intervals: Intervals,
    /// Most of its requests that were outstanding at once.
    pub peak_outstanding: u32,
}

/// Response times of a workload by class.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TenantLatencies {
    /// Reads and writes.
    pub all: Latency,
    /// Reads.
    pub read: Latency,
    /// Writes.
    pub write: Latency,
    /// Requests that waited, at any time, for a die reserved for or executing garbage collection.
    pub gc_affected: Latency,
    /// GC-affected reads.
    pub gc_affected_read: Latency,
    /// GC-affected writes.
    pub gc_affected_write: Latency,
}

/// Results of one of several workloads: its part of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TenantReport {
    /// Reads done.
    pub reads: u64,
    /// Writes done.
    pub writes: u64,
    /// Trims done.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes trimmed.
    pub trimmed_bytes: u64,
    /// Simulated time over which the workload is measured: from its start, or from the end of its warm-up, to its last
    /// completion. If a time limit ends the workload, the time ends at this limit. Pauses between phases are excluded.
    pub simulated_ns: u64,
    /// Reads and writes done in a second of that time.
    pub iops: Option<f64>,
    /// Bytes read or written in a second of that time.
    pub bytes_per_s: Option<f64>,
    /// Response times.
    pub response: TenantLatencies,
    /// Response times by cause.
    pub latency_breakdown: LatencyBreakdown,
    /// Most of its requests that were outstanding at once.
    pub peak_outstanding: u32,
    /// Shares of its completions at which 1, 2 or 3, 4 to 7, 8 to 15, 16 to 31, 32 to 63, and 64 or more of its
    /// requests were outstanding, the completing one included. In a closed loop, a request begins for each that
    /// completes, so requests begin at the same depths.
    pub outstanding_shares: [f64; DEPTHS],
}

impl TenantMeasures {
    /// A measured request of the workload completed, with this many outstanding; the workload began at `from_ns`.
    pub fn record(&mut self, request: &CompletedRequest<'_>, outstanding: u32, now_ns: u64, from_ns: u64) {
        let op = request.asked.op as usize;
        self.intervals.record(request.asked.op, request.asked.len_bytes, now_ns, from_ns);
        self.depths[(outstanding.max(1).ilog2() as usize).min(DEPTHS - 1)] += 1;
        self.last_end_ns = now_ns;
        self.done[op] += 1;
        self.bytes[op] += request.asked.len_bytes;
        if request.asked.op == Op::Trim {
            return;
        }
        self.response[op][usize::from(request.gc_affected)].record(now_ns - request.arrival_ns);
        for (sum, part) in self.breakdown_sum_ns[op].iter_mut().zip(request.breakdown_ns) {
            *sum += u128::from(*part);
        }
    }

    /// Whether no request was recorded.
    pub fn is_empty(&self) -> bool {
        self.done == [0; 3]
    }

    /// The completion of the last of its measured requests; 0 if there was none.
    pub fn last_end_ns(&self) -> u64 {
        self.last_end_ns
    }

    /// Rates of reads, writes and trims over equal intervals, of those that have ended by then.
    pub fn rates(&self, now_ns: u64) -> [OpRates; 3] {
        self.intervals.rates(now_ns)
    }

    /// The measurement over this time.
    pub fn report(&self, measured_ns: u64) -> TenantReport {
        let span_ns = if self.done == [0; 3] { 0 } else { measured_ns };
        let per_second = |count: u64| (span_ns > 0).then(|| count as f64 * 1e9 / span_ns as f64);
        let [reads, writes, trims] = self.done;
        let [read_bytes, written_bytes, trimmed_bytes] = self.bytes;
        TenantReport {
            reads,
            writes,
            trims,
            read_bytes,
            written_bytes,
            trimmed_bytes,
            simulated_ns: span_ns,
            iops: per_second(reads + writes),
            bytes_per_s: per_second(read_bytes + written_bytes),
            response: self.latencies(),
            latency_breakdown: LatencyBreakdown {
                read_mean_ns: self.mean_by_cause(Op::Read),
                write_mean_ns: self.mean_by_cause(Op::Write),
            },
            peak_outstanding: self.peak_outstanding,
            outstanding_shares: self.depths.map(|count| share(count, reads + writes + trims)),
        }
    }

    /// Response times of a class of its requests: of these operations, affected by collection or not.
    pub fn class(&self, ops: &[Op], affected: &[usize]) -> Latencies {
        let mut sum = Latencies::default();
        for &op in ops {
            affected.iter().for_each(|&affected| sum.add(&self.response[op as usize][affected]));
        }
        sum
    }

    fn latencies(&self) -> TenantLatencies {
        let of = |ops: &[Op], affected: &[usize]| self.class(ops, affected).summary();
        TenantLatencies {
            all: of(&[Op::Read, Op::Write], &[0, 1]),
            read: of(&[Op::Read], &[0, 1]),
            write: of(&[Op::Write], &[0, 1]),
            gc_affected: of(&[Op::Read, Op::Write], &[1]),
            gc_affected_read: of(&[Op::Read], &[1]),
            gc_affected_write: of(&[Op::Write], &[1]),
        }
    }

    fn mean_by_cause(&self, op: Op) -> Vec<(Cause, f64)> {
        let count: u64 = self.response[op as usize].iter().map(Latencies::count).sum();
        let sums = &self.breakdown_sum_ns[op as usize];
        let causes = ALL_CAUSES.iter().filter(|_| count > 0);
        causes.map(|&cause| (cause, sums[cause as usize] as f64 / count as f64)).collect()
    }
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}
