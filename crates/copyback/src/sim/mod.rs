//! The basis of the simulation: time, events, indices, flat tables.

pub mod fastdiv;
pub mod index;
pub mod invariant;
pub mod ladder;
pub mod lists;
pub mod queue;
pub mod shared_table;
pub mod table;
pub mod tournament;
