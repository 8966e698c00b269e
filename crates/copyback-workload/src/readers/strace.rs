//! The output of `strace -e trace=pread64,pwrite64`, best with `-f -ttt -y`, which add all threads, the time of day
//! with its date, and the files' paths.
//!
//! `[pid] time pread64(fd<path>, "data"..., length, offset) = transferred`. The time is in seconds since 1970 (`-ttt`),
//! a time of day (`-t`, `-tt`), which begins anew at midnight, or not there at all: then all calls come at once. A call
//! that another thread's line interrupts is printed in two parts, `<unfinished ...>` and `<... pread64 resumed>`; it
//! arrived at the first. Of data nothing is used, however long (`-s`) and whatever is in them.

use super::cursor::{Cursor, LineError, shown};
use super::{LineFormat, Parsed, request};
use crate::Op;
use memchr::memmem;
use std::collections::BTreeMap;

/// A call whose second part has yet to come.
struct Unfinished {
    arrival_ns: u64,
    name: Vec<u8>,
    arguments: Vec<u8>,
}

/// Reads strace's output.
#[derive(Default)]
pub(crate) struct Strace {
    files: BTreeMap<Vec<u8>, u32>,
    unfinished: BTreeMap<u64, Unfinished>,
    failed: u64,
    without_paths: bool,
    without_times: bool,
    /// Midnights that passed, where times are of the day.
    days: u64,
    last_of_day_ns: u64,
}

const UNFINISHED: &[u8] = b"<unfinished ...>";
const RESUMED: &[u8] = b" resumed>";

impl Strace {
    fn operation(name: &[u8]) -> Option<Op> {
        match name {
            b"pread64" | b"pread" => Some(Op::Read),
            b"pwrite64" | b"pwrite" => Some(Op::Write),
            _ => None,
        }
    }

    /// The index of the file that a descriptor's text names, in the order of first use.
    fn file_index(&mut self, descriptor: &[u8]) -> Result<u32, LineError> {
        let path = descriptor.iter().position(|byte| *byte == b'<').map(|at| &descriptor[at..]);
        self.without_paths |= path.is_none();
        let key = path.unwrap_or(descriptor);
        if let Some(index) = self.files.get(key) {
            return Ok(*index);
        }
        let index = u32::try_from(self.files.len()).map_err(|_| LineError("more than 2^32 files".to_owned()))?;
        self.files.insert(key.to_vec(), index);
        Ok(index)
    }

    /// A whole call: `text` stands between the first parenthesis and the line's end.
    fn call(&mut self, arrival_ns: u64, name: &[u8], text: &[u8]) -> Result<Parsed, LineError> {
        let Some(op) = Self::operation(name) else { return Ok(Parsed::Other) };
        let result = result(text).ok_or_else(|| expected(text))?;
        // A call that failed, or whose process ended within it; its data may be missing then.
        if result.starts_with(b"-") || result.starts_with(b"?") {
            self.failed += 1;
            return Ok(Parsed::Other);
        }
        let Arguments { descriptor, offset_bytes } = arguments(text).ok_or_else(|| expected(text))?;
        // What was transferred, which at a file's end is less than what was asked for.
        let len_bytes = Cursor::new(result).uint("the number of bytes transferred")?;
        let device = self.file_index(descriptor)?;
        Ok(request(arrival_ns, op, offset_bytes, len_bytes, device))
    }

    fn event(&mut self, pid: u64, arrival_ns: u64, text: &[u8]) -> Result<Parsed, LineError> {
        // Exits and signals.
        if text.starts_with(b"+++") || text.starts_with(b"---") {
            return Ok(Parsed::Other);
        }
        if let Some(resumed) = text.strip_prefix(b"<... ") {
            let at = memmem::find(resumed, RESUMED).ok_or_else(|| LineError("expected `resumed>`".to_owned()))?;
            let rest = &resumed[at + RESUMED.len()..];
            // Its first part may stand before the trace's beginning.
            let Some(first) = self.unfinished.remove(&pid) else { return Ok(Parsed::Other) };
            if first.name != resumed[..at] {
                return Err(LineError(format!(
                    "`{}` resumes, but the process left `{}` unfinished",
                    shown(&resumed[..at]),
                    shown(&first.name)
                )));
            }
            let arguments = [&first.arguments[..], rest].concat();
            return self.call(first.arrival_ns, &first.name, &arguments);
        }
        let open = text.iter().position(|byte| *byte == b'(');
        let open = open.filter(|at| *at > 0 && text[..*at].iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'));
        let open = open.ok_or_else(|| LineError(format!("expected a system call at `{}`", shown(text))))?;
        let (name, arguments) = (&text[..open], &text[open + 1..]);
        match arguments.trim_ascii_end().strip_suffix(UNFINISHED) {
            Some(arguments) => {
                let first = Unfinished { arrival_ns, name: name.to_vec(), arguments: arguments.to_vec() };
                self.unfinished.insert(pid, first);
                Ok(Parsed::Other)
            }
            None => self.call(arrival_ns, name, arguments),
        }
    }
}

#[cold]
fn expected(text: &[u8]) -> LineError {
    LineError(format!("expected `fd, data, length, offset) = result` at `{}`", shown(text)))
}

/// What a call returned: behind its last equals sign, which no time spent (`-T`) and no error's text has.
fn result(text: &[u8]) -> Option<&[u8]> {
    let at = memmem::rfind(text, b"= ")?;
    text[..at].trim_ascii_end().ends_with(b")").then(|| text[at + 2..].trim_ascii())
}

/// What is used of a call's arguments.
struct Arguments<'a> {
    descriptor: &'a [u8],
    offset_bytes: u64,
}

/// Reads `fd<path>, data, length, offset)` from its beginning, so that nothing in the data is taken for something else.
fn arguments(text: &[u8]) -> Option<Arguments<'_>> {
    let descriptor_len = descriptor_len(text)?;
    let rest = text[descriptor_len..].strip_prefix(b", ")?.trim_ascii_start();
    let mut at = Cursor::new(&rest[data_len(rest)?..]);
    at.rest = at.rest.strip_prefix(b", ")?.trim_ascii_start();
    at.uint("a length").ok()?;
    at.rest = at.rest.strip_prefix(b", ")?.trim_ascii_start();
    let offset_bytes = at.uint("an offset").ok()?;
    at.rest
        .trim_ascii_start()
        .starts_with(b")")
        .then_some(Arguments { descriptor: &text[..descriptor_len], offset_bytes })
}

/// The length of a descriptor and, with `-y`, its path in angle brackets. strace escapes brackets in a path, but older
/// versions do not: it ends where the next argument begins.
fn descriptor_len(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || text.get(digits) != Some(&b'<') {
        return (digits > 0).then_some(digits);
    }
    // A file that is gone has this behind its path.
    let ends = [&b">, "[..], b">(deleted), "];
    let found = ends.iter().filter_map(|end| memmem::find(text, end).map(|at| at + end.len() - ", ".len())).min()?;
    Some(found)
}

/// The length of the data: a quotation, cut short (`...`) or not, or an address.
fn data_len(text: &[u8]) -> Option<usize> {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        let len = text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        return (len > 0).then_some(len);
    };
    let mut end = 0;
    loop {
        match quoted.get(end)? {
            b'\\' => end += 2,
            b'"' => break,
            _ => end += 1,
        }
    }
    // The quotation marks count.
    let len = end + 2;
    Some(if text[len..].starts_with(b"...") { len + 3 } else { len })
}

/// A day, after which times of day begin anew.
const DAY_NS: u64 = 86_400_000_000_000;

/// How far a time of day runs backwards where it is the next day's: threads' lines are out of order by far less.
const NEXT_DAY_NS: u64 = DAY_NS / 2;

impl Strace {
    /// Takes the time in front of a call, where there is one.
    fn take_time(&mut self, at: &mut Cursor<'_>) -> Result<u64, LineError> {
        let word = Cursor::new(at.word_ahead());
        if !word.rest.first().is_some_and(u8::is_ascii_digit) {
            self.without_times = true;
            return Ok(0);
        }
        at.word();
        let mut time = word;
        let first = time.decimal(9, "a time")?;
        if time.rest.is_empty() && word.rest.contains(&b'.') {
            return Ok(first);
        }
        time_of_day_ns(word).and_then(|of_day_ns| self.with_days(of_day_ns)).ok_or_else(|| {
            let shown = shown(word.rest);
            LineError(format!(
                "`{shown}` is no time in seconds since 1970 or of the day: record with strace's option -ttt"
            ))
        })
    }

    /// A time of day, with the days that have passed since the trace began; `None` where they are too many.
    fn with_days(&mut self, of_day_ns: u64) -> Option<u64> {
        if self.last_of_day_ns.saturating_sub(of_day_ns) > NEXT_DAY_NS {
            self.days += 1;
        }
        // A line that was late in the night before stays there.
        let is_late = of_day_ns.saturating_sub(self.last_of_day_ns) > NEXT_DAY_NS && self.days > 0;
        if is_late {
            return (self.days - 1).checked_mul(DAY_NS)?.checked_add(of_day_ns);
        }
        self.last_of_day_ns = of_day_ns;
        self.days.checked_mul(DAY_NS)?.checked_add(of_day_ns)
    }
}

/// `hours:minutes:seconds`, the seconds with decimals or not.
fn time_of_day_ns(mut word: Cursor<'_>) -> Option<u64> {
    let hours = word.uint("hours").ok().filter(|hours| *hours < 24)?;
    word.byte(b':', "a colon").ok()?;
    let minutes = word.uint("minutes").ok().filter(|minutes| *minutes < 60)?;
    word.byte(b':', "a colon").ok()?;
    // A leap second is the sixtieth.
    let seconds_ns = word.decimal(9, "seconds").ok().filter(|ns| *ns <= 61_000_000_000)?;
    word.rest.is_empty().then_some((hours * 60 + minutes) * 60_000_000_000 + seconds_ns)
}

impl LineFormat for Strace {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        // strace's own messages, such as "strace: Process 12 attached".
        if line.starts_with(b"strace: ") {
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line.trim_ascii_start());
        let mut pid = 0;
        if let Some(rest) = at.rest.strip_prefix(b"[pid") {
            at.rest = rest.trim_ascii_start();
            pid = at.uint("a process id")?;
            at.byte(b']', "`]`")?;
            at.blanks("a blank")?;
        } else if at.word_ahead().iter().all(u8::is_ascii_digit) && !at.rest.is_empty() {
            pid = at.uint("a process id")?;
            at.blanks("a blank")?;
        }
        let arrival_ns = self.take_time(&mut at)?;
        self.event(pid, arrival_ns, at.rest.trim_ascii_start())
    }

    fn notes(&self) -> Vec<String> {
        let mut names: Vec<(u32, &Vec<u8>)> = self.files.iter().map(|(name, index)| (*index, name)).collect();
        names.sort_unstable();
        let names: Vec<Vec<u8>> = names.into_iter().map(|(_, name)| name.clone()).collect();
        let mut notes = super::fio::named_devices(&names);
        if self.without_paths {
            notes.push(
                "files are told apart by descriptor alone; record with strace's option -y to name them".to_owned(),
            );
        }
        if self.without_times {
            notes.push(
                "the calls have no times: all arrive at time zero; record with strace's option -ttt, or replay in a \
                 closed loop (--closed)"
                    .to_owned(),
            );
        }
        if self.days > 0 {
            notes.push(format!("times of day that began anew were taken for {} later days", self.days));
        }
        if self.failed > 0 {
            notes.push(format!("{} calls failed and were left out", self.failed));
        }
        if !self.unfinished.is_empty() {
            notes.push(format!("{} calls never resumed and were left out", self.unfinished.len()));
        }
        notes
    }
}
