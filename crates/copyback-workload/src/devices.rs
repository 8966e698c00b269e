//! The devices of a trace: the device whose requests are kept, and how many devices share a drive's addresses.

use crate::RequestSource;
use crate::spec::Device;
use std::collections::BTreeSet;

/// The device whose requests are kept, if one was chosen.
pub(crate) struct SelectedDevice {
    device: Option<Device>,
    /// The chosen device's number; if it was chosen by name, known from its first request on.
    number: Option<u32>,
}

impl SelectedDevice {
    /// The choice that a workload makes.
    pub(crate) fn new(device: Option<Device>) -> Self {
        let number = match &device {
            Some(Device::Number(number)) => Some(*number),
            _ => None,
        };
        Self { device, number }
    }

    /// The device, if one was chosen.
    pub(crate) fn requested(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// Whether a device's requests are kept. `source` knows its name.
    #[inline]
    pub(crate) fn keeps(&mut self, device: u32, source: &impl RequestSource) -> bool {
        if self.device.is_none() {
            return true;
        }
        match self.number {
            Some(number) => number == device,
            None => self.is_named(device, source),
        }
    }

    /// Whether a device has the chosen name; checked until the first request of the chosen device.
    fn is_named(&mut self, device: u32, source: &impl RequestSource) -> bool {
        let Some(Device::Name(wanted)) = &self.device else { return true };
        let name = source.device_name(device).unwrap_or_else(|| device.to_string());
        if name == *wanted {
            self.number = Some(device);
        }
        self.number.is_some()
    }
}

/// Largest number of distinguished devices of a trace, a limit of memory.
const DEVICES_MAX: usize = 10_000;

/// Which devices the requests of a trace are for.
#[derive(Default)]
pub(crate) struct Devices {
    last: Option<u32>,
    seen: BTreeSet<u32>,
}

impl Devices {
    /// Counts a request's device.
    #[inline]
    pub(crate) fn see(&mut self, device: u32) {
        if self.last != Some(device) {
            self.last = Some(device);
            if self.seen.len() <= DEVICES_MAX {
                self.seen.insert(device);
            }
        }
    }

    /// The note to the user: how many devices there are, and how to choose one. `source` knows their names.
    pub(crate) fn note(&self, source: &impl RequestSource) -> Option<String> {
        let count = match self.seen.len() {
            0 | 1 => return None,
            many if many > DEVICES_MAX => format!("more than {DEVICES_MAX}"),
            count => count.to_string(),
        };
        // Prefer names: other tools do not print these numbers.
        let named = self.seen.iter().next().and_then(|device| source.device_name(*device));
        let example = named.map_or("N".to_owned(), |name| quoted(&name));
        Some(format!(
            "{count} devices share one address space; choose one with --set workload.device={example}, or keep them \
             apart with --set workload.layout=packed"
        ))
    }
}

/// A name as a word of a command line.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ',' | '.' | '/' | '_' | '-' | ':');
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}
