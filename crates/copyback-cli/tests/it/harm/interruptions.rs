//! Ctrl-C anywhere leaves nothing temporary, and the program dies of it.

use super::*;
use std::os::unix::process::{CommandExt, ExitStatusExt};

/// A generator that would go on for hours.
const ENDLESS: &str =
    "[workload]\nrequests = 100000000000\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";

const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

/// Starts the program with signals as in a terminal: the process that runs the tests may ignore some.
fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).env("TMPDIR", place.path("tmp"));
    // SAFETY: between fork and exec, `signal` may be called, and nothing else is.
    unsafe {
        command.pre_exec(|| {
            for (_, number) in SIGNALS {
                libc::signal(number, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command.spawn().expect("the program starts")
}

/// Sends a signal, and returns the signal that ended the program.
fn died_of(mut child: Child, signal: &str) -> Option<i32> {
    let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
    assert!(sent.expect("a shell is there").success());
    child.wait().expect("it ends").signal()
}

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).unwrap();
    std::fs::create_dir(place.path("out")).unwrap();
    place
}

#[test]
fn a_file_that_is_being_written_goes() {
    let place = place();
    place.file("endless.toml", ENDLESS);
    for (signal, number) in SIGNALS {
        for (output, format) in [("out/trace.csv", "msr"), ("out/trace.parquet", "parquet")] {
            let child = start(&place, &["trace", "convert", "endless.toml", output, "--to", format]);
            wait_until("a temporary file", || !names_in(&place.path("out")).is_empty());
            assert_eq!(died_of(child, signal), Some(number), "{signal}");
            assert!(names_in(&place.path("out")).is_empty(), "{signal}: {:?}", names_in(&place.path("out")));
        }
    }
}

/// The shell reports 128 + 15 for SIGTERM. For SIGINT it would report 130, but background children ignore SIGINT.
#[test]
fn a_shell_sees_the_conventional_code() {
    let place = place();
    place.file("endless.toml", ENDLESS);
    let script = "\"$copyback\" trace convert endless.toml out/trace.csv & child=$!; \
                  while [ -z \"$(ls -A out)\" ]; do sleep 0.01; done; kill $child; wait $child; echo $?";
    let output = place.shell(script);
    assert_eq!(output_text(&output).trim(), "143", "{}", error_text(&output));
}

/// A trace that is read more than once is unpacked to a file. It has no name, so that it goes with the program, even if
/// that is killed.
#[cfg(target_os = "linux")]
#[test]
fn an_unpacked_trace_goes() {
    let place = place();
    let folder = Path::new(&place.path("tmp")).canonicalize().unwrap();
    for (signal, number) in SIGNALS.into_iter().chain([("KILL", 9)]) {
        let child = start(&place, &["run", "--quiet", "--set", "workload.loop=1000000"]);
        let open = format!("/proc/{}/fd", child.id());
        let targets = || std::fs::read_dir(&open).into_iter().flatten().flatten();
        let is_in = |entry: std::fs::DirEntry| std::fs::read_link(entry.path()).is_ok_and(|at| at.starts_with(&folder));
        wait_until("an unpacked trace", || targets().any(is_in));
        assert!(names_in(&place.path("tmp")).is_empty(), "{signal}: it has a name");
        assert_eq!(died_of(child, signal), Some(number), "{signal}");
        assert!(names_in(&place.path("tmp")).is_empty(), "{signal}: {:?}", names_in(&place.path("tmp")));
    }
}

/// Signals that `nohup` and background shells ignore stay ignored.
#[test]
fn an_ignored_signal_is_ignored() {
    let place = place();
    let script = "trap '' HUP INT; \"$copyback\" run --quiet --requests 100000 --json out/r.json & \
                  child=$!; kill -HUP $child; kill -INT $child; wait $child; echo $?";
    let output = place.shell(script);
    assert!(output_text(&output).ends_with("0\n"), "{}{}", output_text(&output), error_text(&output));
    assert_eq!(names_in(&place.path("out")), ["r.json"]);
}
