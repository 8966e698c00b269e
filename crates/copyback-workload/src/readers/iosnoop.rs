//! The text that iosnoop of perf-tools prints: `COMM PID TYPE DEV BLOCK BYTES LATms`, with `STARTs` and `ENDs` in front
//! under its options `-s` and `-t`.
//!
//! A request arrives at its start, or else at its end less its latency. If a line has neither time, its request arrives
//! at time zero. A process' name may have blanks, so a line is read from its end.

use super::biosnoop::{RequestsWithoutData, SHIFT_NS, whole, words};
use super::blkparse::operation;
use super::cursor::{LineError, sectors_to_bytes, shown};
use super::fiu::{linux_device_of, linux_name};
use super::registry::{FormatRow, lines};
use super::{LineFormat, Parsed, request};
use crate::units::counted;

/// The format.
pub(crate) const FORMAT: FormatRow = lines!("iosnoop", |_| Iosnoop::default());

/// Columns after the process' name.
const COLUMNS: usize = 6;

/// Reads iosnoop's text.
#[derive(Default)]
pub(crate) struct Iosnoop {
    /// The columns of times from the header; without a header, a line's first words decide.
    times: Option<Times>,
    had_header: bool,
    without_times: bool,
    without_data: RequestsWithoutData,
}

/// The columns of times before a process' name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    None,
    Starts,
    Ends,
    Both,
}

impl Times {
    fn count(self) -> usize {
        match self {
            Self::None => 0,
            Self::Starts | Self::Ends => 1,
            Self::Both => 2,
        }
    }
}

/// The columns of times in a line without header: numbers with decimals before a name.
fn guessed(before: &[&[u8]]) -> Times {
    let is_time = |word: &&&[u8]| word.contains(&b'.') && word.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    match before.iter().take(2).take_while(is_time).count().min(before.len().saturating_sub(1)) {
        0 => Times::None,
        1 => Times::Starts,
        _ => Times::Both,
    }
}

impl LineFormat for Iosnoop {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        if line.starts_with(b"Tracing ") || line.starts_with(b"Ending tracing") {
            return Ok(Parsed::Other);
        }
        let words: Vec<&[u8]> = words(line).collect();
        if words.last() == Some(&&b"LATms"[..]) {
            let (starts, ends) = (words.contains(&&b"STARTs"[..]), words.contains(&&b"ENDs"[..]));
            self.times = Some(match (starts, ends) {
                (true, true) => Times::Both,
                (true, false) => Times::Starts,
                (false, true) => Times::Ends,
                (false, false) => Times::None,
            });
            self.had_header = true;
            return Ok(Parsed::Other);
        }
        let before = words.len().checked_sub(COLUMNS).filter(|before| *before > 0);
        let (before, values) = words.split_at(before.ok_or_else(|| {
            LineError(format!(
                "it has {}, and iosnoop prints {} or more",
                counted(words.len() as u64, "column"),
                COLUMNS + 1
            ))
        })?);
        let times = self.times.unwrap_or_else(|| guessed(before));
        if before.len() <= times.count() {
            return Err(LineError("it has no process' name behind its times".to_owned()));
        }
        whole(values[0], |at| at.uint("a process"), "PID")?;
        let device = whole(values[2], linux_device_of, "DEV")?;
        let latency_ns = whole(values[5], |at| at.decimal(6, "a latency"), "LATms")?;
        let len_bytes = whole(values[4], |at| at.uint("bytes"), "BYTES")?;
        let Some(op) = operation(values[1]) else {
            let wrong = || LineError(format!("expected R, W or D under TYPE, not `{}`", shown(values[1])));
            return self.without_data.parsed(values[1]).ok_or_else(wrong);
        };
        let time_ns = |at: usize, column| whole(before[at], |at| at.decimal(9, "a time"), column);
        let arrival_ns = match times {
            Times::None => {
                self.without_times = true;
                0
            }
            Times::Starts | Times::Both => time_ns(0, "STARTs")?,
            Times::Ends => {
                let arrival_ns = time_ns(0, "ENDs")?.checked_add(SHIFT_NS).and_then(|ns| ns.checked_sub(latency_ns));
                arrival_ns.ok_or_else(|| LineError("its latency or time is longer than a trace".to_owned()))?
            }
        };
        // A flush has no sector.
        let sector = if len_bytes == 0 { 0 } else { whole(values[3], |at| at.uint("a sector"), "BLOCK")? };
        Ok(request(arrival_ns, op, sectors_to_bytes(sector)?, len_bytes, device))
    }

    fn is_certain(&self) -> bool {
        self.had_header
    }

    fn device_name(&self, device: u32) -> Option<String> {
        Some(linux_name(device))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = match self.times {
            _ if self.without_times => vec![
                "the lines have no times: all requests arrive at time zero; record with iosnoop's option -s, or replay in \
                 a closed loop (--closed)"
                    .to_owned(),
            ],
            Some(Times::Ends) => vec!["arrival = end less latency".to_owned()],
            _ => Vec::new(),
        };
        notes.extend(self.without_data.note());
        notes
    }
}
