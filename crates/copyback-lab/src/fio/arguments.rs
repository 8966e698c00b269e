//! `--fio-args`: fio's command line, as `fio --name=a --rw=read ...` has it behind the program's name.

use super::job::Safety;
use super::parse::{self, GLOBAL, Section};
use crate::failure::Failure;
use copyback::config::layers::{LayerError, Place, Text};
use std::sync::Arc;

/// What messages call the text.
pub const SHOWN: &str = "--fio-args";

/// The job of a command line that names none.
const UNNAMED: &str = "fio";

/// Options of fio itself, not of jobs, that change nothing of what is asked for; whether each has a value.
const OF_FIO: &[(&str, bool)] = &[
    ("output", true),
    ("output-format", true),
    ("minimal", false),
    ("append-terse", false),
    ("terse-version", true),
    ("eta", true),
    ("eta-interval", true),
    ("eta-newline", true),
    ("status-interval", true),
    ("bandwidth-log", false),
    ("alloc-size", true),
    ("max-jobs", true),
    ("idle-prof", true),
    ("aux-path", true),
    ("debug", true),
];

/// Options of fio itself that make it refuse jobs. They count wherever they stand.
const OF_SAFETY: &[&str] = &["readonly", "warnings-fatal"];

/// Options of fio itself that ask for something else than a run of jobs.
const OF_OTHER_RUNS: &[&str] = &[
    "parse-only",
    "merge-blktrace-only",
    "version",
    "help",
    "cpuclock-test",
    "crctest",
    "cmdhelp",
    "enghelp",
    "showcmd",
    "section",
    "server",
    "daemonize",
    "client",
    "remote-config",
    "inflate-log",
    "trigger-file",
    "trigger-timeout",
    "trigger",
    "trigger-remote",
];

/// Job options that stand alone; all others have a value.
const ALONE: &[&str] = &[
    "time_based",
    "norandommap",
    "group_reporting",
    "stonewall",
    "wait_for_previous",
    "new_group",
    "thread",
    "zero_buffers",
    "refill_buffers",
    "exitall",
    "verify_only",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "userspace_reap",
    "nonvectored",
    "force_async",
    "readfua",
    "writefua",
];

/// A word of a command line, quotes removed, and its bytes in the text.
struct Word {
    text: String,
    span: std::ops::Range<usize>,
}

/// Words as a shell divides them: by blanks, outside of quotes, and with a backslash before what is to be kept.
fn words(text: &str) -> Result<Vec<Word>, String> {
    let mut words: Vec<Word> = Vec::new();
    let (mut word, mut quote): (Option<Word>, Option<char>) = (None, None);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if quote.is_none() && letter.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let own = word.get_or_insert_with(|| Word { text: String::new(), span: at..at });
        own.span.end = at + letter.len_utf8();
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => quote = Some(letter),
            // A backslash before a colon belongs to a file's name, and stays.
            ('\\', None) if letters.peek().is_some_and(|(_, next)| *next != ':') => {
                if let Some((at, next)) = letters.next() {
                    own.text.push(next);
                    own.span.end = at + next.len_utf8();
                }
            }
            _ => own.text.push(letter),
        }
    }
    words.extend(word);
    match quote {
        Some(open) => Err(format!("a quotation that begins with {open} does not end")),
        None => Ok(words),
    }
}

/// A command line, divided.
pub struct CommandLine {
    /// What stands before the first `--name` is of all jobs.
    pub sections: Vec<Section>,
    /// What has no effect.
    pub notes: Vec<String>,
    /// What fio is told not to do.
    pub safety: Safety,
}

/// Divides a command line.
pub fn read(text: &str) -> Result<CommandLine, Failure> {
    let whole = Arc::new(Text { name: SHOWN.to_owned(), text: text.to_owned() });
    let place = |span: std::ops::Range<usize>| Place { text: whole.clone(), span };
    let wrong = |span: &std::ops::Range<usize>, message: String, help: &str| -> Failure {
        LayerError::new(message).with_help(help).at(Some(place(span.clone()))).into()
    };
    let words = words(text).map_err(|message| wrong(&(0..text.len()), message, "close it"))?;
    let new = |name: &str, span| Section { name: name.to_owned(), place: place(span), options: Vec::new() };
    let (mut sections, mut notes): (Vec<Section>, Vec<String>) = (Vec::new(), Vec::new());
    let mut safety = Safety::default();
    let mut words = words.into_iter().peekable();
    while let Some(Word { text: word, span }) = words.next() {
        let Some(option) = word.strip_prefix("--").or(word.strip_prefix('-')).filter(|rest| !rest.is_empty()) else {
            if word == "fio" && span.start == 0 {
                continue;
            }
            let message = format!("`{word}` is no option");
            return Err(wrong(&span, message, "write options as --rw=read; give a job file with --fio FILE"));
        };
        let (key, mut value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let mut span = span;
        let of_fio = OF_FIO.iter().find(|(name, _)| *name == key);
        let is_switch = OF_SAFETY.contains(&key) || of_fio.is_some_and(|(_, has_value)| !has_value);
        if is_switch && value.is_some() {
            let message = format!("`--{key}` of fio takes no value");
            return Err(wrong(&span, message, &format!("write --{key}, or leave it out")));
        }
        let stands_alone = ALONE.contains(&key) || is_switch;
        if value.is_none() && !stands_alone && words.peek().is_some_and(|next| !next.text.starts_with('-')) {
            let next = words.next();
            span.end = next.as_ref().map_or(span.end, |next| next.span.end);
            value = next.map(|next| next.text);
        }
        match key {
            "readonly" => safety.is_read_only = true,
            "warnings-fatal" => safety.are_warnings_fatal = true,
            "idle-prof" if value.as_deref() == Some("calibrate") => {
                let message = "`--idle-prof=calibrate` measures the machine, and runs no job".to_owned();
                return Err(wrong(&span, message, "remove it"));
            }
            _ => {}
        }
        if OF_SAFETY.contains(&key) {
            continue;
        }
        if of_fio.is_some() {
            notes.push(format!("`--{key}` has no effect: it is of fio's own program"));
            continue;
        }
        if OF_OTHER_RUNS.contains(&key) {
            let help = "remove it; --print-config shows how jobs are understood";
            return Err(wrong(&span, format!("`--{key}` is of fio's own program, and no option of a job"), help));
        }
        if key == "name" {
            let name = value.filter(|name| !name.is_empty());
            let Some(name) = name else {
                return Err(wrong(&span, "a job needs a name".to_owned(), "write --name=NAME"));
            };
            sections.push(new(&name, span));
            continue;
        }
        if sections.is_empty() {
            sections.push(new(GLOBAL, span.clone()));
        }
        let section = sections.last_mut().expect("there is one");
        section.options.push(parse::option(key, value.as_deref(), place(span)));
    }
    if !sections.is_empty() && sections.iter().all(|section| section.name == GLOBAL) {
        sections.push(new(UNNAMED, 0..text.len()));
    }
    Ok(CommandLine { sections, notes, safety })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Options = Vec<(String, Option<String>)>;

    fn read(text: &str) -> Vec<(String, Options)> {
        let CommandLine { sections, .. } = super::read(text).expect("it is a command line");
        let options =
            |section: &Section| section.options.iter().map(|opt| (opt.key.clone(), opt.value.clone())).collect();
        sections.iter().map(|section| (section.name.clone(), options(section))).collect()
    }

    /// fio: an option before any --name is of all jobs, and each --name begins one.
    #[test]
    fn a_command_line_has_the_sections_of_a_file() {
        let option = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
        let global = (GLOBAL.to_owned(), vec![option("rw", "read"), option("size", "1m")]);
        let seen = read("fio --rw=read --size 1m --name=a -bs=8k --name=b --time_based --filename='/dev/a b'");
        let b = vec![("time_based".to_owned(), None), option("filename", "/dev/a b")];
        assert_eq!(seen, [global.clone(), ("a".to_owned(), vec![option("bs", "8k")]), ("b".to_owned(), b)]);
        assert_eq!(read("--rw=read --size=1m"), [global, ("fio".to_owned(), Vec::new())]);
        assert_eq!(read(r"--name=a --filename=/dev/bsg/0\:0")[0].1, [option("filename", r"/dev/bsg/0\:0")]);
        assert!(super::read("--name=a --filename='x").is_err(), "the quotation does not end");
        assert!(super::read("job.fio").is_err(), "a file is given with --fio");
        assert!(super::read("--client=host --name=a").is_err(), "no other machine is asked");
        let line = super::read("--output=x --eta never --name=a").expect("these have no effect");
        assert_eq!(line.notes.len(), 2);
    }
}
