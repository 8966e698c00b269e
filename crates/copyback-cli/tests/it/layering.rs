//! Are the libraries free of the command line, and does the program import in no circles?
//!
//! `copyback-lab` and `copyback-report` print nothing and know no arguments of a command line. In `copyback-cli/src` no
//! circle of imports is larger than a folder. Code that is compiled for tests only may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Modules of the libraries; each uses only those before it.
const ORDERS: &[(&str, &[&str])] = &[("copyback-lab", LAB), ("copyback-report", REPORT)];

const LAB: &[&str] = &[
    "format",
    "matched",
    "failure",
    "advice",
    "files",
    "outputs",
    "columns",
    "flat",
    "fio",
    "workloads",
    "policies",
    "plan",
    "requests",
    "preconditioned",
    "work_order",
    "memory",
    "progress",
    "execute",
    "overload",
    "steady",
    "small_writes",
    "notes",
    "results",
    "tables",
    "experiment",
    "sweep",
    "reproduce",
    "validate",
];

const REPORT: &[&str] =
    &["svg", "styles", "latex", "fio_json", "drawings", "scheme_pages", "reproduction", "result_page"];

/// What no file of a library has.
const FORBIDDEN: &[&str] = &["clap", "anstream", "indicatif", "copyback_cli", "args_os", "print!", "println!", "dbg!"];

#[allow(dead_code, reason = "each test file uses its own part")]
#[path = "../../../copyback/tests/it/support/sources.rs"]
mod sources;

/// The files of a crate's `src` by their modules, `plan::fit`, each with its code: no comments, and nothing that is
/// compiled for tests only.
fn modules(of_crate: &str) -> BTreeMap<String, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of_crate).join("src");
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    for line in sources::lines(&src) {
        let name = line.file.trim_end_matches(".rs").replace('/', "::");
        let name = name.strip_suffix("::mod").unwrap_or(&name);
        if name != "main" {
            let code = modules.entry(if name == "lib" { String::new() } else { name.to_owned() }).or_default();
            code.push_str(&line.text);
            code.push('\n');
        }
    }
    assert!(modules.len() > 20, "only {} files were found in {of_crate}", modules.len());
    modules
}

/// The paths of an import: `a::{b, c::{d}}` is `a::b` and `a::c::d`.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in inside.chars() {
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(letter == '{') - i32::from(letter == '}');
                parts.last_mut().expect("there is one").push(letter);
            }
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(paths).map(|part| format!("{}{part}", before.trim())).collect()
}

/// All paths that a file names: those of its imports, and those that begin with `crate::` or `super::` elsewhere.
fn named(code: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let begins_line = rest[..at].rsplit('\n').next().is_some_and(|before| matches!(before.trim(), "" | "pub"));
        let (tree, behind) = rest[at + 4..].split_once(';').unwrap_or_default();
        if begins_line {
            all.extend(paths(tree));
            rest = behind;
        } else {
            rest = &rest[at + 4..];
        }
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in code.split(|c| !is_part(c)) {
        if word.starts_with("crate::") || word.starts_with("super::") {
            all.push(word.trim_end_matches(':').to_owned());
        }
    }
    all
}

/// The modules that each module uses.
fn imports(modules: &BTreeMap<String, String>) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut graph = BTreeMap::new();
    for (name, code) in modules {
        let mut used = BTreeSet::new();
        for path in named(code) {
            let mut here: Vec<&str> = name.split("::").filter(|part| !part.is_empty()).collect();
            let mut parts = path.split("::").peekable();
            match parts.peek() {
                Some(&"crate") => here.clear(),
                Some(&"super") => {}
                _ => continue,
            }
            for part in parts {
                match part {
                    "crate" => {}
                    "super" => drop(here.pop()),
                    part => here.push(part.split_whitespace().next().unwrap_or_default()),
                }
            }
            while !here.is_empty() && !modules.contains_key(&here.join("::")) {
                here.pop();
            }
            if let Some((other, _)) = modules.get_key_value(&here.join("::"))
                && other != name
                && !other.is_empty()
            {
                used.insert(other.as_str());
            }
        }
        graph.insert(name.as_str(), used);
    }
    graph
}

/// All that a module uses, itself and through others.
fn reached<'a>(graph: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(name) = open.pop() {
        for other in &graph[name] {
            if seen.insert(*other) {
                open.push(other);
            }
        }
    }
    seen
}

/// The first part of a module's name: a file or a folder in `src`.
fn module(name: &str) -> &str {
    name.split("::").next().unwrap_or(name)
}

/// Files and folders of `src` whose modules import each other in a cycle.
fn circles(graph: &BTreeMap<&str, BTreeSet<&str>>) -> BTreeSet<String> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|name| (*name, reached(graph, name))).collect();
    let mut found = BTreeSet::new();
    for name in graph.keys() {
        let members = reached[name].iter().filter(|other| reached[*other].contains(name));
        let modules: BTreeSet<&str> = members.map(|other| module(other)).collect();
        if modules.len() > 1 {
            found.insert(modules.into_iter().collect::<Vec<_>>().join(", "));
        }
    }
    found
}

#[test]
fn the_program_imports_in_no_circle_larger_than_a_folder() {
    let modules = modules("copyback-cli");
    let found = circles(&imports(&modules));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_circle_of_imports_is_found() {
    let files = [
        ("a", "use crate::b::C;"),
        ("b", "use crate::{d::E,\n    a as f};"),
        ("d", "use super::a;"),
        ("e", "use crate::a;"),
    ];
    let modules = files.map(|(name, code)| (name.to_owned(), code.to_owned())).into();
    assert_eq!(circles(&imports(&modules)).into_iter().collect::<Vec<_>>(), ["a, b, d"]);
}

#[test]
fn a_module_of_a_library_uses_only_modules_before_it() {
    for (library, order) in ORDERS {
        let place = |name: &str| {
            let at = order.iter().position(|known| *known == module(name));
            at.unwrap_or_else(|| panic!("{library}/src/{name} has no place in the order of modules: enter it above"))
        };
        for (name, used) in imports(&modules(library)).into_iter().filter(|(name, _)| !name.is_empty()) {
            for other in used {
                assert!(place(other) <= place(name), "{library}: `{name}` may not use `{other}`");
            }
        }
    }
}

#[test]
fn the_libraries_neither_print_nor_know_a_command_line() {
    for (library, _) in ORDERS {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(library).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).expect("it can be read");
        for name in ["clap", "anstream", "anstyle", "indicatif", "copyback-cli"] {
            assert!(!manifest.contains(name), "{library} depends on {name}");
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '!';
        for (name, code) in modules(library) {
            for word in code.split(|c| !is_part(c)) {
                assert!(!FORBIDDEN.contains(&word) && !word.ends_with("print!"), "{library}: `{name}` has {word}");
            }
        }
    }
}

/// The README's example in Rust is the one that the library's documentation executes.
#[test]
fn the_example_of_the_readme_is_that_of_the_documentation() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).expect("it can be read");
    let readme = read("README.md");
    let (_, example) = readme.split_once("```rust\n").expect("the README has an example in Rust");
    let (example, _) = example.split_once("```").expect("it ends");
    let library = read("crates/copyback-lab/src/lib.rs");
    let lines = library.lines().filter_map(|line| line.strip_prefix("//!"));
    let text: String = lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    let (_, documented) = text.split_once("```\n").expect("the documentation has an example");
    assert!(documented.starts_with(example), "README.md and crates/copyback-lab/src/lib.rs differ:\n{example}");
}
