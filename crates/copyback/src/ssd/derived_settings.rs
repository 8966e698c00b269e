//! Constants of the engine from the configuration.

use super::config::BackEndConfig;
use super::gc::mechanism::Mechanism;
use crate::dispatch::compose::list::{BuilderName, GcBuilderName};
use crate::dispatch::index::IndexRequirements;
use crate::flash::Follow;
use crate::ftl::core::Ftl;
use crate::tasks::gc::granularity::{GranularityPolicy, PlaneRule};
use crate::tasks::gc::preemption::{AtHard, NextStep, Preemption};
use crate::tasks::gc::trigger::TriggerPolicy;

/// Constants of the engine, computed from the configuration. Only `BackEnd::obey` and `BackEnd::keep_commands` change
/// one, before the run.
pub(super) struct Settings {
    pub compose: ComposeSettings,
    pub collection: CollectionSettings,
    /// Commands of the host that may follow each other through the cache register.
    pub follow: Follow,
    /// Commands on a reserved die that may follow a command of the host through the cache register: of the host, and of
    /// a collection that lets the host go first.
    pub follow_shared: Follow,
    /// Requests of the host go to their dies at once: the map is not in flash, and firmware takes no time.
    pub is_direct: bool,
    /// Commands of one page of the host are made in the record of their die: no observer, background task or map in
    /// flash is notified of them, and the device takes them whole.
    pub issues_pages_in_place: bool,
    /// The map's traffic is a task of its own.
    pub has_map_task: bool,
    /// Most decisions of a drive at one moment. More decisions mean an endless loop.
    pub decisions_max: u32,
}

/// The composition of commands.
pub(super) struct ComposeSettings {
    pub builders: Vec<BuilderName>,
    pub gc_builders: Vec<GcBuilderName>,
    /// Pages that collections move serve host transactions.
    pub serves_from_moves: bool,
    /// Host work joins commands of collections on other planes.
    pub gc_host: bool,
    /// Pages of reads that joined a read of a collection leave after the load of its program.
    pub holds_partners: bool,
    /// Planes skip pages, so that programs of the host share a command.
    pub aligns: bool,
    /// Host requests never join commands of a collection.
    pub is_collection_alone: bool,
    /// Waiting writes share rows with moved data.
    pub combines: bool,
    /// Time of a search for partners before each read of a collection.
    pub scan_ns: u64,
    pub scan_max: usize,
    pub gc_scan_max: usize,
}

/// The order of a collection's steps, and what may go between them.
pub(super) struct CollectionSettings {
    /// Whether collections are jobs, relocations or merges.
    pub mechanism: Mechanism,
    /// Moves may go to other planes. Not set if collections take no time: such a collection keeps data on its plane. A
    /// plane that a task's relocations had filled with data of other planes would never be emptied, and its writes
    /// would wait for ever.
    pub leaves_plane: bool,
    /// Which planes take the pages of collections of several blocks, if there are such.
    pub plane_rule: Option<PlaneRule>,
    /// Steps of collection that nothing disturbs or observes follow each other in place.
    pub steps_alone: bool,
    /// A collection's steps follow each other without a queue poll.
    pub steps_at_once: bool,
    /// Nothing joins the steps of collection, and nothing goes between them.
    pub is_undisturbed: bool,
    /// Whether reads, and writes, of a collection's own plane wait while a page of it is in the plane's register.
    pub excludes_at_register: [bool; 2],
    /// Whether reads of other planes wait then, too.
    pub excludes_all_reads: bool,
    /// Watermark of free blocks or pages. Below it, requests that consume free space (or all requests) do not preempt
    /// collection.
    pub hard_watermark: u32,
    pub hard_stops_all: bool,
    /// The watermark of a plane below which its collection starts, in pages.
    pub watermark_pages: u32,
}

impl Settings {
    pub(super) fn new(config: &BackEndConfig<'_>, ftl: &Ftl, preemption: &Preemption) -> Self {
        let (list, commands) = (config.compose, config.device.commands);
        let follows = |if_asked: bool| Follow {
            read: if_asked && commands.cache_read,
            program: if_asked && commands.cache_program,
        };
        let has = |builder| list.gc_builders().contains(&builder);
        let scan_ns = list.gc_scan_ns();
        let [scan_max, gc_scan_max] = list.scan_max().map(|most| most as usize);
        let choice_takes_time = ftl.victim_matches_reads();
        let is_collection_alone = list.gc_builders().is_empty() && !ftl.has_second_active();
        let (granularity, is_merged) = (config.granularity.build(), ftl.has_log_blocks());
        let leaves_plane = granularity.leaves_plane() && !preemption.is_timeless();
        let steps_at_once = !preemption.is_preemptive() && scan_ns == 0 && !choice_takes_time;
        let compose = ComposeSettings {
            builders: list.builders().to_vec(),
            gc_builders: list.gc_builders().to_vec(),
            serves_from_moves: has(GcBuilderName::Merge),
            gc_host: has(GcBuilderName::GcHost),
            holds_partners: list.holds_partners() && !preemption.is_preemptive() && !leaves_plane,
            aligns: list.aligns(),
            is_collection_alone,
            combines: granularity.combines() && !is_merged,
            scan_ns,
            scan_max,
            gc_scan_max,
        };
        let collection = CollectionSettings {
            mechanism: Mechanism::of(config.preemption.as_task().is_some(), is_merged),
            leaves_plane,
            plane_rule: granularity.plane_rule().filter(|_| !is_merged),
            steps_alone: false,
            steps_at_once,
            is_undisturbed: is_collection_alone && steps_at_once,
            excludes_at_register: [false, true].map(|is_write| preemption.excludes_plane(NextStep::Program, is_write)),
            excludes_all_reads: preemption.excludes_reads(NextStep::Program),
            hard_watermark: config.trigger.build(&ftl.geometry).hard_watermark(),
            hard_stops_all: preemption.at_hard() == AtHard::All,
            watermark_pages: config.trigger.blocks_per_plane(config.device.geometry).0 * ftl.geometry.pages_per_block,
        };
        Self {
            compose,
            collection,
            follow: follows(list.builders().contains(&BuilderName::Cache)),
            follow_shared: follows(has(GcBuilderName::Pipeline)),
            is_direct: config.mapping.cache().is_none() && config.tasks.delays.is_none(),
            issues_pages_in_place: false,
            has_map_task: config.admit.has_map_task(),
            decisions_max: 1 << 18,
        }
    }

    /// Whether dies are visited when the data of a program is in the register, because another program may follow.
    pub(super) fn observes_loads(&self) -> bool {
        self.follow.program || self.follow_shared.program
    }

    /// Whether dies are visited when a read's data begins to leave, because another read may follow.
    #[inline(always)]
    pub(super) fn observes_reads(&self) -> bool {
        self.follow.read || self.follow_shared.read
    }

    /// Whether steps of collection that nothing joins or delays can follow each other in place: no other part of the
    /// scheme observes their progress.
    pub(super) fn allows_lone_steps(&self) -> bool {
        !self.compose.serves_from_moves && !self.observes_reads()
    }
}

impl Settings {
    /// The index of waiting requests that collections need, if any.
    pub(super) fn required_index(&self, preemption: &Preemption, ftl: &Ftl) -> Option<IndexRequirements> {
        let pairs = self.compose.gc_host || ftl.victim_matches_reads();
        let required =
            IndexRequirements { scan_max: self.compose.gc_scan_max, pairs, by_block: self.compose.serves_from_moves };
        (required.pairs || required.by_block || preemption.is_preemptive()).then_some(required)
    }
}
