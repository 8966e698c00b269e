//! Failures that come from another process, with all their fields.

use super::{Diagnosis, Failure};
use copyback::config::layers::{Text, TextSpan};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

#[derive(Deserialize, Serialize)]
struct SerializedFailure {
    is_input: bool,
    message: String,
    help: Option<String>,
    /// The name and the text at fault.
    source: Option<(String, String)>,
    span: Option<std::ops::Range<usize>>,
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (message, help) = (self.message().to_owned(), self.help().map(str::to_owned));
        let (source, span) = match self {
            Self::Input(diagnosis) | Self::Run(diagnosis) => {
                let place = diagnosis.place.as_ref();
                let source = place.map(|place| (place.text.name.clone(), place.text.text.clone()));
                (source, place.map(|place| place.span.clone()))
            }
            Self::PipeClosed => (None, None),
        };
        SerializedFailure { is_input: matches!(self, Self::Input(_)), message, help, source, span }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let SerializedFailure { is_input, message, help, source, span } = SerializedFailure::deserialize(from)?;
        let place =
            source.zip(span).map(|((name, text), span)| TextSpan { text: Arc::new(Text::new(name, text)), span });
        let diagnosis = Box::new(Diagnosis { message, help, place });
        Ok(if is_input { Self::Input(diagnosis) } else { Self::Run(diagnosis) })
    }
}
