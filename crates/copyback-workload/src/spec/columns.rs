//! The keys of `[workload.columns]`: which column of a table has which field.

use super::check::{SpecError, wrong};
use serde::{Deserialize, Serialize};

/// A field of a request that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    Arrival,
    Op,
    Offset,
    Length,
    Device,
    Priority,
}

impl Field {
    pub(crate) const ALL: [Field; 6] =
        [Self::Arrival, Self::Op, Self::Offset, Self::Length, Self::Device, Self::Priority];

    /// Its name in messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Arrival => "the arrival time",
            Self::Op => "the operation",
            Self::Offset => "the offset",
            Self::Length => "the length",
            Self::Device => "the device",
            Self::Priority => "the priority",
        }
    }

    /// Whether a trace must have this column.
    pub(crate) fn is_required(self) -> bool {
        !matches!(self, Self::Device | Self::Priority)
    }
}

/// A key of `[workload.columns]`, which is also the default name of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub name: &'static str,
    pub field: Field,
    /// Nanoseconds or bytes of its unit, with which its name ends; 1 without a unit.
    pub factor: u64,
}

macro_rules! columns {
    ($($(#[$doc:meta])* $key:ident: $field:ident * $factor:literal,)+) => {
        /// The table `[workload.columns]`: names of the columns of a CSV or Parquet trace. A key is the default name of
        /// its column, and its ending is the column's unit.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct ColumnNames {
            /// The names of all columns in their order, for a CSV without a header: keys of this table, their short
            /// forms, names that other keys mention, and any other name for a column to ignore.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub order: Option<Vec<String>>,
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<String>,)+
        }

        /// Every key.
        pub(crate) const KEYS: &[Key] =
            &[$(Key { name: stringify!($key), field: Field::$field, factor: $factor }),+];

        impl ColumnNames {
            /// The keys that are set, with the columns' names.
            pub(crate) fn set(&self) -> impl Iterator<Item = (Key, &str)> {
                let names = [$(&self.$key),+];
                KEYS.iter().zip(names).filter_map(|(key, name)| Some((*key, name.as_deref()?)))
            }
        }
    };
}

columns! {
    /// Arrival in nanoseconds.
    arrival_ns: Arrival * 1,
    /// Arrival in microseconds.
    arrival_us: Arrival * 1_000,
    /// Arrival in milliseconds.
    arrival_ms: Arrival * 1_000_000,
    /// Arrival in seconds.
    arrival_s: Arrival * 1_000_000_000,
    /// `R`, `W` or `T`, `read`, `write` or `trim`, or 0, 1 or 2.
    op: Op * 1,
    /// First byte.
    offset_bytes: Offset * 1,
    /// First sector of 512 bytes.
    offset_sectors: Offset * 512,
    /// First byte in units of 1,024 bytes.
    offset_kib: Offset * 1024,
    /// Length in bytes.
    length_bytes: Length * 1,
    /// Length in bytes, under the name that `trace convert` writes.
    len_bytes: Length * 1,
    /// Length in sectors of 512 bytes.
    length_sectors: Length * 512,
    /// Length in units of 1,024 bytes.
    length_kib: Length * 1024,
    /// Device, volume or LUN, a number or a name; without the column, all requests have the same device.
    device: Device * 1,
    /// 0 or `normal`, 1 or `high`; without the column, all requests are normal.
    priority: Priority * 1,
}

/// Short forms of keys, for headers and `order`.
const SHORT: &[(&str, &str)] = &[
    ("time_ns", "arrival_ns"),
    ("time_us", "arrival_us"),
    ("time_ms", "arrival_ms"),
    ("time_s", "arrival_s"),
    ("operation", "op"),
    ("offset", "offset_bytes"),
    ("length", "length_bytes"),
    ("sector", "offset_sectors"),
    ("sectors", "length_sectors"),
];

/// The key of a short form; any other name unchanged.
pub(crate) fn full_name(name: &str) -> &str {
    SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, full)| full)
}

/// Short forms of a key.
pub(crate) fn short_names(key: &str) -> impl Iterator<Item = &'static str> {
    SHORT.iter().filter(move |(_, full)| *full == key).map(|(short, _)| *short)
}

impl ColumnNames {
    /// Whether no column is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_none() && self.set().next().is_none()
    }

    /// The header that `order` describes.
    pub(crate) fn header(&self) -> Option<Vec<String>> {
        let is_named = |name: &str| self.set().any(|(_, named)| named == name);
        let full = |name: &String| if is_named(name) { name.clone() } else { full_name(name).to_owned() };
        Some(self.order.as_ref()?.iter().map(full).collect())
    }

    /// Refuses two columns for one field, and empty names.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        if self.order.as_ref().is_some_and(|order| order.is_empty() || order.iter().any(String::is_empty)) {
            let help = "write for example [\"time_us\", \"op\", \"offset\", \"length\"]; any other name is of a column \
                        that is not looked at";
            return Err(wrong("columns.order", "it lacks a column's name", help));
        }
        for field in Field::ALL {
            let mut keys = self.set().filter(|(key, _)| key.field == field);
            if let (Some((first, _)), Some((second, _))) = (keys.next(), keys.next()) {
                let message = format!("`{}` names a column for {}, too", first.name, field.word());
                return Err(wrong(&format!("columns.{}", second.name), message, "keep the one in the column's unit"));
            }
        }
        match self.set().find(|(_, name)| name.is_empty()) {
            Some((key, _)) => {
                Err(wrong(&format!("columns.{}", key.name), "it is empty", "set the column's name, or remove it"))
            }
            None => Ok(()),
        }
    }
}
