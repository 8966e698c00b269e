//! Notes on writes that bring less than the mapping units and pages that they program. Write amplification counts whole
//! units, so it does not include this cost.

use crate::execute::Finished;
use crate::format;
use crate::plan::{Plan, Planned};
use copyback::observe::report::Report;

/// Notes on small writes; each line once.
pub fn notes(plan: &Plan, finished: &[Finished]) -> Vec<String> {
    let reports = || plan.runs.iter().zip(finished).map(|(planned, done)| (planned, &done.outcome.report));
    let units = reports().find_map(|(planned, report)| note_of_units(planned, report));
    let padded: Vec<(&str, f64)> = reports().filter_map(|(planned, report)| padded(planned, report)).collect();
    units.into_iter().chain(note_of_padding(&padded)).collect()
}

/// Least ratio of the units that the host wrote to the bytes that it brought, for a note.
const REWRITTEN_MIN: f64 = 1.3;

/// The note that writes rewrite more than they bring: parts of mapping units, at their beginning or end.
fn note_of_units(planned: &Planned, report: &Report) -> Option<String> {
    let unit_bytes = planned.resolved.run.geometry.unit_bytes();
    let mean_bytes = report.written_bytes as f64 / report.writes.max(1) as f64;
    let rewritten = (report.units_written * unit_bytes) as f64 / report.written_bytes.max(1) as f64;
    let is_high = report.writes > 0 && rewritten > REWRITTEN_MIN;
    is_high.then(|| {
        format!(
            "Note: writes bring {} on average, and rewrite whole mapping units of {}: {rewritten:.1} times as many bytes, \
             which WA does not count; a smaller `geometry.mapping_unit`, with `frontier.fill_limit`, lets several writes \
             share a page\n",
            format::size(mean_bytes),
            format::size(unit_bytes as f64)
        )
    })
}

/// A scheme with more than half a padding unit for each unit programmed for the host, although its pages could be
/// filled; with this ratio.
fn padded<'a>(planned: &'a Planned, report: &Report) -> Option<(&'a str, f64)> {
    let padding = report.flash.padding_units as f64 / report.flash.host_units.max(1) as f64;
    let Planned { resolved, scheme, .. } = planned;
    let geometry = &resolved.run.geometry;
    let may_fill = geometry.page_size.0 > geometry.unit_bytes() && resolved.run.frontier.fill().is_none();
    (report.flash.host_units > 0 && padding > 0.5 && may_fill).then_some((&**scheme, padding))
}

fn note_of_padding(padded: &[(&str, f64)]) -> Option<String> {
    let most = padded.iter().map(|(_, padding)| *padding).reduce(f64::max)?;
    let names: Vec<&str> = padded.iter().map(|(name, _)| *name).collect();
    Some(format!(
        "Note: pages of {} are padded, up to {most:.2} units for each unit programmed for the host: small writes go \
         to flash before their pages are full; `frontier.fill_limit` (of `single`, `split`) or a buffer that fills \
         pages (`buffer.policy = \"lru\"`) makes them wait for others\n",
        format::names(&names)
    ))
}
