//! The text of a fio job file, or of fio's command line: sections, options, their places and variables.

use crate::failure::Failure;
use copyback::config::layers::{LayerError, Origin, Text, TextSpan};
use std::sync::Arc;

/// An option of a section.
#[derive(Clone, Debug)]
pub struct Opt {
    /// Its name.
    pub key: String,
    /// Its value with variables replaced; `None` for a name alone.
    pub value: Option<String>,
    /// Its place.
    pub place: TextSpan,
    /// The error about an undefined variable in its value, and the help.
    pub missing: Option<(String, &'static str)>,
}

impl Opt {
    /// What is wrong with it, and what helps.
    pub fn wrong(&self, message: impl AsRef<str>, help: impl Into<String>) -> Failure {
        let shown = self.value.as_ref().map_or(self.key.clone(), |value| format!("{}={value}", self.key));
        let error = LayerError::new(format!("`{shown}`: {}", message.as_ref())).with_help(help);
        error.at(Some(self.place.clone())).into()
    }

    /// Whether it is on fio's command line, where options have dashes.
    pub fn is_of_command_line(&self) -> bool {
        self.place.text.name == super::arguments::SHOWN
    }

    /// Its value.
    pub fn text(&self) -> Result<&str, Failure> {
        if let Some((message, help)) = &self.missing {
            return Err(self.wrong(message, *help));
        }
        let missing = || self.wrong("it needs a value", format!("write {}=VALUE", self.key));
        self.value.as_deref().filter(|value| !value.is_empty()).ok_or_else(missing)
    }
}

/// A section: a job, or what all jobs below it have.
#[derive(Clone, Debug)]
pub struct Section {
    /// The text between the brackets.
    pub name: String,
    /// Its place.
    pub place: TextSpan,
    /// Its options, in order.
    pub options: Vec<Opt>,
}

/// The name of the section whose options apply to all jobs below it.
pub const GLOBAL: &str = "global";

/// Parses a job file by fio's rules: names are case-sensitive, `;` and `#` begin comments, blanks around `=` do not
/// count.
pub fn sections(name: &str, text: &str) -> Result<Vec<Section>, Failure> {
    let whole = Arc::new(Text::new(name, text).of(Origin::Fio));
    let mut sections: Vec<Section> = Vec::new();
    let mut begins_at = 0;
    for line in text.split_inclusive('\n') {
        let uncommented = line.split([';', '#']).next().unwrap_or_default();
        let trimmed = uncommented.trim();
        let start = begins_at + (uncommented.len() - uncommented.trim_start().len());
        let place = TextSpan { text: whole.clone(), span: start..start + trimmed.len() };
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
        let Some(section) = sections.last_mut() else {
            return Err(wrong("an option precedes all sections", "write [global], or a job's name, above it"));
        };
        let (key, value) = match trimmed.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (trimmed, None),
        };
        let has_blank = trimmed.split_once('=').is_some_and(|(_, value)| value.starts_with([' ', '\t']));
        if has_blank && ["rw", "readwrite"].contains(&key) {
            return Err(wrong("fio takes no blank before this value", "write rw=VALUE"));
        }
        section.options.push(option(key, value, place));
    }
    Ok(sections)
}

/// An option, with the variables in its value replaced by their values.
pub(super) fn option(key: &str, value: Option<&str>, place: TextSpan) -> Opt {
    let (mut value, mut missing) = (value.map(ToOwned::to_owned), None);
    if let Some(text) = &mut value {
        *text = text.replace("$pagesize", PAGE_BYTES);
        if let Some(word) = ["$ncpus", "$mb_memory"].into_iter().find(|word| text.contains(word)) {
            let message = format!("`{word}` depends on the machine that fio runs on");
            missing = Some((message, "write the number itself, so that results do not depend on this machine"));
        }
        while let Some((name, range)) = variable(text) {
            match std::env::var(&name) {
                Ok(own) if !own.is_empty() && !own.contains("${") => text.replace_range(range, &own),
                _ => {
                    let message = format!("the environment has no variable `{name}`");
                    missing = Some((message, "set it before the command: NAME=VALUE copyback run ..."));
                    break;
                }
            }
        }
    }
    Opt { key: key.to_owned(), value, place, missing }
}

/// What `$pagesize` is: the size of most machines' pages.
const PAGE_BYTES: &str = "4096";

/// The first variable of the environment that a text names, and its place.
fn variable(text: &str) -> Option<(String, std::ops::Range<usize>)> {
    let start = text.find("${")?;
    let end = start + text[start..].find('}')?;
    Some((text[start + 2..end].to_owned(), start..end + 1))
}

/// Notes on the values of variables in options: a result depends on them.
pub fn notes(sections: &[Section]) -> Vec<String> {
    let mut notes = Vec::new();
    for opt in sections.iter().flat_map(|section| &section.options).filter(|opt| opt.missing.is_none()) {
        let written = &opt.place.text.text[opt.place.span.clone()];
        if written.contains("${") || written.contains("$pagesize") {
            let note = format!("`{}` is {}={}", written.trim(), opt.key, opt.value.as_deref().unwrap_or_default());
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}
