//! Does each room use only rooms that stand before it, and does the engine know no scheme by its name? Are files, and
//! lines of comments, short enough to be read?
//!
//! The order of the rooms is written down here and nowhere else. Code that is compiled for tests only may use anything.

use copyback::config::presets::SCHEMES;
use copyback::run::config::AXES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders of `src`; what each holds stands in docs/architecture.md.
const ROOMS: &[&str] = &[
    "sim",
    "config",
    "flash",
    "redundancy",
    "ftl",
    "observe",
    "tasks",
    "dispatch",
    "buffer",
    "host",
    "ssd",
    "array",
    "run",
    "scene",
];

/// Uses of a later room that are still there: which room, which later one, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// The only file that may name schemes.
const PRESETS: &str = "config/presets.rs";

/// A line of code that runs are made of: file, number, text.
struct Line {
    file: String,
    number: usize,
    text: String,
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The files of the sources below this folder of the crate.
fn sources(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    files.sort();
    files
}

/// Every line of `src` without comments and without what is compiled for tests only.
fn lines() -> Vec<Line> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources("src");
    let (mut lines, mut for_tests) = (Vec::new(), BTreeSet::new());
    for path in &files {
        let file = path.strip_prefix(&src).expect("it is below").to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(path).expect("it can be read");
        let mut numbered = text.lines().enumerate();
        while let Some((at, line)) = numbered.next() {
            let bare = line.trim_start();
            if bare == "#[cfg(test)]" {
                let indent = &line[..line.len() - bare.len()];
                let item = numbered.next().map_or("", |(_, item)| item.trim());
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
    lines.retain(|line| !for_tests.contains(&line.file) && !line.file.ends_with("/tests.rs"));
    assert!(lines.len() > 5_000, "only {} lines of code were found", lines.len());
    lines
}

fn word_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names that a line takes from the root of the crate: behind `crate::`, and behind as many `super::` as lead
/// there.
fn taken_from_root(line: &Line) -> Vec<String> {
    let depth = line.file.matches('/').count() + usize::from(!line.file.ends_with("/mod.rs"));
    let mut names = Vec::new();
    for root in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in line.text.match_indices(&root) {
            let rest = &line.text[at + root.len()..];
            match rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
                Some((list, _)) => names.extend(list.split(',').map(|name| word_at(name.trim()).to_owned())),
                None => names.push(word_at(rest).to_owned()),
            }
        }
    }
    names
}

fn place_of(room: &str) -> Option<usize> {
    ROOMS.iter().position(|known| *known == room)
}

#[test]
fn a_room_uses_only_rooms_before_it() {
    let (mut wrong, mut excepted) = (Vec::new(), BTreeSet::new());
    for line in lines() {
        let Some((room, _)) = line.file.split_once('/') else { continue };
        let own = place_of(room).unwrap_or_else(|| panic!("src/{room} stands in no order: enter it in ROOMS"));
        for other in taken_from_root(&line) {
            if place_of(&other).is_none_or(|other| other <= own) {
                continue;
            }
            match EXCEPTIONS.iter().find(|(from, to, _)| (*from, *to) == (room, other.as_str())) {
                Some(exception) => _ = excepted.insert(exception),
                None => wrong.push(format!(
                    "src/{}:{}: `{room}` may not use `{other}`: {}",
                    line.file,
                    line.number,
                    line.text.trim()
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused: Vec<_> = EXCEPTIONS.iter().filter(|exception| !excepted.contains(exception)).collect();
    assert!(unused.is_empty(), "these exceptions are needed no more: {unused:?}");
}

/// Files that runs are made of have at most 500 lines, comments and all: a longer one has a second subject.
#[test]
fn no_file_is_too_long() {
    let engine: BTreeSet<String> = lines().into_iter().map(|line| line.file).collect();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in &engine {
        let text = std::fs::read_to_string(src.join(file)).expect("it can be read");
        assert!(text.lines().count() <= 500, "src/{file} has {} lines: split it", text.lines().count());
    }
}

/// The formatter keeps code within 120 columns, and leaves comments alone.
#[test]
fn no_line_of_a_comment_is_too_long() {
    for path in ["src", "tests", "../copyback-cli", "../copyback-workload", "../copyback-theory"].map(sources).concat()
    {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        for (at, line) in text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//")) {
            let columns = line.chars().count();
            assert!(columns <= 120 || line.contains("http"), "{}:{} has {columns} columns", path.display(), at + 1);
        }
    }
}

#[test]
fn every_room_is_a_folder() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for room in ROOMS {
        assert!(src.join(room).join("mod.rs").is_file(), "src/{room} is no folder");
    }
}

/// Schemes that are called like the one policy that makes them stand in the registries.
#[test]
fn no_scheme_is_named_outside_the_presets() {
    let is_policy = |name: &str| AXES.iter().any(|axis| axis.choices.iter().any(|choice| choice.name == name));
    let names: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.name).filter(|name| !is_policy(name)).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut wrong = Vec::new();
    for line in lines().iter().filter(|line| line.file != PRESETS) {
        // What stands between quotation marks; marks inside a text end none.
        for text in line.text.replace("\\\"", "'").split('"').skip(1).step_by(2) {
            if let Some(name) = text.split(|c| !is_part(c)).find(|word| names.contains(word)) {
                wrong.push(format!("src/{}:{}: names the scheme `{name}`", line.file, line.number));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
