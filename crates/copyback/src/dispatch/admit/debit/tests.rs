use super::super::chips::Chips;
use super::super::shares::State;
use super::*;

fn policy(dies: u32, shares: &str) -> Policy {
    guarded(1, dies, shares)
}

fn guarded(guard: u32, dies: u32, shares: &str) -> Policy {
    let params = Params { guard, shares: crate::config::from_toml(shares).expect("shares"), ..Params::default() };
    Policy::new(&params, &Setup { dies, seed: 1 })
}

/// Fixed shares of 5, 10, 20, 40, 80 % of 64 slots. An inactive task takes none of the host's slots.
#[test]
fn limits_are_shares_of_all_slots() {
    let mut chips = Chips::new(16);
    for (share, limit) in [(5, 3), (10, 6), (20, 13), (40, 26), (80, 51), (0, 0), (1, 1)] {
        let policy = policy(16, &format!("policy = \"fixed\"\ngc = {share}"));
        chips.windows.set_active(Source::GC, true);
        let limits = |chips: &Chips| [Source::GC, Source::HOST].map(|task| policy.limit(task, &chips.view(false)));
        assert_eq!(limits(&chips), [limit, 64 - limit], "{share} %");
        chips.windows.set_active(Source::GC, false);
        assert_eq!(limits(&chips)[1], 64, "{share} %");
    }
}

/// Timeline A2 (`ssd::tests::dispatching`): limits 1, 1, 3, 3, 2 for collection, and the rest of 64 for the host. They
/// are the same while a write waits for space, because a guard of one request exceeds none of them.
#[test]
fn limits_follow_shares_that_are_fed_back() {
    for waits_for_gc in [false, true] {
        let mut chips = Chips::new(16);
        chips.windows.set_active(Source::GC, true);
        let mut policy = policy(16, "policy = \"feedback\"");
        policy.shares.on_activate(Source::GC);
        let limits = [127, 100, 60, 140, 140].map(|free_blocks| {
            let state = State { free_blocks, free_blocks_target: 128, ..State::default() };
            policy.shares.update(|task| task == Source::GC, &state);
            [Source::GC, Source::HOST].map(|task| policy.limit(task, &chips.view(waits_for_gc)))
        });
        assert_eq!(limits, [[1, 63], [1, 63], [3, 61], [3, 61], [2, 62]]);
    }
}

/// The other half of timeline A2: highest counts of 100,001, 100,500 and 101,000 reads give scrubbing 0.002, 1.0018 and
/// 2.90162 % of 64 slots, which is 0.001, 0.64 and 1.86 of them: limits 1, 1, 2.
#[test]
fn scrubbings_limits_follow_the_highest_count() {
    let mut chips = Chips::new(16);
    chips.windows.set_active(Source::SCRUB, true);
    let mut policy = policy(16, "policy = \"feedback\"");
    policy.shares.on_activate(Source::SCRUB);
    let seen = [100_001, 100_500, 101_000].map(|reads_max| {
        let state = State { reads_max, reads_target: 100_000, ..State::default() };
        policy.shares.update(|task| task == Source::SCRUB, &state);
        let share = policy.share_percent(Source::SCRUB).expect("there are shares");
        let limits = [Source::SCRUB, Source::HOST].map(|task| policy.limit(task, &chips.view(false)));
        ((share * 1e6).round() / 1e6, limits)
    });
    assert_eq!(seen, [(0.002, [1, 63]), (1.0018, [1, 63]), (2.90162, [2, 62])]);
}

/// Timeline A1's competition: with debits 1 of 5 and 2 of 3 the first is drawn with 0.8 / (0.8 + 0.333) = 0.706, within
/// three standard errors of 10,000 draws.
#[test]
fn competitors_are_drawn_by_what_they_have_left() {
    let mut chips = Chips::new(2);
    chips.windows.set_active(Source::GC, true);
    let mut policy = policy(2, "policy = \"fixed\"\ngc = 37.5");
    assert_eq!([Source::HOST, Source::GC].map(|task| policy.limit(task, &chips.view(false))), [5, 3]);
    chips.windows.enter(DieId(1), Source::HOST);
    (0..2).for_each(|_| chips.windows.enter(DieId(1), Source::GC));
    chips.wait(&mut policy, Source::HOST, DieId(0));
    chips.wait(&mut policy, Source::GC, DieId(0));
    let change = Change::Slot { die: DieId(0), task: None };
    let drawn = (0..10_000).filter(|_| {
        let entry = policy.next(change, &chips.view(false)).expect("both may enter");
        entry == Entry { task: Source::HOST, die: DieId(0) }
    });
    let share = drawn.count() as f64 / 10_000.0;
    assert!((share - 0.8 / (0.8 + 1.0 / 3.0)).abs() < 0.014, "{share}");
    // A write that waits for space changes nothing here: two requests of collection are in windows.
    assert!((0..100).any(|_| policy.next(change, &chips.view(true)).map(|entry| entry.task) == Some(Source::HOST)));
}

/// A collection whose share is 0 has its guard while a write waits for space, and then has precedence.
#[test]
fn the_guard_lets_a_collection_in() {
    let mut chips = Chips::new(2);
    chips.windows.set_active(Source::GC, true);
    let mut policy = policy(2, "policy = \"fixed\"\ngc = 0");
    chips.wait(&mut policy, Source::HOST, DieId(0));
    chips.wait(&mut policy, Source::GC, DieId(0));
    let change = Change::Slot { die: DieId(0), task: None };
    let mut entry = |waits| policy.next(change, &chips.view(waits)).map(|entry| entry.task);
    assert!((0..100).all(|_| entry(false) == Some(Source::HOST)));
    assert!((0..100).all(|_| entry(true) == Some(Source::GC)));
}

/// How often the host and collection are drawn at die 0 in 200 draws, if one request of each waits there and the window
/// of die 1 holds `debit` requests of collection.
fn drawn(policy: &mut Policy, debit: u32) -> [usize; 2] {
    let mut chips = Chips::new(2);
    chips.windows.set_active(Source::GC, true);
    (0..debit).for_each(|_| chips.windows.enter(DieId(1), Source::GC));
    chips.wait(policy, Source::HOST, DieId(0));
    chips.wait(policy, Source::GC, DieId(0));
    let change = Change::Slot { die: DieId(0), task: None };
    let draws: Vec<_> =
        (0..200).filter_map(|_| policy.next(change, &chips.view(true))).map(|entry| entry.task).collect();
    [Source::HOST, Source::GC].map(|task| draws.iter().filter(|&&drawn| drawn == task).count())
}

/// The guard is a number of requests: with one less in windows, a collection always goes first; with as many, it is
/// drawn as usual if its share allows more (limit 3 of 8), and excluded if its share is 0, because it then has only the
/// guard.
#[test]
fn a_collection_goes_first_up_to_its_guard_and_no_further() {
    for guard in [1, 2] {
        let mut with_share = guarded(guard, 2, "policy = \"fixed\"\ngc = 37.5");
        assert_eq!(drawn(&mut with_share, guard - 1), [0, 200], "guard {guard}");
        let [host, gc] = drawn(&mut with_share, guard);
        assert!(host > 20 && gc > 20, "guard {guard}: the host is drawn {host} times, collection {gc} times");
        let mut without = guarded(guard, 2, "policy = \"fixed\"\ngc = 0");
        assert_eq!(drawn(&mut without, guard - 1), [0, 200], "guard {guard}, no share");
        assert_eq!(drawn(&mut without, guard), [200, 0], "guard {guard}, no share");
    }
    let mut without_guard = guarded(0, 2, "policy = \"fixed\"\ngc = 0");
    assert_eq!(drawn(&mut without_guard, 0), [200, 0]);
}

/// A write that waits for space changes only one limit: collection's is at least the guard. A share of three slots of
/// eight stays three, and the host keeps its five.
#[test]
fn the_guard_raises_no_limit_that_is_higher() {
    let mut chips = Chips::new(2);
    chips.windows.set_active(Source::GC, true);
    let limits = |guard: u32, waits: bool| {
        let policy = guarded(guard, 2, "policy = \"fixed\"\ngc = 37.5");
        [Source::GC, Source::HOST].map(|task| policy.limit(task, &chips.view(waits)))
    };
    assert_eq!([1, 2, 3].map(|guard| limits(guard, true)), [[3, 5]; 3]);
    assert_eq!((limits(4, true), limits(4, false)), ([4, 4], [3, 5]));
}
