//! Operations on stripes: their reads and writes, the order of these, and the locks during them.

use super::config::WriteAfter;
use super::operations::{Kind, OperationId};
use super::volume::{DriveRequest, Volume};
use crate::observe::report::Cause;
use crate::redundancy::planner::{Members, Stripe, Write};
use copyback_workload::Op;

/// Whether a read avoids a drive that collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detour {
    /// None of its drives collects, or reads do not avoid collection.
    None,
    /// The read takes the alternative.
    Taken,
    /// There is no alternative, because other drives collect, too, or have failed: the read waits.
    Barred,
}

impl Volume {
    /// A stripe as the planner sees it, with these drives unavailable.
    fn stripe(&self, stripe: u64, unavailable: u64) -> Stripe {
        let (data, parity) = (self.layout.data(), self.layout.parity());
        let is_lost = |&member: &u32| unavailable >> self.layout.drive(stripe, member) & 1 == 1;
        let lost = (0..data + parity).filter(is_lost).fold(0, |set, member| set | 1 << member);
        Stripe { data, parity, unavailable: Members(lost), known: Members::default() }
    }

    /// The drives that a stripe has lost: the failed drives, unless the stripe is rebuilt.
    fn lost(&self, stripe: u64) -> u64 {
        if self.rebuild.as_ref().is_some_and(|rebuild| rebuild.has_rebuilt(stripe)) { 0 } else { self.failed }
    }

    /// An operation of the host begins in a stripe, or waits for it.
    pub(super) fn begin_in_stripe(&mut self, id: OperationId, collecting: u64, now_ns: u64) {
        self.set_wanted(id);
        let (stripe, kind) = (self.operations[id].stripe, self.operations[id].kind);
        let is_barred = self.locks.as_mut().is_some_and(|locks| locks.bars_reads(stripe));
        if kind == Kind::Host(Op::Read) && !is_barred {
            let planned = self.plan_read(id, collecting);
            if !self.rebuilds(id, planned.0) {
                return self.begin_reads(id, planned, now_ns);
            }
        }
        self.operations[id].waits_since_ns = now_ns;
        if self.take_lock(id) {
            self.begin_locked(id, collecting, now_ns);
        } else {
            self.totals.stripe_waits += 1;
        }
    }

    pub(super) fn take_lock(&mut self, id: OperationId) -> bool {
        let locks = self.locks.as_mut().expect("stripes are protected");
        let is_granted = locks.take(id, &mut self.operations);
        self.operations[id].has_lock = is_granted;
        is_granted
    }

    /// The operation that has waited longest for the released stripe gets it, and so do all operations that may share
    /// it.
    pub(super) fn unlock(&mut self, id: OperationId, collecting: u64, now_ns: u64) {
        let stripe = self.operations[id].stripe;
        self.locks.as_mut().expect("stripes are protected").release(id, &self.operations);
        let had = self.operations[id];
        while let Some(next) = self.locks.as_mut().and_then(|locks| locks.admit(stripe, &self.operations)) {
            let operation = &mut self.operations[next];
            operation.has_lock = true;
            // The previous holder was another request of the host, or the rebuild. Its share of waits for collection
            // counts for this operation, too.
            let waited_ns = now_ns - operation.waits_since_ns;
            let had_ns = had.breakdown_ns.iter().sum::<u64>().max(1);
            let for_gc = u128::from(waited_ns) * u128::from(had.breakdown_ns[Cause::Gc as usize]) / u128::from(had_ns);
            operation.breakdown_ns[Cause::Gc as usize] += for_gc as u64;
            operation.breakdown_ns[Cause::HostIo as usize] += waited_ns - for_gc as u64;
            operation.gc_affected |= had.gc_affected;
            self.begin_locked(next, collecting, now_ns);
        }
    }

    /// An operation has locked its stripe.
    pub(super) fn begin_locked(&mut self, id: OperationId, collecting: u64, now_ns: u64) {
        match self.operations[id].kind {
            Kind::Host(Op::Read) => {
                let planned = self.plan_read(id, collecting);
                self.begin_reads(id, planned, now_ns);
            }
            Kind::Host(Op::Write | Op::Trim) => self.begin_write(id, now_ns),
            Kind::Rebuild => self.begin_rebuild(id, now_ns),
        }
    }

    /// Sets three things: the members of data that the operation covers, the members that it covers in part, and the
    /// range of each unit for the parity. This range is the union of all covered ranges, rounded out to mapping units.
    fn set_wanted(&mut self, id: OperationId) {
        let (unit, grain) = (self.layout.unit_bytes(), self.grain_bytes);
        let operation = &mut self.operations[id];
        let [from, to] = operation.bytes;
        let first = self.layout.place(from);
        let last = self.layout.place(to - 1);
        operation.wanted = Members::first(last.member + 1).without(Members::first(first.member));
        let is_one = first.member == last.member;
        let hull = if is_one { [first.byte, last.byte + 1] } else { [0, unit] };
        operation.hull = [hull[0] / grain * grain, hull[1].div_ceil(grain).saturating_mul(grain).min(unit)];
        let in_part = |member: u32| {
            let [start, end] = Self::of_member(operation.bytes, first.stripe, member, &self.layout);
            start > operation.hull[0] || end < operation.hull[1]
        };
        let ends = [first.member, last.member];
        let in_part = ends.into_iter().filter(|&member| in_part(member)).fold(0, |set, member| set | 1 << member);
        operation.in_part = Members(in_part);
    }

    /// The bytes in a unit of data that bytes of the volume cover.
    fn of_member(bytes: [u64; 2], stripe: u64, member: u32, layout: &super::Layout) -> [u64; 2] {
        let start = (stripe * u64::from(layout.data()) + u64::from(member)) * layout.unit_bytes();
        bytes.map(|byte| byte.clamp(start, start + layout.unit_bytes()) - start)
    }

    /// The reads for an operation's data. A drive that collects is avoided if the alternative drives do not collect.
    fn plan_read(&self, id: OperationId, collecting: u64) -> (Members, Detour) {
        let (stripe, wanted) = (self.operations[id].stripe, self.operations[id].wanted);
        let lost = self.lost(stripe);
        // Copies are read in turn, by their row.
        let turn = self.layout.row(stripe);
        let plain = self.stripe(stripe, lost).read_from(wanted, turn).expect("a volume with lost data is refused");
        let collects = plain.iter().any(|member| collecting >> self.layout.drive(stripe, member) & 1 == 1);
        if !collects {
            return (plain, Detour::None);
        }
        let around = self.stripe(stripe, lost | collecting).read_from(wanted, turn);
        around.map_or((plain, Detour::Barred), |reads| (reads, Detour::Taken))
    }

    /// Whether the reads exclude a wanted unit: the rest of the stripe determines it.
    fn rebuilds(&self, id: OperationId, reads: Members) -> bool {
        !self.layout.is_mirror() && self.operations[id].wanted.without(reads).count() > 0
    }

    fn begin_reads(&mut self, id: OperationId, (reads, detour): (Members, Detour), now_ns: u64) {
        self.totals.gc_aware_reads += u64::from(detour == Detour::Taken);
        self.totals.gc_aware_waits += u64::from(detour == Detour::Barred);
        let operation = &mut self.operations[id];
        operation.reads = reads;
        let (stripe, bytes, hull, wanted) = (operation.stripe, operation.bytes, operation.hull, operation.wanted);
        let is_rebuilt = self.rebuilds(id, reads);
        let is_lost = wanted.both(self.stripe(stripe, self.lost(stripe)).unavailable).count() > 0;
        self.totals.degraded_reads += u64::from(is_rebuilt && is_lost);
        for member in reads.iter() {
            let range = if self.layout.is_mirror() {
                Self::of_member(bytes, stripe, 0, &self.layout)
            } else if is_rebuilt {
                // A unit is rebuilt from the same bytes of all others, even if only some of them are wanted.
                hull
            } else {
                Self::of_member(bytes, stripe, member, &self.layout)
            };
            self.begin_member(id, member, Op::Read, range, now_ns);
        }
    }

    /// Begins a part of an operation on one member of its stripe; `range`: bytes in the member's unit.
    fn begin_member(&mut self, id: OperationId, member: u32, op: Op, range: [u64; 2], now_ns: u64) {
        let stripe = self.operations[id].stripe;
        let start = self.layout.unit_start(stripe);
        let bytes = [start + range[0], range[1] - range[0]];
        self.begin_part(id, (self.layout.drive(stripe, member), member), op, bytes, now_ns);
    }

    /// Begins a write, or a trim: for the parity, a trim writes zeros.
    fn begin_write(&mut self, id: OperationId, now_ns: u64) {
        let operation = &self.operations[id];
        let (stripe, hull, wanted, in_part) = (operation.stripe, operation.hull, operation.wanted, operation.in_part);
        let write = Write { written: wanted, in_part, partial: self.partial };
        let plan = self.stripe(stripe, self.lost(stripe)).write(write).expect("a volume with lost data is refused");
        let operation = &mut self.operations[id];
        (operation.reads, operation.writes) = (plan.reads, plan.writes);
        if operation.kind == Kind::Host(Op::Write) {
            let (bytes, grain) = (operation.bytes, self.grain_bytes);
            let whole_units = |[from, to]: [u64; 2]| to.next_multiple_of(grain) - from / grain * grain;
            let unplaced = wanted.without(plan.writes).iter();
            self.unplaced_bytes +=
                unplaced.map(|member| whole_units(Self::of_member(bytes, stripe, member, &self.layout))).sum::<u64>();
        }
        let totals = &mut self.totals;
        totals.reads_before_writes += u64::from(plan.reads.count());
        if plan.reads.count() == 0 {
            totals.full_stripe_writes += 1;
        } else if plan.reads.without(Members::first(self.layout.data())).count() > 0 {
            totals.read_modify_writes += 1;
        } else {
            totals.reconstruct_writes += 1;
        }
        for member in plan.reads.iter() {
            self.begin_member(id, member, Op::Read, hull, now_ns);
        }
        let go_at_once = match (plan.reads.count(), self.write_after) {
            (0, _) => plan.writes,
            (_, WriteAfter::Reads) => Members::default(),
            (_, WriteAfter::Own) => plan.writes.without(plan.reads).both(Members::first(self.layout.data())),
        };
        self.begin_writes(id, go_at_once, now_ns);
    }

    /// Begins the writes of these members: data and copies in their own ranges, parity over the whole changed range.
    fn begin_writes(&mut self, id: OperationId, members: Members, now_ns: u64) {
        let operation = &self.operations[id];
        let (stripe, bytes, hull, kind) = (operation.stripe, operation.bytes, operation.hull, operation.kind);
        if let Some(contents) = self.contents.as_mut().filter(|_| !members.is_empty()) {
            contents.compute(&self.operations[id], id);
        }
        for member in members.iter() {
            let is_data = member < self.layout.data();
            self.totals.redundant_writes += u64::from(!is_data);
            let own = Self::of_member(bytes, stripe, if self.layout.is_mirror() { 0 } else { member }, &self.layout);
            let is_copy = is_data || self.layout.is_mirror();
            let op = if kind == Kind::Host(Op::Trim) && is_copy { Op::Trim } else { Op::Write };
            let range = if is_copy && kind != Kind::Rebuild { own } else { hull };
            self.begin_member(id, member, op, range, now_ns);
        }
    }

    /// A part of an operation that holds its stripe completed. The writes that waited for this part begin.
    pub(super) fn on_stripe_part_end(&mut self, part: &DriveRequest, now_ns: u64) {
        let id = part.operation;
        if let Some(contents) = &mut self.contents {
            contents.on_part_end(&self.operations[id], id, part.member, part.asked.op == Op::Read);
        }
        if !part.is_read_first {
            return;
        }
        let operation = &self.operations[id];
        let data = Members::first(self.layout.data());
        let begin = match self.write_after {
            _ if operation.kind == Kind::Rebuild && operation.reads_open == 0 => operation.writes,
            WriteAfter::Reads if operation.reads_open == 0 => operation.writes,
            WriteAfter::Reads => Members::default(),
            WriteAfter::Own => {
                let own = operation.writes.both(data).both(Members(1 << part.member));
                let parity = operation.writes.without(data);
                if operation.reads_open == 0 { own.with(parity) } else { own }
            }
        };
        self.begin_writes(id, begin, now_ns);
    }

    /// Begins to rebuild a failed drive's unit in this stripe: reads the others, and writes the unit.
    fn begin_rebuild(&mut self, id: OperationId, now_ns: u64) {
        let stripe = self.operations[id].stripe;
        let planned = self.stripe(stripe, self.failed);
        let lost = planned.unavailable;
        let data = Members::first(self.layout.data());
        // If all data is known, so is the parity.
        let reads = planned.read(data).expect("a volume with lost data is refused");
        let operation = &mut self.operations[id];
        (operation.reads, operation.writes, operation.hull) = (reads, lost, [0, self.layout.unit_bytes()]);
        operation.wanted = Members::default();
        self.totals.units_rebuilt += u64::from(lost.count());
        for member in reads.iter() {
            self.begin_member(id, member, Op::Read, [0, self.layout.unit_bytes()], now_ns);
        }
    }
}
