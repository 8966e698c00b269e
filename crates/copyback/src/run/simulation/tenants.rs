//! Several workloads that share the drives: whose request begins next.
//!
//! Each workload has its own source, limit and clock. The next request is the one that is due first; of several the one
//! of the workload that stands first in the list. So the order is total, and does not depend on how they are stored.

use super::{ARRIVAL, Simulation};
use crate::host::HostRequest;
use crate::observe::collector::Ended;
use crate::observe::tenants::{TenantMeasures, TenantReport};
use crate::run::RunError;
use crate::run::simulation::requests::ARRIVAL_MAX_NS;
use copyback_workload::spec::Pace;
use copyback_workload::tenants::Stream;
use copyback_workload::{Error, Op, Priority, Request};
use hdrhistogram::Histogram;

/// Stands for whichever request comes next.
const SOME_REQUEST: Request =
    Request { arrival_ns: 0, offset_bytes: 0, len_bytes: 0, device: 0, op: Op::Read, priority: Priority::Normal };

/// One of several workloads under way.
struct Tenant {
    stream: Stream,
    /// When it started: its times count from then. `None` while others have to end first.
    started_ns: Option<u64>,
    /// Its own clock at the begin of its phase, and which one that is.
    phase: usize,
    phase_began_at_ns: u64,
    /// The request that was fetched and has not begun.
    next: Option<Request>,
    live: u32,
    begun: u64,
    /// Since when it could begin another request: when one of its own ended, or it had thought.
    ready_ns: u64,
    /// It has begun as many requests as it does between thinking, and these have not all ended.
    is_to_think: bool,
    has_ended: bool,
    measures: TenantMeasures,
}

/// All of them.
pub(super) struct Tenants {
    list: Vec<Tenant>,
    /// Whose request begins now.
    beginning: u16,
    /// What a source said when a workload started as another ended.
    failed: Option<Error>,
    has_told_end: bool,
}

impl Tenant {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            started_ns: None,
            phase: 0,
            phase_began_at_ns: 0,
            next: None,
            live: 0,
            begun: 0,
            ready_ns: 0,
            is_to_think: false,
            has_ended: false,
            measures: TenantMeasures::default(),
        }
    }

    fn start(&mut self, now_ns: u64) -> Result<(), Error> {
        self.started_ns = Some(now_ns);
        self.ready_ns = now_ns;
        self.fetch()
    }

    /// The request behind the one that has begun, at its time in the run; none where the workload is over before.
    fn fetch(&mut self) -> Result<(), Error> {
        self.next = self.stream.source.next_request()?;
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
                return Ok(());
            };
            let at_ns = from_ns.saturating_add(next.arrival_ns - self.phase_began_at_ns);
            if at_ns < to_ns {
                next.arrival_ns = started_ns.saturating_add(at_ns);
                return Ok(());
            }
            // Its clock stands still until the next phase begins.
            self.phase_began_at_ns += to_ns - from_ns;
            self.phase += 1;
        }
    }

    /// When its next request may begin; `None` where one of its own has to end before, or none comes.
    fn due_ns(&mut self) -> Option<u64> {
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
                None
            }
        }
    }

    /// Its request begins: what it asks for, and since when it waits.
    fn take(&mut self, now_ns: u64) -> Result<Option<(Request, u64)>, Error> {
        let Some(request) = self.next.take() else { return Ok(None) };
        let arrival_ns = if self.stream.pace == Pace::Open { request.arrival_ns } else { now_ns };
        self.live += 1;
        self.begun += 1;
        self.ready_ns = now_ns;
        self.measures.peak_outstanding = self.measures.peak_outstanding.max(self.live);
        self.is_to_think |= self.stream.think.is_some_and(|(every, _)| self.begun.is_multiple_of(every));
        self.fetch()?;
        Ok(Some((request, arrival_ns)))
    }

    /// One of its requests ended.
    fn end(&mut self, request: &Ended<'_>, is_measured: bool, now_ns: u64) {
        if self.live >= self.stream.queue_depth {
            self.ready_ns = now_ns;
        }
        self.live -= 1;
        if self.is_to_think && self.live == 0 {
            self.is_to_think = false;
            self.ready_ns = now_ns.saturating_add(self.stream.think.map_or(0, |(_, time_ns)| time_ns));
        }
        let from_ns = self.started_ns.unwrap_or(0).saturating_add(self.stream.phases_ns[0][0]);
        if is_measured && request.arrival_ns >= from_ns.saturating_add(self.stream.warmup_ns) {
            self.measures.record(request, now_ns);
        }
    }

    /// Whether nothing of it is left.
    fn is_over(&self) -> bool {
        self.started_ns.is_some() && self.next.is_none() && self.live == 0
    }
}

impl Tenants {
    /// Whose request is due first, and when.
    fn pick(&mut self) -> Option<(u64, usize)> {
        let due = self.list.iter_mut().enumerate().filter_map(|(at, tenant)| Some((tenant.due_ns()?, at)));
        due.min()
    }

    /// Starts those who waited for what has ended.
    fn settle(&mut self, now_ns: u64) -> Result<(), Error> {
        while let Some(at) = self.list.iter().position(|tenant| tenant.is_over() && !tenant.has_ended) {
            self.list[at].has_ended = true;
            for waiting in 0..self.list.len() {
                let tenant = &self.list[waiting];
                let may_start = tenant.stream.after.iter().all(|&before| self.list[before].has_ended);
                if tenant.started_ns.is_none() && may_start {
                    self.list[waiting].start(now_ns)?;
                }
            }
        }
        Ok(())
    }

    /// Any request that has not begun, of whichever workload.
    fn next(&self) -> Option<Request> {
        self.list.iter().any(|tenant| tenant.next.is_some() || tenant.started_ns.is_none()).then_some(SOME_REQUEST)
    }

    /// No more requests begin: the run has as many as were asked for.
    fn stop(&mut self) {
        for tenant in &mut self.list {
            tenant.next = None;
            tenant.started_ns.get_or_insert(0);
            tenant.has_ended = true;
        }
    }
}

impl Simulation<'_> {
    /// Serves several workloads instead of a source. Before the run starts.
    pub fn share(&mut self, streams: Vec<Stream>) {
        // Each has its own loop; the drive's limit is that of an open one.
        self.host.mode = crate::host::config::HostMode::Open;
        self.is_source_empty = true;
        if streams.iter().any(|stream| stream.pace != Pace::Open) {
            // Requests of one number are then not the same ones under all schemes.
            self.collector.responses = None;
        }
        let list = streams.into_iter().map(Tenant::new).collect();
        self.tenants = Some(Box::new(Tenants { list, beginning: 0, failed: None, has_told_end: false }));
    }

    /// The first requests of those who wait for nobody.
    pub(super) fn start_tenants(&mut self) -> Result<(), RunError> {
        let Some(tenants) = &mut self.tenants else { return Ok(()) };
        for tenant in tenants.list.iter_mut().filter(|tenant| tenant.stream.after.is_empty()) {
            tenant.start(0).map_err(RunError::Workload)?;
        }
        tenants.settle(0).map_err(RunError::Workload)?;
        self.next = tenants.next();
        Ok(())
    }

    /// Lets requests of several workloads begin, as far as limits allow.
    pub(super) fn pump_tenants(&mut self) -> Result<(), RunError> {
        loop {
            let now_ns = self.events.now_ns();
            let is_enough = self.fetched >= self.fetch_max;
            let Some(tenants) = &mut self.tenants else { return Ok(()) };
            if let Some(error) = tenants.failed.take() {
                return Err(RunError::Workload(error));
            }
            if is_enough {
                tenants.stop();
            }
            let picked = tenants.pick();
            tenants.settle(now_ns).map_err(RunError::Workload)?;
            let picked = picked.or_else(|| tenants.pick());
            self.next = tenants.next();
            let Some((due_ns, at)) = picked else { return self.note_end_of_tenants() };
            let is_full = self.held.len() == self.members.len();
            if is_full || self.requests.live() >= self.host.outstanding_max {
                return Ok(());
            }
            if due_ns > now_ns {
                self.wake_at(due_ns);
                return Ok(());
            }
            self.begin_of_tenant(at, now_ns)?;
        }
    }

    fn begin_of_tenant(&mut self, at: usize, now_ns: u64) -> Result<(), RunError> {
        let Some(tenants) = &mut self.tenants else { return Ok(()) };
        tenants.beginning = at as u16;
        let taken = tenants.list[at].take(now_ns).map_err(RunError::Workload)?;
        self.next = tenants.next();
        let Some((request, arrival_ns)) = taken else { return Ok(()) };
        self.fetched += 1;
        if arrival_ns > ARRIVAL_MAX_NS {
            return Err(RunError::TooLate { index: self.fetched - 1, arrival_ns });
        }
        if self.watch.is_some() {
            self.end_warmup_before(self.fetched - 1, arrival_ns);
        }
        self.begin(request, arrival_ns)
    }

    /// The next look at the workloads is then, whatever was planned before.
    fn wake_at(&mut self, due_ns: u64) {
        if self.events.is_pending(ARRIVAL) {
            if self.events.time_of(ARRIVAL) == Some(due_ns) {
                return;
            }
            self.events.cancel(ARRIVAL);
        }
        self.events.schedule(ARRIVAL, due_ns);
    }

    /// Whose request begins; 0 where there is one workload.
    #[inline(always)]
    pub(super) fn beginning(&self) -> u16 {
        self.tenants.as_ref().map_or(0, |tenants| tenants.beginning)
    }

    /// A request of one of several workloads ended.
    #[inline(never)]
    pub(super) fn end_of_tenant(&mut self, request: &HostRequest, ended: &Ended<'_>, is_measured: bool) {
        let now_ns = self.events.now_ns();
        let Some(tenants) = &mut self.tenants else { return };
        let tenant = &mut tenants.list[request.tenant as usize];
        tenant.end(ended, is_measured, now_ns);
        if tenant.is_over()
            && let Err(error) = tenants.settle(now_ns)
        {
            tenants.failed = Some(error);
        }
        self.next = tenants.next();
        // Another request may begin, whatever is planned.
        self.has_to_hand_over = true;
    }

    /// No request is due and none waits for time: where none is under way either, the host has ended.
    fn note_end_of_tenants(&mut self) -> Result<(), RunError> {
        if let Some(watch) = self.watch.as_ref().filter(|_| self.next.is_none()) {
            return Err(RunError::WarmupUnfinished(watch.unfinished(self.fetched, self.mark())));
        }
        if self.next.is_none() && self.requests.live() == 0 {
            self.end_of_requests();
        }
        Ok(())
    }

    /// Whether the end of the host's requests was told to all; from now on it was.
    pub(super) fn has_told_end(&mut self) -> bool {
        self.tenants.as_mut().is_some_and(|tenants| std::mem::replace(&mut tenants.has_told_end, true))
    }

    /// What was measured of each workload, by name; nothing where there is one.
    pub fn tenant_reports(&self) -> std::collections::BTreeMap<String, TenantReport> {
        let list = self.tenants.iter().flat_map(|tenants| &tenants.list);
        list.map(|tenant| (tenant.stream.name.clone(), tenant.measures.report())).collect()
    }

    /// Histograms of the reads and of the writes of each, by name.
    pub fn tenant_histograms(&self) -> std::collections::BTreeMap<String, [Histogram<u64>; 2]> {
        let of = |tenant: &Tenant, op| tenant.measures.class(&[op], &[0, 1]).histogram().clone();
        let list = self.tenants.iter().flat_map(|tenants| &tenants.list);
        list.map(|tenant| (tenant.stream.name.clone(), [Op::Read, Op::Write].map(|op| of(tenant, op)))).collect()
    }

    /// What sources of several workloads say.
    pub fn tenant_notes(&self) -> Vec<String> {
        let list = self.tenants.iter().flat_map(|tenants| &tenants.list);
        let named = |tenant: &Tenant| {
            let notes = tenant.stream.source.notes();
            notes.into_iter().map(|note| format!("workload `{}`: {note}", tenant.stream.name)).collect::<Vec<_>>()
        };
        list.flat_map(named).collect()
    }
}
