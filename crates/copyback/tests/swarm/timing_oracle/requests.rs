//! Requests, their parts, and how these get into the queues of their dies.

use super::{Oracle, Place, Txn};
use copyback::dispatch::admit::AdmitConfig;
use copyback::ftl::allocation::AllocationConfig;
use copyback::host::config::{HostMode, SubpageWrites};
use copyback::workload::{Op, Priority};

impl Oracle<'_> {
    // ---- requests -------------------------------------------------------------------------------------------------

    pub(super) fn begin_next(&mut self) -> bool {
        let host = &self.config.host;
        let Some(request) = self.requests.get(self.next) else { return false };
        let (limit, arrival_ns) = match host.mode {
            HostMode::Open => (host.outstanding_max, request.arrival_ns),
            HostMode::Closed => (host.queue_depth, 0),
        };
        if self.under_way >= limit as usize || arrival_ns > self.now_ns {
            return false;
        }
        self.began_ns[self.next] = self.now_ns;
        self.next += 1;
        self.under_way += 1;
        self.split(self.next - 1);
        true
    }

    /// A request becomes parts of one logical page each.
    fn split(&mut self, number: usize) {
        let request = &self.requests[number];
        let unit_bytes = self.config.geometry.unit_bytes();
        let per_page = self.config.geometry.units_per_page() as usize;
        let (start, end) = (request.offset_bytes, request.offset_bytes + request.len_bytes);
        // While it is being split it cannot end.
        self.open[number] = 1;
        if request.op == Op::Trim {
            let sequence = self.sequences;
            self.sequences += 1;
            for unit in start.div_ceil(unit_bytes)..end / unit_bytes {
                self.place_of.remove(&(unit as usize));
                self.newest.insert(unit as usize, sequence);
            }
        } else {
            let units: Vec<usize> = (start / unit_bytes..end.div_ceil(unit_bytes)).map(|u| u as usize).collect();
            for sub_request in units.chunk_by(|a, b| a / per_page == b / per_page) {
                if request.op == Op::Read {
                    self.read(number, sub_request);
                } else {
                    self.write(number, sub_request, start, end);
                }
            }
        }
        self.part_ends(number);
    }

    /// Units that lie in one physical page are read together; those without data need nothing.
    fn read(&mut self, number: usize, sub_request: &[usize]) {
        let found: Vec<(usize, Place)> =
            sub_request.iter().filter_map(|u| Some((*u, *self.place_of.get(u)?))).collect();
        for group in found.chunk_by(|(a, at_a), (b, at_b)| a + 1 == *b && at_a.is_in_page_of(*at_b)) {
            let txn = self.add(number, true, group.iter().map(|(unit, _)| *unit).collect());
            self.submit(txn);
        }
    }

    fn write(&mut self, number: usize, sub_request: &[usize], start: u64, end: u64) {
        let txn = self.add(number, false, sub_request.to_vec());
        let unit_bytes = self.config.geometry.unit_bytes();
        let is_partial = |&unit: &usize| {
            let first = unit as u64 * unit_bytes;
            start > first || end < first + unit_bytes
        };
        let has_data = |unit: &usize| self.place_of.contains_key(unit);
        let merges = self.config.host.subpage_writes == SubpageWrites::ReadModifyWrite;
        let rest: Vec<usize> = sub_request.iter().copied().filter(|u| merges && is_partial(u) && has_data(u)).collect();
        self.txns[txn].waits_for = rest.len();
        if rest.is_empty() {
            self.submit(txn);
        }
        for unit in rest {
            let read = self.add(number, true, vec![unit]);
            self.open[number] -= 1;
            self.txns[read].successor = Some(txn);
            self.submit(read);
        }
    }

    fn part_ends(&mut self, request: usize) {
        self.open[request] -= 1;
        if self.open[request] == 0 {
            self.result.end_ns[request] = self.now_ns;
            self.under_way -= 1;
        }
    }

    // ---- transactions ---------------------------------------------------------------------------------------------

    pub(super) fn add(&mut self, request: usize, is_read: bool, units: Vec<usize>) -> usize {
        let plane = self.plane_of(units[0]);
        let sequence = self.sequences;
        self.sequences += 1;
        self.open[request] += 1;
        let is_urgent = self.requests[request].priority == Priority::High;
        let arrival_ns = match self.config.host.mode {
            HostMode::Open => self.requests[request].arrival_ns,
            HostMode::Closed => self.began_ns[request],
        };
        let (waits_for, successor) = (0, None);
        self.txns.push(Txn { request, is_read, units, plane, sequence, waits_for, successor, arrival_ns, is_urgent });
        self.txns.len() - 1
    }

    /// Static allocation: the logical page's number has a digit each for channel, chip, die and plane. The first letter
    /// of the order is the least significant digit.
    fn plane_of(&self, unit: usize) -> usize {
        let AllocationConfig::Static(params) = &self.config.allocation else { unreachable!("it is understood") };
        let g = &self.config.geometry;
        let [channels, chips, dies, planes] =
            [g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die].map(|count| count as usize);
        let mut rest = unit / g.units_per_page() as usize;
        let [mut channel, mut chip, mut die, mut plane] = [0; 4];
        for letter in params.order.chars() {
            let (digit, count) = match letter {
                'C' => (&mut channel, channels),
                'W' => (&mut chip, chips),
                'D' => (&mut die, dies),
                'P' => (&mut plane, planes),
                other => unreachable!("`{other}` is no level of the geometry"),
            };
            *digit = rest % count;
            rest /= count;
        }
        ((channel * chips + chip) * dies + die) * planes + plane
    }

    fn die_of(&self, txn: usize) -> usize {
        self.txns[txn].plane / self.config.geometry.planes_per_die as usize
    }

    /// Puts a transaction in its die's queue, if there is a page for it and the window has a slot.
    fn submit(&mut self, txn: usize) {
        let die = self.die_of(txn);
        self.collect_for_request(die);
        if self.dies[die].outside.is_empty() {
            self.admit(txn);
        } else {
            self.dies[die].outside.push(txn);
        }
    }

    pub(super) fn admit(&mut self, txn: usize) {
        let (die, plane) = (self.die_of(txn), self.txns[txn].plane);
        if !self.txns[txn].is_read && self.reservable(plane) == 0 {
            self.planes[plane].waiting.push(txn);
            self.collect_for_space(plane);
            return;
        }
        if !self.has_slot(die) {
            self.dies[die].outside.push(txn);
            return;
        }
        self.dies[die].inside += 1;
        if self.txns[txn].is_read {
            self.dies[die].reads.push(txn);
        } else {
            self.dies[die].writes.push(txn);
            self.planes[plane].reserved += 1;
            self.result.queued_max = self.result.queued_max.max(self.planes[plane].reserved);
        }
        self.change(die);
    }

    pub(super) fn has_slot(&self, die: usize) -> bool {
        match &self.config.admit {
            AdmitConfig::All(_) => true,
            other => self.dies[die].inside < other.slots() as usize,
        }
    }

    pub(super) fn txn_ends(&mut self, txn: usize) {
        if let Some(write) = self.txns[txn].successor {
            self.txns[write].waits_for -= 1;
            if self.txns[write].waits_for == 0 {
                self.submit(write);
            }
        } else {
            self.part_ends(self.txns[txn].request);
        }
        self.free_slot(self.die_of(txn));
    }

    /// Waiting jobs get a free slot first.
    pub(super) fn free_slot(&mut self, die: usize) {
        self.dies[die].inside -= 1;
        let d = &self.dies[die];
        if d.waiting_jobs.is_empty() || d.reserved_by.is_some() || d.defers {
            self.fill_window(die);
        }
    }

    pub(super) fn fill_window(&mut self, die: usize) {
        while self.has_slot(die) && !self.dies[die].outside.is_empty() {
            let first = self.dies[die].outside.remove(0);
            self.admit(first);
        }
    }
}
