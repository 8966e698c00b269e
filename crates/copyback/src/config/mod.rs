//! Configuration texts: the device, as plain data; registries of policies; layers of TOML. It knows no policy:
//! [`layers::Configuration`] is implemented in `run`, which knows all of them.

mod axis;
pub mod device;
pub mod layers;
pub mod plugins;
pub mod presets;
mod rate;
pub mod renamed;
pub mod share_or_count;
pub(crate) mod times;

pub(crate) use axis::axis;
pub use axis::{Axis, Choice};
pub use device::{CapacityConfig, CommandsConfig, Device, GeometryConfig, PageTimes, TimingConfig};
pub use rate::Rate;
pub use share_or_count::ShareOrCount;

/// A number in an error: one with many zeros has an exponent instead.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-4..1e7 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// The error of a value that cannot be used: its key, the mistake and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct KeyError {
    /// Dotted path of the key, as `--set` takes it.
    pub key: String,
    /// The mistake in its value.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl KeyError {
    /// An error about one key.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), help: None }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Parses a part of a configuration from TOML.
///
/// It goes through `toml::Table`, as the layers do: a second parser would be compiled for every configuration type.
///
/// # Errors
/// The TOML error without its line and column; [`layers`] add them.
pub fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, toml::de::Error> {
    text.parse::<toml::Table>()?.try_into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_in_errors_are_short() {
        let shown = [0.0, -0.5, 101.0, 1e308, -2.5e-300, f64::INFINITY, f64::NAN].map(super::number);
        assert_eq!(shown, ["0", "-0.5", "101", "1e308", "-2.5e-300", "inf", "NaN"]);
    }
}
