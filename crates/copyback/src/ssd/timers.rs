//! Alarms: what a drive waits for beside the ends of commands.

use super::drive::Drive;
use crate::sim::queue::{EventQueue, Timer};

/// What a drive waits for beside the ends of commands and of a time without work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A page has waited for more for as long as it may.
    FillLimit,
    /// Shares of tasks are to be updated.
    Shares,
    /// A task has found something to do.
    Background,
    /// Firmware has made a request.
    Made,
}

/// How many alarms there are.
pub const ALARMS: u32 = 4;

/// The timers of a drive: those of its alarms, which come before what flash does at the same moment, and from `first`
/// on [`Drive::timers`] others. Alarms are rare, and told apart where the loop over events does not pass.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// Alarms, [`ALARMS`] of them.
    pub alarms: Alarms,
    /// The first of the others.
    pub first: u32,
}

/// The timers of a drive's alarms, from this one on.
#[derive(Clone, Copy, Debug)]
pub struct Alarms(pub u32);

impl Alarms {
    pub(super) fn timer(self, alarm: Alarm) -> Timer {
        Timer(self.0 + alarm as u32)
    }
}

impl Alarm {
    /// The alarm of a place in their order.
    pub fn at(place: u32) -> Self {
        [Self::FillLimit, Self::Shares, Self::Background, Self::Made][place as usize]
    }
}

impl Drive {
    /// An alarm of the drive came up.
    #[cold]
    pub fn on_alarm(&mut self, alarm: Alarm, events: &mut EventQueue) {
        match alarm {
            Alarm::FillLimit => self.on_fill_limit(events),
            Alarm::Shares => self.update_shares(events),
            Alarm::Background => self.on_background_alarm(events),
            Alarm::Made => self.on_made(events),
        }
    }
}
