//! Requests begin: fetched, let in, and split into sub-requests, which their drives are handed.

use super::{ARRIVAL, Simulation};
use crate::host::HostRequest;
use crate::host::config::HostMode;
use crate::host::splitter::Splitter;
use crate::run::RunError;
use crate::sim::index::RequestId;
use copyback_workload::{Op, Request};

/// Requests that are taken out of the workload together.
pub(super) const REQUESTS_AHEAD: u64 = 16;

/// No request arrives later, so that the times of all that follows from it can be told: half of what 64 bits hold, 292
/// years.
pub const ARRIVAL_MAX_NS: u64 = 1 << 63;

impl Simulation<'_> {
    pub(super) fn fetch(&mut self) -> Result<(), RunError> {
        if self.is_source_empty || self.fetched >= self.fetch_max {
            return Ok(());
        }
        if self.ahead.is_empty() {
            self.fetch_ahead();
        }
        self.next = self.ahead.pop_front().unwrap_or(Ok(None)).map_err(RunError::Workload)?;
        match self.next {
            Some(next) => {
                self.fetched += 1;
                if next.arrival_ns > ARRIVAL_MAX_NS && self.host.mode == HostMode::Open {
                    return Err(RunError::TooLate { index: self.fetched - 1, arrival_ns: next.arrival_ns });
                }
            }
            None => self.is_source_empty = true,
        }
        match &self.watch {
            Some(watch) if self.is_source_empty && self.fetched > 0 => {
                Err(RunError::WarmupUnfinished(watch.unfinished(self.fetched, self.mark())))
            }
            _ => Ok(()),
        }
    }

    /// Takes some requests out of the workload at once, up to its end or an error in it, and has their map entries
    /// fetched side by side.
    fn fetch_ahead(&mut self) {
        for _ in 0..(self.fetch_max - self.fetched).min(REQUESTS_AHEAD) {
            let asked = self.source.next_request();
            let next = asked.as_ref().ok().copied().flatten();
            if let Some(next) = &next {
                let drive = if self.members.len() == 1 { 0 } else { next.device as usize };
                if let Some(member) = self.members.get(drive) {
                    member.ssd.drive().fetch_ahead(next.offset_bytes);
                }
            }
            self.ahead.push_back(asked);
            if next.is_none() {
                break;
            }
        }
    }

    /// Lets requests begin, and be split, as far as limits allow.
    pub(super) fn pump(&mut self) -> Result<(), RunError> {
        loop {
            if self.splitting.is_some() && !self.split_on() {
                return Ok(());
            }
            let Some(request) = self.next else { return Ok(()) };
            let now_ns = self.events.now_ns();
            let (limit, arrival_ns) = match self.host.mode {
                HostMode::Open => (self.host.outstanding_max, request.arrival_ns),
                HostMode::Closed => (self.host.queue_depth, now_ns),
            };
            if self.requests.live() >= limit {
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
        }
    }

    fn begin(&mut self, asked: Request, arrival_ns: u64) -> Result<(), RunError> {
        let index = self.fetched - 1;
        let drive = if self.members.len() == 1 { 0 } else { asked.device as usize };
        let refuse = |capacity_bytes| RunError::BeyondCapacity {
            index,
            op: ["read", "write", "trim"][asked.op as usize],
            offset_bytes: asked.offset_bytes,
            len_bytes: asked.len_bytes,
            capacity_bytes,
        };
        let Some(member) = self.members.get(drive) else {
            return Err(RunError::NoSuchDrive { index, device: asked.device, drives: self.members.len() });
        };
        let geometry = member.ssd.drive().geometry();
        let capacity_bytes = geometry.logical_bytes();
        if asked.offset_bytes.checked_add(asked.len_bytes).is_none_or(|end| end > capacity_bytes) {
            return Err(refuse(capacity_bytes));
        }
        let splitter = Splitter::new(&asked, geometry.unit_bytes, geometry.units_per_logical_page);
        self.start.since_ns.get_or_insert(arrival_ns);
        self.arrivals.add(arrival_ns);
        self.held_requests += u64::from(arrival_ns < self.held_until_ns);
        let id = self.requests.add(HostRequest { asked, index, arrival_ns, drive: drive as u16 });
        self.members[drive].ssd.begin(id, arrival_ns, asked.priority, index);
        self.peak_outstanding = self.peak_outstanding.max(self.requests.live());
        self.splitting = Some((id, splitter));
        Ok(())
    }

    /// Splits the request at hand further; whether it is done.
    fn split_on(&mut self) -> bool {
        let (id, mut splitter) = self.splitting.take().expect("a request is being split");
        let member = self.requests[id].drive as usize;
        let (op, ssd) = (splitter.op(), &mut self.members[member].ssd);
        if op == Op::Trim {
            let (first, units) = splitter.rest();
            ssd.trim(first, units, &mut self.events);
        } else {
            loop {
                if ssd.is_full() {
                    self.splitting = Some((id, splitter));
                    self.hold_back(id);
                    self.totals.note(member);
                    self.list_if_marked(member);
                    return false;
                }
                let Some(sub_request) = splitter.next() else { break };
                if op == Op::Write {
                    self.collector.written_units += u64::from(sub_request.units);
                }
                ssd.submit(id, sub_request, op, &mut self.events);
            }
        }
        let now_ns = self.events.now_ns();
        if std::mem::take(&mut self.is_held) {
            self.held_until_ns = now_ns;
        }
        self.hear_member(member);
        if let Some(completion) = self.members[member].ssd.end_of_split(id, now_ns) {
            self.end(&completion);
        }
        true
    }

    /// The drive has all transactions that it takes: the request that is being split waits, and all behind it.
    #[cold]
    fn hold_back(&mut self, id: RequestId) {
        // One that itself waited for the request before it was counted when it began.
        let was_counted = self.is_held || self.requests[id].arrival_ns < self.held_until_ns;
        self.held_requests += u64::from(!was_counted);
        self.is_held = true;
    }
}
