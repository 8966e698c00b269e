//! Endings of file names: a file whose name means another format than its content misleads people and programs.

use super::{Output, is_file};
use crate::failure::Failure;
use std::path::Path;

/// Endings that mean one format. Other endings may mean anything.
const OF_ONE_FORMAT: &[&str] = &[
    "arrow", "bz2", "csv", "disksim", "feather", "gz", "htm", "html", "iolog", "jpeg", "jpg", "json", "md", "npy",
    "npz", "ods", "parquet", "pdf", "png", "ps", "py", "rs", "spc", "svg", "tex", "toml", "tsv", "txt", "xls", "xlsx",
    "xml", "xz", "yaml", "yml", "zip", "zst",
];

/// The ending of a file's name in lower case, if it means another format than those of `own`. Only files have formats:
/// pipes and devices have none.
pub fn other_ending(path: &Path, own: &[&str]) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    (is_file(path) && OF_ONE_FORMAT.contains(&&*ending) && !own.contains(&&*ending)).then_some(ending)
}

/// Refuses names of outputs whose ending means another format than their option writes.
pub fn refuse_other_endings(outputs: &[Output]) -> Result<(), Failure> {
    outputs.iter().try_for_each(|Output { what, path }| {
        let (writes, own): (_, &[&str]) = match *what {
            "--json" | "--fio-json" => ("JSON", &["json", "txt"]),
            "--latex" => ("a table for LaTeX", &["tex", "txt"]),
            "--perfetto" => ("a binary trace for Perfetto", &["perfetto-trace"]),
            _ => return Ok(()),
        };
        if other_ending(path, own).is_none() {
            return Ok(());
        }
        let message = format!("{what} {}: it writes {writes}, but the name has another ending", path.display());
        Err(Failure::input(message).with_help(format!("name it {}", path.with_extension(own[0]).display())))
    })
}
