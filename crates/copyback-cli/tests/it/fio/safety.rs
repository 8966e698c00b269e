//! Are jobs refused that fio refuses with `--readonly` and `--warnings-fatal`?

use super::fio;
use crate::common::{code, copyback, error_text};

/// Command lines of fio, and the error of those that are refused.
const LINES: &[(&str, Option<&str>)] = &[
    ("--name=x --rw=randread --size=64k --ioengine=null --readonly", None),
    ("--readonly --name=x --rw=read --size=64k --ioengine=null", None),
    ("--readonly --name=x --rw=randwrite --size=64k --ioengine=null", Some("job `x` writes, and `--readonly`")),
    ("--name=x --rw=write --size=64k --ioengine=null --readonly", Some("job `x` writes, and `--readonly`")),
    ("--name=x --rw=randrw --size=64k --ioengine=null --readonly", Some("job `x` writes, and `--readonly`")),
    ("--name=x --rw=trim --size=64k --ioengine=null --readonly", Some("job `x` trims, and `--readonly`")),
    ("--readonly --rw=randtrimwrite --size=64k --ioengine=null", Some("job `fio` writes, and `--readonly`")),
    // It applies to every job, at any position.
    (
        "--name=x --rw=read --size=64k --ioengine=null --readonly --name=y --rw=randwrite --size=64k --ioengine=null",
        Some("job `y` writes, and `--readonly`"),
    ),
    // The last value applies.
    ("--name=x --rw=write --size=64k --ioengine=null --readonly --rw=read", None),
    ("--readonly=1 --name=x --rw=read --size=64k --ioengine=null", Some("`--readonly` of fio takes no value")),
    ("--minimal=1 --name=x --rw=read --size=64k --ioengine=null", Some("`--minimal` of fio takes no value")),
    ("--warnings-fatal --name=x --rw=read --size=64k --ioengine=null", None),
    (
        "--name=x --rw=read --size=64k --ioengine=null --time_based --warnings-fatal",
        Some("time_based needs a runtime, and"),
    ),
    ("--name=x --rw=read --size=64k --ioengine=null --time_based", None),
    (
        "--warnings-fatal --name=x --rw=randread --size=64k --ioengine=null --ba=8k",
        Some("blockalign turns off the map of blocks (norandommap), and"),
    ),
    ("--warnings-fatal --name=x --rw=randread --size=64k --ioengine=null --ba=8k --norandommap", None),
    ("--warnings-fatal --name=x --rw=read --size=64k --ioengine=null --ba=8k", None),
    (
        "--warnings-fatal --name=x --rw=randread --size=64k --ioengine=null --bs=4k,8k --ba=4k",
        Some("blockalign turns off the map of blocks (norandommap), and"),
    ),
    (
        "--warnings-fatal --name=x --rw=randwrite --size=64k --ioengine=null --verify=crc32c --norandommap --bs=4k,8k",
        Some("verification is limited for several block sizes without a map, and"),
    ),
    (
        "--warnings-fatal --name=x --rw=randwrite --size=64k --ioengine=null --verify=crc32c --numjobs=2 --filename=f",
        Some("writers of one file overwrite each other's blocks, which are verified, and"),
    ),
    (
        "--warnings-fatal --name=x --rw=write --size=64k --ioengine=null --verify=crc32c --time_based --runtime=1",
        Some("the writes take the whole runtime, and nothing is verified, and"),
    ),
];

#[test]
fn fio_and_this_program_refuse_the_same_command_lines() {
    let folder = tempfile::tempdir().unwrap();
    for (line, says) in LINES {
        let ours = copyback(&["run", "-q", "--fio-args", line, "--print-config"]);
        let text = error_text(&ours);
        assert_eq!(code(&ours), if says.is_some() { 2 } else { 0 }, "{line}: {text}");
        if let Some(says) = says {
            assert!(text.contains(says) && text.contains("--fio-args:1:") && text.contains("help: "), "{line}: {text}");
        }
        let words: Vec<&str> = line.split(' ').collect();
        if let Some(theirs) = fio(folder.path(), &[&words[..], &["--output-format=terse"]].concat()) {
            assert_eq!(theirs.status.success(), says.is_none(), "{line}: {}", String::from_utf8_lossy(&theirs.stderr));
        }
    }
    let log = copyback(&["run", "--fio-args", "--readonly --name=x --read_iolog=a.iolog", "--print-config"]);
    assert!(error_text(&log).contains("with `--readonly`, fio skips a log's writes and trims"), "{}", error_text(&log));
}
