//! `copyback schemes | devices | workloads`: lists presets, axes and policies.

use crate::failure::Failure;
use crate::files;
use crate::format::wrapped;
use crate::output;
use crate::plan::{of_presets, on_default_device};
use crate::table::{self, BOLD, DIM};
use crate::workloads;
use copyback::config::layers::suggestion;
use copyback::config::presets::{DEVICES, Preset, SCHEMES, find};
use copyback::config::renamed;
use copyback::config::{Axis, Choice};
use copyback::run::config::{AXES, RunConfig, TASKS};
use copyback_report::scheme_pages::{self, scene};

/// `copyback schemes [NAME]`
pub fn schemes(name: Option<&str>) -> Result<(), Failure> {
    files::print(&schemes_text(name)?)
}

/// All schemes and axes, or the page of this name.
pub fn schemes_text(name: Option<&str>) -> Result<String, Failure> {
    name.map_or_else(all_schemes, explain)
}

/// Presets, each with its description.
pub fn described(presets: &'static [Preset]) -> Vec<(&'static str, String)> {
    presets.iter().map(|preset| (preset.name, preset.about("description").unwrap_or_default())).collect()
}

fn bold(text: &str) -> String {
    format!("{}{text}{}", BOLD.render(), BOLD.render_reset())
}

fn dim(text: &str) -> String {
    format!("{}{text}{}", DIM.render(), DIM.render_reset())
}

/// Lines of names and descriptions; a long description continues below its beginning.
fn lines<'a>(indent: usize, rows: impl Iterator<Item = (&'a str, String)> + Clone) -> String {
    let width = indent + rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    let room = table::terminal_columns(table::WIDE).saturating_sub(width + 2).max(30);
    let mut text = String::new();
    for (name, about) in rows {
        let name = format!("{}{name}", " ".repeat(indent));
        for (at, line) in wrapped(&about, room).iter().enumerate() {
            let name = if at == 0 { name.as_str() } else { "" };
            text.push_str(format!("{name:<width$}  {line}").trim_end());
            text.push('\n');
        }
    }
    text
}

/// The first sentence of a policy's page.
fn summary(choice: &Choice) -> String {
    let page = choice.page();
    let paragraph = page.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    paragraph.split_once(". ").map_or(paragraph.clone(), |(sentence, _)| format!("{sentence}."))
}

/// The choices of an axis.
fn choice_lines(indent: usize, axis: &Axis) -> String {
    lines(indent, axis.choices.iter().map(|choice| (choice.name, summary(choice))))
}

fn preset_lines(presets: &'static [Preset]) -> String {
    lines(2, described(presets).into_iter())
}

fn all_schemes() -> Result<String, Failure> {
    let mut text = format!("{}\n{}", bold("Schemes"), preset_lines(SCHEMES));
    text.push_str(&format!("\n{} A scheme names one choice along each.\n", bold("Axes.")));
    for axis in with_tasks() {
        text.push_str(&format!("\n  {}: {}\n", bold(axis.name), axis.question));
        text.push_str(&choice_lines(4, axis));
    }
    text.push_str(&format!(
        "\n{}\n",
        dim("copyback schemes NAME explains a scheme, an axis or a policy; --pages DIR writes a page of each scheme.")
    ));
    Ok(text)
}

/// The axes, and the tasks that may be on.
fn with_tasks() -> impl Iterator<Item = &'static Axis> {
    AXES.iter().chain([&TASKS])
}

/// Everything of this name: a scheme, an axis, policies. A policy may be named with its axis, as in `order.fifo`.
fn explain(name: &str) -> Result<String, Failure> {
    let mut parts = Vec::new();
    if let Some(preset) = find(SCHEMES, name) {
        parts.push(scheme_text(preset)?);
    }
    if let Some(axis) = with_tasks().find(|axis| axis.name == name) {
        parts.push(axis_text(axis));
    }
    for axis in with_tasks() {
        let choices = axis.choices.iter();
        let named = |choice: &&Choice| choice.name == name || format!("{}.{}", axis.name, choice.name) == name;
        parts.extend(choices.filter(named).map(|choice| policy_text(axis, choice)));
    }
    if let Some(new) = renamed::axis_or_policy(name).filter(|new| parts.is_empty() && explain(new).is_ok()) {
        let failure = Failure::input(format!("`{name}` is now `{new}`"));
        return Err(failure.with_help(format!("see `copyback schemes {new}`")));
    }
    if parts.is_empty() {
        let policies = with_tasks().flat_map(|axis| axis.choices.iter().map(|choice| choice.name));
        let schemes = SCHEMES.iter().map(|preset| preset.name);
        let mut known: Vec<&str> = schemes.chain(with_tasks().map(|axis| axis.name)).chain(policies).collect();
        let mut seen = std::collections::BTreeSet::new();
        known.retain(|name| seen.insert(*name));
        let help = suggestion(name, "schemes, axes and policies", known.into_iter());
        return Err(Failure::input(format!("there is no scheme, axis or policy `{name}`")).with_help(help));
    }
    if find(SCHEMES, name).is_some() {
        // A scheme's text is a valid TOML file: pages of an axis or a policy with its name become comments.
        parts.iter_mut().skip(1).for_each(|part| *part = commented(part));
    }
    Ok(parts.join("\n"))
}

/// Each line as a comment of TOML.
fn commented(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", format!("# {line}").trim_end())).collect()
}

/// The drawing as TOML comments, so that the output stays a scheme file; empty if the scheme is not drawn.
fn drawing(scheme: &Preset) -> Result<String, Failure> {
    let Some(see) = scheme_pages::drawing_description(scheme) else { return Ok(String::new()) };
    // The comment sign and the name of a row come before the drawing.
    let columns = table::terminal_columns(table::WIDE).saturating_sub(13).clamp(30, 108);
    let drawn = scene::drawing(&scene::play(scheme)?, columns);
    let lines = wrapped(&see, columns + 11);
    let text = commented(&format!("{}\n\n{drawn}", lines.join("\n")));
    Ok(format!("# A die of two planes: a block of plane 0 is collected, and five requests arrive.\n{text}"))
}

/// A scheme with the default of every axis that it leaves open; a file of this text is a scheme, too.
fn scheme_text(preset: &Preset) -> Result<String, Failure> {
    let run = on_default_device(preset)?;
    let table = toml::Table::try_from(&run).unwrap_or_default();
    let mut text = format!("# {}: {}\n", bold(preset.name), preset.about("description").unwrap_or_default());
    text.push_str(&format!("# Source: {}\n\n", preset.about("source").unwrap_or_default()));
    text.push_str(&dim("# Each axis; a device may set the ones that the scheme's file leaves open.\n"));
    for axis in AXES {
        if let Some(choice) = table.get(axis.name).and_then(toml::Value::as_table) {
            let mut parameters = choice.clone();
            let policy = parameters.remove("policy").unwrap_or_else(|| "".into());
            // Nested tables are written inline: under a heading they would leave the axis' table.
            let parameters: String = parameters.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
            text.push_str(&format!("[{}]\npolicy = {policy}\n{parameters}\n", axis.name));
        }
    }
    text.push_str(&dim(&drawing(preset)?));
    Ok(text)
}

fn resolved(scheme: Option<&Preset>, device: &Preset) -> Result<RunConfig, Failure> {
    of_presets(std::iter::once(device).chain(scheme).map(|preset| (preset.name, preset.text)))
}

fn axis_text(axis: &Axis) -> String {
    let choices = choice_lines(2, axis);
    let name = axis.name;
    format!(
        "{}: {}\n{choices}\nChoose with `--set {name}.policy=NAME`, or in a scheme's [{name}].\n",
        bold(name),
        axis.question
    )
}

fn policy_text(axis: &Axis, choice: &Choice) -> String {
    format!("{} {}\n\n{}\n", bold(&format!("{}.{}", axis.name, choice.name)), dim(axis.question), choice.page())
}

/// `copyback devices [NAME]`
pub fn devices(name: Option<&str>) -> Result<(), Failure> {
    files::print(&devices_text(name)?)
}

/// All devices, or the file of this one.
pub fn devices_text(name: Option<&str>) -> Result<String, Failure> {
    let Some(name) = name else {
        let more = dim("copyback devices NAME prints one; --device also takes a TOML file of the same form.");
        return Ok(format!("{}\n{}\n{more}\n", bold("Devices"), preset_lines(DEVICES)));
    };
    let Some(preset) = find(DEVICES, name) else {
        let help = suggestion(name, "devices", DEVICES.iter().map(|preset| preset.name));
        return Err(Failure::input(format!("there is no device `{name}`")).with_help(help));
    };
    let line = output::device_line(&resolved(None, preset)?);
    Ok(format!("# {}: {line}\n\n{}", bold(preset.name), preset.text))
}

/// `copyback workloads [NAME]`
pub fn workloads(name: Option<&str>) -> Result<(), Failure> {
    files::print(&workloads_text(name)?)
}

/// Workloads, each with where it is from.
pub fn described_workloads() -> Vec<(&'static str, String)> {
    let source = |name: &'static str| {
        let table: Option<toml::Table> = workloads::text(name).and_then(|text| text.parse().ok());
        let source = table.as_ref().and_then(|table| table.get("workload")?.get("source")?.as_str());
        (name, source.unwrap_or_default().to_owned())
    };
    workloads::names().map(source).collect()
}

/// All workloads, or the file of this one.
pub fn workloads_text(name: Option<&str>) -> Result<String, Failure> {
    let Some(name) = name else {
        let more = dim("copyback workloads NAME prints one; copyback trace info NAME measures it.");
        return Ok(format!("{}\n{}\n{more}\n", bold("Workloads"), lines(2, described_workloads().into_iter())));
    };
    workloads::text(name).map(str::to_owned).ok_or_else(|| {
        let help = suggestion(name, "workloads", workloads::names());
        Failure::input(format!("there is no workload `{name}`")).with_help(help)
    })
}
