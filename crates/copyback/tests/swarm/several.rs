//! A drive among others has exactly the results that it has alone.
//!
//! Drives of one run share a clock and an open host that lets every request in when it arrives, so each drive's
//! requests take exactly as long, with the same latency breakdown, as in a run of their own.

use crate::draws::Demands;
use crate::knobs::Mark;
use crate::runs::{self, run_together};
use crate::tally::Verdict;
use copyback::flash::geometry::Geometry;
use copyback::ftl::core::Ftl;
use copyback::host::config::HostConfig;
use copyback::observe::report::RequestRecord;
use copyback::run::config::RunConfig;
use copyback::run::preconditioning;
use copyback::tasks::gc::trigger::TriggerPolicy;
use copyback::workload::Request;
use proptest::prelude::*;

/// Drives with their requests; drives whose configuration is refused are left out.
#[derive(Clone, Debug)]
pub struct Case {
    drives: Vec<runs::Case>,
}

impl Case {
    fn marks(&self) -> Vec<Mark> {
        self.accepted().flat_map(|d| d.marks.clone()).collect()
    }

    fn accepted(&self) -> impl Iterator<Item = &runs::Case> {
        self.drives.iter().filter(|d| d.config.check().is_ok() && obstacle(&d.config).is_none())
    }
}

/// The reason why a drive works without requests of its host, if its settings have one. Such work ends with the last
/// request of all hosts, so that it continues for longer with other drives.
fn obstacle(config: &RunConfig) -> Option<&'static str> {
    let has_task = |task: &str| config.tasks.on().any(|(name, _)| name == task);
    // The text has a key of the buffer only if its value is not the default.
    let buffer = toml::to_string(&config.buffer).expect("a buffer is a table");
    let obstacles = [
        (config.trigger.build(&Geometry::new(&config.device())).idle().is_some(), "trigger.idle"),
        (["idle_after", "low_water"].iter().any(|key| buffer.contains(key)), "buffer.policy"),
        (has_task("scrub"), "tasks.scrub"),
        (has_task("wear"), "tasks.wear"),
        (has_task("plugin"), "tasks.plugin"),
        // Collections that are requests among others end with the host, too.
        (config.preemption.as_task().is_some(), "preemption.policy"),
        // Parity is written after the last request, and whether collections begin then depends on the other hosts.
        (config.redundancy.has_parity(), "redundancy.policy"),
    ];
    obstacles.into_iter().find(|(is_one, _)| *is_one).map(|(_, keys)| keys)
}

/// Two or three drives.
pub fn case() -> impl Strategy<Value = Case> {
    let demands = Demands { obstacle, ..Demands::NONE };
    prop::collection::vec(runs::plain_case(demands), 2..4).prop_map(|drives| Case { drives })
}

/// Whether at least two drives ran together, each with the results of a run alone.
pub fn holds(case: &Case) -> Result<Verdict, TestCaseError> {
    let aged = |d: &runs::Case| {
        Some((d.config.clone(), preconditioning::preconditioned(&d.config, d.seed).ok()?, d.asked().to_vec()))
    };
    let drives: Vec<(RunConfig, Ftl, Vec<Request>)> = case.accepted().filter_map(aged).collect();
    let [first, _, ..] = &drives[..] else { return Ok(Verdict::default()) };
    let subpage_writes = first.0.host.subpage_writes;
    let host = HostConfig { subpage_writes, ..HostConfig::default() };
    let numbered = |(device, (_, _, asked)): (u32, &(RunConfig, Ftl, Vec<Request>))| -> Vec<Request> {
        asked.iter().map(|r| Request { device, ..*r }).collect()
    };
    let mut all: Vec<Request> = (0..).zip(&drives).flat_map(numbered).collect();
    all.sort_by_key(|r| r.arrival_ns);
    let members = drives.iter().map(|(config, ftl, _)| (config, ftl.clone())).collect();
    let (together, work) = run_together(members, &host, &all)?;
    prop_assert_eq!(together.len(), all.len());
    for (device, (config, ftl, asked)) in drives.iter().enumerate() {
        let (alone, own_work) = run_together(vec![(config, ftl.clone())], &host, asked)?;
        prop_assert_eq!(&work[device], &own_work[0], "work of drive {}", device);
        // `index` counts the requests of all drives in the common run, and of one drive in the run alone.
        let of_device: Vec<u64> =
            (0..).zip(&all).filter(|(_, r)| r.device == device as u32).map(|(at, _)| at).collect();
        let mut among: Vec<RequestRecord> = Vec::new();
        for record in &together {
            if let Ok(index) = of_device.binary_search(&record.index) {
                among.push(RequestRecord { index: index as u64, ..*record });
            }
        }
        let mut both = [among, alone];
        both.iter_mut().for_each(|records| records.sort_by_key(|r| r.index));
        prop_assert_eq!(&both[0], &both[1], "requests of drive {}", device);
    }
    Ok(Verdict::of(true, &case.marks()))
}
