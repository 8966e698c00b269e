//! Pages that fill: writes smaller than a page wait for each other in the controller, and share one program.
//!
//! Each possible destination of a write has one open page for host data, one for the map and one for parity. A
//! destination is a plane or a die; if dies are chosen when the page is full, it is a channel (with parity) or the
//! whole drive. A full page goes to its die as one transaction; its writes are the transaction's list. A page that has
//! waited for `fill_limit` is sent with padding. Reads of data in an open page, or in one on its way to flash, are
//! served from DRAM.

use crate::config::device::UNITS_PER_PAGE_MAX;
use crate::dispatch::queues::Queue;
use crate::dispatch::txn::{Role, Txn};
use crate::flash::command::{Command, Source};
use crate::flash::geometry::Geometry;
use crate::flash::stripes::Stripes;
use crate::ftl::allocation::Known;
use crate::ftl::frontier::fill::{COPIES_MAX, FillAwaited, FillEnds, FillRules};
use crate::observe::report::{CAUSES, Cause};
use crate::sim::index::{DieId, LogicalUnit, PlaneId, RequestId, TxnId};
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::back_end::BackEnd;
use crate::ssd::requests::eviction_waits::{FreedSpace, OperationTime};
use std::collections::VecDeque;

/// A page that takes writes.
#[derive(Clone, Copy)]
struct OpenPage {
    first: TxnId,
    last: TxnId,
    units: u32,
    /// The number of the page, in the order of opening.
    number: u64,
    /// The arrival of its first write.
    opened_ns: u64,
}

const EMPTY: OpenPage = OpenPage { first: TxnId::NONE, last: TxnId::NONE, units: 0, number: 0, opened_ns: 0 };

/// The time at which a page has waited long enough.
#[derive(Clone, Copy)]
struct Due {
    at_ns: u64,
    place: usize,
    number: u64,
}

/// A write of the host that has no page.
struct Waiting {
    write: TxnId,
    since_ns: u64,
    /// The total time of pages from their opening until they were in flash, as of `since_ns`.
    before: OperationTime,
}

/// The function from a unit to the place of its open page.
struct PlaceOf {
    /// The part of an address that determines the place.
    known: Known,
    /// The channels of units, if the drive has parity.
    stripes: Option<Stripes>,
}

/// The pages of a drive that fill.
pub(in crate::ssd) struct FillingPages {
    fill: FillRules,
    timer: Timer,
    /// Determines the place of a unit's open page.
    place: PlaceOf,
    /// Open pages by place: of the host, then of the map, then of parity.
    open: Vec<OpenPage>,
    /// The times at which pages reach `fill_limit`, in order. Pages that were sent meanwhile are skipped.
    due: VecDeque<Due>,
    opened: u64,
    /// The most pages of the host in the controller.
    pages_max: u32,
    /// Copies of each unit in open pages and on their way to flash. The high bit is set if a trim followed them.
    held: Vec<u16>,
    /// Pages of the host, and of its parity, that are open or on their way to flash.
    pages: u32,
    /// Writes of the host that have no page, in order.
    waiting: VecDeque<Waiting>,
    /// The total time of all pages of the host from their opening until they were in flash.
    ended_time: OperationTime,
    /// How long the pages on their way to flash were open, by their transactions.
    filled_ns: Vec<u64>,
}

const TRIMMED: u16 = 0x8000;
const _: () = assert!(COPIES_MAX < TRIMMED as u32);

impl FillingPages {
    pub fn new(fill: FillRules, known: Known, geometry: &Geometry, timer: Timer) -> Self {
        let places = match known {
            Known::Plane => geometry.planes,
            Known::Die => geometry.dies,
            Known::Nothing => geometry.stripes.map_or(1, |stripes| stripes.members()),
        };
        Self {
            fill,
            timer,
            place: PlaceOf { known, stripes: geometry.stripes },
            open: vec![EMPTY; 3 * places as usize],
            due: VecDeque::with_capacity(64),
            opened: 0,
            pages_max: fill.pages_of(places, geometry.units_per_page),
            held: vec![0; geometry.mapped_units as usize],
            pages: 0,
            waiting: VecDeque::new(),
            ended_time: OperationTime::default(),
            filled_ns: Vec::new(),
        }
    }

    /// Whether the newest data of a unit is here.
    #[inline]
    pub fn holds(&self, unit: LogicalUnit) -> bool {
        let held = self.held[unit.at()];
        held > 0 && held < TRIMMED
    }

    /// A unit is trimmed: copies on their way to flash become void.
    pub fn trim(&mut self, unit: LogicalUnit) {
        let held = &mut self.held[unit.at()];
        *held |= if *held > 0 { TRIMMED } else { 0 };
    }

    fn hold(&mut self, first: LogicalUnit, units: u32) {
        for held in &mut self.held[first.at()..][..units as usize] {
            *held = (*held & !TRIMMED) + 1;
            assert!(*held < TRIMMED, "the pages in the controller cannot hold so many copies of a unit");
        }
    }

    fn let_go(&mut self, first: LogicalUnit, units: u32) {
        for held in &mut self.held[first.at()..][..units as usize] {
            *held -= 1;
            *held = if *held == TRIMMED { 0 } else { *held };
        }
    }

    /// Whether no page is open or on its way, and no write waits.
    pub fn is_at_rest(&self) -> bool {
        self.pages == 0 && self.waiting.is_empty() && self.held.iter().all(|&held| held == 0)
    }
}

impl BackEnd {
    /// A write enters the open page of its destination, or waits for a page. Writes of the map do not wait, because
    /// data may wait for them.
    #[inline(never)]
    pub(in crate::ssd) fn fill(&mut self, id: TxnId, events: &mut EventQueue) {
        if self.txns[id].role == Role::MapWrite {
            self.fill_now(id, events);
            if self.txns[id].successor.is_some() || self.is_update_awaited(self.txns[id].first) {
                self.send_awaited(id, events);
            }
            return;
        }
        let filling = self.host_side.filling.as_mut().expect("pages fill");
        filling.waiting.push_back(Waiting { write: id, since_ns: events.now_ns(), before: filling.ended_time });
        self.fill_waiting(None, events);
    }

    /// A transaction waits for a write of the map: if the write's page is open, it is sent at once.
    pub(in crate::ssd) fn send_awaited(&mut self, write: TxnId, events: &mut EventQueue) {
        if self.host_side.filling.as_ref().is_none_or(|filling| filling.fill.awaited == FillAwaited::Waits) {
            return;
        }
        let place = self.filling_place(write);
        let page = self.host_side.filling.as_ref().expect("pages fill").open[place];
        if page.units > 0 && self.holds_write(&page, write) {
            self.host_side.filling.as_mut().expect("pages fill").open[place] = EMPTY;
            self.send_page(page, events);
        }
    }

    fn holds_write(&self, page: &OpenPage, write: TxnId) -> bool {
        let mut chain =
            std::iter::successors(Some(page.first), |id| Some(self.txns[*id].next_in_list).filter(|id| id.is_some()));
        chain.any(|id| id == write)
    }

    /// Puts waiting writes of the host into pages, as long as there are pages. `programmed`: the page that has just
    /// freed space; its time explains their wait.
    fn fill_waiting(&mut self, programmed: Option<&FreedSpace>, events: &mut EventQueue) {
        let first = |drive: &Self| {
            drive.host_side.filling.as_ref().expect("pages fill").waiting.front().map(|first| first.write)
        };
        while let Some(id) = first(self) {
            let place = self.filling_place(id);
            let filling = self.host_side.filling.as_mut().expect("pages fill");
            let is_whole = self.txns[id].units == self.geometry.units_per_page;
            // A write that does not fit needs no new page yet: its rest waits for one (`fill_now`).
            let opens = is_whole || filling.open[place].units == 0;
            if opens && filling.pages >= filling.pages_max {
                return;
            }
            let waiting = filling.waiting.pop_front().expect("it was looked at");
            if let Some(page) = programmed {
                let waited =
                    page.explain_wait(events.now_ns() - waiting.since_ns, &filling.ended_time, &waiting.before);
                let txn = &mut self.txns[id];
                txn.breakdown_ns.iter_mut().zip(waited.breakdown_ns).for_each(|(cause, ns)| *cause += ns);
                txn.gc_affected |= waited.gc_affected;
            }
            self.fill_now(id, events);
        }
    }

    fn fill_now(&mut self, id: TxnId, events: &mut EventQueue) {
        let units_per_page = self.geometry.units_per_page;
        let place = self.filling_place(id);
        let filling = self.host_side.filling.as_mut().expect("pages fill");
        let room = units_per_page - filling.open[place].units;
        let units = self.txns[id].units;
        if units == units_per_page {
            // A write of a whole page need not wait for others.
            self.hold_write(id, events.now_ns());
            self.count_page(id);
            let page = OpenPage { first: id, last: id, units, number: 0, opened_ns: events.now_ns() };
            return self.send_page(page, events);
        }
        if units > room {
            let rest = self.split_write(id, room);
            self.add_to_page(id, place, events);
            return match self.txns[rest].role {
                Role::MapWrite => self.add_to_page(rest, place, events),
                // The rest precedes the other waiting writes, even if one of them has an open page.
                _ => {
                    let filling = self.host_side.filling.as_mut().expect("pages fill");
                    let before = filling.ended_time;
                    filling.waiting.push_front(Waiting { write: rest, since_ns: events.now_ns(), before });
                }
            };
        }
        self.add_to_page(id, place, events);
    }

    /// Counts a page that begins with this write.
    fn count_page(&mut self, id: TxnId) {
        let is_hosts = self.txns[id].role != Role::MapWrite;
        self.host_side.filling.as_mut().expect("pages fill").pages += u32::from(is_hosts);
    }

    /// The place of the open page of a write.
    fn filling_place(&mut self, id: TxnId) -> usize {
        let home = self.home(self.txns[id].first);
        let filling = self.host_side.filling.as_ref().expect("pages fill");
        let place = match filling.place.known {
            Known::Plane => home.plane.at(),
            Known::Die => home.die.at(),
            Known::Nothing => {
                let channel = filling.place.stripes.and_then(|stripes| stripes.channel(self.txns[id].first));
                channel.map_or(0, |channel| channel.at())
            }
        };
        let places = filling.open.len() / 3;
        match self.txns[id].role {
            Role::MapWrite => places + place,
            Role::ParityWrite => 2 * places + place,
            _ => place,
        }
    }

    /// Leaves the first `keep` units to a write. The others become a write of their own, with the same position in the
    /// order.
    fn split_write(&mut self, id: TxnId, keep: u32) -> TxnId {
        let mut rest = self.txns[id].clone();
        (rest.first, rest.units) = (LogicalUnit(rest.first.0 + keep), rest.units - keep);
        self.txns[id].units = keep;
        if rest.request.is_some() {
            self.host_side.endings.split(rest.request);
        }
        let sequence = rest.sequence;
        let rest = self.txns.add(rest);
        self.txns[rest].sequence = sequence;
        rest
    }

    fn add_to_page(&mut self, id: TxnId, place: usize, events: &mut EventQueue) {
        self.hold_write(id, events.now_ns());
        let units = self.txns[id].units;
        if self.host_side.filling.as_ref().is_some_and(|filling| filling.open[place].units == 0) {
            self.count_page(id);
        }
        let filling = self.host_side.filling.as_mut().expect("pages fill");
        let page = &mut filling.open[place];
        if page.units == 0 {
            filling.opened += 1;
            *page = OpenPage { first: id, last: id, units, number: filling.opened, opened_ns: events.now_ns() };
            let due = Due { at_ns: events.now_ns() + filling.fill.limit_ns, place, number: filling.opened };
            filling.due.push_back(due);
            if filling.due.len() == 1 {
                events.schedule(filling.timer, due.at_ns);
            }
        } else {
            self.txns[page.last].next_in_list = id;
            (page.last, page.units) = (id, page.units + units);
        }
        if page.units == self.geometry.units_per_page {
            let page = std::mem::replace(page, EMPTY);
            self.send_page(page, events);
        }
    }

    /// A write is in DRAM. If its request ends there, the rest of the write belongs to no request.
    fn hold_write(&mut self, id: TxnId, now_ns: u64) {
        let (first, units, role) = (self.txns[id].first, self.txns[id].units, self.txns[id].role);
        let filling = self.host_side.filling.as_mut().expect("pages fill");
        filling.hold(first, units);
        if role == Role::Write && filling.fill.ends == FillEnds::Dram {
            let mut ended = self.txns[id].clone();
            ended.breakdown_ns = explained(&ended, Cause::Buffer, now_ns);
            let ended = self.txns.add(ended);
            self.host_side.endings.end(ended);
            let txn = &mut self.txns[id];
            (txn.role, txn.request) = (Role::Filled, RequestId::NONE);
        }
    }

    /// Sends pages that have waited long enough.
    pub(in crate::ssd) fn on_fill_limit(&mut self, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        loop {
            let filling = self.host_side.filling.as_mut().expect("pages fill");
            let is_open = |filling: &FillingPages, due: &Due| filling.open[due.place].number == due.number;
            while filling.due.front().is_some_and(|due| !is_open(filling, due)) {
                filling.due.pop_front();
            }
            let Some(due) = filling.due.front().copied() else { return };
            if due.at_ns > now_ns {
                return events.schedule(filling.timer, due.at_ns);
            }
            filling.due.pop_front();
            let page = std::mem::replace(&mut filling.open[due.place], EMPTY);
            self.send_page(page, events);
        }
    }

    /// A page goes to its die as a transaction; its writes are the transaction's list.
    fn send_page(&mut self, page: OpenPage, events: &mut EventQueue) {
        let now_ns = events.now_ns();
        let first = &self.txns[page.first];
        let role = match first.role {
            Role::MapWrite => Role::FullMapPage,
            Role::ParityWrite => Role::FullParityPage,
            _ => Role::FullPage,
        };
        let (unit, mut task, mut high_priority, mut others) = (first.first, first.task, false, first.role_data);
        let mut next = page.first;
        while next.is_some() {
            let txn = &mut self.txns[next];
            txn.breakdown_ns = explained(txn, Cause::Buffer, now_ns);
            // A request of the host may wait for one of them.
            task = if txn.task == Source::HOST { Source::HOST } else { task };
            others &= txn.role_data;
            (high_priority, next) = (high_priority | txn.high_priority, txn.next_in_list);
        }
        let place = self.place(unit);
        let mut txn = Txn::new(role, LogicalUnit::NONE, page.units, place.die, place.plane);
        (txn.task, txn.high_priority, txn.arrival_ns, txn.next_in_list) = (task, high_priority, now_ns, page.first);
        // For the map: whether none of them was caused by the host.
        txn.role_data = others;
        let id = self.txns.add(txn);
        let filled_ns = &mut self.host_side.filling.as_mut().expect("pages fill").filled_ns;
        // The list is no longer than the number of transactions at once.
        filled_ns.resize(filled_ns.len().max(id.at() + 1), 0);
        filled_ns[id.at()] = now_ns - page.opened_ns;
        if role == Role::FullMapPage {
            self.go_on_with_page(id);
        }
        self.submit(id, events);
    }

    /// Binds the next page of one of a plane's open blocks for a sent page.
    #[inline(never)]
    pub(in crate::ssd) fn bind_full_page(
        &mut self,
        die: DieId,
        (plane, write_point): (PlaneId, usize),
        id: TxnId,
        command: &mut Command,
        now_ns: u64,
    ) {
        let list = self.queue(die, Queue::Write);
        self.queues.remove(list, id.0);
        if self.txns[id].plane.is_none() {
            self.pass_turn(die, plane);
        }
        self.stop_waiting(id, now_ns);
        self.release_page(die, self.txns[id].plane);
        let mut units = [LogicalUnit::NONE; UNITS_PER_PAGE_MAX as usize];
        let (mut used, mut next) = (0, self.txns[id].next_in_list);
        let (waited_ns, gc_affected) = (self.txns[id].breakdown_ns, self.txns[id].gc_affected);
        while next.is_some() {
            used = self.put_units(next, &mut units, used);
            let txn = &mut self.txns[next];
            txn.breakdown_ns.iter_mut().zip(waited_ns).for_each(|(cause, waited_ns)| *cause += waited_ns);
            txn.gc_affected |= gc_affected;
            next = txn.next_in_list;
        }
        let page = self.bind_units(plane, write_point, &units[..used as usize], now_ns);
        if self.txns[id].role == Role::FullParityPage {
            self.records.counters.on_own_units(used.into());
        }
        self.push_page(command, plane, page, id);
    }

    /// The program of a page ended: ends the page itself, which releases its slot, or one of its writes.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn end_in_page(&mut self, id: TxnId, command: &Command, events: &mut EventQueue) {
        let (first, units, role, die) = {
            let txn = &self.txns[id];
            (txn.first, txn.units, txn.role, txn.die)
        };
        if matches!(role, Role::FullPage | Role::FullMapPage | Role::FullParityPage) {
            let task = self.txns[id].task;
            if self.records.flash_requests.is_some() {
                self.count_program(id, command, events.now_ns());
            }
            self.charge_program(id, command, events.now_ns());
            // Read before the transaction's number is reused.
            let filled_ns = self.host_side.filling.as_ref().expect("pages fill").filled_ns[id.at()];
            let page = FreedSpace::by(&self.txns[id], events.now_ns()).filled_for(filled_ns);
            self.txns.remove(id);
            self.leave_window(die, task, events);
            if role != Role::FullMapPage {
                let filling = self.host_side.filling.as_mut().expect("pages fill");
                filling.pages -= 1;
                filling.ended_time.add(&page.whole());
                self.fill_waiting(Some(&page), events);
            }
            return;
        }
        self.charge_program(id, command, events.now_ns());
        let filling = self.host_side.filling.as_mut().expect("pages fill");
        filling.let_go(first, units);
        if role == Role::Filled {
            self.txns.remove(id);
        } else if role == Role::ParityWrite {
            self.end_parity(id);
        } else {
            self.end_without_slot(id, events);
        }
    }
}

/// A transaction's breakdown, with the unexplained part of its time added to `cause`.
fn explained(txn: &Txn, cause: Cause, now_ns: u64) -> [u64; CAUSES] {
    let mut breakdown_ns = txn.breakdown_ns;
    let explained_ns: u64 = breakdown_ns.iter().sum();
    breakdown_ns[cause as usize] += now_ns - txn.arrival_ns - explained_ns;
    breakdown_ns
}
