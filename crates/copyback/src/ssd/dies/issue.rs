//! Issue: a ready die takes its next command. Every command goes to the flash from here, those of jobs, too, except for
//! lone steps (`gc::lone_steps`). Reads of the host are bound here, writes in `write_binding`, steps of jobs in
//! `gc::steps`.

use crate::dispatch::compose::{self, HostPages, JoiningReads, JoiningWrite};
use crate::dispatch::order::{Class, Heads, OrderPolicy, OrderView};
use crate::dispatch::txn::{Role, Txn};
use crate::flash::Follow;
use crate::flash::command::{Command, CommandPlane, FlashOp, Source};
use crate::observe::commands::Issued;
use crate::observe::counters::WriteCase;
use crate::sim::index::{DieId, JobId, LogicalUnit, PlaneId, RequestId, TxnId};
use crate::sim::queue::EventQueue;
use crate::ssd::back_end::{BackEnd, Queue};
use crate::ssd::dies::die_view::VisibleDie;
use crate::tasks::gc::preemption::State;

/// The commands that a die could take now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ssd) enum Readiness {
    /// Any command.
    Ready,
    /// A program that follows the one in the array through the cache register.
    CachedProgram,
    /// A read that follows the one on the channel.
    CachedRead,
    /// Nothing.
    Busy,
}

impl HostPages for BackEnd {
    #[inline(always)]
    fn host_pages_left(&self, plane: PlaneId) -> u32 {
        BackEnd::host_pages_left(self, plane)
    }

    fn spare_pages(&self, plane: PlaneId) -> u32 {
        self.claimable(self.geometry.die_of(plane), plane)
    }
}

impl BackEnd {
    /// Something changed for a die. It is visited when all consequences of the current event are handled, so that
    /// requests that arrive together can share a command.
    #[inline(always)]
    pub(in crate::ssd) fn mark_ready(&mut self, die: DieId) {
        self.dies.mark(die);
    }

    /// Whether a die changed that was not visited yet.
    #[inline(always)]
    pub(crate) fn is_marked(&self) -> bool {
        self.dies.has_marked()
    }

    #[inline]
    fn readiness(&self, die: DieId, now_ns: u64) -> Readiness {
        if self.flash.is_ready(die) {
            return Readiness::Ready;
        }
        if self.dies.splits_commands() {
            // A command that follows another one might overtake the rest of it.
            return Readiness::Busy;
        }
        let s = &self.scheme.settings;
        let follow = if self.dies[die].is_reserved() { s.follow_shared } else { s.follow };
        match self.flash.may_follow(die, follow, now_ns) {
            Follow { program: true, .. } => Readiness::CachedProgram,
            Follow { read: true, .. } => Readiness::CachedRead,
            _ => Readiness::Busy,
        }
    }

    /// Makes one decision; returns whether something changed, so that another may follow.
    #[inline(always)]
    pub(in crate::ssd) fn take_next(&mut self, die: DieId, events: &mut EventQueue) -> bool {
        let (readiness, reserved_by) = (self.readiness(die, events.now_ns()), self.dies[die].reserved_by());
        if readiness == Readiness::Busy {
            // A busy die takes nothing if its collection cannot be preempted.
            let may_share = reserved_by.is_some() && self.scheme.preemption.is_preemptive();
            return may_share && self.step_or_preempt(die, reserved_by, readiness, events);
        }
        if reserved_by.is_some() {
            return self.step_or_preempt(die, reserved_by, readiness, events);
        }
        self.take_what_is_ready(die, readiness, events)
    }

    fn take_what_is_ready(&mut self, die: DieId, readiness: Readiness, events: &mut EventQueue) -> bool {
        if self.dies[die].defers_to_high_priority() && self.serve_high_priority(die, readiness, events) {
            return true;
        }
        let heads = self.heads(die);
        match (self.pick_class(die, &heads, events.now_ns()), readiness) {
            (Some(Class::Gc), Readiness::Ready) => self.take_background(die, events),
            (Some(Class::Read), Readiness::Ready | Readiness::CachedRead) => {
                let lead = self.head(die, Queue::Read).expect("a read is queued");
                self.take_read(die, lead, events);
            }
            (Some(Class::Write), Readiness::Ready | Readiness::CachedProgram) => {
                let lead = self.head(die, Queue::Write).expect("a write is queued");
                self.take_write(die, lead, events);
            }
            _ => return false,
        }
        true
    }

    #[inline]
    pub(in crate::ssd) fn head(&self, die: DieId, queue: Queue) -> Option<TxnId> {
        self.queues.first(self.queue(die, queue)).map(TxnId)
    }

    /// The class that the order policy chooses among those with a waiting request.
    #[inline(always)]
    pub(crate) fn pick_class(&mut self, die: DieId, heads: &Heads, now_ns: u64) -> Option<Class> {
        // The fields separately: the policy may change its own state while it reads the drive.
        let Self { scheme, dies, queues, txns, ftl, gc, geometry, .. } = self;
        let seen = VisibleDie { now_ns, id: die, die: &dies[die], queues, txns, ftl, jobs: &gc.jobs, geometry };
        let class = scheme.order.pick(&OrderView { heads, die: &seen });
        class.filter(|&class| heads.came[class as usize] != u64::MAX)
    }

    /// The position of a transaction among the work that waits at its die: in the order of arrival or, if the policy of
    /// admission distinguishes tasks, in the order of entry into windows.
    #[inline(always)]
    pub(in crate::ssd) fn turn_of(&self, txn: &Txn) -> u64 {
        txn.turn(self.admission.control.distinguishes_tasks())
    }

    /// The position of a job that begins to wait at its die, among the same work.
    pub(in crate::ssd) fn take_turn(&mut self) -> u64 {
        match self.admission.control.distinguishes_tasks() {
            true => self.admission.control.take_turn(),
            false => self.txns.take_sequence(),
        }
    }

    #[inline]
    pub(in crate::ssd) fn heads(&self, die: DieId) -> Heads {
        let by_entry = self.admission.control.distinguishes_tasks();
        let txns = [Queue::Move, Queue::Read, Queue::Write].map(|queue| self.head(die, queue).unwrap_or(TxnId::NONE));
        let came = |txn: TxnId| if txn.is_none() { u64::MAX } else { self.txns[txn].turn(by_entry) };
        let d = &self.dies[die];
        let job_may_begin = self.admission.control.has_room(die) && !d.defers_to_high_priority();
        let is_its_turn = |id: JobId| !self.collections_take_turns() || self.is_turn_of_job(id);
        let first_job = d.first_job().filter(|&id| job_may_begin && is_its_turn(id));
        let job = first_job.map_or(u64::MAX, |id| self.gc.jobs[id].turn());
        let came = [came(txns[0]).min(job), came(txns[1]), came(txns[2])];
        // Only this die's next collection waits for the requests that waited here; moves of other dies' collections do
        // not.
        let waited_before = if came[0] == job { d.waited_before() } else { 0 };
        Heads { came, txns, waited_before }
    }

    // ---- reads ----------------------------------------------------------------------------------------------------

    #[inline(always)]
    pub(in crate::ssd) fn take_read(&mut self, die: DieId, lead: TxnId, events: &mut EventQueue) {
        let Some(part) = self.bind_queued_read(die, lead, events) else { return };
        if self.head(die, Queue::Read).is_none() {
            return self.issue_page(die, FlashOp::Read, part, events);
        }
        let source = self.txns[lead].role.source();
        let mut command = Command::new(FlashOp::Read, source, JobId::NONE, events.now_ns());
        command.push(part);
        for at in 0..self.scheme.settings.compose.builders.len() {
            let joining = self.scheme.settings.compose.builders[at].reads(&self.view_for_builders(die), part.page);
            self.join_reads(die, &mut command, &joining, events);
        }
        self.issue(die, &command, events);
    }

    /// Takes a read from its queue, and binds it to its page; none if it has left the die, or has ended.
    #[inline(always)]
    pub(in crate::ssd) fn bind_queued_read(
        &mut self,
        die: DieId,
        lead: TxnId,
        events: &mut EventQueue,
    ) -> Option<CommandPlane> {
        let list = self.queue(die, Queue::Read);
        self.queues.remove(list, lead.0);
        let part = self.bind_read(lead, die, events)?;
        self.begin_read(part, events.now_ns());
        Some(part)
    }

    /// The view of the drive for builders.
    #[inline(always)]
    pub(in crate::ssd) fn view_for_builders(&self, die: DieId) -> compose::ComposeView<'_, Self> {
        compose::ComposeView {
            die,
            queues: &self.queues,
            txns: &self.txns,
            ftl: &self.ftl,
            newest: &self.map.newest,
            rules: self.flash.rules(),
            geometry: self.flash.geometry(),
            excluded: self.dies[die].excluded(),
            scan_max: self.scheme.settings.compose.scan_max,
            aligns: self.scheme.settings.compose.aligns,
            host_pages: self,
        }
    }

    /// Adds queued reads that a builder named to a command.
    #[inline(always)]
    fn join_reads(&mut self, die: DieId, command: &mut Command, joining: &JoiningReads, events: &mut EventQueue) {
        let list = self.queue(die, Queue::Read);
        for &id in joining.as_slice() {
            self.queues.remove(list, id.0);
            let part = self.bind_read(id, die, events).expect("the partner was just translated");
            self.add_read(command, part, events.now_ns());
        }
    }

    /// Adds queued reads to a read of a collection.
    pub(in crate::ssd) fn join_collection_read(&mut self, die: DieId, command: &mut Command, events: &mut EventQueue) {
        for at in 0..self.scheme.settings.compose.gc_builders.len() {
            let joining =
                self.scheme.settings.compose.gc_builders[at].reads(&self.view_for_builders(die), command.parts[0].page);
            self.join_reads(die, command, &joining, events);
        }
    }

    /// Translates a read. Units that have left the page of the first unit become a read of their own. A read whose data
    /// has left the die follows it. A read whose data is gone ends.
    pub(in crate::ssd) fn bind_read(&mut self, id: TxnId, die: DieId, events: &mut EventQueue) -> Option<CommandPlane> {
        // Units that were trimmed while the read waited hold no data.
        let (first, units) = (self.txns[id].first.0, self.txns[id].units);
        let holds_data = |&u: &u32| self.ftl.lookup(LogicalUnit(u)).is_some();
        let Some(start) = (first..first + units).find(holds_data) else {
            self.stop_waiting(id, events.now_ns());
            self.count_end(id);
            self.finish_txn(id, events);
            return None;
        };
        let (first, units) = (LogicalUnit(start), first + units - start);
        (self.txns[id].first, self.txns[id].units) = (first, units);
        let place = self.ftl.lookup(first);
        let page = self.geometry.flash_page(place);
        let together = (1..units).take_while(|&i| {
            let next = self.ftl.lookup(LogicalUnit(first.0 + i));
            next.is_some() && self.geometry.flash_page(next) == page
        });
        let together = 1 + together.count() as u32;
        if together < units {
            self.split_read(id, together);
        }
        let flash = self.flash.geometry();
        let plane = flash.plane_of_page(page);
        let now_at = flash.die_of(plane);
        if now_at != die {
            self.redirect(id, now_at, events);
            return None;
        }
        Some(CommandPlane { plane, page, units: together, txn: id })
    }

    /// Leaves the first `keep` units to a read; the others become a transaction of their own with the same waiting
    /// time.
    fn split_read(&mut self, id: TxnId, keep: u32) {
        let mut rest = self.txns[id].clone();
        rest.first = LogicalUnit(rest.first.0 + keep);
        rest.units -= keep;
        let (die, request, successor, task) = (rest.die, rest.request, rest.successor, rest.task);
        self.txns[id].units = keep;
        let rest = self.txns.add(rest);
        if successor.is_some() {
            self.txns[successor].waits_for += 1;
        } else {
            self.host_side.endings.split(request);
        }
        self.dies[die].begin_wait(false, false);
        self.admission.control.enter(die, task);
        let list = self.queue(die, Queue::Read);
        self.enqueue(list, rest);
    }

    pub(in crate::ssd) fn add_read(&mut self, command: &mut Command, part: CommandPlane, now_ns: u64) {
        self.begin_read(part, now_ns);
        command.push(part);
    }

    /// A read that was bound to its page stops waiting.
    #[inline(always)]
    fn begin_read(&mut self, part: CommandPlane, now_ns: u64) {
        self.stop_waiting(part.txn, now_ns);
        if self.txns[part.txn].role == Role::UpdateRead {
            self.records.counters.on_update_read();
        }
        self.check_read(part);
    }

    /// Compares the data that a read returns with the shadow copy, if the run keeps one.
    pub(in crate::ssd) fn check_read(&self, part: CommandPlane) {
        if let Some(shadow) = &self.records.shadow {
            let first = self.txns[part.txn].first.0;
            for unit in (first..first + part.units).map(LogicalUnit) {
                shadow.read(unit, self.ftl.lookup(unit));
            }
        }
    }

    // ---- writes ---------------------------------------------------------------------------------------------------

    #[inline(always)]
    pub(in crate::ssd) fn take_write(&mut self, die: DieId, lead: TxnId, events: &mut EventQueue) {
        let plane = self.plane_for(lead, die);
        let write_point = self.host_write_point(die, plane, lead);
        if self.scheme.settings.compose.aligns {
            self.align_lead(die, plane, write_point);
        }
        if self.binds_single_pages() {
            return self.take_page_write(die, (plane, write_point), lead, events);
        }
        let source = self.txns[lead].role.source();
        let mut command = Command::new(FlashOp::Program, source, JobId::NONE, events.now_ns());
        self.bind_write(die, (plane, write_point), lead, &mut command, events.now_ns());
        self.program(die, lead, &mut command, events);
    }

    /// Takes a write that is bound to a single page.
    #[inline(always)]
    fn take_page_write(
        &mut self,
        die: DieId,
        (plane, write_point): (PlaneId, usize),
        lead: TxnId,
        events: &mut EventQueue,
    ) {
        let page = self.bind_page(die, (plane, write_point), lead, events.now_ns());
        let units = self.geometry.units_per_flash_page;
        if self.head(die, Queue::Write).is_none() && self.host_side.buffer.is_none() {
            self.issue_page(die, FlashOp::Program, CommandPlane { plane, page, units, txn: lead }, events);
            return self.collect_if_low(plane, events);
        }
        let source = self.txns[lead].role.source();
        let mut command = Command::new(FlashOp::Program, source, JobId::NONE, events.now_ns());
        command.push(CommandPlane { plane, page, units, txn: lead });
        self.program(die, lead, &mut command, events);
    }

    /// Issues a program of the host, after queued writes have joined it.
    fn program(&mut self, die: DieId, lead: TxnId, command: &mut Command, events: &mut EventQueue) {
        if self.head(die, Queue::Write).is_some() {
            self.join_host_program(die, command, events.now_ns());
        }
        self.issue(die, command, events);
        if self.host_side.buffer.is_some() && command.source == Source::HOST {
            self.count_eviction(die, lead, command, events.now_ns());
        }
        self.collect_planes_of(command.parts(), PlaneId::NONE, events);
    }

    /// Counts how pages of the buffer were sent to flash: together, alone although others waited, or alone.
    #[inline(never)]
    fn count_eviction(&mut self, die: DieId, lead: TxnId, command: &Command, now_ns: u64) {
        let own = command.parts[0].plane;
        let has_waiting = |drive: &Self, plane| {
            drive.queues.first_write_for(die, plane, drive.scheme.settings.compose.scan_max, &drive.txns).is_some()
        };
        let case = if command.planes > 1 {
            WriteCase::Parallel
        } else if self.geometry.planes_of(die).any(|plane| plane != own && has_waiting(self, plane)) {
            // Writes that wait now count as unaligned when their turn comes.
            self.dies[die].note_unaligned(self.txns.next_sequence());
            WriteCase::Unaligned
        } else if self.dies[die].is_unaligned(self.txns[lead].sequence) {
            WriteCase::Unaligned
        } else {
            WriteCase::Single
        };
        self.records.counters.on_eviction(case, command.planes, self.flash.planes_in_use(), now_ns);
    }

    /// Collects the planes that took host data, if their watermarks require it: once for all parts of a row, which
    /// belong to one plane. Skips `before`, a plane whose watermark was or will be examined elsewhere.
    pub(in crate::ssd) fn collect_planes_of(
        &mut self,
        parts: &[CommandPlane],
        mut before: PlaneId,
        events: &mut EventQueue,
    ) {
        for part in parts {
            let plane = self.geometry.plane_of_flash(part.plane);
            if plane != before {
                self.collect_if_low(plane, events);
            }
            before = plane;
        }
    }

    /// The data of a unit has moved, or is gone.
    pub(in crate::ssd) fn on_moved(&mut self, unit: LogicalUnit) {
        let ftl = &self.ftl;
        self.queues.on_moved(std::iter::once(unit), &self.txns, |unit| ftl.lookup(unit));
    }

    /// The plane of a write: its own plane, or for an unbound write the next plane in turn that has room. In turn,
    /// because a preferred plane would be collected again and again, and fill up with valid data.
    pub(in crate::ssd) fn plane_for(&self, id: TxnId, die: DieId) -> PlaneId {
        let plane = self.txns[id].plane;
        if plane.is_some() { plane } else { self.open_plane(die) }
    }

    /// The plane of a write that is bound to no plane.
    pub(in crate::ssd) fn open_plane(&self, die: DieId) -> PlaneId {
        let d = &self.dies[die];
        let (first, planes) = (die.0 * self.geometry.planes_per_die, self.geometry.planes_per_die);
        let in_turn = || (0..planes).map(|i| PlaneId(first + (d.next_plane() + i) % planes));
        let has_room = |&p: &PlaneId| self.host_pages_left(p) > 0;
        // The plane whose register holds a page of the collection is taken only if no other plane has pages.
        let beside = in_turn().filter(|&p| p != d.excluded()[1]).find(has_room);
        beside.or_else(|| in_turn().find(has_room)).unwrap_or(PlaneId(first))
    }

    /// Adds queued writes to a program of the host.
    #[inline(never)]
    fn join_host_program(&mut self, die: DieId, command: &mut Command, now_ns: u64) {
        for at in 0..self.scheme.settings.compose.builders.len() {
            let builder = self.scheme.settings.compose.builders[at];
            self.join_writes(die, command, now_ns, |view, parts, plane| builder.write(view, parts, plane));
        }
    }

    /// Adds queued writes to a program, on the other planes for which a builder names a write.
    #[inline(always)]
    fn join_writes(
        &mut self,
        die: DieId,
        command: &mut Command,
        now_ns: u64,
        named: impl Fn(&compose::ComposeView<'_, Self>, &[CommandPlane], PlaneId) -> Option<JoiningWrite>,
    ) {
        // A row already covers all planes of its die, which are one plane here.
        let lead = self.geometry.plane_of_flash(command.parts[0].plane);
        let excluded = self.dies[die].excluded()[1];
        for plane in self.geometry.planes_of(die).filter(|&p| p != lead && p != excluded) {
            if let Some(joining) = named(&self.view_for_builders(die), command.parts(), plane) {
                if self.scheme.settings.compose.aligns {
                    self.skip_to(plane, joining.write_point, self.geometry.block_and_offset(command.parts[0].page).1);
                }
                self.bind_write(die, (plane, joining.write_point), joining.txn, command, now_ns);
            }
        }
    }

    /// Adds queued writes to a program of a collection. `is_paired`: the program is in the block that its plane has set
    /// apart for paired programs.
    pub(in crate::ssd) fn join_collection_program(
        &mut self,
        die: DieId,
        command: &mut Command,
        is_paired: bool,
        now_ns: u64,
    ) {
        // If collections are preemptible, writes that may not preempt may not join as partners either: both take free
        // blocks.
        if self.scheme.preemption.is_preemptive() && self.collection_state(die) != State::AllAllowed {
            return;
        }
        // Binding the moves may have queued a write of parity to a plane whose register holds a page of a read.
        let held = self.flash.planes_held(die);
        for at in 0..self.scheme.settings.compose.gc_builders.len() {
            let builder = self.scheme.settings.compose.gc_builders[at];
            self.join_writes(die, command, now_ns, |view, parts, plane| {
                let is_free = !held.contains(&plane);
                is_free.then(|| builder.write(view, parts, plane, is_paired)).flatten()
            });
        }
    }

    // ---- the command ------------------------------------------------------------------------------------------------

    /// Issues a command.
    pub(in crate::ssd) fn issue(&mut self, die: DieId, command: &Command, events: &mut EventQueue) {
        let reserved_by = self.dies[die].reserved_by();
        if reserved_by.is_some() && command.job != reserved_by {
            self.check_between_steps(die, command);
        }
        self.issue_in_parts(die, command, events);
    }

    /// Issues a command of one page that serves a transaction, and the transactions on its list. Most commands of the
    /// host are of this kind; they are made in place (`Command::set_page`).
    #[inline(always)]
    pub(in crate::ssd) fn issue_page(&mut self, die: DieId, op: FlashOp, part: CommandPlane, events: &mut EventQueue) {
        let source = self.txns[part.txn].role.source();
        let is_in_place = self.scheme.settings.issues_pages_in_place
            && source == Source::HOST
            && self.dies[die].reserved_by().is_none();
        if !is_in_place {
            return self.issue_composed_page(die, op, part, events);
        }
        let follows = self.flash.issue_page(die, op, source, part, events);
        self.notify_die_search(die);
        self.records.counters.on_host_page(op, follows);
    }

    #[inline(never)]
    fn issue_composed_page(&mut self, die: DieId, op: FlashOp, part: CommandPlane, events: &mut EventQueue) {
        let source = self.txns[part.txn].role.source();
        let mut command = Command::new(op, source, JobId::NONE, events.now_ns());
        command.push(part);
        self.issue(die, &command, events);
    }

    /// Issues a command that was checked; if the device splits commands, only the first part.
    pub(in crate::ssd) fn issue_in_parts(&mut self, die: DieId, command: &Command, events: &mut EventQueue) {
        if self.dies.splits_commands() {
            let first = self.keep_rest(die, command);
            return self.issue_whole(die, &first, events);
        }
        self.issue_whole(die, command, events);
    }

    /// Issues a command that the device takes as it is. What is added here belongs in `issue_page`, too, or excludes it
    /// (`issues_pages_in_place`).
    fn issue_whole(&mut self, die: DieId, command: &Command, events: &mut EventQueue) {
        if self.flash.is_observed() {
            self.show_command(die, command, events.now_ns());
        }
        let follows = self.flash.issue(die, command, events);
        // Its pages are bound: fewer are kept for its job, so the die may be a better choice now.
        self.notify_die_search(die);
        let of_map = if self.looks_up() { self.partners_of_map(command) } else { 0 };
        self.records.counters.on_command(command, follows, of_map);
        if !self.gc.background.is_empty() {
            self.notify_tasks(command, events);
        }
        if command.source == Source::GC {
            let (_, page) = self.flash.geometry().block_and_offset(command.parts[0].page);
            let array_ns = self.flash.timing().page_ns(command.op, page);
            self.records.counters.on_gc_array_time(command, array_ns);
        }
    }

    /// Passes a command to the observers.
    #[cold]
    fn show_command(&mut self, die: DieId, command: &Command, now_ns: u64) {
        // Observers get only valid commands.
        self.flash.rules().check(self.flash.geometry(), command);
        self.check_row(command);
        let part = |(at, part): (usize, &CommandPlane)| {
            let txn = part.txn.is_some().then(|| &self.txns[part.txn]).filter(|txn| txn.job.is_none());
            // The first part of a job's command is charged to the job; other parts may belong to the host.
            let is_jobs = command.job.is_some() && at == 0;
            let source = txn.filter(|_| !is_jobs).map_or(command.source, |txn| txn.role.source());
            (part.plane, part.page, txn.map_or(RequestId::NONE, |txn| txn.request), source)
        };
        let parts: Vec<_> = command.parts().iter().enumerate().map(part).collect();
        let at = self.flash.next_place(die);
        if let Some(observer) = self.flash.observer() {
            observer.on_command(&Issued { die, at, op: command.op, now_ns, parts: &parts });
        }
    }
}
