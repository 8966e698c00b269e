//! Notes on watermarks whose blocks are counted in another scope than that for which they were set.

use crate::plan::layers::Layers;
use copyback::config::ShareOrCount;
use copyback::config::layers::Layer;
use copyback::run::config::RunConfig;
use copyback::tasks::gc::trigger::Scope;
use std::collections::BTreeMap;

/// Keys whose whole numbers count the scope's blocks.
const COUNTS: &[&str] =
    &["trigger.soft", "trigger.stop", "trigger.report", "trigger.last_resort", "trigger.hard", "trigger.idle.stop"];

/// A count of blocks, as its layer meant it.
struct Count {
    blocks: u32,
    scope: Scope,
    layer: String,
}

/// The counts of layers, each with the scope that holds in its layer.
#[derive(Default)]
struct Counts {
    scope: Scope,
    by_key: BTreeMap<&'static str, Count>,
}

impl Counts {
    /// Adds the counts of a layer on top.
    fn set_by(&mut self, layer: &Layer) {
        self.scope = scope_of(layer).unwrap_or(self.scope);
        for key in COUNTS {
            let Some(value) = layer.value(key) else { continue };
            // A share holds for any scope, as 0 blocks do.
            let blocks = value.as_integer().and_then(|blocks| u32::try_from(blocks).ok()).unwrap_or_default();
            self.by_key.insert(key, Count { blocks, scope: self.scope, layer: layer.text().name.clone() });
        }
    }

    /// Removes the counts that a layer sets for the scheme's own scope.
    fn forget_those_of(&mut self, layer: &Layer) {
        self.by_key.retain(|key, _| layer.value(key).is_none());
    }
}

/// Notes on counts that other layers than the scheme set, if the scheme chooses another `trigger.scope`: 4 blocks of a
/// plane then are 4 blocks of the drive. Settings of this scheme alone need none. `is_alone`: no other scheme shares
/// the settings of the command line.
pub(in crate::plan) fn counts_of_other_scope(layers: &Layers<'_>, is_alone: bool, run: &RunConfig) -> Vec<String> {
    let scope = run.trigger.watermarks().scope;
    let Some(chosen) = scope_of(&layers.scheme).filter(|chosen| *chosen == scope) else { return Vec::new() };
    let mut counts = Counts::default();
    layers.device.iter().for_each(|layer| counts.set_by(layer));
    counts.forget_those_of(&layers.scheme);
    layers.above.iter().for_each(|layer| counts.set_by(layer));
    for layer in &layers.sets {
        if is_alone { counts.forget_those_of(layer) } else { counts.set_by(layer) }
    }
    layers.own.iter().for_each(|layer| counts.forget_those_of(layer));
    let other = counts.by_key.iter().filter(|(_, count)| count.scope != chosen && count.blocks > 0);
    let note = |(key, count): (&&str, &Count)| {
        let Count { blocks, scope: before, layer } = count;
        let scope_blocks = before.planes(&run.geometry) * run.geometry.blocks_per_plane;
        // A share in `trigger.hard` is one of `trigger.soft`.
        let is_of_soft = *key == "trigger.hard";
        let of = if is_of_soft { run.trigger.watermarks().soft.of(scope_blocks) } else { scope_blocks };
        let share = share(*blocks, of);
        format!(
            "`{key} = {blocks}` ({layer}) counts blocks of {} here, not of {}: the scheme chooses `trigger.scope`; the \
             share {share} means the same in any scope",
            chosen.noun(),
            before.noun(),
        )
    };
    other.map(note).collect()
}

/// The scope that a layer chooses.
fn scope_of(layer: &Layer) -> Option<Scope> {
    layer.value("trigger.scope").and_then(|value| value.clone().try_into().ok())
}

/// The shortest share that amounts to this count of all blocks.
fn share(blocks: u32, of: u32) -> String {
    let exact = f64::from(blocks) / f64::from(of);
    let with_digits = |digits: usize| format!("{exact:.digits$}");
    let amounts = |text: &String| text.parse().is_ok_and(|share| ShareOrCount::Share(share).of(of) == blocks);
    (1..=17).map(with_digits).find(amounts).unwrap_or_else(|| with_digits(17))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Experiment, plan};
    use copyback::config::presets::{DEVICES, SCHEMES};

    /// A preset that counts blocks of a plane would be unusable with schemes that watch the drive.
    #[test]
    fn no_preset_counts_blocks_of_another_scope() {
        let planned = |device: &str, scheme: &str| {
            let (device, schemes) = (Some(device.to_owned()), vec![scheme.to_owned()]);
            plan(&Experiment { device, schemes, workload: Some("random-write".into()), ..Experiment::default() }, &[])
        };
        let mut possible = 0;
        for (device, scheme) in DEVICES.iter().flat_map(|device| SCHEMES.iter().map(move |scheme| (device, scheme))) {
            let Ok(plan) = planned(device.name, scheme.name) else { continue };
            possible += 1;
            let notes = &plan.runs[0].of_other_scope;
            assert!(notes.is_empty(), "{} with {}: {notes:?}", device.name, scheme.name);
        }
        assert!(possible > DEVICES.len() * SCHEMES.len() / 2, "most devices run most schemes: {possible}");
    }

    #[test]
    fn a_share_amounts_to_its_count() {
        for of in [8, 24, 100, 511, 512, 65_536] {
            for blocks in (1..of).step_by(1 + of as usize / 97) {
                let share: f64 = share(blocks, of).parse().expect("a number");
                assert_eq!(ShareOrCount::Share(share).of(of), blocks, "{blocks} of {of}: {share}");
            }
        }
    }
}
