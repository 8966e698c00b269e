//! Workload presets: the TOML files of the workspace's folder `workloads/`, compiled in.
//!
//! Those named `-like` match the figures that a paper's table gives of a trace. They are not that trace: what the table
//! doesn't say (burstiness, locality, correlations) is a stated choice.

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

/// The spec in a preset's text or a user's file of the same form.
///
/// # Errors
/// The mistake in the text, with its line.
pub fn parse(text: &str) -> Result<WorkloadSpec, String> {
    toml::from_str::<File>(text).map(|file| file.workload).map_err(|error| error.to_string())
}
