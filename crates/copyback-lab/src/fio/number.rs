//! Parses numbers and times as fio does.

use super::parse::Opt;
use crate::failure::Failure;

/// A number of fio: decimal or 0x, and a suffix; or an expression, in parentheses or with `*`, `/` or `^`. If `kb_base`
/// is 1024, fio's default, `k` is 1024 and `ki` 1000; if it is 1000, `k` is 1000 and `ki` 1024.
pub fn number(opt: &Opt, text: &str, kb_base: u64) -> Result<u64, Failure> {
    let text = text.trim();
    if text.starts_with('(') || text.contains(['*', '/', '^']) {
        let value = Expression { rest: text, kb_base }.whole();
        let wrong = || opt.wrong(format!("`{text}` is no expression of fio"), "write for example (4*1024)");
        return value.and_then(|value| u64::try_from(value).ok()).ok_or_else(wrong);
    }
    if text.ends_with(['z', 'Z']) && text[..text.len() - 1].bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(opt.wrong("`z` counts zones, and the drive has none", "write bytes, for example 256m"));
    }
    plain(text, kb_base)
        .ok_or_else(|| opt.wrong(format!("`{text}` is no number of fio"), "write for example 4096, 4k or 1m"))
}

/// A number without operators.
fn plain(text: &str, kb_base: u64) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (lower.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let count = u64::from_str_radix(&digits[..end], radix).ok()?;
    let unit = digits[end..].strip_suffix('b').unwrap_or(&digits[end..]);
    let (letter, is_other) = match unit.strip_suffix('i') {
        Some(letter) => (letter, true),
        None => (unit, false),
    };
    let base: u64 = if (kb_base == 1024) == is_other { 1000 } else { 1024 };
    let power = match letter {
        "" if !is_other => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    base.checked_pow(power).and_then(|factor| count.checked_mul(factor))
}

/// The rest of an arithmetic expression.
struct Expression<'a> {
    rest: &'a str,
    kb_base: u64,
}

/// The most parentheses inside each other: an expression is read by recursion.
const NESTED_MAX: usize = 32;

impl Expression<'_> {
    fn whole(mut self) -> Option<i128> {
        let value = self.sum(0)?;
        self.rest.trim().is_empty().then_some(value)
    }

    /// The operator that comes next, if it is one of these.
    fn operator(&mut self, of: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let next = self.rest.chars().next().filter(|next| of.contains(next))?;
        self.rest = &self.rest[1..];
        Some(next)
    }

    fn sum(&mut self, nested: usize) -> Option<i128> {
        let mut value = self.product(nested)?;
        while let Some(sign) = self.operator(&['+', '-']) {
            let next = self.product(nested)?;
            value = if sign == '+' { value.checked_add(next)? } else { value.checked_sub(next)? };
        }
        Some(value)
    }

    fn product(&mut self, nested: usize) -> Option<i128> {
        let mut value = self.power(nested)?;
        while let Some(sign) = self.operator(&['*', '/', '%']) {
            let next = self.power(nested)?;
            value = match sign {
                '*' => value.checked_mul(next)?,
                '/' => value.checked_div(next)?,
                _ => value.checked_rem(next)?,
            };
        }
        Some(value)
    }

    fn power(&mut self, nested: usize) -> Option<i128> {
        let value = self.operand(nested)?;
        match self.operator(&['^']) {
            Some(_) => value.checked_pow(u32::try_from(self.operand(nested)?).ok()?),
            None => Some(value),
        }
    }

    fn operand(&mut self, nested: usize) -> Option<i128> {
        if self.operator(&['(']).is_some() {
            let value = if nested < NESTED_MAX { self.sum(nested + 1)? } else { return None };
            return self.operator(&[')']).map(|_| value);
        }
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        plain(text, self.kb_base).map(i128::from)
    }
}

/// A time of fio in nanoseconds; without a unit it is in units of `default_ns`.
pub fn time_ns(opt: &Opt, default_ns: u64) -> Result<u64, Failure> {
    let text = opt.text()?.to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let wrong = || opt.wrong("this is no time of fio", "write for example 30, 30s, 500ms or 10m");
    let count: u64 = text[..end].parse().map_err(|_| wrong())?;
    let unit_ns = match &text[end..] {
        "" => default_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(wrong()),
    };
    count.checked_mul(unit_ns).ok_or_else(wrong)
}

/// The values for reads, writes and trims. An omitted value repeats the previous one; an empty value changes nothing.
pub fn each<'a>(opt: &'a Opt, text: &'a str) -> Result<[&'a str; 3], Failure> {
    let given: Vec<&str> = text.split(',').collect();
    if given.len() > 3 {
        return Err(opt.wrong("it has more than three values", "write those of reads, writes and trims"));
    }
    Ok([0, 1, 2].map(|op| given.get(op).or(given.last()).copied().unwrap_or_default().trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fio's HOWTO: operators, and suffixes by kb_base.
    #[test]
    fn expressions_have_fios_values() {
        let value = |text: &str| Expression { rest: text, kb_base: 1024 }.whole();
        for (text, expected) in [
            ("(4*1024)", Some(4096)),
            ("(4k+512)", Some(4608)),
            ("5*1024/8", Some(640)),
            ("(2^12)", Some(4096)),
            ("((1+2)*3)%4", Some(1)),
            ("64*4096", Some(262_144)),
            ("(4k", None),
            ("1/0", None),
            ("(2^999)", None),
            ("*3", None),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        assert_eq!(Expression { rest: &"(".repeat(100_000), kb_base: 1024 }.whole(), None);
        assert_eq!((plain("4ki", 1000), plain("4ki", 1024), plain("4k", 1000)), (Some(4096), Some(4000), Some(4000)));
    }
}
