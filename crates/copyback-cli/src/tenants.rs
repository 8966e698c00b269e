//! Results of each of several workloads that share the drives, as a person reads them.

use crate::execute::Finished;
use crate::format::{self, are_too_few, large, size, time};
use crate::plan::Plan;
use crate::table::{self, BOLD, Cell};
use copyback::observe::report::{Latency, TenantReport};
use copyback::workload::spec::{Footprint, Tenant};

/// A row for each workload, or a heading for each and a row for each scheme, so many characters wide; empty where there
/// is one workload.
pub fn text(plan: &Plan, finished: &[Finished], terminal_columns: usize) -> String {
    let has_several_schemes = finished.len() > 1;
    let mut rows = heads(has_several_schemes);
    for name in plan.runs[0].resolved.tenants.keys() {
        if has_several_schemes {
            rows.push(vec![Cell::styled(name, BOLD)]);
        }
        for (planned, done) in plan.runs.iter().zip(finished) {
            let Some(report) = done.outcome.report.workloads.get(name) else { continue };
            let shown = if has_several_schemes { format!("  {}", planned.scheme) } else { format!("  {name}") };
            rows.push(row(shown, report));
        }
    }
    if plan.runs[0].resolved.tenants.is_empty() {
        return String::new();
    }
    table::split(&rows, terminal_columns)
}

/// That the warm-up of one workload is in all numbers but its own.
pub fn note_of_warmups(plan: &Plan) -> Option<String> {
    let tenants = plan.runs.first()?.resolved.tenants.iter();
    let warmed = tenants.filter(|(_, tenant)| tenant.terms.warmup.is_some_and(|warmup| warmup.0 > 0));
    let names: Vec<&str> = warmed.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Note: what the warm-ups of {} leave out is in all results but their own; --warmup leaves it out of all\n",
            format::names(&names)
        )
    })
}

/// That a workload's addresses begin inside a mapping unit, of which every request then touches one more.
pub fn note_of_regions(plan: &Plan) -> Option<String> {
    let planned = plan.runs.first()?;
    let unit_bytes = planned.members.iter().map(|member| member.config.geometry.unit_bytes()).max()?;
    let begins = |tenant: &Tenant| match tenant.terms.region_start {
        Some(Footprint::Size(bytes)) => !bytes.0.is_multiple_of(unit_bytes),
        _ => false,
    };
    let inside = planned.resolved.tenants.iter().filter(|(_, tenant)| begins(tenant));
    let names: Vec<&str> = inside.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        let (names, unit) = (format::names(&names), size(unit_bytes as f64));
        format!("Note: `region_start` of {names} is no multiple of the mapping unit of {unit}: requests touch one unit more\n")
    })
}

/// Two lines of headings.
fn heads(has_several_schemes: bool) -> Vec<Vec<Cell>> {
    let first = if has_several_schemes { "workload" } else { "" };
    let groups = ["", "", "", "reads", "", "", "", "writes", "", "", ""];
    let titles = [first, "IOPS", "bytes/s", "mean", "of it GC", "p99", "p99.9", "mean", "of it GC", "p99", "p99.9"];
    [groups, titles].map(|texts| texts.iter().map(|text| Cell::styled(*text, BOLD)).collect()).to_vec()
}

fn row(name: String, report: &TenantReport) -> Vec<Cell> {
    let rate = |rate: Option<f64>, print: fn(f64) -> String| Cell::new(rate.map_or_else(|| "none".to_owned(), print));
    let mut cells = vec![Cell::new(name), rate(report.iops, large), rate(report.bytes_per_s, size)];
    let parts = &report.latency_breakdown;
    for (class, parts) in [(&report.response.read, &parts.read_mean_ns), (&report.response.write, &parts.write_mean_ns)]
    {
        let gc_ns: f64 = parts.iter().filter(|(cause, _)| *cause == "gc").map(|(_, ns)| ns).sum();
        let any = |value_ns: f64| if class.count == 0 { "-".to_owned() } else { time(value_ns) };
        let percentile = |value: fn(&Latency) -> u64, beyond_ppm| {
            if are_too_few(class.count, beyond_ppm) { "-".to_owned() } else { time(value(class) as f64) }
        };
        let shown =
            [any(class.mean_ns), any(gc_ns), percentile(|l| l.p99_ns, 10_000), percentile(|l| l.p99_9_ns, 1_000)];
        cells.extend(shown.into_iter().map(Cell::new));
    }
    cells
}
