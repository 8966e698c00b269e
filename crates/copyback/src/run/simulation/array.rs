//! The layer between the host and the drives of an array: a volume, whose parts are issued to their drives and complete
//! there, and its timers.

use super::array_measures::Measures;
use super::{DELAY, MESSAGE, Member, POLL, REBUILD, Simulation};
use crate::array::coordination::{ArrayState, Controller, CoordinationConfig, DriveOrder, Message, Scope};
use crate::array::{ArrayConfig, Volume, grain_bytes};
use crate::host::config::Target;
use crate::host::splitter::Splitter;
use crate::observe::array_report::RoundTotals;
use crate::run::RunError;
use crate::sim::index::RequestId;
use crate::sim::queue::Timer;
use crate::ssd::drive::Completion;
use crate::ssd::gc::coordinated_drive::Report;
use copyback_workload::Request;

/// An array of a run.
pub(super) struct Array {
    pub volume: Volume,
    /// Whether requests name drives, and not the volume.
    pub names_drives: bool,
    /// The controllers that coordinate collections.
    pub controllers: Vec<Controller>,
    /// Whether their policy is notified when a part begins.
    observes_parts: bool,
    /// Controllers with messages in transit, a bit each.
    with_messages: u64,
    /// The time since which nothing is outstanding.
    idle_since_ns: Option<u64>,
    /// Whether controllers must still be notified that no request is left.
    is_quiet_unreported: bool,
    /// Its measures.
    pub measures: Measures,
}

impl Array {
    /// The drive on which a request begins, and the byte there.
    pub fn first_touched(&self, asked: &Request) -> (usize, u64) {
        if self.names_drives {
            return (asked.device as usize, asked.offset_bytes);
        }
        let layout = self.volume.layout();
        let place = layout.place(asked.offset_bytes);
        (layout.drive(place.stripe, place.member) as usize, layout.unit_start(place.stripe) + place.byte)
    }

    /// Controllers receive events that no drive reports.
    fn notify_controllers(&mut self, message: Message, now_ns: u64) {
        let state = ArrayState { now_ns, idle_since_ns: self.idle_since_ns };
        for (at, controller) in self.controllers.iter_mut().enumerate() {
            controller.on_message(message, state);
            self.with_messages |= 1 << at;
        }
    }

    /// Notifies the controller of a drive, if it has one, that a part begins on the drive.
    fn notify_part(&mut self, drive: u32, now_ns: u64) {
        let state = ArrayState { now_ns, idle_since_ns: self.idle_since_ns };
        if let Some(at) = self.controllers.iter().position(|controller| controller.has(drive)) {
            self.controllers[at].on_message(Message::Part(drive), state);
            self.with_messages |= 1 << at;
        }
    }

    /// A drive sends a report to its controller.
    fn post(&mut self, drive: u32, report: Report, now_ns: u64) {
        let at = self.controllers.iter().position(|controller| controller.has(drive));
        let at = at.expect("a coordinated drive has a controller");
        self.controllers[at].post(drive, report, now_ns);
        self.with_messages |= 1 << at;
    }
}

impl Simulation<'_> {
    /// Puts a volume over the drives. Before the run starts.
    pub fn form_array(&mut self, config: &ArrayConfig, coordination: &CoordinationConfig) {
        assert_eq!(self.members.len(), config.drives as usize, "drives of the array");
        let geometries = || self.back_ends().map(|drive| drive.geometry());
        let drive_bytes = geometries().map(|geometry| geometry.logical_bytes()).min().unwrap_or(0);
        let grain_bytes = grain_bytes(geometries().map(|geometry| u64::from(geometry.unit_bytes)));
        let volume = Volume::new(config, drive_bytes, grain_bytes, self.check);
        // Drives write parity and copies, too, which the host did not.
        self.counts_submitted |= volume.layout().is_protected();
        let names_drives = self.host.target == Target::Drive;
        if volume.rebuilds_drives() {
            self.events.schedule(REBUILD, 0);
        }
        let controllers = self.coordinate(config, coordination);
        if controllers.iter().any(|controller| controller.poll_every_ns().is_some()) {
            self.events.schedule(POLL, 0);
        }
        let measures = Measures::new(config.drives as usize);
        let observes_parts = controllers.iter().any(Controller::observes_parts);
        self.array = Some(Box::new(Array {
            volume,
            names_drives,
            controllers,
            observes_parts,
            with_messages: 0,
            idle_since_ns: Some(0),
            is_quiet_unreported: false,
            measures,
        }));
        (0..self.members.len()).for_each(|member| self.post_reports(member));
    }

    /// The totals of the controllers.
    pub fn rounds(&self) -> Option<RoundTotals> {
        let controllers = &self.array.as_ref()?.controllers;
        controllers.iter().map(Controller::totals).reduce(|a, b| a.zip(&b, |a, b| a + b))
    }

    /// Assigns the drives that can be coordinated to controllers.
    fn coordinate(&mut self, config: &ArrayConfig, coordination: &CoordinationConfig) -> Vec<Controller> {
        let Some(common) = coordination.common() else { return Vec::new() };
        let is_there = |drive: &u32| !config.failed.contains(drive) || config.rebuild.is_some();
        let coordinated: Vec<u32> = (0..config.drives).filter(is_there).filter(|&d| config.is_coordinated(d)).collect();
        for &drive in &coordinated {
            self.members[drive as usize].ssd.back_end_mut().obey(coordination.may_pause());
        }
        let sets: Vec<u64> = match common.scope {
            Scope::Array => vec![coordinated.iter().fold(0, |set, drive| set | 1 << drive)],
            Scope::Drive => coordinated.iter().map(|drive| 1 << drive).collect(),
        };
        let policy = || coordination.build().expect("drives are coordinated");
        sets.into_iter().map(|drives| Controller::new(policy(), &common, drives)).collect()
    }

    /// The volume, if there is one.
    pub fn volume(&self) -> Option<&Volume> {
        self.array.as_ref().map(|array| &array.volume)
    }

    /// Mapping units that the host can write.
    pub(super) fn addressable_units(&self) -> u64 {
        match &self.array {
            Some(array) if !array.names_drives => {
                let unit_bytes = self.back_ends().next().map_or(1, |drive| u64::from(drive.geometry().unit_bytes));
                array.volume.layout().capacity_bytes() / unit_bytes
            }
            _ => self.back_ends().map(|drive| u64::from(drive.geometry().logical_units)).sum(),
        }
    }

    fn array_mut(&mut self) -> &mut Array {
        self.array.as_mut().expect("there is an array")
    }

    /// Whether parts have begun that were not handed to their drives.
    #[inline]
    pub(super) fn has_parts(&self) -> bool {
        self.array.as_ref().is_some_and(|array| array.volume.has_parts())
    }

    /// Drives that collect now, a bit each, if needed.
    fn collecting(&self) -> u64 {
        if !self.array.as_ref().is_some_and(|array| array.volume.is_gc_aware()) {
            return 0;
        }
        let collects = |(at, member): (usize, &Member)| {
            let drive = member.ssd.back_end();
            // Paused collections delay no request; collections that wait for their dies soon will.
            let is_near = if drive.is_ordered_to_pause() { drive.dies_collecting() > 0 } else { drive.has_jobs() };
            u64::from(is_near) << at
        };
        self.members.iter().enumerate().map(collects).sum()
    }

    /// A request of the host begins, on the volume or on the drive that it names.
    #[inline(never)]
    pub(super) fn begin_on_volume(&mut self, asked: Request, arrival_ns: u64) -> Result<(), RunError> {
        let target = self.array_mut().names_drives.then_some(asked.device);
        let capacity_bytes = match target.map(|drive| self.members.get(drive as usize)) {
            None => self.array_mut().volume.layout().capacity_bytes(),
            Some(Some(member)) => member.ssd.back_end().geometry().logical_bytes(),
            Some(None) => return Err(self.no_such_drive(&asked)),
        };
        self.check_fits(&asked, capacity_bytes)?;
        let begun_at_ns = self.events.now_ns();
        let array = self.array_mut();
        // If a request follows another at once, the controllers were not notified of an idle time.
        let was_quiet = array.idle_since_ns.take().is_some() && !std::mem::take(&mut array.is_quiet_unreported);
        if was_quiet {
            array.notify_controllers(Message::Request, begun_at_ns);
        }
        let has_held = self.held_requests > 0;
        let was_held = has_held && self.members.iter().all(|member| arrival_ns < member.held_until_ns);
        let id = self.add(asked, arrival_ns, was_held);
        let (collecting, now_ns) = (self.collecting(), self.events.now_ns());
        let volume = &mut self.array.as_mut().expect("there is an array").volume;
        let due_ns = volume.begin(id, &self.requests[id], target, collecting, now_ns);
        if let Some(due_ns) = due_ns.filter(|_| !self.events.is_pending(DELAY)) {
            self.events.schedule(DELAY, due_ns);
        }
        self.begin_parts();
        Ok(())
    }

    /// Whether a part writes the host's data: neither parity nor another copy.
    #[inline(never)]
    pub(super) fn is_of_host(&self, part: RequestId) -> bool {
        self.volume().is_some_and(|volume| volume.part(part).is_data)
    }

    /// A timer of the array has expired.
    #[cold]
    pub(super) fn on_array_timer(&mut self, timer: Timer) {
        let (collecting, now_ns) = (self.collecting(), self.events.now_ns());
        let volume = &mut self.array_mut().volume;
        match timer {
            DELAY => {
                if let Some(due_ns) = volume.on_delay(collecting, now_ns) {
                    self.events.schedule(DELAY, due_ns);
                }
            }
            REBUILD => volume.on_rebuild_due(now_ns),
            POLL => self.poll(now_ns),
            _ => {}
        }
        self.begin_parts();
        // Messages are delivered after all events of this moment.
        self.needs_dispatch |= !self.array_mut().controllers.is_empty();
    }

    /// Controllers poll their drives as long as the host is active and events may still happen. If requests wait for
    /// something that never comes, the run must end, so that this is reported.
    fn poll(&mut self, now_ns: u64) {
        // A drive that empties its buffer or is rebuilt is not idle either.
        let serves = self.array_mut().idle_since_ns.is_some() && self.members.iter().any(|m| m.ssd.back_end().serves());
        let Self { array, members, .. } = self;
        let array = array.as_mut().expect("there is an array");
        if serves {
            array.idle_since_ns = Some(now_ns);
        }
        array.notify_controllers(Message::Poll, now_ns);
        for drive in 0..members.len() as u32 {
            if array.controllers.iter().any(|controller| controller.asks_levels() && controller.has(drive)) {
                array.post(drive, members[drive as usize].ssd.back_end().above_middle(), now_ns);
            }
        }
        let controllers = &array.controllers;
        let every_ns = controllers.iter().filter_map(Controller::poll_every_ns).min();
        let has_messages = controllers.iter().any(|controller| controller.next_arrival_ns().is_some());
        let is_host_there = self.next.is_some() || self.requests.live() > 0;
        let may_go_on = is_host_there && (has_messages || self.events.has_events());
        if let Some(every_ns) = every_ns.filter(|_| may_go_on) {
            self.events.schedule(POLL, (now_ns / every_ns + 1) * every_ns);
        }
    }

    /// Sends the reports of the drives that were just dispatched to their controllers.
    #[inline(never)]
    pub(super) fn send_reports(&mut self) {
        for at in 0..self.dispatching.len() {
            let member = self.dispatching[at] as usize;
            self.post_reports(member);
            self.note_collecting(member);
        }
    }

    /// A drive may have started or stopped collecting.
    fn note_collecting(&mut self, member: usize) {
        let now_ns = self.events.now_ns();
        let dies = self.members[member].ssd.back_end().dies_collecting();
        self.array_mut().measures.note_collecting(member, dies, now_ns);
    }

    fn post_reports(&mut self, member: usize) {
        let now_ns = self.events.now_ns();
        while let Some(report) = self.members[member].ssd.back_end_mut().take_report() {
            self.array_mut().post(member as u32, report, now_ns);
        }
    }

    /// Messages that arrive now are handled; returns whether a drive got an order.
    #[inline(never)]
    pub(super) fn deliver(&mut self) -> bool {
        let now_ns = self.events.now_ns();
        let array = self.array_mut();
        if std::mem::take(&mut array.is_quiet_unreported) {
            array.notify_controllers(Message::Quiet, now_ns);
        }
        let mut has_ordered = false;
        let mut next_ns: Option<u64> = None;
        let mut left = array.with_messages;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            loop {
                let Array { controllers, idle_since_ns, measures, .. } = self.array_mut();
                let state = ArrayState { now_ns, idle_since_ns: *idle_since_ns };
                let next = controllers[at].next_order(state);
                controllers[at].take_ended_round().iter().for_each(|round| measures.note_round(round, now_ns));
                let Some((drive, order)) = next else { break };
                let (member, events) = (drive as usize, &mut self.events);
                let drive = self.members[member].ssd.back_end_mut();
                match order {
                    DriveOrder::Force(force) => drive.force(force, events),
                    DriveOrder::Pause(on_request) => drive.pause(on_request, self.events.now_ns()),
                }
                has_ordered = true;
                self.post_reports(member);
                self.note_collecting(member);
                self.totals.note(member);
                self.list_if_marked(member);
            }
            let array = self.array_mut();
            match array.controllers[at].next_arrival_ns() {
                Some(own_ns) => next_ns = Some(next_ns.map_or(own_ns, |ns| ns.min(own_ns))),
                None => array.with_messages &= !(1 << at),
            }
        }
        if let Some(due_ns) = next_ns {
            self.events.schedule(MESSAGE, due_ns);
        }
        has_ordered
    }

    /// No request is outstanding any more.
    #[inline(never)]
    pub(super) fn note_quiet(&mut self) {
        let now_ns = self.events.now_ns();
        let array = self.array_mut();
        array.idle_since_ns = Some(now_ns);
        // Controllers are notified after all events of this moment: another request may begin at once.
        array.is_quiet_unreported = !array.controllers.is_empty();
        self.needs_dispatch |= !self.array_mut().controllers.is_empty();
    }

    /// The host has no more requests: later work of the array serves no request.
    #[cold]
    #[inline(never)]
    pub(super) fn end_array(&mut self) {
        let Self { array, events, .. } = self;
        let Some(array) = array else { return };
        array.controllers.iter_mut().for_each(Controller::end);
        (array.with_messages, array.is_quiet_unreported) = (0, false);
        for timer in [MESSAGE, POLL, REBUILD] {
            if events.is_pending(timer) {
                events.cancel(timer);
            }
        }
    }

    /// Hands parts that have begun to their drives.
    pub(super) fn begin_parts(&mut self) {
        while let Some(id) = self.array.as_mut().and_then(|array| array.volume.next_part()) {
            let part = *self.volume().expect("there is a volume").part(id);
            let now_ns = self.events.now_ns();
            if let Some(array) = self.array.as_mut().filter(|array| array.observes_parts) {
                array.notify_part(part.drive, now_ns);
            }
            let member = &mut self.members[part.drive as usize];
            let geometry = member.ssd.back_end().geometry();
            let splitter = Splitter::new(&part.asked, geometry.unit_bytes, geometry.units_per_logical_page);
            member.ssd.begin(id, part.asked.arrival_ns, part.asked.priority, part.number);
            self.split_or_queue(part.drive as usize, id, splitter);
        }
        self.count_unplaced();
        self.needs_dispatch = !self.held.is_empty();
    }

    /// Counts the host's writes to failed drives as writes of the host.
    fn count_unplaced(&mut self) {
        let Some(array) = &mut self.array else { return };
        let bytes = array.volume.take_unplaced_bytes();
        if bytes > 0 {
            let unit_bytes = self.back_ends().next().map_or(1, |drive| u64::from(drive.geometry().unit_bytes));
            self.collector.written_units += bytes / unit_bytes;
        }
    }

    /// A drive completed a part.
    #[cold]
    #[inline(never)]
    pub(super) fn end_part(&mut self, completion: &Completion) {
        let (collecting, now_ns) = (self.collecting(), self.events.now_ns());
        let Array { volume, measures, .. } = self.array_mut();
        measures.note_part(volume.part(completion.request), now_ns);
        let Completion { request, gc_affected, breakdown_ns, .. } = completion;
        let ended = volume.on_part_end(*request, *gc_affected, breakdown_ns, collecting, now_ns);
        let (has_parts, rebuild_due_ns) = (volume.has_parts(), volume.take_rebuild_due());
        self.needs_dispatch |= has_parts;
        if let Some(ended) = ended {
            let Self { array, requests, .. } = self;
            let measures = &mut array.as_mut().expect("there is an array").measures;
            measures.note_request(&requests[ended.request], now_ns);
            self.end_request(ended.request, ended.gc_affected, &ended.breakdown_ns);
            if self.requests.live() == 0 {
                self.note_quiet();
            }
        }
        // A rebuild serves no request once the host is done.
        if let Some(due_ns) = rebuild_due_ns.filter(|_| self.next.is_some() || self.requests.live() > 0) {
            self.events.schedule(REBUILD, due_ns);
        }
    }
}
