//! Alarms: the events of a drive other than the ends of commands and of idle times.

use super::back_end::BackEnd;
use crate::sim::queue::{EventQueue, Timer};

/// The events of a drive other than the ends of commands and of idle times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A page has waited for further writes for as long as it may.
    FillLimit,
    /// Shares of tasks are to be updated.
    Shares,
    /// A background task has found something to do, or has set an alarm for this time.
    Background,
    /// Firmware has processed a request.
    FirmwareDone,
}

/// How many alarms there are.
pub const ALARMS: u32 = 4;

/// The timers of a drive: those of its alarms, and others from `first` on, as many as [`BackEnd::timers`] returns. At
/// equal times, alarms precede flash events. They are rare, and handled outside of the hot path of the event loop.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// Alarms, [`ALARMS`] of them.
    pub alarms: Alarms,
    /// The first of the others.
    pub first: u32,
}

/// The timers of a drive's alarms; this is the first.
#[derive(Clone, Copy, Debug)]
pub struct Alarms(pub u32);

impl Alarms {
    pub(super) fn timer(self, alarm: Alarm) -> Timer {
        Timer(self.0 + alarm as u32)
    }
}

impl Alarm {
    /// The alarm with this index.
    pub fn at(place: u32) -> Self {
        [Self::FillLimit, Self::Shares, Self::Background, Self::FirmwareDone][place as usize]
    }
}

impl BackEnd {
    /// An alarm of the drive came up.
    #[cold]
    pub fn on_alarm(&mut self, alarm: Alarm, events: &mut EventQueue) {
        match alarm {
            Alarm::FillLimit => self.on_fill_limit(events),
            Alarm::Shares => self.update_shares(events),
            Alarm::Background => self.on_background_alarm(events),
            Alarm::FirmwareDone => self.on_firmware_done(events),
        }
    }
}
