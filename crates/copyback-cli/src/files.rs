//! Reading inputs, and writing outputs so that a partial one never stands under its final name.

use crate::failure::Failure;
use copyback::config::layers::nearest;
use std::io::{Read, Write};
use std::path::Path;

/// Reads a text that the user named.
pub fn read_text(what: &str, path: &Path) -> Result<String, Failure> {
    check_file(what, path)?;
    std::fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("cannot read {what} {}: {error}", path.display())))
}

/// Refuses a folder or a missing file, and names files that were perhaps meant.
pub fn check_file(what: &str, path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(data) if data.is_dir() => {
            let failure = Failure::input(format!("{what} {shown} is a folder, not a file"));
            let inside = names_in(path);
            Err(match inside.first() {
                Some(name) => failure.with_help(format!("name a file in it, such as {}", path.join(name).display())),
                None => failure.with_help("name a file"),
            })
        }
        // Whoever may not read it is told so now, not once a drive has been made.
        Ok(data) if data.is_file() => match std::fs::File::open(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::input(format!("cannot read {what} {shown}: {}", error.kind()))
                .with_help("you need the permission to read it")),
        },
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let failure = Failure::input(format!("there is no {what} {shown}"));
            Err(match nearest_file(path) {
                Some(near) => failure.with_help(format!("did you mean {near}?")),
                None => failure,
            })
        }
        Err(error) => Err(Failure::input(format!("cannot read {what} {shown}: {error}"))),
    }
}

/// The file that was perhaps meant.
pub fn nearest_file(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name()?.to_str()?;
    let names = names_in(folder);
    let near = nearest(name, names.iter().map(String::as_str))?;
    Some(if folder == Path::new(".") { near.to_owned() } else { folder.join(near).display().to_string() })
}

/// Names in a folder, sorted, so that what is said does not depend on the file system.
fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Hash of a file's bytes.
pub fn hash_file(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(tagged(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        };
    }
}

/// Hash of bytes.
pub fn hash_bytes(bytes: &[u8]) -> String {
    tagged(&blake3::hash(bytes))
}

fn tagged(hash: &blake3::Hash) -> String {
    format!("blake3:{}", hash.to_hex())
}

/// Refuses an output's name that cannot be written, before time is spent on what it would hold.
pub fn check_output(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(
            Failure::input(format!("{} is a folder, not a file", path.display())).with_help("name a file in it")
        );
    }
    let folder = folder_of(path);
    if folder.is_dir() {
        return check_writable(folder);
    }
    Err(Failure::input(format!("there is no folder {} to write {} in", folder.display(), path.display())))
}

/// Refuses a folder in which no file can be made, by making one: permissions alone do not tell.
pub fn check_writable(folder: &Path) -> Result<(), Failure> {
    match tempfile::Builder::new().prefix(".copyback-").tempfile_in(folder) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::input(format!("cannot write in folder {}: {}", folder.display(), error.kind()))
            .with_help("name a folder that you may write in")),
    }
}

/// Folder that a file stands in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a whole file: under another name first.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::run(format!("cannot write {}: {error}", path.display()));
    let mut file = tempfile::Builder::new().prefix(".copyback-").tempfile_in(folder_of(path)).map_err(failed)?;
    write(file.as_file_mut()).map_err(failed)?;
    file.as_file_mut().flush().map_err(failed)?;
    readable_by_all_allowed(file.as_file()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private; a result is an ordinary file.
#[cfg(unix)]
fn readable_by_all_allowed(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all_allowed(_file: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

/// Prints to standard output. Styles are left out where it is no terminal.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::PipeClosed),
        Err(error) => Err(Failure::run(format!("cannot write to standard output: {error}"))),
    }
}
