//! Preconditioned drives: each is made once, kept while runs need it, and copied for them.

use crate::failure::Failure;
use crate::plan::{Plan, Planned};
use copyback::run::arrays::Member;
use copyback::run::{self, Drives, Image};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The preconditioned drives of one plan or of many.
pub struct Preconditioned {
    entries: BTreeMap<String, Mutex<Entry>>,
}

/// A preconditioned drive, and the number of runs that still need it.
#[derive(Default)]
struct Entry {
    image: Option<Image>,
    runs_left: usize,
    /// Real time of the preconditioning.
    seconds: f64,
}

impl Preconditioned {
    /// Entries for all runs of the plans. Makes no drive yet.
    pub fn of<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        let mut entries: BTreeMap<String, Mutex<Entry>> = BTreeMap::new();
        for member in plans.into_iter().flat_map(|plan| &plan.runs).flat_map(|planned| &planned.members) {
            let entry = entries.entry(key(member)).or_default();
            entry.get_mut().unwrap_or_else(PoisonError::into_inner).runs_left += 1;
        }
        Self { entries }
    }

    fn entry(&self, member: &Member) -> MutexGuard<'_, Entry> {
        self.entries[&key(member)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a member's drive unless it exists; concurrent callers wait. `tell` receives progress.
    pub fn make(&self, member: &Member, tell: &mut dyn FnMut(run::Work)) -> Result<(), Failure> {
        let mut entry = self.entry(member);
        if entry.image.is_none() {
            let started = Instant::now();
            entry.image = Some(run::precondition_and_tell(&member.config, member.seed, tell)?);
            entry.seconds = started.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Additional copies of a run's drives; the run still takes its own later.
    pub fn copy<'a>(&self, planned: &'a Planned) -> Drives<'a> {
        let copy = |member: &'a Member| {
            (&member.config, self.entry(member).image.clone().expect("a drive is made before its runs"))
        };
        planned.members.iter().map(copy).collect()
    }

    /// Takes a run's drives, and the real time of their preconditioning. The last run gets the drive itself, earlier
    /// runs get copies.
    pub fn take<'a>(&self, planned: &'a Planned) -> (Drives<'a>, f64) {
        let mut seconds = 0.0;
        let take = |member: &'a Member| {
            let mut entry = self.entry(member);
            entry.runs_left -= 1;
            seconds += entry.seconds;
            let image = if entry.runs_left == 0 { entry.image.take() } else { entry.image.clone() };
            (&member.config, image.expect("a drive is made before its runs, and taken once by each"))
        };
        let drives = planned.members.iter().map(take).collect();
        (drives, seconds)
    }
}

/// The key of a preconditioning: equal keys give equal drives.
pub fn key(member: &Member) -> String {
    format!("{} {}", member.seed, run::image_key(&member.config))
}

/// The keys of a plan's drives: plans with equal ones want the same.
pub fn keys(plan: &Plan) -> Vec<String> {
    plan.runs.iter().flat_map(|planned| &planned.members).map(key).collect()
}
