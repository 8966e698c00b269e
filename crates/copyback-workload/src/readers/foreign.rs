//! Known formats that are not read. An error names the format, the reason and a remedy, so that no such file is read as
//! another format.

use super::records::Fields;
use crate::Error;

/// A format that is not read.
struct Foreign {
    /// Names of the format as values of `format`.
    words: &'static [&'static str],
    name: &'static str,
    recognises: fn(&[u8]) -> bool,
    why: &'static str,
    help: &'static str,
}

/// Containers and encodings: no format of text or records begins like these, so they are refused under any format.
const CONTAINERS: &[Foreign] = &[
    Foreign {
        words: &["utf-16", "utf16"],
        name: "text in UTF-16",
        recognises: is_utf_16,
        why: "which Windows PowerShell's `>` writes",
        help: "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8 FILE > NEW`, or in PowerShell \
               `Get-Content FILE | Set-Content -Encoding utf8 NEW`",
    },
    Foreign {
        words: &["zip"],
        name: "a zip archive",
        recognises: |head| head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06"),
        why: "whose files have to be unpacked first",
        help: "unpack it: `unzip -p FILE > NEW`; gzip, zstd, bzip2, xz and tar are read as they are",
    },
    Foreign {
        words: &["7z"],
        name: "a 7z archive",
        recognises: |head| head.starts_with(b"7z\xbc\xaf\x27\x1c"),
        why: "whose files have to be unpacked first",
        help: "unpack it: `7z x -so FILE > NEW`; gzip, zstd, bzip2, xz and tar are read as they are",
    },
    Foreign {
        words: &["lz4"],
        name: "an lz4 file",
        recognises: |head| head.starts_with(b"\x04\x22\x4d\x18"),
        why: "which has to be unpacked first",
        help: "unpack it: `lz4 -dc FILE > NEW`; gzip, zstd, bzip2, xz and tar are read as they are",
    },
    Foreign {
        words: &["perf.data"],
        name: "a recording of perf",
        recognises: |head| head.starts_with(b"PERFILE2") || head.starts_with(b"2ELIFREP"),
        why: "which only perf reads",
        help: "print it as text: `perf script -i FILE > NEW` (format `tracepoints`)",
    },
    Foreign {
        words: &["trace.dat"],
        name: "a recording of trace-cmd",
        recognises: |head| head.starts_with(b"\x17\x08\x44tracing"),
        why: "which only trace-cmd reads",
        help: "print it as text: `trace-cmd report -i FILE > NEW` (format `tracepoints`)",
    },
];

const FOREIGN: &[Foreign] = &[
    Foreign {
        words: &["srt", "hpl", "hp-srt", "cello"],
        name: "an SRT trace of HP Labs (cello, snake, hplajw)",
        recognises: is_srt,
        why: "whose binary records differ between the programs that wrote them",
        help: "print it as text with HP's own tools, and give that as CSV with a header: arrival_s,op,offset_bytes,\
               length_bytes",
    },
    Foreign {
        words: &["dataseries", "ds"],
        name: "a DataSeries file",
        recognises: |head| head.starts_with(b"DSv1"),
        why: "which is no block trace by itself",
        help: "print it with `ds2txt`, and give the columns as CSV with a header: arrival_ns,op,offset_bytes,length_bytes",
    },
    Foreign {
        words: &["oraclegeneral", "oracle-general"],
        name: "an oracleGeneral trace of libCacheSim",
        recognises: is_oracle_general,
        why: "which says of a request neither whether it reads or writes nor where its object lies",
        help: "take the block trace that it was made from, or make a CSV of it that says both, with a header: arrival_s,\
               op,offset_bytes,length_bytes",
    },
    Foreign {
        words: &["lcs-v1"],
        name: "an lcs trace of libCacheSim of the first version",
        recognises: super::lcs::is_without_operations,
        why: "which does not say whether a request reads or writes",
        help: "take one of version 2 or later, or make a CSV of it with a header: arrival_s,op,offset_bytes,length_bytes",
    },
    Foreign {
        words: &["mqsim-xml"],
        name: "MQSim's configuration in XML",
        recognises: is_mqsim,
        why: "which is no trace",
        help: "a workload's `File_Path` names its trace, which can be read (format `ssdsim`); `copyback device from-mqsim` \
               converts ssdconfig.xml; `copyback workloads NAME` shows how a workload is written here",
    },
    Foreign {
        words: &["simplessd"],
        name: "SimpleSSD's configuration",
        recognises: is_simplessd,
        why: "which is no trace",
        help: "name the trace that it replays (`File` of its section `[trace]`); write its drive in a file such as \
               `copyback devices small` prints, and give that as --device",
    },
    Foreign {
        words: &["biosnoop.bt", "bpftrace"],
        name: "the output of bpftrace's biosnoop.bt",
        recognises: is_biosnoop_bt,
        why: "which has neither sectors nor sizes",
        help: "record with biosnoop of BCC or libbpf-tools, or with blktrace",
    },
    Foreign {
        words: &["json", "jsonl", "ndjson"],
        name: "JSON",
        recognises: is_json,
        why: "which is no table",
        help: "make a table of it, here of the keys time, op, offset and length: `jq -r '[.time, .op, .offset, .length] | \
               @csv' FILE > NEW`, and name its columns: --columns arrival_us,op,offset_bytes,length_bytes",
    },
    Foreign {
        words: &["strace-c"],
        name: "the summary of `strace -c`",
        recognises: |head| head.starts_with(b"% time ") && memchr::memmem::find(head, b"usecs/call").is_some(),
        why: "which counts calls and has none of them",
        help: "record the calls: `strace -f -ttt -y -e trace=pread64,pwrite64,preadv,pwritev -o FILE PROGRAM`",
    },
    Foreign {
        words: &[],
        name: "a table with a first line `sep=`",
        recognises: |head| head.strip_prefix(UTF_8_MARK).unwrap_or(head).to_ascii_lowercase().starts_with(b"sep="),
        why: "which only Excel understands",
        help: "remove that line: `tail -n +2 FILE > NEW`",
    },
];

/// The byte-order mark of UTF-8.
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a file with this beginning cannot be read in any format, if it is a container or has another encoding.
pub(crate) fn refuse_container(file: &str, head: &[u8]) -> Option<Error> {
    CONTAINERS.iter().find(|own| (own.recognises)(head)).map(|own| own.refusal(file))
}

impl Foreign {
    fn refusal(&self, file: &str) -> Error {
        Error::new(format!("{file}: it is {}, {}; it is not read", self.name, self.why)).with_help(self.help)
    }
}

/// The reason why a file with this beginning is not read, if it has such a format.
pub(crate) fn refuse(file: &str, head: &[u8]) -> Option<Error> {
    FOREIGN.iter().find(|own| (own.recognises)(head)).map(|own| own.refusal(file))
}

/// The reason why a format of this name is not read, if it is known, and the remedy.
pub fn not_read(word: &str) -> Option<(String, &'static str)> {
    let lower = word.to_ascii_lowercase();
    let foreign = CONTAINERS.iter().chain(FOREIGN).find(|foreign| foreign.words.contains(&lower.as_str()))?;
    Some((format!("`{word}` is {}, {}; it is not read", foreign.name, foreign.why), foreign.help))
}

/// A header of assignments, including the date of the trace.
fn is_srt(head: &[u8]) -> bool {
    let is_date = |line: &[u8]| {
        let rest = line.strip_prefix(b"tracedate").map(<[u8]>::trim_ascii_start);
        rest.and_then(|rest| rest.strip_prefix(b"=")).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""))
    };
    head.split(|byte| *byte == b'\n').any(is_date)
}

/// Largest number of an object's next request: a trace with this many records has 24 TiB.
const NEXT_MAX: i64 = 1 << 40;

/// Largest size of an object that counts as valid.
const OBJECT_BYTES_MAX: u32 = 1 << 30;

/// Records of 24 bytes: seconds (u32), object (u64), size (u32), and the number of the object's next request (i64),
/// which is later in the file or has a value for "none".
fn is_oracle_general(head: &[u8]) -> bool {
    let mut last_s = 0;
    let mut fits = |(index, record): (usize, &[u8])| {
        let fields = Fields { record, big_endian: false };
        let (time_s, size, next) = (fields.u32(0), fields.u32(12), fields.u64(16).cast_signed());
        let is_later = time_s >= last_s;
        last_s = time_s;
        let is_next = matches!(next, -1 | i64::MAX) || (next > index as i64 && next < NEXT_MAX);
        is_later && (1..OBJECT_BYTES_MAX).contains(&size) && is_next
    };
    let mut records = head.chunks_exact(24).enumerate().peekable();
    records.peek().is_some() && records.all(&mut fits)
}

fn is_mqsim(head: &[u8]) -> bool {
    let has = |tag: &str| memchr::memmem::find(head, tag.as_bytes()).is_some();
    head.trim_ascii_start().starts_with(b"<") && (has("<Execution_Parameter_Set>") || has("<MQSim_IO_Scenarios>"))
}

/// Sections and keys of SimpleSSD's drives.
fn is_simplessd(head: &[u8]) -> bool {
    let is_own = |line: &[u8]| {
        let line = line.trim_ascii();
        let key = line.split(|byte| matches!(byte, b'=' | b' ' | b'\t')).next().unwrap_or_default();
        matches!(line, b"[pal]" | b"[icl]" | b"[hil]" | b"[ssd]") || matches!(key, b"NANDType" | b"NumChannel")
    };
    let is_xml = head.trim_ascii_start().starts_with(b"<");
    let has_root = || memchr::memmem::find(head, b"<simplessd").is_some();
    if is_xml { has_root() } else { head.split(|byte| *byte == b'\n').any(is_own) }
}

fn is_biosnoop_bt(head: &[u8]) -> bool {
    let is_header = |line: &[u8]| line.starts_with(b"TIME(ms)") && line.trim_ascii_end().ends_with(b"LAT(ms)");
    head.split(|byte| *byte == b'\n').take(8).any(is_header)
}

/// Bytes of a text that are examined for its encoding, with a byte-order mark and without.
const UTF_16_BYTES: [usize; 2] = [8, 64];

/// A byte-order mark or none, and then zero as every other byte: letters, digits and separators of ASCII.
fn is_utf_16(head: &[u8]) -> bool {
    let (mark, text) = match head {
        [0xff, 0xfe, text @ ..] => (Some(false), text),
        [0xfe, 0xff, text @ ..] => (Some(true), text),
        text => (None, text),
    };
    let text = &text[..text.len().min(UTF_16_BYTES[usize::from(mark.is_none())])];
    let is_text = |is_big_endian: bool| {
        let is_character = |pair: &[u8]| {
            let (high, low) = if is_big_endian { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
            high == 0 && (low.is_ascii_graphic() || low.is_ascii_whitespace())
        };
        text.len() >= UTF_16_BYTES[0] && text.chunks_exact(2).all(is_character)
    };
    mark.map_or_else(|| is_text(false) || is_text(true), is_text)
}

/// An object with a key, or a list of objects or lists.
fn is_json(head: &[u8]) -> bool {
    let head = head.strip_prefix(UTF_8_MARK).unwrap_or(head).trim_ascii_start();
    let second = head.get(1..).map(<[u8]>::trim_ascii_start).and_then(<[u8]>::first);
    match head.first() {
        Some(b'{') => second == Some(&b'"'),
        Some(b'[') => matches!(second, Some(b'{' | b'[')),
        _ => false,
    }
}
