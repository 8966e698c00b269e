//! Reading inputs: their texts, their hashes, and whether a name is a preset or a file.

use crate::failure::Failure;
use copyback::config::layers::Layer;
pub use copyback_workload::nearest_file;
pub use copyback_workload::write::target::folder_of;
use copyback_workload::{passed_traces, standard_input};
use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The reason of an error of the system in words, without its number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        // Words of kinds are the same on all systems, but not all errors have a kind.
        Some((own, _)) if error.kind().to_string() == "uncategorized error" => own.to_lowercase(),
        _ => error.kind().to_string(),
    }
}

/// Largest configuration file: a hundred times a long one. A larger input is no configuration, and may be endless.
pub const TEXT_BYTES_MAX: u64 = 1 << 20;

/// Reads a TOML text that the user named. Configurations of other simulators are refused by name.
pub fn read_text(what: &str, path: &Path) -> Result<String, Failure> {
    read_foreign_text(what, path, "name a TOML file; a trace is given as `--trace FILE`")
}

/// Reads a text that need not be TOML, in the same way. `wanted`: the help if the file is too large or is no text.
pub fn read_foreign_text(what: &str, path: &Path, wanted: &str) -> Result<String, Failure> {
    let text = read_any_text(what, path, wanted)?;
    match of_other_simulator(&text) {
        Some((name, help)) => {
            let shown = path.display();
            Err(Failure::input(format!("{what} {shown}: it is {name}, which is not read directly")).with_help(help))
        }
        None => Ok(text),
    }
}

/// The other simulator whose configuration a file is, and how to convert it; `None` if it is none.
pub fn other_simulator(path: &Path) -> Option<(&'static str, &'static str)> {
    // A pipe can be read only once.
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    of_other_simulator(std::str::from_utf8(&bytes).ok()?)
}

/// The kind of configuration if a text is one of another simulator, and how to convert it.
fn of_other_simulator(text: &str) -> Option<(&'static str, &'static str)> {
    let is_xml = text.trim_start().trim_start_matches('\u{feff}').starts_with('<');
    if is_xml && text.contains("<Execution_Parameter_Set>") {
        let help = "convert it: `copyback device from-mqsim FILE > my-drive.toml`, then --device my-drive.toml";
        return Some(("MQSim's configuration of a drive, in XML", help));
    }
    if is_xml && text.contains("<MQSim_IO_Scenarios>") {
        let help = "give the trace that its `File_Path` names: --trace FILE; a generated workload is written as `copyback \
                    workloads mixed-70-30` shows";
        return Some(("MQSim's definition of workloads, in XML", help));
    }
    let has_section = |name: &str| text.lines().any(|line| line.trim() == name);
    let has_key = |key: &str| text.lines().any(|line| line.split(['=', ' ', '\t']).next() == Some(key));
    let is_ini = has_key("NANDType")
        || has_key("NumChannel")
        || ["[pal]", "[icl]", "[hil]", "[ssd]"].into_iter().any(has_section);
    if is_ini || (is_xml && text.contains("<simplessd")) {
        let help = "write its numbers in a file such as `copyback devices small` prints: of [pal], Channel, Package, Die, \
                    Plane, Block and Page are `geometry`, and the times of reads, programs and erases are `timing`";
        return Some(("SimpleSSD's configuration", help));
    }
    None
}

/// Reads a text that the user named, also from a pipe. No more is read than the largest permitted text. `wanted`: the
/// help if the file is too large or is no text.
pub fn read_any_text(what: &str, path: &Path, wanted: &str) -> Result<String, Failure> {
    check_file(what, path)?;
    let shown = path.display();
    let failed = |error: std::io::Error| Failure::input(format!("cannot read {what} {shown}: {error}"));
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(Failure::input(format!(
            "{what} {shown} has more than {TEXT_BYTES_MAX} bytes: it is no configuration"
        ))
        .with_help(wanted));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::input(format!("cannot read {what} {shown}: byte {at} is no text in UTF-8")).with_help(wanted)
    })
}

/// Units of values, as words that a shell may split from their numbers.
const UNITS: [&str; 14] = ["B", "KiB", "MiB", "GiB", "TiB", "kB", "KB", "MB", "GB", "ns", "us", "ms", "s", "%"];

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
        // Report a missing read permission now, before a drive is made.
        Ok(data) if data.is_file() => match std::fs::File::open(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::input(format!("cannot read {what} {shown}: {}", reason(&error)))
                .with_help("you need the permission to read it")),
        },
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let failure = Failure::input(format!("there is no {what} {shown}"));
            // A shell divides an unquoted `--set buffer.size=2 MiB` in two.
            let is_unit = path.to_str().is_some_and(|word| UNITS.contains(&word));
            Err(match nearest_file(path) {
                _ if is_unit => failure.with_help(format!("put a value with a blank in quotes: 'KEY=2 {shown}'")),
                Some(near) => failure.with_help(format!("did you mean {near}?")),
                None if path.is_relative() => failure.with_help("relative names begin in the working folder"),
                None => failure,
            })
        }
        Err(error) => Err(Failure::input(format!("cannot read {what} {shown}: {error}"))),
    }
}

/// Names in a folder, sorted, so that messages do not depend on the file system.
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

/// A text or a trace that went in.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// Its role.
    pub role: &'static str,
    /// Its name or path.
    pub name: String,
    /// Hash of its bytes.
    pub hash: String,
    /// The file that it was read from, if it was one: no output may be the same.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

impl Input {
    /// A text.
    pub fn text(role: &'static str, name: String, path: Option<PathBuf>, text: &str) -> Self {
        Self { role, name, hash: hash_bytes(text.as_bytes()), path }
    }

    /// A trace with its hash.
    pub fn trace(path: PathBuf, hash: String) -> Self {
        let name = path.display().to_string();
        // What comes from standard input or from a program is no file that an output could replace.
        let is_file = !standard_input::is_named(&path) && passed_traces::file(&path).is_none();
        Self { role: "trace", name, hash, path: is_file.then_some(path) }
    }
}

/// Removes the description of a preset.
pub fn forget_descriptions(layer: &mut Layer) -> Result<(), Failure> {
    for key in ["name", "description", "source"] {
        layer.take_text(key)?;
    }
    Ok(())
}

/// Whether a name is meant as a file.
pub fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".toml")
}
