//! Are devices chosen by the names that a trace has for them?

use crate::common::{corpus, file, read_with, rows};
use copyback_workload::spec::{Device, Format, Layout, WorkloadSpec};
use copyback_workload::stats::TraceStats;
use copyback_workload::units::Nanos;
use copyback_workload::{Op, open};

const BLKPARSE: &[u8] = b"259,0 7 9 0.000379278 100 D WS 2048 + 8 [app]\n8,16 7 10 0.000479278 100 D R 100 + 8 [app]\n";

/// How many reads and writes a device has. Trims of what was never used are left out of a compact layout.
fn requests(content: &[u8], device: &str) -> Result<usize, String> {
    let read = |layout: Layout| -> Result<usize, String> {
        let read = read_with(content, |spec| {
            spec.device = Some(device.parse().unwrap());
            spec.layout = Some(layout);
        });
        let (requests, _) = read.map_err(|error| error.message)?;
        Ok(requests.iter().filter(|request| request.op != Op::Trim).count())
    };
    let as_is = read(Layout::AsIs);
    for layout in [Layout::Packed, Layout::Compact] {
        assert_eq!(read(layout), as_is, "whichever layout, it is the same: {layout}");
    }
    as_is
}

#[test]
fn linux_devices_have_the_names_of_linux() {
    for (device, count) in [("259,0", 1), ("8,16", 1), ("271581184", 1), ("8388624", 1)] {
        assert_eq!(requests(BLKPARSE, device), Ok(count), "{device}");
    }
    let none = requests(BLKPARSE, "8,1").unwrap_err();
    assert_eq!(none, "no request is left: none of the workload's is for device 8,1");
    // The device has a request, which the window omits.
    let late = read_with(BLKPARSE, |spec| {
        spec.device = Some("8,16".parse().unwrap());
        spec.window = Some([Nanos(1_000_000_000), Nanos(2_000_000_000)]);
    });
    assert_eq!(late.unwrap_err().message, "no request is left: none lies in the time window");
    let file = file(BLKPARSE);
    let mut source = open(&WorkloadSpec::of_trace(file.path()), 1, u64::MAX).unwrap();
    let stats = TraceStats::collect(&mut source).unwrap();
    let names: Vec<_> = stats.devices.iter().map(|device| device.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["8,16", "259,0"], "by number");
    for (corpus_file, name) in [
        ("tracepoints/ftrace.txt", "8,16"),
        ("tracepoints/atrace-ufs.txt", "1d84000.ufshc"),
        ("iosnoop/starts-and-ends.txt", "8,0"),
        ("biosnoop/bcc.txt", "xvda1"),
        ("blktrace/little-endian.bin", "8,1"),
        ("fiu/processes.txt", "6,0"),
        ("fio/version-2.iolog", "/dev/b"),
        ("strace/vectors-and-others.txt", "/d/a"),
    ] {
        let found = requests(&corpus(corpus_file), name);
        assert!(found.as_ref().is_ok_and(|count| *count > 0), "{corpus_file}: {found:?}");
    }
}

#[test]
fn tables_have_devices_by_name() {
    let table =
        b"arrival_us,op,offset_bytes,length_bytes,device\n0,W,0,4096,vol-a\n9,R,0,512,vol b\n10,R,0,512,vol-a\n";
    assert_eq!((requests(table, "vol-a"), requests(table, "vol b")), (Ok(2), Ok(1)));
    let (read, notes) = rows(table);
    assert_eq!(read.iter().map(|row| row.4).collect::<Vec<_>>(), [0, 1, 0]);
    assert!(notes.contains(&"device 1 is `vol b`".to_owned()), "{notes:?}");
    let mixed = b"arrival_us,op,offset_bytes,length_bytes,device\n0,W,0,4096,3\n9,R,0,512,vol\n10,R,0,512,3\n";
    let mixed = read_with(mixed, |spec| spec.format = Some(Format::Csv)).unwrap_err();
    assert!(
        mixed.message.contains("line 3: its device is `vol`") && mixed.message.contains("name all devices"),
        "{mixed}"
    );
}

#[test]
fn a_setting_is_a_number_or_a_name() {
    let of = |text: &str| toml::from_str::<WorkloadSpec>(text).map(|spec| spec.device.unwrap());
    assert_eq!(of("device = 7").unwrap(), Device::Number(7));
    assert_eq!(of("device = \"259,0\"").unwrap(), Device::Name("259,0".to_owned()));
    for wrong in ["device = -1", "device = 4294967296", "device = \"\"", "device = true"] {
        let error = of(wrong).unwrap_err().to_string();
        assert!(error.contains("a device's number"), "{wrong}: {error}");
    }
}
