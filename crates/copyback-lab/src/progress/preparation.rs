//! Progress of a drive's preconditioning, and an estimate of its remaining time.

use super::{Bar, Bars};
use crate::format;
use copyback::run::Work;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The drives that a group of runs makes. The first one that takes long announces all of them.
#[derive(Debug)]
pub struct DrivesToMake {
    /// How many there are, and how many are made at the same time.
    pub count: usize,
    at_once: usize,
    /// Memory of all of them.
    bytes: u64,
    is_announced: AtomicBool,
}

impl DrivesToMake {
    /// `count` drives, of which `at_once` are made at the same time; `bytes`: the memory of all.
    pub fn new(count: usize, at_once: usize, bytes: u64) -> Self {
        Self { count, at_once: at_once.clamp(1, count.max(1)), bytes, is_announced: AtomicBool::new(false) }
    }

    /// The time of all drives, by that of one.
    fn of_all(&self, of_one: Duration) -> Duration {
        of_one.mul_f64(self.count.div_ceil(self.at_once) as f64)
    }
}

/// Progress of a drive's preconditioning: on its bar, and in the log if it takes long.
pub struct Preparation<'a> {
    bars: &'a Bars,
    bar: &'a Bar,
    /// The run's name; with several drives, also the number of this drive.
    name: String,
    drives: &'a DrivesToMake,
    memory: String,
    started: Instant,
    pace: Pace,
    /// The last tenth that was logged; `None` before the first line.
    tenths: Option<u32>,
}

/// Preparations that are expected to take longer are logged.
const LONG: Duration = Duration::from_secs(10);
/// Time after which an estimate is possible.
const EXPECTED_FROM: Duration = Duration::from_secs(1);
/// Least share of the work, and least time, for which a pace must be known to give an estimate.
const SHARE_MIN: f64 = 0.015;
const PACE_MIN: Duration = Duration::from_secs(1);

/// The pace of a preparation, which gives the estimate of its end.
#[derive(Debug, Default)]
struct Pace {
    /// The largest share so far: the share falls if the estimate of the rest grows.
    share: f64,
    /// The work done, and the time, at the first update. Work before it, such as taking memory, does not count as pace.
    first: Option<(f64, Duration)>,
    /// The work done, and the time, at the first updates of the previous tenth and of the current tenth.
    tenths: [Option<(f64, Duration)>; 2],
}

impl Pace {
    /// Adds the work that is done after a time.
    fn note(&mut self, work: Work, passed: Duration) {
        self.first.get_or_insert((work.done, passed));
        let share = work.share().max(self.share);
        let is_another = (10.0 * share) as u32 > (10.0 * self.share) as u32;
        if self.tenths[1].is_none() || is_another {
            self.tenths = [self.tenths[1], Some((work.done, passed))];
        }
        self.share = share;
    }

    /// The remaining time, if it is known within a factor of two.
    fn left(&self, work: Work, passed: Duration) -> Option<Duration> {
        self.expected(work, passed).filter(|_| work.is_rest_known())
    }

    /// The expected remaining time, at the pace since the previous tenth began, or since the first update if that time
    /// is too short; `None` if too little is done.
    fn expected(&self, work: Work, passed: Duration) -> Option<Duration> {
        let done_min = SHARE_MIN * (work.done + work.left);
        let begins = [self.tenths[0], self.first].into_iter().flatten();
        let mut paces = begins.map(|(since, at)| (work.done - since, passed.saturating_sub(at)));
        let (done, took) = paces.find(|(done, took)| *done >= done_min && *took >= PACE_MIN)?;
        Some(took.mul_f64(work.left / done))
    }
}

impl<'a> Preparation<'a> {
    /// Begins now. `number`: the number of this drive, if the run makes several.
    pub fn new(bars: &'a Bars, bar: &'a Bar, run: &str, drives: &'a DrivesToMake, number: usize) -> Self {
        let memory = format::size(drives.bytes as f64);
        let (name, what) = match drives.count {
            0 | 1 => (run.to_owned(), "the drive".to_owned()),
            count => (format!("{run}, drive {number}"), format!("drive {number}, {count} drives in all")),
        };
        bar.set_status(format!("making and preconditioning {what}: {memory} of memory"));
        Self { bars, bar, name, drives, memory, started: Instant::now(), pace: Pace::default(), tenths: None }
    }

    /// Updates the progress.
    pub fn update(&mut self, work: Work) {
        self.bar.track.stop_if_requested();
        let passed = self.started.elapsed();
        self.pace.note(work, passed);
        let left = self.pace.left(work, passed).map(|left| format!(", about {} s left", seconds(left)));
        let (memory, percent) = (&self.memory, (100.0 * self.pace.share) as u32);
        self.bar.track.measure(&format!("{}: preconditioning", self.name), 100, percent.into());
        let left = left.unwrap_or_default();
        let which = if self.drives.count > 1 { "this drive" } else { "the drive" };
        self.bar.set_status(format!("preconditioning {which}: {memory} of memory, {percent} %{left}"));
        if let Some(line) = self.line(work, passed) {
            self.bars.log(&line);
        }
    }

    /// The log line: the whole time first, then the remaining time at each tenth. `None` if the whole time is short.
    fn line(&mut self, work: Work, passed: Duration) -> Option<String> {
        let (expected, left) = (self.pace.expected(work, passed), self.pace.left(work, passed));
        let is_short = |left: Duration| self.drives.of_all(passed + left) < LONG;
        if self.tenths.is_none() && (passed < EXPECTED_FROM || expected.is_none_or(is_short)) {
            return None;
        }
        let Self { name, memory, drives, .. } = self;
        let percent = (100.0 * self.pace.share) as u32;
        let before = self.tenths.replace(percent / 10);
        match before {
            None if drives.is_announced.swap(true, Ordering::Relaxed) => None,
            None => {
                let whole_s = seconds(drives.of_all(passed + expected?));
                let (take, of_one) = match drives.count {
                    0 | 1 => ("the drive takes".to_owned(), ""),
                    count => (format!("the {count} drives take"), " of this one"),
                };
                Some(format!(
                    "{name}: {take} {memory} of memory and some {whole_s} s to precondition; {percent} %{of_one} done"
                ))
            }
            Some(before) if before < percent / 10 => {
                let left = left.map(|left| format!(", about {} s left", seconds(left))).unwrap_or_default();
                Some(format!("{name}: preconditioning {percent} %{left}"))
            }
            Some(_) => None,
        }
    }
}

/// Whole seconds, the nearest.
fn seconds(time: Duration) -> u64 {
    time.as_secs_f64().round() as u64
}

#[cfg(test)]
mod tests {
    use super::super::ProgressSink;
    use super::*;

    /// The log lines of a preparation with an update at each hundredth, at these times.
    fn lines(seconds_at: impl Fn(f64) -> f64) -> Vec<String> {
        lines_of(&DrivesToMake::new(1, 1, 6 << 30), 0, seconds_at)
    }

    /// The same for one of several drives, with its number.
    fn lines_of(drives: &DrivesToMake, number: usize, seconds_at: impl Fn(f64) -> f64) -> Vec<String> {
        lines_within(drives, number, seconds_at, |_| [1.0, 1.0])
    }

    /// The same; the rest lies between bounds that are multiples of its estimate.
    fn lines_within(
        drives: &DrivesToMake,
        number: usize,
        seconds_at: impl Fn(f64) -> f64,
        bounds: impl Fn(f64) -> [f64; 2],
    ) -> Vec<String> {
        let bars = Bars::new(&ProgressSink::Discard, std::iter::empty());
        let bar = bars.add("pgc", None);
        let mut preparation = Preparation::new(&bars, &bar, "pgc", drives, number);
        let line = |percent: u32| {
            let share = f64::from(percent) / 100.0;
            let passed = Duration::from_secs_f64(seconds_at(share));
            let left = f64::from(100 - percent);
            let [least, most] = bounds(share);
            let work = Work { done: f64::from(percent), left, bounds: [least * left, most * left] };
            preparation.pace.note(work, passed);
            preparation.line(work, passed)
        };
        (1..100).filter_map(line).collect()
    }

    #[test]
    fn only_a_long_preparation_is_logged() {
        assert!(lines(|share| 9.0 * share).is_empty());
        let logged = lines(|share| 40.0 * share);
        // A second after the first update, the pace is known.
        assert_eq!(logged[0], "pgc: the drive takes 6.00 GiB of memory and some 40 s to precondition; 4 % done");
        assert_eq!((logged.len(), &*logged[1]), (10, "pgc: preconditioning 10 %, about 36 s left"));
        assert_eq!(logged[9], "pgc: preconditioning 90 %, about 4 s left");
    }

    /// Four drives on two cores take twice the time of one, and lines name the drive.
    #[test]
    fn the_announcement_is_of_all_drives_and_made_once() {
        let drives = DrivesToMake::new(4, 2, 24 << 30);
        let logged = lines_of(&drives, 1, |share| 40.0 * share);
        let all =
            "pgc, drive 1: the 4 drives take 24.0 GiB of memory and some 80 s to precondition; 4 % of this one done";
        assert_eq!(logged[..2], [all, "pgc, drive 1: preconditioning 10 %, about 36 s left"]);
        let logged = lines_of(&drives, 2, |share| 40.0 * share);
        assert_eq!((logged.len(), &*logged[0]), (9, "pgc, drive 2: preconditioning 10 %, about 36 s left"));
        // Each takes less than what is worth a line; together they take more.
        assert_eq!(lines_of(&DrivesToMake::new(4, 1, 1 << 30), 0, |share| 6.0 * share).len(), 9);
    }

    /// In the second half, the remaining work may be less than half of its estimate, or more than twice as much.
    #[test]
    fn an_unknown_remaining_time_is_not_printed() {
        for beyond in [[0.4, 1.0], [1.0, 3.0]] {
            let bounds = |share: f64| if share < 0.5 { [0.5, 2.0] } else { beyond };
            let logged = lines_within(&DrivesToMake::new(1, 1, 6 << 30), 0, |share| 40.0 * share, bounds);
            assert_eq!((logged.len(), &*logged[4]), (10, "pgc: preconditioning 40 %, about 24 s left"));
            assert_eq!(
                logged[5..],
                ["50", "60", "70", "80", "90"].map(|tenth| format!("pgc: preconditioning {tenth} %"))
            );
            // The whole time is announced, although the remaining time is open from the beginning.
            let logged = lines_within(&DrivesToMake::new(1, 1, 6 << 30), 0, |share| 40.0 * share, |_| beyond);
            assert!(logged[0].contains("some 40 s to precondition; 4 % done"), "{}", logged[0]);
        }
    }

    /// The number in front of ` s`.
    fn estimate_s(line: &str) -> f64 {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "s").expect("a time in seconds");
        words[at - 1].parse().expect("a number")
    }

    /// A drive whose memory takes 100 s before its first write: this time is not part of the pace.
    #[test]
    fn what_passes_before_the_first_share_does_not_count_as_its_pace() {
        let logged = lines(|share| 100.0 + 400.0 * share);
        let whole_s = estimate_s(&logged[0]);
        assert!((250.0..=1_000.0).contains(&whole_s), "500 s in all, and logged: {}", logged[0]);
    }

    /// The first half has a tenth of the pace of the second: the estimate is corrected on the way.
    #[test]
    fn the_time_that_is_left_follows_the_pace() {
        let at = |share: f64| if share < 0.5 { 200.0 * share } else { 100.0 + 20.0 * (share - 0.5) };
        let logged = lines(at);
        let left_s = estimate_s(logged.iter().find(|line| line.contains("70 %")).expect("a line for each tenth"));
        assert!((3.0..=12.0).contains(&left_s), "6 s were left, and logged: {left_s}");
    }
}
