//! The channels: one transfer at a time, the others wait in order.
//!
//! A channel that is free is granted in line, without an event. Who finds it busy waits; then the channel's own event,
//! at the end of the transfer under way, grants the next. A die wants at most one transfer at a time.
//!
//! Command cycles without data go before all data. They are short, and what they start runs beside the transfers. Behind
//! the data of the other dies they would hold up their own die until all of them had sent theirs; then all dies would
//! sense at once, and the channel be idle meanwhile.

use crate::sim::index::{ChannelId, DieId};
use crate::sim::invariant::hold;
use crate::sim::lists::Lists;

/// One channel.
#[derive(Clone, Debug)]
struct Channel {
    busy_until_ns: u64,
    busy_ns: u64,
    /// The die that has to hear of the end of the transfer under way.
    listener: DieId,
    /// Dies that wait for it.
    waiting: u32,
}

/// What a die waits for the channel with: the first goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Turn {
    /// Command cycles without data.
    Cycles,
    /// Data of background work, where that goes before the host's.
    Urgent,
    /// Data.
    Data,
}

const TURNS: usize = 3;

/// All channels of a drive.
pub struct Channels {
    channels: Vec<Channel>,
    /// For each channel the waiters of each turn.
    waiters: Lists,
    urgent_first: bool,
}

impl Channels {
    /// Free channels for `dies` dies. `urgent_first`: urgent data goes before other data.
    pub fn new(channels: u32, dies: u32, urgent_first: bool) -> Self {
        let free = Channel { busy_until_ns: 0, busy_ns: 0, listener: DieId::NONE, waiting: 0 };
        Self {
            channels: vec![free; channels as usize],
            waiters: Lists::new(TURNS * channels as usize, dies as usize),
            urgent_first,
        }
    }

    /// Whether a die may start a transfer at once: the channel is free, its last transfer's end was heard, and nobody
    /// waits for it.
    #[inline(always)]
    pub fn is_free(&self, channel: ChannelId, now_ns: u64) -> bool {
        let c = &self.channels[channel.at()];
        c.busy_until_ns <= now_ns && c.listener.is_none() && !self.has_waiters(channel)
    }

    /// Whether a die waits.
    #[inline(always)]
    pub fn has_waiters(&self, channel: ChannelId) -> bool {
        self.channels[channel.at()].waiting > 0
    }

    /// Lets a die wait.
    pub fn wait(&mut self, channel: ChannelId, die: DieId, turn: Turn) {
        let turn = if turn == Turn::Urgent && !self.urgent_first { Turn::Data } else { turn };
        self.channels[channel.at()].waiting += 1;
        self.waiters.push_back(TURNS * channel.at() + turn as usize, die.0);
    }

    /// The waiter whose turn it is, taken off.
    pub fn next_waiter(&mut self, channel: ChannelId) -> Option<DieId> {
        let first = TURNS * channel.at();
        let die = (first..first + TURNS).find_map(|list| self.waiters.pop_front(list))?;
        self.channels[channel.at()].waiting -= 1;
        Some(DieId(die))
    }

    /// Occupies the channel from `now_ns` for `duration_ns`; `listener` hears of the end, if it is a die.
    ///
    /// # Panics
    /// When the channel is busy: two transfers would overlap.
    #[inline(always)]
    pub fn occupy(&mut self, channel: ChannelId, now_ns: u64, duration_ns: u64, listener: DieId) -> u64 {
        let c = &mut self.channels[channel.at()];
        hold!(
            c.listener.is_none() && c.busy_until_ns <= now_ns,
            TransferHeard,
            "{channel:?} is busy until {} ns, not free at {now_ns} ns, and {:?} has to hear of it",
            c.busy_until_ns,
            c.listener
        );
        c.busy_until_ns = now_ns + duration_ns;
        c.busy_ns += duration_ns;
        c.listener = listener;
        c.busy_until_ns
    }

    /// Who has to hear that the transfer under way ended; asked once.
    #[inline(always)]
    pub fn take_listener(&mut self, channel: ChannelId) -> DieId {
        std::mem::replace(&mut self.channels[channel.at()].listener, DieId::NONE)
    }

    /// Whether the transfer of a die has ended, and the die has not heard of it.
    #[inline(always)]
    pub fn has_ended(&self, channel: ChannelId, die: DieId, now_ns: u64) -> bool {
        let c = &self.channels[channel.at()];
        c.listener == die && c.busy_until_ns <= now_ns
    }

    /// When the transfer under way ends.
    #[inline(always)]
    pub fn busy_until_ns(&self, channel: ChannelId) -> u64 {
        self.channels[channel.at()].busy_until_ns
    }

    /// Time in use, of all channels together.
    pub fn busy_ns(&self) -> u64 {
        self.channels.iter().map(|c| c.busy_ns).sum()
    }
}
