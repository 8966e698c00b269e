//! A drive under a scheme that is compiled in.

use copyback::config::presets::{SCHEMES, find};

/// The tables of a drive, and those of a scheme over them.
pub fn under(mut drive: toml::Table, scheme: &str) -> toml::Table {
    let scheme: toml::Table = find(SCHEMES, scheme).expect("it is a preset").text.parse().expect("it parses");
    for (key, value) in scheme.into_iter().filter(|(_, value)| value.is_table()) {
        let known = drive.entry(key).or_insert_with(|| toml::Table::new().into());
        known.as_table_mut().expect("a table").extend(value.as_table().expect("a table").clone());
    }
    drive
}
