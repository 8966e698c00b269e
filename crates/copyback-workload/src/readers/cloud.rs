//! Two cloud providers' block traces: Tencent CBS and Alibaba.

use super::cursor::{Cursor, sectors_to_bytes, shown, to_ns};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;

/// The format of Tencent CBS. Its times are whole seconds. A busy second has far more records than the reorder window
/// of other formats.
pub(crate) const TENCENT: FormatRow = FormatRow { reorder_window: 1 << 16, ..lines!("tencent", |_| Tencent) };

/// The format of Alibaba.
pub(crate) const ALIBABA: FormatRow = lines!("alibaba", |_| Alibaba);

/// Reads Tencent CBS: seconds, sector, sectors, 0 = read | 1 = write, volume.
pub(crate) struct Tencent;

impl LineFormat for Tencent {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if line.starts_with(b"Timestamp,Offset") {
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line);
        let seconds = at.uint("a time in seconds")?;
        at.comma()?;
        let sector = at.uint("a sector")?;
        at.comma()?;
        let sectors = at.uint("a number of sectors")?;
        at.comma()?;
        let op = match at.uint("0 or 1")? {
            0 => Op::Read,
            1 => Op::Write,
            other => return Err(LineError(format!("expected 0 (read) or 1 (write), not {other}"))),
        };
        at.comma()?;
        let volume = at.uint32("a volume number")?;
        at.end()?;
        let arrival_ns = to_ns(seconds, 1_000_000_000)?;
        Ok(request(arrival_ns, op, sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?, volume))
    }

    fn notes(&self) -> Vec<String> {
        vec!["this format's times are whole seconds: many requests arrive at once".to_owned()]
    }
}

/// Reads Alibaba: device, R|W, byte offset, bytes, microseconds.
pub(crate) struct Alibaba;

impl LineFormat for Alibaba {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if line.starts_with(b"device_id,opcode") {
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line);
        let device = at.uint32("a device number")?;
        at.comma()?;
        let op = match at.field() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            other => return Err(LineError(format!("expected R or W, not `{}`", shown(other)))),
        };
        let offset_bytes = at.uint("a byte offset")?;
        at.comma()?;
        let len_bytes = at.uint("a size in bytes")?;
        at.comma()?;
        let arrival_ns = to_ns(at.uint("a time in microseconds")?, 1000)?;
        at.end()?;
        Ok(request(arrival_ns, op, offset_bytes, len_bytes, device))
    }
}
