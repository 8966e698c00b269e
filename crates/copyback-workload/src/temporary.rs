//! Temporary files that are removed when the program ends or is interrupted.
//!
//! If the system permits, a copy of a user's data has no name: the system then removes it when the program ends, even
//! if the program is killed. Every other file is removed when its value is dropped. A signal drops no values, so these
//! files are listed by name for an interrupted program. An output needs a name, because it replaces an existing file.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The process is about to end: no named file is created, and none gets its final name. Written while the list is
/// locked.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

fn names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A thread that panicked while it held the lock left complete paths.
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The permission of a call to give its outputs their final names. A calling program withdraws it when it stops waiting
/// for the call, whose threads may still write.
#[derive(Clone, Debug, Default)]
pub struct Permission(Arc<AtomicBool>);

thread_local! {
    /// The permission of the call that this thread works for.
    static OWN: RefCell<Option<Permission>> = const { RefCell::new(None) };
}

impl Permission {
    /// Withdraws it. After this, no output of the call gets its final name.
    pub fn withdraw(&self) {
        let held = names();
        self.0.store(true, Ordering::Relaxed);
        drop(held);
    }

    /// Does the work of a call. The outputs that this thread writes meanwhile need the permission.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = OWN.replace(Some(self.clone()));
        let done = work();
        OWN.replace(before);
        done
    }

    /// The permission that this thread has, for threads that help it.
    pub fn of_thread() -> Self {
        OWN.with_borrow(|own| own.clone().unwrap_or_default())
    }

    /// Changes files, if the permission of this thread was not withdrawn. It is not withdrawn meanwhile.
    ///
    /// # Errors
    /// `Interrupted`, and those of `change`.
    pub fn change(change: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let held = names();
        let done = Self::check().and_then(|()| change());
        drop(held);
        done
    }

    /// Refuses if the permission for outputs of this thread was withdrawn.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn check() -> io::Result<()> {
        let is_withdrawn = IS_CLOSED.load(Ordering::Relaxed)
            || OWN.with_borrow(|own| own.as_ref().is_some_and(|own| own.0.load(Ordering::Relaxed)));
        let refused = || io::Error::new(io::ErrorKind::Interrupted, "the call was interrupted");
        if is_withdrawn { Err(refused()) } else { Ok(()) }
    }
}

/// An open temporary file; removed when dropped.
#[derive(Debug)]
pub struct Temporary {
    // The file is removed before its entry in the list.
    file: Kept,
    path: PathBuf,
    entry: Option<Entry>,
}

#[derive(Debug)]
enum Kept {
    Named(NamedTempFile),
    /// The file has no name; it exists as long as a process has it open.
    Unnamed(File),
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

    /// Creates a file for a copy of a user's data, which no other user may read. It has no name if the system allows
    /// that; [`Self::path`] is then valid in this process only, for as long as the value lives.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn private_in(folder: &Path, names: (&str, &str)) -> io::Result<Self> {
        let held = self::names();
        let unnamed = Self::unnamed_in(folder)?;
        drop(held);
        unnamed.map_or_else(|| Self::with_mode(folder, names, 0o600), Ok)
    }

    /// Creates a file without a name; `None` if the system cannot open such a file again.
    fn unnamed_in(folder: &Path) -> io::Result<Option<Self>> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            use std::os::unix::fs::PermissionsExt;
            let file = tempfile::tempfile_in(folder)?;
            // Other processes see the file in `/proc`, but other users may not open it.
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
            // Each opening of this path gets an offset of its own, as with a named file.
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            let can_be_opened = File::options().read(true).write(true).open(&path).is_ok();
            Ok(can_be_opened.then_some(Self { file: Kept::Unnamed(file), path, entry: None }))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = folder;
            Ok(None)
        }
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
        // Created and listed under one lock: the list has every named file.
        let mut names = names();
        Permission::check()?;
        let file = builder.tempfile_in(folder)?;
        names.insert(file.path().to_path_buf());
        let path = file.path().to_path_buf();
        let entry = Some(Entry(path.clone()));
        Ok(Self { file: Kept::Named(file), path, entry })
    }

    /// A path that opens it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub fn as_file(&self) -> &File {
        match &self.file {
            Kept::Named(file) => file.as_file(),
            Kept::Unnamed(file) => file,
        }
    }

    /// The open file, to write to.
    pub fn as_file_mut(&mut self) -> &mut File {
        match &mut self.file {
            Kept::Named(file) => file.as_file_mut(),
            Kept::Unnamed(file) => file,
        }
    }

    /// Renames the file to its final name, and replaces a file of that name.
    ///
    /// # Errors
    /// Those of the file system, if the file has no name, and if the call was interrupted ([`Permission`]); the file is
    /// removed then.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        let Self { file, entry, .. } = self;
        let Kept::Named(file) = file else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "a private file has no name"));
        };
        let names = names();
        let done = Permission::check().and_then(|()| file.persist(path).map(drop).map_err(|error| error.error));
        drop(names);
        drop(entry);
        done
    }
}

/// While this value lives, no thread creates or renames a [`Temporary`].
#[derive(Debug)]
pub struct Held(#[allow(dead_code, reason = "it is held, not read")] MutexGuard<'static, BTreeSet<PathBuf>>);

/// Removes all named temporary files, before the program ends. While the returned value lives, a thread that creates a
/// temporary file waits.
pub fn remove_all() -> Held {
    let mut names = names();
    for path in std::mem::take(&mut *names) {
        // Another program may have removed it.
        let _ = std::fs::remove_file(path);
    }
    Held(names)
}

/// Removes all named temporary files. From now on, no other is created, and none gets its final name.
pub fn close() {
    let held = remove_all();
    IS_CLOSED.store(true, Ordering::Relaxed);
    drop(held);
}

/// If a thread is removing all temporary files to end the program, waits for that end. Otherwise returns at once.
pub fn wait_for_interruption() {
    drop(names());
}
