use super::*;

const PRIME: u64 = 257;

/// Sets of up to seven members: set `s` is bit `s`. Millions of questions are asked, of code that is not optimised.
type Sets = u128;

/// A code written out as a matrix over a prime field: the sets of its members that determine some data. The planner's
/// answers are compared with this matrix.
struct Code {
    data: u32,
    /// By set of data: the sets that determine it.
    of_units: Vec<Sets>,
    /// By set of data, by set of parity: the sets that determine that data's share of that parity.
    of_shares: Vec<Vec<Sets>>,
    /// By set: all sets within it.
    within: Vec<Sets>,
    /// By set: all sets that contain it.
    around: Vec<Sets>,
    /// By number of members: all sets of so many.
    of_count: Vec<Sets>,
}

/// The sets, by number, for which something holds.
fn sets_with(members: u32, holds: impl Fn(u64) -> bool) -> Sets {
    (0..1 << members).filter(|&set| holds(set)).fold(0, |sets, set| sets | 1 << set)
}

/// A member as a combination of the data: a row of the matrix. Any `data` rows are independent.
fn row(data: u32, member: u32) -> Vec<u64> {
    let power = |base: u64, exponent: u32| (0..exponent).fold(1, |product, _| product * base % PRIME);
    (0..data)
        .map(|at| match member.checked_sub(data) {
            None => u64::from(at == member),
            Some(parity) => power(u64::from(at) + 2, parity),
        })
        .collect()
}

/// The remainder of a row after subtraction of the rows of a basis, each of which begins with its column.
fn rest(basis: &[(usize, Vec<u64>)], mut row: Vec<u64>) -> Vec<u64> {
    for (column, other) in basis {
        let (scale, factor) = (other[*column], PRIME - row[*column]);
        row.iter_mut().zip(other).for_each(|(value, of_other)| *value = (*value * scale + factor * of_other) % PRIME);
    }
    row
}

impl Code {
    fn new(data: u32, parity: u32) -> Self {
        let members = data + parity;
        let bases: Vec<_> = (0..1 << members)
            .map(|known| {
                let mut basis: Vec<(usize, Vec<u64>)> = Vec::new();
                for member in Members(known).iter() {
                    let row = rest(&basis, row(data, member));
                    basis.extend(row.iter().position(|&value| value != 0).map(|column| (column, row)));
                }
                basis
            })
            .collect();
        let tell = |row: &[u64]| {
            sets_with(members, |set| rest(&bases[set as usize], row.to_vec()).iter().all(|&value| value == 0))
        };
        let share = |member: u32, set: u64| -> Vec<u64> {
            let row = row(data, member).into_iter().zip(0..);
            row.map(|(value, at)| if Members(set).has(at) { value } else { 0 }).collect()
        };
        // By set of members, out of `count`: the intersection of `of_one` over them.
        let of_all = |count: u32, of_one: &dyn Fn(u32) -> Sets| -> Vec<Sets> {
            let of_each: Vec<Sets> = (0..count).map(of_one).collect();
            let of_set = |set| Members(set).iter().fold(Sets::MAX, |sets, member| sets & of_each[member as usize]);
            (0..1 << count).map(of_set).collect()
        };
        let by_set = |holds: fn(u64, u64) -> bool| {
            (0..1 << members).map(|set: u64| sets_with(members, |other| holds(set, other))).collect()
        };
        Self {
            data,
            of_units: of_all(data, &|member| tell(&row(data, member))),
            of_shares: (0..1 << data).map(|set| of_all(parity, &|member| tell(&share(data + member, set)))).collect(),
            within: by_set(|set, other| other & !set == 0),
            around: by_set(|set, other| set & !other == 0),
            of_count: (0..=members).map(|count| sets_with(members, |set| set.count_ones() == count)).collect(),
        }
    }

    /// The sets that determine these shares and these members of data.
    fn sets_that_tell(&self, wanted: &Wanted) -> Sets {
        let parity = (wanted.parity.0 >> self.data) as usize;
        self.of_units[wanted.units.0 as usize] & self.of_shares[wanted.share.0 as usize][parity]
    }

    /// Whether the known members determine these shares and these members of data.
    fn tells(&self, known: Members, wanted: &Wanted) -> bool {
        self.sets_that_tell(wanted) >> known.0 & 1 == 1
    }

    /// The fewest members to read in addition to the known ones, so that all these members determine what is wanted.
    fn fewest(&self, stripe: &Stripe, wanted: &Wanted) -> Option<u32> {
        let known = stripe.known.both(stripe.all());
        let most = stripe.available().with(known);
        let sets = self.sets_that_tell(wanted) & self.within[most.0 as usize] & self.around[known.0 as usize];
        (0..).zip(&self.of_count).find(|(_, of_count)| sets & *of_count != 0).map(|(count, _)| count - known.count())
    }
}

/// The required knowledge of the old data.
#[derive(Default)]
struct Wanted {
    /// Of these members of parity ...
    parity: Members,
    /// ... the share of these members of data.
    share: Members,
    /// These members of data.
    units: Members,
}

/// The required knowledge of a writer: for each writable parity the share of the members that are not written; and the
/// data of the members that are written in part.
fn wanted_by(stripe: &Stripe, write: &Write) -> Wanted {
    let parity = stripe.all().without(stripe.all_data()).without(stripe.unavailable);
    // With one data member, parity is a copy, which changes with it.
    let units = if stripe.data == 1 || parity.is_empty() { Members(0) } else { write.in_part };
    Wanted { parity, share: stripe.all_data().without(write.written), units }
}

/// Subsets of a set, the empty one first.
fn subsets(set: Members) -> impl Iterator<Item = Members> {
    // Counts up in the bits of the set, and skips all others.
    std::iter::successors(Some(0), move |&subset: &u64| (subset != set.0).then(|| ((subset | !set.0) + 1) & set.0))
        .map(Members)
}

/// Checks every stripe of up to seven members, mirrors and one or two of parity, with any members unavailable and any
/// members known; a known member may be unavailable, because it is in DRAM.
fn for_each_stripe(ask: impl Fn(&Code, &Stripe)) {
    let raid = (1..=2).flat_map(|parity| (1..=7 - parity).map(move |data| (data, parity)));
    for (data, parity) in raid.chain((3..=6).map(|parity| (1, parity))) {
        let code = Code::new(data, parity);
        for unavailable in subsets(Members::first(data + parity)) {
            // With more than six members, all sets would take minutes.
            let most = if data + parity <= 6 { 6 } else { 1 };
            for known in subsets(Members::first(data + parity)).filter(|known| known.count() <= most) {
                ask(&code, &Stripe { data, parity, unavailable, known });
            }
        }
    }
}

/// Calls `ask` for every write to each stripe of [`for_each_stripe`], with any of its members written in part.
fn for_each_write(ask: impl Fn(&Code, &Stripe, Write)) {
    for_each_stripe(|code, stripe| {
        for written in subsets(stripe.all_data()).skip(1) {
            for in_part in subsets(written) {
                ask(code, stripe, Write { in_part, ..Write::whole(written) });
            }
        }
    });
}

/// A plan reads enough and no more than necessary, or no readable set is enough.
#[test]
fn a_write_reads_as_little_as_gives_the_new_parity() {
    for_each_write(|code, stripe, write| {
        let said = || format!("{stripe:?} {write:?}: {:?}", stripe.write(write));
        let (plan, wanted) = (stripe.write(write), wanted_by(stripe, &write));
        if wanted.parity.is_empty() {
            let is_lost = write.written.both(stripe.unavailable).count() > 0;
            assert_eq!(plan.map(|plan| plan.reads), (!is_lost).then_some(Members(0)), "{}", said());
            return;
        }
        assert_eq!(plan.map(|plan| plan.reads.count()), code.fewest(stripe, &wanted), "{}", said());
        let Some(plan) = plan else { return };
        assert!(code.tells(plan.reads.with(stripe.known), &wanted), "{}", said());
        assert_eq!(plan.reads.both(stripe.unavailable.with(stripe.known)), Members(0), "{}", said());
        let written = write.written.with(stripe.all().without(stripe.all_data()));
        assert_eq!(plan.writes, written.without(stripe.unavailable), "{}", said());
    });
}

/// A requested plan is taken if all its reads are available, and otherwise replaced by another.
#[test]
fn a_plan_that_is_asked_for_is_taken_where_it_can_be() {
    for_each_write(|code, stripe, write| {
        let wanted = wanted_by(stripe, &write);
        let least = stripe.write(write);
        let modify = write.written.with(wanted.parity);
        let reconstruct = wanted.share.with(wanted.units);
        for (partial, members) in [(Partial::ReadModifyWrite, modify), (Partial::Reconstruct, reconstruct)] {
            let plan = stripe.write(Write { partial, ..write });
            let said = || format!("{stripe:?} {write:?} {partial:?}: {plan:?}");
            let is_possible = members.without(stripe.available()).is_empty();
            if is_possible && !wanted.parity.is_empty() && !reconstruct.is_empty() {
                assert_eq!(plan.map(|plan| plan.reads), Some(members.without(stripe.known)), "{}", said());
            } else {
                assert_eq!(plan, least, "{}", said());
            }
            if let Some(plan) = plan {
                assert!(code.tells(plan.reads.with(stripe.known), &wanted), "{}", said());
                assert_eq!(Some(plan.writes), least.map(|least| least.writes), "{}", said());
            }
        }
    });
}

#[test]
fn a_read_is_rebuilt_from_as_little_as_gives_it() {
    for_each_stripe(|code, stripe| {
        for units in subsets(stripe.all_data()).skip(1) {
            let (reads, wanted) = (stripe.read(units), Wanted { units, ..Wanted::default() });
            assert_eq!(reads.map(Members::count), code.fewest(stripe, &wanted), "{stripe:?} {units:?}: {reads:?}");
            let Some(reads) = reads else { continue };
            assert!(code.tells(reads.with(stripe.known), &wanted), "{stripe:?} {units:?}: {reads:?}");
            assert_eq!(reads.both(stripe.unavailable.with(stripe.known)), Members(0), "{stripe:?} {units:?}");
            let own = units.without(stripe.known);
            let is_as_good = own.both(stripe.unavailable).is_empty() && own.count() == reads.count();
            assert!(!is_as_good || reads == own, "{stripe:?} {units:?}: {reads:?} is decoded for nothing");
        }
    });
}

#[test]
fn a_mirror_reads_the_copy_whose_turn_it_is() {
    for_each_stripe(|_, stripe| {
        let (copies, there) = (stripe.all().count(), stripe.all().without(stripe.unavailable));
        for units in subsets(stripe.all_data()) {
            if stripe.data > 1 || units.count() == 0 || stripe.known.count() > 0 || there.count() == 0 {
                assert_eq!(stripe.read_from(units, 5), stripe.read(units), "{stripe:?} {units:?}");
                continue;
            }
            // Each copy has as many turns as there are readable copies: an unreadable copy is replaced by each once.
            let turns = 0..u64::from(copies * there.count());
            let read: Vec<Members> = turns.clone().filter_map(|turn| stripe.read_from(units, turn)).collect();
            for (turn, reads) in turns.zip(&read) {
                let own = (turn % u64::from(copies)) as u32;
                assert!(reads.count() == 1 && reads.without(there).is_empty(), "{stripe:?}: {reads:?}");
                assert!(!there.has(own) || *reads == Members::one(own), "{stripe:?}, turn {turn}: {reads:?}");
            }
            for copy in there.iter() {
                let of_copy = read.iter().filter(|reads| reads.has(copy)).count();
                assert_eq!(of_copy, copies as usize, "{stripe:?}: all that can be read are read as often");
            }
        }
    });
}

/// With all members available and none known, plans read what textbooks say, up to 64 drives. If k of n units of data
/// are written, one plan reads these k and the parity; the other reads the other units and those written in part.
#[test]
fn of_wide_stripes_each_plan_reads_what_textbooks_say() {
    for (n, p) in (1..=2).flat_map(|p| (2..=64 - p).map(move |n| (n, p))) {
        let stripe = Stripe { data: n, parity: p, unavailable: Members(0), known: Members(0) };
        let all = Members::first(n + p);
        for (k, parts) in (1..=n).flat_map(|k| (0..=k).map(move |parts| (k, parts))) {
            // The last ones, so that the highest bits count.
            let last = |count: u32| Members::first(n).without(Members::first(n - count));
            let (written, in_part) = (last(k), last(parts));
            let reads = |partial| {
                let plan = stripe.write(Write { written, in_part, partial }).expect("all is there");
                assert_eq!(plan.writes, written.with(all.without(Members::first(n))), "{n}+{p}, {k}");
                plan.reads
            };
            let reconstruct = reads(Partial::Reconstruct);
            assert_eq!(reconstruct.count(), n - k + parts, "{n}+{p}, {k}, {parts} in part");
            let (modify, least) = (reads(Partial::ReadModifyWrite), reads(Partial::Least));
            if k == n && parts == 0 {
                assert_eq!((modify, least), (Members(0), Members(0)), "{n}+{p}: it is written whole");
                continue;
            }
            assert_eq!(modify.count(), k + p, "{n}+{p}, {k}, {parts} in part");
            // Of the three plans the third reads n, any n of all.
            let fewest = (k + p).min(n - k + parts).min(n);
            assert_eq!(least.count(), fewest, "{n}+{p}, {k}, {parts} in part");
            if k + p == fewest {
                assert_eq!(least, modify, "{n}+{p}, {k}, {parts} in part: read-modify-write wins a tie");
            }
        }
    }
}

/// The plans of a stripe of three and one, as the pages of policies state them.
#[test]
fn three_and_one_read_two_one_and_nothing() {
    let stripe = Stripe { data: 3, parity: 1, unavailable: Members(0), known: Members(0) };
    let reads = |written| stripe.write(Write::whole(Members(written))).expect("all is there").reads;
    assert_eq!(reads(0b001), Members(0b1001), "read-modify-write wins the tie");
    assert_eq!(reads(0b011), Members(0b0100));
    assert_eq!(reads(0b111), Members(0));
    let blocked = Stripe { unavailable: Members(0b010), ..stripe };
    assert_eq!(blocked.read(Members(0b010)), Some(Members(0b1101)));
}

/// Without parity nothing is read before a write, and nothing is rebuilt.
#[test]
fn without_parity_members_stand_for_themselves() {
    let stripe = Stripe { data: 4, parity: 0, unavailable: Members(0b1000), known: Members(0) };
    let write = |written| stripe.write(Write { in_part: Members(written), ..Write::whole(Members(written)) });
    assert_eq!(write(0b0110), Some(Plan { reads: Members(0), writes: Members(0b0110) }));
    assert_eq!(write(0b1100), None);
    assert_eq!(stripe.read(Members(0b0011)), Some(Members(0b0011)));
    assert_eq!(stripe.read(Members(0b1001)), None);
}

#[test]
fn members_are_as_many_as_bits() {
    for count in [0, 1, 31, 32, 63, 64] {
        let first = Members::first(count);
        assert_eq!((first.count(), first.is_empty()), (count, count == 0));
        assert!(first.iter().eq(0..count), "{first:?}");
        assert_eq!((0..count).collect::<Members>(), first);
        assert!((0..64).all(|member| first.has(member) == (member < count)), "{first:?}");
    }
}

#[test]
fn plans_are_named_as_in_files() {
    for (partial, name) in [
        (Partial::Least, "least"),
        (Partial::ReadModifyWrite, "read-modify-write"),
        (Partial::Reconstruct, "reconstruct"),
    ] {
        assert_eq!(serde_json::to_value(partial).unwrap(), name);
        assert_eq!(serde_json::from_value::<Partial>(name.into()).unwrap(), partial);
    }
    assert_eq!(Partial::default(), Partial::Least);
}
