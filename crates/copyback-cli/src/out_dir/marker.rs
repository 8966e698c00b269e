//! `.copyback.json` marks a folder of `--out` and lists its result files.
//!
//! It is written first and names all files that will follow, so the folder of an interrupted run can be reused. Without
//! it, no file counts as a result. A program that writes into the folder locks it.

use crate::failure::{self, Failure};
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

const NAME: &str = ".copyback.json";
const SCHEMA: &str = "copyback/out/1";
/// Most bytes that are read; a marker has some hundred.
const BYTES_MAX: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Text {
    schema: String,
    files: BTreeSet<String>,
}

/// The state of a marker.
enum MarkerState {
    /// Missing.
    Nothing,
    /// Empty: the run was killed right after making it.
    Blank,
    /// The result files that it lists.
    Files(BTreeSet<String>),
    /// Not a marker of this program.
    Foreign,
}

/// Reads the marker of a folder.
fn read(folder: &Path) -> MarkerState {
    let path = folder.join(NAME);
    match std::fs::symlink_metadata(&path) {
        Ok(data) if data.is_file() => {}
        Ok(_) => return MarkerState::Foreign,
        Err(_) => return MarkerState::Nothing,
    }
    File::open(&path).map_or(MarkerState::Foreign, |file| read_open(&file))
}

/// Reads an open marker. Ignores names that no run gives: they might lead out of the folder.
fn read_open(file: &File) -> MarkerState {
    let mut bytes = Vec::new();
    let read = file.take(BYTES_MAX).read_to_end(&mut bytes);
    if read.is_ok() && bytes.trim_ascii().is_empty() {
        return MarkerState::Blank;
    }
    match serde_json::from_slice::<Text>(&bytes) {
        Ok(Text { schema, mut files }) if schema == SCHEMA => {
            files.retain(|name| super::is_result(name));
            MarkerState::Files(files)
        }
        _ => MarkerState::Foreign,
    }
}

/// Files that an earlier run wrote into a folder, or was about to write.
pub fn files_of_earlier_run(folder: &Path) -> BTreeSet<String> {
    if let MarkerState::Files(files) = read(folder) { files } else { BTreeSet::new() }
}

/// The first file, by name, that no run wrote. Temporary files of a killed run do not count if the marker lists
/// results.
pub fn foreign_file(folder: &Path) -> Option<String> {
    foreign_beside(folder, &read(folder))
}

fn foreign_beside(folder: &Path, said: &MarkerState) -> Option<String> {
    let is_ours = |name: &String| match said {
        MarkerState::Files(files) => name == NAME || files.contains(name) || files::is_temporary(name),
        MarkerState::Blank => name == NAME,
        MarkerState::Nothing | MarkerState::Foreign => false,
    };
    let names = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !is_ours(name)).min()
}

/// Removes temporary files of a killed program. The caller holds the lock, so no program is writing them.
pub fn remove_temporary_files(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        if files::is_temporary(&entry.file_name().to_string_lossy()) && entry.file_type()?.is_file() {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The marker of a folder, open and locked.
pub struct Marker {
    file: File,
    folder: PathBuf,
}

impl Marker {
    /// Opens and locks the marker of a folder, or makes an empty one, which lists no results.
    pub fn lock(folder: &Path) -> Result<Self, Failure> {
        let shown = folder.display();
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join(NAME));
        let file = options.map_err(|error| {
            Failure::input(format!("cannot write in folder {shown}: {error}")).with_help(failure::MAKE_ROOM)
        })?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, folder: folder.to_path_buf() }),
            Err(TryLockError::WouldBlock) => Err(Failure::input(format!("another run is writing to {shown}"))
                .with_help("wait for it, or name another folder: --out")),
            Err(TryLockError::Error(error)) => Err(Failure::input(format!("cannot lock {shown}/{NAME}: {error}"))
                .with_help("name a folder on a file system that has locks: --out")),
        }
    }

    fn read(&self) -> MarkerState {
        let mut file = &self.file;
        if file.rewind().is_ok() { read_open(file) } else { MarkerState::Foreign }
    }

    /// Files that it names.
    pub fn files(&self) -> BTreeSet<String> {
        if let MarkerState::Files(files) = self.read() { files } else { BTreeSet::new() }
    }

    /// The first file in its folder that no run wrote.
    pub fn foreign_file(&self) -> Option<String> {
        foreign_beside(&self.folder, &self.read())
    }

    /// Whether the marker is still in its folder, which may have been moved or emptied.
    #[cfg(unix)]
    pub fn is_there(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let number = |data: std::fs::Metadata| (data.dev(), data.ino());
        let standing = std::fs::symlink_metadata(self.folder.join(NAME)).map(number).ok();
        standing.is_some() && standing == self.file.metadata().map(number).ok()
    }

    /// Other systems do not move or remove an open file.
    #[cfg(not(unix))]
    pub fn is_there(&self) -> bool {
        true
    }

    /// Lists the result files. The locked file is written in place; padding keeps it valid at every step.
    pub fn write(&self, files: &BTreeSet<String>) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::of_disk(&self.folder.join(NAME), &error);
        let text = serde_json::to_string_pretty(&Text { schema: SCHEMA.to_owned(), files: files.clone() });
        let text = format!("{}\n", text.map_err(|error| Failure::run(format!("cannot write JSON: {error}")))?);
        let before = usize::try_from(self.file.metadata().map_err(failed)?.len()).unwrap_or(usize::MAX);
        let blanks = "\n".repeat(text.len().saturating_sub(before));
        let padded = format!("{text}{}", "\n".repeat(before.saturating_sub(text.len())));
        let mut file = &self.file;
        file.seek(std::io::SeekFrom::End(0)).and_then(|_| file.write_all(blanks.as_bytes())).map_err(failed)?;
        file.rewind().and_then(|()| file.write_all(padded.as_bytes())).map_err(failed)?;
        file.set_len(text.len() as u64).and_then(|()| file.sync_all()).map_err(failed)
    }
}
