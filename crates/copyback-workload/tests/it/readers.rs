//! Does every reader read its format, and refuse what is not, naming the place?

use crate::common::{error, read_spec, read_with, rows};
use copyback_workload::spec::{BlockAction, Format, Layout, WorkloadSpec, ZeroMeans};
use copyback_workload::{Op, Request};
use std::io::Write;

const MSR: &[u8] = b"128166372003061629,usr,0,Read,7014609920,24576,41286\n\
                     128166372003061639,usr,1,Write,1024,512,7\n";

#[test]
fn msr() {
    let expected = vec![(0, Op::Read, 7_014_609_920, 24_576, 0), (1000, Op::Write, 1024, 512, 1)];
    let (read, notes) = rows(MSR);
    assert_eq!(read, expected);
    assert_eq!(notes, ["format `msr`"]);
    let windows = [b"\xef\xbb\xbf# a comment\r\n\r\n", &MSR.to_vec()[..]].concat();
    let windows = String::from_utf8(windows).unwrap().replace("7\n", "7\r\n");
    assert_eq!(rows(windows.as_bytes()).0, expected, "a byte order mark, comments and CRLF are no data");
}

#[test]
fn msr_of_several_hosts_keeps_them_apart() {
    let (read, notes) = rows(b"10,a,0,Read,0,512,1\n20,b,0,Read,0,512,1\n30,a,0,Read,0,512,1\n");
    assert_eq!(read.iter().map(|row| row.4).collect::<Vec<_>>(), [0, 65_536, 0]);
    assert!(notes.iter().any(|note| note.contains("host `b`")), "{notes:?}");
}

#[test]
fn many_hosts_are_not_all_listed() {
    let lines: String = (0..30).map(|host| format!("{},host-{host},0,Read,0,512,1\n", host + 10)).collect();
    let (read, notes) = rows(lines.as_bytes());
    assert_eq!(read[29].4, 29 * 65_536);
    assert_eq!(notes.len(), 10, "{notes:?}");
    assert!(notes[8].contains("host `host-8`") && notes[9].contains("21 more hosts"), "{notes:?}");
}

#[test]
fn spc() {
    let (read, _) = rows(b"0,20941264,8192,W,0.551706\n1,2,512,r,0.551707,x\n");
    assert_eq!(read, [(0, Op::Write, 20_941_264 * 512, 8192, 0), (1000, Op::Read, 1024, 512, 1)]);
}

#[test]
fn five_columns_in_milliseconds_or_nanoseconds() {
    let (disksim, notes) = rows(b"1.5 0 16 8 1\n2 3 24 8 0\n");
    assert_eq!(disksim, [(0, Op::Read, 8192, 4096, 0), (500_000, Op::Write, 12_288, 4096, 3)]);
    assert_eq!(notes[0], "format `disksim`");
    assert!(notes[1].contains("assumed that 0"), "{notes:?}");
    let (ssdsim, notes) = rows(b"100 0 16 8 1\n250 3 24 8 0\n");
    assert_eq!(ssdsim, [(0, Op::Read, 8192, 4096, 0), (150, Op::Write, 12_288, 4096, 3)]);
    assert_eq!(notes[0], "format `ssdsim`");
    let (swapped, notes) = read_with(b"100 0 16 8 1\n", |spec| spec.zero_means = Some(ZeroMeans::Read)).unwrap();
    assert_eq!(swapped[0].op, Op::Write);
    assert_eq!(notes.len(), 1, "nothing was assumed");
}

fn vscsi(version: u16, command: u16, bytes: u32, sector: u64, time_us: u64) -> Vec<u8> {
    let version_field = (version << 8).to_le_bytes();
    let (sn, sg) = (5_u32.to_le_bytes(), 1_u32.to_le_bytes());
    let (len, command) = (bytes.to_le_bytes(), command.to_le_bytes());
    let head: Vec<u8> = if version == 1 {
        [&sn[..], &len, &sg, &command, &version_field].concat()
    } else {
        [&command[..], &version_field, &sn, &len, &sg].concat()
    };
    let mut record = [&head[..], &sector.to_le_bytes(), &time_us.to_le_bytes()].concat();
    if version == 2 {
        record.extend(9_u64.to_le_bytes());
    }
    record
}

#[test]
fn vscsi_of_both_versions() {
    for version in [1, 2] {
        let record = |command, sector, time| vscsi(version, command, 4096, sector, time);
        let content = [record(42, 8, 100), record(0x12, 0, 105), record(40, 16, 103)].concat();
        let (read, notes) = rows(&content);
        assert_eq!(read, [(0, Op::Write, 4096, 4096, 0), (3000, Op::Read, 8192, 4096, 0)]);
        assert_eq!(notes[0], format!("format `vscsi-v{version}`"));
        let cut = error(&content[..content.len() - 3]);
        assert!(cut.message.contains("record 3") && cut.message.contains("cut off"), "{cut}");
    }
}

const BLKPARSE: &[u8] = b"259,2    0        1     0.000000000  4020  Q   R 282624 + 8 [java]\n\
    259,2    0        3     0.000003650  4020  U   N [java] 1\n\
    259,2    0        5     0.000005462  4020  D  RS 282624 + 8 [java]\n\
    259,2    0        6     0.000006000  4020  D  FN [java]\n\
    259,2    0        7     0.000007462  4020  D FWS 8 + 16 [java]\n\
    259,2    0        8     0.000008462  4020  D  DS 0 + 1 [java]\n\
    259,2    0        9     0.013163464     0  C  RS 282624 + 8 [0]\n\
    CPU0 (259,2):\n Reads Queued: 1, 4KiB\n";

#[test]
fn blkparse_takes_what_reaches_the_device() {
    let device = (259 << 20) | 2;
    let (read, _) = rows(BLKPARSE);
    let expected = [
        (0, Op::Read, 282_624 * 512, 4096, device),
        (2000, Op::Write, 4096, 8192, device),
        (3000, Op::Trim, 0, 512, device),
    ];
    assert_eq!(read, expected);
    let (queued, _) = read_with(BLKPARSE, |spec| spec.event = Some(BlockAction::Queued)).unwrap();
    assert_eq!(queued.len(), 1);
    let only_queued = error(b"8,0 0 1 0.1 7 Q R 0 + 8 [x]\n");
    assert!(only_queued.help.unwrap().contains("workload.event=Q"));
}

#[test]
fn blkparse_lines_without_data_ask_for_nothing() {
    let content = b"259,2    7        1     0.000000000  4020  D  WS 1950885314 + 8 [java]\n\
        259,2    7        2     0.000003650     0  C  WS 1950885314 + 8 [0]\n\
        259,2    7        3     0.000004650     0  C  WS 1950885322 [0]\n\
        259,2    7        4     0.000005650     0  C FWS 0 [0]\n\
        259,2    7        5     0.000005750     0  C  FN 0 [0]\n\
        259,2    7        6     0.000005850     0  C  FF 0 [0]\n\
        259,2    7        7     0.000006000  4020  D  FN [kworker/7:1H]\n\
        259,2    7        8     0.000007000  4020  D  RS 8 + 8 [java]\n";
    let (read, notes) = rows(content);
    let device = (259 << 20) | 2;
    assert_eq!(read, [(0, Op::Write, 1_950_885_314 * 512, 4096, device), (7000, Op::Read, 4096, 4096, device)]);
    // Two issued events and one completed event move data, so no note says that few do. One issued event is a flush.
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[2].starts_with("1 flush left out"), "{notes:?}");
    let (completed, _) = read_with(content, |spec| spec.event = Some(BlockAction::Completed)).unwrap();
    assert_eq!(completed.len(), 1, "the completion without data is no request");
    let damaged = error(b"8,0 0 1 0.1 7 D R 0 + 8 [x]\n8,0 0 1 0.1 7 D R 0 8 [x]\n8,0 0 1 0.1 7 D R 0 + 8 [x]\n");
    assert!(damaged.message.contains("line 2: expected `+`"), "{damaged}");
}

#[test]
fn few_events_of_one_kind_beside_many_of_another_are_said() {
    let event = |action: &str, at: u32| format!("8,0 0 1 0.{at:03} 7 {action} R {at} + 8 [x]\n");
    let trace = |queued: u32, issued: u32| -> String {
        (0..queued).map(|at| event("Q", at)).chain((0..issued).map(|at| event("D", at))).collect()
    };
    let note = |text: &str| rows(text.as_bytes()).1.into_iter().find(|note| note.contains("workload.event=Q"));
    let said = note(&trace(10, 5)).expect("half of them is few");
    assert!(said.contains("only 5 `D` events move data, beside 10 `Q` events"), "{said}");
    assert_eq!(note(&trace(9, 5)), None, "some requests are merged in any trace");
    let queued = read_with(trace(10, 5).as_bytes(), |spec| spec.event = Some(BlockAction::Queued)).unwrap();
    assert_eq!(queued.0.len(), 10);
    assert!(queued.1.iter().all(|note| !note.contains("workload.event")), "{:?}", queued.1);
}

#[test]
fn blktrace_of_both_byte_orders() {
    for big_endian in [false, true] {
        let u32_of = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let u64_of = |value: u64| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let u16_of = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let event = |time: u64, action: u32, payload: &[u8]| {
            let payload_len = u16::try_from(payload.len()).unwrap();
            [
                &u32_of(0x6561_7407)[..],
                &u32_of(1),
                &u64_of(time),
                &u64_of(8),
                &u32_of(4096),
                &u32_of(action),
                &u32_of(77),
                &u32_of(0x0080_0001),
                &u32_of(0),
                &u16_of(0),
                &u16_of(payload_len),
                payload,
            ]
            .concat()
        };
        let (read_issue, write_issue, write_queue) = ((1 << 16) | 7, (1 << 17) | 7, (1 << 17) | 1);
        let content = [event(5, write_queue, b"abc"), event(6, write_issue, b""), event(9, read_issue, b"x")].concat();
        let (read, notes) = rows(&content);
        assert_eq!(read, [(0, Op::Write, 4096, 4096, 0x0080_0001), (3, Op::Read, 4096, 4096, 0x0080_0001)]);
        assert_eq!(notes[0], "format `blktrace`");
        assert!(error(&content[..content.len() - 1]).message.contains("cut off"));
    }
}

#[test]
fn biosnoop_arrives_when_it_was_issued() {
    let bcc = b"TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)\n\
        0.000000    jbd2 sda1-8    1950   xvda1     W 16         4096      0.50\n\
        0.000200    kworker/u8:1   12     xvdb      R 8          512       0.10\n\
        0.000300    x              12     xvdb      R 0          0         0.10\n";
    let (read, notes) = rows(bcc);
    // Completed at 0 and 200 us, and issued at -500 us and 100 us: 600 us apart.
    assert_eq!(read, [(0, Op::Write, 8192, 4096, 0), (600_000, Op::Read, 4096, 512, 1)]);
    assert_eq!(notes[0], "format `biosnoop`");
    assert!(notes.contains(&"device 1 is `xvdb`".to_owned()), "{notes:?}");
    let libbpf = b"TIME(s)     COMM           PID     DISK    T  SECTOR     BYTES   QUE(ms) LAT(ms)\n\
        1.500000    a b c          7       sda     WS 8          512     0.100   0.250\n\
        1.500001    a              7       sda     FF -1         0       0.100   0.250\n\
        1.500250    a              7       sda     DS 0          4096    0.100   0.250\n";
    // QUE(ms), the time in the host's queues, is no part of the latency.
    assert_eq!(rows(libbpf).0, [(0, Op::Write, 4096, 512, 0), (250_000, Op::Trim, 0, 4096, 0)]);
    // The last two lines have no disk. One has a process' name of one word, the other a name of two words.
    let without_disk = b"TIME(s)     COMM           PID     DISK    T  SECTOR     BYTES   LAT(ms)\n\
        1.500000    a              7       sda     W  8          512     0.250\n\
        1.500250    b              7               R  8          512     0.250\n\
        1.500500    b c            7               R  16         512     0.250\n";
    let (read, notes) = rows(without_disk);
    let unnamed = |at: u64| (250_000 * at, Op::Read, 4096 * at, 512, 1);
    assert_eq!(read, [(0, Op::Write, 4096, 512, 0), unnamed(1), unnamed(2)]);
    assert!(notes.iter().any(|note| note.starts_with("2 requests without a disk: ")), "{notes:?}");
    assert!(notes.contains(&"device 1 is `?`".to_owned()), "{notes:?}");
    let headless = b"1.5 a b c 7 sda R 8 512 0.25\n1.6 a 7 R 8 512 0.25\n";
    let refused = read_with(headless, |spec| spec.format = Some("biosnoop".parse().unwrap())).unwrap_err();
    assert!(refused.message.contains("line 2: its column DISK is empty"), "{refused}");
    let headless = b"1.5 a b c 7 sda R 8 512 0.25\n";
    assert_eq!(rows(headless).0, [(0, Op::Read, 4096, 512, 0)]);
    let damaged = error(&[&bcc[..], b"0.0004 x 12 xvdb R sector 512 0.10\n0.0005 x 12 xvdb R 8 512 0.10\n"].concat());
    assert!(damaged.message.contains("line 5: expected a number under SECTOR, not `sector`"), "{damaged}");
}

#[test]
fn formats_that_are_not_read_are_named_and_refused() {
    let record = |time: u32, object: u64, size: u32, next: i64| {
        [&time.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    let oracle = [record(0, 7, 4096, 2), record(0, 9, 512, -1), record(5, 7, 4096, -1)].concat();
    let srt = b"machine\t= \"cello\";\ntracedate\t= \"Mon Apr 20 08:00:00 1992\";\n\x0c\x00\x01";
    let bpftrace =
        b"Attached 4 probes\nTIME(ms)     DISK ID        COMM             PID    LAT(ms)\n611 259 0 bash 4179 10\n";
    for (content, name) in [
        (&oracle[..], "oracleGeneral trace of libCacheSim"),
        (&srt[..], "SRT trace of HP Labs"),
        (&bpftrace[..], "bpftrace's biosnoop.bt"),
        (&b"DSv1\0\0\0\0"[..], "DataSeries"),
    ] {
        let refused = error(content);
        assert!(refused.message.contains(name) && refused.message.contains("it is not read"), "{refused}");
        assert!(refused.help.is_some());
    }
    assert!(copyback_workload::not_read("oracleGeneral").unwrap().0.contains("neither whether it reads or writes"));
    assert!(copyback_workload::not_read("msr").is_none());
    // In that format, the next request of an object is later in the file: these bytes are of no known format.
    let other = [record(0, 7, 4096, 2), record(0, 9, 512, 1)].concat();
    assert!(error(&other).message.contains("fits no known format"));
}

const FIU: &[u8] =
    b"89966523984236 4270 rpc.mountd 508541768 8 W 6 0 d6c75bab\n89966527950584 4253 nfsd 8 8 R 6 1 d6c7\n";

#[test]
fn fiu_also_behind_a_tar_header() {
    let expected = [(0, Op::Write, 508_541_768 * 512, 4096, 6 << 20), (3_966_348, Op::Read, 4096, 4096, (6 << 20) | 1)];
    assert_eq!(rows(FIU).0, expected);
    let header = |kind: u8, size: usize| {
        let mut header = vec![0_u8; 512];
        header[..4].copy_from_slice(b"name");
        header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        header[156] = kind;
        header[257..262].copy_from_slice(b"ustar");
        header
    };
    let mut extended = b"30 atime=1\n".to_vec();
    extended.resize(512, 0);
    let mut padded = FIU.to_vec();
    padded.resize(512, 0);
    let archive = [header(b'x', 11), extended, header(b'0', FIU.len()), padded, vec![0; 1024]].concat();
    let (read, notes) = rows(&archive);
    assert_eq!(read, expected);
    assert!(notes.iter().any(|note| note == "unwrapped tar"), "{notes:?}");
    let slice = [header(b'0', FIU.len() + 4096), FIU.to_vec()].concat();
    assert!(rows(&slice).1.iter().any(|note| note.contains("4 KiB before its header says")));
}

#[test]
fn systor_tencent_alibaba() {
    let (systor, _) =
        rows(b"Timestamp,Response,IOType,LUN,Offset,Size\n1.5,0.1,R,3,512,1024\n1.500001000,,W,0,0,512\n");
    assert_eq!(systor, [(0, Op::Read, 512, 1024, 3), (1000, Op::Write, 0, 512, 0)]);
    let (tencent, _) = rows(b"1538323200,8,128,1,1058\n1538323199,16,1,0,1063\n");
    assert_eq!(tencent, [(0, Op::Read, 8192, 512, 1063), (1_000_000_000, Op::Write, 4096, 65_536, 1058)]);
    let (alibaba, _) = rows(b"419,W,8792731648,16384,1577808144360767\n725,R,0,512,1577808144360768\n");
    assert_eq!(alibaba, [(0, Op::Write, 8_792_731_648, 16_384, 419), (1000, Op::Read, 0, 512, 725)]);
}

#[test]
fn fio_of_both_versions() {
    let version_2 = b"fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 4096\n/dev/a wait 50 0\n\
                      /dev/b read 512 512\n/dev/a trim 0 4096\n/dev/a sync 0 0\n/dev/a close\n";
    let as_is = |content: &[u8]| read_with(content, |spec| spec.layout = Some(Layout::AsIs)).unwrap();
    let (requests, notes) = as_is(version_2);
    let row = |r: &Request| (r.arrival_ns, r.op, r.offset_bytes, r.len_bytes, r.device);
    let expected = [(0, Op::Write, 0, 4096, 0), (50_000, Op::Read, 512, 512, 1), (50_000, Op::Trim, 0, 4096, 0)];
    assert_eq!(requests.iter().map(row).collect::<Vec<_>>(), expected);
    assert!(notes.contains(&"device 1 is `/dev/b`".to_owned()), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("milliseconds since the start")), "fio waits otherwise: {notes:?}");
    let (requests, _) = as_is(b"fio version 3 iolog\n0 f add\n7 f read 0 512\n9 f write 512 512\n");
    assert_eq!(
        requests.iter().map(row).collect::<Vec<_>>(),
        [(7000, Op::Read, 0, 512, 0), (9000, Op::Write, 512, 512, 0)]
    );
    assert!(error(b"fio version 4 iolog\nx read 0 1\n").message.contains("version"));
}

#[test]
fn microsoft_production_servers() {
    let content =
        b"BeginHeader\n  DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize\nEndHeader\n\
        OS Version: 6.0, Trace Start\n\
        \x20  DiskReadInit,  90, System (   4), 76, 0xfffffa80\n\
        \x20  DiskRead,  100, System (   4), 76, 0xfffffa80, 0x00000a00, 0x00001000, 10, 2, 0x43, 9, 0\n\
        \x20  DiskWrite, 98, System (   4), 76, 0xfffffa80, 0x00000000, 0x00000200, 3, 1, 0x43, 9, 0\n";
    let (read, notes) = rows(content);
    assert_eq!(read, [(0, Op::Read, 0xa00, 4096, 2), (5000, Op::Write, 0, 512, 1)]);
    assert_eq!(notes[0], "format `etw`");
}

#[test]
fn every_compression_also_nested() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = zstd::encode_all(MSR, 1).unwrap();
    let bzip2 = {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(MSR).unwrap();
        encoder.finish().unwrap()
    };
    let expected = rows(MSR).0;
    let all = [("gzip", gzip(MSR)), ("zstd", zstd.clone()), ("bzip2", bzip2), ("zstd", gzip(&zstd))];
    #[cfg(feature = "xz")]
    let all = all.into_iter().chain([("xz", xz(MSR))]);
    for (name, content) in all {
        let (read, notes) = rows(&content);
        assert_eq!(read, expected, "{name}");
        assert!(notes.contains(&format!("unwrapped {name}")), "{notes:?}");
        let cut = error(&content[..content.len() - 6]);
        assert!(!cut.message.is_empty(), "{name}");
    }
    let many = [gzip(MSR), gzip(b"128166372003061649,usr,1,Write,1024,512,7\n")].concat();
    assert_eq!(rows(&many).0.len(), 3, "gzip files may be joined");
}

#[test]
fn compressed_data_that_unpack_without_end_are_refused() {
    // Comments, so that no line is too long; gzip makes a thousandth of them, and gzip of that hardly anything.
    let mut once = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let block = b"#\n".repeat(1 << 19);
    for _ in 0..80 {
        once.write_all(&block).unwrap();
    }
    let mut twice = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    twice.write_all(&once.finish().unwrap()).unwrap();
    let twice = twice.finish().unwrap();
    let refused = read_with(&twice, |spec| spec.format = Some(Format::Msr)).unwrap_err();
    let expected = format!("{} bytes of the file unpack to more than 1000 times as many", twice.len());
    assert!(refused.message.contains(&expected), "{refused}");
}

/// Data may be compressed or archived four times, and no more.
#[test]
fn nested_compression_has_a_limit() {
    let packed = |times: usize| {
        (0..times).fold(MSR.to_vec(), |content, _| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&content).unwrap();
            encoder.finish().unwrap()
        })
    };
    assert_eq!(read_with(&packed(4), |_| {}).unwrap().0, read_with(MSR, |_| {}).unwrap().0);
    let refused = read_with(&packed(5), |_| {}).unwrap_err();
    assert!(refused.message.contains("more than 4 times"), "{refused}");
}

#[cfg(feature = "xz")]
fn xz(content: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[cfg(not(feature = "xz"))]
#[test]
fn a_build_without_xz_says_what_to_do() {
    let refused = error(b"\xfd7zXZ\0");
    assert!(refused.message.contains("unpack the file (xz -dk), or build with `--features full`"), "{refused}");
}

#[cfg(feature = "xz")]
#[test]
fn xz_that_asks_for_much_memory_is_refused() {
    let mut xz = xz(MSR);
    // The first block's header says which dictionary the decompressor has to allocate: here 1 GiB, whatever is used.
    assert_eq!(&xz[12..16], [2, 0, 0x21, 1], "a header of twelve bytes with one filter, LZMA2");
    xz[16] = 36;
    let mut crc = flate2::Crc::new();
    crc.update(&xz[12..20]);
    xz[20..24].copy_from_slice(&crc.sum().to_le_bytes());
    let refused = error(&xz);
    assert!(refused.message.contains("takes more than 256 MiB of memory: unpack it yourself"), "{refused}");
}

#[test]
fn damaged_lines_name_their_place_and_may_be_skipped() {
    let content =
        [MSR, b"12816637200306165x,usr,1,Write,1024,512,7\n", b"128166372003061659,usr,1,Write,0,512,7\n"].concat();
    let refused = error(&content);
    assert!(refused.message.contains("line 3: "), "{refused}");
    assert!(refused.help.unwrap().contains("skip_bad = 1"));
    let (read, notes) = read_with(&content, |spec| spec.skip_bad = Some(1)).unwrap();
    assert_eq!(read.len(), 3);
    assert!(notes.iter().any(|note| note.contains("1 malformed record left out")), "{notes:?}");
    assert!(!notes.iter().any(|note| note.contains("has no effect")), "{notes:?}");
    let (_, notes) = read_with(MSR, |spec| spec.skip_bad = Some(4)).unwrap();
    let note = "`workload.skip_bad` has no effect: no record that was read is malformed";
    assert!(notes.iter().any(|own| own == note), "{notes:?}");
    let twice = [&content[..], b"nonsense\n"].concat();
    let refused = read_with(&twice, |spec| spec.skip_bad = Some(1)).unwrap_err();
    assert!(refused.message.contains("line 5: "), "{refused}");
}

#[test]
fn mixed_and_truncated_files_are_refused() {
    let mixed = error(&[MSR, b"0,20941264,8192,W,0.551706\n"].concat());
    assert!(mixed.message.contains("line 3") && mixed.message.contains("looks like format `spc`"), "{mixed}");
    let truncated = error(&[MSR, b"1281663720"].concat());
    assert!(truncated.message.contains("line 3") && truncated.message.contains("cut off"), "{truncated}");
    assert!(error(b"").message.contains("empty"));
    assert!(error(b"# only a comment\n").message.contains("only blank lines or comments"));
    let unknown = error(b"a text of no kind\nthat is a trace\n");
    assert!(unknown.message.contains("Tried: msr, spc"), "{unknown}");
}

#[test]
fn times_that_run_backwards_are_sorted_or_refused() {
    let content = b"300 0 0 8 1\n100 0 8 8 1\n200 0 16 8 1\n100 0 24 8 1\n";
    let (read, notes) = rows(content);
    let order: Vec<(u64, u64)> = read.iter().map(|row| (row.0, row.2 / 4096)).collect();
    assert_eq!(order, [(0, 1), (0, 3), (100, 2), (200, 0)], "equal times keep the file's order");
    assert!(notes.iter().any(|note| note.contains("sorted 3 records that came late")), "{notes:?}");
    let refused = read_with(content, |spec| spec.reorder_window = Some(2)).unwrap_err();
    assert!(refused.message.contains("line or record 4"), "{refused}");
    assert!(refused.help.unwrap().contains("`workload.reorder_window`"));
}

#[test]
fn paths_that_are_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("prxy_0.csv"), MSR).unwrap();
    let at = |name: &str| read_spec(&WorkloadSpec::of_trace(folder.path().join(name))).unwrap_err();
    assert!(at("proxy_0.csv").help.unwrap().ends_with("prxy_0.csv?"));
    assert!(at("").message.contains("is a directory"));
}

#[test]
fn impossible_requests_are_refused() {
    assert!(
        error(b"10,a,0,Read,18446744073709551615,512,1\n").message.contains("line 1: a request of 512 bytes at byte")
    );
    assert!(error(&[MSR, b"10,a,0,Read,18446744073709551616,512,1\n"].concat()).message.contains("2^64"));
    assert!(error(b"10,a,0,Read,0,1099511627777,1\n").message.contains("line 1: a request of"));
    let (read, notes) = rows(b"10,a,0,Read,0,0,1\n11,a,0,Read,0,512,1\n");
    assert_eq!(read.len(), 1);
    assert!(notes.iter().any(|note| note.contains("zero bytes")), "{notes:?}");
}
