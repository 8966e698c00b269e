//! How far runs are: for a screen, for a log, or for a program that called. Nothing is drawn here.

mod preparation;
mod watch;

use copyback::run::Progress;
use copyback_workload::printable::printable;
pub use preparation::Preparation;
use std::borrow::Cow;
use std::fmt::Debug;
pub use watch::{Audience, Track, Watch, stop_here_if_asked, stoppable};

/// Shows how far runs are: bars on a terminal, lines in a log.
pub trait Screen: Debug + Send + Sync {
    /// Work on parts of these names begins.
    fn open(&self, names: &mut dyn Iterator<Item = &str>) -> Box<dyn Shown>;
}

/// Work as a screen shows it.
pub trait Shown: Send + Sync {
    /// A line for the reader of a log. It is printable.
    fn tell(&self, line: &str);

    /// A part of the work begins, with its number of requests or steps if that is known. None if no part is shown.
    fn add(&self, name: &str, total: Option<u64>) -> Option<Box<dyn Part>>;

    /// The receiver of updates on work that is one part of this.
    fn of_part(&self) -> Audience;
}

/// A part of the work as a screen shows it, until it is dropped.
pub trait Part: Send + Sync {
    /// What is being done before requests are served.
    fn say(&self, what: Cow<'static, str>);

    /// The clock of speeds starts now.
    fn restart(&mut self);

    /// One step more is done, of this name.
    fn step(&self, what: &str);

    /// How far the run is.
    fn update(&self, progress: Progress);
}

/// How far the parts of some work are.
pub struct Bars {
    shown: Option<Box<dyn Shown>>,
    audience: Audience,
}

/// How far one part is.
pub struct Bar {
    shown: Option<Box<dyn Part>>,
    /// What a calling program sees of it.
    track: watch::Own,
}

impl Bars {
    /// Those of parts of these names.
    pub fn new<'a>(audience: &Audience, mut names: impl Iterator<Item = &'a str>) -> Self {
        let shown = match audience {
            Audience::Screen(screen) => Some(screen.open(&mut names)),
            Audience::Nobody | Audience::Program(_) | Audience::Silent(_) => None,
        };
        Self { shown, audience: audience.clone() }
    }

    /// The receiver of updates on runs of one part of the work, if only the number of parts that are done is shown.
    pub fn audience_of_part(&self) -> Audience {
        match (&self.shown, &self.audience) {
            (Some(shown), _) => shown.of_part(),
            (None, Audience::Program(watch) | Audience::Silent(watch)) => Audience::Silent(watch.clone()),
            (None, _) => Audience::Nobody,
        }
    }

    /// A line for a reader without bars, as in a log.
    pub fn tell(&self, line: &str) {
        let line = &*printable(line);
        match (&self.shown, &self.audience) {
            (Some(shown), _) => shown.tell(line),
            (None, Audience::Program(watch)) => watch.tell(line),
            (None, _) => {}
        }
    }

    /// A bar for a run that will have so many requests, where that is known.
    pub fn add(&self, name: &str, requests: Option<u64>) -> Bar {
        let name = &*printable(name);
        let shown = self.shown.as_ref().and_then(|shown| shown.add(name, requests));
        Bar { shown, track: self.audience.track(name, requests) }
    }
}

impl Bar {
    /// Says what is being done before requests are served.
    pub fn say(&self, what: impl Into<Cow<'static, str>>) {
        if let Some(shown) = &self.shown {
            shown.say(what.into());
        }
    }

    /// The clock of speeds starts now.
    pub fn restart(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.restart();
        }
    }

    /// One of the parts that the bar counts is done.
    pub fn step(&self, what: &str) {
        self.track.step();
        if let Some(shown) = &self.shown {
            shown.step(what);
        }
    }

    /// Ends the run that this is called from, if a calling program has asked for it.
    pub fn stop_if_asked(&self) {
        self.track.stop_if_asked();
    }

    /// Shows how far the run is.
    pub fn update(&self, progress: Progress) {
        self.track.reach(progress.requests_done);
        self.stop_if_asked();
        if let Some(shown) = &self.shown {
            shown.update(progress);
        }
    }
}
