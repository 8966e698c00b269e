//! The program harms nothing: outputs that are not regular files, inputs that an output would overwrite, journals and
//! folders of the user, inputs without end, and interruptions at any moment.

mod inputs;
mod interruptions;
mod journals;
mod limits;
mod out_dirs;
mod outputs;

use crate::common::{code, copyback, error_text, output_text};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Events that tests wait for come within this time, or never.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder in which the program is run, and what is done there.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder can be made") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and returns its path.
    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), text).expect("the file can be written");
        self.path(name)
    }

    fn link(&self, name: &str, to: impl AsRef<Path>) -> PathBuf {
        std::os::unix::fs::symlink(to, self.path(name)).expect("the link can be made");
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names in it, sorted.
    fn names(&self) -> Vec<String> {
        names_in(self.folder.path())
    }

    /// A named pipe.
    fn pipe(&self, name: &str) -> PathBuf {
        let made = Command::new("mkfifo").arg(self.path(name)).status().expect("mkfifo is there");
        assert!(made.success());
        self.path(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_copyback"));
        command.args(arguments).current_dir(self.folder.path()).env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        ended(&mut self.command(arguments))
    }

    /// Runs what must end well.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
        output_text(&output)
    }

    /// Runs what must be refused, with all of these phrases.
    fn refused(&self, arguments: &[&str], says: &[&str]) {
        let output = self.run(arguments);
        let text = error_text(&output);
        assert_eq!(code(&output), 2, "{arguments:?}: {text}");
        for part in says {
            assert!(text.contains(part), "{arguments:?} does not say `{part}`: {text}");
        }
    }

    /// A shell's command in which `$copyback` is the program.
    fn shell(&self, script: &str) -> Output {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(self.folder.path()).env("NO_COLOR", "1");
        ended(shell.env("copyback", env!("CARGO_BIN_EXE_copyback")))
    }

    /// Starts the program and leaves it running.
    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }
}

/// Runs a command to its end, which must come: a pipe without a reader would block it.
fn ended(command: &mut Command) -> Output {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let (id, (sender, receiver)) = (child.id(), std::sync::mpsc::channel());
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let _ = Command::new("sh").args(["-c", &format!("kill -9 {id}")]).status();
        panic!("{command:?} does not end");
    });
    output.expect("it can be waited for")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Waits until a condition holds.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}: not in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A run that takes a fraction of a second, half of it for its start.
const RUN: [&str; 6] = ["run", "--quiet", "--requests", "200", "--set", "precondition.mode=empty"];

fn with<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [first, more].concat()
}

/// A sweep of two cells.
const SWEEP: &str = "requests = 200\nset.precondition.mode = \"empty\"\nseeds = [1, 2]\nschemes = [\"baseline\"]\n";

/// A sweep with a claim.
const CLAIMS: &str = "requests = 200\nset.precondition.mode = \"empty\"\n\
                      schemes = [\"baseline\", \"ideal-no-gc\"]\n[[claim]]\nfigure = \"1\"\n\
                      text = \"faster\"\nwhere = \"here\"\nmetric = \"response.all.mean_ns\"\n\
                      scheme = \"ideal-no-gc\"\nagainst = \"baseline\"\npublished = -50\n";

/// A gate that takes a moment.
const VALIDATE: [&str; 5] = ["validate", "--quick", "--quiet", "--only", "small, 2 planes, read"];

#[test]
fn the_program_is_there() {
    assert_eq!(code(&copyback(&["--version"])), 0);
}
