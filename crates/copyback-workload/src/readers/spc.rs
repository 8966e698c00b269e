//! SPC: application storage unit, logical block (512 B), size in bytes, R|W, seconds; further fields are optional.

use super::cursor::{Cursor, sectors_to_bytes, shown};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("spc", |_| Spc);

/// Reads SPC.
pub(crate) struct Spc;

impl LineFormat for Spc {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let mut at = Cursor::new(line);
        let unit = at.uint32("an application storage unit")?;
        at.comma()?;
        let sector = at.uint("a logical block address")?;
        at.comma()?;
        let len_bytes = at.uint("a size in bytes")?;
        at.comma()?;
        let op = match at.field().trim_ascii() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            other => return Err(LineError(format!("expected R or W, not `{}`", shown(other)))),
        };
        let arrival_ns = at.decimal(9, "a time in seconds")?;
        if at.rest.first() != Some(&b',') {
            at.end()?;
        }
        Ok(request(arrival_ns, op, sectors_to_bytes(sector)?, len_bytes, unit))
    }
}
