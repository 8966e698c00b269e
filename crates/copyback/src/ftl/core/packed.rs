//! A drive that no run uses, in a third of its memory: an entry of the map takes as many bytes as its places need, and
//! the reverse map is left out, because the map implies it.

use super::Ftl;
use crate::flash::geometry::Geometry;
use crate::ftl::mapping::Mapping;
use crate::sim::index::{LogicalUnit, PhysicalUnit};
use crate::sim::table;

/// A packed drive.
pub struct PackedFtl {
    /// The drive; if it is packed, without its map and reverse map.
    rest: Ftl,
    /// The entries of the map, each with its lowest byte first; none if the drive is kept as it is.
    entries: Option<Vec<u8>>,
}

/// Bytes of an entry: each place is below the value whose bits are all set, which stands for
/// [`PhysicalUnit::NONE`].
fn entry_bytes(physical_units: u32) -> usize {
    (u32::BITS - physical_units.leading_zeros()).div_ceil(u8::BITS) as usize
}

/// Whether the map implies the reverse map. In a superpage, a unit that was trimmed still has its place.
fn can_be_packed(geometry: &Geometry) -> bool {
    !geometry.has_superpages()
}

impl Ftl {
    /// Memory of a packed drive of this shape.
    pub fn packed_bytes(geometry: &Geometry) -> u64 {
        let whole = Self::table_bytes(geometry);
        let of_maps = Self::map_bytes(geometry);
        let of_entries = u64::from(geometry.mapped_units) * entry_bytes(geometry.physical_units) as u64;
        if can_be_packed(geometry) { whole - of_maps + of_entries } else { whole }
    }

    /// Packs the drive.
    pub fn pack(mut self) -> PackedFtl {
        if !can_be_packed(&self.geometry) {
            return PackedFtl { rest: self, entries: None };
        }
        let width = entry_bytes(self.geometry.physical_units);
        let mut entries = Vec::with_capacity(width * self.map.len());
        for unit in (0..self.geometry.mapped_units).map(LogicalUnit) {
            entries.extend_from_slice(&self.map.get(unit).0.to_le_bytes()[..width]);
        }
        (self.map, self.reverse) = (Mapping::new(0), Vec::new());
        PackedFtl { rest: self, entries: Some(entries) }
    }
}

impl PackedFtl {
    /// A drive equal to the one that was packed, but for places of the reverse map that are not valid.
    pub fn unpack(&self) -> Ftl {
        let mut ftl = self.rest.clone();
        let Some(entries) = &self.entries else { return ftl };
        let width = entry_bytes(ftl.geometry.physical_units);
        let none = u32::MAX >> (u32::BITS - u8::BITS * width as u32);
        ftl.map = Mapping::new(ftl.geometry.mapped_units);
        ftl.reverse = table::filled(ftl.geometry.physical_units as usize, LogicalUnit::NONE);
        for (unit, entry) in (0..).map(LogicalUnit).zip(entries.chunks_exact(width)) {
            let place = entry.iter().rev().fold(0, |place, &byte| place << u8::BITS | u32::from(byte));
            if place != none {
                ftl.map.set(unit, PhysicalUnit(place));
                ftl.reverse[place as usize] = unit;
            }
        }
        ftl
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One byte for places 0 to 254, because 255 says that there is none; and so on.
    #[test]
    fn an_entry_has_a_value_that_is_no_place() {
        for (units, bytes) in [(255, 1), (256, 2), (65_535, 2), (65_536, 3), (1 << 24, 4), (u32::MAX, 4)] {
            assert_eq!(entry_bytes(units), bytes, "{units} units");
            let largest = u64::from(u32::MAX >> (32 - 8 * bytes));
            assert!(u64::from(units) <= largest, "a place below {units} is not {largest}");
        }
    }
}
