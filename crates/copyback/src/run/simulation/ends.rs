//! The ends of requests, which the drives report.

use super::Simulation;
use crate::observe::report::CAUSES;
use crate::run::RunError;
use crate::sim::index::RequestId;
use crate::ssd::drive::Completion;

impl Simulation<'_> {
    /// Takes the completed requests of a drive, until there are no more.
    #[inline(always)]
    pub(super) fn take_completions_of(&mut self, member: usize) {
        let m = &mut self.members[member];
        let written_units = m.ssd.back_end().counters().work().host_units;
        self.written_by_drives += written_units - std::mem::replace(&mut m.written_units, written_units);
        self.totals.note(member);
        // By reference, because a copy would wait for the writes of what was just returned.
        while let Some(completion) = &self.members[member].ssd.take_completion(&mut self.events) {
            self.end(completion);
        }
        self.list_if_marked(member);
    }

    /// No event is left. If all requests have completed, tasks that were stopped by limits complete their started work,
    /// so that the totals of a run add up; returns whether any work continues.
    #[cold]
    #[inline(never)]
    pub fn end_tasks(&mut self) -> Result<bool, RunError> {
        if self.next.is_some() || self.requests.live() > 0 || std::mem::replace(&mut self.has_ended, true) {
            return Ok(false);
        }
        for member in 0..self.members.len() {
            self.members[member].ssd.back_end_mut().end_host(&mut self.events);
            self.list_if_marked(member);
        }
        self.dispatch()?;
        Ok(true)
    }

    /// A drive completed a request: one of the host, or a part of one.
    pub(super) fn end(&mut self, completion: &Completion) {
        if self.array.is_some() {
            return self.end_part(completion);
        }
        self.end_request(completion.request, completion.gc_affected, &completion.breakdown_ns);
    }

    /// No request is left, and none will come.
    pub(super) fn end_of_requests(&mut self) {
        if self.note_end_reported() {
            return;
        }
        self.note_last_end();
        self.members.iter_mut().for_each(|m| m.ssd.end_of_requests(&mut self.events));
        self.end_array();
    }

    /// A request of the host ends.
    #[inline(always)]
    pub(super) fn end_request(&mut self, id: RequestId, gc_affected: bool, breakdown_ns: &[u64; CAUSES]) {
        let now_ns = self.events.now_ns();
        let ended = self.requests[id].ended(gc_affected, breakdown_ns);
        let is_measured = self.collector.record(ended, now_ns);
        if is_measured {
            self.last_end_ns = now_ns;
        }
        if self.tenants.is_some() {
            let request = self.requests[id].clone();
            self.end_of_tenant(&request, &request.ended(gc_affected, breakdown_ns), is_measured);
        }
        if self.arrives_by_itself(self.requests[id].tenant) {
            self.backlog.end(now_ns);
        }
        self.requests.remove(id);
        if self.next.is_none() && self.requests.live() == 0 {
            self.end_of_requests();
        }
        if self.written_units() >= self.track.next_units() {
            self.track.add(self.position());
        }
    }
}
