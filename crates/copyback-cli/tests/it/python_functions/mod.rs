//! Are the functions of the Python package, and the table of their arguments in docs/python.md, those that follow from
//! the program's options?
//!
//! `UPDATE_DOCS=1` writes both. The options (`src/args.rs`) are the one description of names, defaults and help; the
//! table in `functions.rs` has what differs in Python. The functions pass their arguments to
//! `python/copyback/_calls.py`.

mod functions;
mod parameters;

use clap::Command;
use functions::{FUNCTIONS, Function};
use parameters::{Parameter, found, in_python, named, parameters};
use std::collections::BTreeMap;
use std::path::PathBuf;

const COLUMNS: usize = 120;

const HEAD: &str = r#""""The program's commands as functions, with the program's names and settings.

A test writes this file from the program's options. To change it, change `crates/copyback-cli/src/args.rs` or
`crates/copyback-cli/tests/it/python_functions`, and run
`UPDATE_DOCS=1 cargo test --package copyback-cli --test it python_functions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback import _calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback._calls import Around, Keep
    from copyback._plugins import PolicyLike, Scheme
    from copyback._results import Document, Runs, Sweep
    from copyback._words import Path, Setting
"#;

/// Lines of at most so many columns, each indented.
fn wrapped(text: &str, indent: usize) -> String {
    let indent = " ".repeat(indent);
    let options = textwrap::Options::new(COLUMNS)
        .initial_indent(&indent)
        .subsequent_indent(&indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(text, options) + "\n"
}

/// The summary of a function, in a line.
fn summary(function: &Function, program: &Command) -> String {
    let about =
        || in_python(&found(program, function.command).get_about().map(ToString::to_string).unwrap_or_default());
    function.summary.map_or_else(about, str::to_owned)
}

/// A function as Python has it, indented by so many columns.
fn written(function: &Function, program: &Command, indent: usize) -> String {
    let parameters = parameters(function, program);
    let name = function.name.rsplit('.').next().unwrap_or_default();
    let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + 4));
    let mut text = format!("{outer}def {name}(\n");
    let is_variadic = parameters.iter().any(|parameter| parameter.is_variadic);
    let mut is_by_name = is_variadic;
    for Parameter { name, kind, is_positional, is_variadic, .. } in &parameters {
        if !is_positional && !is_by_name {
            text += &format!("{inner}*,\n");
            is_by_name = true;
        }
        let star = if *is_variadic { "*" } else { "" };
        text += &format!("{inner}{star}{name}: {kind},\n");
    }
    text += &format!("{outer}) -> {}:\n", function.result);
    let summary = format!("{inner}\"\"\"{}\n", summary(function, program));
    assert!(summary.len() <= COLUMNS, "{}: the summary is no line: {summary}", function.name);
    text += &format!("{summary}\n");
    if !function.more.is_empty() {
        text += &format!("{}\n", wrapped(function.more, indent + 4));
    }
    text += &format!("{inner}Parameters\n{inner}----------\n");
    for Parameter { name, help, .. } in &parameters {
        text += &format!("{inner}{name}\n{}", wrapped(help, indent + 8));
    }
    text += &format!("\n{inner}Raises\n{inner}------\n{inner}InputError, RunError\n");
    text += &format!("{inner}    With the place, the value and the remedy.\n\n{inner}\"\"\"\n");
    text + &format!("{inner}return _calls.{name}(**locals())\n")
}

/// The module of all functions.
fn module(program: &Command) -> String {
    let (methods, functions): (Vec<_>, Vec<_>) = FUNCTIONS.iter().partition(|function| function.name.contains('.'));
    let mut text = HEAD.to_owned();
    for function in functions {
        text += &format!("\n\n{}", written(function, program, 0));
    }
    text += "\n\nclass trace:  # noqa: N801\n    \"\"\"Describe or convert a workload: ``trace.info``, ``trace.convert``.\"\"\"\n";
    for function in methods {
        text += &format!("\n    @staticmethod\n{}", written(function, program, 4));
    }
    text
}

/// A text of Python's documentation in a cell of Markdown.
fn cell(text: &str) -> String {
    text.replace("``", "`").replace('|', "\\|")
}

/// The type of an argument in words: `int`, or `str` or `Path`.
fn kind_in_words(kind: &str) -> String {
    let kind = kind.split(" = ").next().unwrap_or_default();
    // A bar within brackets is part of one type.
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for word in kind.split(' ') {
        if word == "|" && depth == 0 {
            parts.push(String::new());
            continue;
        }
        depth += word.matches('[').count() as i32 - word.matches(']').count() as i32;
        let part = parts.last_mut().expect("there is one");
        part.push_str(if part.is_empty() { "" } else { " " });
        part.push_str(word);
    }
    let parts = parts.iter().filter(|part| *part != "None").map(|part| format!("`{}`", part.replace('|', "\\|")));
    parts.collect::<Vec<_>>().join(" or ")
}

/// The tables of arguments for docs/python.md.
fn tables(program: &Command) -> String {
    let mut rows: Vec<(Parameter, Vec<&str>)> = Vec::new();
    for function in FUNCTIONS {
        for parameter in parameters(function, program) {
            match rows.iter_mut().find(|(known, _)| (&known.name, &known.help) == (&parameter.name, &parameter.help)) {
                Some((_, functions)) => functions.push(function.name),
                None => rows.push((parameter, vec![function.name])),
            }
        }
    }
    rows.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    let mut text = "| argument | type | of | what it is |\n|---|---|---|---|\n".to_owned();
    for (Parameter { name, kind, help, is_variadic, .. }, functions) in &rows {
        let star = if *is_variadic { "*" } else { "" };
        let (kind, functions) = (kind_in_words(kind), functions.join(", "));
        text += &format!("| `{star}{name}` | {kind} | {functions} | {} |\n", cell(help));
    }
    text += "\nOptions of the program that are no arguments:\n\n| option | command | in Python |\n|---|---|---|\n";
    let mut others: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for function in FUNCTIONS {
        for (option, instead) in function.without {
            let option = format!("--{}", option.replace('_', "-"));
            others.entry((option, instead)).or_default().push(function.command.join(" "));
        }
    }
    for ((option, instead), commands) in others {
        text += &format!("| `{option}` | {} | {} |\n", commands.join(", "), cell(instead));
    }
    text
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what it should have, or writes it.
fn hold(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, expected).expect("the file can be written");
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == expected, "{path} is not what follows from the program's options (UPDATE_DOCS=1 writes it)");
}

#[test]
fn the_functions_follow_from_the_options() {
    hold("python/copyback/_commands.py", &module(&copyback_cli::api::command_line()));
}

#[test]
fn the_page_has_every_argument() {
    let page = std::fs::read_to_string(root().join("docs/python.md")).expect("the page is there");
    let (before, rest) = page.split_once("<!-- arguments -->\n").expect("the page has a place for arguments");
    let (_, behind) = rest.split_once("<!-- /arguments -->").expect("the place ends");
    let tables = tables(&copyback_cli::api::command_line());
    hold("docs/python.md", &format!("{before}<!-- arguments -->\n{tables}<!-- /arguments -->{behind}"));
}

/// An option that a function neither has nor leaves out with a reason cannot exist: a new option is an argument.
#[test]
fn a_new_option_is_an_argument() {
    let program = copyback_cli::api::command_line();
    let new = clap::Arg::new("fresh_option").long("fresh-option").value_name("N").help("A `new` option of --seed");
    let program = program.mut_subcommand("compare", |command| command.arg(new));
    let compare = FUNCTIONS.iter().find(|function| function.name == "compare").expect("it is there");
    let text = written(compare, &program, 0);
    let says = "    fresh_option\n        A ``new`` option of ``seed``.\n";
    assert!(text.contains("    fresh_option: int | None = None,\n") && text.contains(says), "{text}");
    let names: Vec<String> = found(&program, &["compare"]).get_arguments().map(named).collect();
    assert!(names.contains(&"fresh_option".to_owned()));
}

#[test]
fn help_is_in_the_words_of_python() {
    for (help, words) in [
        ("Write the results as JSON (`-`: to standard output, instead of the summary)", "Write the results as JSON."),
        ("Set `--set workload.layout=compact`", "Set ``set={\"workload.layout\": \"compact\"}``."),
        ("A folder of `run --out`, see --out-requests.", "A folder of ``run(out=...)``, see ``out_requests``."),
        ("for example '--name=a --rw=randwrite'", "for example '--name=a --rw=randwrite'."),
    ] {
        assert_eq!(in_python(help), words);
    }
}
