//! Drawings of one run: a die's commands over time, an array's collections over time, and the trace for Perfetto.
//!
//! [`Drawings`] has what the caller requests. [`Pictures`] checks it against a plan, determines the data that the run
//! must keep, and draws the outcome.

pub mod microscope;
pub mod perfetto;
mod time_window;
pub mod timeline;

use copyback::observe::report::Outcome;
use copyback::observe::timeline::die_of;
use copyback_lab::Failure;
use copyback_lab::execute::ExecutionOptions;
use copyback_lab::outputs::Output;
use copyback_lab::plan::Plan;
use microscope::Microscope;
use perfetto::PerfettoTrace;
use std::path::{Path, PathBuf};
use time_window::EmptyDrawing;
pub use time_window::{Span, Window};
use timeline::TimelineDrawing;

/// Drawings and other documents of one run.
#[derive(Clone, Debug, Default)]
pub struct Drawings {
    /// The work of dies over time.
    pub timeline: TimelineOptions,
    /// The trace for Perfetto.
    pub perfetto: PerfettoOptions,
    /// The collections of an array over time.
    pub microscope: MicroscopeOptions,
    /// The file of a JSON document in fio's layout.
    pub fio_json: Option<PathBuf>,
}

/// A request of one kind with the longest response time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowest {
    /// The slowest read.
    WorstRead,
    /// The slowest write.
    WorstWrite,
}

/// A drawing of the commands of dies over time. Times are simulated.
#[derive(Clone, Debug, Default)]
pub struct TimelineOptions {
    /// The file, .svg or .txt; without it, nothing is drawn.
    pub path: Option<PathBuf>,
    /// The start. Without it, and without an end: the run's start, or the start of a later window in which a die works
    /// more.
    pub from_ns: Option<u64>,
    /// The end; by default, 10 ms after the start.
    pub to_ns: Option<u64>,
    /// Instead of these times: around this request, for which the run is simulated twice.
    pub around: Option<Slowest>,
    /// The dies, counted over the drive. If there are none: the busiest, or around a request those that served it.
    pub dies: Vec<u32>,
}

/// A part of a run for Perfetto. Times are simulated.
#[derive(Clone, Debug, Default)]
pub struct PerfettoOptions {
    /// The file; without it, nothing is written.
    pub path: Option<PathBuf>,
    /// The start; without it the run's, or the end of the warm-up, for which the run is simulated twice.
    pub from_ns: Option<u64>,
    /// The length; 100 ms without it.
    pub for_ns: Option<u64>,
    /// Instead of these times: around this request, for which the run is simulated twice.
    pub around: Option<Slowest>,
}

/// A drawing of an array: response times of the volume and of its drives, and when these collect. Times are simulated.
#[derive(Clone, Debug)]
pub struct MicroscopeOptions {
    /// The file, .svg or .txt; without it, nothing is drawn.
    pub path: Option<PathBuf>,
    /// The start; without it the end of the warm-up, else the run's start.
    pub from_ns: Option<u64>,
    /// The length.
    pub for_ns: u64,
    /// How many drives are drawn, from drive 0 on; 2 without it.
    pub drives: Option<u32>,
}

impl Default for MicroscopeOptions {
    fn default() -> Self {
        Self { path: None, from_ns: None, for_ns: 300_000_000, drives: None }
    }
}

impl Drawings {
    /// Refuses a time window of a drawing that is not requested, and two windows of one drawing.
    ///
    /// # Errors
    /// The option that is wrong.
    pub fn check(&self) -> Result<(), Failure> {
        let Self { timeline, perfetto, .. } = self;
        let drawings = [
            (
                "timeline",
                timeline.path.is_some(),
                timeline.around.is_some(),
                [("timeline_from", timeline.from_ns.is_some()), ("timeline_to", timeline.to_ns.is_some())],
            ),
            (
                "perfetto",
                perfetto.path.is_some(),
                perfetto.around.is_some(),
                [("perfetto_from", perfetto.from_ns.is_some()), ("perfetto_for", perfetto.for_ns.is_some())],
            ),
        ];
        if !timeline.dies.is_empty() && timeline.path.is_none() {
            return Err(Failure::input("`timeline_die` chooses dies of `timeline`, which is not set")
                .with_help("name the file of the drawing: `timeline`"));
        }
        for (name, is_drawn, is_around, window) in drawings {
            let around = format!("{name}_around");
            let named = window.iter().find(|(_, is_set)| *is_set).map(|(option, _)| *option);
            if let Some(option) = named.or(is_around.then_some(&*around)).filter(|_| !is_drawn) {
                return Err(Failure::input(format!("`{option}` is a time window of `{name}`, which is not set"))
                    .with_help(format!("name the file of the drawing: `{name}`")));
            }
            if let Some(option) = named.filter(|_| is_around) {
                return Err(Failure::input(format!("`{around}` and `{option}` exclude each other"))
                    .with_help("leave one of them out"));
            }
        }
        Ok(())
    }
}

/// The files that the options of pictures, and `--fio-json`, name.
pub fn outputs(drawings: &Drawings) -> Vec<Output> {
    let Drawings { timeline, perfetto, microscope, fio_json } = drawings;
    let files = [
        ("--timeline", &timeline.path),
        ("--perfetto", &perfetto.path),
        ("--microscope", &microscope.path),
        ("--fio-json", fio_json),
    ];
    files.into_iter().filter_map(|(what, path)| Some(Output::new(what, path.as_deref()?))).collect()
}

/// The requested pictures of a run.
pub struct Pictures<'a> {
    timeline: Option<TimelineDrawing<'a>>,
    perfetto: Option<PerfettoTrace<'a>>,
    microscope: Option<Microscope<'a>>,
    /// The end of the timeline that the user names.
    to_ns: Option<u64>,
}

/// The time windows of the timeline and of the trace for Perfetto.
pub type Spans = [Option<Span>; 2];

impl<'a> Pictures<'a> {
    /// Checks the options of pictures against a plan of one run.
    ///
    /// # Errors
    /// If a file's name does not say what to draw, a die or a drive is missing, or a time window is empty.
    pub fn new(drawings: &'a Drawings, plan: &Plan) -> Result<Self, Failure> {
        Ok(Self {
            timeline: TimelineDrawing::new(&drawings.timeline, &plan.runs[0])?,
            perfetto: PerfettoTrace::new(&drawings.perfetto, plan)?,
            microscope: Microscope::new(&drawings.microscope, plan)?,
            to_ns: drawings.timeline.to_ns,
        })
    }

    /// The time windows. If only a run can determine them, it is simulated first, with the options `usual`.
    ///
    /// # Errors
    /// If that run fails, or has no request to draw.
    pub fn spans(&self, plan: &Plan, usual: ExecutionOptions) -> Result<Spans, Failure> {
        let timeline = self.timeline.as_ref().map(|timeline| timeline.window);
        let perfetto = self.perfetto.as_ref().map(|perfetto| perfetto.window);
        time_window::spans(plan, usual, [timeline, perfetto])
    }

    /// The time windows with another one for the timeline, in which a die works. `None` if dies work enough in the
    /// present one, or the user named it. With `Some`, the run is simulated again.
    pub fn with_work(&self, spans: Spans, outcome: &Outcome) -> Option<Spans> {
        let span = spans[0].filter(|_| self.timeline.as_ref().is_some_and(|timeline| timeline.is_usual))?;
        Some([Some(time_window::of_work(span, &outcome.commands)?), spans[1]])
    }

    /// The options of a run that keeps what the pictures show.
    pub fn options(&self, spans: Spans, usual: ExecutionOptions) -> ExecutionOptions {
        ExecutionOptions {
            keep_commands: usual.keep_commands.or_else(|| {
                time_window::filter(spans, self.timeline.as_ref().is_some_and(|timeline| timeline.is_usual))
            }),
            keep_requests: usual.keep_requests || self.perfetto.is_some(),
            keep_gc_events: usual.keep_gc_events || self.perfetto.is_some(),
            microscope: self.microscope.as_ref().map(Microscope::focus),
            ..usual
        }
    }

    /// Adds notes on empty pictures. Returns the failure of the first picture that begins after the run. A picture with
    /// too many commands is an error.
    ///
    /// # Errors
    /// If a picture has too many commands.
    pub fn check(&self, spans: Spans, outcome: &mut Outcome) -> Result<Option<Failure>, Failure> {
        time_window::refuse_too_many(spans, &outcome.commands)?;
        let mut empty_timeline = None;
        if let Some((timeline, span)) = self.timeline.as_ref().zip(spans[0]) {
            let dies = timeline.dies(span, &outcome.commands);
            timeline.refuse_too_many(&dies, span, &outcome.commands)?;
            empty_timeline =
                time_window::emptiness("--timeline", span, outcome, |command| dies.contains(&die_of(command)));
        }
        let to_ns = self.to_ns.filter(|_| empty_timeline.is_none() && self.timeline.is_some());
        let note_of_end = time_window::note_of_end(to_ns, outcome);
        let empty_perfetto = spans[1].and_then(|span| time_window::emptiness("--perfetto", span, outcome, |_| true));
        let focus = self.microscope.as_ref().map(Microscope::focus);
        let empty_microscope = focus.and_then(|focus| time_window::emptiness_of_microscope(focus.from_ns, outcome));
        let mut beyond = None;
        for empty in [empty_timeline, empty_perfetto, empty_microscope].into_iter().flatten() {
            match empty {
                EmptyDrawing::AfterRun(failure) => beyond = beyond.or(Some(failure)),
                EmptyDrawing::NoCommand(note) => outcome.notes.push(note),
            }
        }
        outcome.notes.extend(note_of_end);
        Ok(beyond)
    }

    /// The content of each picture, with its path.
    pub fn encoded(&self, spans: Spans, outcome: &Outcome) -> Vec<(&'a Path, Vec<u8>)> {
        let timeline = self.timeline.as_ref().zip(spans[0]);
        let timeline = timeline.map(|(t, span)| (t.path(), t.draw(span, &outcome.commands).into_bytes()));
        let perfetto = self.perfetto.as_ref().zip(spans[1]).map(|(p, span)| (p.path(), p.encoded(span, outcome)));
        let microscope = self.microscope.as_ref().zip(outcome.microscope.as_ref());
        let microscope = microscope.map(|(drawing, view)| drawing.drawn(view));
        let microscope = microscope.map(|(path, text)| (path, text.into_bytes()));
        timeline.into_iter().chain(perfetto).chain(microscope).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_needs_its_drawing_and_excludes_another() {
        let message = |drawings: &Drawings| drawings.check().err().map(|failure| failure.message().to_owned());
        let mut drawings = Drawings::default();
        assert_eq!(message(&drawings), None);
        drawings.perfetto.from_ns = Some(1);
        let says = "`perfetto_from` is a time window of `perfetto`, which is not set";
        assert_eq!(message(&drawings).as_deref(), Some(says));
        drawings.perfetto.path = Some("p".into());
        assert_eq!(message(&drawings), None);
        drawings.perfetto.around = Some(Slowest::WorstRead);
        let says = "`perfetto_around` and `perfetto_from` exclude each other";
        assert_eq!(message(&drawings).as_deref(), Some(says));
        let timeline = TimelineOptions { around: Some(Slowest::WorstWrite), ..TimelineOptions::default() };
        let says = "`timeline_around` is a time window of `timeline`, which is not set";
        assert_eq!(message(&Drawings { timeline, ..Drawings::default() }).as_deref(), Some(says));
    }
}
