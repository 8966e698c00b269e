//! Parity: the reads before a stripe's parity is rewritten, and reads that are rebuilt from the rest of their stripe
//! (`redundancy`).
//!
//! A request that writes a part of a group of stripes causes one write of parity for each run of stripes with the same
//! written members. The write waits for its reads, and goes to its channel like a write of the host. A stripe whose
//! parity is not in flash yet cannot rebuild reads.

use crate::config::device::UNITS_PER_PAGE_MAX;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::Source;
use crate::flash::geometry::Geometry;
use crate::flash::source::Account;
use crate::flash::stripes::{StripePosition, Stripes};
use crate::host::splitter::SubRequest;
use crate::observe::report::ParityTotals;
use crate::redundancy::planner::{Members, Stripe, Write};
use crate::redundancy::{DieLoad, RedundancyConfig, RedundancyPolicy};
use crate::sim::index::{DieId, JobId, LogicalUnit, PlaneId, TxnId};
use crate::sim::invariant::hold;
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};

/// Parity of a drive.
pub(in crate::ssd) struct Parity {
    stripes: Stripes,
    policy: Box<dyn RedundancyPolicy + Send>,
    /// Writes of each stripe's parity that are not in flash yet.
    pending: Vec<u16>,
    /// Memory for the reads on which a write of parity or a rebuilt read depends.
    reads: Vec<(LogicalUnit, u32)>,
    totals: ParityTotals,
}

impl Parity {
    /// The parity of a drive of this shape, if a policy keeps any.
    pub fn new(config: &RedundancyConfig, geometry: &Geometry) -> Option<Box<Self>> {
        let (policy, stripes) = (config.build()?, geometry.stripes?);
        let pending = vec![0; stripes.parity_units() as usize];
        Some(Box::new(Self { stripes, policy, pending, reads: Vec::new(), totals: ParityTotals::default() }))
    }
}

/// Runs of consecutive numbers below `count` with the same value of `of`: the first, the count, and the value.
fn runs<T: PartialEq>(count: u32, of: impl Fn(u32) -> T) -> impl Iterator<Item = (u32, u32, T)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = at;
        let value = (first < count).then(|| of(first))?;
        at = (first + 1..count).find(|&at| of(at) != value).unwrap_or(count);
        Some((first, at - first, value))
    })
}

/// The members to read of each stripe: `plan` decides, from the members for which `is_known` holds.
fn plans(
    stripes: &Stripes,
    place: StripePosition,
    units: u32,
    is_known: impl Fn(u32, LogicalUnit) -> bool,
    plan: impl Fn(Members) -> Members,
) -> [Members; UNITS_PER_PAGE_MAX as usize] {
    let mut plans = [Members::default(); UNITS_PER_PAGE_MAX as usize];
    for (offset, reads) in (place.offset..).zip(&mut plans[..units as usize]) {
        let unit = |member: u32| stripes.unit(StripePosition { member, offset, ..place });
        let is_known = |&member: &u32| unit(member).is_none_or(|unit| is_known(member, unit));
        *reads = plan((0..stripes.members()).filter(is_known).collect());
    }
    plans
}

/// Lists the reads of consecutive stripes, one for each run of units of a member.
fn list_reads(stripes: &Stripes, place: StripePosition, plans: &[Members], reads: &mut Vec<(LogicalUnit, u32)>) {
    for member in 0..stripes.members() {
        for (at, units, is_read) in runs(plans.len() as u32, |at| plans[at as usize].has(member)) {
            let unit = stripes.unit(StripePosition { member, offset: place.offset + at, ..place });
            reads.extend(unit.filter(|_| is_read).map(|unit| (unit, units)));
        }
    }
}

impl BackEnd {
    /// Whether planes of a parity group are collected in turn.
    pub(in crate::ssd) fn collections_take_turns(&self) -> bool {
        self.gc.relocations.planes_take_turns()
    }

    /// Whether the rest of a plane's parity group allows its collection now.
    pub(in crate::ssd) fn is_its_turn(&self, plane: PlaneId) -> bool {
        self.gc.relocations.is_turn_of(plane)
    }

    /// Whether the rest of the parity group of a job's plane allows it to begin, or it has begun.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn is_turn_of_job(&self, id: JobId) -> bool {
        let job = &self.gc.jobs[id];
        job.beginning().is_some() || self.is_its_turn(job.plane())
    }

    /// Whether there is parity.
    #[inline(always)]
    pub(crate) fn has_parity(&self) -> bool {
        self.host_side.parity.is_some()
    }

    /// Whether the parity of all stripes is in flash.
    pub(in crate::ssd) fn is_parity_current(&self) -> bool {
        self.host_side.parity.as_ref().is_none_or(|parity| parity.pending.iter().all(|&pending| pending == 0))
    }

    /// The work that parity caused.
    pub(in crate::ssd) fn parity_totals(&self) -> Option<ParityTotals> {
        self.host_side.parity.as_ref().map(|parity| parity.totals)
    }

    /// Checks that each unit is on the channel of its stripe, and has parity in flash or on its way. Slow.
    pub(in crate::ssd) fn check_stripes(&self) {
        let Some(parity) = &self.host_side.parity else { return };
        let (stripes, geometry) = (&parity.stripes, &self.geometry);
        for unit in (0..stripes.end()).map(LogicalUnit) {
            let place = self.ftl.lookup(unit);
            if place.is_none() {
                continue;
            }
            let channel = geometry.channel_of(geometry.die_of(geometry.plane_of(geometry.block_of(place))));
            hold!(Some(channel) == stripes.channel(unit), StripesWhole, "{unit:?} is on {channel:?}");
            let stripe = stripes.stripe(stripes.place(unit).expect("it is of a stripe"));
            let of_parity = LogicalUnit(geometry.logical_units + stripe);
            let has_parity = self.ftl.lookup(of_parity).is_some() || parity.pending[stripe as usize] > 0;
            hold!(has_parity, StripesWhole, "{unit:?} holds data, and {of_parity:?}, its parity, does not");
        }
    }

    fn parity(&mut self) -> &mut Parity {
        self.host_side.parity.as_mut().expect("there is parity")
    }

    // ---- writes -----------------------------------------------------------------------------------------------------

    /// A part of a request was written. The last part in a group of stripes causes the writes of the group's parity.
    pub(crate) fn write_parity(&mut self, sub_request: &SubRequest, events: &mut EventQueue) {
        let stripes = self.parity().stripes;
        let [first, end] = sub_request.request;
        let behind = sub_request.first.0 + sub_request.units;
        let place = stripes.place(sub_request.first).expect("a unit of the host has a stripe");
        let next_group = (place.group + 1) * stripes.units_per_group();
        if behind >= end.min(next_group) {
            self.write_parity_of(place, [first, end], events);
        }
    }

    /// Units are trimmed: their parity is updated as if they were written.
    pub(crate) fn trim_parity(&mut self, [first, end]: [u32; 2], events: &mut EventQueue) {
        let stripes = self.parity().stripes;
        let mut unit = first;
        while unit < end {
            let place = stripes.place(LogicalUnit(unit)).expect("a unit of the host has a stripe");
            self.write_parity_of(place, [first, end], events);
            unit = (place.group + 1) * stripes.units_per_group();
        }
    }

    /// Writes the parity of a group of stripes for the written units.
    fn write_parity_of(&mut self, place: StripePosition, [first, end]: [u32; 2], events: &mut EventQueue) {
        let stripes = self.parity().stripes;
        let written = |offset: u32| {
            let unit = |member: u32| stripes.unit(StripePosition { member, offset, ..place });
            let is_written = |&member: &u32| unit(member).is_some_and(|unit| (first..end).contains(&unit.0));
            (0..stripes.data()).filter(is_written).collect::<Members>()
        };
        for (offset, units, written) in runs(stripes.units_per_page(), written) {
            if !written.is_empty() {
                self.begin_parity(StripePosition { member: stripes.data(), offset, ..place }, units, written, events);
            }
        }
    }

    /// Rewrites the parity of `units` stripes; each stripe has these members written.
    fn begin_parity(&mut self, place: StripePosition, units: u32, written: Members, events: &mut EventQueue) {
        let parity = self.parity();
        let first = parity.stripes.unit(place).expect("a stripe has parity");
        let stripe = parity.stripes.stripe(place) as usize;
        parity.pending[stripe..][..units as usize].iter_mut().for_each(|pending| *pending += 1);
        self.map.newest.track();
        let mut txn = Txn::new(Role::ParityWrite, first, units, DieId::NONE, PlaneId::NONE);
        txn.role_data = u32::try_from(written.0).expect("a drive's stripe has at most 31 members");
        txn.arrival_ns = events.now_ns();
        let id = self.txns.add(txn);
        self.read_for_parity(id, events);
    }

    /// Reads the units on which a write of parity depends.
    fn read_for_parity(&mut self, id: TxnId, events: &mut EventQueue) {
        let (first, units) = (self.txns[id].first, self.txns[id].units);
        let written = Members(u64::from(self.txns[id].role_data));
        let stripes = self.parity().stripes;
        let place = stripes.place(first).expect("it is parity");
        let is_known = |member: u32, unit: LogicalUnit| {
            // DRAM has the new data of written members.
            self.ftl.lookup(unit).is_none() || (!written.has(member) && self.host_side.is_in_dram(unit))
        };
        let data = stripes.data();
        let plans = plans(&stripes, place, units, is_known, |known| {
            let stripe = Stripe { data, parity: 1, unavailable: Members::default(), known };
            stripe.write(Write::whole(written)).expect("all members are available").reads
        });
        let mut reads = self.room_for_reads();
        list_reads(&stripes, place, &plans[..units as usize], &mut reads);
        self.parity().totals.reads += reads.len() as u64;
        self.txns[id].waits_for = reads.len() as u32;
        for &(first, units) in &reads {
            let mut read = Txn::new(Role::ParityRead, first, units, DieId::NONE, PlaneId::NONE);
            (read.successor, read.arrival_ns) = (id, events.now_ns());
            let read = self.txns.add(read);
            self.go_to_dies(read, events);
        }
        if reads.is_empty() {
            self.send_write(id, events);
        }
        self.parity().reads = reads;
    }

    /// Memory for a list of reads; the caller returns it.
    fn room_for_reads(&mut self) -> Vec<(LogicalUnit, u32)> {
        let mut reads = std::mem::take(&mut self.parity().reads);
        reads.clear();
        reads
    }

    /// A write of parity is in flash.
    pub(crate) fn end_parity(&mut self, id: TxnId) {
        let (first, units) = (self.txns[id].first, self.txns[id].units);
        self.txns.remove(id);
        let parity = self.parity();
        let place = parity.stripes.place(first).expect("it is parity");
        let stripe = parity.stripes.stripe(place) as usize;
        parity.pending[stripe..][..units as usize].iter_mut().for_each(|pending| *pending -= 1);
        parity.totals.units += u64::from(units);
    }

    // ---- reads ------------------------------------------------------------------------------------------------------

    /// Rebuilds a read from other dies if the redundancy policy decides so. Called when the read would have to wait,
    /// and again (`enters`) when it enters the window. Returns whether the rebuild replaces the read.
    #[inline(always)]
    pub(in crate::ssd) fn try_rebuild(&mut self, id: TxnId, enters: bool, events: &mut EventQueue) -> bool {
        self.host_side.parity.is_some() && self.start_rebuild(id, enters, events)
    }

    fn start_rebuild(&mut self, id: TxnId, enters: bool, events: &mut EventQueue) -> bool {
        let txn = &self.txns[id];
        if !matches!(txn.role, Role::Read | Role::UpdateRead) {
            return false;
        }
        let (die, plane) = (txn.die, self.plane_of_read(id));
        // A job that has reserved the die keeps all of its planes from reads.
        let is_reserved = self.dies[die].is_reserved();
        let load = DieLoad {
            is_at_background_work: is_reserved || self.is_at_background_work(die),
            is_plane_collecting: is_reserved || (plane.is_some() && self.gc.relocations.is_relocating_on(plane)),
        };
        if !self.parity().policy.rebuilds(load) {
            return false;
        }
        let mut reads = self.room_for_reads();
        self.list_reads_to_rebuild(id, &mut reads);
        let totals = &mut self.parity().totals;
        let is_rebuilt = !reads.is_empty();
        totals.rebuilt += u64::from(is_rebuilt);
        totals.not_rebuilt += u64::from(enters && !is_rebuilt);
        totals.rebuild_reads += reads.len() as u64;
        if is_rebuilt {
            self.stop_waiting(id, events.now_ns());
            self.txns[id].waits_for = reads.len() as u32;
        }
        for &(first, units) in &reads {
            let mut read = Txn { role: Role::Rebuild, first, units, successor: id, ..self.txns[id].clone() };
            read.waits_for = 0;
            let read = self.txns.add(read);
            self.go_to_dies(read, events);
        }
        self.parity().reads = reads;
        is_rebuilt
    }

    /// Whether a die or its window has a request of a task other than the host, or a map request that such a task
    /// caused.
    fn is_at_background_work(&self, die: DieId) -> bool {
        let is_others = |id: TxnId| match self.txns[id].task.account() {
            Account::Host => false,
            Account::Map => self.txns[id].role_data > 0,
            _ => true,
        };
        let at_work = self.flash.at_work(die).is_some_and(|command| match command.parts[0].txn {
            TxnId::NONE => command.source != Source::HOST,
            id => is_others(id),
        });
        let queued = |queue| self.queues.iter(self.queue(die, queue)).map(TxnId);
        at_work || [Queue::Move, Queue::Read, Queue::Write].into_iter().flat_map(queued).any(is_others)
    }

    /// Lists the reads that replace a read's own units. The list is empty if parity of a stripe is not in flash, or if
    /// no read is needed.
    fn list_reads_to_rebuild(&self, id: TxnId, reads: &mut Vec<(LogicalUnit, u32)>) {
        let (txn, parity) = (&self.txns[id], self.host_side.parity.as_ref().expect("there is parity"));
        let stripes = parity.stripes;
        let Some(place) = stripes.place(txn.first) else { return };
        let stripe = stripes.stripe(place) as usize;
        if parity.pending[stripe..][..txn.units as usize].iter().any(|&pending| pending > 0) {
            return;
        }
        // If all needed units are in DRAM, or hold nothing, the list is empty. This case is too rare for separate code.
        let is_known = |_, unit| self.ftl.lookup(unit).is_none() || self.host_side.is_in_dram(unit);
        let (data, wanted) = (stripes.data(), Members::one(place.member));
        let plans = plans(&stripes, place, txn.units, is_known, |known| {
            let stripe = Stripe { data, parity: 1, unavailable: wanted, known: known.without(wanted) };
            stripe.read(wanted).expect("one member is unavailable")
        });
        list_reads(&stripes, place, &plans[..txn.units as usize], reads);
    }
}
