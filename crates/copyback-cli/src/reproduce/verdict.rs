//! Does a measured effect agree with a published one? One rule for every claim.
//!
//! Effects are in per cent of what is compared with, or in points (differences of shares); a factor counts as its distance
//! from 1, in per cent.
//!
//! - Direction: the measured effect has the sign of the published one, and at least half a point (half of the published
//!   effect where that is less). A published effect below one point says that nothing changes: that is met where the
//!   measured one is at most 5 points, and else missed, for there is an `effect`.
//! - Size: `met` where the measured effect is within a quarter of the published one, or within 5 points where that is
//!   more, and at most twice as large; else `smaller` or `larger`.
//!
//! A figure with nothing to compare with, such as a share, is met within a quarter of the published one. A claim without
//! a number has a direction only.

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Direction and size agree, or the direction where no number was published.
    Met,
    /// The direction agrees, and the effect is smaller.
    Smaller,
    /// The direction agrees, and the effect is larger.
    Larger,
    /// There is no effect where one was published.
    NoEffect,
    /// There is an effect where none was published.
    Effect,
    /// The effect goes the other way.
    Opposite,
}

/// What was published of an effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// So large an effect.
    Effect(f64),
    /// Lower than what is compared with.
    Lower,
    /// Higher than what is compared with.
    Higher,
    /// A figure by itself.
    Figure(f64),
}

/// Points that any size may be off.
const SLACK_POINTS: f64 = 5.0;
/// Part of the published size that the measured one may be off.
const SLACK_PART: f64 = 0.25;
/// Effects below it are none, where a larger one was published.
const NO_EFFECT_POINTS: f64 = 0.5;
/// A published effect below it says that nothing changes.
const NOTHING_POINTS: f64 = 1.0;

/// The verdict on a measured effect, or figure.
pub fn verdict(measured: f64, published: Published) -> Verdict {
    match published {
        Published::Effect(published) => of_effect(measured, published),
        Published::Lower => of_direction(-measured),
        Published::Higher => of_direction(measured),
        Published::Figure(published) => of_size(measured - published, SLACK_PART * published.abs()),
    }
}

fn of_direction(along: f64) -> Verdict {
    match along {
        _ if along.abs() < NO_EFFECT_POINTS => Verdict::NoEffect,
        _ if along > 0.0 => Verdict::Met,
        _ => Verdict::Opposite,
    }
}

/// A size that is off by so much and may be by so much.
fn of_size(off: f64, slack: f64) -> Verdict {
    match off {
        _ if off.abs() <= slack => Verdict::Met,
        _ if off < 0.0 => Verdict::Smaller,
        _ => Verdict::Larger,
    }
}

fn of_effect(measured: f64, published: f64) -> Verdict {
    let size = published.abs();
    if size < NOTHING_POINTS {
        return if measured.abs() <= SLACK_POINTS { Verdict::Met } else { Verdict::Effect };
    }
    let along = measured * published.signum();
    match of_direction(along) {
        Verdict::Met if along > 2.0 * size => Verdict::Larger,
        Verdict::Met => of_size(along - size, SLACK_POINTS.max(SLACK_PART * size)),
        other => other,
    }
}

impl Verdict {
    /// As tables print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Smaller => "smaller",
            Self::Larger => "larger",
            Self::NoEffect => "no effect",
            Self::Effect => "effect",
            Self::Opposite => "opposite",
        }
    }

    /// Whether the direction holds.
    pub fn direction_holds(self) -> bool {
        matches!(self, Self::Met | Self::Smaller | Self::Larger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_be_off_by_a_quarter_or_five_points() {
        let of = |measured, published| verdict(measured, Published::Effect(published));
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
        let of = |measured| verdict(measured, Published::Effect(0.3));
        assert_eq!((of(-4.9), of(5.0), of(5.1)), (Verdict::Met, Verdict::Met, Verdict::Effect));
        assert!(!of(5.1).direction_holds() && !of(-3000.0).direction_holds());
    }

    #[test]
    fn directions_and_figures() {
        assert_eq!(verdict(-3.0, Published::Lower), Verdict::Met);
        assert_eq!(verdict(3.0, Published::Lower), Verdict::Opposite);
        assert_eq!(verdict(0.1, Published::Higher), Verdict::NoEffect);
        assert_eq!(verdict(40.0, Published::Figure(50.0)), Verdict::Met);
        assert_eq!(verdict(37.0, Published::Figure(50.0)), Verdict::Smaller);
        assert_eq!(verdict(0.0, Published::Figure(0.0)), Verdict::Met);
    }
}
