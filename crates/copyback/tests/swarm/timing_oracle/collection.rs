//! How planes collect. Free blocks are opened in the order in which they were erased, and one is kept for moves. A job
//! has its die from its first command to its last.

use super::commands::PlanePart;
use super::known::{BlocksOfPlane, granularity_of, trigger_of};
use super::{Oracle, Place};
use copyback::config::ShareOrCount;
use copyback::ftl::frontier::FrontierConfig;
use copyback::ftl::victim::VictimConfig;
use copyback::observe::report::GcEvent;
use copyback::run::config::RunConfig;
use copyback::tasks::gc::trigger::watermark::{Collections, Count, When};
use std::collections::HashMap;

/// The source of a programmed page.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stream {
    Host,
    Move,
}

/// A plane's blocks, and the requests that need pages of it.
pub(super) struct Plane {
    /// Erased blocks, the next one to be opened first.
    pub free: Vec<usize>,
    /// Blocks that are being filled and their next pages.
    pub open: [Option<(usize, usize)>; 2],
    /// Which of them is set apart for paired programs.
    pub apart: Option<usize>,
    full: Vec<usize>,
    pages_per_block: usize,
    /// Whether the second open block takes moves only.
    has_split_blocks: bool,
    /// Whether pages are counted at all; else there is always another.
    is_limited: bool,
    has_job: bool,
    /// Whether collection waits for a request.
    waits_for_request: bool,
    /// Pages reserved for writes in their die's queue.
    pub reserved: usize,
    /// Writes that wait for a page.
    pub waiting: Vec<usize>,
}

/// A collection. Moves are units and their places when the collection began.
pub(super) struct Job {
    pub sequence: usize,
    pub plane: usize,
    collection: Option<GcEvent>,
    pub to_read: Vec<(usize, Place)>,
    in_controller: Vec<(usize, Place)>,
    /// Units that were programmed.
    pub programmed: usize,
    /// Whether anything went before one of its steps.
    pub was_preempted: bool,
    /// Whether requests went with its commands.
    pub was_paired: bool,
}

/// What a collection does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Read,
    Program,
    Erase,
}

impl Plane {
    /// A plane with these blocks.
    pub fn new(config: &RunConfig, is_limited: bool, blocks: BlocksOfPlane) -> Self {
        let BlocksOfPlane { free, open, apart, full } = blocks;
        Self {
            free,
            open,
            apart,
            full,
            pages_per_block: config.geometry.pages_per_block as usize,
            has_split_blocks: matches!(config.frontier, FrontierConfig::Split(_)),
            is_limited,
            has_job: false,
            waits_for_request: false,
            reserved: 0,
            waiting: Vec::new(),
        }
    }

    /// The block and page that the next program into an open block will take.
    pub fn peek(&self, at: usize) -> Option<(usize, usize)> {
        self.open[at].or_else(|| Some((*self.free.first()?, 0)))
    }

    /// The block and page that the next program takes.
    pub fn next_page(&mut self, at: usize) -> (usize, usize) {
        let (block, page) = self.open[at].unwrap_or_else(|| (self.free.remove(0), 0));
        if !self.is_limited && self.free.is_empty() {
            // A number that no block of the drive has.
            self.free.push(block.max(1 << 20) + 1);
        }
        self.open[at] = Some((block, page + 1));
        if page + 1 == self.pages_per_block {
            self.open[at] = None;
            self.apart = self.apart.filter(|&apart| apart != at);
            self.full.push(block);
        }
        (block, page)
    }

    /// Whether the plane has fewer free blocks than `blocks`, or fewer pages than these have.
    pub fn is_below(&self, blocks: usize, count: Count) -> bool {
        let in_open: usize = self.open.iter().flatten().map(|(_, page)| self.pages_per_block - page).sum();
        match count {
            Count::Blocks => self.free.len() < blocks,
            Count::Pages => self.free.len() * self.pages_per_block + in_open < blocks * self.pages_per_block,
        }
    }

    /// Pages that the host may still program: one free block is kept for moves.
    fn host_pages(&self) -> usize {
        let for_host = if self.has_split_blocks { &self.open[..1] } else { &self.open[..] };
        let in_open: usize = for_host.iter().flatten().map(|(_, page)| self.pages_per_block - page).sum();
        self.free.len().saturating_sub(1) * self.pages_per_block + in_open
    }
}

impl Oracle<'_> {
    /// Pages of a plane that can be reserved for another write.
    pub(super) fn reservable(&self, plane: usize) -> usize {
        let p = &self.planes[plane];
        if !p.is_limited {
            return usize::MAX;
        }
        let die = plane / self.config.geometry.planes_per_die as usize;
        let job = self.dies[die].reserved_by.as_ref().filter(|job| job.plane == plane);
        let moves = job.map_or(0, |job| job.to_read.len() + job.in_controller.len());
        let own = moves.div_ceil(self.config.geometry.units_per_page() as usize);
        p.host_pages().saturating_sub(own).saturating_sub(p.reserved)
    }

    /// Writes wait for space: once no page is left, their plane is collected, if that frees a page.
    pub(super) fn collect_for_space(&mut self, plane: usize) {
        if self.planes[plane].host_pages() == 0 && !self.planes[plane].has_job && self.is_reclaimable(plane) {
            self.start_job(plane);
        }
    }

    fn is_reclaimable(&self, plane: usize) -> bool {
        let per_page = self.config.geometry.units_per_page() as usize;
        let per_block = per_page * self.planes[plane].pages_per_block;
        let valid = self.count_valid_units(plane);
        self.planes[plane].full.iter().any(|block| valid.get(block).unwrap_or(&0) + per_page <= per_block)
    }

    /// How much valid data each block of a plane has; blocks without any are missing.
    fn count_valid_units(&self, plane: usize) -> HashMap<usize, usize> {
        let mut counts = HashMap::new();
        self.place_of.values().filter(|place| place.plane == plane).for_each(|place| {
            *counts.entry(place.block).or_default() += 1;
        });
        counts
    }

    /// The valid data of a block, in the order of the places.
    fn valid_units(&self, plane: usize, block: usize) -> Vec<(usize, Place)> {
        let is_there = |place: &Place| place.plane == plane && place.block == block;
        let mut valid: Vec<(usize, Place)> =
            self.place_of.iter().filter(|(_, place)| is_there(place)).map(|(&unit, &place)| (unit, place)).collect();
        valid.sort_by_key(|&(_, place)| place);
        valid
    }

    /// A page of the plane was bound for the host: admits requests that wait for one, as far as pages suffice, and
    /// starts a collection if the watermark requires it.
    pub(super) fn page_was_taken(&mut self, plane: usize) {
        if !self.planes[plane].is_limited {
            return;
        }
        self.let_waiting_in(plane);
        let trigger = trigger_of(self.config);
        self.collect_below(plane, trigger.soft);
    }

    /// Starts the collection of a plane that is below a watermark. If the trigger waits for requests, the collection
    /// starts only when a request waits at the die.
    fn collect_below(&mut self, plane: usize, watermark: ShareOrCount) {
        let trigger = trigger_of(self.config);
        let g = &self.config.geometry;
        // The watermarks of a die's planes may lie apart.
        let above = (plane as u32 % g.planes_per_die) * trigger.stagger;
        let blocks = (watermark.of(g.blocks_per_plane) + above) as usize;
        if self.planes[plane].has_job || !self.planes[plane].is_below(blocks, trigger.count) {
            return;
        }
        self.planes[plane].waits_for_request = trigger.when == When::Waiting && !self.has_waiting(plane);
        if !self.planes[plane].waits_for_request {
            self.start_job(plane);
        }
    }

    /// Whether a transaction waits at the die of a plane: in a queue, for a slot of the window, or for space.
    fn has_waiting(&self, plane: usize) -> bool {
        let die = plane / self.config.geometry.planes_per_die as usize;
        let d = &self.dies[die];
        let for_space = self.planes_of(die).any(|plane| !self.planes[plane].waiting.is_empty());
        d.is_arriving || for_space || [&d.reads, &d.writes, &d.outside].iter().any(|queue| !queue.is_empty())
    }

    /// A transaction arrives at a die: starts a collection that waited for one, if the plane is still below its stop
    /// watermark.
    pub(super) fn collect_for_request(&mut self, die: usize) {
        let trigger = trigger_of(self.config);
        self.dies[die].is_arriving = true;
        for plane in self.planes_of(die) {
            if std::mem::take(&mut self.planes[plane].waits_for_request) {
                self.collect_below(plane, trigger.stop.unwrap_or(trigger.soft));
            }
        }
        self.dies[die].is_arriving = false;
    }

    fn let_waiting_in(&mut self, plane: usize) {
        while self.reservable(plane) > 0 && !self.planes[plane].waiting.is_empty() {
            let txn = self.planes[plane].waiting.remove(0);
            self.admit(txn);
        }
        if !self.planes[plane].waiting.is_empty() {
            self.collect_for_space(plane);
        }
    }

    /// Time to choose a victim. If reads wait for the plane's partners, the policy `read-match` scans them for each
    /// block that has the fewest valid units.
    fn choice_ns(&self, die: usize, plane: usize) -> u64 {
        let VictimConfig::ReadMatch(params) = &self.config.victim else { return 0 };
        let waiting = self.dies[die].reads.iter().take(self.gc_scan_max());
        let mut places = waiting.filter_map(|&txn| self.place_of.get(&self.txns[txn].units[0]));
        if !places.any(|place| self.partners(plane).contains(&place.plane)) {
            return 0;
        }
        let valid = self.count_valid_units(plane);
        let full: Vec<usize> = self.planes[plane].full.iter().map(|b| valid.get(b).copied().unwrap_or(0)).collect();
        let fewest = full.iter().min();
        let candidates = full.iter().filter(|&valid| Some(valid) == fewest).count().min(params.candidates as usize);
        candidates as u64 * params.scan.0
    }

    fn start_job(&mut self, plane: usize) {
        let sequence = self.sequences;
        self.sequences += 1;
        self.planes[plane].has_job = true;
        let job = Job {
            sequence,
            plane,
            collection: None,
            to_read: Vec::new(),
            in_controller: Vec::new(),
            programmed: 0,
            was_preempted: false,
            was_paired: false,
        };
        let die = plane / self.config.geometry.planes_per_die as usize;
        self.dies[die].waiting_jobs.push(job);
        self.change(die);
    }

    /// The job gets its die, and the block that the drive's collection took here at this moment.
    ///
    /// # Panics
    /// If the drive began no collection here, although a collection would free a page.
    pub(super) fn begin_job(&mut self, die: usize) {
        let mut job = self.dies[die].waiting_jobs.remove(0);
        self.dies[die].inside += 1;
        let is_this =
            |collection: &GcEvent| collection.plane as usize == job.plane && collection.start_ns == self.now_ns;
        let Some(at) = self.given.iter().position(is_this) else {
            let (plane, now_ns) = (job.plane, self.now_ns);
            assert!(
                !self.is_reclaimable(plane),
                "the oracle predicts a collection of plane {plane} at {now_ns} ns; the drive began none"
            );
            self.release_job(die, &job);
            return;
        };
        let given = self.given.remove(at);
        let block = (given.block % self.config.geometry.blocks_per_plane) as usize;
        self.dies[die].choice_ns = self.choice_ns(die, job.plane);
        job.to_read = self.valid_units(job.plane, block);
        let plane = &mut self.planes[job.plane];
        plane.full.retain(|&full| full != block);
        let (units_valid, free_blocks) = (job.to_read.len() as u32, plane.free.len() as u32);
        job.collection = Some(GcEvent { start_ns: self.now_ns, die: die as u32, units_valid, free_blocks, ..given });
        let plane = job.plane;
        self.dies[die].came_before_collection = self.sequences;
        self.dies[die].reserved_by = Some(job);
        self.set_blocks_apart(plane);
        self.fill_window(die);
    }

    /// What the collection of a die does next: a page's worth of units that were read is programmed, else the next page
    /// is read, and the block is erased when all were moved.
    pub(super) fn step_of(&self, die: usize) -> Step {
        let job = self.dies[die].reserved_by.as_ref().expect("a job has the die");
        let is_full = job.in_controller.len() >= self.config.geometry.units_per_page() as usize;
        if !is_full && job.to_read.iter().any(|(unit, place)| self.place_of.get(unit) == Some(place)) {
            Step::Read
        } else if !job.in_controller.is_empty() {
            Step::Program
        } else {
            Step::Erase
        }
    }

    /// The next step when the controller evaluates it: units that the host has trimmed or written meanwhile are not
    /// read.
    pub(super) fn next_step(&mut self, die: usize) -> Step {
        let job = self.dies[die].reserved_by.as_mut().expect("a job has the die");
        if job.in_controller.len() < self.config.geometry.units_per_page() as usize {
            // Drops stale units up to the end of the next page. Later ones stay: `reservable` counts them.
            let is_there = |(unit, place): &(usize, Place)| self.place_of.get(unit) == Some(place);
            let stale = job.to_read.iter().take_while(|m| !is_there(m)).count();
            job.to_read.drain(..stale);
            if let Some(&(_, next)) = job.to_read.first() {
                job.to_read.retain(|m| !m.1.is_in_page_of(next) || is_there(m));
            }
        }
        self.step_of(die)
    }

    pub(super) fn take_step(&mut self, die: usize) {
        match self.next_step(die) {
            Step::Read => {
                self.put_wanted_first(die);
                self.next_step(die);
                self.read_for_collection(die);
            }
            Step::Program => self.program_for_collection(die),
            Step::Erase => self.start_erase(die),
        }
    }

    fn read_for_collection(&mut self, die: usize) {
        let job = self.dies[die].reserved_by.as_mut().expect("a job has the die");
        let first = job.to_read[0].1;
        let count = job.to_read.iter().take_while(|(_, place)| place.is_in_page_of(first)).count();
        let units: Vec<(usize, Place)> = job.to_read.drain(..count).collect();
        if granularity_of(self.config).copyback {
            let plane = job.plane;
            let at = self.block_alone(plane, Stream::Move);
            let page = self.place_moves(die, &units, at).page;
            self.start_copyback(die, page);
        } else {
            job.in_controller.extend(units);
            let mut parts = vec![PlanePart { units: count, txns: Vec::new() }];
            let partner_planes = self.planes_of_partners(die, first);
            parts.extend(self.reads_with_collection(die, first));
            self.start_read(die, true, first, parts);
            self.dies[die].commands.last_mut().expect("a read has begun").partner_planes = partner_planes;
        }
    }

    fn program_for_collection(&mut self, die: usize) {
        let per_page = self.config.geometry.units_per_page() as usize;
        let job = self.dies[die].reserved_by.as_mut().expect("a job has the die");
        let count = job.in_controller.len().min(per_page);
        let units: Vec<(usize, Place)> = job.in_controller.drain(..count).collect();
        let plane = job.plane;
        if self.planes[plane].apart.is_none() {
            self.set_blocks_apart(plane);
        }
        let (at, is_apart) = self.block_for_collection(plane, &self.partners_in_wait(plane));
        let served = self.take_served_writes(die, &units);
        let has_served = !served.is_empty();
        let place = self.place_moves(die, &units, at);
        let (mut planes, mut parts) = (Vec::new(), vec![PlanePart { units: per_page, txns: served }]);
        for (plane, part) in self.writes_with_collection(die, place, is_apart) {
            planes.push(plane);
            parts.push(part);
        }
        self.start_program(die, true, place.page, parts);
        planes.into_iter().for_each(|plane| self.page_was_taken(plane));
        if has_served {
            // They give back the pages that were reserved for them.
            self.page_was_taken(plane);
        }
    }

    /// The units that the next program of the collection of a die will hold.
    pub(super) fn next_to_program(&self, die: usize) -> &[(usize, Place)] {
        let per_page = self.config.geometry.units_per_page() as usize;
        let held = &self.dies[die].reserved_by.as_ref().expect("a job has the die").in_controller;
        &held[..held.len().min(per_page)]
    }

    /// The place of the next page that the collection of a die reads.
    pub(super) fn next_to_read(&self, die: usize) -> Place {
        self.dies[die].reserved_by.as_ref().expect("a job has the die").to_read[0].1
    }

    /// Binds a page for moved units; units that were trimmed meanwhile are stale there.
    fn place_moves(&mut self, die: usize, units: &[(usize, Place)], at: usize) -> Place {
        let job = self.dies[die].reserved_by.as_mut().expect("a job has the die");
        job.programmed += units.len();
        let plane = job.plane;
        let (block, page) = self.planes[plane].next_page(at);
        self.bound.push((plane, block));
        for (offset, (unit, from)) in units.iter().enumerate() {
            if self.place_of.get(unit) == Some(from) {
                self.place_of.insert(*unit, Place { plane, block, page, offset });
            }
        }
        Place { plane, block, page, offset: 0 }
    }

    /// The block is erased.
    pub(super) fn end_job(&mut self, die: usize) {
        self.dies[die].defers = self.will_defer(die);
        self.dies[die].waited_before = self.dies[die].came_before_collection;
        let job = self.dies[die].reserved_by.take().expect("a job has the die");
        let collection = job.collection.expect("it has a block");
        self.planes[job.plane].free.push((collection.block % self.config.geometry.blocks_per_plane) as usize);
        self.result.of_kinds.preempted += u64::from(job.was_preempted);
        self.result.of_kinds.paired += u64::from(job.was_paired);
        self.result.collections.push(GcEvent { end_ns: self.now_ns, ..collection });
        self.release_job(die, &job);
    }

    fn release_job(&mut self, die: usize, job: &Job) {
        self.planes[job.plane].has_job = false;
        let trigger = trigger_of(self.config);
        if job.collection.is_some() && trigger.collections == Collections::UntilStop {
            self.collect_below(job.plane, trigger.stop.unwrap_or(trigger.soft));
        }
        self.free_slot(die);
        self.let_waiting_in(job.plane);
    }
}
