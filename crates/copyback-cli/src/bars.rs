//! Progress of runs on standard error: bars on a terminal, otherwise lines for long work.

use crate::format;
use copyback::run::Progress;
use copyback_lab::progress::{ProgressSink, Screen, ShownPart, ShownWork};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Instant;

/// Standard error.
#[derive(Debug)]
pub struct Terminal;

/// Standard error that is no terminal: lines only.
#[derive(Debug)]
struct Log;

/// The bars of all runs.
struct Bars {
    bars: MultiProgress,
    name_width: usize,
}

/// One run's bar.
struct Bar {
    bar: ProgressBar,
    started: Instant,
}

impl Screen for Terminal {
    fn open(&self, names: &mut dyn Iterator<Item = &str>) -> Box<dyn ShownWork> {
        if !std::io::stderr().is_terminal() {
            return Box::new(Log);
        }
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        Box::new(Bars { bars, name_width: names.map(str::len).max().unwrap_or(0) })
    }
}

impl Screen for Log {
    fn open(&self, _names: &mut dyn Iterator<Item = &str>) -> Box<dyn ShownWork> {
        Box::new(Self)
    }
}

impl ShownWork for Log {
    fn log(&self, line: &str) {
        // If standard error is closed, no reader is left.
        drop(std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes()));
    }

    fn add(&self, _name: &str, _total: Option<u64>) -> Option<Box<dyn ShownPart>> {
        None
    }

    fn of_part(&self) -> ProgressSink {
        ProgressSink::Screen(Arc::new(Self))
    }
}

impl ShownWork for Bars {
    fn log(&self, _line: &str) {}

    fn add(&self, name: &str, requests: Option<u64>) -> Option<Box<dyn ShownPart>> {
        let bar = self.bars.add(ProgressBar::no_length());
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
        Some(Box::new(Bar { bar, started: Instant::now() }))
    }

    fn of_part(&self) -> ProgressSink {
        ProgressSink::Discard
    }
}

impl ShownPart for Bar {
    fn set_status(&self, what: Cow<'static, str>) {
        self.bar.set_message(what);
        self.bar.tick();
    }

    fn restart(&mut self) {
        self.started = Instant::now();
        self.bar.reset_eta();
    }

    fn step(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.inc(1);
    }

    fn update(&self, progress: Progress) {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let rate = |count: u64| format::large(count as f64 / seconds);
        self.bar.set_position(progress.requests_done);
        self.bar.set_message(format!(
            "{} simulated, {} requests/s, {} flash pages/s",
            format::time(progress.now_ns as f64),
            rate(progress.requests_done),
            rate(progress.page_operations),
        ));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
