//! The output of `strace -f -ttt -e trace=pread64,pwrite64`, best with `-y`, which adds the files' paths.
//!
//! `[pid] seconds pread64(fd<path>, "data"..., length, offset) = transferred`. A call that another thread's line
//! interrupts is printed in two parts, `<unfinished ...>` and `<... pread64 resumed>`; it arrived at the first.

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

    /// A whole call: `arguments` stand between the first parenthesis and the line's end.
    fn call(&mut self, arrival_ns: u64, name: &[u8], arguments: &[u8]) -> Result<Parsed, LineError> {
        let Some(op) = Self::operation(name) else { return Ok(Parsed::Other) };
        let whole = || LineError(format!("expected `fd, data, length, offset) = result` at `{}`", shown(arguments)));
        // Data may hold anything, so the call is read from its end.
        let close = memmem::rfind(arguments, b") = ").or_else(|| {
            // strace pads short calls with blanks before the equals sign.
            memmem::rfind(arguments, b"= ").filter(|at| arguments[..*at].trim_ascii_end().ends_with(b")"))
        });
        let close = close.ok_or_else(whole)?;
        let inside = arguments[..close].trim_ascii_end();
        let inside = inside.strip_suffix(b")").unwrap_or(inside);
        let result = arguments[close..].iter().position(|byte| *byte == b'=').map(|at| &arguments[close + at + 1..]);
        let result = result.ok_or_else(whole)?.trim_ascii();
        let offset_at = memmem::rfind(inside, b", ").ok_or_else(whole)?;
        let length_at = memmem::rfind(&inside[..offset_at], b", ").ok_or_else(whole)?;
        let mut offset = Cursor::new(&inside[offset_at + 2..]);
        let offset_bytes = offset.uint("an offset")?;
        offset.end()?;
        Cursor::new(&inside[length_at + 2..offset_at]).uint("a length")?;
        let descriptor_len = match inside.iter().take(12).position(|byte| *byte == b'<') {
            Some(_) => memmem::find(inside, b">, ").map(|at| at + 1),
            None => memmem::find(inside, b", "),
        };
        let descriptor = &inside[..descriptor_len.ok_or_else(whole)?];
        if result.starts_with(b"-") || result.starts_with(b"?") {
            self.failed += 1;
            return Ok(Parsed::Other);
        }
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
        } else if !at.rest.iter().take_while(|byte| **byte != b' ').any(|byte| *byte == b'.') {
            pid = at.uint("a process id")?;
            at.blanks("a blank")?;
        }
        let time = at.word();
        let mut seconds = Cursor::new(time);
        let arrival_ns = seconds.decimal(9, "a time in seconds since 1970 (strace's option -ttt)")?;
        if !time.contains(&b'.') || !seconds.rest.is_empty() {
            let shown = shown(time);
            return Err(LineError(format!(
                "`{shown}` is no time in seconds since 1970: record with strace's option -ttt"
            )));
        }
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
        if self.failed > 0 {
            notes.push(format!("{} calls failed and were left out", self.failed));
        }
        if !self.unfinished.is_empty() {
            notes.push(format!("{} calls never resumed and were left out", self.unfinished.len()));
        }
        notes
    }
}
