//! The section on tasks beside the host: their work, and their shares of the slots.

use crate::format::{count, counted, percent};
use copyback::observe::report::{Report, Sample};
use copyback::run::config::RunConfig;

/// Rows of the section; empty if only collection ran and the policy has no shares.
pub fn rows(run: &RunConfig, report: &Report, series: &[Sample]) -> Vec<(&'static str, String)> {
    let flash = &report.flash;
    let mut rows = Vec::new();
    if let Some(scrub) = &run.tasks.scrub {
        let blocks = counted(flash.blocks_relocated_by_scrub, "block");
        let (reads, start) = (count(report.block_reads_max.unwrap_or(0).into()), count(scrub.start.into()));
        rows.push(("scrubbed", format!("{blocks}; highest read count at the end {reads} (begins above {start})")));
    }
    if let Some(wear) = &run.tasks.wear {
        let blocks = counted(flash.blocks_relocated_by_wear, "block");
        let apart = count((report.wear.max_erases - report.wear.min_erases).into());
        let most = count(wear.threshold.into());
        rows.push(("levelled", format!("{blocks}; erases at the end differ by up to {apart} (begins above {most})")));
    }
    rows.extend(share(series, |sample| sample.gc_share_percent).map(|text| ("share of GC", text)));
    if run.tasks.scrub.is_some() {
        rows.extend(share(series, |sample| sample.scrub_share_percent).map(|text| ("share of scrubbing", text)));
    }
    rows
}

/// A share over time; `None` without shares. 0: the task had no work.
fn share(series: &[Sample], of: fn(&Sample) -> Option<f64>) -> Option<String> {
    let seen: Vec<f64> = series.iter().filter_map(of).collect();
    let at_work = || seen.iter().copied().filter(|&share| share > 0.0);
    let samples = at_work().count();
    if seen.is_empty() {
        return None;
    }
    if samples == 0 {
        return Some("none: the task had no work in any sample".into());
    }
    let (mean, highest) = (at_work().sum::<f64>() / samples as f64, at_work().fold(0.0, f64::max));
    let time = percent(samples as f64 / seen.len() as f64);
    Some(format!("mean {mean:.1} % of the slots, highest {highest:.1} %; at work for {time} of the time"))
}
