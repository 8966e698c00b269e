//! The sources of a crate, as tests of their structure read them: without comments, and without what is compiled for
//! tests only. Tests of other crates include this file by its path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A line of code that is not for tests only: file, number, text.
pub struct Line {
    /// Below `src`, with `/`.
    pub file: String,
    pub number: usize,
    pub text: String,
}

/// The files with Rust below a folder, in the order of their names.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Every line of a crate's `src` without comments and without what is compiled for tests only.
pub fn lines(src: &Path) -> Vec<Line> {
    let (mut lines, mut for_tests) = (Vec::new(), BTreeSet::new());
    for path in files_below(src) {
        let file = path.strip_prefix(src).expect("it is below").to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(path).expect("it can be read");
        let mut numbered = text.lines().enumerate();
        while let Some((at, line)) = numbered.next() {
            let bare = line.trim_start();
            if bare == "#[cfg(test)]" {
                let indent = &line[..line.len() - bare.len()];
                // Another attribute may stand between the two.
                let mut item = numbered.next().map_or("", |(_, item)| item.trim());
                while item.starts_with("#[") {
                    item = numbered.next().map_or("", |(_, item)| item.trim());
                }
                if let Some((_, module)) = item.strip_suffix(';').and_then(|item| item.split_once("mod ")) {
                    let folder = file.strip_suffix("/mod.rs").unwrap_or(&file[..file.len() - ".rs".len()]);
                    for_tests.insert(format!("{folder}/{module}.rs"));
                } else if item.ends_with('{') {
                    numbered.by_ref().find(|(_, line)| *line == format!("{indent}}}"));
                }
            } else if !bare.starts_with("//") {
                lines.push(Line { file: file.clone(), number: at + 1, text: line.to_owned() });
            }
        }
    }
    let is_for_tests = |file: &str| {
        let is_below = |module: &String| file.starts_with(&format!("{}/", module.trim_end_matches(".rs")));
        for_tests.contains(file) || for_tests.iter().any(is_below)
    };
    lines.retain(|line| !is_for_tests(&line.file) && !line.file.ends_with("/tests.rs"));
    assert!(lines.len() > 2_000, "only {} lines of code were found below {}", lines.len(), src.display());
    lines
}
