//! The configuration of an array.

use crate::config::times::{DISTANCE_MAX_NS, check_step};
use crate::config::{GeometryConfig, KeyError, Rate};
use crate::observe::array_report::VolumeTotals;
use crate::redundancy::planner::Partial;
use copyback_workload::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Default bytes of a stripe unit.
const STRIPE_UNIT_BYTES: u64 = 4096;

/// The most drives of an array: a set of drives is a 64-bit word.
pub const DRIVES_MAX: u32 = 64;

/// Several drives behind one volume. `[array]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArrayConfig {
    /// `raid-0` (default), `raid-1`, `raid-10`, `raid-5` (left-symmetric) or `raid-6`.
    pub level: RaidLevel,
    /// How many drives (default 8, at most 64).
    pub drives: u32,
    /// Bytes of one drive that are contiguous in the volume (default: 4 KiB, rounded up to whole mapping units of all
    /// drives).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_unit: Option<Bytes>,
    /// The reads before a part of a stripe is written: `read-modify-write` (the old data and the parity), `reconstruct`
    /// (the rest of the data), or `least` (default: the one of these two that reads less; if equal, the former).
    pub partial: Partial,
    /// When the writes of a stripe begin: after all `reads` of the stripe (default), or each after its `own` reads, so
    /// that only parity waits for all reads.
    pub write_after: WriteAfter,
    /// The controller's delay of a request before it reaches a drive (default 0).
    pub delay: Nanos,
    /// Whether a read of a drive that collects goes to its mirror, or is rebuilt, if the alternative does not collect
    /// (default `false`).
    pub gc_aware_reads: bool,
    /// Random streams of the drives: each has its `own` (default), or all have the `same`, so that drives with equal
    /// pasts collect at the same times.
    pub seeds: Seeds,
    /// Drives that have failed before the run, by number from 0 (default: none).
    pub failed: Vec<u32>,
    /// Bytes a second at which each failed drive is rebuilt, onto an empty drive of its kind (default: no rebuild).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<Rate>,
    /// Settings of single drives that differ from the others'.
    #[serde(rename = "override", skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Override>,
}

/// How the drives of an array share its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum RaidLevel {
    #[default]
    #[serde(rename = "raid-0")]
    Raid0,
    #[serde(rename = "raid-1")]
    Raid1,
    #[serde(rename = "raid-10")]
    Raid10,
    #[serde(rename = "raid-5")]
    Raid5,
    #[serde(rename = "raid-6")]
    Raid6,
}

impl RaidLevel {
    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "raid-0",
            Self::Raid1 => "raid-1",
            Self::Raid10 => "raid-10",
            Self::Raid5 => "raid-5",
            Self::Raid6 => "raid-6",
        }
    }

    /// The fewest drives of the level.
    fn drives_min(self) -> u32 {
        match self {
            Self::Raid0 => 1,
            Self::Raid1 | Self::Raid10 => 2,
            Self::Raid5 => 3,
            Self::Raid6 => 4,
        }
    }
}

/// When a write of a stripe begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteAfter {
    /// When all reads of the stripe have ended.
    #[default]
    Reads,
    /// A unit of data when its own old data is read, or at once if it is not; parity when all reads have completed.
    Own,
}

/// The random streams of drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seeds {
    /// Each its own.
    #[default]
    Own,
    /// All have the streams of the run.
    Same,
}

/// Settings of some drives that differ from the others'. `[[array.override]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Which drives, by number from 0.
    pub drives: Vec<u32>,
    /// Another device: a preset or a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Another scheme: a preset or a file. Its coordination has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Another seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether it can be coordinated (default `true`); if not, it collects independently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinated: Option<bool>,
}

impl Default for ArrayConfig {
    fn default() -> Self {
        Self {
            level: RaidLevel::Raid0,
            drives: 8,
            stripe_unit: None,
            partial: Partial::default(),
            write_after: WriteAfter::Reads,
            delay: Nanos(0),
            gc_aware_reads: false,
            seeds: Seeds::Own,
            failed: Vec::new(),
            rebuild: None,
            overrides: Vec::new(),
        }
    }
}

impl ArrayConfig {
    /// Notes on settings without effect in a run with these counts of its volume.
    pub fn notes_without_effect(&self, totals: &VolumeTotals) -> Vec<String> {
        let mut notes = Vec::new();
        let has_parity = matches!(self.level, RaidLevel::Raid5 | RaidLevel::Raid6);
        if has_parity
            && self.partial != Partial::default()
            && totals.read_modify_writes + totals.reconstruct_writes == 0
        {
            notes.push("`array.partial` has no effect: no write covered a part of a stripe".to_owned());
        }
        if self.gc_aware_reads && totals.gc_aware_reads + totals.gc_aware_waits == 0 {
            notes.push("`array.gc_aware_reads` has no effect: no read met a drive that collected".to_owned());
        }
        notes
    }

    /// Checks everything that can be checked without its drives.
    pub fn check(&self) -> Result<(), KeyError> {
        let (least, drives) = (self.level.drives_min(), self.drives);
        if !(least..=DRIVES_MAX).contains(&drives) || (self.level == RaidLevel::Raid10 && drives % 2 == 1) {
            let level = self.level.name();
            let even = if self.level == RaidLevel::Raid10 { "an even number " } else { "" };
            let make = if drives == 1 { "drive makes" } else { "drives make" };
            return Err(KeyError::new("array.drives", format!("{drives} {make} no {level}"))
                .with_help(format!("use {even}from {least} to {DRIVES_MAX}")));
        }
        if self.stripe_unit == Some(Bytes(0)) {
            return Err(KeyError::new("array.stripe_unit", "a stripe unit of no bytes holds no data")
                .with_help("use a size such as \"4 KiB\" or \"256 KiB\""));
        }
        if self.gc_aware_reads && self.level == RaidLevel::Raid0 {
            return Err(KeyError::new("array.gc_aware_reads", "raid-0 has no redundancy to read from")
                .with_help("leave it out, or use `array.level` \"raid-1\", \"raid-10\", \"raid-5\" or \"raid-6\""));
        }
        check_step("array.delay", self.delay)?;
        self.check_failures()?;
        self.check_overrides()
    }

    fn check_failures(&self) -> Result<(), KeyError> {
        for (at, &drive) in self.failed.iter().enumerate() {
            self.check_drive("array.failed", drive)?;
            if self.failed[..at].contains(&drive) {
                return Err(KeyError::new("array.failed", format!("drive {drive} is named twice"))
                    .with_help("name each drive once"));
            }
        }
        // One drive of a mirror suffices; a pair of RAID-10 loses its data with both drives.
        let lost = match self.level {
            RaidLevel::Raid0 => !self.failed.is_empty(),
            RaidLevel::Raid1 => self.failed.len() as u32 >= self.drives,
            RaidLevel::Raid10 => self.failed.iter().any(|drive| self.failed.contains(&(drive ^ 1))),
            RaidLevel::Raid5 => self.failed.len() > 1,
            RaidLevel::Raid6 => self.failed.len() > 2,
        };
        if lost {
            let failed: Vec<String> = self.failed.iter().map(u32::to_string).collect();
            let (level, plural) = (self.level.name(), if failed.len() == 1 { "" } else { "s" });
            let message = format!("{level} does not survive the failure of drive{plural} {}", failed.join(" and "));
            return Err(KeyError::new("array.failed", message).with_help("name fewer drives, or choose another level"));
        }
        if self.rebuild.is_some() && self.failed.is_empty() {
            return Err(KeyError::new("array.rebuild", "there is no failed drive to rebuild")
                .with_help("name the drive in `array.failed`, or remove `array.rebuild`"));
        }
        let unit_bytes = self.stripe_unit_bytes(1);
        let unit_ns = self.rebuild.map(|rate| rate.checked_transfer_ns(unit_bytes).unwrap_or(u64::MAX));
        if unit_ns.is_some_and(|ns| ns > DISTANCE_MAX_NS) {
            let message = format!("the rebuild of a stripe unit of {unit_bytes} bytes takes more than 146 years");
            return Err(KeyError::new("array.rebuild", message).with_help("use a higher rate, or smaller units"));
        }
        Ok(())
    }

    fn check_overrides(&self) -> Result<(), KeyError> {
        for named in &self.overrides {
            named.drives.iter().try_for_each(|&drive| self.check_drive("array.override.drives", drive))?;
            if named.drives.is_empty() {
                return Err(KeyError::new("array.override.drives", "no drive is named")
                    .with_help("name drives by number, such as [0, 3]"));
            }
        }
        (0..self.drives).try_for_each(|drive| self.check_overrides_of(drive))
    }

    /// Checks that no two overrides contradict each other about a drive. The device and the scheme of a drive belong
    /// together: an override that names one of them defines the drive.
    fn check_overrides_of(&self, drive: u32) -> Result<(), KeyError> {
        let of_drive = || self.overrides.iter().filter(|named| named.drives.contains(&drive));
        let is_named = |named: &&Override| named.device.is_some() || named.scheme.is_some();
        for (what, count) in [
            ("the device or the scheme", of_drive().filter(is_named).count()),
            ("`seed`", of_drive().filter(|named| named.seed.is_some()).count()),
            ("`coordinated`", of_drive().filter(|named| named.coordinated.is_some()).count()),
        ] {
            if count > 1 {
                let why = format!("{count} overrides of drive {drive} set {what}");
                return Err(KeyError::new("array.override", why)
                    .with_help("name each drive in one [[array.override]], with all its settings"));
            }
        }
        Ok(())
    }

    fn check_drive(&self, key: &str, drive: u32) -> Result<(), KeyError> {
        if drive < self.drives {
            return Ok(());
        }
        let message = format!("there is no drive {drive}: the array has {}", self.drives);
        Err(KeyError::new(key, message).with_help(format!("use numbers from 0 to {}", self.drives - 1)))
    }

    /// Checks that stripe units are whole mapping units of a drive.
    pub fn check_against(&self, drive: u32, geometry: &GeometryConfig) -> Result<(), KeyError> {
        let unit = geometry.unit_bytes();
        let Some(stripe_unit) = self.stripe_unit.filter(|stripe_unit| !stripe_unit.0.is_multiple_of(unit)) else {
            return Ok(());
        };
        let message = format!("{} bytes are no whole mapping units of drive {drive}: {unit} bytes each", stripe_unit.0);
        Err(KeyError::new("array.stripe_unit", message).with_help(format!("use a multiple of {unit} bytes")))
    }

    /// Bytes of a stripe unit. `grain_bytes`: the smallest number of bytes that is whole mapping units of all drives.
    pub fn stripe_unit_bytes(&self, grain_bytes: u64) -> u64 {
        self.stripe_unit.map_or(STRIPE_UNIT_BYTES.next_multiple_of(grain_bytes), |stripe_unit| stripe_unit.0)
    }

    /// The seed of a drive. The first drive has the run's seed, and therefore the results of a run alone.
    pub fn seed_of(&self, drive: u32, seed: u64) -> u64 {
        let own = self.overrides.iter().filter(|named| named.drives.contains(&drive)).find_map(|named| named.seed);
        match (own, self.seeds) {
            (Some(own), _) => own,
            (None, Seeds::Same) => seed,
            // An odd constant times the number: no two drives of a run have the same seed, and runs with neighbouring
            // seeds share none.
            (None, Seeds::Own) => seed.wrapping_add(u64::from(drive).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        }
    }

    /// Whether a drive can be coordinated.
    pub fn is_coordinated(&self, drive: u32) -> bool {
        let says_no = |named: &Override| named.coordinated == Some(false) && named.drives.contains(&drive);
        !self.overrides.iter().any(says_no)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(overrides: &[&str]) -> ArrayConfig {
        let overrides = overrides.iter().map(|named| format!("[[override]]\n{named}\n")).collect::<String>();
        crate::config::from_toml(&format!("drives = 3\n{overrides}")).expect("an array")
    }

    /// Only reads of the host avoid drives that collect; reads before writes do not.
    #[test]
    fn a_run_without_detours_gets_a_note() {
        let array = ArrayConfig { gc_aware_reads: true, ..array(&[]) };
        let notes = |totals| array.notes_without_effect(&totals).len();
        assert_eq!(notes(VolumeTotals { reads_before_writes: 3, ..VolumeTotals::default() }), 1);
        assert_eq!(notes(VolumeTotals { gc_aware_waits: 1, ..VolumeTotals::default() }), 0);
        assert_eq!(notes(VolumeTotals { gc_aware_reads: 1, ..VolumeTotals::default() }), 0);
    }

    /// Two overrides may set different keys of a drive.
    #[test]
    fn overrides_add_up() {
        let array = array(&["drives = [0]\nseed = 7", "drives = [0, 1]\ncoordinated = false"]);
        array.check().expect("it is one");
        assert_eq!([0, 1].map(|drive| array.seed_of(drive, 1) == 7), [true, false]);
        assert_eq!([0, 1, 2].map(|drive| array.is_coordinated(drive)), [false, false, true]);
    }

    /// Each level survives as many failed drives as it has copies or parity for: of RAID-10, one drive of each pair.
    #[test]
    fn a_level_loses_data_with_the_first_failure_beyond_its_redundancy() {
        let survives = |level: &str, failed: &str| {
            let array = format!("drives = 4\nlevel = \"{level}\"\nfailed = {failed}");
            match crate::config::from_toml::<ArrayConfig>(&array).expect("an array").check() {
                Ok(()) => true,
                Err(error) => {
                    assert_eq!(error.key, "array.failed", "{error}");
                    false
                }
            }
        };
        for (level, most, more) in [
            ("raid-1", "[0, 1, 2]", "[0, 1, 2, 3]"),
            ("raid-10", "[1, 2]", "[2, 3]"),
            ("raid-10", "[0, 3]", "[1, 0]"),
            ("raid-5", "[3]", "[2, 3]"),
            ("raid-6", "[2, 3]", "[1, 2, 3]"),
            ("raid-0", "[]", "[0]"),
        ] {
            assert!(survives(level, most) && !survives(level, more), "{level}: {most}, {more}");
        }
    }

    /// Two overrides that set the same key of one drive are refused: one of them would have no effect.
    #[test]
    fn overrides_that_contradict_each_other_are_refused() {
        let same = [
            ("device = \"small\"", "device = \"tlc-nvme\""),
            ("device = \"small\"", "scheme = \"pgc\""),
            ("scheme = \"pgc\"", "scheme = \"pgc\""),
            ("seed = 7", "seed = 8"),
            ("coordinated = true", "coordinated = false"),
        ];
        for (first, second) in same {
            let check = |drive| {
                let second = format!("drives = [{drive}]\n{second}");
                array(&[&format!("drives = [0, 1]\n{first}"), &second]).check()
            };
            let error = check(1).expect_err(first);
            assert_eq!(error.key, "array.override");
            assert!(error.message.contains("of drive 1") && error.help.is_some(), "{error:?}");
            check(2).expect("no drive is in both");
        }
    }
}
