//! Checks that this machine has enough memory before drives are made: the system would kill the program without a
//! message.

use crate::failure::Failure;
use crate::format;
use crate::plan::{Plan, Planned};
use crate::preconditioned::kept_bytes;
use crate::work_order::{self, Group};

/// Address space of a thread in addition to its data: its stack, and the allocator's reserve for it.
const THREAD_BYTES: u64 = 80 << 20;

/// Most memory for preconditioned drives that are kept for later runs.
const KEPT_MAX_BYTES: u64 = 4 << 30;

/// Memory that the system lets this program have.
struct Available {
    bytes: u64,
    /// The source of this limit, in words.
    by: &'static str,
}

/// Memory of drives that exist at the same time.
#[derive(Clone, Copy, Default)]
struct Needed {
    bytes: u64,
    /// Drives, copies among them.
    drives: u64,
}

impl Needed {
    fn add(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, drives: self.drives + other.drives }
    }
}

/// How a plan uses its drives.
#[derive(Clone, Copy)]
pub struct DriveUse {
    /// Number of parallel runs.
    pub jobs: usize,
    /// Invariants are checked.
    pub checks: bool,
    /// All runs first find the end of their warm-up, on copies of their drives.
    pub looks_for_warmup: bool,
}

/// Refuses a plan whose drives this machine cannot hold.
pub fn check(plan: &Plan, use_of: DriveUse) -> Result<(), Failure> {
    refuse(of_plan(plan, use_of), use_of.jobs)
}

/// The same for the cells of a sweep, `jobs` of which run in parallel: each needs at least the drives of its largest
/// run.
pub fn check_cells<'a>(plans: impl Iterator<Item = &'a Plan>, jobs: usize) -> Result<(), Failure> {
    refuse(largest(plans.map(of_largest_run), jobs), jobs)
}

/// Refuses more descriptions of runs than this machine can hold: `count` of `bytes_each`. `what`: what they describe.
/// `help`: how to make fewer of them.
pub fn check_descriptions(what: &str, count: u64, bytes_each: u64, help: &str) -> Result<(), Failure> {
    let (needed, Available { bytes, by }) = (count.saturating_mul(bytes_each), available(1));
    if needed <= bytes {
        return Ok(());
    }
    let [needed, bytes] = [needed, bytes].map(|bytes| format::size(bytes as f64));
    let message = format!(
        "the configurations of {} take {needed} of memory, and {bytes} are available ({by})",
        format::counted(count, what)
    );
    Err(Failure::run(message).with_help(help))
}

/// Memory for preconditioned drives that are kept for later runs: at most a quarter of what is available. It determines
/// how often drives are made, and no result.
pub fn for_kept_drives() -> u64 {
    (available(1).bytes / 4).min(KEPT_MAX_BYTES)
}

fn of_largest_run(plan: &Plan) -> Needed {
    let with_own = |planned: &Planned| of_job(planned, false)[0].add(of_run(planned));
    largest(plan.runs.iter().map(with_own), 1)
}

/// A preconditioned drive is kept until its last run takes it; other runs get copies. For each job, the drives of one
/// group of runs ([`work_order`]) are kept, and one run has its own drives. If runs first look for the end of their
/// warm-up, the drives of all groups are kept. Without memory to keep them, each run may make its own.
fn of_plan(plan: &Plan, DriveUse { jobs, checks, looks_for_warmup }: DriveUse) -> Needed {
    let at_once = jobs.clamp(1, plan.runs.len().max(1));
    let groups: Vec<OfGroup> = work_order::groups(plan).iter().map(|group| OfGroup::of(plan, group)).collect();
    let kept_at_once = if looks_for_warmup { groups.len() } else { at_once };
    let kept = largest(groups.iter().map(|group| group.kept), kept_at_once);
    let of_jobs = largest(plan.runs.iter().flat_map(|planned| of_job(planned, checks)), at_once);
    let kept_max_bytes = for_kept_drives();
    if kept.bytes > kept_max_bytes {
        let own = largest(plan.runs.iter().map(of_run), at_once);
        let can_be_kept = groups.iter().flat_map(|group| &group.each_bytes).filter(|bytes| **bytes <= kept_max_bytes);
        let kept_bytes = can_be_kept.sum::<u64>().min(kept_max_bytes);
        return Needed { bytes: kept_bytes + own.bytes + of_jobs.bytes, drives: own.drives };
    }
    let drives = if looks_for_warmup {
        kept.add(largest(groups.iter().map(|group| group.of_run).flat_map(|of_run| vec![of_run; at_once]), at_once))
    } else if at_once == 1 {
        // The next group's drives are made when the last run has ended.
        largest(groups.iter().map(|group| group.copies(1).fold(group.kept, Needed::add)), 1)
    } else {
        let of_group = |group: &OfGroup| group.copies(at_once).chain([group.kept]).collect::<Vec<_>>();
        largest(groups.iter().flat_map(of_group), 2 * at_once)
    };
    Needed { bytes: drives.bytes + of_jobs.bytes, ..drives }
}

/// Memory of a group of runs.
struct OfGroup {
    /// Each drive that it adds to those of earlier groups, while it is kept.
    each_bytes: Vec<u64>,
    /// All of these.
    kept: Needed,
    /// The drives of one of its runs.
    of_run: Needed,
    /// Number of runs.
    users: usize,
}

impl OfGroup {
    fn of(plan: &Plan, group: &Group<'_>) -> Self {
        let users = group.runs.len();
        let bytes = |(planned, number): &(&Planned, usize)| kept_bytes(&planned.members[*number], users);
        let each_bytes: Vec<u64> = group.drives.iter().map(bytes).collect();
        let kept = Needed { drives: each_bytes.len() as u64, bytes: each_bytes.iter().sum() };
        Self { each_bytes, kept, of_run: of_run(&plan.runs[group.runs[0]]), users }
    }

    /// Drives of its runs, in addition to the kept ones: those of as many runs as execute in parallel. A single run
    /// takes the kept drives themselves.
    fn copies(&self, jobs: usize) -> impl Iterator<Item = Needed> {
        let users = if self.users > 1 { self.users } else { 0 };
        std::iter::repeat_n(self.of_run, jobs.min(users))
    }
}

/// The drives of a run.
fn of_run(planned: &Planned) -> Needed {
    let bytes = planned.members.iter().map(|member| member.config.memory().drive_bytes).sum();
    Needed { bytes, drives: planned.members.len() as u64 }
}

/// Memory that a job needs in addition to drives: to execute a run, and to precondition one of the run's drives.
fn of_job(planned: &Planned, checks: bool) -> [Needed; 2] {
    let memory = || planned.members.iter().map(|member| member.config.memory());
    let run_bytes = memory().map(|of| of.run_bytes + if checks { of.check_bytes } else { 0 }).sum();
    let preconditioning_bytes = memory().map(|of| of.preconditioning_bytes).max().unwrap_or(0);
    [run_bytes, preconditioning_bytes].map(|bytes| Needed { bytes, drives: 0 })
}

/// The sum of the largest ones, `count` of them.
fn largest(needed: impl Iterator<Item = Needed>, count: usize) -> Needed {
    let mut all: Vec<Needed> = needed.collect();
    all.sort_unstable_by_key(|needed| std::cmp::Reverse(needed.bytes));
    all.into_iter().take(count).fold(Needed::default(), Needed::add)
}

fn refuse(needed: Needed, jobs: usize) -> Result<(), Failure> {
    let Available { bytes, by } = available(jobs);
    if needed.bytes <= bytes {
        return Ok(());
    }
    let of = match needed.drives {
        1 => "the drive's tables take".to_owned(),
        drives => format!("the tables of {drives} drives at once take"),
    };
    let alone = if jobs > 1 && needed.drives > 1 { "--jobs 1 takes less, and so do " } else { "use " };
    Err(Failure::run(format!(
        "{of} {} of memory, and {} are available ({by})",
        format::size(needed.bytes as f64),
        format::size(bytes as f64)
    ))
    .with_help(format!("{alone}fewer `geometry.blocks_per_plane`, or a larger `geometry.mapping_unit`")))
}

/// Free memory of the machine, of the program's control group and of its address space: the least of them.
fn available(jobs: usize) -> Available {
    let system = sysinfo::System::new().ok().map(|mut system| {
        system.refresh_memory();
        system
    });
    // If the system reports no limit, nothing is refused.
    let free_bytes = system.as_ref().map_or(u64::MAX, sysinfo::System::available_memory);
    let free = Available { bytes: free_bytes, by: "free on this machine" };
    let limits = system.as_ref().and_then(sysinfo::System::cgroup_limits);
    let of_group = limits
        .map(|limits| Available { bytes: limits.total_memory.saturating_sub(limits.rss), by: "left of `memory.max`" });
    let of_space = left_of_address_space(jobs as u64)
        .map(|bytes| Available { bytes, by: "left of the address space, `ulimit -v`" });
    [of_group, of_space].into_iter().flatten().fold(
        free,
        |least, other| {
            if other.bytes < least.bytes { other } else { least }
        },
    )
}

/// The rest of the address space, if it has a limit.
#[cfg(target_os = "linux")]
fn left_of_address_space(threads: u64) -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    let used = pages * rustix::param::page_size() as u64;
    Some(limit.saturating_sub(used + threads * THREAD_BYTES))
}

#[cfg(not(target_os = "linux"))]
fn left_of_address_space(_threads: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::plan::plan;

    /// Drives by hand: `baseline`, `pgc` and `npgc` share one, which is packed while several runs need it;
    /// `greedy-split` has its own.
    #[test]
    fn drives_that_exist_at_the_same_time_are_counted() {
        let needed = |schemes: &[&str], jobs: usize, looks_for_warmup: bool| {
            let schemes = schemes.iter().map(|scheme| (*scheme).to_owned()).collect();
            let workload = Some("mixed-70-30".to_owned());
            let plan = plan(&Experiment { schemes, workload, ..Experiment::default() }, &[]).expect("it is right");
            let copyback::run::memory::Memory { drive_bytes, packed_bytes, run_bytes, preconditioning_bytes, .. } =
                plan.runs[0].members[0].config.memory();
            let beside = run_bytes.max(preconditioning_bytes) * jobs.min(2 * plan.runs.len()) as u64;
            let Needed { bytes, .. } = of_plan(&plan, DriveUse { jobs, checks: false, looks_for_warmup });
            let drives = bytes - beside;
            let whole = (0..10)
                .find(|whole| (drives - whole * drive_bytes).is_multiple_of(packed_bytes))
                .expect("whole numbers");
            (whole, (drives - whole * drive_bytes) / packed_bytes)
        };
        assert_eq!(needed(&["baseline"], 1, false), (1, 0), "its only run takes it");
        assert_eq!(needed(&["baseline", "pgc"], 1, false), (1, 1));
        assert_eq!(needed(&["baseline", "pgc"], 2, false), (2, 1));
        assert_eq!(needed(&["baseline", "pgc", "npgc"], 2, false), (2, 1));
        assert_eq!(
            needed(&["baseline", "greedy-split"], 1, false),
            (1, 0),
            "the second is made when the first is gone"
        );
        assert_eq!(needed(&["baseline", "greedy-split"], 2, false), (2, 0));
        assert_eq!(needed(&["baseline", "pgc"], 1, true), (1, 1));
        assert_eq!(needed(&["baseline", "greedy-split"], 1, true), (3, 0), "both are kept, and one is copied");
    }
}
