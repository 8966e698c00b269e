//! What the configuration decides about the engine.

use super::config::DriveConfig;
use crate::dispatch::compose::list::{BuilderName, GcBuilderName};
use crate::dispatch::index::Asked;
use crate::flash::Follow;
use crate::ftl::core::Ftl;
use crate::tasks::gc::granularity::{GranularityPolicy, Turn};
use crate::tasks::gc::preemption::{AtHard, NextStep, Preemption};
use crate::tasks::gc::trigger::TriggerPolicy;

/// What the configuration decides about the engine, looked up once.
pub(super) struct Settings {
    pub builders: Vec<BuilderName>,
    pub gc_builders: Vec<GcBuilderName>,
    /// What may follow each other through the cache register: commands of the host, and on a reserved die those of the
    /// host and of a collection that lets it go first.
    pub follow: Follow,
    pub follow_shared: Follow,
    /// Host transactions are served with pages that collections move.
    pub merge: bool,
    /// Whether host work joins commands of collections on other planes.
    pub gc_host: bool,
    /// Nothing of the host has to do with the commands of a collection.
    pub is_collection_alone: bool,
    /// Writes that wait share rows with what collections move.
    pub combines: bool,
    /// Where pages of collections of several blocks go, if there are such.
    pub turn: Option<Turn>,
    /// A collection's steps follow each other without a queue poll.
    pub steps_at_once: bool,
    /// Nobody joins the steps of collection, and nobody goes between them.
    pub is_undisturbed: bool,
    /// Whether reads, and writes, of a collection's own plane wait while a page of it is in the plane's register.
    pub excludes_at_register: [bool; 2],
    /// Watermark of free blocks or pages below which what consumes them does not go before a collection, or nothing
    /// does.
    pub hard_watermark: u32,
    pub hard_stops_all: bool,
    /// Requests enter windows in another order than they came.
    pub tells_tasks_apart: bool,
    /// Requests of the host go to their dies at once: no address is looked up, and making one takes no time.
    pub is_direct: bool,
    /// The map's traffic is a task of its own.
    pub has_map_task: bool,
    /// Time of a look for partners before each read of a collection.
    pub scan_ns: u64,
    pub scan_max: usize,
    pub gc_scan_max: usize,
    /// Pages of a plane below which its collection starts.
    pub watermark_pages: u32,
    /// Nobody decides so often at one moment, unless decisions go round in circles.
    pub decisions_max: u32,
    /// Collections of a plane in a row that may free no page: even a policy that picks at random finds a block that
    /// would, where there is one.
    pub fruitless_collections_max: u32,
}

impl Settings {
    pub(super) fn new(config: &DriveConfig<'_>, ftl: &Ftl, preemption: &Preemption) -> Self {
        let (compose, commands) = (config.compose, config.device.commands);
        let follows = |if_asked: bool| Follow {
            read: if_asked && commands.cache_read,
            program: if_asked && commands.cache_program,
        };
        let has = |builder| compose.gc_builders().contains(&builder);
        let scan_ns = compose.gc_scan_ns();
        let [scan_max, gc_scan_max] = compose.scan_max().map(|most| most as usize);
        let choice_takes_time = ftl.victim_matches_reads();
        let is_collection_alone = compose.gc_builders().is_empty() && !ftl.has_second_active();
        let (granularity, is_merged) = (config.granularity.build(), ftl.has_log_blocks());
        let steps_at_once = !preemption.is_preemptive() && scan_ns == 0 && !choice_takes_time;
        Self {
            builders: compose.builders().to_vec(),
            gc_builders: compose.gc_builders().to_vec(),
            follow: follows(compose.builders().contains(&BuilderName::Cache)),
            follow_shared: follows(has(GcBuilderName::Pipeline)),
            merge: has(GcBuilderName::Merge),
            gc_host: has(GcBuilderName::GcHost),
            is_collection_alone,
            turn: granularity.turn().filter(|_| !is_merged),
            combines: granularity.combines() && !is_merged,
            steps_at_once,
            is_undisturbed: is_collection_alone && steps_at_once,
            excludes_at_register: [false, true].map(|is_write| preemption.excludes_plane(NextStep::Program, is_write)),
            hard_watermark: config.trigger.build(&ftl.geometry).hard_watermark(),
            hard_stops_all: preemption.at_hard() == AtHard::All,
            tells_tasks_apart: config.admit.tells_tasks_apart(),
            is_direct: config.mapping.cache().is_none() && config.tasks.delays.is_none(),
            has_map_task: config.admit.has_map_task(),
            scan_ns,
            scan_max,
            gc_scan_max,
            watermark_pages: config.trigger.blocks_per_plane(config.device.geometry).0 * ftl.geometry.pages_per_block,
            decisions_max: 1 << 18,
            fruitless_collections_max: 64 * ftl.geometry.blocks_per_plane,
        }
    }

    /// Whether dies are looked at when a program is loaded, as another may follow.
    pub(super) fn hears_loads(&self) -> bool {
        self.follow.program || self.follow_shared.program
    }

    /// The same when a read's data begins to leave.
    #[inline(always)]
    pub(super) fn hears_reads(&self) -> bool {
        self.follow.read || self.follow_shared.read
    }

    /// Whether steps of collection that nobody joins, and before which nobody goes, can follow each other in place:
    /// one plane each, and nobody else wants to know how far they are.
    pub(super) fn allows_lone_steps(&self) -> bool {
        !self.merge && !self.hears_reads()
    }
}

impl Settings {
    /// What collections ask about what waits at their die, if anything.
    pub(super) fn asks_of_queues(&self, preemption: &Preemption, ftl: &Ftl) -> Option<Asked> {
        let pairs = self.gc_host || ftl.victim_matches_reads();
        let asked = Asked { scan_max: self.gc_scan_max, pairs, merges: self.merge };
        (asked.pairs || asked.merges || preemption.is_preemptive()).then_some(asked)
    }
}
