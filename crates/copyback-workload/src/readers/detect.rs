//! Detects a file's format from its content.
//!
//! A text format that finds a request among the examined lines is preferred. Some formats have so many kinds of lines
//! without a request that lines of another format match one of these kinds. If no format finds a request, a line that
//! can belong to one format alone decides.

use super::csv;
use super::foreign;
use super::lines::is_blank_or_comment;
use super::plausible;
use super::registry::Content;
use super::unknown_table;
use super::{Parsed, ReaderOptions};
use crate::Error;
use crate::spec::Format;

/// Number of bytes of a file that are examined.
pub(crate) const HEAD_BYTES: usize = 1 << 16;

/// The number of lines to try first, and the number to try if these have no request: a header may be long.
const LINES_MAX: [usize; 2] = [32, 4096];

/// A format and the reason for it.
#[derive(Debug)]
pub(crate) struct Detected {
    pub format: Format,
    /// Continues "it was read as format `etw`, ".
    pub why: String,
}

impl Detected {
    fn new(format: Format, why: impl Into<String>) -> Self {
        Self { format, why: why.into() }
    }

    /// The format that the user named.
    pub(crate) fn named(format: Format) -> Self {
        Self::new(format, "as `workload.format` says")
    }

    /// The reason as a part of a message.
    pub(crate) fn clause(&self) -> String {
        format!("it was read as format `{}`, {}", self.format, self.why)
    }
}

/// The format that a single line has, if it is a request of one.
pub(crate) fn format_of_line(line: &[u8]) -> Option<Format> {
    let options = ReaderOptions::default();
    let is_request = |format: &Format| {
        let parser = format.row().parser(&options);
        parser.is_some_and(|mut parser| matches!(parser.parse(line), Ok(Parsed::Request(_))))
    };
    Format::ALL.iter().copied().find(is_request)
}

/// The format of a file with this beginning. `whole` says that this is the whole file.
pub(crate) fn detect(file: &str, head: &[u8], whole: bool, options: &ReaderOptions) -> Result<Detected, Error> {
    if head.is_empty() {
        return Err(Error::new(format!("{file}: it is empty")).with_help("give a trace that holds requests"));
    }
    if head.starts_with(b"PAR1") {
        return Err(Error::new(format!("{file}: it is a Parquet file inside another compression"))
            .with_help("decompress it first: Parquet needs random access, and compresses its own columns"));
    }
    // If columns are named, the file is a table. A header decides the format, even if the rows resemble another format.
    if !options.columns.is_empty() {
        return Ok(Detected::new(Format::Csv, "as `workload.columns` names columns"));
    }
    if csv::recognises(head) {
        return Ok(Detected::new(Format::Csv, "as its header names columns"));
    }
    for format in Format::ALL {
        if let Content::Known { recognises, why, .. } = format.row().content
            && recognises(head)
        {
            return Ok(Detected::new(*format, why));
        }
    }
    if let Some(refused) = foreign::refuse(file, head) {
        return Err(refused);
    }
    match detect_text(head, whole, options) {
        Some(detected) => match plausible::refuse(file, detected.format, &lines(head, whole), options) {
            Some(refused) => Err(refused),
            None => Ok(detected),
        },
        None => Err(unknown(file, head)),
    }
}

/// The lines to try: complete, and neither blank nor comments.
fn lines(head: &[u8], whole: bool) -> Vec<&[u8]> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    // The last line of a part of a file is probably incomplete.
    let end = if whole { text.len() } else { text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0) };
    let lines = text[..end].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter(|line| !is_blank_or_comment(line)).take(LINES_MAX[1]).collect()
}

fn detect_text(head: &[u8], whole: bool, options: &ReaderOptions) -> Option<Detected> {
    let lines = lines(head, whole);
    let few = &lines[..lines.len().min(LINES_MAX[0])];
    let with_requests = |tried: &Tried| tried.requests > 0;
    best(few, options, with_requests)
        .or_else(|| best(&lines, options, with_requests))
        // The file has events of only one format, and no request: that format's reader reports what is missing.
        .or_else(|| best(few, options, |tried| tried.is_certain))
        .or_else(|| of_own_form(few, options))
}

/// The format that most lines resemble, although they are damaged: its reader reports the damage.
fn of_own_form(lines: &[&[u8]], options: &ReaderOptions) -> Option<Detected> {
    Format::ALL.iter().find_map(|format| {
        let parser = format.row().parser(options)?;
        let own = lines.iter().filter(|line| parser.is_own(line)).count();
        (2 * own > lines.len()).then(|| Detected::new(*format, why(own, lines.len())))
    })
}

/// The reason for a format: the number of its lines among all lines.
fn why(own: usize, all: usize) -> String {
    match all {
        1 => "which its first line has".to_owned(),
        _ => format!("which {own} of its first {all} lines have"),
    }
}

/// How well a format matches some lines.
struct Tried {
    format: Format,
    /// Lines that belong to the format.
    parsed: usize,
    /// Lines among these that are requests.
    requests: usize,
    /// Whether one of these lines can belong to no other format.
    is_certain: bool,
}

/// The format with most lines, among the formats that may win.
fn best(lines: &[&[u8]], options: &ReaderOptions, may_win: impl Fn(&Tried) -> bool) -> Option<Detected> {
    let mut best: Option<Tried> = None;
    for format in Format::ALL {
        let Some(mut parser) = format.row().parser(options) else { continue };
        let mut tried = Tried { format: *format, parsed: 0, requests: 0, is_certain: false };
        for line in lines {
            let Ok(parsed) = parser.parse(line) else { continue };
            tried.parsed += 1;
            tried.requests += usize::from(matches!(parsed, Parsed::Request(_)));
        }
        tried.is_certain = parser.is_certain();
        let is_better = best.as_ref().is_none_or(|best| (tried.parsed, tried.requests) > (best.parsed, best.requests));
        // The reader refuses a few damaged lines, with their position; detection refuses a file that matches no format.
        if may_win(&tried) && 2 * tried.parsed > lines.len() && is_better {
            best = Some(tried);
        }
    }
    let best = best?;
    Some(Detected::new(best.format, why(best.parsed, lines.len())))
}

fn unknown(file: &str, head: &[u8]) -> Error {
    let tried: Vec<&str> = Format::ALL.iter().filter(|format| **format != Format::Auto).map(|f| f.word()).collect();
    let first = head.split(|byte| *byte == b'\n').find(|line| !is_blank_or_comment(line)).unwrap_or_default();
    if first.is_empty() {
        return Error::new(format!("{file}: it holds no requests, only blank lines or comments"))
            .with_help("give a trace that holds requests");
    }
    if let Some(refused) =
        unknown_table::refuse_unknown_names(file, head).or_else(|| unknown_table::refuse_without_header(file, head))
    {
        return refused;
    }
    let help = unknown_table::help_with_header(first);
    let first = super::cursor::shown(first);
    Error::new(format!("{file}: its content fits no known format; it begins `{first}`. Tried: {}", tried.join(", ")))
        .with_help(help.unwrap_or_else(|| "if it is one of these but damaged, name it with `format`".to_owned()))
}
