//! The file by which a folder of `--out` is known as ours, and which tells of the files that are: `.copyback.json`.
//!
//! It is the first thing that is written, and names what will be: wherever a run ends, the folder that it leaves may be
//! written to again. Without it nothing is ours, whatever it is called.

use crate::failure::Failure;
use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

const NAME: &str = ".copyback.json";
const SCHEMA: &str = "copyback/out/1";
/// No more of it is read: it has some hundred bytes.
const BYTES_MAX: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Marker {
    schema: String,
    files: BTreeSet<String>,
}

fn read(folder: &Path) -> Option<Marker> {
    let path = folder.join(NAME);
    if !std::fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(&path).ok()?.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let marker: Marker = serde_json::from_slice(&bytes).ok()?;
    (marker.schema == SCHEMA).then_some(marker)
}

/// Files that an earlier run wrote into a folder, or was about to write. Names that no run gives are not believed: they
/// might lead out of the folder.
pub fn files_of_earlier_run(folder: &Path) -> BTreeSet<String> {
    let mut files = read(folder).map(|marker| marker.files).unwrap_or_default();
    files.retain(|name| super::is_result(name));
    files
}

/// Says in a folder which files are ours.
pub fn write(folder: &Path, files: &BTreeSet<String>) -> Result<(), Failure> {
    let marker = Marker { schema: SCHEMA.to_owned(), files: files.clone() };
    let text =
        serde_json::to_string_pretty(&marker).map_err(|error| Failure::run(format!("cannot write JSON: {error}")))?;
    files::write_text(&folder.join(NAME), &format!("{text}\n")).map(drop)
}

/// The first file in a folder, by name, that no run wrote. What a killed program was writing is nobody's.
pub fn foreign_file(folder: &Path) -> Option<String> {
    let ours = files_of_earlier_run(folder);
    let is_ours =
        |name: &String| ours.contains(name) || files::is_temporary(name) || (name == NAME && read(folder).is_some());
    let names = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !is_ours(name)).min()
}

/// Removes what a killed program was writing.
pub fn remove_temporary_files(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        if files::is_temporary(&entry.file_name().to_string_lossy()) && entry.file_type()?.is_file() {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
