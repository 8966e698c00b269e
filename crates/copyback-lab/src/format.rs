//! Numbers and names as tables and messages print them.

use copyback_workload::printable::{is_unprintable, printable};
pub use copyback_workload::units::{counted, format_count as count, rounded_bytes as size, three_digits};

/// A time with three significant digits: `75.0 us`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A number with three significant digits: `45.8`, and from 1,000 on as [`count`] writes it.
pub fn grouped(value: f64) -> String {
    match value {
        v if v < 999.5 => three_digits(v),
        v => count(v.round() as u64),
    }
}

/// A rate or another large number: `1.25 M`.
pub fn large(value: f64) -> String {
    match value {
        v if v < 1e3 => three_digits(v),
        v if v < 1e6 => format!("{} k", three_digits(v / 1e3)),
        v if v < 1e9 => format!("{} M", three_digits(v / 1e6)),
        v => format!("{} G", three_digits(v / 1e9)),
    }
}

/// A share in per cent.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // Not "-0.0 %".
    format!("{:.1} %", if percent.abs() < 0.05 { 0.0 } else { percent })
}

/// How a value differs from another, in per cent of that.
pub fn change(value: f64, from: f64) -> String {
    let change = (value / from - 1.0) * 100.0;
    if change.abs() < 0.05 {
        return "same".into();
    }
    // A value above 0 is not "-100.0 %": show its nines, up to six decimals.
    if value > 0.0 && change < -99.9 {
        let lost = 100.0 - 100.0 * value / from;
        let digits = (2..=6).find(|digits| 100.0 - lost >= 10f64.powi(-digits)).unwrap_or(6) as usize;
        return format!("-{lost:.digits$} %");
    }
    if change.abs() < 999.5 { format!("{change:+.1} %") } else { format!("{:.1}x", value / from) }
}

/// A word as a shell takes it; one with unprintable characters as bash and zsh do.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if word.contains(is_unprintable) {
        return format!("$'{}'", printable(&word.replace('\\', r"\\").replace('\'', r"\'")));
    }
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Names of schemes in a sentence.
pub fn names(schemes: &[&str]) -> String {
    schemes.iter().map(|scheme| format!("`{}`", printable(scheme))).collect::<Vec<_>>().join(", ")
}

/// Whether fewer than one request lies beyond a percentile, which is then the maximum. `beyond_ppm`: requests beyond it
/// per million.
pub fn are_too_few(requests: u64, beyond_ppm: u64) -> bool {
    requests.saturating_mul(beyond_ppm) < 1_000_000
}

/// Percentiles as results name them, and how many of a million requests are beyond each.
pub const BEYOND_PPM: &[(&str, u64)] = &[
    ("p50_ns", 500_000),
    ("p90_ns", 100_000),
    ("p95_ns", 50_000),
    ("p99_ns", 10_000),
    ("p99_9_ns", 1_000),
    ("p99_99_ns", 100),
    ("p99_999_ns", 10),
    ("p99_9999_ns", 1),
];

/// A percentile of fewer requests than it needs, so that it is their maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TooFew {
    /// Requests of its class.
    pub count: u64,
    /// The least number of requests of which one lies beyond the percentile.
    pub needed: u64,
}

/// Whether a number is of a class without requests, so that it is no value: results have null, and those of earlier
/// versions have 0. `number` finds another number of the same run.
pub fn is_of_no_request(name: &str, number: impl Fn(&str) -> Option<f64>) -> bool {
    let class = name.rsplit_once('.').filter(|(_, last)| *last != "count");
    class.is_some_and(|(class, _)| number(&format!("{class}.count")) == Some(0.0))
}

impl TooFew {
    /// The shortage of a number of the results; `None` if it is no percentile, or has enough requests or none. `number`
    /// finds another number of the same run. Tables, conditions and pages omit such a percentile.
    pub fn of(name: &str, number: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        let (class, last) = name.rsplit_once('.')?;
        let (_, ppm) = BEYOND_PPM.iter().find(|(percentile, _)| *percentile == last)?;
        let count = number(&format!("{class}.count")).filter(|count| *count > 0.0)? as u64;
        are_too_few(count, *ppm).then(|| Self { count, needed: 1_000_000u64.div_ceil(*ppm) })
    }
}

/// A text in lines of at most `room` characters, if its words permit.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_has_a_request_beyond_it() {
        for (beyond_ppm, least) in [(500_000, 2), (10_000, 100), (1_000, 1_000), (100, 10_000), (1, 1_000_000)] {
            assert!(are_too_few(least - 1, beyond_ppm) && !are_too_few(least, beyond_ppm), "{beyond_ppm}");
        }
        assert!(are_too_few(0, 500_000) && !are_too_few(u64::MAX, 1));
    }

    #[test]
    fn a_percentile_of_few_requests_is_their_maximum() {
        let of = |count: f64| move |name: &str| (name == "response.read.count").then_some(count);
        let short = |name: &str, count: f64| TooFew::of(name, of(count)).map(|short| (short.count, short.needed));
        assert_eq!(short("response.read.p99_ns", 99.0), Some((99, 100)));
        assert_eq!(short("response.read.p99_ns", 100.0), None);
        assert_eq!(short("response.read.p99_ns", 0.0), None, "nothing is the maximum of nothing");
        assert_eq!([short("response.read.mean_ns", 1.0), short("reads", 1.0)], [None, None]);
    }

    #[test]
    fn times_of_no_request_are_no_values() {
        let of = |count: f64| move |name: &str| (name == "response.read.count").then_some(count);
        let is_none = |name: &str, count: f64| is_of_no_request(name, of(count));
        assert!(is_none("response.read.mean_ns", 0.0) && is_none("response.read.max_ns", 0.0));
        assert!(!is_none("response.read.mean_ns", 1.0) && !is_none("response.read.count", 0.0));
        assert!(!is_none("response.write.mean_ns", 0.0) && !is_none("iops", 0.0));
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        assert_eq!(time(75_000.0), "75.0 us");
        assert_eq!(time(999.0), "999 ns");
        assert_eq!(time(1_234_567.0), "1.23 ms");
        assert_eq!(size(1536.0), "1.50 KiB");
        assert_eq!(size(0.0), "0 B");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        // A mean has the format of the counts beside it.
        assert_eq!([0.0, 12.34, 999.4, 999.6, 4_577.6].map(grouped), ["0", "12.3", "999", "1,000", "4,578"]);
        assert_eq!([-0.0004, 0.0006, -0.012].map(percent), ["0.0 %", "0.1 %", "-1.2 %"]);
        assert_eq!(large(2_500_000.0), "2.50 M");
    }

    #[test]
    fn changes_are_in_per_cent_until_that_says_nothing() {
        assert_eq!(change(50.0, 100.0), "-50.0 %");
        assert_eq!(change(100.0, 100.0), "same");
        assert_eq!(change(2000.0, 100.0), "20.0x");
        assert_eq!(change(0.06, 100.0), "-99.94 %");
        assert_eq!(change(0.003, 100.0), "-99.997 %");
        assert_eq!(change(0.0, 100.0), "-100.0 %");
    }
}
