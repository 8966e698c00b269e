//! The pictures of a run: `--timeline`, `--perfetto` and `--microscope`.

use crate::execute::ExecutionOptions;
use crate::failure::Failure;
use crate::files::Output;
use crate::microscope::Microscope;
use crate::perfetto::Perfetto;
use crate::plan::Plan;
use crate::request::{Drawings, Request};
use crate::time_window::{self, EmptyDrawing, Span};
use crate::timeline::Drawing;
use copyback::observe::report::Outcome;
use copyback::observe::timeline::die_of;
use std::path::Path;

/// The files that the options of pictures, and `--fio-json`, name.
pub(super) fn outputs(drawings: &Drawings) -> Vec<Output> {
    let Drawings { timeline, perfetto, microscope, fio_json } = drawings;
    let files = [
        ("--timeline", &timeline.timeline),
        ("--perfetto", &perfetto.perfetto),
        ("--microscope", &microscope.microscope),
        ("--fio-json", fio_json),
    ];
    files.into_iter().filter_map(|(what, path)| Some(Output::new(what, path.as_deref()?))).collect()
}

/// The requested pictures of a run.
pub(super) struct Pictures<'a> {
    timeline: Option<Drawing<'a>>,
    perfetto: Option<Perfetto<'a>>,
    microscope: Option<Microscope<'a>>,
    /// The end of the timeline that the user names.
    to_ns: Option<u64>,
}

/// The time windows of the timeline and of the trace for Perfetto.
pub(super) type Spans = [Option<Span>; 2];

impl<'a> Pictures<'a> {
    /// Checks the options of pictures.
    pub(super) fn new(drawings: &'a Drawings, plan: &Plan) -> Result<Self, Failure> {
        Ok(Self {
            timeline: Drawing::new(&drawings.timeline, &plan.runs[0])?,
            perfetto: Perfetto::new(&drawings.perfetto, plan)?,
            microscope: Microscope::new(&drawings.microscope, plan)?,
            to_ns: drawings.timeline.timeline_to,
        })
    }

    /// The time windows. If a run has to show them, it is simulated first.
    pub(super) fn spans(&self, plan: &Plan, request: &Request) -> Result<Spans, Failure> {
        let timeline = self.timeline.as_ref().map(|timeline| timeline.window);
        let perfetto = self.perfetto.as_ref().map(|perfetto| perfetto.window);
        time_window::spans(plan, request, [timeline, perfetto])
    }

    /// The options of a run that keeps what the pictures show.
    pub(super) fn options(&self, spans: Spans, usual: ExecutionOptions) -> ExecutionOptions {
        ExecutionOptions {
            keep_commands: usual.keep_commands.or_else(|| time_window::filter(spans)),
            keep_requests: usual.keep_requests || self.perfetto.is_some(),
            keep_gc_events: usual.keep_gc_events || self.perfetto.is_some(),
            microscope: self.microscope.as_ref().map(Microscope::focus),
            ..usual
        }
    }

    /// Adds notes on empty pictures. Returns the failure of the first picture that begins after the run. A picture with
    /// too many commands is an error.
    pub(super) fn check(&self, spans: Spans, outcome: &mut Outcome) -> Result<Option<Failure>, Failure> {
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
    pub(super) fn encoded(&self, spans: Spans, outcome: &Outcome) -> Vec<(&'a Path, Vec<u8>)> {
        let timeline = self.timeline.as_ref().zip(spans[0]);
        let timeline = timeline.map(|(t, span)| (t.path(), t.draw(span, &outcome.commands).into_bytes()));
        let perfetto = self.perfetto.as_ref().zip(spans[1]).map(|(p, span)| (p.path(), p.encoded(span, outcome)));
        let microscope = self.microscope.as_ref().zip(outcome.microscope.as_ref());
        let microscope = microscope.map(|(drawing, view)| drawing.drawn(view));
        let microscope = microscope.map(|(path, text)| (path, text.into_bytes()));
        timeline.into_iter().chain(perfetto).chain(microscope).collect()
    }
}
