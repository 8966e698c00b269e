//! How far runs are, on a terminal.

use crate::format;
use copyback::run::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;

/// The bars of all runs; none where standard error is no terminal, or nobody wants them.
pub struct Bars {
    bars: Option<MultiProgress>,
    name_width: usize,
    /// Whether there is a log instead of a terminal.
    tells: bool,
}

/// One run's bar.
pub struct Bar {
    bar: Option<ProgressBar>,
    started: Instant,
}

impl Bars {
    /// Bars for runs of these names.
    pub fn new<'a>(is_quiet: bool, names: impl Iterator<Item = &'a str>) -> Self {
        let is_wanted = !is_quiet && std::io::stderr().is_terminal();
        let bars = is_wanted.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(5)));
        let tells = !is_quiet && !is_wanted;
        Self { bars, name_width: names.map(str::len).max().unwrap_or(0), tells }
    }

    /// A line for whoever has no bars but reads along, as in a log.
    pub fn tell(&self, line: &str) {
        if self.tells {
            // Nobody is left to tell where standard error is closed.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
        }
    }

    /// A bar for a run that will have so many requests, where that is known.
    pub fn add(&self, name: &str, requests: Option<u64>) -> Bar {
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
        Bar { bar, started: Instant::now() }
    }
}

impl Bar {
    /// Says what is being done before requests are served.
    pub fn say(&self, what: &'static str) {
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
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
            bar.inc(1);
        }
    }

    /// Shows how far the run is.
    pub fn update(&self, progress: Progress) {
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
