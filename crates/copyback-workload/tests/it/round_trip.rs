//! Does what is written read back the same, and is any content at all read or refused without a panic?

use copyback_workload::spec::{Format, Layout, WorkloadSpec};
use copyback_workload::write::{WriteFormat, write_trace};
use copyback_workload::{Error, Op, Priority, Request, RequestSource, open};
use proptest::prelude::*;

fn read(spec: &WorkloadSpec) -> Result<Vec<Request>, Error> {
    let mut source = open(spec, 1, u64::MAX)?;
    let mut requests = Vec::new();
    while let Some(request) = source.next_request()? {
        requests.push(request);
    }
    let _ = source.notes();
    Ok(requests)
}

/// The request as a format keeps it: what the format cannot hold is removed, replaced or rounded.
fn kept(format: WriteFormat, mut request: Request) -> Request {
    let unit_ns = match format {
        WriteFormat::Msr => 100,
        WriteFormat::Fio2 | WriteFormat::Fio3 => 1000,
        _ => 1,
    };
    request.arrival_ns -= request.arrival_ns % unit_ns;
    let keeps_all = matches!(format, WriteFormat::Parquet | WriteFormat::Csv);
    if !keeps_all {
        request.priority = Priority::Normal;
    }
    let has_trims = keeps_all || matches!(format, WriteFormat::Fio2 | WriteFormat::Fio3);
    if request.op == Op::Trim && !has_trims {
        request.op = Op::Write;
    }
    if matches!(format, WriteFormat::Disksim | WriteFormat::Spc) {
        request.offset_bytes -= request.offset_bytes % 512;
        request.len_bytes = request.len_bytes.next_multiple_of(512);
    }
    request
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim)];
    let request = (0_u64..10_000_000_000, 0_u64..1 << 50, 1_u64..1 << 30, 0_u32..5, op, any::<bool>());
    prop::collection::vec(request, 1..40).prop_map(|rows| {
        let mut arrival_ns = 0;
        let mut first = true;
        rows.into_iter()
            .map(|(gap_ns, offset_bytes, len_bytes, device, op, urgent)| {
                // Most formats count from the first request.
                arrival_ns += if first { 0 } else { gap_ns };
                first = false;
                let priority = if urgent { Priority::High } else { Priority::Normal };
                Request { arrival_ns, offset_bytes, len_bytes, device, op, priority }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_reads_back(requests in requests()) {
        let folder = tempfile::tempdir().unwrap();
        for format in WriteFormat::ALL {
            let mut expected: Vec<Request> = requests.iter().map(|request| kept(*format, *request)).collect();
            let path = folder.path().join("trace");
            let summary = write_trace(&mut expected.clone().into_iter(), &path, *format).unwrap();
            prop_assert_eq!(summary.requests, expected.len() as u64);
            // A note on waits says how fio takes them.
            let has_waits = *format == WriteFormat::Fio2 && expected.iter().any(|request| request.arrival_ns > 0);
            prop_assert_eq!(summary.notes.len(), usize::from(has_waits));
            let mut spec = WorkloadSpec::of_trace(&path);
            spec.layout = Some(Layout::AsIs);
            if matches!(format, WriteFormat::Fio2 | WriteFormat::Fio3) {
                // fio names files; their numbers are in the order of first use.
                let mut names = Vec::new();
                for request in &mut expected {
                    let known = names.iter().position(|name| *name == request.device);
                    let index = known.unwrap_or_else(|| { names.push(request.device); names.len() - 1 });
                    request.device = u32::try_from(index).unwrap();
                }
            }
            prop_assert_eq!(read(&spec).unwrap(), expected, "{}", format);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..600), magic in 0_usize..8) {
        let magics: [&[u8]; 8] =
            [b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY", b"\xfd7zXZ\0", b"PAR1", b"\x07tae", b"fio version 3 iolog\n"];
        refuse_or_read(&[magics[magic], &content].concat());
        refuse_or_read(&[magics[magic], &content, b"\0\0\0\0PAR1"].concat());
    }

    #[test]
    fn any_text_is_read_or_refused(content in "([0-9.,+<>()= RWDx]{0,40}\n){0,12}") {
        refuse_or_read(content.as_bytes());
    }

    #[test]
    fn a_damaged_parquet_file_is_read_or_refused(at in 0.0_f64..1.0, byte: u8, requests in requests()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        write_trace(&mut requests.into_iter(), &path, WriteFormat::Parquet).unwrap();
        let mut content = std::fs::read(&path).unwrap();
        let at = (at * content.len() as f64) as usize;
        content[at] ^= byte;
        refuse_or_read(&content);
        refuse_or_read(&content[..at]);
    }
}

/// A trace in the project's own format, converted to CSV and back, is the same to the byte.
#[test]
fn a_table_as_text_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let convert = |from: &str, to: &str, format| {
        let mut source = open(&WorkloadSpec::of_trace(folder.path().join(from)), 1, u64::MAX).unwrap();
        let summary = write_trace(&mut source, &folder.path().join(to), format).unwrap();
        assert_eq!(summary.notes, Vec::<String>::new());
        std::fs::read(folder.path().join(to)).unwrap()
    };
    let request = |arrival_ns, op, device, priority| Request {
        arrival_ns,
        offset_bytes: u64::MAX - 4097,
        len_bytes: 4097,
        device,
        op,
        priority,
    };
    // Times count from the recording's start, and the first request may come later.
    for first_ns in [0, 5_000_000_007] {
        let requests = vec![
            request(first_ns, Op::Trim, u32::MAX, Priority::High),
            request(first_ns + 1, Op::Write, 0, Priority::Normal),
            request(u64::MAX, Op::Read, 3, Priority::Normal),
        ];
        let own = folder.path().join("own");
        write_trace(&mut requests.clone().into_iter(), &own, WriteFormat::Parquet).unwrap();
        let text = String::from_utf8(convert("own", "table.csv", WriteFormat::Csv)).unwrap();
        let (comment, table) = text.split_at(text.find("arrival_ns").unwrap());
        assert_eq!(comment, if first_ns > 0 { "# times count from the recording's start\n" } else { "" });
        let row = format!("{first_ns},T,18446744073709547518,4097,4294967295,high\n{},W,", first_ns + 1);
        assert!(
            table.starts_with(&format!("arrival_ns,op,offset_bytes,length_bytes,device,priority\n{row}")),
            "{table}"
        );
        assert_eq!(convert("table.csv", "again", WriteFormat::Parquet), std::fs::read(&own).unwrap());
        // Another program may drop the comment. The first request then arrives at zero, as in any table.
        std::fs::write(folder.path().join("bare.csv"), table).unwrap();
        assert_eq!(read(&WorkloadSpec::of_trace(folder.path().join("bare.csv"))).unwrap()[0].arrival_ns, 0);
    }
    write_trace(&mut Vec::new().into_iter(), &folder.path().join("empty"), WriteFormat::Csv).unwrap();
    let empty = std::fs::read_to_string(folder.path().join("empty")).unwrap();
    assert_eq!(empty, "arrival_ns,op,offset_bytes,length_bytes,device,priority\n");
}

/// Under every format: a user may name a wrong one.
fn refuse_or_read(content: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    std::fs::write(&path, content).unwrap();
    for format in Format::ALL {
        let mut spec = WorkloadSpec::of_trace(&path);
        spec.format = Some(*format);
        spec.skip_bad = Some(2);
        if let Err(error) = read(&spec) {
            assert!(!error.message.is_empty());
        }
    }
}

#[test]
fn a_failed_conversion_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let trim =
        Request { arrival_ns: 0, offset_bytes: 0, len_bytes: 512, device: 0, op: Op::Trim, priority: Priority::Normal };
    let error = write_trace(&mut vec![trim].into_iter(), &path, WriteFormat::Msr).unwrap_err();
    assert!(error.message.contains("request 1") && error.message.contains("no trims"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let odd = Request { op: Op::Read, offset_bytes: 100, ..trim };
    let error = write_trace(&mut vec![odd].into_iter(), &path, WriteFormat::Disksim).unwrap_err();
    assert!(error.help.unwrap().contains("align"));
}

#[test]
fn what_a_format_cannot_keep_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let request =
        Request { arrival_ns: 150, offset_bytes: 0, len_bytes: 512, device: 0, op: Op::Read, priority: Priority::High };
    let path = folder.path().join("out");
    let summary = write_trace(&mut vec![request].into_iter(), &path, WriteFormat::Msr).unwrap();
    assert_eq!(summary.notes.len(), 2, "{:?}", summary.notes);
}

/// Names of devices stay names, also those with commas and quotes.
#[test]
fn a_table_keeps_the_names_of_devices() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
    let rows = "0,W,0,4096,\"259,0\"\n1,W,0,4096,\"x\"\"y\"\n2,R,0,4096,sda\n3,R,0,4096,\"259,0\"\n";
    std::fs::write(&from, format!("arrival_us,op,offset_bytes,length_bytes,device\n{rows}")).unwrap();
    let names = |path: &std::path::Path| {
        let mut source = open(&WorkloadSpec::of_trace(path), 1, u64::MAX).unwrap();
        let mut names = Vec::new();
        while let Some(request) = source.next_request().unwrap() {
            names.push((request.device, source.device_name(request.device).unwrap()));
        }
        names
    };
    let spec = WorkloadSpec::of_trace(&from);
    write_trace(&mut *open(&spec, 1, u64::MAX).unwrap(), &to, WriteFormat::Csv).unwrap();
    let expected = [(0, "259,0"), (1, "x\"y"), (2, "sda"), (0, "259,0")].map(|(at, name)| (at, name.to_owned()));
    assert_eq!(names(&from), expected);
    assert_eq!(names(&to), expected);
}

/// fio reads the waits of version 2 differently from its manual. A note says so when they are written and when read.
#[test]
fn written_waits_have_the_note_of_read_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a.csv"), folder.path().join("b.iolog"));
    std::fs::write(&from, "arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n50,R,0,4096\n").unwrap();
    let notes = |format| {
        let spec = WorkloadSpec::of_trace(&from);
        write_trace(&mut *open(&spec, 1, u64::MAX).unwrap(), &to, format).unwrap().notes
    };
    assert!(notes(WriteFormat::Fio2).iter().any(|note| note.contains("milliseconds since the start")));
    assert!(notes(WriteFormat::Fio3).is_empty());
}
