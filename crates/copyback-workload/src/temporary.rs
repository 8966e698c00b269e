//! Temporary files, listed by name, so that an interrupted program can remove them.
//!
//! A value removes its file when it is dropped, but a signal drops no values. Files without a name (`O_TMPFILE`) would
//! need no list, but they cannot replace an existing file without getting a name first, and not every file system has
//! them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A thread that panicked while it held the lock left complete paths.
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open temporary file with its own name; removed when dropped.
#[derive(Debug)]
pub struct Temporary {
    // The file is removed before its entry in the list.
    file: NamedTempFile,
    entry: Entry,
}

/// A name in the list, as long as the value lives.
#[derive(Debug)]
struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        names().remove(&self.0);
    }
}

impl Temporary {
    /// Creates a file for an output in a folder, with this prefix and suffix of its name. The user's mask sets its
    /// permissions.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new_in(folder: &Path, names: (&str, &str)) -> io::Result<Self> {
        Self::with_mode(folder, names, 0o666)
    }

    /// Creates a file for a copy of a user's data, which no other user may read.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn private_in(folder: &Path, names: (&str, &str)) -> io::Result<Self> {
        Self::with_mode(folder, names, 0o600)
    }

    fn with_mode(folder: &Path, (prefix, suffix): (&str, &str), mode: u32) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(suffix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = mode;
        // Created and listed under one lock: the list has every file.
        let mut names = names();
        let file = builder.tempfile_in(folder)?;
        names.insert(file.path().to_path_buf());
        let entry = Entry(file.path().to_path_buf());
        Ok(Self { file, entry })
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The open file.
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// The open file, to write to.
    pub fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Renames the file to its final name, and replaces a file of that name.
    ///
    /// # Errors
    /// Those of the file system; the file is removed then.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        let Self { file, entry } = self;
        let names = names();
        let done = file.persist(path).map(drop).map_err(|error| error.error);
        drop(names);
        drop(entry);
        done
    }
}

/// While this value lives, no thread creates, renames or removes temporary files.
#[derive(Debug)]
pub struct Held(#[allow(dead_code, reason = "it is held, not read")] MutexGuard<'static, BTreeSet<PathBuf>>);

/// Removes all temporary files, before the program ends. While the returned value lives, a thread that creates a
/// temporary file waits.
pub fn remove_all() -> Held {
    let mut names = names();
    for path in std::mem::take(&mut *names) {
        // Another program may have removed it.
        let _ = std::fs::remove_file(path);
    }
    Held(names)
}

/// Waits for the thread that removes all temporary files and ends the program.
pub fn wait_for_interruption() {
    drop(names());
}
