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
        why: "which says of a request neither whether it reads or writes nor where its object lies",
        help: "take one of version 2 or later, or make a CSV of it with a header: arrival_s,op,offset_bytes,length_bytes",
    },
    Foreign {
        words: &["mqsim-xml"],
        name: "MQSim's configuration in XML",
        recognises: is_mqsim,
        why: "which is no trace",
        help: "a workload's `File_Path` names its trace, and that is read (format `ssdsim`); `copyback device from-mqsim` \
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
];

/// The reason why a file with this beginning is not read, if it has such a format.
pub(crate) fn refuse(file: &str, head: &[u8]) -> Option<Error> {
    let foreign = FOREIGN.iter().find(|foreign| (foreign.recognises)(head))?;
    let (name, why) = (foreign.name, foreign.why);
    Some(Error::new(format!("{file}: it is {name}, {why}; it is not read")).with_help(foreign.help))
}

/// The reason why a format of this name is not read, if it is known, and the remedy.
pub fn not_read(word: &str) -> Option<(String, &'static str)> {
    let lower = word.to_ascii_lowercase();
    let foreign = FOREIGN.iter().find(|foreign| foreign.words.contains(&lower.as_str()))?;
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
