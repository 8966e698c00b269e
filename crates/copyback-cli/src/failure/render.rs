//! A diagnosis as a person reads it: the mistake, the text at fault with its place, the remedy.

use super::Diagnosis;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Width if standard error is not a terminal.
const COLUMNS_DEFAULT: usize = 80;
/// Least width, for very narrow terminals.
const COLUMNS_MIN: usize = 40;
/// Greatest width that is easy to read.
const COLUMNS_MAX: usize = 100;

/// The diagnosis with colours; the caller prints it to a stream that drops them if they are not wanted.
pub fn render(diagnosis: &Diagnosis) -> String {
    let columns =
        terminal_size::terminal_size_of(std::io::stderr()).map_or(COLUMNS_DEFAULT, |(width, _)| width.0.into());
    format(diagnosis, columns.clamp(COLUMNS_MIN, COLUMNS_MAX))
}

fn format(diagnosis: &Diagnosis, columns: usize) -> String {
    let message = wrap(&diagnosis.message, "error: ".len(), columns);
    let mut group = Group::with_title(Level::ERROR.primary_title(&message));
    if let (Some(source), Some(span)) = (&diagnosis.source_text, &diagnosis.span) {
        let at = AnnotationKind::Primary.span(span.clone());
        group = group.element(Snippet::source(&source.text).path(&source.name).annotation(at));
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
    textwrap::wrap(text, textwrap::Options::new(width).break_words(false)).join("\n")
}
