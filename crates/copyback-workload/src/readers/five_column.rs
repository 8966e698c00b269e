//! Five columns of ASCII: time, device, sector, sectors, flag. DiskSim writes milliseconds with decimals; SSDSim and
//! MQSim write whole nanoseconds. The meaning of the flag differs between programs, so it can be set.

use super::cursor::{Cursor, sectors_to_bytes};
use super::registry::{FormatRow, lines};
use super::{LineError, LineFormat, Parsed, request};
use crate::Op;
use crate::spec::ZeroMeans;

/// SSDSim's and MQSim's format.
pub(crate) const SSDSIM: FormatRow =
    FormatRow { options: &["zero_means"], ..lines!("ssdsim", |options| FiveColumn::ssdsim(options.zero_means)) };

/// DiskSim's format.
pub(crate) const DISKSIM: FormatRow =
    FormatRow { options: &["zero_means"], ..lines!("disksim", |options| FiveColumn::disksim(options.zero_means)) };

/// Reads five-column ASCII.
pub(crate) struct FiveColumn {
    milliseconds: bool,
    zero_means: ZeroMeans,
    zero_op: Op,
    one_op: Op,
}

impl FiveColumn {
    /// DiskSim's form.
    pub(crate) fn disksim(zero_means: ZeroMeans) -> Self {
        let (zero_op, one_op) = match zero_means {
            ZeroMeans::Auto | ZeroMeans::Write => (Op::Write, Op::Read),
            ZeroMeans::Read => (Op::Read, Op::Write),
        };
        Self { milliseconds: true, zero_means, zero_op, one_op }
    }

    /// SSDSim's and MQSim's form.
    pub(crate) fn ssdsim(zero_means: ZeroMeans) -> Self {
        Self { milliseconds: false, ..Self::disksim(zero_means) }
    }
}

impl LineFormat for FiveColumn {
    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        let mut at = Cursor::new(line);
        if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            at.blanks("a time")?;
        }
        let arrival_ns = if self.milliseconds {
            at.decimal(6, "a time in milliseconds")?
        } else {
            at.uint("a time in whole nanoseconds")?
        };
        at.blanks("a blank")?;
        let device = at.uint32("a device number")?;
        at.blanks("a blank")?;
        let sector = at.uint("a sector")?;
        at.blanks("a blank")?;
        let sectors = at.uint("a number of sectors")?;
        at.blanks("a blank")?;
        let before = at;
        let op = match at.uint("0 or 1")? {
            0 => self.zero_op,
            1 => self.one_op,
            flag => return Err(LineError(format!("the last column is {flag}, neither 0 nor 1"))),
        };
        if !at.rest.is_empty() {
            at.end().map_err(|_| {
                LineError(format!("expected five columns; `{}` follows", super::cursor::shown(before.rest)))
            })?;
        }
        Ok(request(arrival_ns, op, sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?, device))
    }

    fn notes(&self) -> Vec<String> {
        if self.zero_means != ZeroMeans::Auto {
            return Vec::new();
        }
        vec![
            "assumed that 0 in the last column means write and 1 read, as DiskSim, SSDSim and MQSim have it; \
             programs disagree, and `zero_means = \"read\"` is the other way"
                .to_owned(),
        ]
    }
}
