//! Arrivals of generated requests.

use crate::rng::{self, Xoshiro256PlusPlus};
use crate::spec::{ArrivalKind, ArrivalSpec, WorkloadSpec};

/// When requests arrive: by one process, or reads by a second process.
pub(crate) enum Timetable {
    /// Each request of the process may be of any kind.
    Together(Arrivals),
    /// Two independent processes.
    Apart { reads: Upcoming, others: Upcoming },
}

impl Timetable {
    /// The timetable of a spec that passed its check.
    pub(crate) fn new(spec: &WorkloadSpec, seed: u64) -> Self {
        let arrivals = Arrivals::new(spec.arrivals.as_ref(), rng::stream(seed, "workload.arrival"));
        match &spec.read_arrivals {
            None => Self::Together(arrivals),
            reads => {
                let reads = Arrivals::new(reads.as_ref(), rng::stream(seed, "workload.read-arrival"));
                Self::Apart { reads: Upcoming::new(reads), others: Upcoming::new(arrivals) }
            }
        }
    }

    /// The next arrival, and whether it belongs to the process of reads; `None` if it exceeds 64 bits.
    pub(crate) fn next_ns(&mut self) -> Option<(u64, bool)> {
        match self {
            Self::Together(arrivals) => Some((arrivals.next_ns()?, false)),
            Self::Apart { reads, others } => match (reads.ns, others.ns) {
                // If both arrive at once, the read is first, in every run.
                (Some(read_ns), other_ns) if other_ns.is_none_or(|other_ns| read_ns <= other_ns) => {
                    reads.advance();
                    Some((read_ns, true))
                }
                (_, other_ns) => {
                    others.advance();
                    Some((other_ns?, false))
                }
            },
        }
    }
}

/// A process whose next arrival is known.
pub(crate) struct Upcoming {
    arrivals: Arrivals,
    ns: Option<u64>,
}

impl Upcoming {
    fn new(mut arrivals: Arrivals) -> Self {
        let ns = arrivals.next_ns();
        Self { arrivals, ns }
    }

    fn advance(&mut self) {
        self.ns = self.arrivals.next_ns();
    }
}

/// An arrival process and its position.
pub(crate) struct Arrivals {
    process: Process,
    rng: Xoshiro256PlusPlus,
    start_ns: u64,
    /// Time since its start; of bursts, without the pauses.
    now_ns: u64,
    count: u64,
}

enum Process {
    Closed,
    Fixed { gap_ns: f64 },
    Poisson { gap_ns: f64 },
    OnOff { gap_ns: f64, burst_ns: u64, pause_ns: f64 },
}

impl Arrivals {
    /// The process of a spec that passed its check.
    pub(crate) fn new(spec: Option<&ArrivalSpec>, rng: Xoshiro256PlusPlus) -> Self {
        let start_ns = spec.and_then(|spec| spec.start).map_or(0, |start| start.0);
        Self { process: spec.map_or(Process::Closed, process), rng, start_ns, now_ns: 0, count: 0 }
    }

    /// The next arrival; `None` if it exceeds 64 bits.
    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        self.since_start_ns()?.checked_add(self.start_ns)
    }

    fn since_start_ns(&mut self) -> Option<u64> {
        let index = self.count;
        self.count += 1;
        match self.process {
            Process::Closed => Some(0),
            // Computed from the index: a sum of gaps that are not whole numbers would drift.
            Process::Fixed { gap_ns } => whole_ns(index as f64 * gap_ns),
            Process::Poisson { gap_ns } => self.advance(gap_ns),
            Process::OnOff { gap_ns, burst_ns, pause_ns } => {
                // Poisson in a time that runs only during bursts; each burst that has passed adds a pause.
                let on_ns = self.advance(gap_ns)?;
                let pauses_ns = whole_ns((on_ns / burst_ns) as f64 * pause_ns)?;
                on_ns.checked_add(pauses_ns)
            }
        }
    }

    fn advance(&mut self, gap_ns: f64) -> Option<u64> {
        let gap_ns = whole_ns(rng::exponential(&mut self.rng, gap_ns))?;
        self.now_ns = self.now_ns.checked_add(gap_ns)?;
        Some(self.now_ns)
    }
}

fn process(spec: &ArrivalSpec) -> Process {
    let rate = spec.requests_per_s();
    let gap_ns = 1e9 / rate;
    match spec.kind {
        ArrivalKind::Closed => Process::Closed,
        ArrivalKind::Fixed => Process::Fixed { gap_ns },
        ArrivalKind::Poisson => Process::Poisson { gap_ns },
        ArrivalKind::OnOff => {
            let burst_rate = spec.burst_rate.unwrap_or(rate);
            let burst_ns = spec.burst.map_or(1, |burst| burst.0.max(1));
            // So that `burst_rate` over the burst is `rate` over burst and pause together.
            let pause_ns = burst_ns as f64 * (burst_rate / rate - 1.0);
            Process::OnOff { gap_ns: 1e9 / burst_rate, burst_ns, pause_ns }
        }
    }
}

fn whole_ns(time_ns: f64) -> Option<u64> {
    let rounded = libm::floor(time_ns + 0.5);
    (rounded < u64::MAX as f64).then_some(rounded as u64)
}
