//! The channels: one transfer at a time, the others wait in order.
//!
//! A channel that is free is granted in line, without an event. Who finds it busy waits; then the channel's own event,
//! at the end of the transfer under way, grants the next. A die wants at most one transfer at a time.

use crate::check::hold;
use crate::ftl::lists::Lists;
use crate::sim::index::{ChannelId, DieId};

/// One channel.
#[derive(Clone, Debug)]
struct Channel {
    busy_until_ns: u64,
    busy_ns: u64,
    /// The die that has to hear of the end of the transfer under way.
    listener: DieId,
}

/// All channels of a drive.
pub struct Channels {
    channels: Vec<Channel>,
    /// For each channel the waiters that go first, then the others.
    waiters: Lists,
    urgent_first: bool,
}

impl Channels {
    /// Free channels for `dies` dies. `urgent_first`: transfers of background work overtake those of the host.
    pub fn new(channels: u32, dies: u32, urgent_first: bool) -> Self {
        let free = Channel { busy_until_ns: 0, busy_ns: 0, listener: DieId::NONE };
        Self {
            channels: vec![free; channels as usize],
            waiters: Lists::new(2 * channels as usize, dies as usize),
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
        !self.waiters.is_empty(2 * channel.at()) || !self.waiters.is_empty(2 * channel.at() + 1)
    }

    /// Lets a die wait.
    pub fn wait(&mut self, channel: ChannelId, die: DieId, urgent: bool) {
        let list = 2 * channel.at() + usize::from(!(urgent && self.urgent_first));
        self.waiters.push_back(list, die.0);
    }

    /// The waiter whose turn it is, taken off.
    pub fn next_waiter(&mut self, channel: ChannelId) -> Option<DieId> {
        let list = 2 * channel.at();
        self.waiters.pop_front(list).or_else(|| self.waiters.pop_front(list + 1)).map(DieId)
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
