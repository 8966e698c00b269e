//! libCacheSim's own format, `lcs`, from version 2 on: earlier versions do not state the operation.
//!
//! A head of 8,192 bytes (magic, version u64; statistics; at its end the magic again), then packed little-endian
//! records: seconds u32, object u64, size (u32 in version 2, i64 later), operation (lowest byte) and tenant u32, the
//! time to live u32 (from version 3), the next request's number i64, and features of 4 bytes (1, 2, 4, 8 and 16 in
//! versions 4 to 8).
//!
//! An object has no address. Each gets the next free address at its first request, and a new one if it grows.

use super::cursor::{LineError, to_ns};
use super::records::{Fields, RecordFormat};
use super::registry::{Content, FormatRow, open_records};
use super::{Parsed, request};
use crate::Op;
use crate::units::counted;
use std::collections::HashMap;

/// The format.
pub(crate) const FORMAT: FormatRow = FormatRow::new(
    "lcs",
    Content::Known {
        recognises: Lcs::recognises,
        why: "whose magic number it begins with",
        open: |opening| {
            let format = Lcs::new(opening.head);
            open_records(opening, format)
        },
    },
);

/// The magic number at the start and the end of the head.
const MAGIC: u64 = 0x1234_5678_9abc_def0;

/// The head's size in bytes.
const HEAD_BYTES: u64 = 8192;

/// Objects begin at multiples of this.
const ALIGN_BYTES: u64 = 4096;

/// Largest number of distinguished objects: their addresses take some 400 MB.
const OBJECTS_MAX: usize = 1 << 23;

/// Reads lcs.
pub(crate) struct Lcs {
    version: u64,
    /// The address of an object, and its reserved size. Only looked up, never iterated.
    places: HashMap<u64, (u64, u64)>,
    end_bytes: u64,
    others: u64,
}

/// The size of a version's records.
fn record_bytes(version: u64) -> Option<usize> {
    Some(match version {
        2 => 28,
        3 => 36,
        4 => 40,
        5 => 44,
        6 => 52,
        7 => 68,
        8 => 100,
        _ => return None,
    })
}

/// The version in a head; `None` if it is no head.
fn version_of(head: &[u8]) -> Option<u64> {
    let fields = Fields { record: head, big_endian: false };
    let last = usize::try_from(HEAD_BYTES).ok()? - 8;
    (head.len() >= last + 8 && fields.u64(0) == MAGIC && fields.u64(last) == MAGIC).then(|| fields.u64(8))
}

/// Whether a file begins like a version without operations: version 1, or the earlier head of 1,024 bytes.
pub(crate) fn is_without_operations(head: &[u8]) -> bool {
    let fields = Fields { record: head, big_endian: false };
    let is_old = fields.u64(0) == MAGIC && head.len() >= 1024 && fields.u64(1016) == MAGIC;
    is_old || version_of(head) == Some(1)
}

impl Lcs {
    /// A reader of a file with this beginning.
    pub(crate) fn new(head: &[u8]) -> Self {
        let version = version_of(head).filter(|version| record_bytes(*version).is_some()).unwrap_or(2);
        Self { version, places: HashMap::new(), end_bytes: 0, others: 0 }
    }

    pub(crate) fn recognises(head: &[u8]) -> bool {
        version_of(head).is_some_and(|version| record_bytes(version).is_some())
    }

    /// The address of an object of this many bytes.
    fn place(&mut self, object: u64, len_bytes: u64) -> Result<u64, LineError> {
        if let Some((place, kept_bytes)) = self.places.get(&object)
            && *kept_bytes >= len_bytes
        {
            return Ok(*place);
        }
        if self.places.len() == OBJECTS_MAX {
            return Err(LineError(format!("it has more than {OBJECTS_MAX} objects: take a part of it")));
        }
        let place = self.end_bytes;
        let kept_bytes = len_bytes.checked_next_multiple_of(ALIGN_BYTES);
        let end_bytes = kept_bytes.and_then(|kept_bytes| Some((kept_bytes, place.checked_add(kept_bytes)?)));
        let (kept_bytes, end_bytes) = end_bytes.ok_or_else(|| {
            LineError(format!("with this object of {len_bytes} bytes, the objects take 2^64 bytes or more together"))
        })?;
        self.places.insert(object, (place, kept_bytes));
        self.end_bytes = end_bytes;
        Ok(place)
    }
}

/// The operation of libCacheSim's number; `None` if it moves no data.
fn operation(number: u32) -> Option<Op> {
    match number {
        // get, gets, read
        1 | 2 | 12 => Some(Op::Read),
        // set, add, cas, replace, append, prepend, incr, decr, write, update
        3..=8 | 10 | 11 | 13 | 14 => Some(Op::Write),
        // delete
        9 => Some(Op::Trim),
        _ => None,
    }
}

impl RecordFormat for Lcs {
    fn record_bytes(&self) -> usize {
        record_bytes(self.version).unwrap_or(28)
    }

    fn head_bytes(&self) -> u64 {
        HEAD_BYTES
    }

    fn parse(&mut self, record: &[u8]) -> (Result<Parsed, LineError>, u64) {
        let fields = Fields { record, big_endian: false };
        let (size, operation_at) =
            if self.version == 2 { (u64::from(fields.u32(12)), 16) } else { (fields.u64(12), 20) };
        let number = fields.u32(operation_at) & 0xff;
        let Some(op) = operation(number) else {
            self.others += 1;
            return (Ok(Parsed::Other), 0);
        };
        if i64::try_from(size).is_err() {
            return (Err(LineError(format!("its size is {}, below zero", size.cast_signed()))), 0);
        }
        // A request without a size moves no data, and needs no address.
        let place = if size == 0 { Ok(0) } else { self.place(fields.u64(4), size) };
        let parsed = place.and_then(|offset_bytes| {
            let arrival_ns = to_ns(fields.u32(0).into(), 1_000_000_000)?;
            Ok(request(arrival_ns, op, offset_bytes, size, 0))
        });
        (parsed, 0)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "objects have no addresses: each gets the next free address at its first request".to_owned(),
            "this format's times are whole seconds: many requests arrive at once".to_owned(),
        ];
        if self.others > 0 {
            notes.push(format!("{} without operation left out", counted(self.others, "request")));
        }
        notes
    }
}
