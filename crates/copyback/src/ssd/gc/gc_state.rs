//! The state of garbage collection and of other relocations: its parts.

use crate::ssd::gc::background_tasks::BackgroundTasks;
use crate::ssd::gc::collection_scopes::CollectionScopes;
use crate::ssd::gc::coordinated_drive::Coordination;
use crate::ssd::gc::idle_collection::Idleness;
use crate::ssd::gc::job_table::JobTable;
use crate::ssd::gc::relocation_table::Relocations;

/// The parts of a drive that relocate blocks. Only a part's own module writes its fields.
pub(in crate::ssd) struct Collector {
    /// Collections and other relocations that are jobs. Invariant: there are none if collections are tasks.
    pub(in crate::ssd) jobs: JobTable,
    /// Collections and other relocations that share dies with other tasks. Invariant: there are none unless collections
    /// are tasks.
    pub(in crate::ssd) relocations: Relocations,
    /// Dies and devices below a watermark.
    pub(in crate::ssd) scopes: CollectionScopes,
    /// The orders of a coordinator, if the drive is in an array that coordinates collections.
    pub(in crate::ssd) coordination: Option<Box<Coordination>>,
    /// Tasks other than collection that relocate blocks.
    pub(in crate::ssd) background: BackgroundTasks,
    /// How long the drive has been idle, and whether its host has more requests.
    pub(in crate::ssd) idleness: Idleness,
}
