//! Refuses an output that is an input of the same run, or another output. Names do not suffice for this, because two
//! names may be links to one file.

use crate::failure::Failure;
use crate::files::Input;
use copyback_workload::per_cpu;
use copyback_workload::write::target::{Target, folder_of};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Something that is going to be written.
#[derive(Clone, Debug)]
pub struct Output {
    /// The option that requests it: `--json`.
    pub what: &'static str,
    /// Its name.
    pub path: PathBuf,
}

impl Output {
    /// An output.
    pub fn new(what: &'static str, path: impl Into<PathBuf>) -> Self {
        Self { what, path: path.into() }
    }

    fn shown(&self) -> String {
        format!("{} {}", self.what, self.path.display())
    }
}

/// The file behind a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// Standard output, whatever it is.
    StandardOutput,
    /// Device and number of what is there already.
    #[cfg(unix)]
    Node(u64, u64),
    /// The name, with all links resolved, of a file that does not exist yet; of any file if the system has no file
    /// numbers.
    Name(PathBuf),
}

/// Refuses outputs that would destroy an input of the same run, or each other. Standard output counts if the shell
/// sends it to a file. What has no content of its own, such as `/dev/null`, harms nothing.
pub fn refuse_clashes<'a>(outputs: &[Output], inputs: impl IntoIterator<Item = &'a Input>) -> Result<(), Failure> {
    let mut known: BTreeMap<Identity, String> = BTreeMap::new();
    for input in inputs {
        for path in input.path.iter().flat_map(|path| files_of(path)) {
            if let Ok(data) = std::fs::metadata(&path)
                && let Some(identity) = of_metadata(&path, &data)
            {
                known.entry(identity).or_insert_with(|| format!("the {} {}", input.role, path.display()));
            }
        }
    }
    let mut written: BTreeMap<Identity, &Output> = BTreeMap::new();
    let printed = Output::new("standard output", "");
    if let Some(identity) = file_of_standard_output() {
        refuse_input(&known, &identity, "standard output")?;
        written.insert(identity, &printed);
    }
    for output in outputs {
        for identity in of_output(&output.path) {
            refuse_input(&known, &identity, &output.shown())?;
            if let Some(other) = written.insert(identity.clone(), output) {
                return Err(two_in_one(&identity, other, output));
            }
        }
    }
    Ok(())
}

/// The files of an input's path: that file, or those of the recording with this base name.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let parts = per_cpu::files(path);
    if parts.is_empty() { vec![path.to_path_buf()] } else { parts }
}

fn refuse_input(known: &BTreeMap<Identity, String>, identity: &Identity, output: &str) -> Result<(), Failure> {
    match known.get(identity) {
        Some(input) => {
            Err(Failure::input(format!("{output} would be overwritten: it is {input}, which this command reads"))
                .with_help("name another file"))
        }
        None => Ok(()),
    }
}

fn two_in_one(identity: &Identity, one: &Output, other: &Output) -> Failure {
    if *identity == Identity::StandardOutput {
        let message = format!("{} and {} would both write to standard output", one.shown(), other.shown());
        return Failure::input(message).with_help("give one of them a file, for example --json results.json");
    }
    let message =
        format!("{} and {} are one file: the one would overwrite the other", one.shown().trim_end(), other.shown());
    Failure::input(message).with_help("name two files")
}

/// The files of an output; standard output may be a file, too.
fn of_output(path: &Path) -> Vec<Identity> {
    let standing = |path: &Path| std::fs::metadata(path).ok().and_then(|data| of_metadata(path, &data));
    match Target::of(path) {
        Ok(Target::File(file)) => standing(&file).or_else(|| new_file(&file)).into_iter().collect(),
        Ok(Target::Stream(stream)) => standing(&stream).into_iter().collect(),
        Ok(Target::Descriptor(_)) => standing(path).into_iter().collect(),
        // Printing to a file that is standard output is no clash.
        Ok(Target::StandardOutput) => vec![Identity::StandardOutput],
        Ok(Target::StandardError) | Err(_) => Vec::new(),
    }
}

/// A file that is not there yet.
fn new_file(path: &Path) -> Option<Identity> {
    let folder = std::fs::canonicalize(folder_of(path)).ok()?;
    Some(Identity::Name(folder.join(path.file_name()?)))
}

/// Files and pipes have content to protect; character devices have none.
#[cfg(unix)]
fn of_metadata(_path: &Path, data: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    (!data.file_type().is_char_device()).then(|| Identity::Node(data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn of_metadata(path: &Path, _data: &Metadata) -> Option<Identity> {
    std::fs::canonicalize(path).ok().map(Identity::Name)
}

/// The file that the shell sends standard output to, if it is one.
#[cfg(unix)]
fn file_of_standard_output() -> Option<Identity> {
    use std::os::fd::AsFd;
    let descriptor = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
    let data = std::fs::File::from(descriptor).metadata().ok()?;
    if data.is_file() { of_metadata(Path::new(""), &data) } else { None }
}

#[cfg(not(unix))]
fn file_of_standard_output() -> Option<Identity> {
    None
}
