//! Measurements during a run.

use super::array_report::BandwidthReport;
use super::bandwidth::Bandwidth;
use super::config::MeasureConfig;
use super::latencies::Latencies;
use super::matched::Responses;
use super::rate_samples::{Intervals, OpRates};
use super::report::{
    ALL_CAUSES, Bin, CAUSES, Latencies as LatencyReport, LatencyBreakdown, RequestRecord, Sample, SampleWork,
};
use super::window::{Ends, MeasureWindow};
use crate::sim::invariant::hold;
use copyback_workload::{Op, Request};

/// Samples that are kept at most: when there are this many, every other one is merged into its neighbour, and samples
/// are taken half as often. So a long run has between half of this number and all of it.
const SAMPLES_MAX: usize = 4096;
/// Time between samples at first.
const SAMPLE_NS: u64 = 1_000_000;

/// A request that has ended, as its host knows it.
#[derive(Clone, Copy, Debug)]
pub struct CompletedRequest<'a> {
    /// The request.
    pub asked: &'a Request,
    /// Its number in the order of arrival, from 0.
    pub index: u64,
    /// When it arrived.
    pub arrival_ns: u64,
    /// Its workload, if several workloads share the drives; else 0.
    pub workload: u16,
    /// Whether one of its transactions waited for collection.
    pub gc_affected: bool,
    /// Its time by cause.
    pub breakdown_ns: &'a [u64; CAUSES],
}

/// Kinds of requests with separate response times; classes are sums of them.
const SMALL_READ: usize = 0;
const LARGE_READ: usize = 1;
const WRITE: usize = 2;
const KINDS: usize = 3;

/// The totals at the time of a sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    requests: u64,
    response_ns: u64,
    work: SampleWork,
}

/// Measures of host requests.
pub struct Collector {
    /// Response times by kind, each not affected and affected by collection.
    response: [[Latencies; 2]; KINDS],
    small_read_max_bytes: u64,
    breakdown_sum_ns: [[u128; CAUSES]; 2],
    /// The first request that is measured; the ends of earlier requests do not count.
    measured_from: u64,
    /// All requests that ended, including requests of a warm-up.
    pub ended: u64,
    /// Requests done, by operation.
    pub done: [u64; 3],
    /// Bytes done, by operation.
    pub bytes: [u64; 3],
    /// Units of the host's writes that were split, and of its writes to failed drives.
    pub written_units: u64,
    /// State over time.
    pub series: Vec<Sample>,
    next_sample_ns: u64,
    sample_every_ns: u64,
    /// Sum of the response times of measured requests, trims included. It may wrap to 0: only differences over a short
    /// time are used.
    response_sum_ns: u64,
    /// Requests that are measured, this sum, and the work of the drives, at the last sample.
    sampled: Sampled,
    /// Requests that ended and are not measured.
    left_out: Ends,
    /// The window, if requested.
    window: Option<MeasureWindow>,
    /// Bytes by intervals, if requested.
    bandwidth: Option<Bandwidth>,
    /// The earliest of three times: of the next sample, of the window's next update, of the bandwidth's next update.
    next_update_ns: u64,
    /// Rates over equal intervals, if kept.
    rates: Option<Intervals>,
    /// The start of measuring: intervals count from there.
    measured_from_ns: u64,
    /// Records of requests, if kept.
    records: Option<Vec<RequestRecord>>,
    /// Response times by request, if kept.
    responses: Option<Responses>,
}

impl Collector {
    /// Nothing measured yet.
    pub fn new(keep_requests: bool) -> Self {
        Self {
            response: Default::default(),
            small_read_max_bytes: MeasureConfig::default().small_read_max.0,
            breakdown_sum_ns: [[0; CAUSES]; 2],
            measured_from: 0,
            ended: 0,
            done: [0; 3],
            bytes: [0; 3],
            written_units: 0,
            series: Vec::with_capacity(SAMPLES_MAX),
            next_sample_ns: 0,
            sample_every_ns: SAMPLE_NS,
            response_sum_ns: 0,
            sampled: Sampled::default(),
            left_out: Ends::default(),
            window: None,
            bandwidth: None,
            next_update_ns: 0,
            rates: None,
            measured_from_ns: 0,
            records: keep_requests.then(Vec::new),
            responses: None,
        }
    }

    /// Enables the measures of a configuration. Call it before the run starts.
    pub fn measure(&mut self, config: &MeasureConfig) {
        self.small_read_max_bytes = config.small_read_max.0;
        self.window = config.span().map(MeasureWindow::new);
        self.bandwidth = config.bandwidth.map(|every| Bandwidth::new(every.0));
        self.plan_update();
    }

    /// Begins after `work`: what the drives did before the run, in their preconditioning.
    pub fn start_after(&mut self, work: SampleWork) {
        self.sampled = self.done_with(work);
    }

    /// Keeps response times by request, so that requests can be matched between runs, or rates over equal intervals.
    /// Call it before the run starts.
    pub fn keep(&mut self, responses: bool, rates: bool) {
        self.responses = responses.then(Default::default);
        self.rates = rates.then(Default::default);
    }

    /// Keeps no response times by request: requests of one number differ between runs.
    pub fn without_matching(&mut self) {
        self.responses = None;
    }

    /// Takes the records of requests; empty if none are kept.
    pub fn take_records(&mut self) -> Vec<RequestRecord> {
        self.records.take().unwrap_or_default()
    }

    /// Takes the response times by request; empty if none are kept.
    pub fn take_responses(&mut self) -> Responses {
        self.responses.take().unwrap_or_default()
    }

    /// Rates of each operation up to a time; all 0 if none are kept.
    pub fn rates(&self, end_ns: u64) -> [OpRates; 3] {
        self.rates.as_ref().map(|rates| rates.rates(end_ns)).unwrap_or_default()
    }

    /// From now on no end of a request counts.
    pub fn warm_up(&mut self) {
        self.measured_from = u64::MAX;
    }

    /// The warm-up is over: requests of this number and after it count. State over time begins here; the drives have
    /// done `work` before.
    pub fn begin(&mut self, first: u64, now_ns: u64, work: SampleWork) {
        self.measured_from = first;
        self.measured_from_ns = now_ns;
        self.rates.iter_mut().for_each(|rates| *rates = Intervals::default());
        self.series.clear();
        self.sampled = self.done_with(work);
        self.sample_every_ns = SAMPLE_NS;
        self.next_sample_ns = (now_ns / SAMPLE_NS + 1) * SAMPLE_NS;
        let bytes = self.bytes.iter().sum();
        self.bandwidth.iter_mut().for_each(|bandwidth| bandwidth.begin(now_ns, bytes));
        self.plan_update();
    }

    /// A request ended. Returns whether it is measured.
    ///
    /// # Panics
    /// When the parts of its response time do not add up.
    pub fn record(&mut self, request: CompletedRequest<'_>, now_ns: u64) -> bool {
        let response_ns = now_ns - request.arrival_ns;
        let explained_ns: u64 = request.breakdown_ns.iter().sum();
        hold!(
            explained_ns == response_ns,
            TimeExplained,
            "request {} took {response_ns} ns, of which {explained_ns} ns are explained: {:?}",
            request.index,
            request.breakdown_ns
        );
        self.ended += 1;
        if request.index < self.measured_from {
            self.leave_out(request.asked, response_ns);
            return false;
        }
        let op = request.asked.op as usize;
        self.done[op] += 1;
        self.bytes[op] += request.asked.len_bytes;
        self.response_sum_ns = self.response_sum_ns.wrapping_add(response_ns);
        if request.asked.op != Op::Trim {
            self.response[self.kind(request.asked)][usize::from(request.gc_affected)].record(response_ns);
            for (sum, part) in self.breakdown_sum_ns[op].iter_mut().zip(request.breakdown_ns) {
                *sum += u128::from(*part);
            }
        }
        if let Some(rates) = &mut self.rates {
            rates.record(request.asked.op, request.asked.len_bytes, now_ns, self.measured_from_ns);
        }
        if let Some(responses) = &mut self.responses {
            responses.keep(request.index, request.asked.op, request.gc_affected, response_ns);
        }
        if let Some(records) = &mut self.records {
            records.push(RequestRecord {
                index: request.index,
                op: op as u8,
                workload: request.workload,
                gc_affected: request.gc_affected,
                arrival_ns: request.arrival_ns,
                offset_bytes: request.asked.offset_bytes,
                len_bytes: request.asked.len_bytes,
                response_ns,
                breakdown_ns: *request.breakdown_ns,
            });
        }
        true
    }

    /// The kind of a read or a write.
    #[inline]
    fn kind(&self, asked: &Request) -> usize {
        match asked.op {
            Op::Read if asked.len_bytes <= self.small_read_max_bytes => SMALL_READ,
            Op::Read => LARGE_READ,
            _ => WRITE,
        }
    }

    /// A request of a warm-up completed: a window may include it.
    #[cold]
    fn leave_out(&mut self, asked: &Request, response_ns: u64) {
        let is_small = asked.op == Op::Read && self.kind(asked) == SMALL_READ;
        self.left_out.requests += 1;
        self.left_out.response_ns = self.left_out.response_ns.wrapping_add(response_ns);
        self.left_out.reads += u64::from(asked.op == Op::Read);
        self.left_out.small_reads += u64::from(is_small);
        self.left_out.small_read_response_ns += if is_small { u128::from(response_ns) } else { 0 };
    }

    /// Requests that ended and are measured.
    fn measured(&self) -> u64 {
        self.done.iter().sum()
    }

    /// All that has ended.
    fn ends(&self) -> Ends {
        let (out, small) = (&self.left_out, &self.response[SMALL_READ]);
        Ends {
            requests: out.requests + self.measured(),
            response_ns: out.response_ns.wrapping_add(self.response_sum_ns),
            reads: out.reads + self.done[Op::Read as usize],
            small_reads: out.small_reads + small.iter().map(Latencies::count).sum::<u64>(),
            small_read_response_ns: out.small_read_response_ns + small.iter().map(Latencies::sum_ns).sum::<u128>(),
        }
    }

    /// The time of the next update, which precedes the events of that time.
    #[inline(always)]
    pub fn next_update_ns(&self) -> u64 {
        self.next_update_ns
    }

    fn plan_update(&mut self) {
        let window_ns = self.window.as_ref().map_or(u64::MAX, MeasureWindow::next_ns);
        let bandwidth_ns = self.bandwidth.as_ref().map_or(u64::MAX, Bandwidth::next_ns);
        self.next_update_ns = self.next_sample_ns.min(window_ns).min(bandwidth_ns);
    }

    /// Whether an update now takes a sample; the state must then have the work of the drives.
    #[inline]
    pub fn is_sample_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_sample_ns
    }

    /// The run has ended: takes one more sample, of the time since the last sample. If the last sample was taken at the
    /// same time, before the run's last events, the two become one sample.
    pub fn end_series(&mut self, now_ns: u64, state: &Sample) {
        let before = self.series.pop_if(|last| last.time_ns == now_ns);
        self.sample(now_ns, state);
        if let (Some(before), Some(last)) = (before, self.series.last_mut()) {
            last.add(&before);
        }
    }

    /// Samples the drives before the present event. `state` has everything but the completed requests, which are
    /// counted here. If a sample is due, its work is that since the run began. `free_blocks` are those of all drives.
    #[inline]
    pub fn update(&mut self, now_ns: u64, state: &Sample, free_blocks: u64) {
        if self.is_sample_due(now_ns) {
            self.sample(now_ns, state);
        }
        if self.window.as_ref().is_some_and(|window| now_ns >= window.next_ns()) {
            let ends = self.ends();
            self.window.as_mut().expect("there is one").update(now_ns, &ends, state, free_blocks);
        }
        let bytes = self.bytes.iter().sum();
        self.bandwidth.iter_mut().for_each(|bandwidth| bandwidth.update(now_ns, bytes));
        self.plan_update();
    }

    /// The run has ended: its bandwidth, if measured.
    pub fn end_bandwidth(&mut self) -> Option<BandwidthReport> {
        self.bandwidth.take().map(Bandwidth::report)
    }

    /// The run has ended: the bins of its window, if there is one.
    pub fn end_window(&mut self, state: &Sample, free_blocks: u64) -> Option<Vec<Bin>> {
        let ends = self.ends();
        self.window.take().map(|window| window.end(&ends, state, free_blocks))
    }

    #[inline]
    fn sample(&mut self, now_ns: u64, state: &Sample) {
        let done = self.done_with(state.work);
        let before = std::mem::replace(&mut self.sampled, done);
        self.series.push(Sample {
            time_ns: now_ns,
            requests_done: done.requests - before.requests,
            response_sum_ns: done.response_ns.wrapping_sub(before.response_ns),
            work: done.work.zip(&before.work, |now, then| now - then),
            ..*state
        });
        if self.series.len() >= SAMPLES_MAX {
            self.merge_samples();
        }
        self.next_sample_ns = (now_ns / self.sample_every_ns + 1) * self.sample_every_ns;
    }

    /// All that is done, with the work of the drives so far.
    fn done_with(&self, work: SampleWork) -> Sampled {
        let work = SampleWork { trims_done: self.done[Op::Trim as usize], ..work };
        Sampled { requests: self.measured(), response_ns: self.response_sum_ns, work }
    }

    fn merge_samples(&mut self) {
        for at in 0..SAMPLES_MAX / 2 {
            let (first, mut last) = (self.series[2 * at], self.series[2 * at + 1]);
            last.add(&first);
            self.series[at] = last;
        }
        self.series.truncate(SAMPLES_MAX / 2);
        self.sample_every_ns *= 2;
    }

    /// Response times of the classes that a report has, by name.
    pub fn classes(&self) -> [(&'static str, Latencies); 7] {
        let merged = |kinds: &[usize], affected: &[usize]| {
            let mut sum = Latencies::default();
            for &kind in kinds {
                for &a in affected {
                    sum.add(&self.response[kind][a]);
                }
            }
            sum
        };
        [
            ("all", merged(&[SMALL_READ, LARGE_READ, WRITE], &[0, 1])),
            ("read", merged(&[SMALL_READ, LARGE_READ], &[0, 1])),
            ("small_read", merged(&[SMALL_READ], &[0, 1])),
            ("write", merged(&[WRITE], &[0, 1])),
            ("gc_affected", merged(&[SMALL_READ, LARGE_READ, WRITE], &[1])),
            ("gc_affected_read", merged(&[SMALL_READ, LARGE_READ], &[1])),
            ("gc_affected_write", merged(&[WRITE], &[1])),
        ]
    }

    /// Mean latency breakdown of reads and of writes.
    pub fn latency_breakdown(&self, response: &LatencyReport) -> LatencyBreakdown {
        let means = |op: usize, count: u64| {
            let causes = ALL_CAUSES.iter().filter(|_| count > 0);
            causes.map(|&cause| (cause, self.breakdown_sum_ns[op][cause as usize] as f64 / count as f64)).collect()
        };
        LatencyBreakdown { read_mean_ns: means(0, response.read.count), write_mean_ns: means(1, response.write.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_due_at_multiples_of_their_distance() {
        let mut collector = Collector::new(false);
        collector.begin(0, 7 * SAMPLE_NS + 1, SampleWork::default());
        assert_eq!(collector.next_update_ns(), 8 * SAMPLE_NS);
        collector.update(9 * SAMPLE_NS, &Sample::default(), 0);
        assert_eq!(collector.next_update_ns(), 10 * SAMPLE_NS);
    }

    fn after(gc_units: u64) -> Sample {
        Sample { work: SampleWork { gc_units, ..SampleWork::default() }, ..Sample::default() }
    }

    fn shown(collector: &Collector) -> Vec<(u64, u64)> {
        collector.series.iter().map(|sample| (sample.time_ns, sample.work.gc_units)).collect()
    }

    /// No sample has the work of a warm-up; the last sample has the work up to the run's end.
    #[test]
    fn work_is_that_since_the_sample_before_up_to_the_end() {
        let mut collector = Collector::new(false);
        collector.begin(0, 0, after(100).work);
        collector.update(SAMPLE_NS, &after(103), 0);
        collector.update(2 * SAMPLE_NS, &after(110), 0);
        collector.end_series(2 * SAMPLE_NS + 1, &after(111));
        assert_eq!(shown(&collector), [(SAMPLE_NS, 3), (2 * SAMPLE_NS, 7), (2 * SAMPLE_NS + 1, 1)]);
    }

    #[test]
    fn the_last_events_belong_to_a_sample_of_their_time() {
        let mut collector = Collector::new(false);
        collector.update(SAMPLE_NS, &after(5), 0);
        collector.end_series(SAMPLE_NS, &after(9));
        assert_eq!(shown(&collector), [(SAMPLE_NS, 9)]);
    }

    #[test]
    fn merged_samples_keep_all_work() {
        let mut collector = Collector::new(false);
        (1..=SAMPLES_MAX as u64).for_each(|at| collector.update(at * SAMPLE_NS, &after(3 * at), 0));
        assert_eq!(collector.series.len(), SAMPLES_MAX / 2);
        assert!(collector.series.iter().all(|sample| sample.work.gc_units == 6));
    }
}
