//! The drives of a run: a single drive, or the drives of an array; and whether a configuration describes an array.

use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::array::coordination::CoordinationConfig;
use crate::array::{ArrayConfig, Layout, Override, grain_bytes};
use crate::config::KeyError;
use crate::flash::geometry::Geometry;
use crate::host::config::Target;
use copyback_workload::units::{Bytes, rounded_bytes};

/// A drive of a run.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its configuration; its settings of the host, the array and the measurement are ignored.
    pub config: RunConfig,
    /// The seed of its streams.
    pub seed: u64,
}

impl RunConfig {
    /// The drives of a run. `of_override` returns the configuration of the override with this number; none if its
    /// drives keep this configuration.
    ///
    /// # Errors
    /// Those of `of_override`.
    pub fn members<E>(
        &self,
        seed: u64,
        mut of_override: impl FnMut(usize) -> Result<Option<RunConfig>, E>,
    ) -> Result<Vec<Member>, E> {
        let Some(array) = &self.array else { return Ok(vec![Member { config: self.clone(), seed }]) };
        let own: Vec<Option<RunConfig>> = (0..array.overrides.len()).map(&mut of_override).collect::<Result<_, _>>()?;
        let config = |drive: u32| {
            // At most one override determines the drive.
            let mut named = array.overrides.iter().zip(&own).filter(|(named, _)| named.drives.contains(&drive));
            let mut config = named.find_map(|(_, own)| own.clone()).unwrap_or_else(|| self.clone());
            if array.failed.contains(&drive) {
                // A failed drive has no data; the drive onto which it is rebuilt is empty.
                config.precondition = PreconditionConfig::Empty {};
            }
            config
        };
        let member = |drive| Member { config: config(drive), seed: array.seed_of(drive, seed) };
        Ok((0..array.drives).map(member).collect())
    }

    /// The array of a run. A drive alone whose collections are coordinated is an array of one: its elements agree.
    pub fn array_or_alone(&self) -> Option<ArrayConfig> {
        // Its stripe units are the drive's mapping units, so that no capacity is left over.
        let unit_bytes = self.geometry.unit_bytes();
        let alone = || ArrayConfig { drives: 1, stripe_unit: Some(Bytes(unit_bytes)), ..ArrayConfig::default() };
        self.array.clone().or_else(|| self.coordination.common().map(|_| alone()))
    }

    /// Bytes that the host can address: those of the volume, or of the one drive.
    pub fn capacity_bytes(&self, members: &[Member]) -> u64 {
        let shapes = || members.iter().map(|member| Geometry::new(&member.config.device()));
        let least = shapes().map(|shape| shape.logical_bytes()).min().unwrap_or(0);
        let grain_bytes = grain_bytes(shapes().map(|shape| u64::from(shape.unit_bytes)));
        let Some(array) = &self.array else { return least };
        Layout::new(array.level, array.drives, array.stripe_unit_bytes(grain_bytes), least).capacity_bytes()
    }

    /// Bytes that a request can address: those of the volume, or of the smallest drive if requests address drives.
    pub fn addressed_bytes(&self, members: &[Member]) -> u64 {
        let of_drive = |member: &Member| Geometry::new(&member.config.device()).logical_bytes();
        match (&self.array, self.host.target) {
            (Some(_), Target::Drive) => members.iter().map(of_drive).min().unwrap_or(0),
            _ => self.capacity_bytes(members),
        }
    }

    /// Checks the array, and that its drives can be coordinated if they should be.
    pub(super) fn check_array(&self) -> Result<(), KeyError> {
        self.coordination.check()?;
        if self.array.is_none() && self.host.target == Target::Drive {
            return Err(KeyError::new("host.target", "there is no array of drives that requests could address")
                .with_help("leave it out, or describe an array: --array raid-0"));
        }
        let Some(array) = self.array_or_alone() else { return Ok(()) };
        array.check()?;
        let is_overridden = |named: &Override, drive| {
            (named.device.is_some() || named.scheme.is_some()) && named.drives.contains(&drive)
        };
        // Drives of this configuration; the others are checked one by one.
        let own = || (0..array.drives).filter(|&drive| !array.overrides.iter().any(|n| is_overridden(n, drive)));
        if let Some(first) = own().next() {
            array.check_against(first, &self.geometry)?;
            let unit_bytes = array.stripe_unit_bytes(self.geometry.unit_bytes());
            check_holds_a_unit(
                unit_bytes,
                first,
                Geometry::new(&self.device()).logical_bytes(),
                self.geometry.unit_bytes(),
            )?;
        }
        if self.host.target == Target::Drive && array.level != crate::array::RaidLevel::Raid0 {
            let message =
                format!("requests that bypass the volume would break the redundancy of {}", array.level.name());
            return Err(KeyError::new("host.target", message).with_help("use `array.level = \"raid-0\"`"));
        }
        match own().any(|drive| array.is_coordinated(drive)) {
            true => self.check_coordinated(&self.coordination),
            false => Ok(()),
        }
    }

    /// Checks that drives, including drives that an override changed, form this run's array. Each drive was checked
    /// alone.
    ///
    /// # Errors
    /// The key of the array that does not fit a drive, which the message names.
    pub fn check_drives<'a>(&self, drives: impl Iterator<Item = &'a Self> + Clone) -> Result<(), KeyError> {
        let grain_bytes = grain_bytes(drives.clone().map(|drive| drive.geometry.unit_bytes()));
        (0..).zip(drives).try_for_each(|(number, drive)| self.check_member(number, drive, grain_bytes))
    }

    /// Whether a drive that an override may have changed fits into this run's array. `grain_bytes`: a multiple of the
    /// mapping units of all drives.
    fn check_member(&self, number: u32, drive: &RunConfig, grain_bytes: u64) -> Result<(), KeyError> {
        let Some(array) = self.array_or_alone() else { return Ok(()) };
        let stripe_unit_bytes = array.stripe_unit_bytes(grain_bytes);
        array.check_against(number, &drive.geometry)?;
        let bytes = Geometry::new(&drive.device()).logical_bytes();
        check_holds_a_unit(stripe_unit_bytes, number, bytes, grain_bytes)?;
        if !array.is_coordinated(number) {
            return Ok(());
        }
        let named = |mut error: KeyError| {
            error.message = format!("drive {number}: {}", error.message);
            error.with_help("exclude the drive from coordination: `coordinated = false` in its `[[array.override]]`")
        };
        drive.check_coordinated(&self.coordination).map_err(named)
    }

    /// A drive can be coordinated if planes or dies collect for themselves, and only at the times that the coordinator
    /// sets.
    fn check_coordinated(&self, coordination: &CoordinationConfig) -> Result<(), KeyError> {
        if coordination.common().is_none() {
            return Ok(());
        }
        let refuse = |key: &str, why: &str, help: &str| Err(KeyError::new(key, why).with_help(help));
        if self.preemption.is_timeless() {
            let why = "collections in zero time need no coordination";
            return refuse("coordination.policy", why, "use \"uncoordinated\", or another `preemption.policy`");
        }
        if self.preemption.as_task().is_some() {
            let why = "collections that reserve no die (`preemption.policy = \"always\"`) take no orders to begin";
            return refuse("coordination.policy", why, "use \"uncoordinated\", or another `preemption.policy`");
        }
        if self.mapping.log_blocks().is_some() {
            let why = "merges of log blocks (`mapping.policy`) begin when a log block is needed, not at a watermark";
            return refuse("coordination.policy", why, "use \"uncoordinated\", or `mapping.policy = \"page\"`");
        }
        if let Some(key) = self.trigger.key_of_own_start() {
            let why = "a drive whose collections are coordinated starts none by itself";
            let help = format!("remove `{key}`: `coordination.policy` decides when it collects in idle time");
            return refuse(key, why, &help);
        }
        if self.trigger.stagger_blocks() > 0 {
            let why = "coordinated planes collect together, and watermarks that lie apart prevent that";
            return refuse("trigger.stagger", why, "leave it out, or use `coordination.policy = \"uncoordinated\"`");
        }
        if coordination.may_pause() && self.admit.slots() == 1 {
            let why = "a collection that pauses keeps the only slot of its die's window, so that no request comes in";
            let help = "use 2 or more slots, or set `coordination.on_request` to \"finish-collection\"";
            return refuse("admit.slots", why, help);
        }
        Ok(())
    }
}

/// A drive of fewer bytes than a stripe unit holds nothing.
fn check_holds_a_unit(unit_bytes: u64, number: u32, bytes: u64, grain_bytes: u64) -> Result<(), KeyError> {
    if unit_bytes <= bytes {
        return Ok(());
    }
    let message = format!(
        "{} are more than the {} of drive {number}",
        rounded_bytes(unit_bytes as f64),
        rounded_bytes(bytes as f64)
    );
    let help = format!(
        "use at most {bytes} bytes, in whole mapping units of all drives ({grain_bytes} bytes), or drives with \
         other page sizes"
    );
    Err(KeyError::new("array.stripe_unit", message).with_help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An override that sets only `coordinated` keeps what an earlier one sets.
    #[test]
    fn a_drive_keeps_the_device_of_an_earlier_override() {
        let table = "geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, \
                     blocks_per_plane = 16, pages_per_block = 8, page_size = 4096 }\ncapacity = { reserved = 0.2 }\n\
                     timing = { read = \"1 us\", program = \"1 us\", erase = \"1 us\", channel = \"1 MB/s\" }\n\
                     [array]\ndrives = 2\n[[array.override]]\ndrives = [1]\ndevice = \"other\"\n\
                     [[array.override]]\ndrives = [1]\ncoordinated = false\n";
        let config: RunConfig = crate::config::from_toml(table).expect("a configuration");
        let mut other = config.clone();
        other.geometry.blocks_per_plane = 24;
        let own = |at: usize| Ok::<_, KeyError>((at == 0).then(|| other.clone()));
        let members = config.members(1, own).expect("nothing fails");
        assert_eq!(members.iter().map(|m| m.config.geometry.blocks_per_plane).collect::<Vec<_>>(), [16, 24]);
    }

    fn config(more: &str) -> RunConfig {
        let table = "geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, \
                     blocks_per_plane = 16, pages_per_block = 8, page_size = 2048 }\ncapacity = { reserved = 0.21 }\n\
                     timing = { read = \"1 us\", program = \"1 us\", erase = \"1 us\", channel = \"1 MB/s\" }\n";
        crate::config::from_toml(&format!("{table}{more}")).unwrap_or_else(|e| panic!("{e}\n{more}"))
    }

    /// A single drive whose elements are coordinated keeps its whole capacity.
    #[test]
    fn an_array_of_one_leaves_nothing_over() {
        let config = config("coordination = { policy = \"ggc-reactive-inclusive\" }");
        let bytes = Geometry::new(&config.device()).logical_bytes();
        assert!(!bytes.is_multiple_of(4096), "{bytes}");
        let array = config.array_or_alone().expect("it is one");
        let layout = Layout::new(array.level, array.drives, array.stripe_unit_bytes(2048), bytes);
        assert_eq!(layout.capacity_bytes(), bytes);
    }

    /// Checks the drives of a run, and not the configuration if overrides replace it on all drives.
    #[test]
    fn a_configuration_that_no_drive_has_is_not_looked_at() {
        let stripe_unit = "[array]\ndrives = 2\nstripe_unit = \"3 KiB\"\n";
        let of = |more: &str| config(&format!("{stripe_unit}{more}")).check_array().map_err(|error| error.key);
        let other = |drives: &str| format!("[[array.override]]\ndrives = {drives}\ndevice = \"other\"");
        assert_eq!(of(""), Err("array.stripe_unit".into()));
        assert_eq!(of(&other("[0]")), Err("array.stripe_unit".into()));
        assert_eq!(of(&other("[0, 1]")), Ok(()));
    }

    #[test]
    fn times_beyond_any_run_are_refused() {
        let refused = |more: &str| config(more).check_array().map_err(|error| error.key).err();
        let century = "\"18446744073 s\"";
        assert_eq!(refused(&format!("[array]\ndelay = {century}")).as_deref(), Some("array.delay"));
        for (policy, key) in [
            ("ggc-reactive-inclusive", "message_latency"),
            ("ggc-proactive-idle", "idle_poll"),
            ("ggc-proactive-idle", "idle_after"),
            ("ggc-proactive-soft-limit", "report_every"),
        ] {
            let text = format!("coordination = {{ policy = \"{policy}\", {key} = {century} }}");
            assert_eq!(refused(&text), Some(format!("coordination.{key}")));
        }
        let slow = "[array]\nlevel = \"raid-5\"\nfailed = [0]\nrebuild = \"1 B/s\"\nstripe_unit = \"8 GB\"";
        assert_eq!(refused(slow).as_deref(), Some("array.rebuild"));
    }

    /// `idle_stop = "own"` is refused: drives would register again at once.
    #[test]
    fn idle_time_collects_further_than_need_does() {
        let of = |stop: &str| {
            let text = format!("coordination = {{ policy = \"ggc-proactive-idle\", idle_stop = \"{stop}\" }}");
            config(&text).check_array().map_err(|error| error.key).err()
        };
        assert_eq!(["own", "report", "reserve"].map(of), [Some("coordination.idle_stop".into()), None, None]);
    }
}
