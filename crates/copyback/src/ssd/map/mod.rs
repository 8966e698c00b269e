//! A map in flash: lookups and updates of translation pages; hot and cold data.
//!
//! [`Translation`] stands here, as lookups and updates both change it: its fields are private to this folder.

pub(super) mod data_map;
pub(super) mod hotness;
pub(super) mod lookups;
pub(super) mod updates;

use crate::flash::command::Source;
use crate::flash::source::SOURCES_MAX;
use crate::ftl::mapping::cached::Cached;
use crate::observe::counters::MapTotals;
use crate::sim::index::{PhysicalUnit, TranslationPage, TxnId};
use crate::sim::lists::Lists;
use crate::ssd::requests::eviction_sets::EvictionSets;
use std::collections::VecDeque;

/// Half of what collections free is for others than the updates that they cause.
const PAGES_FREED_PER_UPDATE: u32 = 2;

/// Whether a translation page in flash is to be written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// It is not.
    None,
    /// It will be: the list of those that are.
    Owed(usize),
    /// Its transactions are under way, and its program was not issued.
    UnderWay {
        /// Whose it is.
        task: Source,
        /// A transaction waits for it.
        is_awaited: bool,
        /// The one of its transactions that goes on next, or is under way.
        txn: TxnId,
    },
}

/// The updates of translation pages.
struct Updates {
    of_page: Vec<Update>,
    /// Translation pages that are owed updates, by the die that moved data, and behind those after writes. Invariant:
    /// those of which `of_page` says so, each on the list that it names.
    owed: Lists,
    /// Pages that collections of each die have freed and no update has taken. Invariant: a block's worth at most.
    freed: Vec<u32>,
    /// Updates of each task under way for which no transaction waits.
    of_task: [u32; SOURCES_MAX],
    /// Updates of collections for which a request waits. Invariant: the pages of which `of_page` says so.
    awaited: u32,
}

/// The map of a drive as its firmware sees it.
pub(in crate::ssd) struct Translation {
    cached: Cached,
    /// The first translation page.
    first_of_map: u32,
    /// Units that have entries: those of the host. Where the drive's own lie is always known.
    entries: u32,
    /// The read of each translation page that is under way, and the last of those that wait for it.
    load_of: Vec<[TxnId; 2]>,
    updates: Updates,
    /// Transactions for whose entries there was no room, in order.
    waiting: VecDeque<TxnId>,
    /// Transactions that wait for something else of a translation page than its read: for the end of its update, or for
    /// room that another one makes.
    behind: Lists,
    /// Entries came to DRAM since those were looked at.
    has_room: bool,
    /// Writes of which the buffer sends several at once.
    sets: EvictionSets,
    /// Room for the pages that a look-up drives out.
    write_back: Vec<TranslationPage>,
    totals: MapTotals,
    /// Where the entries in flash say that each unit is; under `--check`.
    in_flash: Option<Vec<PhysicalUnit>>,
}
