//! A view in characters: a line for each panel, a column for each hundredth of the window. A response is as high as its
//! time; a column shows its longest response. Intervals are as high as their mean over the column.

use super::MicroscopeView;
use super::panels::panels;
use copyback_workload::units::format_duration_ns;

const COLUMNS: usize = 100;
/// Columns between two marks of the axis.
const MARK_COLUMNS: usize = 20;
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws a view with this heading: the volume, and this many of its drives.
pub fn draw(view: &MicroscopeView, heading: &str, drives: u32) -> String {
    let panels = panels(view, drives);
    let names: Vec<String> = panels.iter().map(|panel| format!("{} {}", panel.of(), panel.shows.name())).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let (from, to) = (format_duration_ns(view.from_ns), format_duration_ns(view.to_ns));
    let column_ns = (view.to_ns - view.from_ns) / COLUMNS as u64;
    let mut text = format!("{heading}\n{from} to {to}, a column is {}\n\n", format_duration_ns(column_ns));
    for line in axis(view) {
        text.push_str(&format!("{:width$}  {line}\n", ""));
    }
    for (at, (panel, name)) in panels.iter().zip(&names).enumerate() {
        if at > 0 && panels[at - 1].drive != panel.drive {
            text.push('\n');
        }
        let line: String = panel.heights(view, COLUMNS).into_iter().map(letter).collect();
        let scale = match panel.shows.has_responses() {
            true => format!("  {}", format_duration_ns(panel.scale)),
            false if panel.scale > 1 => format!("  {} dies", panel.scale),
            false => String::new(),
        };
        text.push_str(&format!("{name:width$}  {line}{scale}"));
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text + "\nthe end of a line states its full height: a time, or a number of dies; responses are at their arrival\n"
}

/// Times, and the marks below them.
fn axis(view: &MicroscopeView) -> [String; 2] {
    let (mut times, mut marks) = (String::new(), String::new());
    for mark in (0..=COLUMNS).step_by(MARK_COLUMNS) {
        let after_ns = u128::from(view.to_ns - view.from_ns) * mark as u128 / COLUMNS as u128;
        times = format!("{times:mark$}{}", format_duration_ns(view.from_ns + after_ns as u64));
        marks = format!("{marks:-<mark$}|");
    }
    [times, marks]
}

/// The character for a height between 0 and 1; every height above 0 is visible.
fn letter(height: f64) -> char {
    let eighths = (height * 8.0 - 1e-9).ceil().clamp(0.0, 8.0) as usize;
    if eighths == 0 { ' ' } else { HEIGHTS[eighths - 1] }
}
