//! Results of each of several workloads that share the drives, as a person reads them.

use crate::execute::Finished;
use crate::format::{are_too_few, large, size, time};
use crate::plan::Plan;
use crate::table::{self, BOLD, Cell};
use copyback::observe::report::{Latency, TenantReport};

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

/// Two lines of headings.
fn heads(has_several_schemes: bool) -> Vec<Vec<Cell>> {
    let first = if has_several_schemes { "workload" } else { "" };
    let groups = ["", "", "", "reads", "", "", "", "writes", "", "", ""];
    let titles = [first, "IOPS", "bytes/s", "mean", "of it GC", "p99", "p99.9", "mean", "of it GC", "p99", "p99.9"];
    [groups, titles].map(|texts| texts.iter().map(|text| Cell::styled(*text, BOLD)).collect()).to_vec()
}

fn row(name: String, report: &TenantReport) -> Vec<Cell> {
    let mut cells = vec![Cell::new(name), Cell::new(large(report.iops)), Cell::new(size(report.bytes_per_s))];
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
