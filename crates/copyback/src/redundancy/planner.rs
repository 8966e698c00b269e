//! What has to be read to write a part of a stripe, or to read a part that is unavailable: a function without state,
//! for stripes over the channels of a drive and, later, over the drives of an array.
//!
//! A stripe of `data` members and `parity` members lets any `data` of them give all others. Three plans write a part:
//! *read-modify-write* reads the old data of what is written and the parity; *reconstruct-write* reads the data that is
//! not written; *decoding* reads any `data` members that are available, and so knows everything. The plan that reads
//! least is taken, of equals the first of these.

/// Members of a stripe, a bit each: data first, parity behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Members(pub u32);

impl Members {
    /// The first so many.
    pub fn first(count: u32) -> Self {
        Self(((1_u64 << count) - 1) as u32)
    }

    /// How many.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it has this one.
    pub fn has(self, member: u32) -> bool {
        self.0 >> member & 1 == 1
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..u32::BITS).filter(move |&member| self.has(member))
    }

    fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that are not of another set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A stripe as its planner sees it.
#[derive(Clone, Copy, Debug)]
pub struct Stripe {
    /// Members of data, at most 31 with those of parity.
    pub data: u32,
    /// Members of parity.
    pub parity: u32,
    /// Members that cannot be read or written.
    pub unavailable: Members,
    /// Members that are known without a read: what is in DRAM, what never held data.
    pub known: Members,
}

/// What is read before what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Members to read; those that are known are left out.
    pub reads: Members,
    /// Members to write.
    pub writes: Members,
}

impl Stripe {
    fn all_data(&self) -> Members {
        Members::first(self.data)
    }

    fn all(&self) -> Members {
        Members::first(self.data + self.parity)
    }

    fn available(&self) -> Members {
        self.all().without(self.unavailable).with(self.known)
    }

    /// Reads of members of which every one is needed, if all can be had.
    fn all_of(&self, needed: Members) -> Option<Members> {
        (needed.without(self.available()).count() == 0).then(|| needed.without(self.known))
    }

    /// Reads of any `data` members: those that are known, then the first that can be read.
    fn decoding(&self) -> Option<Members> {
        let known = self.all().both(self.known);
        let needed = self.data.saturating_sub(known.count());
        let others = self.available().without(known);
        let reads = others.iter().take(needed as usize).fold(Members::default(), |m, at| m.with(Members(1 << at)));
        (reads.count() == needed).then_some(reads)
    }

    /// The plan for a write of these members of data; none where too much of the stripe is unavailable. What is written
    /// of an unavailable member stands in the parity alone.
    pub fn write(&self, written: Members) -> Option<Plan> {
        let writable = self.all().without(self.unavailable);
        let parity = self.all().without(self.all_data()).both(writable);
        let writes = written.both(writable).with(parity);
        if parity.count() == 0 {
            // Nothing keeps what an unavailable member should hold.
            return (written.without(writable).count() == 0).then_some(Plan { reads: Members::default(), writes });
        }
        let modify = self.all_of(written.with(parity));
        let reconstruct = self.all_of(self.all_data().without(written));
        let plans = [modify, reconstruct, self.decoding()];
        let reads = plans.into_iter().flatten().reduce(|best, next| match next.count() < best.count() {
            true => next,
            false => best,
        })?;
        Some(Plan { reads, writes })
    }

    /// What is read for these members of data: they themselves, or as much of the rest of the stripe as gives those
    /// that are unavailable; none where that cannot be.
    pub fn read(&self, wanted: Members) -> Option<Members> {
        let missing = wanted.without(self.available());
        if missing.count() == 0 {
            // What is known may give what is wanted anyway.
            let own = wanted.without(self.known);
            return self.decoding().filter(|reads| reads.count() < own.count()).or(Some(own));
        }
        // Whoever wants some anyway has them read first.
        let own = wanted.both(self.available());
        let with_own = Self { known: self.known.with(own), ..*self };
        Some(with_own.decoding()?.with(own.without(self.known)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIME: u64 = 257;

    /// What a member is of the data: a row of the code's matrix. Any `data` rows are independent.
    fn row(data: u32, member: u32) -> Vec<u64> {
        let power = |base: u64, exponent: u32| (0..exponent).fold(1, |product, _| product * base % PRIME);
        (0..data)
            .map(|at| match member.checked_sub(data) {
                None => u64::from(at == member),
                Some(parity) => power(u64::from(at) + 2, parity),
            })
            .collect()
    }

    fn inverse(value: u64) -> u64 {
        (1..PRIME).find(|&other| value * other % PRIME == 1).expect("a prime has inverses")
    }

    /// Rank of rows, by elimination.
    fn rank(mut rows: Vec<Vec<u64>>) -> usize {
        let (mut rank, columns) = (0, rows.first().map_or(0, Vec::len));
        for column in 0..columns {
            let Some(pivot) = (rank..rows.len()).find(|&at| rows[at][column] != 0) else { continue };
            rows.swap(rank, pivot);
            let scale = inverse(rows[rank][column]);
            for at in 0..rows.len() {
                if at != rank && rows[at][column] != 0 {
                    let (factor, pivot) = (rows[at][column] * scale % PRIME, rows[rank].clone());
                    let reduced = rows[at].iter_mut().zip(pivot);
                    reduced.for_each(|(value, of_pivot)| *value = (*value + (PRIME - factor) * of_pivot) % PRIME);
                }
            }
            rank += 1;
        }
        rank
    }

    /// Whether who knows these members of the stripe as it is knows all of these, too.
    fn gives(known: &[Vec<u64>], wanted: &[Vec<u64>]) -> bool {
        let both: Vec<_> = known.iter().chain(wanted).cloned().collect();
        rank(both) == rank(known.to_vec())
    }

    fn rows(data: u32, members: Members) -> Vec<Vec<u64>> {
        members.iter().map(|member| row(data, member)).collect()
    }

    /// What of the old data a writer has to know: of each parity the share of what is not written.
    fn needed(stripe: &Stripe, written: Members) -> Vec<Vec<u64>> {
        let parity = stripe.all().without(stripe.all_data()).without(stripe.unavailable);
        let of_unwritten = |mut row: Vec<u64>| {
            written.iter().for_each(|member| row[member as usize] = 0);
            row
        };
        parity.iter().map(|member| of_unwritten(row(stripe.data, member))).collect()
    }

    /// The fewest members to read, by trying all: what the planner says is enough, and as few.
    fn fewest(stripe: &Stripe, wanted: &[Vec<u64>]) -> Option<u32> {
        let readable = stripe.available().without(stripe.known);
        let subsets = (0..=stripe.all().0).map(Members).filter(|subset| subset.without(readable).count() == 0);
        let known = stripe.known.both(stripe.all());
        subsets.filter(|s| gives(&rows(stripe.data, s.with(known)), wanted)).map(Members::count).min()
    }

    fn stripes(members: u32) -> impl Iterator<Item = Stripe> {
        let shapes = (1..=2).flat_map(move |parity| (1..members).map(move |data| (data, parity)));
        shapes.filter(move |(data, parity)| data + parity <= members).flat_map(|(data, parity)| {
            let all = Members::first(data + parity).0;
            (0..=all).flat_map(move |unavailable| {
                // Nothing known, or one member, which may be one that is unavailable: it is in DRAM.
                (0..=data + parity).map(move |known| Stripe {
                    data,
                    parity,
                    unavailable: Members(unavailable),
                    known: Members(if known == 0 { 0 } else { 1 << (known - 1) }),
                })
            })
        })
    }

    /// For every stripe of up to six members, whatever is unavailable or known and whatever is written: a plan reads
    /// enough and no more than it has to, or nothing that can be read is enough.
    #[test]
    fn a_write_reads_as_little_as_gives_the_new_parity() {
        let mut asked = 0;
        for stripe in stripes(6) {
            for written in (1..=stripe.all_data().0).map(Members) {
                let lost = written.both(stripe.unavailable).count();
                let parity_left = stripe.all().without(stripe.all_data()).without(stripe.unavailable).count();
                let plan = stripe.write(written);
                asked += 1;
                if parity_left == 0 {
                    assert_eq!(plan.is_some(), lost == 0, "{stripe:?} {written:?}");
                    continue;
                }
                let wanted = needed(&stripe, written);
                let least = fewest(&stripe, &wanted);
                assert_eq!(plan.map(|plan| plan.reads.count()), least, "{stripe:?} {written:?}: {plan:?}");
                let Some(plan) = plan else { continue };
                let known = plan.reads.with(stripe.known).both(stripe.all());
                assert!(gives(&rows(stripe.data, known), &wanted), "{stripe:?} {written:?}: {plan:?}");
                assert_eq!(plan.reads.both(stripe.unavailable.without(stripe.known)).count(), 0);
                assert_eq!(plan.writes.both(stripe.unavailable).count(), 0, "{stripe:?} {written:?}: {plan:?}");
            }
        }
        assert!(asked > 10_000, "{asked}");
    }

    #[test]
    fn a_read_is_rebuilt_from_as_little_as_gives_it() {
        for stripe in stripes(6) {
            for wanted in (1..=stripe.all_data().0).map(Members) {
                let reads = stripe.read(wanted);
                let least = fewest(&stripe, &rows(stripe.data, wanted));
                assert_eq!(reads.map(Members::count), least, "{stripe:?} {wanted:?}: {reads:?}");
                if let Some(reads) = reads {
                    let known = reads.with(stripe.known).both(stripe.all());
                    assert!(gives(&rows(stripe.data, known), &rows(stripe.data, wanted)), "{stripe:?} {wanted:?}");
                }
            }
        }
    }

    /// The plans of a stripe of three and one, as the pages of policies state them.
    #[test]
    fn three_and_one_read_two_one_and_nothing() {
        let stripe = Stripe { data: 3, parity: 1, unavailable: Members(0), known: Members(0) };
        let reads = |written| stripe.write(Members(written)).expect("all is there").reads;
        assert_eq!(reads(0b001), Members(0b1001), "read-modify-write wins the tie");
        assert_eq!(reads(0b011), Members(0b0100));
        assert_eq!(reads(0b111), Members(0));
        let blocked = Stripe { unavailable: Members(0b010), ..stripe };
        assert_eq!(blocked.read(Members(0b010)), Some(Members(0b1101)));
    }
}
