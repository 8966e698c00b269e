//! The key `workload.device`: the selected device of a trace.

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A device, volume, disk or file of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// By its number.
    Number(u32),
    /// By its name: `259,0` of Linux, the name of a disk, the path of a file, a text in a table.
    Name(String),
}

impl std::str::FromStr for Device {
    type Err = std::convert::Infallible;

    /// A number if the text is one, otherwise a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl Serialize for Device {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u32(*number),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for Device {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DeviceVisitor)
    }
}

struct DeviceVisitor;

impl Visitor<'_> for DeviceVisitor {
    type Value = Device;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a device's number from 0 to 4294967295, or its name in quotes")
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Device, E> {
        let device = u32::try_from(number).map(Device::Number);
        device.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Device, E> {
        let device = u32::try_from(number).map(Device::Number);
        device.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Device, E> {
        if name.is_empty() {
            Err(E::custom("it is empty; set a device's number or name"))
        } else {
            Ok(Device::Name(name.to_owned()))
        }
    }
}
