//! The text of a fio job file: sections, options and their places; and how fio writes numbers.

use crate::failure::Failure;
use copyback::config::layers::{LayerError, Place, Text};
use std::sync::Arc;

/// An option of a section.
#[derive(Clone, Debug)]
pub struct Opt {
    /// Its name.
    pub key: String,
    /// Its value; none where only the name stands there.
    pub value: Option<String>,
    /// Where it stands.
    pub place: Place,
}

impl Opt {
    /// What is wrong with it, and what helps.
    pub fn wrong(&self, message: impl AsRef<str>, help: impl Into<String>) -> Failure {
        let shown = self.value.as_ref().map_or(self.key.clone(), |value| format!("{}={value}", self.key));
        let error = LayerError::new(format!("`{shown}`: {}", message.as_ref())).with_help(help);
        error.at(Some(self.place.clone())).into()
    }

    /// Its value.
    pub fn text(&self) -> Result<&str, Failure> {
        let missing = || self.wrong("it needs a value", format!("write {}=VALUE", self.key));
        self.value.as_deref().filter(|value| !value.is_empty()).ok_or_else(missing)
    }
}

/// A section: a job, or what all jobs below it have.
#[derive(Clone, Debug)]
pub struct Section {
    /// What stands between the brackets.
    pub name: String,
    /// Where.
    pub place: Place,
    /// Its options, in order.
    pub options: Vec<Opt>,
}

/// Reads a job file. fio's own rules: names are as they are written, `;` and `#` begin comments, blanks around `=` do
/// not count.
pub fn sections(name: &str, text: &str) -> Result<Vec<Section>, Failure> {
    let whole = Arc::new(Text { name: name.to_owned(), text: text.to_owned() });
    let mut sections: Vec<Section> = Vec::new();
    let mut begins_at = 0;
    for line in text.split_inclusive('\n') {
        let uncommented = line.split([';', '#']).next().unwrap_or_default();
        let trimmed = uncommented.trim();
        let start = begins_at + (uncommented.len() - uncommented.trim_start().len());
        let place = Place { text: whole.clone(), span: start..start + trimmed.len() };
        begins_at += line.len();
        if trimmed.is_empty() {
            continue;
        }
        let wrong = |message: &str, help: &str| -> Failure {
            LayerError::new(message).with_help(help).at(Some(place.clone())).into()
        };
        if let Some(name) = trimmed.strip_prefix('[') {
            let Some(name) = name.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty()) else {
                return Err(wrong("this is no section", "write [NAME] on a line of its own"));
            };
            sections.push(Section { name: name.to_owned(), place, options: Vec::new() });
            continue;
        }
        if trimmed.starts_with("include ") {
            return Err(wrong("`include` is not supported", "put the text of that file here"));
        }
        if trimmed.contains("${") || trimmed.contains("$pagesize") || trimmed.contains("$ncpus") {
            let help = "write the value itself, so that results do not depend on this machine";
            return Err(wrong("variables are not supported", help));
        }
        let Some(section) = sections.last_mut() else {
            return Err(wrong("an option stands before any section", "write [global], or a job's name, above it"));
        };
        let (key, value) = match trimmed.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
            None => (trimmed, None),
        };
        let has_blank = trimmed.split_once('=').is_some_and(|(_, value)| value.starts_with([' ', '\t']));
        if has_blank && ["rw", "readwrite"].contains(&key) {
            return Err(wrong("fio takes no blank before this value", "write rw=VALUE"));
        }
        section.options.push(Opt { key: key.to_owned(), value, place });
    }
    Ok(sections)
}

/// A number of fio: decimal or 0x, and a suffix. By `kb_base` 1024, fio's default, `k` is 1024 and `ki` 1000; by 1000
/// it is the other way round.
pub fn number(opt: &Opt, text: &str, kb_base: u64) -> Result<u64, Failure> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (lower.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let wrong = || opt.wrong(format!("`{text}` is no number of fio"), "write for example 4096, 4k or 1m");
    let count = u64::from_str_radix(&digits[..end], radix).map_err(|_| wrong())?;
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
        _ => return Err(wrong()),
    };
    base.checked_pow(power).and_then(|factor| count.checked_mul(factor)).ok_or_else(wrong)
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
