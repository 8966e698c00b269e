//! Settings of a workload, and the host's defaults for workloads, that no request depends on.

use super::{ModeSetting, OF_ONE_MODE, keys_of, loop_of};
use copyback::config::layers::{Configuration, Origin, Text, WORKLOADS};
use copyback::dispatch::order::OrderConfig;
use copyback::host::config::{HostConfig, HostMode};
use copyback::run::config::{Resolved, RunConfig, Stack};
use copyback::tasks::gc::preemption::PreemptionConfig;
use copyback::workload::spec::{Pace, Tenant, WorkloadSpec};
use std::sync::Arc;

/// The key of the share of urgent requests.
const URGENT: &str = "high_priority_share";

/// Notes on settings of workloads without effect.
pub(super) fn without_effect(stack: &Stack, resolved: &Resolved) -> Vec<String> {
    let mut notes = match resolved.tenants.is_empty() {
        true => of_one_loop(stack, &resolved.run),
        false => of_defaults(stack, resolved),
    };
    notes.extend(of_arrivals(stack, resolved));
    notes.extend(unused(stack, "workload", &resolved.workload));
    for (name, tenant) in &resolved.tenants {
        notes.extend(unused(stack, &format!("{WORKLOADS}.{name}"), &tenant.spec));
    }
    notes.extend(of_urgent(stack, resolved));
    notes
}

/// The text that set a key, if it is the user's own.
fn users_text(stack: &Stack, key: &str) -> Option<Arc<Text>> {
    stack.place_of_leaf(key).map(|place| place.text).filter(|text| text.origin.is_no_preset())
}

/// Settings of the other loop than the host's.
fn of_one_loop(stack: &Stack, run: &RunConfig) -> Vec<String> {
    let of_one = |ModeSetting { table, key, mode, differs_from_default }: &ModeSetting| {
        let key = format!("{table}.{key}");
        let text = users_text(stack, &key)?;
        let is = loop_of(run.host.mode);
        (run.host.mode != *mode && differs_from_default(&run.host))
            .then(|| format!("`{key}` ({}) has no effect, for the host's loop is {is}", text.name))
    };
    OF_ONE_MODE.iter().filter_map(of_one).collect()
}

/// Arrival times that the command line sets for a workload whose requests begin when others end.
fn of_arrivals(stack: &Stack, resolved: &Resolved) -> Vec<String> {
    let Resolved { run, workload, tenants } = resolved;
    let is_closed = run.has_closed_loop();
    let alone = tenants.is_empty().then(|| ("workload".to_owned(), workload, run.host.mode == HostMode::Closed));
    let shared = tenants
        .iter()
        .map(|(name, tenant)| (format!("{WORKLOADS}.{name}"), &tenant.spec, tenant.pace(is_closed) == Pace::Closed));
    let note = |(table, spec, ignores_arrivals): (String, &WorkloadSpec, bool)| {
        // Rates of reads and of writes decide which of them comes next in a closed loop, too.
        let arrivals =
            spec.arrivals.as_ref().filter(|_| ignores_arrivals && spec.has_times() && spec.read_arrivals.is_none())?;
        let key = format!("{table}.arrivals");
        let keys = keys_of(&key, &toml::Value::try_from(arrivals).ok()?);
        let text =
            keys.iter().find_map(|own| users_text(stack, own).filter(|text| text.origin == Origin::CommandLine))?;
        let why = loop_of(HostMode::Closed);
        Some(format!("`{key}` ({}) has no effect, for the workload's loop is {why}", text.name))
    };
    alone.into_iter().chain(shared).filter_map(note).collect()
}

/// The host's defaults for several workloads, if each workload sets its own.
fn of_defaults(stack: &Stack, resolved: &Resolved) -> Vec<String> {
    let (host, usual) = (&resolved.run.host, HostConfig::default());
    let is_closed = resolved.run.has_closed_loop();
    // The resolved workload has a mode in any case: the one that was set, or what follows from the host's.
    let takes_mode = |(name, tenant): (&String, &Tenant)| {
        tenant.spec.has_times() && stack.place_of_leaf(&format!("{WORKLOADS}.{name}.mode")).is_none()
    };
    let takes_depth = |tenant: &Tenant| tenant.pace(is_closed) != Pace::Open && tenant.settings.queue_depth.is_none();
    let is_of_job = |name: &String| {
        let place = stack.place_of_leaf(&format!("{WORKLOADS}.{name}.mode"));
        place.is_some_and(|place| place.text.origin == Origin::Fio)
    };
    let are_jobs = !resolved.tenants.is_empty() && resolved.tenants.keys().all(is_of_job);
    let (mode_reason, depth_reason) = match are_jobs {
        true => ("each job determines when its requests begin (`rate`)", "each job has its own `iodepth`"),
        false => (
            "each workload determines when its requests begin (`mode`)",
            "each workload has its own `queue_depth`, or begins its requests at their times",
        ),
    };
    let is_several = !resolved.tenants.is_empty();
    let rows = [
        ("mode", host.mode != usual.mode, resolved.tenants.iter().any(takes_mode), mode_reason),
        (
            "queue_depth",
            host.queue_depth != usual.queue_depth,
            resolved.tenants.values().any(takes_depth),
            depth_reason,
        ),
    ];
    let note = |(key, is_set, is_used, says): (&str, bool, bool, &str)| {
        let key = format!("host.{key}");
        let text = users_text(stack, &key)?;
        // A default counts as set if the command line names it.
        let is_asked_for = is_set || (is_several && text.origin == Origin::CommandLine);
        (is_asked_for && !is_used).then(|| format!("`{key}` ({}) has no effect: {says}", text.name))
    };
    rows.into_iter().filter_map(note).collect()
}

/// Notes on the keys of its own table that a generator does not use.
fn unused(stack: &Stack, table: &str, spec: &WorkloadSpec) -> Vec<String> {
    let unused = spec.unused();
    if unused.is_empty() {
        return Vec::new();
    }
    let Ok(tables) = toml::Value::try_from(spec) else { return Vec::new() };
    let keys = keys_of(table, &tables);
    let note = |copyback::workload::spec::Unused { key, why }: &copyback::workload::spec::Unused| {
        let key = format!("{table}.{key}");
        let is_of = |own: &&String| **own == key || own.strip_prefix(&key).is_some_and(|rest| rest.starts_with('.'));
        // No notes on tables of fio's jobs: they have keys that the job files do not name.
        let text = keys
            .iter()
            .filter(is_of)
            .find_map(|own| users_text(stack, own).filter(|text| text.origin != Origin::Fio))?;
        Some(format!("`{key}` ({}) has no effect: {why}", text.name))
    };
    unused.iter().filter_map(note).collect()
}

/// A share of urgent requests under a scheme that treats all requests alike.
fn of_urgent(stack: &Stack, resolved: &Resolved) -> Option<String> {
    let is_some = |spec: &WorkloadSpec| spec.high_priority_share.is_some_and(|share| share > 0.0);
    let of_tenants =
        resolved.tenants.iter().map(|(name, tenant)| (format!("{WORKLOADS}.{name}.{URGENT}"), &tenant.spec));
    let all = std::iter::once((format!("workload.{URGENT}"), &resolved.workload)).chain(of_tenants);
    let mut set = all.filter(|(_, spec)| is_some(spec));
    let (key, text) = set.find_map(|(key, _)| users_text(stack, &key).map(|text| (key, text)))?;
    let (why, name) = (why_none_is_urgent(&resolved.run)?, &text.name);
    Some(format!("`{key}` ({name}) has no effect: {why}"))
}

/// The reason why no part of a scheme depends on urgency, if none does.
fn why_none_is_urgent(run: &RunConfig) -> Option<String> {
    let is_asked = matches!(run.preemption, PreemptionConfig::Plugin(_)) || matches!(run.order, OrderConfig::Plugin(_));
    if is_asked {
        return None;
    }
    let policy = run.preemption.name();
    match (run.preemption.lets_host_first(), run.trigger.has_hard_watermark()) {
        (false, _) => Some(format!(
            "urgent writes end the preemption of collections below `trigger.hard`, and under `preemption.policy = \
             \"{policy}\"` there is none"
        )),
        (true, false) => {
            Some("urgent writes count below the hard watermark, and there is none: `trigger.hard` is 0".to_owned())
        }
        (true, true) => None,
    }
}
