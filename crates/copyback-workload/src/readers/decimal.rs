//! Numbers with a point or an exponent (`512.0`, `1e-05`), read as exact decimals, never through floating point.

/// A number in a decimal unit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// The whole units; `None` if they are 2^64 or more.
    pub value: Option<u64>,
    /// Whether a fraction of a unit was cut off.
    pub is_cut: bool,
}

/// Consumes the digits at the start.
fn digits<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let len = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at(len);
    *rest = behind;
    digits
}

/// The exponent at the start, zero without one; `None` if it has no digits. Exponents beyond a bound are equivalent:
/// the number is too large, or zero.
fn exponent(rest: &mut &[u8]) -> Option<i64> {
    let Some(behind) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) else { return Some(0) };
    let is_negative = behind.first() == Some(&b'-');
    *rest = if matches!(behind.first(), Some(b'-' | b'+')) { &behind[1..] } else { behind };
    let digits = digits(rest);
    let fold = |value: i64, digit: &u8| (value * 10 + i64::from(digit - b'0')).min(1 << 32);
    let size = digits.iter().fold(0, fold);
    (!digits.is_empty()).then_some(if is_negative { -size } else { size })
}

/// Reads a whole text as a number, times ten to the power of `places`; `None` if it is not a number of at least zero.
pub(crate) fn read(text: &[u8], places: u32) -> Option<Decimal> {
    let mut rest = text;
    let whole = digits(&mut rest);
    let mut decimals = &[][..];
    if let Some(behind) = rest.strip_prefix(b".") {
        rest = behind;
        decimals = digits(&mut rest);
    }
    let exponent = exponent(&mut rest)?;
    if !rest.is_empty() || whole.is_empty() && decimals.is_empty() {
        return None;
    }
    // The position of the point among all digits. Leading zeros are skipped, which keeps the loop below short.
    let point = i64::try_from(whole.len()).ok()? + exponent + i64::from(places);
    let all = || whole.iter().chain(decimals).map(|byte| u64::from(byte - b'0'));
    let Some(first) = all().position(|digit| digit != 0) else {
        return Some(Decimal { value: Some(0), is_cut: false });
    };
    let first = i64::try_from(first).ok()?;
    let wanted = usize::try_from((point - first).max(0)).ok()?;
    let mut left = all().skip(usize::try_from(first).ok()?);
    let mut value = Some(0_u64);
    for _ in 0..wanted {
        let digit = left.next().unwrap_or(0);
        value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit));
        if value.is_none() {
            break;
        }
    }
    Some(Decimal { value, is_cut: left.any(|digit| digit != 0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        for (text, places, value, is_cut) in [
            ("1e-05", 9, Some(10_000), false),
            ("9.999e-05", 9, Some(99_990), false),
            ("1.2345E+3", 0, Some(1234), true),
            ("512.0", 0, Some(512), false),
            ("512.", 0, Some(512), false),
            ("0.5", 0, Some(0), true),
            ("000.1e1", 0, Some(1), false),
            ("1e-12", 9, Some(0), true),
            ("1e-99999999999999999999", 9, Some(0), true),
            ("0e99999999999999999999", 9, Some(0), false),
            // 2^53 + 1 and 2^64 - 1, which floating point would round.
            ("9.007199254740993e+15", 0, Some((1 << 53) + 1), false),
            ("18446744073.709551615", 9, Some(u64::MAX), false),
            ("18446744073.709551616", 9, None, true),
            ("1e99999999999999999999", 0, None, false),
        ] {
            let number = read(text.as_bytes(), places).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(number.value, value, "{text}");
            assert!(number.is_cut == is_cut || value.is_none(), "{text}");
        }
        for text in ["", ".", "e5", "1e", "1e+", "-1", "+1", "1 ", "0x1", "1.2.3", "nan", "inf"] {
            assert_eq!(read(text.as_bytes(), 9), None, "{text}");
        }
    }
}
