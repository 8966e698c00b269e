//! Several workloads that share the drives: the choice of the next request.
//!
//! Each workload has its own source, limit and clock. The request with the earliest time is next; of several, that of
//! the workload listed first. The order is therefore total, and does not depend on how workloads are stored.

use super::tenant::Tenant;
use super::{ARRIVAL, HostLoop, Simulation};
use crate::host::{HostRequest, config::HostMode};
use crate::observe::collector::CompletedRequest;
use crate::observe::rate_samples::OpRates;
use crate::observe::tenants::TenantReport;
use crate::run::RunError;
use crate::run::simulation::requests::ARRIVAL_MAX_NS;
use crate::sim::tournament::{self, Tournament};
use copyback_workload::spec::Pace;
use copyback_workload::tenants::{self, OpenedTenant};
use copyback_workload::{Error, Op, Priority, Request};
use hdrhistogram::Histogram;

/// Represents the next request of any workload.
const SOME_REQUEST: Request =
    Request { arrival_ns: 0, offset_bytes: 0, len_bytes: 0, device: 0, op: Op::Read, priority: Priority::Normal };

/// The workloads of a run. The state of each is refreshed ([`Tenants::refresh`]) whenever it changes, so that a request
/// costs about the same with hundreds of other workloads.
pub(super) struct Tenants {
    list: Vec<Tenant>,
    /// When the next request of each may begin.
    due: Tournament,
    /// The number of workloads with requests to come.
    unfinished: usize,
    /// Completed workloads whose end was not reported yet.
    over: Vec<usize>,
    /// The workload whose request begins now.
    beginning: u16,
    /// The error of a source when a workload started as another ended.
    failed: Option<Error>,
    has_reported_end: bool,
}

impl Tenants {
    fn new(streams: Vec<OpenedTenant>) -> Self {
        let list: Vec<Tenant> = streams.into_iter().map(Tenant::new).collect();
        let (due, unfinished) = (Tournament::new(list.len() as u32), list.len());
        Self { list, due, unfinished, over: Vec::new(), beginning: 0, failed: None, has_reported_end: false }
    }

    /// How requests of each workload begin.
    pub(super) fn paces(&self) -> impl Iterator<Item = Pace> + '_ {
        self.list.iter().map(|tenant| tenant.stream.pace)
    }

    /// A workload has changed.
    fn refresh(&mut self, at: usize) {
        let tenant = &mut self.list[at];
        // Times beyond the longest run are refused when they are reached: such a request is last in the order, and is
        // not skipped.
        let due_ns = tenant.due_ns().map_or(tournament::NEVER, |due_ns| due_ns.min(tournament::NEVER - 1));
        self.due.set(at as u32, due_ns);
        let is_unfinished = tenant.next.is_some() || tenant.started_ns.is_none();
        if tenant.is_unfinished && !is_unfinished {
            self.unfinished -= 1;
        }
        tenant.is_unfinished &= is_unfinished;
        if tenant.is_over() && !tenant.has_ended {
            tenant.has_ended = true;
            self.over.push(at);
        }
    }

    /// The time of the first due request, and its workload.
    fn pick(&self) -> Option<(u64, usize)> {
        let first = self.due.first()? as usize;
        Some((self.due.key(first as u32), first))
    }

    /// Starts workloads that wait for no other.
    fn start(&mut self, now_ns: u64) -> Result<(), Error> {
        for at in 0..self.list.len() {
            if self.list[at].stream.after.is_empty() {
                self.list[at].start(now_ns)?;
                self.refresh(at);
            }
        }
        self.start_successors(now_ns)
    }

    /// Starts workloads that waited for the completed one.
    fn start_successors(&mut self, now_ns: u64) -> Result<(), Error> {
        while self.over.pop().is_some() {
            for waiting in 0..self.list.len() {
                let tenant = &self.list[waiting];
                let may_start = tenant.stream.after.iter().all(|&before| self.list[before].has_ended);
                if tenant.started_ns.is_none() && may_start {
                    self.list[waiting].start(now_ns)?;
                    self.refresh(waiting);
                }
            }
        }
        Ok(())
    }

    /// A placeholder ([`SOME_REQUEST`]) if any workload has requests to come.
    fn next(&self) -> Option<Request> {
        (self.unfinished > 0).then_some(SOME_REQUEST)
    }

    /// No more requests begin: the run has its requested number.
    fn stop(&mut self) {
        if self.unfinished == 0 {
            return;
        }
        for at in 0..self.list.len() {
            let tenant = &mut self.list[at];
            tenant.next = None;
            tenant.started_ns.get_or_insert(0);
            tenant.has_ended = true;
            tenant.is_cut = true;
            self.refresh(at);
        }
    }
}

impl Simulation<'_> {
    /// Serves several workloads instead of a source. Before the run starts.
    pub fn set_workloads(&mut self, streams: Vec<OpenedTenant>) {
        // Each has its own loop; the drive's limit is that of an open one.
        self.loop_of_host = HostLoop::new(HostMode::Open, &self.host);
        self.is_source_empty = true;
        if streams.iter().any(|stream| stream.pace != Pace::Open) {
            // Requests of one number are then not the same ones under all schemes.
            self.collector.without_matching();
        }
        self.tenants = Some(Box::new(Tenants::new(streams)));
    }

    /// The first requests of workloads that wait for no other.
    pub(super) fn start_tenants(&mut self) -> Result<(), RunError> {
        let Some(tenants) = &mut self.tenants else { return Ok(()) };
        tenants.start(0).map_err(RunError::Workload)?;
        self.next = tenants.next();
        Ok(())
    }

    /// Lets requests of several workloads begin, as far as limits allow.
    pub(super) fn begin_due_tenant_requests(&mut self) -> Result<(), RunError> {
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
            tenants.start_successors(now_ns).map_err(RunError::Workload)?;
            let picked = tenants.pick();
            self.next = tenants.next();
            let Some((due_ns, at)) = picked else { return self.note_end_of_tenants() };
            let is_full = self.held.len() == self.members.len();
            if is_full || self.requests.live() >= self.host.outstanding_max {
                return Ok(());
            }
            if now_ns > ARRIVAL_MAX_NS {
                return Err(RunError::TooLate { index: self.fetched, arrival_ns: due_ns });
            }
            if due_ns > now_ns {
                // No later time fits into the measures.
                self.wake_at(due_ns.min(ARRIVAL_MAX_NS + 1));
                return Ok(());
            }
            self.begin_of_tenant(at, now_ns)?;
        }
    }

    fn begin_of_tenant(&mut self, at: usize, now_ns: u64) -> Result<(), RunError> {
        let Some(tenants) = &mut self.tenants else { return Ok(()) };
        tenants.beginning = at as u16;
        let taken = tenants.list[at].take(now_ns).map_err(RunError::Workload)?;
        tenants.refresh(at);
        self.next = tenants.next();
        let Some((request, arrival_ns)) = taken else { return Ok(()) };
        self.fetched += 1;
        if arrival_ns > ARRIVAL_MAX_NS {
            return Err(RunError::TooLate { index: self.fetched - 1, arrival_ns });
        }
        if let Some(watch) = &mut self.watch {
            watch.note(request.op);
            self.end_warmup_before(self.fetched - 1, arrival_ns);
        }
        self.begin(request, arrival_ns)
    }

    /// Schedules the next visit of the workloads, and replaces an earlier schedule.
    fn wake_at(&mut self, due_ns: u64) {
        if self.events.is_pending(ARRIVAL) {
            if self.events.time_of(ARRIVAL) == Some(due_ns) {
                return;
            }
            self.events.cancel(ARRIVAL);
        }
        self.events.schedule(ARRIVAL, due_ns);
    }

    /// The workload of the next request; 0 if there is one workload.
    #[inline(always)]
    pub(super) fn workload_of_next(&self) -> u16 {
        self.tenants.as_ref().map_or(0, |tenants| tenants.beginning)
    }

    /// Whether requests of this workload arrive at their own times, whatever the drives do.
    #[inline(always)]
    pub(super) fn arrives_by_itself(&self, tenant: u16) -> bool {
        match &self.tenants {
            None => self.loop_of_host.mode == HostMode::Open,
            Some(tenants) => tenants.list[usize::from(tenant)].stream.pace == Pace::Open,
        }
    }

    /// A request of one of several workloads ended.
    #[inline(never)]
    pub(super) fn end_of_tenant(&mut self, request: &HostRequest, ended: &CompletedRequest<'_>, is_measured: bool) {
        let now_ns = self.events.now_ns();
        let Some(tenants) = &mut self.tenants else { return };
        let at = usize::from(request.tenant);
        tenants.list[at].end(ended, is_measured, now_ns);
        tenants.refresh(at);
        if let Err(error) = tenants.start_successors(now_ns) {
            tenants.failed = Some(error);
        }
        self.next = tenants.next();
        // Another request may begin, whatever is planned.
        self.needs_dispatch = true;
    }

    /// No request is due and none waits for time: if none is outstanding either, the host has ended.
    fn note_end_of_tenants(&mut self) -> Result<(), RunError> {
        if let Some(watch) = self.watch.as_ref().filter(|_| self.next.is_none()) {
            return Err(RunError::WarmupUnfinished(watch.unfinished(self.fetched, self.position())));
        }
        if self.next.is_none() && self.requests.live() == 0 {
            self.end_of_requests();
        }
        Ok(())
    }

    /// Notes that the end of the host's requests is reported. Returns whether it was reported before.
    pub(super) fn note_end_reported(&mut self) -> bool {
        self.tenants.as_mut().is_some_and(|tenants| std::mem::replace(&mut tenants.has_reported_end, true))
    }

    /// The measures of each workload, by name, since the warm-up ended; empty if the run has a single workload.
    pub fn tenant_reports(&self, warm_ns: u64) -> std::collections::BTreeMap<String, TenantReport> {
        let list = self.tenants.iter().flat_map(|tenants| &tenants.list);
        let report = |tenant: &Tenant| TenantReport {
            peak_outstanding: tenant.measures.peak_outstanding,
            ..tenant.counted().report(tenant.measured_ns(warm_ns))
        };
        list.map(|tenant| (tenant.stream.name.clone(), report(tenant))).collect()
    }

    /// Histograms of the reads and of the writes of each workload, by name.
    pub fn tenant_histograms(&self) -> std::collections::BTreeMap<String, [Histogram<u64>; 2]> {
        let of = |tenant: &Tenant, op| tenant.counted().class(&[op], &[0, 1]).into_histogram();
        let list = self.tenants.iter().flat_map(|tenants| &tenants.list);
        list.map(|tenant| (tenant.stream.name.clone(), [Op::Read, Op::Write].map(|op| of(tenant, op)))).collect()
    }

    /// Rates of the reads, writes and trims of each workload over intervals of 500 ms, by name.
    pub fn tenant_rates(&self) -> std::collections::BTreeMap<String, [OpRates; 3]> {
        let of = |tenant: &Tenant| tenant.counted().rates(tenant.measured_to_ns(tenant.started_ns.unwrap_or(0)));
        let list = self.tenants.iter().flat_map(|tenants| &tenants.list);
        list.map(|tenant| (tenant.stream.name.clone(), of(tenant))).collect()
    }

    /// The notes of the sources of several workloads, and the limits that the run did not reach.
    pub fn tenant_notes(&self) -> Vec<String> {
        let list = self.tenants.iter().flat_map(|tenants| &tenants.list);
        let named = |tenant: &Tenant| {
            let all = "it ended within its warm-up, so that all of its requests are measured";
            let of_warmup = tenant.ended_in_warmup().map(|_| all.to_owned());
            let notes = tenant.stream.source.notes().into_iter().chain(tenant.without_effect()).chain(of_warmup);
            let name = &tenant.stream.name;
            notes.map(|note| format!("workload `{name}`: {}", tenants::with_keys_of(name, &note))).collect::<Vec<_>>()
        };
        list.flat_map(named).collect()
    }
}
