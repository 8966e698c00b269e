//! How a command can end badly, and how that is shown.

mod render;
mod travel;

use crate::steady;
use crate::workloads::going_on;
use copyback::config::layers::{LayerError, Place, Text};
use copyback::config::plugins::Fault;
use copyback::run::config::Resolved;
use copyback::run::warmup::Unfinished;
use copyback::run::{RunError, Warmup};
use copyback_workload::printable::{printable, printable_lines};
use copyback_workload::spec::WorkloadSpec;
use std::sync::Arc;

/// What helps where the disk takes no more, or never took anything.
pub const MAKE_ROOM: &str = "free space there, or name a writable location";

/// What helps against what a disk says of a file.
pub fn remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::FileTooLarge => copyback_workload::write::RAISE_LIMIT,
        _ => MAKE_ROOM,
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command or an input is wrong: exit code 2.
    Input(Box<Diagnosis>),
    /// The run failed, or a check did not hold: exit code 1.
    Run(Box<Diagnosis>),
    /// Whoever read the output has gone: nothing to say, and nothing went wrong.
    PipeClosed,
}

/// An input text with the name that its user knows.
#[derive(Debug)]
struct NamedText {
    name: String,
    text: String,
}

/// The mistake, a remedy, and the text at fault.
#[derive(Debug)]
pub struct Diagnosis {
    message: String,
    help: Option<String>,
    source_text: Option<NamedText>,
    span: Option<std::ops::Range<usize>>,
}

impl Diagnosis {
    fn new(message: impl Into<String>) -> Self {
        Self { message: one_line(message), help: None, source_text: None, span: None }
    }

    /// The same at a length that can be read, whatever a file or an argument holds.
    fn cut(mut self) -> Self {
        self.message = shorten(&self.message);
        if let (Some(source), Some(span)) = (&self.source_text, &self.span)
            && lines_around(&source.text, span).len() > SHOWN_BYTES_MAX
        {
            let (line, column) = line_and_column(&source.text, span.start);
            self.message = format!("{}:{line}:{column}: {}", source.name, self.message);
            (self.source_text, self.span) = (None, None);
        }
        self
    }
}

/// A sentence of one line, in which words of files and arguments change neither the terminal nor other lines.
fn one_line(text: impl Into<String>) -> String {
    printable(&text.into()).into_owned()
}

/// Characters of a quoted value that are shown.
const QUOTED_MAX: usize = 80;
/// Bytes of a text at fault that are shown: more would push the message out of sight.
const SHOWN_BYTES_MAX: usize = 4096;

/// A message whose long quotations are cut. Paths are up to twice as long as the rest of a quotation, and stay.
fn shorten(message: &str) -> String {
    let mut short = String::new();
    let mut rest = message;
    while let Some(open) = rest.find(['`', '"']) {
        let quote = &rest[open..=open];
        short.push_str(&rest[..=open]);
        rest = &rest[open + 1..];
        let end = rest.find(quote).unwrap_or(rest.len());
        let quoted = &rest[..end];
        match quoted.char_indices().nth(QUOTED_MAX).filter(|_| quoted.len() > 2 * QUOTED_MAX) {
            Some((cut, _)) => short.extend([&quoted[..cut], "…"]),
            None => short.push_str(quoted),
        }
        rest = &rest[end..];
        if let Some(behind) = rest.strip_prefix(quote) {
            short.push_str(quote);
            rest = behind;
        }
    }
    short + rest
}

/// What would be shown of a text: the lines of its part, and one before and behind.
fn lines_around<'a>(text: &'a str, span: &std::ops::Range<usize>) -> &'a str {
    let bytes = text.as_bytes();
    let ends = |bytes: &[u8]| bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let (start, end) = (span.start.min(text.len()), span.end.min(text.len()));
    let (before, behind): (Vec<usize>, Vec<usize>) = (ends(&bytes[..start]), ends(&bytes[end..]));
    let from = before.iter().rev().nth(1).map_or(0, |at| at + 1);
    let to = behind.get(1).map_or(text.len(), |at| end + at);
    &text[from..to]
}

/// Where a byte stands, counted from 1.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

impl Failure {
    /// A wrong command or input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Input(Box::new(Diagnosis::new(message)))
    }

    /// A run that failed.
    pub fn run(message: impl Into<String>) -> Self {
        Self::Run(Box::new(Diagnosis::new(message)))
    }

    /// An output that the disk or the device does not take.
    pub fn of_disk(path: &std::path::Path, error: &std::io::Error) -> Self {
        let help = match error.kind() {
            std::io::ErrorKind::BrokenPipe => "keep its reader until all is written, or name a file",
            _ => remedy(error),
        };
        Self::run(format!("cannot write {}: {error}", path.display())).with_help(help)
    }

    /// The mistake, in one sentence.
    pub fn message(&self) -> &str {
        match self {
            Self::Input(diagnosis) | Self::Run(diagnosis) => &diagnosis.message,
            Self::PipeClosed => "standard output was closed",
        }
    }

    /// What helps, where somebody knows.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Input(diagnosis) | Self::Run(diagnosis) => diagnosis.help.as_deref(),
            Self::PipeClosed => None,
        }
    }

    /// Where the mistake stands: the name of the text, its line and column, counted from 1, and the words at fault.
    pub fn place(&self) -> Option<(&str, usize, usize, &str)> {
        let (Self::Input(diagnosis) | Self::Run(diagnosis)) = self else { return None };
        let (source, span) = (diagnosis.source_text.as_ref()?, diagnosis.span.clone()?);
        let (line, column) = line_and_column(&source.text, span.start);
        Some((&*source.name, line, column, source.text.get(span).unwrap_or_default()))
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self {
            diagnosis.help = Some(one_line(help));
        }
        self
    }

    /// The same, pointing at the text that asked for it.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        if let (Self::Input(diagnosis) | Self::Run(diagnosis), Some(place)) = (&mut self, place) {
            let name = one_line(place.text.name.clone());
            diagnosis.source_text = Some(NamedText { name, text: place.text.text.clone() });
            diagnosis.span = Some(place.span);
        }
        self
    }

    /// The same, with its place replaced where `moved` knows a better one.
    #[must_use]
    pub fn moved(mut self, moved: impl Fn(&Place) -> Option<Place>) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self
            && let (Some(source), Some(span)) = (&diagnosis.source_text, &diagnosis.span)
        {
            let text = Text { name: source.name.to_owned(), text: source.text.clone() };
            let place = moved(&Place { text: Arc::new(text), span: span.clone() });
            return self.at(place);
        }
        self
    }

    /// The same, pointing nowhere if it points into this line.
    #[must_use]
    pub fn not_at_line(mut self, line: &str) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self
            && let (Some(source), Some(span)) = (&diagnosis.source_text, &diagnosis.span)
            && let Some(before) = &source.text.get(..span.start)
            && source.text.lines().nth(before.matches('\n').count()) == Some(line)
        {
            (diagnosis.source_text, diagnosis.span) = (None, None);
        }
        self
    }

    /// The same, saying which of several runs it was.
    #[must_use]
    pub fn of_run(mut self, run: &str) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self {
            diagnosis.message = one_line(format!("{run}: {}", diagnosis.message));
        }
        self
    }

    /// Why a run of a workload failed.
    pub fn of_workload(error: RunError, resolved: &Resolved) -> Self {
        match error {
            RunError::WarmupUnfinished(unfinished) => {
                let help = warmup_help(&unfinished, &resolved.workload, steady::begins_settled(&resolved.run));
                Self::input(unfinished.to_string()).with_help(help)
            }
            error => error.into(),
        }
    }

    /// Tells the user, and says which code the program is to end with.
    pub fn report(self) -> u8 {
        let (diagnosis, code) = match self {
            Self::Input(diagnosis) => (diagnosis, 2),
            Self::Run(diagnosis) => (diagnosis, 1),
            Self::PipeClosed => return 0,
        };
        // Ignore a failed write: if standard error is closed, no way to report is left.
        let text = render::render(&diagnosis.cut());
        let _ = std::io::Write::write_all(&mut anstream::stderr(), printable_lines(&text).as_bytes());
        code
    }
}

impl From<LayerError> for Failure {
    fn from(error: LayerError) -> Self {
        let diagnosis = Diagnosis { help: error.help.map(one_line), ..Diagnosis::new(error.message) };
        Self::Input(Box::new(diagnosis)).at(error.place)
    }
}

impl From<copyback_workload::Error> for Failure {
    fn from(error: copyback_workload::Error) -> Self {
        let failure = match error.is_of_output {
            true => Self::run(error.message).with_help(MAKE_ROOM),
            false => Self::input(error.message),
        };
        match error.help {
            Some(help) => failure.with_help(help),
            None => failure,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Workload(error) => error.into(),
            RunError::Config(error) => {
                let failure = Self::input(format!("`{}`: {}", error.key, error.message));
                match error.help {
                    Some(help) => failure.with_help(help),
                    None => failure,
                }
            }
            RunError::BeyondCapacity { .. } => Self::input(error.to_string())
                .with_help("use a larger device, or fold addresses: --set workload.beyond_capacity=fold (or reject)"),
            RunError::NoSuchDrive { .. } => Self::input(error.to_string()).with_help(
                "use as many drives as the workload names (--set array.drives, --set workload.addresses.drives), or \
                 one of them: --set workload.device=0",
            ),
            RunError::TooLate { .. } => Self::input(error.to_string())
                .with_help("correct the trace's time there, or lower `workload.time_scale` or `workload.loop`"),
            RunError::WarmupUnfinished(unfinished) => {
                let help = warmup_help(&unfinished, &WorkloadSpec::default(), false);
                Self::input(unfinished.to_string()).with_help(help)
            }
            RunError::Stopped => Self::run(error.to_string()),
            RunError::Plugin(fault) => Self::of_plugin(&fault),
            RunError::Empty => Self::input(error.to_string()).with_help("describe it with: copyback trace info ..."),
            RunError::CollectionKeptOut { .. } => Self::run(error.to_string()).with_help(
                "give collection a share, or a guaranteed slot while requests wait for it: --set admit.shares.gc=20, \
                 or --set admit.guard=1",
            ),
            RunError::Invariant { .. } => {
                // A name need not be UTF-8.
                let words = std::env::args_os().map(|word| crate::format::quoted(&word.to_string_lossy()));
                let command: Vec<String> = words.collect();
                Self::run(error.to_string())
                    .with_help(format!("this is a defect of the simulator; reproduce it with: {}", command.join(" ")))
            }
        }
    }
}

impl Failure {
    /// What a policy that was handed in did wrong.
    pub fn of_plugin(fault: &Fault) -> Self {
        let failure = Self::run(fault.to_string());
        match &fault.help {
            Some(help) => failure.with_help(help.clone()),
            None => failure,
        }
    }
}

/// Rounds that a warm-up and the measurement behind it may well need, where the rule decides.
const ROUNDS_WANTED: f64 = 20.0;

/// What helps where no drive settles.
pub const SAY_HOW_LONG: &str = "set the length of the warm-up: --warmup 1000, or --warmup 10s";

/// What helps where a workload writes too little for the drive.
const BEGIN_SETTLED: &str = "remove --warmup and begin with a steady drive (--set precondition.mode=steady-state)";

/// The same for a drive that does.
const BEGINS_SETTLED: &str = "remove --warmup: this drive is steady from the start (precondition.mode=steady-state)";

/// Requests of a run above which it is no advice any more.
pub const REQUESTS_MAX: f64 = 2e7;

/// What helps where a workload ends before its warm-up.
fn warmup_help(unfinished: &Unfinished, workload: &WorkloadSpec, is_settled: bool) -> String {
    let settle = if is_settled { BEGINS_SETTLED } else { BEGIN_SETTLED };
    let wanted = match unfinished.warmup {
        Warmup::Steady if !unfinished.has_written => return SAY_HOW_LONG.into(),
        Warmup::Steady => (ROUNDS_WANTED / unfinished.rounds).ceil(),
        Warmup::Requests(requests) => (requests as f64 / unfinished.requests as f64).floor() + 1.0,
        Warmup::Time(ns) => (ns as f64 / unfinished.simulated_ns as f64).floor() + 1.0,
    };
    let times = wanted.max(2.0);
    let passes = times * f64::from(workload.passes.unwrap_or(1));
    let play = (times * unfinished.requests as f64 <= REQUESTS_MAX)
        .then(|| format!("extend the workload: {}", going_on(workload, passes)));
    match (unfinished.warmup, play) {
        (Warmup::Steady, Some(play)) => format!("{play}, take a smaller drive, {settle}, or {SAY_HOW_LONG}"),
        (Warmup::Steady, None) => format!("take a smaller drive, {settle}, or {SAY_HOW_LONG}"),
        (_, Some(play)) => format!("shorten the warm-up, or {play}"),
        (_, None) => "shorten the warm-up".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback::sim::invariant::Invariant;

    #[test]
    fn long_quotations_are_cut_and_the_rest_stays() {
        let long = "ä".repeat(1_000);
        let cut = "ä".repeat(80) + "…";
        assert_eq!(shorten(&format!("a `{long}` b \"{long}\" c `d`")), format!("a `{cut}` b \"{cut}\" c `d`"));
        assert_eq!(shorten(&format!("no end: `{long}")), format!("no end: `{cut}"));
        let path = format!("/{}", "p".repeat(120));
        for whole in ["", "`", "`a` is not \"b\"", &format!("`{path}` is not there"), &format!("a{long}")] {
            assert_eq!(shorten(whole), *whole);
        }
    }

    #[test]
    fn a_text_is_shown_where_it_can_be_read() {
        let shown = |text: &str, span: std::ops::Range<usize>| {
            let text = Arc::new(Text { name: "t".into(), text: text.to_owned() });
            let Failure::Input(diagnosis) = Failure::input("wrong").at(Some(Place { text, span })) else { panic!() };
            let cut = diagnosis.cut();
            (cut.source_text.is_some(), cut.message)
        };
        let long = "x".repeat(SHOWN_BYTES_MAX);
        assert_eq!(shown("a\nb = 1\nc", 6..7), (true, "wrong".into()));
        assert!(shown(&format!("{long}\na\nb\nc\n{long}"), 4099..4100).0, "far lines are not shown");
        assert_eq!(shown(&format!("a\nä {long}"), 5..9), (false, "t:2:3: wrong".into()));
        assert_eq!(shown(&format!("{long}\nb"), 4097..4098), (false, "t:2:1: wrong".into()));
        assert_eq!(shown(&format!("b\n{long}"), 0..1), (false, "t:1:1: wrong".into()));
    }

    #[test]
    fn a_broken_invariant_names_itself_the_time_and_the_command() {
        let what = "newest-read: a read found nothing".to_owned();
        let broken = RunError::Invariant { invariant: Some(Invariant::NewestRead), what, at_ns: Some(1_234) };
        let Failure::Run(diagnosis) = Failure::from(broken) else { panic!("it is a run that failed") };
        assert_eq!(diagnosis.message, "invariant broken at 1.234 us: newest-read: a read found nothing");
        let command = std::env::args().next().expect("a program has a name");
        assert!(diagnosis.help.expect("there is help").contains(&command));
    }
}
