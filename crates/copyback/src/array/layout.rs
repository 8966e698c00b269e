//! The location of each byte of a volume: the arithmetic of RAID levels.
//!
//! A stripe is the unit of parity or of copying: first its members of data, then the members that repeat or protect
//! them. RAID-5 is left-symmetric: the parity of row r is on drive n − 1 − (r mod n), and the data begins on the next
//! drive. Q of RAID-6 is on the drive after P, and the data begins on the next one. RAID-10 mirrors each pair of
//! neighbouring drives and stripes over the pairs; RAID-1 keeps a copy on every drive.

use super::config::RaidLevel;

/// The smallest number of bytes that is whole mapping units of all drives: the least common multiple of their units, at
/// most what 64 bits hold.
pub fn grain_bytes(units: impl Iterator<Item = u64>) -> u64 {
    units.fold(1, |all, unit| {
        let (mut a, mut b) = (all, unit);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        (all / a).saturating_mul(unit)
    })
}

/// A place in a volume: member of a stripe, and byte in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumePosition {
    /// The stripe.
    pub stripe: u64,
    /// The member of its data.
    pub member: u32,
    /// The byte in its unit.
    pub byte: u64,
}

/// The shape of a volume.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    level: RaidLevel,
    drives: u32,
    unit_bytes: u64,
    /// Stripe units of each drive.
    rows: u64,
}

impl Layout {
    /// A volume over this many drives; the smallest holds this many bytes.
    pub fn new(level: RaidLevel, drives: u32, unit_bytes: u64, drive_bytes: u64) -> Self {
        assert!(unit_bytes > 0 && drives > 0, "{drives} drives with units of {unit_bytes} bytes");
        let layout = Self { level, drives, unit_bytes, rows: drive_bytes / unit_bytes };
        // The planner treats a protected stripe of one data member as a mirror.
        assert!(!layout.is_protected() || layout.is_mirror() == (layout.data() == 1), "{drives} drives in {level:?}");
        layout
    }

    /// Members of data in a stripe.
    #[inline]
    pub fn data(&self) -> u32 {
        match self.level {
            RaidLevel::Raid0 => self.drives,
            RaidLevel::Raid1 | RaidLevel::Raid10 => 1,
            RaidLevel::Raid5 => self.drives - 1,
            RaidLevel::Raid6 => self.drives - 2,
        }
    }

    /// Members that repeat or protect the data.
    #[inline]
    pub fn parity(&self) -> u32 {
        match self.level {
            RaidLevel::Raid0 => 0,
            RaidLevel::Raid1 => self.drives - 1,
            RaidLevel::Raid10 | RaidLevel::Raid5 => 1,
            RaidLevel::Raid6 => 2,
        }
    }

    /// Whether the level repeats or protects data.
    #[inline]
    pub fn is_protected(&self) -> bool {
        self.level != RaidLevel::Raid0
    }

    /// Whether the level keeps copies.
    pub fn is_mirror(&self) -> bool {
        matches!(self.level, RaidLevel::Raid1 | RaidLevel::Raid10)
    }

    /// Stripes of a row: more than one if data is striped over pairs.
    #[inline]
    fn stripes_per_row(&self) -> u64 {
        if self.level == RaidLevel::Raid10 { u64::from(self.drives / 2) } else { 1 }
    }

    /// The RAID level.
    pub fn level(&self) -> RaidLevel {
        self.level
    }

    /// The number of drives.
    pub fn drives(&self) -> u32 {
        self.drives
    }

    /// Bytes of a stripe unit.
    #[inline]
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// Stripe units of each drive.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of stripes.
    pub fn stripes(&self) -> u64 {
        self.rows * self.stripes_per_row()
    }

    /// Bytes that the volume holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.stripes() * u64::from(self.data()) * self.unit_bytes
    }

    /// The location of a byte.
    #[inline]
    pub fn place(&self, byte: u64) -> VolumePosition {
        let unit = byte / self.unit_bytes;
        let data = u64::from(self.data());
        VolumePosition { stripe: unit / data, member: (unit % data) as u32, byte: byte % self.unit_bytes }
    }

    /// The drive of a member of a stripe.
    #[inline]
    pub fn drive(&self, stripe: u64, member: u32) -> u32 {
        let n = self.drives;
        match self.level {
            RaidLevel::Raid0 | RaidLevel::Raid1 => member,
            RaidLevel::Raid10 => 2 * (stripe % self.stripes_per_row()) as u32 + member,
            RaidLevel::Raid5 | RaidLevel::Raid6 => {
                let parity = n - 1 - (stripe % u64::from(n)) as u32;
                let first = parity + self.parity();
                // Members after the data are the parity: their drives follow those of the data, modulo n.
                (first + member) % n
            }
        }
    }

    /// The row of a stripe: the index of its unit on each of its drives.
    #[inline]
    pub fn row(&self, stripe: u64) -> u64 {
        stripe / self.stripes_per_row()
    }

    /// The first byte of a stripe's unit, on any drive.
    #[inline]
    pub fn unit_start(&self, stripe: u64) -> u64 {
        self.row(stripe) * self.unit_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn layout(level: RaidLevel, drives: u32) -> Layout {
        Layout::new(level, drives, 4096, 40 * 4096)
    }

    #[test]
    fn whole_units_of_all_drives() {
        for (units, whole) in [(&[4096, 4096][..], 4096), (&[512, 4096], 4096), (&[1536, 1024], 3072), (&[], 1)] {
            assert_eq!(grain_bytes(units.iter().copied()), whole, "{units:?}");
        }
    }

    /// The layout as md's documentation draws it: rows of drives, data by its number, P and Q.
    fn drawn(level: RaidLevel, drives: u32, rows: u64) -> Vec<String> {
        let layout = layout(level, drives);
        let mut cells = vec![vec![String::new(); drives as usize]; rows as usize];
        for stripe in 0..rows {
            for member in 0..layout.data() + layout.parity() {
                let text = match member.checked_sub(layout.data()) {
                    None => (stripe * u64::from(layout.data()) + u64::from(member)).to_string(),
                    Some(0) => "P".into(),
                    Some(_) => "Q".into(),
                };
                cells[stripe as usize][layout.drive(stripe, member) as usize] = text;
            }
        }
        cells.iter().map(|row| row.join(" ")).collect()
    }

    #[test]
    fn parity_rotates_to_the_left_and_data_begins_behind_it() {
        assert_eq!(drawn(RaidLevel::Raid5, 4, 4), ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11"]);
        assert_eq!(
            drawn(RaidLevel::Raid6, 5, 5),
            ["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6", "11 P Q 9 10", "P Q 12 13 14"]
        );
    }

    /// On every level, each unit of each drive belongs to one member of one stripe, and the volume's bytes are in
    /// members of data, in order.
    #[test]
    fn every_unit_has_one_place() {
        let levels = [
            (RaidLevel::Raid0, 1),
            (RaidLevel::Raid0, 7),
            (RaidLevel::Raid1, 3),
            (RaidLevel::Raid10, 8),
            (RaidLevel::Raid5, 3),
            (RaidLevel::Raid5, 8),
            (RaidLevel::Raid6, 4),
            (RaidLevel::Raid6, 9),
        ];
        for (level, drives) in levels {
            let layout = layout(level, drives);
            let mut taken = BTreeSet::new();
            for stripe in 0..layout.stripes() {
                for member in 0..layout.data() + layout.parity() {
                    let place = (layout.drive(stripe, member), layout.unit_start(stripe));
                    assert!(place.0 < drives && taken.insert(place), "{level:?} {stripe} {member}: {place:?}");
                }
            }
            assert_eq!(taken.len() as u64, 40 * u64::from(drives), "{level:?}");
            let units = layout.capacity_bytes() / layout.unit_bytes();
            for unit in 0..units {
                let place = layout.place(unit * 4096 + 5);
                assert_eq!(place.byte, 5);
                assert_eq!(place.stripe * u64::from(layout.data()) + u64::from(place.member), unit);
                assert!(place.stripe < layout.stripes() && place.member < layout.data());
            }
        }
    }
}
