//! Output files, written by [`Target`]: a regular file is replaced when its successor is complete; devices, pipes and
//! descriptors are written directly.

mod clashes;
mod endings;

use crate::failure::Failure;
use crate::files::reason;
pub use clashes::{Output, refuse_clashes};
pub use copyback_workload::write::target::is_temporary;
use copyback_workload::write::target::{Target, folder_of};
pub use endings::{other_ending, refuse_other_endings};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Refuses an output path that cannot be written, before a run spends time on it. Opens nothing that could block or
/// change.
pub fn check_output(path: &Path) -> Result<(), Failure> {
    refuse_empty(path)?;
    let target = Target::of(path).map_err(|error| {
        let (failure, kind) = (Failure::input(format!("cannot write {}: {error}", path.display())), error.kind());
        failure.with_help(if kind == std::io::ErrorKind::IsADirectory {
            "name a file in it"
        } else {
            "name another file"
        })
    })?;
    match &target {
        Target::File(file) => check_replaceable(path, file),
        Target::Stream(_) => check_stream(path),
        Target::Descriptor(_) | Target::StandardOutput | Target::StandardError => Ok(()),
    }
}

/// Refuses an empty path: names of files in it would be in the working folder.
fn refuse_empty(path: &Path) -> Result<(), Failure> {
    if path.as_os_str().is_empty() {
        return Err(Failure::input("the name of an output is empty").with_help("name a file or a folder"));
    }
    Ok(())
}

/// Refuses a file that is written beside an output, under a name that follows from the output's. The user did not name
/// it, so no program reads from a pipe of this name, and opening it would block for ever.
pub fn check_companion(path: &Path) -> Result<(), Failure> {
    check_output(path)?;
    if !is_pipe(path) {
        return Ok(());
    }
    Err(Failure::input(format!("{} is a pipe, but a file of this name is written next to an output", path.display()))
        .with_help("move it away, or name another output"))
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|data| data.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_path: &Path) -> bool {
    false
}

/// Refuses the files of a folder that may not exist yet: a folder that cannot be made, and names that are too long.
pub fn check_in_folder<'a>(folder: &Path, files: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let standing = check_folder(folder)?;
    for file in files {
        if folder.is_dir() {
            check_output(file)?;
        } else if let Some(name) = file.file_name()
            && let Err(error) = std::fs::symlink_metadata(standing.join(name))
            && error.kind() == std::io::ErrorKind::InvalidFilename
        {
            return Err(Failure::input(format!("cannot write {}: {}", file.display(), reason(&error)))
                .with_help("name another file"));
        }
    }
    Ok(())
}

/// Refuses a folder that cannot be made or written. Returns the part of its path that exists.
pub fn check_folder(folder: &Path) -> Result<&Path, Failure> {
    refuse_empty(folder)?;
    let shown = folder.display();
    if std::fs::symlink_metadata(folder).is_ok() && !folder.is_dir() {
        let what = if folder.is_symlink() { "a link that leads to no folder" } else { "a file, not a folder" };
        return Err(Failure::input(format!("{shown} is {what}")).with_help("name a folder, or a new one"));
    }
    let standing = folder.ancestors().find(|above| above.as_os_str().is_empty() || above.exists());
    let standing = standing.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !standing.is_dir() {
        return Err(Failure::input(format!("{} is a file: {shown} cannot be in it", standing.display())));
    }
    check_writable(standing)?;
    Ok(standing)
}

/// Refuses a file that cannot be made, or must not be changed. `file` is what `path` leads to.
fn check_replaceable(path: &Path, file: &Path) -> Result<(), Failure> {
    let folder = folder_of(file);
    if !folder.is_dir() {
        let message = format!("there is no folder {} to write {} in", folder.display(), path.display());
        return Err(Failure::input(message).with_help("make it first, or name a file in another folder"));
    }
    check_writable(folder)?;
    // Replacing a file ignores its write protection, so check it: opening for appending changes nothing.
    match std::fs::OpenOptions::new().append(true).open(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::input(format!("cannot write {}: {}", path.display(), reason(&error)))
                .with_help("name another file, or permit yourself to write it"))
        }
        _ => Ok(()),
    }
}

/// Refuses a device or a pipe without write permission, and a socket.
#[cfg(unix)]
fn check_stream(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::FileTypeExt;
    let refused = |why: &str| {
        Err(Failure::input(format!("cannot write {}: {why}", path.display()))
            .with_help("name a file, a pipe or a device"))
    };
    if std::fs::metadata(path).is_ok_and(|data| data.file_type().is_socket()) {
        return refused("it is a socket");
    }
    match rustix::fs::access(path, rustix::fs::Access::WRITE_OK) {
        Ok(()) => Ok(()),
        Err(error) => refused(&reason(&error.into())),
    }
}

#[cfg(not(unix))]
fn check_stream(_path: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Refuses a folder in which no file can be made. It makes one without a name: permissions alone do not show it.
pub fn check_writable(folder: &Path) -> Result<(), Failure> {
    match tempfile::tempfile_in(folder) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::input(format!("cannot write in folder {}: {}", folder.display(), reason(&error)))
            .with_help("name a folder that you may write in")),
    }
}

/// Whether an output goes to standard output, under whichever name: what reads it expects nothing else there.
pub fn is_standard_output(path: &Path) -> bool {
    Target::of(path).is_ok_and(|target| target == Target::StandardOutput)
}

/// Whether an output is a file, there or not.
pub fn is_file(path: &Path) -> bool {
    matches!(Target::of(path), Ok(Target::File(_)))
}

/// The folder of an output, behind all links, if it is a file.
pub fn folder_of_output(path: &Path) -> Option<std::path::PathBuf> {
    match Target::of(path) {
        Ok(Target::File(file)) => std::fs::canonicalize(folder_of(&file)).ok(),
        _ => None,
    }
}

/// Refuses another output in a folder of results: no rerun would know that file.
pub fn refuse_inside(folder: &Path, output: &Output) -> Result<(), Failure> {
    let (Ok(whole), Some(inside)) = (std::fs::canonicalize(folder), folder_of_output(&output.path)) else {
        return Ok(());
    };
    if !inside.starts_with(&whole) {
        return Ok(());
    }
    let shown = output.path.display();
    Err(Failure::input(format!(
        "{} {shown} is in {}, which holds only the results of a run",
        output.what,
        folder.display()
    ))
    .with_help("name a file elsewhere"))
}

/// Writes a whole output. Only the disk can make it fail.
pub fn write_whole(path: &Path, make: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<(), Failure> {
    write_made(path, |file| make(file).map_err(|error| Failure::of_disk(path, &error)))
}

/// Writes a whole output, and returns what making it returned.
pub fn write_made<T>(path: &Path, make: impl FnOnce(&mut File) -> Result<T, Failure>) -> Result<T, Failure> {
    let target = Target::of(path).map_err(|error| Failure::of_disk(path, &error))?;
    let is_standard = target == Target::StandardOutput;
    target.write(make, |error| match error.kind() {
        std::io::ErrorKind::BrokenPipe if is_standard => Failure::PipeClosed,
        _ => Failure::of_disk(path, &error),
    })
}

/// Writes bytes. Returns whether they went to standard output.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<bool, Failure> {
    write_whole(path, |file| file.write_all(bytes))?;
    Ok(is_standard_output(path))
}

/// Writes a text. Returns whether it went to standard output.
pub fn write_text(path: &Path, text: &str) -> Result<bool, Failure> {
    write_bytes(path, text.as_bytes())
}
