//! What `make mutants`, `make dist`, `make test` and `python/check` refuse, and what they leave behind.

use super::{Workspace, root};
use crate::common::{code, error_text, output_text};

#[test]
fn mutants_refuse_paths_that_have_none() {
    let own = Workspace::committed();
    own.command("commands/cargo-mutants", "#!/bin/sh\n");
    own.command(
        "commands/cargo",
        "#!/bin/sh\n[ \"$*\" = 'mutants --list --package copyback --file crates/copyback/src/lib.rs' ]\n",
    );
    let engine = "crates/copyback/src/lib.rs";
    own.refused("mutants", &["", "600"], "usage: make mutants PATHS=");
    own.refused("mutants", &["crates/copyback/src/none.rs", "600"], "no file or folder below crates/NAME/src");
    own.refused("mutants", &["crates/copyback/src/../Cargo.toml", "600"], "no file or folder below crates/NAME/src");
    own.refused("mutants", &[&format!("{engine} crates/copyback-cli/src"), "600"], "one crate at a time");
    own.refused("mutants", &[engine, "abc"], "SECONDS=abc: give a whole number above 0");
    own.refused("mutants", &[engine, "600"], "crates/copyback/src/lib.rs: nothing there can be mutated");
    let without_git = Workspace::new();
    without_git.command("commands/cargo-mutants", "#!/bin/sh\n");
    without_git.refused("mutants", &[engine, "600"], "it needs a git clone");
}

/// Both are looked for first: the program takes minutes to compile.
#[test]
fn dist_needs_an_interpreter_and_llvm_tools_before_it_compiles() {
    let own = Workspace::new();
    own.command("commands/rustc", RUSTC);
    own.command("commands/rustup", "#!/bin/sh\nexit 1\n");
    own.file("dist/copyback-1.2.2-here.tar.gz", "of an earlier release");
    own.command("commands/python3", "#!/bin/sh\nexit 1\n");
    own.refused("dist", &[], "PYTHON=python3: the wheel needs CPython with venv");
    own.command("commands/python3", PYTHON);
    own.refused("dist", &[], "a release needs llvm-tools of rustup");
    // The environment can be made, and cargo fails.
    own.command("llvm/lib/rustlib/here/bin/llvm-profdata", "#!/bin/sh\n");
    own.command("commands/cargo", "#!/bin/sh\necho \"cargo $*\"\nexit 101\n");
    let output = own.run("dist", &[]);
    assert!(code(&output) == 101 && output_text(&output).contains("--features full --target here"), "{output:?}");
    let left: Vec<_> = std::fs::read_dir(own.path().join("dist")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["copyback-1.2.2-here.tar.gz"], "what an earlier run made stays, and nothing is added");
}

/// Makes "environments" whose interpreter is itself.
const PYTHON: &str = "#!/bin/sh
for folder; do :; done
[ \"$2\" != venv ] || { mkdir -p \"$folder/bin\" && cp \"$0\" \"$folder/bin/python\"; }
";

#[test]
fn dist_replaces_an_earlier_release_by_a_whole_one() {
    let own = Workspace::new();
    own.command("commands/rustc", RUSTC);
    own.command("scripts/profile-runs", "#!/bin/sh\necho \"profiled by $1\"\n");
    own.command("llvm/lib/rustlib/here/bin/llvm-profdata", "#!/bin/sh\necho \"profdata $1\"\n");
    own.command("commands/python3", PYTHON);
    own.command("commands/cargo", CARGO);
    own.command("commands/maturin", "#!/bin/sh\nfor folder; do :; done\necho x >\"$folder/copyback-1.2.3-abi3.whl\"\n");
    own.file("dist/copyback-1.2.2-here.tar.gz", "of an earlier release");
    own.file("dist/mine", "");
    for name in ["LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff"] {
        own.file(name, "");
    }
    let output =
        own.prepared("scripts/dist").env("CARGO_TARGET_DIR", own.path().join("another target")).output().unwrap();
    assert_eq!(code(&output), 0, "{output:?}");
    let entries = std::fs::read_dir(own.path().join("dist")).unwrap();
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    assert_eq!(found, ["SHA256SUMS", "copyback-1.2.3-abi3.whl", "copyback-1.2.3-here.tar.gz", "mine"]);
    let text = output_text(&output);
    let instrumented = text.find("cargo -Cprofile-generate=").expect("an instrumented program is built");
    let profiled = text.find("another target/profiled/here/release/copyback").expect("it runs");
    let merged = text.find("profdata merge").expect("its profiles are merged");
    let built = text.find("cargo -Cprofile-use=").expect("the released program is built with the profile");
    assert!(instrumented < profiled && profiled < merged && merged < built, "{text}");
}

/// A program for another machine does not run here.
#[test]
fn dist_for_another_target_uses_no_profile() {
    let own = Workspace::new();
    own.command("commands/rustc", RUSTC);
    own.command("commands/python3", PYTHON);
    own.command("commands/cargo", CARGO);
    own.command(
        "commands/maturin",
        "#!/bin/sh\nfor folder; do :; done\necho \"$RUSTFLAGS\" >\"$folder/copyback-1.whl\"\n",
    );
    for name in ["LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff"] {
        own.file(name, "");
    }
    let output = own.prepared("scripts/dist").env("TARGET", "there").env("CARGO_TARGET_DIR", "built").output().unwrap();
    assert_eq!(code(&output), 0, "{output:?}");
    let text = output_text(&output);
    assert!(text.contains("cargo \n") && !text.contains("profile"), "no flags: {text}");
}

/// A compiler whose parts are in the folder `llvm`.
const RUSTC: &str = "#!/bin/sh
if [ \"$1\" = --print ]; then echo llvm; else echo host: here; fi
";

/// Prints its flags, and makes a program for each of two targets.
const CARGO: &str = "#!/bin/sh
echo \"cargo $RUSTFLAGS\"
for target in here there; do
    mkdir -p \"$CARGO_TARGET_DIR/$target/release\"
    echo x >\"$CARGO_TARGET_DIR/$target/release/copyback\"
done
";

#[test]
fn steps_stop_at_the_first_that_fails() {
    let own = Workspace::new();
    own.file("Makefile", "one:\n\t@echo first\ntwo:\n\t@false\nthree:\n\t@echo third\n");
    let output = own.prepared("scripts/steps").env("SECONDS", "600").args(["one", "two", "three"]).output().unwrap();
    let text = output_text(&output);
    assert!(code(&output) != 0 && text.contains("first") && !text.contains("third"), "{output:?}");
    assert!(text.contains(" s  one\n") && text.contains(" s  two (failed)\n"), "{text}");
    let (_, sum) = text.trim_end().rsplit_once('\n').expect("it prints a table");
    let seconds: u64 = sum.trim().strip_suffix(" s  in all").and_then(|number| number.parse().ok()).expect("a sum");
    assert!(seconds < 600, "SECONDS is an option of other targets, and no start: {text}");
}

/// The package's tests need an interpreter with venv. Without it they end before anything is compiled.
#[test]
fn the_packages_tests_name_a_missing_interpreter() {
    let own = Workspace::new();
    own.command("python/check", &std::fs::read_to_string(root().join("python/check")).unwrap());
    for minor in ["", ".11", ".12", ".13", ".14"] {
        own.command(&format!("commands/python3{minor}"), "#!/bin/sh\nexit 1\n");
    }
    let output = own.prepared("python/check").arg("interpreters").env("PYENV_ROOT", own.path()).output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(error_text(&output).contains("there is no CPython from 3.11 to 3.14 with venv here"), "{output:?}");
}
