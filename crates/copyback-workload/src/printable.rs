//! Texts of files, arguments and traces, made safe for terminals and pages.

use std::borrow::Cow;

/// Whether a character moves the cursor, changes the terminal or reorders text instead of showing something: a control
/// character, a separator of lines, or a mark of direction.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A word with each unprintable character escaped as in strings of JSON and TOML: `\n`, `\u001b`.
pub fn printable(word: &str) -> Cow<'_, str> {
    if !word.contains(is_unprintable) {
        return Cow::Borrowed(word);
    }
    let mut shown = String::with_capacity(word.len() + 8);
    for c in word.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            c if is_unprintable(c) => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A text of several lines, reduced to lines and styles: ends of lines, tabulators and `ESC [ ... m` stay, and all
/// other unprintable characters are written out.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let stays = |c: char| c == '\n' || c == '\t';
    if !text.contains(|c| is_unprintable(c) && !stays(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = style_len(rest);
        let (word, behind) = rest.split_at(if style > 0 { style } else { c.len_utf8() });
        if style > 0 || stays(c) {
            shown.push_str(word)
        } else {
            shown.push_str(&printable(word))
        }
        rest = behind;
    }
    Cow::Owned(shown)
}

/// Bytes of the style that a text begins with; 0 without one.
fn style_len(text: &str) -> usize {
    let Some(numbers) = text.strip_prefix("\u{1b}[") else { return 0 };
    let len = numbers.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if numbers[len..].starts_with('m') { "\u{1b}[".len() + len + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_is_written_out() {
        // C0, DEL and C1 of ISO 6429, and the characters of Unicode (UAX 9, UAX 14) that break or reorder lines.
        let controls = ('\0'..=' ').filter(|c| *c != ' ').chain('\u{7f}'..='\u{9f}');
        let marks = "\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{feff}";
        for c in controls.chain(marks.chars()) {
            let shown = printable(&format!("a{c}b")).into_owned();
            assert!(shown.starts_with("a\\") && shown.ends_with('b') && !shown.contains(is_unprintable), "{shown:?}");
            let lines = printable_lines(&format!("a{c}b\nc")).into_owned();
            assert_eq!(lines.contains(c), c == '\n' || c == '\t', "{lines:?}");
        }
        assert_eq!(printable("ä b\n\u{1b}[31mc"), "ä b\\n\\u001b[31mc");
        assert!(matches!(printable("plain, ä, 漢"), Cow::Borrowed(_)));
    }

    #[test]
    fn of_a_text_only_styles_reach_the_terminal() {
        let (bold, link) = ("\u{1b}[1mb\u{1b}[0m\n", "\u{1b}]8;;x\u{7}y");
        assert_eq!(printable_lines(bold), bold);
        assert_eq!(printable_lines(&format!("{bold}{link}")), format!("{bold}\\u001b]8;;x\\u0007y"));
        for other in ["\u{1b}[2J", "\u{1b}[", "\u{1b}[1;2", "\u{1b}c"] {
            assert_eq!(printable_lines(other), other.replace('\u{1b}', "\\u001b"));
        }
    }
}
