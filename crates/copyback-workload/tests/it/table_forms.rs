//! Are tables read without a header, with a header in a comment, and with other operations and forms of times?

use crate::common::{Row, corpus, error, read_with, rows};
use copyback_workload::Op;
use copyback_workload::spec::{ColumnNames, Meaning, Operations, WorkloadSpec};

const EXPECTED: [Row; 2] = [(0, Op::Write, 0, 4096, 0), (10_000, Op::Read, 4096, 4096, 0)];

fn ordered(order: &str) -> impl FnOnce(&mut WorkloadSpec) {
    let order = order.split(',').map(str::to_owned).collect();
    move |spec| spec.columns = Some(ColumnNames { order: Some(order), ..ColumnNames::default() })
}

fn read(content: &str, change: impl FnOnce(&mut WorkloadSpec)) -> (Vec<Row>, Vec<String>) {
    let (requests, notes) = read_with(content.as_bytes(), change).unwrap_or_else(|error| panic!("{error}"));
    (requests.iter().map(|r| (r.arrival_ns, r.op, r.offset_bytes, r.len_bytes, r.device)).collect(), notes)
}

#[test]
fn a_table_without_header_is_told_what_to_put_in_front() {
    for (content, guessed) in [
        ("0,W,0,4096\n10,R,4096,4096\n", "arrival_us,op,offset_bytes,length_bytes"),
        ("0.5,0,4096,R\n", "arrival_s,offset_bytes,length_bytes,op"),
        ("7,0,4096,4096\n", "arrival_us,op,offset_bytes,length_bytes"),
        ("2026-11-26T17:02:07Z,vol,W,0,4096\n", "arrival_us,other,op,offset_bytes,length_bytes"),
    ] {
        let refused = error(content.as_bytes());
        assert!(refused.message.contains("it looks like a table without a header"), "{content}: {refused}");
        let help = refused.help.unwrap();
        assert!(help.contains(&format!("such as `{guessed}`")) && help.contains("--columns "), "{content}: {help}");
        // The advice helps.
        let with_header = format!("{guessed}\n{content}");
        assert!(read_with(with_header.as_bytes(), |_| ()).is_ok(), "{with_header}");
        assert!(read_with(content.as_bytes(), ordered(guessed)).is_ok(), "{content}");
    }
}

/// The separator is found, named, and used in the advice.
#[test]
fn a_table_without_header_may_have_other_separators() {
    for (separator, shown) in [(" ", "blanks"), ("\t", "tabs"), (";", "`;`"), ("|", "`|`"), ("   ", "blanks")] {
        let content = "0,W,0,4096\n10,R,4096,4096\n".replace(',', separator);
        let refused = error(content.as_bytes());
        let expected = format!("it looks like a table without a header, with {shown} between columns");
        assert!(refused.message.contains(&expected), "{content}: {refused}");
        let help = refused.help.unwrap();
        let header = "arrival_us,op,offset_bytes,length_bytes".replace(',', &separator[..1]);
        assert!(help.contains(&format!("such as `{header}`")), "{content}: {help}");
        assert!(help.contains("--columns arrival_us,op,offset_bytes,length_bytes; the unit"), "{content}: {help}");
        // The advice helps, both ways.
        let (own, notes) = read(&format!("{header}\n{content}"), |_| ());
        assert_eq!(own, EXPECTED, "{content}");
        assert!(notes.contains(&format!("its columns have {shown} between them")), "{notes:?}");
        assert_eq!(read(&content, ordered("arrival_us,op,offset_bytes,length_bytes")).0, EXPECTED, "{content}");
        let few = read_with(content.as_bytes(), ordered("time_us,op,offset,length,other")).unwrap_err();
        assert!(few.message.contains(&format!("line 1: it has 4 columns with {shown} between them")), "{few}");
        assert!(few.message.contains("names 5: arrival_us,op,offset_bytes,length_bytes,other"), "{few}");
    }
    // The number of names tells a separator from a comma within a field.
    let (own, _) = read("0;W;0;4096;a,b\n10;R;4096;4096;c\n", ordered("time_us,op,offset,length,other"));
    assert_eq!(own, EXPECTED);
    // Prose is no table.
    for prose in ["one two three four\nfive six seven eight\n", "in 1999 and 2001\n"] {
        assert!(!error(prose.as_bytes()).message.contains("table"), "{prose}");
    }
}

#[test]
fn settings_stand_in_for_a_header() {
    let content = "0,W,0,4096\n10,R,4096,4096\n";
    for order in ["time_us,op,offset,length", "arrival_us,operation,offset_bytes,len_bytes"] {
        assert_eq!(read(content, ordered(order)).0, EXPECTED, "{order}");
    }
    let (rows, notes) = read("x,8,0,W,8,0\nx,8,10,R,8,8\n", ordered("pid,sectors,time_us,op,device,sector"));
    assert_eq!(rows, [(0, Op::Write, 0, 4096, 8), (10_000, Op::Read, 4096, 4096, 8)]);
    assert!(notes.iter().any(|note| note == "columns not looked at: `pid`"), "{notes:?}");
    // A header all the same.
    let (rows, notes) = read(&format!("t,rw,lba,len\n{content}"), ordered("time_us,op,offset,length"));
    assert_eq!(rows, EXPECTED);
    assert!(notes.iter().any(|note| note.contains("its first line was taken for a header")), "{notes:?}");
    // A name in `order` that another key mentions is that key's column, even if it is also the name of a key.
    let own = ColumnNames {
        order: Some(["offset", "kind", "at", "n"].map(str::to_owned).to_vec()),
        arrival_us: Some("at".to_owned()),
        op: Some("kind".to_owned()),
        offset_sectors: Some("offset".to_owned()),
        length_sectors: Some("n".to_owned()),
        ..ColumnNames::default()
    };
    assert_eq!(read("0,W,0,8\n8,R,10,8\n", |spec| spec.columns = Some(own)).0, EXPECTED);
    let lacking = read_with(content.as_bytes(), ordered("time_us,op,offset,size")).unwrap_err();
    assert!(lacking.message.contains("no column for the length"), "{lacking}");
    let empty = read_with(content.as_bytes(), ordered("time_us,,offset,length")).unwrap_err();
    assert!(empty.message.contains("workload.columns.order: it lacks a column's name"), "{empty}");
    let few = read_with(content.as_bytes(), ordered("time_us,op,offset,length,device")).unwrap_err();
    let expected = "line 1: it has 4 columns with commas between them, and `--columns` (`workload.columns.order`) names 5: \
                    arrival_us,op,offset_bytes,length_bytes,device; name each column in its order, and `other` for one that \
                    is not looked at";
    assert!(few.message.contains(expected), "{few}");
    // The first record is no proof that only it is damaged.
    let help = few.help.expect("the error has help");
    assert!(help.contains("other columns, name them: `--format`, `--columns`"), "{help}");
}

#[test]
fn a_header_may_stand_behind_a_comments_sign() {
    let (commented, _) = rows(&corpus("csv/commented-header.csv"));
    assert_eq!(commented, [(0, Op::Write, 0, 4096, 0), (10_000, Op::Read, 4096, 4096, 1)]);
    let (by_hand, _) =
        rows(b"# made by hand\n# op, arrival_us, offset_bytes, length_bytes\nW,0,0,4096\nR,10,4096,4096\n");
    assert_eq!(by_hand, EXPECTED);
    // The settings' names may stand there.
    let named = ColumnNames {
        arrival_us: Some("t".into()),
        op: Some("rw".into()),
        offset_bytes: Some("at".into()),
        length_bytes: Some("n".into()),
        ..ColumnNames::default()
    };
    let (of_names, _) = read("# t,rw,at,n\n0,W,0,4096\n10,R,4096,4096\n", |spec| spec.columns = Some(named));
    assert_eq!(of_names, EXPECTED);
    // A header of its own comes first.
    let (read, _) = rows(b"# arrival_us, more\narrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n10,R,4096,4096\n");
    assert_eq!(read, EXPECTED);
}

/// The names that `--columns` takes stand in a file, too: as its header, or behind a comment's sign.
#[test]
fn a_header_may_have_short_names() {
    for header in [
        "time_us,op,offset,length",
        "# time_us,op,offset,length",
        "# by hand\n#time_us, operation, offset, length_bytes",
        "arrival_us,op,offset,length_bytes",
    ] {
        let (read, notes) = rows(format!("{header}\n0,W,0,4096\n10,R,4096,4096\n").as_bytes());
        assert_eq!((read.as_slice(), notes[0].as_str()), (&EXPECTED[..], "format `csv`"), "{header}");
    }
    let (of_sectors, _) = rows(b"time_us,op,sector,sectors\n0,W,0,8\n10,R,8,8\n");
    assert_eq!(of_sectors, EXPECTED);
    // A full name comes first, and a name that a setting mentions is that setting's column.
    let (full, notes) = rows(b"time_us,op,offset,offset_bytes,length\n0,W,7,0,4096\n10,R,7,4096,4096\n");
    assert_eq!(full, EXPECTED);
    assert!(notes.iter().any(|note| note == "columns not looked at: `offset`"), "{notes:?}");
    let named = ColumnNames { device: Some("offset".into()), ..ColumnNames::default() };
    let text = "time_us,op,offset,sector,length\n0,W,0,0,4096\n10,R,0,8,4096\n";
    assert_eq!(read(text, |spec| spec.columns = Some(named)).0, EXPECTED);
    // If no column can have the missing field, the help suggests no order.
    let lacking = error(b"time_us,op,offset\n0,W,0\n");
    assert!(lacking.message.contains("it has no column for the length"), "{lacking}");
    assert!(!lacking.help.unwrap().contains("--columns"), "no column can have it");
    // A known header with foreign names: the missing column is named, and the advice helps.
    for (content, missing) in [
        ("arrival_us,op,offset,xfer\n0,W,0,4096\n10,R,4096,4096\n", "`length_bytes`"),
        ("arrival_us,verb,lba,sectors\n0,W,0,8\n10,R,8,8\n", "`op`"),
        ("time_us;op;where;length\n0;W;0;4096\n10;R;4096;4096\n", "`offset_bytes`"),
    ] {
        let refused = error(content.as_bytes());
        assert!(refused.message.contains(missing), "{}", refused.message);
        let help = refused.help.expect("advice");
        let columns =
            help.split_once("--columns ").and_then(|(_, rest)| rest.split_once("; its columns are ")).unwrap();
        assert_eq!(read(content, ordered(columns.0)).0, EXPECTED, "{content}: {help}");
    }
}

/// The advice for a table of other names fits it, and helps.
#[test]
fn a_table_of_other_names_is_told_its_columns_in_order() {
    for (content, columns) in [
        (
            "volume,ts_us,rw,lba,nbytes\na,0,W,0,4096\na,10,R,8,4096\n",
            "device,arrival_us,op,offset_sectors,length_bytes",
        ),
        ("when,what,where,size\n0,W,0,4096\n10,R,4096,4096\n", "arrival_us,op,offset_bytes,length_bytes"),
    ] {
        let refused = error(content.as_bytes());
        let help = refused.help.expect("advice");
        assert!(help.contains(&format!("--columns {columns}")), "{content}: {help}");
        assert_eq!(read(content, ordered(columns)).0, EXPECTED, "{content}");
    }
}

#[test]
fn operations_are_what_a_map_says() {
    let header = "arrival_us,op,offset_bytes,length_bytes\n";
    let content = format!("{header}0,2a,0,4096\n5,sync,,\n10,28,4096,4096\n12,W,8192,512\n");
    let unknown = error(content.as_bytes());
    assert!(unknown.message.contains("its op is `2a`") && unknown.message.contains("workload.operations"), "{unknown}");
    let meanings = [("2a", Meaning::Write), ("28", Meaning::Read), ("sync", Meaning::Ignore)];
    let operations = Operations(meanings.map(|(word, meaning)| (word.to_owned(), meaning)).into());
    let (rows, notes) = read(&content, |spec| spec.operations = Some(operations.clone()));
    assert_eq!(rows[..2], EXPECTED);
    assert_eq!(rows.len(), 3, "words that are known stay known");
    assert!(notes.iter().any(|note| note.starts_with("1 row left out")), "{notes:?}");
    let spec: WorkloadSpec = toml::from_str("trace = \"x\"\n[operations]\n2a = \"write\"\n").unwrap();
    assert_eq!(spec.operations.unwrap().0["2a"], Meaning::Write);
    let wrong = toml::from_str::<WorkloadSpec>("[operations]\n2a = \"wirte\"\n").unwrap_err().to_string();
    assert!(wrong.contains("did you mean `write`?"), "{wrong}");
    let spc = read_with(b"0,20941264,8192,W,0.551706\n", |spec| {
        spec.operations = Some(operations);
        spec.format = Some(copyback_workload::spec::Format::Spc);
    });
    assert!(spc.unwrap_err().message.contains("format `spc` says itself what its operations mean"));
}

#[test]
fn arrival_times_may_be_dates() {
    let (read, _) = rows(&corpus("csv/dates.csv"));
    assert_eq!(read, [(0, Op::Write, 0, 4096, 0), (500_000_000, Op::Read, 4096, 4096, 0)]);
    let wrong = error(b"arrival_s,op,offset_bytes,length_bytes\n26.11.2026 17:02,W,0,4096\n");
    assert!(wrong.message.contains("dates are written as 2026-11-26T17:02:07.5Z"), "{wrong}");
}

/// A column of dates needs no unit in its name. A column of numbers does, and a table with dates must have all other
/// columns.
#[test]
fn a_column_of_dates_needs_no_unit() {
    let second = 1_000_000_000;
    for name in ["timestamp", "Timestamp", "date", "time", "DateTime", "date_time", "ts"] {
        let table =
            format!("op,{name},offset,length\nW,2026-06-30T14:00:00Z,0,4096\nR,2026-06-30 14:00:02,4096,4096\n");
        let (read, notes) = rows(table.as_bytes());
        assert_eq!(read, [(0, Op::Write, 0, 4096, 0), (2 * second, Op::Read, 4096, 4096, 0)], "{name}");
        assert!(!notes.iter().any(|note| note.contains("not looked at")), "{notes:?}");
    }
    for (table, says) in [
        ("timestamp,op,offset,length\n12,W,0,4096\n", "it lacks `arrival_ns`"),
        ("timestamp,op,address,length\n2026-06-30,W,0,4096\n", "it lacks `arrival_ns`"),
    ] {
        let refused = error(table.as_bytes());
        assert!(refused.message.contains(says), "{table}: {refused}");
    }
}

/// Requests of zero bytes are left out: a trace of these alone says so.
#[test]
fn a_trace_of_empty_requests_says_what_was_left_out() {
    let refused = error(b"arrival_us,op,offset_bytes,length_bytes\n1,W,0,0\n2,R,8,0\n");
    assert!(
        refused.message.contains("2 requests of zero bytes left out, and it holds no requests but these"),
        "{refused}"
    );
    assert!(refused.help.is_some_and(|help| help.contains("a request moves one byte or more")));
}

/// A date beside a number would be decades away from it.
#[test]
fn times_are_all_dates_or_all_numbers() {
    let header = "arrival_us,op,offset_bytes,length_bytes\n";
    let row = |time: &str| format!("{time},W,0,4096\n");
    for (first, second, says) in [
        ("2026-06-30T14:00:00Z", "12", "line 3: its arrival_us is `12`, and those before it are dates"),
        ("12", "2026-06-30T14:00:00Z", "line 3: its arrival_us is the date `2026-06-30T14:00:00Z`"),
    ] {
        let refused = error((header.to_owned() + &row(first) + &row(second)).as_bytes());
        assert!(refused.message.contains(says), "{refused}");
    }
    let dates = header.to_owned() + &row("2026-06-30T14:00:00Z") + &row("2026-06-30 14:00:01");
    assert_eq!(rows(dates.as_bytes()).0.len(), 2);
    assert_eq!(rows((header.to_owned() + &row("1.5e-05") + &row("2")).as_bytes()).0.len(), 2);
}

/// Tables of a locale with decimal commas, and what cannot be told apart from them.
#[test]
fn decimal_commas_are_read_if_another_sign_separates_columns() {
    let header = "time_ms;op;offset;length\n";
    let (own, notes) = read(&format!("{header}0,5;W;0;4096\n0,510;R;4096,0;4096\n"), |_| ());
    assert_eq!(own, EXPECTED);
    assert!(notes.contains(&"commas in its numbers were read as decimal points".to_owned()), "{notes:?}");
    // Without a header, by order, and in the advice.
    let bare = "0,5;W;0;4096\n0,51;R;4096;4096\n";
    assert_eq!(read(bare, ordered("time_ms,op,offset,length")).0, EXPECTED);
    let refused = error(bare.as_bytes());
    assert!(refused.message.contains("a table without a header, with `;` between columns"), "{refused}");
    for separator in ["\t", "|", " "] {
        let content = format!("{header}{bare}").replace(';', separator);
        assert_eq!(read(&content, |_| ()).0, EXPECTED, "{content}");
    }
    let (_, notes) = read(&format!("{header}0.5;W;0;4096\n"), |_| ());
    assert!(!notes.iter().any(|note| note.contains("decimal")), "{notes:?}");
    for (rows, says) in [
        (
            "0,5;W;0;4096\n0.51;R;0;4096\n",
            "line 3: its arrival_ms is `0.51`, with a point, and decimals before it have a comma",
        ),
        (
            "0.5;W;0;4096\n1,234;R;0;4096\n",
            "line 3: its arrival_ms is `1,234`, with a comma, and decimals before it have a point",
        ),
        ("0;W;4,096;4096\n", "its offset_bytes is `4,096`, and the comma is read as a decimal point"),
        ("1.234,5;W;0;4096\n", "its arrival_ms is `1.234,5`, and no number"),
    ] {
        let refused = error(format!("{header}{rows}").as_bytes());
        assert!(refused.message.contains(says), "{rows}: {refused}");
    }
    let refused = error(b"time_ms,op,offset,length\n\"0,5\",W,0,4096\n");
    assert!(refused.message.contains("its arrival_ms is `0,5`, and commas separate the columns"), "{refused}");
}
