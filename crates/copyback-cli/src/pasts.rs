//! Which runs start from the same drive? Each past is lived through once, kept while runs want it, and copied for them.

use crate::failure::Failure;
use crate::plan::{Plan, Planned};
use copyback::run::{self, Image};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The drives with a past of one plan or of many.
pub struct Pasts {
    slots: BTreeMap<String, Mutex<Slot>>,
}

/// A past, and how many runs still want it.
#[derive(Default)]
struct Slot {
    image: Option<Image>,
    runs_left: usize,
    /// Real time that it took.
    seconds: f64,
}

impl Pasts {
    /// Those of all runs of the plans. Nothing is made yet.
    pub fn of<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        let mut slots: BTreeMap<String, Mutex<Slot>> = BTreeMap::new();
        for plan in plans {
            for planned in &plan.runs {
                let slot = slots.entry(key(plan, planned)).or_default();
                slot.get_mut().unwrap_or_else(PoisonError::into_inner).runs_left += 1;
            }
        }
        Self { slots }
    }

    /// Makes the drive that a run starts from, unless that was done. Whoever comes meanwhile waits.
    pub fn make(&self, plan: &Plan, planned: &Planned) -> Result<(), Failure> {
        let mut slot = self.slots[&key(plan, planned)].lock().unwrap_or_else(PoisonError::into_inner);
        if slot.image.is_none() {
            let started = Instant::now();
            slot.image = Some(run::precondition(&planned.resolved.run, plan.seed)?);
            slot.seconds = started.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Another copy of the drive of a run, which will take its own all the same.
    pub fn copy(&self, plan: &Plan, planned: &Planned) -> Image {
        let slot = self.slots[&key(plan, planned)].lock().unwrap_or_else(PoisonError::into_inner);
        slot.image.clone().expect("a drive is made before its runs")
    }

    /// The drive of one run, and the real time that its past took: a copy, or the drive itself for the last run.
    pub fn take(&self, plan: &Plan, planned: &Planned) -> (Image, f64) {
        let mut slot = self.slots[&key(plan, planned)].lock().unwrap_or_else(PoisonError::into_inner);
        slot.runs_left -= 1;
        let image = if slot.runs_left == 0 { slot.image.take() } else { slot.image.clone() };
        (image.expect("a drive is made before its runs, and taken once by each"), slot.seconds)
    }
}

/// What a past depends on.
fn key(plan: &Plan, planned: &Planned) -> String {
    format!("{} {}", plan.seed, run::image_key(&planned.resolved.run))
}

/// The keys of a plan's pasts: plans with equal ones want the same drives.
pub fn keys(plan: &Plan) -> Vec<String> {
    plan.runs.iter().map(|planned| key(plan, planned)).collect()
}
