//! Progress of planning the cells of a grid: a bar on a terminal, lines in a log if it takes long.

use super::{Bar, Bars, ProgressSink};
use crate::format::count;
use std::time::{Duration, Instant};

/// Time between two lines of a log.
const EVERY: Duration = Duration::from_secs(5);

/// Cells or worlds that are planned and checked before the first one runs. A calling program gets no track of it.
pub struct Planning {
    shown: Option<(Bars, Bar)>,
    what: &'static str,
    total: usize,
    done: usize,
    last: Instant,
}

impl Planning {
    /// Planning of `total` things begins.
    pub fn new(sink: &ProgressSink, what: &'static str, total: usize) -> Self {
        let shown = matches!(sink, ProgressSink::Screen(_)).then(|| {
            let bars = Bars::new(sink, std::iter::once("checking"));
            let bar = bars.add("checking", Some(total as u64));
            (bars, bar)
        });
        Self { shown, what, total, done: 0, last: Instant::now() }
    }

    /// One more is planned.
    pub fn step(&mut self) {
        self.done += 1;
        let Some((bars, bar)) = &self.shown else { return };
        let of_total = format!("of {} {}", count(self.total as u64), self.what);
        bar.step(&of_total);
        if self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            bars.log(&format!("checked {} {of_total}", count(self.done as u64)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Screen, ShownPart, ShownWork};
    use super::*;
    use copyback::run::Progress;
    use std::borrow::Cow;
    use std::sync::{Arc, Mutex};

    /// A screen that keeps what it is to show.
    #[derive(Clone, Debug, Default)]
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl Kept {
        fn keep(&self, text: String) {
            self.0.lock().expect("no test panicked").push(text);
        }
    }

    impl Screen for Kept {
        fn open(&self, _: &mut dyn Iterator<Item = &str>) -> Box<dyn ShownWork> {
            Box::new(self.clone())
        }
    }

    impl ShownWork for Kept {
        fn log(&self, line: &str) {
            self.keep(line.to_owned());
        }
        fn add(&self, name: &str, total: Option<u64>) -> Option<Box<dyn ShownPart>> {
            self.keep(format!("{name} {total:?}"));
            Some(Box::new(self.clone()))
        }
        fn of_part(&self) -> ProgressSink {
            ProgressSink::Discard
        }
    }

    impl ShownPart for Kept {
        fn set_status(&self, _: Cow<'static, str>) {}
        fn restart(&mut self) {}
        fn step(&self, what: &str) {
            self.keep(what.to_owned());
        }
        fn update(&self, _: Progress) {}
    }

    #[test]
    fn a_screen_shows_each_planned_cell_and_a_log_has_a_line_now_and_then() {
        let kept = Kept::default();
        let mut planning = Planning::new(&ProgressSink::Screen(Arc::new(kept.clone())), "cells", 12_000);
        planning.step();
        if let Some(earlier) = Instant::now().checked_sub(EVERY) {
            planning.last = earlier;
        }
        planning.step();
        let shown = ["checking Some(12000)", "of 12,000 cells", "of 12,000 cells", "checked 2 of 12,000 cells"];
        assert_eq!(*kept.0.lock().expect("no test panicked"), shown);
    }
}
