//! Lines of named values: `t=12.5 disk=0 op=W sector=2048 sectors=8`, with the time in microseconds.

use super::cursor::{Cursor, sectors_to_bytes, shown};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("named-values", |_| NamedValues);

/// Reads named values.
pub(crate) struct NamedValues;

impl LineFormat for NamedValues {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let mut values = [0; 4];
        let mut op = None;
        for word in line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()) {
            let Some(equals) = word.iter().position(|byte| *byte == b'=') else {
                return Err(LineError(format!("expected name=value, not `{}`", shown(word))));
            };
            let (name, value) = (&word[..equals], &word[equals + 1..]);
            let mut at = Cursor::new(value);
            match name {
                b"t" => values[0] = at.decimal(3, "a time in microseconds")?,
                b"disk" => values[1] = u64::from(at.uint32("a disk")?),
                b"sector" => values[2] = at.uint("a sector")?,
                b"sectors" => values[3] = at.uint("a number of sectors")?,
                b"op" if value == b"R" => op = Some(Op::Read),
                b"op" if value == b"W" => op = Some(Op::Write),
                _ => return Err(LineError(format!("`{}` is not known here", shown(word)))),
            }
        }
        let [arrival_ns, disk, sector, sectors] = values;
        let op = op.ok_or_else(|| LineError("no op=R or op=W".to_owned()))?;
        Ok(request(arrival_ns, op, sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?, disk as u32))
    }
}
