//! Firmware delays: requests that firmware is processing. They go to their dies when their delay is over.

use crate::dispatch::txn::{Role, Txn};
use crate::flash::source::Account;
use crate::observe::report::Cause;
use crate::sim::index::TxnId;
use crate::sim::queue::{EventQueue, Timer};
use crate::ssd::back_end::BackEnd;
use crate::tasks::delays::{Delays, Params};
use std::collections::VecDeque;

/// The requests of each task that firmware is processing, in order.
pub(in crate::ssd) struct FirmwareDelays {
    delays: Delays,
    in_firmware: [VecDeque<(u64, TxnId)>; Account::ALL.len()],
    timer: Timer,
    /// When the timer is due.
    due_ns: u64,
}

impl FirmwareDelays {
    pub fn new(params: &Params, seed: u64, timer: Timer) -> Self {
        let in_firmware = std::array::from_fn(|_| VecDeque::with_capacity(64));
        Self { delays: Delays::new(params, seed), in_firmware, timer, due_ns: u64::MAX }
    }

    /// Whether firmware processes no request.
    pub fn is_at_rest(&self) -> bool {
        self.in_firmware.iter().all(VecDeque::is_empty)
    }

    /// The task whose next request is ready first; of equal times the first task.
    fn next(&self) -> Option<(u64, usize)> {
        let firsts = self.in_firmware.iter().enumerate();
        firsts.filter_map(|(task, in_firmware)| Some((in_firmware.front()?.0, task))).min()
    }

    fn arm(&mut self, events: &mut EventQueue) {
        let Some((due_ns, _)) = self.next() else { return };
        if events.is_pending(self.timer) {
            if due_ns >= self.due_ns {
                return;
            }
            events.cancel(self.timer);
        }
        self.due_ns = due_ns;
        events.schedule(self.timer, due_ns);
    }
}

impl BackEnd {
    /// Whether requests of the host go to their dies at once.
    #[inline(always)]
    pub(crate) fn is_direct(&self) -> bool {
        self.scheme.settings.is_direct
    }

    /// A new request of the host: firmware begins to process it, or it looks its entries up. Evictions of a buffer need
    /// no processing.
    #[inline(never)]
    pub(crate) fn submit_new(&mut self, txn: Txn, events: &mut EventQueue) {
        let id = self.add_txn(txn);
        match self.txns[id].role {
            Role::Evict if self.looks_up() => self.look_up_first(id, events),
            Role::Evict => self.send_write(id, events),
            _ if self.has_firmware_delays() => self.delay(id, events),
            _ => self.look_up_first(id, events),
        }
    }

    /// Whether the drive has firmware delays.
    #[inline(always)]
    pub(crate) fn has_firmware_delays(&self) -> bool {
        self.host_side.delays.is_some()
    }

    /// Firmware begins to process a request, which continues when that is done.
    #[cold]
    #[inline(never)]
    pub(crate) fn delay(&mut self, id: TxnId, events: &mut EventQueue) {
        let (task, role, now_ns) = (self.txns[id].task, self.txns[id].role, events.now_ns());
        let looks_up = matches!(role, Role::Read | Role::UpdateRead | Role::Write);
        let delaying = self.host_side.delays.as_mut().expect("requests are delayed");
        let ready_ns = delaying.delays.ready_at(task, looks_up, now_ns);
        delaying.in_firmware[task.account().at()].push_back((ready_ns, id));
        delaying.arm(events);
        self.txns[id].breakdown_ns[Cause::Scheduler as usize] += ready_ns - now_ns;
    }

    /// Continues requests that firmware has processed by now.
    pub(in crate::ssd) fn on_firmware_done(&mut self, events: &mut EventQueue) {
        loop {
            let Some(delaying) = &mut self.host_side.delays else { return };
            let Some((_, task)) = delaying.next().filter(|&(ready_ns, _)| ready_ns <= events.now_ns()) else { break };
            let (_, id) = delaying.in_firmware[task].pop_front().expect("it is the next");
            self.continue_processed(id, events);
        }
        if let Some(delaying) = &mut self.host_side.delays {
            delaying.arm(events);
        }
    }

    /// A processed request continues with the look-up of its entries, the choice of its die, or its arrival at its die.
    fn continue_processed(&mut self, id: TxnId, events: &mut EventQueue) {
        match self.txns[id].role {
            Role::Read | Role::UpdateRead | Role::Write if self.looks_up() => self.look_up_first(id, events),
            Role::Read | Role::UpdateRead => self.go_to_dies(id, events),
            Role::Write => self.send_write(id, events),
            Role::MapRead | Role::MapWrite => self.hand_map_txn(id, events),
            _ => self.submit(id, events),
        }
    }
}
