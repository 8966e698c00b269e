//! Settings of single drives of an array: finds their devices and schemes, and refuses impossible ones.

use super::layers::Layers;
use super::load::{ARRAY, DEVICE, Kind, SCHEME, load};
use crate::failure::Failure;
use crate::files::{self, Input, looks_like_path};
use copyback::config::KeyError;
use copyback::config::layers::{Layer, LayerError, Located, TextSpan};
use copyback::config::presets::{self, ARRAYS, DEVICES, SCHEMES};
use copyback::run::arrays::Member;
use copyback::run::config::RunConfig;
use std::path::Path;

impl Layers<'_> {
    /// The drives of a run: a drive that an override of its array names has its own device or scheme. `place`: the
    /// place of the overrides.
    pub fn members(
        &self,
        run: &RunConfig,
        place: Option<TextSpan>,
        seed: u64,
        inputs: &mut Vec<Input>,
    ) -> Result<Vec<Member>, Failure> {
        let overrides = run.array.as_ref().map(|array| array.overrides.as_slice()).unwrap_or_default();
        let members = run.members(seed, |at| -> Result<Option<RunConfig>, Failure> {
            let named = &overrides[at];
            if named.device.is_none() && named.scheme.is_none() {
                return Ok(None);
            }
            let mut layer = |kind: &Kind, name: &Option<String>| match name {
                Some(name) => {
                    let name = Located { value: name.clone(), place: place.clone() };
                    load(kind, &name, Path::new(""), inputs).map(Some)
                }
                None => Ok(None),
            };
            let (device, scheme) = (layer(&DEVICE, &named.device)?, layer(&SCHEME, &named.scheme)?);
            if let Some(own) = scheme.as_ref().and_then(|scheme| scheme.policy("coordination"))
                && own != run.coordination.name()
            {
                return Err(other_coordination(own, run.coordination.name(), place.clone()).into());
            }
            for (kind, layer) in [("device", &device), ("scheme", &scheme)] {
                for table in ["array", "measure"] {
                    if layer.as_ref().is_some_and(|layer| layer.has(table)) {
                        let error = LayerError::new(format!("the {kind} of a drive has a table `[{table}]`"))
                            .with_help("set it for the whole run, next to `[array]`");
                        return Err(error.at(place.clone()).into());
                    }
                }
            }
            let mut numbers = named.drives.clone();
            numbers.sort_unstable();
            let drives: Vec<String> = numbers.iter().map(u32::to_string).collect();
            let stack = self.of_drive(device.into_iter().chain(scheme));
            let resolved = self.resolve(&stack).map_err(|mut error| {
                error.message = format!("with drive {}: {}", drives.join(", "), error.message);
                error.place = error.place.or(place.clone());
                error
            })?;
            Ok(Some(resolved.run))
        })?;
        run.check_drives(members.iter().map(|member| &member.config)).map_err(|KeyError { key, message, help }| {
            // If no text sets the key, the override has the mistake.
            let place = self.stack().place_of(&key).or(place.clone());
            Failure::from(LayerError { message: format!("`{key}`: {message}"), help, place })
        })?;
        Ok(members)
    }
}

/// The drives of an array have one coordination.
fn other_coordination(own: &str, of_array: &str, place: Option<TextSpan>) -> LayerError {
    LayerError::new(format!("a drive's scheme chooses the coordination `{own}`, and its array's is `{of_array}`"))
        .with_help("name a scheme without one, such as `baseline`; `coordinated = false` leaves a drive out")
        .at(place)
}

/// Makes relative paths of overrides relative to the folder of their file.
pub fn resolve_overrides(layer: &mut Layer, folder: &Path) {
    layer.each_text_in("array.override", &["device", "scheme"], |name| {
        let is_preset = [DEVICES, SCHEMES].into_iter().any(|presets| presets::find(presets, name).is_some());
        let path = folder.join(&*name);
        if !is_preset && (looks_like_path(name) || path.exists()) {
            // A printed configuration may be read from another folder.
            let path = std::path::absolute(&path).unwrap_or(path);
            *name = path.to_string_lossy().into_owned();
        }
    });
}

/// The layer of an array: a preset, or a file that describes one.
pub fn load_array(name: &Located, folder: &Path, inputs: &mut Vec<Input>) -> Result<Layer, Failure> {
    let mut layer = load(&ARRAY, name, folder, inputs)?;
    if !layer.has("array") {
        let error = LayerError::new(format!("`{}` describes no array: it has no table `[array]`", name.value))
            .with_help("write [array] and its keys into it, or name a preset such as raid-5");
        return Err(error.at(name.place.clone()).into());
    }
    if presets::find(ARRAYS, &name.value).is_none() {
        resolve_overrides(&mut layer, files::folder_of(&folder.join(&name.value)));
    }
    Ok(layer)
}
