//! The description of a drive, as its user writes it.

use super::times::check_step;
use super::{KeyError, Rate, number};
use copyback_workload::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The user's description of the flash. Policies check their parameters against it; they see no parameters of other
/// policies.
#[derive(Clone, Copy, Debug)]
pub struct Device<'a> {
    /// Shape of the flash.
    pub geometry: &'a GeometryConfig,
    /// Times of the flash.
    pub timing: &'a TimingConfig,
    /// What the host sees of it.
    pub capacity: &'a CapacityConfig,
    /// Commands that the flash understands.
    pub commands: &'a CommandsConfig,
}

/// Shape of the flash: the number of each part in the next larger part. `[geometry]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryConfig {
    /// Channels of the drive.
    pub channels: u32,
    /// Chips (packages, ways) on a channel.
    pub chips_per_channel: u32,
    /// Dies in a chip.
    pub dies_per_chip: u32,
    /// Planes in a die, at most 4.
    pub planes_per_die: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// Data bytes of a page.
    pub page_size: Bytes,
    /// Bytes of data that one map entry covers: the page size or a whole fraction of it (default: the page size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping_unit: Option<Bytes>,
}

/// How long the parts take. `[timing]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// tR, array time of a page read: one time, or one for each kind of page in turn (LSB, CSB, MSB).
    pub read: PageTimes,
    /// tPROG, array time of a page program: one time, or one for each kind of page in turn.
    pub program: PageTimes,
    /// tBERS, array time of a block erase.
    pub erase: Nanos,
    /// Speed of a channel.
    pub channel: Rate,
    /// Command and address cycles of one plane of a command; they occupy the channel (default 0: not modelled).
    #[serde(default)]
    pub command: Nanos,
    /// tRCBSY, how long a cached read keeps the array from starting the next page (default 0).
    #[serde(default)]
    pub cache_busy: Nanos,
}

/// One time for all pages of a block, or times that alternate from page to page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PageTimes {
    /// Every page takes the same.
    Same(Nanos),
    /// Page `i` takes entry `i mod n`.
    Each(Vec<Nanos>),
}

impl PageTimes {
    /// The times as a list: one for all pages, or one for each kind of page.
    pub fn list(&self) -> Vec<u64> {
        match self {
            Self::Same(t) => vec![t.0],
            Self::Each(list) => list.iter().map(|t| t.0).collect(),
        }
    }
}

/// Which commands the flash understands beyond read, program and erase. `[commands]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandsConfig {
    /// Multi-plane read, program and erase (default true).
    pub multi_plane: bool,
    /// Planes of a multi-plane command must use the same block offset (default false).
    pub same_block: bool,
    /// Only planes 0 and 1, and 2 and 3, may be paired; four planes never (default false).
    pub plane_pairs: bool,
    /// Cache read: a page is transferred while the next is sensed (default true).
    pub cache_read: bool,
    /// Cache program: a page is transferred while the one before is programmed (default true).
    pub cache_program: bool,
    /// Copyback: a page moves inside its plane without crossing the channel (default true).
    pub copyback: bool,
    /// Suspend and resume: an erase or a program gives way to reads (default: the flash has no such commands).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<SuspendConfig>,
}

/// Suspending and resuming an operation of the array. `[commands.suspend]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendConfig {
    /// Time from the suspend command until the die takes a read.
    pub latency: Nanos,
    /// Time from the resume command until the array continues (default 0).
    #[serde(default)]
    pub resume: Nanos,
    /// How often one operation can be suspended (default 8).
    #[serde(default = "SuspendConfig::default_limit")]
    pub limit: u32,
    /// An erase can be suspended (default true).
    #[serde(default = "SuspendConfig::can")]
    pub erase: bool,
    /// A program can be suspended (default true).
    #[serde(default = "SuspendConfig::can")]
    pub program: bool,
}

impl CommandsConfig {
    /// Checks the commands that have times and counts.
    pub fn check(&self) -> Result<(), KeyError> {
        self.suspend.map_or(Ok(()), |suspend| suspend.check())
    }
}

impl SuspendConfig {
    fn default_limit() -> u32 {
        8
    }

    fn can() -> bool {
        true
    }

    /// Checks the times and the limit.
    fn check(&self) -> Result<(), KeyError> {
        for (key, time) in [("latency", self.latency), ("resume", self.resume)] {
            if time.0 > 1_000_000_000 {
                return Err(KeyError::new(format!("commands.suspend.{key}"), "it takes more than 1 s")
                    .with_help("use a time up to 1 s, for example \"20 us\""));
            }
        }
        if self.limit == 0 {
            return Err(KeyError::new("commands.suspend.limit", "no operation could be suspended")
                .with_help("use 1 or more, or leave out `commands.suspend`"));
        }
        Ok(())
    }
}

impl Default for CommandsConfig {
    fn default() -> Self {
        Self {
            multi_plane: true,
            same_block: false,
            plane_pairs: false,
            cache_read: true,
            cache_program: true,
            copyback: true,
            suspend: None,
        }
    }
}

/// How much of the flash the host sees; exactly one key. `[capacity]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacityConfig {
    /// Physical over logical capacity, less one: 0.15 is 15 % over-provisioning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_provisioning: Option<f64>,
    /// Share of the physical capacity that is kept back ("reserved free blocks").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<f64>,
    /// Logical capacity in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical: Option<Bytes>,
}

/// Most planes that one command can name.
pub const PLANES_MAX: u32 = 4;
/// Most mapping units in a page.
pub const UNITS_PER_PAGE_MAX: u64 = 16;
/// Most mapping units in a block: their count is kept in 16 bits.
const UNITS_PER_BLOCK_MAX: u64 = 1 << 15;

impl GeometryConfig {
    /// Checks each number and their product.
    pub fn check(&self) -> Result<(), KeyError> {
        let limits = [
            ("channels", self.channels, 256),
            ("chips_per_channel", self.chips_per_channel, 256),
            ("dies_per_chip", self.dies_per_chip, 64),
            ("planes_per_die", self.planes_per_die, PLANES_MAX),
            ("blocks_per_plane", self.blocks_per_plane, 1 << 20),
            ("pages_per_block", self.pages_per_block, 1 << 14),
        ];
        for (key, value, most) in limits {
            if value == 0 || value > most {
                return Err(KeyError::new(format!("geometry.{key}"), format!("{value} is not possible"))
                    .with_help(format!("use a number from 1 to {most}")));
            }
        }
        if self.blocks_per_plane < 8 {
            return Err(KeyError::new(
                "geometry.blocks_per_plane",
                format!("{} is too few for garbage collection", self.blocks_per_plane),
            )
            .with_help("use at least 8"));
        }
        self.check_page()?;
        let units = u128::from(self.channels)
            * u128::from(self.chips_per_channel)
            * u128::from(self.dies_per_chip)
            * u128::from(self.planes_per_die)
            * u128::from(self.blocks_per_plane)
            * u128::from(self.pages_per_block)
            * u128::from(self.units_per_page());
        if units >= u128::from(u32::MAX) {
            return Err(KeyError::new("geometry", format!("the drive has {units} mapping units, more than 2^32 - 2"))
                .with_help("use fewer or smaller parts, or a larger `mapping_unit`"));
        }
        Ok(())
    }

    fn check_page(&self) -> Result<(), KeyError> {
        let page = self.page_size.0;
        if !(512..=1 << 20).contains(&page) || !page.is_multiple_of(512) {
            return Err(KeyError::new("geometry.page_size", format!("a page of {page} bytes is not possible"))
                .with_help("use a multiple of 512 bytes from 512 bytes to 1 MiB"));
        }
        if let Some(unit) = self.mapping_unit {
            let fits = unit.0 >= 512 && unit.0.is_multiple_of(512) && page.is_multiple_of(unit.0);
            if !fits || page / unit.0 > UNITS_PER_PAGE_MAX {
                let why = match fits {
                    true => format!("a page of {page} bytes has {} units of {} bytes", page / unit.0, unit.0),
                    false => format!("{} bytes are no multiple of 512 that divides a page of {page} bytes", unit.0),
                };
                return Err(KeyError::new("geometry.mapping_unit", why)
                    .with_help(format!("use the page size divided by a whole number from 1 to {UNITS_PER_PAGE_MAX}")));
            }
        }
        if u64::from(self.pages_per_block) * self.units_per_page() > UNITS_PER_BLOCK_MAX {
            return Err(KeyError::new(
                "geometry.pages_per_block",
                format!("a block has {} mapping units", u64::from(self.pages_per_block) * self.units_per_page()),
            )
            .with_help(format!("use at most {UNITS_PER_BLOCK_MAX}: fewer pages or a larger `mapping_unit`")));
        }
        Ok(())
    }

    /// The shape of a drive that is written in rows (the next page of all planes of a die at once): each die has one
    /// plane, whose pages are rows.
    #[must_use]
    pub fn in_rows(&self) -> Self {
        let mapping_unit = Some(Bytes(self.unit_bytes()));
        let page_size = Bytes(self.page_size.0 * u64::from(self.planes_per_die));
        Self { planes_per_die: 1, page_size, mapping_unit, ..self.clone() }
    }

    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u64 {
        self.mapping_unit.unwrap_or(self.page_size).0
    }

    /// Mapping units in a page.
    pub fn units_per_page(&self) -> u64 {
        self.page_size.0 / self.unit_bytes()
    }
}

impl TimingConfig {
    /// Checks that the times that flash needs are not zero, and that lists are not empty.
    pub fn check(&self) -> Result<(), KeyError> {
        for (key, times) in
            [("read", self.read.list()), ("program", self.program.list()), ("erase", vec![self.erase.0])]
        {
            if times.is_empty() || times.iter().any(|&t| t == 0 || t > 1_000_000_000) {
                return Err(KeyError::new(format!("timing.{key}"), "an array time must be above 0 and at most 1 s")
                    .with_help(
                        "write for example \"75 us\", or [\"40 us\", \"60 us\", \"90 us\"] for LSB, CSB, MSB pages",
                    ));
            }
        }
        check_step("timing.command", self.command)?;
        check_step("timing.cache_busy", self.cache_busy)
    }
}

impl CapacityConfig {
    /// Bytes that the host sees of `physical_bytes`.
    pub fn logical_bytes(&self, physical_bytes: u64) -> Result<u64, KeyError> {
        let given = [self.over_provisioning.is_some(), self.reserved.is_some(), self.logical.is_some()];
        if given.iter().filter(|&&g| g).count() != 1 {
            return Err(KeyError::new(
                "capacity",
                "exactly one of `over_provisioning`, `reserved` and `logical` is needed",
            )
            .with_help("set one of them: a layer's `[capacity]` replaces that of earlier layers whole"));
        }
        if let Some(op) = self.over_provisioning {
            if !(op > 0.0 && op <= 10.0) {
                return Err(KeyError::new("capacity.over_provisioning", format!("{} is not possible", number(op)))
                    .with_help("use physical/logical - 1, for example 0.15 for 15 %"));
            }
            return Ok((physical_bytes as f64 / (1.0 + op)) as u64);
        }
        if let Some(reserved) = self.reserved {
            if !(reserved > 0.0 && reserved < 0.95) {
                return Err(KeyError::new("capacity.reserved", format!("{} is not possible", number(reserved)))
                    .with_help("use a share of the physical capacity between 0 and 0.95, for example 0.15"));
            }
            return Ok((physical_bytes as f64 * (1.0 - reserved)) as u64);
        }
        let logical = self.logical.expect("one key is given").0;
        if logical == 0 || logical >= physical_bytes {
            return Err(KeyError::new(
                "capacity.logical",
                format!("{logical} bytes of logical capacity do not fit into {physical_bytes} bytes of flash"),
            )
            .with_help("leave flash for garbage collection: 7 % at least"));
        }
        Ok(logical)
    }
}
