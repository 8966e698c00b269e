//! The commands of dies over time, drawn.

pub mod svg;
#[cfg(test)]
mod tests;

use super::{Span, TimelineOptions, Window};
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::CommandRecord;
use copyback::observe::timeline::{DriveDie, Timeline, die_of, text};
use copyback_lab::Failure;
use copyback_lab::plan::Planned;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The default length of a drawing.
const WINDOW_NS: u64 = 10_000_000;

/// Most commands of a picture: they take some 15 MB.
const PICTURE_MAX: usize = 10_000;

/// Whether the name of a drawing's file selects SVG; `false` selects text.
pub fn is_svg(option: &str, path: &Path) -> Result<bool, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        _ if copyback_lab::outputs::is_standard_output(path) => Ok(false),
        Some("svg") => Ok(true),
        Some("txt") => Ok(false),
        _ => Err(Failure::input(format!("{option} {}: the name does not say what to draw", path.display()))
            .with_help("end it in .svg or .txt, or write - for text on standard output")),
    }
}

/// A requested drawing.
pub struct TimelineDrawing<'a> {
    path: &'a Path,
    is_svg: bool,
    /// The geometry of each drive.
    geometries: Vec<Geometry>,
    dies: Vec<DriveDie>,
    /// The time window.
    pub window: Window,
    /// Whether it is the default: the user named no time window.
    pub is_usual: bool,
}

impl<'a> TimelineDrawing<'a> {
    /// The requested drawing, if there is one. A file with another ending, and a die that every drive lacks, are
    /// refused.
    pub fn new(options: &'a TimelineOptions, planned: &Planned) -> Result<Option<Self>, Failure> {
        let Some(path) = options.path.as_deref() else { return Ok(None) };
        let is_svg = is_svg("--timeline", path)?;
        let geometries: Vec<Geometry> = match planned.members.len() {
            0 | 1 => vec![Geometry::new(&planned.resolved.run.device())],
            _ => planned.members.iter().map(|member| Geometry::new(&member.config.device())).collect(),
        };
        let most = geometries.iter().map(|geometry| geometry.dies).max().unwrap_or(0);
        if let Some(die) = options.dies.iter().find(|die| **die >= most) {
            let dies = copyback_lab::format::counted(most.into(), "die");
            return Err(Failure::input(format!("--timeline-die {die}: the drive has {dies}, counted from 0"))
                .with_help(format!("name one from 0 to {}", most - 1)));
        }
        let of_drive = |(drive, geometry): (u32, &Geometry)| {
            let count = geometry.dies;
            let named = options.dies.iter().filter(move |die| **die < count);
            named.map(move |&die| DriveDie { drive, die }).collect::<Vec<_>>()
        };
        let mut dies: Vec<DriveDie> = (0..).zip(&geometries).flat_map(of_drive).collect();
        dies.sort_unstable();
        dies.dedup();
        let from_ns = options.from_ns.unwrap_or(0);
        let to_ns = options.to_ns.unwrap_or(from_ns.saturating_add(WINDOW_NS));
        if to_ns <= from_ns {
            return Err(Failure::input("--timeline-to: the window ends before it begins")
                .with_help("name a time after --timeline-from"));
        }
        let span = Span { from_ns, to_ns, request: None };
        let window = options.around.map_or(Window::Span(span), Window::Around);
        let is_usual = options.from_ns.is_none() && options.to_ns.is_none() && options.around.is_none();
        Ok(Some(Self { path, is_svg, geometries, dies, window, is_usual }))
    }

    /// The output path.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The dies that are drawn: the dies that the user names. If the user names none: the dies that served the request
    /// around which the window lies, or else the die that works most.
    pub fn dies(&self, span: Span, commands: &[CommandRecord]) -> Vec<DriveDie> {
        let mut dies = self.dies.clone();
        if dies.is_empty() {
            let asked = span.request.map(|mark| mark.request);
            let serves =
                |c: &&CommandRecord| c.parts.iter().any(|part| part.request.is_some() && part.request == asked);
            let serving: BTreeSet<DriveDie> = commands.iter().filter(serves).map(die_of).collect();
            dies.extend(serving);
        }
        if dies.is_empty() {
            dies.push(busiest(span, commands));
        }
        dies
    }

    /// Refuses a picture with more than `PICTURE_MAX` commands: it could have hundreds of megabytes.
    pub fn refuse_too_many(&self, dies: &[DriveDie], span: Span, commands: &[CommandRecord]) -> Result<(), Failure> {
        let is_drawn = |command: &&CommandRecord| span.contains(command) && dies.contains(&die_of(command));
        if self.is_svg && commands.iter().filter(is_drawn).nth(PICTURE_MAX).is_some() {
            let what = format!("--timeline: the drawn dies have more than {PICTURE_MAX} commands in the window");
            let help = "draw a shorter time with --timeline-from and --timeline-to, fewer dies with --timeline-die, or \
                        characters: end the file's name in .txt";
            return Err(Failure::input(what).with_help(help));
        }
        Ok(())
    }

    /// Draws it.
    pub fn draw(&self, span: Span, commands: &[CommandRecord]) -> String {
        let dies = self.dies(span, commands);
        let timeline = Timeline::of_drives(commands, &self.geometries, &dies, span.from_ns, Some(span.to_ns));
        let timeline = match span.request {
            Some(mark) => timeline.about(mark),
            None => timeline,
        };
        if self.is_svg { svg::draw(&timeline) } else { text::draw(&timeline, text::Scale::default()) }
    }
}

/// The die whose array is busy longest in the time window; the first of equal dies.
fn busiest(span: Span, commands: &[CommandRecord]) -> DriveDie {
    let mut busy_ns: BTreeMap<DriveDie, u64> = BTreeMap::new();
    for command in commands {
        let in_span =
            |&(start_ns, end_ns): &(u64, u64)| end_ns.min(span.to_ns).saturating_sub(start_ns.max(span.from_ns));
        *busy_ns.entry(die_of(command)).or_default() += command.array_times_ns.iter().map(in_span).sum::<u64>();
    }
    let busiest = busy_ns.into_iter().max_by_key(|&(die, busy_ns)| (busy_ns, std::cmp::Reverse(die)));
    busiest.map_or(DriveDie { drive: 0, die: 0 }, |(die, _)| die)
}
