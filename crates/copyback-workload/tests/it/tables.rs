//! Are tables of the documented columns read, as CSV and as Parquet of every codec and type, and others refused?

use crate::parquet_files::{How, PLAIN, Values, noted, written};
use copyback_workload::spec::WorkloadSpec;
use copyback_workload::{Error, Op, Priority, Request, RequestSource, open};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterVersion;
use std::io::Write;

fn read(content: &[u8], keys: &str) -> Result<(Vec<Request>, Vec<String>), Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let mut spec: WorkloadSpec = toml::from_str(keys).unwrap();
    spec.trace = Some(file.path().to_owned());
    let mut source = open(&spec, 1, u64::MAX)?;
    let mut requests = Vec::new();
    while let Some(request) = source.next_request()? {
        requests.push(request);
    }
    Ok((requests, source.notes()))
}

/// Arrival, operation, offset, length, device.
type Row = (u64, Op, u64, u64, u32);

fn rows(content: &[u8], keys: &str) -> Vec<Row> {
    let (requests, _) = read(content, keys).unwrap_or_else(|error| panic!("{error}"));
    requests.iter().map(|r| (r.arrival_ns, r.op, r.offset_bytes, r.len_bytes, r.device)).collect()
}

fn refused(content: &[u8], keys: &str) -> (String, String) {
    let error = read(content, keys).expect_err("this must be refused");
    (error.message, error.help.expect("every refusal has a remedy"))
}

/// Two requests, 700 ns apart.
const EXPECTED: [Row; 2] = [(0, Op::Write, 4096, 8192, 0), (700, Op::Read, 0, 512, 0)];

#[test]
fn csv_with_its_columns_in_any_order() {
    assert_eq!(rows(b"arrival_ns,op,offset_bytes,length_bytes\n300,W,4096,8192\n1000,R,0,512\n", ""), EXPECTED);
    let other = b"\"length_bytes\", op ,\"note, quoted\",offset_bytes,arrival_ns\r\n\
        8192,\"write\",\"a, \"\"b\"\"\",4096,300\r\n\"512\", Read,,0,1000\r\n";
    assert_eq!(rows(other, ""), EXPECTED);
    let (_, notes) = read(other, "").unwrap();
    assert_eq!(notes, ["format `csv`", "columns not looked at: `note, quoted`"]);
}

#[test]
fn csv_of_devices_priorities_and_trims() {
    let content = b"arrival_ns,op,offset_bytes,length_bytes,device,priority\n0,trim,0,512,7,high\n1,1,0,512,0,0\n";
    let (requests, _) = read(content, "").unwrap();
    let found: Vec<(Op, u32, Priority)> = requests.iter().map(|r| (r.op, r.device, r.priority)).collect();
    assert_eq!(found, [(Op::Trim, 7, Priority::High), (Op::Write, 0, Priority::Normal)]);
}

#[test]
fn csv_in_other_units_and_under_other_names() {
    let units = b"arrival_s,op,offset_sectors,length_sectors\n1.5000003,W,8,16\n1.500001,R,0,1\n";
    assert_eq!(rows(units, ""), EXPECTED);
    let names = b"ts,rw,lba,size\n3,W,8,8192\n10,R,0,512\n";
    let keys = "[columns]\narrival_ns = \"ts\"\nop = \"rw\"\noffset_sectors = \"lba\"\nlength_bytes = \"size\"";
    // The column holds 3 and 10, and its unit is the key's.
    assert_eq!(rows(names, keys), [(0, Op::Write, 4096, 8192, 0), (7, Op::Read, 0, 512, 0)]);
    assert_eq!(rows(names, &keys.replace("arrival_ns", "arrival_us"))[1].0, 7000);
    assert_eq!(rows(names, &format!("format = \"csv\"\n{keys}")).len(), 2);
    // If no setting names the columns, the message lists those of the file, and the help states the settings.
    let (message, help) = refused(names, "");
    assert!(
        message.contains("with the columns `ts`, `rw`, `lba`, `size`; it lacks `arrival_ns` (the arr"),
        "{message}"
    );
    assert!(message.ends_with("`op` (the operation), `offset_bytes` (the offset), `length_bytes` (the length)"));
    assert!(help.contains("workload.columns.arrival_ns=NAME, and the same with op, offset_bytes, length"), "{help}");
    let (message, help) = refused(b"ts,op,offset_bytes,length_bytes\n0.25,R,0,512\n", "");
    assert!(message.ends_with("; it lacks `arrival_ns` (the arrival time)"), "{message}");
    assert!(help.contains("workload.columns.arrival_ns=NAME; times"), "{help}");
    // Text of other kinds is no table.
    for text in [&b"Time Op\nx y\n"[..], b"a,b,c,d\n1,2\n"] {
        assert!(refused(text, "").0.contains("fits no known format"), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn csv_that_is_wrong_names_place_value_and_remedy() {
    let header = "arrival_ns,op,offset_bytes,length_bytes\n0,R,0,512\n";
    for (line, expected) in [
        ("1,R,0", "line 3: the file ends in the middle"),
        ("1,R,0\n", "line 3: it has 3 columns with commas between them, and the header has 4"),
        ("1,R,0,512,9\n", "line 3: it has 5 columns"),
        ("1,X,0,512\n", "line 3: its op is `X`"),
        ("1,R,-8,512\n", "line 3: its offset_bytes is `-8`"),
        ("1,R,8.5,512\n", "line 3: its offset_bytes is `8.5`, and that column holds whole numbers only"),
        ("1,R,8,1e99\n", "line 3: its length_bytes is `1e99`, and no whole number below 2^64"),
        ("1,R,,512\n", "line 3: its offset_bytes is empty"),
        ("1.5,R,0,512\n", "line 3: its arrival_ns is `1.5`, and that column holds whole numbers only"),
        ("\"1,R,0,512\n", "line 3: a quotation has no end"),
    ] {
        let (message, help) = refused(format!("{header}{line}").as_bytes(), "");
        assert!(message.contains(expected), "{line}: {message}");
        assert!(help.contains("skip_bad"), "{help}");
    }
    let (message, help) = refused(b"arrival_ns,op,place,length_bytes\n0,R,0,512\n", "");
    assert!(
        message.contains("no column for the offset (`offset_bytes` or `offset_sectors` or `offset_kib`)"),
        "{message}"
    );
    assert!(help.contains("workload.columns.offset_bytes=NAME") && help.contains("`place`"), "{help}");
    let (message, _) = refused(b"arrival_ns,arrival_us,op,offset_bytes,length_bytes\n0,0,R,0,512\n", "");
    assert!(message.contains("`arrival_ns` and `arrival_us` both hold the arrival time"), "{message}");
    let (message, help) = refused(b"arrival_ns,op,offset_bytes,length_bytes,op\n0,R,0,512,W\n", "");
    assert!(message.contains("it has two columns `op`") && help.contains("rename one of them"), "{message} {help}");
    let date = b"arrival_s,op,offset_bytes,length_bytes\n2024-13-01 00:00:00.0002,R,0,512\n";
    let (message, _) = refused(date, "");
    assert!(message.contains("dates are written as 2026-11-26T17:02:07.5Z, from 1970 on"), "{message}");
    let (message, help) = refused(header.as_bytes(), "columns.op = \"kind\"");
    assert!(message.contains("no column `kind`, which `workload.columns.op` names"), "{message}");
    assert!(help.contains("`offset_bytes`"), "{help}");
}

#[test]
fn a_request_ends_at_the_last_byte_that_64_bits_count_or_before() {
    let ending = |by_more: u64| {
        let row = format!("5,W,{},512\n", u64::MAX - 512 + by_more);
        format!("arrival_ns,op,offset_bytes,length_bytes\n0,R,0,512\n{row}").into_bytes()
    };
    assert_eq!(rows(&ending(0), "")[1].2, u64::MAX - 512);
    let (message, help) = refused(&ending(0), "align = \"4 KiB\"");
    assert!(message.contains("request 2 ends at byte 18446744073709551615: widened to 4 KiB"), "{message}");
    assert!(help.contains("leave `align` out"), "{help}");
    for (by, end) in [(1, "18446744073709551616"), (2, "18446744073709551617")] {
        let (message, help) = refused(&ending(by), "");
        let expected = format!(
            "line 3: a request of 512 bytes at byte {} ends at byte {end}, and the end is 18446744073709551615 at most",
            u64::MAX - 512 + by
        );
        assert!(message.contains(&expected), "{message}");
        assert!(help.contains("skip_bad"), "{help}");
    }
    let beyond = b"arrival_ns,op,offset_sectors,length_bytes\n0,R,36028797018963968,512\n";
    let (message, _) = refused(beyond, "");
    assert!(message.contains("line 2: its offset_sectors is 36028797018963968, too much for 64 bits"), "{message}");
}

/// pandas writes floating-point numbers below 0.0001 with an exponent. It writes whole numbers with a decimal if their
/// column once lacked a value.
#[test]
fn csv_as_pandas_writes_numbers() {
    let content =
        b"arrival_s,op,offset_bytes,length_bytes,device\n1e-05,1.0,4096.0,8192.0,0.0\n1.07e-05,0.0,0.0,512.0,0\n";
    assert_eq!(rows(content, ""), EXPECTED);
    let (message, _) = refused(b"arrival_s,op,offset_bytes,length_bytes\n1e11,R,0,512\n", "");
    assert!(message.contains("line 2: its arrival_s is `1e11`, and no time that fits 64 bits of ns"), "{message}");
    let (message, _) = refused(b"arrival_s,op,offset_bytes,length_bytes\nnan,R,0,512\n", "");
    assert!(message.contains("line 2: its arrival_s is `nan`, and no number such as"), "{message}");
}

#[test]
fn columns_may_have_other_separators() {
    for (separator, shown) in [(";", "`;`"), ("\t", "tabs"), ("|", "`|`"), ("  ", "blanks")] {
        let content = "arrival_ns,op,offset_bytes,length_bytes\n0,R,0,512\n".replace(',', separator);
        assert_eq!(rows(content.as_bytes(), ""), [(0, Op::Read, 0, 512, 0)], "{shown}");
        let named = content.replace("arrival_ns", "ts");
        assert_eq!(rows(named.as_bytes(), "columns.arrival_ns = \"ts\"").len(), 1, "{shown}");
        let (message, help) = refused(named.as_bytes(), "");
        let expected =
            format!("`length_bytes`, with {shown} between columns; it lacks `arrival_ns` (the arrival time)");
        assert!(message.contains("columns `ts`, `op`") && message.ends_with(&expected), "{message}");
        assert!(help.contains("workload.columns.arrival_ns=NAME"), "{help}");
        let (message, _) = refused(format!("{content}0{separator}R\n").as_bytes(), "");
        let expected = format!("line 3: it has 2 columns with {shown} between them, and the header has 4");
        assert!(message.contains(&expected), "{message}");
    }
    // A decimal comma is no separator.
    assert_eq!(rows(b"arrival_us;op;offset_bytes;length_bytes\n0,5;R;0;512\n", ""), [(0, Op::Read, 0, 512, 0)]);
    let (message, _) = refused(b"arrival_us;op;offset_bytes;length_bytes\n0,5,1;R;0;512\n", "");
    assert!(message.contains("its arrival_us is `0,5,1`, and no number such as"), "{message}");
    // Comments begin with `;`, and so does a row without its first field.
    let (message, _) = refused(b"arrival_us;op;offset_bytes;length_bytes\n;R;0;512\n", "");
    assert!(message.contains("line 2: its arrival_us is empty"), "{message}");
}

#[test]
fn a_table_is_not_taken_for_another_format() {
    // The rows are those of Alibaba's format: device, operation, offset, length, time.
    let content = b"device,op,offset_bytes,length_bytes,arrival_ns\n3,R,4096,512,5\n4,W,0,512,6\n";
    let expected = [(0, Op::Read, 4096, 512, 3), (1, Op::Write, 0, 512, 4)];
    assert_eq!(rows(content, ""), expected, "its header says nanoseconds");
}

/// Without its header, the table would be read as Tencent's format: the advice must not be to leave the header out.
#[test]
fn a_header_of_other_names_is_not_left_out_by_advice() {
    let (message, help) = refused(b"ts,lba,len,rw,disk\n1,8,128,1,0\n2,8,128,0,0\n", "");
    assert!(message.contains("line 1: "), "{message}");
    assert!(help.contains("--set workload.columns.arrival_ns=NAME") && !help.contains("skip_bad"), "{help}");
}

#[test]
fn settings_of_columns_that_make_no_sense() {
    let csv = b"arrival_ns,op,offset_bytes,length_bytes\n0,R,0,512\n";
    let twice = "columns = { arrival_ns = \"a\", arrival_us = \"b\" }";
    assert!(refused(csv, twice).0.contains("workload.columns.arrival_us: `arrival_ns` names a column"));
    assert!(refused(csv, "columns.op = \"\"").0.contains("workload.columns.op: it is empty"));
    assert!(
        refused(csv, "format = \"msr\"\ncolumns.op = \"x\"").0.contains("the columns of format `msr` have no names")
    );
    assert!(toml::from_str::<WorkloadSpec>("columns.offset = \"x\"").is_err());
}

/// The file as pandas writes it: 64-bit numbers, texts, all nullable, and an index nobody asked for.
fn like_pandas(how: &How) -> Vec<u8> {
    let full: Option<&[i16]> = Some(&[1, 1]);
    written(
        &[
            ("optional int64 arrival_ns", Values::Wide(&[300, 1000]), full),
            ("optional binary op (STRING)", Values::Text(&["W", "R"]), full),
            ("optional int64 offset_bytes", Values::Wide(&[4096, 0]), full),
            ("optional int64 length_bytes", Values::Wide(&[8192, 512]), full),
            ("optional int64 __index_level_0__", Values::Wide(&[0, 1]), full),
        ],
        how,
    )
}

#[test]
fn parquet_of_every_codec_and_page() {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        #[cfg(feature = "brotli")]
        Compression::BROTLI(parquet::basic::BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for codec in codecs {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [false, true] {
                let content = like_pandas(&How { codec, version, dictionary });
                assert_eq!(rows(&content, ""), EXPECTED, "{codec} {version:?} {dictionary}");
            }
        }
    }
    let (_, notes) = read(&like_pandas(&PLAIN), "").unwrap();
    assert_eq!(notes, ["format `parquet`", "columns not looked at: `__index_level_0__`"]);
}

#[test]
fn parquet_of_devices_by_name_and_of_other_operations() {
    let columns = [
        ("required int64 arrival_ns", Values::Wide(&[300, 1000, 1001]), None),
        ("required int64 op", Values::Wide(&[42, 40, 53]), None),
        ("required int64 offset_bytes", Values::Wide(&[4096, 0, 0]), None),
        ("required int64 length_bytes", Values::Wide(&[8192, 512, 0]), None),
        ("required binary device (STRING)", Values::Text(&["vol-a", "vol-b", "vol-a"]), None),
    ];
    let content = written(&columns, &PLAIN);
    let keys = "[operations]\n42 = \"write\"\n40 = \"read\"\n53 = \"ignore\"\n";
    let [first, second] = EXPECTED;
    assert_eq!(rows(&content, keys), [first, (second.0, second.1, second.2, second.3, 1)]);
    let (_, notes) = read(&content, keys).unwrap();
    assert!(notes.iter().any(|note| note.starts_with("1 row left out")), "{notes:?}");
    assert_eq!(rows(&content, &format!("device = \"vol-b\"\n{keys}")).len(), 1);
    assert!(refused(&content, "").0.contains("row 1: its op is 42"));
    let order = format!("columns.order = [\"time_us\"]\n{keys}");
    assert!(refused(&content, &order).0.contains("the columns of a Parquet file have names of their own"));
}

/// Numbers are read column by column, and rows with texts or nulls one by one. Two lengths exceed the largest signed
/// number of 32 bits; a wrong row is named by its number in both ways.
#[test]
fn numbers_and_texts_are_the_same_requests() {
    let file = |lengths: &'static [i32], op: &str, words: Values, null: Option<&[i16]>| {
        let device = if null.is_some() { "optional int64 device" } else { "required int64 device" };
        let columns = [
            ("required int64 arrival_ns", Values::Wide(&[300, 1000, 1001]), None),
            (op, words, None),
            ("required int64 offset_bytes", Values::Wide(&[4096, 0, 512]), None),
            ("required int32 length_bytes (UINT_32)", Values::Narrow(lengths), None),
            (device, Values::Wide(&[0, 7, 3]), null),
        ];
        written(&columns, &PLAIN)
    };
    let numbers = || ("required int32 op (UINT_8)", Values::Narrow(&[1, 0, 2]));
    let texts = || ("required binary op (STRING)", Values::Text(&["write", "read", "trim"]));
    let lengths = &[-1, i32::MIN, 512];
    let expected =
        [(0, Op::Write, 4096, 4_294_967_295, 0), (700, Op::Read, 0, 2_147_483_648, 7), (701, Op::Trim, 512, 512, 3)];
    for ((op, words), null) in [(numbers(), None), (texts(), None), (numbers(), Some(&[1, 1, 1][..]))] {
        assert_eq!(rows(&file(lengths, op, words, null), ""), expected, "{op} {null:?}");
    }
    let wrong = [(numbers().0, Values::Narrow(&[1, 9, 2])), (texts().0, Values::Text(&["write", "who", "trim"]))];
    for (op, words) in wrong {
        let error = read(&file(lengths, op, words, None), "").expect_err("no operation");
        assert!(error.message.contains("row 2"), "{}", error.message);
    }
}

/// A file whose offsets and lengths have this type.
fn of_type(integer: &str) -> Vec<u8> {
    let is_wide = integer.contains("64");
    let physical = if is_wide { "int64" } else { "int32" };
    let values = |narrow: &'static [i32], wide: &'static [i64]| match is_wide {
        true => Values::Wide(wide),
        false => Values::Narrow(narrow),
    };
    let field = |name: &str| format!("required {physical} {name} ({integer})");
    written(
        &[
            (&field("length_bytes"), values(&[100, 50], &[100, 50]), None),
            (&field("offset_bytes"), values(&[16, 0], &[16, 0]), None),
            (&field("op"), values(&[1, 0], &[1, 0]), None),
            ("required int64 arrival_ns", Values::Wide(&[300, 1000]), None),
            (&field("device"), values(&[5, 6], &[5, 6]), None),
            (&field("priority"), values(&[0, 1], &[0, 1]), None),
        ],
        &PLAIN,
    )
}

#[test]
fn parquet_of_every_integer_type() {
    // The names of older and newer writers.
    let old = ["INT_8", "INT_16", "INT_32", "INT_64", "UINT_8", "UINT_16", "UINT_32", "UINT_64"];
    let new =
        [8, 16, 32, 64].into_iter().flat_map(|bits| [true, false].map(|signed| format!("INTEGER({bits},{signed})")));
    for integer in old.map(str::to_owned).into_iter().chain(new) {
        let expected = [(0, Op::Write, 16, 100, 5), (700, Op::Read, 0, 50, 6)];
        assert_eq!(rows(&of_type(&integer), ""), expected, "{integer}");
    }
}

#[test]
fn parquet_of_timestamps_and_seconds() {
    let with = |field: &str, times: Values| {
        written(
            &[
                (field, times, None),
                ("required binary op (ENUM)", Values::Text(&["write", "READ"]), None),
                ("required int64 offset_sectors", Values::Wide(&[8, 0]), None),
                ("required int64 length_bytes", Values::Wide(&[8192, 512]), None),
            ],
            &PLAIN,
        )
    };
    let arrivals = |content: &[u8], keys: &str| -> Vec<u64> { rows(content, keys).iter().map(|row| row.0).collect() };
    // Counted from the first one; a timestamp's unit is its own.
    let content = with("required int64 arrival_ns (TIMESTAMP(MICROS,true))", Values::Wide(&[5, 12]));
    assert_eq!(arrivals(&content, ""), [0, 7000]);
    let content = with("required int64 t (TIMESTAMP(NANOS,false))", Values::Wide(&[5, 12]));
    assert_eq!(arrivals(&content, "columns.arrival_ns = \"t\""), [0, 7]);
    let content = with("required double arrival_s", Values::Double(&[1.5, 1.500_000_7]));
    assert_eq!(arrivals(&content, ""), [0, 700]);
    let content = with("required double arrival_ns", Values::Double(&[1.0, 2.0]));
    let (message, help) = refused(&content, "");
    assert!(message.contains("its column `arrival_ns` holds DOUBLE"), "{message}");
    assert!(help.contains("astype"), "{help}");
}

#[test]
fn parquet_that_is_wrong_says_so_and_is_not_said_to_be_cut_off() {
    let table = |offset: (&str, Values, Option<&[i16]>)| {
        written(
            &[
                ("required int64 arrival_ns", Values::Wide(&[300, 1000]), None),
                ("required binary op (STRING)", Values::Text(&["W", "R"]), None),
                offset,
                ("required int64 length_bytes", Values::Wide(&[8192, 512]), None),
            ],
            &PLAIN,
        )
    };
    let null = table(("optional int64 offset_bytes", Values::Wide(&[4096]), Some(&[1, 0])));
    let (message, help) = refused(&null, "");
    assert!(message.ends_with("row 2: its offset_bytes is null"), "{message}");
    assert!(help.contains("skip_bad"), "{help}");
    let first_null = table(("optional int64 offset_bytes", Values::Wide(&[4096]), Some(&[0, 1])));
    assert_eq!(rows(&first_null, "skip_bad = 1"), [(0, Op::Read, 4096, 512, 0)], "values follow their rows");
    let negative = table(("required int64 offset_bytes", Values::Wide(&[0, -4096]), None));
    assert!(refused(&negative, "").0.ends_with("row 2: its offset_bytes is -4096, below zero"));
    for (field, values, expected) in [
        ("required binary offset_bytes (STRING)", Values::Text(&["1", "2"]), "holds BYTE_ARRAY (String)"),
        ("required double offset_bytes", Values::Double(&[1.0, 2.0]), "holds DOUBLE"),
        ("required boolean offset_bytes", Values::Truth(&[true, false]), "holds BOOLEAN"),
        ("required int32 offset_bytes (DATE)", Values::Narrow(&[1, 2]), "holds INT32 (Date)"),
        ("required int64 offset_bytes (DECIMAL(9,2))", Values::Wide(&[1, 2]), "holds INT64 (Decimal"),
    ] {
        let (message, _) = refused(&table((field, values, None)), "");
        assert!(message.contains(expected) && message.ends_with("offset_bytes takes whole numbers"), "{message}");
    }
    let (message, help) = refused(&table(("required int64 lba", Values::Wide(&[1, 2]), None)), "");
    assert!(message.contains("it has no column for the offset"), "{message}");
    assert!(help.contains("`lba`") && !help.contains("cut off"), "{help}");
    let named = table(("required int64 lba", Values::Wide(&[8, 0]), None));
    assert_eq!(rows(&named, "columns.offset_sectors = \"lba\""), EXPECTED);
}

/// A file of two requests, 700 apart in a column of whole numbers, with a note of the writer in its metadata.
fn of_durations(name: &str, key: &str, note: &str) -> Vec<u8> {
    let time = format!("required int64 {name}");
    let columns = [
        (&time[..], Values::Wide(&[300, 1000]), None),
        ("required int64 op", Values::Wide(&[1, 0]), None),
        ("required int64 offset_bytes", Values::Wide(&[4096, 0]), None),
        ("required int64 length_bytes", Values::Wide(&[8192, 512]), None),
    ];
    noted(&columns, &PLAIN, Some((key, note)))
}

/// Durations are plain numbers in Parquet, and only pandas' metadata states their unit.
#[test]
fn durations_of_pandas_are_read_in_their_own_unit() {
    let note = |name: &str, kind: &str| {
        format!(
            r#"{{"columns": [{{"name": null, "field_name": "op", "numpy_type": "int64"}},
                {{"name": "{name}", "field_name": "{name}", "numpy_type": "{kind}"}}]}}"#
        )
    };
    let second_ns = |name: &str, note: &str| rows(&of_durations(name, "pandas", note), "")[1].0;
    for kind in ["timedelta64[ns]", "duration[ns][pyarrow]"] {
        assert_eq!(second_ns("arrival_ns", &note("arrival_ns", kind)), 700);
        assert_eq!(second_ns("arrival_s", &note("arrival_s", kind)), 700, "the name's unit is not theirs");
    }
    let old = note("arrival_us", "timedelta64[ms]").replace(r#""field_name": "arrival_us", "#, "");
    assert_eq!(second_ns("arrival_us", &old), 700_000_000);
    // A note of something else, or one that is damaged, says nothing.
    for pandas in [&note("arrival_s", "int64")[..], &note("other", "timedelta64[ns]"), "{", "[]", "{\"columns\": [7]}"]
    {
        assert_eq!(second_ns("arrival_s", pandas), 700_000_000_000);
    }
}

/// The schema of a file that polars wrote: `arrival_ns` holds durations in microseconds.
const SCHEMA_OF_POLARS: &str = "\
    /////1sBAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAQAAADoAAAArAAAAFgAAAAEAAAA7P//\
    /zgAAAAgAAAAGAAAAAECAAAQABIABAAQABEACAAAAAwAAAAAAPT///9AAAAAAQAAAAgACQAEAAgADAAAAGxlbmd0aF9ieXRlcwAA\
    AADs////OAAAACAAAAAYAAAAAQIAABAAEgAEABAAEQAIAAAADAAAAAAA9P///0AAAAABAAAACAAJAAQACAAMAAAAb2Zmc2V0X2J5\
    dGVzAAAAAOz///8sAAAAIAAAABgAAAABFAAAEAASAAQAEAARAAgAAAAMAAAAAAD8////BAAEAAIAAABvcAAA7P///zAAAAAgAAAA\
    GAAAAAESAAAQABIABAAQABEACAAAAAwAAAAAAPr///8CAAYABgAEAAoAAABhcnJpdmFsX25zAA==";

/// The schema of a file that pyarrow wrote: `arrival_s` holds durations in seconds.
const SCHEMA_OF_PYARROW: &str = "\
    /////ygBAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAQAAADAAAAAhAAAAEAAAAAEAAAAYP//\
    /wAAAQIQAAAAIAAAAAQAAAAAAAAADAAAAGxlbmd0aF9ieXRlcwAAAADI////AAAAAUAAAACY////AAABAhAAAAAoAAAABAAAAAAA\
    AAAMAAAAb2Zmc2V0X2J5dGVzAAAAAAgADAAIAAcACAAAAAAAAAFAAAAA2P///wAAAQUQAAAAGAAAAAQAAAAAAAAAAgAAAG9wAAAE\
    AAQABAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABEhAAAAAgAAAABAAAAAAAAAAJAAAAYXJyaXZhbF9zAAYACAAGAAYAAAAAAAAA\
    AAAAAA==";

/// Arrow's schema in the file's metadata states the unit of durations; polars' default is microseconds.
#[test]
fn durations_of_arrow_are_read_in_their_own_unit() {
    let file = |name: &str, schema: &str| of_durations(name, "ARROW:schema", schema);
    let second_ns = |name: &str, schema: &str| rows(&file(name, schema), "")[1].0;
    assert_eq!(second_ns("arrival_ns", SCHEMA_OF_POLARS), 700_000);
    assert_eq!(second_ns("arrival_s", SCHEMA_OF_PYARROW), 700_000_000_000);
    let named = file("arrival_ns", SCHEMA_OF_POLARS);
    assert_eq!(rows(&named, "columns.arrival_ms = \"arrival_ns\"")[1].0, 700_000, "whatever its key is called");
    // A schema without the column, one that is cut off, and no schema say nothing.
    assert_eq!(second_ns("arrival_s", SCHEMA_OF_POLARS), 700_000_000_000);
    for schema in [SCHEMA_OF_PYARROW, &SCHEMA_OF_POLARS[..300], "", "A", "no base 64!"] {
        assert_eq!(second_ns("arrival_ns", schema), 700, "{schema}");
    }
}

#[cfg(not(feature = "brotli"))]
#[test]
fn a_build_without_brotli_says_what_to_do() {
    let packed = include_bytes!("../../../../fuzz/corpus/parquet/table-brotli.parquet");
    let (message, help) = refused(packed, "");
    assert!(message.contains("which this build of the program cannot unpack"), "{message}");
    assert!(help.contains("--features full"), "{help}");
}

#[test]
fn pages_that_unpack_beyond_what_they_say_are_refused() {
    // Ten thousand equal times pack well; the page's header is then changed to say that they unpack to less.
    static TIMES: [i64; 10_000] = [7; 10_000];
    let codecs = [
        Compression::GZIP(GzipLevel::default()),
        #[cfg(feature = "brotli")]
        Compression::BROTLI(parquet::basic::BrotliLevel::default()),
    ];
    for codec in codecs {
        let how = How { codec, ..PLAIN };
        let column = |field| (field, Values::Wide(&TIMES), None);
        let fields = ["required int64 arrival_ns", "required int64 op", "required int64 offset_bytes"];
        let mut content = written(
            &fields.map(column).into_iter().chain([column("required int64 length_bytes")]).collect::<Vec<_>>(),
            &how,
        );
        // Behind the magic number: field 1, the page's kind, then field 2, 80,000 bytes in groups of seven bits.
        assert_eq!(&content[4..10], [0x15, 0, 0x15, 0x80, 0xe2, 0x09]);
        content[9] = 0x08;
        let (message, _) = refused(&content, "");
        assert!(message.contains("the page at byte 4 unpacks to more than its header says"), "{message}");
    }
}
