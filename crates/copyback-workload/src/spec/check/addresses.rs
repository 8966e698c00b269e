//! Checks of the addresses of generated requests.

use super::{Checked, positive, share, wrong};
use crate::spec::{AddressKind, AddressSpec, GENERATED_ALIGN_DEFAULT, SizeSpec, WorkloadSpec};

/// The most zones of `zones`.
const ZONES_MAX: usize = 256;

impl WorkloadSpec {
    /// Checks the addresses, and that they agree with the sizes of requests.
    pub(super) fn check_addresses(&self) -> Checked {
        let Some(addresses) = &self.addresses else { return Ok(()) };
        addresses.check()?;
        let sizes = [&self.size, &self.read_size, &self.write_size, &self.trim_size];
        let keys = ["size", "read_size", "write_size", "trim_size"];
        let has_own = |size: &&Option<SizeSpec>| size.as_ref().is_some_and(|size| size.offset_align.is_some());
        if addresses.kind == AddressKind::ArraySkew
            && let Some(at) = sizes.iter().position(has_own)
        {
            let message = "requests of `array-skew` begin at multiples of `align`";
            return Err(wrong(&format!("{}.offset_align", keys[at]), message, "remove it, or change `addresses.kind`"));
        }
        let Some(unit) = addresses.map_unit else { return Ok(()) };
        let align = self.align.unwrap_or(GENERATED_ALIGN_DEFAULT);
        let own = [&self.read_size, &self.write_size, &self.trim_size].into_iter().flatten().chain(&self.size);
        let least = own.map(|size| size.offset_align.unwrap_or(align)).min().unwrap_or(align);
        if unit.0 == 0 || unit > least {
            let message =
                format!("it has to be above 0 and at most {least}, the smallest unit of an operation, not {unit}");
            return Err(wrong("addresses.map_unit", message, "lower it, or remove it"));
        }
        Ok(())
    }
}

impl AddressSpec {
    fn check(&self) -> Checked {
        self.check_belonging()?;
        share("addresses.sequential_share", self.sequential_share.unwrap_or(0.0))?;
        self.check_runs()?;
        match self.kind {
            AddressKind::Uniform | AddressKind::Once | AddressKind::Numbered => Ok(()),
            AddressKind::Zipf => positive("addresses.theta", self.theta, "set for example 0.99"),
            AddressKind::SelfSimilar => match self.skew {
                Some(skew) if skew > 0.0 && skew < 1.0 => Ok(()),
                _ => Err(wrong("addresses.skew", "it has to be between 0 and 1", "set for example 0.2")),
            },
            AddressKind::Zones => self.check_zones(),
            AddressKind::Listed if self.blocks.is_empty() => {
                Err(wrong("addresses.blocks", "it is missing", "set for example [2, 0, 1]"))
            }
            AddressKind::Listed => Ok(()),
            AddressKind::HotCold => {
                share("addresses.hot_share", self.hot_share.unwrap_or(0.8))?;
                let space = self.hot_space.unwrap_or(0.2);
                if space > 0.0 && space < 1.0 {
                    return Ok(());
                }
                Err(wrong("addresses.hot_space", format!("{space} is not between 0 and 1"), "set for example 0.2"))
            }
            AddressKind::ArraySkew => self.check_array(),
        }
    }

    fn check_belonging(&self) -> Checked {
        use AddressKind::{ArraySkew, HotCold, Listed, Numbered, SelfSimilar, Zipf, Zones};
        let keys = [
            ("addresses.ends", self.ends.is_some(), Numbered),
            ("addresses.map_unit", self.map_unit.is_some(), Numbered),
            ("addresses.theta", self.theta.is_some(), Zipf),
            ("addresses.skew", self.skew.is_some(), SelfSimilar),
            ("addresses.zones", !self.zones.is_empty(), Zones),
            ("addresses.blocks", !self.blocks.is_empty(), Listed),
            ("addresses.advance", self.advance.is_some(), Listed),
            ("addresses.hot_share", self.hot_share.is_some(), HotCold),
            ("addresses.hot_space", self.hot_space.is_some(), HotCold),
            ("addresses.hot_scope", self.hot_scope.is_some(), HotCold),
            ("addresses.drive", self.drive.is_some(), ArraySkew),
            ("addresses.drives", self.drives.is_some(), ArraySkew),
            ("addresses.drive_share", self.drive_share.is_some(), ArraySkew),
            ("addresses.stripe_unit", self.stripe_unit.is_some(), ArraySkew),
            ("addresses.per_drive", self.per_drive.is_some(), ArraySkew),
        ];
        match keys.iter().find(|(_, is_set, kind)| *is_set && *kind != self.kind) {
            Some((key, _, kind)) => {
                let message = format!("it belongs to `kind = \"{kind}\"`, but the kind is `{}`", self.kind);
                Err(wrong(key, message, "remove it, or change `kind`"))
            }
            None => Ok(()),
        }
    }

    /// Refuses skips if no request continues the last one, and repetitions without runs.
    fn check_runs(&self) -> Checked {
        let continues = self.sequential_share.unwrap_or(0.0) > 0.0 || self.run_length.is_some();
        for (key, is_set) in [("skip", self.skip.is_some()), ("skip_back", self.skip_back.is_some())] {
            if is_set && !continues {
                let help = "set `sequential_share` or `run_length`, or remove it";
                return Err(wrong(&format!("addresses.{key}"), "no request continues the last one", help));
            }
        }
        if self.skip_every.is_some() && self.skip.is_none() && self.skip_back.is_none() {
            return Err(wrong("addresses.skip_every", "nothing is skipped", "set `skip` or `skip_back`, or remove it"));
        }
        if self.skip.is_some() && self.skip_back.is_some() {
            return Err(wrong("addresses.skip_back", "`skip` goes forwards", "remove one of them"));
        }
        if self.run_length == Some(0) {
            return Err(wrong("addresses.run_length", "it is zero", "set 1 or more"));
        }
        if self.run_repeats.is_some() && self.run_length.is_none() {
            return Err(wrong("addresses.run_repeats", "there are no runs", "set `run_length`, or remove it"));
        }
        let is_continued = self.sequential_share.unwrap_or(0.0) > 0.0;
        let continuing = [("sequential_share", is_continued), ("run_length", self.run_length.is_some())];
        if self.kind == AddressKind::ArraySkew
            && let Some((key, _)) = continuing.iter().find(|(_, is_set)| *is_set)
        {
            let message = "requests of `array-skew` are drawn one by one";
            return Err(wrong(&format!("addresses.{key}"), message, "remove it, or change `kind`"));
        }
        Ok(())
    }

    fn check_zones(&self) -> Checked {
        let help = "set for example [[0.8, 0.2], [0.2, 0.8]]: shares of requests and of the footprint; both sum to 1";
        if self.zones.is_empty() || self.zones.len() > ZONES_MAX {
            return Err(wrong("addresses.zones", format!("there have to be 1 to {ZONES_MAX} of them"), help));
        }
        let is_possible =
            |[requests, space]: &[f64; 2]| (0.0..=1.0).contains(requests) && *space > 0.0 && *space <= 1.0;
        if !self.zones.iter().all(is_possible) {
            return Err(wrong(
                "addresses.zones",
                "a share is from 0 to 1, and every zone has some of the footprint",
                help,
            ));
        }
        for (at, of) in [(0, "requests"), (1, "the footprint")] {
            let sum: f64 = self.zones.iter().map(|zone| zone[at]).sum();
            if (sum - 1.0).abs() > 1e-6 {
                return Err(wrong("addresses.zones", format!("shares of {of} are {sum} together"), help));
            }
        }
        Ok(())
    }

    fn check_array(&self) -> Checked {
        let Some(drives) = self.drives.filter(|drives| *drives >= 2) else {
            return Err(wrong("addresses.drives", "an array has two drives or more", "set for example 8"));
        };
        let drive = self.drive.unwrap_or(0);
        if drive >= drives {
            let message = format!("drive {drive} is not one of {drives}, which are counted from 0");
            return Err(wrong("addresses.drive", message, format!("set {} or less", drives - 1)));
        }
        if self.stripe_unit.is_none_or(|unit| unit.0 == 0) {
            return Err(wrong("addresses.stripe_unit", "it is missing or zero", "set for example \"4 KiB\""));
        }
        match self.drive_share {
            Some(value) => share("addresses.drive_share", value),
            None => Err(wrong("addresses.drive_share", "it is missing", "set the favoured drive's share of requests")),
        }
    }
}
