//! The data and requests of the host in the controller, between their arrival and flash.

use crate::buffer::Buffer;
use crate::sim::index::LogicalUnit;
use crate::ssd::redundancy::parity::Parity;
use crate::ssd::requests::ended_transactions::Endings;
use crate::ssd::requests::filling_pages::FillingPages;
use crate::ssd::requests::firmware_delays::FirmwareDelays;

/// The parts through which host data passes. Only a part's own module writes its fields.
pub(in crate::ssd) struct HostSide {
    /// The content of DRAM, if the drive has a write buffer.
    pub(in crate::ssd) buffer: Option<Buffer>,
    /// Requests that firmware is processing, if that takes time.
    pub(in crate::ssd) delays: Option<Box<FirmwareDelays>>,
    /// Pages that fill, if small writes wait for each other.
    pub(in crate::ssd) filling: Option<Box<FillingPages>>,
    /// Parity of stripes, if there is any.
    pub(in crate::ssd) parity: Option<Box<Parity>>,
    /// Transactions that ended or were split, for the requests that they belong to.
    pub(in crate::ssd) endings: Endings,
}

impl HostSide {
    /// Whether a unit's newest data is in DRAM: in the buffer, or in a page that fills.
    #[inline(always)]
    pub fn is_in_dram(&self, unit: LogicalUnit) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.holds(unit)) || self.is_filling(unit)
    }

    /// Whether a unit's newest data is in a page that fills, or is on its way to flash from there.
    #[inline(always)]
    pub fn is_filling(&self, unit: LogicalUnit) -> bool {
        self.filling.as_ref().is_some_and(|filling| filling.holds(unit))
    }
}
