//! Write ordering: of two concurrent writes of a unit, the later arrival is valid, in any order of binding.
//!
//! Writes of a unit stay in order if they wait in one queue. They may be bound in another order if dies are chosen
//! late; if a write of part of a unit waits for the read of the rest; or if some writes wait for space, and others for
//! a slot of the window. A write of high priority precedes others, and a write that a collection's program includes
//! whole precedes one that it includes in part. A trim, which takes effect at once, precedes every waiting write. From
//! the first such event, the drive remembers for each unit the newest write or trim that took effect, at the cost of
//! four bytes a unit.

use crate::sim::index::LogicalUnit;

/// A sequence is a write's position in the order of arrival. Those of concurrent writes differ by less than this: no
/// write waits while this many transactions end.
const APART_MAX: u32 = 1 << 30;
/// After this many sequences, the drive forgets writes that are older than every write still to be bound. Low halves of
/// the others are then unambiguous until the next time.
const FORGET_EVERY: u64 = 1 << 31;

/// The newest write of each unit.
pub struct Newest {
    /// Low half of the sequence of the newest write or trim of each unit; 0, which no sequence has, if there was none.
    /// Empty as long as all are in order.
    sequences: Vec<u32>,
    units: usize,
    /// When the drive forgets next. Invariant: no entry has this sequence or a later one.
    forget_at: u64,
}

impl Newest {
    /// A drive of `units` units on which all writes were bound in order so far.
    pub fn new(units: u32) -> Self {
        Self { sequences: Vec::new(), units: units as usize, forget_at: FORGET_EVERY }
    }

    /// From now on writes may be bound out of order.
    pub fn track(&mut self) {
        if self.sequences.is_empty() {
            self.sequences = vec![0; self.units];
        }
    }

    /// A write or a trim of a unit takes effect. Returns whether it is the newest so far.
    #[inline(always)]
    pub fn is_newest(&mut self, unit: LogicalUnit, sequence: u64) -> bool {
        if self.sequences.is_empty() {
            return true;
        }
        if sequence >= self.forget_at {
            self.forget_before(sequence);
        }
        let is_newest = self.would_be_newest(unit, sequence);
        if is_newest {
            self.sequences[unit.at()] = sequence as u32;
        }
        is_newest
    }

    /// Whether a write of a unit would be the newest so far, if it took effect now.
    pub fn would_be_newest(&self, unit: LogicalUnit, sequence: u64) -> bool {
        let newest = self.sequences.get(unit.at()).copied().unwrap_or(0);
        // Sequences are compared modulo 2^32, unless all entries are older.
        newest == 0
            || !(1..APART_MAX).contains(&newest.wrapping_sub(sequence as u32))
            || sequence >= self.forget_at + u64::from(APART_MAX)
    }

    /// Forgets the writes that are older than every write still to be bound. `sequence`: that of the write or trim that
    /// takes effect now.
    #[cold]
    fn forget_before(&mut self, sequence: u64) {
        let are_all_old = sequence >= self.forget_at + u64::from(APART_MAX);
        let is_old = |entry: u32| {
            are_all_old || {
                let apart = (sequence as u32).wrapping_sub(entry);
                apart.min(apart.wrapping_neg()) >= APART_MAX
            }
        };
        self.sequences.iter_mut().filter(|entry| is_old(**entry)).for_each(|entry| *entry = 0);
        self.forget_at = sequence + FORGET_EVERY;
    }

    /// Stops remembering: for tests of what then goes wrong.
    #[cfg(test)]
    pub fn forget(&mut self) {
        self.sequences.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_one_counts() {
        let mut newest = Newest::new(2);
        let (a, b) = (LogicalUnit(0), LogicalUnit(1));
        assert!(newest.is_newest(a, 7) && newest.is_newest(a, 3), "all are in order so far");
        newest.track();
        assert!(newest.is_newest(a, 7) && !newest.is_newest(a, 3) && newest.is_newest(a, 8));
        assert!(newest.is_newest(b, 1) && newest.is_newest(b, 2) && !newest.is_newest(b, 1));
    }

    #[test]
    fn round_the_corner_of_32_bits() {
        let mut newest = Newest::new(2);
        newest.track();
        let (a, b, corner) = (LogicalUnit(0), LogicalUnit(1), 1u64 << 32);
        assert!(newest.is_newest(a, corner + 5) && !newest.is_newest(a, corner - 5) && newest.is_newest(a, corner + 6));
        // A write of long ago does not count as one that is to come.
        assert!(newest.is_newest(b, 5) && newest.is_newest(b, 1 << 31) && newest.is_newest(b, (1 << 31) + corner / 2));
        // A unit that was never written has none.
        let mut newest = Newest::new(1);
        newest.track();
        assert!(newest.is_newest(a, corner - 1));
    }

    /// 2^32 sequences after a write of a unit, the low half of the sequence is that of the write again.
    #[test]
    fn a_write_of_long_ago_precedes_all_others() {
        let (a, b, corner) = (LogicalUnit(0), LogicalUnit(1), 1u64 << 32);
        for others in [&[][..], &[corner / 2 + 9], &[corner / 4, corner / 2 + 9, corner - 20]] {
            for apart in [corner - u64::from(APART_MAX), corner - 10, corner - 1, corner, 2 * corner - 10] {
                let mut newest = Newest::new(2);
                newest.track();
                assert!(newest.is_newest(a, 5));
                others.iter().for_each(|&sequence| assert!(newest.is_newest(b, sequence)));
                assert!(newest.would_be_newest(a, 5 + apart), "{apart} after {others:?}");
                assert!(newest.is_newest(a, 5 + apart), "{apart} after {others:?}");
                assert!(!newest.is_newest(a, 4 + apart), "the order of concurrent writes is kept");
            }
        }
    }
}
