//! The memory that a drive takes, estimated before it is made.

use super::config::RunConfig;
use super::precondition::PreconditionConfig;
use crate::ftl::core::Ftl;
use crate::observe::shadow::Shadow;

/// The tables of a drive, in bytes. Tables that grow with the drive are counted; queues and measures are not, and take
/// some megabytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The preconditioned drive: each run has a copy of its own.
    pub drive_bytes: u64,
    /// The drive while it is kept for runs ([`Image::pack`](super::Image::pack)).
    pub packed_bytes: u64,
    /// Memory of preconditioning in addition.
    pub preconditioning_bytes: u64,
    /// Memory of a run in addition.
    pub run_bytes: u64,
    /// Additional memory of a run that checks its invariants.
    pub check_bytes: u64,
}

impl RunConfig {
    /// The memory that the drive of a checked configuration takes.
    ///
    /// # Panics
    /// When the configuration was not checked.
    pub fn memory(&self) -> Memory {
        let geometry = Ftl::geometry_of(&self.ftl());
        let lists_units =
            matches!(self.precondition, PreconditionConfig::Aged { .. } | PreconditionConfig::SteadyState {});
        let (logical, mapped) = (u64::from(geometry.logical_units), u64::from(geometry.mapped_units));
        // The newest write of each unit. Most runs make this table at some time, so that this is an upper bound.
        let write_ordering = size_of::<u32>() as u64 * mapped;
        // Copies of each unit in pages that fill.
        let filling = if self.frontier.fill().is_some() { size_of::<u16>() as u64 * mapped } else { 0 };
        let has_buffer = self.buffer != crate::buffer::BufferConfig::default();
        let buffer = if has_buffer { logical / u64::from(geometry.units_per_logical_page) * 4 } else { 0 };
        Memory {
            drive_bytes: Ftl::table_bytes(&geometry),
            packed_bytes: Ftl::packed_bytes(&geometry),
            preconditioning_bytes: if lists_units { 4 * logical } else { 0 },
            run_bytes: write_ordering + filling + buffer + if self.frontier.keeps_hot_apart() { mapped } else { 0 },
            check_bytes: Shadow::table_bytes(&geometry),
        }
    }
}
