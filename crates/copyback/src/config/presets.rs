//! Devices, arrays and schemes that are compiled in. A new one is a TOML file and a line here.

/// A preset: a layer of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name for users.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! presets {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(Preset { name: $name, text: include_str!(concat!("../../../../", $folder, "/", $name, ".toml")) }),+]
    };
}

/// Devices, the default first.
pub const DEVICES: &[Preset] = presets!(
    "devices":
    "small",
    "ispass11",
    "tc12",
    "hpdc18",
    "hpdc18-4plane",
    "atc18",
    "atc18-rain",
    "tpds20",
    "tpds20-4plane",
    "tpds20-4plane-free",
    "tlc-nvme",
    "bench-64g",
);

/// Arrays.
pub const ARRAYS: &[Preset] = presets!("arrays": "raid-0", "raid-1", "raid-10", "raid-5", "raid-6");

/// Schemes, the default first.
pub const SCHEMES: &[Preset] = presets!(
    "schemes":
    "baseline",
    "ideal-no-gc",
    "npgc",
    "pgc",
    "pgc-merge",
    "pgc-pipeline",
    "pgc-merge-pipeline",
    "pgc-idle",
    "gc-par",
    "gc-vic",
    "gc-par-unpaired-same",
    "gc-par-pgc",
    "gc-vic-pgc",
    "hios",
    "baseline-d",
    "baseline-p",
    "twinblk",
    "superpage",
    "paragc",
    "spd",
    "spd-plus",
    "vanilla",
    "rain",
    "ttflash",
    "strict",
    "qosfc",
    "autossd-static",
    "autossd",
    "uncoordinated",
    "ggc-reactive-inclusive",
    "ggc-reactive-selective",
    "ggc-proactive-idle",
    "ggc-proactive-soft-limit",
    "dynamic-allocation",
    "greedy-split",
    "cost-benefit",
    "d-choices",
    "windowed-greedy",
    "random",
    "fifo",
);

impl Preset {
    /// The text of one of its top-level keys, such as `description`.
    pub fn about(&self, key: &str) -> Option<String> {
        let table: toml::Table = self.text.parse().ok()?;
        Some(table.get(key)?.as_str()?.to_owned())
    }
}

/// The preset of a name.
pub fn find(presets: &'static [Preset], name: &str) -> Option<&'static Preset> {
    presets.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layers::Layer;
    use crate::run::config::Stack;

    fn layer(preset: &Preset) -> Layer {
        let mut layer = Layer::parse(preset.name, preset.text).unwrap();
        assert_eq!(layer.take_text("name").unwrap().unwrap().value, preset.name);
        for key in ["description", "source"] {
            assert!(layer.take_text(key).unwrap().is_some(), "{}: {key}", preset.name);
        }
        layer
    }

    #[test]
    fn every_device_takes_every_scheme() {
        let workload = Layer::parse(
            "w",
            "[workload]\nrequests = 1\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }",
        )
        .unwrap();
        for device in DEVICES {
            for scheme in SCHEMES {
                let mut stack = Stack::new();
                for next in [layer(device), layer(scheme), workload.clone()] {
                    stack.push(next);
                }
                let resolved = stack.resolve();
                // Parity needs space for a unit of each stripe, which devices of papers without parity may lack.
                let lacks_room = scheme.text.contains("[redundancy]") && !device.name.ends_with("-rain");
                let has_superpages = scheme.text.contains("\"superpage\"") && device.text.contains("\"steady-state\"");
                match resolved {
                    Ok(_) if has_superpages => panic!("{} x {}: it is not refused", device.name, scheme.name),
                    Err(error) if has_superpages => assert!(error.to_string().contains("superpage"), "{error:?}"),
                    Err(error) if lacks_room => assert!(error.to_string().contains("parity"), "{error:?}"),
                    Ok(resolved) => {
                        // No preset sets an absolute size that is large for the drive of a preset. One device counts
                        // blocks of a plane, which are too few for schemes that count those of the drive.
                        let notes = resolved.run.notes_of_sizes();
                        let counts_drive = scheme.text.contains("scope = \"device\"");
                        let is_noted = device.name == "tlc-nvme" && counts_drive;
                        assert_eq!(!notes.is_empty(), is_noted, "{} × {}: {notes:?}", device.name, scheme.name);
                    }
                    Err(error) => panic!("{} × {}: {error:?}", device.name, scheme.name),
                }
            }
        }
    }

    #[test]
    fn schemes_fit_a_page() {
        for scheme in SCHEMES {
            assert!(scheme.text.lines().count() < 30, "{}", scheme.name);
        }
    }
}
