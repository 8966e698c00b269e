//! Which runs start from the same drive? Each is preconditioned once, kept while runs want it, and copied for them.

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
        for member in plans.into_iter().flat_map(|plan| &plan.runs).flat_map(|planned| &planned.members) {
            let entry = entries.entry(key(member)).or_default();
            entry.get_mut().unwrap_or_else(PoisonError::into_inner).runs_left += 1;
        }
        Self { entries }
    }

    fn entry(&self, member: &Member) -> MutexGuard<'_, Entry> {
        self.entries[&key(member)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a drive that runs start from, unless that was done; `tell` receives its progress. Whoever comes
    /// meanwhile waits.
    pub fn make(&self, member: &Member, tell: &mut dyn FnMut(run::Work)) -> Result<(), Failure> {
        let mut entry = self.entry(member);
        if entry.image.is_none() {
            let started = Instant::now();
            entry.image = Some(run::precondition_and_tell(&member.config, member.seed, tell)?);
            entry.seconds = started.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Other copies of the drives of a run, which will take its own all the same.
    pub fn copy<'a>(&self, planned: &'a Planned) -> Drives<'a> {
        let copy = |member: &'a Member| {
            (&member.config, self.entry(member).image.clone().expect("a drive is made before its runs"))
        };
        planned.members.iter().map(copy).collect()
    }

    /// The drives of one run, and the real time that their preconditioning took: copies, or a drive itself for the last
    /// run that wants it.
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

/// What a preconditioning depends on.
pub fn key(member: &Member) -> String {
    format!("{} {}", member.seed, run::image_key(&member.config))
}

/// The keys of a plan's drives: plans with equal ones want the same.
pub fn keys(plan: &Plan) -> Vec<String> {
    plan.runs.iter().flat_map(|planned| &planned.members).map(key).collect()
}
