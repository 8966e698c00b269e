//! The destination of an output: a regular file is replaced when its successor is complete; any other file is written
//! directly.

use crate::temporary::{Permission, Temporary};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The beginning of names of temporary files next to outputs. [`TEMPORARY_LETTERS`] letters and digits follow, and
/// [`TEMPORARY_SUFFIX`].
pub const TEMPORARY_PREFIX: &str = ".copyback-";
/// Letters and digits behind the prefix.
pub const TEMPORARY_LETTERS: usize = 6;
/// The end of their names, which a user is unlikely to choose.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Largest number of followed links; systems follow 8 to 40.
const LINKS_MAX: usize = 40;

/// The destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A regular file, which may not exist yet, under its name after all links. It is replaced when its successor is
    /// complete.
    File(PathBuf),
    /// A pipe or a device node. It is written directly.
    Stream(PathBuf),
    /// A descriptor that the program was started with, such as `/dev/fd/3`.
    Descriptor(u32),
    /// Standard output: `-`, `/dev/stdout`.
    StandardOutput,
    /// Standard error: `/dev/stderr`.
    StandardError,
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Target {
    /// Resolves an output's name, without opening it.
    ///
    /// # Errors
    /// If the name is a folder, if links form a cycle, if a descriptor is not open for writing, or an error of the file
    /// system.
    pub fn of(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::StandardOutput);
        }
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "a name that ends with / is a folder's"));
        }
        let mut at = path.to_path_buf();
        for _ in 0..=LINKS_MAX {
            if let Some(target) = descriptor(&at)? {
                return Ok(target);
            }
            match std::fs::symlink_metadata(&at) {
                Ok(data) if data.is_symlink() => at = folder_of(&at).join(std::fs::read_link(&at)?),
                Ok(data) => return Self::of_existing(at, &data),
                // The caller reports a missing folder when it writes.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    return Ok(Self::File(at));
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("its links lead round in a circle"))
    }

    fn of_existing(path: PathBuf, data: &Metadata) -> io::Result<Self> {
        if data.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
        }
        Ok(if data.is_file() { Self::File(path) } else { Self::Stream(path) })
    }

    /// Writes an output: `make` fills a temporary file. When it is complete, it replaces a regular file, with the old
    /// file's permissions, or is copied to any other target. `failed` converts errors of the file system.
    ///
    /// # Errors
    /// The errors of `make` and `failed`.
    pub fn write<T, E>(
        &self,
        make: impl FnOnce(&mut File) -> Result<T, E>,
        failed: impl Fn(io::Error) -> E,
    ) -> Result<T, E> {
        Permission::check().map_err(&failed)?;
        if let Self::File(path) = self {
            remove_abandoned(folder_of(path));
            let mut file = Temporary::new_in(folder_of(path), (TEMPORARY_PREFIX, TEMPORARY_SUFFIX)).map_err(&failed)?;
            // Another program sees by the lock that this file is in use. A file system without locks has none to see.
            let _ = file.as_file().try_lock();
            let made = make(file.as_file_mut())?;
            take_over(file.as_file(), path).and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
            file.persist(path).map_err(failed)?;
            return Ok(made);
        }
        // A file without a name: Parquet may seek in it, and a pipe gets no part of a failed output.
        let mut file = tempfile::tempfile().map_err(&failed)?;
        let made = make(&mut file)?;
        Permission::check().and_then(|()| self.copy(&mut file)).map_err(failed)?;
        Ok(made)
    }

    fn copy(&self, file: &mut File) -> io::Result<()> {
        file.rewind()?;
        let mut output = self.open()?;
        io::copy(file, &mut output)?;
        output.flush()
    }

    fn open(&self) -> io::Result<Box<dyn Write>> {
        Ok(match self {
            // Another program's descriptor may be a file: its content is kept.
            Self::File(path) | Self::Stream(path) => Box::new(OpenOptions::new().append(true).open(path)?),
            Self::Descriptor(number) => Box::new(duplicate(*number)?),
            Self::StandardOutput => Box::new(io::stdout()),
            Self::StandardError => Box::new(io::stderr()),
        })
    }
}

/// Whether a name is one of a temporary file beside an output.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    name.strip_prefix(TEMPORARY_PREFIX)
        .and_then(|rest| rest.strip_suffix(TEMPORARY_SUFFIX))
        .is_some_and(|rest| rest.len() == TEMPORARY_LETTERS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Age above which a temporary file without a visible lock counts as abandoned. On a shared folder, locks of another
/// machine may be invisible, and an active run may not write its file for hours.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);

/// Removes temporary files in a folder that killed programs left: no program holds their locks, and they are old.
fn remove_abandoned(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_temporary)) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let Ok(file) = OpenOptions::new().append(true).open(entry.path()) else { continue };
        let age = file.metadata().and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
        if is_file && age.is_some_and(|age| age > ABANDONED_AFTER) && file.try_lock().is_ok() {
            // Another program may have removed it.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The open descriptor that a name denotes; `None` if it denotes a file. Such names look like links, but their targets
/// need not have a name. The file of `> file` must not be replaced while the shell holds it open.
fn descriptor(path: &Path) -> io::Result<Option<Target>> {
    let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<u32>().ok());
    let (Some(number), Ok(folder)) = (number, std::fs::canonicalize(folder_of(path))) else { return Ok(None) };
    let is_own = folder == Path::new("/dev/fd")
        || std::fs::canonicalize("/proc/self").is_ok_and(|own| folder.starts_with(own) && folder.ends_with("fd"));
    if !is_own {
        let is_others = folder.starts_with("/proc") && folder.ends_with("fd");
        return Ok(is_others.then(|| Target::Stream(path.to_path_buf())));
    }
    let closed = |_| io::Error::new(io::ErrorKind::NotFound, format!("no descriptor {number} is open"));
    let data = std::fs::symlink_metadata(path).map_err(closed)?;
    if is_read_only(&data) {
        return Err(io::Error::other(format!("descriptor {number} is not open for writing")));
    }
    Ok(Some(match number {
        1 => Target::StandardOutput,
        2 => Target::StandardError,
        _ => Target::Descriptor(number),
    }))
}

/// Whether a descriptor was opened for reading only, from the links of /proc.
#[cfg(unix)]
fn is_read_only(data: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    data.is_symlink() && data.permissions().mode() & 0o200 == 0
}

#[cfg(not(unix))]
fn is_read_only(_data: &Metadata) -> bool {
    false
}

/// Another descriptor of the same open file: it continues at the same position.
#[cfg(unix)]
fn duplicate(number: u32) -> io::Result<File> {
    use std::os::fd::BorrowedFd;
    let number = i32::try_from(number).map_err(io::Error::other)?;
    // SAFETY: the number was open when the target was resolved, and it is borrowed for this one call. If it was closed
    // meanwhile, the call fails.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    descriptor.try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
fn duplicate(number: u32) -> io::Result<File> {
    Err(io::Error::other(format!("descriptor {number} cannot be written to on this system")))
}

/// Owner and permissions of the replaced file, if there is one. Only the superuser may change a file's owner: other
/// users own the file already, or become its owner.
fn take_over(file: &File, path: &Path) -> io::Result<()> {
    let Ok(before) = std::fs::metadata(path) else { return Ok(()) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
            let _ = fchown(file, Some(before.uid()), Some(before.gid()));
        }
    }
    file.set_permissions(before.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn write(path: &Path, text: &str) -> io::Result<()> {
        Target::of(path)?.write(|file| file.write_all(text.as_bytes()), |error| error)
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("below")).unwrap();
        std::fs::write(at("below/old"), "old").unwrap();
        std::fs::set_permissions(at("below/old"), std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink("below/old", at("one")).unwrap();
        symlink("one", at("two")).unwrap();
        symlink("below/new", at("dangling")).unwrap();
        symlink("round", at("round")).unwrap();
        write(&at("two"), "new").unwrap();
        write(&at("dangling"), "made").unwrap();
        assert!(at("two").is_symlink() && at("one").is_symlink() && at("dangling").is_symlink());
        assert_eq!(std::fs::read_to_string(at("below/old")).unwrap(), "new");
        assert_eq!(std::fs::read_to_string(at("below/new")).unwrap(), "made");
        assert_eq!(std::fs::metadata(at("below/old")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(write(&at("round"), "").unwrap_err().to_string().contains("in a circle"));
        assert!(Target::of(&at("below/")).is_err() && Target::of(&at("below")).is_err());
    }

    #[test]
    fn devices_and_descriptors_are_written_into() {
        assert_eq!(Target::of(Path::new("/dev/null")).unwrap(), Target::Stream("/dev/null".into()));
        write(Path::new("/dev/null"), "gone").unwrap();
        assert!(!std::fs::symlink_metadata("/dev/null").unwrap().is_file());
        for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            assert_eq!(Target::of(Path::new(name)).unwrap(), Target::StandardOutput, "{name}");
        }
        assert!(Target::of(Path::new("/dev/fd/999")).is_err());
    }

    /// A killed program holds no lock.
    #[test]
    fn files_of_killed_programs_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * ABANDONED_AFTER;
        let make = |name: &str| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(old).unwrap();
            file
        };
        let names = [".copyback-abcdef.tmp", ".copyback-ABC123.tmp", ".copyback-abcde.tmp", "x.tmp"];
        let files = names.map(make);
        files[1].lock().unwrap();
        File::create(folder.path().join(".copyback-new123.tmp")).unwrap();
        write(&folder.path().join("out"), "text").unwrap();
        let stands = |name: &str| folder.path().join(name).exists();
        assert_eq!(names.map(stands), [false, true, true, true], "one that is locked, and other names, stay");
        assert!(stands(".copyback-new123.tmp") && stands("out"));
    }

    /// Its permission is withdrawn while it writes, or before.
    #[test]
    fn an_interrupted_call_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        std::fs::write(&path, "kept").unwrap();
        let permission = Permission::default();
        let writes = |file: &mut File| -> io::Result<()> {
            file.write_all(b"whole")?;
            permission.withdraw();
            Ok(())
        };
        let target = Target::of(&path).unwrap();
        let refused = permission.during(|| target.write(writes, |error| error)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::Interrupted);
        let never = |_: &mut File| -> io::Result<()> { panic!("nothing is written") };
        permission.during(|| target.write(never, |error| error)).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        target.write(|file| file.write_all(b"another"), |error| error).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "another");
    }

    #[test]
    fn what_fails_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        std::fs::write(&path, "kept").unwrap();
        let fails = |file: &mut File| -> io::Result<()> {
            file.write_all(b"half")?;
            Err(io::Error::other("no more"))
        };
        Target::of(&path).unwrap().write(fails, |error| error).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
