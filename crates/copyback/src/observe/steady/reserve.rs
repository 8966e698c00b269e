//! Reserves that a drive uses up: free blocks, free space in its buffer, and postponed work.

use super::{ROUNDS, RunPosition, SLOPE_MAX, VerdictInputs, rise};
use serde::{Serialize, Serializer};

/// Largest share of the host's writes that reserves may absorb, and of the programs that may follow the last request.
///
/// In the long run, a drive frees as much as it programs. If a reserve absorbs a share of the host's writes, collection
/// does that much less work, and write amplification is too low by this share. The rule of the SNIA PTS lets a figure
/// drift by a tenth of its mean, so an error of a tenth counts as steady here, too.
pub const RESERVE_MAX: f64 = SLOPE_MAX;

/// The reserves that drives used in the five rounds, as shares: 0.1 is a tenth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reserve {
    /// The decrease of free units in flash and in buffers, along the line that is fitted to the six ends of rounds,
    /// over what the host wrote. Below 0 if they increased.
    pub consumed: f64,
    /// The part of `consumed` in buffers.
    pub buffered: f64,
    /// Units programmed after the last request, over those programmed until then; 0 if nothing was.
    pub postponed: f64,
    /// What the host wrote, over the spare space (physical less logical units); infinite without any.
    pub spare_written: f64,
}

impl Reserve {
    /// The reserve of five rounds; `None` if the host wrote nothing.
    pub fn of(ends: &[RunPosition; ROUNDS + 1], inputs: &VerdictInputs) -> Option<Self> {
        let (first, last) = (ends[0], ends[ROUNDS]);
        let written = last.host_units - first.host_units;
        if written == 0 {
            return None;
        }
        let fewer = |taken: fn(&RunPosition) -> f64| {
            // Differences are small compared with the counts of a long run.
            rise(&ends.each_ref().map(|mark| taken(mark) - taken(&first))) / written as f64
        };
        let buffered = fewer(|mark| mark.dirty_units as f64);
        let in_flash = fewer(|mark| (mark.flash_units + mark.skipped_units) as f64 - mark.erased_units as f64);
        let programmed = last.flash_units - first.flash_units;
        let postponed = if programmed == 0 { 0.0 } else { inputs.units_after_end as f64 / programmed as f64 };
        let spare_written = written as f64 / inputs.spare_units as f64;
        Some(Self { consumed: in_flash + buffered, buffered, postponed, spare_written })
    }

    /// What free blocks and buffers absorbed, or by how much they grew, for a person.
    pub fn change_text(&self) -> String {
        let percent = 100.0 * self.consumed.abs();
        if self.consumed < 0.0 {
            format!("free blocks and buffers grew by {percent:.1} % of the host's writes")
        } else {
            format!("free blocks and buffers absorbed {percent:.1} % of the host's writes")
        }
    }

    /// Work that was put off until after the last request, for a person.
    pub fn postponed_text(&self) -> String {
        format!("programs after the last request: {:.1} % of those before", 100.0 * self.postponed)
    }

    /// Whether the reserves used, or built up, are too small to matter: collection ahead of need makes write
    /// amplification too high.
    pub fn is_small(&self) -> bool {
        self.consumed.abs() <= RESERVE_MAX && self.postponed <= RESERVE_MAX
    }
}

/// Writes the shares of a reserve, or nulls without one, so that all runs have the same names.
pub(super) fn serialize<S: Serializer>(reserve: &Option<Reserve>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Shares {
        consumed: Option<f64>,
        buffered: Option<f64>,
        postponed: Option<f64>,
        spare_written: Option<f64>,
    }
    let share = |of: fn(&Reserve) -> f64| reserve.as_ref().map(of);
    let (consumed, buffered, postponed) = (share(|r| r.consumed), share(|r| r.buffered), share(|r| r.postponed));
    let spare_written = share(|r| r.spare_written);
    Shares { consumed, buffered, postponed, spare_written }.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Write amplification is too low if a drive uses up reserves, and too high if it builds them up.
    #[test]
    fn reserves_that_change_either_way_are_not_small() {
        let of = |consumed: f64| Reserve { consumed, ..Reserve::default() }.is_small();
        assert_eq!([-0.11, -0.09, 0.09, 0.11].map(of), [false, true, true, false]);
    }
}
