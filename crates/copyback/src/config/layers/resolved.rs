//! The result of merging layers.

use copyback_workload::spec::WorkloadSpec;
use copyback_workload::tenants::Tenants;
use serde::Serialize;

/// A complete configuration: defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved<C> {
    /// The drive, its scheme, its host and its preconditioning.
    #[serde(flatten)]
    pub run: C,
    /// Its requests; empty if there are several workloads.
    #[serde(skip_serializing_if = "WorkloadSpec::is_nothing")]
    pub workload: WorkloadSpec,
    /// Several workloads by name, if they share the drive.
    #[serde(rename = "workloads", skip_serializing_if = "Tenants::is_empty")]
    pub tenants: Tenants,
}

impl<C: Serialize> Resolved<C> {
    /// As TOML that is an experiment by itself: read back, it is the same configuration.
    pub fn to_toml(&self) -> String {
        #[derive(Serialize)]
        struct Workload<'a> {
            workload: &'a WorkloadSpec,
        }
        #[derive(Serialize)]
        struct Several<'a> {
            workloads: &'a Tenants,
        }
        let run = toml::to_string(&self.run).expect("a configuration holds what TOML can say");
        if !self.tenants.is_empty() {
            let workloads = toml::to_string(&Several { workloads: &self.tenants });
            return format!("{run}\n{}", workloads.expect("workloads hold what TOML can say"));
        }
        let workload = toml::to_string(&Workload { workload: &self.workload });
        format!("{run}\n{}", workload.expect("a workload holds what TOML can say"))
    }
}
