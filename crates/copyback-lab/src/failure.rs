//! Errors: the mistake, its place, and the remedy.

mod serialized;

use copyback::config::layers::{LayerError, Text, TextSpan};
use copyback::config::plugins::Fault;
use copyback::run::RunError;
use copyback_workload::printable::printable;
use std::sync::Arc;

/// The remedy for a full or read-only disk.
pub const MAKE_ROOM: &str = "free space there, or name a writable location";

/// The remedy for a broken invariant.
pub const DEFECT: &str = "this is a defect of the simulator";

/// The remedy for an error of a disk.
pub fn remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::FileTooLarge => copyback_workload::write::RAISE_LIMIT,
        _ => MAKE_ROOM,
    }
}

/// Why a call failed. `Debug` prints the same text as `Display`: a `main` that returns this error prints it with
/// `Debug`, and a derived `Debug` would print the whole text of a file.
#[derive(Clone)]
pub enum Failure {
    /// The command or an input is wrong: exit code 2.
    Input(Box<Diagnosis>),
    /// The run failed, or a check did not hold: exit code 1.
    Run(Box<Diagnosis>),
    /// The reader of the output has gone, which is no mistake.
    PipeClosed,
}

/// The mistake, its place, and the remedy.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The mistake, in one sentence.
    pub message: String,
    /// The remedy, if one is known.
    pub help: Option<String>,
    /// The text with the mistake, its name for the user, and the wrong bytes.
    pub place: Option<TextSpan>,
}

impl Diagnosis {
    fn new(message: impl Into<String>) -> Self {
        Self { message: one_line(message), help: None, place: None }
    }
}

/// A sentence of one line, whose quoted words change neither the terminal nor other lines.
fn one_line(text: impl Into<String>) -> String {
    printable(&text.into()).into_owned()
}

/// The line and column of a byte, counted from 1.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

impl Failure {
    /// A wrong command or input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Input(Box::new(Diagnosis::new(message)))
    }

    /// A wrong value of an argument, which is the place.
    pub fn of_argument(name: &str, value: &str, message: impl Into<String>) -> Self {
        let (text, span) = (Text::new(name, value), 0..value.len());
        Self::input(message).at(Some(TextSpan { text: Arc::new(text), span }))
    }

    /// A run that failed.
    pub fn run(message: impl Into<String>) -> Self {
        Self::Run(Box::new(Diagnosis::new(message)))
    }

    /// An output that the disk or the device does not take.
    pub fn of_disk(path: &std::path::Path, error: &std::io::Error) -> Self {
        let help = match error.kind() {
            std::io::ErrorKind::BrokenPipe => "let the reading program run until all is written, or name a file",
            _ => remedy(error),
        };
        let output =
            if path == std::path::Path::new("-") { "standard output".into() } else { path.display().to_string() };
        Self::run(format!("cannot write {output}: {error}")).with_help(help)
    }

    /// The mistake, in one sentence.
    pub fn message(&self) -> &str {
        match self {
            Self::Input(diagnosis) | Self::Run(diagnosis) => &diagnosis.message,
            Self::PipeClosed => "standard output was closed",
        }
    }

    /// The remedy, if one is known.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Input(diagnosis) | Self::Run(diagnosis) => diagnosis.help.as_deref(),
            Self::PipeClosed => None,
        }
    }

    /// The place of the mistake: the name of the text, line and column, counted from 1, and the wrong words.
    pub fn place(&self) -> Option<(&str, usize, usize, &str)> {
        let (Self::Input(diagnosis) | Self::Run(diagnosis)) = self else { return None };
        let TextSpan { text, span } = diagnosis.place.as_ref()?;
        let (line, column) = line_and_column(&text.text, span.start);
        Some((&*text.name, line, column, text.text.get(span.clone()).unwrap_or_default()))
    }

    /// This error with its message and its remedy reworded.
    #[must_use]
    pub fn reworded(mut self, reword: impl Fn(&str) -> String) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self {
            diagnosis.message = reword(&diagnosis.message);
            diagnosis.help = diagnosis.help.as_deref().map(reword);
        }
        self
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self {
            diagnosis.help = Some(one_line(help));
        }
        self
    }

    /// The same with its place.
    #[must_use]
    pub fn at(mut self, place: Option<TextSpan>) -> Self {
        if let (Self::Input(diagnosis) | Self::Run(diagnosis), Some(place)) = (&mut self, place) {
            let name = one_line(place.text.name.clone());
            let text = match name == place.text.name {
                true => place.text,
                false => Arc::new(Text::new(name, place.text.text.clone())),
            };
            diagnosis.place = Some(TextSpan { text, span: place.span });
        }
        self
    }

    /// The same with another place, if `moved` returns one.
    #[must_use]
    pub fn moved(mut self, moved: impl Fn(&TextSpan) -> Option<TextSpan>) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self
            && let Some(place) = &diagnosis.place
        {
            let place = moved(place);
            return self.at(place);
        }
        self
    }

    /// The same without its place, if the place is in this line.
    #[must_use]
    pub fn not_at_line(mut self, line: &str) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self
            && let Some(TextSpan { text, span }) = &diagnosis.place
            && let Some(before) = text.text.get(..span.start)
            && text.text.lines().nth(before.matches('\n').count()) == Some(line)
        {
            diagnosis.place = None;
        }
        self
    }

    /// The same with the name of one of several runs.
    #[must_use]
    pub fn of_run(mut self, run: &str) -> Self {
        if let Self::Input(diagnosis) | Self::Run(diagnosis) = &mut self {
            diagnosis.message = one_line(format!("{run}: {}", diagnosis.message));
        }
        self
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

impl From<copyback_theory::DomainError> for Failure {
    fn from(error: copyback_theory::DomainError) -> Self {
        Self::input(error.to_string())
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
            RunError::BeyondCapacity { .. } => Self::input(error.to_string()).with_help(
                "use a larger device, fold addresses (--set workload.beyond_capacity=fold), or leave such requests \
                     out (--set workload.beyond_capacity=reject)",
            ),
            RunError::NoSuchDrive { .. } => Self::input(error.to_string()).with_help(
                "use as many drives as the workload names (--set array.drives, --set workload.addresses.drives), or \
                 one of them: --set workload.device=0",
            ),
            RunError::TooLate { .. } => Self::input(error.to_string()).with_help(
                "correct the trace's time there, or raise the rate of a generator's `arrivals`, or lower \
                     `workload.time_scale` or `workload.loop`",
            ),
            // The remedy depends on the workload.
            RunError::WarmupUnfinished(unfinished) => Self::input(unfinished.to_string()),
            RunError::Stopped => Self::run(error.to_string()),
            RunError::Plugin(fault) => Self::of_plugin(&fault),
            RunError::Empty => Self::input(error.to_string()).with_help("describe it with: copyback trace info ..."),
            RunError::CollectionKeptOut { .. } => Self::run(error.to_string()).with_help(
                "give collection a share, or a guaranteed slot while requests wait for it: --set admit.shares.gc=20, \
                 or --set admit.guard=1",
            ),
            RunError::Invariant { .. } => Self::run(error.to_string()).with_help(DEFECT),
        }
    }
}

impl Failure {
    /// The mistake of a supplied policy.
    pub fn of_plugin(fault: &Fault) -> Self {
        let failure = Self::run(fault.to_string());
        match &fault.help {
            Some(help) => failure.with_help(help.clone()),
            None => failure,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((name, line, column, _)) = self.place() {
            write!(f, "{name}:{line}:{column}: ")?;
        }
        f.write_str(self.message())?;
        self.help().map_or(Ok(()), |help| write!(f, "\nhelp: {help}"))
    }
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
