//! FIU: nanoseconds, pid, process, sector, sectors, R|W, major, minor, MD5 of the content.

use super::cursor::{Cursor, sectors_to_bytes, shown};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("fiu", |_| Fiu);

/// A device number as Linux packs it: the minor number has 20 bits.
pub(crate) fn linux_device(major: u64, minor: u64) -> Result<u32, LineError> {
    let packed = (major < 1 << 12 && minor < 1 << 20).then_some((major << 20) | minor);
    let packed = packed.and_then(|packed| u32::try_from(packed).ok());
    packed.ok_or_else(|| LineError(format!("{major},{minor} is no device number: 12 and 20 bits are the most")))
}

/// What Linux calls a packed device number.
pub(crate) fn linux_name(device: u32) -> String {
    format!("{},{}", device >> 20, device & ((1 << 20) - 1))
}

/// A device as the block layer's tools print it: `major,minor`.
pub(crate) fn linux_device_of(word: &mut Cursor<'_>) -> Result<u32, LineError> {
    let major = word.uint("a major device number")?;
    word.comma()?;
    linux_device(major, word.uint("a minor device number")?)
}

/// Reads FIU.
pub(crate) struct Fiu;

impl LineFormat for Fiu {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let mut at = Cursor::new(line);
        let arrival_ns = at.word_as(|word| word.uint("a time in nanoseconds"))?;
        at.word_as(|word| word.uint("a process id"))?;
        let _process = at.word();
        let sector = at.word_as(|word| word.uint("a sector"))?;
        let sectors = at.word_as(|word| word.uint("a number of sectors"))?;
        let op = match at.word() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            other => return Err(LineError(format!("expected R or W, not `{}`", shown(other)))),
        };
        let major = at.word_as(|word| word.uint("a major device number"))?;
        let minor = at.word_as(|word| word.uint("a minor device number"))?;
        let _md5 = at.word();
        at.end()?;
        let device = linux_device(major, minor)?;
        Ok(request(arrival_ns, op, sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?, device))
    }

    fn device_name(&self, device: u32) -> Option<String> {
        Some(linux_name(device))
    }
}
