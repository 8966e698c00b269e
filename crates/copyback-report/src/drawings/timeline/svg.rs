//! A timeline as SVG: its rows, drawn to scale and not wrapped; the pointer shows the details of a command.
//!
//! It is as wide as its content: the scale is the smallest at which every array time has room for its label, up to a
//! bound above which labels are omitted. Time before the first and after the last command is not drawn, but stated.

use crate::svg::{self, Colour};
use copyback::flash::command::Source;
use copyback::flash::source::Account;
use copyback::observe::timeline::{Axis, Bar, LEGEND, Timeline, Use};

const AXIS_PX: f64 = 40.0;
const ROW_PX: f64 = 34.0;
const BAR_PX: f64 = 26.0;
const LETTER_PX: f64 = 7.5;
/// The greatest width of rows: three screens. Labels without room are omitted then.
const ROWS_PX_MAX: f64 = 4_000.0;
/// Least width of the words below the rows.
const WORDS_PX_MIN: f64 = 600.0;
const LINE_PX: f64 = 20.0;
const TICK_PX: f64 = 120.0;
/// Letters of the axis' unit, which follows the title: `, ms`.
const UNIT_LETTERS: usize = 4;

/// Colours by source.
const COLOURS: &[(&str, Colour)] = &[("host", svg::HOST), ("GC", svg::GC), ("other background work", svg::OTHER_WORK)];

fn colour(source: Source) -> Colour {
    COLOURS[match source.account() {
        Account::Host => 0,
        Account::Gc => 1,
        _ => 2,
    }]
    .1
}

/// How strongly a use is drawn.
const OPACITIES: &[(Use, f64, &str)] = &[
    (Use::Array, 1.0, "array"),
    (Use::DataIn, 0.6, "data in"),
    (Use::DataOut, 0.6, "data out"),
    (Use::Cycles, 0.6, "command cycles"),
    (Use::Held, 0.25, "register holds data"),
    (Use::OtherDie, 0.15, "channel carries another die's data"),
];

/// The drawn part of a timeline, and its position.
struct Frame {
    from_ns: u64,
    to_ns: u64,
    /// Pixels left of the rows, for their names.
    names_px: f64,
    px_per_ns: f64,
    /// Pixels above the rows, for the axis and its labels.
    top_px: f64,
    axis: Axis,
    tick_ns: u64,
    /// Whether the bound of the width leaves some labels no room.
    omits_labels: bool,
    /// The request whose commands are marked.
    request: Option<u64>,
}

impl Frame {
    /// From the first command to the last one; everything if there is none.
    fn new(timeline: &Timeline) -> Self {
        let bars = || timeline.rows.iter().flat_map(|row| &row.bars);
        let (first_ns, last_ns) = timeline.in_use_ns();
        let title = timeline.title().len() + UNIT_LETTERS;
        let letters = timeline.rows.iter().map(|row| row.name.len()).chain([title]).max().unwrap_or(0);
        let arrays = bars().filter(|bar| bar.in_use == Use::Array);
        let wanted = arrays.map(|bar| label_px(bar) / (bar.end_ns - bar.start_ns) as f64).fold(0.0, f64::max);
        let most = ROWS_PX_MAX / (last_ns - first_ns).max(1) as f64;
        // If the array does nothing, no label needs space: a few ticks suffice.
        let px_per_ns =
            if wanted > 0.0 { wanted.min(most) } else { 3.0 * TICK_PX / (last_ns - first_ns).max(1) as f64 };
        let tick_ns = Axis::round_steps_ns().find(|&step| step as f64 * px_per_ns >= TICK_PX).unwrap_or(u64::MAX);
        Self {
            from_ns: first_ns,
            to_ns: last_ns,
            names_px: 12.0 + LETTER_PX * letters as f64,
            px_per_ns,
            top_px: if timeline.mark.is_some() { AXIS_PX + LINE_PX } else { AXIS_PX },
            axis: Axis::new(timeline, tick_ns),
            tick_ns,
            omits_labels: wanted > most,
            request: timeline.mark.map(|mark| mark.request),
        }
    }

    fn x(&self, ns: u64) -> f64 {
        self.names_px + (ns.clamp(self.from_ns, self.to_ns) - self.from_ns) as f64 * self.px_per_ns
    }
}

/// The room that a bar's label takes.
fn label_px(bar: &Bar) -> f64 {
    LETTER_PX * bar.label.len() as f64 + 2.0
}

/// The outline of what serves the request that a drawing is about.
const MARKED: &str = "stroke=\"black\" stroke-width=\"2\"";

/// Draws a timeline.
pub fn draw(timeline: &Timeline) -> String {
    let frame = Frame::new(timeline);
    let rows_px = ROW_PX * timeline.rows.len() as f64;
    // The label of the last tick extends to the right of its line.
    let width = (frame.x(frame.to_ns) + 60.0).max(WORDS_PX_MIN);
    let words = words(timeline, &frame, width);
    let height = frame.top_px + rows_px + LINE_PX * words.len() as f64 + 10.0;
    let mut svg = svg::fixed((width, height)) + svg::BACKGROUND;
    svg += &axis(timeline, &frame, rows_px);
    for (number, row) in timeline.rows.iter().enumerate() {
        let top = frame.top_px + ROW_PX * number as f64;
        svg += &format!("<text x=\"4\" y=\"{:.1}\">{}</text>\n", top + 18.0, row.name);
        let is_shown = |bar: &&Bar| bar.end_ns > frame.from_ns && bar.start_ns < frame.to_ns;
        let mut bars: Vec<&Bar> = row.bars.iter().filter(is_shown).collect();
        bars.sort_by_key(|bar| bar.in_use);
        for bar in bars {
            svg += &draw_bar(&frame, bar, top);
        }
    }
    svg += &request(timeline, &frame, rows_px);
    for (number, line) in words.iter().enumerate() {
        let y = frame.top_px + rows_px + LINE_PX * (number + 1) as f64;
        svg += &format!("<text x=\"4\" y=\"{y:.1}\">{line}</text>\n");
    }
    svg + svg::END
}

fn draw_bar(frame: &Frame, bar: &Bar, top: f64) -> String {
    let (x, width) = (frame.x(bar.start_ns), frame.x(bar.end_ns) - frame.x(bar.start_ns));
    let opacity = OPACITIES.iter().find(|(in_use, ..)| *in_use == bar.in_use).map_or(0.15, |(_, opacity, _)| *opacity);
    let is_marked = bar.request.is_some() && bar.request == frame.request;
    let stroke = if is_marked { MARKED } else { "stroke=\"white\" stroke-width=\"0.5\"" };
    let mut svg = format!(
        "<g><title>{}</title><rect x=\"{x:.2}\" y=\"{top:.1}\" width=\"{width:.2}\" height=\"{BAR_PX}\" fill=\"{}\" \
         fill-opacity=\"{opacity}\" {stroke}/>",
        bar.detail,
        colour(bar.source),
    );
    let is_named = !matches!(bar.in_use, Use::Held | Use::Cycles | Use::OtherDie);
    // Rounding must not remove a label that fits.
    if is_named && width >= label_px(bar) - 0.01 {
        let ink = if bar.in_use == Use::Array { "white" } else { "black" };
        svg += &format!("<text x=\"{:.2}\" y=\"{:.1}\" fill=\"{ink}\">{}</text>", x + 2.0, top + 17.0, bar.label);
    }
    svg + "</g>\n"
}

fn axis(timeline: &Timeline, frame: &Frame, rows_px: f64) -> String {
    let (mut svg, tick_ns) = (String::new(), frame.tick_ns);
    // A tick is at the zero of the axis.
    let zero_ns = frame.axis.zero_ns % tick_ns;
    let mut tick = frame.from_ns.saturating_sub(zero_ns).div_ceil(tick_ns) * tick_ns + zero_ns;
    while tick <= frame.to_ns {
        let (x, top) = (frame.x(tick), frame.top_px);
        let label = frame.axis.label(tick);
        svg += &format!(
            "<line x1=\"{x:.2}\" y1=\"{}\" x2=\"{x:.2}\" y2=\"{:.1}\" stroke=\"#cccccc\"/><text x=\"{x:.2}\" y=\"{}\">{label}</text>\n",
            top - 16.0,
            top + rows_px,
            top - 22.0,
        );
        tick = tick.saturating_add(tick_ns);
    }
    let (y, title, unit) = (frame.top_px - 22.0, timeline.title(), frame.axis.unit);
    svg + &format!("<text x=\"4\" y=\"{y}\">{title}, {unit}</text>\n")
}

/// The request of a drawing: its description, and lines at its arrival and completion.
fn request(timeline: &Timeline, frame: &Frame, rows_px: f64) -> String {
    let Some(mark) = &timeline.mark else { return String::new() };
    let line = |(ns, dashes): (u64, &str)| {
        let (x, top) = (frame.x(ns), frame.top_px - 16.0);
        format!(
            "<line x1=\"{x:.2}\" y1=\"{top}\" x2=\"{x:.2}\" y2=\"{:.1}\" stroke=\"black\" stroke-width=\"1.5\"{dashes}/>\n",
            frame.top_px + rows_px
        )
    };
    let lines: String = [(mark.arrival_ns, ""), (mark.end_ns, " stroke-dasharray=\"5 3\"")].map(line).concat();
    let [arrival, takes] = [mark.arrival_ns, mark.end_ns - mark.arrival_ns].map(|ns| frame.axis.length(ns));
    let caption =
        format!("{}; outlined: what serves it; times count from its arrival", mark.description(&arrival, &takes));
    format!("<text x=\"4\" y=\"16\" font-weight=\"bold\">{caption}</text>\n{lines}")
}

/// The lines below the rows: when nothing happens, and what labels, colours and strengths say.
fn words(timeline: &Timeline, frame: &Frame, width: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut write = |text: &str| lines.extend(wrapped(text, (width / LETTER_PX) as usize));
    if let Some(idle) = timeline.idle((frame.from_ns, frame.to_ns), &frame.axis) {
        write(&idle);
    }
    if frame.omits_labels {
        write("labels without room are omitted: the pointer shows them, and a shorter window has room for more");
    }
    for (labels, meaning) in LEGEND {
        write(&format!("{labels}: {meaning}"));
    }
    let uses: Vec<String> =
        OPACITIES.iter().map(|(_, opacity, meaning)| format!("{meaning} {:.0} %", 100.0 * opacity)).collect();
    write(&format!("strength: {}", uses.join(", ")));
    let colours: Vec<String> = COLOURS.iter().map(|(who, colour)| svg::coloured(who, *colour)).collect();
    lines.push(format!("colours: {}", colours.join(", ")));
    lines
}

/// A text in lines of this many letters.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
