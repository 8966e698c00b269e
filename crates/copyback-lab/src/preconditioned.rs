//! Preconditioned drives: each is made once, kept in packed form while runs need it, and copied for them. Drives that
//! would take more memory than a limit are not kept: each run makes its own again.

use crate::failure::Failure;
use crate::plan::{Plan, Planned};
use copyback::run::arrays::Member;
use copyback::run::memory::Memory;
use copyback::run::{self, Drives, Image, PackedImage};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The preconditioned drives of one plan or of many.
pub struct Preconditioned {
    entries: BTreeMap<String, Mutex<Entry>>,
    /// Memory of all kept drives. **Invariant:** at most `kept_max_bytes`.
    kept_bytes: AtomicU64,
    kept_max_bytes: u64,
}

/// A preconditioned drive, and the number of runs that still need it.
#[derive(Default)]
struct Entry {
    /// The drive, if it is kept.
    drive: Option<Kept>,
    /// Memory of the kept drive.
    bytes: u64,
    runs_left: usize,
    /// Why it could not be made.
    failure: Option<Failure>,
    /// Real time of its preconditioning.
    seconds: f64,
}

/// A kept drive.
enum Kept {
    /// Until its only run takes it.
    Whole(Box<Image>),
    /// For several runs.
    Packed(Arc<PackedImage>),
}

/// Memory that a kept drive takes. `users`: the number of runs that need it.
pub fn kept_bytes(member: &Member, users: usize) -> u64 {
    let Memory { drive_bytes, packed_bytes, .. } = member.config.memory();
    if users > 1 { packed_bytes } else { drive_bytes }
}

impl Preconditioned {
    /// Entries for all runs of the plans, and the limit for the memory of kept drives. Makes no drive yet.
    pub fn of<'a>(plans: impl IntoIterator<Item = &'a Plan>, kept_max_bytes: u64) -> Self {
        let mut entries: BTreeMap<String, Mutex<Entry>> = BTreeMap::new();
        for member in plans.into_iter().flat_map(|plan| &plan.runs).flat_map(|planned| &planned.members) {
            let entry = entries.entry(key(member)).or_default();
            entry.get_mut().unwrap_or_else(PoisonError::into_inner).runs_left += 1;
        }
        Self { entries, kept_bytes: AtomicU64::new(0), kept_max_bytes }
    }

    fn entry(&self, member: &Member) -> MutexGuard<'_, Entry> {
        self.entries[&key(member)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a member's drive, if it is to be kept and does not exist; concurrent callers wait. `tell` receives
    /// progress.
    pub fn make(&self, member: &Member, tell: &mut dyn FnMut(run::Work)) -> Result<(), Failure> {
        self.make_in(&mut self.entry(member), member, tell)
    }

    fn make_in(&self, entry: &mut Entry, member: &Member, tell: &mut dyn FnMut(run::Work)) -> Result<(), Failure> {
        if let Some(failure) = &entry.failure {
            return Err(failure.clone());
        }
        let bytes = kept_bytes(member, entry.runs_left);
        if entry.runs_left == 0 || entry.drive.is_some() || !self.reserve(bytes) {
            return Ok(());
        }
        match precondition(member, tell) {
            Ok((image, seconds)) => {
                let kept =
                    if entry.runs_left > 1 { Kept::Packed(image.pack().into()) } else { Kept::Whole(image.into()) };
                (entry.drive, entry.bytes, entry.seconds) = (Some(kept), bytes, seconds);
                Ok(())
            }
            Err(failure) => {
                self.release(bytes);
                entry.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }

    /// Additional copies of a run's drives; the run still takes its own later. `tell` receives progress.
    pub fn copy<'a>(&self, planned: &'a Planned, tell: &mut dyn FnMut(run::Work)) -> Result<Drives<'a>, Failure> {
        let copy = |member: &'a Member| {
            let packed = match &self.entry(member).drive {
                None => None,
                Some(Kept::Whole(image)) => return Ok((&member.config, Image::clone(image))),
                Some(Kept::Packed(image)) => Some(image.clone()),
            };
            let image = match packed {
                Some(packed) => packed.unpack(),
                None => precondition(member, tell)?.0,
            };
            Ok((&member.config, image))
        };
        planned.members.iter().map(copy).collect()
    }

    /// Takes a run's drives, and the real time of their preconditioning. A kept drive that only one run needs is given
    /// to it; several runs get copies. A drive that does not exist is made now, and `tell` receives progress.
    pub fn take<'a>(
        &self,
        planned: &'a Planned,
        tell: &mut dyn FnMut(run::Work),
    ) -> Result<(Drives<'a>, f64), Failure> {
        let mut seconds = 0.0;
        let take = |member: &'a Member| {
            let (image, lasted) = match self.take_kept(member, tell)? {
                Some(kept) => kept,
                None => precondition(member, tell)?,
            };
            seconds += lasted;
            Ok((&member.config, image))
        };
        let drives: Result<Drives<'a>, Failure> = planned.members.iter().map(take).collect();
        Ok((drives?, seconds))
    }

    /// A kept drive, and the real time of its preconditioning; none if it is not to be kept.
    fn take_kept(&self, member: &Member, tell: &mut dyn FnMut(run::Work)) -> Result<Option<(Image, f64)>, Failure> {
        let mut entry = self.entry(member);
        self.make_in(&mut entry, member, tell)?;
        entry.runs_left -= 1;
        let seconds = entry.seconds;
        let packed = match (&entry.drive, entry.runs_left) {
            (Some(Kept::Packed(packed)), _) => packed.clone(),
            (Some(Kept::Whole(_)), 0) => {
                self.release(entry.bytes);
                let Some(Kept::Whole(image)) = entry.drive.take() else { unreachable!("it was there") };
                return Ok(Some((*image, seconds)));
            }
            (Some(Kept::Whole(_)), left) => unreachable!("a drive for one run, and {left} more take it"),
            (None, _) => return Ok(None),
        };
        if entry.runs_left == 0 {
            self.release(entry.bytes);
            entry.drive = None;
        }
        // Other runs need not wait for this one's copy.
        drop(entry);
        Ok(Some((packed.unpack(), seconds)))
    }

    /// Reserves memory to keep a drive; false if the limit is reached.
    fn reserve(&self, bytes: u64) -> bool {
        let with = |kept_bytes: u64| Some(kept_bytes + bytes).filter(|sum| *sum <= self.kept_max_bytes);
        self.kept_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with).is_ok()
    }

    fn release(&self, bytes: u64) {
        self.kept_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A preconditioned drive, and the real time that it took.
fn precondition(member: &Member, tell: &mut dyn FnMut(run::Work)) -> Result<(Image, f64), Failure> {
    let started = Instant::now();
    let image = run::precondition_with_progress(&member.config, member.seed, tell)?;
    Ok((image, started.elapsed().as_secs_f64()))
}

/// The key of a preconditioning: equal keys give equal drives.
pub fn key(member: &Member) -> String {
    format!("{} {}", member.seed, run::image_key(&member.config))
}

/// The keys of a plan's drives: plans with equal keys need equal drives.
pub fn keys(plan: &Plan) -> Vec<String> {
    plan.runs.iter().flat_map(|planned| &planned.members).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{ExecutionOptions, execute_from};
    use crate::experiment::Experiment;
    use crate::plan::plan;

    fn plan_of_three() -> Plan {
        let schemes = ["baseline", "pgc", "greedy-split"].map(str::to_owned).to_vec();
        let workload = Some("mixed-70-30".to_owned());
        plan(&Experiment { schemes, workload, requests: Some(300), ..Experiment::default() }, &[]).expect("it is right")
    }

    /// A limit for kept drives changes the memory, and no result: with none, with one of two, and without a limit.
    #[test]
    fn results_do_not_depend_on_which_drives_are_kept() {
        let plan = plan_of_three();
        let drive_bytes = plan.runs[0].members[0].config.memory().drive_bytes;
        let [none, one, all] = [0, drive_bytes + drive_bytes / 4, u64::MAX].map(|limit| {
            let drives = Preconditioned::of([&plan], limit);
            let finished = execute_from(&drives, &plan, &ExecutionOptions::default()).expect("it runs");
            assert_eq!(drives.kept_bytes.into_inner(), 0, "the last run has taken each");
            finished.iter().map(|done| format!("{:?}", done.outcome.report)).collect::<Vec<_>>()
        });
        assert_eq!(none, all);
        assert_eq!(one, all);
    }

    /// A run that comes before its drive is made makes it, for all.
    #[test]
    fn a_drive_is_made_once_whoever_comes_first() {
        let plan = plan_of_three();
        let drives = Preconditioned::of([&plan], u64::MAX);
        drives.take(&plan.runs[0], &mut |_| {}).expect("it is made");
        assert!(matches!(drives.entry(&plan.runs[1].members[0]).drive, Some(Kept::Packed(_))), "for the second run");
        drives.make(&plan.runs[0].members[0], &mut |_| unreachable!("it exists")).expect("it exists");
        drives.take(&plan.runs[1], &mut |_| unreachable!("it exists")).expect("it exists");
        drives.take(&plan.runs[2], &mut |_| {}).expect("it is made");
        drives.make(&plan.runs[2].members[0], &mut |_| unreachable!("no run is left")).expect("nothing to do");
        assert_eq!(drives.kept_bytes.into_inner(), 0);
    }

    #[test]
    fn no_more_drives_are_kept_than_the_limit_allows() {
        let plan = plan_of_three();
        let member = |run: usize| &plan.runs[run].members[0];
        assert_eq!(key(member(0)), key(member(1)));
        assert_ne!(key(member(0)), key(member(2)));
        let drive_bytes = member(0).config.memory().drive_bytes;
        let drives = Preconditioned::of([&plan], drive_bytes + drive_bytes / 4);
        (0..3).for_each(|run| drives.make(member(run), &mut |_| {}).expect("it is made"));
        let kept = || [0, 2].map(|run| drives.entry(member(run)).drive.is_some());
        assert_eq!(kept(), [true, false]);
        drives.take(&plan.runs[0], &mut |_| {}).expect("a copy");
        drives.take(&plan.runs[2], &mut |_| {}).expect("it is made again");
        assert_eq!(kept(), [true, false], "the second run still needs it");
        drives.take(&plan.runs[1], &mut |_| {}).expect("the kept one");
        assert_eq!(kept(), [false, false]);
    }
}
