//! Experiment files.

use super::overrides::resolve_overrides;
use crate::failure::Failure;
use crate::files::{self, Input};
use crate::workloads;
use copyback::config::layers::{Layer, LayerError, Located};
use copyback::run::Warmup;
use std::path::{Path, PathBuf};

/// An experiment file, taken apart.
#[derive(Default)]
pub(super) struct ExperimentFile {
    pub name: Option<String>,
    pub device: Option<Located>,
    pub array: Option<Located>,
    pub schemes: Option<Vec<Located>>,
    pub workload: Option<Located>,
    pub seed: Option<u64>,
    pub requests: Option<u64>,
    pub warmup: Option<Warmup>,
    pub layer: Option<Layer>,
    pub folder: PathBuf,
}

impl ExperimentFile {
    pub fn read(path: &Path, inputs: &mut Vec<Input>) -> Result<Self, Failure> {
        let name = path.display().to_string();
        // The user may have named a trace, without `--trace`.
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        let is_job = path.extension().is_some_and(|ending| ending == "fio" || ending == "job");
        let or_trace = |failure: Failure| match files::other_simulator(path) {
            Some((what, help)) => Failure::input(format!("{name} is {what}")).with_help(help),
            None if is_toml || !path.is_file() => failure,
            None if is_job => {
                failure.with_help("a job file of fio is text in UTF-8: remove or replace the other bytes")
            }
            None => failure.with_help(format!("an experiment is a TOML file; a trace is given as `--trace {name}`")),
        };
        let text = files::read_text("experiment", path).map_err(or_trace)?;
        inputs.push(Input::text("experiment", name.clone(), Some(path.to_path_buf()), &text));
        let mut layer = Layer::parse(name.clone(), text).map_err(|error| or_trace(error.into()))?;
        if let Some(place) = ["vary", "case"].into_iter().find_map(|key| layer.place_of(key)) {
            let error = LayerError::new(format!("{name} is a sweep, and `run` and `compare` take experiments"))
                .with_help(format!("run it with: copyback sweep {name}"));
            return Err(error.at(Some(place)).into());
        }
        let folder = files::folder_of(path).to_path_buf();
        let folder = if folder == Path::new(".") { PathBuf::new() } else { folder };
        let workload = if layer.is_text("workload") { layer.take_text("workload")? } else { None };
        let trace_place = layer.place_of("trace");
        if let (Some(_), Some(place)) = (&workload, trace_place) {
            let error = LayerError::new("`workload` and `trace` are both set, but an experiment takes one of them")
                .with_help("remove one of the two; settings of the trace, such as time_scale, belong in [workload]");
            return Err(error.at(Some(place)).into());
        }
        layer.move_into("workload", "trace")?;
        workloads::resolve_traces(&mut layer, &folder);
        resolve_overrides(&mut layer, &folder);
        let preset = layer.take_text("workload.preset")?;
        let scheme = layer.take_text("scheme")?.map(|scheme| vec![scheme]);
        let schemes = layer.take_texts("schemes")?;
        if let (Some(one), Some(_)) = (&scheme, &schemes) {
            let error = LayerError::new("`scheme` and `schemes` are both set, but an experiment takes one of them")
                .with_help("remove one of the two");
            return Err(error.at(one[0].place.clone()).into());
        }
        let requests_place = layer.place_of("requests");
        let experiment = Self {
            name: layer.take_text("name")?.map(|name| name.value),
            device: layer.take_text("device")?,
            array: if layer.is_text("array") { layer.take_text("array")? } else { None },
            schemes: schemes.or(scheme),
            workload: workload.or(preset),
            seed: layer.take_number("seed")?,
            requests: layer.take_number("requests")?,
            warmup: Warmup::take_from(&mut layer)?,
            layer: None,
            folder,
        };
        if experiment.requests == Some(0) {
            let error = LayerError::new("`requests`: zero leaves nothing to run");
            return Err(error.with_help("set 1 or more, or remove it").at(requests_place).into());
        }
        for about in ["description", "source"] {
            layer.take_text(about)?;
        }
        Ok(Self { layer: Some(layer), ..experiment })
    }
}
