use super::*;
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::{Role, Txn, Txns};
use crate::dispatch::windows::Windows;
use crate::flash::geometry::Geometry;
use crate::run::config::RunConfig;
use crate::sim::index::{LogicalUnit, PlaneId};

/// What a policy sees of chips with four slots each, of which nobody uses one.
struct Chips {
    windows: Windows,
    queues: Queues,
    txns: Txns,
}

impl Chips {
    fn new(dies: u32) -> Self {
        let text = format!(
            r#"
            capacity = {{ over_provisioning = 0.5 }}
            timing = {{ read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }}
            [geometry]
            channels = 1
            chips_per_channel = {dies}
            dies_per_chip = 1
            planes_per_die = 1
            blocks_per_plane = 8
            pages_per_block = 4
            page_size = "4 KiB"
            "#
        );
        let config: RunConfig = toml::from_str(&text).expect("a configuration");
        let geometry = Geometry::new(&config.device());
        Self { windows: Windows::new(4, dies), queues: Queues::new(&geometry, None), txns: Txns::new(8) }
    }

    fn view(&self, waits_for_space: bool) -> View<'_> {
        View { windows: &self.windows, queues: &self.queues, txns: &self.txns, waits_for_gc: waits_for_space }
    }

    /// A request of a task waits at a die, as the policy hears.
    fn wait(&mut self, policy: &mut Policy, task: Source, die: DieId) {
        let txn = Txn { task, ..Txn::new(Role::Read, LogicalUnit(0), 1, die, PlaneId::NONE) };
        let id = self.txns.add(txn);
        self.queues.push_back(self.queues.in_front(die, task), id, &self.txns, |_| unreachable!("there is no index"));
        self.windows.set_waiting(die, task, true);
        policy.on_head(Entry { task, die }, &self.view(false));
    }
}

fn policy(dies: u32, shares: &str) -> Policy {
    let params = Params { shares: toml::from_str(shares).expect("shares"), ..Params::default() };
    Policy::new(&params, &Setup { dies, seed: 1 })
}

/// Fixed shares of 5, 10, 20, 40, 80 % of 64 slots; a task that is not at work has none of the host's.
#[test]
fn limits_are_shares_of_all_slots() {
    let mut chips = Chips::new(16);
    for (share, limit) in [(5, 3), (10, 6), (20, 13), (40, 26), (80, 51), (0, 0), (1, 1)] {
        let policy = policy(16, &format!("policy = \"fixed\"\ngc = {share}"));
        chips.windows.set_active(Source::Gc, true);
        let limits = |chips: &Chips| [Source::Gc, Source::Host].map(|task| policy.limit(task, &chips.view(false)));
        assert_eq!(limits(&chips), [limit, 64 - limit], "{share} %");
        chips.windows.set_active(Source::Gc, false);
        assert_eq!(limits(&chips)[1], 64, "{share} %");
    }
}

/// Timeline A2: limits 1, 1, 3, 3, 2 of collection, and the rest of 64 for the host.
#[test]
fn limits_follow_shares_that_are_fed_back() {
    let mut chips = Chips::new(16);
    chips.windows.set_active(Source::Gc, true);
    let mut policy = policy(16, "policy = \"feedback\"");
    policy.shares.on_activate(Source::Gc);
    let limits = [127, 100, 60, 140, 140].map(|free_blocks| {
        let state = super::super::shares::State { free_blocks, free_blocks_target: 128, ..Default::default() };
        policy.shares.update(|task| task == Source::Gc, &state);
        [Source::Gc, Source::Host].map(|task| policy.limit(task, &chips.view(false)))
    });
    assert_eq!(limits, [[1, 63], [1, 63], [3, 61], [3, 61], [2, 62]]);
}

/// Timeline A1's competition: with debits 1 of 5 and 2 of 3 the first is drawn with 0.8 / (0.8 + 0.333) = 0.706, within
/// three standard errors of 10,000 draws.
#[test]
fn competitors_are_drawn_by_what_they_have_left() {
    let mut chips = Chips::new(2);
    chips.windows.set_active(Source::Gc, true);
    let mut policy = policy(2, "policy = \"fixed\"\ngc = 37.5");
    assert_eq!([Source::Host, Source::Gc].map(|task| policy.limit(task, &chips.view(false))), [5, 3]);
    chips.windows.enter(DieId(1), Source::Host);
    (0..2).for_each(|_| chips.windows.enter(DieId(1), Source::Gc));
    chips.wait(&mut policy, Source::Host, DieId(0));
    chips.wait(&mut policy, Source::Gc, DieId(0));
    let change = Change::Slot { die: DieId(0), task: None };
    let drawn = (0..10_000).filter(|_| {
        let entry = policy.next(change, &chips.view(false)).expect("both may enter");
        entry == Entry { task: Source::Host, die: DieId(0) }
    });
    let share = drawn.count() as f64 / 10_000.0;
    assert!((share - 0.8 / (0.8 + 1.0 / 3.0)).abs() < 0.014, "{share}");
    // A write that waits for space changes nothing here: two requests of collection are in windows.
    assert!((0..100).any(|_| policy.next(change, &chips.view(true)).map(|entry| entry.task) == Some(Source::Host)));
}

/// A collection whose share is 0 has its guard while a write waits for space, and goes first then.
#[test]
fn the_guard_lets_a_collection_in() {
    let mut chips = Chips::new(2);
    chips.windows.set_active(Source::Gc, true);
    let mut policy = policy(2, "policy = \"fixed\"\ngc = 0");
    chips.wait(&mut policy, Source::Host, DieId(0));
    chips.wait(&mut policy, Source::Gc, DieId(0));
    let change = Change::Slot { die: DieId(0), task: None };
    let mut entry = |waits| policy.next(change, &chips.view(waits)).map(|entry| entry.task);
    assert!((0..100).all(|_| entry(false) == Some(Source::Host)));
    assert!((0..100).all(|_| entry(true) == Some(Source::Gc)));
}
