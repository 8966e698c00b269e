//! `--where` of a page: conditions that results are to meet, drawn as lines.

use copyback::config::layers::LayerError;
use copyback_lab::format::BEYOND_PPM;
use copyback_lab::sweep::objective::standing::Standing;
use copyback_lab::sweep::objective::{self, Comparison, spelled_out};
use copyback_lab::sweep::quantity::Unit;
use serde_json::{Value, json};

/// A condition on a number of the results.
#[derive(Clone, Debug)]
pub struct Condition {
    /// As it was asked.
    pub text: String,
    /// The number's full name.
    pub metric: String,
    /// With what it is compared, in the number's own unit.
    pub value: f64,
    comparison: Comparison,
    unit: Unit,
}

impl Condition {
    /// Reads one; `is_number`: whether the results have a number of this name.
    ///
    /// # Errors
    /// If it compares nothing or names no number, or if its value has another unit.
    pub fn parse(text: &str, is_number: &dyn Fn(&str) -> bool) -> Result<Self, LayerError> {
        let parsed = objective::Condition::parse(text)?;
        let Some(metric) = spelled_out(&parsed.name.word, is_number) else {
            let message = format!("the results have no number `{}`", parsed.name.word);
            let help = match parsed.name.word.as_str() {
                "steady" | "scheme" | "case" | "device" | "workload" | "seed" => {
                    "a page's conditions are on numbers; `copyback sweep FILE --where` also compares texts"
                }
                _ => "name one as `--show` does: read.p99_9, write.mean, wa, erases, iops",
            };
            return Err(parsed.name.refuse(message).with_help(help));
        };
        let unit = Unit::of_name(&metric);
        let value = unit.read(&parsed.value.word, metric == parsed.name.word);
        let value = value.map_err(|message| parsed.value.refuse(message))?;
        Ok(Self { text: parsed.text(), metric, value, comparison: parsed.comparison, unit })
    }

    /// The standing of a row with this number; `None`: a row without one.
    pub fn standing(&self, value: Option<f64>) -> Standing {
        Standing::of(value, self.comparison, self.value)
    }

    /// A value as a person reads it.
    pub fn shown(&self, value: f64) -> String {
        self.unit.shown(value)
    }

    /// Data of the page: the line of a number, and for a percentile a point of the distribution of a class.
    pub fn drawn(&self) -> Value {
        let parts: Vec<&str> = self.metric.split('.').collect();
        let beyond = BEYOND_PPM.iter().find(|(name, _)| parts.last() == Some(name));
        let share = beyond.map(|(_, ppm)| *ppm as f64 / 1e6);
        let class = (parts.len() == 3 && parts[0] == "response").then(|| parts[1]);
        json!({ "text": self.text, "metric": self.metric, "value": self.value, "class": class, "share": share })
    }
}
