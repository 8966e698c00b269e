//! SYSTOR '17: CSV with a header: seconds, response in seconds (may be empty), R|W, LUN, byte offset, bytes.

use super::cursor::{Cursor, shown};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("systor", |_| Systor);

/// Reads SYSTOR '17.
pub(crate) struct Systor;

impl LineFormat for Systor {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if line.starts_with(b"Timestamp,Response") {
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line);
        let arrival_ns = at.decimal(9, "a time in seconds")?;
        at.comma()?;
        let response = at.field();
        if !response.is_empty() {
            Cursor::new(response).decimal(9, "a response time in seconds")?;
        }
        let op = match at.field() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            other => return Err(LineError(format!("expected R or W, not `{}`", shown(other)))),
        };
        let lun = at.uint32("a LUN")?;
        at.comma()?;
        let offset_bytes = at.uint("a byte offset")?;
        at.comma()?;
        let len_bytes = at.uint("a size in bytes")?;
        at.end()?;
        Ok(request(arrival_ns, op, offset_bytes, len_bytes, lun))
    }
}
