//! A list of builders: each adds legal partners to the command; without builders, the lead is issued alone.
//!
//! Builders:
//! - `multi-plane`: transactions of the same operation on other planes of the die join the lead if page offsets (and,
//!   on devices that require it, block offsets) agree. hpdc18 Section 2.2.2, tpds20 Section 2.
//! - `cache`: reads and programs follow each other through the cache register, so that a transfer overlaps the array
//!   time of the same die. ONFI read cache and program cache.
//!
//! Builders for commands of collection:
//! - `gc+host`: transactions of the host on other planes join reads and programs of collection, one for each free
//!   plane, under the same rules. hpdc18 Section 4.1, Algorithm 2.
//! - `merge`: a queued read of a page that collection has just read ends with that page's transfer. A queued write of
//!   data that collection is about to program joins that program. Pages of the victim for which a request waits are
//!   moved first. ispass11 Section III-B.
//! - `pipeline`: at a preemption point, preempting requests and the collection's next step follow each other through
//!   the cache register, if they are of one type: read after read, program after program. ispass11 Section III-C.
//!
//! Parameters:
//! - `builders` (default `["multi-plane"]`): the builders that are tried. None excludes another, so their order makes
//!   no difference.
//! - `gc` (default `[]`): the builders that are tried for commands of collection. This is a separate key, so that a
//!   scheme can set it without a change of the device's host commands.
//! - `scan_max` (default 16): transactions of a queue that are examined for a partner: how many requests the controller
//!   decodes ahead when it builds a command.
//! - `gc_scan_max` (default 1024): the same for a collection, whose partners may be far back in the queue, behind
//!   requests for its own plane. It also limits the scan at a preemption point (`preemption`). It models how many
//!   requests the controller can scan in the time of a poll (`preemption.poll`, `gc_scan`). The simulator has an index
//!   and needs no limit: 65536 costs it no more.
//! - `align` (default `"none"`): with `multi-plane`, whether planes skip pages so that programs of the host can share a
//!   command.
//!   - `"none"`: a queued write joins only if the next page of its plane has the lead's offset.
//!   - `"greedy"`: a plane that is behind the command's offset skips pages up to it, in its open block or in the block
//!     that it opens next. The command takes the greatest offset that the lead can reach: its own, or that of another
//!     plane with a queued write, among the first `scan_max`. Planes that are behind follow; a plane that is ahead does
//!     not join. No plane skips a page that a reservation, an admitted write or a move of a collection needs. tpds20
//!     Fig. 3a-(2), Section 7; Hu et al. 2011 (its reference 10).
//!   - A skipped page is not programmed, takes no time, and holds no data until its block is erased
//!     (`flash.skipped_pages`). Write amplification counts programs: it excludes skipped pages, and includes the
//!     collections that they cause.
//!   - It needs one write point of each plane, which the address of a write determines (`allocation.policy =
//!     "static"`).
//! - `gc_scan` (default `"300 ns"`): with `gc+host`, time to look for a partner before each read of a collection.
//!   hpdc18 Section 4.1: "at most hundreds of nanoseconds"; as in the paper, partners of programs are found in zero
//!   time.
//! - `gc_transfers` (default `"first"`): with `gc+host`, when the page of a read that joined a read of a collection
//!   leaves the die.
//!   - `"first"`: after the collection's program has been loaded, while the array works on it. hpdc18 Section 4.1:
//!     "transferring GC data in/out of the chip is prioritized over the normal I/O requests".
//!   - `"together"`: behind the collection's page, so that the program begins one transfer later for each read that
//!     joined.
//!   - Under `"first"`, the page also leaves at once if the program does not follow at once (a preemption point,
//!     another read, a program on another die). It also leaves at once if a waiting write may need the register to join
//!     the program.
//!   - A write that joins delays the program by its transfer under both values.

use crate::config::times::check_step;
use crate::config::{CommandsConfig, KeyError};
use copyback_workload::units::Nanos;
use serde::{Deserialize, Serialize};

/// See the page above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// The builders that are tried; their order makes no difference.
    pub builders: Vec<BuilderName>,
    /// Which builders for commands of collection are tried.
    pub gc: Vec<GcBuilderName>,
    /// Transactions of a queue that are examined for a partner.
    pub scan_max: u32,
    /// Transactions of a queue that are searched for a partner of a collection's command.
    pub gc_scan_max: u32,
    /// Whether planes skip pages to share programs of the host.
    #[serde(skip_serializing_if = "Align::is_default")]
    pub align: Align,
    /// Time to look for a partner of a collection's read.
    pub gc_scan: Nanos,
    /// When pages of reads that joined a read of a collection leave.
    #[serde(skip_serializing_if = "GcTransfers::is_default")]
    pub gc_transfers: GcTransfers,
}

/// Whether planes skip pages, so that programs of the host have one page offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Align {
    /// No plane skips a page.
    #[default]
    None,
    /// The plane that is behind skips the pages up to the other's offset.
    Greedy,
}

impl Align {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// When the page of a read that joined a read of a collection leaves the die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcTransfers {
    /// After the load of the collection's program.
    #[default]
    First,
    /// Behind the collection's page.
    Together,
}

impl GcTransfers {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuilderName {
    /// Same operation on several planes.
    MultiPlane,
    /// Overlap of transfer and array time.
    Cache,
}

/// A builder for commands of collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcBuilderName {
    /// Host work that is paired with that of collection, on other planes.
    #[serde(rename = "gc+host")]
    GcHost,
    /// Host work on the very pages that collection moves.
    Merge,
    /// Overlap of transfer and array time between the host and a collection that it preempts.
    Pipeline,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            builders: vec![BuilderName::MultiPlane],
            gc: Vec::new(),
            scan_max: 16,
            gc_scan_max: 1024,
            align: Align::default(),
            gc_scan: Nanos(300),
            gc_transfers: GcTransfers::default(),
        }
    }
}

impl Params {
    pub(crate) fn check(&self, commands: &CommandsConfig) -> Result<(), KeyError> {
        let has_cache = commands.cache_read || commands.cache_program;
        let refuse = |key: &str, missing: &str| {
            let why = format!(
                "a builder needs a command that this device does not have (`commands.{missing} = \
                               false`)"
            );
            Err(KeyError::new(key, why).with_help("remove the builder, or choose a device with the command"))
        };
        for builder in &self.builders {
            match builder {
                BuilderName::MultiPlane if !commands.multi_plane => return refuse("compose.builders", "multi_plane"),
                BuilderName::Cache if !has_cache => return refuse("compose.builders", "cache_read"),
                _ => {}
            }
        }
        for builder in &self.gc {
            match builder {
                GcBuilderName::GcHost if !commands.multi_plane => return refuse("compose.gc", "multi_plane"),
                GcBuilderName::Pipeline if !has_cache => return refuse("compose.gc", "cache_read"),
                _ => {}
            }
        }
        if self.align != Align::None && !self.builders.contains(&BuilderName::MultiPlane) {
            let why = "planes skip pages to share a command, and no builder makes commands of several planes \
                       (`compose.builders`)";
            return Err(KeyError::new("compose.align", why)
                .with_help("add the builder `multi-plane`, or set `compose.align = \"none\"`"));
        }
        let is_twice = |at: usize, names: &[String]| names[..at].contains(&names[at]);
        for (key, names) in [
            ("builders", self.builders.iter().map(|b| format!("{b:?}")).collect::<Vec<_>>()),
            ("gc", self.gc.iter().map(|b| format!("{b:?}")).collect()),
        ] {
            if (0..names.len()).any(|at| is_twice(at, &names)) {
                return Err(KeyError::new(format!("compose.{key}"), "a builder is named twice")
                    .with_help("name each builder once"));
            }
        }
        for (key, scan_max) in [("scan_max", self.scan_max), ("gc_scan_max", self.gc_scan_max)] {
            if !(1..=65_536).contains(&scan_max) {
                return Err(KeyError::new(format!("compose.{key}"), format!("{scan_max} is not possible"))
                    .with_help("use a number from 1 to 65536"));
            }
        }
        check_step("compose.gc_scan", self.gc_scan)
    }
}
