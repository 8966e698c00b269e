//! Each module uses only earlier modules, and the engine names no scheme. Each part of a drive owns its state. Lines of
//! comments are short.
//!
//! The order of the modules is defined here and nowhere else. Code that is compiled only for tests may use any module.

use crate::support::sources::{Line, files_below};
use copyback::config::presets::SCHEMES;
use copyback::run::config::AXES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders of `src`; docs/architecture.md describes them.
const MODULES: &[&str] = &[
    "sim",
    "config",
    "flash",
    "redundancy",
    "ftl",
    "observe",
    "tasks",
    "dispatch",
    "buffer",
    "host",
    "ssd",
    "array",
    "run",
    "scene",
];

/// Remaining uses of a later module: the module, the later one, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// The only file that may name schemes.
const PRESETS: &str = "config/presets.rs";

/// The folder of the crate that is looked at; these tests are a package of their own, two folders below it.
const ENGINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The files of the sources below this folder of the crate.
fn sources(folder: &str) -> Vec<PathBuf> {
    files_below(&Path::new(ENGINE).join(folder))
}

/// Every line of `src` without comments and without what is compiled for tests only.
fn lines() -> Vec<Line> {
    crate::support::sources::lines(&Path::new(ENGINE).join("src"))
}

fn word_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names that a line takes from the root of the crate: behind `crate::`, and behind as many `super::` as lead
/// there.
fn taken_from_root(line: &Line) -> Vec<String> {
    let depth = line.file.matches('/').count() + usize::from(!line.file.ends_with("/mod.rs"));
    let mut names = Vec::new();
    for root in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in line.text.match_indices(&root) {
            let rest = &line.text[at + root.len()..];
            match rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
                Some((list, _)) => names.extend(list.split(',').map(|name| word_at(name.trim()).to_owned())),
                None => names.push(word_at(rest).to_owned()),
            }
        }
    }
    names
}

fn place_of(module: &str) -> Option<usize> {
    MODULES.iter().position(|known| *known == module)
}

#[test]
fn a_module_of_the_simulator_uses_only_modules_before_it() {
    let (mut wrong, mut excepted) = (Vec::new(), BTreeSet::new());
    for line in lines() {
        let Some((module, _)) = line.file.split_once('/') else { continue };
        let own = place_of(module).unwrap_or_else(|| panic!("src/{module} is not in the order: add it to MODULES"));
        for other in taken_from_root(&line) {
            if place_of(&other).is_none_or(|other| other <= own) {
                continue;
            }
            match EXCEPTIONS.iter().find(|(from, to, _)| (*from, *to) == (module, other.as_str())) {
                Some(exception) => _ = excepted.insert(exception),
                None => wrong.push(format!(
                    "src/{}:{}: `{module}` may not use `{other}`: {}",
                    line.file,
                    line.number,
                    line.text.trim()
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused: Vec<_> = EXCEPTIONS.iter().filter(|exception| !excepted.contains(exception)).collect();
    assert!(unused.is_empty(), "these exceptions are needed no more: {unused:?}");
}

/// Most fields of a struct of `ssd`.
const FIELDS_MAX: usize = 12;

/// Structs of `ssd` with more fields, or with fields that are visible beyond their module and are no parts. Each entry
/// has the struct, the field (empty for all of its fields), and the reason.
const OPEN_STRUCTS: &[(&str, &str, &str)] = &[
    ("Settings", "", "constants of the configuration, written before the run"),
    ("ComposeSettings", "", "the same"),
    ("CollectionSettings", "", "the same"),
];

/// A struct with named fields.
struct Struct {
    file: String,
    name: String,
    /// It can be copied: a value, which belongs to whatever holds it.
    is_value: bool,
    /// It refers to what others own.
    is_view: bool,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    of_type: String,
    is_visible: bool,
}

/// The structs with named fields, and the names of enums, in all code that is not for tests only.
fn structs() -> (Vec<Struct>, BTreeSet<String>) {
    let (mut structs, mut enums): (Vec<Struct>, _) = (Vec::new(), BTreeSet::new());
    let (mut is_value, mut open): (bool, Option<String>) = (false, None);
    for line in lines() {
        let (bare, indent) = (line.text.trim_start(), line.text.len() - line.text.trim_start().len());
        if let Some(end) = &open {
            if line.text == *end {
                open = None;
            } else if let Some((before, of_type)) = bare.split_once(": ") {
                let name = before.rsplit(' ').next().expect("a field has a name").to_owned();
                let of_type = of_type.trim_end_matches(',').to_owned();
                let field = Field { name, of_type, is_visible: before.starts_with("pub") };
                structs.last_mut().expect("it was begun").fields.push(field);
            }
            continue;
        }
        let item = bare.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map_or(bare, |(_, item)| item);
        let item = item.strip_prefix("pub ").unwrap_or(item);
        if bare.starts_with("#[derive(") {
            is_value = bare.contains("Clone");
        } else if let Some(rest) = item.strip_prefix("enum ") {
            enums.insert(word_at(rest).to_owned());
        } else if let Some(rest) = item.strip_prefix("struct ") {
            let (name, is_view) = (word_at(rest).to_owned(), rest.contains("<'"));
            structs.push(Struct { file: line.file.clone(), name, is_value, is_view, fields: Vec::new() });
            if rest.ends_with('{') {
                open = Some(format!("{}}}", " ".repeat(indent)));
            }
        }
        if !bare.starts_with("#[") {
            is_value = false;
        }
    }
    (structs, enums)
}

/// A struct of `ssd` has few fields, all private, which only its own module writes. A field that is visible beyond the
/// module is a part: a struct with the same property, or one of another module. Values belong to the struct that holds
/// them, and views own nothing: their fields may be public.
#[test]
fn state_of_a_drive_belongs_to_one_module() {
    let (structs, enums) = structs();
    let is_closed = |s: &Struct| s.fields.iter().all(|field| !field.is_visible);
    let of_ssd: Vec<_> = structs.iter().filter(|s| s.file.starts_with("ssd/")).collect();
    assert!(of_ssd.len() > 40, "only {} structs were found", of_ssd.len());
    let is_bundle = |s: &Struct| !s.is_value && !s.is_view;
    let is_part = |of_type: &str| {
        let name = of_type.trim_start_matches("Option<").trim_start_matches("Box<");
        let name = word_at(name);
        let mut found = structs.iter().filter(|s| s.name == name).peekable();
        let owns_itself = |s: &Struct| !s.file.starts_with("ssd/") || is_closed(s) || is_bundle(s);
        let is_struct = found.peek().is_some() && found.all(owns_itself);
        is_struct || enums.contains(name)
    };
    let (mut wrong, mut excepted) = (Vec::new(), BTreeSet::<&(&str, &str, &str)>::new());
    for s in of_ssd {
        let mut is_excepted = |field: &str| {
            let exception =
                OPEN_STRUCTS.iter().find(|(name, of, _)| *name == s.name && (of.is_empty() || *of == field));
            excepted.extend(exception);
            exception.is_some()
        };
        if s.fields.len() > FIELDS_MAX && !is_excepted("") {
            wrong.push(format!("src/{}: {} has {} fields, at most {FIELDS_MAX}", s.file, s.name, s.fields.len()));
        }
        for field in s.fields.iter().filter(|field| field.is_visible && !s.is_value && !s.is_view) {
            if !is_part(&field.of_type) && !is_excepted(&field.name) {
                wrong.push(format!(
                    "src/{}: `{}.{}: {}` is visible beyond its module: make it private, and give it methods",
                    s.file, s.name, field.name, field.of_type
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused: Vec<_> = OPEN_STRUCTS.iter().filter(|exception| !excepted.contains(exception)).collect();
    assert!(unused.is_empty(), "these exceptions are needed no more: {unused:?}");
}

/// The formatter keeps code within 120 columns, but does not format comments.
#[test]
fn no_line_of_a_comment_is_too_long() {
    let crates =
        ["../copyback-lab", "../copyback-report", "../copyback-cli", "../copyback-workload", "../copyback-theory"];
    for path in ["src", "tests"].iter().chain(&crates).flat_map(|folder| sources(folder)) {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        for (at, line) in text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//")) {
            let columns = line.chars().count();
            assert!(columns <= 120 || line.contains("http"), "{}:{} has {columns} columns", path.display(), at + 1);
        }
    }
}

/// Modules in which nothing depends on simulated time.
const WITHOUT_CLOCK: &[&str] = &["redundancy", "ftl", "buffer", "host"];

#[test]
fn modules_without_a_clock_know_no_events() {
    let has_clock = |line: &Line| ["EventQueue", "sim::queue", "now_ns"].iter().any(|name| line.text.contains(name));
    let is_of = |line: &Line| line.file.split_once('/').is_some_and(|(module, _)| WITHOUT_CLOCK.contains(&module));
    for line in lines().iter().filter(|line| is_of(line)) {
        assert!(!has_clock(line), "src/{}:{}: depends on time: {}", line.file, line.number, line.text.trim());
    }
}

#[test]
fn every_module_is_a_folder() {
    let src = Path::new(ENGINE).join("src");
    for module in MODULES {
        assert!(src.join(module).join("mod.rs").is_file(), "src/{module} is no folder");
    }
}

/// Schemes with the name of a policy are in the registries.
#[test]
fn no_scheme_is_named_outside_the_presets() {
    let is_policy = |name: &str| AXES.iter().any(|axis| axis.choices.iter().any(|choice| choice.name == name));
    let names: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.name).filter(|name| !is_policy(name)).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut wrong = Vec::new();
    for line in lines().iter().filter(|line| line.file != PRESETS) {
        // The text between quotation marks; escaped marks end no text.
        for text in line.text.replace("\\\"", "'").split('"').skip(1).step_by(2) {
            if let Some(name) = text.split(|c| !is_part(c)).find(|word| names.contains(word)) {
                wrong.push(format!("src/{}:{}: names the scheme `{name}`", line.file, line.number));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
