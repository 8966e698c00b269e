//! The specification curve as SVG: for each headline a panel with the effect in every world, sorted, and below it the
//! values of the decisions that matter most, from pale (the least, or the first choice) to dark.
//!
//! Consistent worlds are on the left, filled; those that contradict the paper on the right, hollow. The dashed line is
//! the published value, the diamond the world of this project's decisions.

use crate::svg::{self, Colour, INK, PALE, escaped};
use copyback_lab::reproduce::claim::Measure;
use copyback_lab::reproduce::headlines::Holds;
use copyback_lab::reproduce::worlds::{HeadlineSummary, Row, Status, Summary, WorldClaim, Worlds};
use std::fmt::Write;

// The longest name of a decision fits, with its share.
const LEFT: f64 = 232.0;
const RIGHT: f64 = 24.0;
const COLUMNS: f64 = 760.0;
const TOP: f64 = 84.0;
const CURVE: f64 = 96.0;
const STRIP: f64 = 11.0;
const STRIPS: usize = 3;
const GAP: f64 = 40.0;
/// Between the consistent worlds and the others.
const BETWEEN: f64 = 14.0;

const PUBLISHED: Colour = svg::VERMILION;
/// The values of decisions, from pale to dark.
const SHADES: Colour = svg::BLUE;

/// Colours of verdicts.
fn colour(holds: Holds) -> Colour {
    match holds {
        Holds::Size => svg::GREEN,
        Holds::Direction => svg::SKY,
        Holds::Control => svg::ORANGE,
        Holds::No => svg::BLACK,
        Holds::Unknown => svg::LIGHT_GREY,
    }
}

/// The meaning of a colour.
fn meaning(holds: Holds) -> &'static str {
    match holds {
        Holds::Size => "holds in size",
        Holds::Direction => "in direction only",
        Holds::Control => "a control shows it, too",
        Holds::No => "does not hold",
        Holds::Unknown => "not judged",
    }
}

/// The picture.
pub fn draw(document: &Worlds, summary: &Summary) -> String {
    let high = CURVE + STRIPS as f64 * STRIP + GAP;
    let (width, height) = (LEFT + COLUMNS + RIGHT, TOP + document.headlines.len() as f64 * high);
    let heading = format!(
        "{}: {} worlds, {} of them consistent with the paper",
        document.paper,
        document.worlds.len(),
        summary.consistent
    );
    let mut svg = svg::scalable((width, height), 11, INK, &heading) + svg::BACKGROUND + &svg::heading(&heading, 20);
    svg += &legend(document);
    for (at, (claim, of)) in document.headlines.iter().zip(&summary.headlines).enumerate() {
        svg += &Panel { document, claim, of, at, top: TOP + at as f64 * high }.draw();
    }
    svg + svg::END
}

/// The colours, and how points are drawn. Most papers have no world in which a headline is not judged.
fn legend(document: &Worlds) -> String {
    let unjudged = document.worlds.iter().any(|row| row.holds.contains(&Holds::Unknown)).then_some(Holds::Unknown);
    let all = [Holds::Size, Holds::Direction, Holds::Control, Holds::No];
    let mut svg = String::new();
    let mut x = 14.0;
    for holds in all.into_iter().chain(unjudged) {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.0}\" cy=\"38\" r=\"4\" fill=\"{}\"/><text x=\"{:.0}\" y=\"42\">{}</text>",
            colour(holds),
            x + 8.0,
            meaning(holds)
        );
        x += 32.0 + 6.2 * meaning(holds).len() as f64;
    }
    svg + "<text x=\"8\" y=\"58\">Filled, left: worlds that are consistent with the paper; hollow, right: the others. \
           Dashed: published. Diamond: as decided.</text>\n"
}

/// A headline's panel.
struct Panel<'a> {
    document: &'a Worlds,
    claim: &'a WorldClaim,
    of: &'a HeadlineSummary,
    at: usize,
    top: f64,
}

/// A world of a panel.
struct Point<'a> {
    row: &'a Row,
    effect: f64,
    x: f64,
}

impl Panel<'_> {
    /// The position of an effect on the axis: a half and a double are equally far from no change.
    fn scaled(&self, effect: f64) -> f64 {
        match self.claim.format.as_ref().map(|format| format.measure) {
            Some(Measure::Change | Measure::Times) => (1.0 + effect / 100.0).max(0.005).ln(),
            _ => effect,
        }
    }

    fn points(&self) -> Vec<Point<'_>> {
        let of_status = |status: Status| {
            let rows = self.document.worlds.iter().filter(move |row| row.status == status);
            let mut all: Vec<(&Row, f64)> = rows.filter_map(|row| Some((row, row.effects[self.at]?))).collect();
            all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.world.cmp(&b.0.world)));
            all
        };
        let (left, right) = (of_status(Status::Consistent), of_status(Status::Inconsistent));
        let between = if left.is_empty() || right.is_empty() { 0.0 } else { BETWEEN };
        let step = (COLUMNS - between) / (left.len() + right.len()).max(1) as f64;
        let consistent = left.len();
        let place = |(index, (row, effect)): (usize, (_, f64))| {
            let gap = if index >= consistent { between } else { 0.0 };
            Point { row, effect, x: LEFT + gap + (index as f64 + 0.5) * step }
        };
        left.into_iter().chain(right).enumerate().map(place).collect()
    }

    fn draw(&self) -> String {
        let Self { claim, top, .. } = self;
        let mut svg = svg::name(&format!("{} {}", claim.figure, claim.text), top - 4.0);
        let points = self.points();
        let decided = self.document.decided.effects[self.at];
        let marked = claim.published_effect.into_iter().chain(decided).chain([0.0]);
        let all: Vec<f64> = points.iter().map(|point| point.effect).chain(marked).map(|e| self.scaled(e)).collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let span = if most > least { most - least } else { 1.0 };
        let y = |effect: f64| top + 6.0 + (CURVE - 12.0) * (1.0 - (self.scaled(effect) - least) / span);
        let right = LEFT + COLUMNS;
        svg += &line(LEFT, right, y(0.0), PALE, "");
        if let Some(published) = claim.published_effect {
            svg += &line(LEFT, right, y(published), PUBLISHED, " stroke-dasharray=\"5 3\"");
            svg += &label(y(published), PUBLISHED, &format!("published {}", claim.published));
        } else {
            // A direction without a number has no place on the axis: its label is next to the label of 0.
            let below = if y(0.0) < top + 0.5 * CURVE { 14.0 } else { -14.0 };
            svg += &label(y(0.0) + below, PUBLISHED, &format!("published: {}", claim.published));
        }
        let is_far = claim.published_effect.is_none_or(|published| (y(published) - y(0.0)).abs() > 11.0);
        if is_far {
            svg += &label(y(0.0), INK, &claim.shown(0.0));
        }
        let step = COLUMNS / points.len().max(1) as f64;
        let radius = (step * 0.45).clamp(1.2, 3.5);
        for Point { row, effect, x } in &points {
            let shade = colour(row.holds[self.at]);
            let fill = if row.status == Status::Consistent { shade.to_string() } else { "none".to_owned() };
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" stroke=\"{shade}\" \
                 stroke-width=\"0.8\"><title>world {}: {}</title></circle>",
                y(*effect),
                row.world,
                escaped(&claim.shown(*effect))
            );
        }
        if let Some(decided) = decided {
            let (x, y) = (LEFT - 8.0, y(decided));
            let shade = colour(self.document.decided.holds[self.at]);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\" fill=\"{shade}\" stroke=\"{INK}\" stroke-width=\"0.6\">\
                 <title>as decided: {}</title></path>",
                y - 5.0,
                escaped(&claim.shown(decided))
            );
        }
        svg + &self.strips(&points)
    }

    /// A line for each decision that matters, with a mark for each world.
    fn strips(&self, points: &[Point<'_>]) -> String {
        let mut svg = String::new();
        let named = self.of.decides.iter().take(STRIPS).filter(|decides| decides.share > 0.0);
        for (strip, decides) in named.enumerate() {
            let top = self.top + CURVE + strip as f64 * STRIP;
            let name = escaped(&format!("{} {:.0} %", decides.decision, 100.0 * decides.share));
            let _ = writeln!(svg, "<text x=\"8\" y=\"{:.1}\" font-size=\"10\">{name}</text>", top + 9.0);
            let decision = self.document.decisions.iter().position(|decision| decision.name == decides.decision);
            let Some(decision) = decision else { continue };
            let shades = shades(self.document, decision);
            let step = COLUMNS / points.len().max(1) as f64;
            for point in points {
                let opacity = shades.iter().find(|(world, _)| *world == point.row.world).map_or(0.0, |(_, s)| *s);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.0}\" fill=\"{SHADES}\" \
                     fill-opacity=\"{opacity:.2}\"><title>{}</title></rect>",
                    point.x - 0.45 * step,
                    0.9 * step,
                    STRIP - 2.0,
                    escaped(&point.row.values[decision])
                );
            }
        }
        svg
    }
}

/// How dark each world's value is: by rank, so that values which differ by factors can be told apart, too.
fn shades(document: &Worlds, decision: usize) -> Vec<(usize, f64)> {
    let mut worlds: Vec<(usize, f64)> =
        document.worlds.iter().map(|row| (row.world, row.numbers[decision].unwrap_or(0.0))).collect();
    let mut distinct: Vec<f64> = worlds.iter().map(|(_, number)| *number).collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let last = distinct.len().saturating_sub(1).max(1) as f64;
    for (_, number) in &mut worlds {
        let rank = distinct.partition_point(|other| other < number) as f64;
        *number = 0.08 + 0.92 * rank / last;
    }
    worlds
}

fn line(from: f64, to: f64, y: f64, colour: Colour, more: &str) -> String {
    format!("<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"{colour}\"{more}/>\n")
}

fn label(y: f64, colour: Colour, text: &str) -> String {
    svg::label(text, y + 4.0, colour)
}
