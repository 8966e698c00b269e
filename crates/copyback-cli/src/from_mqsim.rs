//! `copyback device from-mqsim`: converts MQSim's ssdconfig.xml to a device's TOML.
//!
//! A comment after each converted key names its source. Each parameter that is not converted becomes a comment with the
//! reason, or with the key to set instead. Meanings are those of MQSim's README and source.

use crate::failure::Failure;
use crate::files;
use copyback::config::GeometryConfig;
use copyback::config::presets::DEVICES;
use copyback_workload::units::{format_bytes, format_duration_ns};
use std::fmt::Write as _;
use std::path::Path;

/// Prints the device.
pub fn print(file: &Path) -> Result<(), Failure> {
    files::print(&text(file)?)
}

/// The device's TOML.
pub fn text(file: &Path) -> Result<String, Failure> {
    let xml = files::read_any_text("MQSim's configuration", file, "name a configuration of MQSim in XML")?;
    let wrong = |message: String| Failure::input(format!("{}: {message}", file.display()));
    let parameters = Parameters::of(&xml).map_err(|message| {
        wrong(message).with_help("give the file of MQSim's option -i, an Execution_Parameter_Set in XML")
    })?;
    let text = converted(&file.display().to_string(), &parameters).map_err(|message| {
        wrong(message).with_help(
            "MQSim's README lists its parameters; `copyback devices small` shows how a device is written here",
        )
    })?;
    Ok(text)
}

/// The texts of elements without child elements, by the elements' names, in the order of the file.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn of(xml: &str) -> Result<Self, String> {
        if !xml.contains("<Device_Parameter_Set>") {
            return Err("it has no `<Device_Parameter_Set>`: it is no configuration of a drive of MQSim".to_owned());
        }
        let mut found = Vec::new();
        let xml = without_comments(xml)?;
        let mut rest = xml.as_str();
        while let Some((_, behind)) = rest.split_once('<') {
            let Some((tag, after)) = behind.split_once('>') else {
                return Err(format!(
                    "the tag `<{}` has no end",
                    behind.chars().take(40).collect::<String>().escape_debug()
                ));
            };
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = format!("</{tag}>");
            if tag.chars().all(is_name) && !tag.is_empty() {
                let value = after.split('<').next().unwrap_or_default();
                if after[value.len()..].starts_with(&end) {
                    found.push((tag.to_owned(), value.trim().to_owned()));
                }
            }
            rest = after;
        }
        if !xml.contains("</Device_Parameter_Set>") {
            return Err("its `<Device_Parameter_Set>` has no end: the file was cut off".to_owned());
        }
        Ok(Self(found))
    }

    /// A parameter's text.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter as a number from `least` on.
    fn number(&self, name: &str, least: f64) -> Result<Option<f64>, String> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= least);
        number.map(Some).ok_or_else(|| format!("`{name}` is `{}`; it must be a number, {least} or more", plain(text)))
    }

    /// A parameter as a whole number.
    fn whole(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.get(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("`{name}` is `{}`, and no whole number", plain(text)))
    }
}

/// A text of the file, cut and escaped for a message or a comment.
fn plain(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}

/// The text without its comments.
fn without_comments(xml: &str) -> Result<String, String> {
    let (mut left, mut rest) = (String::new(), xml);
    while let Some((before, behind)) = rest.split_once("<!--") {
        left.push_str(before);
        rest = behind.split_once("-->").ok_or("a comment has no end")?.1;
    }
    Ok(left + rest)
}

/// Whole numbers that are keys of `[geometry]` here.
const GEOMETRY: &[(&str, &str)] = &[
    ("channels", "Flash_Channel_Count"),
    ("chips_per_channel", "Chip_No_Per_Channel"),
    ("dies_per_chip", "Die_No_Per_Chip"),
    ("planes_per_die", "Plane_No_Per_Die"),
    ("blocks_per_plane", "Block_No_Per_Plane"),
    ("pages_per_block", "Page_No_Per_Block"),
];

/// Parameters that are converted below, beside those of the geometry.
const CONVERTED: &[&str] = &[
    "Page_Capacity",
    "Flash_Technology",
    "Page_Read_Latency_LSB",
    "Page_Read_Latency_CSB",
    "Page_Read_Latency_MSB",
    "Page_Program_Latency_LSB",
    "Page_Program_Latency_CSB",
    "Page_Program_Latency_MSB",
    "Block_Erase_Latency",
    "Channel_Transfer_Rate",
    "Flash_Channel_Width",
    "Overprovisioning_Ratio",
    "GC_Exec_Threshold",
    "GC_Hard_Threshold",
];

/// Parameters that are not converted, each with the setting to use instead or the reason.
const ELSEWHERE: &[(&str, &str)] = &[
    ("IO_Queue_Depth", "host.queue_depth, of a run in a closed loop"),
    ("Caching_Mechanism", "a write buffer: buffer.policy=lru"),
    ("Data_Cache_Capacity", "bytes; buffer.size, with buffer.policy=lru"),
    ("Data_Cache_DRAM_Data_Rate", "buffer.latency is the time of an access to DRAM"),
    ("Ideal_Mapping_Table", "if it is false, mapping.policy=dftl, with mapping.cache"),
    ("CMT_Capacity", "bytes; mapping.cache, with mapping.policy=dftl"),
    ("Plane_Allocation_Scheme", "allocation.policy"),
    ("Transaction_Scheduling_Policy", "order.policy"),
    (
        "GC_Block_Selection_Policy",
        "victim.policy: GREEDY is greedy; RGA is d-choices, with victim.d; RANDOM is random; FIFO is fifo",
    ),
    ("Use_Copyback_for_GC", "commands.copyback, of a device, and granularity.copyback, of a scheme"),
    ("Preemptible_GC_Enabled", "preemption.policy, for example of the scheme pgc"),
    ("Enabled_Preconditioning", "precondition.mode"),
    ("Seed", "--seed"),
    (
        "CMD_Suspension_Support",
        "commands.suspend.latency; for ERASE, also commands.suspend.program=false; for PROGRAM, also \
         commands.suspend.erase=false; used by preemption.policy=suspend, for operations of collections and \
         background tasks only",
    ),
    ("Suspend_Erase_Time", "nanoseconds; commands.suspend.latency, which holds for programs, too"),
    ("Suspend_Program_Time", "nanoseconds; commands.suspend.latency, which holds for erases, too"),
    ("Page_Metadat_Capacity", "the spare area is not modelled"),
];

/// The pages of a word line of this flash, as suffixes of MQSim's parameters; none for an unknown technology.
fn page_kinds(parameters: &Parameters) -> &'static [&'static str] {
    match parameters.get("Flash_Technology") {
        Some("SLC") => &["LSB"],
        Some("TLC") => &["LSB", "CSB", "MSB"],
        None | Some("MLC") => &["LSB", "MSB"],
        Some(_) => &[],
    }
}

/// Times of the pages of a block, in turn.
fn page_times(parameters: &Parameters, kind: &str) -> Result<Option<String>, String> {
    let kinds = page_kinds(parameters);
    if kinds.is_empty() {
        let technology = plain(parameters.get("Flash_Technology").unwrap_or_default());
        return Err(format!("`Flash_Technology` is `{technology}`, none of SLC, MLC and TLC"));
    }
    let mut times = Vec::new();
    let mut names = Vec::new();
    for bit in kinds {
        let name = format!("Page_{kind}_Latency_{bit}");
        if let Some(ns) = parameters.whole(&name)? {
            times.push(format!("\"{}\"", format_duration_ns(ns)));
            names.push(name);
        }
    }
    let Some(first) = times.first() else { return Ok(None) };
    let names = names.join(", ");
    Ok(Some(match times.iter().all(|time| time == first) {
        true => format!("{first} # {names}"),
        false => format!("[{}] # {names}", times.join(", ")),
    }))
}

/// A line of a table: the key, its value unless the file lacks it, and the parameter of the value.
type Line = (&'static str, Option<String>, &'static str);

/// A device's TOML, and the parameters that the file lacks.
struct Document {
    text: String,
    missing: Vec<&'static str>,
}

impl Document {
    /// Appends a table. A key without a value becomes a comment.
    fn table(&mut self, name: &str, lines: Vec<Line>) {
        _ = write!(self.text, "\n[{name}]\n");
        for (key, value, source) in lines {
            match value {
                Some(value) => _ = writeln!(self.text, "{key} = {value}"),
                None => {
                    self.missing.push(source);
                    _ = writeln!(self.text, "# {key}: the file has no {source}, and MQSim has a default of its own");
                }
            }
        }
    }
}

/// Refuses numbers that no drive can have here. Missing ones have the first device's values.
fn check_geometry(parameters: &Parameters) -> Result<(), String> {
    let device: toml::Table = DEVICES.first().and_then(|device| device.text.parse().ok()).unwrap_or_default();
    let mut table = device.get("geometry").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    table.remove("mapping_unit");
    let mut given = Vec::new();
    for (key, name) in GEOMETRY {
        let Some(number) = parameters.whole(name)? else { continue };
        let number = u32::try_from(number).map_err(|_| format!("`{name}` is {number}: it is too large"))?;
        table.insert((*key).to_owned(), i64::from(number).into());
        given.push((*key, *name));
    }
    if let Some(bytes) = parameters.whole("Page_Capacity")? {
        table.insert("page_size".to_owned(), format_bytes(bytes).into());
        given.push(("page_size", "Page_Capacity"));
    }
    let Ok(geometry) = table.try_into::<GeometryConfig>() else { return Ok(()) };
    let Err(error) = geometry.check() else { return Ok(()) };
    let name = given.iter().find(|(key, _)| error.key == format!("geometry.{key}"));
    name.map_or(Ok(()), |(_, name)| Err(format!("`{name}`: {}; {}", error.message, error.help.unwrap_or_default())))
}

/// The device's TOML; `file`: the path that its first comment names.
fn converted(file: &str, parameters: &Parameters) -> Result<String, String> {
    let heading = format!(
        "# Converted from MQSim's {} by `copyback device from-mqsim`. A comment after a key names its parameter.\n\
         source = \"MQSim's configuration\"\n",
        plain(file)
    );
    let mut document = Document { text: heading, missing: Vec::new() };
    check_geometry(parameters)?;
    document.table("geometry", geometry(parameters)?);
    document.table("timing", timing(parameters)?);
    document.table("capacity", capacity(parameters)?);
    document.text += &trigger(parameters)?;
    if !document.missing.is_empty() {
        let missing = document.missing.join(", ");
        _ = write!(document.text, "\n# Set the keys of these parameters before the device is used: {missing}.\n");
    }
    Ok(document.text + &not_converted(parameters)?)
}

fn geometry(parameters: &Parameters) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (key, name) in GEOMETRY {
        lines.push((*key, parameters.whole(name)?.map(|number| format!("{number} # {name}")), *name));
    }
    let page = parameters.whole("Page_Capacity")?;
    let page = page.map(|bytes| format!("\"{}\" # Page_Capacity", format_bytes(bytes)));
    lines.push(("page_size", page, "Page_Capacity"));
    Ok(lines)
}

fn timing(parameters: &Parameters) -> Result<Vec<Line>, String> {
    let erase = parameters.whole("Block_Erase_Latency")?;
    let erase = erase.map(|ns| format!("\"{}\" # Block_Erase_Latency", format_duration_ns(ns)));
    let width = parameters.whole("Flash_Channel_Width")?.unwrap_or(1);
    let rate = parameters.whole("Channel_Transfer_Rate")?.map(|rate| match rate.checked_mul(width) {
        Some(rate @ 1..) => {
            Ok(format!("\"{rate} MB/s\" # Channel_Transfer_Rate, of Flash_Channel_Width = {width} bytes"))
        }
        _ => Err(format!("`Channel_Transfer_Rate` is `{rate}`, of {width} bytes: no rate that a channel can have")),
    });
    let rate = rate.transpose()?;
    Ok(vec![
        ("read", page_times(parameters, "Read")?, "Page_Read_Latency_LSB"),
        ("program", page_times(parameters, "Program")?, "Page_Program_Latency_LSB"),
        ("erase", erase, "Block_Erase_Latency"),
        ("channel", rate, "Channel_Transfer_Rate"),
    ])
}

fn capacity(parameters: &Parameters) -> Result<Vec<Line>, String> {
    let reserved = parameters.number("Overprovisioning_Ratio", 0.0)?;
    if let Some(share) = reserved.filter(|share| *share >= 1.0) {
        return Err(format!("`Overprovisioning_Ratio` is `{share}`; it is a share of the flash, below 1"));
    }
    let source = "Overprovisioning_Ratio, a share of the flash in MQSim and here";
    let reserved = reserved.map(|share| format!("{share:?} # {source}"));
    Ok(vec![("reserved", reserved, "Overprovisioning_Ratio")])
}

/// The thresholds of GC, soft and hard; no hard one that is above the soft one.
fn thresholds(parameters: &Parameters) -> Result<[Option<f64>; 2], String> {
    let soft = parameters.number("GC_Exec_Threshold", 0.0)?;
    let hard = parameters.number("GC_Hard_Threshold", 0.0)?;
    Ok([soft, hard.filter(|hard| soft.is_some_and(|soft| soft > 0.0 && *hard <= soft))])
}

/// The table `[trigger]`; empty if the file has no threshold.
fn trigger(parameters: &Parameters) -> Result<String, String> {
    let [soft, hard] = thresholds(parameters)?;
    let Some(soft) = soft else { return Ok(String::new()) };
    let mut text = format!(
        "\n[trigger]\npolicy = \"watermark\"\nscope = \"plane\"\nsoft = {soft:?} # GC_Exec_Threshold, of a \
         plane's blocks\n"
    );
    if let Some(hard) = hard {
        let share = (hard / soft * 1e6).round() / 1e6;
        text += &format!("hard = {share:?} # GC_Hard_Threshold = {hard:?}, here as a share of `soft`\n");
    }
    Ok(text)
}

/// Why a parameter of [`CONVERTED`] or [`GEOMETRY`] has no effect, if it has none.
fn reason_without_effect(parameters: &Parameters, name: &str) -> Result<Option<&'static str>, String> {
    if let Some((_, kind)) = name.split_once("_Latency_").filter(|_| name.starts_with("Page_")) {
        return Ok(
            (!page_kinds(parameters).contains(&kind)).then_some("blocks of this Flash_Technology lack such pages")
        );
    }
    let [soft, hard] = thresholds(parameters)?;
    Ok(match name {
        "GC_Hard_Threshold" if hard.is_none() => Some(match soft {
            Some(soft) if soft > 0.0 => "trigger.hard is a share of the soft threshold, and at most 1",
            _ => "trigger.hard is a share of the soft threshold, which is missing or 0",
        }),
        "Flash_Channel_Width" if parameters.get("Channel_Transfer_Rate").is_none() => {
            Some("timing.channel needs a rate")
        }
        _ => None,
    })
}

/// The parameters that were not converted, as comments.
fn not_converted(parameters: &Parameters) -> Result<String, String> {
    let is_converted = |name: &str| CONVERTED.contains(&name) || GEOMETRY.iter().any(|(_, source)| *source == name);
    let mut lines = String::new();
    for (name, value) in &parameters.0 {
        let reason = match is_converted(name) {
            true => reason_without_effect(parameters, name)?,
            false => {
                Some(ELSEWHERE.iter().find(|(known, _)| known == name).map_or("no such setting here", |row| row.1))
            }
        };
        if let Some(reason) = reason {
            lines += &format!("# {} = {}: {reason}\n", plain(name), plain(value));
        }
    }
    Ok(match lines.is_empty() {
        true => lines,
        false => format!("\n# Not converted, each with the setting to use instead or the reason:\n{lines}"),
    })
}
