//! The controller of an array: messages between drives and a policy, and rounds.

use super::{Common, CoordinationPolicy, CoordinationView, Drives, Message, Order};
use crate::observe::array_report::RoundTotals;
use crate::ssd::gc::coordinated_drive::{Force, MinimumCollections, PauseMode, Report};
use crate::tasks::gc::trigger::FreeLevel;
use std::collections::VecDeque;

/// An order to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveOrder {
    /// To collect.
    Force(Force),
    /// To pause.
    Pause(PauseMode),
}

/// A message with its sender or receiver.
#[derive(Clone, Copy, Debug)]
enum Envelope {
    FromDrive(u32, Report),
    ToDrive(u32, DriveOrder),
}

/// A round of coordinated collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The drives that it forces.
    pub drives: Drives,
    /// When they were ordered to collect.
    pub began_ns: u64,
}

/// The state of the array that a controller reads in addition to messages.
#[derive(Clone, Copy, Debug)]
pub struct ArrayState {
    /// Simulated time.
    pub now_ns: u64,
    /// The time since which no request is outstanding.
    pub idle_since_ns: Option<u64>,
}

/// See the module's page.
pub struct Controller {
    policy: Box<dyn CoordinationPolicy + Send>,
    latency_ns: u64,
    drives: Drives,
    /// The last round that began, and its drives that have not completed their forced collections.
    round: Round,
    in_round: Drives,
    /// The last round that ended, if it was not read yet.
    ended: Option<Round>,
    /// Reports of levels during the round, kept for the next round.
    kept: Vec<(u32, FreeLevel)>,
    in_transit: VecDeque<(u64, Envelope)>,
    /// Whether the host is done.
    is_over: bool,
    totals: RoundTotals,
}

impl Controller {
    /// A controller of these drives.
    pub fn new(policy: Box<dyn CoordinationPolicy + Send>, common: &Common, drives: Drives) -> Self {
        let latency_ns = common.message_latency_ns;
        let (kept, in_transit, totals) = Default::default();
        let round = Round { drives: 0, began_ns: 0 };
        Self { policy, latency_ns, drives, round, in_round: 0, ended: None, kept, in_transit, is_over: false, totals }
    }

    /// Whether the controller has a drive.
    pub fn has(&self, drive: u32) -> bool {
        self.drives >> drive & 1 == 1
    }

    /// The totals of the controller's work.
    pub fn totals(&self) -> RoundTotals {
        self.totals
    }

    /// The current round.
    pub fn round(&self) -> Option<Round> {
        (self.in_round != 0).then_some(self.round)
    }

    /// Takes the round that ended in the last call of [`Self::next_order`]. There is at most one, because a drive gets
    /// an order before another round can end.
    pub fn take_ended_round(&mut self) -> Option<Round> {
        self.ended.take()
    }

    /// Time between two polls.
    pub fn poll_every_ns(&self) -> Option<u64> {
        self.policy.poll_every_ns()
    }

    /// Whether drives report their level at each poll.
    pub fn asks_levels(&self) -> bool {
        self.policy.asks_levels()
    }

    /// Whether its policy is notified when a part begins.
    pub fn observes_parts(&self) -> bool {
        self.policy.observes_parts()
    }

    /// The host is done: later messages have no effect.
    pub fn end(&mut self) {
        self.is_over = true;
        // A drive whose order is still on its way was not forced.
        let is_order = |(_, envelope): &(u64, Envelope)| matches!(envelope, Envelope::ToDrive(_, DriveOrder::Force(_)));
        self.totals.drives_forced -= self.in_transit.drain(..).filter(is_order).count() as u64;
    }

    /// Accepts a report of a drive.
    pub fn post(&mut self, drive: u32, report: Report, now_ns: u64) {
        self.send(Envelope::FromDrive(drive, report), now_ns);
    }

    fn send(&mut self, envelope: Envelope, now_ns: u64) {
        if self.is_over {
            return;
        }
        self.totals.messages += 1;
        self.in_transit.push_back((now_ns + self.latency_ns, envelope));
    }

    /// When the next message arrives.
    pub fn next_arrival_ns(&self) -> Option<u64> {
        self.in_transit.front().map(|(due_ns, _)| *due_ns)
    }

    /// The next drive that gets an order now, and the order. The caller posts its drives' messages before it calls
    /// again.
    pub fn next_order(&mut self, state: ArrayState) -> Option<(u32, DriveOrder)> {
        while self.next_arrival_ns().is_some_and(|due_ns| due_ns <= state.now_ns) {
            match self.in_transit.pop_front().expect("there is one").1 {
                Envelope::ToDrive(drive, order) => return Some((drive, order)),
                Envelope::FromDrive(drive, Report::Done) => self.on_done(drive, state),
                Envelope::FromDrive(drive, Report::AboveMiddle(share)) => {
                    self.on_message(Message::AboveMiddle(drive, share), state);
                }
                Envelope::FromDrive(drive, Report::Low(level)) => {
                    if self.in_round == 0 {
                        self.on_message(Message::Low(drive, level), state);
                    } else if self.in_round >> drive & 1 == 0 {
                        self.kept.push((drive, level));
                    }
                    // A drive of the round has reported before, and reports its level again when it is done.
                }
            }
        }
        None
    }

    /// A drive completed its forced collections.
    fn on_done(&mut self, drive: u32, state: ArrayState) {
        let was_last = self.in_round == 1 << drive;
        self.in_round &= !(1 << drive);
        if !was_last {
            return;
        }
        let lasted_ns = state.now_ns - self.round.began_ns;
        self.ended = Some(self.round);
        self.totals.rounds += 1;
        self.totals.rounds_ns += lasted_ns;
        self.on_message(Message::RoundEnd, state);
        // Reports during the round count for the next round: first registrations, then requests for a round, in order.
        // When one of them begins a round, the later ones are kept.
        let kept = std::mem::take(&mut self.kept);
        for &(drive, level) in &kept {
            self.on_message(Message::Low(drive, level.min(FreeLevel::Report)), state);
        }
        let mut asking = kept.into_iter().filter(|(_, level)| *level > FreeLevel::Report);
        while self.in_round == 0 {
            let Some((drive, level)) = asking.next() else { break };
            self.on_message(Message::Low(drive, level), state);
        }
        // A drive of that round has what it requested.
        let in_round = self.in_round;
        self.kept.extend(asking.filter(|(drive, _)| in_round >> drive & 1 == 0));
    }

    /// Passes a message of the controller, or of a drive, to the policy, and sends its orders.
    pub fn on_message(&mut self, message: Message, state: ArrayState) {
        if self.is_over {
            return;
        }
        let view = CoordinationView {
            now_ns: state.now_ns,
            drives: self.drives,
            idle_since_ns: state.idle_since_ns,
            in_round: self.in_round,
        };
        match self.policy.on_message(message, &view) {
            None => {}
            Some(Order::Force { drives, resumed, force }) => {
                assert!(resumed & !drives == 0, "drives {resumed:b} resume, but the round has {drives:b}");
                assert!(self.in_round == 0 && drives != 0, "a round of {drives:b} during one of {:b}", self.in_round);
                (self.in_round, self.round) = (drives, Round { drives, began_ns: state.now_ns });
                self.totals.drives_forced += u64::from(drives.count_ones());
                let rest = Force { owed: MinimumCollections::Rest, ..force };
                let order = |drive: u32| DriveOrder::Force(if resumed >> drive & 1 == 1 { rest } else { force });
                self.send_order(drives, order, state.now_ns);
            }
            Some(Order::Pause(drives, on_request)) => {
                self.send_order(drives, |_| DriveOrder::Pause(on_request), state.now_ns)
            }
        }
    }

    fn send_order(&mut self, drives: Drives, order: impl Fn(u32) -> DriveOrder, now_ns: u64) {
        for drive in (0..Drives::BITS).filter(|drive| drives >> drive & 1 == 1) {
            self.send(Envelope::ToDrive(drive, order(drive)), now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CoordinationConfig;
    use super::*;

    /// The drives that get an order when these messages arrive one after the other.
    fn forced(controller: &mut Controller, reports: &[(u32, Report)]) -> Vec<u32> {
        reports.iter().for_each(|&(drive, report)| controller.post(drive, report, 0));
        let state = ArrayState { now_ns: 0, idle_since_ns: None };
        std::iter::from_fn(|| controller.next_order(state)).map(|(drive, _)| drive).collect()
    }

    fn controller(policy: &str) -> Controller {
        let config: CoordinationConfig = crate::config::from_toml(&format!("policy = \"{policy}\"")).expect("a policy");
        Controller::new(config.build().expect("it coordinates"), &config.common().expect("as all do"), 0b1111)
    }

    /// Reports of any drive during a round count for the next round. All registered drives take part in that round, and
    /// none has a separate round afterwards.
    #[test]
    fn reports_during_a_round_count_for_the_next() {
        let (low, start) = (Report::Low(FreeLevel::Report), Report::Low(FreeLevel::Start));
        let mut selective = controller("ggc-reactive-selective");
        assert_eq!(forced(&mut selective, &[(0, low), (2, low), (0, start)]), [0, 2]);
        // Drive 1 requests a round before drives 0 and 3 register; drive 3 requests one, too.
        let during = [(1, low), (1, start), (0, Report::Done), (0, low), (3, low), (3, start)];
        assert_eq!(forced(&mut selective, &during), Vec::<u32>::new());
        assert_eq!(forced(&mut selective, &[(2, Report::Done)]), [0, 1, 3]);
        assert_eq!(forced(&mut selective, &[0, 1, 3].map(|drive| (drive, Report::Done))), Vec::<u32>::new());
        let mut inclusive = controller("ggc-reactive-inclusive");
        assert_eq!(forced(&mut inclusive, &[(1, start), (2, start)]), [0, 1, 2, 3]);
        let all_done = [0, 1, 2, 3].map(|drive| (drive, Report::Done));
        assert_eq!(forced(&mut inclusive, &all_done), Vec::<u32>::new(), "drive 2 took part");
        assert_eq!(inclusive.totals().rounds, 1);
    }
}
