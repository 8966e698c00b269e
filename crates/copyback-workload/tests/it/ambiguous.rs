//! Is a file refused if its rows fit both a format and a table, and is a file named if its format is not read?

use crate::common::{error, read_with, rows};
use copyback_workload::spec::{ColumnNames, WorkloadSpec};
use copyback_workload::{Error, Op};
use std::fmt::Write;

/// Ten rows of a table: the time in microseconds and the address in bytes rise.
fn table(row: impl Fn(u64, u64, u64) -> String) -> String {
    (0..10).fold(String::new(), |mut text, at| {
        writeln!(text, "{}", row(4_120 * at, 851_968 + 4096 * at, 4096 * (1 + at % 3))).expect("text takes it");
        text
    })
}

/// The columns that a remedy names.
fn columns(refused: &Error) -> Vec<String> {
    let help = refused.help.as_deref().unwrap_or_default();
    let names = help.split("--columns ").nth(1).and_then(|rest| rest.split(", or").next());
    names.unwrap_or_else(|| panic!("no columns: {refused}")).split(',').map(str::to_owned).collect()
}

/// Each table is refused with a reason, and read with the remedy's columns.
#[test]
fn tables_without_a_header_are_not_taken_for_formats() {
    let alibaba = table(|time, offset, len| format!("{time},R,{offset},{len},0"));
    let two_devices = table(|time, offset, len| format!("{time},R,{offset},{len},{}", u64::from(time == 8240)));
    let tencent = table(|time, offset, len| format!("{time},{offset},{len},0,0"));
    let disksim = table(|time, offset, len| format!("{}.5 0 {offset} {len} 1", time / 1000));
    let ssdsim = table(|time, offset, len| format!("{time} 0 {offset} {len} 1"));
    for (text, format, says) in [
        (&alibaba, "alibaba", "as `alibaba`, the devices of its first 10 rows rise from row to row"),
        (&two_devices, "alibaba", "as `alibaba`, the devices of its first 10 rows rise from row to row"),
        (&tencent, "tencent", "and all lengths are multiples of 512, so they may be bytes"),
        (&disksim, "disksim", "and all lengths are multiples of 512, so they may be bytes"),
        (&ssdsim, "ssdsim", "and all lengths are multiples of 512, so they may be bytes"),
    ] {
        let refused = error(text.as_bytes());
        assert!(refused.message.contains("it is ambiguous: its rows have the form of"), "{format}: {refused}");
        assert!(refused.message.contains(says), "{format}: {refused}");
        assert!(refused.help.as_deref().is_some_and(|help| help.contains(&format!("--format {format}"))), "{refused}");
        let columns = ColumnNames { order: Some(columns(&refused)), ..ColumnNames::default() };
        let as_table = |spec: &mut WorkloadSpec| spec.columns = Some(columns);
        let (read, _) = read_with(text.as_bytes(), as_table).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!((read.len(), read[1].offset_bytes - read[0].offset_bytes, read[0].len_bytes), (10, 4096, 4096));
        let named = |spec: &mut WorkloadSpec| spec.format = Some(format.parse().expect("it is one"));
        assert_eq!(read_with(text.as_bytes(), named).expect("the format is named").0.len(), 10, "{format}");
    }
    let sectors = table(|time, offset, len| format!("{time},{},{},0,0", offset / 512, len / 512));
    assert!(error(sectors.as_bytes()).message.contains("whole seconds, requests are 4120 s apart"));
}

/// Real traces have devices in any order, sectors of some kilobytes, and many requests in a second.
#[test]
fn traces_of_these_formats_are_read() {
    for row in [
        |at: u64| format!("{},W,{},4096,{}", at * 7 % 5, at * 4096, 1_577_808_000_000_123 + at * 50),
        |at: u64| format!("{},R,{},512,{}", at / 4, at * 4096, 1_577_808_000_000_123 + at * 50),
        |_: u64| "419,W,4096,4096,1577808000000123".to_owned(),
        |at: u64| format!("{},{},{},{},1283", 1_538_323_200 + at / 4, at * 8, 8 << (at % 4), at % 2),
        |at: u64| format!("{},{},{},{},1283", at / 4, at * 8, 8, at % 2),
        |at: u64| format!("{}.25 0 {} 8 1", at, at * 8),
        |at: u64| format!("{}.25 0 {} 2048 1", at, at * 2048),
        |at: u64| format!("{} 1 {} 24 0", at * 1000, at * 512),
    ] {
        let text: String = (0..12).map(|at| row(at) + "\n").collect();
        assert_eq!(rows(text.as_bytes()).0.len(), 12, "{text}");
    }
    assert_eq!(rows(b"1,R,4096,4096,100\n2,W,0,512,200\n").0[1].1, Op::Write, "two rows are too few to judge by");
}

/// The text in UTF-16, with a byte-order mark or none.
fn utf_16(text: &str, mark: &[u8], unit: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.iter().copied().chain(text.encode_utf16().flat_map(unit)).collect()
}

/// Files of other programs are named, with the command that converts them, under any format.
#[test]
fn files_to_convert_first_are_named() {
    let text = "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n";
    let zip = [&b"PK\x03\x04\x0a\0\0\0\0\0"[..], text.as_bytes()].concat();
    for (content, says, remedy, is_container) in [
        (utf_16(text, &[0xff, 0xfe], u16::to_le_bytes), "text in UTF-16", "iconv -f UTF-16 -t UTF-8", true),
        (utf_16(text, &[0xfe, 0xff], u16::to_be_bytes), "text in UTF-16", "iconv -f UTF-16 -t UTF-8", true),
        (utf_16(text, &[], u16::to_le_bytes), "text in UTF-16", "iconv -f UTF-16 -t UTF-8", true),
        (zip, "a zip archive", "unzip -p", true),
        (b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), "a 7z archive", "7z x -so", true),
        (b"\x04\x22\x4d\x18\x64\x40\xa7".to_vec(), "an lz4 file", "lz4 -dc", true),
        (b"PERFILE2\x68\0\0\0".to_vec(), "a recording of perf", "perf script -i", true),
        (b"\x17\x08\x44tracing6\0".to_vec(), "a recording of trace-cmd", "trace-cmd report -i", true),
        (format!("sep=,\r\n{text}").into_bytes(), "a first line `sep=`", "tail -n +2", false),
        (b"{\"t\": 0, \"op\": \"W\"}\n{\"t\": 1, \"op\": \"W\"}\n".to_vec(), "it is JSON", "jq -r", false),
        (b"[\n {\"t\": 0}]\n".to_vec(), "it is JSON", "jq -r", false),
        (
            b"% time     seconds  usecs/call     calls    errors syscall\n------ -----------\n".to_vec(),
            "the summary of `strace -c`",
            "strace -f -ttt -y",
            false,
        ),
    ] {
        let refused = error(&content);
        assert!(refused.message.contains(says) && refused.message.ends_with("it is not read"), "{refused}");
        assert!(refused.help.as_deref().is_some_and(|help| help.contains(remedy)), "{refused}");
        let damaged = |spec: &mut WorkloadSpec| {
            (spec.format, spec.skip_bad) = (Some("alibaba".parse().expect("it is one")), Some(5));
        };
        let named = read_with(&content, damaged).expect_err("it is none");
        assert_eq!(named.message.contains(says), is_container, "{named}");
    }
}
