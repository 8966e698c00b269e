//! Refuses jobs of fio that do not fit the drive. Errors name the options of the job file.

use crate::failure::Failure;
use crate::fio::ListedJob;
use crate::format;
use crate::plan::{Plan, Planned, of_presets};
use copyback::config::presets::DEVICES;
use copyback::flash::geometry::Geometry;
use copyback_workload::spec::Tenant;
use copyback_workload::tenants::region;

/// Refuses jobs that end beyond the drive, and jobs without an address on it.
pub fn check(plan: &Plan) -> Result<(), Failure> {
    for planned in &plan.runs {
        for job in &plan.jobs.list {
            let Some(tenant) = planned.resolved.tenants.get(&job.workload) else { continue };
            check_job(plan, planned, job, tenant)?;
        }
    }
    Ok(())
}

fn check_job(plan: &Plan, planned: &Planned, job: &ListedJob, tenant: &Tenant) -> Result<(), Failure> {
    let capacity_bytes = planned.addressed_bytes();
    let [start, end] = region(tenant, capacity_bytes, planned.resolved.run.geometry.unit_bytes());
    let size = |bytes: u64| format::size(bytes as f64);
    let (name, capacity) = (&job.name, size(capacity_bytes));
    if end > capacity_bytes {
        let what = format!("job `{name}` ends at {} of the drive, which holds {capacity}", size(end));
        // Without its offset it would fit.
        let offset_bytes = start.saturating_sub(job.file_begin);
        if let Some(offset_option) = job.offset_option.as_ref().filter(|_| end - offset_bytes <= capacity_bytes) {
            let key = &offset_option.key;
            let most = size(capacity_bytes - (end - offset_bytes));
            let help = format!("lower {key}=, so that this job begins at most {most} after the start of its file");
            let more = format!(", or {}", larger_drive(plan, planned));
            return Err(offset_option.wrong(what, help + &more));
        }
        return Err(job.size_option.wrong(what, help(plan, planned)));
    }
    if start >= end {
        let what = format!("job `{name}` has no address: it begins at {} of {capacity}", size(start));
        let by = job.offset_option.as_ref().unwrap_or(&job.size_option);
        return Err(by.wrong(what, "lower offset and offset_increment, or raise size"));
    }
    Ok(())
}

/// The help to make all jobs fit.
fn help(plan: &Plan, planned: &Planned) -> String {
    let drive = larger_drive(plan, planned);
    format!("lower size=, or make it a share of the drive (filename=/dev/drive, size=50%), or {drive}")
}

/// How to get a drive that holds all jobs.
fn larger_drive(plan: &Plan, planned: &Planned) -> String {
    let capacity_bytes = planned.addressed_bytes();
    let tenants = plan.jobs.list.iter().filter_map(|job| planned.resolved.tenants.get(&job.workload));
    let unit_bytes = planned.resolved.run.geometry.unit_bytes();
    let needed_bytes = tenants.map(|tenant| region(tenant, capacity_bytes, unit_bytes)[1]).max().unwrap_or(0);
    let sizes = DEVICES.iter().filter_map(|preset| {
        let bytes = Geometry::new(&of_presets([(preset.name, preset.text)]).ok()?.device()).logical_bytes();
        (bytes >= needed_bytes).then_some((bytes, preset.name))
    });
    let device = sizes.min().map_or_else(String::new, |(bytes, name)| {
        format!("take `--device {name}` ({}), or ", format::size(bytes as f64))
    });
    format!("{device}let `--fit 0.9` size the drive")
}
