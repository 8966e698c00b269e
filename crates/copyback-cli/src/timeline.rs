//! `--timeline FILE`: who used a die when, drawn.

use crate::args::TimelineArgs;
use crate::failure::Failure;
use crate::files;
use crate::time_window::{Span, Window};
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::CommandRecord;
use copyback::observe::timeline::{Timeline, svg, text};
use copyback::run::config::RunConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The default length of a drawing.
const WINDOW_NS: u64 = 10_000_000;

/// Whether a drawing is one in pixels, and not in characters, by the name of its file.
pub fn is_svg(option: &str, path: &Path) -> Result<bool, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        _ if files::is_standard_output(path) => Ok(false),
        Some("svg") => Ok(true),
        Some("txt") => Ok(false),
        _ => Err(Failure::input(format!("{option} {}: the name does not say what to draw", path.display()))
            .with_help("end it in .svg or .txt, or write - for text on standard output")),
    }
}

/// A drawing that was asked for.
pub struct Drawing<'a> {
    path: &'a Path,
    is_svg: bool,
    geometry: Geometry,
    dies: Vec<u32>,
    /// The time window.
    pub window: Window,
}

impl<'a> Drawing<'a> {
    /// The requested drawing, if there is one. A file with another ending, and a die that the drive lacks, are refused.
    pub fn new(args: &'a TimelineArgs, config: &RunConfig) -> Result<Option<Self>, Failure> {
        let Some(path) = args.timeline.as_deref() else { return Ok(None) };
        let is_svg = is_svg("--timeline", path)?;
        let geometry = Geometry::new(&config.device());
        if let Some(die) = args.timeline_die.iter().find(|die| **die >= geometry.dies) {
            let dies = crate::format::counted(geometry.dies.into(), "die");
            return Err(Failure::input(format!("--timeline-die {die}: the drive has {dies}, counted from 0"))
                .with_help(format!("name one from 0 to {}", geometry.dies - 1)));
        }
        let mut dies = args.timeline_die.clone();
        dies.sort_unstable();
        dies.dedup();
        let from_ns = args.timeline_from.unwrap_or(0);
        let to_ns = args.timeline_to.unwrap_or(from_ns.saturating_add(WINDOW_NS));
        if to_ns <= from_ns {
            return Err(Failure::input("--timeline-to: the window ends before it begins")
                .with_help("name a time after --timeline-from"));
        }
        let span = Span { from_ns, to_ns, request: None };
        let window = args.timeline_around.map_or(Window::Span(span), Window::Around);
        Ok(Some(Self { path, is_svg, geometry, dies, window }))
    }

    /// The output path.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The dies that are drawn: those that the user names, around a request those that served it, else the one that
    /// works most.
    pub fn dies(&self, span: Span, commands: &[CommandRecord]) -> Vec<u32> {
        let mut dies = self.dies.clone();
        if dies.is_empty() {
            let asked = span.request.map(|mark| mark.request);
            let serves =
                |c: &&CommandRecord| c.parts.iter().any(|part| part.request.is_some() && part.request == asked);
            let serving: BTreeSet<u32> = commands.iter().filter(serves).map(|command| command.die).collect();
            dies.extend(serving);
        }
        if dies.is_empty() {
            dies.push(busiest(span, commands));
        }
        dies
    }

    /// Draws it.
    pub fn draw(&self, span: Span, commands: &[CommandRecord]) -> String {
        let dies = self.dies(span, commands);
        let timeline = Timeline::new(commands, &self.geometry, &dies, span.from_ns, Some(span.to_ns));
        let timeline = match span.request {
            Some(mark) => timeline.about(mark),
            None => timeline,
        };
        if self.is_svg { svg::draw(&timeline) } else { text::draw(&timeline, text::Scale::default()) }
    }
}

/// The die whose array works longest in a while; the first of several.
fn busiest(span: Span, commands: &[CommandRecord]) -> u32 {
    let mut busy_ns: BTreeMap<u32, u64> = BTreeMap::new();
    for command in commands {
        let (start_ns, end_ns) = (command.array_ns.0.max(span.from_ns), command.array_ns.1.min(span.to_ns));
        *busy_ns.entry(command.die).or_default() += end_ns.saturating_sub(start_ns);
    }
    let busiest = busy_ns.into_iter().max_by_key(|&(die, busy_ns)| (busy_ns, std::cmp::Reverse(die)));
    busiest.map_or(0, |(die, _)| die)
}
