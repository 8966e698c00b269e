//! Tails of response times as SVG: a panel for each class of requests, side by side on one axis of times. The share of
//! requests that take longer falls from left to right, to 50, 10, 1, 0.1 and 0.01 % at the marks; both axes are
//! logarithmic. Each line bears its name. No background: ink and lines show on white and on black.

use copyback_report::svg::{self, INK_ON_ANY as INK};

/// Shares of requests beyond the first and the last point of a line.
pub const MOST: f64 = 0.5;
pub const LEAST: f64 = 0.0001;

const MARKS: &[(f64, &str)] = &[(MOST, "50 %"), (0.1, "90 %"), (0.01, "99 %"), (0.001, "99.9 %"), (LEAST, "99.99 %")];
const TIMES: &[(f64, &str)] = &[(1e4, "10 us"), (1e5, "100 us"), (1e6, "1 ms"), (1e7, "10 ms"), (1e8, "100 ms")];

const LEFT: f64 = 62.0;
const TOP: f64 = 40.0;
const PANEL_WIDTH: f64 = 320.0;
const PANEL_HEIGHT: f64 = 270.0;
/// Beside each panel, for the names of its lines.
const NAMES: f64 = 112.0;
const BOTTOM: f64 = 56.0;
/// Between the middles of two names.
const NAME_HEIGHT: f64 = 17.0;
/// Room above the longest and below the shortest time, as a factor.
const ROOM: f64 = 1.35;

/// A line: shares of requests that take longer, in falling order, and times in nanoseconds.
pub struct Line {
    pub name: &'static str,
    pub colour: String,
    /// Lengths of dashes and gaps; none: a whole line.
    pub dashes: String,
    pub points: Vec<(f64, f64)>,
}

/// The lines of one class of requests.
pub struct Panel {
    pub title: String,
    pub lines: Vec<Line>,
}

/// Panels side by side.
pub struct Chart {
    pub panels: Vec<Panel>,
}

impl Chart {
    /// The picture.
    pub fn svg(&self) -> String {
        let width = LEFT + (PANEL_WIDTH + NAMES) * self.panels.len() as f64;
        let height = TOP + PANEL_HEIGHT + BOTTOM;
        let title = "Tails of response times under five schemes of garbage collection";
        let mut svg = svg::scalable((width, height), 13, INK, title);
        for (number, panel) in self.panels.iter().enumerate() {
            let left = LEFT + (PANEL_WIDTH + NAMES) * number as f64;
            svg += &format!(
                "<text x=\"{left:.1}\" y=\"22\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
                panel.title
            );
            svg += &self.grid(left, number == 0);
            panel.lines.iter().for_each(|line| svg += &self.line(left, line));
            svg += &self.names(left, panel);
        }
        svg + svg::END
    }

    /// The shortest and the longest time of the axis.
    fn span(&self) -> (f64, f64) {
        let times = self.panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points).map(|(_, time)| *time);
        let (least, most) = times.fold((f64::MAX, 0.0_f64), |(least, most), time| (least.min(time), most.max(time)));
        (least / ROOM, most * ROOM)
    }

    fn y(&self, time: f64) -> f64 {
        let (least, most) = self.span();
        TOP + PANEL_HEIGHT * (most / time).log10() / (most / least).log10()
    }

    fn grid(&self, left: f64, is_first: bool) -> String {
        let (least, most) = self.span();
        let (right, bottom) = (left + PANEL_WIDTH, TOP + PANEL_HEIGHT);
        let mut svg = String::new();
        let line = |x1: f64, y1: f64, x2: f64, y2: f64| {
            format!(
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{INK}\" \
                 stroke-opacity=\"0.3\"/>\n"
            )
        };
        for (time, name) in TIMES.iter().filter(|(time, _)| (least..most).contains(time)) {
            let y = self.y(*time);
            svg += &line(left, y, right, y);
            if is_first {
                svg +=
                    &format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\n", left - 8.0, y + 4.5);
            }
        }
        for (share, name) in MARKS {
            let x = x(left, *share);
            svg += &line(x, TOP, x, bottom);
            svg += &format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>\n", bottom + 19.0);
        }
        let middle = left + PANEL_WIDTH / 2.0;
        svg + &format!(
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">of requests take at most</text>\n",
            bottom + 40.0
        )
    }

    fn line(&self, left: f64, line: &Line) -> String {
        let point = |(share, time): &(f64, f64)| format!("{:.1},{:.1}", x(left, *share), self.y(*time));
        let points: Vec<String> = line.points.iter().map(point).collect();
        let dashes =
            if line.dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", line.dashes) };
        format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\" \
             stroke-linejoin=\"round\"{dashes}/>\n",
            points.join(" "),
            line.colour
        )
    }

    /// Each line's name beside its end, moved up or down until no two overlap, with a thin line to the end.
    fn names(&self, left: f64, panel: &Panel) -> String {
        let end = |line: &Line| self.y(line.points.last().expect("a line has points").1);
        let mut lines: Vec<&Line> = panel.lines.iter().collect();
        lines.sort_by(|a, b| end(a).total_cmp(&end(b)));
        let mut places: Vec<f64> = lines.iter().map(|line| end(line)).collect();
        // Neighbours that are too near share the distance that is missing; each round moves less.
        for _ in 0..200 {
            for at in 1..places.len() {
                let missing = NAME_HEIGHT - (places[at] - places[at - 1]);
                if missing > 0.0 {
                    places[at - 1] -= missing / 2.0;
                    places[at] += missing / 2.0;
                }
            }
        }
        let right = left + PANEL_WIDTH;
        let name = |(line, place): (&&Line, &f64)| {
            format!(
                "<path d=\"M{:.1} {:.1} L{:.1} {place:.1}\" stroke=\"{colour}\" fill=\"none\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\" font-weight=\"600\">{}</text>\n",
                right + 2.0,
                end(line),
                right + 12.0,
                right + 16.0,
                place + 4.5,
                line.name,
                colour = line.colour,
            )
        };
        lines.iter().zip(&places).map(name).collect()
    }
}

/// The place of a share of requests on a panel's axis.
fn x(left: f64, share: f64) -> f64 {
    left + PANEL_WIDTH * (MOST / share).log10() / (MOST / LEAST).log10()
}
