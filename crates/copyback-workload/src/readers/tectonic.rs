//! Meta's bulk storage traces (Tectonic), as published with Baleen: fields between blanks, without a header.
//!
//! `block offset size time operation pipeline namespace user`, in bytes and seconds with decimals; newer traces have a
//! host and a count, too. Operations are 1, 2 and 5 (GET, read here) and 3, 4 and 6 (PUT, written). The requests are to
//! a flash cache in front of hard disks.

use super::cursor::Cursor;
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow =
    FormatRow { has_addresses_of_files: true, ..lines!("tectonic", |_| Tectonic::default()) };

/// Distance between the addresses of blocks, which have 8 MiB at most. Unused addresses are removed from the drive
/// (`workload.layout`).
const BLOCK_BYTES: u64 = 64 << 20;

/// Fewest and most numbers after the operation.
const FEATURES: std::ops::RangeInclusive<usize> = 3..=6;

/// Reads Tectonic's traces.
#[derive(Default)]
pub(crate) struct Tectonic {
    unknown_operations: u64,
}

impl LineFormat for Tectonic {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        // The published files name their columns in a comment; some copies lack its sign.
        if line.starts_with(b"block_id") {
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line);
        let block = at.word_as(|word| word.uint("a block's number"))?;
        let offset_bytes = at.word_as(|word| word.uint("a byte offset in the block"))?;
        let len_bytes = at.word_as(|word| word.uint("a size in bytes"))?;
        let time = at.word();
        if !time.contains(&b'.') {
            return Err(LineError("expected a time in seconds with decimals in the fourth column".to_owned()));
        }
        let mut time = Cursor::new(time);
        let arrival_ns = time.decimal(9, "a time in seconds")?;
        time.end()?;
        let operation = at.word_as(|word| word.uint("an operation from 1 to 6"))?;
        let mut features = 0;
        while !at.rest.trim_ascii().is_empty() {
            at.word();
            features += 1;
        }
        if !FEATURES.contains(&features) {
            let columns = features + 5;
            return Err(LineError(format!("it has {columns} columns, and Tectonic's traces have 8 to 11")));
        }
        if offset_bytes.checked_add(len_bytes).is_none_or(|end_bytes| end_bytes > BLOCK_BYTES) {
            return Err(LineError(format!("{len_bytes} bytes at {offset_bytes} of a block are more than 64 MiB")));
        }
        let block_bytes = block.checked_mul(BLOCK_BYTES);
        let block_bytes = block_bytes.ok_or_else(|| LineError(format!("block {block} is not below 2^38")))?;
        let op = match operation {
            1 | 2 | 5 => Op::Read,
            3 | 4 | 6 => Op::Write,
            100 => {
                self.unknown_operations += 1;
                return Ok(Parsed::Other);
            }
            other => return Err(LineError(format!("its operation is {other}, which is none of 1 to 6 and 100"))),
        };
        Ok(request(arrival_ns, op, block_bytes + offset_bytes, len_bytes, 0))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec!["GETs of blocks were taken for reads, PUTs for writes".to_owned()];
        if self.unknown_operations > 0 {
            let unknown = counted(self.unknown_operations, "request");
            notes.push(format!("{unknown} of unknown operation left out"));
        }
        notes
    }
}
