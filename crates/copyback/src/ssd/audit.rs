//! Audits: the sums that a drive's records must match, checked periodically under `--check`, and always at the end of a
//! run.

use super::back_end::BackEnd;
use crate::ftl::frontier::Stream;
use crate::observe::clocks::Occupant;
use crate::sim::index::{JobId, PlaneId};
use crate::sim::invariant::{Invariant, broken, hold};

impl BackEnd {
    /// Compares all records with each other. Slow.
    ///
    /// # Panics
    /// If an invariant is broken; the message names it.
    pub fn check_all(&self) {
        if let Err(found) = self.ftl.check_all() {
            broken(Invariant::MapBothWays, format_args!("{found}"));
        }
        if let Err(found) = self.ftl.check_log_blocks() {
            broken(Invariant::LogBlocks, format_args!("{found}"));
        }
        self.check_stripes();
        self.check_reservations();
        self.check_moves_left();
        self.check_translation();
        self.check_clocks();
    }

    /// No clock of work runs at a die without work. Dies that are still to be visited at this moment are left out.
    ///
    /// # Panics
    /// If the invariant is broken.
    pub fn check_clocks(&self) {
        let at_rest = (Occupant::NoWork, false);
        for (id, die) in self.dies.numbered().filter(|(_, die)| !die.is_marked()) {
            let running = die.running_clock();
            let is_current = running == at_rest || self.occupant_of(id) != at_rest;
            hold!(is_current, ClocksCurrent, "{id:?} has no work, and its clock runs for {running:?}");
        }
    }

    /// The waiting work of each die that is not at rest, for the report of a run that is stuck.
    pub fn describe_waiting(&self) -> String {
        let mut text = String::new();
        for (id, d) in self.dies.numbered() {
            let die = id.0;
            if d.waiting() > 0 || !self.flash.is_ready(id) || d.is_reserved() {
                text += &format!(
                    "die {die}: {} transactions wait, {} of them for space; {} of {} slots are used; \
                     the die is reserved by {:?}; {} jobs wait; {}; ",
                    d.waiting(),
                    d.waiting_for_space(),
                    self.admission.control.windows().used(id),
                    self.admission.control.windows().slots(),
                    d.reserved_by(),
                    d.jobs_waiting(),
                    self.flash.describe(id)
                );
            }
        }
        text
    }

    /// Every page that is reserved for a host write exists, or a job is making it.
    fn check_reservations(&self) {
        self.check_room();
        for plane in (0..self.geometry.planes).map(PlaneId) {
            let reserved = self.admission.reservations.space().pages_reserved(plane);
            let left = self.ftl.pages_left(plane, Stream::Host);
            let is_collecting = self.gc.jobs.is_on(plane) || self.gc.relocations.is_relocating_on(plane);
            hold!(
                reserved <= left || is_collecting || !self.ftl.allocation().is_static(),
                ReservationsCovered,
                "{plane:?} reserved {reserved} pages and has {left}"
            );
        }
    }

    /// A collection's counts of pages left to move match its moves.
    fn check_moves_left(&self) {
        let begun = |id: JobId| id.is_some() && self.gc.jobs[id].beginning().is_some() && !self.is_merge(id);
        for plane in (0..self.geometry.planes).map(PlaneId) {
            let id = self.gc.jobs.of_plane(plane);
            if !begun(id) || !self.keeps_moves_left(id) {
                continue;
            }
            let job = &self.gc.jobs[id];
            let (kept, counted) = (job.pages_left_on(plane), job.count_pages_left_on(plane, &self.geometry));
            hold!(kept == counted, MovesCounted, "{id:?} has {counted} pages left on {plane:?}, its count is {kept}");
        }
    }

    /// The end of a run: everything is released, and the records agree. Visits every block once.
    ///
    /// # Panics
    /// If an invariant is broken; the message names it.
    pub fn check_end(&self, now_ns: u64) {
        self.check_all_returned();
        if let Err(found) = self.ftl.check_blocks() {
            broken(Invariant::BlocksAddUp, format_args!("{found}"));
        }
        self.check_programs();
        self.check_busy_times(now_ns);
    }

    fn check_all_returned(&self) {
        for (id, d) in self.dies.numbered() {
            let waiting = d.waiting() + d.reads_waiting() + d.high_priority_waiting() + d.waiting_for_space();
            let left = self.admission.control.windows().used(id) + waiting + d.jobs_waiting();
            let is_at_rest = self.flash.is_ready(id) && !d.is_reserved();
            hold!(left == 0 && is_at_rest, AllReturned, "{id:?} is not at rest: {}", self.describe_waiting());
        }
        let is_filling = self.host_side.filling.as_ref().is_some_and(|filling| !filling.is_at_rest());
        hold!(!is_filling, AllReturned, "a page that fills was never written");
        let is_processing = self.host_side.delays.as_ref().is_some_and(|delaying| !delaying.is_at_rest());
        hold!(!is_processing, AllReturned, "a request never left the firmware");
        let (pages, moves) = self.admission.reservations.space().totals();
        let promised = self.admission.reservations.promised().unwrap_or(pages + moves);
        hold!(
            pages + moves == promised,
            ReservationsCovered,
            "{promised} pages are promised, {pages} reserved and {moves} on their way"
        );
        hold!(self.is_parity_current(), AllReturned, "parity of a stripe was never written");
        let jobs = self.gc.jobs.planes_taken() + self.gc.relocations.count();
        let (txns, dies) = (self.txns.live(), self.dies.reserved());
        hold!(
            pages == 0 && moves == 0 && jobs == 0 && txns == 0 && dies == 0,
            AllReturned,
            "{pages} reserved pages, {moves} moves, {jobs} jobs, {txns} transactions, {dies} reserved dies are left"
        );
    }

    /// Compares four counts of programmed units: from the fill levels and erases of blocks, from the translation layer,
    /// from the work by purpose in the report, and from commands. Skipped pages fill blocks without a program.
    /// Collection that takes no time issues no commands.
    fn check_programs(&self) {
        let (counts, programmed_before) = (self.counts(), self.records.before.units_programmed());
        let by_counts = counts.host_units + counts.moved_units + counts.padding_units;
        let erased = counts.erases * u64::from(self.flash.geometry().units_per_block);
        let used = self.ftl.units_programmed() + erased - counts.unwritten_units - programmed_before;
        let by_blocks = used - counts.skipped_units;
        let w = self.records.counters.work();
        let by_purpose = w.host_units + w.gc_units + w.other_units + counts.padding_units;
        let pages = w.host_page_programs + w.gc_page_programs + w.other_page_programs;
        let by_commands = pages * u64::from(self.geometry.units_per_flash_page);
        let commands_agree = by_commands == by_counts || self.scheme.preemption.is_timeless();
        hold!(
            by_blocks == by_counts && by_purpose == by_counts && commands_agree,
            ProgramsAddUp,
            "units programmed: {by_blocks} by blocks and erases, {by_counts} by counts, {by_purpose} in the report, \
             {by_commands} by commands"
        );
        hold!(
            w.block_erases == counts.erases,
            ProgramsAddUp,
            "{} erases by commands, {} by counts",
            w.block_erases,
            counts.erases
        );
    }

    fn check_busy_times(&self, now_ns: u64) {
        let (planes_ns, dies_ns, channels_ns) = self.flash.busy_ns(now_ns);
        let g = self.flash.geometry();
        for (what, busy_ns, count) in
            [("planes", planes_ns, g.planes), ("dies", dies_ns, g.dies), ("channels", channels_ns, g.channels)]
        {
            hold!(
                u128::from(busy_ns) <= u128::from(now_ns) * u128::from(count),
                BusyTime,
                "{count} {what} were in use for {busy_ns} ns together, in {now_ns} ns"
            );
        }
    }
}
