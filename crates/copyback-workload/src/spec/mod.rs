//! The table `[workload]`: a trace with reader options or a generator's settings, and transformations.

mod check;
mod columns;
mod device;
mod generator;
mod operations;
mod tenant;
mod unused;

pub use check::SpecError;
pub use columns::ColumnNames;
pub(crate) use columns::{Field, KEYS as COLUMN_KEYS, Key as ColumnKey, full_name, short_names};
pub use device::Device;
pub use generator::{
    AddressKind, AddressSpec, ArrivalKind, ArrivalSpec, Footprint, HotScope, MixEntry, SizeKind, SizeSpec,
};
pub use operations::{Meaning, Operations};
pub use tenant::{Pace, Tenant, TenantSettings};
pub use unused::Unused;

pub use crate::readers::Format;

use crate::units::{Bytes, Nanos};
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

words! {
    /// What a zero in the last column of five-column ASCII means.
    pub enum ZeroMeans("meaning of zero") {
        /// As DiskSim, SSDSim and MQSim read it (0 = write, 1 = read), and a note says so.
        Auto = "auto",
        /// 0 = read, 1 = write.
        Read = "read",
        /// 0 = write, 1 = read.
        Write = "write",
    }
}

words! {
    /// The event of the block layer that counts as a request.
    pub enum BlockAction("block layer event") {
        /// Q: the request entered the block layer, before merging.
        Queued = "Q",
        /// D: the request was handed to the device's driver.
        Issued = "D",
        /// C: the device finished it.
        Completed = "C",
    }
}

words! {
    /// What becomes of a request that ends beyond the device.
    pub enum BeyondCapacity("choice for requests beyond the capacity") {
        /// The run stops.
        Error = "error",
        /// Its address is taken modulo the capacity; if it would cross the end, it moves down to end there.
        Fold = "fold",
        /// It is left out, and counted.
        Reject = "reject",
    }
}

words! {
    /// The layout of a trace's devices or files on the drive.
    pub enum Layout("layout") {
        /// Packed for formats whose addresses are those of files or blobs (strace, fio, tectonic); as they are for
        /// others.
        Auto = "auto",
        /// The trace's own addresses; devices share the drive's addresses.
        AsIs = "as-is",
        /// In extents of 1 MiB, placed in the order of their first use; devices share no extent.
        Packed = "packed",
        /// Without addresses that are never read or written: extents of neighbouring units of 4 KiB, or of `align`, are
        /// placed in the order of their first use; devices share no extent. The trace is read twice.
        Compact = "compact",
    }
}

/// The table `[workload]`. Every optional key is an `Option`, so that a spec is printed as it was written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct WorkloadSpec {
    /// A name for reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The source of its figures or its trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,

    /// The trace's file. Without it, requests are generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// The trace's format; default `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The names of the columns of a CSV or Parquet trace, if they differ from the documented ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<ColumnNames>,
    /// The meaning of the operations of a CSV or Parquet trace whose words or numbers are not the documented ones: each
    /// word with `read`, `write`, `trim` or `ignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<Operations>,
    /// What zero means in five-column ASCII; default `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_means: Option<ZeroMeans>,
    /// Which event of the block layer is a request, in the formats blkparse, blktrace and tracepoints; default `D`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<BlockAction>,
    /// Number of malformed records to skip; the next one stops the run. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_bad: Option<u64>,
    /// Number of records that are held to sort times that run backwards; default 1024 (65,536 for Tencent's whole
    /// seconds).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder_window: Option<u64>,
    /// The layout of devices and files on the drive; default `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,

    /// How many requests are generated. Required without a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// The share of requests that read; required without a trace, unless there are `read_arrivals`. The rest, less
    /// `trim_share`, write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,
    /// The share of requests that trim; with `read_arrivals`, the share among requests that do not read. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_share: Option<f64>,
    /// The addressed part of the device, from its start: a size, a share of the capacity, or `"mapped"`, the part that
    /// the drive's preconditioning has written; default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footprint: Option<Footprint>,
    /// The generator's own seed, instead of the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// After this many bytes, a size or a share of the addressed bytes, the generator draws the same requests again;
    /// default never. Their times continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_after: Option<Footprint>,
    /// Whether a separate trim of its addresses precedes each write; default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_before_write: Option<bool>,
    /// Sizes of all kinds of requests without their own sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeSpec>,
    /// Sizes of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_size: Option<SizeSpec>,
    /// Sizes of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_size: Option<SizeSpec>,
    /// Sizes of trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_size: Option<SizeSpec>,
    /// When requests arrive; default closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalSpec>,
    /// Arrivals of reads by a separate process, instead of `read_share`. `arrivals` then applies to writes and trims
    /// only, and the two rates determine the share of reads. Default: reads are a share of `arrivals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_arrivals: Option<ArrivalSpec>,
    /// The distribution of addresses; default uniform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<AddressSpec>,

    /// Only requests of this device, volume or LUN: its number, or its name (`"259,0"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// Only requests that arrive within `[start, end)`, counted from the first request; times then count from `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<[Nanos; 2]>,
    /// At most this many requests, counted after `device`, `window` and the rejections of `beyond_capacity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Factor of arrival times: 0.5 is twice as fast; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_scale: Option<f64>,
    /// Requests begin and end at multiples of this. A trace's requests are widened to multiples; default none.
    /// Generated requests are drawn in multiples; default 4 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// The handling of requests beyond the device's capacity; default `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond_capacity: Option<BeyondCapacity>,
    /// The share of requests that are marked urgent: drawn for each request, instead of the trace's marks. Default: the
    /// trace's marks (column `priority` of a table or of the project's own format); no generated request is urgent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_priority_share: Option<f64>,
    /// Number of passes over the workload, one after another; default 1.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
}

crate::serde_once!(WorkloadSpec);

/// Default number of records that are held for sorting.
pub const REORDER_WINDOW_DEFAULT: usize = 1024;

/// Default unit in which generated requests are drawn.
pub const GENERATED_ALIGN_DEFAULT: Bytes = Bytes(4096);

impl WorkloadSpec {
    /// A workload that replays this trace, with every option at its default.
    pub fn of_trace(path: impl Into<PathBuf>) -> Self {
        Self { trace: Some(path.into()), ..Self::default() }
    }

    /// Whether no key is set.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether its requests have arrival times. Only a generator may have none.
    pub fn has_times(&self) -> bool {
        let kind = self.arrivals.as_ref().map_or(ArrivalKind::Closed, |arrivals| arrivals.kind);
        self.trace.is_some() || self.requests.is_none() || kind != ArrivalKind::Closed
    }

    /// Whether a generator draws a drive for each request; each drive has a part of the footprint.
    pub fn draws_drives(&self) -> bool {
        self.trace.is_none() && self.addresses.as_ref().is_some_and(|addresses| addresses.per_drive == Some(true))
    }

    /// Whether a generator would write nothing. For a trace, only its content tells.
    pub fn writes_nothing(&self) -> bool {
        let reads = if self.read_arrivals.is_some() { 0.0 } else { self.read_share.unwrap_or(0.0) };
        self.trace.is_none() && reads + self.trim_share.unwrap_or(0.0) >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_survives_being_printed() {
        let text = "name = \"x\"\nrequests = 10\nread_share = 0.5\nloop = 2\nwindow = [\"1 s\", \"2 s\"]\n\
                    size = { kind = \"exponential\", mean = \"32 KiB\" }\nfootprint = 0.5\n";
        let spec: WorkloadSpec = toml::from_str(text).unwrap();
        assert_eq!(spec.passes, Some(2));
        assert_eq!(toml::from_str::<WorkloadSpec>(&toml::to_string(&spec).unwrap()).unwrap(), spec);
    }

    #[test]
    fn a_generator_writes_what_neither_reads_nor_trims() {
        let own = "arrivals = { kind = \"poisson\", rate = 9 }\nread_arrivals = { kind = \"poisson\", rate = 9 }\n";
        for (text, writes_nothing) in [
            ("read_share = 1.0", true),
            ("read_share = 0.5\ntrim_share = 0.5", true),
            ("read_share = 0.5\ntrim_share = 0.4", false),
            // Reads have their own process: all other requests are trims or writes.
            (&format!("{own}trim_share = 1.0"), true),
            (&format!("{own}trim_share = 0.9"), false),
            ("trace = \"t\"", false),
        ] {
            assert_eq!(toml::from_str::<WorkloadSpec>(text).unwrap().writes_nothing(), writes_nothing, "{text}");
        }
    }

    #[test]
    fn unknown_keys_and_words_are_refused() {
        assert!(toml::from_str::<WorkloadSpec>("raed_share = 0.5").is_err());
        let error = toml::from_str::<WorkloadSpec>("format = \"mrs\"").unwrap_err().to_string();
        assert!(error.contains("did you mean `msr`"), "{error}");
    }
}
