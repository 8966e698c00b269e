//! Opening the workloads of a planned run.

use crate::failure::Failure;
use crate::plan::Planned;
use crate::workloads::{Opened, open_source, try_trace};
use copyback::host::config::HostMode;
use copyback::run::RequestStreams;
use copyback_workload::spec::WorkloadSpec;
use copyback_workload::temporary::Temporary;
use copyback_workload::tenants::{self, HostDefaults};

/// The requests of a run, and the temporary files that they are read from.
pub struct OpenedAll {
    /// The requests.
    pub streams: RequestStreams,
    /// Files that built-in traces were unpacked to, removed with this value.
    pub files: Vec<Temporary>,
}

/// Opens the workload of a run, or all of several.
pub fn open_all(planned: &Planned, seed: u64) -> Result<OpenedAll, Failure> {
    let (resolved, capacity_bytes) = (&planned.resolved, planned.addressed_bytes());
    if resolved.tenants.is_empty() {
        let Opened { source, file } = open_source(&resolved.workload, seed, capacity_bytes)?;
        return Ok(OpenedAll { streams: RequestStreams::One(source), files: file.into_iter().collect() });
    }
    let host = &resolved.run.host;
    let defaults = HostDefaults {
        is_closed: host.mode == HostMode::Closed,
        queue_depth: host.queue_depth,
        grain_bytes: resolved.run.geometry.unit_bytes(),
    };
    let mut files = Vec::new();
    let open_one = |spec: &WorkloadSpec, seed, capacity_bytes| -> Result<_, Failure> {
        let Opened { source, file } = open_source(spec, seed, capacity_bytes).map_err(|failure| {
            match resolved.tenants.iter().find(|(_, tenant)| std::ptr::eq(&raw const tenant.spec, spec)) {
                Some((name, _)) => of_workload(name, failure),
                None => failure,
            }
        })?;
        files.extend(file);
        Ok(source)
    };
    let streams = tenants::open(&resolved.tenants, seed, capacity_bytes, defaults, open_one)?;
    Ok(OpenedAll { streams: RequestStreams::Several(streams), files })
}

/// Reads the beginnings of all traces of a run, as [`try_trace`] does.
pub fn try_traces(planned: &Planned, seed: u64, requests: Option<u64>) -> Result<(), Failure> {
    let (resolved, capacity_bytes) = (&planned.resolved, planned.addressed_bytes());
    if resolved.tenants.is_empty() {
        return try_trace(&resolved.workload, seed, capacity_bytes, requests);
    }
    let grain_bytes = resolved.run.geometry.unit_bytes();
    let regions = tenants::regions(&resolved.tenants, capacity_bytes, grain_bytes)?;
    for ((name, tenant), [_, bytes]) in resolved.tenants.iter().zip(regions) {
        try_trace(&tenant.spec, seed, bytes, requests).map_err(|failure| of_workload(name, failure))?;
    }
    Ok(())
}

/// A failure of one of several workloads, with its name and the keys of its own table.
fn of_workload(name: &str, failure: Failure) -> Failure {
    failure.reworded(|text| tenants::with_keys_of(name, text)).of_run(&format!("workload `{name}`"))
}
