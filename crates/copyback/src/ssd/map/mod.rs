//! A map in flash: look-ups and updates of translation pages; hot and cold data.
//!
//! [`Translation`] is defined here, because look-ups and updates both change it: its fields are private to this folder.

pub(super) mod data_map;
pub(super) mod hotness;
pub(super) mod lookups;
pub(super) mod translation_updates;

use crate::flash::command::Source;
use crate::flash::source::SOURCES_MAX;
use crate::ftl::mapping::cached::Cached;
use crate::observe::counters::MapTotals;
use crate::sim::fastdiv::FastDiv;
use crate::sim::index::{PhysicalUnit, TranslationPage, TxnId};
use crate::sim::lists::Lists;
use crate::ssd::requests::eviction_sets::EvictionSets;
use std::collections::VecDeque;

/// Pages that collections free for each update of a translation page that they cause. The update takes at most
/// one; the rest is for other work.
const PAGES_FREED_PER_UPDATE: u32 = 2;

/// Whether a translation page in flash has to be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// No.
    None,
    /// An update is owed: the page is on a list of `Updates::owed`.
    Owed,
    /// The update's transactions are in progress, and its program is not issued.
    UnderWay {
        /// The task that the update counts for.
        task: Source,
        /// A transaction waits for it.
        is_awaited: bool,
        /// The next transaction of the update, or the one in progress; none while several reads are in progress.
        txn: TxnId,
    },
}

/// The updates of translation pages.
struct Updates {
    of_page: Vec<Update>,
    /// Translation pages that are owed updates: a list for each die that moved data, and then a list for writes.
    /// Invariant: they hold the pages whose `of_page` is `Owed`.
    owed: Lists,
    /// Pages that collections of each die have freed and no update has used. Invariant: a block's worth at most.
    freed: Vec<u32>,
    /// Updates in progress that were owed, by task; write-backs do not count.
    of_task: [u32; SOURCES_MAX],
    /// Updates of collections for which a request waits. Invariant: the number of such pages in `of_page`.
    awaited: u32,
}

/// The units of the map, and those that have entries in it.
struct MapLayout {
    /// The first unit of the map.
    first: u32,
    /// Units of a translation page: one, or those of a superpage.
    units_per_page: FastDiv,
    /// Units that have entries: those of the host. The places of the drive's own units are always known.
    entries: u32,
}

/// The map of a drive in the firmware's view.
pub(in crate::ssd) struct Translation {
    cached: Cached,
    layout: MapLayout,
    /// For each unit of the map: its read in progress, and the last transaction that waits for that.
    load_of: Vec<[TxnId; 2]>,
    updates: Updates,
    /// Transactions whose entries had no room, in order.
    waiting: VecDeque<TxnId>,
    /// Transactions that wait until the update of a translation page ends, or until another transaction that has slots
    /// for its entries has loaded them, or has given up the slots.
    behind: Lists,
    /// Entries arrived in DRAM since the waiting transactions were checked.
    has_room: bool,
    /// Sets of writes that the buffer sends together.
    sets: EvictionSets,
    /// Memory for the pages that a look-up evicts.
    write_back: Vec<TranslationPage>,
    totals: MapTotals,
    /// The place of each unit according to the entries in flash; under `--check`.
    in_flash: Option<Vec<PhysicalUnit>>,
}
