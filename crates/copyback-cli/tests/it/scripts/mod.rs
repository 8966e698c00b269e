//! Do the scripts behind `make` select the right tests, and refuse what they cannot do?
//!
//! They run with a substitute for `cargo` that prints its arguments and compiles nothing.

mod affected;
mod check;
mod others;

use crate::common::{code, output_text};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// A small workspace in a folder of its own, whose name has a space.
struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    /// The scripts of this workspace, two empty crates, and substitutes for commands.
    fn new() -> Self {
        // Below `target`, as programs may be forbidden in the system's folder of temporary files.
        let folder = tempfile::Builder::new().prefix("a workspace ").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("a folder can be made");
        let own = Self { folder };
        for script in ["affected", "check", "dist", "mutants", "steps"] {
            own.command(
                &format!("scripts/{script}"),
                &std::fs::read_to_string(root().join("scripts").join(script)).unwrap(),
            );
        }
        for crate_name in ["copyback", "copyback-cli"] {
            own.file(&format!("crates/{crate_name}/Cargo.toml"), "");
            own.file(&format!("crates/{crate_name}/src/lib.rs"), "");
        }
        own.file("Cargo.toml", "version = \"1.2.3\"\n");
        own.file(".gitignore", "/commands\n/target\n/dist\n");
        own.command("commands/cargo", "#!/bin/sh\necho \"cargo $*\"\n");
        own
    }

    /// The same, as a clone of git with one commit.
    fn committed() -> Self {
        let own = Self::new();
        own.git(&["init", "--quiet", "--initial-branch=main"]);
        own.commit();
        own
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// An executable file.
    fn command(&self, name: &str, text: &str) {
        self.file(name, text);
        std::fs::set_permissions(self.path().join(name), PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// A command that finds the substitutes first, and no settings of the user.
    fn prepared(&self, program: &str) -> Command {
        let mut path = std::ffi::OsString::from(self.path().join("commands"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(program);
        command.current_dir(self.path()).env("PATH", path).env("LC_ALL", "C");
        // The folder around it is itself in a clone.
        command.env("GIT_CEILING_DIRECTORIES", self.path().parent().expect("it is in a folder"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "CARGO_TARGET_DIR",
            "TARGET",
            "PYTHON",
            "SECONDS",
            "RUSTFLAGS",
        ] {
            command.env_remove(name);
        }
        command
    }

    fn git(&self, arguments: &[&str]) {
        let user = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
        let output = self.prepared("git").args(user).args(arguments).output().expect("git starts");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "c"]);
    }

    fn run(&self, script: &str, arguments: &[&str]) -> Output {
        self.prepared(&format!("scripts/{script}")).args(arguments).output().expect("the script starts")
    }

    /// What a script prints that must succeed.
    fn done(&self, script: &str, arguments: &[&str]) -> String {
        let output = self.run(script, arguments);
        assert_eq!(code(&output), 0, "{script} {arguments:?}: {output:?}");
        output_text(&output)
    }

    /// A script that must end with code 2, with this text in its message, and before it calls cargo.
    fn refused(&self, script: &str, arguments: &[&str], message: &str) {
        let output = self.run(script, arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code(&output) == 2 && error.contains(message), "{script} {arguments:?}: {output:?}");
        assert!(!output_text(&output).contains("cargo"), "{script} {arguments:?}: {output:?}");
    }
}
