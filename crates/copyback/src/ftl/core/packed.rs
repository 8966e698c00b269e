//! A drive that no run uses, in some 40 % of its memory: an entry of the map takes as many bits as its places need, and
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
    /// The entries of the map; none if the drive is kept as it is.
    entries: Option<Entries>,
}

/// Numbers of equally many bits, one behind the other, from the lowest bit of each word on.
struct Entries {
    words: Vec<u64>,
    bits: u32,
}

impl Entries {
    /// Packs numbers, `count` of them, of 1 to 32 bits.
    fn of(numbers: impl Iterator<Item = u32>, count: u32, bits: u32) -> Self {
        let mut words = Vec::with_capacity(Self::words(count, bits) as usize);
        let (mut word, mut filled) = (0, 0);
        for number in numbers {
            word |= u64::from(number) << filled;
            filled += bits;
            if filled >= u64::BITS {
                words.push(word);
                filled -= u64::BITS;
                // The bits that did not fit.
                word = u64::from(number) >> (bits - filled);
            }
        }
        words.extend((filled > 0).then_some(word));
        Self { words, bits }
    }

    /// Words of `count` numbers.
    fn words(count: u32, bits: u32) -> u64 {
        (u64::from(count) * u64::from(bits)).div_ceil(u64::BITS.into())
    }

    fn get(&self, index: u32) -> u32 {
        let at = u64::from(index) * u64::from(self.bits);
        let (word, shift) = ((at / u64::from(u64::BITS)) as usize, (at % u64::from(u64::BITS)) as u32);
        let low = self.words[word] >> shift;
        let is_split = shift + self.bits > u64::BITS;
        let number = if is_split { low | self.words[word + 1] << (u64::BITS - shift) } else { low };
        number as u32 & none(self.bits)
    }
}

/// Bits of an entry: each place is below the number whose bits are all set. That number means [`PhysicalUnit::NONE`].
fn entry_bits(physical_units: u32) -> u32 {
    u32::BITS - physical_units.leading_zeros()
}

/// The number of so many bits that are all set.
fn none(bits: u32) -> u32 {
    u32::MAX >> (u32::BITS - bits)
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
        let of_entries = 8 * Entries::words(geometry.mapped_units, entry_bits(geometry.physical_units));
        if can_be_packed(geometry) { whole - of_maps + of_entries } else { whole }
    }

    /// Packs the drive.
    pub fn pack(mut self) -> PackedFtl {
        if !can_be_packed(&self.geometry) {
            return PackedFtl { rest: self, entries: None };
        }
        let bits = entry_bits(self.geometry.physical_units);
        // The lowest bits of `PhysicalUnit::NONE` are set, too.
        let places = (0..self.geometry.mapped_units).map(|unit| self.map.get(LogicalUnit(unit)).0 & none(bits));
        let entries = Entries::of(places, self.geometry.mapped_units, bits);
        (self.map, self.reverse) = (Mapping::new(0), Vec::new());
        PackedFtl { rest: self, entries: Some(entries) }
    }
}

impl PackedFtl {
    /// A drive equal to the one that was packed, but for places of the reverse map that are not valid.
    pub fn unpack(&self) -> Ftl {
        let mut ftl = self.rest.clone();
        let Some(entries) = &self.entries else { return ftl };
        ftl.map = Mapping::new(ftl.geometry.mapped_units);
        ftl.reverse = table::filled(ftl.geometry.physical_units as usize, LogicalUnit::NONE);
        for unit in (0..ftl.geometry.mapped_units).map(LogicalUnit) {
            let place = entries.get(unit.0);
            if place != none(entries.bits) {
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

    /// Places 0 to 254 need eight bits, because 255 says that there is none; and so on.
    #[test]
    fn an_entry_has_a_number_that_is_no_place() {
        for (units, bits) in [(1, 1), (255, 8), (256, 9), (65_535, 16), (65_536, 17), (1 << 24, 25), (u32::MAX, 32)] {
            assert_eq!(entry_bits(units), bits, "{units} units");
            assert!(units <= none(bits), "a place below {units} is not {}", none(bits));
        }
    }

    /// Numbers of each width, the smallest and the largest among them, in words that they share or not.
    #[test]
    fn packed_numbers_are_found_again() {
        for bits in 1..=32 {
            let number = |index: u32| match index % 3 {
                0 => none(bits),
                1 => 0,
                _ => index.wrapping_mul(2_654_435_761) & none(bits),
            };
            for count in [1, 2, 63, 64, 65, 1_000] {
                let entries = Entries::of((0..count).map(number), count, bits);
                assert_eq!(entries.words.len() as u64, Entries::words(count, bits));
                (0..count).for_each(|index| assert_eq!(entries.get(index), number(index), "{index} of {bits} bits"));
            }
        }
    }
}
