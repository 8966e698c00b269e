//! The parts of the table `[workload]` that set a generator: sizes, arrivals, addresses.

use crate::units::{Bytes, Nanos, parse_bytes};
use crate::words::words;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

words! {
    /// How the sizes of requests are distributed.
    pub enum SizeKind("size distribution") {
        /// Every request has the size `mean`.
        Fixed = "fixed",
        /// Exponential, rounded up to `align`; the mean *after* rounding is `mean`.
        Exponential = "exponential",
        /// One of the sizes of `mix`, by weight.
        Mix = "mix",
        /// Multiples of `min` up to `max`, all equally likely. If `max` is no multiple, it is drawn too, less often.
        Range = "range",
    }
}

/// One size of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixEntry {
    /// The size.
    pub size: Bytes,
    /// How often it comes, relative to the weights of the other sizes.
    pub weight: f64,
}

/// Sizes of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeSpec {
    /// The distribution.
    pub kind: SizeKind,
    /// The mean, of `fixed` and `exponential`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Bytes>,
    /// The sizes of `mix`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<MixEntry>,
    /// The smallest size, of `range`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bytes>,
    /// The largest size, of `range`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
    /// The unit of these sizes, instead of the workload's `align`. If the workload sets `align`, its requests are also
    /// widened to multiples of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// Requests of these sizes that do not continue the last request begin at multiples of this size. It is a multiple
    /// of the workload's `align`, which is the default. Not for addresses of kind `array-skew`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_align: Option<Bytes>,
}

words! {
    /// How arrivals are distributed in time.
    pub enum ArrivalKind("arrival process") {
        /// Exponential gaps.
        Poisson = "poisson",
        /// Equal gaps.
        Fixed = "fixed",
        /// Poisson at `burst_rate` during bursts of length `burst`, silence between them; the mean rate is `rate`.
        OnOff = "on-off",
        /// All at time zero: the host's queue depth determines when requests begin.
        Closed = "closed",
    }
}

/// When requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivalSpec {
    /// The process.
    pub kind: ArrivalKind,
    /// Requests a second, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The mean gap, instead of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_gap: Option<Nanos>,
    /// The length of a burst, of `on-off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Nanos>,
    /// Requests a second during a burst, of `on-off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_rate: Option<f64>,
    /// Time at which the process, and its first burst, starts; default 0. For all kinds but `closed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Nanos>,
}

words! {
    /// How addresses are distributed over the footprint.
    pub enum AddressKind("address distribution") {
        /// All blocks of `align` equally often.
        Uniform = "uniform",
        /// Each block of `align` once, in random order, before any block comes again; for requests of that size.
        Once = "once",
        /// As fio's map of blocks, for operations whose requests differ in size: an operation draws the number of a
        /// block of its own size (`offset_align` of `read_size`, `write_size` or `trim_size`, or else of `size`;
        /// default `align`). If any operation has taken the number, the next free one is used; the first number
        /// follows the last. A request of several blocks ends before a taken one.
        Numbered = "numbered",
        /// By Zipf's law with exponent `theta` over blocks of `align`, the ranks scattered over the footprint.
        Zipf = "zipf",
        /// `1 - skew` of requests go to `skew` of the blocks of `align`; within these, again `1 - skew` go to `skew`,
        /// and so on (Gray et al., 1994). The blocks are scattered over the footprint.
        SelfSimilar = "self-similar",
        /// `zones`, each with its share of the requests and of the footprint, in their order.
        Zones = "zones",
        /// `blocks` of `align` in turn, repeatedly; with `advance` each round is shifted by the length of the list.
        Listed = "listed",
        /// `hot_share` of requests go to the first `hot_space` of the footprint.
        HotCold = "hot-cold",
        /// `drive_share` of requests start on one `drive` of a striped array, the other requests evenly on the other
        /// drives.
        ArraySkew = "array-skew",
    }
}

words! {
    /// Which requests prefer the hot part.
    pub enum HotScope("scope") {
        /// All of them.
        All = "all",
        /// Writes and trims; reads are uniform.
        Writes = "writes",
    }
}

/// The distribution of addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressSpec {
    /// The distribution of requests that do not continue the last request.
    pub kind: AddressKind,
    /// The probability that a request starts at the end of the last request; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_share: Option<f64>,
    /// Whether reads, writes and trims each continue the last request of their kind; default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_by_op: Option<bool>,
    /// Bytes between the end of a request and the start of the request that continues it; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<Bytes>,
    /// A request that continues the last request begins this many bytes before the end of the last request; twice the
    /// length of a request makes a backward stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_back: Option<Bytes>,
    /// Skip, forwards or back, only after this many bytes, instead of after each request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_every: Option<Bytes>,
    /// A new address is drawn once in this many requests; the others continue; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_length: Option<u64>,
    /// Whether those others repeat the address of the last request instead of continuing it; default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_repeats: Option<bool>,
    /// For `numbered`: whether the workload ends if no number is free, or if the operation's smallest request would
    /// reach beyond the footprint; default false: all numbers become free again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<bool>,
    /// For `numbered`: the unit of the numbers, the smallest unit of any operation. The footprint has one number for
    /// each unit; default `align`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_unit: Option<Bytes>,
    /// Zipf's exponent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// The share of blocks that `1 - skew` of requests go to, of `self-similar`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
    /// For each zone, its share of the requests and its share of the footprint, of `zones`: `[[0.8, 0.2], [0.2, 0.8]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<[f64; 2]>,
    /// Numbers of blocks of `align`, of `listed`: `[2, 0, 1]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u64>,
    /// Whether each round over `blocks` is shifted by the length of the list, of `listed`; default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advance: Option<bool>,
    /// The share of requests to the hot part, of `hot-cold`; default 0.8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_share: Option<f64>,
    /// The hot part's share of the footprint, of `hot-cold`; default 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_space: Option<f64>,
    /// Which requests prefer the hot part, of `hot-cold`; default `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_scope: Option<HotScope>,
    /// The favoured drive's index, of `array-skew`; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<u32>,
    /// How many drives the array has, of `array-skew`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drives: Option<u32>,
    /// The favoured drive's share of requests, of `array-skew`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive_share: Option<f64>,
    /// The array's stripe unit, of `array-skew`. Longer requests reach the next drives, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_unit: Option<Bytes>,
    /// For `array-skew`: whether addresses are local to the drive that the request's `device` names, for a host that
    /// routes by device; default false: addresses of the whole RAID-0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_drive: Option<bool>,
}

/// How much of the device a generator addresses, from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Footprint {
    /// This number of bytes. In a file: `"1.35 GiB"`.
    Size(Bytes),
    /// This share of the capacity. In a file: a number from 0 to 1.
    Share(f64),
    /// The part that the drive's preconditioning has written, from the drive's start: every read finds data. In a file:
    /// `"mapped"`. The drive's configuration converts it to a share.
    Mapped,
}

/// [`Footprint::Mapped`] in a file.
const MAPPED: &str = "mapped";

impl Serialize for Footprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Footprint::Size(bytes) => bytes.serialize(serializer),
            Footprint::Share(share) => serializer.serialize_f64(*share),
            Footprint::Mapped => serializer.serialize_str(MAPPED),
        }
    }
}

impl<'de> Deserialize<'de> for Footprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeOrShare;
        impl serde::de::Visitor<'_> for SizeOrShare {
            type Value = Footprint;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a size such as \"1.35 GiB\", a share of the capacity such as 0.8, or \"mapped\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Footprint, E> {
                if text == MAPPED {
                    return Ok(Footprint::Mapped);
                }
                parse_bytes(text).map(|bytes| Footprint::Size(Bytes(bytes))).map_err(E::custom)
            }

            fn visit_f64<E: serde::de::Error>(self, share: f64) -> Result<Footprint, E> {
                Ok(Footprint::Share(share))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Footprint, E> {
                // 1 is the whole device. Any other whole number probably means bytes, and needs a unit.
                match number {
                    0 | 1 => Ok(Footprint::Share(number as f64)),
                    _ => {
                        Err(E::custom(format!("{number} is neither a share (0 to 1) nor a size: write \"{number} B\"")))
                    }
                }
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Footprint, E> {
                let number = u64::try_from(number).map_err(|_| E::custom(format!("{number} is negative")))?;
                self.visit_u64(number)
            }
        }
        deserializer.deserialize_any(SizeOrShare)
    }
}
