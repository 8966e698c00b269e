//! One of several workloads: its source, its clock, its limit and its measures.

use crate::observe::collector::CompletedRequest;
use crate::observe::tenants::TenantMeasures;
use copyback_workload::spec::Pace;
use copyback_workload::tenants::{self, OpenedTenant};
use copyback_workload::{Error, Request};

/// A current workload of several.
pub(super) struct Tenant {
    pub stream: OpenedTenant,
    /// When it started: its times count from then. `None` while others have to end first.
    pub started_ns: Option<u64>,
    /// The number of its phase, and its own clock when the phase began.
    pub phase: usize,
    pub phase_began_at_ns: u64,
    /// The request that was fetched and has not begun.
    pub next: Option<Request>,
    pub live: u32,
    pub begun: u64,
    pub last_begin_ns: u64,
    /// The time since which it could begin another request: the completion of one of its own, or the end of its think
    /// time.
    pub ready_ns: u64,
    /// Whether its think time begins when its outstanding requests have ended.
    pub is_to_think: bool,
    /// Its last phase ends before its next request would begin.
    pub is_out_of_time: bool,
    /// The run has its requested number of requests.
    pub is_cut: bool,
    /// Whether it has requests to come, as [`Tenants::unfinished`] counts it.
    pub is_unfinished: bool,
    pub has_ended: bool,
    pub measures: TenantMeasures,
    /// Measures of its warm-up. They count if the workload ends within its warm-up; otherwise they are freed.
    pub of_warmup: Option<Box<TenantMeasures>>,
}

impl Tenant {
    pub fn new(stream: OpenedTenant) -> Self {
        Self {
            of_warmup: (stream.warmup_ns > 0).then(Box::default),
            stream,
            started_ns: None,
            phase: 0,
            phase_began_at_ns: 0,
            next: None,
            live: 0,
            begun: 0,
            last_begin_ns: 0,
            ready_ns: 0,
            is_to_think: false,
            is_out_of_time: false,
            is_cut: false,
            is_unfinished: true,
            has_ended: false,
            measures: TenantMeasures::default(),
        }
    }

    pub fn start(&mut self, now_ns: u64) -> Result<(), Error> {
        let started_ns = now_ns.max(self.stream.not_before_ns);
        self.started_ns = Some(started_ns);
        self.ready_ns = started_ns;
        self.fetch()
    }

    /// When its own warm-up ends.
    pub fn warm_ns(&self) -> u64 {
        let begin_ns = self.started_ns.unwrap_or(0).saturating_add(self.stream.phases_ns[0][0]);
        begin_ns.saturating_add(self.stream.warmup_ns)
    }

    /// From when on it is measured, by its own warm-up.
    pub fn measured_from_ns(&self) -> u64 {
        self.warm_ns() - if self.ended_in_warmup().is_some() { self.stream.warmup_ns } else { 0 }
    }

    /// The measures of its warm-up, if it had no request after it.
    pub fn ended_in_warmup(&self) -> Option<&TenantMeasures> {
        self.of_warmup.as_deref().filter(|measures| self.has_ended && !measures.is_empty())
    }

    /// The measures that are reported.
    pub fn counted(&self) -> &TenantMeasures {
        self.ended_in_warmup().unwrap_or(&self.measures)
    }

    /// The time over which it is measured: up to its last completion, or to its end if a time limit ends it, without
    /// the pauses between its phases. `warm_ns`: the end of the run's warm-up.
    pub fn measured_ns(&self, warm_ns: u64) -> u64 {
        let Some(started_ns) = self.started_ns else { return 0 };
        let from_ns = self.measured_from_ns().max(warm_ns);
        let phases = self.stream.phases_ns.iter().map(|phase| phase.map(|at_ns| started_ns.saturating_add(at_ns)));
        let end_ns = self.end_ns(started_ns);
        let to_ns = self.measured_to_ns(started_ns);
        // A request that begins in a phase may end after it.
        let behind_ns = to_ns.saturating_sub(end_ns.max(from_ns));
        phases.map(|[begin, end]| end.min(to_ns).saturating_sub(begin.max(from_ns))).sum::<u64>() + behind_ns
    }

    /// When its last phase ends.
    pub fn end_ns(&self, started_ns: u64) -> u64 {
        self.stream.phases_ns.last().map_or(0, |[_, to_ns]| started_ns.saturating_add(*to_ns))
    }

    /// The end of its measurement: its last completion, or its end if a time limit ends it.
    pub fn measured_to_ns(&self, started_ns: u64) -> u64 {
        let stop_ns = if self.is_out_of_time && !self.is_cut { self.end_ns(started_ns) } else { 0 };
        self.counted().last_end_ns().max(stop_ns)
    }

    /// The request after the one that has begun, at its time in the run; none if the workload ends before.
    pub fn fetch(&mut self) -> Result<(), Error> {
        let next = self.stream.source.next_request();
        self.next = next.map_err(|error| tenants::error_of(&self.stream.name, error))?;
        let Some(next) = &mut self.next else { return Ok(()) };
        next.offset_bytes += self.stream.region_start_bytes;
        if self.stream.pace == Pace::Closed {
            next.arrival_ns = 0;
            return Ok(());
        }
        let started_ns = self.started_ns.unwrap_or(0);
        loop {
            let Some([from_ns, to_ns]) = self.stream.phases_ns.get(self.phase).copied() else {
                self.next = None;
                self.is_out_of_time = true;
                return Ok(());
            };
            let at_ns = from_ns.saturating_add(next.arrival_ns - self.phase_began_at_ns);
            if at_ns < to_ns {
                next.arrival_ns = started_ns.saturating_add(at_ns);
                return Ok(());
            }
            // Its clock stops until the next phase begins.
            self.phase_began_at_ns += to_ns - from_ns;
            self.phase += 1;
        }
    }

    /// The time at which its next request may begin; `None` if one of its own must complete before, or none comes.
    pub fn due_ns(&mut self) -> Option<u64> {
        let next = self.next?;
        if self.stream.pace == Pace::Open {
            return Some(next.arrival_ns);
        }
        if self.live >= self.stream.queue_depth || self.is_to_think {
            return None;
        }
        let started_ns = self.started_ns?;
        let since_ns = next.arrival_ns.max(self.ready_ns) - started_ns;
        let phases = &self.stream.phases_ns;
        match phases.iter().find(|[_, to_ns]| since_ns < *to_ns) {
            Some([from_ns, _]) => Some(started_ns.saturating_add(since_ns.max(*from_ns))),
            None => {
                self.next = None;
                self.is_out_of_time = true;
                None
            }
        }
    }

    /// Its request begins: the request, and the time since which it waits.
    pub fn take(&mut self, now_ns: u64) -> Result<Option<(Request, u64)>, Error> {
        let Some(request) = self.next.take() else { return Ok(None) };
        let arrival_ns = if self.stream.pace == Pace::Open { request.arrival_ns } else { now_ns };
        self.live += 1;
        self.begun += 1;
        self.last_begin_ns = now_ns;
        self.ready_ns = now_ns;
        self.measures.peak_outstanding = self.measures.peak_outstanding.max(self.live);
        self.is_to_think |= self.stream.think.is_some_and(|(every, _)| self.begun.is_multiple_of(every));
        self.fetch()?;
        Ok(Some((request, arrival_ns)))
    }

    /// One of its requests ended.
    pub fn end(&mut self, request: &CompletedRequest<'_>, is_measured: bool, now_ns: u64) {
        let outstanding = self.live;
        if self.live >= self.stream.queue_depth {
            self.ready_ns = now_ns;
        }
        self.live -= 1;
        if self.is_to_think && self.live == 0 {
            self.is_to_think = false;
            self.ready_ns = now_ns.saturating_add(self.stream.think.map_or(0, |(_, time_ns)| time_ns));
        }
        let from_ns = self.warm_ns();
        if is_measured && request.arrival_ns >= from_ns {
            self.of_warmup = None;
            self.measures.record(request, outstanding, now_ns, from_ns);
        } else if let Some(measures) = self.of_warmup.as_mut().filter(|_| is_measured) {
            measures.record(request, outstanding, now_ns, from_ns - self.stream.warmup_ns);
        }
    }

    /// Notes on settings without effect in this run. `workload.` means the workload's table.
    pub fn without_effect(&self) -> Vec<String> {
        let Some(started_ns) = self.started_ns else { return Vec::new() };
        if self.begun == 0 {
            let why = if self.is_cut { "the run ended before its first request" } else { "it had no request" };
            return vec![why.to_owned()];
        }
        let OpenedTenant { phases_ns, think, not_before_ns, .. } = &self.stream;
        let ended_before = if self.is_cut { "the run ended before" } else { "its requests ended before" };
        let mut notes = Vec::new();
        let mut note = |key: &str, why: &str| notes.push(format!("`workload.{key}` has no effect: {why}"));
        if let [[_, to_ns]] = phases_ns[..]
            && to_ns < u64::MAX
            && !self.is_out_of_time
        {
            note("stop", ended_before);
        }
        let peak = self.measures.peak_outstanding;
        if self.stream.has_own_depth && self.stream.pace != Pace::Open && peak < self.stream.queue_depth {
            note("queue_depth", &format!("the largest number of its outstanding requests was {peak}"));
        }
        // A pause after the last request delays nothing.
        if let Some((every, _)) = think
            && self.begun <= *every
        {
            note("think_time", &format!("no request began after the first {every}"));
        }
        if (1..started_ns).contains(not_before_ns) {
            note("not_before", "the workloads in `after` ended later");
        }
        let unused = phases_ns.iter().filter(|[from_ns, _]| started_ns.saturating_add(*from_ns) > self.last_begin_ns);
        let (unused, all) = (unused.count(), phases_ns.len());
        if all > 1 && unused > 0 {
            notes.push(format!("{ended_before} {unused} of the {all} phases in `workload.phases`"));
        }
        notes
    }

    /// Whether it has started, and has no request outstanding or to come.
    pub fn is_over(&self) -> bool {
        self.started_ns.is_some() && self.next.is_none() && self.live == 0
    }
}
