//! Several workloads that share a drive: their addresses and their requests.

use crate::rng::{fnv1a64, splitmix64};
use crate::spec::{Footprint, Pace, SpecError, Tenant, WorkloadSpec};
use crate::units::format_bytes;
use crate::{Error, Request, RequestSource};
use std::collections::{BTreeMap, BTreeSet};

/// One of several workloads, opened.
pub struct OpenedTenant {
    /// Its name in results.
    pub name: String,
    /// Its requests; addresses count from the start of its part of the drive.
    pub source: Box<dyn RequestSource + Send>,
    /// The start of its addresses.
    pub region_start_bytes: u64,
    /// The rule by which its requests begin.
    pub pace: Pace,
    /// Largest number of outstanding requests, if its pace has a limit.
    pub queue_depth: u32,
    /// Whether the workload itself sets this limit, instead of the host.
    pub has_own_depth: bool,
    /// Number of requests between pauses, and the length of a pause.
    pub think: Option<(u64, u64)>,
    /// The times between which it runs, from and to, in order.
    pub phases_ns: Vec<[u64; 2]>,
    /// The workloads that must end first, by their index in the list.
    pub after: Vec<usize>,
    /// Earliest start, even if these workloads ended before.
    pub not_before_ns: u64,
    /// Time after its start that is not measured.
    pub warmup_ns: u64,
}

/// Workloads of one run by name, which is also their order.
pub type Tenants = BTreeMap<String, Tenant>;

/// Largest number of workloads: each has its own measures.
pub const TENANTS_MAX: usize = 256;

/// Checks workloads, and whether they fit together. An error names the key below `[workloads]`.
///
/// # Errors
/// The first mistake found.
pub fn check(tenants: &Tenants) -> Result<(), SpecError> {
    let wrong = |key: String, message: String, help: &str| SpecError { key, message, help: Some(help.to_owned()) };
    if tenants.len() > TENANTS_MAX {
        let message = format!("{} workloads, and a run takes {TENANTS_MAX}", tenants.len());
        return Err(wrong(String::new(), message, "leave some out"));
    }
    for (name, tenant) in tenants {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_plain) {
            let help = "use letters, digits, `-` and `_`: results have a column for each";
            return Err(wrong(name.clone(), format!("`{name}` is no name of a workload"), help));
        }
        tenant.check().map_err(|error| SpecError { key: format!("{name}.{}", error.key), ..error })?;
        for before in tenant.settings.after.iter().flatten() {
            if !tenants.contains_key(before) || before == name {
                let message = format!("there is no other workload `{before}`");
                return Err(wrong(format!("{name}.after"), message, "name one of the others"));
            }
        }
    }
    let shares: f64 = tenants.values().filter_map(|tenant| tenant.settings.share).sum();
    if shares > 1.0 + 1e-9 {
        let last = tenants.iter().rfind(|(_, tenant)| tenant.settings.share.is_some()).expect("they have a sum").0;
        let message = format!("the shares of all workloads add up to {shares}, more than the drive");
        return Err(wrong(format!("{last}.share"), message, "lower some of them"));
    }
    match in_circle(tenants) {
        Some(name) => {
            let message = "it never starts: it waits for workloads that wait for each other in a cycle".to_owned();
            Err(wrong(format!("{name}.after"), message, "remove one of the names"))
        }
        None => Ok(()),
    }
}

/// A workload that never starts: it waits, directly or through others, for workloads that wait for each other.
fn in_circle(tenants: &Tenants) -> Option<&String> {
    let mut done = BTreeSet::new();
    loop {
        let may_end =
            |tenant: &Tenant| tenant.settings.after.iter().flatten().all(|before| done.contains(before.as_str()));
        let next = tenants.iter().find(|(name, tenant)| !done.contains(name.as_str()) && may_end(tenant));
        match next {
            Some((name, _)) => done.insert(name.as_str()),
            None => return tenants.keys().find(|name| !done.contains(name.as_str())),
        };
    }
}

/// A share of a capacity in whole units of `grain_bytes`.
fn bytes_of_share(share: f64, capacity_bytes: u64, grain_bytes: u64) -> u64 {
    let bytes = ((capacity_bytes as f64) * share.min(1.0)) as u64;
    bytes - bytes % grain_bytes
}

/// The first byte and the end of a workload's addresses by its `region_start` and `region_size`. Shares are rounded to
/// whole units of `grain_bytes`. The end may exceed the capacity, and may be the start.
pub fn region(tenant: &Tenant, capacity_bytes: u64, grain_bytes: u64) -> [u64; 2] {
    let bytes = |part: Footprint| match part {
        Footprint::Size(bytes) => bytes.0,
        Footprint::Share(share) => bytes_of_share(share, capacity_bytes, grain_bytes),
        Footprint::Mapped => 0,
    };
    let start = tenant.settings.region_start.map_or(0, bytes);
    let size = tenant.settings.region_size.map(bytes);
    [start, size.map_or(capacity_bytes, |size| start.saturating_add(size))]
}

/// The part of a drive that each workload has: start and length, in bytes. Only shares are rounded to `grain_bytes`.
///
/// # Errors
/// If a part exceeds the capacity or is empty.
pub fn regions(tenants: &Tenants, capacity_bytes: u64, grain_bytes: u64) -> Result<Vec<[u64; 2]>, Error> {
    let of_share = |share: f64| bytes_of_share(share, capacity_bytes, grain_bytes);
    let mut before = 0.0;
    let mut regions = Vec::new();
    for (name, tenant) in tenants {
        let [start, end] = match tenant.settings.share {
            Some(share) => {
                let start = of_share(before);
                before += share;
                [start, of_share(before)]
            }
            None => region(tenant, capacity_bytes, grain_bytes),
        };
        if start >= end || end > capacity_bytes {
            let [from, to] = [start, end].map(format_bytes);
            let capacity = format_bytes(capacity_bytes);
            let message =
                format!("workloads.{name}: its addresses from {from} to {to} are not in the capacity of {capacity}");
            let help = if tenant.settings.share.is_some() {
                "the part is empty: raise its `share`, or take a larger device"
            } else if start >= capacity_bytes || end > capacity_bytes {
                "lower `region_start` or `region_size`, or take a larger device"
            } else {
                "the part is empty: raise `region_size`, or take a larger device"
            };
            return Err(Error::new(message).with_help(help));
        }
        regions.push([start, end - start]);
    }
    Ok(regions)
}

/// The seed of one of several workloads. It depends on the name, so that a new workload changes no draw of the others.
pub fn seed_of(seed: u64, name: &str) -> u64 {
    splitmix64(splitmix64(fnv1a64(name.as_bytes())) ^ seed)
}

/// The host's defaults for workloads without their own settings.
#[derive(Clone, Copy, Debug)]
pub struct HostDefaults {
    /// Whether its loop is closed.
    pub is_closed: bool,
    /// Its queue depth.
    pub queue_depth: u32,
    /// Shares of the capacity are rounded down to multiples of this.
    pub grain_bytes: u64,
}

/// A source that ends after a number of bytes.
struct UpTo {
    source: Box<dyn RequestSource + Send>,
    bytes_left: u64,
    /// Whether the source ended before.
    has_ended: bool,
}

impl RequestSource for UpTo {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        if self.bytes_left == 0 {
            return Ok(None);
        }
        let next = self.source.next_request()?;
        self.bytes_left = self.bytes_left.saturating_sub(next.map_or(0, |request| request.len_bytes));
        self.has_ended |= next.is_none();
        Ok(next)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.source.notes();
        if self.bytes_left > 0 {
            let what = if self.has_ended { "its requests" } else { "the run" };
            notes.push(format!("`workload.passes` has no effect: {what} ended before"));
        }
        notes
    }
}

/// A note or an error of a workload's source, with the keys of the workload's own table: `workload.loop` is
/// `workloads.a.loop` for the workload `a`.
#[must_use]
pub fn with_keys_of(name: &str, text: &str) -> String {
    let begins = [("`workload.", "`"), ("--set workload.", "--set "), ("[workload.", "[")];
    begins
        .iter()
        .fold(text.to_owned(), |text, (begin, before)| text.replace(begin, &format!("{before}workloads.{name}.")))
}

/// Rewords an error's message and help as [`with_keys_of`] rewords a note.
#[must_use]
pub fn error_of(name: &str, error: Error) -> Error {
    let own = |text: &str| with_keys_of(name, text);
    Error { message: own(&error.message), help: error.help.as_deref().map(own), ..error }
}

/// Opens all workloads; `open` opens one with a seed and a capacity.
///
/// # Errors
/// Those of `open`, and if addresses lie beyond the capacity.
pub fn open<E: From<Error>>(
    tenants: &Tenants,
    seed: u64,
    capacity_bytes: u64,
    defaults: HostDefaults,
    mut open: impl FnMut(&WorkloadSpec, u64, u64) -> Result<Box<dyn RequestSource + Send>, E>,
) -> Result<Vec<OpenedTenant>, E> {
    let regions = regions(tenants, capacity_bytes, defaults.grain_bytes)?;
    let mut opened = Vec::new();
    for ((name, tenant), [region_start_bytes, region_bytes]) in tenants.iter().zip(regions) {
        let settings = &tenant.settings;
        let source = open(&tenant.spec, seed_of(seed, name), region_bytes)?;
        let source: Box<dyn RequestSource + Send> = match settings.passes {
            Some(passes) => {
                Box::new(UpTo { source, bytes_left: (passes * region_bytes as f64) as u64, has_ended: false })
            }
            None => source,
        };
        let place = |before: &String| tenants.keys().position(|name| name == before);
        opened.push(OpenedTenant {
            name: name.clone(),
            source,
            region_start_bytes,
            pace: tenant.pace(defaults.is_closed),
            queue_depth: settings.queue_depth.unwrap_or(defaults.queue_depth),
            has_own_depth: settings.queue_depth.is_some(),
            think: settings.think_time.map(|time| (settings.think_every.unwrap_or(1), time.0)),
            phases_ns: tenant.phases_ns(),
            after: settings.after.iter().flatten().filter_map(place).collect(),
            not_before_ns: settings.not_before.map_or(0, |time| time.0),
            warmup_ns: settings.warmup.map_or(0, |warmup| warmup.0),
        });
    }
    Ok(opened)
}
