//! How far runs are: on a terminal, in a log, or for a program that called this one.

mod watch;

use crate::format;
use copyback::run::Progress;
use copyback_workload::printable::printable;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
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

    /// Who hears of the runs of one part of the work, whose number is all that these bars show.
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

/// How far the preconditioning of a drive is: on its bar, or where it takes long, in the log.
pub struct Preparation<'a> {
    bars: &'a Bars,
    bar: &'a Bar,
    name: &'a str,
    memory: String,
    started: Instant,
    /// The last tenth that the log has heard of; none before it has heard of anything.
    tenths: Option<u32>,
}

/// Preparations that are expected to take longer are told of, as soon as that can be expected.
const LONG: Duration = Duration::from_secs(10);
/// How long it takes until something can be.
const EXPECTED_FROM: Duration = Duration::from_secs(1);

impl<'a> Preparation<'a> {
    /// One that begins now.
    pub fn new(bars: &'a Bars, bar: &'a Bar, name: &'a str, bytes: u64) -> Self {
        let memory = format::size(bytes as f64);
        bar.say(format!("making and preconditioning the drive: {memory} of memory"));
        Self { bars, bar, name, memory, started: Instant::now(), tenths: None }
    }

    /// Such a share of it is done.
    pub fn hear(&mut self, share: f64) {
        self.bar.track.stop_if_asked();
        let passed = self.started.elapsed();
        let left_s = (expected(share, passed) - passed).as_secs();
        let (memory, percent) = (&self.memory, (100.0 * share) as u32);
        self.bar.track.measure(&format!("{}: preconditioning", self.name), 100, percent.into());
        self.bar.say(format!("preconditioning the drive: {memory} of memory, {percent} %, about {left_s} s left"));
        if let Some(line) = self.line(share, passed) {
            self.bars.tell(&line);
        }
    }

    /// What the log hears then: what it takes in all, and each tenth; nothing where that is not long.
    fn line(&mut self, share: f64, passed: Duration) -> Option<String> {
        let whole = expected(share, passed);
        if self.tenths.is_none() && (passed < EXPECTED_FROM || whole < LONG) {
            return None;
        }
        let Self { name, memory, .. } = self;
        let (percent, whole_s) = ((100.0 * share) as u32, whole.as_secs());
        let before = self.tenths.replace(percent / 10);
        match before {
            None => Some(format!(
                "{name}: the drive takes {memory} of memory and some {whole_s} s to precondition; {percent} % done"
            )),
            Some(before) if before < percent / 10 => Some(format!("{name}: preconditioning {percent} %")),
            Some(_) => None,
        }
    }
}

/// How long it takes in all, after so much of it.
fn expected(share: f64, passed: Duration) -> Duration {
    passed.div_f64(share.max(1e-3))
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_preparation_is_told_of_in_a_log() {
        let bars = Bars::new(&Audience::Log, std::iter::empty());
        let bar = bars.add("pgc", None);
        let lines = |whole_s: f64| {
            let mut preparation = Preparation::new(&bars, &bar, "pgc", 6 << 30);
            let line = |percent: u32| {
                let share = f64::from(percent) / 100.0;
                preparation.line(share, Duration::from_secs_f64(share * whole_s))
            };
            (1..100).filter_map(line).collect::<Vec<_>>()
        };
        assert!(lines(9.0).is_empty());
        let told = lines(40.0);
        // After a second it is known.
        assert_eq!(told[0], "pgc: the drive takes 6.00 GiB of memory and some 40 s to precondition; 3 % done");
        assert_eq!((told.len(), &*told[1], &*told[9]), (10, "pgc: preconditioning 10 %", "pgc: preconditioning 90 %"));
    }
}
