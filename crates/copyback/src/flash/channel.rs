//! The channels: one transfer at a time, the others wait in order.
//!
//! A free channel is granted at once, without an event. A die that finds it busy waits; the channel's own event, at the
//! end of the current transfer, grants the next. A die requests at most one transfer at a time.
//!
//! Command cycles without data precede all data. They are short, and the commands that they start overlap the
//! transfers. If they waited behind the data of other dies, their own die would begin only after all others had sent
//! their data. All dies would then read their arrays at the same time, while the channel is idle.

use crate::sim::index::{ChannelId, DieId};
use crate::sim::invariant::hold;
use crate::sim::lists::Lists;

/// One channel.
#[derive(Clone, Debug)]
pub struct Channel {
    busy_until_ns: u64,
    busy_ns: u64,
    /// The die to notify at the end of the current transfer.
    listener: DieId,
    /// Dies that wait for it.
    waiting: u32,
}

impl Channel {
    /// Whether a die may start a transfer at once: the channel is free, the end of its last transfer was processed, and
    /// no die waits for it.
    #[inline(always)]
    pub fn is_free(&self, now_ns: u64) -> bool {
        self.busy_until_ns <= now_ns && self.listener.is_none() && !self.has_waiters()
    }

    /// Whether a die waits.
    #[inline(always)]
    pub fn has_waiters(&self) -> bool {
        self.waiting > 0
    }

    /// Occupies the channel from `now_ns` for `duration_ns`; `listener` is notified of the end, if it is a die.
    ///
    /// # Panics
    /// When the channel is busy: two transfers would overlap.
    #[inline(always)]
    pub fn occupy(&mut self, now_ns: u64, duration_ns: u64, listener: DieId) -> u64 {
        hold!(
            self.listener.is_none() && self.busy_until_ns <= now_ns,
            TransferEnded,
            "a transfer begins at {now_ns} ns; the channel is busy until {} ns, and has to notify {:?} of that end",
            self.busy_until_ns,
            self.listener
        );
        self.busy_until_ns = now_ns + duration_ns;
        self.busy_ns += duration_ns;
        self.listener = listener;
        self.busy_until_ns
    }

    /// The die to notify that the current transfer ended; returned once.
    #[inline(always)]
    pub fn take_listener(&mut self) -> DieId {
        std::mem::replace(&mut self.listener, DieId::NONE)
    }

    /// Whether the transfer of a die has ended, and the end was not processed.
    #[inline(always)]
    pub fn has_ended(&self, die: DieId, now_ns: u64) -> bool {
        self.listener == die && self.busy_until_ns <= now_ns
    }

    /// The time at which the current transfer ends.
    #[inline(always)]
    pub fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }
}

/// The classes of transfers that wait for a channel, in order of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TransferClass {
    /// Command cycles without data.
    Cycles,
    /// Data of background work, if it precedes the host's.
    Urgent,
    /// Data.
    Data,
}

const CLASSES: usize = 3;

/// The dies that wait for each channel: one list for each priority.
pub struct Waiters {
    lists: Lists,
    urgent_first: bool,
}

impl Waiters {
    /// Lets a die wait for a channel.
    pub fn wait(&mut self, number: ChannelId, channel: &mut Channel, die: DieId, class: TransferClass) {
        let class = if class == TransferClass::Urgent && !self.urgent_first { TransferClass::Data } else { class };
        channel.waiting += 1;
        self.lists.push_back(CLASSES * number.at() + class as usize, die.0);
    }

    /// The waiter whose turn it is, taken off.
    pub fn next(&mut self, number: ChannelId, channel: &mut Channel) -> Option<DieId> {
        let first = CLASSES * number.at();
        let die = (first..first + CLASSES).find_map(|list| self.lists.pop_front(list))?;
        channel.waiting -= 1;
        Some(DieId(die))
    }
}

/// All channels of a drive.
pub struct Channels {
    list: Vec<Channel>,
    waiters: Waiters,
}

impl Channels {
    /// Free channels for `dies` dies. `urgent_first`: urgent data goes before other data.
    pub fn new(channels: u32, dies: u32, urgent_first: bool) -> Self {
        let free = Channel { busy_until_ns: 0, busy_ns: 0, listener: DieId::NONE, waiting: 0 };
        let lists = Lists::new(CLASSES * channels as usize, dies as usize);
        Self { list: vec![free; channels as usize], waiters: Waiters { lists, urgent_first } }
    }

    /// A channel, and the dies that wait for it.
    #[inline(always)]
    pub fn split(&mut self, number: ChannelId) -> (&mut Channel, &mut Waiters) {
        (&mut self.list[number.at()], &mut self.waiters)
    }

    /// Time in use until now, of all channels together; of a current transfer, the part that has passed.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        self.list.iter().map(|channel| channel.busy_ns - channel.busy_until_ns.saturating_sub(now_ns)).sum()
    }
}

impl std::ops::Index<ChannelId> for Channels {
    type Output = Channel;
    #[inline(always)]
    fn index(&self, number: ChannelId) -> &Channel {
        &self.list[number.at()]
    }
}

impl std::ops::IndexMut<ChannelId> for Channels {
    #[inline(always)]
    fn index_mut(&mut self, number: ChannelId) -> &mut Channel {
        &mut self.list[number.at()]
    }
}
