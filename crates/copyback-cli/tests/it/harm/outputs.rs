//! Outputs that are not regular files are written into; links stay, and their targets are replaced as a whole.

use super::*;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

/// Every command that writes; `OUT` represents its output's name.
fn writers() -> Vec<Vec<&'static str>> {
    vec![
        with(&RUN, &["--json", "OUT"]),
        [&["compare", "--schemes", "baseline,ideal-no-gc"], &RUN[1..], &["--json", "OUT"]].concat(),
        vec!["sweep", "sweep.toml", "--quiet", "--out", "OUT"],
        vec!["reproduce", "./claims.toml", "--quiet", "--json", "OUT"],
        with(&VALIDATE, &["--json", "OUT"]),
        vec!["trace", "convert", "oltp", "OUT", "--to", "msr", "--requests", "50"],
        vec!["trace", "convert", "oltp", "OUT", "--to", "parquet", "--requests", "50"],
    ]
}

/// A file of another format, such as a trace, is not replaced by a document.
#[test]
fn endings_of_other_formats_are_refused() {
    let place = place();
    for ending in ["csv", "parquet", "html", "TOML", "tex"] {
        let name = format!("kept.{ending}");
        place.file(&name, "a trace\n");
        for writer in writers().iter().filter(|writer| writer.contains(&"--json")) {
            place.refused(
                &onto(writer, &name),
                &["--json", "it writes JSON, but the name has another ending", "kept.json"],
            );
        }
        let of_fio = ["run", "--fio-args", "--name=a --size=64k", "--fio-json", &name];
        place.refused(&of_fio, &["--fio-json", "it writes JSON"]);
        place.refused(&with(&RUN, &["--perfetto", &name]), &["--perfetto", "name it kept.perfetto-trace"]);
        assert_eq!(place.read(&name), "a trace\n", "{name}");
    }
    place.refused(
        &with(&RUN, &["--latex", "t.json"]),
        &["--latex t.json: it writes a table for LaTeX", "name it t.tex"],
    );
    place.refused(&["sweep", "sweep.toml", "--quiet", "--latex", "t.csv"], &["it writes a table for LaTeX"]);
    // Perfetto reads JSON, too, but this is its binary format.
    place.refused(&with(&RUN, &["--perfetto", "t.json"]), &["it writes a binary trace for Perfetto"]);
    for name in ["t.perfetto-trace", "t.pftrace", "t.pb", "t"] {
        place.done(&with(&RUN, &["--perfetto", name]));
    }
    for (name, to) in
        [("t.xlsx", "spc"), ("t.json", "csv"), ("t.spc.gz", "spc"), ("t.csv", "spc"), ("t.txt", "parquet")]
    {
        place.refused(
            &["trace", "convert", "oltp", name, "--to", to, "--requests", "50"],
            &["writes another format than"],
        );
    }
    for (name, to) in [("t.txt", "spc"), ("t.dat", "spc"), ("t.csv", "csv")] {
        place.done(&["trace", "convert", "oltp", name, "--to", to, "--requests", "50"]);
    }
}

fn place() -> Place {
    let place = Place::new();
    place.file("sweep.toml", SWEEP);
    place.file("claims.toml", CLAIMS);
    place
}

fn onto<'a>(writer: &[&'a str], output: &'a str) -> Vec<&'a str> {
    writer.iter().map(|word| if *word == "OUT" { output } else { word }).collect()
}

/// Parquet begins and ends with these letters; other outputs are texts.
fn is_whole(writer: &[&str], bytes: &[u8]) -> bool {
    match writer.iter().any(|word| ["sweep", "parquet"].contains(word)) {
        true => bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
        false if writer.contains(&"msr") => bytes.iter().filter(|byte| **byte == b'\n').count() == 50,
        false => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
    }
}

/// The test writes through a link: if the program replaced its output, the link would be lost, and not the machine's
/// null device.
#[test]
fn a_device_is_written_into() {
    let place = place();
    for writer in writers() {
        let link = place.link("null", "/dev/null");
        place.done(&onto(&writer, "null"));
        assert!(link.is_symlink(), "{writer:?}: the link was replaced");
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        std::fs::remove_file(link).unwrap();
    }
    place.link("die.svg", "/dev/null");
    place.done(&with(&RUN, &["--timeline", "die.svg"]));
    assert!(place.path("die.svg").is_symlink());
    // A device gets no journal, neither here nor in its own folder.
    assert!(!place.names().iter().any(|name| name == "null.journal"), "{:?}", place.names());
    assert!(!Path::new("/dev/null.journal").exists());
}

#[test]
fn a_pipe_is_written_into() {
    let place = place();
    let pipe = place.pipe("pipe");
    for writer in writers() {
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || std::fs::read(pipe).unwrap())
        };
        place.done(&onto(&writer, "pipe"));
        assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "{writer:?}: the pipe was replaced");
        assert!(is_whole(&writer, &reader.join().unwrap()), "{writer:?}");
    }
}

/// Through links, as above.
#[test]
fn standard_output_has_the_output_alone_under_each_of_its_names() {
    let place = place();
    place.link("stdout", "/dev/stdout");
    place.link("one", "/dev/fd/1");
    for writer in writers() {
        for name in ["-", "stdout", "one"] {
            let output = place.run(&onto(&writer, name));
            assert_eq!(code(&output), 0, "{writer:?}: {}", error_text(&output));
            assert!(is_whole(&writer, &output.stdout), "{writer:?} {name}: {}", output_text(&output));
            assert!(name == "-" || place.path(name).is_symlink(), "{writer:?}: the link was replaced");
        }
    }
    assert!(!place.names().iter().any(|name| name.contains(".journal")), "{:?}", place.names());
    place.link("die.svg", "/dev/stdout");
    let drawn = place.done(&with(&RUN, &["--timeline", "die.svg"]));
    assert!(drawn.starts_with("die "), "{drawn}");
}

/// The shell holds the file open: were it replaced, what the shell wrote and writes would be lost.
#[test]
fn what_the_shell_opened_is_written_behind_what_it_holds() {
    let place = Place::new();
    let run = format!("\"$copyback\" {}", RUN.join(" "));
    for (descriptor, redirection) in [("/dev/fd/3", "3>>log"), ("/dev/stdout", ">>log"), ("/dev/stderr", "2>>log")] {
        place.file("log", "before\n");
        place.link("link", descriptor);
        let output = place.shell(&format!("{run} --json link {redirection} && echo after >> log"));
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let log = place.read("log");
        let json = log.strip_prefix("before\n").and_then(|rest| rest.strip_suffix("after\n"));
        let json = json.unwrap_or_else(|| panic!("{descriptor}: {log}"));
        assert!(serde_json::from_str::<serde_json::Value>(json).is_ok(), "{descriptor}: {json}");
        std::fs::remove_file(place.path("link")).unwrap();
    }
    let closed = place.shell(&format!("{run} --json /dev/fd/7"));
    assert!(code(&closed) == 2 && error_text(&closed).contains("no descriptor 7 is open"), "{}", error_text(&closed));
    place.file("input", "mine");
    let read_only = place.shell(&format!("{run} --json /dev/fd/3 3<input"));
    assert!(
        code(&read_only) == 2 && error_text(&read_only).contains("not open for writing"),
        "{}",
        error_text(&read_only)
    );
    assert_eq!(place.read("input"), "mine");
}

#[test]
fn links_are_followed() {
    let place = place();
    std::fs::create_dir(place.path("below")).unwrap();
    for writer in writers() {
        place.file("below/target", "old");
        std::fs::set_permissions(place.path("below/target"), std::fs::Permissions::from_mode(0o600)).unwrap();
        for (link, to) in [("link", "below/target"), ("dangling", "below/new")] {
            place.link(link, to);
            place.done(&onto(&writer, link));
            assert!(place.path(link).is_symlink(), "{writer:?}: the link was replaced");
            assert!(is_whole(&writer, &place.bytes(to)), "{writer:?}: {to}");
            std::fs::remove_file(place.path(link)).unwrap();
        }
        let mode = std::fs::metadata(place.path("below/target")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{writer:?}: permissions are kept");
        std::fs::remove_file(place.path("below/new")).unwrap();
        let journals = place.names().into_iter().filter(|name| name.ends_with(".journal"));
        journals.for_each(|journal| std::fs::remove_file(place.path(&journal)).unwrap());
    }
}

#[test]
fn links_to_nowhere_are_refused_before_the_run() {
    let place = place();
    place.link("round", "other");
    place.link("other", "round");
    place.link("nowhere", "none/file");
    for writer in writers() {
        place.refused(&onto(&writer, "round"), &["round", "in a circle"]);
        place.refused(&onto(&writer, "nowhere"), &["there is no folder", "none"]);
        place.refused(&onto(&writer, "new/"), &["new/", "a name that ends with / is a folder's"]);
    }
    place.link("out", "none");
    place.refused(&with(&RUN, &["--out", "out"]), &["a link that leads to no folder"]);
}

/// A new file has the permissions that the umask leaves, and an existing file keeps its own.
#[test]
fn permissions_are_those_of_any_file() {
    let place = Place::new();
    let run = RUN.join(" ");
    let mode = |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    for (mask, expected) in [("077", 0o600), ("027", 0o640), ("022", 0o644)] {
        let output = place.shell(&format!("umask {mask}; \"$copyback\" {run} --json new.json"));
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        assert_eq!(mode("new.json"), expected, "umask {mask}");
        std::fs::remove_file(place.path("new.json")).unwrap();
    }
    place.file("old.json", "");
    std::fs::set_permissions(place.path("old.json"), std::fs::Permissions::from_mode(0o660)).unwrap();
    place.done(&with(&RUN, &["--json", "old.json"]));
    assert_eq!(mode("old.json"), 0o660);
}

/// Help that cannot be printed is no success.
#[test]
fn help_for_a_full_disk_fails() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_copyback"));
        let status = command.args(arguments).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
    }
}

/// Through a link, as above.
#[test]
fn a_full_disk_is_told() {
    let place = place();
    place.link("full", "/dev/full");
    for writer in writers() {
        let output = place.run(&onto(&writer, "full"));
        assert_eq!(code(&output), 1, "{writer:?}: {}", error_text(&output));
        assert!(
            error_text(&output).contains("full: ") && error_text(&output).contains("No space left"),
            "{}",
            error_text(&output)
        );
        assert!(error_text(&output).contains("free space there"), "{writer:?}: no remedy: {}", error_text(&output));
    }
}

/// A limit on the size of files (`ulimit -f`, here 512 or 1024 bytes) is no reason to die without a word.
#[test]
fn a_file_that_may_not_grow_is_told() {
    let place = Place::new();
    place.file("sweep.toml", format!("workload = \"random-write\"\n{SWEEP}"));
    let run = "run --workload random-write --quiet --requests 200";
    let lines: String = (0..200).map(|at| format!("{at},a,0,Write,{at}0000,4096,1\n")).collect();
    place.file("requests.csv", lines);
    for (command, name) in [
        (format!("{run} --json out.json"), "out.json"),
        (format!("{run} --out out"), "out/"),
        ("sweep sweep.toml --quiet".to_owned(), "sweep.journal"),
        ("trace convert requests.csv converted.csv".to_owned(), "converted.csv"),
        ("trace convert requests.csv converted.parquet".to_owned(), "converted.parquet"),
        ("run --quiet --requests 50".to_owned(), "unpack the trace `oltp` in"),
    ] {
        let before = place.names();
        let output = place.shell(&format!("ulimit -f 1; exec \"$copyback\" {command}"));
        let text = error_text(&output);
        assert_eq!(output.status.code(), Some(1), "{command}: {text}");
        for part in [name, "oo large", "raise the limit on the size of files (ulimit -f)"] {
            assert!(text.contains(part), "{command} does not say `{part}`: {text}");
        }
        let (kept, names) = (["out", "sweep.journal"], place.names());
        let left: Vec<&String> =
            names.iter().filter(|name| !before.contains(name) && !kept.contains(&name.as_str())).collect();
        assert!(left.is_empty(), "{command} leaves {left:?}");
    }
}

/// The built-in trace is unpacked first: if there is no space for that, the error names the place, and how to choose
/// another.
#[test]
fn no_place_for_temporary_files_is_told() {
    let place = place();
    let nowhere = place.path("nowhere");
    let output = ended(place.command(&["run", "--quiet", "--requests", "50"]).env("TMPDIR", &nowhere));
    let text = error_text(&output);
    assert_eq!(code(&output), 1, "{text}");
    for part in [
        "cannot unpack the trace `oltp` in",
        "nowhere: there is no such folder",
        "environment variable TMPDIR",
        "1 MiB",
    ] {
        assert!(text.contains(part), "it does not say `{part}`: {text}");
    }
}

/// A pipe without a reader is an error if the user named it, and none if it is standard output.
#[test]
fn a_pipe_whose_reader_goes_is_told_unless_it_is_standard_output() {
    let place = Place::new();
    let pipe = place.pipe("pipe");
    // More than a pipe holds.
    let convert = |output| ["trace", "convert", "oltp", output, "--to", "msr", "--requests", "20000"];
    let reader = std::thread::spawn(move || drop(std::fs::File::open(pipe)));
    let output = place.run(&convert("pipe"));
    reader.join().unwrap();
    assert!(code(&output) == 1 && error_text(&output).contains("Broken pipe"), "{}", error_text(&output));
    let mut child = place.command(&convert("-")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), error_text(&output).as_str()), (0, ""));
}

/// If the reader of standard output ends, no other output is lost.
#[test]
fn files_are_written_before_standard_output() {
    let place = Place::new();
    let arguments = with(&RUN, &["--json", "-", "--timeline", "die.svg"]);
    let mut child = place.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert!(place.read("die.svg").ends_with("</svg>\n"));
}

#[test]
fn strange_names_are_names() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.file("-x.toml", "");
    place.done(&with(&RUN, &["--json=-x.json", "--", "-x.toml"]));
    assert!(place.read("-x.json").starts_with('{'));
    let name = std::ffi::OsStr::from_bytes(b"\xff.json");
    let status = place.command(&RUN).arg("--json").arg(name).stdout(Stdio::null()).status().unwrap();
    assert!(status.success() && place.folder.path().join(name).is_file());
    let long = "n".repeat(300);
    place.refused(&with(&RUN, &["--json", &long]), &["cannot write", "File name too long"]);
    let scheme = place.file(&format!("{}.toml", "s".repeat(247)), "");
    let refused = place.run(&with(&RUN, &["--scheme", scheme.to_str().unwrap(), "--out", "out"]));
    assert!(
        code(&refused) == 2 && error_text(&refused).contains("cannot be part of a file's name"),
        "{}",
        error_text(&refused)
    );
}

/// Pages replace only pages that the program wrote.
#[test]
fn pages_go_over_pages_alone() {
    let place = Place::new();
    for name in ["README.md", "baseline.md", "baseline.svg"] {
        place.file(name, "mine");
        place.refused(&["schemes", "--pages", "."], &["would replace", name]);
        assert_eq!(place.names(), [name]);
        assert_eq!(place.read(name), "mine");
        std::fs::remove_file(place.path(name)).unwrap();
    }
    place.link("README.md", "/dev/null");
    place.done(&["schemes", "--pages", "."]);
    assert!(place.path("README.md").is_symlink());
    place.done(&["schemes", "--pages", "."]);
}

/// This holds for files beside an output, which the user did not name, and for pages: the program would wait for ever
/// if it opened a pipe there.
#[test]
fn pipes_beside_an_output_are_refused_before_the_run() {
    let place = place();
    for name in ["p.csv", "p-latencies.parquet"] {
        let pipe = place.pipe(name);
        place.refused(&["sweep", "sweep.toml", "--quiet", "--out", "p.parquet"], &[name, "is a pipe"]);
        std::fs::remove_file(pipe).unwrap();
    }
    std::fs::create_dir(place.path("pages")).unwrap();
    for name in ["pages/baseline.md", "pages/baseline.svg"] {
        let pipe = place.pipe(name);
        place.refused(&["schemes", "--pages", "pages"], &[name, "is a pipe"]);
        std::fs::remove_file(pipe).unwrap();
    }
}

/// Names of files beside the table, or in a new folder, are longer than the name that the user chose.
#[test]
fn names_that_become_too_long_are_refused_before_the_run() {
    let place = place();
    let of = |letters: usize, ending: &str| format!("{}{ending}", "n".repeat(letters));
    place.file(&of(240, ".toml"), SWEEP);
    place.file(&of(130, ".toml"), CLAIMS);
    let before = place.names();
    let says = ["cannot write", "-latencies.parquet", "name another file"];
    place.refused(&["sweep", &of(240, ".toml"), "--quiet"], &says);
    let (claims, says) = (format!("./{}", of(130, ".toml")), ["cannot write", ".parquet", "name another file"]);
    for out in [&[][..], &["--out", "."], &["--out", "a/b"]] {
        place.refused(&with(&["reproduce", &claims, "--quiet"], out), &says);
    }
    assert_eq!(place.names(), before);
}

/// A folder of outputs that is a file, or in a file.
#[test]
fn folders_that_cannot_be_made_are_refused_before_the_run() {
    let place = place();
    place.file("file", "mine");
    let commands: [&[&str]; 2] = [&["schemes", "--pages"], &["reproduce", "./claims.toml", "--quiet", "--out"]];
    for command in commands {
        place.refused(&with(command, &["file"]), &["file is a file, not a folder", "name a folder, or a new one"]);
        place.refused(&with(command, &["file/below"]), &["file is a file: file/below cannot be in it"]);
    }
    assert_eq!(place.read("file"), "mine");
}
