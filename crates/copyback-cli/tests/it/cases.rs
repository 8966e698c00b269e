//! Runs that a swarm once found, and that are too long to write down, still end well.
//!
//! Each file of `tests/it/cases` is an experiment with its trace; its comment describes the defect.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Each of them takes a fraction of a second.
const TIME_MAX: Duration = Duration::from_secs(60);

fn ends_well(case: &Path) {
    let mut program: Child = Command::new(env!("CARGO_BIN_EXE_copyback"))
        .args(["run", "--check", "--quiet"])
        .arg(case)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    loop {
        if let Some(status) = program.try_wait().expect("the program can be waited for") {
            assert!(status.success(), "{}: {status}", case.display());
            return;
        }
        if start.elapsed() > TIME_MAX {
            program.kill().expect("the program can be ended");
            panic!("{} does not come to an end", case.display());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn kept_cases_end_well() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let files = std::fs::read_dir(folder).expect("the cases are there").map(|file| file.expect("a file").path());
    let cases: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(!cases.is_empty());
    cases.iter().for_each(|case| ends_well(case));
}
