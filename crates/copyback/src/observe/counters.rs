//! The counters of a drive. Only the drive changes them; extremes begin again when a measured part begins.

use super::report::{FlashWork, GcEvent};
use crate::flash::command::{Command, FlashOp, Source};
use crate::flash::source::Account;

/// Time and work that collection took.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcTotals {
    /// Victims collected.
    pub collections: u64,
    /// Valid units in them.
    pub units: u64,
    /// Sum of their times.
    pub time_ns: u128,
    /// Longest.
    pub max_ns: u64,
    /// Reads of the host that wait at the die when collection reads a page there: summed over those pages.
    pub reads_waiting_sum: u64,
    /// The most of them.
    pub reads_waiting_max: u32,
    /// Plane time in use on reserved dies.
    pub plane_busy_ns: u64,
    /// Time of die reservations.
    pub reserved_ns: u128,
    /// Array time of its reads, programs and erases, except commands that had their die to themselves.
    pub array_ns: [u64; 3],
    /// Pages of the commands in `array_ns`: read and programmed.
    pub array_pages: [u64; 2],
}

/// Writes that left the buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvictionTotals {
    /// Writes that are in flash.
    pub writes: u64,
    /// Sum of their times.
    pub time_ns: u64,
    /// Evictions that waited for collection.
    pub blocked: u64,
    /// Sum of their times.
    pub blocked_ns: u64,
    /// Pages by case: programmed alone, alone although others waited, together.
    pub pages: [u64; 3],
    /// Moments at which pages were sent to flash.
    pub moments: u64,
    /// Planes in use at each, summed.
    pub planes_sum: u64,
    /// The most of them.
    pub planes_max: u32,
    /// The last moment, and the planes in use then.
    last: Option<(u64, u32)>,
}

impl EvictionTotals {
    /// Each count of this less that of an earlier one; extremes are those since.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            writes: self.writes - earlier.writes,
            time_ns: self.time_ns - earlier.time_ns,
            blocked: self.blocked - earlier.blocked,
            blocked_ns: self.blocked_ns - earlier.blocked_ns,
            pages: std::array::from_fn(|case| self.pages[case] - earlier.pages[case]),
            moments: self.moments - earlier.moments,
            planes_sum: self.planes_sum - earlier.planes_sum,
            planes_max: self.planes_max,
            last: self.last,
        }
    }
}

/// Traffic of a map whose entries live in flash.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapTotals {
    /// Entries that transactions looked up.
    pub lookups: u64,
    /// Entries that were in DRAM when they were looked up.
    pub hits: u64,
    /// Translation pages read.
    pub page_reads: u64,
    /// Translation pages written.
    pub page_programs: u64,
    /// Translation pages written because a look-up evicted their changed entries.
    pub write_backs: u64,
    /// Translation pages written because entries of moved or written data were not in DRAM.
    pub updates: u64,
}

impl MapTotals {
    /// Combines each count with the same count of `other`.
    #[must_use]
    pub fn zip(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            lookups: with(self.lookups, other.lookups),
            hits: with(self.hits, other.hits),
            page_reads: with(self.page_reads, other.page_reads),
            page_programs: with(self.page_programs, other.page_programs),
            write_backs: with(self.write_backs, other.write_backs),
            updates: with(self.updates, other.updates),
        }
    }
}

/// How a page of the buffer was programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCase {
    /// By itself, and nothing for another plane waited.
    Single,
    /// By itself, although a write for another plane waited; or by itself, after it had waited while a write for
    /// another plane was programmed by itself.
    Unaligned,
    /// With pages of other planes.
    Parallel,
}

/// The counters of a drive.
#[derive(Default)]
pub struct Counters {
    work: FlashWork,
    gc: GcTotals,
    evictions: EvictionTotals,
    /// Collections, if kept.
    gc_events: Option<Vec<GcEvent>>,
}

impl Counters {
    /// Counters at zero. `keep_gc_events`: they keep a record of every collection.
    pub fn new(keep_gc_events: bool) -> Self {
        Self { gc_events: keep_gc_events.then(Vec::new), ..Self::default() }
    }

    /// Programs and reads so far.
    #[inline(always)]
    pub fn work(&self) -> &FlashWork {
        &self.work
    }

    /// Collection so far.
    #[inline(always)]
    pub fn gc(&self) -> &GcTotals {
        &self.gc
    }

    /// Writes of the buffer so far.
    pub fn evictions(&self) -> &EvictionTotals {
        &self.evictions
    }

    /// The collections that were kept.
    pub fn gc_events(&self) -> &[GcEvent] {
        self.gc_events.as_deref().unwrap_or_default()
    }

    /// A part of the run begins: the extremes, which no difference shows, count from now on, and the kept collections
    /// are discarded.
    pub fn restart_extremes(&mut self) {
        (self.gc.max_ns, self.gc.reads_waiting_max) = (0, 0);
        self.evictions.planes_max = 0;
        self.gc_events.iter_mut().for_each(Vec::clear);
    }

    // ---- commands ---------------------------------------------------------------------------------------------------

    /// A command is issued; `follows`: it follows another through the cache register. Its first page counts for its
    /// source, and so does each other page that serves no transaction. Of the other pages that serve a transaction,
    /// `of_map` count for the map, and the rest for the host.
    pub fn on_command(&mut self, command: &Command, follows: bool, of_map: u64) {
        let planes = u64::from(command.planes);
        let partners = command.parts().iter().skip(1).filter(|part| part.txn.is_some()).count() as u64;
        let (source, own) = (command.source, planes - partners);
        let (partners, is_collection) = (partners - of_map, source != Source::HOST && source != Source::MAP);
        self.work.cached_commands += u64::from(follows);
        match command.op {
            FlashOp::Read => {
                self.count_reads(source, own);
                self.count_reads(Source::HOST, partners);
                self.count_reads(Source::MAP, of_map);
                self.work.reads_paired_with_gc += if is_collection { partners } else { 0 };
            }
            FlashOp::Program => {
                self.count_programs(source, own);
                self.count_programs(Source::HOST, partners);
                self.count_programs(Source::MAP, of_map);
                self.work.programs_paired_with_gc += if is_collection { partners } else { 0 };
                if planes > 1 {
                    let hosts = if source == Source::HOST { planes } else { partners };
                    self.work.multi_plane_page_programs += planes;
                    self.work.host_multi_plane_page_programs += hosts;
                    self.work.gc_multi_plane_page_programs += if source == Source::GC { own } else { 0 };
                }
            }
            FlashOp::Copyback => {
                self.count_reads(source, planes);
                self.count_programs(source, planes);
                self.work.copybacks += planes;
            }
            // Its blocks are counted when it ends.
            FlashOp::Erase => {}
        }
        self.work.multi_plane_commands += u64::from(planes > 1);
    }

    /// A command of collection is issued that uses the array for `array_ns`.
    pub fn on_gc_array_time(&mut self, command: &Command, array_ns: u64) {
        let partners = command.parts().iter().skip(1).filter(|part| part.txn.is_some()).count() as u64;
        let own = u64::from(command.planes) - partners;
        match command.op {
            FlashOp::Read => self.count_array_time(0, own, array_ns),
            FlashOp::Program | FlashOp::Copyback => self.count_array_time(1, own, array_ns),
            FlashOp::Erase => self.gc.array_ns[2] += array_ns,
        }
    }

    fn count_array_time(&mut self, at: usize, pages: u64, array_ns: u64) {
        self.gc.array_ns[at] += array_ns;
        self.gc.array_pages[at] += pages;
    }

    /// A read or a program of one page of the host is issued; `follows`: it follows another through the cache register.
    #[inline(always)]
    pub fn on_host_page(&mut self, op: FlashOp, follows: bool) {
        self.work.cached_commands += u64::from(follows);
        match op {
            FlashOp::Read => self.work.host_page_reads += 1,
            FlashOp::Program => self.work.host_page_programs += 1,
            FlashOp::Erase | FlashOp::Copyback => unreachable!("the host has no {op:?}"),
        }
    }

    /// A read of one plane is issued, which has its die to itself.
    #[inline(always)]
    pub fn on_lone_read(&mut self, source: Source) {
        self.count_reads(source, 1);
    }

    /// A program of one plane is issued, which has its die to itself, with this many units that are moved.
    #[inline(always)]
    pub fn on_lone_program(&mut self, source: Source, units: u64) {
        // Asked once for both counts: nearly all lone programs are of collections.
        if source == Source::GC {
            self.on_moved_units(Source::GC, units);
            self.count_programs(Source::GC, 1);
        } else {
            self.on_moved_units(source, units);
            self.count_programs(source, 1);
        }
    }

    #[inline(always)]
    fn count_reads(&mut self, source: Source, pages: u64) {
        match source.account() {
            Account::Host => self.work.host_page_reads += pages,
            Account::Gc => self.work.gc_page_reads += pages,
            _ => self.work.other_page_reads += pages,
        }
    }

    #[inline(always)]
    fn count_programs(&mut self, source: Source, pages: u64) {
        match source.account() {
            Account::Host => self.work.host_page_programs += pages,
            Account::Gc => self.work.gc_page_programs += pages,
            _ => self.work.other_page_programs += pages,
        }
    }

    /// A block of each of this many planes is erased.
    pub fn on_erase(&mut self, planes: u8) {
        self.work.block_erases += u64::from(planes);
    }

    /// A task other than garbage collection has relocated blocks.
    pub fn on_relocated(&mut self, source: Source, blocks: u64) {
        self.work.blocks_relocated += blocks;
        match source.account() {
            Account::Scrub => self.work.blocks_relocated_by_scrub += blocks,
            Account::Wear => self.work.blocks_relocated_by_wear += blocks,
            _ => {}
        }
    }

    // ---- data -------------------------------------------------------------------------------------------------------

    /// Units of the host are bound.
    #[inline(always)]
    pub fn on_host_units(&mut self, units: u32) {
        self.work.host_units += u64::from(units);
    }

    /// `units` that were counted as the host's are the drive's own: translation pages, or parity.
    pub fn on_own_units(&mut self, units: u64) {
        self.work.host_units -= units;
        self.work.other_units += units;
    }

    /// Units are moved.
    #[inline(always)]
    pub fn on_moved_units(&mut self, source: Source, units: u64) {
        match source.account() {
            Account::Gc => self.work.gc_units += units,
            _ => self.work.other_units += units,
        }
    }

    /// Moves came too late: the host had written newer versions.
    pub fn on_dropped_moves(&mut self, moves: u32) {
        self.work.dropped_moves += u64::from(moves);
    }

    /// A page is read for a partial write.
    pub fn on_update_read(&mut self) {
        self.work.update_page_reads += 1;
    }

    /// A read of the host is served with a page that collection has read.
    pub fn on_merged_read(&mut self) {
        self.work.merged_reads += 1;
    }

    /// A write of the host goes into a program of collection.
    pub fn on_merged_write(&mut self) {
        self.work.merged_writes += 1;
    }

    // ---- the buffer -------------------------------------------------------------------------------------------------

    /// This many pages of the buffer are sent to flash, while this many planes are in use, theirs included.
    pub fn on_eviction(&mut self, case: WriteCase, pages: u8, planes_in_use: u32, now_ns: u64) {
        let totals = &mut self.evictions;
        totals.pages[case as usize] += u64::from(pages);
        // Of several commands at one moment, only the last one counts: it sees the planes of all of them.
        match totals.last.filter(|(last_ns, _)| *last_ns == now_ns) {
            Some((_, planes)) => totals.planes_sum -= u64::from(planes),
            None => totals.moments += 1,
        }
        totals.last = Some((now_ns, planes_in_use));
        totals.planes_sum += u64::from(planes_in_use);
        totals.planes_max = totals.planes_max.max(planes_in_use);
    }

    /// A write of the buffer reached flash, `time_ns` after its eviction began.
    pub fn on_evicted(&mut self, time_ns: u64, is_blocked: bool) {
        let totals = &mut self.evictions;
        totals.writes += 1;
        totals.time_ns += time_ns;
        if is_blocked {
            totals.blocked += 1;
            totals.blocked_ns += time_ns;
        }
    }

    // ---- collection -------------------------------------------------------------------------------------------------

    /// The controller polls a queue between two steps of a collection, and that takes time.
    pub fn on_queue_poll(&mut self) {
        self.work.queue_polls += 1;
    }

    /// A command of the host goes before a collection's next step.
    pub fn on_preemption(&mut self) {
        self.work.preemptions += 1;
    }

    /// A read of the host suspends a collection's program or erase.
    pub fn on_suspension(&mut self) {
        self.work.suspensions += 1;
    }

    /// Collection reads a page while this many reads of the host wait at its die.
    #[inline(always)]
    pub fn on_reads_waiting(&mut self, reads: u32) {
        self.gc.reads_waiting_sum += u64::from(reads);
        self.gc.reads_waiting_max = self.gc.reads_waiting_max.max(reads);
    }

    /// A plane was in use on a die that collection has.
    #[inline(always)]
    pub fn on_plane_busy(&mut self, busy_ns: u64) {
        self.gc.plane_busy_ns += busy_ns;
    }

    /// A die was reserved for collection for this time, or a block of it was collected alongside other work.
    pub fn on_die_reserved(&mut self, reserved_ns: u64) {
        self.gc.reserved_ns += u128::from(reserved_ns);
    }

    /// A collection ended.
    pub fn on_collection(&mut self, event: GcEvent) {
        let time_ns = event.end_ns - event.start_ns;
        self.gc.collections += 1;
        self.gc.units += u64::from(event.units_valid);
        self.gc.time_ns += u128::from(time_ns);
        self.gc.max_ns = self.gc.max_ns.max(time_ns);
        if let Some(events) = &mut self.gc_events {
            events.push(event);
        }
    }

    /// A block, or a row of blocks, was collected at once: pages read, pages programmed, units moved, blocks erased.
    pub fn on_timeless_collection(&mut self, pages_read: u32, pages_programmed: u32, units: u32, blocks: u32) {
        self.work.gc_page_reads += u64::from(pages_read);
        self.work.gc_page_programs += u64::from(pages_programmed);
        self.work.gc_units += u64::from(units);
        self.work.block_erases += u64::from(blocks);
        self.gc.collections += 1;
        self.gc.units += u64::from(units);
    }
}

#[cfg(test)]
impl Counters {
    pub(crate) fn inside(&mut self) -> &mut FlashWork {
        &mut self.work
    }
}
