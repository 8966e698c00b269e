//! Are dates in columns of their own read, as text and as Parquet?

use crate::common::{Row, error, read_with, rows};
use crate::parquet_files::{PLAIN, Values, written};
use copyback_workload::Op;
use copyback_workload::spec::ColumnNames;

const SECOND: u64 = 1_000_000_000;
/// Two arrivals, 2.5 s after each other, around midnight.
const EXPECTED: [Row; 2] = [(0, Op::Write, 0, 4096, 0), (5 * SECOND / 2, Op::Read, 4096, 4096, 0)];

/// The rows of a table whose columns are named in their order.
fn ordered(order: &str, table: &str) -> Vec<Row> {
    let order = order.split(',').map(str::to_owned).collect();
    let columns = ColumnNames { order: Some(order), ..ColumnNames::default() };
    let read = read_with(table.as_bytes(), |spec| spec.columns = Some(columns));
    let (requests, _) = read.unwrap_or_else(|error| panic!("{error}"));
    requests.iter().map(|r| (r.arrival_ns, r.op, r.offset_bytes, r.len_bytes, r.device)).collect()
}

/// Date and time may come in any order, behind a header or named in order, with any separator.
#[test]
fn dates_and_times_of_day_may_have_columns_of_their_own() {
    for [date, time] in [["date", "time"], ["Date", "Time"], ["day", "time_of_day"], ["date", "timestamp"]] {
        let header = format!("{date},op,{time},offset,length\n");
        let table = header + "2026-06-30,W,23:59:58,0,4096\n2026-07-01,R,00:00:00.5,4096,4096\n";
        let (read, notes) = rows(table.as_bytes());
        assert_eq!(read, EXPECTED, "{table}");
        assert!(!notes.iter().any(|note| note.contains("not looked at")), "{notes:?}");
    }
    let bare = "23:59:58 2026/06/30 W 0 4096\n00:00:00.500 2026/07/01 R 4096 4096\n";
    assert_eq!(ordered("time,date,op,offset,length", bare), EXPECTED);
    assert_eq!(ordered("time,date,op,offset,length", &format!("clock day rw lba len\n{bare}")), EXPECTED);
    let one = "2026-06-30T23:59:58,W,0,4096\n2026-07-01T00:00:00.5,R,4096,4096\n";
    assert_eq!(ordered("timestamp,op,offset,length", one), EXPECTED);
}

#[test]
fn a_date_without_its_time_is_refused() {
    let header = "date,time,op,offset,length\n2026-06-30,23:59:58,W,0,4096\n";
    let many = "2026-06-30,23:59:59,W,0,4096\n".repeat(70);
    for (row, says) in [
        ("2026-07-01,noon,R,4096,4096\n", "its arrival has `noon`, and no time such as 17:02:07.5"),
        ("yesterday,12:00,R,4096,4096\n", "its arrival has `yesterday`, and no date such as 2026-11-26"),
    ] {
        // The first rows say what the columns are.
        let refused = error(format!("{header}{many}{row}").as_bytes());
        assert!(refused.message.contains(says), "{refused}");
    }
    for rows in ["2026-06-30,2026-06-30,W,0,4096\n", "12:00,12:00,W,0,4096\n"] {
        let refused = error(format!("date,time,op,offset,length\n{rows}").as_bytes());
        assert!(refused.message.contains("it lacks `arrival_ns`"), "{refused}");
    }
}

/// A Parquet file with these columns before the operation, the offset and the length.
fn parquet(times: Vec<(&str, Values)>) -> Vec<u8> {
    let rest = vec![
        ("required binary op (STRING)", Values::Text(&["W", "R"])),
        ("required int64 offset_bytes", Values::Wide(&[0, 4096])),
        ("required int64 length_bytes", Values::Wide(&[4096, 4096])),
    ];
    let all: Vec<_> = times.into_iter().chain(rest).map(|(field, values)| (field, values, None)).collect();
    written(&all, &PLAIN)
}

/// 2026-06-30 in days since 1970, and the time of day of the first arrival in microseconds.
const DAY: i32 = 20_634;
const OF_DAY_US: i64 = 86_398_000_000;
const FIRST_US: i64 = DAY as i64 * 86_400_000_000 + OF_DAY_US;

#[test]
fn parquet_has_dates_of_every_type() {
    const TIMESTAMPS: Values = Values::Wide(&[FIRST_US, FIRST_US + 2_500_000]);
    const DAYS: Values = Values::Narrow(&[DAY, DAY + 1]);
    const TEXTS: Values = Values::Text(&["2026-06-30 23:59:58", "2026-07-01T00:00:00.5Z"]);
    let cases = [
        vec![("required int64 timestamp (TIMESTAMP(MICROS,true))", TIMESTAMPS)],
        vec![("required int64 submitted (TIMESTAMP(MICROS,false))", TIMESTAMPS)],
        vec![
            ("required int64 Completed (TIMESTAMP(MICROS,true))", TIMESTAMPS),
            ("required int64 Time (TIMESTAMP(MICROS,true))", TIMESTAMPS),
        ],
        vec![("required binary timestamp (STRING)", TEXTS)],
        vec![("required binary arrival_ns (STRING)", TEXTS)],
        vec![("required int96 ts", Values::Julian(&[(86_398 * SECOND, 2_461_222), (SECOND / 2, 2_461_223)]))],
        vec![
            ("required int32 date (DATE)", DAYS),
            ("required int64 time (TIME(MICROS,false))", Values::Wide(&[OF_DAY_US, 500_000])),
        ],
        vec![
            ("required int32 at (TIME(MILLIS,false))", Values::Narrow(&[86_398_000, 500])),
            ("required int32 on (DATE)", DAYS),
        ],
        vec![
            ("required binary time (STRING)", Values::Text(&["23:59:58", "00:00:00.5"])),
            ("required binary date (STRING)", Values::Text(&["2026-06-30", "2026-07-01"])),
        ],
    ];
    for columns in cases {
        let names: Vec<&str> = columns.iter().map(|(field, _)| *field).collect();
        let content = parquet(columns);
        let (read, notes) = rows(&content);
        assert_eq!(read, EXPECTED, "{names:?}");
        let is_left_out = notes.iter().any(|note| note.contains("not looked at"));
        assert_eq!(is_left_out, names[0].contains("Completed"), "{names:?}: {notes:?}");
    }
}

#[test]
fn parquet_of_which_no_column_says_when_requests_arrive_is_refused() {
    const TIMES: Values = Values::Wide(&[1, 2]);
    for columns in [
        vec![
            ("required int64 begin (TIMESTAMP(MICROS,true))", TIMES),
            ("required int64 end (TIMESTAMP(MICROS,true))", TIMES),
        ],
        vec![("required int64 time (TIME(MICROS,true))", TIMES)],
        vec![("required int64 timestamp", TIMES)],
    ] {
        let refused = error(&parquet(columns));
        assert!(refused.message.contains("it has no column for the arrival time"), "{refused}");
    }
    let refused = error(&parquet(vec![("required binary date (STRING)", Values::Text(&["2026-06-30", "soon"]))]));
    assert!(refused.message.contains("row 2: its arrival_ns is `soon`, and no date such as"), "{refused}");
}

/// The error for a date that does not exist, or has another form, names its value and its line.
#[test]
fn wrong_dates_are_named() {
    for value in
        ["2023-02-29T10:00:00Z", "10/27/2024 02:59:59", "1066-10-14 09:00:00", "3024-01-01", "27.10.2024 10:00"]
    {
        for first in ["", "2024-10-27 02:59:59,R,0,512\n"] {
            let content = format!("timestamp,op,offset,length\n{first}{value},W,0,4096\n");
            let refused = crate::common::error(content.as_bytes());
            let line = 2 + usize::from(!first.is_empty());
            let says = format!(", line {line}: its `timestamp` is `{value}`, which is no date that is read");
            assert!(refused.message.contains(&says), "{refused}");
            assert!(refused.help.expect("a remedy").contains("from 1970 to 2554"), "{value}");
        }
    }
}
