//! A timeline as SVG: one line of rows, drawn to scale, with all that is known of a command where the pointer rests.

use super::{Bar, LEGEND, Timeline, Use};
use crate::flash::command::Source;
use copyback_workload::units::format_duration_ns;

const NAME_PX: f64 = 90.0;
const AXIS_PX: f64 = 40.0;
const ROW_PX: f64 = 34.0;
const BAR_PX: f64 = 26.0;
const LETTER_PX: f64 = 7.5;
/// Pixels of the shortest array time, and the least and the most of the whole.
const SHORTEST_PX: f64 = 24.0;
const WIDTH_PX: (f64, f64) = (900.0, 20_000.0);
const TICK_PX: f64 = 120.0;

/// Colours by source, told apart by all kinds of eyes (Okabe and Ito).
const COLOURS: &[(&str, &str)] = &[("host", "#0072b2"), ("GC", "#d55e00"), ("other background work", "#666666")];

fn colour(source: Source) -> &'static str {
    COLOURS[match source {
        Source::Host => 0,
        Source::Gc => 1,
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
    (Use::OtherDie, 0.15, "channel carries another die's"),
];

/// Draws a timeline.
pub fn draw(timeline: &Timeline) -> String {
    let span_ns = (timeline.to_ns - timeline.from_ns).max(1) as f64;
    let shortest_ns = timeline.shortest_array_ns().unwrap_or(1000).max(1) as f64;
    let width = (span_ns / shortest_ns * SHORTEST_PX).clamp(WIDTH_PX.0, WIDTH_PX.1);
    let px_per_ns = width / span_ns;
    let rows_px = ROW_PX * timeline.rows.len() as f64;
    let height = AXIS_PX + rows_px + 20.0 * (LEGEND.len() + 2) as f64 + 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{height:.0}\" font-family=\"monospace\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        NAME_PX + width + 20.0
    );
    svg += &axis(timeline, px_per_ns, rows_px);
    for (number, row) in timeline.rows.iter().enumerate() {
        let top = AXIS_PX + ROW_PX * number as f64;
        svg += &format!("<text x=\"4\" y=\"{:.1}\">{}</text>\n", top + 18.0, row.name);
        let mut bars: Vec<&Bar> = row.bars.iter().collect();
        bars.sort_by_key(|bar| bar.in_use);
        for bar in bars {
            svg += &draw_bar(timeline, bar, top, px_per_ns);
        }
    }
    svg + &legend(AXIS_PX + rows_px + 20.0) + "</svg>\n"
}

fn draw_bar(timeline: &Timeline, bar: &Bar, top: f64, px_per_ns: f64) -> String {
    let at = |ns: u64| NAME_PX + (ns.clamp(timeline.from_ns, timeline.to_ns) - timeline.from_ns) as f64 * px_per_ns;
    let (x, width) = (at(bar.start_ns), at(bar.end_ns) - at(bar.start_ns));
    let opacity = OPACITIES.iter().find(|(in_use, ..)| *in_use == bar.in_use).map_or(1.0, |(_, opacity, _)| *opacity);
    let mut svg = format!(
        "<g><title>{}</title><rect x=\"{x:.2}\" y=\"{top:.1}\" width=\"{width:.2}\" height=\"{BAR_PX}\" fill=\"{}\" \
         fill-opacity=\"{opacity}\" stroke=\"white\" stroke-width=\"0.5\"/>",
        bar.detail,
        colour(bar.source),
    );
    let is_named = !matches!(bar.in_use, Use::Held | Use::Cycles | Use::OtherDie);
    if is_named && width >= LETTER_PX * bar.label.len() as f64 {
        let ink = if bar.in_use == Use::Array { "white" } else { "black" };
        svg += &format!("<text x=\"{:.2}\" y=\"{:.1}\" fill=\"{ink}\">{}</text>", x + 2.0, top + 17.0, bar.label);
    }
    svg + "</g>\n"
}

fn axis(timeline: &Timeline, px_per_ns: f64, rows_px: f64) -> String {
    let rounds = || (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)));
    let tick_ns = rounds().find(|&step| step as f64 * px_per_ns >= TICK_PX).unwrap_or(u64::MAX);
    let mut svg = String::new();
    let mut tick = timeline.from_ns.div_ceil(tick_ns) * tick_ns;
    while tick <= timeline.to_ns {
        let x = NAME_PX + (tick - timeline.from_ns) as f64 * px_per_ns;
        svg += &format!(
            "<line x1=\"{x:.2}\" y1=\"24\" x2=\"{x:.2}\" y2=\"{:.1}\" stroke=\"#cccccc\"/><text x=\"{x:.2}\" y=\"18\">{}</text>\n",
            AXIS_PX + rows_px,
            format_duration_ns(tick)
        );
        tick = tick.saturating_add(tick_ns);
    }
    svg + &format!("<text x=\"4\" y=\"18\">{}</text>\n", timeline.title())
}

fn legend(top: f64) -> String {
    let mut svg = String::new();
    let mut line = 0.0;
    let mut write = |text: &str| {
        svg += &format!("<text x=\"4\" y=\"{:.1}\">{text}</text>\n", top + line);
        line += 20.0;
    };
    for (labels, meaning) in LEGEND {
        write(&format!("{labels}: {meaning}"));
    }
    let colours: Vec<String> =
        COLOURS.iter().map(|(who, fill)| format!("<tspan fill=\"{fill}\">{who}</tspan>")).collect();
    write(&format!("colours: {}", colours.join(", ")));
    let uses: Vec<String> =
        OPACITIES.iter().map(|(_, opacity, meaning)| format!("{meaning} {:.0} %", 100.0 * opacity)).collect();
    write(&format!("strength: {}", uses.join(", ")));
    svg
}
