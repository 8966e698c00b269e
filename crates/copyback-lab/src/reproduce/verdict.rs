//! Does a measured effect agree with a published one? One rule for every claim.
//!
//! Effects are in per cent of the base of the comparison, or in points (differences of shares); a factor counts as its
//! distance from 1, in per cent.
//!
//! - Direction: the measured effect has the sign of the published one, and at least half a point. Over several seeds it
//!   is also larger than half of the 95 % interval of its mean. A published effect below one point (and below the
//!   claim's own tolerance, if it has one) claims that nothing changes. This holds if the measured effect, with its
//!   interval, is at most 5 points. Otherwise the verdict is `unclear` if the effect alone is at most 5 points, or at
//!   most half of the interval; else it is `effect`.
//! - Size: `met` if the measured effect differs from the published one by at most a quarter of it, or by 5 points if
//!   these are more, and is at most twice as large; otherwise `smaller` or `larger`.
//! - A claim may state its own tolerance instead of the quarter and the 5 points. If it is below half a point, it also
//!   replaces the half point.
//!
//! A figure without a comparison is met within a quarter of the published one, and otherwise too low or too high. A
//! claim that names bounds is met between them. A claim without a number has a direction only.

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Direction and size agree, or the direction if no number was published.
    Met,
    /// The direction agrees, and the effect is smaller.
    Smaller,
    /// The direction agrees, and the effect is larger.
    Larger,
    /// Its direction holds, and a scheme that lacks the idea shows half of the effect, or more.
    NullToo,
    /// An effect was published, and there is none, or none that the seeds agree on.
    NoEffect,
    /// No effect was published, and there is one.
    Effect,
    /// The effect goes the other way.
    Opposite,
    /// A figure is below the published one.
    TooLow,
    /// A figure is above the published one.
    TooHigh,
    /// The seeds differ by more than the claim allows: they show neither an effect nor its absence.
    Unclear,
}

/// The published effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// An effect of this size.
    Effect(f64),
    /// Lower than the base.
    Lower,
    /// Higher than the base.
    Higher,
    /// A figure without a comparison.
    Figure(f64),
    /// Between two bounds.
    Within(f64, f64),
}

/// Least tolerance of the measured size, in points, however small the published one is.
const SLACK_POINTS: f64 = 5.0;
/// Tolerance of the measured size, as a part of the published one.
const SLACK_PART: f64 = 0.25;
/// Smaller effects count as no effect, if a larger one was published.
const NO_EFFECT_POINTS: f64 = 0.5;
/// A published effect below this claims that nothing changes.
const NOTHING_POINTS: f64 = 1.0;

/// A control without the idea shows the effect, too, if its own effect is at least this part of the measured one.
const NULL_PART: f64 = 0.5;

/// The rule for a measured effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The published figure.
    pub published: Published,
    /// The tolerance, if the claim states one.
    pub tolerance: Option<f64>,
}

impl Published {
    /// The lower and the upper bound: equal for a single number, `None` if there is no bound.
    pub fn bounds(self) -> [Option<f64>; 2] {
        let finite = |bound: f64| bound.is_finite().then_some(bound);
        match self {
            Self::Effect(value) | Self::Figure(value) => [Some(value); 2],
            Self::Lower => [None, Some(0.0)],
            Self::Higher => [Some(0.0), None],
            Self::Within(least, most) => [finite(least), finite(most)],
        }
    }

    /// Whether it claims that nothing changes: the published effect is below one point, and below the tolerance if
    /// there is one.
    fn says_nothing_changes(self, tolerance: Option<f64>) -> bool {
        matches!(self, Self::Effect(effect) if effect.abs() < NOTHING_POINTS.min(tolerance.unwrap_or(NOTHING_POINTS)))
    }
}

impl Rule {
    /// Whether the claim is that nothing changes.
    pub fn says_nothing_changes(&self) -> bool {
        self.published.says_nothing_changes(self.tolerance)
    }

    /// The verdict on a measured effect, or figure; `half_width` is that of the interval of its mean over seeds.
    pub fn verdict(&self, measured: f64, half_width: Option<f64>) -> Verdict {
        let half_width = half_width.unwrap_or(0.0);
        match self.published {
            Published::Effect(_) if self.says_nothing_changes() => self.of_nothing(measured, half_width),
            Published::Effect(published) => self.of_effect(measured, published, half_width),
            Published::Lower => self.of_direction(-measured, half_width),
            Published::Higher => self.of_direction(measured, half_width),
            Published::Figure(published) => {
                let slack = self.tolerance.unwrap_or(SLACK_PART * published.abs());
                within(measured, published - slack, published + slack)
            }
            Published::Within(least, most) => within(measured, least, most),
        }
    }

    /// Combines a verdict with null controls. If a control shows at least half of the measured effect, a verdict whose
    /// direction holds becomes `NullToo`. For a figure, or a claim that nothing changes, a control that meets the claim
    /// is enough.
    pub fn verdict_with_controls(&self, verdict: Verdict, measured: f64, controls: &[(f64, Verdict)]) -> Verdict {
        let compares = matches!(self.published, Published::Effect(_) | Published::Lower | Published::Higher);
        let shows_it = |&(effect, control): &(f64, Verdict)| match compares && !self.says_nothing_changes() {
            true => effect * measured.signum() >= NULL_PART * measured.abs(),
            false => control == Verdict::Met,
        };
        let holds = matches!(verdict, Verdict::Met | Verdict::Smaller | Verdict::Larger);
        if holds && controls.iter().any(shows_it) { Verdict::NullToo } else { verdict }
    }

    fn of_nothing(&self, measured: f64, half_width: f64) -> Verdict {
        let slack = self.tolerance.unwrap_or(SLACK_POINTS);
        match measured.abs() {
            size if size + half_width <= slack => Verdict::Met,
            size if size <= slack || size <= half_width => Verdict::Unclear,
            _ => Verdict::Effect,
        }
    }

    fn of_direction(&self, along: f64, half_width: f64) -> Verdict {
        let least = NO_EFFECT_POINTS.min(self.tolerance.unwrap_or(NO_EFFECT_POINTS));
        match along {
            _ if along.abs() < least || along.abs() <= half_width => Verdict::NoEffect,
            _ if along > 0.0 => Verdict::Met,
            _ => Verdict::Opposite,
        }
    }

    fn of_effect(&self, measured: f64, published: f64, half_width: f64) -> Verdict {
        let size = published.abs();
        let slack = self.tolerance.unwrap_or(SLACK_POINTS.max(SLACK_PART * size));
        let along = measured * published.signum();
        match self.of_direction(along, half_width) {
            Verdict::Met if along > 2.0 * size || along - size > slack => Verdict::Larger,
            Verdict::Met if size - along > slack => Verdict::Smaller,
            other => other,
        }
    }
}

fn within(measured: f64, least: f64, most: f64) -> Verdict {
    match measured {
        _ if measured < least => Verdict::TooLow,
        _ if measured > most => Verdict::TooHigh,
        _ => Verdict::Met,
    }
}

impl Verdict {
    /// As tables print it: `holds` and `control, too` as for headlines, the others by their names.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Met => "holds",
            Self::NullToo => "control, too",
            other => other.name(),
        }
    }

    /// As documents contain it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Smaller => "smaller",
            Self::Larger => "larger",
            Self::NullToo => "null too",
            Self::NoEffect => "no effect",
            Self::Effect => "effect",
            Self::Opposite => "opposite",
            Self::TooLow => "too low",
            Self::TooHigh => "too high",
            Self::Unclear => "unclear",
        }
    }

    /// Whether the direction holds.
    pub fn direction_holds(self) -> bool {
        matches!(self, Self::Met | Self::Smaller | Self::Larger | Self::NullToo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(published: Published, tolerance: Option<f64>) -> Rule {
        Rule { published, tolerance }
    }

    #[test]
    fn sizes_may_be_off_by_a_quarter_or_five_points() {
        let of = |measured, published| rule(Published::Effect(published), None).verdict(measured, None);
        // A quarter of 70 is 17.5.
        assert_eq!(of(-52.5, -70.0), Verdict::Met);
        assert_eq!(of(-52.4, -70.0), Verdict::Smaller);
        assert_eq!(of(-87.6, -70.0), Verdict::Larger);
        assert_eq!(of(70.0, -70.0), Verdict::Opposite);
        assert_eq!(of(0.4, -70.0), Verdict::NoEffect);
        // Five points around 6, but never more than twice as much, nor none.
        assert_eq!(of(-1.0, -6.0), Verdict::Met);
        assert_eq!(of(-0.4, -6.0), Verdict::NoEffect);
        assert_eq!(of(-6.5, -3.0), Verdict::Larger);
        assert_eq!(of(0.6, -6.0), Verdict::Opposite);
    }

    #[test]
    fn nothing_is_at_most_five_points() {
        let of = |measured| rule(Published::Effect(0.3), None).verdict(measured, None);
        assert_eq!((of(-4.9), of(5.0), of(5.1)), (Verdict::Met, Verdict::Met, Verdict::Effect));
        assert!(!of(5.1).direction_holds() && !of(-3000.0).direction_holds());
    }

    #[test]
    fn directions_and_figures() {
        let of = |measured, published| rule(published, None).verdict(measured, None);
        assert_eq!(of(-3.0, Published::Lower), Verdict::Met);
        assert_eq!(of(3.0, Published::Lower), Verdict::Opposite);
        assert_eq!(of(0.1, Published::Higher), Verdict::NoEffect);
        assert_eq!(of(40.0, Published::Figure(50.0)), Verdict::Met);
        assert_eq!(of(37.0, Published::Figure(50.0)), Verdict::TooLow);
        assert_eq!(of(63.0, Published::Figure(50.0)), Verdict::TooHigh);
        assert_eq!(of(0.0, Published::Figure(0.0)), Verdict::Met);
    }

    #[test]
    fn bounds_are_part_of_what_they_bound() {
        let of = |measured| rule(Published::Within(10.0, 100.0), None).verdict(measured, None);
        assert_eq!((of(10.0), of(100.0)), (Verdict::Met, Verdict::Met));
        assert_eq!((of(9.9), of(100.1)), (Verdict::TooLow, Verdict::TooHigh));
        let at_least = rule(Published::Within(1.0, f64::INFINITY), None);
        assert_eq!((at_least.verdict(1e9, None), at_least.verdict(0.0, None)), (Verdict::Met, Verdict::TooLow));
    }

    #[test]
    fn a_tolerance_replaces_the_quarter_and_the_points() {
        let polling = rule(Published::Effect(0.53), Some(0.13));
        let of = |measured| polling.verdict(measured, None);
        assert!(!polling.says_nothing_changes());
        assert_eq!((of(0.66), of(0.41), of(0.39)), (Verdict::Met, Verdict::Met, Verdict::Smaller));
        assert_eq!((of(0.1), of(-0.2), of(0.67)), (Verdict::NoEffect, Verdict::Opposite, Verdict::Larger));
        let nothing = rule(Published::Effect(0.0), Some(1.0));
        assert!(nothing.says_nothing_changes());
        assert_eq!((nothing.verdict(1.0, None), nothing.verdict(-1.1, None)), (Verdict::Met, Verdict::Effect));
        let share = rule(Published::Figure(50.0), Some(2.0));
        assert_eq!((share.verdict(52.0, None), share.verdict(47.9, None)), (Verdict::Met, Verdict::TooLow));
    }

    #[test]
    fn an_effect_is_more_than_its_seeds_differ() {
        let lower = rule(Published::Lower, None);
        assert_eq!(lower.verdict(-3.0, Some(2.9)), Verdict::Met);
        assert_eq!(lower.verdict(-3.0, Some(3.1)), Verdict::NoEffect);
        assert_eq!(lower.verdict(3.0, Some(3.1)), Verdict::NoEffect);
        let sized = rule(Published::Effect(-20.0), None);
        assert_eq!(
            (sized.verdict(-18.0, Some(17.0)), sized.verdict(-18.0, Some(19.0))),
            (Verdict::Met, Verdict::NoEffect)
        );
        // The claim that nothing changes is about the whole interval; too wide an interval decides nothing.
        let nothing = rule(Published::Effect(0.0), None);
        assert_eq!(nothing.verdict(1.0, Some(4.0)), Verdict::Met);
        assert_eq!(
            (nothing.verdict(1.0, Some(4.1)), nothing.verdict(6.0, Some(7.0))),
            (Verdict::Unclear, Verdict::Unclear)
        );
        assert_eq!(nothing.verdict(6.0, Some(1.0)), Verdict::Effect);
    }
}
