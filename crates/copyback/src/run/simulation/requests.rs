//! The start of requests: they are fetched, admitted and split into sub-requests for their drives.

use super::{ARRIVAL, Simulation};
use crate::host::HostRequest;
use crate::host::config::HostMode;
use crate::host::splitter::Splitter;
use crate::run::RunError;
use crate::sim::index::RequestId;
use crate::ssd::back_end::BackEnd;
pub use copyback_workload::ARRIVAL_MAX_NS;
use copyback_workload::{Op, Request};

/// Requests that are taken out of the workload together, when fewer than half as many are left.
pub(super) const REQUESTS_AHEAD: usize = 16;
/// The most requests that are taken before they begin.
pub(super) const AHEAD_MAX: usize = REQUESTS_AHEAD / 2 - 1 + REQUESTS_AHEAD;

impl Simulation<'_> {
    pub(super) fn fetch(&mut self) -> Result<(), RunError> {
        if self.is_source_empty || self.fetched >= self.fetch_max {
            return Ok(());
        }
        if self.ahead.len() < REQUESTS_AHEAD / 2 && self.source_end.is_none() {
            self.fetch_ahead();
        }
        self.next = self.ahead.pop_front();
        match &self.next {
            Some(next) => {
                self.fetched += 1;
                if next.op != Op::Read
                    && let Some((back_end, offset_bytes)) = self.first_touched(next)
                {
                    back_end.prefetch_place(offset_bytes);
                }
                if let Some(watch) = &mut self.watch {
                    watch.note(next.op);
                }
                if next.arrival_ns > ARRIVAL_MAX_NS && self.loop_of_host.mode == HostMode::Open {
                    return Err(RunError::TooLate { index: self.fetched - 1, arrival_ns: next.arrival_ns });
                }
            }
            None => {
                if let Some(Err(error)) = self.source_end.replace(Ok(())) {
                    return Err(RunError::Workload(error));
                }
                self.is_source_empty = true;
            }
        }
        match &self.watch {
            Some(watch) if self.is_source_empty && self.fetched > 0 => {
                Err(RunError::WarmupUnfinished(watch.unfinished(self.fetched, self.position())))
            }
            _ => Ok(()),
        }
    }

    /// Takes several requests from the workload at once, up to its end or an error, and prefetches their map entries
    /// together.
    fn fetch_ahead(&mut self) {
        // At the end of a warm-up, the limit may fall below the number of requests that were taken.
        let left = self.fetch_max.saturating_sub(self.fetched + self.ahead.len() as u64);
        for _ in 0..left.min(REQUESTS_AHEAD as u64) {
            let end = match self.source.next_request() {
                Ok(Some(next)) => {
                    if let Some((back_end, offset_bytes)) = self.first_touched(&next) {
                        back_end.prefetch_entry(offset_bytes);
                    }
                    self.ahead.push_back(next);
                    continue;
                }
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            self.source_end = Some(end);
            return;
        }
    }

    /// The drive that a request addresses, without an array.
    #[inline(always)]
    fn drive_of(&self, asked: &Request) -> usize {
        if self.members.len() == 1 { 0 } else { asked.device as usize }
    }

    /// The drive that a request touches first, and the byte there.
    #[inline(always)]
    fn first_touched(&self, asked: &Request) -> Option<(&BackEnd, u64)> {
        let (drive, offset_bytes) = match &self.array {
            Some(array) => array.first_touched(asked),
            None => (self.drive_of(asked), asked.offset_bytes),
        };
        self.members.get(drive).map(|member| (member.ssd.back_end(), offset_bytes))
    }

    /// Lets requests begin, and be split, as far as limits allow.
    pub(super) fn begin_due_requests(&mut self) -> Result<(), RunError> {
        if self.needs_dispatch {
            self.split_held();
            self.begin_parts();
        }
        if self.tenants.is_some() {
            return self.begin_due_tenant_requests();
        }
        loop {
            // If every drive is full, a request that began would make no progress.
            if self.held.len() == self.members.len() {
                return Ok(());
            }
            let Some(request) = self.next else { return Ok(()) };
            let now_ns = self.events.now_ns();
            let arrival_ns = match self.loop_of_host.mode {
                HostMode::Open => request.arrival_ns,
                HostMode::Closed => now_ns,
            };
            if self.requests.live() >= self.loop_of_host.limit {
                return Ok(());
            }
            if arrival_ns > now_ns {
                if !self.events.is_pending(ARRIVAL) {
                    self.events.schedule(ARRIVAL, arrival_ns);
                }
                return Ok(());
            }
            if self.watch.is_some() {
                self.end_warmup_before(self.fetched - 1, arrival_ns);
            }
            self.begin(request, arrival_ns)?;
            self.next = None;
            self.fetch()?;
            // A request without work in flash ends while it begins, before the source was found to be empty.
            if self.next.is_none() && self.requests.live() == 0 {
                self.end_of_requests();
            }
        }
    }

    pub(super) fn begin(&mut self, asked: Request, arrival_ns: u64) -> Result<(), RunError> {
        if self.array.is_some() {
            return self.begin_on_volume(asked, arrival_ns);
        }
        let drive = self.drive_of(&asked);
        let Some(member) = self.members.get(drive) else { return Err(self.no_such_drive(&asked)) };
        let geometry = member.ssd.back_end().geometry();
        self.check_fits(&asked, geometry.logical_bytes())?;
        let splitter = Splitter::new(&asked, geometry.unit_bytes, geometry.units_per_logical_page);
        let was_held = arrival_ns < member.held_until_ns;
        let id = self.add(asked, arrival_ns, was_held);
        self.members[drive].ssd.begin(id, arrival_ns, asked.priority, self.fetched - 1);
        self.split_or_queue(drive, id, splitter);
        Ok(())
    }

    #[cold]
    pub(super) fn no_such_drive(&self, asked: &Request) -> RunError {
        RunError::NoSuchDrive { index: self.fetched - 1, device: asked.device, drives: self.members.len() }
    }

    /// Checks that a request lies inside its target.
    #[inline]
    pub(super) fn check_fits(&self, asked: &Request, capacity_bytes: u64) -> Result<(), RunError> {
        if asked.offset_bytes.checked_add(asked.len_bytes).is_none_or(|end| end > capacity_bytes) {
            return Err(RunError::BeyondCapacity {
                index: self.fetched - 1,
                op: ["read", "write", "trim"][asked.op as usize],
                offset_bytes: asked.offset_bytes,
                len_bytes: asked.len_bytes,
                capacity_bytes,
            });
        }
        Ok(())
    }

    /// A request is outstanding from now on.
    #[inline]
    pub(super) fn add(&mut self, asked: Request, arrival_ns: u64, was_held: bool) -> RequestId {
        self.start.since_ns.get_or_insert(arrival_ns);
        self.arrivals.add(arrival_ns);
        self.held_requests += u64::from(was_held);
        let tenant = self.workload_of_next();
        if self.arrives_by_itself(tenant) {
            self.backlog.arrive(arrival_ns);
        }
        let id = self.requests.add(HostRequest { asked, index: self.fetched - 1, arrival_ns, was_held, tenant });
        self.peak_outstanding = self.peak_outstanding.max(self.requests.live());
        id
    }

    /// Splits a request that has begun on a drive. If the drive has its maximum of transactions, the rest waits in its
    /// line.
    pub(super) fn split_or_queue(&mut self, member: usize, id: RequestId, splitter: Splitter) {
        if !self.members[member].line.is_empty() {
            self.members[member].line.push_back((id, splitter));
            return self.note_held(id);
        }
        if let Some(rest) = self.split(member, id, splitter) {
            self.members[member].line.push_back((id, rest));
            self.note_held(id);
            let place = self.held.partition_point(|&held| (held as usize) < member);
            self.held.insert(place, member as u32);
            self.needs_dispatch = true;
        }
    }

    /// Splits the requests that wait in the lines of drives that had their maximum of transactions.
    fn split_held(&mut self) {
        let mut at = 0;
        while let Some(&member) = self.held.get(at) {
            if self.split_line(member as usize) {
                self.held.remove(at);
            } else {
                at += 1;
            }
        }
        self.needs_dispatch = !self.held.is_empty() || self.has_parts();
    }

    /// Splits requests in a drive's line as far as it takes them. Returns whether none is left.
    fn split_line(&mut self, member: usize) -> bool {
        while let Some((id, splitter)) = self.members[member].line.front().copied() {
            if let Some(rest) = self.split(member, id, splitter) {
                self.members[member].line[0].1 = rest;
                return false;
            }
            self.members[member].line.pop_front();
            self.members[member].held_until_ns = self.events.now_ns();
        }
        true
    }

    /// Issues as much of a request as its drive takes. Returns the rest, if there is one.
    fn split(&mut self, member: usize, id: RequestId, mut splitter: Splitter) -> Option<Splitter> {
        // Parity and copies are not writes of the host.
        let counts = self.array.is_none() || self.is_of_host(id);
        let (op, ssd) = (splitter.op(), &mut self.members[member].ssd);
        if op == Op::Trim {
            let (first, units) = splitter.rest();
            ssd.trim(first, units, &mut self.events);
        } else {
            loop {
                if ssd.is_full() {
                    self.totals.note(member);
                    self.list_if_marked(member);
                    return Some(splitter);
                }
                let Some(sub_request) = splitter.next() else { break };
                if op == Op::Write && counts {
                    self.collector.written_units += u64::from(sub_request.units);
                }
                ssd.submit(id, sub_request, op, &mut self.events);
            }
        }
        self.take_completions_of(member);
        if let Some(completion) = self.members[member].ssd.end_of_split(id, self.events.now_ns()) {
            self.end(&completion);
        }
        None
    }

    /// The drive of a request has its maximum of transactions, and the request waits.
    #[cold]
    fn note_held(&mut self, id: RequestId) {
        let id = self.array.as_ref().map_or(id, |array| array.volume.request_of(id));
        if id.is_none() {
            return;
        }
        let was_held = std::mem::replace(&mut self.requests[id].was_held, true);
        self.held_requests += u64::from(!was_held);
    }
}
