//! The documents show true outputs.
//!
//! Every fenced `console` block of `README.md` and `docs/*.md` is executed. Each document has a folder of its own, with
//! the files that it asks its reader to write: blocks with a title (```` ```toml title="my.toml" ````). A line that
//! begins with `$ ` is a command. The lines below it are its standard output, exactly; a line `...` represents any
//! number of lines. If a command is shown without output, only its exit code is checked. If a block's fence says
//! `exit=2`, its last command ends with that code, and the block shows standard error, too.
//!
//! `cargo run --release -- X` and `copyback X` both run the program that was built for this test. `make`, `cargo`,
//! `git` and `pip` are shown and not run: `make test` runs this test, and builds and tests the Python package.
//!
//! `UPDATE_DOCS=1` writes the program's output into the documents, if it differs. Outputs with `...` stay unchanged if
//! they still match.

use crate::common::default_comparison;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

const SHOWN_ONLY: &[&str] = &["make ", "cargo ", "git ", "pip "];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// `README.md` and the documents in `docs` and in `docs/reproduction`, by path.
fn documents() -> Vec<PathBuf> {
    let folder = root().join("docs");
    let below = folder.join("reproduction");
    let entries = |folder: &Path| std::fs::read_dir(folder).expect("there is a folder of documents");
    let entries = entries(&folder).chain(entries(&below)).map(|e| e.unwrap().path());
    let mut documents: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    documents.sort();
    documents.insert(0, root().join("README.md"));
    documents
}

/// A fenced block: the words of its fence, the number of its first line in the document, and its lines.
struct Block {
    fence: String,
    first_line: usize,
    lines: Vec<String>,
}

impl Block {
    fn is(&self, language: &str) -> bool {
        self.fence.split(' ').next() == Some(language)
    }

    /// The value of `key=` or `key="..."` in the fence.
    fn word(&self, key: &str) -> Option<&str> {
        let value = self.fence.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))?;
        Some(value.trim_matches('"'))
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(fence), None) => open = Some(Block { fence: fence.to_owned(), first_line: at + 1, lines: vec![] }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// A command and what is shown below it, as a range of the document's lines.
struct Shown {
    command: String,
    output: std::ops::Range<usize>,
    exit: i32,
}

fn shown(block: &Block) -> Vec<Shown> {
    let exit = block.word("exit").map_or(0, |code| code.parse().expect("an exit code is a number"));
    let starts: Vec<usize> = (0..block.lines.len()).filter(|&i| block.lines[i].starts_with("$ ")).collect();
    assert_eq!(starts.first(), Some(&0), "a console block begins with a command (line {})", block.first_line + 1);
    let ends = starts.iter().skip(1).copied().chain([block.lines.len()]);
    let command = |(&start, end): (&usize, usize)| Shown {
        command: block.lines[start][2..].to_owned(),
        output: block.first_line + start + 1..block.first_line + end,
        exit: if end == block.lines.len() { exit } else { 0 },
    };
    starts.iter().zip(ends).map(command).collect()
}

/// Runs a command by the shell, with the program under test first on its path. The default comparison is not run again:
/// all tests share its output, which does not depend on where results are written, as `program.rs` checks.
fn run(command: &str, folder: &Path) -> (i32, String, String) {
    if command == "copyback compare" {
        return (0, default_comparison().text.clone(), String::new());
    }
    let program = Path::new(env!("CARGO_BIN_EXE_copyback")).parent().expect("the program is in a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("there is a shell");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Whether lines match a pattern in which `...` represents any number of lines. Spaces at the ends of lines are
/// ignored, because editors remove them.
fn fits(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|skip| fits(rest, &lines[skip..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, left)| line.trim_end() == first.trim_end() && fits(rest, left))
        }
    }
}

/// Runs the commands of a document. Returns the corrected document, and each place at which it is wrong.
fn executed(document: &Path, text: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let blocks = blocks(text);
    for block in &blocks {
        if let Some(name) = block.word("title").filter(|name| !name.contains('/')) {
            std::fs::write(folder.path().join(name), block.text()).expect("a file can be written");
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    let (mut corrected, mut copied_to) = (String::new(), 0);
    let mut wrong = Vec::new();
    for shown in blocks.iter().filter(|block| block.is("console")).flat_map(shown) {
        let command = shown.command.replace("cargo run --release -- ", "copyback ");
        if SHOWN_ONLY.iter().any(|word| command.starts_with(word)) {
            continue;
        }
        let (code, mut printed, said) = run(&command, folder.path());
        if shown.exit != 0 {
            printed.push_str(&said);
        }
        let place = format!("{}:{}: $ {}", document.display(), shown.output.start, shown.command);
        if code != shown.exit {
            wrong.push(format!("{place}\nended with {code}, not {}:\n{printed}{said}", shown.exit));
            continue;
        }
        let pattern = &lines[shown.output.clone()];
        let actual: Vec<&str> = printed.trim_end().lines().collect();
        let until = pattern.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
        if until > 0 && !fits(&pattern[..until], &actual) {
            wrong.push(format!("{place}\nshows\n{}\nbut prints\n{}", pattern.join("\n"), actual.join("\n")));
            lines[copied_to..shown.output.start].iter().for_each(|line| corrected.push_str(&format!("{line}\n")));
            actual.iter().for_each(|line| corrected.push_str(&format!("{}\n", line.trim_end())));
            copied_to = shown.output.start + until;
        }
    }
    lines[copied_to..].iter().for_each(|line| corrected.push_str(&format!("{line}\n")));
    (corrected, wrong)
}

#[test]
fn commands_print_what_the_documents_show() {
    let documents = documents();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut commands, mut all_wrong) = (0, Vec::new());
        while let Some(document) = documents.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = std::fs::read_to_string(document).expect("a document is a text");
            commands += blocks(&text).iter().filter(|b| b.is("console")).map(|b| shown(b).len()).sum::<usize>();
            let name = document.strip_prefix(root()).unwrap_or(document);
            let (corrected, wrong) = executed(name, &text);
            if !wrong.is_empty() && std::env::var_os("UPDATE_DOCS").is_some() {
                std::fs::write(document, corrected).expect("a document can be written");
            }
            all_wrong.extend(wrong);
        }
        (commands, all_wrong)
    };
    // Documents in parallel: each has a folder of its own, and many of its commands use one core.
    let done: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    });
    let commands: usize = done.iter().map(|(commands, _)| commands).sum();
    let all_wrong: Vec<String> = done.into_iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(commands > 5, "only {commands} commands were found: were the fences renamed?");
    assert!(all_wrong.is_empty(), "{}\n(UPDATE_DOCS=1 writes what is printed)", all_wrong.join("\n\n"));
}

/// Blocks whose title is a path inside the project show that file, or lines to add to it.
#[test]
fn sources_are_what_the_documents_show() {
    let mut found = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document is a text");
        for block in blocks(&text) {
            let Some(path) = block.word("title").filter(|name| name.contains('/')) else { continue };
            found += 1;
            let place = format!("{}:{}", document.display(), block.first_line);
            // A file that the reader writes is kept where the tests compile it.
            let kept = block.word("kept").unwrap_or(path);
            let file = std::fs::read_to_string(root().join(kept)).unwrap_or_else(|e| panic!("{place}: {kept}: {e}"));
            if block.is("diff") {
                assert!(block.lines.iter().any(|line| line.starts_with('+')), "{place}: nothing is added");
                let here = block.lines.iter().filter_map(|line| line.strip_prefix([' ', '-']));
                let mut rest = file.lines();
                for line in here {
                    assert!(
                        rest.any(|l| l == line),
                        "{place}: {path} has no such line (any more), in this order: {line}"
                    );
                }
            } else {
                assert_eq!(block.text(), file, "{place}: {kept} is another text");
            }
        }
    }
    assert!(found > 1, "only {found} blocks with a path were found: were the fences renamed?");
}

/// All documents with links: those above, the pages below `docs`, and the documents beside the README.
fn linking() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut found = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder can be read").map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// Anchors that a Markdown text's headings have on its page: in lower case, without punctuation, and with `-` for each
/// space.
fn anchors(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut anchors: Vec<String> = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let before = anchors.iter().filter(|other| **other == anchor).count();
        anchors.push(if before == 0 { anchor } else { format!("{anchor}-{before}") });
    }
    anchors
}

/// Links between the documents lead to a file, and to a heading of it if they name one.
#[test]
fn links_lead_somewhere() {
    let mut to_headings = 0;
    for document in linking() {
        let text = std::fs::read_to_string(&document).expect("a document is a text");
        let folder = document.parent().expect("a document is in a folder");
        let inline = text.match_indices("](").map(|(at, _)| text[at + 2..].split(')').next().unwrap_or_default());
        // `[name]: target`, which cells of tables refer to.
        let defined = text.lines().filter(|l| l.starts_with('[')).filter_map(|l| Some(l.split_once("]: ")?.1));
        for target in inline.chain(defined).filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { document.clone() } else { folder.join(file) };
            assert!(path.exists(), "{} links to {target}, which is not there", document.display());
            if !heading.is_empty() {
                to_headings += 1;
                let known = anchors(&std::fs::read_to_string(&path).expect("a document is a text"));
                let is_known = known.iter().any(|anchor| anchor == heading);
                assert!(is_known, "{} links to {target}, but the headings are {known:?}", document.display());
            }
        }
    }
    assert!(to_headings > 3, "only {to_headings} links to headings were found");
}

/// The text of all sources in `crates`.
fn sources() -> String {
    let (mut folders, mut text) = (vec![root().join("crates")], String::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder can be read").map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                text += &std::fs::read_to_string(&path).expect("a source is a text");
            }
        }
    }
    text
}

/// The pages on the design name files, functions and tests that exist. A path is below one of the folders that the
/// pages state; `NAME` represents a new file.
#[test]
fn pages_on_the_design_name_what_exists() {
    let bases = ["", "crates", "crates/copyback/src", "crates/copyback", "crates/copyback-workload/src"];
    let code = sources();
    let is_function = |name: &str| code.contains(&format!("fn {name}(")) || code.contains(&format!("fn {name}<"));
    let (mut files, mut functions) = (0, 0);
    for page in ["architecture.md", "history.md"] {
        let text = std::fs::read_to_string(root().join("docs").join(page)).expect("the page is a text");
        for name in text.split('`').skip(1).step_by(2).filter(|name| !name.contains("NAME")) {
            let is_file = name.contains('/') && [".rs", ".toml", ".py"].iter().any(|ending| name.ends_with(ending));
            // `Type::function`, or the name of a test.
            let method = name.rsplit_once("::").filter(|(of, _)| of.starts_with(char::is_uppercase));
            let function = method.map_or(name, |(_, function)| function);
            let is_word = function.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            if is_file {
                files += 1;
                assert!(bases.iter().any(|base| root().join(base).join(name).is_file()), "{page}: no file {name}");
            } else if is_word && (method.is_some() || function.matches('_').count() > 3) {
                functions += 1;
                assert!(is_function(function), "{page}: no function {name}");
            }
        }
    }
    assert!(files > 60 && functions > 30, "only {files} files and {functions} functions were found");
}

#[test]
fn headings_have_anchors() {
    let text = "# A `b`, c\n```\n# no heading\n```\n## Über x-y\n#no heading\n## A b c\n";
    assert_eq!(anchors(text), ["a-b-c", "über-x-y", "a-b-c-1"]);
}

#[test]
fn three_points_stand_for_any_number_of_lines() {
    let lines = ["a", "b", "c  "];
    for pattern in [&["a", "b", "c"][..], &["..."], &["a", "..."], &["...", "c"], &["a", "...", "b", "...", "c", "..."]]
    {
        assert!(fits(pattern, &lines), "{pattern:?}");
    }
    for pattern in [&[][..], &["a", "b"], &["b", "..."], &["a", "...", "b"], &["a", "b", "d"]] {
        assert!(!fits(pattern, &lines), "{pattern:?}");
    }
}
