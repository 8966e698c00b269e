//! Notes for users on the validity of a run's results.

use crate::execute::Finished;
use crate::plan::{Plan, Planned};
use crate::{format, small_writes, steady, workloads};
use copyback::config::layers::Origin;
use copyback::host::config::HostMode;
use copyback::observe::report::Report;
use copyback::run::config::{Resolved, RunConfig, WriteBufferSetting};
use copyback::workload::spec::{Footprint, Tenant};
use copyback_workload::printable::printable;
use std::collections::{BTreeMap, BTreeSet};

/// Notes for the user on the runs, and on whether their drives were steady; each note once.
pub fn notes(plan: &Plan, finished: &[Finished]) -> String {
    let fitted = plan.fitted.zip(plan.runs.first()).map(|(fitted, planned)| fitted.note(planned));
    let of_jobs: String = plan.notes.iter().map(|note| format!("Note: {}\n", printable(note))).collect();
    let lines = of_jobs
        + &fitted.unwrap_or_default()
        + &note_of_times(plan).unwrap_or_default()
        + &notes_of_runs(plan, finished)
        + &note_of_unwritten(finished).unwrap_or_default()
        + nothing_to_collect(finished)
        + note_of_trims(finished)
        + &steady::notes(plan, finished).concat();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Notes for the user on the runs, except on steady states and on reads without data; each note once.
pub fn notes_of_runs(plan: &Plan, finished: &[Finished]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for planned in &plan.runs {
        lines.extend(planned.notes().map(|what| format!("Note ({}): {}\n", planned.scheme, printable(what))));
    }
    for (planned, done) in plan.runs.iter().zip(finished) {
        for note in done.outcome.notes.iter().filter(|note| !is_noise_of_built_in_trace(planned, note)) {
            let everywhere = finished.iter().all(|other| other.outcome.notes.contains(note));
            let note = printable(note);
            let line =
                if everywhere { format!("Note: {note}\n") } else { format!("Note ({}): {note}\n", planned.scheme) };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(limit_note(plan, finished));
    lines.extend(note_of_erases(plan, finished));
    lines.extend(note_of_ends(plan, finished));
    lines.extend(plan.runs.iter().zip(finished).filter_map(|(planned, done)| note_of_rounds(planned, done)));
    lines.extend(plan.runs.first().and_then(note_of_units));
    lines.extend(notes_of_scopes(plan));
    lines.extend(note_of_drives(plan));
    lines.extend(note_of_loads(plan));
    lines.extend(note_of_regions(plan));
    lines.extend(note_of_warmups(plan, finished));
    lines.extend(small_writes::notes(plan, finished));
    lines.concat()
}

/// The note that schemes run on different drives or arrays, so that the comparison is not of schemes only.
fn note_of_drives(plan: &Plan) -> Option<String> {
    let drive = |run: &RunConfig| (run.geometry.clone(), run.timing.clone(), run.capacity.clone());
    let array = |run: &RunConfig| run.array.as_ref().map(|array| (array.level, array.drives));
    note_of_others(plan, |run| drive(&run.run), "a different drive")
        .or_else(|| note_of_others(plan, |run| array(&run.run), "a different array"))
}

/// The note that schemes have different loads.
fn note_of_loads(plan: &Plan) -> Option<String> {
    let load = |run: &Resolved| (run.workload.clone(), run.tenants.clone(), run.run.host.clone());
    note_of_others(plan, load, "a different load")
}

/// The note that a property of some schemes' runs is not that of the first; `what`: the statement about them.
fn note_of_others<T: PartialEq>(plan: &Plan, of: impl Fn(&Resolved) -> T, what: &str) -> Option<String> {
    let first = plan.runs.first()?;
    let own = of(&first.resolved);
    let others = plan.runs.iter().filter(|planned| of(&planned.resolved) != own);
    let names: Vec<&str> = others.map(|planned| &*planned.scheme).collect();
    (!names.is_empty()).then(|| {
        let names = format::names(&names);
        format!("Note: {names}: {what} than `{}`; the schemes differ in more than GC\n", first.scheme)
    })
}

/// The note that units of different sizes are counted together.
fn note_of_units(planned: &Planned) -> Option<String> {
    let sizes: BTreeSet<u64> = planned.members.iter().map(|member| member.config.geometry.unit_bytes()).collect();
    let list: Vec<String> = sizes.iter().map(|bytes| format::size(*bytes as f64)).collect();
    (sizes.len() > 1).then(|| {
        let list = list.join(" and ");
        format!(
            "Note: drives have mapping units of {list}; sums of units, and write amplification, count all units alike\n"
        )
    })
}

/// The note that a workload's arrival times are not used, unless the command line requests that.
fn note_of_times(plan: &Plan) -> Option<String> {
    let ignores_arrivals = |planned: &&Planned| {
        let Resolved { run, workload, tenants } = &planned.resolved;
        tenants.is_empty() && run.host.mode == HostMode::Closed && workload.has_times()
    };
    let from = plan.runs.iter().find(ignores_arrivals)?.mode_from.as_ref();
    let from = printable(&from.filter(|from| from.origin != Origin::CommandLine)?.name);
    Some(format!(
        "Note: `host.mode = \"closed\"` ({from}): the workload's arrival times are not used; --open uses them, and \
         --closed leaves this note out\n"
    ))
}

/// The note that a run without reads and writes has no response times.
fn note_of_trims(finished: &[Finished]) -> &'static str {
    let is_all = |report: &Report| report.trims > 0 && report.reads + report.writes == 0;
    if finished.iter().all(|done| is_all(&done.outcome.report)) {
        return "Note: all requests are trims, which take no time here: there are no response times, and no rates\n";
    }
    ""
}

/// Why schemes that are compared are alike.
fn nothing_to_collect(finished: &[Finished]) -> &'static str {
    let is_idle = |report: &Report| report.writes == 0 && report.gc.collections == 0;
    if finished.len() > 1 && finished.iter().all(|done| is_idle(&done.outcome.report)) {
        return "Note: no request writes, so no scheme collects, and all GC schemes give the same results\n";
    }
    ""
}

/// The note that coordinated drives collected only at their last resort, so the run does not show coordination.
fn note_of_rounds(planned: &Planned, done: &Finished) -> Option<String> {
    let array = done.outcome.report.array.as_ref()?;
    let (rounds, alone) = (array.rounds?.rounds, array.coordination?.last_resort_collections);
    (rounds == 0 && alone > 0).then(|| {
        format!(
            "Note ({}): no round of coordinated collection, and {} at the last resort: drives fell to \
             `trigger.last_resort` before an order came; raise `trigger.soft`, so that they report earlier\n",
            planned.scheme,
            format::counted(alone, "collection")
        )
    })
}

/// The note that background tasks made all erases, so the run says nothing about GC.
fn note_of_erases(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let by_tasks = |report: &Report| report.gc.collections == 0 && report.flash.blocks_relocated > 0;
    let found: Vec<(&str, String)> = plan
        .runs
        .iter()
        .zip(finished)
        .map(|(planned, done)| (&*planned.scheme, &done.outcome.report))
        .filter(|(_, report)| by_tasks(report))
        .map(|(scheme, report)| (scheme, format::count(report.flash.block_erases)))
        .collect();
    let schemes: Vec<&str> = found.iter().map(|(scheme, _)| *scheme).collect();
    let erases: Vec<&str> = found.iter().map(|(_, erases)| &**erases).collect();
    (!found.is_empty()).then(|| {
        let (schemes, erases) = (format::names(&schemes), erases.join(", "));
        format!("Note: no collection in {schemes}: scrubbing or wear levelling made all {erases} erases\n")
    })
}

/// The note that compared schemes complete writes in different places, in DRAM or in flash, so their times must not be
/// compared.
fn note_of_ends(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let in_dram = |planned: &Planned| planned.resolved.run.write_buffer();
    let names = |are_in_dram: bool| {
        let of = plan.runs.iter().filter(|planned| in_dram(planned).is_some() == are_in_dram);
        of.map(|planned| &*planned.scheme).collect::<Vec<_>>()
    };
    let (buffered, in_flash) = (names(true), names(false));
    let has_written = finished.iter().any(|done| done.outcome.report.writes > 0);
    (has_written && !buffered.is_empty() && !in_flash.is_empty()).then(|| {
        let key = match plan.runs.iter().find_map(in_dram) {
            Some(WriteBufferSetting::Fill) => "`frontier.fill_limit`, `frontier.fill_ends`",
            _ => "`buffer.policy`",
        };
        format!(
            "Note: a write completes in DRAM under {} and in flash under {}, so do not compare their times ({key}): \
             set the same for all\n",
            format::names(&buffered),
            format::names(&in_flash)
        )
    })
}

/// Notes on watermarks that count as many blocks under all compared schemes, but blocks of a plane under one and of the
/// drive under another.
fn notes_of_scopes(plan: &Plan) -> Vec<String> {
    let mut schemes: BTreeMap<(&str, u32), BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for planned in &plan.runs {
        let run = &planned.resolved.run;
        for (key, blocks) in run.counts_of_blocks() {
            let by_scope = schemes.entry((key, blocks)).or_default();
            by_scope.entry(run.trigger.watermarks().scope.noun()).or_default().push(&planned.scheme);
        }
    }
    schemes.retain(|_, by_scope| by_scope.len() > 1);
    let note = |((key, blocks), by_scope): (&(&str, u32), &BTreeMap<&str, Vec<&str>>)| {
        let scopes: Vec<String> = by_scope
            .iter()
            .map(|(scope, schemes)| format!("blocks of {scope} under {}", format::names(schemes)))
            .collect();
        format!("Note: `{key} = {blocks}` counts {}; set a share, which suits all of them\n", scopes.join(", and "))
    };
    schemes.iter().map(note).collect()
}

/// The note that requests waited because a drive had its maximum of outstanding pages of requests, although
/// `host.outstanding_max` or `host.queue_depth` admitted them.
fn limit_note(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let held = |done: &Finished| done.outcome.report.held_by_transaction_limit;
    let most = finished.iter().map(held).max().filter(|most| *most > 0)?;
    let of = if plan.runs.len() > 1 { "up to " } else { "" };
    Some(format!(
        "Note: {of}{} waited for admission: the drive takes {} pages of requests at once\n",
        format::counted(most, "request"),
        format::count(copyback::run::TRANSACTIONS_MAX as u64)
    ))
}

/// The note on the share of the first run's reads that find no data.
fn note_of_unwritten(finished: &[Finished]) -> Option<String> {
    let report = &finished.first()?.outcome.report;
    let units = report.unwritten_units_read;
    let share = format::percent(units as f64 / report.units_read.max(1) as f64);
    let units = format::count(units);
    (report.unwritten_units_read > 0).then(|| {
        format!(
            "Note: {units} of the mapping units read hold no data ({share}); reading these needs no flash command\n"
        )
    })
}

/// Whether a note says only how a built-in trace is stored and played. The user need not know this, because the
/// addresses of the trace's devices do not overlap.
fn is_noise_of_built_in_trace(planned: &Planned, note: &str) -> bool {
    let trace = planned.resolved.workload.trace.as_deref();
    let is_of_storage = ["format `", "played "].iter().any(|known| note.starts_with(known));
    trace.is_some_and(workloads::is_built_in) && (is_of_storage || note.contains(" devices share one address space"))
}

/// The note that the warm-up of one workload counts in all numbers except its own.
fn note_of_warmups(plan: &Plan, finished: &[Finished]) -> Option<String> {
    let tenants = plan.runs.first()?.resolved.tenants.iter();
    // A workload that ended within its warm-up is measured, and has a note of that.
    let is_measured = |name: &str| {
        let begin = format!("workload `{name}`: it ended within its warm-up");
        finished.iter().all(|done| done.outcome.notes.iter().any(|note| note.starts_with(&begin)))
    };
    let warmed = tenants.filter(|(_, tenant)| tenant.settings.warmup.is_some_and(|warmup| warmup.0 > 0));
    let warmed = warmed.filter(|(name, _)| !is_measured(name));
    let names: Vec<&str> = warmed.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Note: the warm-ups of {} are excluded from their own results only; --warmup excludes one from all \
             results\n",
            format::names(&names)
        )
    })
}

/// The note that a workload's addresses begin inside a mapping unit, so that requests may touch one more unit.
fn note_of_regions(plan: &Plan) -> Option<String> {
    let planned = plan.runs.first()?;
    let unit_bytes = planned.members.iter().map(|member| member.config.geometry.unit_bytes()).max()?;
    let begins = |tenant: &Tenant| match tenant.settings.region_start {
        Some(Footprint::Size(bytes)) => !bytes.0.is_multiple_of(unit_bytes),
        _ => false,
    };
    let inside = planned.resolved.tenants.iter().filter(|(_, tenant)| begins(tenant));
    let names: Vec<&str> = inside.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        let unit = format::size(unit_bytes as f64);
        // Jobs of fio have the key `offset` instead.
        let key = if plan.jobs.list.is_empty() { "region_start" } else { "offset" };
        let names = format::names(&names);
        format!(
            "Note: `{key}` of {names} is no multiple of the mapping unit of {unit}: requests may touch one \
                 unit more\n"
        )
    })
}
