//! Results of each of several workloads that share the drives, as a person reads them.

use crate::execute::Finished;
use crate::format::{are_too_few, large, size, time};
use crate::plan::Plan;
use crate::table::{self, BOLD, Cell};
use copyback::observe::report::{Latency, TenantReport};

/// A row for each workload and scheme, so many characters wide; empty where there is one workload.
pub fn text(plan: &Plan, finished: &[Finished], terminal_columns: usize) -> String {
    let names = plan.runs[0].resolved.tenants.keys();
    let mut rows = Vec::new();
    for name in names {
        for (planned, done) in plan.runs.iter().zip(finished) {
            let Some(report) = done.outcome.report.workloads.get(name) else { continue };
            let first = rows.last().is_none_or(|(known, _, _): &(&str, _, _)| *known != name);
            let shown = if first { name.as_str() } else { "" };
            rows.push((name.as_str(), [shown.to_owned(), planned.scheme.clone()], report));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let has_several_schemes = finished.len() > 1;
    let mut cells = heads(has_several_schemes);
    cells.extend(rows.into_iter().map(|(_, names, report)| row(names, report, has_several_schemes)));
    table::split(&cells, terminal_columns)
}

/// Two lines of headings.
fn heads(has_several_schemes: bool) -> Vec<Vec<Cell>> {
    let groups = ["", "", "", "reads", "", "", "", "writes", "", "", ""];
    let titles = ["", "IOPS", "bytes/s", "mean", "of it GC", "p99", "p99.9", "mean", "of it GC", "p99", "p99.9"];
    let heading = |first: &str, titles: &[&str; 11], scheme: &str| {
        let mut cells = vec![Cell::styled(first, BOLD)];
        cells.extend(has_several_schemes.then(|| Cell::styled(scheme, BOLD)));
        cells.extend(titles[1..].iter().map(|title| Cell::styled(*title, BOLD)));
        cells
    };
    vec![heading("", &groups, ""), heading("workload", &titles, "scheme")]
}

fn row([name, scheme]: [String; 2], report: &TenantReport, has_several_schemes: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::styled(name, BOLD)];
    cells.extend(has_several_schemes.then(|| Cell::new(scheme)));
    cells.push(Cell::new(large(report.iops)));
    cells.push(Cell::new(size(report.bytes_per_s)));
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
