//! Progress of runs: for a screen, a log, or a calling program. It draws nothing itself.

mod planning;
mod preparation;
mod watch;

use copyback::run::Progress;
use copyback_workload::printable::printable;
pub use planning::Planning;
pub use preparation::{DrivesToMake, Preparation};
use std::borrow::Cow;
use std::fmt::Debug;
pub use watch::{ProgressSink, Track, Watch, stop_thread_if_requested, stoppable};

/// Shows progress: bars on a terminal, lines in a log.
pub trait Screen: Debug + Send + Sync {
    /// Work on parts of these names begins.
    fn open(&self, names: &mut dyn Iterator<Item = &str>) -> Box<dyn ShownWork>;
}

/// Some work as a screen shows it.
pub trait ShownWork: Send + Sync {
    /// A line for the reader of a log. It is printable.
    fn log(&self, line: &str);

    /// A part of the work begins, with its number of requests or steps if that is known. None if no part is shown.
    fn add(&self, name: &str, total: Option<u64>) -> Option<Box<dyn ShownPart>>;

    /// The sink for the work of one part.
    fn of_part(&self) -> ProgressSink;
}

/// A part of the work as a screen shows it, until it is dropped.
pub trait ShownPart: Send + Sync {
    /// Sets the status until requests are served.
    fn set_status(&self, what: Cow<'static, str>);

    /// Speeds (requests and page operations in a second) are computed from now on.
    fn restart(&mut self);

    /// One more step has ended, of this name.
    fn step(&self, what: &str);

    /// Updates the progress of the run.
    fn update(&self, progress: Progress);
}

/// Progress of some work in parts.
pub struct Bars {
    shown: Option<Box<dyn ShownWork>>,
    sink: ProgressSink,
}

/// Progress of one part.
pub struct Bar {
    shown: Option<Box<dyn ShownPart>>,
    /// Its part for a calling program.
    track: watch::BarTrack,
}

impl Bars {
    /// Begins work in parts of these names.
    pub fn new<'a>(sink: &ProgressSink, mut names: impl Iterator<Item = &'a str>) -> Self {
        let shown = match sink {
            ProgressSink::Screen(screen) => Some(screen.open(&mut names)),
            ProgressSink::Discard | ProgressSink::Program(_) | ProgressSink::Part(_) => None,
        };
        Self { shown, sink: sink.clone() }
    }

    /// The sink for the runs of one part, if only the number of parts is shown.
    pub fn sink_of_part(&self) -> ProgressSink {
        match (&self.shown, &self.sink) {
            (Some(shown), _) => shown.of_part(),
            (None, ProgressSink::Program(watch) | ProgressSink::Part(watch)) => ProgressSink::Part(watch.clone()),
            (None, _) => ProgressSink::Discard,
        }
    }

    /// A line for a reader without bars, as in a log.
    pub fn log(&self, line: &str) {
        let line = &*printable(line);
        match (&self.shown, &self.sink) {
            (Some(shown), _) => shown.log(line),
            (None, ProgressSink::Program(watch)) => watch.log(line),
            (None, _) => {}
        }
    }

    /// Begins a part, with its number of requests if that is known.
    pub fn add(&self, name: &str, requests: Option<u64>) -> Bar {
        let name = &*printable(name);
        let shown = self.shown.as_ref().and_then(|shown| shown.add(name, requests));
        Bar { shown, track: self.sink.track(name, requests) }
    }
}

impl Bar {
    /// Sets the status until requests are served.
    pub fn set_status(&self, what: impl Into<Cow<'static, str>>) {
        if let Some(shown) = &self.shown {
            shown.set_status(what.into());
        }
    }

    /// Speeds (requests and page operations in a second) are computed from now on.
    pub fn restart(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.restart();
        }
    }

    /// One of the steps that the bar counts has ended.
    pub fn step(&self, what: &str) {
        self.track.step();
        if let Some(shown) = &self.shown {
            shown.step(what);
        }
    }

    /// Ends the calling run if a program has requested it.
    pub fn stop_if_requested(&self) {
        self.track.stop_if_requested();
    }

    /// Updates the progress of the run.
    pub fn update(&self, progress: Progress) {
        self.track.reach(progress.requests_done);
        self.stop_if_requested();
        if let Some(shown) = &self.shown {
            shown.update(progress);
        }
    }
}
