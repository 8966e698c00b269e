//! Results of each of several workloads that share the drives, as a person reads them.

use crate::execute::Finished;
use crate::failure::Failure;
use crate::format::{are_too_few, large, size, time};
use crate::plan::Plan;
use crate::run::latencies::ShownWords;
use crate::table::{self, BOLD, Cell};
use copyback::observe::report::{Cause, Latency, TenantReport};

/// A column of a class of requests: its heading, and its value; none if its requests are too few for it.
type ClassColumn<'a> = (&'a str, Box<dyn Fn(&Latency, &[(Cause, f64)]) -> Option<f64> + 'a>);

/// A row for each workload, or a heading for each and a row for each scheme, `terminal_columns` characters wide; empty
/// if there is one workload, or if none reads or writes. `show`: the columns of response times, as `run --show` names
/// them; the usual ones if it is empty.
pub fn text(plan: &Plan, finished: &[Finished], show: &[String], terminal_columns: usize) -> Result<String, Failure> {
    let has_times = |report: &TenantReport| report.response.read.count + report.response.write.count > 0;
    if !finished.iter().any(|done| done.outcome.report.workloads.values().any(has_times)) {
        return Ok(String::new());
    }
    let of_class = columns(show);
    let has_several_schemes = finished.len() > 1;
    let mut rows = heads(has_several_schemes, &of_class);
    for name in plan.runs[0].resolved.tenants.keys() {
        if has_several_schemes {
            rows.push(vec![Cell::styled(name, BOLD)]);
        }
        for (planned, done) in plan.runs.iter().zip(finished) {
            let Some(report) = done.outcome.report.workloads.get(name) else { continue };
            let shown = if has_several_schemes { format!("  {}", planned.scheme) } else { format!("  {name}") };
            rows.push(row(shown, report, &of_class));
        }
    }
    Ok(table::split(&rows, terminal_columns))
}

/// The columns of each class.
fn columns(show: &[String]) -> Vec<ClassColumn<'static>> {
    let chosen = ShownWords::of(show).columns_or(&["mean", "p50", "p99", "p99.9"]);
    let mut columns: Vec<ClassColumn<'static>> = Vec::new();
    for (title, beyond_ppm, value) in chosen.into_iter().copied() {
        let is_there = move |class: &Latency| class.count > 0 && !are_too_few(class.count, beyond_ppm);
        columns.push((title, Box::new(move |class, _| is_there(class).then(|| value(class)))));
        if show.is_empty() && title == "mean" {
            let gc_ns =
                |parts: &[(Cause, f64)]| parts.iter().filter(|(cause, _)| *cause == Cause::Gc).map(|(_, ns)| ns).sum();
            columns.push(("GC part", Box::new(move |class, parts| (class.count > 0).then(|| gc_ns(parts)))));
        }
    }
    columns
}

/// Two lines of headings.
fn heads(has_several_schemes: bool, of_class: &[ClassColumn<'_>]) -> Vec<Vec<Cell>> {
    let first = if has_several_schemes { "workload" } else { "" };
    let mut lines = [vec!["", "", ""], vec![first, "IOPS", "bytes/s"]];
    for group in ["reads", "writes"] {
        for (at, (title, _)) in of_class.iter().enumerate() {
            lines[0].push(if at == 0 { group } else { "" });
            lines[1].push(title);
        }
    }
    lines.map(|texts| texts.iter().map(|text| Cell::styled(*text, BOLD)).collect()).to_vec()
}

fn row(name: String, report: &TenantReport, of_class: &[ClassColumn<'_>]) -> Vec<Cell> {
    let rate = |rate: Option<f64>, print: fn(f64) -> String| Cell::new(rate.map_or_else(|| "none".to_owned(), print));
    let mut cells = vec![Cell::new(name), rate(report.iops, large), rate(report.bytes_per_s, size)];
    let parts = &report.latency_breakdown;
    for (class, parts) in [(&report.response.read, &parts.read_mean_ns), (&report.response.write, &parts.write_mean_ns)]
    {
        let shown = of_class.iter().map(|(_, value)| value(class, parts).map_or_else(|| "-".to_owned(), time));
        cells.extend(shown.map(Cell::new));
    }
    cells
}
