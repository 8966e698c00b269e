//! The users of flash other than the host: jobs, and what starts them.

pub mod background;
pub mod delays;
mod footprint;
pub mod gc;
pub mod job;
pub mod relocation;
pub mod view;
