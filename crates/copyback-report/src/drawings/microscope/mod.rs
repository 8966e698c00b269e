//! A time window of an array, drawn: response times, and the times at which drives collect.

pub mod svg;
#[cfg(test)]
mod tests;

use super::MicroscopeOptions;
use super::timeline::is_svg;
use copyback::observe::microscope::{Focus, MicroscopeView, text};
use copyback_lab::Failure;
use copyback_lab::plan::Plan;
use std::path::Path;

/// Drives that are drawn if the user does not say how many: as many as tc12 shows.
const DRIVES: u32 = 2;

/// A requested drawing.
pub struct Microscope<'a> {
    path: &'a Path,
    is_svg: bool,
    heading: String,
    focus: Focus,
    drives: u32,
}

impl<'a> Microscope<'a> {
    /// The requested drawing, if any. Refused without an array, and for an empty time window.
    pub fn new(options: &'a MicroscopeOptions, plan: &Plan) -> Result<Option<Self>, Failure> {
        let Some(path) = options.path.as_deref() else { return Ok(None) };
        let is_svg = is_svg("--microscope", path)?;
        let planned = &plan.runs[0];
        let Some(array) = planned.resolved.run.array_or_alone() else {
            return Err(Failure::input("--microscope: the run is of one drive, and not of an array")
                .with_help("describe an array: --array raid-0; --timeline draws a die of one drive"));
        };
        let drives = options.drives.unwrap_or(DRIVES.min(array.drives));
        if drives > array.drives {
            let message = format!("--microscope-drives {drives}: the array has {} drives", array.drives);
            return Err(Failure::input(message).with_help(format!("name a number from 0 to {}", array.drives)));
        }
        if options.for_ns == 0 {
            return Err(
                Failure::input("--microscope-for: the time is zero").with_help("name a time such as \"300 ms\"")
            );
        }
        let workload = copyback_lab::workloads::shown_names(&planned.resolved);
        let drives_of = match array.drives {
            1 => "one drive".to_owned(),
            many => format!("{} of {many} drives", array.level.name()),
        };
        let heading = format!("{}, {}, {drives_of}", planned.scheme, workload.replace('`', ""));
        let focus = Focus { from_ns: options.from_ns, for_ns: options.for_ns };
        Ok(Some(Self { path, is_svg, heading, focus, drives }))
    }

    /// The time that is drawn.
    pub fn focus(&self) -> Focus {
        self.focus
    }

    /// The output path, and the drawing.
    pub fn drawn(&self, view: &MicroscopeView) -> (&'a Path, String) {
        let draw = if self.is_svg { svg::draw } else { text::draw };
        (self.path, draw(view, &self.heading, self.drives))
    }
}
