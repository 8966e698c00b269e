//! The page of a scheme, as in `docs/schemes`: what it does, and how it differs from the baseline.
//!
//! A page is made from the preset's file, from the pages of the policies that it chooses, and from the scene, played
//! with it and with the baseline. A comment of the preset's file describes the drawing.

use crate::drawings::timeline::svg;
use copyback::config::presets::{Preset, SCHEMES};
use copyback::config::{Axis, Choice};
use copyback::flash::command::{FlashOp, Source};
use copyback::run::config::AXES;
use copyback::scene::Played;
use copyback_lab::Failure;
use copyback_lab::files;
use copyback_lab::format;
use copyback_lab::outputs;
use copyback_lab::plan::on_default_device;
use std::path::Path;

pub mod scene;

/// Columns of a drawing in a page, beside the names of its rows.
const COLUMNS: usize = 108;
const GENERATED_START: &str = "<!-- Written by `copyback schemes --pages";
const GENERATED: &str = "<!-- Written by `copyback schemes --pages docs/schemes`: change the presets, the comments of the \
                         policies or the program, and run `UPDATE_DOCS=1 cargo test -p copyback-cli --test it scheme_pages`. -->\n";

/// Writes the page of every scheme, its drawing and the index into a folder.
pub fn write_all(folder: &Path) -> Result<(), Failure> {
    outputs::check_folder(folder)?;
    let names = SCHEMES.iter().map(|scheme| scheme.name).chain(["README"]);
    names.clone().try_for_each(|name| refuse_foreign(folder, name))?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::input(format!("--pages {}: {}", folder.display(), files::reason(&error))))?;
    let write = |name: &str, text: &str| outputs::write_text(&folder.join(name), text);
    for scheme in SCHEMES {
        write(&format!("{}.md", scheme.name), &page(scheme)?)?;
        if drawing_description(scheme).is_some() {
            write(&format!("{}.svg", scheme.name), &svg::draw(&scene::timeline(&scene::play(scheme)?)))?;
        }
    }
    write("README.md", &index()?).map(drop)
}

/// Refuses to write over a page, or the drawing beside it, that this command did not write: `--pages .` would replace a
/// project's own README.
fn refuse_foreign(folder: &Path, name: &str) -> Result<(), Failure> {
    let (page, drawing) = (folder.join(format!("{name}.md")), folder.join(format!("{name}.svg")));
    if folder.is_dir() {
        [&page, &drawing].into_iter().try_for_each(|path| outputs::check_companion(path))?;
    }
    let Some(foreign) = [&page, &drawing].into_iter().find(|path| path.is_file()) else { return Ok(()) };
    if foreign == &page && files::read_text("page", &page).is_ok_and(|text| text.starts_with(GENERATED_START)) {
        return Ok(());
    }
    Err(Failure::input(format!("--pages would replace {}, which it did not write", foreign.display()))
        .with_help("name an empty or a new folder"))
}

/// A comment of a preset's file that begins with a word, as one line.
fn comment(scheme: &Preset, word: &str) -> Option<String> {
    let mut lines = scheme.text.lines().skip_while(|line| !line.starts_with(&format!("# {word}: ")));
    let first = lines.next()?.strip_prefix(&format!("# {word}: "))?.to_owned();
    let rest = lines.map_while(|line| line.strip_prefix("# "));
    Some(rest.fold(first, |text, line| format!("{text} {line}")))
}

/// The description of a scheme's drawing; `None` if it is not drawn.
pub fn drawing_description(scheme: &Preset) -> Option<String> {
    comment(scheme, "To see")
}

/// Text in lines of at most 120 characters.
fn paragraph(text: &str) -> String {
    format::wrapped(text, 120).join("\n") + "\n"
}

/// A text as a sentence begins. Names of schemes stay as they are.
fn capital(text: &str) -> String {
    let first = text.split([' ', ',', ';']).next().unwrap_or_default();
    if SCHEMES.iter().any(|scheme| scheme.name == first) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn page(scheme: &Preset) -> Result<String, Failure> {
    let about = |key| scheme.about(key).unwrap_or_default();
    let mut text = format!("{GENERATED}\n# {}\n\n", scheme.name);
    text += &paragraph(&format!("{}.", capital(&about("description"))));
    text += &format!("\n{}\n", paragraph(&format!("Source: {}.", about("source"))));
    text += &drawing_section(scheme)?;
    text += &axes_section(scheme)?;
    Ok(text + &format!("\n## Its file\n\n```toml\n{}```\n", without_notes(scheme.text)))
}

/// A preset's file without the lines on its drawing.
fn without_notes(text: &str) -> String {
    let mut is_note = false;
    let kept = text.lines().filter(|line| {
        is_note =
            line.starts_with('#') && (is_note || line.starts_with("# To see: ") || line.starts_with("# Not drawn: "));
        !is_note
    });
    kept.map(|line| format!("{line}\n")).collect()
}

// ---- the scene ------------------------------------------------------------------------------------------------------

fn drawing_section(scheme: &Preset) -> Result<String, Failure> {
    let title = "## Use of the die over time\n\n";
    let Some(see) = drawing_description(scheme) else {
        let why = comment(scheme, "Not drawn").unwrap_or_default();
        return Ok(format!("{title}{}\n", paragraph(&format!("Not drawn: {}", with_links(&why)))));
    };
    let played = scene::play(scheme)?;
    let intro = "In [the scene](README.md#the-scene) five requests come for a die of two planes while a block of plane 0 is \
                 collected.";
    let drawn = scene::drawing(&played, COLUMNS);
    let drawn = drawn.split_once('\n').map_or("", |(_, rest)| rest.trim_start_matches('\n'));
    let mut text = format!("{title}{}\n", paragraph(&format!("{intro} {}", capital(&with_links(&see)))));
    text += &format!("```text\n{drawn}```\n\n![The same as a picture]({}.svg)\n\n", scheme.name);
    Ok(text + &response_table(scheme, &played)? + "\n")
}

/// Names of schemes in backquotes lead to their pages.
fn with_links(text: &str) -> String {
    SCHEMES.iter().fold(text.to_owned(), |text, scheme| {
        let name = scheme.name;
        text.replace(&format!("`{name}`"), &format!("[`{name}`]({name}.md)"))
    })
}

/// When the collection was over.
fn erased_ns(played: &Played) -> Option<u64> {
    let of_gc = |op: FlashOp, source: Source| op == FlashOp::Erase && source == Source::GC;
    let erase = played.commands.iter().find(|c| of_gc(c.op, c.parts[0].source));
    erase.map(|command| command.end_ns())
}

fn response_table(scheme: &Preset, played: &Played) -> Result<String, Failure> {
    let baseline = &SCHEMES[0];
    let is_baseline = scheme.name == baseline.name;
    let before = scene::play_as(baseline, scene::is_early(scheme)?)?;
    let row = |first: &str, what: &str, ns: Option<u64>, before_ns: Option<u64>| {
        let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| format::time(ns as f64));
        let change = match (ns, before_ns) {
            (Some(ns), Some(before_ns)) => format::change(ns as f64, before_ns as f64),
            _ => "-".to_owned(),
        };
        if is_baseline {
            return format!("| {first} | {what} | {} |\n", time(ns));
        }
        format!("| {first} | {what} | {} | {} | {change} |\n", time(before_ns), time(ns))
    };
    let mut text = match is_baseline {
        true => "| request | response time | `baseline` |\n|---|---|---|\n".to_owned(),
        false => format!("| request | response time | `baseline` | `{}` | |\n|---|---|---|---|---|\n", scheme.name),
    };
    for (number, (what, ..)) in scene::REQUESTS.iter().enumerate() {
        let ns = |played: &Played| Some(played.requests[number].response_ns);
        text += &row(&number.to_string(), what, ns(played), ns(&before));
    }
    Ok(text + &row("", "the block is erased at", erased_ns(played), erased_ns(&before)))
}

// ---- policies -------------------------------------------------------------------------------------------------------

/// The choice of a scheme on an axis: the policy, and its parameters.
struct AxisChoice {
    axis: &'static Axis,
    choice: &'static Choice,
    parameters: toml::Table,
}

/// A scheme's choices on the default device.
fn choices(scheme: &Preset) -> Result<Vec<AxisChoice>, Failure> {
    let table = toml::Table::try_from(on_default_device(scheme)?).unwrap_or_default();
    let chosen = |axis: &'static Axis| {
        let mut parameters = table.get(axis.name)?.as_table()?.clone();
        let policy = parameters.remove("policy")?;
        let choice = axis.choices.iter().find(|choice| Some(choice.name) == policy.as_str())?;
        Some(AxisChoice { axis, choice, parameters })
    };
    Ok(AXES.iter().filter_map(chosen).collect())
}

fn axes_section(scheme: &Preset) -> Result<String, Failure> {
    let baseline = choices(&SCHEMES[0])?;
    let is_baseline = scheme.name == SCHEMES[0].name;
    let chosen = choices(scheme)?;
    // The baseline's configuration may lack an axis.
    let before = |chosen: &AxisChoice| baseline.iter().find(|before| before.axis.name == chosen.axis.name);
    let is_same =
        |a: &&AxisChoice| before(a).is_some_and(|b| a.choice.name == b.choice.name && a.parameters == b.parameters);
    let (same, other): (Vec<_>, Vec<_>) = chosen.iter().partition(is_same);
    let mut text = String::new();
    if is_baseline {
        text += "## What it chooses\n\n";
        text += &paragraph("On the default device; other devices may set the axes that the scheme's file omits.");
        same.iter().for_each(|chosen| text += &policy_section(chosen, None));
        return Ok(text);
    }
    if !other.is_empty() {
        text += "## Differences from `baseline`\n";
        other.iter().for_each(|chosen| text += &policy_section(chosen, before(chosen)));
        text += "\n";
    }
    text += "## In common with `baseline`\n\nOn the default device; other devices may set the axes that the scheme's file omits.\n\n";
    text += "| axis | policy |\n|---|---|\n";
    for chosen in same {
        let (axis, policy) = (chosen.axis.name, chosen.choice.name);
        text += &format!("| {axis} | [{policy}](baseline.md#{axis}-{policy}) |\n");
    }
    Ok(text)
}

/// A policy's page, and the parameters that are others than the baseline's.
fn policy_section(chosen: &AxisChoice, before: Option<&AxisChoice>) -> String {
    let (axis, policy) = (chosen.axis.name, chosen.choice.name);
    let mut text =
        format!("\n### {axis}: {policy}\n\n*{}*\n\n{}\n", capital(chosen.axis.question), chosen.choice.page());
    let is_other = |key: &String, value: &toml::Value| {
        before.is_some_and(|b| b.choice.name == policy && b.parameters.get(key) != Some(value))
    };
    let others = chosen.parameters.iter().filter(|(key, value)| is_other(key, value));
    let others: Vec<String> = others.map(|(key, value)| format!("`{key} = {value}`")).collect();
    if !others.is_empty() {
        text += &format!("\nHere {}.\n", others.join(", "));
    }
    text
}

// ---- the index ------------------------------------------------------------------------------------------------------

fn index() -> Result<String, Failure> {
    let mut text = format!("{GENERATED}\n# Schemes\n\n");
    text += &paragraph(
        "A scheme names one choice along each axis. The [glossary](../guide.md#glossary) defines the terms of these \
         pages. `copyback compare --schemes baseline,pgc,gc-par` compares some of the schemes, \
         `copyback schemes NAME` prints one as a file that you can copy and change.",
    );
    text += "\n| scheme | what it is | source |\n|---|---|---|\n";
    for scheme in SCHEMES {
        let about = |key| scheme.about(key).unwrap_or_default();
        text += &format!("| [{0}]({0}.md) | {1} | {2} |\n", scheme.name, about("description"), about("source"));
    }
    Ok(text + "\n" + &scene_section()?)
}

fn scene_section() -> Result<String, Failure> {
    let mut text = "## The scene\n\n".to_owned();
    text += &paragraph(&format!(
        "All drawings show the same drive and the same five requests. The drive has \
         two dies of two planes; no request reads data of the second die. Reading a page takes 400 us, programming it 800 us, erasing a block 2 ms, and a page takes \
         200 us on the channel. Collection of plane 0 begins at time 0. Block 2 has the fewest valid pages, 1, 3 and 5; block 3 \
         has as many, 1, 3 and 6. All requests come {} later, while page 1 is read:",
        format::time(scene::ARRIVAL_NS as f64)
    ));
    text += "\n| request | what it is | relation to the collection |\n|---|---|---|\n";
    for (number, (what, collection, _)) in scene::REQUESTS.iter().enumerate() {
        text += &format!("| {number} | {what} | {collection} |\n");
    }
    text += &format!(
        "\n{}\n",
        paragraph(
            "In the drawings `R3` and `W0` are collection, which reads page 3 and programs page 0, and `E` is its erase; `r1` and \
         `w3` are the host, for requests 1 and 3. In this table `gc-vic` has the response times of `gc-par`, because no request \
         waits when the collection begins. On the page of `gc-vic`, the requests wait at that time.",
        )
    );
    text += "| scheme | 0 | 1 | 2 | 3 | 4 | mean | the block is erased at |\n|---|---|---|---|---|---|---|---|\n";
    for scheme in SCHEMES.iter().filter(|scheme| drawing_description(scheme).is_some()) {
        let played = scene::play_as(scheme, false)?;
        let times: Vec<u64> = played.requests.iter().map(|r| r.response_ns).collect();
        let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
        let times: Vec<String> = times.iter().map(|&ns| format::time(ns as f64)).collect();
        let erased = erased_ns(&played).map_or_else(|| "-".to_owned(), |ns| format::time(ns as f64));
        text +=
            &format!("| [{0}]({0}.md) | {1} | {2} | {erased} |\n", scheme.name, times.join(" | "), format::time(mean));
    }
    Ok(text)
}
