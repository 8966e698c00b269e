//! Garbage collection and other relocations: when they start, their steps, and how they share dies with the host.

pub(crate) mod background_tasks;
pub(crate) mod collection_course;
pub(crate) mod collection_scopes;
pub(crate) mod companion_blocks;
pub(crate) mod coordinated_drive;
pub(crate) mod gc_state;
pub(crate) mod idle_collection;
pub(crate) mod job_table;
pub(crate) mod log_block_merges;
pub(crate) mod lone_steps;
pub(crate) mod mechanism;
pub(crate) mod move_destination;
pub(crate) mod moved_page_service;
pub(crate) mod preemption;
pub(crate) mod relocation_commands;
pub(crate) mod relocation_table;
pub(crate) mod relocations;
pub(crate) mod start;
pub(crate) mod step_partners;
pub(crate) mod steps;
