//! Support for several tests: workloads in memory, and configurations composed of knobs.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod four_dies;
pub mod instructions;
pub mod sources;
pub mod under;

use copyback::config::CapacityConfig;
use copyback::flash::geometry::Geometry;
use copyback::run::config::RunConfig;
use copyback::workload::units::Bytes;
use copyback::workload::{Op, Priority, Request};
use std::cell::RefCell;
use std::collections::HashMap;

pub fn request(arrival_ns: u64, op: Op, offset_bytes: u64, len_bytes: u64, device: u32) -> Request {
    Request { arrival_ns, offset_bytes, len_bytes, device, op, priority: Priority::Normal }
}

/// The most mapping units of data that a drive can have and still pass `RunConfig::check`.
pub fn tightest_units(config: &RunConfig) -> u64 {
    let g = &config.geometry;
    let held_back = config.blocks_held_back().max(config.trigger.stop_blocks_per_plane(&config.geometry));
    let planes = u64::from(g.channels * g.chips_per_channel * g.dies_per_chip * g.planes_per_die);
    let mut data_blocks = g.blocks_per_plane.saturating_sub(held_back + 1);
    // The invalid units that are left must be more than blocks can hold without a page's worth in any of them.
    let full_blocks = u64::from(g.blocks_per_plane - config.blocks_held_back() + 1);
    let per_block = u64::from(g.pages_per_block) * g.units_per_page();
    while data_blocks > 1
        && (full_blocks - u64::from(data_blocks)) * per_block <= full_blocks * (g.units_per_page() - 1)
    {
        data_blocks -= 1;
    }
    planes * u64::from(data_blocks) * u64::from(g.pages_per_block) * g.units_per_page()
}

/// One way to set a knob: lines of TOML with dotted keys.
pub type Setting = &'static str;

/// Parses lines of dotted keys. Without a line for the capacity the drive is as full as `RunConfig::check` accepts,
/// less `spare_units`.
pub fn configuration(lines: &[impl AsRef<str>], spare_units: u64) -> (RunConfig, String) {
    let lines = lines.iter().map(AsRef::as_ref).filter(|l: &&str| !l.is_empty());
    let mut text = lines.map(|l| format!("{l}\n")).collect::<String>();
    if !text.contains("capacity.") {
        let probe: RunConfig = parse(&format!("{text}capacity.over_provisioning = 1.0\n"));
        let units = tightest_units(&probe).saturating_sub(spare_units).max(1);
        text += &format!("capacity.logical = {}\n", units * probe.geometry.unit_bytes());
    }
    (parse(&text), text)
}

thread_local! {
    static TABLES: RefCell<HashMap<String, toml::Table>> = RefCell::default();
}

/// The same configuration without its text, in a tenth of the time: the table of each setting is parsed once.
pub fn configuration_of_tables(lines: &[impl AsRef<str>], spare_units: u64) -> RunConfig {
    let mut table = toml::Table::new();
    TABLES.with_borrow_mut(|tables| {
        for line in lines.iter().map(AsRef::as_ref).filter(|line: &&str| !line.is_empty()) {
            if !tables.contains_key(line) {
                tables.insert(line.to_owned(), line.parse::<toml::Table>().unwrap_or_else(|e| panic!("{line}: {e}")));
            }
            merge(&mut table, &tables[line]);
        }
    });
    let has_capacity = table.contains_key("capacity");
    if !has_capacity {
        table.insert("capacity".to_owned(), toml::toml! { over_provisioning = 1.0 }.into());
    }
    let mut config: RunConfig = table.try_into().expect("the settings are of a configuration");
    if !has_capacity {
        let units = tightest_units(&config).saturating_sub(spare_units).max(1);
        let logical = Some(Bytes(units * config.geometry.unit_bytes()));
        config.capacity = CapacityConfig { over_provisioning: None, reserved: None, logical };
    }
    config
}

/// Adds the keys of a table to those of another.
///
/// # Panics
/// If a key comes twice, which TOML refuses, too.
fn merge(table: &mut toml::Table, more: &toml::Table) {
    for (key, value) in more {
        match (table.get_mut(key), value) {
            (None, _) => drop(table.insert(key.clone(), value.clone())),
            (Some(toml::Value::Table(inside)), toml::Value::Table(more)) => merge(inside, more),
            _ => panic!("`{key}` is set twice"),
        }
    }
}

pub fn parse(text: &str) -> RunConfig {
    copyback::config::from_toml(text).unwrap_or_else(|e| panic!("the test's configuration does not parse: {e}\n{text}"))
}

/// A request inside the drive, from a place (a share of the drive in units of 2⁻³²) and a length.
pub fn fitted(geometry: &Geometry, op: Op, place: u32, granularity: u64, len_bytes: u64, arrival_ns: u64) -> Request {
    let capacity = geometry.logical_bytes();
    let len_bytes = len_bytes.clamp(1, capacity);
    let last = (capacity - len_bytes) / granularity;
    let offset = (u128::from(place) * u128::from(last + 1)) >> 32;
    request(arrival_ns, op, offset as u64 * granularity, len_bytes, 0)
}
