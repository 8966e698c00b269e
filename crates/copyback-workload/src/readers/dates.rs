//! Dates and times of ISO 8601: `2026-11-26T17:02:07.5Z`. A blank may replace the `T`. Slashes may replace both `-`. An
//! offset such as `+01:00` or `+0100` may replace the `Z`. Without an offset, times are universal time.

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;

/// Consumes this many digits, and then a separator if one is given.
fn digits(rest: &mut &[u8], count: usize, separator: Option<u8>) -> Option<u64> {
    let (head, behind) = rest.split_at_checked(count)?;
    let value =
        head.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0')))?;
    *rest = match separator {
        Some(separator) => behind.strip_prefix(&[separator])?,
        None => behind,
    };
    Some(value)
}

/// Days from the first of January 1970 to a date of the Gregorian calendar.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    const BEFORE_MONTH: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let month_at = usize::try_from(month.checked_sub(1)?).ok()?;
    let before = BEFORE_MONTH.get(month_at)?;
    let lengths = BEFORE_MONTH.get(month_at + 1).copied().unwrap_or(365) - before;
    let length = lengths + u64::from(month == 2 && is_leap(year));
    if !(1..=length).contains(&day) {
        return None;
    }
    let leap_days = |years: u64| years / 4 - years / 100 + years / 400;
    let before_year = (year.checked_sub(1970)?) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(before_year + before + u64::from(month > 2 && is_leap(year)) + day - 1)
}

/// Seconds between local and universal time, and whether local time is ahead; `None` if the text is no offset.
fn offset_s(rest: &[u8]) -> Option<(u64, bool)> {
    let (is_ahead, mut rest) = match rest {
        [] | [b'Z'] => return Some((0, true)),
        [b'+', rest @ ..] => (true, rest),
        [b'-', rest @ ..] => (false, rest),
        _ => return None,
    };
    let hours = digits(&mut rest, 2, None)?;
    rest = rest.strip_prefix(b":").unwrap_or(rest);
    let minutes = if rest.is_empty() { 0 } else { digits(&mut rest, 2, None)? };
    (rest.is_empty() && hours < 24 && minutes < 60).then_some((hours * 3600 + minutes * 60, is_ahead))
}

/// Nanoseconds since 1970 of a date, with a time of day or at midnight. `None` for any other text, for earlier dates,
/// and for dates after the year 2554, which exceed 64 bits. Fractions of a nanosecond are cut off.
pub(crate) fn ns(text: &[u8]) -> Option<u64> {
    let mut rest = text;
    let day_s = day_s(&mut rest)?;
    if rest.is_empty() {
        return day_s.checked_mul(SECOND_NS);
    }
    let mut rest = rest.strip_prefix(b"T").or_else(|| rest.strip_prefix(b" "))?;
    let (of_day_s, decimals_ns) = time_of_day(&mut rest)?;
    let (offset_s, is_ahead) = offset_s(rest)?;
    let local_s = day_s + of_day_s;
    let universal_s = if is_ahead { local_s.checked_sub(offset_s)? } else { local_s + offset_s };
    universal_s.checked_mul(SECOND_NS)?.checked_add(decimals_ns)
}

/// Whether a field looks like a date, but cannot be read as one.
pub(crate) fn is_wrong(field: &str) -> bool {
    let day = field.split(['T', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
    let is_number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_number) && ns(field.as_bytes()).is_none()
}

/// Nanoseconds since 1970 of the midnight before a date without a time of day.
pub(crate) fn midnight_ns(text: &[u8]) -> Option<u64> {
    let mut rest = text;
    let day_s = day_s(&mut rest)?;
    if rest.is_empty() { day_s.checked_mul(SECOND_NS) } else { None }
}

/// Nanoseconds since midnight of a time of day without an offset: `17:02` or `17:02:07.5`.
pub(crate) fn of_day_ns(text: &[u8]) -> Option<u64> {
    let mut rest = text;
    let (of_day_s, decimals_ns) = time_of_day(&mut rest)?;
    rest.is_empty().then_some(of_day_s * SECOND_NS + decimals_ns)
}

/// Seconds from 1970 to the midnight before a date.
fn day_s(rest: &mut &[u8]) -> Option<u64> {
    // A fast path for plain numbers.
    let separator = *rest.get(4).filter(|sign| matches!(sign, b'-' | b'/'))?;
    let year = digits(rest, 4, Some(separator))?;
    let month = digits(rest, 2, Some(separator))?;
    let day = digits(rest, 2, None)?;
    Some(days(year, month, day)? * 86_400)
}

/// Seconds since midnight, and their decimals in nanoseconds.
fn time_of_day(rest: &mut &[u8]) -> Option<(u64, u64)> {
    let hours = digits(rest, 2, Some(b':')).filter(|hours| *hours < 24)?;
    let minutes = digits(rest, 2, None).filter(|minutes| *minutes < 60)?;
    let mut seconds = 0;
    let mut decimals_ns = 0;
    if let Some(behind) = rest.strip_prefix(b":") {
        *rest = behind;
        // A leap second has the number 60.
        seconds = digits(rest, 2, None).filter(|seconds| *seconds <= 60)?;
        if let Some(behind) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) {
            let len = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let digit = |at: usize| behind[..len].get(at).map_or(0, |byte| u64::from(byte - b'0'));
            decimals_ns = (0..9).fold(0, |value, at| value * 10 + digit(at));
            *rest = &behind[len..];
            if len == 0 {
                return None;
            }
        }
    }
    Some((hours * 3600 + minutes * 60 + seconds, decimals_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds are those of `date -u -d DATE +%s`.
    #[test]
    fn dates_are_counted_from_1970() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:01Z", 1),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2024-12-31 23:59:59", 1_735_689_599),
            ("2026-11-26T17:02:07+00:00", 1_795_712_527),
            ("2026-11-26T18:02:07+01:00", 1_795_712_527),
            ("2026-11-26T13:32:07-0330", 1_795_712_527),
            ("2100-03-01T00:00", 4_107_542_400),
            ("2024/12/31 23:59:59", 1_735_689_599),
        ] {
            assert_eq!(ns(text.as_bytes()), Some(seconds * SECOND_NS), "{text}");
        }
        assert_eq!(ns(b"1970-01-01T00:00:00.000000001Z"), Some(1));
        assert_eq!(ns(b"1970-01-01T00:00:00.5"), Some(500_000_000));
        assert_eq!(midnight_ns(b"1970-01-02"), Some(86_400 * SECOND_NS));
        assert_eq!(midnight_ns(b"1970-01-02T00:00"), None);
        assert_eq!(of_day_ns(b"00:01:02.5"), Some(62_500_000_000));
        assert_eq!(of_day_ns(b"23:59"), Some(86_340 * SECOND_NS));
        for text in ["", "12", "24:00", "00:60", "00:00:00Z", "1:02:03", "00:00:00."] {
            assert_eq!(of_day_ns(text.as_bytes()), None, "{text}");
        }
        for text in [
            "",
            "12",
            "2026",
            "2026-13-01",
            "2026-00-01",
            "2026-02-29",
            "1969-12-31",
            "2026-11-26T24:00:00",
            "2026-11-26T",
            "2026-11-26T17:02:07.",
            "2026-11-26T17:02:07+1",
            "2026-11-26x",
            "9999-12-31",
            "1970-01-01T00:00:00+01:00",
            "2026/11-26",
        ] {
            assert_eq!(ns(text.as_bytes()), None, "{text}");
        }
    }
}
