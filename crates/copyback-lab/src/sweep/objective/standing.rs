//! The rows that meet the conditions, and the nearest row if none does. A sweep's answer and a report's first sentence
//! use this rule.

use super::Comparison;
use std::cmp::Ordering;

/// How well a row meets conditions, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Standing {
    /// It meets all of them.
    Meets,
    /// The largest miss, as a share of the wanted value, or as it is if that is 0.
    MissesBy(f64),
    /// It lacks a number, or misses a condition on a text: it is never the nearest.
    Unknown,
}

impl Standing {
    /// The standing of a number, if any, against the number that it is compared with.
    pub fn of(value: Option<f64>, comparison: Comparison, wanted: f64) -> Self {
        match value {
            None => Self::Unknown,
            Some(value) if comparison.holds(value, wanted) => Self::Meets,
            Some(value) => Self::MissesBy(distance(value, wanted)),
        }
    }

    /// The standing of a condition that is either met or not.
    pub fn of_text(is_met: bool) -> Self {
        if is_met { Self::Meets } else { Self::Unknown }
    }

    /// The worse of two standings, which is the row's standing if both conditions must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self >= other { self } else { other }
    }
}

/// How far a value is from a wanted one: as a share of that, unless it is 0.
fn distance(value: f64, wanted: f64) -> f64 {
    let difference = (value - wanted).abs();
    if wanted == 0.0 { difference } else { difference / wanted.abs() }
}

/// Rows and their standings.
pub struct Judged<R> {
    /// Rows that meet all conditions.
    pub meet: Vec<R>,
    /// The row that misses them by least, or the first of several; `None` if a row meets them, or if no row is near.
    pub nearest: Option<R>,
}

impl<R: Copy> Judged<R> {
    /// Judges rows.
    pub fn new(rows: impl Iterator<Item = R>, standing: impl Fn(R) -> Standing) -> Self {
        let standings: Vec<(R, Standing)> = rows.map(|row| (row, standing(row))).collect();
        let meet: Vec<R> = standings.iter().filter(|(_, own)| *own == Standing::Meets).map(|(row, _)| *row).collect();
        let near = standings.iter().filter(|(_, own)| matches!(own, Standing::MissesBy(_)));
        let nearest = near.min_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal)).map(|(row, _)| *row);
        Self { nearest: nearest.filter(|_| meet.is_empty()), meet }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_meet_a_condition_or_one_is_nearest() {
        let below = |values: &[f64], wanted: f64| {
            let judged = Judged::new(values.iter().copied(), |v| Standing::of(Some(v), Comparison::Below, wanted));
            (judged.meet, judged.nearest)
        };
        assert_eq!(below(&[4.0, 6.0, 2.0], 5.0), (vec![4.0, 2.0], None));
        // 5 is not below 5, however near.
        assert_eq!(below(&[9.0, 5.0, 7.0], 5.0), (vec![], Some(5.0)));
        assert_eq!(below(&[3.0, 2.0], 0.0), (vec![], Some(2.0)));
        assert_eq!(below(&[], 5.0), (vec![], None));
    }

    #[test]
    fn the_worst_of_several_conditions_counts() {
        // By half of the one, by a tenth of the other.
        let half = Standing::of(Some(15.0), Comparison::AtMost, 10.0);
        let tenth = Standing::of(Some(90.0), Comparison::AtLeast, 100.0);
        assert_eq!((half, tenth.and(half)), (Standing::MissesBy(0.5), Standing::MissesBy(0.5)));
        assert_eq!(half.and(Standing::of_text(true)), half);
        assert_eq!(half.and(Standing::of_text(false)), Standing::Unknown);
        assert_eq!(Standing::of(None, Comparison::Is, 0.0), Standing::Unknown);
    }
}
