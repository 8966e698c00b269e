//! Are Linux tracepoints read as text, whichever tool printed them? Each file of the corpus is a tool's, with its own
//! oddities: stacks, lost events, names with blanks and colons, events of other kinds.

use crate::common::{corpus, error, read_with, rows};
use copyback_workload::Op;
use copyback_workload::spec::{BlockAction, Format, WorkloadSpec};

/// A device as Linux packs it.
const fn linux(major: u32, minor: u32) -> u32 {
    (major << 20) | minor
}

#[test]
fn ftrace() {
    let content = corpus("tracepoints/ftrace.txt");
    let (read, notes) = rows(&content);
    let expected = [
        (0, Op::Write, 512_000, 8192, linux(8, 16)),
        (300_000, Op::Read, 4096 * 512, 131_072, linux(8, 0)),
        (500_000, Op::Trim, 1 << 20, 1 << 20, linux(8, 16)),
    ];
    assert_eq!(read, expected);
    assert_eq!(notes[0], "format `tracepoints`");
    assert!(notes.iter().any(|note| note == "the recording lost events in 1 place"), "{notes:?}");
    for (event, arrivals) in [(BlockAction::Queued, 1), (BlockAction::Completed, 1), (BlockAction::Issued, 3)] {
        assert_eq!(read_with(&content, |spec| spec.event = Some(event)).unwrap().0.len(), arrivals, "{event}");
    }
}

#[test]
fn perf_script_with_stacks_and_counts() {
    let device = linux(259, 3);
    let expected = [
        (0, Op::Read, 4096, 4096, device),
        (2500, Op::Write, 32_768, 16_384, device),
        (102_500, Op::Write, 16_384, 512, device),
    ];
    assert_eq!(rows(&corpus("tracepoints/perf-script.txt")).0, expected);
}

#[test]
fn trace_cmd() {
    let expected = [
        (0, Op::Write, 51_200, 8192, linux(253, 0)),
        (250_000, Op::Read, 102_400, 4096, linux(253, 0)),
        (500_000, Op::Read, 153_600, 4096, linux(253, 1)),
    ];
    let text = corpus("tracepoints/trace-cmd.txt");
    assert_eq!(rows(&text).0, expected);
    // What trace-cmd says of CPUs that recorded nothing.
    let with_empty_cpus = [b"CPU 1 is empty\nCPU 12 is empty\n", &text[..]].concat();
    assert_eq!(rows(&with_empty_cpus).0, expected);
}

#[test]
fn the_tracer_blk_with_and_without_the_columns_of_blkparse() {
    let device = linux(8, 32);
    let expected = [(0, Op::Read, 409_600, 16_384, device), (400_000, Op::Write, 4096 * 512, 4096, device)];
    assert_eq!(rows(&corpus("tracepoints/blk-tracer.txt")).0, expected);
    let like_blkparse = b"fio-1 [001] 110.100001: 259,0 1 1 0.000000000 1234 D R 1024 + 8 [fio]\n";
    assert_eq!(rows(like_blkparse).0, [(0, Op::Read, 524_288, 4096, linux(259, 0))]);
}

#[test]
fn commands_of_ufs() {
    // Addresses count blocks of 4 KiB in kernels that print `send_req`, and sectors in older kernels.
    let (read, notes) = rows(&corpus("tracepoints/atrace-ufs.txt"));
    let first = 0xfff << 20;
    let expected = [
        (0, Op::Write, 4_096_000, 8192, first),
        (300_000, Op::Read, 8_192_000, 4096, first),
        (500_000, Op::Trim, 1 << 24, 1 << 20, first + 1),
    ];
    assert_eq!(read, expected);
    assert!(notes.iter().any(|note| note.contains("units of 4096 bytes")), "{notes:?}");
    let (read, notes) = rows(&corpus("tracepoints/ufs-old.txt"));
    assert_eq!(read, [(0, Op::Read, 8192, 4096, first)]);
    assert!(notes.iter().any(|note| note.contains("units of 512 bytes")), "{notes:?}");
    // Notes name the events that are there.
    let of_block = "took the `D` events of the block layer for requests";
    let of_hosts = "took the commands that UFS hosts sent for requests";
    let said = |notes: &[String]| [of_block, of_hosts].map(|says| notes.iter().any(|note| note == says));
    assert_eq!(said(&notes), [false, true], "{notes:?}");
    let block = b"dd 1 [000] 101.2: block_rq_issue: 8,0 W 4096 () 128 + 8 [dd]\n";
    assert_eq!(said(&rows(block).1), [true, false]);
    assert_eq!(said(&rows(&[&corpus("tracepoints/ufs-old.txt")[..], block].concat()).1), [true, true]);
}

#[test]
fn events_that_are_no_requests_are_told_what_to_record() {
    let completed = error(b" a-1 [000] 1.5: block_rq_complete: 8,0 R () 8 + 8 [0]\n");
    assert!(completed.message.contains("it was read as format `tracepoints`, which its first line has"), "{completed}");
    assert!(completed.help.is_some_and(|help| help.contains("--set workload.event=C")));
    let named = |spec: &mut WorkloadSpec| spec.format = Some(Format::Tracepoints);
    let far = read_with(&corpus("tracepoints/highest-numbers.txt"), named).unwrap_err();
    assert!(far.message.contains("does not lie below 2^64 bytes"), "{far}");
}

#[test]
fn iosnoop_with_and_without_times() {
    let (device, other) = (linux(8, 0), linux(8, 16));
    let expected = [(0, Op::Write, 1 << 20, 8192, device), (200_000, Op::Read, 51_200, 4096, other)];
    let (read, notes) = rows(&corpus("iosnoop/starts-and-ends.txt"));
    assert_eq!(read, expected, "a flush moves no data");
    let flush = "1 flush left out: flushes of a drive's write buffer are not simulated";
    assert_eq!(notes, ["format `iosnoop`", flush]);
    // Ends less latencies are the starts.
    let (read, notes) = rows(&corpus("iosnoop/ends.txt"));
    assert_eq!(read.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 200_000]);
    assert!(notes.contains(&"arrival = end less latency".to_owned()), "{notes:?}");
    let first = "tar 14794 RM 202,1 8457608 4096 7.53\n";
    let (read, notes) = rows(first.as_bytes());
    assert_eq!(read, [(0, Op::Read, 8_457_608 * 512, 4096, linux(202, 1))]);
    assert!(notes.iter().any(|note| note.contains("no times") && note.contains("--closed")), "{notes:?}");
    let without_header = format!("1.5 1.6 my tar 14794 RM 202,1 0 4096 7.53\n1.7 1.8 {first}");
    assert_eq!(rows(without_header.as_bytes()).0.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 200_000_000]);
}

#[test]
fn biosnoop_with_a_pattern_and_a_time_of_day() {
    let (read, notes) = rows(&corpus("biosnoop/pattern-and-time-of-day.txt"));
    // Completed at 500 and 501 ms, 250 and 500 us after they were issued.
    let expected = [(0, Op::Write, 409_600, 1 << 20, 0), (750_000, Op::Read, 4096, 4096, 0)];
    assert_eq!(read, expected);
    assert_eq!(notes.len(), 2, "{notes:?}");
    let (read, notes) = rows(&corpus("biosnoop/time-of-day.txt"));
    assert_eq!(read.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 2_000_000_000]);
    assert!(notes.iter().any(|note| note.ends_with("1 later day")), "{notes:?}");
}

/// Each file has the lines of one tool: requests, and the lines that the tool prints between them.
#[test]
fn each_file_of_the_corpus_has_its_requests() {
    for (name, format, requests) in [
        ("tracepoints/ftrace.txt", "tracepoints", 3),
        ("tracepoints/perf-script.txt", "tracepoints", 3),
        ("tracepoints/trace-cmd.txt", "tracepoints", 3),
        ("tracepoints/atrace-ufs.txt", "tracepoints", 3),
        ("tracepoints/blk-tracer.txt", "tracepoints", 2),
        ("iosnoop/starts-and-ends.txt", "iosnoop", 2),
        ("biosnoop/pattern-and-time-of-day.txt", "biosnoop", 2),
    ] {
        let (read, notes) = rows(&corpus(name));
        assert_eq!((read.len(), &notes[0]), (requests, &format!("format `{format}`")), "{name}");
    }
}

/// `perf record -g` adds stacks: frames of the kernel have long addresses, those of programs any, and an empty line
/// ends them. ftrace's option `stacktrace` prints frames without addresses.
#[test]
fn stacks_are_skipped_whatever_their_addresses() {
    let perf = |bytes: u64, frames: &str| {
        format!("fio 9 [000] 1.000001: block:block_rq_issue: 8,0 R {bytes} () 8 + 8 [fio]\n{frames}\n")
    };
    let frames = "\tffffffff81421234 blk_mq_start_request+0x0 ([kernel.kallsyms])\n\
                  \t    7f00aabbccdd syscall+0x1d (/lib/x86_64-linux-gnu/libc.so.6)\n\
                  \t          40117d main+0x37 (/tmp/a.out)\n\t           1170f main+0x3 (/usr/bin/fio)\n\
                  \t               0 [unknown] ([unknown])\n            7f00aa f (inlined)\n";
    let content = perf(4096, frames) + &perf(4096, frames);
    assert_eq!(rows(content.as_bytes()).0, [(0, Op::Read, 4096, 4096, linux(8, 0)); 2]);
    let ftrace = "fio-9 [000] d..1. 1.000001: block_rq_issue: 8,0 R 4096 () 8 + 8 [fio]\n\
                  fio-9 [000] d..1. 1.000002: <stack trace>\n => blk_mq_start_request\n => nvme_queue_rq\n\
                  fio-9 [000] d..1. 1.000003: <user stack trace>\n =>  <00007f00aabbccdd>\n";
    assert_eq!(rows(ftrace.as_bytes()).0, [(0, Op::Read, 4096, 4096, linux(8, 0))]);
}

/// Numbers of UFS events are decimal or hexadecimal, and nothing follows them.
#[test]
fn numbers_of_ufs_events_are_read_whole() {
    let line = |size: &str, lba: &str| {
        format!(
            "a-1 [000] .... 10.000101: ufshcd_command: send_req: 1d84000.ufshc: tag: 5, DB: 0x20, size: {size}, IS: 0, \
             LBA: {lba}, opcode: 0x2a (WRITE_10), group_id: 0x0\n"
        )
    };
    for (size, lba) in [("8192", "800"), ("0x2000", "0x320"), ("8192", "0x320"), ("0x2000", "800")] {
        let (read, _) = rows(line(size, lba).as_bytes());
        assert_eq!((read[0].2, read[0].3), (800 * 4096, 8192), "{size} {lba}");
    }
    for (size, lba, says) in [
        ("8192", "800x", "expected the line's end at `x`"),
        ("8192B", "800", "expected the line's end at `B`"),
        ("8192", "0xyz", "expected an LBA in hexadecimal at `0xyz`"),
        ("8192", "0xffffffffffffffff", "does not lie below 2^64 bytes"),
    ] {
        let content = line("8192", "1") + &line(size, lba);
        let refused = error(content.as_bytes());
        assert!(refused.message.contains("line 2: ") && refused.message.contains(says), "{refused}");
    }
}

/// What is left out is counted: flushes, requests without data, and UFS commands whose size Linux does not print.
#[test]
fn what_is_left_out_is_counted() {
    let said = |text: &str, requests: usize, parts: &[&str]| {
        let (read, notes) = rows(text.as_bytes());
        assert_eq!(read.len(), requests, "{notes:?}");
        for part in parts {
            assert!(notes.iter().any(|note| note.contains(part)), "no `{part}` in {notes:?}");
        }
    };
    let ufs = |size: &str, opcode: &str| {
        format!(
            "a-1 [000] .... 10.000101: ufshcd_command: send_req: 1d84000.ufshc: tag: 5, DB: 0x20, size: {size}, IS: 0, \
             LBA: 0, opcode: {opcode}, group_id: 0x0\n"
        )
    };
    let text = ufs("8192", "0x2a (WRITE_10)") + &ufs("-1", "0x8a (WRITE_16)") + &ufs("-1", "0x35 (SYNC)");
    said(&text, 1, &["1 UFS command left out: Linux prints no size", "1 flush left out"]);
    let biosnoop = "TIME(s)     COMM           PID     DISK    T    SECTOR     BYTES   LAT(ms)\n\
                    0.000000    k   333     sda     F   -1    0      0.226\n\
                    0.100000    k   333     sda     W   10    4096      0.226\n\
                    0.2000    k   333     sda     N   18446744073709551615    0      0.226\n";
    said(biosnoop, 1, &["1 flush left out", "1 request without data left out"]);
    let iosnoop = "COMM PID TYPE DEV BLOCK BYTES LATms\ntar 1 R 202,1 8 4096 7.53\ntar 1 N 202,1 0 0 1.0\n\
                   tar 1 FF 202,1 0 0 1.0\n";
    said(iosnoop, 1, &["1 flush left out", "1 request without data left out"]);
}

/// A zone append is read as a write. Commands that are no read, write or trim, such as `N`, are left out and counted.
/// Flushes are counted separately.
#[test]
fn zone_appends_and_other_commands() {
    let left_out = |notes: &[String], count: &str| {
        let says = format!("{count}: such commands are no reads, writes or trims");
        assert!(notes.contains(&says), "{says}: {notes:?}");
        assert!(notes.iter().any(|note| note.starts_with("1 zone append (ZA) read as writes")), "{notes:?}");
    };
    let text = b"dd 1 [000] 101.1: block_rq_issue: 8,0 N 0 () 128 + 8 [dd]\n\
        dd 1 [000] 101.2: block_rq_issue: 8,0 W 4096 () 128 + 8 [dd]\n\
        dd 1 [000] 101.3: block_rq_issue: 8,0 ZA 4096 () 256 + 8 [dd]\n\
        dd 1 [000] 101.3: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [dd]\n\
        dd 1 [000] 101.3: block_rq_issue: 8,0 N 36 (12 00 00) 0 + 0 [smartd]\n\
        dd 1 [000] 101.3: block_rq_issue: 8,0 ZR 0 () 512 + 8 [dd]\n\
        dd 1 [000] 101.4: block_rq_complete: 8,0 N () 128 + 8 [0]\n\
        dd 1 [000] 101.4: block_rq_issue: 8,0 N 0 () 0 + 0 [dd]\n";
    let (read, notes) = rows(text);
    let ms = 1_000_000;
    let device = 8 << 20;
    assert_eq!(read, [(0, Op::Write, 65_536, 4096, device), (100 * ms, Op::Write, 131_072, 4096, device)]);
    left_out(&notes, "3 events left out (N 2, ZR 1)");
    let text = b"8,0 3 1 0.1 697 D W 128 + 8 [dd]\n8,0 3 2 0.2 697 D N 36 (12 00 00) [smartd]\n\
        8,0 3 3 0.3 697 D ZA 256 + 8 [dd]\n8,0 3 4 0.4 697 D R 36 (12 00 00) [smartd]\n\
        8,0 3 5 0.5 697 D N 128 + 8 [dd]\n8,0 3 6 0.6 697 Q N 128 + 8 [dd]\n8,0 3 7 0.7 697 D FN [dd]\n";
    let (read, notes) = rows(text);
    assert_eq!(read.len(), 2);
    left_out(&notes, "3 events left out (N 2, R 1)");
}
