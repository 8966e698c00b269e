//! Settings of a sweep that define a workload, as the table `[workload]` of an experiment does.

use super::file::{Setting, Source, SweepFile};
use copyback::config::layers::WORKLOADS;
use std::path::Path;

/// If the settings of a file define a whole workload, each case without a workload gets it. Paths of traces in them are
/// relative to the file.
pub fn take_from_settings(file: &mut SweepFile) {
    let own = file.cases.iter_mut().flat_map(|case| &mut case.settings);
    let varied = file.vary.iter_mut().flat_map(|vary| &mut vary.settings).map(|(_, setting)| setting);
    own.chain(varied).chain(&mut file.settings).for_each(|setting| resolve_trace(setting, &file.folder));
    let varied = file.vary.iter().filter_map(|vary| Some(&vary.settings.first()?.1));
    let shared: Vec<Setting> = file.settings.iter().chain(varied).cloned().collect();
    for case in &mut file.cases {
        let settings = || case.settings.iter().chain(&shared);
        let is_default = matches!(&case.source, Source::Workload(name) if name.place.is_none());
        if !is_default || !is_workload(settings()) {
            continue;
        }
        let said = settings().find(|setting| setting.key == "workload.name").and_then(Setting::text);
        let name = said.unwrap_or_else(|| file.name.clone());
        if case.name == crate::workloads::DEFAULT {
            case.name.clone_from(&name);
        }
        case.source = Source::Settings(name);
    }
}

/// Whether settings define the source of all requests: a trace, a generator with its requests and its share of reads,
/// or several workloads.
fn is_workload<'a>(settings: impl Iterator<Item = &'a Setting>) -> bool {
    let keys: Vec<&str> = settings.map(|setting| setting.key.as_str()).collect();
    let has = |wanted: &str| {
        keys.iter().any(|key| key.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let has_share_of_reads = has("workload.read_share") || has("workload.read_arrivals");
    has("workload.trace") || (has("workload.requests") && has_share_of_reads) || has(WORKLOADS)
}

/// Makes the path of a trace relative to the file's folder.
fn resolve_trace(setting: &mut Setting, folder: &Path) {
    let is_trace = setting.key == "workload.trace"
        || (setting.key.starts_with(&format!("{WORKLOADS}.")) && setting.key.ends_with(".trace"));
    if let Some(path) = setting.text().filter(|path| is_trace && !path.contains(':') && path != "-") {
        let path = folder.join(path).to_string_lossy().into_owned();
        setting.argument = format!("{}={}", setting.key, toml::Value::from(path));
    }
}
