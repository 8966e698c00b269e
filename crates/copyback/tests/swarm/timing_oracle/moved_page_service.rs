//! Collections that serve the host with the very pages that they move (ispass11 Section III-B).

use super::collection::Step;
use super::{Oracle, Place};
use copyback::dispatch::compose::GcBuilderName;

impl Oracle<'_> {
    fn serves_from_moves(&self) -> bool {
        self.has_gc_builder(GcBuilderName::Merge)
    }

    /// The place of the first unit of a transaction that holds data.
    fn place_of_txn(&self, txn: usize) -> Option<Place> {
        self.txns[txn].units.iter().find_map(|unit| self.place_of.get(unit).copied())
    }

    /// The page that a collection reads next because a read waits for it, or else a write: the first in the queue.
    fn wanted(&self, die: usize) -> Option<Place> {
        let (job, d) = (self.dies[die].reserved_by.as_ref()?, &self.dies[die]);
        let scan_max = self.gc_scan_max();
        let waiting = d.reads.iter().take(scan_max).chain(d.writes.iter().take(scan_max));
        let mut places = waiting.filter(|_| self.serves_from_moves()).filter_map(|&txn| self.place_of_txn(txn));
        places.find(|place| job.to_read.iter().any(|(_, pending)| pending.is_in_page_of(*place)))
    }

    /// Makes the wanted page the next one that the collection reads; if there is none, the order stays.
    pub(super) fn put_wanted_first(&mut self, die: usize) {
        let Some(wanted) = self.wanted(die) else { return };
        let job = self.dies[die].reserved_by.as_mut().expect("a collection has the die");
        let is_wanted = |(_, place): &(usize, Place)| place.is_in_page_of(wanted);
        let (first, others): (Vec<_>, Vec<_>) = job.to_read.iter().partition(|m| is_wanted(m));
        job.to_read = first.into_iter().chain(others).collect();
    }

    /// The page that the collection reads next.
    pub(super) fn page_to_read(&self, die: usize) -> Place {
        self.wanted(die).unwrap_or_else(|| self.next_to_read(die))
    }

    /// A page has reached the controller: reads that wait for it end.
    pub(super) fn serve_reads_of(&mut self, die: usize, page: Place) {
        if !self.serves_from_moves() {
            return;
        }
        let mut next = self.dies[die].reads.first().copied();
        for _ in 0..self.gc_scan_max() {
            let Some(txn) = next else { return };
            let at = self.dies[die].reads.iter().position(|&other| other == txn).expect("it is queued");
            // Requests that the end of a read admits are later, and may be served, too.
            next = self.dies[die].reads.get(at + 1).copied();
            if self.place_of_txn(txn).is_some_and(|place| place.is_in_page_of(page)) {
                self.bind_read(die, txn);
                self.result.counts.merged_reads += 1;
                self.txn_ends(txn);
            }
        }
    }

    /// Whether a write covers only units that these moves still hold, and is the newest write of each.
    fn is_held_by(&self, txn: usize, moves: &[(usize, Place)]) -> bool {
        let t = &self.txns[txn];
        let is_held =
            |unit: &usize| moves.iter().any(|(moved, from)| moved == unit && self.place_of.get(unit) == Some(from));
        let is_newest = |unit: &usize| self.newest.get(unit).is_none_or(|&newest| newest <= t.sequence);
        !t.is_read && t.units.iter().all(|unit| is_held(unit) && is_newest(unit))
    }

    /// Takes the writes that a program of moved data serves: the first write of each unit.
    pub(super) fn take_served_writes(&mut self, die: usize, moves: &[(usize, Place)]) -> Vec<usize> {
        if !self.serves_from_moves() {
            return Vec::new();
        }
        let mut served: Vec<usize> = Vec::new();
        for txn in self.dies[die].writes.iter().copied().take(self.gc_scan_max()).collect::<Vec<_>>() {
            let is_taken = |unit: &usize| served.iter().any(|&other| self.txns[other].units.contains(unit));
            if self.is_held_by(txn, moves) && !self.txns[txn].units.iter().any(is_taken) {
                served.push(txn);
            }
        }
        for &txn in &served {
            self.dies[die].writes.retain(|&other| other != txn);
            for unit in self.txns[txn].units.clone() {
                self.newest.insert(unit, self.txns[txn].sequence);
            }
            let plane = self.txns[txn].plane;
            self.planes[plane].reserved -= 1;
        }
        self.result.counts.merged_writes += served.len() as u64;
        served
    }

    /// Whether a transaction waits for this step, because the step will serve it.
    pub(super) fn will_be_merged(&self, die: usize, txn: usize, step: Step) -> bool {
        if !self.serves_from_moves() {
            return false;
        }
        match step {
            Step::Read => {
                let place = self.place_of_txn(txn);
                self.wanted(die).is_some_and(|wanted| place.is_some_and(|place| place.is_in_page_of(wanted)))
            }
            Step::Program => self.is_held_by(txn, self.next_to_program(die)),
            Step::Erase => false,
        }
    }
}
