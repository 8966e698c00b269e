//! Complementary cumulative distributions: which share of the requests takes longer than which time.

use super::Detail;
use serde_json::{Value, json};

/// A histogram's bins: the longest time of each, in nanoseconds, and its requests; in the order of times.
pub type Bins = Vec<(f64, f64)>;

/// The complementary distribution, with few points. Each point is exact; points closer to the previous one than a
/// line's width are omitted. The longest time is drawn at the share of one request.
pub fn ccdf(bins: &Bins, detail: Detail) -> Value {
    let total: f64 = bins.iter().map(|(_, count)| count).sum();
    let steps = detail.distribution_points() as f64;
    // The whole drawing is some four decades wide and six high.
    let (step_x, step_y) = (4.0 / steps, 6.0 / steps);
    let (mut times, mut shares): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut beyond = total;
    for (at, (to_ns, count)) in bins.iter().enumerate() {
        beyond -= count;
        let is_last = at + 1 == bins.len();
        let share = if is_last { shares.last().copied().unwrap_or(1.0).min(1.0 / total) } else { beyond / total };
        let is_far = times.last().zip(shares.last()).is_none_or(|(time, last): (&f64, &f64)| {
            (to_ns.max(1.0) / time.max(1.0)).log10() >= step_x || (last / share).log10() >= step_y
        });
        if is_far || is_last {
            times.push(*to_ns);
            shares.push(rounded(share));
        }
    }
    json!({ "ns": times, "beyond": shares, "count": total })
}

/// A number with six significant digits: more are not seen.
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_the_share_of_requests_that_take_longer() {
        let bins = vec![(1e5, 90.0), (1e6, 9.0), (1e7, 1.0)];
        let drawn = ccdf(&bins, Detail::FINEST);
        assert_eq!(drawn, json!({ "ns": [1e5, 1e6, 1e7], "beyond": [0.1, 0.01, 0.01], "count": 100.0 }));
    }

    #[test]
    fn few_points_are_drawn_and_the_tail_stays() {
        let bins: Bins = (0..100_000).map(|at| (1e5 + f64::from(at), 1.0)).collect();
        let drawn = ccdf(&bins, Detail::FINEST);
        let (times, shares) = (drawn["ns"].as_array().unwrap(), drawn["beyond"].as_array().unwrap());
        assert!(times.len() < 3 * Detail::FINEST.distribution_points(), "{}", times.len());
        assert_eq!((times.last().unwrap().as_f64(), shares.last().unwrap().as_f64()), (Some(199_999.0), Some(1e-5)));
        for (time, share) in times.iter().zip(shares).rev().skip(1) {
            let exact = 1.0 - (time.as_f64().unwrap() - 1e5 + 1.0) / 1e5;
            assert!((share.as_f64().unwrap() - exact).abs() <= 1e-5 * exact.max(1e-5), "{time}: {share}, {exact}");
        }
    }
}
