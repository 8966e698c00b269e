//! The controller of a drive: its parts, and the cycle in which they act.
//!
//! `assembly` makes a back end; `back_end_interface` and `counter_readings` are its interface for the rest of the
//! simulation.

use super::admission::Admission;
use super::dies::die_table::DieTable;
use super::gc::gc_state::Collector;
use super::map::data_map::DataMap;
use super::requests::host_side::HostSide;
use super::run_records::Records;
use super::scheme::Scheme;
pub(super) use crate::dispatch::queues::Queue;
use crate::dispatch::queues::Queues;
use crate::dispatch::txn::Txns;
use crate::flash::geometry::Geometry;
use crate::flash::{ArrayEnd, Flash, TransferEnd};
use crate::ftl::core::Ftl;
use crate::observe::observers::Observers;
use crate::sim::index::{ChannelId, DieId};
use crate::sim::invariant::hold;
use crate::sim::queue::{EventQueue, kind};
use crate::tasks::gc::trigger::TriggerPolicy;

/// The kinds of events of the flash, by what ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlashEvent {
    /// A step of the job that has reserved this die ended: with a transfer on this channel, or in the array (`NONE`).
    LoneStep(DieId, ChannelId),
    /// A part of a command ended; nothing observes its end.
    Part,
    /// A program, an erase or a copyback ended: the die's command with this index.
    InArray(DieId, u8),
    /// A read's data of one plane is in the controller.
    PageOut(DieId, ChannelId),
    /// A program's data is in the register.
    Loaded(DieId, ChannelId),
    /// A read's data begins to leave.
    Leaving(DieId),
    /// The controller has polled the queue of a die, or the die has suspended its command.
    Poll(DieId),
    /// Another transfer ended.
    Transfer(ChannelId),
    /// A time without work ended.
    IdleTime,
}

/// The back end of a drive: its flash, and the controller in front of it.
///
/// # Who owns what
///
/// The back end is made of parts. A part is a struct with private fields in a module of its own: other modules call its
/// methods, and cannot write its fields. `admission`, `gc`, `map`, `host_side`, `records` and `scheme` only bundle such
/// parts. Policies read the drive and decide. The methods of `BackEnd` call policies, and apply their decisions to the
/// parts. Each folder has the methods of its subject, in an `impl BackEnd` in each file:
///
/// | folder | from | to |
/// |---|---|---|
/// | `requests` | a sub-request | a transaction with the reads that it depends on, and back to the request |
/// | `map` | a transaction | its die, after the look-ups that a map in flash needs |
/// | `admission` | a transaction at its die | a queue of the die, with a slot and, for a write, a page reserved |
/// | `dies` | queues | commands, with addresses bound; a command's end back to its transactions |
/// | `gc` | a watermark, an order, a task | jobs or relocations, and their steps |
/// | `redundancy` | a write, a trim, a read that is blocked | writes of parity, reads of the rest of a stripe |
///
/// # The cycle
///
/// 1. An event of flash arrives: `BackEnd::on_event` identifies what ended.
/// 2. Everything that this event completes ends, in this order: pages, transactions, steps, jobs (`dies::completion`).
/// 3. Each transaction that ends admits others at once (`admission::transaction_end`). When a job ends, it starts the
///    collection that follows, and then releases its slot (`gc::collection_course`, `release_job`).
/// 4. The channel is granted to the next transfer.
/// 5. Requests take the completions ([`super::Ssd::take_completion`]); a closed loop submits new requests.
/// 6. `BackEnd::dispatch_ready` visits the marked dies, in the order in which they were marked. All arrivals of a
///    moment are one event, so that requests that arrive together can share a command.
/// 7. The drive checks whether it is idle.
///
/// No method waits: later work is an event, an entry of a queue, or a mark.
///
/// # What it costs
///
/// Endings are processed one by one: each transaction that ends calls admission at once, although the next ending may
/// follow in the same event. Results depend on that order, so endings may not be batched. A collection's step that
/// nothing can join or delay leaves the cycle: its end leads to the next step in place (`gc::lone_steps`). Most events
/// of a drive in use are such steps.
pub struct BackEnd {
    /// The location of data, and the content of blocks. It has no clock.
    pub(super) ftl: Ftl,
    /// The shape of the drive as the translation layer sees it. Invariant: equal to `ftl.geometry`.
    pub(super) geometry: Geometry,
    /// Dies, registers and channels.
    pub(super) flash: Flash<Observers>,
    /// The policies, and constants from the configuration.
    pub(super) scheme: Scheme,
    /// The waiting work and the reserving job of each die, and the marked dies.
    pub(super) dies: DieTable,
    /// Transactions in progress.
    pub(super) txns: Txns,
    /// The lists of waiting transactions. Invariant: each transaction is on one list at most.
    pub(super) queues: Queues,
    /// Windows of dies, shares of tasks, reserved pages.
    pub(super) admission: Admission,
    /// The parts that relocate blocks.
    pub(super) gc: Collector,
    /// The parts that know the location of data, beside the translation layer.
    pub(super) map: DataMap,
    /// The host's data and requests in the controller.
    pub(super) host_side: HostSide,
    /// The records of the drive.
    pub(super) records: Records,
}

impl BackEnd {
    /// Handles one event of the drive; `local` counts from its first timer. `KIND`: the end that it marks
    /// ([`kind`]), so that there is code for each kind. Returns whether something outside may follow: a request
    /// completes, or a die can take waiting work.
    #[inline(always)]
    pub(crate) fn on_event<const KIND: u8>(&mut self, local: u32, events: &mut EventQueue) -> bool {
        // 1. What ended?
        let (die, channel) = match self.what_ended::<KIND>(local, events) {
            // A step of a collection that has its die to itself leaves the cycle: the next step follows in place,
            // before the channel goes to others. Nothing else can have changed.
            FlashEvent::LoneStep(die, channel) => {
                self.notify_die_search(die);
                let goes_on = self.end_lone_step(die, events);
                if channel.is_some() && (goes_on || !self.defers_grant(die, channel, events)) {
                    self.flash.grant(channel, events);
                }
                return !goes_on;
            }
            FlashEvent::Part => return false,
            // 2. A command ended, or its data of a plane arrived. 3. Its transactions end, and each admits others
            //    (`admission::transaction_end`). Then its job takes its next step, or ends (`gc::collection_course`).
            FlashEvent::InArray(die, at) => {
                self.notify_die_search(die);
                self.end_in_array(die, at, events);
                return true;
            }
            FlashEvent::PageOut(die, channel) => {
                self.notify_die_search(die);
                self.end_page_out(die, events);
                (die, channel)
            }
            // The die may take another command, or its collection may continue.
            FlashEvent::Loaded(die, channel) => {
                self.end_load(die, events);
                (die, channel)
            }
            FlashEvent::Leaving(die) => {
                self.mark_ready(die);
                return true;
            }
            FlashEvent::Poll(die) => return !self.on_poll_end(die, events),
            FlashEvent::IdleTime => {
                self.on_idle(events);
                return true;
            }
            FlashEvent::Transfer(channel) => (DieId::NONE, channel),
        };
        // 4. The channel of a transfer that ended goes to the next one.
        self.pass_channel_on(channel, die, events);
        // 5. The requests take what ended (`Ssd::take_completion`). 6. Marked dies are visited (`dispatch_ready`).
        true
    }

    /// Translates an event of the flash into what ended.
    #[inline(always)]
    fn what_ended<const KIND: u8>(&mut self, local: u32, events: &mut EventQueue) -> FlashEvent {
        let (dies, channels) = (self.geometry.dies, self.geometry.channels);
        let is_array = match KIND {
            kind::READ | kind::PROGRAM => true,
            kind::TRANSFER => false,
            _ => local < dies,
        };
        debug_assert_eq!(is_array, local < dies, "an event of kind {KIND} on timer {local} of {dies} dies");
        if is_array {
            let die = DieId(local);
            match self.flash.on_array_end(die, events) {
                ArrayEnd::EndedAlone => FlashEvent::LoneStep(die, ChannelId::NONE),
                ArrayEnd::Ended(at) => FlashEvent::InArray(die, at),
                ArrayEnd::DelayElapsed => FlashEvent::Poll(die),
                ArrayEnd::Leaving if self.scheme.settings.observes_reads() => FlashEvent::Leaving(die),
                ArrayEnd::LeavingAlone | ArrayEnd::Leaving | ArrayEnd::Held => FlashEvent::Part,
            }
        } else if KIND == kind::TRANSFER || local < dies + channels {
            let channel = ChannelId(local - dies);
            match self.flash.on_channel_event(channel) {
                TransferEnd::PageOutAlone(die) => FlashEvent::LoneStep(die, channel),
                TransferEnd::PageOut(die) => FlashEvent::PageOut(die, channel),
                TransferEnd::Loaded(die) => FlashEvent::Loaded(die, channel),
                TransferEnd::Unobserved => FlashEvent::Transfer(channel),
            }
        } else {
            FlashEvent::IdleTime
        }
    }

    /// Lets each marked die take commands until it takes none, in the order of the marks. Dies that are marked
    /// meanwhile follow after the others.
    #[inline]
    pub(crate) fn dispatch_ready(&mut self, events: &mut EventQueue) {
        let (mut next, mut decisions) = (0, 0);
        while let Some(die) = self.dies.unmark(next) {
            next += 1;
            // Commands, until the die takes none: a job's step, or what the order names.
            while self.take_next(die, events) {
                decisions += 1;
                hold!(
                    decisions < self.scheme.settings.decisions_max,
                    DecisionsEnd,
                    "{die:?}: {}",
                    self.describe_waiting()
                );
            }
            // Updates of the map in flash that these writes need.
            if self.looks_up() {
                self.update_written(events);
            }
            // The die's clock runs for its current occupant.
            self.update_clock(die, events.now_ns());
        }
        self.dies.clear_marked();
        // 7. The drive may have become idle.
        if self.scheme.trigger.idle().is_some() {
            self.time_idleness(events);
        }
    }
}
