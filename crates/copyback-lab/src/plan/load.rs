//! Presets and files of devices, schemes and arrays.

use super::argument;
use crate::failure::Failure;
use crate::files::{self, Input, forget_descriptions, looks_like_path};
use copyback::config::layers::{Layer, LayerError, Located, Origin, suggestion};
use copyback::config::presets::{self, ARRAYS, DEVICES, Preset, SCHEMES};
use copyback::run::config::{AXES, RunConfig, Stack};
use copyback_workload::printable::printable;
use std::path::Path;

/// A kind of preset.
pub(super) struct Kind {
    pub role: &'static str,
    pub flag: &'static str,
    pub presets: &'static [Preset],
}

pub(super) const DEVICE: Kind = Kind { role: "device", flag: "--device", presets: DEVICES };
pub(super) const SCHEME: Kind = Kind { role: "scheme", flag: "--scheme", presets: SCHEMES };
pub(super) const ARRAY: Kind = Kind { role: "array", flag: "--array", presets: ARRAYS };

/// The name of a scheme in results: its preset's, or its file's without the ending.
pub fn label(name: &str) -> String {
    let label = match presets::find(SCHEMES, name) {
        Some(preset) => preset.name.to_owned(),
        None => Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned()),
    };
    printable(&label).into_owned()
}

/// The layer of a device that the command line names.
pub fn load_device(name: &str, inputs: &mut Vec<Input>) -> Result<Layer, Failure> {
    load(&DEVICE, &argument(name), Path::new(""), inputs)
}

/// Loads a preset, or a file if the name is one.
pub(super) fn load(kind: &Kind, name: &Located, folder: &Path, inputs: &mut Vec<Input>) -> Result<Layer, Failure> {
    let (origin, shown, text, path) = match presets::find(kind.presets, &name.value) {
        Some(preset) => (Origin::Preset, format!("{} {}", kind.role, preset.name), preset.text.to_owned(), None),
        None => {
            let path = folder.join(&name.value);
            if !looks_like_path(&name.value) && !path.exists() {
                let known = kind.presets.iter().map(|preset| preset.name);
                let help = suggestion(&name.value, &format!("{}s", kind.role), known);
                let error = LayerError::new(format!("unknown {} `{}`", kind.role, name.value));
                let of_policy = Some(&name.value).filter(|_| kind.role == SCHEME.role).and_then(|word| of_policy(word));
                let help = match kind.role == DEVICE.role && is_traced_device(&name.value) {
                    true => format!(
                        "{} names the simulated drive; choose a disk of a trace with --set workload.device={}",
                        kind.flag, name.value
                    ),
                    false => of_policy.unwrap_or_else(|| format!("{help}; {} also takes a TOML file", kind.flag)),
                };
                return Err(error.with_help(help).at(name.place.clone()).into());
            }
            (Origin::File, path.display().to_string(), files::read_text(kind.role, &path)?, Some(path))
        }
    };
    inputs.push(Input::text(kind.role, name.value.clone(), path, &text));
    let mut layer = Layer::parse_of(origin, shown, text)?;
    forget_descriptions(&mut layer)?;
    refuse_experiment(&layer, kind, name)?;
    Ok(layer)
}

/// The help if a policy is named instead of a scheme.
fn of_policy(word: &str) -> Option<String> {
    let axis = AXES.iter().find(|axis| axis.choices.iter().any(|choice| choice.name == word && word != "plugin"))?.name;
    let has_it = |preset: &&Preset| {
        let run = on_default_device(preset).ok().and_then(|run| toml::Value::try_from(run).ok());
        run.is_some_and(|run| run[axis].get("policy").and_then(toml::Value::as_str) == Some(word))
    };
    let is = format!("`{word}` is a policy of `{axis}`, not a scheme");
    Some(match SCHEMES.iter().find(has_it) {
        Some(preset) => format!("{is}; the scheme `{}` has it", preset.name),
        None => format!(
            "{is}: add it to a scheme with --set {axis}.policy={word}, or compare with --schemes \
             baseline,{word}=baseline --set {word}:{axis}.policy={word}; `copyback schemes {word}` explains it"
        ),
    })
}

/// Whether a name has the form of a disk in a trace of Linux: `259,0`, `8:0`.
fn is_traced_device(name: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once([',', ':']).is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// Refuses an experiment file that is named as a device, a scheme or an array.
fn refuse_experiment(layer: &Layer, kind: &Kind, name: &Located) -> Result<(), Failure> {
    let found =
        ["device", "scheme", "schemes", "trace"].into_iter().find_map(|key| Some((key, layer.place_of_key(key)?)));
    let Some((key, place)) = found else { return Ok(()) };
    let error = LayerError::new(format!("unknown table or key `{key}`")).with_help(format!(
        "`{key}` belongs in an experiment, not in a preset or an override; if this file is an experiment, pass it as such, \
         without {}: copyback run {}",
        kind.flag, name.value
    ));
    Err(error.at(Some(place)).into())
}

/// The configuration of presets alone, each with its name and its text, the lowest first.
pub fn of_presets(presets: impl IntoIterator<Item = (&'static str, &'static str)>) -> Result<RunConfig, Failure> {
    let mut stack = Stack::new();
    for (name, text) in presets {
        let mut layer = Layer::parse(name, text)?;
        forget_descriptions(&mut layer)?;
        stack.push(layer);
    }
    Ok(stack.resolve_parts()?.run)
}

/// A scheme on the default device, with more over-provisioning than the preset if the scheme needs it.
pub fn on_default_device(scheme: &Preset) -> Result<RunConfig, Failure> {
    let roomy = ("room", "capacity = { over_provisioning = 1.0 }");
    let (device, own) = (&DEVICES[0], (scheme.name, scheme.text));
    of_presets([(device.name, device.text), own]).or_else(|_| of_presets([(device.name, device.text), own, roomy]))
}
