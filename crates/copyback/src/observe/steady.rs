//! Is the drive in a steady state? The rule of the SNIA Solid State Storage Performance Test Specification (PTS), as a
//! verdict on any run and as the end of a preconditioning.
//!
//! The rule applies to a figure over five successive rounds: it is steady if its largest and smallest values differ by
//! at most 20 % of their mean, and if the straight line fitted to them changes by at most 10 % of the mean from the
//! first round to the last. The figures of a run are write amplification and, in a closed loop, the throughput (in an
//! open loop the workload determines it). The rounds of a run are fifths of what the host wrote.
//!
//! The rule assumes drives that are measured from outside, and written to for hours. A simulated run may last a second.
//! In that time free blocks and a buffer can absorb writes: both figures stay constant, and the cost comes later. A run
//! is therefore steady only if it neither uses up such a reserve nor builds one up ([`Reserve`]), and if the host wrote
//! the drives' spare space at least once: before that, the ages of blocks cannot have turned over.

mod reserve;
mod track;

pub use reserve::{RESERVE_MAX, Reserve};
use serde::Serialize;
pub use track::Track;

/// Rounds that the rule compares.
pub const ROUNDS: usize = 5;
/// Largest difference of two rounds, relative to the mean of all.
pub const RANGE_MAX: f64 = 0.20;
/// Largest change along the fitted line, from the first round to the last, relative to the mean.
pub const SLOPE_MAX: f64 = 0.10;
/// Rounds after which a preconditioning gives up.
pub const ROUNDS_MAX: u32 = 25;
/// Least number of erased blocks in a round, on average. With fewer, single victims determine a run's figures: the
/// valid share of a victim varies by some 10 %, so the mean of ten varies by 3 %, far from the limits.
pub const ERASES_MIN: u64 = 10;

/// A figure over five rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The name of the figure.
    pub name: &'static str,
    /// Its value in each round.
    pub rounds: [f64; ROUNDS],
    /// Their mean.
    pub mean: f64,
    /// Largest less smallest, relative to the mean.
    pub range: f64,
    /// Change along the fitted line, from the first round to the last, relative to the mean; below 0 if it falls.
    pub slope: f64,
}

impl Figure {
    /// The figure of five rounds.
    pub fn new(name: &'static str, rounds: [f64; ROUNDS]) -> Self {
        Self::with_mean(name, rounds, rounds.iter().sum::<f64>() / ROUNDS as f64)
    }

    /// The figure of a ratio. Its mean is the ratio over all rounds, because rounds differ slightly in length.
    pub fn with_mean(name: &'static str, rounds: [f64; ROUNDS], mean: f64) -> Self {
        let largest = rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = rounds.iter().copied().fold(f64::INFINITY, f64::min);
        Self { name, rounds, mean, range: (largest - smallest) / mean, slope: rise(&rounds) / mean }
    }

    /// Whether the rule holds.
    pub fn is_steady(&self) -> bool {
        self.range <= RANGE_MAX && self.slope.abs() <= SLOPE_MAX
    }
}

/// How far the straight line rises that is fitted to evenly spaced values, from the first of them to the last.
pub(crate) fn rise(values: &[f64]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let (mut weighted, mut squares) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let from_middle = at as f64 - middle;
        (weighted, squares) = (weighted + from_middle * value, squares + from_middle * from_middle);
    }
    2.0 * middle * weighted / squares
}

/// Write amplification, and blocks erased, of the last rounds of a preconditioning.
#[derive(Clone, Debug, Default)]
pub struct LastRounds {
    amplification: [f64; ROUNDS],
    erases: [u64; ROUNDS],
    added: usize,
}

impl LastRounds {
    /// Another round.
    pub fn add(&mut self, amplification: f64, erases: u64) {
        self.amplification.rotate_left(1);
        self.amplification[ROUNDS - 1] = amplification;
        self.erases.rotate_left(1);
        self.erases[ROUNDS - 1] = erases;
        self.added += 1;
    }

    /// Write amplification over them.
    pub fn figure(&self) -> Figure {
        Figure::new("write amplification", self.amplification)
    }

    /// Blocks erased in a round, on average.
    pub fn erases_a_round(&self) -> u64 {
        self.erases.iter().sum::<u64>() / ROUNDS as u64
    }

    /// Whether there are enough rounds, and the rule holds. A drive that does not collect yet is not steady, whatever
    /// its write amplification.
    pub fn is_steady(&self) -> bool {
        self.added >= ROUNDS && self.erases_a_round() >= ERASES_MIN && self.figure().is_steady()
    }
}

/// The verdict of the rule on a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All figures are steady, and the drives do not live on a reserve.
    Steady,
    /// A figure still moves, the drives live on a reserve, or they still work off a backlog from before.
    NotYet,
    /// The host wrote, and no block was erased: a drive that is still filling up.
    NoErase,
    /// Fewer than [`ERASES_MIN`] blocks were erased in a round, on average; or a round has no writes or took no time;
    /// or all figures are steady, and the host wrote less than the spare space.
    TooShort,
    /// The host wrote nothing, so that nothing could settle.
    #[default]
    NoWrite,
    /// Requests arrive faster than the drives serve them, so that waits grow with the run. Replaces all others.
    Overloaded,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Steady, Self::NotYet, Self::NoErase, Self::TooShort, Self::NoWrite, Self::Overloaded];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::NotYet => "not_yet",
            Self::NoErase => "no_erase",
            Self::TooShort => "too_short",
            Self::NoWrite => "no_write",
            Self::Overloaded => "overloaded",
        }
    }

    /// The verdict of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// The verdict on a run and its figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Steady {
    /// The verdict of the rule.
    pub verdict: Verdict,
    /// The figures; none if there was nothing to judge.
    pub figures: Vec<Figure>,
    /// The use of reserves; none if the host wrote nothing.
    #[serde(serialize_with = "reserve::serialize")]
    pub reserve: Option<Reserve>,
}

/// Counts at a moment of a run, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunPosition {
    /// Mapping units that the host wrote.
    pub host_units: u64,
    /// Mapping units that flash was programmed with, padding included.
    pub flash_units: u64,
    /// Mapping units of pages that were skipped: used without a program.
    pub skipped_units: u64,
    /// Mapping units that erases made free.
    pub erased_units: u64,
    /// Mapping units that buffers hold and flash does not, at this moment.
    pub dirty_units: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Requests done.
    pub requests: u64,
    /// Requests that have begun and are not done, at this moment.
    pub outstanding: u64,
    /// Simulated time.
    pub now_ns: u64,
}

/// What the verdict needs besides the marks of the rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictInputs {
    /// Units programmed after the last round.
    pub units_after_end: u64,
    /// Physical units of the drives less their logical units. The verdict `Steady` requires that the host wrote as
    /// many.
    pub spare_units: u64,
}

/// How the requests of a run begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// Each when another ends: the drives determine the throughput, which is therefore a figure.
    Closed,
    /// Some or all at the workload's times.
    Open,
    /// At the workload's times, while the drives work off a backlog from before.
    Draining,
    /// At the workload's times, and faster than the drives serve them.
    Overloaded,
}

/// The verdict on five rounds that begin and end at these marks.
pub fn judge(ends: &[RunPosition; ROUNDS + 1], host: Loop, inputs: &VerdictInputs) -> Steady {
    let steady = judge_drives(ends, host, inputs);
    match host {
        Loop::Overloaded => Steady { verdict: Verdict::Overloaded, ..steady },
        Loop::Draining if steady.verdict == Verdict::Steady => Steady { verdict: Verdict::NotYet, ..steady },
        Loop::Closed | Loop::Open | Loop::Draining => steady,
    }
}

/// The verdict on the drives alone, whether or not they keep up with the host.
fn judge_drives(ends: &[RunPosition; ROUNDS + 1], host: Loop, inputs: &VerdictInputs) -> Steady {
    let (first, last) = (ends[0], ends[ROUNDS]);
    let reserve = Reserve::of(ends, inputs);
    let none = |verdict| Steady { verdict, figures: Vec::new(), reserve };
    if last.host_units == first.host_units {
        return none(Verdict::NoWrite);
    }
    let erases = last.erases - first.erases;
    if erases == 0 {
        return none(Verdict::NoErase);
    }
    let rounds = || ends.windows(2).map(|pair| (pair[0], pair[1]));
    let is_empty = |(a, b): (RunPosition, RunPosition)| b.now_ns == a.now_ns || b.host_units == a.host_units;
    if erases < ROUNDS as u64 * ERASES_MIN || rounds().any(is_empty) {
        return none(Verdict::TooShort);
    }
    let of_rounds = |value: fn(RunPosition, RunPosition) -> f64| -> [f64; ROUNDS] {
        let mut values = rounds().map(|(a, b)| value(a, b));
        std::array::from_fn(|_| values.next().unwrap_or(0.0))
    };
    let amplification =
        |a: RunPosition, b: RunPosition| (b.flash_units - a.flash_units) as f64 / (b.host_units - a.host_units) as f64;
    let of_all = amplification(first, last);
    let mut figures = vec![Figure::with_mean("write amplification", of_rounds(amplification), of_all)];
    if host == Loop::Closed {
        let per_s =
            |a: RunPosition, b: RunPosition| (b.requests - a.requests) as f64 * 1e9 / (b.now_ns - a.now_ns) as f64;
        figures.push(Figure::new("throughput", of_rounds(per_s)));
    }
    let lives_on_reserve = reserve.is_some_and(|reserve| !reserve.is_small());
    let is_steady = figures.iter().all(Figure::is_steady) && !lives_on_reserve;
    let verdict = match is_steady {
        true if reserve.is_some_and(|reserve| reserve.spare_written < 1.0) => Verdict::TooShort,
        true => Verdict::Steady,
        false => Verdict::NotYet,
    };
    Steady { verdict, figures, reserve }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_the_names_that_documents_have() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
            assert_eq!(Verdict::of_name(verdict.name()), Some(verdict));
        }
        assert_eq!(Verdict::of_name("Steady"), None);
    }

    #[test]
    fn the_limits_are_those_of_the_rule() {
        // A spread of 20 % without a slope, and just more.
        assert!(Figure::new("", [90.0, 110.0, 100.0, 110.0, 90.0]).is_steady());
        assert!(!Figure::new("", [89.9, 110.1, 100.0, 110.1, 89.9]).is_steady());
        // A slope of 10 % over the window, and just more.
        let line = |rise: f64| Figure::new("", std::array::from_fn(|at| 100.0 + rise * (at as f64 / 4.0 - 0.5)));
        assert!((line(9.9).slope - 0.099).abs() < 1e-12 && line(9.9).is_steady());
        assert!(!line(10.1).is_steady() && !line(-10.1).is_steady());
        assert!((line(-7.0).slope + 0.07).abs() < 1e-12);
    }

    /// A run whose round `i` amplifies writes by `amplification[i]`, a unit at a time.
    fn run(amplification: [u64; ROUNDS], units_per_round: u64, units_per_erase: u64) -> (Track, RunPosition) {
        let (mut track, mut at) = (Track::default(), RunPosition::default());
        for a in amplification {
            for _ in 0..units_per_round {
                at.host_units += 1;
                at.flash_units += a;
                at.requests += 1;
                at.now_ns += 100 * a;
                at.erases = at.flash_units / units_per_erase;
                at.erased_units = at.erases * units_per_erase;
                if at.host_units >= track.next_units() {
                    track.add(at);
                }
            }
        }
        (track, at)
    }

    #[test]
    fn a_run_is_judged_by_its_fifths() {
        let (track, end) = run([10, 10, 10, 10, 10], 5_000, 64);
        assert_eq!(track.judge(end, Loop::Open, 0).verdict, Verdict::Steady);
        let (track, end) = run([7, 8, 9, 10, 11], 5_000, 64);
        let steady = track.judge(end, Loop::Closed, 0);
        assert_eq!(steady.verdict, Verdict::NotYet);
        let amplification = &steady.figures[0];
        for (found, expected) in amplification.rounds.iter().zip([7.0, 8.0, 9.0, 10.0, 11.0]) {
            // A round's end is at most half a spacing of marks off: 16 units of 5,000.
            assert!((found / expected - 1.0f64).abs() < 0.002, "{amplification:?}");
        }
        assert!((amplification.slope - 4.0 / 9.0).abs() < 0.005, "{amplification:?}");
        assert_eq!(steady.figures[1].name, "throughput");
    }

    /// A run that doubles its amplification after its first half, judged from there on only.
    #[test]
    fn what_is_not_measured_is_not_judged() {
        let (_, middle) = run([4; ROUNDS], 2_000, 64);
        let (mut track, mut at) = (Track::starting_at(middle), middle);
        for _ in 0..10_000 {
            at.host_units += 1;
            at.flash_units += 8;
            at.now_ns += 100;
            at.erases = at.flash_units / 64;
            at.erased_units = at.erases * 64;
            if at.host_units >= track.next_units() {
                track.add(at);
            }
        }
        let steady = track.judge(at, Loop::Open, 0);
        assert_eq!((steady.verdict, steady.figures[0].rounds), (Verdict::Steady, [8.0; ROUNDS]));
        assert_eq!(Track::starting_at(middle).judge(middle, Loop::Open, 0).verdict, Verdict::NoWrite);
    }

    /// An overload changes the verdict, and no figure of the drives.
    #[test]
    fn an_overload_replaces_each_verdict() {
        for amplification in [[10; ROUNDS], [7, 8, 9, 10, 11]] {
            let (track, end) = run(amplification, 5_000, 64);
            let (open, overloaded) = (track.judge(end, Loop::Open, 0), track.judge(end, Loop::Overloaded, 0));
            assert_eq!(overloaded, Steady { verdict: Verdict::Overloaded, ..open.clone() });
            assert_eq!(track.judge(end, Loop::Draining, 0), Steady { verdict: Verdict::NotYet, ..open });
        }
        // No block was erased before the last request ended, but some were after it.
        let (mut track, end) = run([1; ROUNDS], 5_000, u64::MAX);
        track.end(end);
        let after = RunPosition { erases: 9, ..end };
        assert_eq!(track.judge(after, Loop::Open, 0).verdict, Verdict::TooShort);
        assert_eq!(track.judge(after, Loop::Overloaded, 0).verdict, Verdict::Overloaded);
    }

    #[test]
    fn there_is_no_verdict_without_grounds() {
        let (track, end) = run([1; ROUNDS], 5_000, u64::MAX);
        assert_eq!(track.judge(end, Loop::Open, 0).verdict, Verdict::NoErase);
        // A drive that fills up, and then collects: this suffices for a verdict.
        let (track, end) = run([1, 1, 1, 8, 8], 5_000, 64);
        assert_eq!(track.judge(end, Loop::Open, 0).verdict, Verdict::NotYet);
        // Nine erases a round.
        let (track, end) = run([3; ROUNDS], 640 / 3, 64);
        assert_eq!(track.judge(end, Loop::Open, 0).verdict, Verdict::TooShort);
        assert_eq!(Track::default().judge(RunPosition::default(), Loop::Open, 0).verdict, Verdict::NoWrite);
    }

    /// A drive that erases less than it programs: free blocks absorb a share of the writes. By theory, write
    /// amplification is too low by this share.
    #[test]
    fn a_drive_that_lives_on_free_blocks_is_not_steady() {
        let with_skipped = |erased_of_100: u64, skipped: u64| {
            let (mut track, mut at) = (Track::default(), RunPosition::default());
            for unit in 1..=50_000 {
                (at.host_units, at.flash_units, at.requests, at.now_ns) = (unit, 2 * unit, unit, 100 * unit);
                at.skipped_units = skipped * unit;
                at.erased_units = 2 * unit * erased_of_100 / 100;
                at.erases = at.erased_units / 64;
                if at.host_units >= track.next_units() {
                    track.add(at);
                }
            }
            track.judge(at, Loop::Closed, 0)
        };
        let of = |erased_of_100: u64| with_skipped(erased_of_100, 0);
        for (erased_of_100, consumed, verdict) in
            [(100, 0.0, Verdict::Steady), (96, 0.08, Verdict::Steady), (94, 0.12, Verdict::NotYet)]
        {
            let steady = of(erased_of_100);
            assert!(steady.figures.iter().all(Figure::is_steady), "{steady:?}");
            let reserve = steady.reserve.expect("the host wrote");
            assert!((reserve.consumed - consumed).abs() < 1e-3 && reserve.buffered == 0.0, "{reserve:?}");
            assert_eq!(steady.verdict, verdict, "{reserve:?}");
        }
        // A stock that grows: collection works ahead, so that write amplification is too high.
        assert_eq!([of(104).verdict, of(106).verdict], [Verdict::Steady, Verdict::NotYet]);
        // Pages that are skipped use free blocks, too: two erased units for a programmed one are no growth.
        let reserve = with_skipped(200, 2).reserve.expect("the host wrote");
        assert!(reserve.consumed.abs() < 1e-3, "{reserve:?}");
    }

    #[test]
    fn a_drive_whose_buffer_soaks_up_the_writes_is_not_steady() {
        let of = |buffered_of_100: u64| {
            let (mut track, mut at) = (Track::default(), RunPosition::default());
            for unit in 1..=50_000 {
                let dirty_units = unit * buffered_of_100 / 100;
                let flash_units = 3 * (unit - dirty_units);
                (at.host_units, at.flash_units, at.requests, at.now_ns) = (unit, flash_units, unit, 100 * unit);
                (at.erased_units, at.erases, at.dirty_units) = (flash_units, flash_units / 64, dirty_units);
                if at.host_units >= track.next_units() {
                    track.add(at);
                }
            }
            track.judge(at, Loop::Closed, 0)
        };
        let (little, much) = (of(9), of(11));
        assert_eq!((little.verdict, much.verdict), (Verdict::Steady, Verdict::NotYet));
        let reserve = much.reserve.expect("the host wrote");
        assert!((reserve.buffered - 0.11).abs() < 1e-3 && (reserve.consumed - 0.11).abs() < 1e-3, "{reserve:?}");
    }

    /// A drive is steady only if its spare space was written once. Fewer writes can show that a figure still moves.
    #[test]
    fn a_drive_is_steady_only_after_its_spare_space_was_written() {
        let verdict = |amplification: [u64; ROUNDS], spare_units: u64| {
            let (track, end) = run(amplification, 5_000, 64);
            track.judge(end, Loop::Open, spare_units)
        };
        assert_eq!(verdict([10; ROUNDS], 25_000).verdict, Verdict::Steady);
        let short = verdict([10; ROUNDS], 25_001);
        assert_eq!((short.verdict, short.figures.len()), (Verdict::TooShort, 1));
        assert_eq!(verdict([10; ROUNDS], 100_000).reserve.unwrap().spare_written, 0.25);
        assert_eq!(verdict([7, 8, 9, 10, 11], 100_000).verdict, Verdict::NotYet);
    }

    #[test]
    fn a_drive_that_puts_its_work_off_is_not_steady() {
        let of = |units_after_end: u64| {
            let (mut track, end) = run([4; ROUNDS], 5_000, 64);
            track.end(end);
            track.judge(RunPosition { flash_units: end.flash_units + units_after_end, ..end }, Loop::Open, 0)
        };
        // 100,000 units until the last request.
        for (units_after_end, postponed, verdict) in
            [(0, 0.0, Verdict::Steady), (9_900, 0.099, Verdict::Steady), (10_100, 0.101, Verdict::NotYet)]
        {
            let steady = of(units_after_end);
            assert_eq!((steady.verdict, steady.reserve.unwrap().postponed), (verdict, postponed));
        }
    }

    /// The judged figure equals the printed one: units programmed over units written, for any division into rounds.
    #[test]
    fn the_mean_of_write_amplification_is_that_of_the_whole_run() {
        let (track, end) = run([7, 8, 9, 10, 11], 4_999, 64);
        let amplification = track.judge(end, Loop::Open, 0).figures[0].mean;
        assert_eq!(amplification, end.flash_units as f64 / end.host_units as f64);
    }
}
