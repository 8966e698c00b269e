//! The next command of a die, and its pages.

use super::collection::Stream;
use super::commands::{PlanePart, Takes};
use super::known::compose_of;
use super::{Oracle, Place};
use copyback::dispatch::compose::list::BuilderName;
use copyback::dispatch::order::OrderConfig;
use copyback::dispatch::order::priority::{First, NextCollection};

impl Oracle<'_> {
    /// A die takes the next command, if it can. Returns whether another decision may follow.
    pub(super) fn take_command(&mut self, number: usize) -> bool {
        let takes = self.takes(number);
        if takes == Takes::Nothing {
            return self.suspend_or_resume(number);
        }
        if self.dies[number].reserved_by.is_some() {
            return self.step_or_preempt(number, takes);
        }
        if self.dies[number].defers && self.serve_urgent(number, takes) {
            return true;
        }
        let die = &self.dies[number];
        let came = |queue: &[usize]| queue.first().map(|&txn| self.txns[txn].sequence);
        let job = die.waiting_jobs.first().filter(|_| self.has_slot(number) && !die.defers).map(|job| job.sequence);
        let heads = [job, came(&die.reads), came(&die.writes)];
        let in_turn = if let OrderConfig::Priority(p) = &self.config.order {
            let classes = match p.first {
                First::GcReadWrite => [0, 1, 2],
                First::ReadGcWrite => [1, 0, 2],
                First::ReadWriteGc => [1, 2, 0],
                First::Read if heads[2] < heads[0] && heads[2].is_some() => [1, 2, 0],
                First::Read => [1, 0, 2],
            };
            let is_put_off = p.next_collection == NextCollection::AfterWaiting && job.is_some();
            // Requests that waited during all of the last collection precede the next.
            let waited = |class: &usize| heads[*class].is_some_and(|came| came < die.waited_before);
            let waited = classes.into_iter().filter(|&class| is_put_off && class != 0).find(waited);
            waited.or_else(|| classes.into_iter().find(|&class| heads[class].is_some()))
        } else {
            let first = heads.iter().flatten().min();
            [0, 1, 2].into_iter().find(|&class| heads[class].is_some() && heads[class].as_ref() == first)
        };
        match (in_turn, takes) {
            (Some(0), Takes::Anything) => self.begin_job(number),
            (Some(1), Takes::Anything | Takes::Read) => self.issue_read(number, self.dies[number].reads[0]),
            (Some(2), Takes::Anything | Takes::Program) => self.issue_write(number, self.dies[number].writes[0]),
            // The next request cannot follow the command in progress: it waits.
            _ => return false,
        }
        true
    }

    pub(super) fn planes_of(&self, die: usize) -> std::ops::Range<usize> {
        let count = self.config.geometry.planes_per_die as usize;
        die * count..(die + 1) * count
    }

    // ---- reads ----------------------------------------------------------------------------------------------------

    pub(super) fn issue_read(&mut self, die: usize, txn: usize) {
        let Some((place, part)) = self.bind_read(die, txn) else { return };
        self.result.counts.page_reads += 1;
        let mut parts = vec![part];
        let compose = compose_of(self.config);
        if compose.builders.contains(&BuilderName::MultiPlane) {
            parts.extend(self.take_partner_reads(die, place, compose.scan_max as usize));
        }
        self.start_read(die, false, place, parts);
    }

    /// Leading units that were trimmed meanwhile are not read; units in another page become a read of their own. A read
    /// without remaining units ends.
    pub(super) fn bind_read(&mut self, die: usize, txn: usize) -> Option<(Place, PlanePart)> {
        self.dies[die].reads.retain(|&other| other != txn);
        let mut units = self.txns[txn].units.clone();
        while !units.is_empty() && !self.place_of.contains_key(&units[0]) {
            units.remove(0);
        }
        let Some(first) = units.first() else {
            self.txn_ends(txn);
            return None;
        };
        let place = self.place_of[first];
        let is_there = |unit: &&usize| self.place_of.get(unit).is_some_and(|p| p.is_in_page_of(place));
        let together = units.iter().take_while(is_there).count();
        let rest = units.split_off(together);
        if !rest.is_empty() {
            let other = self.add(self.txns[txn].request, true, rest);
            if let Some(write) = self.txns[txn].successor {
                self.open[self.txns[txn].request] -= 1;
                self.txns[other].successor = Some(write);
                self.txns[write].waits_for += 1;
            }
            self.dies[die].inside += 1;
            self.dies[die].reads.push(other);
        }
        Some((place, PlanePart { units: units.len(), txns: vec![txn] }))
    }

    /// Reads that join a read at `lead`: of the first `scan_max` in the queue, each that can share a command with
    /// `lead` and with all reads found before it.
    pub(super) fn take_partner_reads(&mut self, die: usize, lead: Place, scan_max: usize) -> Vec<PlanePart> {
        let found = self.partner_reads(die, lead, scan_max);
        self.result.counts.page_reads += found.len() as u64;
        found.into_iter().filter_map(|txn| Some(self.bind_read(die, txn)?.1)).collect()
    }

    pub(super) fn partner_reads(&self, die: usize, lead: Place, scan_max: usize) -> Vec<usize> {
        let (mut found, mut places) = (Vec::new(), vec![lead]);
        for &txn in self.dies[die].reads.iter().take(scan_max) {
            let Some(&place) = self.place_of.get(&self.txns[txn].units[0]) else { continue };
            let is_excluded = self.excludes_partner(die, place.plane, false);
            if !is_excluded && places.iter().all(|other| self.go_together(*other, place)) {
                found.push(txn);
                places.push(place);
            }
        }
        found
    }

    /// Whether two pages of a die may share a command.
    pub(super) fn go_together(&self, a: Place, b: Place) -> bool {
        let has_same_block = !self.config.commands.same_block || a.block == b.block;
        self.may_pair(a.plane, b.plane) && a.page == b.page && has_same_block
    }

    fn may_pair(&self, a: usize, b: usize) -> bool {
        let commands = &self.config.commands;
        let planes = self.config.geometry.planes_per_die as usize;
        let pair = ((a % planes).min(b % planes), (a % planes).max(b % planes));
        commands.multi_plane && pair.0 != pair.1 && (!commands.plane_pairs || [(0, 1), (2, 3)].contains(&pair))
    }

    /// Planes that may share a command with a plane.
    pub(super) fn partners(&self, plane: usize) -> Vec<usize> {
        let die = plane / self.config.geometry.planes_per_die as usize;
        self.planes_of(die).filter(|&other| self.may_pair(plane, other)).collect()
    }

    // ---- writes ---------------------------------------------------------------------------------------------------

    pub(super) fn issue_write(&mut self, die: usize, first: usize) {
        let plane = self.txns[first].plane;
        let at = self.block_alone(plane, Stream::Host);
        let (place, part) = self.fill_page(die, first, at);
        let (mut planes, mut parts) = (vec![plane], vec![part]);
        let compose = compose_of(self.config);
        if compose.builders.contains(&BuilderName::MultiPlane) {
            for (partner, part) in self.take_partner_writes(die, place, false, compose.scan_max as usize) {
                planes.push(partner);
                parts.push(part);
            }
        }
        self.start_program(die, false, place.page, parts);
        planes.into_iter().for_each(|plane| self.page_was_taken(plane));
    }

    /// Writes of other planes that join a program at `lead`: their planes' next pages have its offset, and each can
    /// share the command with all writes found before it.
    pub(super) fn take_partner_writes(
        &mut self,
        die: usize,
        lead: Place,
        is_apart: bool,
        scan_max: usize,
    ) -> Vec<(usize, PlanePart)> {
        let (mut found, mut places) = (Vec::new(), vec![lead]);
        for partner in self
            .planes_of(die)
            .filter(|&p| !self.excludes_partner(die, p, true) && !self.is_kept(die, p))
            .collect::<Vec<_>>()
        {
            let Some(at) = self.partner_block(partner, lead.page, is_apart) else { continue };
            let Some((block, page)) = self.planes[partner].peek(at) else { continue };
            let place = Place { plane: partner, block, page, offset: 0 };
            let first = self.first_write_for(die, partner, scan_max);
            if places.iter().all(|other| self.go_together(*other, place))
                && let Some(first) = first
            {
                found.push((partner, self.fill_page(die, first, at).1));
                places.push(place);
            }
        }
        found
    }

    pub(super) fn first_write_for(&self, die: usize, plane: usize, scan_max: usize) -> Option<usize> {
        let mut seen = self.dies[die].writes.iter().copied().take(scan_max);
        seen.find(|&write| self.txns[write].plane == plane)
    }

    /// A page of an open block takes a write and those for the same plane behind it that still fit.
    fn fill_page(&mut self, die: usize, first: usize, at: usize) -> (Place, PlanePart) {
        let compose = compose_of(self.config);
        let room = self.config.geometry.units_per_page() as usize;
        let plane = self.txns[first].plane;
        let (mut txns, mut used, mut next) = (Vec::new(), 0, Some(first));
        while let Some(write) = next.filter(|&write| used + self.txns[write].units.len() <= room) {
            used += self.txns[write].units.len();
            self.dies[die].writes.retain(|&other| other != write);
            txns.push(write);
            next = if used < room { self.first_write_for(die, plane, compose.scan_max as usize) } else { None };
        }
        self.planes[plane].reserved -= txns.len();
        self.result.counts.page_programs += 1;
        let (block, page) = self.planes[plane].next_page(at);
        self.bound.push((plane, block));
        let mut offset = 0;
        for &txn in &txns {
            let sequence = self.txns[txn].sequence;
            for unit in self.txns[txn].units.clone() {
                // A unit that a newer write or a trim has superseded is programmed all the same, and is stale.
                let newest = self.newest.entry(unit).or_insert(sequence);
                if *newest <= sequence {
                    *newest = sequence;
                    self.place_of.insert(unit, Place { plane, block, page, offset });
                }
                offset += 1;
            }
        }
        (Place { plane, block, page, offset: 0 }, PlanePart { units: room, txns })
    }
}
