//! Arguments of Python's functions, from the options of a command: name, type, default, and help as Python has it.

use super::functions::{Function, Own};
use clap::{Arg, ArgAction, Command};

/// An argument of a function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameter {
    pub name: String,
    /// Its type, and its default if it has one: `int | None = None`.
    pub kind: String,
    pub help: String,
    /// Whether it may be given by its position.
    pub is_positional: bool,
    /// Whether there may be any number of it.
    pub is_variadic: bool,
}

/// What an option takes, by the name that its help has for the value.
const TYPES: &[(&str, &str)] = &[
    ("ARRAY", "Path"),
    ("DEVICE", "Path"),
    ("DIR", "Path"),
    ("EXPERIMENT", "Path"),
    ("FILE", "Path"),
    ("FILE.html", "Path"),
    ("FILE.parquet", "Path"),
    ("FILE.tex", "Path"),
    ("JOB", "Path"),
    ("OUTPUT", "Path"),
    ("PAPER", "Path"),
    ("RESULT", "Path"),
    ("SCHEME", "Path"),
    ("WORKLOAD", "Path"),
    ("ARGS", "str"),
    ("A,B,...", "str"),
    ("FIGURE", "str"),
    ("FORMAT", "str"),
    ("NAME < VALUE", "str"),
    ("NAME,...", "str"),
    ("SCHEME,...", "str"),
    ("TABLE.KEY=VALUE", "str"),
    ("TEXT", "str"),
    ("TIME", "str"),
    ("WORD", "str"),
    ("workload.KEY=VALUE", "str"),
    ("N", "int"),
    ("SHARE", "float"),
    ("REQUESTS|TIME|steady", "int | str"),
];

/// The arguments of a function, in their order: those without a name, the scheme, those of all runs, those of this
/// command alone.
pub fn parameters(function: &Function, program: &Command) -> Vec<Parameter> {
    let command = found(program, function.command);
    let shared = found(program, &["compare"]);
    let is_shared = |name: &str| shared.get_arguments().any(|option| named(option) == name);
    let is_left_out = |name: &str| {
        function.without.iter().any(|(option, _)| *option == name)
            || (!function.only.is_empty() && !function.only.contains(&name))
    };
    let mut all: Vec<Parameter> = Vec::new();
    let options: Vec<&Arg> =
        command.get_arguments().filter(|option| !["help", "version"].contains(&&*named(option))).collect();
    for option in &options {
        let name = named(option);
        if !is_left_out(&name) {
            let own = function.own.iter().find(|own| own.name == name);
            all.push(parameter(option, own));
        }
    }
    let rank = |parameter: &Parameter| {
        let is_first = parameter.name.starts_with("scheme");
        let is_last = function.command == ["run"] && !is_shared(&parameter.name);
        match parameter {
            Parameter { is_positional: true, .. } => 0,
            _ if is_first => 1,
            _ => {
                if is_last {
                    3
                } else {
                    2
                }
            }
        }
    };
    all.sort_by_key(rank);
    for own in function.own {
        if options.iter().any(|option| named(option) == own.name) {
            continue;
        }
        let added = Parameter {
            name: own.name.to_owned(),
            kind: own.kind.to_owned(),
            help: own.help.to_owned(),
            is_positional: false,
            is_variadic: false,
        };
        let at = all.iter().position(|parameter| parameter.name == own.after).map_or(all.len(), |at| at + 1);
        all.insert(at, added);
    }
    for (option, _) in function.without {
        assert!(options.iter().any(|known| named(known) == *option), "{}: there is no option {option}", function.name);
    }
    all
}

/// A command of the program.
pub fn found<'a>(program: &'a Command, words: &[&str]) -> &'a Command {
    words.iter().fold(program, |command, word| {
        command.find_subcommand(word).unwrap_or_else(|| panic!("there is no command `{}`", words.join(" ")))
    })
}

/// The name of an option in Python.
pub fn named(option: &Arg) -> String {
    option.get_long().unwrap_or(option.get_id().as_str()).replace('-', "_")
}

fn parameter(option: &Arg, own: Option<&Own>) -> Parameter {
    let is_variadic = option.is_positional() && matches!(option.get_action(), ArgAction::Append);
    let kind = own.map(|own| own.kind).filter(|kind| !kind.is_empty());
    let help = own.map(|own| own.help).filter(|help| !help.is_empty());
    let mut help =
        help.map_or_else(|| in_python(&option.get_help().map(ToString::to_string).unwrap_or_default()), str::to_owned);
    if takes_choice(option) {
        let values = option.get_possible_values();
        let values: Vec<String> = values.iter().map(|value| format!("``\"{}\"``", value.get_name())).collect();
        help = format!("{help} Values: {}.", values.join(", "));
    }
    if let Some(more) = own.map(|own| own.more).filter(|more| !more.is_empty()) {
        help = format!("{help} {more}");
    }
    Parameter {
        name: named(option),
        kind: kind.map_or_else(|| kind_of(option), str::to_owned),
        help,
        is_positional: option.is_positional(),
        is_variadic,
    }
}

/// Whether an option takes one of several words.
fn takes_choice(option: &Arg) -> bool {
    !matches!(option.get_action(), ArgAction::SetTrue) && !option.get_possible_values().is_empty()
}

/// The type and the default of an option.
fn kind_of(option: &Arg) -> String {
    if matches!(option.get_action(), ArgAction::SetTrue) {
        return "bool = False".to_owned();
    }
    let name = option.get_value_names().and_then(|names| names.first()).map(|name| name.as_str()).unwrap_or_default();
    let taken = match takes_choice(option) {
        // The requests around which something is drawn.
        true => Some("Around"),
        false => TYPES.iter().find(|(value, _)| *value == name).map(|(_, taken)| *taken),
    };
    let taken = taken.unwrap_or_else(|| panic!("`{}` takes <{name}>: enter its type in TYPES", named(option)));
    match option.get_action() {
        ArgAction::Append if option.is_positional() => taken.to_owned(),
        ArgAction::Append => format!("{taken} | Sequence[{taken}] = ()"),
        _ if option.is_required_set() => taken.to_owned(),
        _ => format!("{taken} | None = None"),
    }
}

/// What the help of an option says of a command line alone.
const OF_COMMAND_LINES: &[&str] = &[
    " (`-`: to standard output, instead of the summary)",
    " (`-`: to standard output, instead of the table)",
    " (`-`: text on standard output, instead of the summary)",
    " (`-`: to standard output)",
    " (repeatable)",
    " (repeatable: all must hold)",
];

/// The help of an option in the words of Python, as a sentence: options are arguments, and code has two backquotes.
pub fn in_python(help: &str) -> String {
    let help = OF_COMMAND_LINES.iter().fold(help.to_owned(), |help, part| help.replace(part, ""));
    let help = help.replace("needs the Python package", "needs matplotlib");
    let mut text = String::new();
    for (at, part) in help.split('`').enumerate() {
        match at % 2 {
            0 => text += &arguments(part),
            _ => text += &format!("``{}``", code(part)),
        }
    }
    if text.ends_with('.') { text } else { text + "." }
}

/// A text in which options are arguments: `with --worlds` is "with ``worlds``".
fn arguments(text: &str) -> String {
    let mut parts = text.split("--");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(part.len());
        // Of `'--name=a --rw=randwrite'`, which is a command line of fio.
        match part[end..].starts_with('=') {
            true => all += &format!("--{part}"),
            false => all += &format!("``{}``{}", part[..end].replace('-', "_"), &part[end..]),
        }
    }
    all
}

/// Code of a command line as that of Python: `--set a.b=c` is `set={"a.b": "c"}`, `run --out` is `run(out=...)`.
fn code(text: &str) -> String {
    if let Some(set) = text.strip_prefix("--set ") {
        let (key, value) = set.split_once('=').unwrap_or((set, ""));
        let value = if value.parse::<f64>().is_ok() { value.to_owned() } else { format!("\"{value}\"") };
        return format!("set={{\"{key}\": {value}}}");
    }
    match text.split_once("--") {
        Some(("", option)) => option.replace('-', "_"),
        Some((command, option)) => format!("{}({}=...)", command.trim(), option.replace('-', "_")),
        None => text.to_owned(),
    }
}
