//! Does the advice for a table without a known header state the columns and units that its names and values have?

use crate::common::{Row, error, read_with, rows};
use copyback_workload::spec::{ColumnNames, Format, WorkloadSpec};
use copyback_workload::{Error, Op};

/// The value of `--columns` in an error's help.
fn advised(error: &Error) -> String {
    let help = error.help.as_deref().expect("advice");
    let (_, behind) = help.split_once("--columns ").unwrap_or_else(|| panic!("no --columns in: {help}"));
    behind.split([';', ' ']).next().unwrap_or_default().to_owned()
}

fn ordered(order: &str) -> impl FnOnce(&mut WorkloadSpec) {
    let order = order.split(',').map(str::to_owned).collect();
    move |spec| spec.columns = Some(ColumnNames { order: Some(order), ..ColumnNames::default() })
}

/// The rows that the advised columns read.
fn read_as_advised(content: &str) -> (String, Vec<Row>, Vec<String>) {
    let columns = advised(&error(content.as_bytes()));
    let (requests, notes) = read_with(content.as_bytes(), ordered(&columns)).unwrap_or_else(|e| panic!("{e}"));
    (columns, requests.iter().map(|r| (r.arrival_ns, r.op, r.offset_bytes, r.len_bytes, r.device)).collect(), notes)
}

/// Names behind a comment's sign are a header: the advice is that for the same names without the sign.
#[test]
fn a_commented_header_in_own_words_gives_names() {
    let rows = "1,4096,R,8\n5,8192,W,16\n";
    let expected = [(0, Op::Read, 4096, 4096, 0), (4_000_000, Op::Write, 8192, 8192, 0)];
    let columns = "arrival_ms,length_bytes,op,offset_sectors";
    for (sign, between, of_rows) in [
        ("", ",", ","),
        ("#", ",", ","),
        ("# ", ", ", ","),
        ("## ", "\t", "\t"),
        ("# ", " ", " "),
        ("//", ",", ","),
        ("# by hand\n\n# ", ",", ","),
        ("# ", ",", " "),
    ] {
        let content = format!("{sign}{}\n{}", ["ts_ms", "size", "op", "lba"].join(between), rows.replace(',', of_rows));
        let refused = error(content.as_bytes());
        let names = "it looks like a table with the columns `ts_ms`, `size`, `op`, `lba`";
        assert!(refused.message.contains(names), "{content}: {refused}");
        assert_eq!(refused.message.contains("in its last comment"), !sign.is_empty(), "{content}: {refused}");
        let (advised, read, _) = read_as_advised(&content);
        assert_eq!((advised.as_str(), read.as_slice()), (columns, &expected[..]), "{content}");
        let named = ColumnNames {
            arrival_ms: Some("ts_ms".into()),
            offset_sectors: Some("lba".into()),
            length_bytes: Some("size".into()),
            ..ColumnNames::default()
        };
        let (requests, _) = read_with(content.as_bytes(), |spec| spec.columns = Some(named)).expect("it is named");
        assert_eq!(requests[1].arrival_ns, 4_000_000, "{content}");
    }
    // Prose of as many words is no header.
    let prose = error(b"# recorded by me yesterday\n1 4096 R 8\n");
    assert!(prose.message.contains("it looks like a table without a header"), "{prose}");
}

/// A unit that a name states, or that the values show, is the advised one.
#[test]
fn advised_units_are_those_of_names_and_values() {
    for (content, columns, first) in [
        (
            "Timestamp (us),Operation,LBA,Size (KB)\n5,W,8,4\n",
            "arrival_us,op,offset_sectors,length_kib",
            (0, Op::Write, 4096, 4096, 0),
        ),
        (
            "Time (ms),Op,Offset (KB),Length (KB)\n0.5,R,4,8\n",
            "arrival_ms,op,offset_kib,length_kib",
            (0, Op::Read, 4096, 8192, 0),
        ),
        (
            "1669000000.123,sda,W,123456,8\n1669000000.223,sda,R,999,16\n",
            "arrival_s,device,op,offset_sectors,length_sectors",
            (0, Op::Write, 123_456 * 512, 4096, 0),
        ),
        (
            "# t_s length lba rw\n0.5 8 100 W\n",
            "arrival_s,length_sectors,offset_sectors,op",
            (0, Op::Write, 51_200, 4096, 0),
        ),
        ("0.000123 R 4096 8192\n", "arrival_s,op,offset_bytes,length_bytes", (0, Op::Read, 4096, 8192, 0)),
        ("1669000000123,W,8,4096\n", "arrival_ms,op,offset_sectors,length_bytes", (0, Op::Write, 4096, 4096, 0)),
    ] {
        let (advised, read, notes) = read_as_advised(content);
        assert_eq!((advised.as_str(), read[0]), (columns, first), "{content}");
        assert!(!notes.iter().any(|note| note.contains("less than a sector")), "{content}: {notes:?}");
    }
    // A unit without a key is named.
    let pages = error(b"Timestamp (ns),op,page,size (MB)\n0,W,1,1\n");
    let help = pages.help.expect("advice");
    assert!(help.contains("no key has the unit of `page`, `size (MB)`: convert it to bytes"), "{help}");
}

/// Suggested columns read the rows of their table, possibly with the meanings of operations that the help asks for. If
/// no columns do, none are suggested.
#[test]
fn what_cannot_be_known_is_not_suggested() {
    let (columns, read, _) = read_as_advised("# ts_ms volume opcode lba nblocks\n1000 7 R 2048 8\n1001 7 W 4096 16\n");
    assert_eq!(columns, "arrival_ms,device,op,offset_sectors,length_sectors");
    assert_eq!(read[1], (1_000_000, Op::Write, 4096 * 512, 8192, 7));
    let help = |content: &str| error(content.as_bytes()).help.expect("advice");
    // A process id is no operation, and no row has a time in a known unit.
    let biosnoop = "17:02:01    kworker/0:1H   100     0         nvme0n1   RA  1000       4096      0.08\n";
    let said = help(biosnoop);
    assert!(said.contains("a name for each of its 9 columns") && !said.contains("other,"), "{said}");
    let names = "block_id io_offset io_size op_time op_name user_namespace user_name rs_shard_id op_count host_name";
    let words =
        help(&format!("# {names}\n1 0 4096 1000.5 getChunkData a b 0 1 h\n2 0 8192 1001.25 putChunk a b 0 1 h\n"));
    assert!(words.contains("--columns other,offset_bytes,length_bytes,arrival_s,op,other,"), "{words}");
    assert!(words.contains("--set workload.operations.getChunkData=read (or write, trim, ignore), and likewise for"));
    let whole = help(&format!("# {names}\n1 0 4096 1000 1 a b 0 1 h\n2 4096 8192 1001 2 a b 0 1 h\n"));
    assert!(whole.contains("arrival_s,op") && whole.contains("1 for a write"), "{whole}");
    let (tectonic, _) = rows(format!("{names}\n1 0 4096 1000.5 1 a b 0 1 h\n2 0 4096 1001.5 3 a b 0 1 h\n").as_bytes());
    assert_eq!(tectonic.len(), 2);
    // Whole numbers may be of any unit.
    let times = help("when,what,where,size\n0,W,0,4096\n7,R,0,4096\n");
    assert!(times.contains("--columns arrival_us,") && times.contains("the unit of its times is not known"), "{times}");
}

/// 1 KiB has 1,024 bytes, and the keys are columns' names, too.
#[test]
fn sizes_may_be_in_kib() {
    let (read, _) = rows(b"arrival_us,op,offset_kib,length_kib\n0,W,4,8\n");
    assert_eq!(read, [(0, Op::Write, 4096, 8192, 0)]);
}

/// No request is shorter than a sector: lengths whose mean is smaller have another unit.
#[test]
fn requests_shorter_than_a_sector_are_noted() {
    let tiny = b"time_us,op,offset,length\n0,W,0,8\n10,R,4096,16\n";
    let (_, notes) = rows(tiny);
    let expected = "the mean request has 12 bytes, less than a sector of 512: if the lengths count sectors";
    assert!(notes.iter().any(|note| note.starts_with(expected)), "{notes:?}");
    let (_, notes) = rows(b"time_us,op,offset,length\n0,W,0,512\n10,R,4096,512\n");
    assert!(!notes.iter().any(|note| note.contains("less than a sector")), "{notes:?}");
}

/// A data frame that is written with its index has a first column without a name.
#[test]
fn the_first_column_may_lack_a_name() {
    for (separator, sign) in [(",", ""), ("\t", ""), ("|", ""), (",", "# ")] {
        let content = format!(
            "{sign}{}\n{}\n{}\n",
            [if sign.is_empty() { "" } else { "row" }, "timestamp", "kind", "start", "bytes", "pid"].join(separator),
            ["0", "0.001", "read", "4096", "8192", "12"].join(separator),
            ["1", "0.003", "write", "0", "4096", "12"].join(separator)
        );
        let refused = error(content.as_bytes());
        assert!(refused.message.contains("it looks like a table with the columns "), "{content}: {refused}");
        let (columns, read, notes) = read_as_advised(&content);
        assert_eq!(columns, "other,arrival_s,op,offset_bytes,length_bytes,other", "{content}");
        assert_eq!(read, [(0, Op::Read, 4096, 8192, 0), (2_000_000, Op::Write, 0, 4096, 0)], "{content}");
        let is_passed = notes.iter().any(|note| note.contains("its first line was taken for a header"));
        assert_eq!(is_passed, sign.is_empty(), "{content}: {notes:?}");
    }
    let named = error(b",timestamp,kind,start,bytes\n0,0.1,read,4096,8192\n");
    assert!(named.message.contains("the columns one without a name, `timestamp`, "), "{named}");
    // Only the first: a gap elsewhere is a damaged header.
    let gap = error(b"timestamp,,kind,start,bytes\n0.1,0,read,4096,8192\n");
    assert!(!gap.message.contains("it looks like a table with the columns"), "{gap}");
}

/// The suggestion for a missing column is the column that the advised order takes for it, in the unit of its values.
#[test]
fn a_suggested_name_agrees_with_the_suggested_order() {
    let content = b"timestamp,kind,start,bytes\n0.001,read,4096,8192\n0.003,write,0,4096\n";
    let named = |set: fn(&mut ColumnNames)| {
        let mut names = ColumnNames::default();
        set(&mut names);
        let read = read_with(content, |spec| spec.columns = Some(names));
        read.expect_err("a column is missing").help.expect("advice")
    };
    let offset = named(|names| (names.arrival_s, names.op) = (Some("timestamp".into()), Some("kind".into())));
    assert!(offset.contains("--columns arrival_s,op,offset_bytes,length_bytes"), "{offset}");
    assert!(!offset.contains("did you mean"), "{offset}");
    let times = b"timestamp,kind,start,bytes\n1669000000123,read,4096,8192\n1669000000125,write,0,4096\n";
    let kind = ColumnNames { op: Some("kind".into()), ..ColumnNames::default() };
    let read = read_with(times, |spec| (spec.format, spec.columns) = (Some(Format::Csv), Some(kind)));
    let help = read.expect_err("a column is missing").help.expect("advice");
    assert!(help.contains("did you mean `arrival_ms` instead of `timestamp`?"), "{help}");
    let typo = error(b"time_us,op,offsett,length\n0,W,0,4096\n").help.expect("advice");
    assert!(typo.contains("did you mean `offset` instead of `offsett`?"), "{typo}");
}
