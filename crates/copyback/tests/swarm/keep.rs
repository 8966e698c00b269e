//! Keeps a shrunk case that failed: a configuration and a trace that the program runs.

use crate::{kept, runs, traces};
use copyback::workload::write::{WriteFormat, write_trace};
use std::path::{Path, PathBuf};

/// The command that replays a case.
pub fn command(number: u64) -> String {
    format!("replay: make swarm SEED={number} CASES=1")
}

/// The build's folder for what tests write.
fn build_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("swarm")
}

/// A file for the trace of a case while it runs.
pub fn scratch(number: u64) -> PathBuf {
    let folder = build_folder();
    std::fs::create_dir_all(&folder).expect("the build's folder can be written to");
    folder.join(format!("trace-{}-{number}", std::process::id()))
}

/// Keeps a run.
pub fn run(number: u64, case: &runs::Case) -> String {
    let folder = build_folder().join(format!("case-{number}"));
    let kept = write(&folder, case, |path| {
        let mut source = case.asked().to_vec().into_iter();
        write_trace(&mut source, path, WriteFormat::Parquet).map(|_| ()).map_err(|e| e.to_string())
    });
    let how = if case.is_plain() {
        "shows the failure if an invariant broke; the program makes no comparisons as the swarm does"
    } else {
        "without the relocations, which only the swarm makes"
    };
    said(&folder, kept, how)
}

/// Keeps a run of a damaged trace.
pub fn trace(number: u64, case: &traces::Case, damaged: &Path) -> String {
    let folder = build_folder().join(format!("case-{number}"));
    let kept = write(&folder, &case.run, |path| std::fs::copy(damaged, path).map(|_| ()).map_err(|e| e.to_string()));
    said(&folder, kept, "on the damaged trace")
}

fn write(
    folder: &Path,
    case: &runs::Case,
    write_requests: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    write_requests(&folder.join("case.trace"))?;
    // Every key is set, so that no value of a preset remains.
    let mut table = toml::Table::try_from(&case.config).map_err(|e| e.to_string())?;
    table.insert("seed".into(), toml::Value::Integer(case.seed as i64));
    table.insert("workload".into(), toml::Table::from_iter([("trace".to_owned(), "case.trace".into())]).into());
    std::fs::write(folder.join("case.toml"), table.to_string()).map_err(|e| e.to_string())?;
    // For `tests/swarm/kept`, once what it found is mended.
    let whole = kept::written(case).map_err(|e| e.to_string())?;
    std::fs::write(folder.join("whole.toml"), whole).map_err(|e| e.to_string())
}

fn said(folder: &Path, kept: Result<(), String>, how: &str) -> String {
    match kept {
        Ok(()) => format!("cargo run --release -- run {}/case.toml --check   ({how})", folder.display()),
        Err(e) => format!("{} could not be written: {e}", folder.display()),
    }
}
