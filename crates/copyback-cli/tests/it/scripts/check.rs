//! What `make check` runs.

use super::Workspace;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

const ENGINE: &str = "cargo test --locked --quiet --package copyback --lib";
const CLIPPY: &str = "cargo clippy --workspace";

#[test]
fn changed_and_untracked_files_are_tested() {
    let own = Workspace::committed();
    own.file("crates/copyback/src/lib.rs", "// changed\n");
    let text = own.done("check", &[]);
    assert!(text.contains(ENGINE) && text.contains(CLIPPY) && !text.contains("copyback-cli"), "{text}");
    own.commit();
    // Nothing has changed since: the last commit is tested.
    assert!(own.done("check", &[]).contains(ENGINE));
    own.file("schemes/ein Gerät \"x\".toml", "");
    let text = own.done("check", &[]);
    assert!(text.contains(ENGINE) && text.contains("scheme_pages::"), "{text}");
}

#[test]
fn a_branch_is_compared_with_the_commit_where_it_began() {
    let own = Workspace::committed();
    own.git(&["checkout", "--quiet", "-b", "mine"]);
    own.file("crates/copyback-cli/src/lib.rs", "// changed\n");
    own.commit();
    own.git(&["checkout", "--quiet", "main"]);
    own.file("crates/copyback/src/lib.rs", "// changed on main\n");
    own.commit();
    own.git(&["checkout", "--quiet", "--detach", "mine"]);
    let text = own.done("check", &["main"]);
    assert!(text.contains("--package copyback-cli --lib") && !text.contains(ENGINE), "{text}");
}

/// A shallow clone has one commit.
#[test]
fn everything_is_linted_if_no_change_is_known() {
    let text = Workspace::committed().done("check", &[]);
    assert!(text.contains("no quick test reads what changed") && text.contains(CLIPPY), "{text}");
}

#[test]
fn a_folder_without_git_and_an_unknown_base_are_refused() {
    let own = Workspace::committed();
    own.refused("check", &["no-such-branch"], "BASE=no-such-branch: no such commit here");
    own.refused("check", &["--help"], "BASE=--help: no such commit here");
    own.refused("check", &["main", "other"], "BASE=main other: give one commit");
    Workspace::new().refused("check", &[], "without git: make test");
}

#[test]
fn a_failed_test_fails_it() {
    let own = Workspace::committed();
    own.command("commands/cargo", "#!/bin/sh\n[ \"$1\" != test ]\n");
    own.file("crates/copyback/src/lib.rs", "// changed\n");
    assert_eq!(own.run("check", &[]).status.code(), Some(1));
}

/// Tests that run in the background end with it.
#[test]
fn a_killed_check_leaves_no_test_behind() {
    let own = Workspace::committed();
    own.command("commands/cargo", "#!/bin/sh\n[ \"$1\" != test ] || { echo $$ >target-process; exec sleep 60; }\n");
    own.file("crates/copyback/src/lib.rs", "// changed\n");
    let mut command = own.prepared("scripts/check");
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let process = || std::fs::read_to_string(own.path().join("target-process")).unwrap_or_default();
    wait_for("the test starts", &|| process().ends_with('\n'));
    let test: i32 = process().trim().parse().expect("a process number");
    let script = i32::try_from(child.id()).expect("process numbers are small");
    // SAFETY: sends a signal to the process above, which has not been waited for.
    assert_eq!(unsafe { libc::kill(script, libc::SIGTERM) }, 0);
    assert_eq!(child.wait().expect("it ends").signal(), Some(libc::SIGTERM));
    // SAFETY: signal 0 sends nothing; it asks whether the process exists.
    wait_for("the test ends", &|| unsafe { libc::kill(test, 0) } != 0);
}
