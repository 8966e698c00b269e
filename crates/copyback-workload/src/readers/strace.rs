//! The output of `strace -e trace=pread64,pwrite64,preadv,pwritev,preadv2,pwritev2`, best with `-f -ttt -y`, which add
//! all threads, times in seconds since 1970, and the files' paths.
//!
//! `[pid] time pread64(fd<path>, "data"..., length, offset) = transferred`. The time is in seconds since 1970 (`-ttt`),
//! a time of day (`-t`, `-tt`), which begins again at midnight, or counts from the line before (`-r`). If there is no
//! time, all calls arrive at once. A call that another thread's line interrupts is printed in two parts,
//! `<unfinished ...>` and `<... pread64 resumed>`; it arrives at the time of the first part. The data is ignored, at
//! any length (`-s`), and so are numbers in brackets (`-i`, `-n`).
//!
//! Calls whose line does not have the offset of their data (`write`, `io_submit`) are skipped, counted and named.

use super::call_times::CallTimes;
use super::cursor::{Cursor, LineError, shown};
use super::names::Names;
use super::registry::{FormatRow, lines};
use super::{LineFormat, Parsed, request};
use crate::Op;
use crate::units::counted;
use memchr::memmem;
use std::collections::BTreeMap;

/// The format.
pub(crate) const FORMAT: FormatRow =
    FormatRow { has_addresses_of_files: true, ..lines!("strace", |_| Strace::default()) };

/// A call whose second part has yet to come.
struct Unfinished {
    arrival_ns: u64,
    name: Vec<u8>,
    arguments: Vec<u8>,
}

/// Reads strace's output.
#[derive(Default)]
pub(crate) struct Strace {
    files: Names,
    unfinished: BTreeMap<u64, Unfinished>,
    /// Bytes of those calls' arguments. Invariant: at most [`UNFINISHED_BYTES_MAX`].
    unfinished_bytes: usize,
    /// Calls of any name.
    calls: u64,
    failed: u64,
    without_paths: bool,
    times: CallTimes,
    /// Calls that gave up a file's blocks, as a trim does.
    punched: u64,
    /// Calls that move data and were skipped: their line does not have the offset.
    left_out: BTreeMap<&'static str, u64>,
}

const UNFINISHED: &[u8] = b"<unfinished ...>";
const RESUMED: &[u8] = b" resumed>";

/// Calls that move data of files at an offset that only the kernel knows, or that make several requests.
const WITHOUT_PLACE: &[&str] = &[
    "copy_file_range",
    "io_submit",
    "io_uring_enter",
    "read",
    "readv",
    "sendfile",
    "sendfile64",
    "splice",
    "write",
    "writev",
];

/// Largest number of concurrent calls: a thread has one, and a damaged trace as many as it has lines.
const UNFINISHED_MAX: usize = 1 << 16;
/// Bytes of arguments that are kept for concurrent calls. strace shows 32 bytes of data by default, so a call has some
/// 100 bytes; a line has up to 1 MiB.
const UNFINISHED_BYTES_MAX: usize = 64 << 20;

impl Strace {
    fn operation(name: &[u8]) -> Option<Op> {
        match name {
            b"pread64" | b"pread" | b"preadv" | b"preadv2" => Some(Op::Read),
            b"pwrite64" | b"pwrite" | b"pwritev" | b"pwritev2" => Some(Op::Write),
            _ => None,
        }
    }

    /// Counts the line's call if it moved data of a file at an offset that the line does not have.
    fn leave_out(&mut self, name: &[u8], text: &[u8]) {
        let Some(known) = WITHOUT_PLACE.iter().find(|known| known.as_bytes() == name) else { return };
        let moves = result(text).is_some_and(|result| !matches!(result.first(), Some(b'-' | b'?' | b'0') | None));
        // If paths are printed, pipes and sockets are recognised: they are not files.
        let path = descriptor_len(text).and_then(|len| text[..len].split(|byte| *byte == b'<').nth(1));
        if moves && path.is_none_or(|path| path.starts_with(b"/")) {
            *self.left_out.entry(known).or_default() += 1;
        }
    }

    /// The note on skipped calls that move data.
    fn note_left_out(&self) -> Option<String> {
        let all: u64 = self.left_out.values().sum();
        let names: Vec<String> = self.left_out.iter().map(|(name, count)| format!("{name} {count}")).collect();
        (all > 0).then(|| {
            format!(
                "{} left out that {} data ({}): strace does not print their offsets; blktrace records what reaches \
                 the device",
                counted(all, "call"),
                if all == 1 { "moves" } else { "move" },
                names.join(", ")
            )
        })
    }

    /// The index of the file that a descriptor's text names, in the order of first use.
    fn file_index(&mut self, descriptor: &[u8]) -> Result<u32, LineError> {
        let path = descriptor.iter().position(|byte| *byte == b'<').map(|at| &descriptor[at..]);
        self.without_paths |= path.is_none();
        let key = path.unwrap_or(descriptor);
        self.files.device_of(key)
    }

    /// A whole call: `text` is between the first parenthesis and the line's end.
    fn call(&mut self, arrival_ns: u64, name: &[u8], text: &[u8]) -> Result<Parsed, LineError> {
        self.calls += 1;
        if matches!(name, b"fsync" | b"fdatasync" | b"sync" | b"syncfs") {
            return Ok(Parsed::Flush);
        }
        let Some(op) = Self::operation(name) else {
            self.punched += u64::from(name == b"fallocate" && memmem::find(text, b"PUNCH_HOLE").is_some());
            self.leave_out(name, text);
            return Ok(Parsed::Other);
        };
        let result = result(text).ok_or_else(|| expected(text))?;
        // A call that failed, or whose process ended during the call; its data may be missing.
        if result.starts_with(b"-") || result.starts_with(b"?") {
            self.failed += 1;
            return Ok(Parsed::Other);
        }
        let Arguments { descriptor, offset_bytes } = arguments(text).ok_or_else(|| expected(text))?;
        // The transferred bytes, which at a file's end are fewer than requested.
        let len_bytes = Cursor::new(result).word_as(|word| word.uint("the number of bytes transferred"))?;
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
            // Its first part may be before the trace's beginning.
            let Some(first) = self.unfinished.remove(&pid) else { return Ok(Parsed::Other) };
            self.unfinished_bytes -= first.arguments.len();
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
                self.keep(pid, first)
            }
            None => self.call(arrival_ns, name, arguments),
        }
    }
}

impl Strace {
    /// Keeps the first part of a call until it resumes.
    fn keep(&mut self, pid: u64, first: Unfinished) -> Result<Parsed, LineError> {
        let bytes = first.arguments.len();
        if self.unfinished_bytes + bytes > UNFINISHED_BYTES_MAX {
            return Err(LineError(format!(
                "the arguments of calls that are unfinished at once have more than {} MiB; record with strace's option \
                 -s 0, which leaves the data out",
                UNFINISHED_BYTES_MAX >> 20
            )));
        }
        self.unfinished_bytes += bytes;
        if let Some(never_resumed) = self.unfinished.insert(pid, first) {
            self.unfinished_bytes -= never_resumed.arguments.len();
        }
        if self.unfinished.len() > UNFINISHED_MAX {
            return Err(LineError(format!("more than {UNFINISHED_MAX} calls are unfinished at once")));
        }
        Ok(Parsed::Other)
    }
}

#[cold]
fn expected(text: &[u8]) -> LineError {
    LineError(format!("expected `fd, data, length, offset) = result` at `{}`", shown(text)))
}

/// The return value of a call: the text after the last `= `. Neither `-T` times nor error texts contain one.
fn result(text: &[u8]) -> Option<&[u8]> {
    let at = memmem::rfind(text, b"= ")?;
    text[..at].trim_ascii_end().ends_with(b")").then(|| text[at + 2..].trim_ascii())
}

/// The arguments of a call that are used.
struct Arguments<'a> {
    descriptor: &'a [u8],
    offset_bytes: u64,
}

/// Reads `fd<path>, data, length, offset)` from its start, so that the data is not mistaken for other arguments.
fn arguments(text: &[u8]) -> Option<Arguments<'_>> {
    let descriptor_len = descriptor_len(text)?;
    let rest = text[descriptor_len..].strip_prefix(b", ")?.trim_ascii_start();
    let mut at = Cursor::new(&rest[data_len(rest)?..]);
    at.rest = at.rest.strip_prefix(b", ")?.trim_ascii_start();
    at.uint("a length").ok()?;
    at.rest = at.rest.strip_prefix(b", ")?.trim_ascii_start();
    let offset_bytes = at.uint("an offset").ok()?;
    // Calls of version 2 have flags behind the offset.
    let rest = at.rest.trim_ascii_start();
    (rest.starts_with(b")") || rest.starts_with(b", "))
        .then_some(Arguments { descriptor: &text[..descriptor_len], offset_bytes })
}

/// The length of a descriptor and, with `-y`, its path in angle brackets. strace escapes brackets in a path, but older
/// versions do not: it ends where the next argument begins.
fn descriptor_len(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || text.get(digits) != Some(&b'<') {
        return (digits > 0).then_some(digits);
    }
    // A deleted file has this after its path.
    let ends = [&b">, "[..], b">(deleted), "];
    let found = ends.iter().filter_map(|end| memmem::find(text, end).map(|at| at + end.len() - ", ".len())).min()?;
    Some(found)
}

/// The length of a list in brackets; brackets in quotations do not count.
fn list_len(text: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_u32);
    loop {
        match text.get(at)? {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.checked_sub(1)?,
            b'"' => at += data_len(&text[at..])?.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The length of the data: a quotation, cut short (`...`) or not, an address, or a list of several.
fn data_len(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"[") {
        return list_len(text);
    }
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

/// strace pads a process id to this width.
const PID_DIGITS: usize = 5;

/// The number of blanks at the start.
fn blanks_len(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == b' ').count()
}

/// The text after the instruction's address (`-i`) and the call's number (`-n`), each in brackets.
fn behind_brackets(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let Some(inner) = text.strip_prefix(b"[") else { return text };
        let is_number = |byte: &&u8| byte.is_ascii_hexdigit() || matches!(byte, b' ' | b'?');
        let len = inner.iter().take_while(is_number).count();
        match inner.get(len) {
            Some(b']') if len > 0 => text = &inner[len + 1..],
            _ => return text,
        }
    }
}

/// The path in a descriptor's text, `</dev/sda>`, or the text if it is no path.
fn path_of(name: &[u8]) -> &[u8] {
    name.strip_prefix(b"<").and_then(|path| path.strip_suffix(b">")).unwrap_or(name)
}

impl LineFormat for Strace {
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, LineError> {
        // strace's own messages, such as "strace: Process 12 attached".
        if line.starts_with(b"strace: ") {
            return Ok(Parsed::Other);
        }
        let mut at = Cursor::new(line.trim_ascii_start());
        let mut pid = 0;
        let mut padding = blanks_len(line);
        if let Some(rest) = at.rest.strip_prefix(b"[pid") {
            at.rest = rest.trim_ascii_start();
            pid = at.uint("a process id")?;
            at.byte(b']', "`]`")?;
            padding = blanks_len(at.rest).saturating_sub(1);
            at.blanks("a blank")?;
        } else if at.word_ahead().iter().all(u8::is_ascii_digit) && !at.rest.is_empty() {
            let unfilled = PID_DIGITS.saturating_sub(at.word_ahead().len());
            pid = at.uint("a process id")?;
            padding = blanks_len(at.rest).saturating_sub(1 + unfilled);
            at.blanks("a blank")?;
        }
        // A process' end and signals, which have a time only if calls have one.
        if ["+++ ", "--- "].iter().any(|begin| at.rest.starts_with(begin.as_bytes())) {
            return Ok(Parsed::Other);
        }
        let arrival_ns = self.times.take(&mut at, padding)?;
        self.event(pid, arrival_ns, behind_brackets(at.rest))
    }

    fn help_if_empty(&self) -> Option<String> {
        self.note_left_out()
    }

    fn is_certain(&self) -> bool {
        self.calls > 0
    }

    fn device_name(&self, device: u32) -> Option<String> {
        let name = self.files.name_of(device)?;
        Some(String::from_utf8_lossy(path_of(name.as_bytes())).into_owned())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = super::fio::named_devices(self.files.list().iter().map(|name| path_of(name)));
        if self.without_paths {
            notes.push(
                "files are distinguished by their descriptors only; record with strace's option -y to name them"
                    .to_owned(),
            );
        }
        self.times.notes(&mut notes);
        notes.extend(self.note_left_out());
        if self.punched > 0 {
            let calls = counted(self.punched, "fallocate");
            notes.push(format!("{calls} left out: only the file system knows which blocks of a hole it trims"));
        }
        if self.failed > 0 {
            notes.push(format!("{} that failed left out", counted(self.failed, "call")));
        }
        if !self.unfinished.is_empty() {
            notes.push(format!("{} that never resumed left out", counted(self.unfinished.len() as u64, "call")));
        }
        notes
    }
}
