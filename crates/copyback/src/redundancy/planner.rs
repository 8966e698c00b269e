//! The reads that are needed to write a part of a stripe, or to read an unavailable part: a function without state. It
//! serves stripes over the channels of a drive and over the drives of an array.
//!
//! In a stripe of `data` members and `parity` members, any `data` of them determine all others. Three plans write a
//! part: *read-modify-write* reads the old data of the written units and the parity; *reconstruct-write* reads the data
//! that is not written, or only in part; *decoding* reads any `data` available members, which determine everything. The
//! plan that reads least is taken, of equal plans the first of these; or the requested one ([`Partial`]).
//!
//! | level of RAID, of n drives | data | parity |
//! |---|---|---|
//! | 0 | n | 0 |
//! | 1, n copies; 10, each of its pairs | 1 | n - 1, each of which is the data once more |
//! | 5 | n - 1 | 1 |
//! | 6 | n - 2 | 2 |

use serde::{Deserialize, Serialize};

/// Members of a stripe, a bit each: data first, parity behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Members(pub u64);

impl Members {
    /// The first of them, at most 64.
    pub fn first(count: u32) -> Self {
        // For a count of 0 the shift would be by all 64 bits, which a shift cannot do.
        Self(u64::MAX.checked_shr(u64::BITS - count).unwrap_or(0))
    }

    /// This one.
    pub fn one(member: u32) -> Self {
        Self(1 << member)
    }

    /// How many.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it has this one.
    pub fn has(self, member: u32) -> bool {
        self.0 >> member & 1 == 1
    }

    /// The members, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let member = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(member)
        })
    }

    /// The members that are also in another set.
    #[must_use]
    pub fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The members that are not in another set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The members of this set and of another set.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<u32> for Members {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Self {
        members.into_iter().fold(Self::default(), |all, member| all.with(Self::one(member)))
    }
}

/// A stripe as its planner sees it.
#[derive(Clone, Copy, Debug)]
pub struct Stripe {
    /// Members of data, at most 64 with those of parity.
    pub data: u32,
    /// Members of parity.
    pub parity: u32,
    /// Members that cannot be read or written.
    pub unavailable: Members,
    /// Members that are known without a read: those in DRAM, and those that never held data.
    pub known: Members,
}

/// The plan for a write of part of a stripe. If it needs unavailable members, the possible plan that reads least
/// replaces it. A stripe that is written whole, and a mirror, need no reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partial {
    /// The one that reads least.
    #[default]
    Least,
    /// Reads the old data of the written units, and the parity.
    ReadModifyWrite,
    /// Reads the data that is not written.
    Reconstruct,
}

/// The written part of a stripe, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Members of data that are written.
    pub written: Members,
    /// The members that are written only in part: the rest of their content enters the new parity, too.
    pub in_part: Members,
    /// Which plan it takes.
    pub partial: Partial,
}

impl Write {
    /// A write of whole members that reads as little as it can.
    pub fn whole(written: Members) -> Self {
        Self { written, in_part: Members::default(), partial: Partial::Least }
    }
}

/// The reads before the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Members to read; those that are known are left out.
    pub reads: Members,
    /// Members to write.
    pub writes: Members,
}

/// The possible plan that reads least; of equal plans, the first.
fn fewest<const N: usize>(plans: [Option<Members>; N]) -> Option<Members> {
    plans.into_iter().flatten().min_by_key(|reads| reads.count())
}

impl Stripe {
    fn all_data(&self) -> Members {
        Members::first(self.data)
    }

    fn all(&self) -> Members {
        Members::first(self.data + self.parity)
    }

    /// Whether its parity is its data once more.
    fn is_mirror(&self) -> bool {
        self.data == 1
    }

    fn available(&self) -> Members {
        self.all().without(self.unavailable).with(self.known)
    }

    /// Reads of members that are all needed, if all are available.
    fn all_of(&self, needed: Members) -> Option<Members> {
        needed.without(self.available()).is_empty().then(|| needed.without(self.known))
    }

    /// Reads of any `data` members: the known members, then the first readable ones.
    fn decoding(&self) -> Option<Members> {
        let known = self.all().both(self.known);
        let needed = self.data.saturating_sub(known.count());
        let others = self.available().without(known);
        let reads: Members = others.iter().take(needed as usize).collect();
        (reads.count() == needed).then_some(reads)
    }

    /// The plan for a write; none if too much of the stripe is unavailable. Data written to an unavailable member is
    /// represented in the parity alone.
    pub fn write(&self, write: Write) -> Option<Plan> {
        let Write { written, in_part, partial } = write;
        debug_assert!(in_part.without(written).is_empty(), "{write:?}: what is written in part is written");
        let writable = self.all().without(self.unavailable);
        let parity = self.all().without(self.all_data()).both(writable);
        let writes = written.both(writable).with(parity);
        if parity.is_empty() {
            // Nothing keeps what an unavailable member should hold.
            return written.without(writable).is_empty().then_some(Plan { reads: Members::default(), writes });
        }
        // A partial write of a mirror reads nothing: it changes the same part of each copy, and the rest is equal.
        let in_part = if self.is_mirror() { Members::default() } else { in_part };
        let untouched = self.all_data().without(written).with(in_part);
        if untouched.is_empty() {
            return Some(Plan { reads: Members::default(), writes });
        }
        let modify = self.all_of(written.with(parity));
        let reconstruct = self.all_of(untouched);
        let asked_for = match partial {
            Partial::Least => None,
            Partial::ReadModifyWrite => modify,
            Partial::Reconstruct => reconstruct,
        };
        let least = || fewest([modify, reconstruct, self.decoding()]);
        Some(Plan { reads: asked_for.or_else(least)?, writes })
    }

    /// The reads for these members of data: the members themselves, or others that determine them; none if that is
    /// impossible.
    pub fn read(&self, wanted: Members) -> Option<Members> {
        // If some are unavailable, all are decoded. Known data may make that cheaper even if none is unavailable.
        fewest([self.all_of(wanted), self.decoding()])
    }

    /// The reads for these members of data. For a mirror, the copy whose turn it is, because any copy serves; the turns
    /// of an unreadable copy rotate over the others. Stripes of several data members ignore the turn: no other member
    /// holds the data of one.
    pub fn read_from(&self, wanted: Members, turn: u64) -> Option<Members> {
        let reads = self.read(wanted)?;
        if !self.is_mirror() || reads.is_empty() {
            return Some(reads);
        }
        let (copies, there) = (self.all(), self.all().without(self.unavailable));
        let nth = |of: Members, at: u64| of.iter().nth((at % u64::from(of.count())) as usize);
        let own = nth(copies, turn).filter(|&copy| there.has(copy));
        own.or_else(|| nth(there, turn / u64::from(copies.count()))).map(Members::one)
    }
}

#[cfg(test)]
mod tests;
