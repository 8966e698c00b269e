//! VMware vscsi traces. Version 1, 32 bytes: sn, len, nSG (u32), cmd, ver (u16), lbn, ts (u64). Version 2, 40 bytes:
//! cmd, ver (u16), sn, len, nSG (u32), lbn, ts, rt (u64). Little-endian; `len` in bytes, `lbn` in 512 B, `ts` in µs.

use super::cursor::{LineError, sectors_to_bytes, to_ns};
use super::records::{Fields, RecordFormat};
use super::registry::{Content, FormatRow, open_records};
use super::{Parsed, request};
use crate::Op;

/// The format of version 1.
pub(crate) const VERSION_1: FormatRow = FormatRow::new(
    "vscsi-v1",
    Content::Known {
        recognises: |head| Vscsi::recognises(1, head),
        why: "as its first records carry that version's number",
        open: |opening| open_records(opening, Vscsi::new(1)),
    },
);

/// The format of version 2.
pub(crate) const VERSION_2: FormatRow = FormatRow::new(
    "vscsi-v2",
    Content::Known {
        recognises: |head| Vscsi::recognises(2, head),
        why: "as its first records carry that version's number",
        open: |opening| open_records(opening, Vscsi::new(2)),
    },
);

/// Reads one version of vscsi.
pub(crate) struct Vscsi {
    /// 1 or 2.
    version: u16,
    other_commands: u64,
}

impl Vscsi {
    pub(crate) fn new(version: u16) -> Self {
        Self { version, other_commands: 0 }
    }

    /// Whether these bytes have this version: every complete record in them has the version's number.
    pub(crate) fn recognises(version: u16, head: &[u8]) -> bool {
        let format = Self::new(version);
        let mut records = head.chunks_exact(format.record_bytes()).peekable();
        records.peek().is_some() && records.all(|record| format.version_of(record) == version)
    }

    fn version_of(&self, record: &[u8]) -> u16 {
        let fields = Fields { record, big_endian: false };
        fields.u16(if self.version == 1 { 14 } else { 2 }) >> 8
    }
}

/// The operation of a SCSI command; `None` if it moves no blocks.
fn operation(command: u16) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        0x0a | 0x2a | 0x8a | 0xaa => Some(Op::Write),
        _ => None,
    }
}

impl RecordFormat for Vscsi {
    fn record_bytes(&self) -> usize {
        if self.version == 1 { 32 } else { 40 }
    }

    fn parse(&mut self, record: &[u8]) -> (Result<Parsed, LineError>, u64) {
        let found = self.version_of(record);
        if found != self.version {
            let message = format!("it carries version {found}, but the trace is of version {}", self.version);
            return (Err(LineError(message)), 0);
        }
        let fields = Fields { record, big_endian: false };
        let (command, len_bytes) =
            if self.version == 1 { (fields.u16(12), fields.u32(4)) } else { (fields.u16(0), fields.u32(8)) };
        let Some(op) = operation(command) else {
            self.other_commands += 1;
            return (Ok(Parsed::Other), 0);
        };
        let parsed = sectors_to_bytes(fields.u64(16)).and_then(|offset_bytes| {
            let arrival_ns = to_ns(fields.u64(24), 1000)?;
            Ok(request(arrival_ns, op, offset_bytes, u64::from(len_bytes), 0))
        });
        (parsed, 0)
    }

    fn notes(&self) -> Vec<String> {
        let other = self.other_commands;
        if other == 0 { Vec::new() } else { vec![format!("{other} SCSI commands that move no blocks left out")] }
    }
}
