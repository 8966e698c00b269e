//! Finds the columns of a Parquet file that are durations of Arrow, and their units. Parquet has no such type: polars
//! and pyarrow store plain whole numbers, and only the schema that they embed under the key `ARROW:schema` has the
//! type. It is a message of Arrow's IPC, a flatbuffer, in base 64. Only names and types are read, by hand: Arrow's own
//! libraries would be a large dependency for one number.

/// The metadata key that has the schema.
pub(super) const KEY: &str = "ARROW:schema";

/// Nanoseconds of a unit by its number in Arrow.
const UNITS_NS: [u64; 4] = [1_000_000_000, 1_000_000, 1000, 1];

/// The unit of a duration that does not name one.
const UNIT_DEFAULT: u16 = 1;

/// The bytes before a message's length, except in versions before Arrow 0.15.
const CONTINUES: [u8; 4] = [0xff; 4];

/// Fields of Arrow's tables by their places, and the numbers of the types in their unions.
const MESSAGE_HEADER_KIND: usize = 1;
const MESSAGE_HEADER: usize = 2;
const HEADER_IS_SCHEMA: u8 = 1;
const SCHEMA_FIELDS: usize = 1;
const FIELD_NAME: usize = 0;
const FIELD_KIND: usize = 2;
const FIELD_TYPE: usize = 3;
const KIND_IS_DURATION: u8 = 18;
const DURATION_UNIT: usize = 0;

/// Nanoseconds of a column's unit, if the schema says that it holds durations. An unknown schema is ignored: the file
/// may be older or newer than this program.
pub(super) fn duration_ns(schema: &str, name: &str) -> Option<u64> {
    let message = of_base64(schema)?;
    let message = message.strip_prefix(&CONTINUES).unwrap_or(&message);
    let buffer = Buffer(message.get(4..)?);
    let root = buffer.followed(0)?;
    if buffer.byte(buffer.field(root, MESSAGE_HEADER_KIND)?)? != HEADER_IS_SCHEMA {
        return None;
    }
    let schema = buffer.followed(buffer.field(root, MESSAGE_HEADER)?)?;
    let fields = buffer.followed(buffer.field(schema, SCHEMA_FIELDS)?)?;
    let mut tables = (0..buffer.u32(fields)?).map_while(|index| {
        let at = (index as usize).checked_mul(4)?.checked_add(4)?.checked_add(fields)?;
        buffer.followed(at)
    });
    let column = tables.find(|field| buffer.text_of(*field, FIELD_NAME) == Some(name.as_bytes()))?;
    if buffer.byte(buffer.field(column, FIELD_KIND)?)? != KIND_IS_DURATION {
        return None;
    }
    let duration = buffer.followed(buffer.field(column, FIELD_TYPE)?)?;
    let unit = buffer.field(duration, DURATION_UNIT).map_or(Some(UNIT_DEFAULT), |at| buffer.u16(at))?;
    UNITS_NS.get(usize::from(unit)).copied()
}

/// A flatbuffer; a read beyond its end is `None`.
struct Buffer<'a>(&'a [u8]);

impl<'a> Buffer<'a> {
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    /// The position that the offset at a position refers to.
    fn followed(&self, at: usize) -> Option<usize> {
        at.checked_add(self.u32(at)? as usize)
    }

    /// The position of a table's field; `None` if the field has its default.
    fn field(&self, table: usize, index: usize) -> Option<usize> {
        let back = self.bytes(table).map(i32::from_le_bytes)?;
        let places = usize::try_from(i64::try_from(table).ok()? - i64::from(back)).ok()?;
        let place = 4 + 2 * index;
        if place + 2 > usize::from(self.u16(places)?) {
            return None;
        }
        let offset = self.u16(places.checked_add(place)?)?;
        if offset == 0 { None } else { table.checked_add(offset.into()) }
    }

    fn text_of(&self, table: usize, index: usize) -> Option<&'a [u8]> {
        let text = self.followed(self.field(table, index)?)?;
        let start = text.checked_add(4)?;
        self.0.get(start..start.checked_add(self.u32(text)? as usize)?)
    }
}

/// The bytes of a text in base 64; `None` if it is not base 64.
fn of_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_ascii_end().trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    let (mut bits, mut bit_count) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
            bits &= (1 << bit_count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What polars writes for durations in microseconds, and for three columns of other types.
    const POLARS: &str = "\
        /////1sBAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAQAAADoAAAArAAAAFgAAAAEAAAA7P//\
        /zgAAAAgAAAAGAAAAAECAAAQABIABAAQABEACAAAAAwAAAAAAPT///9AAAAAAQAAAAgACQAEAAgADAAAAGxlbmd0aF9ieXRlcwAA\
        AADs////OAAAACAAAAAYAAAAAQIAABAAEgAEABAAEQAIAAAADAAAAAAA9P///0AAAAABAAAACAAJAAQACAAMAAAAb2Zmc2V0X2J5\
        dGVzAAAAAOz///8sAAAAIAAAABgAAAABFAAAEAASAAQAEAARAAgAAAAMAAAAAAD8////BAAEAAIAAABvcAAA7P///zAAAAAgAAAA\
        GAAAAAESAAAQABIABAAQABEACAAAAAwAAAAAAPr///8CAAYABgAEAAoAAABhcnJpdmFsX25zAA==";

    #[test]
    fn damage_of_a_schema_is_no_panic() {
        assert_eq!(duration_ns(POLARS, "arrival_ns"), Some(1000));
        let digits = POLARS.as_bytes();
        for at in 0..digits.len() {
            for other in [b'A', b'/', b'?', b'f'] {
                let mut damaged = digits.to_vec();
                damaged[at] = other;
                let damaged = String::from_utf8(damaged).unwrap();
                let _ = duration_ns(&damaged, "arrival_ns");
            }
            let _ = duration_ns(&POLARS[..at], "arrival_ns");
        }
    }
}
