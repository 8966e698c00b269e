//! How far runs are: on a terminal, in a log, or for a program that called this one.

mod preparation;
mod watch;

use crate::format;
use copyback::run::Progress;
use copyback_workload::printable::printable;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
pub use preparation::Preparation;
use std::io::IsTerminal;
use std::time::Instant;
pub use watch::{Audience, Track, Watch, stop_here_if_asked, stoppable};

/// The bars of all runs; none where standard error is no terminal, or nobody wants them.
pub struct Bars {
    bars: Option<MultiProgress>,
    name_width: usize,
    audience: Audience,
}

/// One run's bar.
pub struct Bar {
    bar: Option<ProgressBar>,
    /// What a calling program sees of it.
    track: watch::Own,
    started: Instant,
}

impl Bars {
    /// Bars for runs of these names.
    pub fn new<'a>(audience: &Audience, names: impl Iterator<Item = &'a str>) -> Self {
        let has_terminal = matches!(audience, Audience::Person) && std::io::stderr().is_terminal();
        let bars = has_terminal.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(5)));
        let audience = match audience {
            Audience::Person if !has_terminal => Audience::Log,
            audience => audience.clone(),
        };
        Self { bars, name_width: names.map(str::len).max().unwrap_or(0), audience }
    }

    /// The receiver of updates on runs of one part of the work, if these bars show only how many there are.
    pub fn audience_of_part(&self) -> Audience {
        match &self.audience {
            Audience::Person | Audience::Nobody => Audience::Nobody,
            Audience::Log => Audience::Log,
            Audience::Program(watch) | Audience::Silent(watch) => Audience::Silent(watch.clone()),
        }
    }

    /// A line for whoever has no bars but reads along, as in a log.
    pub fn tell(&self, line: &str) {
        let line = &*printable(line);
        match &self.audience {
            // Nobody is left to tell where standard error is closed.
            Audience::Log => drop(std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes())),
            Audience::Program(watch) => watch.tell(line),
            Audience::Person | Audience::Nobody | Audience::Silent(_) => {}
        }
    }

    /// A bar for a run that will have so many requests, where that is known.
    pub fn add(&self, name: &str, requests: Option<u64>) -> Bar {
        let name = &*printable(name);
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::no_length());
            let template = match requests {
                Some(_) => "{prefix} {bar:24} {percent:>3} % {msg}, {eta} left",
                None => "{prefix} {spinner} {msg}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            if let Some(requests) = requests {
                bar.set_length(requests);
            }
            bar.set_prefix(format!("{name:<width$}", width = self.name_width));
            bar
        });
        Bar { bar, track: self.audience.track(name, requests), started: Instant::now() }
    }
}

impl Bar {
    /// Says what is being done before requests are served.
    pub fn say(&self, what: impl Into<std::borrow::Cow<'static, str>>) {
        if let Some(bar) = &self.bar {
            bar.set_message(what);
            bar.tick();
        }
    }

    /// The clock of speeds starts now.
    pub fn restart(&mut self) {
        self.started = Instant::now();
        if let Some(bar) = &self.bar {
            bar.reset_eta();
        }
    }

    /// One of the parts that the bar counts is done.
    pub fn step(&self, what: &str) {
        self.track.step();
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
            bar.inc(1);
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
        let Some(bar) = &self.bar else { return };
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let rate = |count: u64| format::large(count as f64 / seconds);
        bar.set_position(progress.requests_done);
        bar.set_message(format!(
            "{} simulated, {} requests/s, {} flash pages/s",
            format::time(progress.now_ns as f64),
            rate(progress.requests_done),
            rate(progress.page_operations),
        ));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
