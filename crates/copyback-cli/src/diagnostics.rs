//! A failure as a person reads it: the mistake, the text at fault with its place, the remedy.

use crate::failure::{DEFECT, Diagnosis, Failure, line_and_column};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use copyback_workload::printable::printable_lines;

/// Width if standard error is not a terminal.
const COLUMNS_DEFAULT: usize = 80;
/// Least width, for very narrow terminals.
const COLUMNS_MIN: usize = 40;
/// Greatest width that is easy to read.
const COLUMNS_MAX: usize = 100;

/// Informs the user, and returns the exit code of the program.
pub fn report(failure: Failure) -> u8 {
    let (diagnosis, code) = match with_command(failure) {
        Failure::Input(diagnosis) => (diagnosis, 2),
        Failure::Run(diagnosis) => (diagnosis, 1),
        Failure::PipeClosed => return 0,
    };
    // Ignore a failed write: if standard error is closed, no way to report is left.
    let text = render(&cut(*diagnosis));
    let _ = std::io::Write::write_all(&mut anstream::stderr(), printable_lines(&text).as_bytes());
    code
}

/// The failure. If it is a defect of the simulator, its help states the command that reproduces it.
pub fn with_command(failure: Failure) -> Failure {
    if failure.help() != Some(DEFECT) {
        return failure;
    }
    // A name need not be UTF-8.
    let words = std::env::args_os().map(|word| crate::format::quoted(&word.to_string_lossy()));
    let command: Vec<String> = words.collect();
    failure.with_help(format!("{DEFECT}; reproduce it with: {}", command.join(" ")))
}

/// The diagnosis at a length that can be read, whatever a file or an argument holds.
fn cut(mut diagnosis: Diagnosis) -> Diagnosis {
    diagnosis.message = shorten(&diagnosis.message);
    if let Some(place) = &diagnosis.place
        && lines_around(&place.text.text, &place.span).len() > SHOWN_BYTES_MAX
    {
        let (line, column) = line_and_column(&place.text.text, place.span.start);
        diagnosis.message = format!("{}:{line}:{column}: {}", place.text.name, diagnosis.message);
        diagnosis.place = None;
    }
    diagnosis
}

/// Characters of a quoted value that are shown.
const QUOTED_MAX: usize = 80;
/// Bytes of a text at fault that are shown: more would push the message out of sight.
const SHOWN_BYTES_MAX: usize = 4096;

/// A message with long quotations cut. Quotations of up to twice the limit, such as paths, stay whole.
fn shorten(message: &str) -> String {
    let mut short = String::new();
    let mut rest = message;
    while let Some(open) = rest.find(['`', '"']) {
        let quote = &rest[open..=open];
        short.push_str(&rest[..=open]);
        rest = &rest[open + 1..];
        let end = rest.find(quote).unwrap_or(rest.len());
        let quoted = &rest[..end];
        match quoted.char_indices().nth(QUOTED_MAX).filter(|_| quoted.len() > 2 * QUOTED_MAX) {
            Some((cut, _)) => short.extend([&quoted[..cut], "…"]),
            None => short.push_str(quoted),
        }
        rest = &rest[end..];
        if let Some(behind) = rest.strip_prefix(quote) {
            short.push_str(quote);
            rest = behind;
        }
    }
    short + rest
}

/// The lines of a text to show: those of the span, and one before and after.
fn lines_around<'a>(text: &'a str, span: &std::ops::Range<usize>) -> &'a str {
    let bytes = text.as_bytes();
    let ends = |bytes: &[u8]| bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let (start, end) = (span.start.min(text.len()), span.end.min(text.len()));
    let (before, behind): (Vec<usize>, Vec<usize>) = (ends(&bytes[..start]), ends(&bytes[end..]));
    let from = before.iter().rev().nth(1).map_or(0, |at| at + 1);
    let to = behind.get(1).map_or(text.len(), |at| end + at);
    &text[from..to]
}

/// The diagnosis with colours; the caller prints it to a stream that drops them if they are not wanted.
fn render(diagnosis: &Diagnosis) -> String {
    let columns =
        terminal_size::terminal_size_of(std::io::stderr()).map_or(COLUMNS_DEFAULT, |(width, _)| width.0.into());
    format(diagnosis, columns.clamp(COLUMNS_MIN, COLUMNS_MAX))
}

fn format(diagnosis: &Diagnosis, columns: usize) -> String {
    let message = wrap(&diagnosis.message, "error: ".len(), columns);
    let mut group = Group::with_title(Level::ERROR.primary_title(&message));
    if let Some(place) = &diagnosis.place {
        let at = AnnotationKind::Primary.span(place.span.clone());
        group = group.element(Snippet::source(&place.text.text).path(&place.text.name).annotation(at));
    }
    let renderer = Renderer::styled().term_width(columns);
    let mut shown = renderer.render(&[group]) + "\n";
    if let Some(help) = &diagnosis.help {
        let help = wrap(help, "help: ".len(), columns);
        shown += &renderer.render(&[Group::with_title(Level::HELP.primary_title(&help))]);
        shown.push('\n');
    }
    shown
}

/// Wraps `text` to `columns`, less the label, under which the renderer indents every line.
fn wrap(text: &str, label_columns: usize, columns: usize) -> String {
    let width = columns - label_columns;
    // No break at a hyphen: names have hyphens, and must stay on one line so that they can be copied.
    let options = textwrap::Options::new(width)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback::config::layers::{Text, TextSpan};
    use copyback::run::RunError;
    use copyback::sim::invariant::Invariant;
    use std::sync::Arc;

    #[test]
    fn long_quotations_are_cut_and_the_rest_stays() {
        let long = "ä".repeat(1_000);
        let cut = "ä".repeat(80) + "…";
        assert_eq!(shorten(&format!("a `{long}` b \"{long}\" c `d`")), format!("a `{cut}` b \"{cut}\" c `d`"));
        assert_eq!(shorten(&format!("no end: `{long}")), format!("no end: `{cut}"));
        let path = format!("/{}", "p".repeat(120));
        for whole in ["", "`", "`a` is not \"b\"", &format!("`{path}` is not there"), &format!("a{long}")] {
            assert_eq!(shorten(whole), *whole);
        }
    }

    #[test]
    fn a_text_is_shown_where_it_can_be_read() {
        let shown = |text: &str, span: std::ops::Range<usize>| {
            let text = Arc::new(Text::new("t", text));
            let Failure::Input(diagnosis) = Failure::input("wrong").at(Some(TextSpan { text, span })) else { panic!() };
            let cut = cut(*diagnosis);
            (cut.place.is_some(), cut.message)
        };
        let long = "x".repeat(SHOWN_BYTES_MAX);
        assert_eq!(shown("a\nb = 1\nc", 6..7), (true, "wrong".into()));
        assert!(shown(&format!("{long}\na\nb\nc\n{long}"), 4099..4100).0, "far lines are not shown");
        assert_eq!(shown(&format!("a\nä {long}"), 5..9), (false, "t:2:3: wrong".into()));
        assert_eq!(shown(&format!("{long}\nb"), 4097..4098), (false, "t:2:1: wrong".into()));
        assert_eq!(shown(&format!("b\n{long}"), 0..1), (false, "t:1:1: wrong".into()));
    }

    #[test]
    fn a_broken_invariant_names_itself_the_time_and_the_command() {
        let what = "newest-read: a read found nothing".to_owned();
        let broken = RunError::Invariant { invariant: Some(Invariant::NewestRead), what, at_ns: Some(1_234) };
        let Failure::Run(diagnosis) = with_command(Failure::from(broken)) else { panic!("it is a run that failed") };
        assert_eq!(diagnosis.message, "invariant broken at 1.234 us: newest-read: a read found nothing");
        let command = std::env::args().next().expect("a program has a name");
        assert!(diagnosis.help.expect("there is help").contains(&command));
    }
}
