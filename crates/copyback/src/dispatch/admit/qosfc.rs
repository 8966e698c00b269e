//! Start-time fair queueing of the tasks at each die: each task gets flash time in proportion to its weight. The other
//! tasks get the time that a task does not use.
//!
//! Source: atc18 Section 5.2 (QoSFC): "weighted fair queueing ..., a work-conserving system that does not reserve
//! resources. It maintains virtual time as a measure of progress for each FTL task at each flash memory resource"; tags
//! as in Goyal et al. 1996.
//!
//! At each die a waiting task has a start tag S = max(v, F): F is the finish tag of its last request there, and v the
//! start tag of the last request that entered at the die. The request with the least start tag enters, and its task's F
//! becomes S + cost / weight. The cost of a request is its array time plus its transfer. A relocation's read is charged
//! for the transfer of the mean number of units of the remaining pages, because its page is chosen when the die takes
//! the read.
//!
//! Parameters:
//! - `slots` (default 4): requests in a die's window.
//! - `host`, `gc`, `map`, `scrub`, `wear` (default 80, 20, 20, 20, 20): weights of the tasks; only their ratios count.

use super::{AdmitPolicy, AdmitView, Change, Entry, Setup, check_slots};
use crate::config::{KeyError, number};
use crate::flash::command::Source;
use crate::flash::source::{Account, SOURCES_MAX};
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Requests in a die's window.
    pub slots: u32,
    /// Weight of the host.
    pub host: f64,
    /// Weight of garbage collection.
    pub gc: f64,
    /// Weight of the map's traffic.
    pub map: f64,
    /// Weight of scrubbing.
    pub scrub: f64,
    /// Weight of wear levelling.
    pub wear: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { slots: 4, host: 80.0, gc: 20.0, map: 20.0, scrub: 20.0, wear: 20.0 }
    }
}

impl Params {
    fn weights(&self) -> [(&'static str, Source, f64); 5] {
        [
            ("host", Source::HOST, self.host),
            ("gc", Source::GC, self.gc),
            ("map", Source::MAP, self.map),
            ("scrub", Source::SCRUB, self.scrub),
            ("wear", Source::WEAR, self.wear),
        ]
    }
}

impl super::Parameters for Params {
    fn check(&self) -> Result<(), KeyError> {
        check_slots(self.slots)?;
        match self.weights().into_iter().find(|(.., weight)| !(1e-3..=1e6).contains(weight)) {
            None => Ok(()),
            Some((key, _, weight)) => {
                Err(KeyError::new(format!("admit.{key}"), format!("a weight of {} gives no share", number(weight)))
                    .with_help("use a number from 0.001 to 1000000, such as 20"))
            }
        }
    }

    fn slots(&self) -> u32 {
        self.slots
    }

    fn distinguishes_tasks(&self) -> bool {
        true
    }

    fn has_map_task(&self) -> bool {
        true
    }
}

/// Virtual time of a die.
#[derive(Clone, Copy, Debug, Default)]
struct Tags {
    /// Start tag of the request that entered last.
    virtual_ns: f64,
    /// Start tag of each task's first request that waits.
    start_ns: [f64; SOURCES_MAX],
    /// Finish tag of each task's last request that entered.
    finish_ns: [f64; SOURCES_MAX],
}

/// Virtual times of all dies.
pub struct Policy {
    weights: [f64; Account::ALL.len()],
    tags: Vec<Tags>,
}

impl Policy {
    /// All clocks are at 0.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let weight = |account: Account| match account {
            Account::Host => params.host,
            Account::Gc => params.gc,
            Account::Map => params.map,
            Account::Scrub => params.scrub,
            // Relocations for parity are background work, like wear levelling.
            Account::Wear | Account::Parity => params.wear,
        };
        Self { weights: Account::ALL.map(weight), tags: vec![Tags::default(); setup.dies as usize] }
    }
}

impl AdmitPolicy for Policy {
    /// Requests do not wait at a die with a free slot.
    fn enters(&mut self, _: Entry, _: &AdmitView<'_>) -> bool {
        true
    }

    fn next(&mut self, change: Change, view: &AdmitView<'_>) -> Option<Entry> {
        let Change::Slot { die, .. } = change else { return None };
        if !view.has_room(die) {
            return None;
        }
        let tags = &self.tags[die.at()];
        let start_ns = |task: &Source| tags.start_ns[task.at()];
        let task = view.waiting(die).iter().min_by(|a, b| start_ns(a).total_cmp(&start_ns(b)))?;
        Some(Entry { task, die })
    }

    fn on_wait(&mut self, Entry { task, die }: Entry, is_first: bool) {
        if is_first {
            let tags = &mut self.tags[die.at()];
            tags.start_ns[task.at()] = tags.virtual_ns.max(tags.finish_ns[task.at()]);
        }
    }

    fn on_enter(&mut self, Entry { task, die }: Entry, cost_ns: u64, is_backlogged: bool) {
        let (at, tags) = (task.at(), &mut self.tags[die.at()]);
        let start_ns = tags.virtual_ns.max(tags.finish_ns[at]);
        let start_ns = if tags.start_ns[at] > start_ns { tags.start_ns[at] } else { start_ns };
        tags.virtual_ns = start_ns;
        tags.finish_ns[at] = start_ns + cost_ns as f64 / self.weights[task.account().at()];
        tags.start_ns[at] = if is_backlogged { tags.finish_ns[at] } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::super::chips::Chips;
    use super::*;
    use crate::sim::index::DieId;

    /// The tasks that enter the window of a chip, in order, with their start tags. A is the host, B collection; a
    /// request of A finds the chip idle, and from then on both always have waiting requests.
    fn entries([a, b]: [f64; 2], costs_ns: [u64; 2], count: usize) -> Vec<(char, f64)> {
        let die = DieId(0);
        let params = Params { host: a, gc: b, ..Params::default() };
        let mut policy = Policy::new(&params, &Setup { dies: 1, seed: 1 });
        let mut chips = Chips::new(1);
        let mut entered = Vec::new();
        let mut enter = |policy: &mut Policy, entry: Entry, is_backlogged: bool| {
            let (name, cost_ns) = if entry.task == Source::HOST { ('A', costs_ns[0]) } else { ('B', costs_ns[1]) };
            policy.on_enter(entry, cost_ns, is_backlogged);
            // Virtual time is the start tag of the last request that entered.
            entered.push((name, policy.tags[die.at()].virtual_ns));
        };
        let first = Entry { task: Source::HOST, die };
        assert!(policy.enters(first, &chips.view(false)));
        enter(&mut policy, first, false);
        for task in [Source::HOST, Source::GC] {
            chips.wait(&mut policy, task, die);
        }
        for _ in 1..count {
            let next = policy.next(Change::Slot { die, task: None }, &chips.view(false)).expect("both wait");
            enter(&mut policy, next, true);
        }
        entered
    }

    /// Timeline A4 (`ssd::tests::dispatching`): weights 3/4 and 1/4 of equal costs. A's tags increase by 60,240 / 0.75
    /// = 80,320, B's by 60,240 / 0.25 = 240,960; A wins ties.
    #[test]
    fn start_tags_go_up_by_cost_over_weight() {
        let expected = [
            ('A', 0.0),
            ('B', 0.0),
            ('A', 80_320.0),
            ('A', 160_640.0),
            ('A', 240_960.0),
            ('B', 240_960.0),
            ('A', 321_280.0),
            ('A', 401_600.0),
            ('A', 481_920.0),
            ('B', 481_920.0),
        ];
        assert_eq!(entries([0.75, 0.25], [60_240; 2], 10), expected);
    }

    /// The second half of timeline A4: equal weights of a read and a program. A's tags increase by 120,480, to 963,840
    /// with the eighth request after B's first; B's second has 540,960 / 0.5 = 1,081,920.
    #[test]
    fn equal_weights_are_equal_time() {
        let mut expected = vec![('A', 0.0), ('B', 0.0)];
        expected.extend((1..9).map(|at| ('A', f64::from(at) * 120_480.0)));
        assert_eq!(expected.last(), Some(&('A', 963_840.0)));
        expected.extend([('B', 1_081_920.0), ('A', 1_084_320.0)]);
        assert_eq!(entries([0.5, 0.5], [60_240, 540_960], 12), expected);
    }

    /// A task that returns after a pause has saved nothing: its tag is the virtual time of the die.
    #[test]
    fn a_returning_task_starts_at_virtual_time() {
        let die = DieId(0);
        let mut policy = Policy::new(&Params { host: 1.0, gc: 1.0, ..Params::default() }, &Setup { dies: 1, seed: 1 });
        (0..5).for_each(|_| policy.on_enter(Entry { task: Source::HOST, die }, 100, false));
        assert_eq!(policy.tags[0].virtual_ns, 400.0);
        policy.on_wait(Entry { task: Source::GC, die }, true);
        policy.on_wait(Entry { task: Source::HOST, die }, true);
        let start_ns = |task: Source| policy.tags[0].start_ns[task.at()];
        assert_eq!([Source::GC, Source::HOST].map(start_ns), [400.0, 500.0]);
    }
}
