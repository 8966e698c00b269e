//! Separators of columns in a text table, and the fields between them.

use super::cursor::{LineError, shown};

/// A separator of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    Comma,
    Semicolon,
    Tab,
    Bar,
    /// Any number of blanks and tabs.
    Blanks,
}

impl Separator {
    /// All separators, the most certain first: a text with a comma is mostly separated by commas, even if it has
    /// others.
    pub(crate) const ALL: [Self; 5] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Bar, Self::Blanks];

    /// Its name in messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Comma => "commas",
            Self::Semicolon => "`;`",
            Self::Tab => "tabs",
            Self::Bar => "`|`",
            Self::Blanks => "blanks",
        }
    }

    /// The text between two columns.
    pub(crate) fn between(self) -> String {
        char::from(self.byte()).to_string()
    }

    fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Bar => b'|',
            Self::Blanks => b' ',
        }
    }

    /// The separator of a line with any number of columns.
    pub(crate) fn of(line: &[u8]) -> Self {
        let line = line.trim_ascii();
        Self::ALL.into_iter().find(|separator| line.contains(&separator.byte())).unwrap_or(Self::Comma)
    }

    /// The separator that splits a line into this number of columns; otherwise the separator for any number.
    pub(crate) fn of_columns(line: &[u8], count: usize) -> Self {
        let fits = |separator: &Self| separator.fields(line).len() == count;
        Self::ALL.into_iter().find(fits).unwrap_or_else(|| Self::of(line))
    }

    /// The fields of a line; none if a quotation is not closed.
    pub(crate) fn fields(self, line: &[u8]) -> Vec<String> {
        let mut rest = Some(line);
        let mut fields = Vec::new();
        while rest.is_some() {
            let Ok(field) = self.next_field(&mut rest) else { return Vec::new() };
            fields.push(String::from_utf8_lossy(field).replace("\"\"", "\""));
        }
        fields
    }

    /// Consumes a field and the separator after it; `rest` is `None` at the end.
    #[inline]
    pub(crate) fn next_field<'a>(self, rest: &mut Option<&'a [u8]>) -> Result<&'a [u8], LineError> {
        let line = rest.take().unwrap_or_default();
        let trimmed = self.trim_start(line);
        let (field, behind) = match trimmed.strip_prefix(b"\"") {
            Some(quoted) => {
                let end =
                    quote_end(quoted).ok_or_else(|| LineError("a quotation has no end in its line".to_owned()))?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => {
                let line = if self == Self::Blanks { trimmed } else { line };
                let (first, second) = (self.byte(), if self == Self::Blanks { b'\t' } else { self.byte() });
                let end = line.iter().position(|byte| *byte == first || *byte == second).unwrap_or(line.len());
                (line[..end].trim_ascii(), &line[end..])
            }
        };
        *rest = self.behind(behind)?;
        Ok(field)
    }

    /// The text after the separator that follows a field; `None` at the end of the line.
    fn behind(self, behind: &[u8]) -> Result<Option<&[u8]>, LineError> {
        let trimmed = self.trim_start(behind);
        if trimmed.is_empty() {
            return Ok(None);
        }
        if self == Self::Blanks && trimmed.len() < behind.len() {
            return Ok(Some(trimmed));
        }
        match trimmed.strip_prefix(&[self.byte()]) {
            Some(rest) => Ok(Some(rest)),
            None => {
                let expected = if self == Self::Comma { "a comma" } else { self.word() };
                Err(LineError(format!("expected {expected} behind a quotation, at `{}`", shown(trimmed))))
            }
        }
    }

    /// A text without leading blanks that are not separators.
    fn trim_start(self, text: &[u8]) -> &[u8] {
        match self {
            Self::Tab => {
                let start = text.iter().position(|byte| *byte == b'\t' || !byte.is_ascii_whitespace());
                &text[start.unwrap_or(text.len())..]
            }
            _ => text.trim_ascii_start(),
        }
    }
}

/// The position of the closing quote; two quotes are one in the text.
fn quote_end(quoted: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += quoted[at..].iter().position(|byte| *byte == b'"')?;
        if quoted.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_fields_of_its_separator() {
        use Separator::{Bar, Blanks, Comma, Semicolon, Tab};
        for (line, separator, fields) in [
            ("0,W, 8 ,4096", Comma, &["0", "W", "8", "4096"][..]),
            ("0;W;\"a;b\" ;4096", Semicolon, &["0", "W", "a;b", "4096"]),
            ("2026-11-26 17:02:07\tW\t\t 4096 ", Tab, &["2026-11-26 17:02:07", "W", "", "4096"]),
            ("\tW\t8\t4096", Tab, &["", "W", "8", "4096"]),
            ("0|W|8|4096", Bar, &["0", "W", "8", "4096"]),
            ("  0   W   8 \"a b\" ", Blanks, &["0", "W", "8", "a b"]),
            ("a,b;c", Comma, &["a", "b;c"]),
            ("\"a\"\"b\",c", Comma, &["a\"b", "c"]),
            ("0,W,8,", Comma, &["0", "W", "8", ""]),
        ] {
            assert_eq!(separator.fields(line.as_bytes()), fields, "{line}");
            assert_eq!(Separator::of(line.as_bytes()), separator, "{line}");
        }
        assert_eq!(Blanks.fields(b"0 \tW\t 8"), ["0", "W", "8"]);
        // The number of columns shows that the comma is no separator.
        assert_eq!(Separator::of_columns(b"0,5;W;8;4096", 4), Semicolon);
        assert_eq!(Separator::of_columns(b"x", 4), Comma);
        assert!(Comma.fields(b"\"a").is_empty() && Comma.fields(b"\"a\"b,c").is_empty());
    }
}
