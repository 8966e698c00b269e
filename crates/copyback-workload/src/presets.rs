//! Workload presets: the TOML files of the workspace's folder `workloads/`, compiled in.
//!
//! Presets named `-like` match the figures of a trace in a paper's table. They are not that trace: properties that the
//! table omits (burstiness, locality, correlations) are stated choices.

use crate::spec::WorkloadSpec;

/// Every preset's name and text, by name.
pub const PRESETS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// A preset's file: the table `[workload]` and nothing else.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    workload: WorkloadSpec,
}

/// The text of the preset `name`.
///
/// # Errors
/// A text that suggests the nearest name.
pub fn text(name: &str) -> Result<&'static str, String> {
    let found = PRESETS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let names: Vec<&'static str> = PRESETS.iter().map(|(known, _)| *known).collect();
        crate::words::unknown("workload preset", name, &names)
    })
}

/// The spec in the text of a preset, or of a user's file with the same form.
///
/// # Errors
/// The mistake in the text, with its line.
pub fn parse(text: &str) -> Result<WorkloadSpec, String> {
    toml::from_str::<File>(text).map(|file| file.workload).map_err(|error| error.to_string())
}
