//! Traces that a calling program passes in. Readers take files, so each trace is kept in a temporary file. Its name has
//! no path: otherwise results would depend on the file's location. If a worker of a cluster lacks a file of the client,
//! its content is kept here under the client's path.

use crate::temporary::Temporary;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prefix of the names; the hash of the content follows, so that equal content has one name.
const PREFIX: &str = "requests:";

/// Files by name, each with its number of references.
static KEPT: Mutex<BTreeMap<PathBuf, (Temporary, usize)>> = Mutex::new(BTreeMap::new());

fn kept() -> MutexGuard<'static, BTreeMap<PathBuf, (Temporary, usize)>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A trace that exists as long as this value.
#[derive(Debug)]
pub struct PassedTrace {
    name: PathBuf,
}

impl PassedTrace {
    /// Keeps a file whose content has this hash.
    pub fn new(hash: &str, file: Temporary) -> Self {
        let name = PathBuf::from(format!("{PREFIX}{hash}"));
        kept().entry(name.clone()).or_insert((file, 0)).1 += 1;
        Self { name }
    }

    /// Keeps a file that is read instead of the file at a path.
    pub fn in_place_of(path: &Path, file: Temporary) -> Self {
        kept().insert(path.to_path_buf(), (file, 1));
        Self { name: path.to_path_buf() }
    }

    /// The value of `workload.trace` that selects the file.
    pub fn name(&self) -> &Path {
        &self.name
    }
}

impl Drop for PassedTrace {
    fn drop(&mut self) {
        let mut kept = kept();
        if let Some((_, holders)) = kept.get_mut(&self.name) {
            *holders -= 1;
            if *holders == 0 {
                kept.remove(&self.name);
            }
        }
    }
}

/// Whether a path is the name of a passed trace, which may exist no longer. The name has no meaning in other programs.
pub fn is_passed(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with(PREFIX)) && !path.exists()
}

/// The file of this name, if there is one.
pub fn file(path: &Path) -> Option<PathBuf> {
    kept().get(path).map(|(file, _)| file.path().to_path_buf())
}

/// Names in a folder for which the calling program passed files.
pub fn names_in(folder: &Path) -> Vec<String> {
    let kept = kept();
    let names = kept.keys().filter(|path| path.parent() == Some(folder)).filter_map(|path| path.file_name()?.to_str());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_in_for_a_path_until_it_is_dropped() {
        let path = Path::new("/nowhere/trace.csv");
        let kept =
            PassedTrace::in_place_of(path, Temporary::new_in(&std::env::temp_dir(), ("copyback-test-", "")).unwrap());
        let at = file(path).unwrap();
        assert!(at.exists() && kept.name() == path);
        drop(kept);
        assert!(!at.exists() && file(path).is_none());
    }

    #[test]
    fn equal_traces_are_kept_once_until_nobody_holds_them() {
        let made = || Temporary::new_in(&std::env::temp_dir(), ("copyback-test-", "")).unwrap();
        let first = PassedTrace::new("ab", made());
        let second = PassedTrace::new("ab", made());
        assert_eq!((first.name(), second.name()), (Path::new("requests:ab"), Path::new("requests:ab")));
        let at = file(first.name()).unwrap();
        drop(first);
        assert!(at.exists());
        drop(second);
        assert!(!at.exists() && file(Path::new("requests:ab")).is_none());
    }
}
