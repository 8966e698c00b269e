//! Is a format detected only from lines of its own, and does an error name the format that was assumed?

use crate::common::{corpus, error, read_with, rows};
use copyback_workload::Op;
use copyback_workload::spec::{Format, WorkloadSpec};

/// Lines with a letter and a comma are no events of Windows. The error for a table of other names lists its columns.
#[test]
fn a_table_is_not_taken_for_events() {
    let table = error(&corpus("open/table-of-other-names.csv"));
    assert!(table.message.contains("it looks like a table with the columns `volume`, `ts_us`, `rw`"), "{table}");
    // A table of requests to files: the path is the first column, as in Google's Thesios traces.
    let paths = error(b"filename,start,request\n/a,1700000000,READ\n/b,1700000001,WRITE\n");
    assert!(paths.message.contains("it looks like a table with the columns `filename`"), "{paths}");
    for text in ["Dear all,\nhow are you, today?\n", "name,5,x\nother,6,y\n", "a, b\n"] {
        let refused = error(text.as_bytes());
        assert!(!refused.message.contains("format `etw`"), "{text}: {refused}");
    }
}

/// A file with events but no request is not read as another format: the error names the format of its events.
#[test]
fn files_without_requests_name_the_assumed_format() {
    for (content, format) in [
        ("8,0 0 1 0.1 7 Q R 0 + 8 [x]\n8,0 0 2 0.2 7 G R 0 + 8 [x]\n", Format::Blkparse),
        ("a-1 [000] 1.5: block_bio_queue: 8,0 R 8 + 8 [a]\n", Format::Tracepoints),
        ("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n", Format::Biosnoop),
        ("COMM PID TYPE DEV BLOCK BYTES LATms\n", Format::Iosnoop),
        ("fio version 3 iolog\n0 f add\n0 f open\n", Format::Fio),
        ("1.5 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3\n", Format::Strace),
        ("BeginHeader\n  DiskRead, TimeStamp, Process\nEndHeader\n", Format::Etw),
    ] {
        let refused = error(content.as_bytes());
        assert!(refused.message.contains("it holds no requests"), "{format}: {refused}");
        assert!(refused.message.contains(&format!("it was read as format `{format}`, which ")), "{format}: {refused}");
        assert!(refused.help.is_some(), "{format}");
    }
}

/// None of these lines selects a format: none is a request, or an event that can belong to one format alone.
#[test]
fn no_line_without_a_request_is_enough() {
    let lines = [
        "word",
        "one, two",
        "1, 2, 3",
        "# 1",
        "a b c d e f g h",
        "1 2 3 4 5 6 7",
        "x=1",
        "{\"a\": 1}",
        "<a>b</a>",
        "[a]",
        "1,2,3,4,5,6,7,8,9",
        "Timestamp,Offset,Size,IOType,VolumeID",
        "device_id,opcode,offset,length,timestamp",
        "Timestamp,Response,IOType,LUN,Offset,Size",
        "Tracing block I/O. Ctrl-C to end.",
        "cpus=8",
        "CPU0 (8,0):",
        "OS Version: 6.0, Trace Start",
        "strace: Process 12 attached",
        "CPU:3 [LOST 12 EVENTS]",
    ];
    for line in lines {
        let refused = error(format!("{line}\n{line}\n").as_bytes());
        assert!(!refused.message.contains("it was read as"), "{line}: {refused}");
    }
}

#[test]
fn a_damaged_line_names_the_assumed_format_and_why() {
    let damaged = error(b"0,20941264,8192,W,0.551706\n1,2,512,r,x\n1,2,512,r,0.6\n");
    assert!(damaged.message.contains("line 2: expected a time in seconds"), "{damaged}");
    assert!(damaged.message.ends_with("; it was read as format `spc`, which 2 of its first 3 lines have"), "{damaged}");
    let named = read_with(b"1 2 3\n", |spec| spec.format = Some(Format::Fiu)).unwrap_err();
    assert!(named.message.ends_with("it was read as format `fiu`, as `workload.format` says"), "{named}");
    let table = error(b"arrival_us,op,offset_bytes,length_bytes\n0,W,0,x\n");
    assert!(table.message.ends_with("it was read as format `csv`, as its header names columns"), "{table}");
}

/// Tracepoints are recognised by their form, even if all events are of other kinds or a line is damaged.
#[test]
fn tracepoints_without_a_request_are_told_what_they_lack() {
    let other = "          <idle>-0     [001] d..2.  5.000001: sched_switch: prev_comm=swapper/1 ==> next_comm=a\n";
    let refused = error(format!("# tracer: nop\n#\n{other}{other}").as_bytes());
    assert!(refused.message.contains("it holds no requests; it was read as format `tracepoints`"), "{refused}");
    assert!(refused.help.is_some_and(|help| help.contains("record block_rq_issue")));
    for (line, says) in [
        ("a-1 [000] d..1. 1.5: block_rq_issue: 8,0 W 4096 () x + 8 [a]", "expected a sector"),
        ("a 1 [000] 1.5: block:block_rq_issue: 8;0 W 4096 () 8 + 8 [a]", "line 1: "),
        ("a-1 1.5: block_rq_complete: 8,0 W () 8 + x [0]", "expected a number of sectors"),
    ] {
        let refused = error(format!("{line}\n").as_bytes());
        assert!(refused.message.contains("line 1: ") && refused.message.contains(says), "{line}: {refused}");
        let assumed = "it was read as format `tracepoints`, which its first line has";
        assert!(refused.message.contains(assumed), "{line}: {refused}");
    }
    // A kernel log with times is not read as tracepoints.
    let log = error(b"[    5.000001] usb 1-1: new device\n[    6.5] usb: gone\n");
    assert!(!log.message.contains("tracepoints`,"), "{log}");
}

/// A header may be longer than the lines that are tried first.
#[test]
fn a_long_header_hides_no_requests() {
    let header: String = (0..200).map(|at| format!("  Event{at}, TimeStamp, Process Name ( PID)\n")).collect();
    let event = "  DiskRead,  100, System (   4), 76, 0xf, 0x00000a00, 0x00001000, 10, 2, 0x43, 9, 0\n";
    let (read, notes) = rows(format!("BeginHeader\n{header}EndHeader\n{event}").as_bytes());
    assert_eq!((read, notes[0].as_str()), (vec![(0, Op::Read, 0xa00, 4096, 2)], "format `etw`"));
    let stacks: String = (0..200).map(|at| format!("    ffffffff8153a0{at:02x} f+0x1 ([k])\n")).collect();
    let (read, _) = rows(format!("{stacks} a 1 [0] 1.5: block:block_rq_issue: 8,0 R 512 () 8 + 1 [a]\n").as_bytes());
    assert_eq!(read.len(), 1);
}

#[test]
fn tectonic_and_lcs() {
    let (read, notes) = rows(&corpus("tectonic/eight-and-ten-columns.txt"));
    // Files' and blocks' addresses are packed: extents of 1 MiB in the order of their first use.
    assert_eq!(read[0], (0, Op::Read, 262_144, 4_325_376, 0));
    assert_eq!(read[1], (21_940_000, Op::Write, 0, 131_072, 0));
    assert_eq!(read[2].0, 521_940_000);
    assert_eq!((read.len(), notes[0].as_str()), (3, "format `tectonic`"));
    assert!(notes.iter().any(|note| note == "1 request of unknown operation left out"), "{notes:?}");
    let named = |spec: &mut WorkloadSpec| spec.format = Some(Format::Tectonic);
    let beyond = read_with(&corpus("tectonic/highest-block.txt"), named).unwrap_err();
    assert!(beyond.message.contains("line 2: block 274877906944 is not below 2^38"), "{beyond}");

    let (read, notes) = rows(&corpus("lcs/version-2.lcs"));
    let second = 1_000_000_000;
    // The first object grows, and gets another place behind the second.
    let expected = [(0, Op::Write, 0, 4096, 0), (0, Op::Read, 4096, 512, 0), (3 * second, Op::Read, 8192, 8192, 0)];
    assert_eq!(read, expected);
    assert!(notes.iter().any(|note| note.contains("objects have no addresses")), "{notes:?}");
    let damaged = error(&corpus("lcs/version-3.lcs"));
    assert!(damaged.message.contains("record 3: its size is -4, below zero"), "{damaged}");
    assert!(error(&corpus("lcs/head-alone.lcs")).message.contains("it holds no requests; it was read as format `lcs`"));
    let first = error(&corpus("open/lcs-of-version-1.lcs"));
    assert!(first.message.contains("an lcs trace of libCacheSim of the first version"), "{first}");
    let mqsim = error(&corpus("open/mqsim.xml"));
    assert!(mqsim.message.contains("it is MQSim's configuration in XML"), "{mqsim}");
}

#[test]
fn a_meaning_of_zero_without_effect_is_noted() {
    let table = b"arrival_us,op,offset_bytes,length_bytes\n0,W,0,4096\n";
    let zero = |content: &[u8]| {
        let notes =
            read_with(content, |spec| spec.zero_means = Some(copyback_workload::spec::ZeroMeans::Read)).unwrap().1;
        notes.iter().any(|note| note.starts_with("`workload.zero_means` has no effect: a trace of the format"))
    };
    assert!(zero(table) && zero(b"0,20941264,8192,W,0.551706\n"));
    assert!(!zero(b"1.5 0 16 8 1\n") && !zero(b"100 0 16 8 1\n"));
}

/// A configuration of SimpleSSD is named as what it is, not tried as 22 formats.
#[test]
fn a_configuration_of_simplessd_is_no_trace() {
    for content in [
        "[ssd]\nDieNumber = 4\n[ftl]\nGCThreshold = 0.05\n",
        "[nvme]\nx = 1\n[pal]\nChannel = 8\n",
        "<?xml version=\"1.0\"?>\n<simplessd version=\"2.1\">\n</simplessd>\n",
    ] {
        let refused = error(content.as_bytes());
        assert!(refused.message.contains("it is SimpleSSD's configuration, which is no trace"), "{refused}");
        assert!(refused.help.is_some_and(|help| help.contains("--device")), "{content}");
    }
}
