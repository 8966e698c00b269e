//! MSR Cambridge CSV: filetime (100 ns since 1601), host, disk, Read|Write, byte offset, bytes, response time.

use super::cursor::{Cursor, shown, to_ns};
use super::names::{NAMES_MAX, Names};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("msr", |_| Msr::default());

/// A disk of the first host keeps its number; a disk of another host gets the host's index in the upper half.
const DISKS_PER_HOST: u32 = 1 << 16;

/// Reads MSR Cambridge CSV.
#[derive(Default)]
pub(crate) struct Msr {
    hosts: Names,
    last_host: usize,
}

impl Msr {
    #[inline]
    fn device(&mut self, host: &[u8], disk: u32) -> Result<u32, LineError> {
        if self.hosts.list().get(self.last_host).is_none_or(|last| last != host) {
            self.last_host = self.hosts.index_of(host)?;
        }
        if disk >= DISKS_PER_HOST {
            return Err(LineError(format!("disk {disk} is not below {DISKS_PER_HOST}")));
        }
        let host = u32::try_from(self.last_host).ok().filter(|host| *host < DISKS_PER_HOST);
        let host = host.ok_or_else(|| LineError(format!("more than {DISKS_PER_HOST} hosts")))?;
        Ok(host * DISKS_PER_HOST + disk)
    }
}

impl LineFormat for Msr {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let mut at = Cursor::new(line);
        let filetime = at.uint("a filetime")?;
        at.comma()?;
        let host = at.field();
        let disk = at.uint32("a disk number")?;
        at.comma()?;
        let op = match at.field() {
            b"Read" | b"read" | b"READ" => Op::Read,
            b"Write" | b"write" | b"WRITE" => Op::Write,
            other => return Err(LineError(format!("expected Read or Write, not `{}`", shown(other)))),
        };
        let offset_bytes = at.uint("a byte offset")?;
        at.comma()?;
        let len_bytes = at.uint("a size in bytes")?;
        // The response time is a result of the traced system, and not used; some copies omit it.
        if at.rest.first() == Some(&b',') {
            at.comma()?;
            at.decimal(0, "a response time")?;
        }
        at.end()?;
        Ok(request(to_ns(filetime, 100)?, op, offset_bytes, len_bytes, self.device(host, disk)?))
    }

    fn notes(&self) -> Vec<String> {
        let others = self.hosts.list().iter().enumerate().skip(1);
        let mut notes: Vec<String> = others
            .take(NAMES_MAX)
            .map(|(index, host)| {
                let first = index as u64 * u64::from(DISKS_PER_HOST);
                format!("host `{}` is not the trace's first: its disk 0 is device {first}", shown(host))
            })
            .collect();
        let more = self.hosts.list().len().saturating_sub(NAMES_MAX + 1);
        if more > 0 {
            notes.push(format!("… and {}, each {DISKS_PER_HOST} devices further", counted(more as u64, "more host")));
        }
        notes
    }
}
