//! Errors of a workload, each with its remedy.

/// A workload that cannot be read, generated or written. `message` names the place and the value, `help` the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The whole message.
    pub message: String,
    /// The remedy, if there is one.
    pub help: Option<String>,
    /// Whether the output is at fault (a full disk, a device that fails), and not an input.
    pub is_of_output: bool,
}

impl Error {
    /// An error with a message alone.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, is_of_output: false }
    }

    /// An error of the output.
    pub fn of_output(message: impl Into<String>) -> Self {
        Self { is_of_output: true, ..Self::new(message) }
    }

    /// The same error with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
