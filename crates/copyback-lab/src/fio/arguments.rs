//! `--fio-args`: the arguments of fio's command line, with or without the program's name.

use super::job::Safety;
use super::parse::{self, GLOBAL, Section};
use crate::failure::Failure;
use copyback::config::layers::{LayerError, Origin, Text, TextSpan};
use std::iter::Peekable;
use std::ops::Range;
use std::sync::Arc;

/// What messages call the text.
pub const SHOWN: &str = "--fio-args";

/// The job of a command line that names none.
const UNNAMED: &str = "fio";

/// Options of the program fio that change no request; whether each has a value.
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

/// Options of the program fio that make it refuse jobs, at any position.
const OF_SAFETY: &[&str] = &["readonly", "warnings-fatal"];

/// Options of the program fio that start another function than a run of jobs.
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

/// Job options without a value; all others have one.
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
    span: Range<usize>,
}

/// Whether a line ends here.
fn is_line_end(rest: &str) -> bool {
    rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// Words before fio's options: its name, with a path or behind other programs such as `sudo`; 0 if there are none.
fn words_of_program(words: &[Word]) -> usize {
    let is_fio = |word: &Word| word.text == "fio" || word.text.ends_with("/fio");
    match words.first() {
        Some(first) if !first.text.starts_with('-') => words.iter().position(is_fio).map_or(0, |at| at + 1),
        _ => 0,
    }
}

/// Splits a text into words as a shell does: by blanks outside quotes; a backslash keeps the next character.
fn words(text: &str) -> Result<Vec<Word>, String> {
    let mut words: Vec<Word> = Vec::new();
    let (mut word, mut quote): (Option<Word>, Option<char>) = (None, None);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if quote.is_none() && letter.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        // A backslash at a line's end continues the line.
        if letter == '\\' && quote != Some('\'') && is_line_end(&text[at + 1..]) {
            letters.by_ref().find(|(_, next)| *next == '\n');
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
        Some(open) => Err(format!("the quotation mark {open} is not closed")),
        None => Ok(words),
    }
}

/// A command line, divided.
pub struct CommandLine {
    /// The sections; options before the first `--name` apply to all jobs.
    pub sections: Vec<Section>,
    /// Notes on options without effect.
    pub notes: Vec<String>,
    /// Restrictions on the jobs.
    pub safety: Safety,
}

/// Divides a command line.
pub fn read(text: &str) -> Result<CommandLine, Failure> {
    let line = CommandLine { sections: Vec::new(), notes: Vec::new(), safety: Safety::default() };
    let text = Arc::new(Text::new(SHOWN, text).of(Origin::Fio));
    let whole = 0..text.text.len();
    let mut reader = CommandLineParser { text, line };
    let words = words(&reader.text.text).map_err(|message| reader.wrong(&whole, message, "close it"))?;
    let of_program = words_of_program(&words);
    let mut words = words.into_iter().skip(of_program).peekable();
    while let Some(word) = words.next() {
        let given = reader.given(word, &mut words)?;
        if !reader.handle_program_option(&given)? {
            reader.add(given)?;
        }
    }
    if !reader.line.sections.is_empty() && reader.line.sections.iter().all(|section| section.name == GLOBAL) {
        let section = reader.section(UNNAMED, whole);
        reader.line.sections.push(section);
    }
    Ok(reader.line)
}

/// An option of a command line, and its bytes in the text.
struct Given {
    key: String,
    value: Option<String>,
    span: Range<usize>,
}

/// What is read of a command line so far.
struct CommandLineParser {
    text: Arc<Text>,
    line: CommandLine,
}

impl CommandLineParser {
    fn place(&self, span: Range<usize>) -> TextSpan {
        TextSpan { text: self.text.clone(), span }
    }

    fn wrong(&self, span: &Range<usize>, message: String, help: &str) -> Failure {
        LayerError::new(message).with_help(help).at(Some(self.place(span.clone()))).into()
    }

    fn section(&self, name: &str, span: Range<usize>) -> Section {
        Section { name: name.to_owned(), place: self.place(span), options: Vec::new() }
    }

    /// The option that begins with a word. Its value may be the next word.
    fn given(&self, word: Word, others: &mut Peekable<impl Iterator<Item = Word>>) -> Result<Given, Failure> {
        let Word { text: word, mut span } = word;
        let Some(option) = word.strip_prefix("--").or(word.strip_prefix('-')).filter(|rest| !rest.is_empty()) else {
            let message = format!("`{word}` is no option");
            return Err(self.wrong(&span, message, "write options as --rw=read; give a job file with --fio FILE"));
        };
        let (key, mut value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let of_fio = OF_FIO.iter().find(|(name, _)| *name == key);
        let is_switch = OF_SAFETY.contains(&key) || of_fio.is_some_and(|(_, has_value)| !has_value);
        if is_switch && value.is_some() {
            let message = format!("`--{key}` of fio takes no value");
            return Err(self.wrong(&span, message, &format!("write --{key}, or leave it out")));
        }
        let stands_alone = ALONE.contains(&key) || is_switch;
        if value.is_none() && !stands_alone && others.peek().is_some_and(|next| !next.text.starts_with('-')) {
            let next = others.next();
            span.end = next.as_ref().map_or(span.end, |next| next.span.end);
            value = next.map(|next| next.text);
        }
        Ok(Given { key: key.to_owned(), value, span })
    }

    /// Handles an option of the program fio; `false` for an option of a job.
    fn handle_program_option(&mut self, Given { key, value, span }: &Given) -> Result<bool, Failure> {
        let key = key.as_str();
        match key {
            "readonly" => self.line.safety.is_read_only = true,
            "warnings-fatal" => self.line.safety.are_warnings_fatal = true,
            "idle-prof" if value.as_deref() == Some("calibrate") => {
                let message = "`--idle-prof=calibrate` measures the machine, and runs no job".to_owned();
                return Err(self.wrong(span, message, "remove it"));
            }
            _ => {}
        }
        if OF_SAFETY.contains(&key) {
            return Ok(true);
        }
        if OF_FIO.iter().any(|(name, _)| *name == key) {
            self.line.notes.push(format!("`--{key}` has no effect: it controls the program fio, not its jobs"));
            return Ok(true);
        }
        if OF_OTHER_RUNS.contains(&key) {
            let help = "remove it; --print-config shows how jobs are understood";
            return Err(self.wrong(span, format!("`--{key}` controls the program fio, not its jobs"), help));
        }
        Ok(false)
    }

    /// Adds an option of a job, or begins a job.
    fn add(&mut self, Given { key, value, span }: Given) -> Result<(), Failure> {
        if key == "name" {
            let Some(name) = value.filter(|name| !name.is_empty()) else {
                return Err(self.wrong(&span, "a job needs a name".to_owned(), "write --name=NAME"));
            };
            let section = self.section(&name, span);
            self.line.sections.push(section);
            return Ok(());
        }
        if self.line.sections.is_empty() {
            let section = self.section(GLOBAL, span.clone());
            self.line.sections.push(section);
        }
        let option = parse::option(&key, value.as_deref(), self.place(span));
        self.line.sections.last_mut().expect("there is one").options.push(option);
        Ok(())
    }
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
        // As it is pasted from a page or a shell.
        for pasted in [
            "sudo fio --name=a \\\n  --rw=read",
            "fio --name=a \\\r\n --rw=read",
            "$ sudo -E /usr/bin/fio --name=a --rw=re\\\nad",
        ] {
            assert_eq!(read(pasted), [("a".to_owned(), vec![option("rw", "read")])], "{pasted}");
        }
        assert_eq!(read(r"--name=a --filename=/dev/bsg/0\:0")[0].1, [option("filename", r"/dev/bsg/0\:0")]);
        assert!(super::read("--name=a --filename='x").is_err(), "the quotation does not end");
        assert!(super::read("job.fio").is_err(), "a file is given with --fio");
        assert!(super::read("--client=host --name=a").is_err(), "no other machine is asked");
        let line = super::read("--output=x --eta never --name=a").expect("these have no effect");
        assert_eq!(line.notes.len(), 2);
    }
}
