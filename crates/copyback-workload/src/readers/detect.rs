//! Which format a file is in, from its content.

use super::blktrace::Blktrace;
use super::csv;
use super::five_column::FiveColumn;
use super::foreign;
use super::lines::is_blank_or_comment;
use super::vscsi::Vscsi;
use super::{LineFormat, Parsed};
use crate::Error;
use crate::spec::{BlockAction, ColumnNames, Format, ZeroMeans};

/// How much of a file is looked at.
pub(crate) const HEAD_BYTES: usize = 1 << 16;

/// How many lines of it are tried.
const LINES_MAX: usize = 32;

/// Every text format, in the order in which they are tried: the stricter of two that are alike comes first.
const TEXT_FORMATS: &[Format] = &[
    Format::Msr,
    Format::Spc,
    Format::Ssdsim,
    Format::Disksim,
    Format::Blkparse,
    Format::Biosnoop,
    Format::Fiu,
    Format::Systor,
    Format::Tencent,
    Format::Alibaba,
    Format::Fio,
    Format::Etw,
    Format::Strace,
];

fn parser(format: Format) -> Option<Box<dyn LineFormat>> {
    Some(match format {
        Format::Msr => Box::new(super::msr::Msr::default()),
        Format::Spc => Box::new(super::spc::Spc),
        Format::Ssdsim => Box::new(FiveColumn::ssdsim(ZeroMeans::Auto)),
        Format::Disksim => Box::new(FiveColumn::disksim(ZeroMeans::Auto)),
        Format::Blkparse => Box::new(super::blkparse::Blkparse::new(BlockAction::Issued)),
        Format::Biosnoop => Box::new(super::biosnoop::Biosnoop::default()),
        Format::Fiu => Box::new(super::fiu::Fiu),
        Format::Systor => Box::new(super::systor::Systor),
        Format::Tencent => Box::new(super::cloud::Tencent),
        Format::Alibaba => Box::new(super::cloud::Alibaba),
        Format::Fio => Box::new(super::fio::Fio::default()),
        Format::Etw => Box::new(super::etw::Etw::default()),
        Format::Strace => Box::new(super::strace::Strace::default()),
        _ => return None,
    })
}

/// The format that a single line has, if it is a request of one.
pub(crate) fn format_of_line(line: &[u8]) -> Option<Format> {
    TEXT_FORMATS
        .iter()
        .copied()
        .find(|format| parser(*format).is_some_and(|mut parser| matches!(parser.parse(line), Ok(Parsed::Request(_)))))
}

/// The format of a file that begins so. `whole` says that there is no more of it.
pub(crate) fn detect(file: &str, head: &[u8], whole: bool, columns: &ColumnNames) -> Result<Format, Error> {
    if head.is_empty() {
        return Err(Error::new(format!("{file}: it is empty")).with_help("give a trace that holds requests"));
    }
    if head.starts_with(b"PAR1") {
        return Err(Error::new(format!("{file}: it is a Parquet file inside another compression"))
            .with_help("decompress it first: Parquet is compressed within and has to be read at will"));
    }
    // Who names columns has a table; and a header says what a file is, whatever its rows look like.
    if !columns.is_empty() || csv::recognises(head) {
        return Ok(Format::Csv);
    }
    if Blktrace::recognises(head) {
        return Ok(Format::Blktrace);
    }
    for (format, version) in [(Format::Vscsi1, 1), (Format::Vscsi2, 2)] {
        if Vscsi::recognises(version, head) {
            return Ok(format);
        }
    }
    if let Some(refused) = foreign::refuse(file, head) {
        return Err(refused);
    }
    detect_text(head, whole).ok_or_else(|| unknown(file, head))
}

fn detect_text(head: &[u8], whole: bool) -> Option<Format> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    // The last line of a part of a file is most likely cut.
    let end = if whole { text.len() } else { text.iter().rposition(|byte| *byte == b'\n')? };
    let lines = text[..end].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines: Vec<&[u8]> = lines.filter(|line| !is_blank_or_comment(line)).take(LINES_MAX).collect();
    let mut best = None;
    let mut best_count = (0, 0);
    for format in TEXT_FORMATS {
        let mut parser = parser(*format)?;
        let parsed: Vec<Parsed> = lines.iter().filter_map(|line| parser.parse(line).ok()).collect();
        // Some formats have so many kinds of lines without a request that another's lines pass for them.
        let requests = parsed.iter().filter(|parsed| matches!(parsed, Parsed::Request(_))).count();
        let count = (parsed.len(), requests);
        if count > best_count {
            (best, best_count) = (Some(*format), count);
        }
    }
    // One damaged line or the other is for the reader to refuse, with its place; a file that fits nowhere is not.
    best.filter(|_| 2 * best_count.0 > lines.len())
}

fn unknown(file: &str, head: &[u8]) -> Error {
    let tried: Vec<&str> = Format::ALL.iter().filter(|format| **format != Format::Auto).map(|f| f.word()).collect();
    let first = head.split(|byte| *byte == b'\n').find(|line| !is_blank_or_comment(line)).unwrap_or_default();
    if first.is_empty() {
        return Error::new(format!("{file}: it holds no requests, only blank lines or comments"))
            .with_help("give a trace that holds requests");
    }
    if let Some(refused) = csv::refuse_unknown_names(file, head) {
        return refused;
    }
    let help = csv::help_with_header(first);
    let first = super::cursor::shown(first);
    Error::new(format!("{file}: its content fits no known format; it begins `{first}`. Tried: {}", tried.join(", ")))
        .with_help(help.unwrap_or_else(|| "if it is one of these but damaged, name it with `format`".to_owned()))
}
