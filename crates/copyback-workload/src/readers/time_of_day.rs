//! Times of day, which begin again at midnight.

use super::cursor::Cursor;
use crate::units::counted;

/// A day, after which times of day start again.
const DAY_NS: u64 = 86_400_000_000_000;

/// Backward step at which a time of day belongs to the next day: lines are out of order by far less.
const NEXT_DAY_NS: u64 = DAY_NS / 2;

/// Turns times of day into times since the midnight before the first of them.
#[derive(Default)]
pub(crate) struct Clock {
    /// Number of midnights so far.
    days: u64,
    last_of_day_ns: u64,
}

impl Clock {
    /// The time of `hours:minutes:seconds`, in nanoseconds; `None` for another text, or after too many days.
    pub(crate) fn ns(&mut self, word: &[u8]) -> Option<u64> {
        let of_day_ns = time_of_day_ns(Cursor::new(word))?;
        if self.last_of_day_ns.saturating_sub(of_day_ns) > NEXT_DAY_NS {
            self.days += 1;
        }
        // A line from just before midnight that comes late stays on its day.
        let is_late = of_day_ns.saturating_sub(self.last_of_day_ns) > NEXT_DAY_NS && self.days > 0;
        if is_late {
            return (self.days - 1).checked_mul(DAY_NS)?.checked_add(of_day_ns);
        }
        self.last_of_day_ns = of_day_ns;
        self.days.checked_mul(DAY_NS)?.checked_add(of_day_ns)
    }

    /// The notes to the user.
    pub(crate) fn note(&self) -> Option<String> {
        (self.days > 0)
            .then(|| format!("times of day that began anew were taken for {}", counted(self.days, "later day")))
    }
}

/// `hours:minutes:seconds`, the seconds with decimals or not.
fn time_of_day_ns(mut word: Cursor<'_>) -> Option<u64> {
    let hours = word.uint("hours").ok().filter(|hours| *hours < 24)?;
    word.byte(b':', "a colon").ok()?;
    let minutes = word.uint("minutes").ok().filter(|minutes| *minutes < 60)?;
    word.byte(b':', "a colon").ok()?;
    // A leap second has the number 60.
    let seconds_ns = word.decimal(9, "seconds").ok().filter(|ns| *ns <= 61_000_000_000)?;
    word.rest.is_empty().then_some((hours * 60 + minutes) * 60_000_000_000 + seconds_ns)
}
