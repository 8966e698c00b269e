//! Which tests `scripts/affected` selects.

use super::root;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

/// The lines that it prints for these files.
fn affected<'a>(files: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut child = Command::new(root().join("scripts/affected"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the script starts");
    let mut input = child.stdin.take().expect("its input is a pipe");
    for file in files {
        writeln!(input, "{file}").expect("it reads all files");
    }
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it prints text").lines().map(str::to_owned).collect()
}

/// The files of the workspace; none in a copy without git.
fn files() -> Vec<String> {
    let output = Command::new("git").arg("ls-files").current_dir(root()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Files that no quick test reads. The tests of the Python package are `make python`.
const UNTESTED: &[&str] = &[
    ".ci/run",
    ".github/",
    ".gitignore",
    "CITATION.cff",
    "LICENSE",
    "crates/copyback-python/",
    "docs/notebooks/",
    "docs/tc12-",
    "pyproject.toml",
    "python/",
    "rustfmt.toml",
];

#[test]
fn every_file_selects_a_test_or_is_known_to_have_none() {
    // One file of each kind in a folder.
    let mut kinds = BTreeMap::new();
    for file in files() {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", &file));
        let has_own_rule = folder.is_empty() || folder == "docs";
        let kind = if has_own_rule { name } else { name.rsplit_once('.').map_or("", |(_, ending)| ending) };
        kinds.entry((folder.to_owned(), kind.to_owned())).or_insert(file);
    }
    for file in kinds.values() {
        let is_known = UNTESTED.iter().any(|start| file.starts_with(start));
        assert!(is_known || !affected([file.as_str()]).is_empty(), "{file} selects no test");
    }
}

#[test]
fn every_selected_test_exists() {
    let files = files();
    let modules: BTreeSet<&str> = files.iter().flat_map(|file| file.split(['/', '.'])).collect();
    for line in affected(files.iter().map(String::as_str)) {
        let words: Vec<&str> = line.split(' ').collect();
        let (folder, target) = match words[1] {
            "copyback-it" => ("crates/copyback/tests/it".to_owned(), "main.rs".to_owned()),
            name => (format!("crates/{name}"), words.get(3).map_or(String::new(), |target| format!("tests/{target}"))),
        };
        let target = root().join(&folder).join(&target);
        assert!(root().join(&folder).join("Cargo.toml").is_file(), "{line}: no package");
        assert!(target.exists() || target.with_extension("rs").exists(), "{line}: no target");
        if let Some(module) = words.get(5) {
            assert!(modules.contains(module.trim_end_matches("::")), "{line}: no module");
        }
    }
}

#[test]
fn a_file_selects_the_tests_that_read_it() {
    let unit = |name: &str| format!("--package {name} --lib");
    let program = |module: &str| format!("--package copyback-cli --test it -- {module}::");
    let all = |name: &str, target: &str| format!("--package {name} --test {target}");
    for (file, expected) in [
        ("crates/copyback/src/ftl/victim/mod.rs", vec![unit("copyback")]),
        ("crates/copyback-cli/src/table.rs", vec![unit("copyback-cli")]),
        ("crates/copyback-cli/src/args/run.rs", vec![unit("copyback-cli"), program("python_functions")]),
        ("crates/copyback-cli/tests/it/harm/limits.rs", vec![program("harm")]),
        ("crates/copyback-workload/tests/it/common.rs", vec![all("copyback-workload", "it")]),
        ("crates/copyback-workload/tests/temporary.rs", vec![all("copyback-workload", "temporary")]),
        ("crates/copyback/tests/it/Cargo.toml", vec![all("copyback-it", "it")]),
        ("crates/copyback/tests/it/timing.rs", vec!["--package copyback-it --test it -- timing::".to_owned()]),
        ("crates/copyback/tests/swarm/kept/a.toml", vec![all("copyback", "swarm")]),
        ("schemes/pgc.toml", vec![unit("copyback"), program("scheme_pages")]),
        ("schemes/with a space.toml", vec![unit("copyback"), program("scheme_pages")]),
        ("experiments/tc12/fig1.toml", vec![unit("copyback-lab"), unit("copyback-report"), unit("copyback-cli")]),
        ("docs/schemes/pgc.svg", vec![program("scheme_pages")]),
        ("docs/keys.md", vec![program("key_reference"), program("documentation")]),
        ("docs/reproduction/data/tc12-worlds.json", vec![unit("copyback-report"), unit("copyback-cli")]),
        ("fuzz/src/readers.rs", vec![program("fuzz_corpus")]),
        ("scripts/check", vec![program("scripts")]),
        ("crates/removed/src/lib.rs", vec![]),
        ("crates/copyback-python/src/lib.rs", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(affected([file]), expected, "{file}");
    }
    assert_eq!(affected(["devices/small.toml", "devices/hpdc18.toml"]), [unit("copyback")], "each test once");
    assert_eq!(affected(["Cargo.lock"]).len(), 6, "the unit tests of all crates but the bindings");
}
