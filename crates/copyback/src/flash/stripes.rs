//! The location of the members of a stripe: index arithmetic, no state.
//!
//! Logical pages are divided into groups. A group has one logical page fewer than the drive has channels. The units of
//! one offset in the pages of a group are a stripe. Its parity unit has the same offset in the group's page of parity;
//! these pages follow the host's pages. From group to group, the parity's channel decreases by one, and the data
//! rotates with it.

use super::geometry::Geometry;
use crate::sim::fastdiv::FastDiv;
use crate::sim::index::{ChannelId, LogicalUnit};

/// A unit of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripePosition {
    /// Its group of pages.
    pub group: u32,
    /// Which member of the stripe it is; parity is the last.
    pub member: u32,
    /// Its offset in its page.
    pub offset: u32,
}

/// The stripes of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Stripes {
    logical_units: u32,
    groups: u32,
    per_page: FastDiv,
    data: FastDiv,
    channels: FastDiv,
}

impl Stripes {
    /// Stripes over all channels of a drive, at least two.
    pub fn new(geometry: &Geometry) -> Self {
        let (units, data) = (geometry.units_per_logical_page, geometry.channels - 1);
        Self {
            logical_units: geometry.logical_units,
            groups: geometry.logical_units.div_ceil(units * data),
            per_page: FastDiv::new(units),
            data: FastDiv::new(data),
            channels: FastDiv::new(geometry.channels),
        }
    }

    /// Members of data in a stripe.
    pub fn data(&self) -> u32 {
        self.data.divisor()
    }

    /// Members of a stripe.
    pub fn members(&self) -> u32 {
        self.channels.divisor()
    }

    /// Units in a page, and so stripes in a group.
    pub fn units_per_page(&self) -> u32 {
        self.per_page.divisor()
    }

    /// Units of the host in a group.
    pub fn units_per_group(&self) -> u32 {
        self.units_per_page() * self.data()
    }

    /// The parity unit of the stripe that holds a unit of the host.
    pub fn parity_of(&self, unit: LogicalUnit) -> LogicalUnit {
        let place = self.place(unit).expect("a unit of the host has a stripe");
        LogicalUnit(self.logical_units + self.stripe(place))
    }

    /// The parity units of the group that holds a unit of the host.
    pub fn parity_of_group(&self, unit: LogicalUnit) -> impl Iterator<Item = LogicalUnit> + use<> {
        let StripePosition { group, .. } = self.place(unit).expect("a unit of the host has a stripe");
        let first = self.logical_units + group * self.units_per_page();
        (first..first + self.units_per_page()).map(LogicalUnit)
    }

    /// Units of parity.
    pub fn parity_units(&self) -> u32 {
        self.groups * self.units_per_page()
    }

    /// The first unit behind parity.
    pub fn end(&self) -> u32 {
        self.logical_units + self.parity_units()
    }

    /// The position of a unit in its stripe; none if it belongs to no stripe.
    pub fn place(&self, unit: LogicalUnit) -> Option<StripePosition> {
        if unit.0 < self.logical_units {
            let (page, offset) = self.per_page.div_rem(unit.0);
            let (group, member) = self.data.div_rem(page);
            return Some(StripePosition { group, member, offset });
        }
        let (group, offset) = self.per_page.div_rem(unit.0 - self.logical_units);
        (group < self.groups).then(|| StripePosition { group, member: self.data(), offset })
    }

    /// Whether a unit is one of parity.
    pub fn is_parity(&self, unit: LogicalUnit) -> bool {
        (self.logical_units..self.end()).contains(&unit.0)
    }

    /// The unit at a position; none if the host's last pages do not fill the group.
    pub fn unit(&self, place: StripePosition) -> Option<LogicalUnit> {
        let StripePosition { group, member, offset } = place;
        if member == self.data() {
            return Some(LogicalUnit(self.logical_units + group * self.units_per_page() + offset));
        }
        let unit = (group * self.data() + member) * self.units_per_page() + offset;
        (unit < self.logical_units).then_some(LogicalUnit(unit))
    }

    /// The number of the stripe that a position belongs to.
    pub fn stripe(&self, place: StripePosition) -> u32 {
        place.group * self.units_per_page() + place.offset
    }

    /// The page of a unit, counted group by group and channel by channel, and the unit's offset in it; pages that
    /// belong to no stripe follow.
    pub fn page_of(&self, unit: LogicalUnit) -> (u32, u32) {
        match (self.place(unit), self.channel(unit)) {
            (Some(place), Some(channel)) => (place.group * self.members() + channel.0, place.offset),
            _ => {
                let (page, offset) = self.per_page.div_rem(unit.0 - self.end());
                (self.groups * self.members() + page, offset)
            }
        }
    }

    /// The channel of a unit; none if it belongs to no stripe.
    pub fn channel(&self, unit: LogicalUnit) -> Option<ChannelId> {
        let StripePosition { group, member, .. } = self.place(unit)?;
        let channels = self.members();
        let of_parity = channels - 1 - self.channels.div_rem(group).1;
        let from_parity = if member == self.data() { 0 } else { member + 1 };
        Some(ChannelId(self.channels.div_rem(of_parity + from_parity).1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::config::RunConfig;
    use std::collections::BTreeSet;

    const DRIVE: &str = r#"
        capacity = { over_provisioning = 0.6 }
        timing = { read = "50 us", program = "500 us", erase = "3 ms", channel = "100 MB/s" }
        [geometry]
        channels = 4
        chips_per_channel = 2
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = 16
        pages_per_block = 8
        page_size = "16 KiB"
        mapping_unit = "4 KiB"
    "#;

    /// A small drive: each stripe has one unit on each channel, parity as often on one as on another, and each unit
    /// has one place.
    #[test]
    fn stripes_have_a_unit_on_each_channel() {
        let config: RunConfig = crate::config::from_toml(DRIVE).expect("a configuration");
        let geometry = Geometry::new(&config.device());
        let stripes = Stripes::new(&geometry);
        let mut parity_on = vec![0; geometry.channels as usize];
        for unit in (0..stripes.end()).map(LogicalUnit) {
            let place = stripes.place(unit).expect("it belongs to a stripe");
            assert_eq!(stripes.unit(place), Some(unit));
            if place.member == stripes.data() {
                parity_on[stripes.channel(unit).expect("it has one").at()] += 1;
                let members =
                    (0..stripes.members()).filter_map(|member| stripes.unit(StripePosition { member, ..place }));
                let channels: Vec<_> = members.filter_map(|unit| stripes.channel(unit)).map(|c| c.0).collect();
                let different: BTreeSet<_> = channels.iter().copied().collect();
                assert_eq!(different.len(), channels.len(), "{place:?}: {channels:?}");
            }
        }
        assert_eq!(stripes.place(LogicalUnit(stripes.end())), None);
        let mut pages: Vec<_> = (0..stripes.end() + 4).map(|unit| stripes.page_of(LogicalUnit(unit))).collect();
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len() as u32, stripes.end() + 4, "no two units have one place in the order of pages");
        let (least, most) = (parity_on.iter().min().expect("one"), parity_on.iter().max().expect("one"));
        assert!(most - least <= stripes.units_per_page(), "{parity_on:?}");
    }
}
