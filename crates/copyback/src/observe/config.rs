//! The configuration of optional measures of a run.

use crate::config::KeyError;
use copyback_workload::units::{Bytes, Nanos, exact_time};
use serde::{Deserialize, Serialize};

/// The most bins that a window may have.
pub const BINS_MAX: u64 = 1_000_000;
/// No window ends later, as no request arrives later.
const END_MAX_NS: u64 = 1 << 63;

/// Classes of requests, a window with bins of fixed length, and flash requests. `[measure]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureConfig {
    /// Reads of at most this many bytes are small (default 64 KiB), and are a separate class.
    pub small_read_max: Bytes,
    /// Simulated time at which the window begins (default 0).
    pub window_start: Nanos,
    /// Length of the window (default: there is none). It has at most 1,000,000 bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Nanos>,
    /// Length of its bins (default 100 ms); a whole number of them fills the window.
    pub bin: Nanos,
    /// Whether the report has the time of the host's flash requests by cause (default `false`).
    pub flash_requests: bool,
    /// Length of the intervals in which bandwidth is measured (default: it is not measured), such as "1 s". The report
    /// has mean, deviation and bytes of the first 1,000,000 intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Nanos>,
}

impl Default for MeasureConfig {
    fn default() -> Self {
        Self {
            small_read_max: Bytes(64 << 10),
            window_start: Nanos(0),
            window: None,
            bin: Nanos(100_000_000),
            flash_requests: false,
            bandwidth: None,
        }
    }
}

/// Bins of one length, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When the first begins.
    pub start_ns: u64,
    /// How long each is.
    pub bin_ns: u64,
    /// How many there are.
    pub bins: u64,
}

impl Span {
    /// The start of a bin, counted from 0; for the bin after the last one, the end of the last one.
    pub fn start_of(&self, bin: u64) -> u64 {
        self.start_ns + bin * self.bin_ns
    }
}

impl MeasureConfig {
    /// The bins of the window, if there is one.
    pub fn span(&self) -> Option<Span> {
        let window = self.window?;
        Some(Span { start_ns: self.window_start.0, bin_ns: self.bin.0, bins: window.0 / self.bin.0 })
    }

    /// The note on how many bins of its window a run reached, if not all, and how many of these are in a warm-up that
    /// ended at `warmup_end_ns`.
    pub fn notes(&self, end_ns: u64, warmup_end_ns: u64) -> Vec<String> {
        let Some(span) = self.span() else { return Vec::new() };
        let (end, start) = (exact_time(end_ns), self.window_start);
        if end_ns < span.start_ns {
            return vec![format!("the run ended at {end}, before its window (`measure.window_start = \"{start}\"`)")];
        }
        // Bins that begin before a time.
        let begun_by = |time_ns: u64| time_ns.saturating_sub(span.start_ns).div_ceil(span.bin_ns).min(span.bins);
        let (begun, of_warmup) = (begun_by(end_ns), begun_by(warmup_end_ns));
        let mut notes = Vec::new();
        if begun < span.bins {
            notes.push(format!(
                "the run ended at {end}, and its window (`measure.window`) has {begun} of {} bins",
                span.bins
            ));
        }
        if of_warmup > 0 {
            notes.push(format!(
                "{of_warmup} of the {begun} bins of the window (`measure.window`) begin in the warm-up, which lasted \
                 until {}, and count its requests; a later `measure.window_start` leaves them out",
                exact_time(warmup_end_ns)
            ));
        }
        notes
    }

    /// The note that a small-read size other than the default separates no reads: all are small, or none is.
    pub fn note_of_small_reads(&self, reads: u64, small_reads: u64) -> Option<String> {
        let most = self.small_read_max;
        if most == Self::default().small_read_max {
            return None;
        }
        match small_reads {
            _ if reads == 0 => Some("`measure.small_read_max` has no effect: no request reads".to_owned()),
            0 => Some(format!("`measure.small_read_max` divides no reads: each is larger than {most}")),
            all if all == reads => {
                Some(format!("`measure.small_read_max` divides no reads: none is larger than {most}"))
            }
            _ => None,
        }
    }

    /// Checks that the window is possible.
    pub fn check(&self) -> Result<(), KeyError> {
        let refuse =
            |key: &str, why: String, help: &str| Err(KeyError::new(format!("measure.{key}"), why).with_help(help));
        let (start, bin) = (self.window_start, self.bin);
        if self.bandwidth == Some(Nanos(0)) {
            return refuse("bandwidth", "intervals cannot be without length".to_owned(), "use for example \"1 s\"");
        }
        if bin.0 == 0 {
            return refuse("bin", "bins cannot be without length".to_owned(), "use for example \"100 ms\"");
        }
        let Some(window) = self.window else {
            let help = "set `measure.window`, too, for example to \"10 s\"";
            let is_set = [start.0 != 0, bin != Self::default().bin];
            return match is_set {
                [true, _] => refuse("window_start", "there is no window that could start then".to_owned(), help),
                [_, true] => refuse("bin", "there is no window that could have bins".to_owned(), help),
                _ => Ok(()),
            };
        };
        if window.0 == 0 {
            return refuse("window", "a window cannot be without length".to_owned(), "use for example \"10 s\"");
        }
        if !window.0.is_multiple_of(bin.0) {
            let why = format!("bins of {bin} do not fill a window of {window}");
            return refuse("bin", why, "use a length of which `measure.window` is a multiple");
        }
        if window.0 / bin.0 > BINS_MAX {
            let why = format!("a window of {window} has {} bins of {bin}, more than 1000000", window.0 / bin.0);
            return refuse("bin", why, "use longer bins, or a shorter `measure.window`");
        }
        match start.0.checked_add(window.0) {
            Some(end_ns) if end_ns <= END_MAX_NS => Ok(()),
            _ => refuse("window_start", "the window ends after more than 292 years".to_owned(), "use an earlier time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(settings: &str) -> Result<Option<Span>, String> {
        let config: MeasureConfig = crate::config::from_toml(settings).expect("the keys are known");
        config.check().map(|()| config.span()).map_err(|error| error.key)
    }

    #[test]
    fn a_window_is_filled_with_bins() {
        assert_eq!(checked(""), Ok(None));
        let span = |start_ns, bin_ns, bins| Ok(Some(Span { start_ns, bin_ns, bins }));
        assert_eq!(checked("window = \"10 s\""), span(0, 100_000_000, 100));
        let late = "window_start = \"10 h\"\nwindow = \"1 s\"\nbin = \"1 us\"";
        assert_eq!(checked(late), span(36_000_000_000_000, 1_000, 1_000_000));
    }

    /// Ten bins of 100 ms from 1 s on.
    #[test]
    fn a_window_that_a_run_leaves_empty_or_warms_up_in_is_noted() {
        let config: MeasureConfig =
            crate::config::from_toml("window_start = \"1 s\"\nwindow = \"1 s\"").expect("keys are known");
        let notes = |end_ms: u64, warmup_ms: u64| config.notes(end_ms * 1_000_000, warmup_ms * 1_000_000).concat();
        assert_eq!(notes(2_000, 0), "");
        assert_eq!(notes(2_000, 1_000), "");
        assert!(notes(999, 0).contains("the run ended at 999 ms, before its window"));
        assert!(notes(1_450, 0).contains("has 5 of 10 bins"));
        assert!(notes(2_000, 1_201).contains("3 of the 10 bins"));
        assert!(notes(9_000, 5_000).contains("10 of the 10 bins"));
        assert_eq!(MeasureConfig::default().notes(1, 1), Vec::<String>::new());
    }

    #[test]
    fn a_window_that_cannot_be_is_refused() {
        let refused = [
            ("bin = \"0 ns\"", "bin"),
            ("window = \"0 s\"", "window"),
            ("window_start = \"10 h\"", "window_start"),
            ("bin = \"10 ms\"", "bin"),
            ("window = \"250 ms\"", "bin"),
            ("window = \"50 ms\"", "bin"),
            ("window = \"1000001 us\"\nbin = \"1 us\"", "bin"),
            ("window = \"1 s\"\nwindow_start = \"9223372036 s\"", "window_start"),
            ("window = \"1 s\"\nwindow_start = \"18446744073709551615 ns\"", "window_start"),
        ];
        for (settings, key) in refused {
            assert_eq!(checked(settings), Err(format!("measure.{key}")), "{settings}");
        }
    }
}
