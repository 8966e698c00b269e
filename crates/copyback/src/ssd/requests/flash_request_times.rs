//! Times of the host's flash requests. They are counted only if a report needs them; `served_by_program` and
//! `served_by_read` are called in every run.

use crate::flash::command::Command;
use crate::observe::clocks::charge;
use crate::observe::flash_requests::{FlashRequest, FlashRequestTotals};
use crate::observe::report::Cause;
use crate::sim::index::TxnId;
use crate::ssd::back_end::BackEnd;

/// The parts of a command's time after its issue, for one of its transactions: flash and transfer. `behind_ns` is work
/// of the host that preceded the command after its issue: an earlier program in the array, or reads that suspended the
/// command, with the times to suspend and to resume. The rest of the time counts for the channel.
#[derive(Clone, Copy)]
pub(in crate::ssd) struct ServiceTimes {
    pub flash_ns: u64,
    pub transfer_ns: u64,
    pub behind_ns: u64,
}

impl BackEnd {
    /// Measures the host's flash requests. Before the run starts.
    pub(crate) fn measure_flash_requests(&mut self) {
        self.records.flash_requests = Some(Box::default());
    }

    /// A transaction stops waiting at its die, as in [`BackEnd::stop_waiting`].
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn stop_waiting_counted(&mut self, id: TxnId, now_ns: u64) {
        self.split_wait(id, now_ns, false);
        self.charge_wait(id, now_ns);
    }

    /// A transaction begins or stops waiting for its die's window: charges the time waited until now, so that the
    /// following wait is separate.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn split_wait(&mut self, id: TxnId, now_ns: u64, waited_for_window: bool) {
        let txn = &mut self.txns[id];
        let to = self.dies[txn.die].clocks().read(now_ns);
        if let (Some(totals), Some(kind)) = (&mut self.records.flash_requests, txn.role.flash_request()) {
            totals.on_wait(kind, &txn.clocks, &to, waited_for_window);
        }
        txn.gc_affected |= charge(&mut txn.breakdown_ns, &txn.clocks, &to);
        txn.clocks = to;
    }

    /// How a program served each of its transactions: with its page's own transfer, and the array.
    #[inline(always)]
    pub(in crate::ssd) fn served_by_program(&self, command: &Command) -> ServiceTimes {
        let timing = self.flash.timing();
        ServiceTimes {
            flash_ns: command.array_end_ns - command.array_start_ns,
            transfer_ns: timing.command_ns + timing.transfer_ns(self.geometry.units_per_flash_page),
            // Through the cache register, programs follow only programs of the host: the earlier work of the array was
            // the host's. For a write that joined a collection's program: a suspension moves the array's start by its
            // duration, and counts as work of the host, too. Only reads of the host cause it, and the collection does
            // not use the die meanwhile.
            behind_ns: command.array_start_ns - command.loaded_ns,
        }
    }

    /// How a read served the transaction of one of its parts.
    #[inline(always)]
    pub(in crate::ssd) fn served_by_read(&self, command: &Command, part: usize) -> ServiceTimes {
        let timing = self.flash.timing();
        let transfer_ns = timing.command_ns + timing.transfer_ns(command.parts[part].units);
        let array_ns = command.array_end_ns - command.array_start_ns;
        let flash_ns = if command.cached { array_ns + timing.cache_busy_ns } else { array_ns };
        ServiceTimes { flash_ns, transfer_ns, behind_ns: 0 }
    }

    /// A transaction ends with its program.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn count_program(&mut self, id: TxnId, command: &Command, now_ns: u64) {
        self.count_served(id, self.served_by_program(command), now_ns - command.issued_ns);
    }

    /// A transaction ends with its part of a read.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn count_read(&mut self, id: TxnId, command: &Command, part: usize, now_ns: u64) {
        self.count_served(id, self.served_by_read(command, part), now_ns - command.issued_ns);
    }

    fn count_served(&mut self, id: TxnId, served: ServiceTimes, took_ns: u64) {
        let ServiceTimes { flash_ns, transfer_ns, behind_ns } = served;
        self.count_flash_time(id, Cause::Flash, flash_ns);
        self.count_flash_time(id, Cause::Transfer, transfer_ns);
        self.count_flash_time(id, Cause::HostIo, behind_ns);
        self.count_flash_time(id, Cause::Channel, took_ns - flash_ns - transfer_ns - behind_ns);
        self.count_end(id);
    }

    /// Charges a transaction's time to a cause.
    pub(in crate::ssd) fn count_flash_time(&mut self, id: TxnId, cause: Cause, ns: u64) {
        if let Some((totals, kind)) = self.flash_request(id) {
            totals.on_time(kind, cause, ns);
        }
    }

    /// A transaction ends, with a command or without.
    pub(in crate::ssd) fn count_end(&mut self, id: TxnId) {
        if let Some((totals, kind)) = self.flash_request(id) {
            totals.on_end(kind);
        }
    }

    fn flash_request(&mut self, id: TxnId) -> Option<(&mut FlashRequestTotals, FlashRequest)> {
        Some((self.records.flash_requests.as_deref_mut()?, self.txns[id].role.flash_request()?))
    }
}
