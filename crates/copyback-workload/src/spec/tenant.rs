//! The table `[workloads.NAME]`: one of several workloads that share a drive. It has all keys of `[workload]`, and
//! settings for its addresses, its times and its loop.

use super::check::wrong;
use super::{Footprint, SpecError, WorkloadSpec};
use crate::units::{Nanos, exact_time};
use crate::words::words;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

words! {
    /// When the requests of one of several workloads begin.
    pub enum Pace("mode") {
        /// At the workload's times, with any number outstanding.
        Open = "open",
        /// When another request of the workload completes: `queue_depth` are outstanding.
        Closed = "closed",
        /// At the workload's time, or when fewer than `queue_depth` are outstanding, whichever is later; its response
        /// time counts from then.
        Paced = "paced",
    }
}

/// The settings of one of several workloads in addition to its requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct TenantSettings {
    /// Its share of the addresses. Shares follow each other in the order of the workloads' names. Default: all
    /// addresses, shared with other workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The start of its addresses: a size, or a share of the capacity; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_start: Option<Footprint>,
    /// The length of its addresses: a size, or a share of the capacity; default up to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_size: Option<Footprint>,
    /// How its requests begin. Default: `open` if it has arrival times, unless the host's loop is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Pace>,
    /// Largest number of its outstanding requests, for `closed` and `paced`; default `host.queue_depth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Pause after each `think_every` requests, once all of them have ended; default none. For `closed` and `paced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Nanos>,
    /// Requests between two such pauses; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_every: Option<u64>,
    /// When it starts; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Nanos>,
    /// Time from which on none of its requests begins; default: it ends with its requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Nanos>,
    /// Instead of `start` and `stop`, the times between which it runs: pairs of from and to, in order. Its own clock
    /// runs only then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Vec<[Nanos; 2]>>,
    /// Workloads that must end first; its times count from their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    /// Earliest start, as a time of the run, even if the workloads in `after` ended before; its times count from its
    /// start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Nanos>,
    /// It ends when its requests have as many bytes as its addresses, times this number. Default: it ends with its
    /// requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<f64>,
    /// Its own results exclude requests within this time after its start; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Nanos>,
}

/// The keys of [`TenantSettings`].
const TENANT_KEYS: &[&str] = &[
    "share",
    "region_start",
    "region_size",
    "mode",
    "queue_depth",
    "think_time",
    "think_every",
    "start",
    "stop",
    "phases",
    "after",
    "not_before",
    "passes",
    "warmup",
];

crate::serde_once!(TenantSettings);

/// One of several workloads of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tenant {
    /// Its settings in addition to its requests.
    #[serde(flatten)]
    pub settings: TenantSettings,
    /// Its requests.
    #[serde(flatten)]
    pub spec: WorkloadSpec,
}

impl<'de> Deserialize<'de> for Tenant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (mut settings, mut spec) = (toml::Table::new(), toml::Table::new());
        for (key, value) in toml::Table::deserialize(deserializer)? {
            let table = if TENANT_KEYS.contains(&key.as_str()) { &mut settings } else { &mut spec };
            table.insert(key, value);
        }
        let settings = TenantSettings::deserialize(settings).map_err(|error| D::Error::custom(error.message()))?;
        let spec = WorkloadSpec::deserialize(spec).map_err(|error| {
            let own = TENANT_KEYS.iter().map(|key| format!("`{key}`, ")).collect::<String>();
            D::Error::custom(error.message().replacen("expected one of ", &format!("expected one of {own}"), 1))
        })?;
        Ok(Self { settings, spec })
    }
}

impl Tenant {
    /// How its requests begin; `is_host_closed`: the host's loop is closed for workloads without a `mode`.
    pub fn pace(&self, is_host_closed: bool) -> Pace {
        let usual = if self.spec.has_times() && !is_host_closed { Pace::Open } else { Pace::Closed };
        self.settings.mode.unwrap_or(usual)
    }

    /// The times between which it runs, in order. They count from the run's start or, with `after` or `not_before`,
    /// from the time at which these let it start.
    pub fn phases_ns(&self) -> Vec<[u64; 2]> {
        let TenantSettings { start, stop, phases, .. } = &self.settings;
        match phases {
            Some(phases) => phases.iter().map(|[from, to]| [from.0, to.0]).collect(),
            None => vec![[start.map_or(0, |start| start.0), stop.map_or(u64::MAX, |stop| stop.0)]],
        }
    }

    /// Whether it has its own part of the addresses.
    pub fn has_region(&self) -> bool {
        self.settings.share.is_some() || self.settings.region_start.is_some() || self.settings.region_size.is_some()
    }

    /// Finds settings that contradict each other or make no sense.
    ///
    /// # Errors
    /// The first mistake found; its key is below the workload's table.
    pub fn check(&self) -> Result<(), SpecError> {
        self.spec.check()?;
        self.check_region()?;
        if let Some(passes) = self.settings.passes.filter(|passes| !(*passes > 0.0 && passes.is_finite())) {
            return Err(wrong("passes", format!("{passes} is not above 0"), "set for example 1"));
        }
        self.check_pace()?;
        self.check_phases()
    }

    fn check_region(&self) -> Result<(), SpecError> {
        let TenantSettings { share, region_start, region_size, .. } = &self.settings;
        if let Some(share) = share {
            if !(*share > 0.0 && *share <= 1.0) {
                let message = format!("it has to be above 0 and at most 1, not {share}");
                return Err(wrong("share", message, "set for example 0.5"));
            }
            if region_start.is_some() || region_size.is_some() {
                let help = "remove it, or `region_start` and `region_size`";
                return Err(wrong("share", "the workload's addresses are set twice", help));
            }
        }
        for (key, part) in [("region_start", region_start), ("region_size", region_size)] {
            let is_wrong = match part {
                Some(Footprint::Mapped) => true,
                Some(Footprint::Share(share)) => !(0.0..=1.0).contains(share),
                Some(Footprint::Size(_)) | None => false,
            };
            if is_wrong {
                return Err(wrong(
                    key,
                    "it is neither a size nor a share of the capacity",
                    "set for example \"1 GiB\"",
                ));
            }
        }
        if self.has_region() && self.spec.footprint == Some(Footprint::Mapped) {
            let message = "`mapped` is of the whole drive, and this workload has a part of it";
            return Err(wrong("footprint", message, "set a share of its part, such as 0.8, or leave it out"));
        }
        if self.spec.draws_drives() {
            let message = "several workloads share a volume, and this one draws a drive for each request";
            return Err(wrong("addresses.per_drive", message, "remove it"));
        }
        Ok(())
    }

    fn check_pace(&self) -> Result<(), SpecError> {
        let TenantSettings { mode, queue_depth, think_time, think_every, .. } = &self.settings;
        if matches!(mode, Some(Pace::Open | Pace::Paced)) && !self.spec.has_times() {
            let message = "it needs arrival times, and the workload has none";
            return Err(wrong("mode", message, "set `mode = \"closed\"`, or give the workload `arrivals`"));
        }
        let is_open = self.pace(false) == Pace::Open;
        let limits = [
            ("queue_depth", queue_depth.is_some()),
            ("think_time", think_time.is_some()),
            ("think_every", think_every.is_some()),
        ];
        if let Some((key, _)) = limits.iter().find(|(_, is_set)| *is_set && is_open) {
            let message = "an open loop waits for no request of its own";
            return Err(wrong(key, message, "remove it, or set `mode = \"paced\"`"));
        }
        if queue_depth.is_some_and(|depth| depth == 0 || depth > 65_536) {
            return Err(wrong("queue_depth", "it is not from 1 to 65536", "set for example 32"));
        }
        match think_every {
            Some(0) => Err(wrong("think_every", "it is zero", "set 1 or more")),
            Some(_) if think_time.is_none() => {
                Err(wrong("think_every", "it has no effect without `think_time`", "set `think_time`"))
            }
            _ => Ok(()),
        }
    }

    fn check_phases(&self) -> Result<(), SpecError> {
        let TenantSettings { start, stop, phases, .. } = &self.settings;
        if phases.is_some() && (start.is_some() || stop.is_some()) {
            let key = if start.is_some() { "start" } else { "stop" };
            return Err(wrong(key, "`phases` says when the workload runs", "remove one of them"));
        }
        let phases_ns = self.phases_ns();
        let key = if phases.is_some() { "phases" } else { "stop" };
        if phases_ns.is_empty() {
            return Err(wrong("phases", "it is empty", "write pairs such as [[\"0 s\", \"1 s\"]]"));
        }
        if let Some([from, to]) = phases_ns.iter().find(|[from, to]| from >= to) {
            let [from, to] = [*from, *to].map(exact_time);
            let message = format!("it would be over at {to}, and begin at {from}");
            return Err(wrong(key, message, "let each phase end after its start"));
        }
        if phases_ns.windows(2).any(|pair| pair[0][1] > pair[1][0]) {
            return Err(wrong("phases", "a phase begins before the previous phase ends", "put them in order"));
        }
        Ok(())
    }
}
