//! The program states the memory of drives before it makes them, and the number is true.

use crate::common::*;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The program with so much address space.
fn within(kib: u64, arguments: &str) -> Output {
    let script = format!("ulimit -v {kib}; exec {} {arguments}", env!("CARGO_BIN_EXE_copyback"));
    Command::new("sh").arg("-c").arg(script).output().expect("a shell runs")
}

const LARGE: &str = "--device tlc-nvme --workload random-write --requests 20000 -q";

/// 62.7 million map entries of 4 bytes, and 67.1 million physical units of 4 bytes and a bit. While the drive runs,
/// each entry takes 4 more bytes for the order of writes and 2 for copies in pages that fill, and the buffer has an
/// index of its pages: 969 MB in all. If the program did not refuse the drive, the allocator would abort.
#[test]
fn a_drive_that_does_not_fit_is_refused_before_it_is_made() {
    let output = within(700_000, &format!("run {LARGE}"));
    let text = error_text(&output);
    assert_eq!(code(&output), 1, "{text}");
    for part in ["the drive's tables take 92", "of memory", "`ulimit -v`", "`geometry.mapping_unit`"] {
        assert!(text.contains(part), "`{part}`: {text}");
    }
    let output = within(700_000, &format!("run {LARGE} --set geometry.blocks_per_plane=96"));
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    // Schemes side by side have copies.
    let compare = format!("compare --schemes baseline,pgc {LARGE} --set geometry.blocks_per_plane=320");
    let output = within(900_000, &format!("{compare} --jobs 2"));
    assert!(code(&output) == 1 && error_text(&output).contains("--jobs 1 takes less"), "{}", error_text(&output));
}

/// The resident memory of a run is the stated amount, and some megabytes.
#[test]
fn a_run_takes_the_stated_memory() {
    let run = format!("run {LARGE} --set geometry.blocks_per_plane=256");
    let mut program = Command::new(env!("CARGO_BIN_EXE_copyback"));
    let mut child = program.args(run.split(' ')).stdout(Stdio::null()).spawn().expect("the program starts");
    // The usage that the system reports for an ended child includes what its parent had: this process.
    let status = format!("/proc/{}/status", child.id());
    let peak_kib = || {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse::<f64>().ok()
    };
    let mut taken = 0.0;
    let status = loop {
        taken = peak_kib().unwrap_or(taken);
        if let Some(status) = child.try_wait().expect("it is a child") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "{status}");
    let taken = taken * 1024.0;
    // Half of the drive above: 31.3 million map entries, 33.6 million physical units, and the order of writes.
    let said = 4.0 * 31.3e6 + 33.6e6 * (4.0 + 1.0 / 8.0) + 4.0 * 31.3e6;
    // The buffer's lists and the histograms are not counted.
    assert!((said..said + 80e6).contains(&taken), "{said} said, {taken} taken");
}
