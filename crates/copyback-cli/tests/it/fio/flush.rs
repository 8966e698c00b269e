//! Are flushes refused if the drive has a buffer that they would empty, and accepted with a note if it has none?

use super::written;
use crate::common::{code, copyback, error_text, output_text};

/// Options that ask for flushes, or for writes or reads that pass the buffer.
const FLUSHES: &[&str] = &[
    "fsync=8",
    "fdatasync=1",
    "sync=1",
    "sync=dsync",
    "write_barrier=4",
    "end_fsync=1",
    "fsync_on_close",
    "writefua=1",
];

const BUFFER: &[&str] = &["--set", "buffer.policy=lru"];

/// fio's manual: each of these makes written data durable, at the latest when its request or its job ends.
#[test]
fn a_flush_of_a_buffer_is_refused_with_its_place_and_two_remedies() {
    let folder = tempfile::tempdir().unwrap();
    for option in FLUSHES {
        let file = written(folder.path(), &format!("[j]\nrw=write\nsize=64k\n{option}\n"));
        let text = error_text(&copyback(&[&["run", "--print-config", "--fio", &file][..], BUFFER].concat()));
        for says in ["job.fio:4", option, "`buffer.policy = \"lru\"`", "flushes of it are not simulated", "remove it"] {
            assert!(text.contains(says), "{option}: no {says}: {text}");
        }
        // The remedy that it names works.
        let remedy = text.split("--set ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
        let base = [&["run", "--print-config", "--fio", &file][..], BUFFER].concat();
        let ran = copyback(&[&base[..], &["--set", remedy]].concat());
        assert_eq!(code(&ran), 0, "{option}, {remedy}: {}", error_text(&ran));
    }
    // Writes that fill a page in DRAM end before they are programmed, too; of several schemes, the error names one.
    let file = written(folder.path(), "[global]\nfsync=8\n[j]\nrw=randwrite\nsize=64k\n");
    let fill = ["--set", "frontier.fill_limit=1 ms", "--set", "frontier.fill_ends=dram"];
    let small = ["--set", "geometry.mapping_unit=4 KiB", "--fio", &file];
    let text = error_text(&copyback(&[&["run", "--print-config"][..], &small, &fill].concat()));
    assert!(text.contains("`frontier.fill_ends = \"dram\"`") && text.contains("job.fio:2"), "{text}");
    let both = ["compare", "-S", "baseline,baseline-d", "--fio", &file, "--set", "baseline-d:buffer.size=1 MiB"];
    let text = error_text(&copyback(&both));
    assert!(text.contains("buffer under `baseline-d` (`buffer.policy"), "{text}");
    // One drive of an array has a buffer.
    let array = folder.path().join("array.toml");
    let text = "[array]\nlevel = \"raid-0\"\ndrives = 2\n[[array.override]]\ndrives = [1]\nscheme = \"baseline-d\"\n";
    std::fs::write(&array, text).unwrap();
    let text = error_text(&copyback(&["run", "--print-config", "--array", array.to_str().unwrap(), "--fio", &file]));
    assert!(text.contains("flushes of it are not simulated"), "{text}");
}

/// Flushes in a log of fio, a trace of the block layer and one of system calls ask for no data; a note counts them.
#[test]
fn flushes_in_traces_are_counted() {
    const TRACES: &[&str] = &[
        "fio version 2 iolog\nf add\nf open\nf write 8192 4096\nf datasync 0 0\nf sync 0 0\nf close\n",
        "8,0 1 1 0.1 5 D W 0 + 8 [x]\n8,0 1 2 0.2 5 D FN [x]\n8,0 1 3 0.3 5 D FWS [x]\n8,0 1 4 0.4 5 C FN 0 [0]\n",
        "1 1.0 pwrite64(3, \"a\", 512, 0) = 512\n1 1.1 fsync(3) = 0\n1 1.2 fdatasync(3) = 0\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    for text in TRACES {
        let file = folder.path().join("trace");
        std::fs::write(&file, text).unwrap();
        let ran = copyback(&["trace", "info", file.to_str().unwrap()]);
        let told = format!("{}{}", output_text(&ran), error_text(&ran));
        assert!(told.contains("2 flushes left out"), "{text}: {told}");
    }
}

#[test]
fn a_flush_without_a_buffer_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &str, more: &[&str]| {
        let file = written(folder.path(), &format!("[global]\nfsync=8\n[j]\nsize=64k\n{options}\n"));
        let ran = copyback(&[&["run", "-q", "--fio", &file][..], more].concat());
        assert_eq!(code(&ran), 0, "{options}: {}", error_text(&ran));
        output_text(&ran).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let note = "`fsync` has no effect: without a write buffer, a write ends when it is programmed";
    assert!(run("rw=write", &[]).contains(note));
    // A job that does not write causes no flush, and a job may switch off an option of all jobs.
    assert!(run("rw=randread", BUFFER).contains("`fsync` has no effect: the job writes nothing"));
    assert!(run("rw=write\nwritefua=1\nfsync=0", &[]).contains("`writefua` has no effect: without a write buffer"));
    assert!(!run("rw=write\nfsync=0\nsync=none", BUFFER).contains("sync` has no effect"));
}
