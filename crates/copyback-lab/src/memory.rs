//! Checks that this machine has enough memory before drives are made: the system would kill the program without a
//! message.

use crate::failure::Failure;
use crate::format;
use crate::plan::Plan;
use crate::preconditioned;
use copyback::run::memory::Memory;
use std::collections::BTreeMap;

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
    let mut of_cells: Vec<Needed> = plans.map(of_largest_run).collect();
    of_cells.sort_unstable_by_key(|needed| std::cmp::Reverse(needed.bytes));
    let at_once = &of_cells[..jobs.min(of_cells.len())];
    let sum = |of: fn(&Needed) -> u64| at_once.iter().map(of).sum();
    refuse(Needed { bytes: sum(|needed| needed.bytes), drives: sum(|needed| needed.drives) }, jobs)
}

/// Memory for preconditioned drives that are kept for later runs: at most a quarter of what is available. It determines
/// how often drives are made, and no result.
pub fn for_kept_drives() -> u64 {
    (available(1).bytes / 4).min(KEPT_MAX_BYTES)
}

fn of_largest_run(plan: &Plan) -> Needed {
    let mut largest = Needed::default();
    for planned in &plan.runs {
        let mut needed = Needed::default();
        for member in &planned.members {
            let Memory { drive_bytes, run_bytes, .. } = member.config.memory();
            needed.bytes += drive_bytes + run_bytes;
            needed.drives += 1;
        }
        if needed.bytes > largest.bytes {
            largest = needed;
        }
    }
    largest
}

/// A preconditioned drive is kept until its last run takes it; other runs get copies. Without memory to keep all, each
/// run may make its own.
fn of_plan(plan: &Plan, DriveUse { jobs, checks, looks_for_warmup }: DriveUse) -> Needed {
    let mut drives: BTreeMap<String, (Memory, u64)> = BTreeMap::new();
    let (mut of_runs, mut of_own_drives) = (Vec::new(), Vec::new());
    for planned in &plan.runs {
        let (mut run_bytes, mut own_bytes) = (0, 0);
        for member in &planned.members {
            let memory = member.config.memory();
            run_bytes += memory.run_bytes + if checks { memory.check_bytes } else { 0 };
            own_bytes += memory.drive_bytes + memory.run_bytes.max(memory.preconditioning_bytes);
            own_bytes += if checks { memory.check_bytes } else { 0 };
            drives.entry(preconditioned::key(member)).or_insert((memory, 0)).1 += 1;
        }
        of_runs.push(run_bytes);
        of_own_drives.push((own_bytes, planned.members.len() as u64));
    }
    let at_once = jobs.min(plan.runs.len()) as u64;
    let kept_max_bytes = for_kept_drives();
    let sizes = || drives.values().map(|(memory, _)| memory.drive_bytes);
    if sizes().sum::<u64>() > kept_max_bytes {
        let kept_bytes = sizes().filter(|bytes| *bytes <= kept_max_bytes).sum::<u64>().min(kept_max_bytes);
        of_own_drives.sort_unstable_by_key(|own| std::cmp::Reverse(*own));
        let own = of_own_drives.iter().take(at_once as usize);
        let (bytes, drives) = own.fold((kept_bytes, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        return Needed { bytes, drives };
    }
    of_runs.sort_unstable_by_key(|bytes| std::cmp::Reverse(*bytes));
    let (mut kept, mut copied, mut copies, mut beside) = (0, 0, 0, 0);
    for (memory, users) in drives.values() {
        let of_key = at_once.min(if looks_for_warmup { *users } else { users - 1 });
        (kept, copied, copies) = (kept + memory.drive_bytes, copied + of_key * memory.drive_bytes, copies + of_key);
        beside = beside.max(memory.preconditioning_bytes);
    }
    let in_runs = copied + of_runs.iter().take(at_once as usize).sum::<u64>();
    let beside = beside * at_once.min(drives.len() as u64);
    Needed { bytes: kept + in_runs.max(beside), drives: drives.len() as u64 + copies }
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
