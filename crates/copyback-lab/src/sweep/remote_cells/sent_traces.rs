//! Traces that cells read: by path if the worker has the client's file, otherwise from content that was sent.

use crate::failure::Failure;
use crate::files::{self, Input};
use crate::plan::Plan;
use crate::workloads;
use copyback_workload::passed_traces::{self, PassedTrace};
use copyback_workload::per_cpu;
use copyback_workload::temporary::Temporary;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::SystemTime;

/// A file and its hash.
type Named = (PathBuf, String);

/// Files that replace paths, with their hashes.
pub type Sent = BTreeMap<PathBuf, (String, PassedTrace)>;

/// Content that was sent to this process, by the path that it replaces, with its hash. Cells read under a lock, so that
/// no file is replaced meanwhile.
static SENT: RwLock<Sent> = RwLock::new(BTreeMap::new());

/// A lock that keeps sent files unchanged for as long as it lives.
pub type Reading = RwLockReadGuard<'static, Sent>;

/// Hashes of files as they were when they had this length and time.
static HASHES: Mutex<BTreeMap<(PathBuf, u64, SystemTime), String>> = Mutex::new(BTreeMap::new());

/// The files of the traces that a plan reads, relative to a folder; for a base name all files of the recording.
pub fn files(plan: &Plan, folder: &Path) -> Vec<Named> {
    let traces = plan.inputs.iter().filter(|input| input.role == "trace");
    let traces = traces.filter_map(|input| Some((input.path.as_ref()?, input)));
    // Built-in traces need not be sent.
    let traces = traces.filter(|(path, _)| workloads::recorded(path).is_none());
    let of_trace = |(path, input): (&PathBuf, &Input)| {
        let path = folder.join(path);
        match per_cpu::files(&path) {
            parts if parts.is_empty() => vec![(path, input.hash.clone())],
            // The cell reports a file that cannot be read: its key has the hash of all files.
            parts => parts.into_iter().map(with_hash).collect(),
        }
    };
    traces.flat_map(of_trace).collect()
}

fn with_hash(path: PathBuf) -> Named {
    let hash = hash_of(&path).unwrap_or_default();
    (path, hash)
}

/// Keeps the client's files unchanged while the guard lives, or returns the files that differ.
pub fn present(
    wanted: &[Named],
    sent: &[(String, &[u8])],
    folder: &Path,
) -> Result<Result<Reading, Vec<Named>>, Failure> {
    loop {
        let reading = SENT.read().unwrap_or_else(PoisonError::into_inner);
        let is_there = |(path, hash): &&Named| match reading.get(path) {
            Some((own, _)) => own == hash,
            None => hash_of(path).is_some_and(|own| own == *hash),
        };
        let lacking: Vec<Named> = wanted.iter().filter(|file| !is_there(file)).cloned().collect();
        if lacking.is_empty() {
            return Ok(Ok(reading));
        }
        drop(reading);
        if lacking.iter().any(|(_, hash)| sent.iter().all(|(own, _)| own != hash)) {
            return Ok(Err(lacking));
        }
        for (path, hash) in lacking {
            let (_, content) = sent.iter().find(|(own, _)| *own == hash).expect("none is lacking");
            keep(path, hash, content, folder)?;
        }
    }
}

/// Keeps content in place of a file.
fn keep(path: PathBuf, hash: String, content: &[u8], folder: &Path) -> Result<(), Failure> {
    if files::hash_bytes(content) != hash {
        let message = format!("{} changed while the sweep went on", path.display());
        return Err(Failure::input(message).with_help(
            "run the same command again: it runs the remaining cells with \
                                                      the present file",
        ));
    }
    let failed = |error: std::io::Error| Failure::run(format!("cannot keep a trace in {}: {error}", folder.display()));
    // Readers recognise formats by endings.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = Temporary::private_in(folder, ("copyback-trace-", &format!("-{name}"))).map_err(failed)?;
    let mut writer = std::fs::OpenOptions::new().write(true).open(file.path()).map_err(failed)?;
    writer.write_all(content).map_err(failed)?;
    let mut all = SENT.write().unwrap_or_else(PoisonError::into_inner);
    // Drop an earlier entry first: dropped later, it would remove the new file of the same path.
    drop(all.remove(&path));
    let kept = PassedTrace::in_place_of(&path, file);
    all.insert(path, (hash, kept));
    Ok(())
}

/// The hash of a file, if it can be read.
fn hash_of(path: &Path) -> Option<String> {
    debug_assert!(passed_traces::file(path).is_none());
    let about = std::fs::metadata(path).ok()?;
    let key = (path.to_path_buf(), about.len(), about.modified().ok()?);
    if let Some(hash) = HASHES.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Some(hash.clone());
    }
    let hash = files::hash_file(path).ok()?;
    HASHES.lock().unwrap_or_else(PoisonError::into_inner).insert(key, hash.clone());
    Some(hash)
}
