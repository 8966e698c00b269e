//! What uses the flash beside the host: jobs, and what starts them.

pub mod background;
mod footprint;
pub mod gc;
pub mod job;
pub mod relocation;
pub mod view;
