//! Which runs start from the same drive? Each is preconditioned once, kept while runs want it, and copied for them.

use crate::failure::Failure;
use crate::plan::{Plan, Planned};
use copyback::run::{self, Image};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The preconditioned drives of one plan or of many.
pub struct Preconditioned {
    entries: BTreeMap<String, Mutex<Entry>>,
}

/// A preconditioned drive, and how many runs still want it.
#[derive(Default)]
struct Entry {
    image: Option<Image>,
    runs_left: usize,
    /// Real time that it took.
    seconds: f64,
}

impl Preconditioned {
    /// Those of all runs of the plans. Nothing is made yet.
    pub fn of<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        let mut entries: BTreeMap<String, Mutex<Entry>> = BTreeMap::new();
        for plan in plans {
            for planned in &plan.runs {
                let entry = entries.entry(key(plan, planned)).or_default();
                entry.get_mut().unwrap_or_else(PoisonError::into_inner).runs_left += 1;
            }
        }
        Self { entries }
    }

    /// Makes the drive that a run starts from, unless that was done. Whoever comes meanwhile waits.
    pub fn make(&self, plan: &Plan, planned: &Planned) -> Result<(), Failure> {
        let mut entry = self.entries[&key(plan, planned)].lock().unwrap_or_else(PoisonError::into_inner);
        if entry.image.is_none() {
            let started = Instant::now();
            entry.image = Some(run::precondition(&planned.resolved.run, plan.seed)?);
            entry.seconds = started.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Another copy of the drive of a run, which will take its own all the same.
    pub fn copy(&self, plan: &Plan, planned: &Planned) -> Image {
        let entry = self.entries[&key(plan, planned)].lock().unwrap_or_else(PoisonError::into_inner);
        entry.image.clone().expect("a drive is made before its runs")
    }

    /// The drive of one run, and the real time that its preconditioning took: a copy, or the drive itself for the last
    /// run.
    pub fn take(&self, plan: &Plan, planned: &Planned) -> (Image, f64) {
        let mut entry = self.entries[&key(plan, planned)].lock().unwrap_or_else(PoisonError::into_inner);
        entry.runs_left -= 1;
        let image = if entry.runs_left == 0 { entry.image.take() } else { entry.image.clone() };
        (image.expect("a drive is made before its runs, and taken once by each"), entry.seconds)
    }
}

/// What a preconditioning depends on.
fn key(plan: &Plan, planned: &Planned) -> String {
    format!("{} {}", plan.seed, run::image_key(&planned.resolved.run))
}

/// The keys of a plan's drives: plans with equal ones want the same.
pub fn keys(plan: &Plan) -> Vec<String> {
    plan.runs.iter().map(|planned| key(plan, planned)).collect()
}
