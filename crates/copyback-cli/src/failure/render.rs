//! A diagnosis as a person reads it: the mistake, the text at fault with its place, the remedy.

use super::Diagnosis;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Columns, if standard error is no terminal.
const COLUMNS: usize = 80;
/// Columns that a line still has in a very narrow terminal, and the most that are easy to read.
const COLUMNS_MIN: usize = 40;
const COLUMNS_MAX: usize = 100;

/// The diagnosis with colours; the caller prints it to a stream that drops them if they are not wanted.
pub fn rendered(diagnosis: &Diagnosis) -> String {
    let columns = terminal_size::terminal_size_of(std::io::stderr()).map_or(COLUMNS, |(width, _)| width.0.into());
    text(diagnosis, columns.clamp(COLUMNS_MIN, COLUMNS_MAX))
}

fn text(diagnosis: &Diagnosis, columns: usize) -> String {
    let message = wrapped(&diagnosis.message, "error: ".len(), columns);
    let mut group = Group::with_title(Level::ERROR.primary_title(&message));
    if let (Some(source), Some(span)) = (&diagnosis.source_text, &diagnosis.span) {
        let at = AnnotationKind::Primary.span(span.clone());
        group = group.element(Snippet::source(&source.text).path(&source.name).annotation(at));
    }
    let renderer = Renderer::styled().term_width(columns);
    let mut shown = renderer.render(&[group]) + "\n";
    if let Some(help) = &diagnosis.help {
        let help = wrapped(help, "help: ".len(), columns);
        shown += &renderer.render(&[Group::with_title(Level::HELP.primary_title(&help))]);
        shown.push('\n');
    }
    shown
}

/// The text in lines of so many columns, the first of which begins with a label.
fn wrapped(text: &str, label_columns: usize, columns: usize) -> String {
    let width = columns - label_columns;
    textwrap::wrap(text, textwrap::Options::new(width).break_words(false)).join("\n")
}
