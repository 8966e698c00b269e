//! Times before strace's calls: seconds since 1970 (`-ttt`), of the day (`-t`, `-tt`), or since the line before (`-r`).

use super::cursor::{Cursor, LineError, shown};
use super::time_of_day::Clock;
use crate::units::format_duration_ns;

/// strace pads the whole seconds of `-r` to this width; it pads no other time.
const RELATIVE_DIGITS: usize = 6;

/// Below this, a time does not count from 1970, or the clock was never set: it is March 1973.
const SINCE_1970_MIN_NS: u64 = 100_000_000 * 1_000_000_000;

/// The times of a trace's lines.
#[derive(Default)]
pub(crate) struct CallTimes {
    clock: Clock,
    /// Whether a line had no time.
    are_missing: bool,
    /// Whether times count from the line before; `None` before the first time.
    are_relative: Option<bool>,
    /// The last time of a line, in nanoseconds: of relative times, their sum.
    last_ns: u64,
}

impl CallTimes {
    /// Consumes the time before a call, if there is one. `padding`: blanks before the time that are not a separator.
    pub(crate) fn take(&mut self, at: &mut Cursor<'_>, padding: usize) -> Result<u64, LineError> {
        let word = Cursor::new(at.word_ahead());
        if !word.rest.first().is_some_and(u8::is_ascii_digit) {
            self.are_missing = true;
            return Ok(if self.are_relative == Some(true) { self.last_ns } else { 0 });
        }
        at.word();
        let mut time = word;
        let ns = time.decimal(9, "a time")?;
        if !time.rest.is_empty() || !word.rest.contains(&b'.') {
            return self.of_day(word.rest);
        }
        let whole_digits = word.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_padded = padding > 0 && padding + whole_digits >= RELATIVE_DIGITS;
        if *self.are_relative.get_or_insert(is_padded && ns < SINCE_1970_MIN_NS) {
            let sum = self.last_ns.checked_add(ns);
            self.last_ns = sum.ok_or_else(|| LineError("the times' sum does not fit 64 bits".to_owned()))?;
            return Ok(self.last_ns);
        }
        // strace prints its lines in the order of their times.
        if ns < self.last_ns && ns < SINCE_1970_MIN_NS {
            let back = format_duration_ns(self.last_ns - ns);
            return Err(LineError(format!(
                "its time is {back} before that of the line before, as if times counted from line to line (strace -r): \
                 record with strace's option -ttt"
            )));
        }
        self.last_ns = ns;
        // Options -t and -r together print the relative time, too, in parentheses.
        let rest = at.rest.trim_ascii_start();
        if let Some(relative) = rest.strip_prefix(b"(+")
            && let Some(end) = relative.iter().position(|byte| *byte == b')')
        {
            at.rest = &relative[end + 1..];
        }
        Ok(ns)
    }

    /// A time of the day.
    fn of_day(&mut self, word: &[u8]) -> Result<u64, LineError> {
        self.clock.ns(word).ok_or_else(|| {
            let shown = shown(word);
            LineError(format!(
                "`{shown}` is no time in seconds since 1970 or of the day: record with strace's option -ttt"
            ))
        })
    }

    /// The notes to the user.
    pub(crate) fn notes(&self, notes: &mut Vec<String>) {
        if self.are_missing {
            notes.push(
                "the calls have no times: all arrive at time zero; record with strace's option -ttt, or replay in a \
                 closed loop (--closed)"
                    .to_owned(),
            );
        }
        if self.are_relative == Some(true) {
            notes.push(
                "each time counts from the line before (strace -r): they were added up; if lines were removed, record \
                 with strace's option -ttt"
                    .to_owned(),
            );
        }
        notes.extend(self.clock.note());
    }
}
