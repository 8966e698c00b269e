//! Texts of settings, places in them, and errors at a place.

use std::ops::Range;
use std::sync::Arc;

/// The author of a text of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A preset.
    Preset,
    /// A file of the user.
    #[default]
    File,
    /// Options of the command line, or arguments of a calling program.
    CommandLine,
    /// Jobs of fio.
    Fio,
    /// The program itself: its defaults.
    Program,
}

impl Origin {
    /// Whether no preset made the setting: the user did, or the program by its defaults.
    pub fn is_no_preset(self) -> bool {
        self != Self::Preset
    }
}

/// A text that settings come from.
#[derive(Debug)]
pub struct Text {
    /// Its name for users: a path, a preset, or an argument of the command line.
    pub name: String,
    /// All of it.
    pub text: String,
    /// Its author.
    pub origin: Origin,
}

impl Text {
    /// A text of a file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), origin: Origin::default() }
    }

    /// The text with another origin.
    #[must_use]
    pub fn of(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

/// A part of a text.
#[derive(Clone, Debug)]
pub struct TextSpan {
    /// The text.
    pub text: Arc<Text>,
    /// Bytes of it.
    pub span: Range<usize>,
}

/// A setting that cannot be used: the mistake, its place, and a remedy.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct LayerError {
    /// The mistake, in one sentence.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The place of the value; `None` if it is a built-in default or an argument that is its own place.
    pub place: Option<TextSpan>,
}

impl LayerError {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, place: None }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same at a place.
    #[must_use]
    pub fn at(mut self, place: Option<TextSpan>) -> Self {
        self.place = place;
        self
    }
}

/// A text and its place.
#[derive(Clone, Debug)]
pub struct Located {
    /// The text.
    pub value: String,
    /// Its place.
    pub place: Option<TextSpan>,
}
