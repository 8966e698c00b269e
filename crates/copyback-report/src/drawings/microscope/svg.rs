//! A view as SVG, as tc12 draws it: panels below each other on one time axis. A response is a needle at its arrival,
//! as high as its time; each pixel shows the longest one. A drive's panel is tinted while that drive collects, the
//! volume's panel while any drive of the array collects.

use crate::svg::{self, Colour, INK, PALE};
use copyback::observe::microscope::panels::{Panel, Shows, panels, united, when_collecting};
use copyback::observe::microscope::{MicroscopeView, Row};
use copyback::observe::timeline::Axis;
use copyback_workload::units::format_duration_ns;

/// Columns of a panel, a pixel each.
const COLUMNS: usize = 900;
const LEFT: f64 = 132.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 40.0;
/// The gap below a panel, and the additional gap below the last panel of the volume or of a drive.
const GAP: f64 = 9.0;
const GAP_BETWEEN: f64 = 11.0;
/// Below the panels: the axis and the legend.
const BOTTOM: f64 = 66.0;
/// Least distance between two ticks of the axis.
const TICK_PX: f64 = 80.0;

/// Colours of panels.
fn colour(shows: Shows) -> Colour {
    match shows {
        Shows::Reads => svg::HOST,
        Shows::Writes => svg::HOST_WRITES,
        Shows::Collecting => svg::GC,
        Shows::Rounds => svg::OTHER_WORK,
    }
}

fn height(shows: Shows) -> f64 {
    match shows {
        Shows::Reads | Shows::Writes => 52.0,
        Shows::Collecting => 24.0,
        Shows::Rounds => 12.0,
    }
}

/// Draws a view with this heading: the volume, and this many of its drives.
pub fn draw(view: &MicroscopeView, heading: &str, drives: u32) -> String {
    let panels = panels(view, drives);
    let tops = tops(&panels);
    let bottom = tops.last().copied().unwrap_or(TOP);
    let (width, height) = (LEFT + COLUMNS as f64 + RIGHT, bottom + BOTTOM);
    let mut svg = svg::scalable((width, height), 12, INK, heading) + svg::BACKGROUND + &svg::heading(heading, 22);
    let scale = Scale { view, px_per_ns: COLUMNS as f64 / (view.to_ns - view.from_ns).max(1) as f64 };
    svg += &scale.axis(bottom);
    for (at, (panel, top)) in panels.iter().zip(&tops).enumerate() {
        let is_first = at == 0 || panels[at - 1].drive != panel.drive;
        svg += &scale.panel(panel, *top, is_first);
    }
    svg + &legend(&panels, bottom + BOTTOM - 12.0) + svg::END
}

/// The positions at which panels begin, and at which the last one ends.
fn tops(panels: &[Panel]) -> Vec<f64> {
    let mut tops = vec![TOP];
    for (at, panel) in panels.iter().enumerate() {
        let is_last = panels.get(at + 1).is_some_and(|next| next.drive != panel.drive);
        tops.push(tops[at] + height(panel.shows) + GAP + if is_last { GAP_BETWEEN } else { 0.0 });
    }
    tops
}

/// From times to pixels.
struct Scale<'a> {
    view: &'a MicroscopeView,
    px_per_ns: f64,
}

impl Scale<'_> {
    fn x(&self, ns: u64) -> f64 {
        LEFT + (ns.clamp(self.view.from_ns, self.view.to_ns) - self.view.from_ns) as f64 * self.px_per_ns
    }

    /// One panel with its names and its scale.
    fn panel(&self, panel: &Panel, top: f64, is_first: bool) -> String {
        let (high, colour) = (height(panel.shows), colour(panel.shows));
        let (bottom, right) = (top + high, LEFT + COLUMNS as f64);
        let mut svg = format!("<g><title>{}</title>\n", summary(panel));
        if is_first {
            svg += &svg::name(&panel.of(), top + 12.0);
        }
        let middle = top + high / 2.0 + 4.0;
        svg += &svg::label(panel.shows.name(), middle, colour);
        let heights = panel.heights(self.view, COLUMNS);
        if panel.shows.has_responses() {
            svg += &self.tint(&when_collecting(self.view, panel.drive), top, high);
            svg += &format!("<path d=\"M{LEFT} {top:.1}H{right}\" stroke=\"{PALE}\"/>\n");
            svg += &number(&format_duration_ns(panel.scale), top + 8.0);
            svg += &number("0", bottom);
            svg += &needles(&heights, bottom, high, colour);
        } else {
            if panel.scale > 1 {
                svg += &number(&format!("{} dies", panel.scale), top + 8.0);
            }
            svg += &area(&heights, bottom, high, colour);
        }
        svg + &format!("<path d=\"M{LEFT} {bottom:.1}H{right}\" stroke=\"{INK}\" stroke-width=\"0.8\"/>\n</g>\n")
    }

    /// The times of collection; times without a pixel between them are joined.
    fn tint(&self, rows: &[Row], top: f64, high: f64) -> String {
        let px_ns = (1.0 / self.px_per_ns) as u64;
        let near: Vec<Row> = rows.iter().map(|row| Row { end_ns: row.end_ns.saturating_add(px_ns), ..*row }).collect();
        let mut path = String::new();
        for row in united(&near) {
            let (start, end) = (self.x(row.start_ns), self.x(row.end_ns - px_ns));
            path += &format!("M{start:.1} {top:.1}H{:.1}v{high}H{start:.1}z", end.max(start + 0.5));
        }
        let fill = colour(Shows::Collecting);
        if path.is_empty() { path } else { format!("<path d=\"{path}\" fill=\"{fill}\" fill-opacity=\"0.13\"/>\n") }
    }

    /// Ticks below the panels, all in one unit.
    fn axis(&self, bottom: f64) -> String {
        let step_ns = Axis::round_steps_ns().find(|&step| step as f64 * self.px_per_ns >= TICK_PX).unwrap_or(u64::MAX);
        let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
        let (unit, unit_ns) = *units.iter().find(|(_, unit_ns)| step_ns >= *unit_ns).unwrap_or(&units[3]);
        let mut svg = String::new();
        let mut tick = self.view.from_ns.div_ceil(step_ns).saturating_mul(step_ns);
        while tick <= self.view.to_ns {
            let (x, y) = (self.x(tick), bottom + 12.0);
            svg += &format!("<path d=\"M{x:.1} {TOP}V{bottom:.1}\" stroke=\"{PALE}\"/>\n");
            svg += &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>\n", tick / unit_ns);
            let Some(next) = tick.checked_add(step_ns) else { break };
            tick = next;
        }
        let (middle, y) = (LEFT + COLUMNS as f64 / 2.0, bottom + 30.0);
        svg + &format!("<text x=\"{middle}\" y=\"{y:.1}\" text-anchor=\"middle\">simulated time ({unit})</text>\n")
    }
}

/// A number of the scale next to a panel.
fn number(text: &str, y: f64) -> String {
    format!("<text x=\"{}\" y=\"{y:.1}\" font-size=\"11\" text-anchor=\"end\">{text}</text>\n", LEFT - 6.0)
}

fn needles(heights: &[f64], bottom: f64, high: f64, colour: Colour) -> String {
    let mut path = String::new();
    for (column, part) in heights.iter().enumerate().filter(|(_, part)| **part > 0.0) {
        // A response is visible however short it is.
        path += &format!("M{:.1} {bottom:.1}v-{:.1}", LEFT + column as f64 + 0.5, (high * part).max(1.5));
    }
    if path.is_empty() { path } else { format!("<path d=\"{path}\" stroke=\"{colour}\" fill=\"none\"/>\n") }
}

/// Intervals, as high as their values.
fn area(heights: &[f64], bottom: f64, high: f64, colour: Colour) -> String {
    let mut path = String::new();
    let mut before = format!("{bottom:.1}");
    for (column, part) in heights.iter().enumerate() {
        let top = format!("{:.1}", bottom - high * part);
        if top != before {
            path += &format!("H{}V{top}", LEFT + column as f64);
            before = top;
        }
    }
    if path.is_empty() {
        return path;
    }
    format!("<path d=\"M{LEFT} {bottom:.1}{path}H{}V{bottom:.1}z\" fill=\"{colour}\"/>\n", LEFT + COLUMNS as f64)
}

/// A panel in words.
fn summary(panel: &Panel) -> String {
    let (of, name, rows) = (panel.of(), panel.shows.name(), panel.rows.len());
    match panel.rows.iter().max_by_key(|row| row.time_ns()) {
        Some(longest) if panel.shows.has_responses() => {
            let [took, at] = [longest.time_ns(), longest.start_ns].map(format_duration_ns);
            format!("{of}, {name}: {rows}; the slowest took {took} and arrived at {at}")
        }
        _ if panel.shows.has_responses() => format!("{of}, {name}: none"),
        _ if panel.rows.is_empty() => format!("{of}, {name}: never"),
        _ => {
            let windows: Vec<String> = united(&panel.rows).iter().take(WINDOWS_LISTED_MAX).map(times).collect();
            let more = if united(&panel.rows).len() > WINDOWS_LISTED_MAX { ", …" } else { "" };
            format!("{of}, {name}: {}{more}", windows.join(", "))
        }
    }
}

/// Most collections or rounds whose times a panel's summary lists.
const WINDOWS_LISTED_MAX: usize = 20;

fn times(row: &Row) -> String {
    format!("{} to {}", format_duration_ns(row.start_ns), format_duration_ns(row.end_ns))
}

fn legend(panels: &[Panel], y: f64) -> String {
    let span = |shows: Shows, text: &str| svg::coloured(text, colour(shows));
    let (reads, writes) = (span(Shows::Reads, "reads"), span(Shows::Writes, "writes"));
    let tinted = span(Shows::Collecting, "tinted");
    let rounds = match panels.iter().any(|panel| panel.shows == Shows::Rounds) {
        true => format!("; {} of coordinated collection", span(Shows::Rounds, "rounds")),
        false => String::new(),
    };
    format!(
        "<text x=\"8\" y=\"{y:.1}\" font-size=\"11\">response times of {reads} and {writes}, each at its arrival; \
         {tinted}: this drive collects, or any drive of the volume{rounds}</text>\n"
    )
}
